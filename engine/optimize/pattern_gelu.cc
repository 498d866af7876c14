// SPDX-License-Identifier: Apache-2.0
// GELU, SiLU and HardSwish written out in elementwise ops become one op.
//   gelu: x/2 * (1 + erf(x / sqrt(2))), or the tanh form
//   silu: x * sigmoid(x)
//   hard swish: x * clip(x + 3, 0, 6) / 6, or x * hard_sigmoid(x) of that slope
#include <numbers>

#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::AttrBuilder;
using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

class Gelu {
 public:
  explicit Gelu(Graph& graph) : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) {
      if (graph_.op(n) == NEF_OP_MUL || graph_.op(n) == NEF_OP_DIV) visit(n);
    }
    return rewriter_.finish();
  }

 private:
  void visit(NodeId n) {
    const ValueId out = graph_.output(n);
    const auto p = match_.product(out);
    if (p.factors.size() != 2) return;
    for (size_t i : {0, 1}) {
      const ValueId x = p.factors[i], other = p.factors[1 - i];
      if (!match_.same_type(x, out)) continue;
      if (p.coefficient == 1 && is_sigmoid_of(other, x)) {
        return rewriter_.rewrite(n, NEF_OP_SILU, {&x, 1}, AttrBuilder(NEF_OP_SILU).build());
      }
      if (is_hard_swish(p.coefficient, other, x)) {
        return rewriter_.rewrite(n, NEF_OP_HARD_SWISH, {&x, 1}, {});
      }
      if (!Matcher::near(p.coefficient, 0.5)) continue;
      const NodeId one_plus = match_.made_by(other, NEF_OP_ADD);
      const ValueId inner = one_plus == kNone ? kNone : match_.beside_number(one_plus, 1);
      if (is_erf_of(inner, x)) return replace(n, x, "none");
      if (is_tanh_of(inner, x)) return replace(n, x, "tanh");
    }
  }

  void replace(NodeId n, ValueId x, const char* approximate) {
    AttrBuilder attrs(NEF_OP_GELU);
    attrs.set_string(NEF_GELU_APPROXIMATE, approximate);
    rewriter_.rewrite(n, NEF_OP_GELU, {&x, 1}, attrs.build());
  }

  bool is_sigmoid_of(ValueId v, ValueId x) const {
    const NodeId n = match_.made_by(v, NEF_OP_SIGMOID);
    return n != kNone && match_.input(n, 0) == x;
  }

  bool is_hard_swish(double coefficient, ValueId v, ValueId x) const {
    if (const NodeId n = match_.made_by(v, NEF_OP_HARD_SIGMOID); n != kNone) {
      return coefficient == 1 && match_.input(n, 0) == x &&
             Matcher::near(graph_.attrs(n).f(NEF_HARD_SIGMOID_ALPHA, 0.2), 1.0 / 6) &&
             Matcher::near(graph_.attrs(n).f(NEF_HARD_SIGMOID_BETA, 0.5), 0.5);
    }
    const NodeId clip = match_.made_by(v, NEF_OP_CLIP);
    if (clip == kNone || !Matcher::near(coefficient, 1.0 / 6)) return false;
    if (match_.number(match_.input(clip, 1)) != 0.0 ||
        match_.number(match_.input(clip, 2)) != 6.0) {
      return false;
    }
    const NodeId sum = match_.made_by(match_.input(clip, 0), NEF_OP_ADD);
    return sum != kNone && match_.beside_number(sum, 3) == x;
  }

  bool is_erf_of(ValueId v, ValueId x) const {
    const NodeId erf = match_.made_by(v, NEF_OP_ERF);
    if (erf == kNone) return false;
    const auto p = match_.product(match_.input(erf, 0));
    return p.factors.size() == 1 && p.factors[0] == x &&
           Matcher::near(p.coefficient, 1 / std::numbers::sqrt2);
  }

  // tanh(sqrt(2 / pi) * (x + 0.044715 x^3))
  bool is_tanh_of(ValueId v, ValueId x) const {
    const NodeId tanh = match_.made_by(v, NEF_OP_TANH);
    if (tanh == kNone) return false;
    const auto p = match_.product(match_.input(tanh, 0));
    if (p.factors.size() != 1) return false;
    if (!Matcher::near(p.coefficient, std::sqrt(2 * std::numbers::inv_pi))) return false;
    const NodeId sum = match_.made_by(p.factors[0], NEF_OP_ADD);
    if (sum == kNone) return false;
    for (size_t i : {0, 1}) {
      if (match_.input(sum, i) == x && is_cubic(match_.input(sum, 1 - i), x)) return true;
    }
    return false;
  }

  bool is_cubic(ValueId v, ValueId x) const {
    const auto p = match_.product(v);
    if (!Matcher::near(p.coefficient, 0.044715)) return false;
    if (p.factors.size() == 3) {
      return p.factors[0] == x && p.factors[1] == x && p.factors[2] == x;
    }
    const NodeId pow = p.factors.size() == 1 ? match_.made_by(p.factors[0], NEF_OP_POW) : kNone;
    return pow != kNone && match_.input(pow, 0) == x && match_.number(match_.input(pow, 1)) == 3.0;
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool can_have_gelu(const Graph& graph) {
  return graph.may_have(NEF_OP_ERF) || graph.may_have(NEF_OP_TANH) ||
         graph.may_have(NEF_OP_SIGMOID) || graph.may_have(NEF_OP_HARD_SIGMOID) ||
         graph.may_have(NEF_OP_CLIP);
}

bool match_gelu(Graph& graph, const Options&) { return Gelu(graph).run(); }

}  // namespace nef::optimize
