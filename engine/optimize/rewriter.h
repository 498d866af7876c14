// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/build/builder.h"
#include "engine/ir/graph.h"

namespace nef::optimize {

// Edits a graph in place: values are forwarded to others, nodes rewritten or added. What nothing
// needs afterwards has no uses and stays until the pass "dead"; the nodes are put in order again
// when some were added.
class Rewriter {
 public:
  explicit Rewriter(ir::Graph& graph) : graph_(graph), builder_(graph) {}

  // What a value stands for now.
  ir::ValueId resolve(ir::ValueId v) const {
    while (v < forward_.size() && forward_[v] != v) v = forward_[v];
    return v;
  }
  ir::ValueId input(ir::NodeId n, size_t i) const {
    const auto in = graph_.inputs(n);
    return i < in.size() && in[i] != ir::kNone ? resolve(in[i]) : ir::kNone;
  }

  // Every use of `from` (graph outputs too) becomes a use of `to`, of equal type.
  void forward(ir::ValueId from, ir::ValueId to);
  // Replaces what a node computes; its outputs keep their types.
  void rewrite(ir::NodeId n, nef_op op, std::span<const ir::ValueId> inputs,
               std::span<const int64_t> attr_words);
  // A new node, whose users come before it in the node list: finish() restores the order.
  ir::ValueId insert(nef_op op, std::span<const ir::ValueId> inputs,
                     std::span<const int64_t> attr_words = {});
  ir::ValueId insert_constant(nef_dtype dtype, std::span<const ir::Dim> dims,
                              std::shared_ptr<ir::Buffer> data);
  // An int64 vector known as dims: a constant when they are numbers, else a ShapeExpr node.
  ir::ValueId insert_dims(std::span<const ir::Dim> elements);
  void mark_changed() { changed_ = true; }
  // Nothing reads its outputs any more.
  bool is_dead(ir::NodeId n) const;

  build::Builder& builder() { return builder_; }
  // Applies the edits. Returns whether there were any.
  bool finish();

 private:
  ir::Graph& graph_;
  build::Builder builder_;
  std::vector<ir::ValueId> forward_;
  bool changed_ = false, added_nodes_ = false;
};

// Copies what the outputs need into a fresh graph, in topological order; graph inputs all stay.
void rebuild(ir::Graph& graph);

}  // namespace nef::optimize
