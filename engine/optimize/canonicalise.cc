// SPDX-License-Identifier: Apache-2.0
// Removes nodes that hand on their input unchanged, and puts the constant operand of commutative
// ops second, so that later passes meet one form.
#include <cstring>

#include "engine/ir/dtype.h"
#include "engine/optimize/passes.h"
#include "engine/optimize/rewriter.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

bool same_type(const Graph& graph, ValueId a, ValueId b) {
  return graph.dtype(a) == graph.dtype(b) && graph.shape_id(a) == graph.shape_id(b);
}

// A constant all of whose (few) elements equal `number`.
bool is_all(const Graph& graph, ValueId v, double number) {
  if (v == kNone || !graph.is_constant(v)) return false;
  const ir::Buffer& data = *graph.constant_data(v);
  const size_t size = ir::dtype_size(graph.dtype(v));
  if (data.bytes() != size) return false;
  switch (graph.dtype(v)) {
    case NEF_FLOAT32: {
      float x;
      std::memcpy(&x, data.data(), sizeof x);
      return static_cast<double>(x) == number;
    }
    case NEF_FLOAT64: {
      double x;
      std::memcpy(&x, data.data(), sizeof x);
      return x == number;
    }
    case NEF_INT32: {
      int32_t x;
      std::memcpy(&x, data.data(), sizeof x);
      return x == number;
    }
    case NEF_INT64: {
      int64_t x;
      std::memcpy(&x, data.data(), sizeof x);
      return static_cast<double>(x) == number;
    }
    default: return false;
  }
}

bool identity_permutation(const Graph& graph, NodeId n) {
  const auto perm = graph.attrs(n).ints(NEF_TRANSPOSE_PERM);
  if (perm.empty()) return graph.dims(graph.output(n)).size() < 2;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Does the node hand on its first input bit for bit (given that the types agree)?
bool hands_on(const Graph& graph, const Rewriter& rewriter, NodeId n) {
  switch (graph.op(n)) {
    case NEF_OP_IDENTITY:
    case NEF_OP_CAST:
    case NEF_OP_CAST_LIKE:
    case NEF_OP_RESHAPE:
    case NEF_OP_FLATTEN:
    case NEF_OP_SQUEEZE:
    case NEF_OP_UNSQUEEZE:
    case NEF_OP_EXPAND: return true;
    case NEF_OP_TRANSPOSE: return identity_permutation(graph, n);
    case NEF_OP_CONCAT:
    case NEF_OP_SUM:
    case NEF_OP_MEAN:
    case NEF_OP_MAX:
    case NEF_OP_MIN: return graph.inputs(n).size() == 1;
    case NEF_OP_MUL:
    case NEF_OP_DIV: return is_all(graph, rewriter.input(n, 1), 1.0);
    // x + 0 turns -0 into 0, so only x - 0 is exact for floats.
    case NEF_OP_SUB: return is_all(graph, rewriter.input(n, 1), 0.0);
    case NEF_OP_ADD:
      return ir::dtype_is_int(graph.dtype(graph.output(n))) &&
             is_all(graph, rewriter.input(n, 1), 0.0);
    default: return false;
  }
}

}  // namespace

bool canonicalise(Graph& graph, const Options&) {
  Rewriter rewriter(graph);
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const ir::OpSpec& s = ir::spec(graph.op(n));
    if (s.commutative && graph.inputs(n).size() == 2) {
      const ValueId a = rewriter.input(n, 0), b = rewriter.input(n, 1);
      if (graph.is_constant(a) && !graph.is_constant(b)) {
        auto in = graph.mutable_inputs(n);
        std::swap(in[0], in[1]);
      }
    }
    if (!hands_on(graph, rewriter, n)) continue;
    const ValueId in = rewriter.input(n, 0);
    if (in != kNone && same_type(graph, in, graph.output(n))) rewriter.forward(graph.output(n), in);
  }
  return rewriter.finish();
}

}  // namespace nef::optimize
