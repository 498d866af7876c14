// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/gpu/compiler.h"
#include "backends/gpu/driver.h"

// The few types, numbers and entry points of CUDA's driver, NVRTC, cuBLASLt and cuDNN that are
// used: they are opened at run time. tests/unit/cuda/headers_test.cc holds them against a toolkit
// where one is installed.
namespace nef::cuda {

// ---- driver

using CUresult = int;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUfunction = struct CUfunc_st*;

constexpr CUresult kCudaOk = 0, kCudaNoDevice = 100;
constexpr int kAttrMultiprocessors = 16, kAttrClockKhz = 13, kAttrMemoryClockKhz = 36;
constexpr int kAttrBusWidth = 37, kAttrMajor = 75, kAttrMinor = 76, kAttrMemoryPools = 115;
constexpr int kAttrMaxShared = 97;  // of a block that asks for it
constexpr int kFunctionShared = 1, kFunctionMaxShared = 8, kFunctionSharedShare = 9,
              kFunctionLargeClusters = 14;                // CUfunction_attribute
constexpr unsigned kLaunchCluster = 4, kLaunchEarly = 6;  // CUlaunchAttributeID
constexpr int kTileF16 = 6, kTileF32 = 7, kTileBf16 = 9;  // CUtensorMapDataType
constexpr int kTileSwizzle128 = 3, kTilePromote256 = 3;   // CUtensorMapSwizzle, ...L2promotion

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
#define NEF_CUDA_DRIVER(X)                                                                 \
  X(init, cuInit, CUresult, (unsigned))                                                    \
  X(driver_version, cuDriverGetVersion, CUresult, (int*))                                  \
  X(error_name, cuGetErrorName, CUresult, (CUresult, const char**))                        \
  X(error_text, cuGetErrorString, CUresult, (CUresult, const char**))                      \
  X(device_count, cuDeviceGetCount, CUresult, (int*))                                      \
  X(device_get, cuDeviceGet, CUresult, (CUdevice*, int))                                   \
  X(device_name, cuDeviceGetName, CUresult, (char*, int, CUdevice))                        \
  X(device_attribute, cuDeviceGetAttribute, CUresult, (int*, int, CUdevice))               \
  X(device_memory, cuDeviceTotalMem_v2, CUresult, (size_t*, CUdevice))                     \
  X(context_retain, cuDevicePrimaryCtxRetain, CUresult, (CUcontext*, CUdevice))            \
  X(context_push, cuCtxPushCurrent_v2, CUresult, (CUcontext))                              \
  X(context_pop, cuCtxPopCurrent_v2, CUresult, (CUcontext*))                               \
  X(function_get, cuFuncGetAttribute, CUresult, (int*, int, CUfunction))                   \
  X(function_set, cuFuncSetAttribute, CUresult, (CUfunction, int, int))                    \
  X(launch, cuLaunchKernelEx, CUresult, (const LaunchConfig*, CUfunction, void**, void**)) \
  X(most_clusters, cuOccupancyMaxActiveClusters, CUresult,                                 \
    (int*, CUfunction, const LaunchConfig*))                                               \
  X(tile_map, cuTensorMapEncodeTiled, CUresult,                                            \
    (void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const unsigned*,       \
     const unsigned*, int, int, int, int))

// X(name in gpu::DriverCalls, exported name). Addresses on the device are 64-bit integers there,
// which are passed as pointers are.
#define NEF_CUDA_CALLS(X)                           \
  X(stream_create, cuStreamCreate)                  \
  X(stream_destroy, cuStreamDestroy_v2)             \
  X(stream_synchronize, cuStreamSynchronize)        \
  X(stream_wait, cuStreamWaitEvent)                 \
  X(event_create, cuEventCreate)                    \
  X(event_record, cuEventRecord)                    \
  X(event_synchronize, cuEventSynchronize)          \
  X(pool_create, cuMemPoolCreate)                   \
  X(pool_set, cuMemPoolSetAttribute)                \
  X(pool_get, cuMemPoolGetAttribute)                \
  X(pool_trim, cuMemPoolTrimTo)                     \
  X(pool_alloc, cuMemAllocFromPoolAsync)            \
  X(pool_free, cuMemFreeAsync)                      \
  X(memory_info, cuMemGetInfo_v2)                   \
  X(host_alloc, cuMemHostAlloc)                     \
  X(host_free, cuMemFreeHost)                       \
  X(host_pointer, cuMemHostGetDevicePointer_v2)     \
  X(to_device, cuMemcpyHtoDAsync_v2)                \
  X(to_host, cuMemcpyDtoHAsync_v2)                  \
  X(on_device, cuMemcpyDtoDAsync_v2)                \
  X(module_load, cuModuleLoadData)                  \
  X(module_unload, cuModuleUnload)                  \
  X(module_function, cuModuleGetFunction)           \
  X(capture_begin, cuStreamBeginCapture_v2)         \
  X(capture_end, cuStreamEndCapture)                \
  X(graph_instantiate, cuGraphInstantiateWithFlags) \
  X(graph_launch, cuGraphLaunch)                    \
  X(graph_free, cuGraphDestroy)                     \
  X(graph_exec_free, cuGraphExecDestroy)

// ---- NVRTC

#define NEF_CUDA_NVRTC(X)                               \
  X(arch_count, nvrtcGetNumSupportedArchs, int, (int*)) \
  X(archs, nvrtcGetSupportedArchs, int, (int*))

// X(name in gpu::CompilerCalls, exported name)
#define NEF_CUDA_COMPILER(X)          \
  X(version, nvrtcVersion)            \
  X(error_text, nvrtcGetErrorString)  \
  X(create, nvrtcCreateProgram)       \
  X(compile, nvrtcCompileProgram)     \
  X(log_size, nvrtcGetProgramLogSize) \
  X(log, nvrtcGetProgramLog)          \
  X(code_size, nvrtcGetCUBINSize)     \
  X(code, nvrtcGetCUBIN)              \
  X(destroy, nvrtcDestroyProgram)

// ---- cuBLASLt

// X(name in gpu::LtApi, exported name)
#define NEF_CUDA_BLASLT(X)                                \
  X(create, cublasLtCreate)                               \
  X(desc_create, cublasLtMatmulDescCreate)                \
  X(desc_destroy, cublasLtMatmulDescDestroy)              \
  X(desc_set, cublasLtMatmulDescSetAttribute)             \
  X(layout_create, cublasLtMatrixLayoutCreate)            \
  X(layout_destroy, cublasLtMatrixLayoutDestroy)          \
  X(layout_set, cublasLtMatrixLayoutSetAttribute)         \
  X(preference_create, cublasLtMatmulPreferenceCreate)    \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy)  \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute) \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic)            \
  X(matmul, cublasLtMatmul)

// cudaDataType, cublasComputeType_t, cublasOperation_t, cublasLtMatmulDescAttributes_t,
// cublasLtEpilogue_t, cublasLtMatrixLayoutAttribute_t, cublasLtMatmulPreferenceAttributes_t,
// cublasLtReductionScheme_t, cublasStatus_t.
constexpr gpu::LtNumbers kLtNumbers = {
    .name = "cuBLASLt",
    .f32 = 0,
    .f64 = 1,
    .f16 = 2,
    .bf16 = 14,
    .f8e4m3 = 28,
    .f8e5m2 = 29,
    .compute32 = 68,
    .compute64 = 70,
    .op_n = 0,
    .op_t = 1,
    .trans_a = 3,
    .trans_b = 4,
    .epilogue = 7,
    .bias_pointer = 8,
    .scale_a = 17,
    .epilogue_bias = 4,
    .layout_batch = 5,
    .layout_stride = 6,
    .pref_workspace = 1,
    .pref_reduction = 3,
    .reduction_in_compute = 2,
    .pref_align_a = 5,
    .pref_align_b = 6,
    .pref_align_c = 7,
    .pref_align_d = 8,
    .out_of_memory = 3,
};

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
  gpu::DriverCalls calls;
};
struct NvrtcApi {
  NEF_CUDA_NVRTC(NEF_CUDA_FIELD)
  gpu::CompilerCalls calls;
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
const gpu::LtApi& blaslt();
const DnnApi& dnn();

// Throws what a result of the driver means: out of memory, a lost device, or a bug.
void check(CUresult result, const char* what);

}  // namespace nef::cuda
