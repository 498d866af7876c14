// SPDX-License-Identifier: Apache-2.0

// Float32 hyperbolic functions and inverses on Highway vectors, as those of math-inl.h.

// Per-target include guard.
#if defined(NEF_BACKENDS_CPU_MATH_INVERSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEF_BACKENDS_CPU_MATH_INVERSE_INL_H_
#undef NEF_BACKENDS_CPU_MATH_INVERSE_INL_H_
#else
#define NEF_BACKENDS_CPU_MATH_INVERSE_INL_H_
#endif

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {

// pi / 2, pi / 4 and log 2, and what their floats lack.
constexpr float kHalfPi = 1.57079637f, kHalfPiRest = -4.37113883e-8f;
constexpr float kLog2 = 0.693147182f;
constexpr float kSquareOverflows = 1e10f;  // long before; there 1 no longer counts beside x^2

// e^a / 2 for a >= 0, which is finite up to the largest sinh.
template <class D, class V = VecOf<D>>
HWY_INLINE V half_exp(D d, V a) {
  const auto far = hn::Gt(a, hn::Set(d, 64.0f));
  const V e = exp(d, hn::Sub(a, hn::IfThenElseZero(far, hn::Set(d, 22.1875f))));
  // e^22.1875 / 2; the difference above is exact.
  return hn::Mul(e, hn::IfThenElse(far, hn::Set(d, 2162115158.0f), hn::Set(d, 0.5f)));
}

template <class D, class V = VecOf<D>>
HWY_INLINE V sinh(D d, V x) {
  const V a = hn::Abs(x), h = half_exp(d, a);
  const V far = hn::CopySign(hn::Sub(h, hn::Div(hn::Set(d, 0.25f), h)), x);
  const V z = hn::Mul(x, x);
  const V p = polynomial(d, z, 0.166666672f, 0.00833333284f, 0.000198412963f, 2.75520642e-06f,
                         2.552982e-08f);
  const V near = hn::MulAdd(hn::Mul(z, x), p, x);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, 1.0f)), near, far);
}

template <class D, class V = VecOf<D>>
HWY_INLINE V cosh(D d, V x) {
  const V h = half_exp(d, hn::Abs(x));
  return hn::Add(h, hn::Div(hn::Set(d, 0.25f), h));
}

// asin(s) of s^2 = z, both at most 1/2.
template <class D, class V = VecOf<D>>
HWY_INLINE V asin_near(D d, V s, V z) {
  const V p = polynomial(d, z, 0.166666597f, 0.0750051066f, 0.0445157215f, 0.0318176113f,
                         0.0144026f, 0.0375652127f);
  return hn::MulAdd(hn::Mul(s, z), p, s);
}

// Beyond 1/2 asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
template <class D, class V = VecOf<D>>
HWY_INLINE V asin(D d, V x) {
  const V a = hn::Abs(x), half = hn::Set(d, 0.5f);
  const auto far = hn::Gt(a, half);
  const V z = hn::IfThenElse(far, hn::Mul(hn::Sub(hn::Set(d, 1.0f), a), half), hn::Mul(a, a));
  const V r = asin_near(d, hn::IfThenElse(far, hn::Sqrt(z), a), z);
  const V rest = hn::Sub(hn::Set(d, kHalfPiRest), hn::Add(r, r));
  return hn::CopySign(hn::IfThenElse(far, hn::Add(hn::Set(d, kHalfPi), rest), r), x);
}

template <class D, class V = VecOf<D>>
HWY_INLINE V acos(D d, V x) {
  const V a = hn::Abs(x), half = hn::Set(d, 0.5f);
  const auto far = hn::Gt(a, half), negative = hn::Lt(x, hn::Zero(d));
  const V z = hn::IfThenElse(far, hn::Mul(hn::Sub(hn::Set(d, 1.0f), a), half), hn::Mul(a, a));
  const V r = asin_near(d, hn::IfThenElse(far, hn::Sqrt(z), a), z);
  const V near = hn::Sub(hn::Set(d, kHalfPi), hn::Sub(hn::CopySign(r, x), hn::Set(d, kHalfPiRest)));
  const V twice = hn::Add(r, r);
  const V obtuse = hn::Sub(hn::Set(d, 2 * kHalfPi), hn::Sub(twice, hn::Set(d, 2 * kHalfPiRest)));
  return hn::IfThenElse(far, hn::IfThenElse(negative, obtuse, twice), near);
}

// Turned by an eighth or a quarter of a circle, so that the tangent left is at most that of pi / 8.
template <class D, class V = VecOf<D>>
HWY_INLINE V atan(D d, V x) {
  const V a = hn::Abs(x), one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  const auto mid = hn::Gt(a, hn::Set(d, 0.414213562f)), far = hn::Gt(a, hn::Set(d, 2.41421356f));
  const V above = hn::IfThenElse(far, hn::Set(d, -1.0f), hn::IfThenElse(mid, hn::Sub(a, one), a));
  const V below = hn::IfThenElse(far, a, hn::IfThenElse(mid, hn::Add(a, one), one));
  const V t = hn::Div(above, below), z = hn::Mul(t, t);
  const V p =
      polynomial(d, z, -0.333333164f, 0.199984893f, -0.142438382f, 0.105959155f, -0.0608322322f);
  const V near = hn::MulAdd(hn::Mul(t, z), p, t);
  const V turns = hn::IfThenElse(far, one, hn::IfThenElse(mid, hn::Set(d, 0.5f), zero));
  const V rest = hn::MulAdd(turns, hn::Set(d, kHalfPiRest), near);
  return hn::CopySign(hn::MulAdd(turns, hn::Set(d, kHalfPi), rest), x);
}

template <class D, class V = VecOf<D>>
HWY_INLINE V asinh(D d, V x) {
  const V a = hn::Abs(x), z = hn::Mul(x, x);
  const auto huge = hn::Gt(a, hn::Set(d, kSquareOverflows));
  const V root = hn::Sqrt(hn::Add(z, hn::Set(d, 1.0f)));
  const V l = log(d, hn::Add(a, hn::IfThenZeroElse(huge, root)));
  const V far = hn::CopySign(hn::Add(l, hn::IfThenElseZero(huge, hn::Set(d, kLog2))), x);
  const V p = polynomial(d, z, -0.166666657f, 0.0749989003f, -0.0446134433f, 0.0300145f,
                         -0.0199856348f, 0.00917538814f);
  const V near = hn::MulAdd(hn::Mul(z, x), p, x);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.5f)), near, far);
}

template <class D, class V = VecOf<D>>
HWY_INLINE V acosh(D d, V x) {
  const V one = hn::Set(d, 1.0f), t = hn::Sub(x, one);
  const auto huge = hn::Gt(x, hn::Set(d, kSquareOverflows));
  const V root = hn::Sqrt(hn::Mul(t, hn::Add(t, hn::Set(d, 2.0f))));
  const V l = log1p_unit(d, hn::Add(t, hn::IfThenZeroElse(huge, root)));
  const V r = hn::Add(l, hn::IfThenElseZero(huge, hn::Set(d, kLog2)));
  return hn::IfThenElse(hn::Ge(x, one), r, hn::NaN(d));
}

template <class D, class V = VecOf<D>>
HWY_INLINE V atanh(D d, V x) {
  const V a = hn::Abs(x), one = hn::Set(d, 1.0f);
  const V l = log1p_unit(d, hn::Div(hn::Add(a, a), hn::Sub(one, a)));
  const V r = hn::CopySign(hn::Mul(l, hn::Set(d, 0.5f)), x);
  return hn::IfThenElse(hn::Le(a, one), r, hn::NaN(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
