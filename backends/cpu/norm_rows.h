// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <cstdint>

// Vector loops over one contiguous row. Outputs may be the input itself.
namespace nef::cpu {

template <typename T>
struct RowOps {
  T (*sum)(const T* x, int64_t n);
  T (*sum_squares)(const T* x, int64_t n, T mean);  // of x - mean
  T (*sum_abs)(const T* x, int64_t n);
  T (*max)(const T* x, int64_t n);  // NaN when there is one; -inf over nothing
  // y = exp(x - shift), returns its sum; y may be null. x - shift is at most 88.
  T (*exp_shifted)(const T* x, int64_t n, T shift, T* y);
  void (*scale_shift)(const T* x, int64_t n, T scale, T shift, T* y);  // x * scale + shift
  // (x - mean) * factor + bias
  void (*affine)(const T* x, int64_t n, T mean, T factor, T bias, T* y);
  void (*add)(const T* a, const T* b, int64_t n, T* y);
  void (*max_into)(const T* x, int64_t n, T* y);             // y = max(y, x), NaN wins
  void (*add_scaled)(const T* x, int64_t n, T scale, T* y);  // y += x * scale
  void (*every_second)(const T* x, int64_t n, T* y);  // y[i] = x[2 i]; reads 2 n - 1 elements
  // y = (x - mean) * factor, then * scale[i] + bias[i]; scale and bias may be null.
  void (*normalize)(const T* x, int64_t n, T mean, T factor, const T* scale, const T* bias, T* y);
};
template <typename T>
const RowOps<T>& row_ops();

// Conversions of float16, bfloat16, float32 (and float64) rows; loads are of float8 too.
void load_floats(nef_dtype dtype, const void* src, int64_t offset, int64_t n, float* out);
void store_floats(nef_dtype dtype, const float* x, int64_t n, void* dst, int64_t offset);
// Rows of them, `lds` (`ldd`) elements apart; loads are of float16 and bfloat16.
void load_block(nef_dtype dtype, const void* src, int64_t offset, int64_t lds, int64_t rows,
                int64_t n, float* out, int64_t ldo);
void store_block(nef_dtype dtype, const float* x, int64_t ldx, int64_t rows, int64_t n, void* dst,
                 int64_t offset, int64_t ldd);

// The same for rows of T, float or double.
template <typename T>
void load_row(nef_dtype dtype, const void* src, int64_t offset, int64_t n, T* out);
template <typename T>
void store_row(nef_dtype dtype, const T* x, int64_t n, void* dst, int64_t offset);

}  // namespace nef::cpu
