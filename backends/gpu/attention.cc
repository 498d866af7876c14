// SPDX-License-Identifier: Apache-2.0
// Attention, a block of threads for each row of queries, and RotaryEmbedding.
#include <cmath>

#include "backends/gpu/heads.h"
#include "backends/gpu/prefill.h"
#include "backends/gpu/stage.h"

namespace nef::gpu {
namespace {

constexpr const char* kAttention = R"device(
typedef $A$ A;
struct Add { __device__ A operator()(A a, A b) const { return a + b; } };
struct Max { __device__ A operator()(A a, A b) const { return op_max(a, b); } };
struct Rows { i64 batch, head, row; };  // steps of a tensor of heads
DEV i64 at_row(const Rows& s, i64 b, i64 h, i64 r) { return b * s.batch + h * s.head + r * s.row; }
struct AttentionP {
  $Q$* y; const $Q$* q; const $Q$* k; const $V$* v; const $M$* mask; const $Q$* past_k; const $V$* past_v;
  const i64* lengths; $Q$* seen; A* scores; i64 batch; i64 heads; i64 group; i64 queries; i64 keys; i64 past;
  i64 size; i64 v_size; i64 causal; i64 has_past; i64 columns; f64 scale; f64 softcap; i64 mode;
  Rows qs; Rows ks; Rows vs; Rows ys; Rows past_ks; Rows past_vs; i64 mask_steps[4];
  const i32* odd; i64 units; i64 unit_rows;  // where not null: only units whose number is not zero
};
template <i32 kThreads> DEV void emit(const AttentionP& p, i64 mode, i64 row, const A* scores) {
  if (p.seen == nullptr || p.mode != mode) return;
  for (i64 j = threadIdx.x; j < p.keys; j += kThreads) st(p.seen[row * p.keys + j], $R$(scores[j]));
}
// One query of one head, by a block. `scores` has room for all keys, `shared` for a number of each thread.
template <i32 kThreads> DEV void attend_row(const AttentionP& p, i64 row, A* scores, A* shared) {
  const i64 t = threadIdx.x;
  const Lane lane = {0, i32(t)};
  const A least_score = least<A>();
  const i64 s = row % p.queries, h = row / p.queries % p.heads, b = row / p.queries / p.heads;
  const i64 kv = h / p.group, length = p.lengths ? p.lengths[b] : p.keys;
  const i64 visible = s + (p.has_past || !p.lengths ? p.past : length - p.queries);
  // Keys that the query may see; all of them where their scores are asked for.
  i64 keys = p.keys;
  if (p.seen == nullptr) {
    if (keys > length) keys = length;
    if (p.causal && keys > visible + 1) keys = visible + 1;
  }
  const $Q$* q = p.q + at_row(p.qs, b, h, s);
  A top = least_score;
  for (i64 j = t; j < keys; j += kThreads) {
    const $Q$* k = j < p.past ? p.past_k + at_row(p.past_ks, b, kv, j) : p.k + at_row(p.ks, b, kv, j - p.past);
    A sum = A(0);
    for (i64 i = 0; i < p.size; ++i) sum += A(ld(q[i])) * A(ld(k[i]));
    scores[j] = sum * A(p.scale);
  }
  emit<kThreads>(p, 0, row, scores);
  for (i64 j = t; j < keys && p.softcap > 0; j += kThreads) scores[j] = A(p.softcap) * m_tanh(scores[j] / A(p.softcap));
  emit<kThreads>(p, 1, row, scores);
  for (i64 j = t; j < keys; j += kThreads) {
    A v = scores[j];
    if (j >= length || (p.causal && j > visible)) v = least_score;
    else if (p.mask) {
      if (p.columns != 1 && j >= p.columns) v += least_score;
      else {
        const i64 at = b * p.mask_steps[0] + h * p.mask_steps[1] + s * p.mask_steps[2] + j * p.mask_steps[3];
        v += $MASK$;
      }
    }
    scores[j] = v;
    top = op_max(top, v);
  }
  emit<kThreads>(p, 2, row, scores);
  top = join_line(top, shared, lane, 1, kThreads, Max());
  const bool nothing = top == least_score;
  A sum = A(0);
  for (i64 j = t; j < keys; j += kThreads) { const A e = nothing ? A(0) : m_exp(scores[j] - top); scores[j] = e; sum += e; }
  sum = join_line(sum, shared, lane, 1, kThreads, Add());
  for (i64 j = t; j < keys && !nothing; j += kThreads) scores[j] /= sum;
  emit<kThreads>(p, 3, row, scores);
  __syncthreads();
  // Threads as groups of v_size: each group takes every so manyth key.
  const i64 wide = p.v_size < kThreads ? p.v_size : kThreads, groups = wide > 0 ? kThreads / wide : 0;
  for (i64 i0 = 0; i0 < p.v_size && p.y; i0 += wide) {
    const i64 i = i0 + t % wide, g = t / wide;
    A part = A(0);
    for (i64 j = g; j < keys && g < groups && i < p.v_size; j += groups) {
      const $V$* v = j < p.past ? p.past_v + at_row(p.past_vs, b, kv, j) : p.v + at_row(p.vs, b, kv, j - p.past);
      if (scores[j] != A(0)) part += scores[j] * A(ld(v[i]));
    }
    shared[t] = part;
    __syncthreads();
    if (t < wide && i < p.v_size) {
      A all = A(0);
      for (i64 k = 0; k < groups; ++k) all += shared[k * wide + t];
      st(p.y[at_row(p.ys, b, h, s) + i], $R$(all));
    }
    __syncthreads();
  }
}
NEF_KERNEL(attention, AttentionP) {
  __shared__ A shared[256];
  const i64 units_of_head = (p.queries + p.unit_rows - 1) / p.unit_rows;
  for (i64 unit = blockIdx.x; unit < p.units; unit += gridDim.x) {
    if (p.odd && p.odd[unit] == 0) continue;
    const i64 head = unit / units_of_head * p.queries, first = unit % units_of_head * p.unit_rows;
    const i64 past_last = first + p.unit_rows < p.queries ? first + p.unit_rows : p.queries;
    for (i64 row = head + first; row < head + past_last; ++row) attend_row<256>(p, row, p.scores + i64(blockIdx.x) * p.keys, shared);
  }
}
)device";
// The past, then what is new, for keys and for values.
constexpr const char* kPresent = R"device(
struct $NAME$P { $T$* o; const $T$* fresh; const $T$* old; i64 n; i64 heads; i64 length; i64 past; i64 size; Rows fs; Rows os; };
NEF_KERNEL($NAME$, $NAME$P) {
  for (i64 at = thread_id(); at < p.n; at += thread_count()) {
    const i64 i = at % p.size, s = at / p.size % p.length, h = at / p.size / p.length % p.heads, b = at / p.size / p.length / p.heads;
    p.o[at] = s < p.past ? p.old[at_row(p.os, b, h, s) + i] : p.fresh[at_row(p.fs, b, h, s - p.past) + i];
  }
}
)device";

class Attention : public Stage {
 public:
  Attention(const Region& region, const Node& node, const AttentionSlices& slices,
            const DeviceInfo& device)
      : node_(node) {
    for (size_t i = 0; i < 3; ++i) {
      if (slices[i] != nullptr) slices_[i] = RowSlice::of(region, *slices[i]);
    }
    const nef_dtype q = region.input(node, 0).dtype, v = region.input(node, 2).dtype;
    const nef_dtype mask = node.has_input(3) ? region.input(node, 3).dtype : q;
    wide_ = q == NEF_FLOAT64 || v == NEF_FLOAT64;
    source_ = fill(kAttention, {{"A", wide_ ? "f64" : "f32"},
                                {"Q", memory_type(q)},
                                {"V", memory_type(v)},
                                {"M", memory_type(mask)},
                                {"R", register_type(q)},
                                {"MASK", mask == NEF_BOOL ? "ld(p.mask[at]) ? A(0) : least_score"
                                                          : "A(ld(p.mask[at]))"}}) +
              fill(kPresent, {{"NAME", "present_k"}, {"T", memory_type(q)}}) +
              fill(kPresent, {{"NAME", "present_v"}, {"T", memory_type(v)}});
    prefill_ = prefill_size(region, device);
    if (prefill_ > 0) {
      dtype_ = q;
      const bool capped = nef_attr_float(node.attrs(), NEF_ATTENTION_SOFTCAP, 0) != 0;
      const auto& k_dims = region.input(node, 1).dims;
      source_ += prefill_source(q, prefill_, node.has_input(3) ? mask : nef_dtype{0}, capped,
                                k_dims[k_dims.size() - 2]);
    }
    tile_ = prefill_ > 0 ? 0 : tile_of(region);
    if (tile_ == 0) return;
    source_ += fill(kAttentionTilesText,
                    {{"D", std::to_string(tile_)},
                     {"R", register_type(q)},
                     {"MASK32", mask == NEF_BOOL ? "(ld(p.mask[at]) ? 0.0f : least<f32>())"
                                                 : "f32(ld(p.mask[at]))"}});
  }
  std::string source() const override { return source_; }
  const char* name() const override {
    return prefill_ > 0 ? "attention on tensor cores" : tile_ > 0 ? "attention tiles" : "attention";
  }

  size_t scratch_bytes(const Values& values) const override {
    const Shape s = shape(values);
    if (tiled(values, s)) return 0;
    const auto scores = static_cast<size_t>(s.blocks * s.keys) * (wide_ ? 8 : 4);
    if (!prefilled(s)) return scores;
    const PrefillShape shape = prefill_shape(values, s);
    return prefill_checks(shape) ? 0 : scores + prefill_bytes(shape);
  }

  void launch(const Run& run, Module* module) const override {
    const Values& values = run.values;
    const Shape s = shape(values);
    const bool wanted = node_.has_output(0) || node_.has_output(3);
    if (wanted && s.blocks > 0) attend(run, *module, s);
    present(run, *module, "present_k", 1, 4, s.k, s.past_k);
    present(run, *module, "present_v", 2, 5, s.v, s.past_v);
  }

 private:
  struct Shape {
    Heads q, k, v, past_k, past_v;
    int64_t past = 0, keys = 0, blocks = 0;
    bool aligned = true;  // slices, as the copy engine wants it
  };
  Shape shape(const Values& values) const {
    const int64_t kv_heads = nef_attr_int(node_.attrs(), NEF_ATTENTION_KV_NUM_HEADS, 0);
    Shape s;
    s.q = Heads(values.dims(node_.inputs[0]),
                nef_attr_int(node_.attrs(), NEF_ATTENTION_Q_NUM_HEADS, 0));
    s.k = Heads(values.dims(node_.inputs[1]), kv_heads);
    s.v = Heads(values.dims(node_.inputs[2]), kv_heads);
    Heads* const all[3] = {&s.q, &s.k, &s.v};
    for (size_t i = 0; i < 3; ++i) {
      if (!slices_[i]) continue;
      all[i]->widen(slices_[i]->width(values));
      s.aligned =
          s.aligned && slices_[i]->width(values) % 8 == 0 && slices_[i]->start(values) % 8 == 0;
    }
    if (node_.has_input(4)) {
      s.past_k = Heads(values.dims(node_.inputs[4]), 0);
      s.past = s.past_k.length;
    }
    if (node_.has_input(5)) s.past_v = Heads(values.dims(node_.inputs[5]), 0);
    s.keys = s.past + s.k.length;
    constexpr int64_t kMostBlocks = 2048;
    s.blocks = std::min(s.q.batch * s.q.heads * s.q.length, kMostBlocks);
    return s;
  }
  // Width of the tiled kernel's heads, 0 when it does not do this one.
  int64_t tile_of(const Region& region) const {
    if (wide_ || node_.has_output(3) || !node_.has_output(0)) return 0;
    // Sizes of heads, where they are known before a run; else the larger kernel is made.
    int64_t size = 0;
    for (size_t i : {0, 2}) {
      const Value& v = region.input(node_, i);
      int64_t n = v.dims.back();
      const unsigned slot =
          i == 0 ? unsigned{NEF_ATTENTION_Q_NUM_HEADS} : unsigned{NEF_ATTENTION_KV_NUM_HEADS};
      if (n == NEF_DIM_UNKNOWN) n = 64;
      else if (v.rank() == 3) n /= std::max<int64_t>(1, nef_attr_int(node_.attrs(), slot, 1));
      size = std::max(size, n);
    }
    return size <= 32 ? 32 : size <= 64 ? 64 : 0;
  }
  // Width of the tensor cores' kernel, 0 when they do not do this.
  int64_t prefill_size(const Region& region, const DeviceInfo& device) const {
    if (!node_.has_output(0) || node_.has_output(3)) return 0;
    if (node_.has_input(4) || node_.has_input(6)) return 0;
    const nef_dtype t = region.input(node_, 0).dtype;
    int64_t sizes[2] = {};
    for (size_t i : {0, 2}) {
      const Value& v = region.input(node_, i);
      const int64_t heads = nef_attr_int(
          node_.attrs(),
          i == 0 ? unsigned{NEF_ATTENTION_Q_NUM_HEADS} : unsigned{NEF_ATTENTION_KV_NUM_HEADS}, 1);
      if (v.dtype != t || v.dims.back() == NEF_DIM_UNKNOWN) return 0;
      sizes[i / 2] = v.rank() == 3 ? v.dims.back() / std::max<int64_t>(1, heads) : v.dims.back();
    }
    return sizes[0] == sizes[1] ? prefill_width(t, sizes[0], device) : 0;
  }
  bool prefilled(const Shape& s) const {
    constexpr int64_t kLeast = 16;  // queries: with fewer, most of a tile would be empty
    return prefill_ > 0 && s.aligned && s.q.length >= kLeast && s.keys > 0 && scale(s) > 0 &&
           s.q.size == s.v.size;
  }
  double scale(const Shape& s) const {
    return nef_attr_float(node_.attrs(), NEF_ATTENTION_SCALE,
                          1 / std::sqrt(static_cast<double>(s.q.size)));
  }
  PrefillShape prefill_shape(const Values& values, const Shape& s) const {
    PrefillShape out;
    out.q = s.q;
    out.k = s.k;
    out.v = s.v;
    out.y = Heads(values.dims(node_.outputs[0]), s.q.heads);
    out.causal = nef_attr_int(node_.attrs(), NEF_ATTENTION_IS_CAUSAL, 0);
    out.scale = scale(s);
    out.softcap = nef_attr_float(node_.attrs(), NEF_ATTENTION_SOFTCAP, 0);
    if (node_.has_input(3)) {
      const Dims mask = values.dims(node_.inputs[3]);
      out.mask_steps = broadcast_steps(mask, 4);
      out.mask_columns = mask.rank == 0 ? 1 : mask.at[mask.rank - 1];
    }
    return out;
  }
  bool tiled(const Values& values, const Shape& s) const {
    if (tile_ == 0 || s.q.length < 8 || s.keys == 0) return false;
    const Dims y = values.dims(node_.outputs[0]);
    return s.q.size <= tile_ && Heads(y, s.q.heads).size <= tile_;
  }

  char* in(const Run& run, size_t i) const {
    if (i < 3 && slices_[i]) {
      const int32_t source = slices_[i]->source();
      return run.values.data(source) +
             slices_[i]->start(run.values) * static_cast<int64_t>(run.values.element_size(source));
    }
    return node_.has_input(i) ? run.values.data(node_.inputs[i]) : nullptr;
  }
  char* out(const Run& run, size_t i) const {
    return node_.has_output(i) ? run.values.data(node_.outputs[i]) : nullptr;
  }

  void attend(const Run& run, Module& module, const Shape& s) const {
    const int64_t* attrs = node_.attrs();
    Dims mask, mask_steps;
    int64_t columns = 1;
    if (node_.has_input(3)) {
      mask = run.values.dims(node_.inputs[3]);
      mask_steps = broadcast_steps(mask, 4);
      columns = mask.rank == 0 ? 1 : mask.at[mask.rank - 1];
    }
    Heads y;
    if (node_.has_output(0)) y = Heads(run.values.dims(node_.outputs[0]), s.q.heads);
    Params p;
    p.add(out(run, 0));
    for (size_t i : {0, 1, 2, 3, 4, 5, 6}) p.add(in(run, i));
    p.add(out(run, 3)).add(run.scratch);
    p.add(s.q.batch).add(s.q.heads).add(s.k.heads == 0 ? 1 : s.q.heads / s.k.heads);
    p.add(s.q.length).add(s.keys).add(s.past).add(s.q.size).add(node_.has_output(0) ? y.size : 0);
    p.add(nef_attr_int(attrs, NEF_ATTENTION_IS_CAUSAL, 0))
        .add(int64_t{node_.has_input(4)})
        .add(columns);
    p.add(scale(s));
    p.add(nef_attr_float(attrs, NEF_ATTENTION_SOFTCAP, 0));
    p.add(nef_attr_int(attrs, NEF_ATTENTION_QK_MATMUL_OUTPUT_MODE, 0));
    for (const Heads& h : {s.q, s.k, s.v, y, s.past_k, s.past_v}) h.add_to(p);
    p.add(mask_steps.at, 4, 4, 0);
    if (prefilled(s)) return attend_on_tensor_cores(run, module, s, p);
    p.add(static_cast<const void*>(nullptr))
        .add(s.q.batch * s.q.heads * s.q.length)
        .add(int64_t{1});
    if (tiled(run.values, s)) {
      const int64_t work = s.q.batch * s.q.heads * ((s.q.length + 31) / 32);
      return run.launch(module, "attention_tiled", {std::min<int64_t>(work, 1 << 20), 1, 128}, p);
    }
    run.launch(module, "attention", {s.blocks, 1, 256}, p);
  }

  // And again, exactly, where that left numbers that are not finite.
  void attend_on_tensor_cores(const Run& run, Module& module, const Shape& s, Params& p) const {
    const PrefillShape shape = prefill_shape(run.values, s);
    const int64_t parts = prefill_parts(shape);
    char* odd = run.scratch + static_cast<size_t>(s.blocks * s.keys) * 4;
    p.add(odd).add(parts).add(kPrefillPart);
    launch_prefill(run, module, dtype_, prefill_, shape, in(run, 0), in(run, 1), in(run, 2),
                   in(run, 3), out(run, 0), odd, p);
    if (prefill_checks(shape)) return;
    run.launch(module, "attention", {std::min(parts, s.blocks), 1, 256}, p);
  }

  void present(const Run& run, Module& module, const char* kernel, size_t output, size_t past_input,
               const Heads& fresh, const Heads& past) const {
    if (!node_.has_output(output)) return;
    const Dims d = run.values.dims(node_.outputs[output]);
    const int64_t n = d.count();
    if (n == 0) return;
    Params p;
    p.add(out(run, output)).add(in(run, output)).add(in(run, past_input));
    p.add(n).add(d.at[1]).add(d.at[2]).add(past.length).add(d.at[3]);
    fresh.add_to(p);
    past.add_to(p);
    run.launch(module, kernel, grid_for(n), p);
  }

  Node node_;
  std::optional<RowSlice> slices_[3];  // that make queries, keys and values
  bool wide_ = false;
  int64_t tile_ = 0, prefill_ = 0;
  nef_dtype dtype_ = NEF_FLOAT32;
  std::string source_;
};

class Rotary : public Stage {
 public:
  Rotary(const Region& region, const Node& node)
      : node_(node), dtype_(region.input(node, 0).dtype) {}
  const char* name() const override { return "rotary"; }
  bool may_fault() const override { return true; }
  std::string source() const override {
    return fill(R"device(
struct Fault { i64 set, index, axis, size; };
struct RotaryP { $T$* y; const $T$* x; const $T$* cosines; const $T$* sines; const i64* positions; Fault* fault;
  i64 n; i64 heads; i64 length; i64 size; i64 half; i64 interleaved; i64 limit; i64 by_batch; i64 by_head; i64 by_row; };
NEF_KERNEL(rotary, RotaryP) {
  const i64 places = p.size - p.half;  // pairs, then what is not turned
  for (i64 at = thread_id(); at < p.n; at += thread_count()) {
    const i64 i = at % places, s = at / places % p.length, h = at / places / p.length % p.heads;
    const i64 b = at / places / p.length / p.heads, row = b * p.by_batch + h * p.by_head + s * p.by_row;
    if (i >= p.half) { p.y[row + p.half + i] = p.x[row + p.half + i]; continue; }
    i64 place = b * p.length + s;
    if (p.positions) {
      const i64 index = p.positions[place];
      place = index < 0 ? index + p.limit : index;
      if (place < 0 || place >= p.limit) {
        if (p.fault->set == 0) { p.fault->index = index; p.fault->axis = 0; p.fault->size = p.limit; p.fault->set = 1; }
        continue;
      }
    }
    const i64 first = row + (p.interleaved ? 2 * i : i), second = p.interleaved ? first + 1 : first + p.half;
    const $A$ c = $A$(ld(p.cosines[place * p.half + i])), d = $A$(ld(p.sines[place * p.half + i]));
    const $A$ u = $A$(ld(p.x[first])), v = $A$(ld(p.x[second]));
    st(p.y[first], $R$(c * u - d * v));
    st(p.y[second], $R$(d * u + c * v));
  }
}
)device",
                {{"T", memory_type(dtype_)},
                 {"A", is_narrow(dtype_) ? "f32" : "f64"},
                 {"R", register_type(dtype_)}});
  }

  void launch(const Run& run, Module* module) const override {
    const int64_t* attrs = node_.attrs();
    const Dims x = run.values.dims(node_.inputs[0]);
    if (x.count() == 0) return;
    const Heads heads(x, nef_attr_int(attrs, NEF_ROTARY_EMBEDDING_NUM_HEADS, 0));
    const int64_t asked = nef_attr_int(attrs, NEF_ROTARY_EMBEDDING_ROTARY_EMBEDDING_DIM, 0);
    const int64_t half = (asked == 0 ? heads.size : asked) / 2;
    const int64_t n = heads.batch * heads.heads * heads.length * (heads.size - half);
    Params p;
    p.add(run.values.data(node_.outputs[0]));
    for (size_t i : {0, 1, 2}) p.add(run.values.data(node_.inputs[i]));
    p.add(node_.has_input(3) ? run.values.data(node_.inputs[3]) : nullptr);
    p.add(run.stream.fault_on_device()).add(n).add(heads.heads).add(heads.length).add(heads.size);
    p.add(half).add(nef_attr_int(attrs, NEF_ROTARY_EMBEDDING_INTERLEAVED, 0));
    p.add(run.values.dims(node_.inputs[1]).at[0]);
    heads.add_to(p);
    run.launch(*module, "rotary", grid_for(n), p);
    if (node_.has_input(3)) *run.faulting = "RotaryEmbedding: position_ids";
  }

 private:
  Node node_;
  nef_dtype dtype_;
};

}  // namespace

bool is_row_slice(const Region& region, const Node& node) {
  return RowSlice::of(region, node).has_value();
}
bool is_attention(nef_op op) { return op == NEF_OP_ATTENTION || op == NEF_OP_ROTARY_EMBEDDING; }
std::unique_ptr<Stage> attention_stage(const Region& region, const Node& node,
                                       const AttentionSlices& slices, const DeviceInfo& device) {
  if (node.op == NEF_OP_ATTENTION) {
    return std::make_unique<Attention>(region, node, slices, device);
  }
  return std::make_unique<Rotary>(region, node);
}

}  // namespace nef::gpu
