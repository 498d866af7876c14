// SPDX-License-Identifier: Apache-2.0

// The register tile of float products: how many rows and vectors stay in registers. Included once
// per target, inside a foreach_target unit and after <hwy/highway.h>.

// Per-target include guard.
#if defined(NEF_BACKENDS_CPU_GEMM_SHAPE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEF_BACKENDS_CPU_GEMM_SHAPE_INL_H_
#undef NEF_BACKENDS_CPU_GEMM_SHAPE_INL_H_
#else
#define NEF_BACKENDS_CPU_GEMM_SHAPE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {

// At most 64 bytes a vector: a panel is two vectors wide and its width a small constant.
template <typename T>
using GemmTag = hwy::HWY_NAMESPACE::CappedTag<T, 64 / sizeof(T)>;
template <typename T>
constexpr int64_t kMaxNr = 2 * 64 / sizeof(T);

// 32 registers hold 14 x 2 accumulators, 16 registers 6 x 2.
#undef NEF_ROWS
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 || HWY_ARCH_RVV
constexpr int kMr = 14;
#define NEF_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#else
constexpr int kMr = 6;
#define NEF_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5)
#endif

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
