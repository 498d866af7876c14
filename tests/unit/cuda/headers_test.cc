// SPDX-License-Identifier: Apache-2.0
// Our declarations of CUDA's entry points against the headers of a toolkit, where one is installed.
// All of it is checked when this file is compiled.
#include <gtest/gtest.h>

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

#define NEF_CHECK_ENTRY(api, name, symbol)                                           \
  static_assert(Alike<decltype(api::name), std::decay_t<decltype(::symbol)>>::value, \
                #symbol " is declared otherwise");

#ifdef NEF_HAS_CUDA_H
#define NEF_CHECK(name, symbol, result, parameters) NEF_CHECK_ENTRY(DriverApi, name, symbol)
NEF_CUDA_DRIVER(NEF_CHECK)
#undef NEF_CHECK
static_assert(CUDA_SUCCESS == kCudaOk && CUDA_ERROR_OUT_OF_MEMORY == kCudaOutOfMemory &&
              CUDA_ERROR_NO_DEVICE == kCudaNoDevice);
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == kAttrMultiprocessors &&
              CU_DEVICE_ATTRIBUTE_CLOCK_RATE == kAttrClockKhz &&
              CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE == kAttrMemoryClockKhz &&
              CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH == kAttrBusWidth &&
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == kAttrMajor &&
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == kAttrMinor &&
              CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED == kAttrMemoryPools &&
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == kAttrMaxShared);
static_assert(CU_STREAM_NON_BLOCKING == kStreamNonBlocking &&
              CU_EVENT_DISABLE_TIMING == kEventNoTiming &&
              CU_MEMHOSTALLOC_DEVICEMAP == kHostDeviceMap &&
              CU_MEMPOOL_ATTR_RELEASE_THRESHOLD == kPoolReleaseThreshold &&
              CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT == kPoolReserved &&
              CU_MEMPOOL_ATTR_USED_MEM_CURRENT == kPoolUsed);
static_assert(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == kFunctionShared &&
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == kFunctionMaxShared &&
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED == kFunctionLargeClusters &&
              CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == kLaunchCluster &&
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION == kLaunchEarly &&
              CU_STREAM_CAPTURE_MODE_THREAD_LOCAL == kCaptureThreadLocal);
static_assert(CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == kTileF16 &&
              CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == kTileBf16 &&
              CU_TENSOR_MAP_SWIZZLE_128B == kTileSwizzle128 &&
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B == kTilePromote256 && sizeof(CUtensorMap) == 128);
static_assert(sizeof(CUlaunchAttribute) == sizeof(LaunchAttribute) &&
              offsetof(CUlaunchAttribute, value) == offsetof(LaunchAttribute, cluster) &&
              sizeof(CUlaunchConfig) == sizeof(LaunchConfig) &&
              offsetof(CUlaunchConfig, hStream) == offsetof(LaunchConfig, stream) &&
              offsetof(CUlaunchConfig, attrs) == offsetof(LaunchConfig, attributes));
static_assert(sizeof(CUmemPoolProps) == sizeof(MemPoolProps) &&
              offsetof(CUmemPoolProps, location) == offsetof(MemPoolProps, location) &&
              CU_MEM_ALLOCATION_TYPE_PINNED == 1 && CU_MEM_LOCATION_TYPE_DEVICE == 1);
#endif

#ifdef NEF_HAS_NVRTC_H
#define NEF_CHECK(name, symbol, result, parameters) NEF_CHECK_ENTRY(NvrtcApi, name, symbol)
NEF_CUDA_NVRTC(NEF_CHECK)
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
#define NEF_CHECK(name, symbol, result, parameters) NEF_CHECK_ENTRY(BlasLtApi, name, symbol)
NEF_CUDA_BLASLT(NEF_CHECK)
#undef NEF_CHECK
static_assert(CUDA_R_32F == kR32F && CUDA_R_64F == kR64F && CUDA_R_16F == kR16F &&
              CUDA_R_16BF == kR16BF && CUBLAS_COMPUTE_32F == kCompute32F &&
              CUBLAS_COMPUTE_64F == kCompute64F && CUBLAS_OP_N == kOpN && CUBLAS_OP_T == kOpT);
static_assert(CUBLASLT_MATMUL_DESC_TRANSA == kDescTransA &&
              CUBLASLT_MATMUL_DESC_TRANSB == kDescTransB &&
              CUBLASLT_MATMUL_DESC_EPILOGUE == kDescEpilogue &&
              CUBLASLT_MATMUL_DESC_BIAS_POINTER == kDescBiasPointer &&
              CUBLASLT_MATMUL_DESC_A_SCALE_POINTER == kDescScaleA && CUDA_R_8F_E4M3 == kR8FE4M3 &&
              CUDA_R_8F_E5M2 == kR8FE5M2 && CUBLASLT_EPILOGUE_BIAS == kEpilogueBias);
static_assert(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == kLayoutBatch &&
              CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == kLayoutStride &&
              CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == kPrefWorkspace &&
              CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK == kPrefReduction &&
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES == kPrefAlignA &&
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == kPrefAlignD &&
              CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == kReductionInComputeType);
static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(LtAlgo) &&
              sizeof(cublasLtMatmulHeuristicResult_t) == sizeof(LtResult) &&
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) ==
                  offsetof(LtResult, workspace));
#endif

TEST(Headers, WhereAToolkitIsInstalledOurDeclarationsAgreeWithIt) {
#if !defined(NEF_HAS_CUDA_H) && !defined(NEF_HAS_NVRTC_H) && !defined(NEF_HAS_CUBLASLT_H)
  GTEST_SKIP() << "no CUDA toolkit was found when this was compiled";
#endif
}

}  // namespace
}  // namespace nef::cuda
