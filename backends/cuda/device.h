// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "backends/cuda/api.h"
#include "backends/cuda/conv.h"

namespace nef::cuda {

class CudaDevice : public gpu::DriverDevice {
 public:
  CudaDevice(int ordinal, gpu::PinnedRanges& pinned);

  std::vector<uint8_t> build(const std::string& source) override;
  void launch(void* function, const gpu::Grid& grid, const void* params, size_t bytes,
              gpu::Stream& stream) override;
  gpu::TileMap tile_map(const gpu::Tiles& tiles) override;
  int64_t clusters_at_once(void* function, const gpu::Grid& grid) override;
  bool has_conv() override { return dnn_library() != nullptr; }
  bool conv(const gpu::Conv& c, gpu::Stream& stream) override;

  void check(int result, const char* what) const override { cuda::check(result, what); }
  void ready(void* function, const char* name) const override;

 private:
  int64_t enter() override;
  void leave(int64_t before) override;
  std::unique_ptr<gpu::BlasLt> open_blas() const override;
  // The context, made when first asked for.
  CUcontext context();
  LaunchConfig launch_config(const gpu::Grid& grid, LaunchAttribute (&attributes)[2],
                             CUstream stream) const;
  Dnn* dnn_library();

  CUdevice device_ = 0;
  std::string gpu_arch_;
  std::mutex context_mutex_;
  // What each call begins and ends with, side by side: caches are cold behind a wait.
  std::atomic<CUcontext> context_ = nullptr;
  CUresult (*const push_)(CUcontext) = driver().context_push;
  CUresult (*const pop_)(CUcontext*) = driver().context_pop;
  std::mutex dnn_mutex_;
  bool dnn_tried_ = false;
  std::unique_ptr<Dnn> dnn_;
};

}  // namespace nef::cuda
