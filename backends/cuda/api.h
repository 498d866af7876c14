// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// The few types, numbers and entry points of CUDA's driver, NVRTC, cuBLASLt and cuDNN that are
// used: they are opened at run time. tests/unit/cuda/headers_test.cc holds them against a toolkit
// where one is installed.
namespace nef::cuda {

// ---- driver

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;

constexpr CUresult kCudaOk = 0, kCudaOutOfMemory = 2, kCudaNoDevice = 100;
constexpr int kAttrMultiprocessors = 16, kAttrClockKhz = 13, kAttrMemoryClockKhz = 36;
constexpr int kAttrBusWidth = 37, kAttrMajor = 75, kAttrMinor = 76, kAttrMemoryPools = 115;
constexpr int kAttrMaxShared = 97;  // of a block that asks for it
constexpr unsigned kStreamNonBlocking = 1, kEventNoTiming = 2, kHostDeviceMap = 2;
constexpr int kPoolReleaseThreshold = 4, kPoolReserved = 5, kPoolUsed = 7;
constexpr int kFunctionShared = 1, kFunctionMaxShared = 8,
              kFunctionLargeClusters = 14;                // CUfunction_attribute
constexpr unsigned kLaunchCluster = 4, kLaunchEarly = 6;  // CUlaunchAttributeID
constexpr int kCaptureThreadLocal = 1;
constexpr int kTileF16 = 6, kTileBf16 = 9;               // CUtensorMapDataType
constexpr int kTileSwizzle128 = 3, kTilePromote256 = 3;  // CUtensorMapSwizzle, ...L2promotion

struct MemLocation {
  int type, id;  // type 1: a device
};
struct MemPoolProps {
  int allocation_type;  // 1: pinned
  int handle_types;     // 0: none
  MemLocation location;
  void* security;
  size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};

struct LaunchAttribute {
  unsigned id, padding;
  union {
    unsigned cluster[3];
    int early;
    char room[64];
  };
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  CUstream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// X(name here, exported name, return type, parameters)
#define NEF_CUDA_DRIVER(X)                                                                         \
  X(init, cuInit, CUresult, (unsigned))                                                            \
  X(driver_version, cuDriverGetVersion, CUresult, (int*))                                          \
  X(error_name, cuGetErrorName, CUresult, (CUresult, const char**))                                \
  X(error_text, cuGetErrorString, CUresult, (CUresult, const char**))                              \
  X(device_count, cuDeviceGetCount, CUresult, (int*))                                              \
  X(device_get, cuDeviceGet, CUresult, (CUdevice*, int))                                           \
  X(device_name, cuDeviceGetName, CUresult, (char*, int, CUdevice))                                \
  X(device_attribute, cuDeviceGetAttribute, CUresult, (int*, int, CUdevice))                       \
  X(device_memory, cuDeviceTotalMem_v2, CUresult, (size_t*, CUdevice))                             \
  X(context_retain, cuDevicePrimaryCtxRetain, CUresult, (CUcontext*, CUdevice))                    \
  X(context_push, cuCtxPushCurrent_v2, CUresult, (CUcontext))                                      \
  X(context_pop, cuCtxPopCurrent_v2, CUresult, (CUcontext*))                                       \
  X(stream_create, cuStreamCreate, CUresult, (CUstream*, unsigned))                                \
  X(stream_destroy, cuStreamDestroy_v2, CUresult, (CUstream))                                      \
  X(stream_synchronize, cuStreamSynchronize, CUresult, (CUstream))                                 \
  X(event_create, cuEventCreate, CUresult, (CUevent*, unsigned))                                   \
  X(event_record, cuEventRecord, CUresult, (CUevent, CUstream))                                    \
  X(event_synchronize, cuEventSynchronize, CUresult, (CUevent))                                    \
  X(pool_create, cuMemPoolCreate, CUresult, (CUmemoryPool*, const MemPoolProps*))                  \
  X(pool_set, cuMemPoolSetAttribute, CUresult, (CUmemoryPool, int, void*))                         \
  X(pool_get, cuMemPoolGetAttribute, CUresult, (CUmemoryPool, int, void*))                         \
  X(pool_trim, cuMemPoolTrimTo, CUresult, (CUmemoryPool, size_t))                                  \
  X(pool_alloc, cuMemAllocFromPoolAsync, CUresult, (CUdeviceptr*, size_t, CUmemoryPool, CUstream)) \
  X(pool_free, cuMemFreeAsync, CUresult, (CUdeviceptr, CUstream))                                  \
  X(memory_info, cuMemGetInfo_v2, CUresult, (size_t*, size_t*))                                    \
  X(host_alloc, cuMemHostAlloc, CUresult, (void**, size_t, unsigned))                              \
  X(host_free, cuMemFreeHost, CUresult, (void*))                                                   \
  X(host_pointer, cuMemHostGetDevicePointer_v2, CUresult, (CUdeviceptr*, void*, unsigned))         \
  X(to_device, cuMemcpyHtoDAsync_v2, CUresult, (CUdeviceptr, const void*, size_t, CUstream))       \
  X(to_host, cuMemcpyDtoHAsync_v2, CUresult, (void*, CUdeviceptr, size_t, CUstream))               \
  X(on_device, cuMemcpyDtoDAsync_v2, CUresult, (CUdeviceptr, CUdeviceptr, size_t, CUstream))       \
  X(module_load, cuModuleLoadData, CUresult, (CUmodule*, const void*))                             \
  X(module_unload, cuModuleUnload, CUresult, (CUmodule))                                           \
  X(module_function, cuModuleGetFunction, CUresult, (CUfunction*, CUmodule, const char*))          \
  X(function_get, cuFuncGetAttribute, CUresult, (int*, int, CUfunction))                           \
  X(function_set, cuFuncSetAttribute, CUresult, (CUfunction, int, int))                            \
  X(launch, cuLaunchKernelEx, CUresult, (const LaunchConfig*, CUfunction, void**, void**))         \
  X(most_clusters, cuOccupancyMaxActiveClusters, CUresult,                                         \
    (int*, CUfunction, const LaunchConfig*))                                                       \
  X(tile_map, cuTensorMapEncodeTiled, CUresult,                                                    \
    (void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const unsigned*,               \
     const unsigned*, int, int, int, int))                                                         \
  X(capture_begin, cuStreamBeginCapture_v2, CUresult, (CUstream, int))                             \
  X(capture_end, cuStreamEndCapture, CUresult, (CUstream, CUgraph*))                               \
  X(graph_instantiate, cuGraphInstantiateWithFlags, CUresult,                                      \
    (CUgraphExec*, CUgraph, unsigned long long))                                                   \
  X(graph_launch, cuGraphLaunch, CUresult, (CUgraphExec, CUstream))                                \
  X(graph_free, cuGraphDestroy, CUresult, (CUgraph))                                               \
  X(graph_exec_free, cuGraphExecDestroy, CUresult, (CUgraphExec))

// ---- NVRTC

using nvrtcResult = int;
using nvrtcProgram = struct _nvrtcProgram*;

#define NEF_CUDA_NVRTC(X)                                                                   \
  X(version, nvrtcVersion, nvrtcResult, (int*, int*))                                       \
  X(error_text, nvrtcGetErrorString, const char*, (nvrtcResult))                            \
  X(arch_count, nvrtcGetNumSupportedArchs, nvrtcResult, (int*))                             \
  X(archs, nvrtcGetSupportedArchs, nvrtcResult, (int*))                                     \
  X(create, nvrtcCreateProgram, nvrtcResult,                                                \
    (nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(compile, nvrtcCompileProgram, nvrtcResult, (nvrtcProgram, int, const char* const*))     \
  X(log_size, nvrtcGetProgramLogSize, nvrtcResult, (nvrtcProgram, size_t*))                 \
  X(log, nvrtcGetProgramLog, nvrtcResult, (nvrtcProgram, char*))                            \
  X(code_size, nvrtcGetCUBINSize, nvrtcResult, (nvrtcProgram, size_t*))                     \
  X(code, nvrtcGetCUBIN, nvrtcResult, (nvrtcProgram, char*))                                \
  X(destroy, nvrtcDestroyProgram, nvrtcResult, (nvrtcProgram*))

// ---- cuBLASLt

using cublasStatus = int;
using LtHandle = struct cublasLtContext*;
using LtDesc = struct cublasLtMatmulDescOpaque_t*;
using LtLayout = struct cublasLtMatrixLayoutOpaque_t*;
using LtPreference = struct cublasLtMatmulPreferenceOpaque_t*;
struct LtAlgo {
  uint64_t data[8];
};
struct LtResult {
  LtAlgo algo;
  size_t workspace;
  cublasStatus state;
  float waves;
  int reserved[4];
};
constexpr int kR32F = 0, kR64F = 1, kR16F = 2, kR16BF = 14;  // cudaDataType
constexpr int kCompute32F = 68, kCompute64F = 70;            // cublasComputeType_t
constexpr int kOpN = 0, kOpT = 1;                            // cublasOperation_t
constexpr int kDescTransA = 3, kDescTransB = 4,
              kDescEpilogue = 7;  // cublasLtMatmulDescAttributes_t
constexpr int kDescBiasPointer = 8, kDescScaleA = 17;
constexpr int kR8FE4M3 = 28, kR8FE5M2 = 29;
constexpr int kEpilogueBias = 4;                       // cublasLtEpilogue_t
constexpr int kLayoutBatch = 5, kLayoutStride = 6;     // cublasLtMatrixLayoutAttribute_t
constexpr int kPrefWorkspace = 1, kPrefReduction = 3;  // cublasLtMatmulPreferenceAttributes_t
constexpr int kPrefAlignA = 5, kPrefAlignB = 6, kPrefAlignC = 7, kPrefAlignD = 8;
constexpr uint32_t kReductionInComputeType = 2;  // cublasLtReductionScheme_t

#define NEF_CUDA_BLASLT(X)                                                                      \
  X(create, cublasLtCreate, cublasStatus, (LtHandle*))                                          \
  X(desc_create, cublasLtMatmulDescCreate, cublasStatus, (LtDesc*, int, int))                   \
  X(desc_destroy, cublasLtMatmulDescDestroy, cublasStatus, (LtDesc))                            \
  X(desc_set, cublasLtMatmulDescSetAttribute, cublasStatus, (LtDesc, int, const void*, size_t)) \
  X(layout_create, cublasLtMatrixLayoutCreate, cublasStatus,                                    \
    (LtLayout*, int, uint64_t, uint64_t, int64_t))                                              \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, cublasStatus, (LtLayout))                      \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, cublasStatus,                                 \
    (LtLayout, int, const void*, size_t))                                                       \
  X(preference_create, cublasLtMatmulPreferenceCreate, cublasStatus, (LtPreference*))           \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, cublasStatus, (LtPreference))          \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute, cublasStatus,                         \
    (LtPreference, int, const void*, size_t))                                                   \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic, cublasStatus,                                    \
    (LtHandle, LtDesc, LtLayout, LtLayout, LtLayout, LtLayout, LtPreference, int, LtResult*,    \
     int*))                                                                                     \
  X(matmul, cublasLtMatmul, cublasStatus,                                                       \
    (LtHandle, LtDesc, const void*, const void*, LtLayout, const void*, LtLayout, const void*,  \
     const void*, LtLayout, void*, LtLayout, const LtAlgo*, void*, size_t, CUstream))

// ---- cuDNN

using cudnnStatus = int;
using DnnHandle = struct cudnnContext*;
using DnnTensor = struct cudnnTensorStruct*;
using DnnFilter = struct cudnnFilterStruct*;
using DnnConvolution = struct cudnnConvolutionStruct*;
struct DnnAlgoPerf {
  int algo;
  cudnnStatus status;
  float time;
  size_t memory;
  int determinism, math;
  int reserved[3];
};
constexpr int kDnnFloat = 0, kDnnDouble = 1, kDnnHalf = 2, kDnnBfloat16 = 9;  // cudnnDataType_t
constexpr int kDnnNchw = 0;                                                   // cudnnTensorFormat_t
constexpr int kDnnCrossCorrelation = 1;             // cudnnConvolutionMode_t
constexpr int kDnnTensorMath = 1, kDnnFmaMath = 3;  // cudnnMathType_t

#define NEF_CUDA_DNN(X)                                                                           \
  X(create, cudnnCreate, cudnnStatus, (DnnHandle*))                                               \
  X(destroy, cudnnDestroy, cudnnStatus, (DnnHandle))                                              \
  X(set_stream, cudnnSetStream, cudnnStatus, (DnnHandle, CUstream))                               \
  X(tensor_create, cudnnCreateTensorDescriptor, cudnnStatus, (DnnTensor*))                        \
  X(tensor_destroy, cudnnDestroyTensorDescriptor, cudnnStatus, (DnnTensor))                       \
  X(tensor_set, cudnnSetTensorNdDescriptor, cudnnStatus,                                          \
    (DnnTensor, int, int, const int*, const int*))                                                \
  X(filter_create, cudnnCreateFilterDescriptor, cudnnStatus, (DnnFilter*))                        \
  X(filter_destroy, cudnnDestroyFilterDescriptor, cudnnStatus, (DnnFilter))                       \
  X(filter_set, cudnnSetFilterNdDescriptor, cudnnStatus, (DnnFilter, int, int, int, const int*))  \
  X(convolution_create, cudnnCreateConvolutionDescriptor, cudnnStatus, (DnnConvolution*))         \
  X(convolution_destroy, cudnnDestroyConvolutionDescriptor, cudnnStatus, (DnnConvolution))        \
  X(convolution_set, cudnnSetConvolutionNdDescriptor, cudnnStatus,                                \
    (DnnConvolution, int, const int*, const int*, const int*, int, int))                          \
  X(convolution_groups, cudnnSetConvolutionGroupCount, cudnnStatus, (DnnConvolution, int))        \
  X(convolution_math, cudnnSetConvolutionMathType, cudnnStatus, (DnnConvolution, int))            \
  X(algorithms, cudnnGetConvolutionForwardAlgorithm_v7, cudnnStatus,                              \
    (DnnHandle, DnnTensor, DnnFilter, DnnConvolution, DnnTensor, int, int*, DnnAlgoPerf*))        \
  X(forward, cudnnConvolutionForward, cudnnStatus,                                                \
    (DnnHandle, const void*, DnnTensor, const void*, DnnFilter, const void*, DnnConvolution, int, \
     void*, size_t, const void*, DnnTensor, void*))

#define NEF_CUDA_FIELD(name, symbol, result, parameters) result(*name) parameters = nullptr;
struct DriverApi {
  NEF_CUDA_DRIVER(NEF_CUDA_FIELD)
};
struct NvrtcApi {
  NEF_CUDA_NVRTC(NEF_CUDA_FIELD)
};
struct BlasLtApi {
  NEF_CUDA_BLASLT(NEF_CUDA_FIELD)
};
struct DnnApi {
  NEF_CUDA_DNN(NEF_CUDA_FIELD)
};
#undef NEF_CUDA_FIELD

// Opens a library and fills its table, once per process. Throws NEF_BACKEND_UNAVAILABLE with the
// names and places that were tried. Libraries are sought in the folders of NEF_CUDA_PATH
// (colon-separated), then by the loader's own rules, then in $CUDA_HOME/lib64, $CUDA_PATH/lib64 and
// /usr/local/cuda/lib64.
const DriverApi& driver();
const NvrtcApi& nvrtc();
const BlasLtApi& blaslt();
const DnnApi& dnn();

// Throws what a result of the driver means: out of memory, a lost device, or a bug.
void check(CUresult result, const char* what);

}  // namespace nef::cuda
