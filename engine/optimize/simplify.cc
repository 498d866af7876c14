// SPDX-License-Identifier: Apache-2.0
// Cheaper forms of what the graph says: transposes and reshapes meet and merge, a transpose that
// feeds a MatMul becomes a flag of the MatMul.
#include <algorithm>
#include <numeric>

#include "engine/ir/dtype.h"
#include "engine/optimize/passes.h"
#include "engine/optimize/rewriter.h"

namespace nef::optimize {

using ir::AttrBuilder;
using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

std::vector<int64_t> permutation(const Graph& graph, NodeId n) {
  const auto perm = graph.attrs(n).ints(NEF_TRANSPOSE_PERM);
  if (!perm.empty()) return {perm.begin(), perm.end()};
  std::vector<int64_t> out(graph.dims(graph.output(n)).size());
  std::iota(out.rbegin(), out.rend(), 0);
  return out;
}

class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph), rewriter_(graph) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) {
      switch (graph_.op(n)) {
        case NEF_OP_TRANSPOSE: merge_transposes(n); break;
        case NEF_OP_RESHAPE:
        case NEF_OP_FLATTEN:
        case NEF_OP_SQUEEZE:
        case NEF_OP_UNSQUEEZE: merge_reshapes(n); break;
        case NEF_OP_MATMUL: absorb_transposes(n); break;
        default: break;
      }
    }
    return rewriter_.finish();
  }

 private:
  NodeId producer_with(ValueId v, nef_op op) const {
    const NodeId p = v == kNone ? kNone : graph_.producer(v);
    return p != kNone && graph_.op(p) == op ? p : kNone;
  }

  void merge_transposes(NodeId n) {
    const NodeId inner = producer_with(rewriter_.input(n, 0), NEF_OP_TRANSPOSE);
    if (inner == kNone) return;
    const auto outer_perm = permutation(graph_, n), inner_perm = permutation(graph_, inner);
    std::vector<int64_t> perm(outer_perm.size());
    for (size_t i = 0; i < perm.size(); ++i) {
      perm[i] = inner_perm[static_cast<size_t>(outer_perm[i])];
    }
    const ValueId source = rewriter_.input(inner, 0);
    if (std::is_sorted(perm.begin(), perm.end())) {
      rewriter_.forward(graph_.output(n), source);
      return;
    }
    AttrBuilder attrs(NEF_OP_TRANSPOSE);
    attrs.set_ints(NEF_TRANSPOSE_PERM, perm);
    rewriter_.rewrite(n, NEF_OP_TRANSPOSE, {&source, 1}, attrs.build());
  }

  // Only the last of a chain of reshapes matters; its target is its own output shape, stated in
  // full, so that 0 and -1 (and allowzero) cannot be misread.
  void merge_reshapes(NodeId n) {
    const ValueId in = rewriter_.input(n, 0);
    const NodeId inner = in == kNone ? kNone : graph_.producer(in);
    if (inner == kNone || !is_reshape(graph_.op(inner))) return;
    const ValueId source = rewriter_.input(inner, 0);
    if (graph_.shape_id(source) == graph_.shape_id(graph_.output(n))) {
      rewriter_.forward(graph_.output(n), source);
      return;
    }
    const auto dims = graph_.dims(graph_.output(n));
    const ir::Shape target(dims);
    const ValueId inputs[2] = {source, rewriter_.insert_dims(target)};
    AttrBuilder attrs(NEF_OP_RESHAPE);
    attrs.set_int(NEF_RESHAPE_ALLOWZERO, 1);
    rewriter_.rewrite(n, NEF_OP_RESHAPE, inputs, attrs.build());
  }

  // The input of a transpose that swaps the last two axes of `v`, else kNone.
  ValueId untransposed(ValueId v) const {
    const NodeId t = producer_with(v, NEF_OP_TRANSPOSE);
    if (t == kNone) return kNone;
    const auto perm = permutation(graph_, t);
    const size_t rank = perm.size();
    if (rank < 2) return kNone;
    for (size_t i = 0; i + 2 < rank; ++i) {
      if (perm[i] != static_cast<int64_t>(i)) return kNone;
    }
    if (perm[rank - 1] != static_cast<int64_t>(rank) - 2) return kNone;
    return rewriter_.input(t, 0);
  }

  void absorb_transposes(NodeId n) {
    const ValueId a = rewriter_.input(n, 0), b = rewriter_.input(n, 1);
    if (!ir::dtype_is_float(graph_.dtype(a))) return;
    if (graph_.dims(a).size() < 2 || graph_.dims(b).size() < 2) return;
    const ValueId at = untransposed(a), bt = untransposed(b);
    if (at == kNone && bt == kNone) return;
    const ValueId inputs[2] = {at == kNone ? a : at, bt == kNone ? b : bt};
    AttrBuilder attrs(NEF_OP_FUSED_MATMUL);
    attrs.set_int(NEF_FUSED_MATMUL_TRANS_A, at == kNone ? 0 : 1);
    attrs.set_int(NEF_FUSED_MATMUL_TRANS_B, bt == kNone ? 0 : 1);
    rewriter_.rewrite(n, NEF_OP_FUSED_MATMUL, inputs, attrs.build());
  }

  Graph& graph_;
  Rewriter rewriter_;
};

}  // namespace

bool can_simplify(const Graph& graph) {
  return graph.may_have(NEF_OP_TRANSPOSE) || graph.may_have(NEF_OP_RESHAPE) ||
         graph.may_have(NEF_OP_FLATTEN) || graph.may_have(NEF_OP_SQUEEZE) ||
         graph.may_have(NEF_OP_UNSQUEEZE);
}

bool simplify(Graph& graph, const Options&) { return Simplifier(graph).run(); }

}  // namespace nef::optimize
