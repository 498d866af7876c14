// SPDX-License-Identifier: Apache-2.0
// What scales and shifts the channels of a convolution's result by constants becomes part of its
// weights and bias: Mul, Add, Sub and Div by a number or by one for each channel, and
// BatchNormalization.
#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

// y = x * scale + shift, one of each per channel.
struct Affine {
  std::vector<double> scale, shift;
};

class ConvAffine {
 public:
  explicit ConvAffine(Graph& graph) : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    // In order: what a node is merged into is a convolution again.
    for (NodeId n = 0; n < count; ++n) visit(n);
    return rewriter_.finish();
  }

 private:
  void visit(NodeId n) {
    switch (graph_.op(n)) {
      case NEF_OP_MUL:
      case NEF_OP_ADD:
        if (!merge(n, 0)) merge(n, 1);
        return;
      case NEF_OP_SUB:
      case NEF_OP_DIV:
      case NEF_OP_BATCH_NORMALIZATION: merge(n, 0); return;
      default: return;
    }
  }

  // Is input i of n a convolution that may take over what n does?
  bool merge(NodeId n, size_t i) {
    const NodeId conv = match_.made_by(match_.input(n, i), NEF_OP_CONV);
    if (conv == kNone || graph_.output_count(conv) != 1) return false;
    const ValueId y = graph_.output(conv);
    if (graph_.uses(y) != 1 || !match_.same_type(y, graph_.output(n))) return false;
    const ValueId w = match_.input(conv, 1), bias = match_.input(conv, 2);
    if (!floats(w) || (bias != kNone && !floats(bias)) || graph_.rank(w) < 2) return false;
    const auto affine = affine_of(n, i, graph_.dims(w)[0].number());
    return affine && rewrite(n, conv, *affine);
  }

  bool floats(ValueId v) const {
    return v != kNone && graph_.is_constant(v) && graph_.dtype(v) == NEF_FLOAT32;
  }
  const float* data(ValueId v) const {
    return static_cast<const float*>(graph_.constant_data(v)->data());
  }

  std::optional<Affine> affine_of(NodeId n, size_t i, int64_t channels) const {
    const auto size = static_cast<size_t>(channels);
    Affine a{std::vector<double>(size, 1.0), std::vector<double>(size, 0.0)};
    if (graph_.op(n) == NEF_OP_BATCH_NORMALIZATION) {
      const float* p[4];
      for (size_t j = 0; j < 4; ++j) {
        const ValueId v = match_.input(n, j + 1);
        if (!floats(v)) return std::nullopt;
        p[j] = data(v);
      }
      const double epsilon = graph_.attrs(n).f(NEF_BATCH_NORMALIZATION_EPSILON, 1e-5);
      for (size_t c = 0; c < size; ++c) {
        a.scale[c] = p[0][c] / std::sqrt(double{p[3][c]} + epsilon);
        a.shift[c] = p[1][c] - p[2][c] * a.scale[c];
      }
      return a;
    }
    const auto operand = per_channel(match_.input(n, 1 - i), graph_.rank(graph_.output(n)), size);
    if (!operand) return std::nullopt;
    for (size_t c = 0; c < size; ++c) {
      const double x = (*operand)[c];
      switch (graph_.op(n)) {
        case NEF_OP_MUL: a.scale[c] = x; break;
        case NEF_OP_DIV: a.scale[c] = 1 / x; break;
        case NEF_OP_ADD: a.shift[c] = x; break;
        default: a.shift[c] = -x; break;
      }
    }
    return a;
  }

  // The operand's number for each channel of a result [N, channels, ...] of that rank.
  std::optional<std::vector<double>> per_channel(ValueId v, size_t rank, size_t channels) const {
    if (!floats(v)) return std::nullopt;
    const auto dims = graph_.dims(v);
    if (dims.size() > rank) return std::nullopt;
    size_t count = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 1) continue;
      if (d + rank - dims.size() != 1) return std::nullopt;
      count = static_cast<size_t>(dims[d].number());
    }
    if (count != 1 && count != channels) return std::nullopt;
    std::vector<double> out(channels);
    for (size_t c = 0; c < channels; ++c) out[c] = data(v)[count == 1 ? 0 : c];
    return out;
  }

  bool rewrite(NodeId n, NodeId conv, const Affine& a) {
    const ValueId w = match_.input(conv, 1), bias = match_.input(conv, 2);
    const size_t channels = a.scale.size();
    const size_t count = graph_.constant_data(w)->bytes() / sizeof(float);
    bool scaled = false;
    for (double s : a.scale) scaled = scaled || s != 1;
    std::shared_ptr<ir::Buffer> weights, shift = ir::Buffer::allocate(channels * sizeof(float));
    auto* b = static_cast<float*>(shift->data());
    for (size_t c = 0; c < channels; ++c) {
      const double old = bias == kNone ? 0 : data(bias)[c];
      b[c] = static_cast<float>(old * a.scale[c] + a.shift[c]);
      if (!std::isfinite(b[c])) return false;
    }
    if (scaled) {
      weights = ir::Buffer::allocate(count * sizeof(float));
      auto* out = static_cast<float*>(weights->data());
      const size_t depth = channels == 0 ? 0 : count / channels;
      for (size_t j = 0; j < count; ++j) {
        out[j] = static_cast<float>(data(w)[j] * a.scale[j / depth]);
        if (!std::isfinite(out[j])) return false;
      }
    }
    const std::vector<ir::Dim> w_dims(graph_.dims(w).begin(), graph_.dims(w).end());
    const ir::Dim b_dims[1] = {ir::Dim::of(channels)};
    const ValueId x = match_.input(conv, 0);
    const ValueId in[3] = {
        x, scaled ? rewriter_.insert_constant(NEF_FLOAT32, w_dims, std::move(weights)) : w,
        rewriter_.insert_constant(NEF_FLOAT32, b_dims, std::move(shift))};
    const auto attrs = graph_.attrs(conv).words();
    rewriter_.rewrite(n, NEF_OP_CONV, in, std::vector<int64_t>(attrs.begin(), attrs.end()));
    return true;
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool can_have_conv(const Graph& graph) { return graph.may_have(NEF_OP_CONV); }

bool match_conv(Graph& graph, const Options&) { return ConvAffine(graph).run(); }

}  // namespace nef::optimize
