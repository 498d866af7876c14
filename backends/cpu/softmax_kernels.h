// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::cpu {

template <typename T>
struct SoftmaxOps {
  // y may be x. A row of -inf gives NaN.
  void (*row)(const T* x, int64_t n, T* y);
  // Turns scores[keys][ld] into weights, e^(score * scale - largest so far), down `queries`
  // columns, a multiple of two vectors. Per query: `most` and `total`, the largest scaled score and
  // the sum of weights, go on; what was summed before is to be multiplied by `factor`. `scale` is
  // positive.
  void (*columns)(T* scores, int64_t ld, int64_t keys, int64_t queries, T scale, T* most, T* total,
                  T* factor);
  // The same along rows of scores[queries][ld], of any length.
  void (*rows)(T* scores, int64_t ld, int64_t queries, int64_t keys, T scale, T* most, T* total,
               T* factor);
  // y[i] = x[i] * factor[i], rows of n elements; y may be x.
  void (*scale_rows)(const T* x, int64_t ldx, int64_t rows, int64_t n, const T* factor, T* y,
                     int64_t ldy);
  // scores[i] += -inf where keep[i] is 0.
  void (*hide)(const uint8_t* keep, int64_t n, T* scores);
};
template <typename T>
const SoftmaxOps<T>& softmax_ops();

}  // namespace nef::cpu
