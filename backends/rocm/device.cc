// SPDX-License-Identifier: Apache-2.0
#include "backends/rocm/device.h"

#include <algorithm>
#include <cstring>

namespace nef::rocm {
namespace {

using backends::BackendError;

int attribute(int device, int which) {
  int v = 0;
  return runtime().device_attribute(&v, which, device) == kHipOk ? v : 0;
}

// "gfx90a:sramecc+:xnack-". The layout of the properties differs between versions of HIP, so the
// name is found by how it begins.
std::string arch_of(int device) {
  std::vector<char> properties(16384);
  check(runtime().device_properties(properties.data(), device), "the properties of a device");
  for (size_t i = 256; i + 3 < properties.size(); ++i) {  // the device's own name comes first
    if (std::memcmp(&properties[i], "gfx", 3) == 0) return std::string(&properties[i]);
  }
  throw BackendError(NEF_BACKEND_UNAVAILABLE, "HIP does not tell a device's architecture");
}

}  // namespace

RocmDevice::RocmDevice(int ordinal, gpu::PinnedRanges& pinned)
    : DriverDevice(runtime().driver, pinned, ordinal, gpu::memory_limit("NEF_ROCM_MEMORY_LIMIT")) {
  const RuntimeApi& r = runtime();
  char name[256] = "";
  rocm::check(r.device_name(name, sizeof name, ordinal), "hipDeviceGetName");
  size_t memory = 0;
  rocm::check(r.device_memory(&memory, ordinal), "hipDeviceTotalMem");
  int driver_version = 0, major = 0, minor = 0;
  r.driver_version(&driver_version);
  compiler().version(&major, &minor);
  info_.arch = arch_of(ordinal);
  info_.description = std::string(name) + ", " + info_.arch + ", HIP " +
                      std::to_string(driver_version) + ", hiprtc " + std::to_string(major) + "." +
                      std::to_string(minor);
  // hiprtc's version is that of HIP's; its driver's tells releases apart.
  info_.build = "rocm " + info_.arch + " hip " + std::to_string(driver_version) + " hiprtc " +
                std::to_string(major) + "." + std::to_string(minor);
  offload_arch_ = "--offload-arch=" + info_.arch;
  info_.memory_bytes = std::min<uint64_t>(memory, limit_);
  info_.processors = std::max(1, attribute(ordinal, kAttrMultiprocessors));
  state_costs(attribute(ordinal, kAttrClockKhz), attribute(ordinal, kAttrMemoryClockKhz),
              attribute(ordinal, kAttrBusWidth));
}

int64_t RocmDevice::enter() {
  int before = 0;
  rocm::check(runtime().device_current(&before), "hipGetDevice");
  if (before != ordinal_) rocm::check(runtime().device_set(ordinal_), "hipSetDevice");
  return before;
}
void RocmDevice::leave(int64_t before) {
  if (before != ordinal_) runtime().device_set(static_cast<int>(before));
}

std::vector<uint8_t> RocmDevice::build(const std::string& source) {
  // Functions of the prelude that a kernel does not use are no fault.
  const char* const options[] = {offload_arch_.c_str(), "--std=c++17", "-w"};
  return gpu::compile_text(compiler(), "hiprtc", source, options);
}

void RocmDevice::launch(void* function, const gpu::Grid& grid, const void* params, size_t,
                        gpu::Stream& stream) {
  const Current current(*this);
  void* args[] = {const_cast<void*>(params)};
  rocm::check(runtime().launch(function, static_cast<unsigned>(grid.x),
                               static_cast<unsigned>(grid.y), 1, grid.threads, 1, 1, 0,
                               static_cast<gpu::DriverStream&>(stream).get(), args, nullptr),
              "hipModuleLaunchKernel");
}

std::unique_ptr<gpu::BlasLt> RocmDevice::open_blas() const {
  return std::make_unique<gpu::BlasLt>(blaslt(), kLtNumbers);
}

}  // namespace nef::rocm
