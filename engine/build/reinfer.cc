// SPDX-License-Identifier: Apache-2.0
#include "engine/build/reinfer.h"

#include "engine/build/builder.h"
#include "engine/ir/blocks.h"

namespace nef::build {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

class Copier {
 public:
  explicit Copier(const Graph& from) : from_(from) {
    out_.pool() = from.pool();
    out_.extras() = from.extras();
  }

  Graph run(std::span<const std::shared_ptr<ir::Buffer>> input_data) {
    std::vector<ValueId> map(from_.value_count(), kNone);
    for (size_t i = 0; i < from_.graph_inputs().size(); ++i) {
      const ValueId v = from_.graph_inputs()[i];
      const bool known = i < input_data.size() && input_data[i] != nullptr;
      map[v] = known ? out_.add_constant(from_.dtype(v), from_.dims(v), input_data[i])
                     : out_.add_input(from_.input_name(i), from_.dtype(v), from_.dims(v));
      out_.value_names().set(map[v], from_.value_names().get(v));
    }
    copy_nodes(from_, map);
    for (size_t i = 0; i < from_.graph_outputs().size(); ++i) {
      out_.add_output(from_.output_name(i), use(from_, map, from_.graph_outputs()[i]));
    }
    return std::move(out_);
  }

 private:
  ValueId use(const Graph& graph, std::vector<ValueId>& map, ValueId v) {
    if (v == kNone) return kNone;
    if (map[v] == kNone && graph.is_constant(v)) {
      map[v] = out_.add_constant(graph.dtype(v), graph.dims(v), graph.constant_data(v));
      out_.value_names().set(map[v], graph.value_names().get(v));
    }
    return map[v];
  }

  // Recursion (a branch that takes the place of its If) is bounded by how deep blocks are nested.
  void copy_nodes(const Graph& graph, std::vector<ValueId>& map) {
    std::vector<ValueId> inputs;
    for (NodeId n = 0; n < graph.node_count(); ++n) {
      inputs.clear();
      for (ValueId v : graph.inputs(n)) inputs.push_back(use(graph, map, v));
      if (graph.op(n) == NEF_OP_IF && copy_branch(graph, n, inputs, map)) continue;
      const NodeId now = add(graph, n, inputs);
      for (uint32_t i = 0; i < graph.output_count(n); ++i) {
        map[graph.output(n, i)] = out_.output(now, i);
        out_.value_names().set(out_.output(now, i), graph.value_names().get(graph.output(n, i)));
      }
      out_.node_names().set(now, graph.node_names().get(n));
      out_.node_devices().set(now, graph.node_devices().get(n));
    }
  }

  NodeId add(const Graph& graph, NodeId n, std::span<const ValueId> inputs) {
    Builder builder(out_);
    const auto words = graph.attrs(n).words();
    if (ir::has_blocks(graph.op(n))) {
      return builder.add_blocks(graph.op(n), inputs, words, graph.blocks(n));
    }
    if (graph.op(n) != NEF_OP_SHAPE_EXPR) {
      return builder.add(graph.op(n), inputs, words, graph.output_count(n));
    }
    const ValueId v = graph.output(n);
    const Graph::Type type{graph.dtype(v), out_.shapes().intern(graph.dims(v))};
    const NodeId now = out_.add_node(NEF_OP_SHAPE_EXPR, {}, {}, {&type, 1});
    out_.set_content(out_.output(now), graph.content(v));
    return now;
  }

  bool copy_branch(const Graph& graph, NodeId n, const std::vector<ValueId>& inputs,
                   std::vector<ValueId>& map) {
    if (!out_.is_constant(inputs[0]) || out_.constant_data(inputs[0])->bytes() != 1) return false;
    const bool holds = *static_cast<const uint8_t*>(out_.constant_data(inputs[0])->data()) != 0;
    const Graph::Block block = graph.blocks(n)[holds ? 0 : 1];
    std::vector<ValueId> inner(block->value_count(), kNone);
    for (size_t i = 0; i < block->graph_inputs().size(); ++i) {
      inner[block->graph_inputs()[i]] = inputs[1 + i];
    }
    copy_nodes(*block, inner);
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      map[graph.output(n, i)] = use(*block, inner, block->graph_outputs()[i]);
    }
    return true;
  }

  const Graph& from_;
  Graph out_;
};

}  // namespace

Graph reinfer(const Graph& graph, std::span<const std::shared_ptr<ir::Buffer>> input_data) {
  return Copier(graph).run(input_data);
}

}  // namespace nef::build
