// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Exact conversions of the 8-bit floats. Narrowing rounds once, to nearest even, and keeps NaN a
// NaN. What lies beyond the largest number becomes that number where the caller saturates, else
// infinity, or NaN in the format that has no infinity.
namespace nef::backends {

constexpr bool is_float8(nef_dtype t) { return t == NEF_FLOAT8_E4M3FN || t == NEF_FLOAT8_E5M2; }

struct E4M3 {
  static constexpr nef_dtype kDtype = NEF_FLOAT8_E4M3FN;
  static constexpr int kMantissa = 3, kMinExponent = -6;
  static constexpr uint8_t kLargest = 0x7e, kBeyond = 0x7f;
};
struct E5M2 {
  static constexpr nef_dtype kDtype = NEF_FLOAT8_E5M2;
  static constexpr int kMantissa = 2, kMinExponent = -14;
  static constexpr uint8_t kLargest = 0x7b, kBeyond = 0x7c;
};

// Calls f with the format of a float8 dtype.
template <typename F>
constexpr auto with_float8(nef_dtype t, F&& f) {
  return t == NEF_FLOAT8_E4M3FN ? f(E4M3{}) : f(E5M2{});
}

template <typename Format>
constexpr float float_from_float8(uint8_t code) {
  constexpr uint32_t kLeast = static_cast<uint32_t>(127 + Format::kMinExponent);
  const uint32_t magnitude = code & 0x7fu, sign = (code & 0x80u) << 24;
  const uint32_t exponent = magnitude >> Format::kMantissa;
  if (exponent == 0) {
    const float unit = std::bit_cast<float>((kLeast - Format::kMantissa) << 23);
    return std::bit_cast<float>(sign |
                                std::bit_cast<uint32_t>(static_cast<float>(magnitude) * unit));
  }
  if (magnitude > Format::kLargest) {
    const bool infinite = magnitude == Format::kBeyond && Format::kBeyond != 0x7f;
    return std::bit_cast<float>(sign | (infinite ? 0x7f800000u : 0x7fc00000u));
  }
  const uint32_t fraction = magnitude & ((1u << Format::kMantissa) - 1);
  return std::bit_cast<float>(sign | (kLeast + exponent - 1) << 23 |
                              fraction << (23 - Format::kMantissa));
}

template <typename Format>
inline uint8_t float8_from_double(double value, bool saturate) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7f;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (magnitude >= 0x1p16) return sign | (saturate ? Format::kLargest : Format::kBeyond);
  const int exponent = std::max(std::ilogb(magnitude), Format::kMinExponent);
  // A carry out of the mantissa lands in the exponent field, which is what rounding up means.
  const auto rounded =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, Format::kMantissa - exponent)));
  const uint32_t code =
      (static_cast<uint32_t>(exponent - Format::kMinExponent) << Format::kMantissa) + rounded;
  if (code > Format::kLargest) return sign | (saturate ? Format::kLargest : Format::kBeyond);
  return sign | static_cast<uint8_t>(code);
}

inline float float_from_float8(nef_dtype t, uint8_t code) {
  return with_float8(t, [&]<typename F>(F) { return float_from_float8<F>(code); });
}
inline uint8_t float8_from_double(nef_dtype t, double value, bool saturate) {
  return with_float8(t, [&]<typename F>(F) { return float8_from_double<F>(value, saturate); });
}

}  // namespace nef::backends
