// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/gpu/compiler.h"
#include "backends/gpu/driver.h"

// The few types, numbers and entry points of HIP, hiprtc and hipBLASLt that are used: they are
// opened at run time. tests/unit/rocm/headers_test.cc holds them against HIP's headers where these
// are installed.
namespace nef::rocm {

constexpr int kHipOk = 0;
constexpr int kAttrClockKhz = 5, kAttrBusWidth = 59, kAttrMemoryClockKhz = 60;
constexpr int kAttrMultiprocessors = 63;

// X(name here, exported name, return type, parameters)
#define NEF_HIP_RUNTIME(X)                                                                       \
  X(init, hipInit, int, (unsigned))                                                              \
  X(driver_version, hipDriverGetVersion, int, (int*))                                            \
  X(error_name, hipGetErrorName, const char*, (int))                                             \
  X(error_text, hipGetErrorString, const char*, (int))                                           \
  X(device_count, hipGetDeviceCount, int, (int*))                                                \
  X(device_name, hipDeviceGetName, int, (char*, int, int))                                       \
  X(device_attribute, hipDeviceGetAttribute, int, (int*, int, int))                              \
  X(device_memory, hipDeviceTotalMem, int, (size_t*, int))                                       \
  X(device_set, hipSetDevice, int, (int))                                                        \
  X(device_current, hipGetDevice, int, (int*))                                                   \
  X(launch, hipModuleLaunchKernel, int,                                                          \
    (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, \
     void**))

// X(name in gpu::DriverCalls, exported name)
#define NEF_HIP_DRIVER(X)                            \
  X(stream_create, hipStreamCreateWithFlags)         \
  X(stream_destroy, hipStreamDestroy)                \
  X(stream_synchronize, hipStreamSynchronize)        \
  X(stream_wait, hipStreamWaitEvent)                 \
  X(event_create, hipEventCreateWithFlags)           \
  X(event_record, hipEventRecord)                    \
  X(event_synchronize, hipEventSynchronize)          \
  X(pool_create, hipMemPoolCreate)                   \
  X(pool_set, hipMemPoolSetAttribute)                \
  X(pool_get, hipMemPoolGetAttribute)                \
  X(pool_trim, hipMemPoolTrimTo)                     \
  X(pool_alloc, hipMallocFromPoolAsync)              \
  X(pool_free, hipFreeAsync)                         \
  X(memory_info, hipMemGetInfo)                      \
  X(host_alloc, hipHostMalloc)                       \
  X(host_free, hipHostFree)                          \
  X(host_pointer, hipHostGetDevicePointer)           \
  X(to_device, hipMemcpyHtoDAsync)                   \
  X(to_host, hipMemcpyDtoHAsync)                     \
  X(on_device, hipMemcpyDtoDAsync)                   \
  X(module_load, hipModuleLoadData)                  \
  X(module_unload, hipModuleUnload)                  \
  X(module_function, hipModuleGetFunction)           \
  X(capture_begin, hipStreamBeginCapture)            \
  X(capture_end, hipStreamEndCapture)                \
  X(graph_instantiate, hipGraphInstantiateWithFlags) \
  X(graph_launch, hipGraphLaunch)                    \
  X(graph_free, hipGraphDestroy)                     \
  X(graph_exec_free, hipGraphExecDestroy)

// X(name in gpu::CompilerCalls, exported name)
#define NEF_HIP_COMPILER(X)            \
  X(version, hiprtcVersion)            \
  X(error_text, hiprtcGetErrorString)  \
  X(create, hiprtcCreateProgram)       \
  X(compile, hiprtcCompileProgram)     \
  X(log_size, hiprtcGetProgramLogSize) \
  X(log, hiprtcGetProgramLog)          \
  X(code_size, hiprtcGetCodeSize)      \
  X(code, hiprtcGetCode)               \
  X(destroy, hiprtcDestroyProgram)

// X(name in gpu::LtApi, exported name)
#define NEF_HIP_BLASLT(X)                                  \
  X(create, hipblasLtCreate)                               \
  X(desc_create, hipblasLtMatmulDescCreate)                \
  X(desc_destroy, hipblasLtMatmulDescDestroy)              \
  X(desc_set, hipblasLtMatmulDescSetAttribute)             \
  X(layout_create, hipblasLtMatrixLayoutCreate)            \
  X(layout_destroy, hipblasLtMatrixLayoutDestroy)          \
  X(layout_set, hipblasLtMatrixLayoutSetAttribute)         \
  X(preference_create, hipblasLtMatmulPreferenceCreate)    \
  X(preference_destroy, hipblasLtMatmulPreferenceDestroy)  \
  X(preference_set, hipblasLtMatmulPreferenceSetAttribute) \
  X(heuristic, hipblasLtMatmulAlgoGetHeuristic)            \
  X(matmul, hipblasLtMatmul)

// hipDataType (float64 is left to our own kernels), hipblasComputeType_t, hipblasOperation_t,
// hipblasLtMatmulDescAttributes_t, hipblasLtEpilogue_t, hipblasLtMatrixLayoutAttribute_t,
// hipblasLtMatmulPreferenceAttributes_t, hipblasStatus_t.
constexpr gpu::LtNumbers kLtNumbers = {
    .name = "hipBLASLt",
    .f32 = 0,
    .f16 = 2,
    .bf16 = 14,
    .compute32 = 2,
    .op_n = 111,
    .op_t = 112,
    .trans_a = 0,
    .trans_b = 1,
    .epilogue = 2,
    .bias_pointer = 3,
    .bias_type = 4,
    .epilogue_bias = 4,
    .layout_batch = 0,
    .layout_stride = 1,
    .pref_workspace = 1,
    .reduction_in_compute = 0,
    .out_of_memory = 2,
};

#define NEF_HIP_FIELD(name, symbol, result, parameters) result(*name) parameters = nullptr;
struct RuntimeApi {
  NEF_HIP_RUNTIME(NEF_HIP_FIELD)
  // Fills a hipDeviceProp_t, whose layout differs between versions.
  int (*device_properties)(void*, int) = nullptr;
  bool before_6 = false;
  gpu::DriverCalls driver;
};
#undef NEF_HIP_FIELD

// Opens a library and fills its table, once per process. Throws NEF_BACKEND_UNAVAILABLE with the
// names and places that were tried. Libraries are sought in the folders of NEF_ROCM_PATH
// (colon-separated), then by the loader's own rules, then in $ROCM_PATH/lib, $HIP_PATH/lib and
// /opt/rocm/lib.
const RuntimeApi& runtime();
const gpu::CompilerCalls& compiler();
const gpu::LtApi& blaslt();

// Is the compiler of HIP 5 one for "gfx90a:sramecc+:xnack-"? What it does not know ends the process
// (seen with 5.2), so nothing else may be asked of it.
bool known_to_hip5(std::string_view arch);

// Throws what a result of HIP means: out of memory, a lost device, or a bug.
void check(int result, const char* what);

}  // namespace nef::rocm
