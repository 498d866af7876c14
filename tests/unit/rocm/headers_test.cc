// SPDX-License-Identifier: Apache-2.0
// Our declarations of HIP's entry points against its headers, where they are installed. All of it
// is checked when this file is compiled.
#include <gtest/gtest.h>

#include <type_traits>

#include "backends/rocm/api.h"
#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#define NEF_HAS_HIP 1
#endif
#if __has_include(<hipblaslt/hipblaslt.h>)
#include <hipblaslt/hipblaslt.h>
#define NEF_HAS_HIPBLASLT 1
#endif

namespace nef::rocm {
namespace {

// Enums and structs have other names there: sizes and what is a pointer must agree.
template <typename A, typename B>
constexpr bool same_kind = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <typename A, typename B>
struct Alike : std::false_type {};
template <typename R, typename... P, typename S, typename... Q>
requires(sizeof...(P) == sizeof...(Q)) struct Alike<R (*)(P...), S (*)(Q...)>
    : std::bool_constant<same_kind<R, S> && (same_kind<P, Q> && ...)> {
};
#define NEF_CHECK_ENTRY(api, name, symbol)                                                 \
  static_assert(                                                                           \
      Alike<decltype(api::name), std::decay_t<std::remove_cv_t<decltype(symbol)>>>::value, \
      #symbol " is declared otherwise");

#ifdef NEF_HAS_HIP
// C++ has overloads of these.
constexpr auto kHostMalloc =
    static_cast<hipError_t (*)(void**, size_t, unsigned)>(&::hipHostMalloc);
constexpr auto kPoolMalloc = static_cast<hipError_t (*)(void**, size_t, hipMemPool_t, hipStream_t)>(
    &::hipMallocFromPoolAsync);
#define hipHostMalloc kHostMalloc
#define hipMallocFromPoolAsync kPoolMalloc
#define NEF_CHECK(name, symbol, result, parameters) NEF_CHECK_ENTRY(RuntimeApi, name, symbol)
NEF_HIP_RUNTIME(NEF_CHECK)
#undef NEF_CHECK
#define NEF_CHECK(name, symbol) NEF_CHECK_ENTRY(gpu::DriverCalls, name, symbol)
NEF_HIP_DRIVER(NEF_CHECK)
#undef NEF_CHECK
#define NEF_CHECK(name, symbol) NEF_CHECK_ENTRY(gpu::CompilerCalls, name, symbol)
NEF_HIP_COMPILER(NEF_CHECK)
#undef NEF_CHECK
static_assert(hipSuccess == kHipOk && hipErrorOutOfMemory == gpu::kOutOfMemory);
static_assert(hipDeviceAttributeClockRate == kAttrClockKhz &&
              hipDeviceAttributeMemoryBusWidth == kAttrBusWidth &&
              hipDeviceAttributeMemoryClockRate == kAttrMemoryClockKhz &&
              hipDeviceAttributeMultiprocessorCount == kAttrMultiprocessors);
static_assert(hipStreamNonBlocking == gpu::kStreamNonBlocking &&
              hipEventDisableTiming == gpu::kEventNoTiming &&
              hipStreamCaptureModeThreadLocal == gpu::kCaptureThreadLocal &&
              hipHostMallocPortable == gpu::kHostPortable &&
              hipHostMallocMapped == gpu::kHostMapped &&
              hipMemPoolAttrReleaseThreshold == gpu::kPoolReleaseThreshold &&
              hipMemPoolAttrReservedMemCurrent == gpu::kPoolReserved &&
              hipMemPoolAttrUsedMemCurrent == gpu::kPoolUsed);
static_assert(sizeof(hipMemPoolProps) == sizeof(gpu::PoolProps) &&
              offsetof(hipMemPoolProps, location) == offsetof(gpu::PoolProps, location_type) &&
              hipMemAllocationTypePinned == 1 && hipMemLocationTypeDevice == 1);
#endif

#ifdef NEF_HAS_HIPBLASLT
#define NEF_CHECK(name, symbol) NEF_CHECK_ENTRY(gpu::LtApi, name, symbol)
NEF_HIP_BLASLT(NEF_CHECK)
#undef NEF_CHECK
static_assert(sizeof(hipblasLtMatmulHeuristicResult_t) <= gpu::kLtResultBytes);
static_assert(HIP_R_32F == kLtNumbers.f32 && HIP_R_16F == kLtNumbers.f16 &&
              HIP_R_16BF == kLtNumbers.bf16 && HIPBLAS_COMPUTE_32F == kLtNumbers.compute32 &&
              HIPBLAS_OP_N == kLtNumbers.op_n && HIPBLAS_OP_T == kLtNumbers.op_t);
static_assert(HIPBLASLT_MATMUL_DESC_TRANSA == kLtNumbers.trans_a &&
              HIPBLASLT_MATMUL_DESC_TRANSB == kLtNumbers.trans_b &&
              HIPBLASLT_MATMUL_DESC_EPILOGUE == kLtNumbers.epilogue &&
              HIPBLASLT_MATMUL_DESC_BIAS_POINTER == kLtNumbers.bias_pointer &&
              HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE == kLtNumbers.bias_type &&
              HIPBLASLT_EPILOGUE_BIAS == kLtNumbers.epilogue_bias &&
              HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT == kLtNumbers.layout_batch &&
              HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == kLtNumbers.layout_stride &&
              HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == kLtNumbers.pref_workspace &&
              HIPBLAS_STATUS_ALLOC_FAILED == kLtNumbers.out_of_memory);
#endif

TEST(RocmHeaders, WhereHipIsInstalledOurDeclarationsAgreeWithIt) {
#ifndef NEF_HAS_HIP
  GTEST_SKIP() << "no HIP headers here";
#endif
}

}  // namespace
}  // namespace nef::rocm
