// SPDX-License-Identifier: Apache-2.0
// Launches noted as a graph and replayed: what a thread launches on the default stream while it
// records goes to a stream of the recording, which captures it.
#include "backends/gpu/driver.h"

namespace nef::gpu {
namespace {

// A place of its own for the faults of a recording.
class FaultPlace {
 public:
  explicit FaultPlace(DriverDevice& device) : device_(device), fault_(device.take_fault(&there_)) {}
  ~FaultPlace() { device_.give_fault(fault_); }
  FaultPlace(const FaultPlace&) = delete;
  FaultPlace& operator=(const FaultPlace&) = delete;
  Fault& get() const { return *fault_; }
  void* on_device() const { return there_; }

 private:
  DriverDevice& device_;
  void* there_ = nullptr;
  Fault* fault_;
};

// What this thread records, and for which device.
thread_local const DriverDevice* recording_device = nullptr;
thread_local void* recording_stream = nullptr;
thread_local std::unique_ptr<FaultPlace> recording_fault;

class DriverRecording : public Recording {
 public:
  // Takes the graph. The device is current.
  DriverRecording(DriverDevice& device, void* graph, std::unique_ptr<FaultPlace> fault)
      : device_(device),
        stream_(static_cast<DriverStream&>(device.default_stream()).get()),
        done_(device.take_event()),
        fault_(std::move(fault)) {
    const int result = device.calls().graph_instantiate(&exec_, graph, 0);
    device.calls().graph_free(graph);
    if (result != 0) device.give_event(done_);
    device.check(result, "a graph of what was recorded");
  }
  ~DriverRecording() override {
    device_.give_event(done_);
    try {
      const DriverDevice::Current current(device_);
      device_.calls().graph_exec_free(exec_);
    } catch (const BackendError&) {
      // A lost device has nothing left to free.
    }
  }
  DriverRecording(const DriverRecording&) = delete;
  DriverRecording& operator=(const DriverRecording&) = delete;

  void launch() override {
    const DriverDevice::Current current(device_);
    queue();
  }
  void run() override {
    const DriverDevice::Current current(device_);
    queue();
    device_.check(device_.calls().event_synchronize(done_), "waiting for a graph");
  }
  void copy_to_host(void* dst, const void* src, size_t bytes) override {
    const DriverDevice::Current current(device_);
    device_.copy_behind(done_, dst, const_cast<void*>(src), bytes);
  }
  Fault& fault() override { return fault_->get(); }

 private:
  void queue() {
    const DriverCalls& calls = device_.calls();
    device_.check(calls.graph_launch(exec_, stream_), "launching a graph");
    device_.check(calls.event_record(done_, stream_), "launching a graph");
  }

  DriverDevice& device_;
  void* const stream_;  // the default one
  void* const done_;    // an event behind the last launch
  void* exec_ = nullptr;
  const std::unique_ptr<FaultPlace> fault_;
};

}  // namespace

DriverDevice::Diversion DriverDevice::diverted() const {
  if (recording_device != this) return {};
  return {recording_stream, recording_fault->on_device()};
}

void DriverDevice::record() {
  default_stream();
  recording_mutex_.lock();
  try {
    const Current current(*this);
    recording_fault = std::make_unique<FaultPlace>(*this);
    if (recording_ == nullptr) {
      check(calls_.stream_create(&recording_, kStreamNonBlocking), "making a stream");
    }
    check(calls_.capture_begin(recording_, kCaptureThreadLocal), "recording a stream");
  } catch (...) {
    recording_fault.reset();
    recording_mutex_.unlock();
    throw;
  }
  recording_device = this;
  recording_stream = recording_;
}

std::unique_ptr<Recording> DriverDevice::recorded() {
  const std::lock_guard lock(recording_mutex_, std::adopt_lock);
  recording_device = nullptr;
  recording_stream = nullptr;
  auto fault = std::move(recording_fault);
  const Current current(*this);
  void* graph = nullptr;
  check(calls_.capture_end(recording_, &graph), "recording a stream");
  return std::make_unique<DriverRecording>(*this, graph, std::move(fault));
}

}  // namespace nef::gpu
