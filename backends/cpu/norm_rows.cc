// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm_rows.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/half-inl.h"
#include "backends/cpu/math-inl.h"
#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/norm_rows.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

template <typename T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

// Sum of f over the row in four independent vectors; the tail joins as zeros.
template <typename T, class F>
HWY_INLINE T reduce_sum(const T* x, int64_t n, const F& f) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, f(hn::LoadU(d, x + i)));
    s1 = hn::Add(s1, f(hn::LoadU(d, x + i + lanes)));
    s2 = hn::Add(s2, f(hn::LoadU(d, x + i + 2 * lanes)));
    s3 = hn::Add(s3, f(hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, f(hn::LoadU(d, x + i)));
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    const auto v = f(hn::LoadN(d, x + i, rest));
    s1 = hn::Add(s1, hn::IfThenElseZero(hn::FirstN(d, rest), v));
  }
  return hn::ReduceSum(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

template <typename T, class F>
HWY_INLINE void map(const T* x, int64_t n, T* y, const F& f) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i), i, lanes), d, y + i);
  if (i == n) return;
  const size_t rest = static_cast<size_t>(n - i);
  hn::StoreN(f(hn::LoadN(d, x + i, rest), i, n - i), d, y + i, rest);
}
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_part(D d, const T* x, int64_t n) {
  return n >= static_cast<int64_t>(hn::Lanes(d)) ? hn::LoadU(d, x)
                                                 : hn::LoadN(d, x, static_cast<size_t>(n));
}

template <typename T>
T sum(const T* x, int64_t n) {
  return reduce_sum(x, n, [](auto v) HWY_ATTR { return v; });
}
template <typename T>
T sum_squares(const T* x, int64_t n, T mean) {
  const auto m = hn::Set(Tag<T>(), mean);
  return reduce_sum(x, n, [&](auto v) HWY_ATTR {
    const auto c = hn::Sub(v, m);
    return hn::Mul(c, c);
  });
}
template <typename T>
T sum_abs(const T* x, int64_t n) {
  return reduce_sum(x, n, [](auto v) HWY_ATTR { return hn::Abs(v); });
}

// x where it is NaN or larger, else y: a NaN on either side wins.
template <class V>
HWY_INLINE V larger(V x, V y) {
  return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Gt(x, y)), x, y);
}
template <typename T>
T max(const T* x, int64_t n) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto m0 = hn::Neg(hn::Inf(d)), m1 = m0, m2 = m0, m3 = m0;
  auto nan = hn::MaskFalse(d);
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto v0 = hn::LoadU(d, x + i), v1 = hn::LoadU(d, x + i + lanes);
    const auto v2 = hn::LoadU(d, x + i + 2 * lanes), v3 = hn::LoadU(d, x + i + 3 * lanes);
    nan = hn::Or(nan, hn::Or(hn::IsEitherNaN(v0, v1), hn::IsEitherNaN(v2, v3)));
    m0 = hn::Max(v0, m0);
    m1 = hn::Max(v1, m1);
    m2 = hn::Max(v2, m2);
    m3 = hn::Max(v3, m3);
  }
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    nan = hn::Or(nan, hn::IsNaN(v));
    m0 = hn::Max(v, m0);
  }
  const auto most = hn::Max(hn::Max(m0, m1), hn::Max(m2, m3));
  T result = hn::AllFalse(d, nan) ? hn::ReduceMax(d, most) : std::numeric_limits<T>::quiet_NaN();
  for (; i < n; ++i) result = std::isnan(x[i]) || x[i] > result ? x[i] : result;
  return result;
}

// e^(x - shift) of the row into y, if that is not null, and their sum.
float exp_shifted_floats(const float* x, int64_t n, float shift, float* y) {
  const Tag<float> d;
  const auto s = hn::Set(d, shift);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto t0 = hn::Zero(d), t1 = t0;
  int64_t i = 0;
  const auto step = [&](int64_t at) HWY_ATTR {
    const auto v = exp_weight(d, hn::Sub(hn::LoadU(d, x + at), s));
    if (y != nullptr) hn::StoreU(v, d, y + at);
    return v;
  };
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto v0 = step(i), v1 = step(i + lanes);
    t0 = hn::Add(t0, v0);
    t1 = hn::Add(t1, v1);
  }
  for (; i + lanes <= n; i += lanes) t0 = hn::Add(t0, step(i));
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    const auto v = exp_weight(d, hn::Sub(hn::LoadN(d, x + i, rest), s));
    if (y != nullptr) hn::StoreN(v, d, y + i, rest);
    t1 = hn::Add(t1, hn::IfThenElseZero(hn::FirstN(d, rest), v));
  }
  return hn::ReduceSum(d, hn::Add(t0, t1));
}
template <typename T>
T exp_shifted(const T* x, int64_t n, T shift, T* y) {
  if constexpr (sizeof(T) == 4) {
    return exp_shifted_floats(x, n, shift, y);
  } else {
    T total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T v = std::exp(x[i] - shift);
      if (y != nullptr) y[i] = v;
      total += v;
    }
    return total;
  }
}

template <typename T>
void scale_shift(const T* x, int64_t n, T scale, T shift, T* y) {
  const auto a = hn::Set(Tag<T>(), scale), b = hn::Set(Tag<T>(), shift);
  map(x, n, y, [&](auto v, int64_t, int64_t) HWY_ATTR { return hn::MulAdd(v, a, b); });
}
template <typename T>
void affine(const T* x, int64_t n, T mean, T factor, T bias, T* y) {
  const Tag<T> d;
  const auto m = hn::Set(d, mean), f = hn::Set(d, factor), b = hn::Set(d, bias);
  map(x, n, y, [&](auto v, int64_t, int64_t) HWY_ATTR { return hn::MulAdd(hn::Sub(v, m), f, b); });
}
template <typename T>
void add(const T* a, const T* b, int64_t n, T* y) {
  map(a, n, y, [&](auto v, int64_t i, int64_t part) HWY_ATTR {
    return hn::Add(v, load_part(Tag<T>(), b + i, part));
  });
}
template <typename T>
void max_into(const T* x, int64_t n, T* y) {
  map(x, n, y, [&](auto v, int64_t i, int64_t part) HWY_ATTR {
    return larger(v, load_part(Tag<T>(), y + i, part));
  });
}
template <typename T>
void add_scaled(const T* x, int64_t n, T scale, T* y) {
  const auto s = hn::Set(Tag<T>(), scale);
  map(x, n, y, [&](auto v, int64_t i, int64_t part) HWY_ATTR {
    return hn::MulAdd(v, s, load_part(Tag<T>(), y + i, part));
  });
}

template <typename T>
void every_second(const T* x, int64_t n, T* y) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes < n; i += lanes) {
    const auto low = hn::LoadU(d, x + 2 * i), high = hn::LoadU(d, x + 2 * i + lanes);
    hn::StoreU(hn::ConcatEven(d, high, low), d, y + i);
  }
  for (; i < n; ++i) y[i] = x[2 * i];
}

// The mean is taken off first: x * factor - mean * factor would cancel for a large mean.
template <typename T>
void normalize(const T* x, int64_t n, T mean, T factor, const T* scale, const T* bias, T* y) {
  const Tag<T> d;
  const auto m = hn::Set(d, mean), f = hn::Set(d, factor);
  if (scale == nullptr) {
    map(x, n, y, [&](auto v, int64_t i, int64_t part) HWY_ATTR {
      const auto r = hn::Mul(hn::Sub(v, m), f);
      return bias == nullptr ? r : hn::Add(r, load_part(d, bias + i, part));
    });
  } else if (bias == nullptr) {
    map(x, n, y, [&](auto v, int64_t i, int64_t part) HWY_ATTR {
      return hn::Mul(hn::Mul(hn::Sub(v, m), f), load_part(d, scale + i, part));
    });
  } else {
    map(x, n, y, [&](auto v, int64_t i, int64_t part) HWY_ATTR {
      return hn::MulAdd(hn::Mul(hn::Sub(v, m), f), load_part(d, scale + i, part),
                        load_part(d, bias + i, part));
    });
  }
}

template <typename T>
const RowOps<T>& ops() {
  static const RowOps<T> table = {sum<T>,         sum_squares<T>, sum_abs<T>,      max<T>,
                                  exp_shifted<T>, scale_shift<T>, affine<T>,       add<T>,
                                  max_into<T>,    add_scaled<T>,  every_second<T>, normalize<T>};
  return table;
}
const RowOps<float>& ops_float() { return ops<float>(); }
const RowOps<double>& ops_double() { return ops<double>(); }

template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> float_to_half(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  const auto all = hn::BitCast(du, x);
  const auto sign = hn::ShiftRight<16>(hn::And(all, hn::Set(du, 0x80000000u)));
  const auto bits = hn::And(all, hn::Set(du, 0x7fffffffu));
  // Normal results: rebias and round to nearest even.
  const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 1u));
  const auto normal = hn::ShiftRight<13>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0xc8000fffu))));
  // Subnormal results: adding 1/2 lets the adder round at the right place.
  const auto magic = hn::Set(du, 0x3f000000u);
  const auto small =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, bits), hn::BitCast(d, magic))), magic);
  const auto is_small = hn::Lt(bits, hn::Set(du, 0x38800000u));
  const auto is_large = hn::Gt(bits, hn::Set(du, 0x477fffffu));
  const auto is_nan = hn::Gt(bits, hn::Set(du, 0x7f800000u));
  auto half = hn::IfThenElse(is_small, small, normal);
  half = hn::IfThenElse(is_large, hn::Set(du, 0x7c00u), half);
  half = hn::IfThenElse(is_nan, hn::Set(du, 0x7e00u), half);
  return hn::Or(half, sign);
}

// Rounds to nearest even; a NaN stays one.
template <bool kHalf, class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrow([[maybe_unused]] D d, hn::Vec<D> x) {
  const hn::Rebind<uint16_t, D> d16;
  if constexpr (kHalf && kConvertsHalf) {
    const hn::Rebind<hwy::float16_t, D> dh;
    return hn::BitCast(d16, hn::DemoteTo(dh, x));
  } else if constexpr (kHalf) {
    return hn::TruncateTo(d16, float_to_half(d, x));
  } else {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, x);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu)));
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(x));
    return hn::TruncateTo(d16, hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded)));
  }
}
template <bool kHalf>
void widen_row(const uint16_t* src, int64_t n, float* out) {
  const Tag<float> d;
  const hn::Rebind<uint16_t, Tag<float>> d16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(widen<kHalf>(d, hn::LoadU(d16, src + i)), d, out + i);
  }
  if (i == n) return;
  const size_t rest = static_cast<size_t>(n - i);
  hn::StoreN(widen<kHalf>(d, hn::LoadN(d16, src + i, rest)), d, out + i, rest);
}
template <bool kHalf>
void narrow_row(const float* x, int64_t n, uint16_t* dst) {
  const Tag<float> d;
  const hn::Rebind<uint16_t, Tag<float>> d16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(narrow<kHalf>(d, hn::LoadU(d, x + i)), d16, dst + i);
  }
  if (i == n) return;
  const size_t rest = static_cast<size_t>(n - i);
  hn::StoreN(narrow<kHalf>(d, hn::LoadN(d, x + i, rest)), d16, dst + i, rest);
}
void widen_half(const uint16_t* src, int64_t lds, int64_t rows, int64_t n, float* out,
                int64_t ldo) {
  for (int64_t i = 0; i < rows; ++i) widen_row<true>(src + i * lds, n, out + i * ldo);
}
void widen_brain(const uint16_t* src, int64_t lds, int64_t rows, int64_t n, float* out,
                 int64_t ldo) {
  for (int64_t i = 0; i < rows; ++i) widen_row<false>(src + i * lds, n, out + i * ldo);
}
void narrow_half(const float* x, int64_t ldx, int64_t rows, int64_t n, uint16_t* dst, int64_t ldd) {
  for (int64_t i = 0; i < rows; ++i) narrow_row<true>(x + i * ldx, n, dst + i * ldd);
}
void narrow_brain(const float* x, int64_t ldx, int64_t rows, int64_t n, uint16_t* dst,
                  int64_t ldd) {
  for (int64_t i = 0; i < rows; ++i) narrow_row<false>(x + i * ldx, n, dst + i * ldd);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(ops_float);
HWY_EXPORT(ops_double);
HWY_EXPORT(widen_half);
HWY_EXPORT(widen_brain);
HWY_EXPORT(narrow_half);
HWY_EXPORT(narrow_brain);
template <>
const RowOps<float>& row_ops<float>() {
  return HWY_DYNAMIC_DISPATCH(ops_float)();
}
template <>
const RowOps<double>& row_ops<double>() {
  return HWY_DYNAMIC_DISPATCH(ops_double)();
}

void load_floats(nef_dtype dtype, const void* src, int64_t offset, int64_t n, float* out) {
  if (dtype == NEF_FLOAT16 || dtype == NEF_BFLOAT16) {
    load_block(dtype, src, offset, n, 1, n, out, n);
  } else if (backends::is_float8(dtype)) {
    const auto* codes = static_cast<const uint8_t*>(src) + offset;
    find_cast_fn(dtype, NEF_FLOAT32)({out, {codes}, static_cast<size_t>(n), 0, 0});
  } else if (dtype == NEF_FLOAT64) {
    const double* x = static_cast<const double*>(src) + offset;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(x[i]);
  } else {
    std::copy_n(static_cast<const float*>(src) + offset, n, out);
  }
}

void load_block(nef_dtype dtype, const void* src, int64_t offset, int64_t lds, int64_t rows,
                int64_t n, float* out, int64_t ldo) {
  const auto* bits = static_cast<const uint16_t*>(src) + offset;
  if (dtype == NEF_FLOAT16) HWY_DYNAMIC_DISPATCH(widen_half)(bits, lds, rows, n, out, ldo);
  else HWY_DYNAMIC_DISPATCH(widen_brain)(bits, lds, rows, n, out, ldo);
}
void store_floats(nef_dtype dtype, const float* x, int64_t n, void* dst, int64_t offset) {
  store_block(dtype, x, n, 1, n, dst, offset, n);
}
void store_block(nef_dtype dtype, const float* x, int64_t ldx, int64_t rows, int64_t n, void* dst,
                 int64_t offset, int64_t ldd) {
  auto* bits = static_cast<uint16_t*>(dst) + offset;
  if (dtype == NEF_FLOAT16) {
    HWY_DYNAMIC_DISPATCH(narrow_half)(x, ldx, rows, n, bits, ldd);
  } else if (dtype == NEF_BFLOAT16) {
    HWY_DYNAMIC_DISPATCH(narrow_brain)(x, ldx, rows, n, bits, ldd);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      const float* row = x + i * ldx;
      const int64_t to = offset + i * ldd;
      if (dtype == NEF_FLOAT64) std::copy_n(row, n, static_cast<double*>(dst) + to);
      else std::copy_n(row, n, static_cast<float*>(dst) + to);
    }
  }
}

template <>
void load_row<float>(nef_dtype dtype, const void* src, int64_t offset, int64_t n, float* out) {
  load_floats(dtype, src, offset, n, out);
}
template <>
void store_row<float>(nef_dtype dtype, const float* x, int64_t n, void* dst, int64_t offset) {
  store_floats(dtype, x, n, dst, offset);
}
// Narrower floats are exact in float on the way.
constexpr int64_t kDoubleChunk = 64;
template <>
void load_row<double>(nef_dtype dtype, const void* src, int64_t offset, int64_t n, double* out) {
  if (dtype == NEF_FLOAT64) {
    std::copy_n(static_cast<const double*>(src) + offset, n, out);
    return;
  }
  float chunk[kDoubleChunk];
  for (int64_t i = 0; i < n; i += kDoubleChunk) {
    const int64_t part = std::min(kDoubleChunk, n - i);
    load_floats(dtype, src, offset + i, part, chunk);
    std::copy_n(chunk, part, out + i);
  }
}
template <>
void store_row<double>(nef_dtype dtype, const double* x, int64_t n, void* dst, int64_t offset) {
  if (dtype == NEF_FLOAT64) {
    std::copy_n(x, n, static_cast<double*>(dst) + offset);
    return;
  }
  float chunk[kDoubleChunk];
  for (int64_t i = 0; i < n; i += kDoubleChunk) {
    const int64_t part = std::min(kDoubleChunk, n - i);
    for (int64_t j = 0; j < part; ++j) chunk[j] = static_cast<float>(x[i + j]);
    store_floats(dtype, chunk, part, dst, offset + i);
  }
}
}  // namespace nef::cpu
#endif
