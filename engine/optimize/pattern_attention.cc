// SPDX-License-Identifier: Apache-2.0
// softmax(q k^T * scale [+ mask]) v over [batch, heads, sequence, size] becomes one Attention.
// A row whose scores are all -inf is NaN after a softmax but 0 after an attention, so the rewrite
// only fires where no such row can be: without a mask, or with one that is provably finite.
#include "engine/ir/dtype.h"
#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::AttrBuilder;
using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

class Attention {
 public:
  explicit Attention(Graph& graph) : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) visit(n);
    return rewriter_.finish();
  }

 private:
  struct Scores {
    ValueId q = kNone, k = kNone, mask = kNone;
    double scale = 1;
  };

  bool is_plain_product(NodeId n) const {
    if (graph_.op(n) == NEF_OP_MATMUL) return true;
    return graph_.op(n) == NEF_OP_FUSED_MATMUL && graph_.inputs(n).size() == 2 &&
           graph_.attrs(n).i(NEF_FUSED_MATMUL_TRANS_A) == 0 &&
           graph_.attrs(n).i(NEF_FUSED_MATMUL_TRANS_B) == 0;
  }

  void visit(NodeId n) {
    if (!is_plain_product(n) || graph_.dims(graph_.output(n)).size() != 4) return;
    const ValueId probabilities = match_.input(n, 0), v = match_.input(n, 1);
    const NodeId softmax = match_.made_by(probabilities, NEF_OP_SOFTMAX);
    if (softmax == kNone || graph_.dims(v).size() != 4) return;
    const int64_t axis = graph_.attrs(softmax).i(NEF_SOFTMAX_AXIS, -1);
    if (axis != -1 && axis != 3) return;
    std::optional<Scores> s = scores(match_.input(softmax, 0));
    if (!s || !same_batch(s->q, s->k) || !same_batch(s->q, v)) return;
    const bool zero_rows = graph_.attrs(softmax).i(NEF_SOFTMAX_ZERO_MASKED_ROWS) != 0;
    if (s->mask != kNone && !zero_rows && !finite(s->mask, 8)) return;
    const ValueId in[4] = {s->q, s->k, v, s->mask};
    AttrBuilder attrs(NEF_OP_ATTENTION);
    attrs.set_float(NEF_ATTENTION_SCALE, s->scale);
    rewriter_.rewrite(n, NEF_OP_ATTENTION, {in, s->mask == kNone ? 3u : 4u}, attrs.build());
  }

  // Batch and head dims agree one by one (no broadcasting inside an Attention).
  bool same_batch(ValueId a, ValueId b) const {
    const auto x = graph_.dims(a), y = graph_.dims(b);
    return x[0] == y[0] && x[1] == y[1] && graph_.dtype(a) == graph_.dtype(b);
  }

  std::optional<Scores> scores(ValueId v) {
    Scores s;
    if (const NodeId add = match_.made_by(v, NEF_OP_ADD); add != kNone) {
      for (size_t i : {0, 1}) {
        const ValueId side = match_.input(add, i);
        const ValueId mask = match_.input(add, 1 - i);
        if (!match_.same_type(side, v) || !product(side, &s)) continue;
        s.mask = mask;
        return mask_fits(mask, v) ? std::optional(s) : std::nullopt;
      }
      return std::nullopt;
    }
    return product(v, &s) ? std::optional(s) : std::nullopt;
  }

  // The last dim of a mask is the number of keys, never broadcast.
  bool mask_fits(ValueId mask, ValueId scores) const {
    const auto m = graph_.dims(mask), s = graph_.dims(scores);
    return !m.empty() && m.size() <= 4 && m.back() == s.back() &&
           graph_.dtype(mask) == graph_.dtype(scores);
  }

  // v = scale * q k^T, the scale on the product or on q.
  bool product(ValueId v, Scores* s) {
    const auto p = match_.product(v);
    if (p.factors.size() != 1) return false;
    const NodeId n = graph_.producer(p.factors[0]);
    if (n == kNone || graph_.dims(p.factors[0]).size() != 4) return false;
    if (graph_.dims(match_.input(n, 0)).size() != 4) return false;
    ValueId k = kNone;
    double alpha = 1;
    if (graph_.op(n) == NEF_OP_FUSED_MATMUL && graph_.inputs(n).size() == 2 &&
        graph_.attrs(n).i(NEF_FUSED_MATMUL_TRANS_A) == 0 &&
        graph_.attrs(n).i(NEF_FUSED_MATMUL_TRANS_B) != 0) {
      k = match_.input(n, 1);
      alpha = graph_.attrs(n).f(NEF_FUSED_MATMUL_ALPHA, 1);
    } else if (graph_.op(n) == NEF_OP_MATMUL) {
      k = transposed_back(match_.input(n, 1));
    }
    if (k == kNone || graph_.dims(k).size() != 4) return false;
    const auto q = match_.product(match_.input(n, 0));
    if (q.factors.size() != 1 || graph_.dims(q.factors[0]).size() != 4) return false;
    s->q = q.factors[0];
    s->k = k;
    s->scale = p.coefficient * alpha * q.coefficient;
    return true;
  }

  // v = transpose(k0): the value with the last two axes swapped back.
  ValueId transposed_back(ValueId v) {
    const NodeId t = match_.made_by(v, NEF_OP_TRANSPOSE);
    if (t == kNone) return kNone;
    const auto perm = graph_.attrs(t).ints(NEF_TRANSPOSE_PERM);
    if (perm.size() != 4) return kNone;
    const int64_t swapped[4] = {perm[0], perm[1], perm[3], perm[2]};
    const ValueId source = match_.input(t, 0);
    if (swapped[0] == 0 && swapped[1] == 1 && swapped[2] == 2) return source;
    AttrBuilder attrs(NEF_OP_TRANSPOSE);
    attrs.set_ints(NEF_TRANSPOSE_PERM, swapped);
    return rewriter_.insert(NEF_OP_TRANSPOSE, {&source, 1}, attrs.build());
  }

  // Can no element be infinite or NaN? Looks a few nodes back.
  bool finite(ValueId v, int budget) const {
    if (budget == 0 || v == kNone) return false;
    if (!ir::dtype_is_float(graph_.dtype(v))) return true;
    if (graph_.is_constant(v)) return finite_constant(v);
    const NodeId n = graph_.producer(v);
    if (n == kNone) return false;
    switch (graph_.op(n)) {
      // No integer overflows float32, and no narrower float does.
      case NEF_OP_CAST:
        if (graph_.dtype(v) != NEF_FLOAT32 && graph_.dtype(v) != NEF_FLOAT64) return false;
        if (graph_.dtype(match_.input(n, 0)) == NEF_FLOAT64) return false;
        return finite(match_.input(n, 0), budget - 1);
      case NEF_OP_RESHAPE:
      case NEF_OP_UNSQUEEZE:
      case NEF_OP_SQUEEZE:
      case NEF_OP_EXPAND:
      case NEF_OP_NEG: return finite(match_.input(n, 0), budget - 1);
      // 0 and 1 times, plus or minus a mask constant stay finite.
      case NEF_OP_SUB:
      case NEF_OP_ADD:
      case NEF_OP_MUL:
        return bounded(match_.input(n, 0), budget - 1) && bounded(match_.input(n, 1), budget - 1);
      case NEF_OP_WHERE:
        return finite(match_.input(n, 1), budget - 1) && finite(match_.input(n, 2), budget - 1);
      default: return false;
    }
  }

  // An operand whose magnitude is far from overflow when combined with a few others: a bool that
  // was cast, a difference of such, or a constant that is not close to the largest float.
  bool bounded(ValueId v, int budget) const {
    if (budget == 0 || v == kNone) return false;
    if (const auto c = match_.number(v)) return std::abs(*c) < 1e39 && std::isfinite(*c);
    const NodeId n = graph_.producer(v);
    if (n == kNone) return false;
    switch (graph_.op(n)) {
      case NEF_OP_CAST: {
        const nef_dtype from = graph_.dtype(match_.input(n, 0));
        return from == NEF_BOOL || from == NEF_INT8 || from == NEF_UINT8;
      }
      case NEF_OP_RESHAPE:
      case NEF_OP_UNSQUEEZE:
      case NEF_OP_SQUEEZE:
      case NEF_OP_EXPAND: return bounded(match_.input(n, 0), budget - 1);
      case NEF_OP_SUB: {
        const auto c = match_.number(match_.input(n, 0));
        return c && std::abs(*c) <= 1 && bounded(match_.input(n, 1), budget - 1);
      }
      default: return false;
    }
  }

  bool finite_constant(ValueId v) const {
    const ir::Buffer& data = *graph_.constant_data(v);
    if (graph_.dtype(v) != NEF_FLOAT32) {
      const auto x = match_.number(v);
      return x && std::isfinite(*x);
    }
    const auto* p = static_cast<const char*>(data.data());
    for (size_t i = 0; i < data.bytes(); i += sizeof(float)) {
      float x;
      std::memcpy(&x, p + i, sizeof x);
      if (!std::isfinite(x)) return false;
    }
    return true;
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool match_attention(Graph& graph, const Options&) { return Attention(graph).run(); }

}  // namespace nef::optimize
