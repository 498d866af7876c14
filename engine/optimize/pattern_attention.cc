// SPDX-License-Identifier: Apache-2.0
// softmax(q k^T * scale [+ mask]) v over [batch, heads, sequence, size] becomes one Attention.
// A row whose scores are all -inf is NaN after a softmax but 0 after an attention, so the rewrite
// only fires where no such row can be: without a mask, or with one that is provably finite.
#include <algorithm>
#include <cmath>
#include <limits>

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

constexpr int kLookBack = 8;  // nodes, from a mask to what bounds it

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
    if (s->mask != kNone && !zero_rows && !range(s->mask, kLookBack)) return;
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

  // Bounds of all elements of a value; both finite.
  struct Range {
    double lo, hi;
  };

  // None when an element may be infinite or NaN, or nothing is known. Looks `budget` nodes back.
  std::optional<Range> range(ValueId v, int budget) const {
    const nef_dtype type = graph_.dtype(v);
    if (!ir::dtype_is_float(type)) return any_integer(type);
    if (graph_.is_constant(v)) return constant_range(v);
    const NodeId n = graph_.producer(v);
    if (budget == 0 || n == kNone) return std::nullopt;
    const std::optional<Range> r = result_range(n, budget - 1);
    const double largest = largest_of(type);
    return r && r->lo >= -largest && r->hi <= largest ? r : std::nullopt;
  }

  std::optional<Range> result_range(NodeId n, int budget) const {
    const bool where = graph_.op(n) == NEF_OP_WHERE;
    const std::optional<Range> a = range(match_.input(n, where ? 1 : 0), budget);
    if (!a) return std::nullopt;
    switch (graph_.op(n)) {
      case NEF_OP_CAST:
      case NEF_OP_RESHAPE:
      case NEF_OP_UNSQUEEZE:
      case NEF_OP_SQUEEZE:
      case NEF_OP_EXPAND: return a;
      case NEF_OP_NEG: return Range{-a->hi, -a->lo};
      case NEF_OP_ADD:
      case NEF_OP_SUB:
      case NEF_OP_MUL:
      case NEF_OP_WHERE: break;
      default: return std::nullopt;
    }
    const std::optional<Range> b = range(match_.input(n, where ? 2 : 1), budget);
    if (!b) return std::nullopt;
    switch (graph_.op(n)) {
      case NEF_OP_ADD: return Range{a->lo + b->lo, a->hi + b->hi};
      case NEF_OP_SUB: return Range{a->lo - b->hi, a->hi - b->lo};
      case NEF_OP_WHERE: return Range{std::min(a->lo, b->lo), std::max(a->hi, b->hi)};
      default: break;
    }
    const auto [lo, hi] = std::minmax({a->lo * b->lo, a->lo * b->hi, a->hi * b->lo, a->hi * b->hi});
    return Range{lo, hi};
  }

  static Range any_integer(nef_dtype type) {
    if (type == NEF_BOOL) return {0, 1};
    const double end = std::ldexp(1.0, 8 * static_cast<int>(ir::dtype_size(type)));
    return {-end, end};
  }

  // The largest number of a float; none for those whose constants are not read here.
  static double largest_of(nef_dtype type) {
    if (type == NEF_FLOAT32) return std::numeric_limits<float>::max();
    return type == NEF_FLOAT64 ? std::numeric_limits<double>::max() : -1;
  }

  std::optional<Range> constant_range(ValueId v) const {
    const ir::Buffer& data = *graph_.constant_data(v);
    if (graph_.dtype(v) == NEF_FLOAT32) return range_of<float>(data);
    return graph_.dtype(v) == NEF_FLOAT64 ? range_of<double>(data) : std::nullopt;
  }

  template <typename T>
  static std::optional<Range> range_of(const ir::Buffer& data) {
    const auto* p = static_cast<const char*>(data.data());
    Range r{0, 0};
    for (size_t i = 0; i < data.bytes(); i += sizeof(T)) {
      T x;
      std::memcpy(&x, p + i, sizeof x);
      if (!std::isfinite(x)) return std::nullopt;
      r = {std::min<double>(r.lo, x), std::max<double>(r.hi, x)};
    }
    return r;
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool can_have_attention(const Graph& graph) { return graph.may_have(NEF_OP_SOFTMAX); }

bool match_attention(Graph& graph, const Options&) { return Attention(graph).run(); }

}  // namespace nef::optimize
