// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "backends/shared/region.h"

namespace nef::cuda {
namespace {

using backends::BackendError;

std::vector<std::string> split(const char* list) {
  std::vector<std::string> out;
  std::string rest = list == nullptr ? "" : list;
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find(':', begin), rest.size());
    if (end > begin) out.push_back(rest.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Folders in order; "" stands for the loader's own rules.
std::vector<std::string> places() {
  std::vector<std::string> out = split(std::getenv("NEF_CUDA_PATH"));
  out.emplace_back();
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(name)) out.push_back(std::string(root) + "/lib64");
  }
  out.emplace_back("/usr/local/cuda/lib64");
  return out;
}

// NVRTC finds its built-in headers by the loader's rules only, not beside itself.
void open_companions(const std::string& folder, const char* prefix) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) {
      ::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
  }
}

void* open_library(std::initializer_list<const char*> names, const char* companions) {
  std::string first;
  size_t tried = 0;
  for (const std::string& folder : places()) {
    for (const char* name : names) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      if (!folder.empty() && companions != nullptr && std::filesystem::exists(path)) {
        open_companions(folder, companions);
      }
      ++tried;
      if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      const std::string why = ::dlerror();
      // What is there but does not load says more than what is absent.
      if (first.empty() || (!folder.empty() && std::filesystem::exists(path))) first = why;
    }
  }
  throw BackendError(NEF_BACKEND_UNAVAILABLE, first + " (tried " + std::to_string(tried) +
                                                  " places; NEF_CUDA_PATH to add one)");
}

template <typename F>
void find(void* library, const char* symbol, F& out) {
  void* p = ::dlsym(library, symbol);
  if (p == nullptr) {
    throw BackendError(NEF_BACKEND_UNAVAILABLE,
                       std::string("a library is too old: it has no ") + symbol);
  }
  std::memcpy(&out, &p, sizeof p);
}

#define NEF_CUDA_FIND(name, symbol, result, parameters) find(library, #symbol, api.name);

DriverApi open_driver() {
  void* library = open_library({"libcuda.so.1", "libcuda.so"}, nullptr);
  DriverApi api;
  NEF_CUDA_DRIVER(NEF_CUDA_FIND)
  return api;
}
NvrtcApi open_nvrtc() {
  void* library =
      open_library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, "libnvrtc-builtins");
  NvrtcApi api;
  NEF_CUDA_NVRTC(NEF_CUDA_FIND)
  return api;
}
BlasLtApi open_blaslt() {
  void* library =
      open_library({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}, nullptr);
  BlasLtApi api;
  NEF_CUDA_BLASLT(NEF_CUDA_FIND)
  return api;
}
DnnApi open_dnn() {
  void* library = open_library({"libcudnn.so.9", "libcudnn.so.8"}, nullptr);
  DnnApi api;
  NEF_CUDA_DNN(NEF_CUDA_FIND)
  return api;
}
#undef NEF_CUDA_FIND

}  // namespace

// A failure is tried again the next time it is asked for.
const DriverApi& driver() {
  static const DriverApi api = open_driver();
  return api;
}
const NvrtcApi& nvrtc() {
  static const NvrtcApi api = open_nvrtc();
  return api;
}
const BlasLtApi& blaslt() {
  static const BlasLtApi api = open_blaslt();
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
  if (result == kCudaOutOfMemory) throw BackendError(NEF_DEVICE_OUT_OF_MEMORY, message);
  // Errors that leave the context unusable: faults of kernels, hardware, links.
  const bool lost = (result >= 700 && result <= 720 && result != 701 && result != 708) ||
                    result == 46 || result == 214 || result == 220 || result == 226;
  throw BackendError(lost ? NEF_DEVICE_LOST : NEF_INTERNAL, message);
}

}  // namespace nef::cuda
