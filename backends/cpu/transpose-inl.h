// SPDX-License-Identifier: Apache-2.0

// Transposes of small squares in registers. Included once per target, inside a foreach_target unit
// and after <hwy/highway.h>.

// Per-target include guard.
#if defined(NEF_BACKENDS_CPU_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEF_BACKENDS_CPU_TRANSPOSE_INL_H_
#undef NEF_BACKENDS_CPU_TRANSPOSE_INL_H_
#else
#define NEF_BACKENDS_CPU_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Past the caches, or not.
template <bool kStream, class D, typename T = hn::TFromD<D>>
HWY_INLINE void put(hn::Vec<D> v, D d, T* to) {
  if constexpr (kStream) hn::Stream(v, d, to);
  else hn::StoreU(v, d, to);
}

// out[p][j] = x[j][p] for 4 x 4 elements of 4 bytes.
template <bool kStream, typename T>
HWY_INLINE void transpose_four(const T* x, int64_t step, T* out, int64_t out_step) {
  static_assert(sizeof(T) == 4);
  const hn::FixedTag<T, 4> d;
  const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + step);
  const auto e = hn::LoadU(d, x + 2 * step), f = hn::LoadU(d, x + 3 * step);
  // Twice the same: rows i and i + 2 meet, and after two rounds row becomes column.
  const auto ae0 = hn::InterleaveLower(d, a, e), ae1 = hn::InterleaveUpper(d, a, e);
  const auto bf0 = hn::InterleaveLower(d, b, f), bf1 = hn::InterleaveUpper(d, b, f);
  put<kStream>(hn::InterleaveLower(d, ae0, bf0), d, out);
  put<kStream>(hn::InterleaveUpper(d, ae0, bf0), d, out + out_step);
  put<kStream>(hn::InterleaveLower(d, ae1, bf1), d, out + 2 * out_step);
  put<kStream>(hn::InterleaveUpper(d, ae1, bf1), d, out + 3 * out_step);
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
