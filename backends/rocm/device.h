// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/rocm/api.h"

namespace nef::rocm {

class RocmDevice : public gpu::DriverDevice {
 public:
  RocmDevice(int ordinal, gpu::PinnedRanges& pinned);

  std::vector<uint8_t> build(const std::string& source) override;
  void launch(void* function, const gpu::Grid& grid, const void* params, size_t bytes,
              gpu::Stream& stream) override;
  void check(int result, const char* what) const override { rocm::check(result, what); }

 private:
  int64_t enter() override;
  void leave(int64_t before) override;
  std::unique_ptr<gpu::BlasLt> open_blas() const override;

  std::string offload_arch_;
};

}  // namespace nef::rocm
