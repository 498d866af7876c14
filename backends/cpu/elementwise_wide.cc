// SPDX-License-Identifier: Apache-2.0
// The tangent of float32, computed in float64 vectors.
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise_wide.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backends/cpu/elementwise_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using DF = hn::Rebind<float, D>;

// c[0] + c[1] x + c[2] x^2 + ...
HWY_INLINE V series(D d, V, double last) { return hn::Set(d, last); }
template <class... Rest>
HWY_INLINE V series(D d, V x, double c0, Rest... rest) {
  return hn::MulAdd(series(d, x, rest...), x, hn::Set(d, c0));
}

// Up to here products with the first part of pi / 2, which has 33 bits, are exact; beyond, libm
// takes over.
constexpr double kTanLimit = 1e6;

HWY_INLINE V tan(D d, V x) {
  // A zero that is added leaves none below zero, whose product would take the sign from x = -0.
  const V n = hn::Add(hn::Round(hn::Mul(x, hn::Set(d, 0.63661977236758134308))), hn::Zero(d));
  V r = hn::NegMulAdd(n, hn::Set(d, 1.57079632673412561417), x);
  r = hn::NegMulAdd(n, hn::Set(d, 6.07710050650619224932e-11), r);
  const V z = hn::Mul(r, r);
  // Fitted to (tan r / r - 1) / z with least relative error of the tangent, 1.3e-9, up to pi / 4.
  const V p = series(d, z, 0.33333349892743878779, 0.13332658422049250594, 0.054060492550075591634,
                     0.021279117750949909138, 0.010844007457564359213, 0.000078857034626535921244,
                     0.0043816816680060082488);
  const V t = hn::MulAdd(hn::Mul(z, r), p, r);
  const V half = hn::Mul(n, hn::Set(d, 0.5));
  const auto odd = hn::Ne(hn::Round(half), half);
  return hn::IfThenElse(odd, hn::Div(hn::Set(d, -1.0), t), t);
}

void tan_tile(const TileArgs& args) {
  const D d;
  const DF df;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const float*>(args.in[0]);
  auto* out = static_cast<float*>(args.out);
  for (size_t i = 0; i < args.n; i += lanes) {
    const size_t n = HWY_MIN(lanes, args.n - i);
    const V x = hn::PromoteTo(d, hn::LoadN(df, a + i, n));
    if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kTanLimit))))) {
      hn::StoreN(hn::DemoteTo(df, tan(d, x)), df, out + i, n);
      continue;
    }
    for (size_t j = i; j < i + n; ++j) out[j] = static_cast<float>(std::tan(double{a[j]}));
  }
}

}  // namespace

TileFn wide_fn(TileOp op) { return op == TileOp::kTan ? tan_tile : nullptr; }

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(wide_fn);
TileFn find_wide_fn(TileOp op) { return HWY_DYNAMIC_DISPATCH(wide_fn)(op); }
}  // namespace nef::cpu
#endif
