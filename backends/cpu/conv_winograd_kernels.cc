// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv_winograd_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "backends/cpu/conv_winograd_kernels.h"
#include "backends/cpu/gemm_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

using D = GemmTag<float>;
using V = hn::Vec<D>;

// [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1] times four values.
#define NEF_TO_POINTS(a, b, c, e, p) \
  const V p##0 = hn::Sub(a, c), p##1 = hn::Add(b, c), p##2 = hn::Sub(c, b), p##3 = hn::Sub(b, e)

void input(const WinogradInput& in) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t* HWY_RESTRICT o = in.offsets;
  for (int64_t j = 0; j < in.tiles; j += lanes) {
    const float* HWY_RESTRICT x = in.x + j;
#define NEF_COLUMN(j)                                                                           \
  NEF_TO_POINTS(hn::LoadU(d, x + o[j]), hn::LoadU(d, x + o[4 + j]), hn::LoadU(d, x + o[8 + j]), \
                hn::LoadU(d, x + o[12 + j]), c##j)
    NEF_COLUMN(0);
    NEF_COLUMN(1);
    NEF_COLUMN(2);
    NEF_COLUMN(3);
#undef NEF_COLUMN
    float* HWY_RESTRICT out = in.out + j / (2 * lanes) * in.panel + j % (2 * lanes);
#define NEF_ROW(i)                                   \
  {                                                  \
    NEF_TO_POINTS(c0##i, c1##i, c2##i, c3##i, p);    \
    hn::StoreU(p0, d, out + (4 * i + 0) * in.point); \
    hn::StoreU(p1, d, out + (4 * i + 1) * in.point); \
    hn::StoreU(p2, d, out + (4 * i + 2) * in.point); \
    hn::StoreU(p3, d, out + (4 * i + 3) * in.point); \
  }
    NEF_ROW(0)
    NEF_ROW(1)
    NEF_ROW(2)
    NEF_ROW(3)
#undef NEF_ROW
  }
}
#undef NEF_TO_POINTS

// a[0] b[0] a[1] b[1] ..., n of them.
HWY_INLINE void store_pairs(D d, V a, V b, int64_t n, float* HWY_RESTRICT y) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n >= 2 * lanes) return hn::StoreInterleaved2(a, b, d, y);
  HWY_ALIGN float pairs[2 * 64 / sizeof(float)];
  hn::StoreInterleaved2(a, b, d, pairs);
  const size_t first = static_cast<size_t>(HWY_MIN(n, lanes));
  hn::StoreN(hn::Load(d, pairs), d, y, first);
  if (n > lanes) {
    hn::StoreN(hn::Load(d, pairs + lanes), d, y + lanes, static_cast<size_t>(n - lanes));
  }
}

bool output(const WinogradOutput& w) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V bias = hn::Set(d, w.bias), zero = hn::Zero(d);
  V spoilt = zero;  // stays zero while everything is finite
  for (int64_t j = 0; 2 * j < w.columns; j += lanes) {
    const float* HWY_RESTRICT x = w.x + j;
    // [1 1 1 0; 0 1 -1 -1] from both sides.
#define NEF_COLUMN(j)                                                                             \
  const V a##j = hn::LoadU(d, x + (4 + j) * w.point), b##j = hn::LoadU(d, x + (8 + j) * w.point); \
  const V s##j = hn::Add(hn::LoadU(d, x + j * w.point), hn::Add(a##j, b##j));                     \
  const V t##j = hn::Sub(hn::Sub(a##j, b##j), hn::LoadU(d, x + (12 + j) * w.point))
    NEF_COLUMN(0);
    NEF_COLUMN(1);
    NEF_COLUMN(2);
    NEF_COLUMN(3);
#undef NEF_COLUMN
    const int64_t n = w.columns - 2 * j;
    const auto keep0 = hn::FirstN(d, static_cast<size_t>(HWY_MIN(lanes, (n + 1) / 2)));
    const auto keep1 = hn::FirstN(d, static_cast<size_t>(HWY_MIN(lanes, n / 2)));
#define NEF_STORE(s, y)                                              \
  {                                                                  \
    const V p = hn::Add(bias, hn::Add(s##0, hn::Add(s##1, s##2)));   \
    const V q = hn::Add(bias, hn::Sub(hn::Sub(s##1, s##2), s##3));   \
    spoilt = hn::MulAdd(hn::IfThenElseZero(keep0, p), zero, spoilt); \
    spoilt = hn::MulAdd(hn::IfThenElseZero(keep1, q), zero, spoilt); \
    store_pairs(d, p, q, n, y + 2 * j);                              \
  }
    NEF_STORE(s, w.y0)
    if (w.y1 != nullptr) NEF_STORE(t, w.y1)
#undef NEF_STORE
  }
  return hn::AllFalse(d, hn::IsNaN(spoilt));
}

const WinogradOps& ops() {
  static const WinogradOps table = {input, output};
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
const WinogradOps& winograd_ops() { return HWY_DYNAMIC_DISPATCH(ops)(); }
}  // namespace nef::cpu
#endif
