// SPDX-License-Identifier: Apache-2.0
// HIP, hiprtc and hipBLASLt for tests, on an NVIDIA GPU: what the `rocm` backend calls goes on to
// CUDA's driver, NVRTC and cuBLASLt. Under the names of AMD's libraries in a folder of
// NEF_ROCM_PATH, it lets that backend's own code run where there is no AMD GPU. Kernels are
// compiled for the GPU at hand, whatever architecture is asked for.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>

#define NEF_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void* open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  std::fprintf(stderr, "hip_on_cuda: %s\n", dlerror());
  std::abort();
}

// A function of CUDA by its name.
void* symbol(const char* name) {
  static std::mutex mutex;
  static std::map<std::string, void*> known;
  std::lock_guard lock(mutex);
  void*& found = known[name];
  if (found != nullptr) return found;
  static void* driver = open_first({"libcuda.so.1"});
  void* library = driver;
  if (std::strncmp(name, "nvrtc", 5) == 0) {
    library = open_first({"libnvrtc.so.13", "libnvrtc.so.12"});
  } else if (std::strncmp(name, "cublas", 6) == 0) {
    library = open_first({"libcublasLt.so.13", "libcublasLt.so.12"});
  }
  found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "hip_on_cuda: there is no %s\n", name);
    std::abort();
  }
  return found;
}
template <typename... A>
int cuda(const char* name, A... args) {
  return reinterpret_cast<int (*)(A...)>(symbol(name))(args...);
}

thread_local int current_device = 0;

int make_current(int device) {
  static std::mutex mutex;
  static std::map<int, void*> contexts;
  std::lock_guard lock(mutex);
  void*& context = contexts[device];
  if (context == nullptr) {
    const int r = cuda("cuDevicePrimaryCtxRetain", &context, device);
    if (r != 0) return r;
  }
  current_device = device;
  return cuda("cuCtxSetCurrent", context);
}
// HIP has a device current from the start.
int with_device() {
  void* context = nullptr;
  cuda("cuCtxGetCurrent", &context);
  return context == nullptr ? make_current(current_device) : 0;
}
template <typename... A>
int on_device(const char* name, A... args) {
  const int r = with_device();
  return r != 0 ? r : cuda(name, args...);
}

}  // namespace

// ---- HIP

NEF_EXPORT int hipInit(unsigned flags) { return cuda("cuInit", flags); }
NEF_EXPORT int hipDriverGetVersion(int* out) { return cuda("cuDriverGetVersion", out); }
NEF_EXPORT const char* hipGetErrorName(int error) {
  const char* out = nullptr;
  cuda("cuGetErrorName", error, &out);
  return out;
}
NEF_EXPORT const char* hipGetErrorString(int error) {
  const char* out = nullptr;
  cuda("cuGetErrorString", error, &out);
  return out;
}
NEF_EXPORT int hipGetDeviceCount(int* out) { return cuda("cuDeviceGetCount", out); }
NEF_EXPORT int hipDeviceGetName(char* out, int size, int device) {
  return cuda("cuDeviceGetName", out, size, device);
}
NEF_EXPORT int hipDeviceTotalMem(size_t* out, int device) {
  return cuda("cuDeviceTotalMem_v2", out, device);
}
NEF_EXPORT int hipDeviceGetAttribute(int* out, int attribute, int device) {
  static const std::map<int, int> kNumbers = {{5, 13}, {59, 37}, {60, 36}, {63, 16}};
  const auto it = kNumbers.find(attribute);
  return it == kNumbers.end() ? 1 : cuda("cuDeviceGetAttribute", out, it->second, device);
}
// Names the architecture where HIP 6 has it.
NEF_EXPORT int hipGetDevicePropertiesR0600(void* properties, int device) {
  auto* bytes = static_cast<char*>(properties);
  std::memset(bytes, 0, 1472);
  std::strcpy(bytes + 1160, "gfx000");
  return hipDeviceGetName(bytes, 256, device);
}
NEF_EXPORT int hipSetDevice(int device) { return make_current(device); }
NEF_EXPORT int hipGetDevice(int* out) {
  *out = current_device;
  return 0;
}
NEF_EXPORT int hipStreamCreateWithFlags(void** out, unsigned flags) {
  return on_device("cuStreamCreate", out, flags);
}
NEF_EXPORT int hipStreamDestroy(void* s) { return on_device("cuStreamDestroy_v2", s); }
NEF_EXPORT int hipStreamSynchronize(void* s) { return on_device("cuStreamSynchronize", s); }
NEF_EXPORT int hipEventCreateWithFlags(void** out, unsigned flags) {
  return on_device("cuEventCreate", out, flags);
}
NEF_EXPORT int hipEventRecord(void* e, void* s) { return on_device("cuEventRecord", e, s); }
NEF_EXPORT int hipEventSynchronize(void* e) { return on_device("cuEventSynchronize", e); }
NEF_EXPORT int hipStreamWaitEvent(void* s, void* e, unsigned flags) {
  return on_device("cuStreamWaitEvent", s, e, flags);
}
NEF_EXPORT int hipMemPoolCreate(void** out, const void* properties) {
  return on_device("cuMemPoolCreate", out, properties);
}
NEF_EXPORT int hipMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return on_device("cuMemPoolSetAttribute", pool, attribute, value);
}
NEF_EXPORT int hipMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return on_device("cuMemPoolGetAttribute", pool, attribute, value);
}
NEF_EXPORT int hipMemPoolTrimTo(void* pool, size_t bytes) {
  return on_device("cuMemPoolTrimTo", pool, bytes);
}
NEF_EXPORT int hipMallocFromPoolAsync(void** out, size_t bytes, void* pool, void* stream) {
  return on_device("cuMemAllocFromPoolAsync", out, bytes, pool, stream);
}
NEF_EXPORT int hipFreeAsync(void* p, void* stream) {
  return on_device("cuMemFreeAsync", p, stream);
}
NEF_EXPORT int hipMemGetInfo(size_t* free, size_t* total) {
  return on_device("cuMemGetInfo_v2", free, total);
}
NEF_EXPORT int hipHostMalloc(void** out, size_t bytes, unsigned flags) {
  return on_device("cuMemHostAlloc", out, bytes, flags);
}
NEF_EXPORT int hipHostFree(void* p) { return on_device("cuMemFreeHost", p); }
NEF_EXPORT int hipHostGetDevicePointer(void** out, void* host, unsigned flags) {
  return on_device("cuMemHostGetDevicePointer_v2", out, host, flags);
}
NEF_EXPORT int hipMemcpyHtoDAsync(void* dst, const void* src, size_t bytes, void* stream) {
  return on_device("cuMemcpyHtoDAsync_v2", dst, src, bytes, stream);
}
NEF_EXPORT int hipMemcpyDtoHAsync(void* dst, void* src, size_t bytes, void* stream) {
  return on_device("cuMemcpyDtoHAsync_v2", dst, src, bytes, stream);
}
NEF_EXPORT int hipMemcpyDtoDAsync(void* dst, void* src, size_t bytes, void* stream) {
  return on_device("cuMemcpyDtoDAsync_v2", dst, src, bytes, stream);
}
NEF_EXPORT int hipModuleLoadData(void** out, const void* code) {
  return on_device("cuModuleLoadData", out, code);
}
NEF_EXPORT int hipModuleUnload(void* module) { return on_device("cuModuleUnload", module); }
NEF_EXPORT int hipModuleGetFunction(void** out, void* module, const char* name) {
  return on_device("cuModuleGetFunction", out, module, name);
}
NEF_EXPORT int hipStreamBeginCapture(void* s, int mode) {
  return on_device("cuStreamBeginCapture_v2", s, mode);
}
NEF_EXPORT int hipStreamEndCapture(void* s, void** graph) {
  return on_device("cuStreamEndCapture", s, graph);
}
NEF_EXPORT int hipGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags) {
  return on_device("cuGraphInstantiateWithFlags", out, graph, flags);
}
NEF_EXPORT int hipGraphLaunch(void* exec, void* s) { return on_device("cuGraphLaunch", exec, s); }
NEF_EXPORT int hipGraphDestroy(void* graph) { return on_device("cuGraphDestroy", graph); }
NEF_EXPORT int hipGraphExecDestroy(void* exec) { return on_device("cuGraphExecDestroy", exec); }
NEF_EXPORT int hipModuleLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                     unsigned by, unsigned bz, unsigned shared, void* stream,
                                     void** params, void** extra) {
  return on_device("cuLaunchKernel", f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

// ---- hiprtc

NEF_EXPORT int hiprtcVersion(int* major, int* minor) { return cuda("nvrtcVersion", major, minor); }
NEF_EXPORT const char* hiprtcGetErrorString(int error) {
  return reinterpret_cast<const char* (*)(int)>(symbol("nvrtcGetErrorString"))(error);
}
NEF_EXPORT int hiprtcCreateProgram(void** out, const char* source, const char* name, int headers,
                                   const char** texts, const char** names) {
  return cuda("nvrtcCreateProgram", out, source, name, headers, texts, names);
}
NEF_EXPORT int hiprtcCompileProgram(void* program, int, const char**) {
  int major = 0, minor = 0;
  cuda("cuDeviceGetAttribute", &major, 75, current_device);
  cuda("cuDeviceGetAttribute", &minor, 76, current_device);
  const std::string arch = "--gpu-architecture=sm_" + std::to_string(major * 10 + minor);
  const char* options[] = {arch.c_str(), "--std=c++17", "--disable-warnings"};
  return cuda("nvrtcCompileProgram", program, 3, static_cast<const char**>(options));
}
NEF_EXPORT int hiprtcGetProgramLogSize(void* program, size_t* out) {
  return cuda("nvrtcGetProgramLogSize", program, out);
}
NEF_EXPORT int hiprtcGetProgramLog(void* program, char* out) {
  return cuda("nvrtcGetProgramLog", program, out);
}
NEF_EXPORT int hiprtcGetCodeSize(void* program, size_t* out) {
  return cuda("nvrtcGetCUBINSize", program, out);
}
NEF_EXPORT int hiprtcGetCode(void* program, char* out) {
  return cuda("nvrtcGetCUBIN", program, out);
}
NEF_EXPORT int hiprtcDestroyProgram(void** program) { return cuda("nvrtcDestroyProgram", program); }

// ---- hipBLASLt: the same calls with other numbers

namespace {

// An algorithm of cuBLASLt is larger than one of hipBLASLt, which has its address instead.
struct CudaAlgo {
  uint64_t words[8];
};
struct CudaResult {
  CudaAlgo algo;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
struct HipResult {
  CudaAlgo* algo;
  uint64_t rest[2];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace

NEF_EXPORT int hipblasLtCreate(void** out) { return on_device("cublasLtCreate", out); }
NEF_EXPORT int hipblasLtMatmulDescCreate(void** out, int compute, int scale) {
  return compute != 2 ? 7 : cuda("cublasLtMatmulDescCreate", out, 68, scale);
}
NEF_EXPORT int hipblasLtMatmulDescDestroy(void* d) { return cuda("cublasLtMatmulDescDestroy", d); }
NEF_EXPORT int hipblasLtMatmulDescSetAttribute(void* d, int which, const void* value,
                                               size_t bytes) {
  constexpr int kBiasType = 4;  // CUDA takes the result's
  if (which == kBiasType) return 0;
  if (which <= 1) {
    int op = 0;
    std::memcpy(&op, value, sizeof op);
    op -= 111;
    return cuda("cublasLtMatmulDescSetAttribute", d, which + 3, static_cast<const void*>(&op),
                sizeof op);
  }
  return cuda("cublasLtMatmulDescSetAttribute", d, which + 5, value, bytes);
}
NEF_EXPORT int hipblasLtMatrixLayoutCreate(void** out, int type, uint64_t rows, uint64_t columns,
                                           int64_t ld) {
  return cuda("cublasLtMatrixLayoutCreate", out, type, rows, columns, ld);
}
NEF_EXPORT int hipblasLtMatrixLayoutDestroy(void* l) {
  return cuda("cublasLtMatrixLayoutDestroy", l);
}
NEF_EXPORT int hipblasLtMatrixLayoutSetAttribute(void* l, int which, const void* value,
                                                 size_t bytes) {
  return cuda("cublasLtMatrixLayoutSetAttribute", l, which + 5, value, bytes);
}
NEF_EXPORT int hipblasLtMatmulPreferenceCreate(void** out) {
  const int r = cuda("cublasLtMatmulPreferenceCreate", out);
  const uint32_t in_compute_type = 2;  // sums are never split up in 16 bits, as with hipBLASLt
  if (r != 0) return r;
  return cuda("cublasLtMatmulPreferenceSetAttribute", *out, 3,
              static_cast<const void*>(&in_compute_type), sizeof in_compute_type);
}
NEF_EXPORT int hipblasLtMatmulPreferenceDestroy(void* p) {
  return cuda("cublasLtMatmulPreferenceDestroy", p);
}
NEF_EXPORT int hipblasLtMatmulPreferenceSetAttribute(void* p, int which, const void* value,
                                                     size_t bytes) {
  return cuda("cublasLtMatmulPreferenceSetAttribute", p, which, value, bytes);
}
NEF_EXPORT int hipblasLtMatmulAlgoGetHeuristic(void* handle, void* desc, void* a, void* b, void* c,
                                               void* d, void* preference, int, void* results,
                                               int* found) {
  // What tests hand in is aligned less than cuBLASLt takes for granted.
  for (int i = 5; i <= 8; ++i) {
    const uint32_t alignment = 16;
    cuda("cublasLtMatmulPreferenceSetAttribute", preference, i,
         static_cast<const void*>(&alignment), sizeof alignment);
  }
  CudaResult r{};
  const int status =
      cuda("cublasLtMatmulAlgoGetHeuristic", handle, desc, a, b, c, d, preference, 1, &r, found);
  if (status != 0 || *found == 0) return status;
  const HipResult out = {new CudaAlgo(r.algo), {}, r.workspace, r.state, r.waves, {}};
  std::memcpy(results, &out, sizeof out);
  return 0;
}
NEF_EXPORT int hipblasLtMatmul(void* handle, void* desc, const void* alpha, const void* a,
                               void* a_layout, const void* b, void* b_layout, const void* beta,
                               const void* c, void* c_layout, void* d, void* d_layout,
                               const void* algo, void* workspace, size_t bytes, void* stream) {
  CudaAlgo* own = nullptr;
  std::memcpy(&own, algo, sizeof own);
  return on_device("cublasLtMatmul", handle, desc, alpha, a, a_layout, b, b_layout, beta, c,
                   c_layout, d, d_layout, static_cast<const CudaAlgo*>(own), workspace, bytes,
                   stream);
}
