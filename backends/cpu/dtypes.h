// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// From dtype numbers to C++ types, and the numeric policies every kernel shares.
namespace nef::cpu {

inline bool is_float_dtype(nef_dtype t) { return t >= NEF_FLOAT16 && t <= NEF_FLOAT64; }
inline bool is_unsigned_dtype(nef_dtype t) {
  return t == NEF_UINT8 || t == NEF_UINT16 || t == NEF_UINT32 || t == NEF_UINT64;
}

// Calls f with a value of the integer type; bool is a uint8_t. False for other dtypes.
template <class F>
bool with_int_type(nef_dtype dtype, F&& f) {
  switch (dtype) {
    case NEF_INT8: f(int8_t{}); return true;
    case NEF_BOOL:
    case NEF_UINT8: f(uint8_t{}); return true;
    case NEF_INT16: f(int16_t{}); return true;
    case NEF_UINT16: f(uint16_t{}); return true;
    case NEF_INT32: f(int32_t{}); return true;
    case NEF_UINT32: f(uint32_t{}); return true;
    case NEF_INT64: f(int64_t{}); return true;
    case NEF_UINT64: f(uint64_t{}); return true;
    default: return false;
  }
}

// The same with float and double; 16-bit floats have no C++ type here.
template <class F>
bool with_number_type(nef_dtype dtype, F&& f) {
  if (dtype == NEF_FLOAT32) {
    f(float{});
    return true;
  }
  if (dtype == NEF_FLOAT64) {
    f(double{});
    return true;
  }
  return with_int_type(dtype, f);
}

// Calls f with an unsigned value of `size` bytes (1, 2, 4 or 8): for kernels that only move.
template <class F>
void with_bits_type(size_t size, F&& f) {
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

// Wrapping negation: signed overflow is undefined, unsigned is not.
template <class T>
T wrapping_negate(T a) {
  return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
}

// Float to integer: truncates, saturates, NaN gives 0.
template <class T, class F>
T saturate(F value) {
  if (!(value == value)) return 0;
  // 2^bits is exact in both float types; max() is not.
  const F limit = std::ldexp(F{1}, std::numeric_limits<T>::digits);
  if (value >= limit) return std::numeric_limits<T>::max();
  if constexpr (std::is_signed_v<T>) {
    if (value < -limit) return std::numeric_limits<T>::min();
  } else {
    if (value <= 0) return 0;
  }
  return static_cast<T>(value);
}

}  // namespace nef::cpu
