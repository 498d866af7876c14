// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/quant_round.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "backends/cpu/quant_round.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

template <class T>
void to_bytes(const float* HWY_RESTRICT x, int64_t n, float scale, float zero, T* HWY_RESTRICT y) {
  const D d;
  const hn::Rebind<T, D> dt;
  const hn::RebindToSigned<D> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // Beyond every zero point and integer of the type.
  const V limit = hn::Set(d, 262144.0f), s = hn::Set(d, scale), z = hn::Set(d, zero);
  const auto round = [&](V v) HWY_ATTR {
    V q = hn::Div(v, s);
    q = hn::IfThenZeroElse(hn::IsNaN(q), q);
    q = hn::Max(hn::Neg(limit), hn::Min(q, limit));
    return hn::DemoteTo(dt, hn::ConvertTo(di, hn::Add(hn::Round(q), z)));
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(round(hn::LoadU(d, x + i)), dt, y + i);
  if (i == n) return;
  const size_t rest = static_cast<size_t>(n - i);
  hn::StoreN(round(hn::LoadN(d, x + i, rest)), dt, y + i, rest);
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
  static const QuantRoundOps table = {to_bytes<uint8_t>, to_bytes<int8_t>, range};
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
