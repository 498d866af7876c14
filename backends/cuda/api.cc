// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/api.h"

#include <initializer_list>
#include <string>

#include "backends/gpu/library.h"

namespace nef::cuda {
namespace {

using backends::BackendError;

constexpr gpu::LibraryPlaces kPlaces = {
    "NEF_CUDA_PATH", {"CUDA_HOME", "CUDA_PATH"}, "lib64", "/usr/local/cuda/lib64"};

void* open_library(std::initializer_list<const char*> names, const char* companions = nullptr) {
  return gpu::open_library(kPlaces, names, companions);
}

#define NEF_CUDA_FIND(name, symbol, result, parameters) \
  gpu::find_symbol(library, #symbol, api.name);
#define NEF_CUDA_FIND_CALL(name, symbol) gpu::find_symbol(library, #symbol, api.calls.name);
#define NEF_CUDA_FIND_LT(name, symbol) gpu::find_symbol(library, #symbol, api.name);

DriverApi open_driver() {
  void* library = open_library({"libcuda.so.1", "libcuda.so"});
  DriverApi api;
  NEF_CUDA_DRIVER(NEF_CUDA_FIND)
  NEF_CUDA_CALLS(NEF_CUDA_FIND_CALL)
  return api;
}
NvrtcApi open_nvrtc() {
  // NVRTC finds its built-in headers by the loader's rules only, not beside itself.
  void* library =
      open_library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, "libnvrtc-builtins");
  NvrtcApi api;
  NEF_CUDA_NVRTC(NEF_CUDA_FIND)
  NEF_CUDA_COMPILER(NEF_CUDA_FIND_CALL)
  return api;
}
gpu::LtApi open_blaslt() {
  void* library = open_library({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
  gpu::LtApi api;
  NEF_CUDA_BLASLT(NEF_CUDA_FIND_LT)
  return api;
}
DnnApi open_dnn() {
  void* library = open_library({"libcudnn.so.9", "libcudnn.so.8"});
  DnnApi api;
  NEF_CUDA_DNN(NEF_CUDA_FIND)
  return api;
}
#undef NEF_CUDA_FIND
#undef NEF_CUDA_FIND_CALL
#undef NEF_CUDA_FIND_LT

}  // namespace

// A failure is tried again the next time it is asked for.
const DriverApi& driver() {
  static DriverApi api = open_driver();
  return api;
}
const NvrtcApi& nvrtc() {
  static const NvrtcApi api = open_nvrtc();
  return api;
}
const gpu::LtApi& blaslt() {
  static const gpu::LtApi api = open_blaslt();
  return api;
}
const DnnApi& dnn() {
  static const DnnApi api = open_dnn();
  return api;
}

void check(CUresult result, const char* what) {
  if (result == kCudaOk) return;
  const char *name = nullptr, *text = nullptr;
  driver().error_name(result, &name);
  driver().error_text(result, &text);
  const std::string message = std::string(what) + ": " +
                              (name == nullptr ? "unknown error" : name) +
                              (text == nullptr ? "" : std::string(", ") + text);
  if (result == gpu::kOutOfMemory) throw BackendError(NEF_DEVICE_OUT_OF_MEMORY, message);
  // Errors that leave the context unusable: faults of kernels, hardware, links.
  const bool lost = (result >= 700 && result <= 720 && result != 701 && result != 708) ||
                    result == 46 || result == 214 || result == 220 || result == 226;
  throw BackendError(lost ? NEF_DEVICE_LOST : NEF_INTERNAL, message);
}

}  // namespace nef::cuda
