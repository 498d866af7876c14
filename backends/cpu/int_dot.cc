// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/int_dot.h"

#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/int_dot.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// At most 32 lanes, or the padding of rows would not do.
using D16 = hn::CappedTag<int16_t, kIntDotPad>;
using D32 = hn::RepartitionToWide<D16>;

// One or two rows of a by one or four of b. The registers have names: vectors of SVE have no size,
// so that there are no arrays of them.
template <int kRows, int kColumns>
void tile(const int16_t* a, const int16_t* b, int64_t depth, int32_t* c, int64_t ldc) {
  static_assert((kRows == 1 || kRows == 2) && (kColumns == 1 || kColumns == 4));
  const D16 d16;
  const D32 d32;
  auto s0 = hn::Zero(d32), s1 = s0, s2 = s0, s3 = s0;  // of the first row
  auto t0 = s0, t1 = s0, t2 = s0, t3 = s0;             // of the second
  const auto lanes = static_cast<int64_t>(hn::Lanes(d16));
  const auto add = [&](auto& sum, auto x, auto y) {
    sum = hn::Add(sum, hn::WidenMulPairwiseAdd(d32, x, y));
  };
  for (int64_t p = 0; p < depth; p += lanes) {
    const auto x = hn::LoadU(d16, a + p);
    const auto z = kRows == 2 ? hn::LoadU(d16, a + depth + p) : x;
    const auto y0 = hn::LoadU(d16, b + p);
    add(s0, x, y0);
    if constexpr (kRows == 2) add(t0, z, y0);
    if constexpr (kColumns == 4) {
      const auto y1 = hn::LoadU(d16, b + depth + p);
      const auto y2 = hn::LoadU(d16, b + 2 * depth + p);
      const auto y3 = hn::LoadU(d16, b + 3 * depth + p);
      add(s1, x, y1);
      add(s2, x, y2);
      add(s3, x, y3);
      if constexpr (kRows == 2) {
        add(t1, z, y1);
        add(t2, z, y2);
        add(t3, z, y3);
      }
    }
  }
  const auto store = [&](int32_t* to, auto v0, auto v1, auto v2, auto v3) {
    to[0] = hn::ReduceSum(d32, v0);
    if constexpr (kColumns == 4) {
      to[1] = hn::ReduceSum(d32, v1);
      to[2] = hn::ReduceSum(d32, v2);
      to[3] = hn::ReduceSum(d32, v3);
    }
  };
  store(c, s0, s1, s2, s3);
  if constexpr (kRows == 2) store(c + ldc, t0, t1, t2, t3);
}

template <int kRows>
void strip(const int16_t* a, const int16_t* b, int64_t n, int64_t depth, int32_t* c, int64_t ldc) {
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) tile<kRows, 4>(a, b + j * depth, depth, c + j, ldc);
  for (; j < n; ++j) tile<kRows, 1>(a, b + j * depth, depth, c + j, ldc);
}

void multiply(const int16_t* a, const int16_t* b, int64_t m, int64_t n, int64_t depth, int32_t* c,
              int64_t ldc) {
  int64_t i = 0;
  for (; i + 2 <= m; i += 2) strip<2>(a + i * depth, b, n, depth, c + i * ldc, ldc);
  if (i < m) strip<1>(a + i * depth, b, n, depth, c + i * ldc, ldc);
}

IntDotFn kernel() { return multiply; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
namespace {
HWY_EXPORT(kernel);
}

IntDotFn int_dot() { return HWY_DYNAMIC_DISPATCH(kernel)(); }

}  // namespace nef::cpu
#endif
