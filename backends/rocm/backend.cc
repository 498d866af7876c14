// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/table.h"
#include "backends/rocm/device.h"
#include "backends/rocm/rocm.h"

namespace nef::rocm {
namespace {

void require_arch(const std::string& name) {
  if (!runtime().before_6 || known_to_hip5(name)) return;
  throw backends::BackendError(NEF_BACKEND_UNAVAILABLE,
                               "HIP 5 does not compile for " + name + "; install ROCm 6 or newer");
}

class RocmPlatform : public gpu::Platform {
 public:
  void open() override {
    // Without a GPU either of these may fail, in ways that differ between versions.
    int count = 0;
    int result = runtime().init(0);
    if (result == kHipOk) result = runtime().device_count(&count);
    if (result != kHipOk || count == 0) {
      const char* name = result == kHipOk ? nullptr : runtime().error_name(result);
      throw backends::BackendError(
          NEF_BACKEND_UNAVAILABLE,
          std::string("HIP sees no GPU") + (name == nullptr ? "" : std::string(", ") + name));
    }
    compiler();
    for (int i = 0; i < count; ++i) {
      auto device = std::make_unique<RocmDevice>(i, pinned_);
      require_arch(device->info().arch);
      devices_.push_back(std::move(device));
    }
  }
  size_t count() const override { return devices_.size(); }
  gpu::Device& device(size_t i) override { return *devices_[i]; }

 private:
  gpu::PinnedRanges pinned_;
  std::vector<std::unique_ptr<RocmDevice>> devices_;
};

// Never destroyed: the driver may be gone before static objects are.
gpu::Backend& the_backend() {
  static auto* platform = new RocmPlatform;
  static auto* backend = new gpu::Backend(*platform);
  return *backend;
}

}  // namespace
}  // namespace nef::rocm

extern "C" const nef_backend* nef_backend_rocm(void) {
  static const nef_backend table = nef::gpu::make_table<nef::rocm::the_backend>("rocm", "1");
  return &table;
}
