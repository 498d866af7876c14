// SPDX-License-Identifier: Apache-2.0
// Attention. Many queries: tiles of queries and keys with a running softmax, so that scores never
// leave the cache. Few queries (decoding): row by row, keys and values read once in place.
#include "backends/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/cpu/amx.h"
#include "backends/cpu/attention_columns.h"
#include "backends/cpu/attention_tiles.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_numbers.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_lines.h"

namespace nef::cpu {
namespace {

constexpr int64_t kFewQueries = 8;
constexpr int64_t kTasksPerSlot = 4;
constexpr int kNoScores = -1;

enum Input { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidKeys };
enum Output { kY, kPresentKey, kPresentValue, kScoresOut };

struct AttentionSpec {
  Node node;
  bool causal = false, has_scale = false;
  int64_t q_heads = 0, kv_heads = 0;
  double scale = 0, softcap = 0;
  int scores_mode = kNoScores;  // what the fourth output shows
  const AmxOps* amx = nullptr;  // not null: products of bfloat16 where heads are wide enough

  int32_t in(size_t i) const { return node.has_input(i) ? node.inputs[i] : -1; }
  int32_t out(size_t i) const { return node.has_output(i) ? node.outputs[i] : -1; }
};

template <typename T>
class AttentionPrepared final : public Prepared {
 public:
  AttentionPrepared(const ValueTable& values, const AttentionSpec& spec)
      : values_(values), spec_(spec), slots_(task_slots()) {}

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values, problem(values));
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    ScratchLayout layout(scratch);
    const AttentionProblem p = problem(values);
    const Pieces pieces = carve(layout, values, p);
    write_present(values, p, kPastKey, kK, kPresentKey, p.k);
    write_present(values, p, kPastValue, kV, kPresentValue, p.v);
    AttentionLaunch<T> l = bind(values, p, pieces);
    if (p.y.count() == 0) return;
    const bool tiles = p.q.length >= kFewQueries && spec_.out(kScoresOut) < 0;
    if (tiles && in_columns(l)) run_columns(values, l);
    else run_rows(values, l, tiles);
    if (!is_native<T>(values_.dtype(spec_.out(kY)))) store_output(values, pieces.y);
  }

 private:
  // Tiles of queries where there are many, else one by one.
  void run_rows(const Tensor* values, const AttentionLaunch<T>& l, bool tiles) const {
    const AttentionProblem& p = l.p;
    if (tiles)
      run_tasks(slots_, p.k.batch * p.k.heads, [&](int64_t, int64_t head) { l.pack(head); });
    const int64_t block = tiles ? p.query_block : 1;
    const int64_t blocks = ceil_div(p.q.length, block);
    run_tasks(slots_, p.q.batch * p.q.heads * blocks, [&](int64_t slot, int64_t task) {
      const int64_t b = task / blocks / p.q.heads, h = task / blocks % p.q.heads;
      const int64_t first = task % blocks * block;
      const int64_t count = std::min(block, p.q.length - first);
      T* room = l.rows + slot * AttentionLaunch<T>::slot_size(p);
      if (tiles && l.finite[b * p.k.heads + h / p.group] != 0) {
        l.run_tile(b, h, first, count, room);
        return;
      }
      for (int64_t s = first; s < first + count; ++s) run_row(values, l, b, h, s, room);
    });
  }

  bool in_columns(const AttentionLaunch<T>& l) const {
    return !l.p.on_amx && l.softcap <= 0 && l.scale > 0;
  }
  static int64_t column_slot(const AttentionProblem& p) {
    return round_up(
        std::max(ColumnAttention<T>::scratch_size(p.keys, p.k.size, p.v.size), p.keys) + 64, 64);
  }
  // A task takes the queries of a head of keys, or a part of them where heads are few.
  void run_columns(const Tensor* values, const AttentionLaunch<T>& l) const {
    const AttentionProblem& p = l.p;
    ColumnAttention<T> a{l.q,      l.k,      l.v,     l.y,    p.q.length, p.keys,
                         p.q.size, p.v.size, l.scale, l.mask, l.visible};
    const int64_t heads = p.k.batch * p.k.heads, blocks = p.group * a.blocks();
    const int64_t parts =
        slots_ == 1 ? 1 : std::clamp<int64_t>(ceil_div(slots_ * kTasksPerSlot, heads), 1, blocks);
    run_tasks(slots_, heads * parts, [&](int64_t slot, int64_t task) {
      const int64_t b = task / parts / p.k.heads, kv = task / parts % p.k.heads;
      T* room = l.columns + slot * column_slot(p);
      const bool finite = a.pack_values(b, kv, room);
      const int64_t last = blocks * (task % parts + 1) / parts;
      for (int64_t i = blocks * (task % parts) / parts; i < last; ++i) {
        const int64_t h = kv * p.group + i / a.blocks(), block = i % a.blocks();
        if (finite) {
          a.attend(b, h, kv, block, room);
          continue;
        }
        const int64_t first = block * a.kQueries, end = std::min(first + a.kQueries, p.q.length);
        for (int64_t s = first; s < end; ++s) run_row(values, l, b, h, s, room);
      }
    });
  }

  struct Pieces {
    T *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr, *y = nullptr;
    T *packed_k = nullptr, *packed_v = nullptr, *rows = nullptr;
    uint8_t* finite = nullptr;
    T* columns = nullptr;  // the same memory
  };

  AttentionProblem problem(const Tensor* values) const {
    const auto shape = [&](int32_t id, int64_t heads) {
      return HeadShape(values[id].dims, values_.rank(id), heads);
    };
    AttentionProblem p;
    p.q = shape(spec_.in(kQ), spec_.q_heads);
    p.k = shape(spec_.in(kK), spec_.kv_heads);
    p.v = shape(spec_.in(kV), spec_.kv_heads);
    p.y = p.q;
    p.y.size = p.v.size;
    if (spec_.in(kPastKey) >= 0) p.past = values[spec_.in(kPastKey)].dims[2];
    p.keys = p.past + p.k.length;
    p.group = p.k.heads == 0 ? 1 : std::max<int64_t>(1, p.q.heads / p.k.heads);
    p.on_amx =
        spec_.amx != nullptr && sizeof(T) == 4 && p.q.size >= kAmxTile && p.v.size >= kAmxTile;
    p.query_block = attention_query_block<T>(p.on_amx);
    return p;
  }

  bool joined(Input past, Input fresh) const {
    return spec_.in(past) >= 0 || !is_native<T>(values_.dtype(spec_.in(fresh)));
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values, const AttentionProblem& p) const {
    Pieces s;
    const int64_t heads = p.k.batch * p.k.heads;
    if (!is_native<T>(values_.dtype(spec_.in(kQ)))) s.q = layout.take<T>(p.q.count());
    if (joined(kPastKey, kK)) s.k = layout.take<T>(heads * p.keys * p.k.size);
    if (joined(kPastValue, kV)) s.v = layout.take<T>(heads * p.keys * p.v.size);
    const int32_t mask = spec_.in(kMask);
    if (mask >= 0 && values_.dtype(mask) != NEF_BOOL && !is_native<T>(values_.dtype(mask))) {
      s.mask = layout.take<T>(values_.count(values, mask));
    }
    if (!is_native<T>(values_.dtype(spec_.out(kY)))) s.y = layout.take<T>(p.y.count());
    // Which kind of tiles it will be hangs on exact dims; so that the answer grows with them, there
    // is room for either.
    ScratchLayout counted;
    carve_rows(counted, p, s);
    const int64_t columns = slots_ * column_slot(p) * static_cast<int64_t>(sizeof(T));
    char* work = layout.take<char>(std::max(static_cast<int64_t>(counted.used()), columns));
    ScratchLayout rows(work);
    carve_rows(rows, p, s);
    s.columns = reinterpret_cast<T*>(work);
    return s;
  }
  void carve_rows(ScratchLayout& layout, const AttentionProblem& p, Pieces& s) const {
    const int64_t heads = p.k.batch * p.k.heads;
    s.packed_k = layout.take<T>(heads * AttentionLaunch<T>::packed_keys(p));
    s.packed_v = layout.take<T>(heads * AttentionLaunch<T>::packed_values(p));
    s.finite = layout.take<uint8_t>(heads);
    s.rows = layout.take<T>(slots_ * AttentionLaunch<T>::slot_size(p));
  }

  AttentionLaunch<T> bind(const Tensor* values, const AttentionProblem& p, const Pieces& s) const {
    AttentionLaunch<T> l;
    l.p = p;
    l.q = p.q.rows(static_cast<const T*>(load(values, spec_.in(kQ), s.q)));
    l.k = keys_of(values, p, kPastKey, kK, p.k, s.k);
    l.v = keys_of(values, p, kPastValue, kV, p.v, s.v);
    l.y = p.y.rows(s.y != nullptr ? s.y : static_cast<T*>(values[spec_.out(kY)].data));
    if (spec_.in(kMask) >= 0) l.mask = mask_of(values, s.mask);
    l.visible = visible_of(values, p);
    l.scale = static_cast<T>(spec_.has_scale ? spec_.scale
                                             : 1 / std::sqrt(static_cast<double>(p.q.size)));
    l.softcap = static_cast<T>(spec_.softcap);
    l.amx = spec_.amx;
    l.packed_k = s.packed_k;
    l.packed_v = s.packed_v;
    l.rows = s.rows;
    l.columns = s.columns;
    l.finite = s.finite;
    return l;
  }

  const T* load(const Tensor* values, int32_t id, T* piece) const {
    const void* data = values_.data(values, id);
    const nef_dtype dtype = values_.dtype(id);
    if (is_native<T>(dtype)) return static_cast<const T*>(data);
    parallel_for(values_.count(values, id), 16 * 1024, [&](int64_t begin, int64_t end) {
      load_row(dtype, data, begin, end - begin, piece + begin);
    });
    return piece;
  }

  // All keys (or values): in place when they are one native tensor, else joined in `piece`.
  HeadRows<const T> keys_of(const Tensor* values, const AttentionProblem& p, Input past,
                            Input fresh, const HeadShape& shape, T* piece) const {
    const void* data = values_.data(values, spec_.in(fresh));
    if (piece == nullptr) return shape.rows(static_cast<const T*>(data));
    HeadShape all(shape);
    all.packed = false;
    all.length = p.keys;
    const HeadRows<T> to = all.rows(piece);
    parallel_for(shape.batch * shape.heads * p.keys, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Place from = place(values, p, past, fresh, shape, i);
        load_row(from.dtype, from.data, from.offset, shape.size, to.data + i * shape.size);
      }
    });
    return {to.data, to.batch_stride, to.head_stride, to.row_stride};
  }

  // Where row i of [batch, heads, keys] comes from: the past or the new keys.
  struct Place {
    nef_dtype dtype;
    const void* data;
    int64_t offset;
  };
  Place place(const Tensor* values, const AttentionProblem& p, Input past, Input fresh,
              const HeadShape& shape, int64_t i) const {
    const int64_t s = i % p.keys, h = i / p.keys % shape.heads, b = i / p.keys / shape.heads;
    const bool old = s < p.past;
    const int32_t id = spec_.in(old ? past : fresh);
    const void* data = values_.data(values, id);
    if (old) return {values_.dtype(id), data, ((b * shape.heads + h) * p.past + s) * shape.size};
    const HeadRows<char> rows = shape.rows(static_cast<char*>(nullptr));
    const int64_t offset =
        b * rows.batch_stride + h * rows.head_stride + (s - p.past) * rows.row_stride;
    return {values_.dtype(id), data, offset};
  }

  void write_present(const Tensor* values, const AttentionProblem& p, Input past, Input fresh,
                     Output out, const HeadShape& shape) const {
    if (spec_.out(out) < 0) return;
    const size_t size = backends::dtype_size(values_.dtype(spec_.out(out)));
    const size_t bytes = static_cast<size_t>(shape.size) * size;
    auto* dst = static_cast<char*>(values[spec_.out(out)].data);
    for (int64_t i = 0; bytes > 0 && i < shape.batch * shape.heads * p.keys; ++i) {
      const Place from = place(values, p, past, fresh, shape, i);
      std::memcpy(dst + static_cast<size_t>(i) * bytes,
                  static_cast<const char*>(from.data) + static_cast<size_t>(from.offset) * size,
                  bytes);
    }
  }

  AttentionMask<T> mask_of(const Tensor* values, T* piece) const {
    const int32_t id = spec_.in(kMask);
    const nef_dtype dtype = values_.dtype(id);
    const void* data = values_.data(values, id);
    if (dtype != NEF_BOOL && !is_native<T>(dtype)) {
      for (int64_t i = 0; i < values_.count(values, id); ++i) {
        piece[i] = static_cast<T>(load_number(dtype, data, i));
      }
      data = piece;
    }
    return AttentionMask<T>(data, dtype == NEF_BOOL, values[id].dims, values_.rank(id));
  }

  VisibleKeys visible_of(const Tensor* values, const AttentionProblem& p) const {
    VisibleKeys visible{p.keys, p.q.length, p.past};
    visible.causal = spec_.causal;
    visible.joined = spec_.in(kPastKey) >= 0;
    if (spec_.in(kValidKeys) >= 0) {
      visible.valid = static_cast<const int64_t*>(values_.data(values, spec_.in(kValidKeys)));
    }
    return visible;
  }

  void emit(const Tensor* values, const AttentionLaunch<T>& l, int mode, int64_t b, int64_t h,
            int64_t s, const T* scores) const {
    const int32_t id = spec_.out(kScoresOut);
    if (id < 0 || spec_.scores_mode != mode) return;
    const int64_t row = ((b * l.p.q.heads + h) * l.p.q.length + s) * l.p.keys;
    store_row(values_.dtype(id), scores, l.p.keys, values[id].data, row);
  }

  void run_row(const Tensor* values, const AttentionLaunch<T>& l, int64_t b, int64_t h, int64_t s,
               T* scores) const {
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    const auto& ops = gemm_ops<T>();
    const auto& rows = row_ops<T>();
    const int64_t kv = h / l.p.group, limit = l.visible.of(b, s);
    const bool shown = spec_.out(kScoresOut) >= 0;
    const int64_t n = shown ? l.p.keys : std::min(limit, l.p.keys);
    ops.dots(l.q.row(b, h, s), 0, l.k.row(b, kv, 0), l.k.row_stride, 1, n, l.p.q.size, scores, n);
    if (shown) {
      rows.scale_shift(scores, n, l.scale, 0, scores);
      emit(values, l, 0, b, h, s, scores);
      l.cap(n, scores);
      emit(values, l, 1, b, h, s, scores);
      l.mask.add(b, h, s, 0, n, scores);
      for (int64_t j = std::min(limit, n); j < n; ++j) scores[j] = kMasked;
      emit(values, l, 2, b, h, s, scores);
    } else {
      l.finish_scores(b, h, s, 0, n, limit, scores);
    }
    const T most = rows.max(scores, n);
    if (most == kMasked) {
      std::fill_n(scores, n, T(0));
    } else {
      const T sum = rows.exp_shifted(scores, n, most, scores);
      rows.scale_shift(scores, n, T(1) / sum, 0, scores);
    }
    emit(values, l, 3, b, h, s, scores);
    T* y = l.y.row(b, h, s);
    std::fill_n(y, l.p.v.size, T(0));
    for (int64_t j = 0; j < n; ++j) {  // a masked value must not reach the result, even if inf
      if (scores[j] != 0) rows.add_scaled(l.v.row(b, kv, j), l.p.v.size, scores[j], y);
    }
  }

  void store_output(const Tensor* values, const T* y) const {
    const int32_t id = spec_.out(kY);
    parallel_for(values_.count(values, id), 16 * 1024, [&](int64_t begin, int64_t end) {
      store_row(values_.dtype(id), y + begin, end - begin, values[id].data, begin);
    });
  }

  ValueTable values_;
  AttentionSpec spec_;
  int64_t slots_;
};

class AttentionKernel final : public Kernel {
 public:
  AttentionKernel(const Region& region, AttentionSpec spec)
      : values_(region), spec_(std::move(spec)) {}
  const char* name() const override {
    if (spec_.amx == nullptr) return "attention tiles";
    return spec_.amx->tiles ? "attention tiles amx bf16" : "attention tiles avx512 bf16";
  }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    for (size_t i : {kQ, kK, kV}) {
      if (values_.dtype(spec_.in(i)) != NEF_FLOAT64) continue;
      return std::make_unique<AttentionPrepared<double>>(values_, spec_);
    }
    return std::make_unique<AttentionPrepared<float>>(values_, spec_);
  }

 private:
  ValueTable values_;
  AttentionSpec spec_;
};

std::unique_ptr<Kernel> make_attention(const Region& region, std::string* why) {
  AttentionSpec spec;
  spec.node = region.nodes[0];
  const int64_t* attrs = spec.node.attrs();
  if (spec.out(kY) < 0) {
    *why = "Attention: the first output must be wanted";
    return nullptr;
  }
  spec.causal = nef_attr_int(attrs, NEF_ATTENTION_IS_CAUSAL, 0) != 0;
  spec.q_heads = nef_attr_int(attrs, NEF_ATTENTION_Q_NUM_HEADS, 0);
  spec.kv_heads = nef_attr_int(attrs, NEF_ATTENTION_KV_NUM_HEADS, 0);
  spec.has_scale = nef_attr_has(attrs, NEF_ATTENTION_SCALE) != 0;
  spec.scale = nef_attr_float(attrs, NEF_ATTENTION_SCALE, 0);
  spec.softcap = nef_attr_float(attrs, NEF_ATTENTION_SOFTCAP, 0);
  spec.scores_mode = static_cast<int>(nef_attr_int(attrs, NEF_ATTENTION_QK_MATMUL_OUTPUT_MODE, 0));
  const bool floats = region.values[spec.in(kQ)].dtype == NEF_FLOAT32 &&
                      region.values[spec.in(kK)].dtype == NEF_FLOAT32 &&
                      region.values[spec.in(kV)].dtype == NEF_FLOAT32;
  if (floats && region.precision == NEF_PRECISION_FAST) spec.amx = amx_ops();
  return std::make_unique<AttentionKernel>(region, std::move(spec));
}

}  // namespace

void register_attention() {
  register_op(NEF_OP_ATTENTION, make_attention);
  register_rotary();
}

}  // namespace nef::cpu
