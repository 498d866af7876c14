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
#include "backends/cpu/attention_mask.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_numbers.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_lines.h"

namespace nef::cpu {
namespace {

constexpr int64_t kKeyBlock = 128;
constexpr int64_t kQueryBlock = 48;
constexpr int64_t kAmxQueryBlock = 64;
constexpr int64_t kFewQueries = 8;
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

// Shapes of one launch.
struct Problem {
  HeadShape q, k, v, y;  // k and v: the new keys and values only
  int64_t past = 0, keys = 0;
  int64_t group = 1;  // query heads per key head
  int64_t query_block = kQueryBlock;
  bool on_amx = false;
};

template <typename T>
struct Launch {
  Problem p;
  HeadRows<const T> q, k, v;
  HeadRows<T> y;
  AttentionMask<T> mask;
  T scale = 1;
  T *packed_k = nullptr, *packed_v = nullptr, *rows = nullptr;
  uint8_t* finite = nullptr;  // per key head: no inf or NaN among the values
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
    const Problem p = problem(values);
    const Pieces pieces = carve(layout, values, p);
    write_present(values, p, kPastKey, kK, kPresentKey, p.k);
    write_present(values, p, kPastValue, kV, kPresentValue, p.v);
    Launch<T> l = bind(values, p, pieces);
    if (p.y.count() == 0) return;
    const bool tiles = p.q.length >= kFewQueries && spec_.out(kScoresOut) < 0;
    if (tiles) pack(l);
    const int64_t block = tiles ? p.query_block : 1;
    const int64_t blocks = ceil_div(p.q.length, block);
    run_tasks(slots_, p.q.batch * p.q.heads * blocks, [&](int64_t slot, int64_t task) {
      const int64_t b = task / blocks / p.q.heads, h = task / blocks % p.q.heads;
      const int64_t first = task % blocks * block;
      const int64_t count = std::min(block, p.q.length - first);
      T* room = l.rows + slot * slot_size(p);
      if (tiles && l.finite[b * p.k.heads + h / p.group] != 0) {
        run_tile(values, l, b, h, first, count, room);
        return;
      }
      for (int64_t s = first; s < first + count; ++s) run_row(values, l, b, h, s, room);
    });
    if (!is_native<T>(values_.dtype(spec_.out(kY)))) store_output(values, pieces.y);
  }

 private:
  struct Pieces {
    T *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr, *y = nullptr;
    T *packed_k = nullptr, *packed_v = nullptr, *rows = nullptr;
    uint8_t* finite = nullptr;
  };

  Problem problem(const Tensor* values) const {
    const auto shape = [&](int32_t id, int64_t heads) {
      return HeadShape(values[id].dims, values_.rank(id), heads);
    };
    Problem p;
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
    p.query_block = p.on_amx ? kAmxQueryBlock : round_up(kQueryBlock, gemm_ops<T>().mr);
    return p;
  }

  // Scores, one tile of the product with the values, sums, and the two running values of a row.
  static int64_t slot_size(const Problem& p) {
    const int64_t size = p.query_block * (kKeyBlock + 2 * p.v.size + 2);
    return round_up(std::max(size, p.keys) + 64, 64) + (p.on_amx ? amx_rows(p) : 0);
  }
  static int64_t packed_keys(const Problem& p) {
    if (p.on_amx) return round_up(p.keys, kKeyBlock) * amx_depth(p.q.size) / 2;
    return round_up(p.keys, kKeyBlock) * p.q.size;
  }
  static int64_t packed_values(const Problem& p) {
    if (p.on_amx) return ceil_div(p.keys, kKeyBlock) * amx_b_size(kKeyBlock, p.v.size) / 2;
    return p.keys * round_up(p.v.size, gemm_ops<T>().nr);
  }
  // Queries of a tile, then its weights, as bfloat16; counted in T like the other pieces.
  static int64_t amx_rows(const Problem& p) {
    return amx_a_size(p.query_block, std::max(p.q.size, kKeyBlock));
  }
  bool joined(Input past, Input fresh) const {
    return spec_.in(past) >= 0 || !is_native<T>(values_.dtype(spec_.in(fresh)));
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values, const Problem& p) const {
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
    s.packed_k = layout.take<T>(heads * packed_keys(p));
    s.packed_v = layout.take<T>(heads * packed_values(p));
    s.finite = layout.take<uint8_t>(heads);
    s.rows = layout.take<T>(slots_ * slot_size(p));
    return s;
  }

  Launch<T> bind(const Tensor* values, const Problem& p, const Pieces& s) const {
    Launch<T> l;
    l.p = p;
    l.q = p.q.rows(static_cast<const T*>(load(values, spec_.in(kQ), s.q)));
    l.k = keys_of(values, p, kPastKey, kK, p.k, s.k);
    l.v = keys_of(values, p, kPastValue, kV, p.v, s.v);
    l.y = p.y.rows(s.y != nullptr ? s.y : static_cast<T*>(values[spec_.out(kY)].data));
    if (spec_.in(kMask) >= 0) l.mask = mask_of(values, s.mask);
    l.scale = static_cast<T>(spec_.has_scale ? spec_.scale
                                             : 1 / std::sqrt(static_cast<double>(p.q.size)));
    l.packed_k = s.packed_k;
    l.packed_v = s.packed_v;
    l.rows = s.rows;
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
  HeadRows<const T> keys_of(const Tensor* values, const Problem& p, Input past, Input fresh,
                            const HeadShape& shape, T* piece) const {
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
  Place place(const Tensor* values, const Problem& p, Input past, Input fresh,
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

  void write_present(const Tensor* values, const Problem& p, Input past, Input fresh, Output out,
                     const HeadShape& shape) const {
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

  // Keys that query s of batch b may look at: the first so many.
  int64_t visible(const Tensor* values, const Problem& p, int64_t b, int64_t s) const {
    int64_t limit = p.keys, offset = p.past;
    const int32_t valid = spec_.in(kValidKeys);
    if (valid >= 0) {
      const int64_t n = static_cast<const int64_t*>(values_.data(values, valid))[b];
      limit = std::clamp<int64_t>(n, 0, p.keys);
      if (spec_.in(kPastKey) < 0) offset = limit - p.q.length;
    }
    if (spec_.causal) limit = std::min(limit, s + offset + 1);
    return std::max<int64_t>(0, limit);
  }

  // Scaled, capped and masked scores of keys [first, first + n); those past `limit` are -inf.
  void finish_scores(const Launch<T>& l, int64_t b, int64_t h, int64_t s, int64_t first, int64_t n,
                     int64_t limit, T* scores) const {
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    const int64_t used = std::clamp<int64_t>(limit - first, 0, n);
    scale_and_cap(l, used, scores);
    l.mask.add(b, h, s, first, used, scores);
    std::fill(scores + used, scores + n, kMasked);
  }
  void scale_and_cap(const Launch<T>& l, int64_t n, T* scores) const {
    row_ops<T>().scale_shift(scores, n, l.scale, 0, scores);
    if (spec_.softcap <= 0) return;
    const T cap = static_cast<T>(spec_.softcap);
    for (int64_t j = 0; j < n; ++j) scores[j] = cap * std::tanh(scores[j] / cap);
  }
  void emit(const Tensor* values, const Launch<T>& l, int mode, int64_t b, int64_t h, int64_t s,
            const T* scores) const {
    const int32_t id = spec_.out(kScoresOut);
    if (id < 0 || spec_.scores_mode != mode) return;
    const int64_t row = ((b * l.p.q.heads + h) * l.p.q.length + s) * l.p.keys;
    store_row(values_.dtype(id), scores, l.p.keys, values[id].data, row);
  }

  void run_row(const Tensor* values, const Launch<T>& l, int64_t b, int64_t h, int64_t s,
               T* scores) const {
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    const auto& ops = gemm_ops<T>();
    const auto& rows = row_ops<T>();
    const int64_t kv = h / l.p.group, limit = visible(values, l.p, b, s);
    const bool shown = spec_.out(kScoresOut) >= 0;
    const int64_t n = shown ? l.p.keys : std::min(limit, l.p.keys);
    ops.dots(l.q.row(b, h, s), 0, l.k.row(b, kv, 0), l.k.row_stride, 1, n, l.p.q.size, scores, n);
    if (shown) {
      rows.scale_shift(scores, n, l.scale, 0, scores);
      emit(values, l, 0, b, h, s, scores);
      if (spec_.softcap > 0) {
        const T cap = static_cast<T>(spec_.softcap);
        for (int64_t j = 0; j < n; ++j) scores[j] = cap * std::tanh(scores[j] / cap);
      }
      emit(values, l, 1, b, h, s, scores);
      l.mask.add(b, h, s, 0, n, scores);
      for (int64_t j = std::min(limit, n); j < n; ++j) scores[j] += kMasked;
      emit(values, l, 2, b, h, s, scores);
    } else {
      finish_scores(l, b, h, s, 0, n, limit, scores);
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

  // Keys and values of every head as panels, block by block of keys.
  void pack(const Launch<T>& l) const {
    const auto& ops = gemm_ops<T>();
    const Problem& p = l.p;
    const int64_t width = round_up(p.v.size, ops.nr);
    run_tasks(slots_, p.k.batch * p.k.heads, [&](int64_t, int64_t head) {
      const int64_t b = head / p.k.heads, h = head % p.k.heads;
      bool finite = true;
      for (int64_t j = 0; j < p.keys; j += kKeyBlock) {
        const int64_t n = std::min(kKeyBlock, p.keys - j);
        if (p.on_amx) {
          spec_.amx->pack_b(NEF_FLOAT32, l.k.row(b, h, j), 1, l.k.row_stride, p.q.size, n,
                            amx_keys(l, head, j));
          spec_.amx->pack_b(NEF_FLOAT32, l.v.row(b, h, j), l.v.row_stride, 1, n, p.v.size,
                            amx_values(l, head, j));
        } else {
          ops.pack_b(l.k.row(b, h, j), 1, l.k.row_stride, p.q.size, n,
                     l.packed_k + head * packed_keys(p) + j * p.q.size);
          ops.pack_b(l.v.row(b, h, j), l.v.row_stride, 1, n, p.v.size,
                     l.packed_v + head * packed_values(p) + j * width);
        }
        for (int64_t i = j; i < j + n; ++i) {
          finite = finite && std::isfinite(row_ops<T>().sum_abs(l.v.row(b, h, i), p.v.size));
        }
      }
      l.finite[head] = finite ? 1 : 0;
    });
  }

  // Panels of the block of keys that begins at j.
  static uint16_t* amx_keys(const Launch<T>& l, int64_t head, int64_t j) {
    return reinterpret_cast<uint16_t*>(l.packed_k + head * packed_keys(l.p)) +
           j * amx_depth(l.p.q.size);
  }
  static uint16_t* amx_values(const Launch<T>& l, int64_t head, int64_t j) {
    return reinterpret_cast<uint16_t*>(l.packed_v + head * packed_values(l.p)) +
           j / kKeyBlock * amx_b_size(kKeyBlock, l.p.v.size);
  }

  // c[m][n] = a b with a in place and b from amx_keys or amx_values.
  void multiply_on_amx(const T* a, int64_t a_row, bool a_packed, uint16_t* rows, const uint16_t* b,
                       int64_t m, int64_t n, int64_t k, T* c, int64_t ldc) const {
    if (!a_packed) spec_.amx->pack_a(NEF_FLOAT32, a, a_row, 1, m, k, rows);
    AmxBlock g;
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = rows;
    g.b = b;
    g.c = reinterpret_cast<float*>(c);  // T is float here
    g.ldc = ldc;
    spec_.amx->block(g);
  }
  // scores = queries keys', for keys [j, j + n).
  void multiply_keys(const Launch<T>& l, int64_t head, const T* q, int64_t count, int64_t j,
                     int64_t n, uint16_t* rows, T* scores) const {
    const Problem& p = l.p;
    if (p.on_amx) {
      return multiply_on_amx(q, l.q.row_stride, j > 0, rows, amx_keys(l, head, j), count, n,
                             p.q.size, scores, kKeyBlock);
    }
    GemmBlock<T> g;
    g.m = count;
    g.n = n;
    g.k = p.q.size;
    g.a = q;
    g.a_row = l.q.row_stride;
    g.b = l.packed_k + head * packed_keys(p) + j * p.q.size;
    g.c = scores;
    g.ldc = kKeyBlock;
    gemm_ops<T>().block(g);
  }
  // part = weights values, for keys [j, j + n).
  void multiply_values(const Launch<T>& l, int64_t head, const T* weights, int64_t count, int64_t j,
                       int64_t n, uint16_t* rows, T* part) const {
    const Problem& p = l.p;
    if (p.on_amx) {
      return multiply_on_amx(weights, kKeyBlock, false, rows, amx_values(l, head, j), count,
                             p.v.size, n, part, p.v.size);
    }
    GemmBlock<T> g;
    g.m = count;
    g.n = p.v.size;
    g.k = n;
    g.a = weights;
    g.a_row = kKeyBlock;
    g.b = l.packed_v + head * packed_values(p) + j * round_up(p.v.size, gemm_ops<T>().nr);
    g.c = part;
    g.ldc = p.v.size;
    gemm_ops<T>().block(g);
  }

  // Queries [first, first + count) of one head against all keys they may see.
  void run_tile(const Tensor* values, const Launch<T>& l, int64_t b, int64_t h, int64_t first,
                int64_t count, T* room) const {
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    const Problem& p = l.p;
    const int64_t head = b * p.k.heads + h / p.group;
    T* scores = room;
    T* part = scores + p.query_block * kKeyBlock;
    T* sums = part + p.query_block * p.v.size;
    T* most = sums + p.query_block * p.v.size;
    T* total = most + p.query_block;
    auto* query_rows =
        reinterpret_cast<uint16_t*>(room + slot_size(p) - (p.on_amx ? amx_rows(p) : 0));
    uint16_t* weight_rows = query_rows + (p.on_amx ? amx_rows(p) : 0);
    std::fill_n(sums, count * p.v.size, T(0));
    std::fill_n(most, count, kMasked);
    std::fill_n(total, count, T(0));
    int64_t end = 0;
    for (int64_t i = 0; i < count; ++i) end = std::max(end, visible(values, p, b, first + i));
    for (int64_t j = 0; j < end; j += kKeyBlock) {
      const int64_t n = std::min(kKeyBlock, p.keys - j);
      multiply_keys(l, head, l.q.row(b, h, first), count, j, n, query_rows, scores);
      for (int64_t i = 0; i < count; ++i) {
        T* row = scores + i * kKeyBlock;
        finish_scores(l, b, h, first + i, j, n, visible(values, p, b, first + i), row);
        update_row(n, p.v.size, row, &most[i], &total[i], sums + i * p.v.size);
      }
      multiply_values(l, head, scores, count, j, n, weight_rows, part);
      row_ops<T>().add(sums, part, count * p.v.size, sums);
    }
    for (int64_t i = 0; i < count; ++i) {
      const T factor = most[i] == kMasked ? T(0) : T(1) / total[i];
      row_ops<T>().scale_shift(sums + i * p.v.size, p.v.size, factor, 0, l.y.row(b, h, first + i));
    }
  }

  // Turns scores into weights relative to the largest score so far and rescales what was summed.
  static void update_row(int64_t n, int64_t size, T* scores, T* most, T* total, T* sums) {
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    const auto& rows = row_ops<T>();
    const T block_most = rows.max(scores, n);
    const T now = std::isnan(*most) || *most > block_most ? *most : block_most;
    if (now == kMasked) {  // nothing seen yet
      std::fill_n(scores, n, T(0));
      return;
    }
    if (*most != now) {
      const T factor = std::exp(*most - now);
      *total *= factor;
      rows.scale_shift(sums, size, factor, 0, sums);
      *most = now;
    }
    *total += rows.exp_shifted(scores, n, now, scores);
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
