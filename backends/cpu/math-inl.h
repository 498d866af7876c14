// SPDX-License-Identifier: Apache-2.0

// Float32 math on Highway vectors. Included once per target, inside a foreach_target unit and
// after <hwy/highway.h>. Polynomials are minimax fits made for NEF; the errors stated are the
// largest seen against float64 libm over the whole range (tests/unit/cpu/math_test.cc).
// NaN gives NaN everywhere.

// Per-target include guard.
#if defined(NEF_BACKENDS_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEF_BACKENDS_CPU_MATH_INL_H_
#undef NEF_BACKENDS_CPU_MATH_INL_H_
#else
#define NEF_BACKENDS_CPU_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using VecOf = hn::Vec<D>;

// c[0] + c[1] x + c[2] x^2 + ...
template <class D, class V = VecOf<D>>
HWY_INLINE V polynomial(D, V /*x*/, V last) {
  return last;
}
template <class D, class V = VecOf<D>, class... Rest>
HWY_INLINE V polynomial(D d, V x, float c0, float c1, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return hn::MulAdd(hn::Set(d, c1), x, hn::Set(d, c0));
  } else {
    return hn::MulAdd(polynomial(d, x, c1, rest...), x, hn::Set(d, c0));
  }
}

// x * 2^n for whole n in [-252, 254]; two steps, so that subnormal results round once.
template <class D, class V = VecOf<D>>
HWY_INLINE V scale_by_power(D d, V x, VecOf<hn::RebindToSigned<D>> n) {
  const hn::RebindToSigned<D> di;
  const auto bias = hn::Set(di, 127);
  const auto half = hn::ShiftRight<1>(n);
  const auto rest = hn::Sub(n, half);
  const V a = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V b = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(rest, bias)));
  return hn::Mul(hn::Mul(x, a), b);
}

// e^x for -104 <= x <= 89 or NaN: 1.1 ULP; subnormal results are right.
template <class D, class V = VecOf<D>>
HWY_INLINE V exp_between(D d, V x) {
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), x);
  r = hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6f), r);
  const V q =
      polynomial(d, r, 0.499999934f, 0.166665201f, 0.0416683942f, 0.00836878041f, 0.00138144671f);
  const V p = hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), hn::Set(d, 1.0f));
  const hn::RebindToSigned<D> di;
  return scale_by_power(d, p, hn::ConvertTo(di, n));
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// The same where 16 lanes look up 2^(i / 16): with x = (n + i / 16) ln 2 + r, r is so small that
// its polynomial is short. Adding `shift` rounds to whole sixteenths, and leaves i in the lowest
// bits.
HWY_INLINE hn::Vec512<float> exp_between(hn::Full512<float> d, hn::Vec512<float> x) {
  HWY_ALIGN static constexpr float kPowers[16] = {
      1,           1.04427373f, 1.09050775f, 1.13878858f, 1.18920708f, 1.24185777f,
      1.29683959f, 1.35425556f, 1.41421354f, 1.47682619f, 1.54221082f, 1.61049032f,
      1.68179286f, 1.75625217f, 1.8340081f,  1.91520655f};
  const hn::RebindToSigned<decltype(d)> di;
  const auto shift = hn::Set(d, 786432.0f);  // 1.5 * 2^19
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift);
  const auto n = hn::Sub(shifted, shift);
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), x);
  r = hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6f), r);
  auto index = hn::BitCast(di, shifted);
  if constexpr (HWY_IS_DEBUG_BUILD) index = hn::And(index, hn::Set(di, 15));
  const auto power = hn::TableLookupLanes(hn::Load(d, kPowers), hn::IndicesFromVec(d, index));
  const auto q = hn::MulAdd(hn::Set(d, 0.166666667f), r, hn::Set(d, 0.5f));
  const auto tail = hn::MulAdd(hn::Mul(r, r), q, r);  // e^r - 1
  return hn::MulByFloorPow2(hn::MulAdd(power, tail, power), n);
}
#endif

// e^x for x <= 89: 1.1 ULP; subnormal results are right.
template <class D, class V = VecOf<D>>
HWY_INLINE V exp_below_89(D d, V x) {
  const V lo = hn::Set(d, -104.0f);
#if HWY_ARCH_X86
  return exp_between(d, hn::Max(lo, x));  // of a NaN the instruction gives its second operand
#else
  return exp_between(d, hn::IfThenElse(hn::Lt(x, lo), lo, x));  // a NaN compares false and stays
#endif
}

// e^x as weights of a softmax need it, for kLeastPlainWeight <= x <= 88 or NaN: 1.6 ULP from -20
// on, 4.5 below.
constexpr float kLeastPlainWeight = -87.3f;
template <class D, class V = VecOf<D>>
HWY_INLINE V exp_plain_weight(D d, V x) {
  return exp_between(d, x);
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// One step of reduction, and whole powers of 2 added to the exponents of the table.
HWY_INLINE hn::Vec512<float> exp_plain_weight(hn::Full512<float> d, hn::Vec512<float> x) {
  // 2^(i / 16), less i sixteenths of the exponent's lowest bit.
  HWY_ALIGN static constexpr uint32_t kPowers[16] = {
      0x3f800000u, 0x3f7daac3u, 0x3f7b95c2u, 0x3f79c3d3u, 0x3f7837f0u, 0x3f76f532u,
      0x3f75fed7u, 0x3f75583fu, 0x3f7504f3u, 0x3f7508a4u, 0x3f75672au, 0x3f76248cu,
      0x3f7744fdu, 0x3f78ccdfu, 0x3f7ac0c7u, 0x3f7d257du};
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto shift = hn::Set(d, 786432.0f);  // 1.5 * 2^19
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift);
  const auto r = hn::NegMulAdd(hn::Sub(shifted, shift), hn::Set(d, 0.693147182f), x);
  const auto bits = hn::BitCast(du, shifted);
  auto index = bits;
  if constexpr (HWY_IS_DEBUG_BUILD) index = hn::And(index, hn::Set(du, 15));
  const auto root = hn::TableLookupLanes(hn::Load(du, kPowers), hn::IndicesFromVec(du, index));
  const auto power = hn::BitCast(d, hn::Add(root, hn::ShiftLeft<19>(bits)));
  const auto q = hn::MulAdd(hn::Set(d, 0.166666667f), r, hn::Set(d, 0.5f));
  const auto tail = hn::MulAdd(hn::Mul(r, r), q, r);  // e^r - 1
  return hn::MulAdd(power, tail, power);
}
#endif

// The same for x <= 88.
template <class D, class V = VecOf<D>>
HWY_INLINE V exp_weight(D d, V x) {
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Ge(x, hn::Set(d, kLeastPlainWeight))))) {
    return exp_below_89(d, x);
  }
  return exp_plain_weight(d, x);
}

// e^x: 1.1 ULP; subnormal results are right, inf above 88.73.
template <class D, class V = VecOf<D>>
HWY_INLINE V exp(D d, V x) {
  const V hi = hn::Set(d, 89.0f);
#if HWY_ARCH_X86
  return exp_below_89(d, hn::Min(hi, x));
#else
  return exp_below_89(d, hn::IfThenElse(hn::Gt(x, hi), hi, x));
#endif
}

// 1 / x of positive normal numbers: 1 ULP.
template <class D, class V = VecOf<D>>
HWY_INLINE V reciprocal(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const V r = hn::ApproximateReciprocal(x);  // 14 bits; one step of Newton's doubles them
  return hn::MulAdd(hn::NegMulAdd(x, r, hn::Set(d, 1.0f)), r, r);
#else
  return hn::Div(hn::Set(d, 1.0f), x);
#endif
}

// e^x - 1: 3.5 ULP, also near 0.
template <class D, class V = VecOf<D>>
HWY_INLINE V expm1(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V far = hn::Sub(exp(d, x), one);
  const V near = hn::MulAdd(
      hn::Mul(x, x),
      polynomial(d, x, 0.499999934f, 0.166665201f, 0.0416683942f, 0.00836878041f, 0.00138144671f),
      x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.34f)), near, far);
}

// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1], without its leading f.
template <class D, class V = VecOf<D>>
HWY_INLINE V log1p_tail(D d, V f) {
  const V f2 = hn::Mul(f, f);
  const V q = polynomial(d, f, 0.333333317f, -0.250008227f, 0.200012334f, -0.166232984f,
                         0.142015534f, -0.131605823f, 0.127633245f, -0.0763565231f);
  return hn::MulAdd(hn::Mul(f2, f), q, hn::Mul(f2, hn::Set(d, -0.5f)));
}

// Natural logarithm: 1 ULP; -inf at 0, NaN below, subnormals included.
template <class D, class V = VecOf<D>>
HWY_INLINE V log(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V inf = hn::Inf(d);
  const auto tiny = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 8388608.0f)), x);
  // Exponent such that the mantissa lies in [sqrt(1/2), sqrt(2)).
  const auto bits = hn::BitCast(di, scaled);
  const auto shifted = hn::Sub(bits, hn::Set(di, 0x3f3504f3));
  const auto e = hn::ShiftRight<23>(shifted);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(e)));
  V n = hn::ConvertTo(d, e);
  n = hn::IfThenElse(tiny, hn::Sub(n, hn::Set(d, 23.0f)), n);
  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  V r = hn::MulAdd(n, hn::Set(d, 1.42860677e-6f), log1p_tail(d, f));
  r = hn::MulAdd(n, hn::Set(d, 0.693145751953125f), hn::Add(f, r));
  r = hn::IfThenElse(hn::Eq(x, inf), inf, r);
  r = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(inf), r);
  // Not (x >= 0): negative or NaN.
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), r, hn::NaN(d));
}

// log(1 + e): 2.2 ULP for e in [0, 1], as softplus needs it.
template <class D, class V = VecOf<D>>
HWY_INLINE V log1p_unit(D d, V e) {
  const V near = hn::Add(e, log1p_tail(d, e));
  return hn::IfThenElse(hn::Lt(e, hn::Set(d, 0.41421f)), near,
                        log(d, hn::Add(e, hn::Set(d, 1.0f))));
}

// 1 / (1 + e^-x): 2.5 ULP where the result is a normal number, 0 below -88.7.
template <class D, class V = VecOf<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

// Hyperbolic tangent: 1.5 ULP.
template <class D, class V = VecOf<D>>
HWY_INLINE V tanh(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V a = hn::Abs(x);
  const V e = exp(d, hn::Add(a, a));
  const V far = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  const V s = hn::Mul(x, x);
  const V p =
      polynomial(d, s, -0.333332839f, 0.133314913f, -0.0537434981f, 0.0206505873f, -0.00571704506f);
  const V near = hn::MulAdd(hn::Mul(s, x), p, x);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.625f)), near, hn::CopySign(far, x));
}

// erfc(a) for a >= 0: relative error 5e-7, down to subnormal results.
template <class D, class V = VecOf<D>>
HWY_INLINE V erfc_positive(D d, V a) {
  const V limit = hn::Set(d, 10.2f);  // erfc underflows before
  a = hn::IfThenElse(hn::Gt(a, limit), limit, a);
  const V t = reciprocal(d, hn::Add(a, hn::Set(d, 2.0f)));
  const V q = polynomial(d, t, 0.564172836f, 1.12950123f, 1.94483019f, 3.24298916f, -0.85201772f,
                         17.7962878f, -62.3615692f, 72.8511739f, -30.243301f);
  // a^2 = hi + lo exactly where the target has FMA; e^-(hi + lo) = e^-hi (1 - lo).
  const V hi = hn::Mul(a, a);
  const V lo = hn::MulSub(a, a, hi);
  const V e = exp_below_89(d, hn::Neg(hi));
  return hn::Mul(hn::NegMulAdd(e, lo, e), hn::Mul(t, q));
}

// Error function: 2.6 ULP.
template <class D, class V = VecOf<D>>
HWY_INLINE V erf(D d, V x) {
  const V a = hn::Abs(x);
  const V s = hn::Mul(x, x);
  const V p = polynomial(d, s, 1.12837917f, -0.376126258f, 0.112835851f, -0.0268538119f,
                         0.00518832767f, -0.000801019353f, 7.85386109e-05f);
  const V far = hn::CopySign(hn::Sub(hn::Set(d, 1.0f), erfc_positive(d, a)), x);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, 1.0f)), hn::Mul(x, p), far);
}

// x / 2 (1 + erf(x / sqrt 2)). 1 + erf would cancel in the negative tail, erfc does not: the
// relative error is below 1e-6 for x > -4 and below 3e-5 down to the smallest normal result.
template <class D, class V = VecOf<D>>
HWY_INLINE V gelu_by_erfc(D d, V x) {
  const V half_erfc =
      hn::Mul(hn::Set(d, 0.5f), erfc_positive(d, hn::Mul(hn::Abs(x), hn::Set(d, 0.707106781f))));
  const V phi =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), half_erfc, hn::Sub(hn::Set(d, 1.0f), half_erfc));
  return hn::Mul(x, phi);
}
template <class D, class V = VecOf<D>>
HWY_INLINE V gelu(D d, V x) {
  return gelu_by_erfc(d, x);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Up to |x| = 5.9, where 16 lanes look up the polynomial of their piece of the normal distribution:
// 3 ULP for x > -4. Piece i is that of -(i + t) / 2.6, |t| <= 1/2.
HWY_INLINE hn::Vec512<float> gelu(hn::Full512<float> d, hn::Vec512<float> x) {
  HWY_ALIGN static constexpr float kPieces[7][16] = {
      {0.5f, 0.350261182f, 0.220878154f, 0.124281615f, 0.0619678944f, 0.0272351913f, 0.0105081256f,
       0.00354797114f, 0.00104574591f, 0.000268548552f, 5.99931882e-05f, 1.1644669e-05f,
       1.96183919e-06f, 2.86651556e-07f, 3.6299884e-08f, 3.98171762e-09f},
      {-0.153439343f, -0.142499834f, -0.114142463f, -0.0788561106f, -0.0469871089f, -0.0241477881f,
       -0.0107036326f, -0.0040920442f, -0.00134928804f, -0.000383728766f, -9.41237959e-05f,
       -1.99126916e-05f, -3.6334236e-06f, -5.71817964e-07f, -7.76167326e-08f, -9.08675624e-09f},
      {8.95944741e-09f, 0.0105399294f, 0.0168849789f, 0.0174976569f, 0.0139015112f, 0.00893039629f,
       0.00475013489f, 0.0021186634f, 0.000798395718f, 0.000255440595f, 6.96179268e-05f,
       1.62009874e-05f, 3.22486176e-06f, 5.49802451e-07f, 8.03667035e-08f, 1.00803126e-08f},
      {0.00378291518f, 0.00299354619f, 0.00114900351f, -0.000644170912f, -0.001583423f,
       -0.00160641677f, -0.00114148646f, -0.00063041813f, -0.000281686254f, -0.000103899452f,
       -3.20060935e-05f, -8.29559121e-06f, -1.81823509e-06f, -3.38225789e-07f, -5.3539992e-08f,
       -7.22689286e-09f},
      {6.04017146e-07f, -0.000370569498f, -0.00050125469f, -0.000359896105f, -0.000108487169f,
       7.68581231e-05f, 0.000136153903f, 0.000110950161f, 6.36511977e-05f, 2.82864803e-05f,
       1.01233381e-05f, 2.97719407e-06f, 7.28216094e-07f, 1.49313308e-07f, 2.58045603e-08f,
       3.77384524e-09f},
      {-8.57077175e-05f, -5.51167104e-05f, 3.95845291e-06f, 4.57877941e-05f, 4.77048234e-05f,
       2.42940168e-05f, 1.30225419e-06f, -8.88380782e-06f, -8.78397623e-06f, -5.23509243e-06f,
       -2.29938246e-06f, -7.93489903e-07f, -2.21644356e-07f, -5.09594464e-08f, -9.74573933e-09f,
       -1.56143409e-09f},
      {2.56733847e-06f, 8.63123205e-06f, 9.57476004e-06f, 3.59632509e-06f, -2.60119054e-06f,
       -4.46592003e-06f, -2.80947233e-06f, -6.13283532e-07f, 4.8462482e-07f, 5.94462449e-07f,
       3.56954331e-07f, 1.50496859e-07f, 4.87580856e-08f, 1.26159518e-08f, 2.66176925e-09f,
       4.63800665e-10f},
  };
  const hn::RebindToSigned<decltype(d)> di;
  const auto a = hn::Abs(x);
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(a, hn::Set(d, 5.9f))))) return gelu_by_erfc(d, x);
  const auto pieces = hn::Set(d, 2.6f), shift = hn::Set(d, 12582912.0f);  // 1.5 * 2^23
  const auto shifted = hn::MulAdd(a, pieces, shift);
  const auto t = hn::MulSub(a, pieces, hn::Sub(shifted, shift));
  auto index = hn::BitCast(di, shifted);
  if constexpr (HWY_IS_DEBUG_BUILD) index = hn::And(index, hn::Set(di, 15));
  const auto lanes = hn::IndicesFromVec(d, index);
  const auto piece = [&](int power) HWY_ATTR {
    return hn::TableLookupLanes(hn::Load(d, kPieces[power]), lanes);
  };
  auto tail = hn::MulAdd(piece(6), t, piece(5));
  tail = hn::MulAdd(tail, t, piece(4));
  tail = hn::MulAdd(tail, t, piece(3));
  tail = hn::MulAdd(tail, t, piece(2));
  tail = hn::MulAdd(tail, t, piece(1));
  tail = hn::MulAdd(tail, t, piece(0));
  const auto phi = hn::MaskedSubOr(tail, hn::Ge(x, hn::Zero(d)), hn::Set(d, 1.0f), tail);
  return hn::Mul(x, phi);
}
#endif

// x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3): GELU with tanh, without its cancellation;
// 0 below -10.05.
template <class D, class V = VecOf<D>>
HWY_INLINE V gelu_tanh(D d, V x) {
  const V s = hn::Mul(x, x);
  const V k = hn::MulAdd(s, hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f));
  return hn::Mul(x, sigmoid(d, hn::Mul(x, k)));
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
