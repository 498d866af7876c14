// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/attention_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/softmax_kernels.h"
#include "backends/cpu/transpose_kernels.h"

namespace nef::cpu {
namespace {

template <typename T>
constexpr T kMasked = -std::numeric_limits<T>::infinity();

// The scratch of a task.
template <typename T>
struct Room {
  T *values, *keys, *q, *scores, *mask, *sums, *most, *total, *factor;
  int64_t size = 0;

  Room(T* base, int64_t n_keys, int64_t depth, int64_t v_size) {
    constexpr int64_t kQueries = ColumnAttention<T>::kQueries;
    ScratchLayout layout(base);
    values = layout.take<T>(n_keys * round_up(v_size, gemm_ops<T>().nr));
    keys = layout.take<T>(n_keys * depth);
    q = layout.take<T>(kQueries * depth);
    scores = layout.take<T>(kQueries * ColumnAttention<T>::kKeys);
    mask = layout.take<T>(kQueries * ColumnAttention<T>::kKeys);
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

// Where all queries have the same mask. Scores are yet to be scaled.
template <typename T>
void ColumnAttention<T>::mask_keys(const Block& block) const {
  for (int64_t i = 0; i < block.n && mask.present(); ++i) {
    const T bias = mask.at(block.b, block.h, 0, block.key + i);
    T* row = block.scores + i * kQueries;
    if (bias == kMasked<T>) std::fill_n(row, block.count, bias);
    else if (bias != 0) {
      row_ops<T>().scale_shift(row, block.count, 1, unscaled_bias(bias, scale), row);
    }
  }
}

// Where queries have masks of their own, which `tile` turns over. Scores are scaled already.
template <typename T>
void ColumnAttention<T>::mask_each_query(const Block& block, T* tile) const {
  const int64_t n = mask.known(block.key, block.n), count = block.count;
  const T* numbers = mask.numbers(block.b, block.h, block.first, block.key);
  const uint8_t* flags = mask.flags(block.b, block.h, block.first, block.key);
  auto* kept = reinterpret_cast<uint8_t*>(tile);
  const bool in_rows = mask.key_stride() == 1;
  if (in_rows && numbers != nullptr) {
    find_transpose(sizeof(T))(numbers, mask.query_stride(), tile, kQueries, n, count, false);
  } else if (in_rows) {
    find_transpose(1)(flags, mask.query_stride(), kept, kQueries, n, count, false);
  }
  for (int64_t i = 0; i < n; ++i) {
    T* row = block.scores + i * kQueries;
    if (!in_rows) {
      for (int64_t c = 0; c < count; ++c)
        row[c] += mask.at(block.b, block.h, block.first + c, block.key + i);
    } else if (numbers != nullptr) {
      row_ops<T>().add(row, tile + i * kQueries, count, row);
    } else {
      softmax_ops<T>().hide(kept + i * kQueries, count, row);
    }
  }
  std::fill(block.scores + n * kQueries, block.scores + block.n * kQueries, kMasked<T>);
}

template <typename T>
void ColumnAttention<T>::hide_later_keys(const Block& block) const {
  if (visible.of(block.b, block.first) >= block.key + block.n) return;
  for (int64_t c = 0; c < block.count; ++c) {
    const int64_t seen = std::max<int64_t>(0, visible.of(block.b, block.first + c) - block.key);
    for (int64_t i = seen; i < block.n; ++i) block.scores[i * kQueries + c] = kMasked<T>;
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
  const bool each_query = !mask.same_for_all_queries();
  if (each_query) row_ops<T>().scale_shift(room.q, size * columns, scale, 0, room.q);
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
    const Block block_of_keys{b, h, first, count, j, n, room.scores};
    if (each_query) mask_each_query(block_of_keys, room.mask);
    else mask_keys(block_of_keys);
    hide_later_keys(block_of_keys);
    softmax.columns(room.scores, kQueries, n, columns, each_query ? T(1) : scale, room.most,
                    room.total, room.factor);
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
