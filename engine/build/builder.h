// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "engine/ir/graph.h"
#include "engine/ir/infer.h"

namespace nef::build {

// What inference may know of a value of a graph; `content` of small integer constants is read
// into the graph on first use.
ir::Operand operand(ir::Graph& graph, ir::ValueId v);

// Adds nodes to a graph with inferred types. Every way into a graph (lazy tensors, .nef files,
// optimiser passes) goes through it.
class Builder {
 public:
  explicit Builder(ir::Graph& graph) : graph_(graph) {}

  // Appends a node; `inputs` may hold kNone for absent optional inputs. `attr_words` is what
  // AttrBuilder::build returned (empty for an op without attributes). `n_outputs` 0 = as many
  // as the op has by default. Throws what ir::infer throws.
  ir::NodeId add(nef_op op, std::span<const ir::ValueId> inputs,
                 std::span<const int64_t> attr_words, size_t n_outputs = 0);
  // A node with blocks: If, Loop or Scan. Throws what ir::infer_blocks throws.
  ir::NodeId add_blocks(nef_op op, std::span<const ir::ValueId> inputs,
                        std::span<const int64_t> attr_words,
                        std::span<const ir::Graph::Block> blocks);
  // The single output of a node with inferred type.
  ir::ValueId value(nef_op op, std::span<const ir::ValueId> inputs,
                    std::span<const int64_t> attr_words = {});
  // An int64 vector (or scalar) constant.
  ir::ValueId ints(std::span<const int64_t> elements);
  ir::ValueId int_scalar(int64_t element);

  ir::Graph& graph() { return graph_; }

 private:
  ir::Graph& graph_;
};

}  // namespace nef::build
