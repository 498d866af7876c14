// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backends/shared/float16.h"
#include "backends/shared/float8.h"
#include "backends/shared/region.h"

namespace nef::reference {

using backends::BackendError;

// A tensor as a kernel sees it: dense, row-major, perhaps unaligned.
struct View {
  nef_dtype dtype = NEF_DTYPE_INVALID;
  int rank = 0;
  const int64_t* dims = nullptr;
  char* data = nullptr;
  int64_t count = 0;

  size_t element_size() const { return backends::dtype_size(dtype); }
};

constexpr bool is_float(nef_dtype t) { return t >= NEF_FLOAT16 && t <= NEF_FLOAT64; }
using backends::is_float8;
constexpr bool is_unsigned(nef_dtype t) {
  return t == NEF_BOOL || t == NEF_UINT8 || t == NEF_UINT16 || t == NEF_UINT32 || t == NEF_UINT64;
}

template <typename T>
T get(const char* data, int64_t i) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void put(char* data, int64_t i, T value) {
  std::memcpy(data + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
}

// Integers and bool as 64 bits, sign- or zero-extended; stores wrap.
int64_t load_int(const View& v, int64_t i);
void store_int(const View& v, int64_t i, int64_t value);
// Any dtype as a double (64-bit integers may round); stores are for float dtypes, float8 among
// them, and round once. What is too large is not saturated.
double load_float(const View& v, int64_t i);
void store_float(const View& v, int64_t i, double value);

// Kernels compute in one of three domains: double, int64_t, uint64_t.
template <typename D>
D load(const View& v, int64_t i) {
  if constexpr (std::is_same_v<D, double>) {
    return load_float(v, i);
  } else {
    return static_cast<D>(load_int(v, i));
  }
}
template <typename D>
void store(const View& v, int64_t i, D value) {
  if constexpr (std::is_same_v<D, double>) {
    store_float(v, i, value);
  } else {
    store_int(v, i, static_cast<int64_t>(value));
  }
}

// Calls f with a value of the domain's type.
template <typename F>
void with_domain(nef_dtype dtype, F&& f) {
  if (is_float(dtype)) {
    f(double{});
  } else if (is_unsigned(dtype)) {
    f(uint64_t{});
  } else {
    f(int64_t{});
  }
}

// Wrapping arithmetic: signed overflow is undefined in C++, so it goes through unsigned.
template <typename D>
D add(D a, D b) {
  if constexpr (std::is_same_v<D, double>) return a + b;
  else return static_cast<D>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename D>
D subtract(D a, D b) {
  if constexpr (std::is_same_v<D, double>) return a - b;
  else return static_cast<D>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename D>
D multiply(D a, D b) {
  if constexpr (std::is_same_v<D, double>) return a * b;
  else return static_cast<D>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename D>
bool is_nan(D v) {
  if constexpr (std::is_same_v<D, double>) return v != v;
  else return false;
}
// NaN propagates.
template <typename D>
D larger(D a, D b) {
  if (is_nan(a)) return a;
  return is_nan(b) || b > a ? b : a;
}
template <typename D>
D smaller(D a, D b) {
  if (is_nan(a)) return a;
  return is_nan(b) || b < a ? b : a;
}

// The least and greatest values of a dtype; infinities for floats.
template <typename D>
D lowest(nef_dtype dtype);
template <typename D>
D highest(nef_dtype dtype);

// Bytes i of src to element o of dst; both have the same element size.
inline void copy_element(const View& dst, int64_t o, const View& src, int64_t i) {
  const size_t size = dst.element_size();
  std::memcpy(dst.data + static_cast<size_t>(o) * size, src.data + static_cast<size_t>(i) * size,
              size);
}
// Converts one element under the rules of Cast; `saturate` is for float8. To its own dtype it
// copies.
void cast_element(const View& dst, int64_t o, const View& src, int64_t i, bool saturate = true);

// A float value as an integer dtype: truncates, saturates, NaN gives 0. Bits of the result.
int64_t saturate(double value, nef_dtype dtype);

// Walks all coordinates of `dims` in row-major order; `at` is the current one.
class Coords {
 public:
  Coords(const int64_t* dims, int rank) : dims_(dims), rank_(rank) {}
  // Returns false after the last coordinate.
  bool next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      if (++at[d] < dims_[d]) return true;
      at[d] = 0;
    }
    return false;
  }
  int rank() const { return rank_; }
  int64_t at[NEF_MAX_RANK] = {};

 private:
  const int64_t* dims_;
  int rank_;
};

// Element steps per axis.
struct Strides {
  int64_t by[NEF_MAX_RANK] = {};
  int64_t offset(const Coords& c) const {
    int64_t sum = 0;
    for (int d = 0; d < c.rank(); ++d) sum += by[d] * c.at[d];
    return sum;
  }
};
Strides dense_strides(const int64_t* dims, int rank);
// Steps through `in` along the axes of a tensor of rank `rank` that it broadcasts to.
Strides broadcast_strides(const View& in, int rank);

// Product of dims [begin, end).
inline int64_t span_count(const View& v, int begin, int end) {
  int64_t n = 1;
  for (int d = begin; d < end; ++d) n *= v.dims[d];
  return n;
}

}  // namespace nef::reference
