// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "backends/gpu/lt.h"
#include "backends/gpu/pinned.h"

// What the drivers of the vendors have in common: streams, a memory pool ordered with them, copies
// through pinned memory, modules. A vendor adds how code is compiled and launched.
namespace nef::gpu {

// Functions of a driver; results are 0 when all is well. Handles and addresses are pointers.
struct alignas(64) DriverCalls {
  // Those of each replayed run, whose caches are cold, in one line.
  int (*graph_launch)(void*, void*) = nullptr;
  int (*event_record)(void*, void*) = nullptr;
  int (*stream_wait)(void*, void*, unsigned) = nullptr;
  int (*to_host)(void*, void*, size_t, void*) = nullptr;
  int (*stream_synchronize)(void*) = nullptr;
  int (*event_synchronize)(void*) = nullptr;

  int (*stream_create)(void**, unsigned) = nullptr;
  int (*stream_destroy)(void*) = nullptr;
  int (*event_create)(void**, unsigned) = nullptr;
  int (*pool_create)(void**, const void*) = nullptr;
  int (*pool_set)(void*, int, void*) = nullptr;
  int (*pool_get)(void*, int, void*) = nullptr;
  int (*pool_trim)(void*, size_t) = nullptr;
  int (*pool_alloc)(void**, size_t, void*, void*) = nullptr;
  int (*pool_free)(void*, void*) = nullptr;
  int (*memory_info)(size_t*, size_t*) = nullptr;
  int (*host_alloc)(void**, size_t, unsigned) = nullptr;
  int (*host_free)(void*) = nullptr;
  int (*host_pointer)(void**, void*, unsigned) = nullptr;
  int (*to_device)(void*, const void*, size_t, void*) = nullptr;
  int (*on_device)(void*, void*, size_t, void*) = nullptr;
  int (*module_load)(void**, const void*) = nullptr;
  int (*module_unload)(void*) = nullptr;
  int (*module_function)(void**, void*, const char*) = nullptr;
  int (*capture_begin)(void*, int) = nullptr;
  int (*capture_end)(void*, void**) = nullptr;
  int (*graph_instantiate)(void**, void*, unsigned long long) = nullptr;
  int (*graph_free)(void*) = nullptr;
  int (*graph_exec_free)(void*) = nullptr;
};

// Numbers that CUDA and HIP share.
constexpr unsigned kStreamNonBlocking = 1, kEventNoTiming = 2;
constexpr unsigned kHostPortable = 1, kHostMapped = 2;
constexpr int kOutOfMemory = 2, kCaptureThreadLocal = 1;
constexpr int kPoolReleaseThreshold = 4, kPoolReserved = 5, kPoolUsed = 7;
struct PoolProps {
  int allocation_type;             // 1: pinned
  int handle_types;                // 0: none
  int location_type, location_id;  // type 1: a device
  void* security;
  unsigned char rest[64];
};

// Bytes that an environment variable allows a device's pool to give out; all when it is not set.
uint64_t memory_limit(const char* variable);

class DriverDevice;

class DriverStream : public Stream {
 public:
  // `of_caller`: not the device's default stream.
  DriverStream(DriverDevice& device, bool of_caller);
  ~DriverStream() override;
  DriverStream(const DriverStream&) = delete;
  DriverStream& operator=(const DriverStream&) = delete;

  void synchronize() override;
  void* fault_on_device() override;
  Fault& fault() override { return *fault_; }
  // Where its work goes: the stream, or what the device says this thread shall use for it.
  void* get() const;
  // For the vendor's libraries; made when first asked for. The device is current.
  void* workspace();

 private:
  DriverDevice& device_;
  const bool of_caller_;
  void* stream_ = nullptr;
  Fault* fault_ = nullptr;
  void* fault_device_ = nullptr;
  std::mutex mutex_;
  void* workspace_ = nullptr;
};

class DriverDevice : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  void* alloc(size_t bytes) override;
  void free(void* ptr) override;
  void copy(void* dst, const void* src, size_t bytes, nef_copy_kind kind) override;
  void* host_alloc(size_t bytes) override;
  void host_free(void* ptr) override;
  void copy_to_host(void* dst, const void* src, size_t bytes, Stream& stream) override;
  void copy_on_device(void* dst, const void* src, size_t bytes, Stream& stream) override;
  void record() override;
  std::unique_ptr<Recording> recorded() override;
  void evict() override;
  uint64_t memory_available() override;
  MeasuredCosts measure() override;
  Stream& default_stream() override;
  std::unique_ptr<Stream> make_stream() override;
  void wait(Stream& stream, Stream& other) override;
  std::unique_ptr<Module> load(const std::vector<uint8_t>& code) override;
  bool has_gemm(nef_dtype dtype) const override;
  bool has_float8_gemm() const override;
  void gemm(const Gemm& g, Stream& stream) override;

  // The device made current in this thread while it lives; then what was current before.
  class Current {
   public:
    explicit Current(DriverDevice& device) : device_(device), before_(device.enter()) {}
    ~Current() { device_.leave(before_); }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    DriverDevice& device_;
    int64_t before_;
  };

  const DriverCalls& calls() const { return calls_; }
  // Throws what a result of the driver means: out of memory, a lost device, or a bug.
  virtual void check(int result, const char* what) const = 0;
  // Makes the memory pool when first asked for. The device is current.
  void* pool();
  // Where this thread's work on the default stream goes, and notes faults; null for nowhere else.
  struct Diversion {
    void* stream = nullptr;
    void* fault = nullptr;
  };
  Diversion diverted() const;
  // A function has been found in a module. The device is current.
  virtual void ready(void* function, const char* name) const {
    static_cast<void>(function);
    static_cast<void>(name);
  }
  // Copies to the host behind `done`, an event, and by another stream than launches are on; the
  // device is current.
  void copy_behind(void* done, void* dst, void* src, size_t bytes);
  // An event of the device's, and back. The device is current.
  void* take_event() { return take_event(events_); }
  void give_event(void* event) { give_event(events_, event); }
  // Pinned memory for the fault record of a stream or a recording, and back.
  Fault* take_fault(void** on_device);
  void give_fault(Fault* fault);

 protected:
  // `calls` and `pinned`, which all devices of a driver share, outlive it.
  DriverDevice(const DriverCalls& calls, PinnedRanges& pinned, int ordinal, uint64_t limit)
      : ordinal_(ordinal), limit_(limit), calls_(calls), pinned_(pinned) {}
  // Costs by what the driver tells, 0 for what it does not: clocks in kHz, the memory bus in bits.
  void state_costs(int clock, int memory_clock, int bus);
  virtual int64_t enter() = 0;
  virtual void leave(int64_t before) = 0;
  // The vendor's library for products. The device is current. Throws NEF_BACKEND_UNAVAILABLE when
  // there is none; it is not asked for again.
  virtual std::unique_ptr<BlasLt> open_blas() const = 0;

  const int ordinal_;
  const uint64_t limit_;
  DeviceInfo info_;

 private:
  struct Staging {
    void* memory[2] = {};
    void* free[2] = {};  // events
  };
  // Pinned memory for one result on its way to the host, and what it goes by.
  struct Outlet {
    void* memory = nullptr;
    void* stream = nullptr;
    void* done = nullptr;  // an event
  };
  class OutletLease;
  std::optional<Outlet> take_outlet();
  // Bytes of the pool: in use, or reserved from the driver. The device is current.
  uint64_t pool_bytes(int which);
  int take(void** p, size_t bytes, void* stream);
  void* take_event(std::vector<void*>& spare);
  void give_event(std::vector<void*>& spare, void* event);
  void queue_copy(void* stream, void* dst, const void* src, size_t bytes, nef_copy_kind kind);
  void make_staging();
  BlasLt* blas() const;
  // Until what is queued now is done, whatever other threads queue behind it.
  void wait_here(void* stream);
  bool fetch(void* stream, void* dst, void* src, size_t bytes);
  void leave_by(const Outlet& outlet, void* done, void* dst, void* src, size_t bytes);
  void stage_in(char* dst, const char* src, size_t bytes, void* stream);
  void stage_out(char* dst, char* src, size_t bytes, void* stream);

  const DriverCalls& calls_;
  PinnedRanges& pinned_;
  std::vector<Outlet> outlets_;  // spare ones
  std::mutex mutex_;
  void* pool_ = nullptr;
  std::unique_ptr<DriverStream> stream_;
  std::atomic<Stream*> default_ = nullptr;  // that, once it is there
  std::mutex stream_mutex_, staging_mutex_;
  Staging staging_;
  std::vector<Fault*> faults_;
  std::vector<void*> events_;  // spare ones
  // Those of recordings: the graph that a stream captures keeps its events, and CUDA's driver
  // crashes when another thread records one of them meanwhile.
  std::vector<void*> recording_events_;
  std::mutex recording_mutex_;  // held from record() to recorded()
  void* recording_ = nullptr;
  mutable std::mutex blas_mutex_;
  mutable bool blas_tried_ = false;
  mutable std::unique_ptr<BlasLt> blas_;
};

}  // namespace nef::gpu
