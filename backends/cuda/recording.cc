// SPDX-License-Identifier: Apache-2.0
// Launches noted as a graph and replayed: what a thread launches on the default stream while it
// records goes to a stream of the recording, which captures it.
#include "backends/cuda/device.h"

namespace nef::cuda {
namespace {

using backends::BackendError;

// What this thread records, and for which device.
thread_local const CudaDevice* recording_device = nullptr;
thread_local CUstream recording_stream = nullptr;

class CudaRecording : public gpu::Recording {
 public:
  CudaRecording(CudaDevice& device, CUgraph graph) : device_(device) {
    const CUresult result = driver().graph_instantiate(&exec_, graph, 0);
    driver().graph_free(graph);
    check(result, "cuGraphInstantiate");
  }
  ~CudaRecording() override {
    try {
      const gpu::DriverDevice::Current current(device_);
      driver().graph_exec_free(exec_);
    } catch (const BackendError&) {
      // A lost device has nothing left to free.
    }
  }
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;

  void launch(gpu::Stream& stream) override {
    const gpu::DriverDevice::Current current(device_);
    void* to = static_cast<gpu::DriverStream&>(stream).get();
    check(driver().graph_launch(exec_, static_cast<CUstream>(to)), "cuGraphLaunch");
  }

 private:
  CudaDevice& device_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace

void* CudaDevice::diverted() const { return recording_device == this ? recording_stream : nullptr; }

void CudaDevice::record() {
  default_stream();
  recording_mutex_.lock();
  try {
    const Current current(*this);
    if (recording_ == nullptr) {
      void* stream = nullptr;
      check(calls().stream_create(&stream, gpu::kStreamNonBlocking), "cuStreamCreate");
      recording_ = static_cast<CUstream>(stream);
    }
    check(driver().capture_begin(recording_, kCaptureThreadLocal), "cuStreamBeginCapture");
  } catch (...) {
    recording_mutex_.unlock();
    throw;
  }
  recording_device = this;
  recording_stream = recording_;
}

std::unique_ptr<gpu::Recording> CudaDevice::recorded() {
  const std::lock_guard lock(recording_mutex_, std::adopt_lock);
  recording_device = nullptr;
  recording_stream = nullptr;
  const Current current(*this);
  CUgraph graph = nullptr;
  check(driver().capture_end(recording_, &graph), "cuStreamEndCapture");
  return std::make_unique<CudaRecording>(*this, graph);
}

}  // namespace nef::cuda
