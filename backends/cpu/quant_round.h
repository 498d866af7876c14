// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <cstdint>
#include <type_traits>

namespace nef::cpu {

// The quotient by a scale is rounded to `precision`: float16, bfloat16 or float32.
struct QuantStep {
  const float *scale, *zero;
  nef_dtype precision = NEF_FLOAT32;
};

// y = x / scale to the nearest whole number, + zero, saturated to the type; NaN gives `zero`.
template <class T>
struct QuantRound {
  // All by one scale. x are float32 or floats of 16 bits.
  void (*by_one)(nef_dtype dtype, const void* x, int64_t offset, int64_t n, const QuantStep& step,
                 T* y);
  // Each by its own.
  void (*by_each)(const float* x, int64_t n, const QuantStep& step, T* y);
};

// Sums times a * b / y, in float64, to the nearest whole number, + zero, saturated; NaN gives
// `zero`.
struct Requantization {
  double a = 1;
  const double* b = nullptr;  // one, or one for `each`
  bool each = false;
  double y = 1;
  double zero = 0;
};

struct QuantRoundOps {
  QuantRound<uint8_t> to_uint8;
  QuantRound<int8_t> to_int8;
  QuantRound<uint16_t> to_uint16;
  QuantRound<int16_t> to_int16;
  template <class T>
  const QuantRound<T>& to() const {
    if constexpr (std::is_same_v<T, uint8_t>) return to_uint8;
    else if constexpr (std::is_same_v<T, int8_t>) return to_int8;
    else if constexpr (std::is_same_v<T, uint16_t>) return to_uint16;
    else return to_int16;
  }
  // To int8 or uint8.
  void (*requantize)(nef_dtype to, const int32_t* sums, int64_t n, const Requantization& r,
                     void* y);
  // Smallest and largest element with 0 among them; NaN is left out.
  void (*range)(const float* x, int64_t n, float* low, float* high);
};
const QuantRoundOps& quant_round_ops();

}  // namespace nef::cpu
