// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "backends/shared/float16.h"
#include "backends/shared/region.h"

// One element of a tensor of any dtype at a time, for ops that both CPU backends share: those
// whose time goes into following indices, and those that must give the same numbers everywhere.
namespace nef::backends {

constexpr bool element_is_float(nef_dtype t) { return t >= NEF_FLOAT16 && t <= NEF_FLOAT64; }

template <typename T>
T element_bits(const char* data, int64_t i) {
  T v;
  std::memcpy(&v, data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return v;
}
template <typename T>
void set_element_bits(char* data, int64_t i, T v) {
  std::memcpy(data + static_cast<size_t>(i) * sizeof(T), &v, sizeof(T));
}

inline int64_t integer_at(nef_dtype t, const char* data, int64_t i) {
  switch (t) {
    case NEF_INT8: return element_bits<int8_t>(data, i);
    case NEF_BOOL: return element_bits<uint8_t>(data, i) != 0;
    case NEF_UINT8: return element_bits<uint8_t>(data, i);
    case NEF_INT16: return element_bits<int16_t>(data, i);
    case NEF_UINT16: return element_bits<uint16_t>(data, i);
    case NEF_INT32: return element_bits<int32_t>(data, i);
    case NEF_UINT32: return element_bits<uint32_t>(data, i);
    default: return element_bits<int64_t>(data, i);
  }
}
inline double number_at(nef_dtype t, const char* data, int64_t i) {
  switch (t) {
    case NEF_FLOAT32: return element_bits<float>(data, i);
    case NEF_FLOAT64: return element_bits<double>(data, i);
    case NEF_FLOAT16: return float_from_float16(element_bits<uint16_t>(data, i));
    case NEF_BFLOAT16: return float_from_bfloat16(element_bits<uint16_t>(data, i));
    case NEF_UINT64: return static_cast<double>(element_bits<uint64_t>(data, i));
    default: return static_cast<double>(integer_at(t, data, i));
  }
}

inline void set_integer(nef_dtype t, char* data, int64_t i, int64_t v) {
  switch (t) {
    case NEF_BOOL:
    case NEF_INT8:
    case NEF_UINT8: return set_element_bits(data, i, static_cast<uint8_t>(v));
    case NEF_INT16:
    case NEF_UINT16: return set_element_bits(data, i, static_cast<uint16_t>(v));
    case NEF_INT32:
    case NEF_UINT32: return set_element_bits(data, i, static_cast<uint32_t>(v));
    default: return set_element_bits(data, i, v);
  }
}

namespace detail {
// A whole number that saturates; NaN gives 0.
template <typename T>
T whole(double v) {
  if (v != v) return 0;
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (v >= limit) return std::numeric_limits<T>::max();
  if (v <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(v);
}
}  // namespace detail

// Floats round once. Integers round to nearest even and saturate, NaN gives 0.
inline void set_number(nef_dtype t, char* data, int64_t i, double v) {
  const double n = element_is_float(t) ? v : std::nearbyint(v);
  switch (t) {
    case NEF_FLOAT32: return set_element_bits(data, i, static_cast<float>(v));
    case NEF_FLOAT64: return set_element_bits(data, i, v);
    case NEF_FLOAT16: return set_element_bits(data, i, float16_from_double(v));
    case NEF_BFLOAT16: return set_element_bits(data, i, bfloat16_from_double(v));
    case NEF_BOOL: return set_element_bits(data, i, static_cast<uint8_t>(v != 0));
    case NEF_INT8: return set_element_bits(data, i, detail::whole<int8_t>(n));
    case NEF_UINT8: return set_element_bits(data, i, detail::whole<uint8_t>(n));
    case NEF_INT16: return set_element_bits(data, i, detail::whole<int16_t>(n));
    case NEF_UINT16: return set_element_bits(data, i, detail::whole<uint16_t>(n));
    case NEF_INT32: return set_element_bits(data, i, detail::whole<int32_t>(n));
    case NEF_UINT32: return set_element_bits(data, i, detail::whole<uint32_t>(n));
    case NEF_INT64: return set_element_bits(data, i, detail::whole<int64_t>(n));
    default: return set_element_bits(data, i, detail::whole<uint64_t>(n));
  }
}

// The same on the View of either backend.
template <class V>
double number(const V& v, int64_t i) {
  return number_at(v.dtype, v.data, i);
}
template <class V>
int64_t integer(const V& v, int64_t i) {
  return integer_at(v.dtype, v.data, i);
}
template <class V>
void put_number(const V& v, int64_t i, double x) {
  set_number(v.dtype, v.data, i, x);
}
template <class V>
void put_integer(const V& v, int64_t i, int64_t x) {
  set_integer(v.dtype, v.data, i, x);
}
// Product of dims [begin, end).
template <class V>
int64_t dims_product(const V& v, int begin, int end) {
  int64_t n = 1;
  for (int d = begin; d < end; ++d) n *= v.dims[d];
  return n;
}
inline int axis_from_front(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
// Splits a flat position into coordinates of `dims`.
inline void coordinates(int64_t flat, const int64_t* dims, int rank, int64_t* at) {
  for (int d = rank - 1; d >= 0; --d) {
    at[d] = flat % dims[d];
    flat /= dims[d];
  }
}
inline int64_t attr_entry(std::span<const int64_t> v, int i, int64_t fallback) {
  return v.empty() ? fallback : v[static_cast<size_t>(i)];
}

// An index counted from the front, or NEF_OUT_OF_RANGE.
inline int64_t index_in(const char* op, int64_t index, const char* what, int64_t size) {
  const int64_t wrapped = index < 0 ? index + size : index;
  if (wrapped >= 0 && wrapped < size) return wrapped;
  throw BackendError(NEF_OUT_OF_RANGE, std::string(op) + ": index " + std::to_string(index) +
                                           " is outside " + what + " of size " +
                                           std::to_string(size));
}
// The output of an op whose size depends on data has been given another size.
inline void require_room(const char* op, int64_t found, int64_t room) {
  if (found == room) return;
  throw BackendError(NEF_SHAPE_MISMATCH,
                     std::string(op) + ": the result has " + std::to_string(found) +
                         " entries, the output has room for " + std::to_string(room));
}

}  // namespace nef::backends
