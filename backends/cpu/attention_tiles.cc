// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/attention_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/attention_amx.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/norm_rows.h"

namespace nef::cpu {
namespace {

constexpr int64_t kKeyBlock = 128;
constexpr int64_t kQueryBlock = 48;

// Turns scores into weights relative to the largest score so far and rescales what was summed.
template <typename T>
void update_row(int64_t n, int64_t size, T* scores, T* most, T* total, T* sums) {
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

}  // namespace

template <typename T>
int64_t attention_query_block(bool on_amx) {
  return on_amx ? AmxAttention::kQueries : round_up(kQueryBlock, gemm_ops<T>().mr);
}
template int64_t attention_query_block<float>(bool);
template int64_t attention_query_block<double>(bool);

// Scores, one tile of the product with the values, sums, and the two running values of a row.
template <typename T>
int64_t AttentionLaunch<T>::slot_size(const AttentionProblem& p) {
  constexpr int64_t kBytes = sizeof(T);
  const int64_t size = p.on_amx ? ceil_div(AmxAttention::room_bytes(p), kBytes)
                                : p.query_block * (kKeyBlock + 2 * p.v.size + 2);
  return round_up(std::max(size, p.keys) + 64, 64);
}

template <typename T>
int64_t AttentionLaunch<T>::packed_keys(const AttentionProblem& p) {
  if (p.on_amx) return AmxAttention::keys_bytes(p) / static_cast<int64_t>(sizeof(T));
  return round_up(p.keys, kKeyBlock) * p.q.size;
}

template <typename T>
int64_t AttentionLaunch<T>::packed_values(const AttentionProblem& p) {
  if (p.on_amx) return AmxAttention::values_bytes(p) / static_cast<int64_t>(sizeof(T));
  return p.keys * round_up(p.v.size, gemm_ops<T>().nr);
}
template <typename T>
void AttentionLaunch<T>::finish_scores(int64_t b, int64_t h, int64_t s, int64_t first, int64_t n,
                                       int64_t limit, T* scores) const {
  constexpr T kMasked = -std::numeric_limits<T>::infinity();
  const int64_t used = std::clamp<int64_t>(limit - first, 0, n);
  row_ops<T>().scale_shift(scores, used, scale, 0, scores);
  cap(used, scores);
  mask.add(b, h, s, first, used, scores);
  std::fill(scores + used, scores + n, kMasked);
}
template <typename T>
void AttentionLaunch<T>::cap(int64_t n, T* scores) const {
  for (int64_t j = 0; softcap > 0 && j < n; ++j) {
    scores[j] = softcap * std::tanh(scores[j] / softcap);
  }
}

template <typename T>
void AttentionLaunch<T>::pack(int64_t head) const {
  if constexpr (sizeof(T) == 4) {
    if (p.on_amx) {
      finite[head] = AmxAttention(*this).pack(head) ? 1 : 0;
      return;
    }
  }
  const auto& ops = gemm_ops<T>();
  const int64_t width = round_up(p.v.size, ops.nr);
  const int64_t b = head / p.k.heads, h = head % p.k.heads;
  bool all_finite = true;
  for (int64_t j = 0; j < p.keys; j += kKeyBlock) {
    const int64_t n = std::min(kKeyBlock, p.keys - j);
    ops.pack_b(k.row(b, h, j), 1, k.row_stride, p.q.size, n,
               packed_k + head * packed_keys(p) + j * p.q.size);
    ops.pack_b(v.row(b, h, j), v.row_stride, 1, n, p.v.size,
               packed_v + head * packed_values(p) + j * width);
    for (int64_t i = j; i < j + n; ++i) {
      all_finite = all_finite && std::isfinite(row_ops<T>().sum_abs(v.row(b, h, i), p.v.size));
    }
  }
  finite[head] = all_finite ? 1 : 0;
}

// scores = queries keys', for keys [j, j + n).
template <typename T>
void AttentionLaunch<T>::multiply_keys(int64_t head, const T* queries, int64_t count, int64_t j,
                                       int64_t n, T* scores) const {
  GemmBlock<T> g;
  g.m = count;
  g.n = n;
  g.k = p.q.size;
  g.a = queries;
  g.a_row = q.row_stride;
  g.b = packed_k + head * packed_keys(p) + j * p.q.size;
  g.c = scores;
  g.ldc = kKeyBlock;
  gemm_ops<T>().block(g);
}
// part = weights values, for keys [j, j + n).
template <typename T>
void AttentionLaunch<T>::multiply_values(int64_t head, const T* weights, int64_t count, int64_t j,
                                         int64_t n, T* part) const {
  GemmBlock<T> g;
  g.m = count;
  g.n = p.v.size;
  g.k = n;
  g.a = weights;
  g.a_row = kKeyBlock;
  g.b = packed_v + head * packed_values(p) + j * round_up(p.v.size, gemm_ops<T>().nr);
  g.c = part;
  g.ldc = p.v.size;
  gemm_ops<T>().block(g);
}

template <typename T>
void AttentionLaunch<T>::run_tile(int64_t b, int64_t h, int64_t first, int64_t count,
                                  T* room) const {
  if constexpr (sizeof(T) == 4) {
    if (p.on_amx) return AmxAttention(*this).run_tile(b, h, first, count, room);
  }
  constexpr T kMasked = -std::numeric_limits<T>::infinity();
  const int64_t head = b * p.k.heads + h / p.group;
  T* scores = room;
  T* part = scores + p.query_block * kKeyBlock;
  T* sums = part + p.query_block * p.v.size;
  T* most = sums + p.query_block * p.v.size;
  T* total = most + p.query_block;
  std::fill_n(sums, count * p.v.size, T(0));
  std::fill_n(most, count, kMasked);
  std::fill_n(total, count, T(0));
  int64_t end = 0;
  for (int64_t i = 0; i < count; ++i) end = std::max(end, visible.of(b, first + i));
  for (int64_t j = 0; j < end; j += kKeyBlock) {
    const int64_t n = std::min(kKeyBlock, p.keys - j);
    multiply_keys(head, q.row(b, h, first), count, j, n, scores);
    for (int64_t i = 0; i < count; ++i) {
      T* row = scores + i * kKeyBlock;
      finish_scores(b, h, first + i, j, n, visible.of(b, first + i), row);
      update_row(n, p.v.size, row, &most[i], &total[i], sums + i * p.v.size);
    }
    multiply_values(head, scores, count, j, n, part);
    row_ops<T>().add(sums, part, count * p.v.size, sums);
  }
  for (int64_t i = 0; i < count; ++i) {
    const T factor = most[i] == kMasked ? T(0) : T(1) / total[i];
    row_ops<T>().scale_shift(sums + i * p.v.size, p.v.size, factor, 0, y.row(b, h, first + i));
  }
}

template struct AttentionLaunch<float>;
template struct AttentionLaunch<double>;

}  // namespace nef::cpu
