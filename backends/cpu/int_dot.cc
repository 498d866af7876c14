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

template <int kRows, int kColumns>
void tile(const int16_t* a, const int16_t* b, int64_t depth, int32_t* c, int64_t ldc) {
  const D16 d16;
  const D32 d32;
  hn::Vec<D32> sum[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) sum[i][j] = hn::Zero(d32);
  }
  const auto lanes = static_cast<int64_t>(hn::Lanes(d16));
  for (int64_t p = 0; p < depth; p += lanes) {
    hn::Vec<D16> vb[kColumns];
    for (int j = 0; j < kColumns; ++j) vb[j] = hn::LoadU(d16, b + j * depth + p);
    for (int i = 0; i < kRows; ++i) {
      const auto va = hn::LoadU(d16, a + i * depth + p);
      for (int j = 0; j < kColumns; ++j) {
        sum[i][j] = hn::Add(sum[i][j], hn::WidenMulPairwiseAdd(d32, va, vb[j]));
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) c[i * ldc + j] = hn::ReduceSum(d32, sum[i][j]);
  }
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
