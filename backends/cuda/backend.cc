// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/cuda/cuda.h"
#include "backends/cuda/device.h"
#include "backends/gpu/table.h"

namespace nef::cuda {
namespace {

using backends::BackendError;

// NVRTC must know the device's architecture.
void require_arch(int number, const std::string& name) {
  int count = 0;
  nvrtc().arch_count(&count);
  std::vector<int> archs(static_cast<size_t>(std::max(count, 0)));
  nvrtc().archs(archs.data());
  if (std::find(archs.begin(), archs.end(), number) != archs.end()) return;
  throw BackendError(NEF_BACKEND_UNAVAILABLE, "this NVRTC does not compile for " + name +
                                                  "; install the one of another CUDA version");
}

class CudaPlatform : public gpu::Platform {
 public:
  void open() override {
    const DriverApi& d = driver();
    const CUresult ready = d.init(0);
    if (ready == kCudaNoDevice)
      throw BackendError(NEF_BACKEND_UNAVAILABLE, "the driver sees no GPU");
    check(ready, "cuInit");
    int count = 0;
    check(d.device_count(&count), "cuDeviceGetCount");
    nvrtc();
    for (int i = 0; i < count; ++i) {
      auto device = std::make_unique<CudaDevice>(i, pinned_);
      const std::string& arch = device->info().arch;
      require_arch(std::stoi(arch.substr(arch.find('_') + 1)), arch);
      devices_.push_back(std::move(device));
    }
  }
  size_t count() const override { return devices_.size(); }
  gpu::Device& device(size_t i) override { return *devices_[i]; }

 private:
  gpu::PinnedRanges pinned_;
  std::vector<std::unique_ptr<CudaDevice>> devices_;
};

// Never destroyed: the driver may be gone before static objects are.
gpu::Backend& the_backend() {
  static auto* platform = new CudaPlatform;
  static auto* backend = new gpu::Backend(*platform);
  return *backend;
}

}  // namespace
}  // namespace nef::cuda

extern "C" const nef_backend* nef_backend_cuda(void) {
  static const nef_backend table = nef::gpu::make_table<nef::cuda::the_backend>("cuda", "1");
  return &table;
}
