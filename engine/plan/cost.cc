// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/dtype.h"
#include "engine/plan/placement.h"

namespace nef::plan {

using ir::Dim;
using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

// A symbolic dim without a small bound counts as this many.
constexpr int64_t kAssumedDim = 512;

double dim_size(const Graph& graph, Dim d) {
  const int64_t most = graph.pool().upper(d);
  return static_cast<double>(ir::is_expr(d) ? std::min(most, kAssumedDim) : most);
}

double elements(const Graph& graph, ValueId v) {
  double n = 1;
  for (Dim d : graph.dims(v)) n *= dim_size(graph, d);
  return n;
}

double last_dim(const Graph& graph, ValueId v, size_t from_end) {
  const auto dims = graph.dims(v);
  return dims.size() < from_end ? 1 : dim_size(graph, dims[dims.size() - from_end]);
}

double input_elements(const Graph& graph, NodeId n, size_t i) {
  const auto in = graph.inputs(n);
  return i < in.size() && in[i] != ir::kNone ? elements(graph, in[i]) : 0;
}

double attention_flops(const Graph& graph, NodeId n) {
  const auto in = graph.inputs(n);
  // Two products of queries with keys and with values, each 2 * q * k * width.
  const double keys = in.size() > 1 && in[1] != ir::kNone ? last_dim(graph, in[1], 2) : 1;
  return 4 * elements(graph, graph.output(n)) * keys;
}

// Every step multiplies the input and the state by their weights: 2 * (steps * batch) * weights.
double rnn_flops(const Graph& graph, NodeId n) {
  const auto in = graph.inputs(n);
  const double width = std::max(1.0, last_dim(graph, in[0], 1));
  const double weights = input_elements(graph, n, 1) + input_elements(graph, n, 2);
  return 2 * elements(graph, in[0]) / width * weights;
}

double node_flops(const Graph& graph, NodeId n) {
  const double out = elements(graph, graph.output(n));
  switch (ir::spec(graph.op(n)).cost) {
    case ir::Cost::kNone: return 0;
    case ir::Cost::kElements: return out;
    case ir::Cost::kElementsX4: return 4 * out;
    case ir::Cost::kElementsX8: return 8 * out;
    case ir::Cost::kElementsX16: return 16 * out;
    case ir::Cost::kInputs: return input_elements(graph, n, 0);
    case ir::Cost::kInputsX8: return 8 * input_elements(graph, n, 0);
    case ir::Cost::kMatmul: return 2 * out * last_dim(graph, graph.inputs(n)[0], 1);
    case ir::Cost::kGemm: {
      const bool trans_a = graph.op(n) == NEF_OP_GEMM && graph.attrs(n).i(NEF_GEMM_TRANS_A) != 0;
      return 2 * out * last_dim(graph, graph.inputs(n)[0], trans_a ? 2 : 1);
    }
    case ir::Cost::kConv:
    case ir::Cost::kConvTranspose: {
      const ValueId w = graph.inputs(n)[1];
      const double filters = std::max(1.0, dim_size(graph, graph.dims(w)[0]));
      return 2 * out * elements(graph, w) / filters;
    }
    case ir::Cost::kPool: return 9 * out;
    case ir::Cost::kEinsum: return 2 * out * std::max(1.0, last_dim(graph, graph.inputs(n)[0], 1));
    case ir::Cost::kAttention: return attention_flops(graph, n);
    case ir::Cost::kRnn: return rnn_flops(graph, n);
  }
  return 0;
}

}  // namespace

double value_bytes(const Graph& graph, ValueId v) {
  return elements(graph, v) * static_cast<double>(ir::dtype_size(graph.dtype(v)));
}

double region_flops(const Graph& graph, std::span<const NodeId> nodes) {
  double sum = 0;
  for (NodeId n : nodes) sum += node_flops(graph, n);
  return sum;
}

}  // namespace nef::plan
