// SPDX-License-Identifier: Apache-2.0
// x * cos + rotate_half(x) * sin over [batch, heads, sequence, size] becomes one RotaryEmbedding.
//   rotate_half(x) = concat(-x[..., size/2:], x[..., :size/2])
// The op takes each angle once, so cos and sin must repeat their first half in their second:
// elementwise over concat(f, f), or a constant that does.
#include <array>

#include "engine/ir/dtype.h"
#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::AttrBuilder;
using ir::Dim;
using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

constexpr int kLookBack = 8;  // nodes, from a table to the concat that repeats it

class Rotary {
 public:
  explicit Rotary(Graph& graph) : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) {
      if (graph_.op(n) == NEF_OP_ADD) visit(n);
    }
    return rewriter_.finish();
  }

 private:
  struct Part {
    ValueId source = kNone;
    int64_t begin = 0, end = 0;  // on the last axis
  };

  void visit(NodeId n) {
    const ValueId out = graph_.output(n);
    const auto size = match_.last_dim(out);
    if (graph_.dims(out).size() != 4 || !size || *size % 2 != 0 || *size == 0) return;
    for (size_t i : {0, 1}) {
      const NodeId turned = match_.made_by(match_.input(n, i), NEF_OP_MUL);
      const NodeId straight = match_.made_by(match_.input(n, 1 - i), NEF_OP_MUL);
      if (turned == kNone || straight == kNone) return;
      for (size_t k : {0, 1}) {
        const ValueId x = rotated_half(match_.input(turned, k), *size);
        if (x == kNone || !match_.same_type(x, out)) continue;
        const ValueId sin = match_.input(turned, 1 - k), cos = beside(straight, x);
        if (cos == kNone || !is_table(cos, x) || !is_table(sin, x)) continue;
        const ValueId in[3] = {x, half_table(cos, x), half_table(sin, x)};
        return rewriter_.rewrite(n, NEF_OP_ROTARY_EMBEDDING, in,
                                 AttrBuilder(NEF_OP_ROTARY_EMBEDDING).build());
      }
    }
  }

  ValueId beside(NodeId mul, ValueId x) const {
    for (size_t i : {0, 1}) {
      if (match_.input(mul, i) == x) return match_.input(mul, 1 - i);
    }
    return kNone;
  }

  // The x of v = rotate_half(x).
  ValueId rotated_half(ValueId v, int64_t size) {
    const NodeId concat = match_.made_by(v, NEF_OP_CONCAT);
    if (concat == kNone || graph_.inputs(concat).size() != 2 || !on_last_axis(concat)) return kNone;
    const NodeId neg = match_.made_by(match_.input(concat, 0), NEF_OP_NEG);
    if (neg == kNone) return kNone;
    const Part high = part(match_.input(neg, 0)), low = part(match_.input(concat, 1));
    const bool halves = low.begin == 0 && low.end == size / 2 && high.begin == size / 2 &&
                        high.end == size && low.source == high.source;
    return halves ? low.source : kNone;
  }

  bool on_last_axis(NodeId concat) const {
    const auto rank = static_cast<int64_t>(graph_.dims(graph_.output(concat)).size());
    const int64_t axis = graph_.attrs(concat).i(NEF_CONCAT_AXIS);
    return axis == -1 || axis == rank - 1;
  }

  // What a Slice or Split takes of the last axis of its source; no source when it is none.
  Part part(ValueId v) {
    const NodeId n = v == kNone ? kNone : graph_.producer(v);
    if (n == kNone) return {};
    const ValueId source = match_.input(n, 0);
    if (source == kNone) return {};
    const auto size = match_.last_dim(source), taken = match_.last_dim(v);
    if (!size || !taken) return {};
    if (graph_.op(n) == NEF_OP_SPLIT) return split_part(n, v, source, *taken);
    if (graph_.op(n) != NEF_OP_SLICE) return {};
    const auto start = only_int(match_.input(n, 1)), axis = only_int(match_.input(n, 3));
    const auto rank = static_cast<int64_t>(graph_.dims(source).size());
    if (!start || !axis || (*axis != -1 && *axis != rank - 1)) return {};
    if (match_.input(n, 4) != kNone && only_int(match_.input(n, 4)) != 1) return {};
    const int64_t begin = *start < 0 ? *start + *size : *start;
    if (begin < 0 || begin > *size) return {};
    return {source, begin, begin + *taken};
  }

  Part split_part(NodeId n, ValueId v, ValueId source, int64_t taken) const {
    const auto rank = static_cast<int64_t>(graph_.dims(source).size());
    const int64_t axis = graph_.attrs(n).i(NEF_SPLIT_AXIS);
    if (axis != -1 && axis != rank - 1) return {};
    int64_t begin = 0;
    for (uint32_t i = 0; graph_.output(n, i) != v; ++i) {
      const auto before = match_.last_dim(graph_.output(n, i));
      if (!before) return {};
      begin += *before;
    }
    return {source, begin, begin + taken};
  }

  // The one element of a vector that is known.
  std::optional<int64_t> only_int(ValueId v) {
    if (v == kNone) return std::nullopt;
    const ir::Operand o = build::operand(graph_, v);
    if (!o.has_content || o.content.size() != 1 || ir::is_expr(o.content[0])) return std::nullopt;
    return o.content[0].number();
  }

  // [batch or 1, 1, sequence, size], repeating itself, of x's dtype.
  bool is_table(ValueId v, ValueId x) {
    const auto t = graph_.dims(v), d = graph_.dims(x);
    if (t.size() != 4 || graph_.dtype(v) != graph_.dtype(x)) return false;
    const bool fits = (t[0] == d[0] || t[0] == 1) && t[1] == 1 && t[2] == d[2] && t[3] == d[3];
    return fits && repeats(v, kLookBack);
  }

  // The second half of the last axis equals the first.
  bool repeats(ValueId v, int budget) {
    if (graph_.is_constant(v)) return constant_repeats(v);
    const NodeId n = graph_.producer(v);
    if (n == kNone || budget == 0) return false;
    switch (graph_.op(n)) {
      case NEF_OP_CONCAT:
        return graph_.inputs(n).size() == 2 && on_last_axis(n) &&
               match_.input(n, 0) == match_.input(n, 1);
      case NEF_OP_COS:
      case NEF_OP_SIN:
      case NEF_OP_CAST: return repeats(match_.input(n, 0), budget - 1);
      case NEF_OP_UNSQUEEZE:
      case NEF_OP_RESHAPE:
        // The last axis is still the same one.
        return match_.last_dim(v).has_value() &&
               match_.last_dim(v) == match_.last_dim(match_.input(n, 0)) &&
               repeats(match_.input(n, 0), budget - 1);
      case NEF_OP_MUL:
        for (size_t i : {0, 1}) {
          const ValueId side = match_.input(n, i);
          if (match_.number(match_.input(n, 1 - i)) && match_.last_dim(side) == match_.last_dim(v))
            return repeats(side, budget - 1);
        }
        return false;
      default: return false;
    }
  }

  bool constant_repeats(ValueId v) const {
    const ir::Buffer& data = *graph_.constant_data(v);
    const auto size = match_.last_dim(v);
    const size_t element = ir::dtype_size(graph_.dtype(v));
    if (!size || *size == 0 || data.bytes() == 0) return false;
    const size_t half = static_cast<size_t>(*size) / 2 * element;
    const auto* p = static_cast<const char*>(data.data());
    for (size_t row = 0; row < data.bytes(); row += 2 * half) {
      if (std::memcmp(p + row, p + row + half, half) != 0) return false;
    }
    return true;
  }

  // The first half, as [batch, sequence, size / 2].
  ValueId half_table(ValueId v, ValueId x) {
    const std::array<Dim, 4> t{graph_.dims(v)[0], 1, graph_.dims(v)[2], graph_.dims(v)[3]};
    const Dim batch = graph_.dims(x)[0];
    build::Builder& b = rewriter_.builder();
    const int64_t zero = 0, half = t[3].number() / 2, last = 3;
    const ValueId slice[4] = {v, b.ints({&zero, 1}), b.ints({&half, 1}), b.ints({&last, 1})};
    const ValueId first = rewriter_.insert(NEF_OP_SLICE, slice);
    const Dim size = Dim::of(half);
    const Dim dims[3] = {t[0], t[2], size}, full[3] = {batch, t[2], size};
    const ValueId flat[2] = {first, rewriter_.insert_dims(dims)};
    const ValueId table =
        rewriter_.insert(NEF_OP_RESHAPE, flat, AttrBuilder(NEF_OP_RESHAPE).build());
    if (t[0] == batch) return table;
    const ValueId wide[2] = {table, rewriter_.insert_dims(full)};
    return rewriter_.insert(NEF_OP_EXPAND, wide);
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool can_have_rotary(const Graph& graph) {
  return graph.may_have(NEF_OP_CONCAT) && graph.may_have(NEF_OP_NEG);
}

bool match_rotary(Graph& graph, const Options&) { return Rotary(graph).run(); }

}  // namespace nef::optimize
