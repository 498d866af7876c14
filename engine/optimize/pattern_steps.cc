// SPDX-License-Identifier: Apache-2.0
// Recurrent layers that were written out step by step multiply each step of a sequence by the same
// weights. Those products become one of the whole sequence, which reads the weights once:
//   Gemm(Gather(x, t), w, b) for many t  ->  Gather(x w + b, t)
#include <map>

#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::AttrBuilder;
using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

class Steps {
 public:
  explicit Steps(Graph& graph) : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) visit(n);
    for (const auto& [key, nodes] : groups_) {
      // Steps that nobody asked for are computed too.
      if (nodes.size() > 1 && 2 * static_cast<int64_t>(nodes.size()) >= key.steps) join(key, nodes);
    }
    return rewriter_.finish();
  }

 private:
  struct Key {
    ValueId sequence, weights, bias;
    bool transposed;
    double alpha;
    int64_t steps;
    auto operator<=>(const Key&) const = default;
  };

  void visit(NodeId n) {
    const nef_op op = graph_.op(n);
    if (op != NEF_OP_GEMM && op != NEF_OP_MATMUL) return;
    const NodeId gather = match_.made_by(match_.input(n, 0), NEF_OP_GATHER);
    const ValueId weights = match_.input(n, 1);
    if (gather == kNone || !graph_.is_constant(weights) || graph_.rank(weights) != 2) return;
    if (graph_.dtype(weights) != NEF_FLOAT32 || graph_.attrs(gather).i(NEF_GATHER_AXIS) != 0)
      return;
    const ValueId sequence = match_.input(gather, 0), step = match_.input(gather, 1);
    if (!graph_.is_constant(step) || graph_.rank(step) != 0 || graph_.rank(sequence) != 3) return;
    const ir::Dim steps = graph_.dims(sequence)[0];
    if (ir::is_expr(steps)) return;
    Key key{sequence, weights, kNone, false, 1, steps.number()};
    if (op == NEF_OP_GEMM) {
      const ir::Attrs attrs = graph_.attrs(n);
      key.bias = match_.input(n, 2);
      key.transposed = attrs.i(NEF_GEMM_TRANS_B) != 0;
      key.alpha = attrs.f(NEF_GEMM_ALPHA, 1);
      if (attrs.i(NEF_GEMM_TRANS_A) != 0 || attrs.f(NEF_GEMM_BETA, 1) != 1) return;
      // One row for all steps.
      if (key.bias != kNone && (!graph_.is_constant(key.bias) || graph_.rank(key.bias) != 1))
        return;
    }
    groups_[key].push_back(n);
  }

  void join(const Key& key, const std::vector<NodeId>& nodes) {
    AttrBuilder attrs(NEF_OP_FUSED_MATMUL);
    attrs.set_int(NEF_FUSED_MATMUL_TRANS_B, key.transposed ? 1 : 0);
    attrs.set_float(NEF_FUSED_MATMUL_ALPHA, key.alpha);
    const ValueId operands[2] = {key.sequence, key.weights};
    ValueId all = rewriter_.insert(NEF_OP_FUSED_MATMUL, operands, attrs.build());
    if (key.bias != kNone) {
      const ValueId terms[2] = {all, key.bias};
      all = rewriter_.insert(NEF_OP_ADD, terms);
    }
    for (NodeId n : nodes) {
      const NodeId gather = graph_.producer(match_.input(n, 0));
      const ValueId in[2] = {all, match_.input(gather, 1)};
      const auto words = graph_.attrs(gather).words();
      rewriter_.rewrite(n, NEF_OP_GATHER, in, std::vector<int64_t>(words.begin(), words.end()));
    }
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
  std::map<Key, std::vector<NodeId>> groups_;
};

}  // namespace

bool can_have_steps(const Graph& graph) {
  return graph.may_have(NEF_OP_GATHER) &&
         (graph.may_have(NEF_OP_GEMM) || graph.may_have(NEF_OP_MATMUL));
}

bool match_steps(Graph& graph, const Options&) { return Steps(graph).run(); }

}  // namespace nef::optimize
