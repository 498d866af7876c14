// SPDX-License-Identifier: Apache-2.0
#include "engine/optimize/rewriter.h"

#include <numeric>

#include "engine/ir/error.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

void Rewriter::forward(ValueId from, ValueId to) {
  if (from == to) return;
  if (forward_.size() < graph_.value_count()) {
    const size_t old = forward_.size();
    forward_.resize(graph_.value_count());
    std::iota(forward_.begin() + static_cast<std::ptrdiff_t>(old), forward_.end(),
              static_cast<ValueId>(old));
  }
  forward_[from] = to;
  changed_ = true;
}

bool Rewriter::is_dead(NodeId n) const {
  uint32_t uses = 0;
  for (uint32_t i = 0; i < graph_.output_count(n); ++i) uses |= graph_.uses(graph_.output(n, i));
  return uses == 0;
}

void Rewriter::rewrite(NodeId n, nef_op op, std::span<const ValueId> inputs,
                       std::span<const int64_t> attr_words) {
  graph_.rewrite_node(n, op, inputs, attr_words);
  changed_ = true;
}

ValueId Rewriter::insert(nef_op op, std::span<const ValueId> inputs,
                         std::span<const int64_t> attr_words) {
  changed_ = added_nodes_ = true;
  return builder_.value(op, inputs, attr_words);
}

ValueId Rewriter::insert_constant(nef_dtype dtype, std::span<const ir::Dim> dims,
                                  std::shared_ptr<ir::Buffer> data) {
  changed_ = true;
  return graph_.add_constant(dtype, dims, std::move(data));
}

ValueId Rewriter::insert_dims(std::span<const ir::Dim> elements) {
  changed_ = true;
  if (ir::dims_static(elements)) return builder_.ints(ir::numbers(elements));
  const ir::Dim count[1] = {ir::Dim::of(elements.size())};
  const Graph::Type type{NEF_INT64, graph_.shapes().intern(count)};
  added_nodes_ = true;
  const NodeId n = graph_.add_node(NEF_OP_SHAPE_EXPR, {}, {}, {&type, 1});
  graph_.set_content(graph_.output(n), elements);
  return graph_.output(n);
}

namespace {

// Nodes that the outputs need, producers first. Iterative: graphs can be a million nodes deep.
std::vector<NodeId> needed_by_walking(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.node_count());
  std::vector<uint8_t> seen(graph.node_count(), 0);
  struct Frame {
    NodeId node;
    uint32_t next;
  };
  std::vector<Frame> stack;
  const auto enter = [&](ValueId v) {
    const NodeId n = v == kNone ? kNone : graph.producer(v);
    if (n == kNone || seen[n] != 0) return;
    seen[n] = 1;
    stack.push_back({n, 0});
  };
  for (ValueId out : graph.graph_outputs()) {
    enter(out);
    while (!stack.empty()) {
      Frame& top = stack.back();
      const auto in = graph.inputs(top.node);
      if (top.next < in.size()) {
        enter(in[top.next++]);
        continue;
      }
      order.push_back(top.node);
      stack.pop_back();
    }
  }
  return order;
}

// Is every input of every node made before it?
bool in_order(const Graph& graph) {
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    for (ValueId v : graph.inputs(n)) {
      const NodeId p = v == kNone ? kNone : graph.producer(v);
      if (p != kNone && p >= n) return false;
    }
  }
  return true;
}

}  // namespace

bool Rewriter::finish() {
  if (!changed_) return false;
  if (!forward_.empty()) {
    for (NodeId n = 0; n < graph_.node_count(); ++n) {
      const auto in = graph_.inputs(n);
      for (size_t i = 0; i < in.size(); ++i) {
        const ValueId now = in[i] == kNone ? kNone : resolve(in[i]);
        if (now != in[i]) graph_.set_input(n, i, now);
      }
    }
    for (size_t i = 0; i < graph_.graph_outputs().size(); ++i) {
      graph_.set_graph_output(i, resolve(graph_.graph_outputs()[i]));
    }
  }
  if (added_nodes_ && !in_order(graph_)) rebuild(graph_);
  return true;
}

void rebuild(Graph& graph) {
  const std::vector<NodeId> order = needed_by_walking(graph);

  Graph out;
  out.pool() = std::move(graph.pool());
  out.shapes() = std::move(graph.shapes());
  out.extras() = std::move(graph.extras());
  out.reserve(
      {order.size(), graph.value_count(), 2 * order.size(), 0, graph.graph_inputs().size()});
  std::vector<ValueId> map(graph.value_count(), kNone);
  const auto carry = [&](ValueId from, ValueId to) {
    map[from] = to;
    if (!graph.value_names().empty()) out.value_names().set(to, graph.value_names().get(from));
    if (graph.has_content(from)) out.set_content(to, graph.content(from));
  };
  const auto dims = [&](ValueId v) { return out.shapes().dims(graph.shape_id(v)); };
  for (size_t i = 0; i < graph.graph_inputs().size(); ++i) {
    const ValueId v = graph.graph_inputs()[i];
    const ir::Shape shape(dims(v));
    carry(v, out.add_input(graph.input_name(i), graph.dtype(v), shape));
  }
  const auto use = [&](ValueId v) {
    if (v == kNone) return kNone;
    if (map[v] == kNone && graph.is_constant(v)) {
      const ir::Shape shape(dims(v));
      carry(v, out.add_constant(graph.dtype(v), shape, graph.constant_data(v)));
    }
    return map[v];
  };
  std::vector<ValueId> inputs;
  std::vector<Graph::Type> types;
  for (NodeId n : order) {
    inputs.clear();
    types.clear();
    for (ValueId v : graph.inputs(n)) inputs.push_back(use(v));
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      types.push_back({graph.dtype(graph.output(n, i)), graph.shape_id(graph.output(n, i))});
    }
    const NodeId now = out.add_node(graph.op(n), inputs, graph.attrs(n).words(), types);
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      carry(graph.output(n, i), out.output(now, i));
    }
    if (const auto blocks = graph.blocks(n); !blocks.empty()) out.set_blocks(now, blocks);
    if (!graph.node_names().empty()) out.node_names().set(now, graph.node_names().get(n));
    if (!graph.node_devices().empty()) out.node_devices().set(now, graph.node_devices().get(n));
  }
  for (size_t i = 0; i < graph.graph_outputs().size(); ++i) {
    out.add_output(graph.output_name(i), use(graph.graph_outputs()[i]));
  }
  graph = std::move(out);
}

}  // namespace nef::optimize
