// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/cpu/call.h"

namespace nef::cpu {

// Quantised tensors; the parts are one per file.
void register_quant();
void register_quant_convert();
void register_quant_products();
void register_quant_conv();
void register_matmul_nbits();

// round(value) + zero, halves to even, saturated; NaN gives the zero point.
template <typename T>
T quantize_one(double value, int64_t zero) {
  constexpr double kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  if (value != value) return static_cast<T>(zero);
  const double q = std::nearbyint(value) + static_cast<double>(zero);
  return static_cast<T>(q < kLow ? kLow : q > kHigh ? kHigh : q);
}

// Stores n sums times `factor` as a quantised row of int8 or uint8.
void store_quantized(nef_dtype dtype, const int32_t* sums, int64_t n, double factor, int64_t zero,
                     void* dst, int64_t offset);

// Elements of int8 or uint8 less `zero`, as int16.
void widen_to_int16(nef_dtype dtype, const void* src, int64_t offset, int64_t step, int64_t n,
                    int64_t zero, int16_t* out);

}  // namespace nef::cpu
