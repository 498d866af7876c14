// SPDX-License-Identifier: Apache-2.0
// Layer and RMS normalisation written out become one op.
//   layer: (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * scale [+ bias]
//   rms:   x / sqrt(mean(x^2) + eps) * scale
// over the last axis, with scale and bias of its size.
#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::AttrBuilder;
using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

class Norm {
 public:
  explicit Norm(Graph& graph) : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    // Roots with a bias first, so that a match covers as much as it can.
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) {
      if (graph_.op(n) == NEF_OP_ADD) with_bias(n);
    }
    for (NodeId n = 0; n < count; ++n) {
      if (graph_.op(n) == NEF_OP_MUL) scaled(n, n, kNone);
    }
    return rewriter_.finish();
  }

 private:
  void with_bias(NodeId add) {
    for (size_t i : {0, 1}) {
      const NodeId mul = match_.made_by(match_.input(add, i), NEF_OP_MUL);
      if (mul != kNone && scaled(add, mul, match_.input(add, 1 - i))) return;
    }
  }

  // root = normalised * scale (+ bias)
  bool scaled(NodeId root, NodeId mul, ValueId bias) {
    for (size_t i : {0, 1}) {
      const ValueId normalised = match_.input(mul, i), scale = match_.input(mul, 1 - i);
      const std::optional<Found> f = normalised_by(normalised);
      if (!f || !match_.same_type(f->x, graph_.output(root))) continue;
      if (!fits(scale, f->x) || (bias != kNone && !fits(bias, f->x))) continue;
      if (f->layer) {
        const ValueId in[3] = {f->x, scale, bias};
        AttrBuilder attrs(NEF_OP_LAYER_NORMALIZATION);
        attrs.set_float(NEF_LAYER_NORMALIZATION_EPSILON, f->epsilon);
        rewriter_.rewrite(root, NEF_OP_LAYER_NORMALIZATION, {in, bias == kNone ? 2u : 3u},
                          attrs.build());
        return true;
      }
      if (bias != kNone) continue;
      const ValueId in[2] = {f->x, scale};
      AttrBuilder attrs(NEF_OP_RMS_NORMALIZATION);
      attrs.set_float(NEF_RMS_NORMALIZATION_EPSILON, f->epsilon);
      rewriter_.rewrite(root, NEF_OP_RMS_NORMALIZATION, in, attrs.build());
      return true;
    }
    return false;
  }

  bool fits(ValueId parameter, ValueId x) const {
    if (parameter == kNone || graph_.dtype(parameter) != graph_.dtype(x)) return false;
    const auto dims = graph_.dims(parameter);
    return dims.size() == 1 && dims[0] == graph_.dims(x).back();
  }

  struct Found {
    ValueId x;
    double epsilon;
    bool layer;
  };

  // Is v = d / sqrt(mean(d^2) + eps), with d = x - mean(x) or x itself?
  std::optional<Found> normalised_by(ValueId v) const {
    ValueId d = kNone, root = kNone;
    if (const NodeId div = match_.made_by(v, NEF_OP_DIV); div != kNone) {
      d = match_.input(div, 0);
      root = sqrt_argument(match_.input(div, 1));
    } else if (const NodeId mul = match_.made_by(v, NEF_OP_MUL); mul != kNone) {
      for (size_t i : {0, 1}) {
        const NodeId inverse = match_.made_by(match_.input(mul, i), NEF_OP_RECIPROCAL);
        if (inverse == kNone) continue;
        d = match_.input(mul, 1 - i);
        root = sqrt_argument(match_.input(inverse, 0));
      }
    }
    const NodeId sum = match_.made_by(root, NEF_OP_ADD);
    if (d == kNone || sum == kNone) return std::nullopt;
    for (size_t i : {0, 1}) {
      const auto epsilon = match_.number(match_.input(sum, i));
      if (!epsilon || *epsilon < 0) continue;
      const ValueId square = mean_of_last(match_.input(sum, 1 - i));
      if (square == kNone || !is_square(square, d)) continue;
      const NodeId sub = match_.made_by(d, NEF_OP_SUB);
      if (sub != kNone && mean_of_last(match_.input(sub, 1)) == match_.input(sub, 0)) {
        return Found{match_.input(sub, 0), *epsilon, true};
      }
      return Found{d, *epsilon, false};
    }
    return std::nullopt;
  }

  ValueId sqrt_argument(ValueId v) const {
    const NodeId n = match_.made_by(v, NEF_OP_SQRT);
    return n == kNone ? kNone : match_.input(n, 0);
  }

  bool is_square(ValueId v, ValueId d) const {
    if (const NodeId mul = match_.made_by(v, NEF_OP_MUL); mul != kNone) {
      return match_.input(mul, 0) == d && match_.input(mul, 1) == d;
    }
    const NodeId pow = match_.made_by(v, NEF_OP_POW);
    return pow != kNone && match_.input(pow, 0) == d && match_.number(match_.input(pow, 1)) == 2.0;
  }

  // x when v is the mean of x over its last axis, kept with size 1.
  ValueId mean_of_last(ValueId v) const {
    const NodeId n = match_.made_by(v, NEF_OP_REDUCE_MEAN);
    if (n == kNone || graph_.attrs(n).i(NEF_REDUCE_MEAN_KEEPDIMS) == 0) return kNone;
    const ValueId x = match_.input(n, 0), axes = match_.input(n, 1);
    if (axes == kNone || !graph_.is_constant(axes) || graph_.dtype(axes) != NEF_INT64 ||
        graph_.constant_data(axes)->bytes() != sizeof(int64_t)) {
      return kNone;
    }
    int64_t axis;
    std::memcpy(&axis, graph_.constant_data(axes)->data(), sizeof axis);
    const auto rank = static_cast<int64_t>(graph_.dims(x).size());
    return axis == -1 || axis == rank - 1 ? x : kNone;
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool can_have_norm(const Graph& graph) {
  return graph.may_have(NEF_OP_SQRT) && graph.may_have(NEF_OP_REDUCE_MEAN);
}

bool match_norm(Graph& graph, const Options&) { return Norm(graph).run(); }

}  // namespace nef::optimize
