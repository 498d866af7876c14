// SPDX-License-Identifier: Apache-2.0
// Removes nodes that hand on their input unchanged, and puts the constant operand of commutative
// ops second, so that later passes meet one form.
#include <cstring>
#include <vector>

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

// What the pass has to look at, by op.
constexpr uint8_t kCommutes = 1;  // operands may be swapped
constexpr uint8_t kHandsOn = 2;   // may hand on its input whatever else it reads
constexpr uint8_t kUnit = 4;      // hands on its input where the other operand is its unit
using OpFlags = std::vector<uint8_t>;

const OpFlags& op_flags() {
  static const OpFlags flags = [] {
    OpFlags f(ir::kOpTableSize, 0);
    for (nef_op op :
         {NEF_OP_IDENTITY, NEF_OP_CAST, NEF_OP_CAST_LIKE, NEF_OP_RESHAPE, NEF_OP_FLATTEN,
          NEF_OP_SQUEEZE, NEF_OP_UNSQUEEZE, NEF_OP_EXPAND, NEF_OP_TRANSPOSE, NEF_OP_CONCAT,
          NEF_OP_SUM, NEF_OP_MEAN, NEF_OP_MAX, NEF_OP_MIN}) {
      f[static_cast<size_t>(op)] = kHandsOn;
    }
    for (nef_op op : {NEF_OP_MUL, NEF_OP_DIV, NEF_OP_SUB, NEF_OP_ADD}) {
      f[static_cast<size_t>(op)] = kUnit;
    }
    for (size_t op = 0; op < f.size(); ++op) {
      if (ir::spec(static_cast<nef_op>(op)).commutative) f[op] |= kCommutes;
    }
    return f;
  }();
  return flags;
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
  const OpFlags& flags = op_flags();
  // Without constants there is no unit to multiply by, and no operand to put second.
  const uint8_t wanted = graph.constant_count() == 0 ? kHandsOn : kHandsOn | kUnit | kCommutes;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const uint8_t is = flags[static_cast<size_t>(graph.op(n))] & wanted;
    if (is == 0) continue;
    if ((is & kCommutes) != 0 && graph.inputs(n).size() == 2) {
      const ValueId a = rewriter.input(n, 0), b = rewriter.input(n, 1);
      if (graph.is_constant(a) && !graph.is_constant(b)) {
        graph.set_input(n, 0, b);
        graph.set_input(n, 1, a);
      }
    }
    if ((is & (kHandsOn | kUnit)) == 0 || !hands_on(graph, rewriter, n)) continue;
    const ValueId in = rewriter.input(n, 0);
    if (in != kNone && same_type(graph, in, graph.output(n))) rewriter.forward(graph.output(n), in);
  }
  return rewriter.finish();
}

}  // namespace nef::optimize
