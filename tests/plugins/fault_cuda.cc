// SPDX-License-Identifier: Apache-2.0
// A CUDA driver whose GPU is lost after NEF_TEST_LAUNCHES launches: until then calls go to the real
// driver, from then on every one that would reach the GPU fails, as after a fault of a kernel.
// Stands in for libcuda.so.1 in a folder of NEF_CUDA_PATH; see tests/unit/cuda/fault_test.cc.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <type_traits>

#include "backends/cuda/api.h"

namespace nef::cuda {
namespace {

constexpr CUresult kIllegalAddress = 700;

enum class Call {
#define NEF_CALL(name, symbol, ...) name,
  NEF_CUDA_DRIVER(NEF_CALL) NEF_CUDA_CALLS(NEF_CALL)
#undef NEF_CALL
};

// What still answers when the GPU does not.
constexpr bool stays_on_host(Call call) {
  switch (call) {
    case Call::init:
    case Call::driver_version:
    case Call::error_name:
    case Call::error_text:
    case Call::device_count:
    case Call::device_get:
    case Call::device_name:
    case Call::device_attribute:
    case Call::device_memory:
    case Call::context_push:
    case Call::context_pop: return true;
    default: return false;
  }
}

long launches_left() {
  const char* text = std::getenv("NEF_TEST_LAUNCHES");
  return text == nullptr ? 0 : std::atol(text);
}

bool lost(Call call) {
  static std::atomic<long> left = launches_left();
  if (call == Call::launch || call == Call::graph_launch) --left;
  return left < 0;
}

// By the name that the real library gives itself, which this one does not bear.
void* real_driver() {
  static void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}

template <Call kCall, typename Function>
struct Forward;
template <Call kCall, typename... P>
struct Forward<kCall, CUresult(P...)> {
  static inline CUresult (*real)(P...) = nullptr;
  static CUresult call(P... p) {
    if (!stays_on_host(kCall) && lost(kCall)) return kIllegalAddress;
    return real(p...);
  }
  static void (*resolve(const char* symbol))() {
    if (real_driver() == nullptr) return nullptr;
    real = reinterpret_cast<CUresult (*)(P...)>(::dlsym(real_driver(), symbol));
    return reinterpret_cast<void (*)()>(&call);
  }
};

}  // namespace
}  // namespace nef::cuda

// dlsym asks a resolver for the address of its symbol.
#define NEF_FORWARD_AS(name, symbol, type)              \
  extern "C" void (*nef_resolve_##symbol())() {         \
    using namespace nef;                                \
    using namespace nef::cuda;                          \
    return Forward<Call::name, type>::resolve(#symbol); \
  }                                                     \
  extern "C" __attribute__((visibility("default"), ifunc("nef_resolve_" #symbol))) void symbol();
#define NEF_FORWARD(name, symbol, result, parameters) \
  NEF_FORWARD_AS(name, symbol, result parameters)
#define NEF_FORWARD_CALL(name, symbol) \
  NEF_FORWARD_AS(name, symbol, std::remove_pointer_t<decltype(gpu::DriverCalls::name)>)
NEF_CUDA_DRIVER(NEF_FORWARD)
NEF_CUDA_CALLS(NEF_FORWARD_CALL)
#undef NEF_FORWARD
#undef NEF_FORWARD_CALL
#undef NEF_FORWARD_AS
