// SPDX-License-Identifier: Apache-2.0
// Float32 functions on tiles, by polynomials.
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise_math.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backends/cpu/elementwise_each-inl.h"
#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/math-inl.h"
#include "backends/cpu/math_inverse-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace {
using D32 = hn::ScalableTag<float>;
using V32 = hn::Vec<D32>;

template <class Op>
void map_math(const TileArgs& args) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const float*>(args.in[0]);
  auto* out = static_cast<float*>(args.out);
  const auto p = static_cast<float>(args.p0);
  const auto q = static_cast<float>(args.p1);
  const size_t i = each_vector(args, lanes, sizeof(float), [&](size_t i) HWY_ATTR {
    hn::StoreU(Op::apply(d, hn::LoadU(d, a + i), p, q), d, out + i);
  });
  if (i == args.n) return;
  const size_t rest = args.n - i;
  hn::StoreN(Op::apply(d, hn::LoadN(d, a + i, rest), p, q), d, out + i, rest);
}

#define NEF_MATH(Name, expression)                                \
  struct Name {                                                   \
    static HWY_INLINE V32 apply(D32 d, V32 x, float p, float q) { \
      (void)p;                                                    \
      (void)q;                                                    \
      return expression;                                          \
    }                                                             \
  };
NEF_MATH(Exp, exp(d, x))
NEF_MATH(Log, log(d, x))
NEF_MATH(Tanh, tanh(d, x))
NEF_MATH(Erf, erf(d, x))
NEF_MATH(Gelu, gelu(d, x))
NEF_MATH(GeluTanh, gelu_tanh(d, x))
NEF_MATH(Sigmoid, sigmoid(d, x))
NEF_MATH(Sinh, sinh(d, x))
NEF_MATH(Cosh, cosh(d, x))
NEF_MATH(Asin, asin(d, x))
NEF_MATH(Acos, acos(d, x))
NEF_MATH(Atan, atan(d, x))
NEF_MATH(Asinh, asinh(d, x))
NEF_MATH(Acosh, acosh(d, x))
NEF_MATH(Atanh, atanh(d, x))
NEF_MATH(Silu, hn::Mul(x, sigmoid(d, hn::Mul(x, hn::Set(d, p)))))
NEF_MATH(Elu, hn::IfThenElse(hn::Ge(x, hn::Zero(d)), x, hn::Mul(hn::Set(d, p), expm1(d, x))))
// gamma x for x > 0, else gamma alpha (e^x - 1).
NEF_MATH(Selu, hn::Mul(hn::Set(d, q), hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x,
                                                     hn::Mul(hn::Set(d, p), expm1(d, x)))))
#undef NEF_MATH

struct Celu {
  static HWY_INLINE V32 apply(D32 d, V32 x, float alpha, float) {
    const V32 a = hn::Set(d, alpha);
    const V32 low = hn::Mul(a, expm1(d, hn::Div(x, a)));
    const V32 clamped = hn::IfThenElse(hn::Gt(low, hn::Zero(d)), hn::Zero(d), low);
    return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), x, clamped);
  }
};

// max(x, 0) + log(1 + e^-|x|)
HWY_INLINE V32 softplus(D32 d, V32 x) {
  const V32 tail = log1p_unit(d, exp(d, hn::Neg(hn::Abs(x))));
  return hn::Add(hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x), tail);
}
struct Softplus {
  static HWY_INLINE V32 apply(D32 d, V32 x, float, float) { return softplus(d, x); }
};
struct Mish {
  static HWY_INLINE V32 apply(D32 d, V32 x, float, float) {
    return hn::Mul(x, tanh(d, softplus(d, x)));
  }
};

// Both on [-pi/4, pi/4].
HWY_INLINE V32 sin_kernel(D32 d, V32 r) {
  const V32 s = hn::Mul(r, r);
  const V32 p = polynomial(d, s, -0.166666549f, 0.00833217585f, -0.000195169776f);
  return hn::MulAdd(hn::Mul(s, r), p, r);
}
HWY_INLINE V32 cos_kernel(D32 d, V32 r) {
  const V32 s = hn::Mul(r, r);
  const V32 p = polynomial(d, s, 0.0416666468f, -0.00138873645f, 2.4438091e-05f);
  const V32 half = hn::NegMulAdd(s, hn::Set(d, 0.5f), hn::Set(d, 1.0f));
  return hn::MulAdd(hn::Mul(s, s), p, half);
}

// Beyond this bound the three-part reduction by pi/2 loses digits; libm takes over.
constexpr float kTrigLimit = 10000.0f;

// sin(x + shift pi/2): 2 ULP of 1 within the bound.
HWY_INLINE V32 sine(D32 d, V32 x, int shift) {
  const hn::RebindToSigned<D32> di;
  const V32 n = hn::Round(hn::Mul(x, hn::Set(d, 0.636619772f)));
  V32 r = hn::NegMulAdd(n, hn::Set(d, 1.5703125f), x);
  r = hn::NegMulAdd(n, hn::Set(d, 4.837512969970703125e-4f), r);
  r = hn::NegMulAdd(n, hn::Set(d, 7.549789415861596e-8f), r);
  const auto quadrant = hn::Add(hn::ConvertTo(di, n), hn::Set(di, shift));
  const auto odd = hn::Ne(hn::And(quadrant, hn::Set(di, 1)), hn::Zero(di));
  const V32 y = hn::IfThenElse(hn::RebindMask(d, odd), cos_kernel(d, r), sin_kernel(d, r));
  const auto sign = hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2)));
  return hn::Xor(y, hn::BitCast(d, sign));
}

template <int kShift>
void map_sine(const TileArgs& args) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const float*>(args.in[0]);
  auto* out = static_cast<float*>(args.out);
  const V32 limit = hn::Set(d, kTrigLimit);
  for (size_t i = 0; i < args.n; i += lanes) {
    const size_t rest = args.n - i;
    const V32 x = rest >= lanes ? hn::LoadU(d, a + i) : hn::LoadN(d, a + i, rest);
    if (hn::AllTrue(d, hn::Le(hn::Abs(x), limit))) {
      if (rest >= lanes) hn::StoreU(sine(d, x, kShift), d, out + i);
      else hn::StoreN(sine(d, x, kShift), d, out + i, rest);
      continue;
    }
    for (size_t j = i; j < args.n && j < i + lanes; ++j) {
      out[j] = kShift == 0 ? std::sin(a[j]) : std::cos(a[j]);
    }
  }
}

}  // namespace

TileFn math_fn(TileOp op) {
  switch (op) {
    case TileOp::kExp: return map_math<Exp>;
    case TileOp::kLog: return map_math<Log>;
    case TileOp::kTanh: return map_math<Tanh>;
    case TileOp::kErf: return map_math<Erf>;
    case TileOp::kGelu: return map_math<Gelu>;
    case TileOp::kGeluTanh: return map_math<GeluTanh>;
    case TileOp::kSigmoid: return map_math<Sigmoid>;
    case TileOp::kSilu: return map_math<Silu>;
    case TileOp::kElu: return map_math<Elu>;
    case TileOp::kCelu: return map_math<Celu>;
    case TileOp::kSelu: return map_math<Selu>;
    case TileOp::kSoftplus: return map_math<Softplus>;
    case TileOp::kMish: return map_math<Mish>;
    case TileOp::kSinh: return map_math<Sinh>;
    case TileOp::kCosh: return map_math<Cosh>;
    case TileOp::kAsin: return map_math<Asin>;
    case TileOp::kAcos: return map_math<Acos>;
    case TileOp::kAtan: return map_math<Atan>;
    case TileOp::kAsinh: return map_math<Asinh>;
    case TileOp::kAcosh: return map_math<Acosh>;
    case TileOp::kAtanh: return map_math<Atanh>;
    case TileOp::kSin: return map_sine<0>;
    case TileOp::kCos: return map_sine<1>;
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(math_fn);
TileFn find_math_fn(TileOp op) { return HWY_DYNAMIC_DISPATCH(math_fn)(op); }
}  // namespace nef::cpu
#endif
