// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/driver.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace nef::gpu {
namespace {

constexpr size_t kSmallCopy = size_t{64} << 10;  // the driver takes these along at once
constexpr size_t kStage = size_t{1} << 20;       // small: the first piece waits for nothing else

void* raw(Stream& s) { return static_cast<DriverStream&>(s).get(); }

class DriverModule : public Module {
 public:
  DriverModule(DriverDevice& device, const std::vector<uint8_t>& code) : device_(device) {
    const DriverDevice::Current current(device_);
    device_.check(device_.calls().module_load(&module_, code.data()), "loading a module");
  }
  ~DriverModule() override {
    try {
      const DriverDevice::Current current(device_);
      device_.calls().module_unload(module_);
    } catch (const BackendError&) {
      // A lost device has nothing left to unload.
    }
  }
  DriverModule(const DriverModule&) = delete;
  DriverModule& operator=(const DriverModule&) = delete;

  void* function(const char* name) override {
    std::lock_guard lock(mutex_);
    for (const auto& [known, f] : functions_) {
      if (known == name) return f;
    }
    const DriverDevice::Current current(device_);
    void* f = nullptr;
    device_.check(device_.calls().module_function(&f, module_, name), name);
    device_.ready(f, name);
    functions_.emplace_back(name, f);
    return f;
  }

 private:
  DriverDevice& device_;
  void* module_ = nullptr;
  std::mutex mutex_;
  std::vector<std::pair<std::string, void*>> functions_;
};

}  // namespace

uint64_t memory_limit(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return UINT64_MAX;
  uint64_t bytes = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, bytes);
  if (error == std::errc() && stop == end && bytes > 0) return bytes;
  throw BackendError(NEF_BACKEND_UNAVAILABLE,
                     std::string(variable) + " is \"" + text + "\", expected a number of bytes");
}

// ---- streams

void* DriverStream::get() const {
  void* other = of_caller_ ? nullptr : device_.diverted().stream;
  return other == nullptr ? stream_ : other;
}
void* DriverStream::fault_on_device() {
  void* other = of_caller_ ? nullptr : device_.diverted().fault;
  return other == nullptr ? fault_device_ : other;
}

DriverStream::DriverStream(DriverDevice& device, bool of_caller)
    : device_(device), of_caller_(of_caller) {
  const DriverDevice::Current current(device);
  device.check(device.calls().stream_create(&stream_, kStreamNonBlocking), "making a stream");
  fault_ = device.take_fault(&fault_device_);
}

DriverStream::~DriverStream() {
  try {
    const DriverDevice::Current current(device_);
    device_.calls().stream_synchronize(stream_);
    if (workspace_ != nullptr) device_.calls().pool_free(workspace_, stream_);
    device_.calls().stream_destroy(stream_);
  } catch (const BackendError&) {
    // A lost device has nothing left to free.
  }
  device_.give_fault(fault_);
}

void DriverStream::synchronize() {
  const DriverDevice::Current current(device_);
  device_.check(device_.calls().stream_synchronize(stream_), "waiting for a stream");
}

void* DriverStream::workspace() {
  std::lock_guard lock(mutex_);
  if (workspace_ == nullptr) {
    device_.check(
        device_.calls().pool_alloc(&workspace_, BlasLt::kWorkspace, device_.pool(), stream_),
        "a library's workspace");
  }
  return workspace_;
}

Stream& DriverDevice::default_stream() {
  if (Stream* made = default_.load(std::memory_order_acquire); made != nullptr) return *made;
  std::lock_guard lock(stream_mutex_);
  if (stream_ == nullptr) stream_ = std::make_unique<DriverStream>(*this, false);
  default_.store(stream_.get(), std::memory_order_release);
  return *stream_;
}
std::unique_ptr<Stream> DriverDevice::make_stream() {
  auto stream = std::make_unique<DriverStream>(*this, true);
  // What was copied so far went through the default stream, and must be there for the new one.
  default_stream().synchronize();
  return stream;
}

Fault* DriverDevice::take_fault(void** on_device) {
  std::lock_guard lock(mutex_);
  if (faults_.empty()) {
    constexpr size_t kMany = 128;
    void* page = nullptr;
    check(calls_.host_alloc(&page, kMany * sizeof(Fault), kHostMapped), "pinned memory");
    auto* all = static_cast<Fault*>(page);
    for (size_t i = 0; i < kMany; ++i) faults_.push_back(all + i);
  }
  Fault* f = faults_.back();
  faults_.pop_back();
  *f = {};
  check(calls_.host_pointer(on_device, f, 0), "the address of pinned memory");
  return f;
}
void DriverDevice::give_fault(Fault* fault) {
  std::lock_guard lock(mutex_);
  faults_.push_back(fault);
}

void DriverDevice::state_costs(int clock, int memory_clock, int bus) {
  info_.flops = clock > 0 ? 1e3 * clock * info_.processors * 256 : 1e13;
  const double bytes = 2e3 * memory_clock * (bus / 8.0);
  info_.bytes = bytes > 0 ? bytes : 5e11;
  info_.link_bytes = 2e10;
  info_.launch_seconds = 8e-6;
}

// ---- memory

void* DriverDevice::pool() {
  std::lock_guard lock(mutex_);
  if (pool_ != nullptr) return pool_;
  PoolProps props{};
  props.allocation_type = 1;
  props.location_type = 1;
  props.location_id = ordinal_;
  void* pool = nullptr;
  check(calls_.pool_create(&pool, &props), "a memory pool");
  // What is freed stays at hand until `evict`.
  uint64_t keep = UINT64_MAX;
  check(calls_.pool_set(pool, kPoolReleaseThreshold, &keep), "a memory pool");
  pool_ = pool;
  return pool_;
}

void* DriverDevice::alloc(size_t bytes) {
  void* stream = raw(default_stream());
  const Current current(*this);
  void* p = nullptr;
  const size_t n = std::max<size_t>(bytes, 1);
  int r = take(&p, n, stream);
  if (r == kOutOfMemory) {
    // Memory whose freeing is still queued comes back with the stream.
    calls_.stream_synchronize(stream);
    calls_.pool_trim(pool(), 0);
    r = take(&p, n, stream);
  }
  check(r, "device memory");
  return p;
}
int DriverDevice::take(void** p, size_t bytes, void* stream) {
  void* from = pool();
  if (limit_ != UINT64_MAX && pool_bytes(kPoolUsed) + bytes > limit_) return kOutOfMemory;
  return calls_.pool_alloc(p, bytes, from, stream);
}
uint64_t DriverDevice::pool_bytes(int which) {
  uint64_t bytes = 0;
  check(calls_.pool_get(pool(), which, &bytes), "the memory pool's size");
  return bytes;
}
void DriverDevice::free(void* ptr) {
  if (ptr == nullptr) return;
  void* stream = raw(default_stream());
  const Current current(*this);
  calls_.pool_free(ptr, stream);
}
void DriverDevice::evict() {
  void* stream = raw(default_stream());
  const Current current(*this);
  calls_.stream_synchronize(stream);
  calls_.pool_trim(pool(), 0);
}
uint64_t DriverDevice::memory_available() {
  void* stream = raw(default_stream());
  const Current current(*this);
  // Memory whose freeing is still queued comes back with the stream.
  check(calls_.stream_synchronize(stream), "waiting for a stream");
  size_t free = 0, total = 0;
  check(calls_.memory_info(&free, &total), "the free memory");
  const uint64_t used = pool_bytes(kPoolUsed);
  // What the pool keeps for later is there for NEF.
  const uint64_t room = free + pool_bytes(kPoolReserved) - used;
  return std::min(room, limit_ - std::min(limit_, used));
}

// ---- copies

void DriverDevice::copy(void* dst, const void* src, size_t bytes, nef_copy_kind kind) {
  half_taken = nullptr;
  void* stream = raw(default_stream());
  const Current current(*this);
  queue_copy(stream, dst, src, bytes, kind);
}

void DriverDevice::queue_copy(void* stream, void* dst, const void* src, size_t bytes,
                              nef_copy_kind kind) {
  void* from = const_cast<void*>(src);
  if (kind == NEF_COPY_ON_DEVICE) {
    return check(calls_.on_device(dst, from, bytes, stream), "a copy on the device");
  }
  const bool in = kind == NEF_COPY_HOST_TO_DEVICE, large = bytes > kSmallCopy;
  const bool pinned = pinned_.holds(in ? src : dst, bytes);
  if (!in && !pinned && bytes <= kStage && fetch(stream, dst, from, bytes)) return;
  if (large && !pinned) {
    std::lock_guard lock(staging_mutex_);
    make_staging();
    if (in) return stage_in(static_cast<char*>(dst), static_cast<const char*>(src), bytes, stream);
    return stage_out(static_cast<char*>(dst), static_cast<char*>(from), bytes, stream);
  }
  if (in) check(calls_.to_device(dst, src, bytes, stream), "a copy to the device");
  else check(calls_.to_host(dst, from, bytes, stream), "a copy to the host");
  // What is not pinned the driver has taken along.
  if (pinned) wait_here(stream);
}

// None where no more memory can be pinned.
std::optional<DriverDevice::Outlet> DriverDevice::take_outlet() {
  {
    std::lock_guard lock(mutex_);
    if (!outlets_.empty()) {
      const Outlet outlet = outlets_.back();
      outlets_.pop_back();
      return outlet;
    }
  }
  Outlet outlet;
  if (calls_.host_alloc(&outlet.memory, kStage, 0) != 0) return std::nullopt;
  int result = calls_.stream_create(&outlet.stream, kStreamNonBlocking);
  if (result == 0) result = calls_.event_create(&outlet.done, kEventNoTiming);
  if (result != 0) {
    if (outlet.stream != nullptr) calls_.stream_destroy(outlet.stream);
    calls_.host_free(outlet.memory);
  }
  check(result, "a stream for results");
  return outlet;
}

// An outlet while it is used.
class DriverDevice::OutletLease {
 public:
  explicit OutletLease(DriverDevice& device) : device_(device), outlet_(device.take_outlet()) {}
  ~OutletLease() {
    if (!outlet_) return;
    std::lock_guard lock(device_.mutex_);
    device_.outlets_.push_back(*outlet_);
  }
  OutletLease(const OutletLease&) = delete;
  OutletLease& operator=(const OutletLease&) = delete;
  explicit operator bool() const { return outlet_.has_value(); }
  const Outlet& operator*() const { return *outlet_; }

 private:
  DriverDevice& device_;
  const std::optional<Outlet> outlet_;
};

// To memory that is not pinned. The driver would let no other thread launch anything until it is
// there, and what was launched behind it would wait for the copy engine.
bool DriverDevice::fetch(void* stream, void* dst, void* src, size_t bytes) {
  const OutletLease outlet(*this);
  if (!outlet) return false;
  void* done = (*outlet).done;
  check(calls_.event_record(done, stream), "a copy to the host");
  leave_by(*outlet, done, dst, src, bytes);
  return true;
}

void DriverDevice::copy_behind(void* done, void* dst, void* src, size_t bytes) {
  const OutletLease outlet(*this);
  if (outlet) return leave_by(*outlet, done, dst, src, bytes);
  queue_copy(raw(default_stream()), dst, src, bytes, NEF_COPY_DEVICE_TO_HOST);
}

void DriverDevice::leave_by(const Outlet& outlet, void* done, void* dst, void* src, size_t bytes) {
  check(calls_.stream_wait(outlet.stream, done, 0), "a copy to the host");
  const bool pinned = pinned_.holds(dst, bytes);
  if (!pinned && bytes > kStage) {
    std::lock_guard lock(staging_mutex_);
    make_staging();
    return stage_out(static_cast<char*>(dst), static_cast<char*>(src), bytes, outlet.stream);
  }
  void* to = pinned ? dst : outlet.memory;
  check(calls_.to_host(to, src, bytes, outlet.stream), "a copy to the host");
  check(calls_.stream_synchronize(outlet.stream), "a copy to the host");
  if (!pinned) std::memcpy(dst, to, bytes);
}

void* DriverDevice::host_alloc(size_t bytes) {
  const Current current(*this);
  void* memory = nullptr;
  // Every device of the driver copies to and from it by itself, and its kernels read it.
  check(calls_.host_alloc(&memory, bytes, kHostPortable | kHostMapped), "pinned memory");
  pinned_.add(memory, bytes);
  return memory;
}
void DriverDevice::host_free(void* ptr) {
  const Current current(*this);
  pinned_.remove(ptr);
  calls_.host_free(ptr);
}

void* DriverDevice::take_event(std::vector<void*>& spare) {
  {
    std::lock_guard lock(mutex_);
    if (!spare.empty()) {
      void* event = spare.back();
      spare.pop_back();
      return event;
    }
  }
  void* event = nullptr;
  check(calls_.event_create(&event, kEventNoTiming), "an event");
  return event;
}
void DriverDevice::give_event(std::vector<void*>& spare, void* event) {
  std::lock_guard lock(mutex_);
  spare.push_back(event);
}

void DriverDevice::wait_here(void* stream) {
  void* event = take_event(events_);
  int result = calls_.event_record(event, stream);
  if (result == 0) result = calls_.event_synchronize(event);
  give_event(events_, event);
  check(result, "a copy");
}

void DriverDevice::wait(Stream& stream, Stream& other) {
  half_taken = nullptr;
  const Current current(*this);
  std::vector<void*>& spare = diverted().stream == nullptr ? events_ : recording_events_;
  void* event = take_event(spare);
  int result = calls_.event_record(event, raw(other));
  // What waits does so for what the event was recorded behind: it may be used again at once.
  if (result == 0) result = calls_.stream_wait(raw(stream), event, 0);
  give_event(spare, event);
  check(result, "a stream that waits for another one");
}

void DriverDevice::make_staging() {
  for (size_t i = 0; i < 2 && staging_.memory[i] == nullptr; ++i) {
    check(calls_.event_create(&staging_.free[i], kEventNoTiming), "an event");
    check(calls_.host_alloc(&staging_.memory[i], kStage, 0), "pinned memory");
  }
}

// Through two pinned pieces in turns: one is filled while the other is on its way.
void DriverDevice::stage_in(char* dst, const char* src, size_t bytes, void* stream) {
  size_t piece = 0;
  for (size_t at = 0; at < bytes; at += kStage, piece ^= 1) {
    const size_t n = std::min(kStage, bytes - at);
    check(calls_.event_synchronize(staging_.free[piece]), "a copy to the device");
    std::memcpy(staging_.memory[piece], src + at, n);
    check(calls_.to_device(dst + at, staging_.memory[piece], n, stream), "a copy to the device");
    check(calls_.event_record(staging_.free[piece], stream), "a copy to the device");
  }
}

void DriverDevice::stage_out(char* dst, char* src, size_t bytes, void* stream) {
  const auto fetch = [&](size_t at, size_t piece) {
    const size_t n = std::min(kStage, bytes - at);
    check(calls_.event_synchronize(staging_.free[piece]), "a copy to the host");
    check(calls_.to_host(staging_.memory[piece], src + at, n, stream), "a copy to the host");
    check(calls_.event_record(staging_.free[piece], stream), "a copy to the host");
  };
  fetch(0, 0);
  size_t piece = 0;
  for (size_t at = 0; at < bytes; at += kStage, piece ^= 1) {
    if (at + kStage < bytes) fetch(at + kStage, piece ^ 1);
    check(calls_.event_synchronize(staging_.free[piece]), "a copy to the host");
    std::memcpy(dst + at, staging_.memory[piece], std::min(kStage, bytes - at));
  }
}

void DriverDevice::copy_to_host(void* dst, const void* src, size_t bytes, Stream& stream) {
  half_taken = nullptr;
  const Current current(*this);
  check(calls_.to_host(dst, const_cast<void*>(src), bytes, raw(stream)), "a copy to the host");
}

void DriverDevice::copy_on_device(void* dst, const void* src, size_t bytes, Stream& stream) {
  half_taken = nullptr;
  const Current current(*this);
  check(calls_.on_device(dst, const_cast<void*>(src), bytes, raw(stream)), "a copy on the device");
}

// ---- code and products

std::unique_ptr<Module> DriverDevice::load(const std::vector<uint8_t>& code) {
  return std::make_unique<DriverModule>(*this, code);
}

BlasLt* DriverDevice::blas() const {
  std::lock_guard lock(blas_mutex_);
  if (!blas_tried_) {
    blas_tried_ = true;
    try {
      const Current current(const_cast<DriverDevice&>(*this));
      blas_ = open_blas();
    } catch (const BackendError&) {
      // Our own kernels multiply then.
    }
  }
  return blas_.get();
}
bool DriverDevice::has_gemm(nef_dtype dtype) const {
  const BlasLt* b = blas();
  return b != nullptr && b->has(dtype);
}
bool DriverDevice::has_float8_gemm() const {
  if (!info_.float8_products) return false;
  const BlasLt* b = blas();
  return b != nullptr && b->has_float8();
}
void DriverDevice::gemm(const Gemm& g, Stream& stream) {
  half_taken = nullptr;
  const Current current(*this);
  auto& s = static_cast<DriverStream&>(stream);
  blas()->multiply(g, s.workspace(), s.get());
}

}  // namespace nef::gpu
