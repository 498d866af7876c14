// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/gemm_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

// MR x kVectors vectors of the output. Named accumulators, as in gemm_kernels.cc.
template <int MR, int kVectors, typename T>
HWY_NOINLINE void tile(const ConvTile<T>& t) {
  const GemmTag<T> d;
  using V = hn::Vec<GemmTag<T>>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* HWY_RESTRICT a = t.weights;
  const T* HWY_RESTRICT x = t.x;
  const int64_t* HWY_RESTRICT offsets = t.offsets;
#define NEF_DECLARE(i)                                   \
  V p##i = hn::Zero(d);                                  \
  if constexpr (i < MR) {                                \
    if (t.bias != nullptr) p##i = hn::Set(d, t.bias[i]); \
  }                                                      \
  V q##i = p##i;
  NEF_ROWS(NEF_DECLARE)
#undef NEF_DECLARE
#define NEF_FMA(i)                                               \
  if constexpr (i < MR) {                                        \
    const V w = hn::Set(d, a[i]);                                \
    p##i = hn::MulAdd(w, x0, p##i);                              \
    if constexpr (kVectors == 2) q##i = hn::MulAdd(w, x1, q##i); \
  }
  for (int64_t k = 0; k < t.k; ++k, a += MR) {
    const T* HWY_RESTRICT source = x + offsets[k];
    hwy::Prefetch(x + offsets[k + kOffsetSlack]);
    const V x0 = hn::LoadU(d, source);
    V x1 = x0;
    if constexpr (kVectors == 2) x1 = hn::LoadU(d, source + lanes);
    NEF_ROWS(NEF_FMA)
  }
#undef NEF_FMA
#define NEF_STORE(i)                                                           \
  if constexpr (i < MR) {                                                      \
    hn::StoreU(p##i, d, t.c + i * t.ldc);                                      \
    if constexpr (kVectors == 2) hn::StoreU(q##i, d, t.c + i * t.ldc + lanes); \
  }
  NEF_ROWS(NEF_STORE)
#undef NEF_STORE
}

template <typename T>
void run_tile(const ConvTile<T>& t, int64_t rows, bool two_vectors) {
  switch (rows) {
#define NEF_CASE(i) \
  case i + 1: return two_vectors ? tile<i + 1, 2>(t) : tile<i + 1, 1>(t);
    NEF_ROWS(NEF_CASE)
#undef NEF_CASE
  }
}

template <typename T>
void row(const T* HWY_RESTRICT weights, const T* HWY_RESTRICT x,
         const int64_t* HWY_RESTRICT offsets, int64_t k, T bias, int64_t n, T* HWY_RESTRICT y) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto start = hn::Set(d, bias);
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    auto s0 = start, s1 = start, s2 = start, s3 = start;
    for (int64_t i = 0; i < k; ++i) {
      const T* HWY_RESTRICT source = x + offsets[i] + j;
      const auto w = hn::Set(d, weights[i]);
      s0 = hn::MulAdd(w, hn::LoadU(d, source), s0);
      s1 = hn::MulAdd(w, hn::LoadU(d, source + lanes), s1);
      s2 = hn::MulAdd(w, hn::LoadU(d, source + 2 * lanes), s2);
      s3 = hn::MulAdd(w, hn::LoadU(d, source + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, y + j);
    hn::StoreU(s1, d, y + j + lanes);
    hn::StoreU(s2, d, y + j + 2 * lanes);
    hn::StoreU(s3, d, y + j + 3 * lanes);
  }
  for (; j < n; j += lanes) {
    auto sum = start;
    for (int64_t i = 0; i < k; ++i) {
      sum = hn::MulAdd(hn::Set(d, weights[i]), hn::LoadU(d, x + offsets[i] + j), sum);
    }
    hn::StoreN(sum, d, y + j, static_cast<size_t>(HWY_MIN(lanes, n - j)));
  }
}

template <typename T>
const ConvOps<T>& ops() {
  static const ConvOps<T> table = {static_cast<int64_t>(hn::Lanes(GemmTag<T>())), run_tile<T>,
                                   row<T>};
  return table;
}
const ConvOps<float>& conv_float() { return ops<float>(); }
const ConvOps<double>& conv_double() { return ops<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(conv_float);
HWY_EXPORT(conv_double);
template <>
const ConvOps<float>& conv_ops<float>() {
  return HWY_DYNAMIC_DISPATCH(conv_float)();
}
template <>
const ConvOps<double>& conv_ops<double>() {
  return HWY_DYNAMIC_DISPATCH(conv_double)();
}
}  // namespace nef::cpu
#endif
