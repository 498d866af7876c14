// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/api.h"
#include "backends/cuda/conv.h"
#include "backends/cuda/gemm.h"
#include "backends/gpu/device.h"
#include "backends/gpu/pinned.h"

namespace nef::cuda {

class CudaDevice;

// The context of a device, current in this thread while it lives; then what was current before.
class Current {
 public:
  explicit Current(CUcontext context) { check(driver().context_push(context), "cuCtxPushCurrent"); }
  ~Current() {
    CUcontext old = nullptr;
    driver().context_pop(&old);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

class CudaStream : public gpu::Stream {
 public:
  // `of_caller`: not the device's default stream.
  CudaStream(CudaDevice& device, bool of_caller);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void synchronize() override;
  void* fault_on_device() override { return fault_device_; }
  gpu::Fault& fault() override { return *fault_; }
  // Where its work goes: the stream, or for the default stream the one that this thread records.
  CUstream get() const;
  // For cuBLASLt and cuDNN; made when first asked for. The context is current.
  void* workspace();

 private:
  CudaDevice& device_;
  const bool of_caller_;
  CUstream stream_ = nullptr;
  gpu::Fault* fault_ = nullptr;
  void* fault_device_ = nullptr;
  std::mutex mutex_;
  CUdeviceptr workspace_ = 0;
};

class CudaDevice : public gpu::Device {
 public:
  explicit CudaDevice(int ordinal);

  const gpu::DeviceInfo& info() const override { return info_; }
  void* alloc(size_t bytes) override;
  void free(void* ptr) override;
  void copy(void* dst, const void* src, size_t bytes, nef_copy_kind kind) override;
  void* host_alloc(size_t bytes) override;
  void host_free(void* ptr) override;
  void copy_on_device(void* dst, const void* src, size_t bytes, gpu::Stream& stream) override;
  void evict() override;
  uint64_t memory_available() override;
  gpu::Stream& default_stream() override;
  std::unique_ptr<gpu::Stream> make_stream() override;
  std::vector<uint8_t> build(const std::string& source) override;
  std::unique_ptr<gpu::Module> load(const std::vector<uint8_t>& code) override;
  std::string build_version() const override { return build_version_; }
  void launch(void* function, const gpu::Grid& grid, const void* params, size_t bytes,
              gpu::Stream& stream) override;
  gpu::TileMap tile_map(const gpu::Tiles& tiles) override;
  int64_t clusters_at_once(void* function, const gpu::Grid& grid) override;
  void record() override;
  std::unique_ptr<gpu::Recording> recorded() override;
  bool has_gemm(nef_dtype dtype) const override;
  void gemm(const gpu::Gemm& g, gpu::Stream& stream) override;
  bool has_float8_gemm() const override { return info_.float8_products && blas() != nullptr; }
  bool has_conv() override { return dnn_library() != nullptr; }
  bool conv(const gpu::Conv& c, gpu::Stream& stream) override;

  // The context, made when first asked for.
  CUcontext context();
  CUmemoryPool pool() const { return pool_; }
  std::atomic<int> caller_streams{0};
  // Pinned memory for the fault record of a stream, and back.
  gpu::Fault* take_fault(void** on_device);
  void give_fault(gpu::Fault* fault);

 private:
  struct Staging {
    void* memory[2] = {};
    CUevent free[2] = {};
  };
  void open();
  // Bytes of the pool: in use, or reserved from the driver. The context is current.
  uint64_t pool_bytes(int which) const;
  CUresult take(CUdeviceptr* p, size_t bytes, CUstream stream);
  void queue_copy(CUstream stream, void* dst, const void* src, size_t bytes, nef_copy_kind kind);
  void stage_in(CUdeviceptr dst, const char* src, size_t bytes);
  void stage_out(char* dst, CUdeviceptr src, size_t bytes);
  void wait_here(CUstream stream);
  LaunchConfig launch_config(const gpu::Grid& grid, LaunchAttribute (&attributes)[2],
                             CUstream stream) const;
  BlasLt* blas() const;
  Dnn* dnn_library();

  CUdevice device_ = 0;
  gpu::DeviceInfo info_;
  std::string build_version_, gpu_arch_;
  mutable std::mutex mutex_;
  CUcontext context_ = nullptr;
  CUmemoryPool pool_ = nullptr;
  uint64_t limit_ = UINT64_MAX;  // of NEF_CUDA_MEMORY_LIMIT
  std::unique_ptr<CudaStream> stream_;
  std::mutex staging_mutex_;
  Staging staging_;
  gpu::PinnedRanges pinned_;
  std::vector<gpu::Fault*> faults_;
  std::vector<CUevent> events_;
  std::mutex recording_mutex_;  // held from record() to recorded()
  CUstream recording_ = nullptr;
  mutable bool blas_tried_ = false;
  mutable std::unique_ptr<BlasLt> blas_;
  bool dnn_tried_ = false;
  std::unique_ptr<Dnn> dnn_;
};

}  // namespace nef::cuda
