// SPDX-License-Identifier: Apache-2.0
// Launches noted as a graph and replayed: what a thread launches on the default stream while it
// records goes to a stream of the recording, which captures it.
#include "backends/cuda/device.h"

namespace nef::cuda {
namespace {

using backends::BackendError;

// A place of its own for the faults of a recording.
class FaultPlace {
 public:
  explicit FaultPlace(CudaDevice& device) : device_(device), fault_(device.take_fault(&there_)) {}
  ~FaultPlace() { device_.give_fault(fault_); }
  FaultPlace(const FaultPlace&) = delete;
  FaultPlace& operator=(const FaultPlace&) = delete;
  gpu::Fault& get() const { return *fault_; }
  void* on_device() const { return there_; }

 private:
  CudaDevice& device_;
  void* there_ = nullptr;
  gpu::Fault* fault_;
};

// What this thread records, and for which device.
thread_local const CudaDevice* recording_device = nullptr;
thread_local CUstream recording_stream = nullptr;
thread_local std::unique_ptr<FaultPlace> recording_fault;

class CudaRecording : public gpu::Recording {
 public:
  CudaRecording(CudaDevice& device, CUgraph graph, std::unique_ptr<FaultPlace> fault)
      : device_(device), fault_(std::move(fault)) {
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
  void wait(gpu::Stream& stream) override {
    const gpu::DriverDevice::Current current(device_);
    device_.wait_here(static_cast<gpu::DriverStream&>(stream).get());
  }
  gpu::Fault& fault() override { return fault_->get(); }

 private:
  CudaDevice& device_;
  const std::unique_ptr<FaultPlace> fault_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace

gpu::DriverDevice::Diversion CudaDevice::diverted() const {
  if (recording_device != this) return {};
  return {recording_stream, recording_fault->on_device()};
}

void CudaDevice::record() {
  default_stream();
  recording_mutex_.lock();
  try {
    const Current current(*this);
    recording_fault = std::make_unique<FaultPlace>(*this);
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
  auto fault = std::move(recording_fault);
  const Current current(*this);
  CUgraph graph = nullptr;
  check(driver().capture_end(recording_, &graph), "cuStreamEndCapture");
  return std::make_unique<CudaRecording>(*this, graph, std::move(fault));
}

}  // namespace nef::cuda
