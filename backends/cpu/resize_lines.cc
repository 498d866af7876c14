// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/resize_lines.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "backends/cpu/resize_lines.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

using DF = hn::CappedTag<float, kResizeColumns>;
using DD = hn::Repartition<double, DF>;
using VF = hn::Vec<DF>;
using VD = hn::Vec<DD>;

// A weight of 0 does not read its element: it may be infinite.
HWY_INLINE VD weighed(DD d, const double* weight, VD x, VD sum) {
  const VD w = hn::LoadU(d, weight);
  return hn::MulAdd(w, hn::IfThenElseZero(hn::Ne(w, hn::Zero(d)), x), sum);
}

void sample(const ResizeGroups& g, const float* HWY_RESTRICT x, double* HWY_RESTRICT out) {
  const DF d;
  const DD dd;
  const hn::RebindToSigned<DF> di;
  const size_t lanes = hn::Lanes(d), half = lanes / 2;
  for (int64_t i = 0; i < g.count; ++i) {
    const size_t at = static_cast<size_t>(i) * lanes;
    VD low = hn::Zero(dd), high = low;
    for (int k = 0; k < g.taps; ++k) {
      const float* window = x + g.start[k][i];
      const auto index = hn::LoadU(di, g.index[k] + at);
      VF v;
      if (HWY_LIKELY(g.near[k][i])) {
        v = hn::TwoTablesLookupLanes(d, hn::LoadU(d, window), hn::LoadU(d, window + lanes),
                                     hn::IndicesFromVec(d, index));
      } else {
        v = hn::GatherIndex(d, window, index);
      }
      low = weighed(dd, g.weight[k] + at, hn::PromoteLowerTo(dd, v), low);
      high = weighed(dd, g.weight[k] + at + half, hn::PromoteUpperTo(dd, v), high);
    }
    hn::StoreU(low, dd, out + at);
    hn::StoreU(high, dd, out + at + half);
  }
}

void blend(const double* const* lines, const double* weights, int count, int64_t n, bool add,
           double* HWY_RESTRICT out) {
  const DD d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    VD sum = add ? hn::LoadU(d, out + i) : hn::Zero(d);
    for (int k = 0; k < count; ++k) {
      sum = hn::MulAdd(hn::Set(d, weights[k]), hn::LoadU(d, lines[k] + i), sum);
    }
    hn::StoreU(sum, d, out + i);
  }
}

const ResizeLineOps& ops() {
  static const ResizeLineOps table = {static_cast<int64_t>(hn::Lanes(DF())), sample, blend};
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
const ResizeLineOps& resize_line_ops() { return HWY_DYNAMIC_DISPATCH(ops)(); }
}  // namespace nef::cpu
#endif
