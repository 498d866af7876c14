// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Exact conversions of the 16-bit floats. Narrowing rounds once, to nearest even, keeps NaN a
// NaN (quiet, same sign) and overflows to infinity.
namespace nef::backends {

namespace detail {
// kMantissa explicit mantissa bits; kMinExponent is the exponent of the smallest normal number.
template <int kMantissa, int kMinExponent>
inline uint16_t narrow(double value) {
  constexpr uint16_t kInfinity = static_cast<uint16_t>(0x8000u - (1u << kMantissa));
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | kInfinity | (1u << (kMantissa - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | kInfinity;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), kMinExponent);
  if (exponent > -kMinExponent + 1) return sign | kInfinity;
  // A carry out of the mantissa lands in the exponent field, which is what rounding up means.
  const auto rounded =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, kMantissa - exponent)));
  const uint32_t bits = (static_cast<uint32_t>(exponent - kMinExponent) << kMantissa) + rounded;
  return sign | (bits >= kInfinity ? kInfinity : static_cast<uint16_t>(bits));
}
}  // namespace detail

inline uint16_t float16_from_double(double v) { return detail::narrow<10, -14>(v); }
inline uint16_t bfloat16_from_double(double v) { return detail::narrow<7, -126>(v); }

inline float float_from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
inline float float_from_float16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 31u;
  const uint32_t mantissa = bits & 1023u;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide_exponent = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | wide_exponent << 23 | mantissa << 13);
}

}  // namespace nef::backends
