// SPDX-License-Identifier: Apache-2.0
#include "backends/rocm/api.h"

#include "backends/gpu/library.h"

namespace nef::rocm {
namespace {

using backends::BackendError;

constexpr gpu::LibraryPlaces kPlaces = {
    "NEF_ROCM_PATH", {"ROCM_PATH", "HIP_PATH"}, "lib", "/opt/rocm/lib"};

#define NEF_HIP_FIND(name, symbol, result, parameters) gpu::find_symbol(library, #symbol, api.name);
#define NEF_HIP_FIND_DRIVER(name, symbol) gpu::find_symbol(library, #symbol, api.driver.name);
#define NEF_HIP_FIND_IN(name, symbol) gpu::find_symbol(library, #symbol, api.name);

RuntimeApi open_runtime() {
  void* library = gpu::open_library(
      kPlaces, {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
  RuntimeApi api;
  NEF_HIP_RUNTIME(NEF_HIP_FIND)
  NEF_HIP_DRIVER(NEF_HIP_FIND_DRIVER)
  // HIP 6 has changed the structure, and the name of the function with it.
  const char* properties = "hipGetDevicePropertiesR0600";
  api.before_6 = ::dlsym(library, properties) == nullptr;
  if (api.before_6) properties = "hipGetDeviceProperties";
  gpu::find_symbol(library, properties, api.device_properties);
  return api;
}
gpu::CompilerCalls open_compiler() {
  // Older versions have hiprtc within the runtime.
  void* library = gpu::open_library(kPlaces, {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
                                              "libamdhip64.so.5", "libhiprtc.so"});
  gpu::CompilerCalls api;
  NEF_HIP_COMPILER(NEF_HIP_FIND_IN)
  return api;
}
gpu::LtApi open_blaslt() {
  void* library =
      gpu::open_library(kPlaces, {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"});
  gpu::LtApi api;
  NEF_HIP_BLASLT(NEF_HIP_FIND_IN)
  return api;
}
#undef NEF_HIP_FIND
#undef NEF_HIP_FIND_DRIVER
#undef NEF_HIP_FIND_IN

}  // namespace

// A failure is tried again the next time it is asked for.
const RuntimeApi& runtime() {
  static const RuntimeApi api = open_runtime();
  return api;
}
const gpu::CompilerCalls& compiler() {
  static const gpu::CompilerCalls api = open_compiler();
  return api;
}
const gpu::LtApi& blaslt() {
  static const gpu::LtApi api = open_blaslt();
  return api;
}

bool known_to_hip5(std::string_view arch) {
  for (const std::string_view family : {"gfx80", "gfx90", "gfx101", "gfx103"}) {
    if (arch.starts_with(family) && arch.substr(0, arch.find(':')).size() == family.size() + 1)
      return true;
  }
  return false;
}

void check(int result, const char* what) {
  if (result == kHipOk) return;
  const char* name = runtime().error_name(result);
  const char* text = runtime().error_text(result);
  const std::string message = std::string(what) + ": " +
                              (name == nullptr ? "unknown error" : name) +
                              (text == nullptr ? "" : std::string(", ") + text);
  if (result == gpu::kOutOfMemory) throw BackendError(NEF_DEVICE_OUT_OF_MEMORY, message);
  // Errors that leave the device unusable: faults of kernels, hardware.
  const bool lost = (result >= 700 && result <= 720 && result != 701 && result != 708) ||
                    result == 214 || result == 220;
  throw BackendError(lost ? NEF_DEVICE_LOST : NEF_INTERNAL, message);
}

}  // namespace nef::rocm
