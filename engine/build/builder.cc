// SPDX-License-Identifier: Apache-2.0
#include "engine/build/builder.h"

#include <algorithm>
#include <cstring>

#include "engine/ir/blocks.h"
#include "engine/ir/error.h"

namespace nef::build {

using ir::Dim;
using ir::Inferred;
using ir::NodeId;
using ir::Operand;
using ir::ValueId;

namespace {

constexpr size_t kInlineOperands = 8;
constexpr size_t kInlineResults = 4;

// Elements of a constant vector or scalar that is small enough for inference to look at.
bool small_constant(const ir::Graph& graph, ValueId v) {
  if (!graph.is_constant(v)) return false;
  const auto dims = graph.dims(v);
  return dims.empty() ||
         (dims.size() == 1 && dims[0].number() <= static_cast<int64_t>(ir::kMaxContent));
}

void read_constant_content(ir::Graph& graph, ValueId v, Operand o) {
  std::vector<Dim> elements;
  const auto n = static_cast<size_t>(ir::element_count(graph.dims(v)));
  ir::read_content(o, n, &elements);
  if (o.has_content) graph.set_content(v, elements);
}

}  // namespace

Operand operand(ir::Graph& graph, ValueId v) {
  if (v == ir::kNone) return {};
  Operand o;
  o.present = true;
  o.dtype = graph.dtype(v);
  if (small_constant(graph, v)) {
    o.data = graph.constant_data(v)->data();
    if (!graph.has_content(v)) read_constant_content(graph, v, o);
  }
  if (graph.has_content(v)) {
    o.has_content = true;
    o.content = graph.content(v);
  }
  o.dims = graph.dims(v);
  return o;
}

NodeId Builder::add(nef_op op, std::span<const ValueId> inputs, std::span<const int64_t> attr_words,
                    size_t n_outputs) {
  Operand inline_operands[kInlineOperands];
  std::vector<Operand> heap_operands;
  Operand* operands = inline_operands;
  if (inputs.size() > kInlineOperands) {
    heap_operands.resize(inputs.size());
    operands = heap_operands.data();
  }
  for (size_t i = 0; i < inputs.size(); ++i) operands[i] = operand(graph_, inputs[i]);
  // Reading content may have moved the pools that earlier spans point into.
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (operands[i].has_content) operands[i].content = graph_.content(inputs[i]);
  }
  const std::span<const Operand> view(operands, inputs.size());
  const ir::Attrs attrs(attr_words);
  if (n_outputs == 0) n_outputs = ir::default_output_count(op, attrs, view);

  Inferred inline_results[kInlineResults];
  std::vector<Inferred> heap_results;
  Inferred* results = inline_results;
  if (n_outputs > kInlineResults) {
    heap_results.resize(n_outputs);
    results = heap_results.data();
  }
  ir::infer(op, attrs, view, graph_.pool(), {results, n_outputs});

  ir::Graph::Type inline_types[kInlineResults];
  std::vector<ir::Graph::Type> heap_types;
  ir::Graph::Type* types = inline_types;
  if (n_outputs > kInlineResults) {
    heap_types.resize(n_outputs);
    types = heap_types.data();
  }
  for (size_t i = 0; i < n_outputs; ++i) {
    types[i] = {results[i].dtype, graph_.shapes().intern(results[i].shape)};
  }
  const NodeId n = graph_.add_node(op, inputs, attr_words, {types, n_outputs});
  for (size_t i = 0; i < n_outputs; ++i) {
    if (!results[i].has_content) continue;
    graph_.set_content(graph_.output(n, static_cast<uint32_t>(i)), results[i].content);
  }
  return n;
}

NodeId Builder::add_blocks(nef_op op, std::span<const ValueId> inputs,
                           std::span<const int64_t> attr_words,
                           std::span<const ir::Graph::Block> blocks) {
  std::vector<Operand> operands(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) operands[i] = operand(graph_, inputs[i]);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (operands[i].has_content) operands[i].content = graph_.content(inputs[i]);
  }
  const std::vector<Inferred> results =
      ir::infer_blocks(op, ir::Attrs(attr_words), operands, blocks, graph_.pool());
  std::vector<ir::Graph::Type> types;
  for (const Inferred& r : results) {
    types.push_back({r.dtype, graph_.shapes().intern(r.shape)});
  }
  const NodeId n = graph_.add_node(op, inputs, attr_words, types);
  graph_.set_blocks(n, blocks);
  return n;
}

ValueId Builder::value(nef_op op, std::span<const ValueId> inputs,
                       std::span<const int64_t> attr_words) {
  return graph_.output(add(op, inputs, attr_words, 1));
}

ValueId Builder::ints(std::span<const int64_t> elements) {
  auto buffer = ir::Buffer::allocate(elements.size_bytes());
  std::copy(elements.begin(), elements.end(), static_cast<int64_t*>(buffer->data()));
  const Dim dims[1] = {Dim::of(elements.size())};
  return graph_.add_constant(NEF_INT64, dims, std::move(buffer));
}

ValueId Builder::int_scalar(int64_t element) {
  auto buffer = ir::Buffer::allocate(sizeof element);
  std::memcpy(buffer->data(), &element, sizeof element);
  return graph_.add_constant(NEF_INT64, {}, std::move(buffer));
}

}  // namespace nef::build
