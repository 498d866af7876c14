// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/quant_round.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "backends/cpu/half-inl.h"
#include "backends/cpu/quant_round.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

HWY_INLINE V load(D d, const float* x, size_t n) { return hn::LoadN(d, x, n); }
HWY_INLINE V load(D d, const float* x) { return hn::LoadU(d, x); }
template <bool kHalf>
struct Narrow {
  uint16_t bits;
};
template <bool kHalf>
HWY_INLINE V load(D d, const Narrow<kHalf>* x) {
  return widen<kHalf>(d, hn::LoadU(hn::Rebind<uint16_t, D>(), &x->bits));
}
template <bool kHalf>
HWY_INLINE V load(D d, const Narrow<kHalf>* x, size_t n) {
  return widen<kHalf>(d, hn::LoadN(hn::Rebind<uint16_t, D>(), &x->bits, n));
}

// To nearest even without the `drop` lowest bits of the significand.
HWY_INLINE V shortened(D d, V v, int drop) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRightSame(bits, drop), hn::Set(du, 1));
  const auto carried = hn::Add(bits, hn::Add(odd, hn::Set(du, (1u << (drop - 1)) - 1)));
  return hn::BitCast(d, hn::And(carried, hn::Set(du, ~((1u << drop) - 1))));
}

// One scale for all, or one for each.
template <bool kEach>
struct Scales {
  const float* at;
  HWY_INLINE V load(D d, int64_t i) const { return kEach ? hn::LoadU(d, at + i) : hn::Set(d, *at); }
  HWY_INLINE V load(D d, int64_t i, size_t n) const {
    return kEach ? hn::LoadN(d, at + i, n) : hn::Set(d, *at);
  }
};

template <bool kShorten, bool kEach, class From, class T>
void quantize(const From* HWY_RESTRICT x, int64_t n, const QuantStep& step, T* HWY_RESTRICT y) {
  const D d;
  const hn::Rebind<T, D> dt;
  const hn::RebindToSigned<D> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V limit = hn::Set(d, 262144.0f);  // beyond every zero point and integer of the type
  const Scales<kEach> scale{step.scale}, zero{step.zero};
  const int drop = step.precision == NEF_FLOAT16 ? 13 : 16;  // bits that a float32 has more
  const auto round = [&](V v, V s, V z) HWY_ATTR {
    V q = hn::Div(v, s);
    q = hn::IfThenZeroElse(hn::IsNaN(q), q);
    q = hn::Max(hn::Neg(limit), hn::Min(q, limit));
    if constexpr (kShorten) q = shortened(d, q, drop);
    return hn::DemoteTo(dt, hn::ConvertTo(di, hn::Add(hn::Round(q), z)));
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(round(load(d, x + i), scale.load(d, i), zero.load(d, i)), dt, y + i);
  }
  if (i == n) return;
  const auto rest = static_cast<size_t>(n - i);
  const auto last = round(load(d, x + i, rest), scale.load(d, i, rest), zero.load(d, i, rest));
  hn::StoreN(last, dt, y + i, rest);
}

template <bool kEach, class From, class T>
void quantize_from(const From* x, int64_t n, const QuantStep& step, T* y) {
  if (step.precision == NEF_FLOAT32) quantize<false, kEach>(x, n, step, y);
  else quantize<true, kEach>(x, n, step, y);
}
template <class T>
void by_one(nef_dtype dtype, const void* x, int64_t offset, int64_t n, const QuantStep& step,
            T* y) {
  if (dtype == NEF_FLOAT16) {
    quantize_from<false>(static_cast<const Narrow<true>*>(x) + offset, n, step, y);
  } else if (dtype == NEF_BFLOAT16) {
    quantize_from<false>(static_cast<const Narrow<false>*>(x) + offset, n, step, y);
  } else {
    quantize_from<false>(static_cast<const float*>(x) + offset, n, step, y);
  }
}
template <class T>
void by_each(const float* x, int64_t n, const QuantStep& step, T* y) {
  quantize_from<true>(x, n, step, y);
}

template <class T>
void requantize(const int32_t* HWY_RESTRICT sums, int64_t n, const Requantization& r,
                T* HWY_RESTRICT y) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const hn::Rebind<T, decltype(d)> dt;
  const auto a = hn::Set(d, r.a), by = hn::Set(d, r.y), zero = hn::Set(d, r.zero);
  const auto limit = hn::Set(d, 1024.0);  // beyond every zero point and integer of the type
  const auto one = hn::Div(hn::Mul(a, hn::Set(d, *r.b)), by);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const auto rest = static_cast<size_t>(HWY_MIN(lanes, n - i));
    const auto factor = r.each ? hn::Div(hn::Mul(a, hn::LoadN(d, r.b + i, rest)), by) : one;
    auto q = hn::Mul(hn::PromoteTo(d, hn::LoadN(di, sums + i, rest)), factor);
    q = hn::IfThenZeroElse(hn::IsNaN(q), q);
    q = hn::Max(hn::Neg(limit), hn::Min(q, limit));
    const auto whole = hn::DemoteTo(di, hn::Add(hn::Round(q), zero));
    hn::StoreN(hn::DemoteTo(dt, whole), dt, y + i, rest);
  }
}
void requantize_to(nef_dtype to, const int32_t* sums, int64_t n, const Requantization& r, void* y) {
  if (to == NEF_INT8) requantize(sums, n, r, static_cast<int8_t*>(y));
  else requantize(sums, n, r, static_cast<uint8_t*>(y));
}

void range(const float* HWY_RESTRICT x, int64_t n, float* low, float* high) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V lows0 = hn::Zero(d), lows1 = lows0, highs0 = lows0, highs1 = lows0;
  const auto less = [](V v, V m) HWY_ATTR { return hn::IfThenElse(hn::Lt(v, m), v, m); };
  const auto more = [](V v, V m) HWY_ATTR { return hn::IfThenElse(hn::Gt(v, m), v, m); };
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const V a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + lanes);
    lows0 = less(a, lows0);
    lows1 = less(b, lows1);
    highs0 = more(a, highs0);
    highs1 = more(b, highs1);
  }
  for (; i < n; i += lanes) {
    const V a = hn::LoadN(d, x + i, static_cast<size_t>(HWY_MIN(lanes, n - i)));
    lows0 = less(a, lows0);
    highs0 = more(a, highs0);
  }
  *low = hn::ReduceMin(d, less(lows0, lows1));
  *high = hn::ReduceMax(d, more(highs0, highs1));
}

const QuantRoundOps& ops() {
  static const QuantRoundOps table = {{by_one<uint8_t>, by_each<uint8_t>},
                                      {by_one<int8_t>, by_each<int8_t>},
                                      {by_one<uint16_t>, by_each<uint16_t>},
                                      {by_one<int16_t>, by_each<int16_t>},
                                      requantize_to,
                                      range};
  return table;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
namespace {
HWY_EXPORT(ops);
}
const QuantRoundOps& quant_round_ops() { return HWY_DYNAMIC_DISPATCH(ops)(); }
}  // namespace nef::cpu
#endif
