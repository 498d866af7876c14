// SPDX-License-Identifier: Apache-2.0
// From lazy values to a graph.

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/build/builder.h"
#include "engine/build/lazy.h"
#include "engine/build/lazy_internal.h"
#include "engine/ir/error.h"
#include "engine/ir/graph.h"

namespace nef::build {

using ir::Dim;
using ir::ValueId;

// One capture, under lazy_mutex(): a walk that puts the nodes in order and counts what they need,
// then a straight copy into the graph.
struct Capture {
  explicit Capture(LeafMode mode) : mode(mode) {}

  LeafMode mode;
  const uint64_t epoch = next_epoch();
  bool inputs_closed = false;
  Captured out;
  ir::Array<LazyNode*> order;  // ops and placeholders, producers first
  ir::Graph::Sizes sizes;
  std::unordered_set<std::string> placeholders;
  std::unordered_map<const LazyTensor*, ValueId> computed;  // op outputs that have data
  ir::Array<ValueId> input_ids;
  ir::Array<ir::Graph::Type> types;

  // ---- the walk

  void visit(LazyTensor* root) {
    struct Frame {
      LazyNode* node;
      uint32_t next;
    };
    ir::Array<Frame> stack;
    const auto enter = [&](LazyTensor* t) {
      if (t == nullptr) return;
      if (t->data != nullptr) {
        ++sizes.graph_inputs;
        return;
      }
      LazyNode* node = t->node;
      if (node->mark_ == epoch) return;
      node->mark_ = epoch;
      if (node->kind_ == LazyNode::Kind::Placeholder) {
        if (inputs_closed) fail_unlisted(*node);
        order.push_back(node);
        return;
      }
      if (node->kind_ == LazyNode::Kind::Parameter) {
        fail(NEF_INVALID_ARGUMENT, mode != LeafMode::Constants ? "execute" : "graph",
             "the value depends on a parameter of a block's body; outside of that block it has no "
             "meaning");
      }
      sizes.node_inputs += node->n_inputs_;
      sizes.attr_words += node->n_attrs_;
      sizes.values += node->n_outputs_;
      stack.push_back({node, 0});
    };
    enter(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.node->n_inputs_) {
        enter(top.node->input_array()[top.next++]);
        continue;
      }
      order.push_back(top.node);
      stack.pop_back();
    }
  }

  // Takes in a placeholder before anything that depends on it.
  void input(LazyTensor* t) {
    if (t->node->kind_ != LazyNode::Kind::Placeholder) {
      fail(NEF_INVALID_ARGUMENT, "graph", "an input of the graph is not a placeholder");
    }
    if (t->node->mark_ == epoch) {
      fail(NEF_DUPLICATE_NAME, "graph",
           cat("input \"", t->node->extra_->name, "\" is listed twice"));
    }
    visit(t);
  }

  [[noreturn]] static void fail_unlisted(const LazyNode& node) {
    fail(NEF_UNKNOWN_NAME, "graph",
         cat("the outputs depend on input \"", node.extra_->name,
             "\", which is not among the inputs given"));
  }

  // ---- the copy

  void copy() {
    sizes.nodes = order.size();
    sizes.values += sizes.graph_inputs;
    out.graph.reserve(sizes);
    if (mode != LeafMode::Constants) out.input_data.reserve(sizes.graph_inputs);
    for (LazyNode* node : order) {
      if (node->kind_ == LazyNode::Kind::Placeholder) {
        node->local_ = placeholder(*node);
      } else {
        op(*node);
      }
    }
  }

  ValueId leaf(const LazyTensor& t, bool constant) {
    if (constant || mode == LeafMode::Constants) {
      const ValueId v = out.graph.add_constant(t.dtype, t.dims(), t.data);
      const LazyNode& node = *t.node;
      if (node.kind_ == LazyNode::Kind::Leaf && node.extra_ != nullptr) {
        out.graph.value_names().set(v, node.extra_->name);
      }
      return v;
    }
    out.input_data.push_back(t.data);
    return out.graph.add_input("", t.dtype, t.dims());
  }

  ValueId placeholder(LazyNode& node) {
    if (mode != LeafMode::Constants) {
      fail(NEF_INVALID_ARGUMENT, "execute",
           cat("the value depends on input \"", node.extra_->name,
               "\", which has no data; capture a graph and run it with that input"));
    }
    const LazyTensor& t = node.outputs()[0];
    ir::Shape shape;
    for (const DimSpec& d : node.extra_->specs) {
      shape.push(d.symbol.empty() ? Dim::of(d.value)
                                  : out.graph.pool().symbol(d.symbol, d.min, d.max));
    }
    const ValueId v = out.graph.add_input(node.extra_->name, t.dtype, shape);
    if (!placeholders.insert(node.extra_->name).second) {
      fail(NEF_DUPLICATE_NAME, "graph", cat("two inputs are named \"", node.extra_->name, "\""));
    }
    out.graph.value_names().set(v, node.extra_->name);
    return v;
  }

  void op(LazyNode& node) {
    input_ids.clear();
    LazyTensor* const* in = node.input_array();
    for (uint32_t i = 0; i < node.n_inputs_; ++i) {
      input_ids.push_back(in[i] == nullptr ? ir::kNone : value_of(*in[i], node.op_, i));
    }
    // A static result can still hang on a symbol: [batch 4] joined with [4 4] needs batch = 4.
    const bool blocks = node.extra_ != nullptr && !node.extra_->blocks.empty();
    const ir::NodeId n = blocks           ? add_blocks(node)
                         : node.symbolic_ ? add_inferred(node)
                                          : add_static(node);
    if (node.extra_ != nullptr) out.graph.node_devices().set(n, node.extra_->device);
    node.local_ = out.graph.first_output(n);
  }

  // Inferred again in the graph's own pool: there the symbols have this graph's bounds, and the
  // pool gets the checks that bind the symbols.
  ir::NodeId add_inferred(LazyNode& node) {
    return Builder(out.graph).add(node.op_, input_ids, node.attr_words(), node.n_outputs_);
  }

  ir::NodeId add_blocks(LazyNode& node) {
    return Builder(out.graph).add_blocks(node.op_, input_ids, node.attr_words(),
                                         node.extra_->blocks);
  }

  ir::NodeId add_static(LazyNode& node) {
    types.clear();
    for (const LazyTensor& t : node.outputs()) {
      types.push_back({t.dtype, out.graph.shapes().intern(t.dims())});
    }
    const ir::NodeId n = out.graph.add_node(node.op_, input_ids, node.attr_words(), types);
    if (node.extra_ == nullptr || !content_is_structure(node)) return n;
    for (const LazyTensor& t : node.outputs()) {
      const std::vector<Dim>* content = known_content(&t);
      if (content != nullptr) out.graph.set_content(out.graph.output(n, t.index), *content);
    }
    return n;
  }

  // Elements may be known because leaves have data. Where leaves are inputs, the program runs
  // again with other data: only elements that follow from shapes and constants are part of it.
  bool content_is_structure(const LazyNode& node) const {
    if (mode == LeafMode::Constants || node.op_ == NEF_OP_SHAPE || node.op_ == NEF_OP_SIZE) {
      return true;
    }
    return std::all_of(input_ids.begin(), input_ids.end(), [this](ValueId v) {
      return v == ir::kNone || out.graph.is_constant(v) || out.graph.has_content(v);
    });
  }

  // The graph value of a copied tensor, as input `i` of an op; materialised ones are leaves
  // wherever they come from.
  ValueId value_of(LazyTensor& t, nef_op op, uint32_t i) {
    LazyNode* node = t.node;
    if (t.data == nullptr) return node->local_ + t.index;
    // A host input shapes the program, so its data is part of the graph.
    if (mode == LeafMode::Inputs && ir::is_host_input(op, i)) return leaf(t, true);
    return leaf_value(t);
  }

  ValueId leaf_value(LazyTensor& t) {
    LazyNode* node = t.node;
    if (node->kind_ == LazyNode::Kind::Leaf) {
      if (node->mark_ != epoch) {
        node->mark_ = epoch;
        node->local_ = leaf(t, false);
      }
      return node->local_;
    }
    auto& known = computed[&t];
    if (known == 0) known = leaf(t, false) + 1;
    return known - 1;
  }

  void output(LazyTensor& t, std::string_view name) {
    const ValueId v = t.data == nullptr ? t.node->local_ + t.index : leaf_value(t);
    out.graph.add_output(name, v);
  }
};

namespace {

Captured finish_capture(Capture& c, std::span<LazyTensor* const> outputs,
                        std::span<const std::string> names) {
  for (LazyTensor* t : outputs) c.visit(t);
  c.copy();
  std::unordered_set<std::string_view> known;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!names.empty() && !known.insert(names[i]).second) {
      fail(NEF_DUPLICATE_NAME, "graph", cat("two outputs are named \"", names[i], "\""));
    }
    c.output(*outputs[i], names.empty() ? std::string_view() : names[i]);
  }
  return std::move(c.out);
}

}  // namespace

Captured capture(std::span<LazyTensor* const> outputs, std::span<const std::string> names,
                 LeafMode mode) {
  std::lock_guard lock(lazy_mutex());
  Capture c(mode);
  return finish_capture(c, outputs, names);
}

Captured capture(std::span<LazyTensor* const> inputs, std::span<LazyTensor* const> outputs,
                 std::span<const std::string> names) {
  std::lock_guard lock(lazy_mutex());
  Capture c(LeafMode::Constants);
  for (LazyTensor* t : inputs) c.input(t);
  c.inputs_closed = true;
  return finish_capture(c, outputs, names);
}

}  // namespace nef::build
