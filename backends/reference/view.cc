// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/view.h"

#include <bit>
#include <cmath>
#include <limits>

namespace nef::reference {

int64_t load_int(const View& v, int64_t i) {
  switch (v.dtype) {
    case NEF_BOOL: return get<uint8_t>(v.data, i) != 0;
    case NEF_INT8: return get<int8_t>(v.data, i);
    case NEF_UINT8: return get<uint8_t>(v.data, i);
    case NEF_INT16: return get<int16_t>(v.data, i);
    case NEF_UINT16: return get<uint16_t>(v.data, i);
    case NEF_INT32: return get<int32_t>(v.data, i);
    case NEF_UINT32: return get<uint32_t>(v.data, i);
    default: return get<int64_t>(v.data, i);
  }
}

void store_int(const View& v, int64_t i, int64_t value) {
  switch (v.dtype) {
    case NEF_BOOL: return put<uint8_t>(v.data, i, value != 0);
    case NEF_INT8:
    case NEF_UINT8: return put(v.data, i, static_cast<uint8_t>(value));
    case NEF_INT16:
    case NEF_UINT16: return put(v.data, i, static_cast<uint16_t>(value));
    case NEF_INT32:
    case NEF_UINT32: return put(v.data, i, static_cast<uint32_t>(value));
    default: return put(v.data, i, value);
  }
}

double load_float(const View& v, int64_t i) {
  switch (v.dtype) {
    case NEF_FLOAT16: return backends::float_from_float16(get<uint16_t>(v.data, i));
    case NEF_BFLOAT16: return backends::float_from_bfloat16(get<uint16_t>(v.data, i));
    case NEF_FLOAT32: return get<float>(v.data, i);
    case NEF_FLOAT64: return get<double>(v.data, i);
    case NEF_UINT64: return static_cast<double>(get<uint64_t>(v.data, i));
    case NEF_FLOAT8_E4M3FN:
    case NEF_FLOAT8_E5M2: return backends::float_from_float8(v.dtype, get<uint8_t>(v.data, i));
    default: return static_cast<double>(load_int(v, i));
  }
}

void store_float(const View& v, int64_t i, double value) {
  switch (v.dtype) {
    case NEF_FLOAT16: return put(v.data, i, backends::float16_from_double(value));
    case NEF_BFLOAT16: return put(v.data, i, backends::bfloat16_from_double(value));
    case NEF_FLOAT32: return put(v.data, i, static_cast<float>(value));
    case NEF_FLOAT8_E4M3FN:
    case NEF_FLOAT8_E5M2:
      return put(v.data, i, backends::float8_from_double(v.dtype, value, false));
    default: return put(v.data, i, value);
  }
}

namespace {

int bits_of(nef_dtype dtype) {
  return dtype == NEF_BOOL ? 1 : static_cast<int>(backends::dtype_size(dtype)) * 8;
}

uint64_t greatest_bits(nef_dtype dtype) {
  const int bits = bits_of(dtype) - (is_unsigned(dtype) ? 0 : 1);
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

// An integer as a double that keeps a sticky last bit, so that a second rounding, to a float of
// fewer than 52 bits, comes out as if it were the only one.
double sticky_double(uint64_t magnitude) {
  const int excess = std::bit_width(magnitude) - 53;
  if (excess <= 0) return static_cast<double>(magnitude);
  uint64_t kept = magnitude >> excess;
  if ((kept << excess) != magnitude) kept |= 1;
  return std::ldexp(static_cast<double>(kept), excess);
}

double int_to_float(const View& src, int64_t i, nef_dtype to) {
  const int64_t value = load_int(src, i);
  if (src.dtype == NEF_UINT64) {
    const auto bits = static_cast<uint64_t>(value);
    return to == NEF_FLOAT64 ? static_cast<double>(bits) : sticky_double(bits);
  }
  if (to == NEF_FLOAT64) return static_cast<double>(value);
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : value;
  return value < 0 ? -sticky_double(magnitude) : sticky_double(magnitude);
}

}  // namespace

template <>
double lowest<double>(nef_dtype) {
  return -std::numeric_limits<double>::infinity();
}
template <>
double highest<double>(nef_dtype) {
  return std::numeric_limits<double>::infinity();
}
template <>
uint64_t lowest<uint64_t>(nef_dtype) {
  return 0;
}
template <>
uint64_t highest<uint64_t>(nef_dtype dtype) {
  return greatest_bits(dtype);
}
template <>
int64_t lowest<int64_t>(nef_dtype dtype) {
  return -static_cast<int64_t>(greatest_bits(dtype)) - 1;
}
template <>
int64_t highest<int64_t>(nef_dtype dtype) {
  return static_cast<int64_t>(greatest_bits(dtype));
}

int64_t saturate(double value, nef_dtype dtype) {
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  const double limit = std::ldexp(1.0, bits_of(dtype) - (is_unsigned(dtype) ? 0 : 1));
  if (whole >= limit) return static_cast<int64_t>(greatest_bits(dtype));
  if (is_unsigned(dtype))
    return whole <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(whole));
  return whole < -limit ? lowest<int64_t>(dtype) : static_cast<int64_t>(whole);
}

void cast_element(const View& dst, int64_t o, const View& src, int64_t i, bool saturate) {
  if (dst.dtype == src.dtype) return copy_element(dst, o, src, i);
  const bool from_float = is_float(src.dtype) || is_float8(src.dtype);
  const auto number = [&] {
    return from_float ? load_float(src, i) : int_to_float(src, i, dst.dtype);
  };
  if (is_float8(dst.dtype)) {
    put(dst.data, o, backends::float8_from_double(dst.dtype, number(), saturate));
  } else if (is_float(dst.dtype)) {
    store_float(dst, o, number());
  } else if (!from_float) {
    store_int(dst, o, load_int(src, i));
  } else if (dst.dtype == NEF_BOOL) {
    store_int(dst, o, load_float(src, i) != 0);
  } else {
    store_int(dst, o, reference::saturate(load_float(src, i), dst.dtype));
  }
}

Strides dense_strides(const int64_t* dims, int rank) {
  Strides s;
  int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    s.by[d] = step;
    step *= dims[d];
  }
  return s;
}

Strides broadcast_strides(const View& in, int rank) {
  Strides s;
  int64_t step = 1;
  for (int d = in.rank - 1; d >= 0; --d) {
    s.by[rank - in.rank + d] = in.dims[d] == 1 ? 0 : step;
    step *= in.dims[d];
  }
  return s;
}

}  // namespace nef::reference
