// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/cpu/dtypes.h"
#include "backends/shared/float16.h"

// One element at a time, with 16-bit floats as types of their own: for kernels whose time goes
// into walking, not into arithmetic.
namespace nef::cpu {

struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

// What an element computes as: double for 16-bit floats, itself otherwise.
template <class T>
struct Computes {
  using type = T;
};
template <>
struct Computes<Float16> {
  using type = double;
};
template <>
struct Computes<Bfloat16> {
  using type = double;
};
template <class T>
using Compute = typename Computes<T>::type;

template <class T>
Compute<T> widen(T x) {
  if constexpr (std::is_same_v<T, Float16>) return backends::float_from_float16(x.bits);
  else if constexpr (std::is_same_v<T, Bfloat16>) return backends::float_from_bfloat16(x.bits);
  else return x;
}
template <class T>
T narrow(Compute<T> x) {
  if constexpr (std::is_same_v<T, Float16>) return {backends::float16_from_double(x)};
  else if constexpr (std::is_same_v<T, Bfloat16>) return {backends::bfloat16_from_double(x)};
  else return x;
}

// Calls f with a value of the element's type, 16-bit floats included.
template <class F>
void with_element_type(nef_dtype dtype, F&& f) {
  if (dtype == NEF_FLOAT16) f(Float16{});
  else if (dtype == NEF_BFLOAT16) f(Bfloat16{});
  else with_number_type(dtype, f);
}

// Wrapping arithmetic: signed overflow is undefined in C++, so it goes through unsigned.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  else return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
T wrapping_multiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  else return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  else return false;
}
// NaN propagates.
template <class T>
T larger(T a, T b) {
  return is_nan(a) || !(is_nan(b) || b > a) ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return is_nan(a) || !(is_nan(b) || b < a) ? a : b;
}

}  // namespace nef::cpu
