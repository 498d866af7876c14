// SPDX-License-Identifier: Apache-2.0
// Our declarations of CUDA's entry points against the headers of a toolkit, where one is installed.
// All of it is checked when this file is compiled.
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "backends/cuda/api.h"
#if __has_include(<cuda.h>)
#include <cuda.h>
#define NEF_HAS_CUDA_H 1
#endif
#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define NEF_HAS_NVRTC_H 1
#endif
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define NEF_HAS_CUBLASLT_H 1
#endif
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#define NEF_HAS_CUDNN_H 1
#endif

namespace nef::cuda {
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

// In the tables of backends/gpu addresses on the device are pointers; in the headers, integers of
// the same size.
template <typename A, typename B>
struct AlikeInTable : std::false_type {};
template <typename R, typename... P, typename S, typename... Q>
requires(sizeof...(P) == sizeof...(Q)) struct AlikeInTable<R (*)(P...), S (*)(Q...)>
    : std::bool_constant<same_kind<R, S> &&
                         ((same_kind<P, Q> ||
                           (std::is_pointer_v<P> && std::is_same_v<Q, unsigned long long>)) &&
                          ...)> {
};

#define NEF_CHECK_ENTRY(api, name, symbol)                                           \
  static_assert(Alike<decltype(api::name), std::decay_t<decltype(::symbol)>>::value, \
                #symbol " is declared otherwise");

#ifdef NEF_HAS_CUDA_H
#define NEF_CHECK(name, symbol, result, parameters) NEF_CHECK_ENTRY(DriverApi, name, symbol)
NEF_CUDA_DRIVER(NEF_CHECK)
#undef NEF_CHECK
#define NEF_CHECK(name, symbol)                                                                \
  static_assert(                                                                               \
      AlikeInTable<decltype(gpu::DriverCalls::name), std::decay_t<decltype(::symbol)>>::value, \
      #symbol " is declared otherwise");
NEF_CUDA_CALLS(NEF_CHECK)
#undef NEF_CHECK
static_assert(CUDA_SUCCESS == kCudaOk && CUDA_ERROR_OUT_OF_MEMORY == gpu::kOutOfMemory &&
              CUDA_ERROR_NO_DEVICE == kCudaNoDevice);
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == kAttrMultiprocessors &&
              CU_DEVICE_ATTRIBUTE_CLOCK_RATE == kAttrClockKhz &&
              CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE == kAttrMemoryClockKhz &&
              CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH == kAttrBusWidth &&
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == kAttrMajor &&
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == kAttrMinor &&
              CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED == kAttrMemoryPools &&
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == kAttrMaxShared);
static_assert(CU_STREAM_NON_BLOCKING == gpu::kStreamNonBlocking &&
              CU_EVENT_DISABLE_TIMING == gpu::kEventNoTiming &&
              CU_MEMHOSTALLOC_PORTABLE == gpu::kHostPortable &&
              CU_MEMHOSTALLOC_DEVICEMAP == gpu::kHostMapped &&
              CU_MEMPOOL_ATTR_RELEASE_THRESHOLD == gpu::kPoolReleaseThreshold &&
              CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT == gpu::kPoolReserved &&
              CU_MEMPOOL_ATTR_USED_MEM_CURRENT == gpu::kPoolUsed);
static_assert(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == kFunctionShared &&
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == kFunctionMaxShared &&
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED == kFunctionLargeClusters &&
              CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT == kFunctionSharedShare &&
              CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == kLaunchCluster &&
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION == kLaunchEarly &&
              CU_STREAM_CAPTURE_MODE_THREAD_LOCAL == gpu::kCaptureThreadLocal);
static_assert(CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == kTileF16 &&
              CU_TENSOR_MAP_DATA_TYPE_FLOAT32 == kTileF32 &&
              CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == kTileBf16 &&
              CU_TENSOR_MAP_SWIZZLE_128B == kTileSwizzle128 &&
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B == kTilePromote256 && sizeof(CUtensorMap) == 128);
static_assert(sizeof(CUlaunchAttribute) == sizeof(LaunchAttribute) &&
              offsetof(CUlaunchAttribute, value) == offsetof(LaunchAttribute, cluster) &&
              sizeof(CUlaunchConfig) == sizeof(LaunchConfig) &&
              offsetof(CUlaunchConfig, hStream) == offsetof(LaunchConfig, stream) &&
              offsetof(CUlaunchConfig, attrs) == offsetof(LaunchConfig, attributes));
static_assert(sizeof(CUmemPoolProps) == sizeof(gpu::PoolProps) &&
              offsetof(CUmemPoolProps, location) == offsetof(gpu::PoolProps, location_type) &&
              sizeof(CUmemLocation) == 2 * sizeof(int) && CU_MEM_ALLOCATION_TYPE_PINNED == 1 &&
              CU_MEM_LOCATION_TYPE_DEVICE == 1);
#endif

#ifdef NEF_HAS_NVRTC_H
#define NEF_CHECK(name, symbol, result, parameters) NEF_CHECK_ENTRY(NvrtcApi, name, symbol)
NEF_CUDA_NVRTC(NEF_CHECK)
#undef NEF_CHECK
#define NEF_CHECK(name, symbol) NEF_CHECK_ENTRY(gpu::CompilerCalls, name, symbol)
NEF_CUDA_COMPILER(NEF_CHECK)
#undef NEF_CHECK
#endif

#ifdef NEF_HAS_CUDNN_H
#define NEF_CHECK(name, symbol, result, parameters) NEF_CHECK_ENTRY(DnnApi, name, symbol)
NEF_CUDA_DNN(NEF_CHECK)
#undef NEF_CHECK
static_assert(CUDNN_DATA_FLOAT == kDnnFloat && CUDNN_DATA_DOUBLE == kDnnDouble &&
              CUDNN_DATA_HALF == kDnnHalf && CUDNN_DATA_BFLOAT16 == kDnnBfloat16 &&
              CUDNN_TENSOR_NCHW == kDnnNchw && CUDNN_CROSS_CORRELATION == kDnnCrossCorrelation &&
              CUDNN_TENSOR_OP_MATH == kDnnTensorMath && CUDNN_FMA_MATH == kDnnFmaMath);
static_assert(sizeof(cudnnConvolutionFwdAlgoPerf_t) == sizeof(DnnAlgoPerf) &&
              offsetof(cudnnConvolutionFwdAlgoPerf_t, memory) == offsetof(DnnAlgoPerf, memory));
#endif

#ifdef NEF_HAS_CUBLASLT_H
#define NEF_CHECK(name, symbol) NEF_CHECK_ENTRY(gpu::LtApi, name, symbol)
NEF_CUDA_BLASLT(NEF_CHECK)
#undef NEF_CHECK
constexpr const gpu::LtNumbers& kLt = kLtNumbers;
static_assert(CUDA_R_32F == kLt.f32 && CUDA_R_64F == kLt.f64 && CUDA_R_16F == kLt.f16 &&
              CUDA_R_16BF == kLt.bf16 && CUDA_R_8F_E4M3 == kLt.f8e4m3 &&
              CUDA_R_8F_E5M2 == kLt.f8e5m2 && CUBLAS_COMPUTE_32F == kLt.compute32 &&
              CUBLAS_COMPUTE_64F == kLt.compute64 && CUBLAS_OP_N == kLt.op_n &&
              CUBLAS_OP_T == kLt.op_t);
static_assert(CUBLASLT_MATMUL_DESC_TRANSA == kLt.trans_a &&
              CUBLASLT_MATMUL_DESC_TRANSB == kLt.trans_b &&
              CUBLASLT_MATMUL_DESC_EPILOGUE == kLt.epilogue &&
              CUBLASLT_MATMUL_DESC_BIAS_POINTER == kLt.bias_pointer &&
              CUBLASLT_MATMUL_DESC_A_SCALE_POINTER == kLt.scale_a &&
              CUBLASLT_EPILOGUE_BIAS == kLt.epilogue_bias);
static_assert(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == kLt.layout_batch &&
              CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == kLt.layout_stride &&
              CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == kLt.pref_workspace &&
              CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK == kLt.pref_reduction &&
              CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == kLt.reduction_in_compute &&
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES == kLt.pref_align_a &&
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES == kLt.pref_align_b &&
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES == kLt.pref_align_c &&
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == kLt.pref_align_d &&
              CUBLAS_STATUS_ALLOC_FAILED == kLt.out_of_memory);
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == gpu::kLtResultBytes &&
              offsetof(cublasLtMatmulHeuristicResult_t, algo) == 0);
#endif

TEST(Headers, WhereAToolkitIsInstalledOurDeclarationsAgreeWithIt) {
#if !defined(NEF_HAS_CUDA_H) && !defined(NEF_HAS_NVRTC_H) && !defined(NEF_HAS_CUBLASLT_H)
  GTEST_SKIP() << "no CUDA toolkit was found when this was compiled";
#endif
}

}  // namespace
}  // namespace nef::cuda
