// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

namespace nef::cpu {

// y = x / scale to the nearest whole number, + zero, saturated to the type; NaN gives `zero`.
struct QuantRoundOps {
  template <class T>
  using ToBytes = void (*)(const float* x, int64_t n, float scale, float zero, T* y);
  ToBytes<uint8_t> to_uint8;
  ToBytes<int8_t> to_int8;
  template <class T>
  ToBytes<T> to_bytes() const {
    if constexpr (std::is_signed_v<T>) return to_int8;
    else return to_uint8;
  }
  // Smallest and largest element with 0 among them; NaN is left out.
  void (*range)(const float* x, int64_t n, float* low, float* high);
};
const QuantRoundOps& quant_round_ops();

}  // namespace nef::cpu
