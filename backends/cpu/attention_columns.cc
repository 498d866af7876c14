// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/attention_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/softmax_kernels.h"

namespace nef::cpu {
namespace {

template <typename T>
constexpr T kMasked = -std::numeric_limits<T>::infinity();

// The scratch of a task.
template <typename T>
struct Room {
  T *values, *keys, *q, *scores, *sums, *most, *total, *factor;
  int64_t size = 0;

  Room(T* base, int64_t n_keys, int64_t depth, int64_t v_size) {
    constexpr int64_t kQueries = ColumnAttention<T>::kQueries;
    ScratchLayout layout(base);
    values = layout.take<T>(n_keys * round_up(v_size, gemm_ops<T>().nr));
    keys = layout.take<T>(n_keys * depth);
    q = layout.take<T>(kQueries * depth);
    scores = layout.take<T>(kQueries * ColumnAttention<T>::kKeys);
    sums = layout.take<T>(kQueries * v_size);
    most = layout.take<T>(kQueries);
    total = layout.take<T>(kQueries);
    factor = layout.take<T>(kQueries);
    size = static_cast<int64_t>(layout.used() / sizeof(T));
  }
};

// Rows so far apart would share one set of the cache.
template <typename T>
bool rows_collide(int64_t stride) {
  return stride * static_cast<int64_t>(sizeof(T)) % 4096 == 0;
}

}  // namespace

template <typename T>
int64_t ColumnAttention<T>::scratch_size(int64_t keys, int64_t size, int64_t v_size) {
  return Room<T>(nullptr, keys, size, v_size).size;
}

template <typename T>
bool ColumnAttention<T>::pack_values(int64_t b, int64_t kv_head, T* scratch) const {
  const auto& ops = gemm_ops<T>();
  const Room<T> room(scratch, keys, size, v_size);
  const int64_t width = round_up(v_size, ops.nr);
  for (int64_t j = 0; j < keys; j += kKeys) {
    const int64_t n = std::min(kKeys, keys - j);
    T* panels = room.values + j * width;
    ops.pack_b(v.row(b, kv_head, j), v.row_stride, 1, n, v_size, panels);
    if (!std::isfinite(row_ops<T>().sum_abs(panels, n * width))) return false;
  }
  for (int64_t i = 0; i < keys && rows_collide<T>(k.row_stride); ++i) {
    std::copy_n(k.row(b, kv_head, i), size, room.keys + i * size);
  }
  return true;
}

template <typename T>
void ColumnAttention<T>::mask_columns(int64_t b, int64_t h, int64_t first, int64_t count,
                                      int64_t key, int64_t n, T* scores) const {
  for (int64_t i = 0; i < n && mask.present(); ++i) {
    const T bias = mask.at(b, h, 0, key + i);
    T* row = scores + i * kQueries;
    if (bias == kMasked<T>) std::fill_n(row, count, bias);
    else if (bias != 0) row_ops<T>().scale_shift(row, count, 1, unscaled_bias(bias, scale), row);
  }
  if (visible.of(b, first) >= key + n) return;
  for (int64_t c = 0; c < count; ++c) {
    const int64_t hidden = std::max<int64_t>(0, visible.of(b, first + c) - key);
    for (int64_t i = hidden; i < n; ++i) scores[i * kQueries + c] = kMasked<T>;
  }
}

template <typename T>
void ColumnAttention<T>::attend(int64_t b, int64_t h, int64_t kv_head, int64_t block,
                                T* scratch) const {
  const auto& ops = gemm_ops<T>();
  const auto& softmax = softmax_ops<T>();
  const Room<T> room(scratch, keys, size, v_size);
  const bool copied = rows_collide<T>(k.row_stride);
  const int64_t first = block * kQueries, count = std::min(kQueries, queries - first);
  const int64_t columns = std::min(kQueries, round_up(count, ops.nr));
  std::fill_n(room.most, columns, kMasked<T>);
  std::fill_n(room.total, columns, T(0));
  ops.pack_b(q.row(b, h, first), 1, q.row_stride, size, count, room.q);
  const int64_t end = std::min(keys, visible.of(b, first + count - 1));
  GemmBlock<T> score;  // scores = keys queries'
  score.n = columns;
  score.k = size;
  score.a_row = copied ? size : k.row_stride;
  score.b = room.q;
  score.c = room.scores;
  score.ldc = kQueries;
  GemmBlock<T> sum;  // sums (+)= weights' values
  sum.m = count;
  sum.n = v_size;
  sum.a = room.scores;
  sum.a_row = 1;
  sum.a_k = kQueries;
  sum.c = room.sums;
  sum.ldc = v_size;
  if (end == 0) std::fill_n(room.sums, count * v_size, T(0));
  for (int64_t j = 0; j < end; j += kKeys) {
    const int64_t n = std::min(kKeys, end - j);
    score.m = n;
    score.a = copied ? room.keys + j * size : k.row(b, kv_head, j);
    ops.block(score);
    mask_columns(b, h, first, count, j, n, room.scores);
    softmax.columns(room.scores, kQueries, n, columns, scale, room.most, room.total, room.factor);
    if (j > 0) {
      softmax.scale_rows(room.sums, v_size, count, v_size, room.factor, room.sums, v_size);
    }
    sum.k = n;
    sum.b_depth = std::min(kKeys, keys - j);
    sum.b = room.values + j * round_up(v_size, ops.nr);
    sum.accumulate = j > 0;
    ops.block(sum);
  }
  for (int64_t i = 0; i < count; ++i) {
    room.factor[i] = room.total[i] == 0 ? T(0) : T(1) / room.total[i];
  }
  softmax.scale_rows(room.sums, v_size, count, v_size, room.factor, y.row(b, h, first),
                     y.row_stride);
}

template struct ColumnAttention<float>;
template struct ColumnAttention<double>;

}  // namespace nef::cpu
