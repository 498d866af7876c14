// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace nef::cuda {
namespace {

using backends::BackendError;

constexpr size_t kSmallCopy = size_t{64} << 10;  // the driver takes these along at once
constexpr size_t kStage = size_t{1} << 20;       // small: the first piece waits for nothing else

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }
CUstream raw(gpu::Stream& s) { return static_cast<CudaStream&>(s).get(); }

int attribute(CUdevice device, int which) {
  int v = 0;
  return driver().device_attribute(&v, which, device) == kCudaOk ? v : 0;
}

// Bytes that NEF_CUDA_MEMORY_LIMIT allows a device's pool to give out.
uint64_t memory_limit() {
  const char* text = std::getenv("NEF_CUDA_MEMORY_LIMIT");
  if (text == nullptr || *text == '\0') return UINT64_MAX;
  uint64_t bytes = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, bytes);
  if (error == std::errc() && stop == end && bytes > 0) return bytes;
  throw BackendError(NEF_BACKEND_UNAVAILABLE, std::string("NEF_CUDA_MEMORY_LIMIT is \"") + text +
                                                  "\", expected a number of bytes");
}

std::string version_text(int v) {
  return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
}

class CudaModule : public gpu::Module {
 public:
  CudaModule(CudaDevice& device, const std::vector<uint8_t>& code) : device_(device) {
    const Current current(device_.context());
    check(driver().module_load(&module_, code.data()), "cuModuleLoadData");
  }
  ~CudaModule() override {
    try {
      const Current current(device_.context());
      driver().module_unload(module_);
    } catch (const BackendError&) {
      // A lost device has nothing left to unload.
    }
  }
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  void* function(const char* name) override {
    std::lock_guard lock(mutex_);
    for (const auto& [known, f] : functions_) {
      if (std::strcmp(known.c_str(), name) == 0) return f;
    }
    const Current current(device_.context());
    CUfunction f = nullptr;
    check(driver().module_function(&f, module_, name), name);
    // What a launch may ask for beyond what every device grants.
    if (device_.info().bulk_copies) {
      int fixed = 0;
      check(driver().function_get(&fixed, kFunctionShared, f), name);
      const int most = static_cast<int>(device_.info().shared_bytes) - fixed;
      check(driver().function_set(f, kFunctionMaxShared, most), name);
      check(driver().function_set(f, kFunctionLargeClusters, 1), name);
    }
    functions_.emplace_back(name, f);
    return f;
  }

 private:
  CudaDevice& device_;
  CUmodule module_ = nullptr;
  std::mutex mutex_;
  std::vector<std::pair<std::string, CUfunction>> functions_;
};

}  // namespace

// ---- streams

CudaStream::CudaStream(CudaDevice& device, bool of_caller)
    : device_(device), of_caller_(of_caller) {
  const Current current(device.context());
  check(driver().stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate");
  fault_ = device.take_fault(&fault_device_);
  if (of_caller_) ++device.caller_streams;
}

CudaStream::~CudaStream() {
  try {
    const Current current(device_.context());
    driver().stream_synchronize(stream_);
    if (workspace_ != 0) driver().pool_free(workspace_, stream_);
    driver().stream_destroy(stream_);
  } catch (const BackendError&) {
    // A lost device has nothing left to free.
  }
  device_.give_fault(fault_);
  if (of_caller_) --device_.caller_streams;
}

void CudaStream::synchronize() {
  const Current current(device_.context());
  check(driver().stream_synchronize(stream_), "cuStreamSynchronize");
}

void* CudaStream::workspace() {
  std::lock_guard lock(mutex_);
  if (workspace_ == 0) {
    check(driver().pool_alloc(&workspace_, BlasLt::kWorkspace, device_.pool(), stream_),
          "cuBLASLt workspace");
  }
  return reinterpret_cast<void*>(workspace_);
}

// ---- the device

CudaDevice::CudaDevice(int ordinal) {
  const DriverApi& d = driver();
  check(d.device_get(&device_, ordinal), "cuDeviceGet");
  char name[256] = "";
  check(d.device_name(name, sizeof name, device_), "cuDeviceGetName");
  size_t memory = 0;
  check(d.device_memory(&memory, device_), "cuDeviceTotalMem");
  const int major = attribute(device_, kAttrMajor), minor = attribute(device_, kAttrMinor);
  int driver_version = 0, nvrtc_major = 0, nvrtc_minor = 0;
  d.driver_version(&driver_version);
  nvrtc().version(&nvrtc_major, &nvrtc_minor);
  const std::string compiler = std::to_string(nvrtc_major) + "." + std::to_string(nvrtc_minor);
  const int number = major * 10 + minor;
  info_.arch = "sm_" + std::to_string(number);
  info_.description = std::string(name) + ", compute capability " + std::to_string(major) + "." +
                      std::to_string(minor) + ", driver CUDA " + version_text(driver_version) +
                      ", NVRTC " + compiler;
  build_version_ = "cuda " + info_.arch + " nvrtc " + compiler;
  // Hopper's tensor cores are in none but its own instruction set.
  info_.warpgroups = major == 9;
  gpu_arch_ = "--gpu-architecture=" + info_.arch + (info_.warpgroups ? "a" : "");
  limit_ = memory_limit();
  info_.memory_bytes = std::min<uint64_t>(memory, limit_);
  info_.processors = std::max(1, attribute(device_, kAttrMultiprocessors));
  info_.bulk_copies = major >= 9;
  info_.float8_products = major >= 9 || (major == 8 && minor >= 9);
  info_.shared_bytes = static_cast<uint32_t>(attribute(device_, kAttrMaxShared));
  const double clock = 1e3 * attribute(device_, kAttrClockKhz);
  info_.flops = clock > 0 ? clock * info_.processors * 256 : 1e13;
  const double bus = attribute(device_, kAttrBusWidth) / 8.0;
  const double bytes = 2e3 * attribute(device_, kAttrMemoryClockKhz) * bus;
  info_.bytes = bytes > 0 ? bytes : 5e11;
  info_.link_bytes = 2e10;
  info_.launch_seconds = 8e-6;
}

CUcontext CudaDevice::context() {
  std::lock_guard lock(mutex_);
  if (context_ == nullptr) open();
  return context_;
}

void CudaDevice::open() {
  const DriverApi& d = driver();
  if (attribute(device_, kAttrMemoryPools) == 0) {
    throw BackendError(NEF_BACKEND_UNAVAILABLE, "the device has no stream-ordered memory");
  }
  CUcontext context = nullptr;
  check(d.context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  const Current current(context);
  MemPoolProps props{};
  props.allocation_type = 1;
  props.location = {1, device_};
  check(d.pool_create(&pool_, &props), "cuMemPoolCreate");
  // What is freed stays at hand until `evict`.
  uint64_t keep = UINT64_MAX;
  check(d.pool_set(pool_, kPoolReleaseThreshold, &keep), "cuMemPoolSetAttribute");
  context_ = context;
}

gpu::Stream& CudaDevice::default_stream() {
  context();
  std::lock_guard lock(staging_mutex_);
  if (stream_ == nullptr) stream_ = std::make_unique<CudaStream>(*this, false);
  return *stream_;
}
std::unique_ptr<gpu::Stream> CudaDevice::make_stream() {
  auto stream = std::make_unique<CudaStream>(*this, true);
  // What was copied so far went through the default stream, and must be there for the new one.
  default_stream().synchronize();
  return stream;
}

gpu::Fault* CudaDevice::take_fault(void** on_device) {
  std::lock_guard lock(mutex_);
  if (faults_.empty()) {
    constexpr size_t kMany = 128;
    void* page = nullptr;
    check(driver().host_alloc(&page, kMany * sizeof(gpu::Fault), kHostDeviceMap), "cuMemHostAlloc");
    auto* all = static_cast<gpu::Fault*>(page);
    for (size_t i = 0; i < kMany; ++i) faults_.push_back(all + i);
  }
  gpu::Fault* f = faults_.back();
  faults_.pop_back();
  *f = {};
  CUdeviceptr there = 0;
  check(driver().host_pointer(&there, f, 0), "cuMemHostGetDevicePointer");
  *on_device = reinterpret_cast<void*>(there);
  return f;
}
void CudaDevice::give_fault(gpu::Fault* fault) {
  std::lock_guard lock(mutex_);
  faults_.push_back(fault);
}

// ---- memory

void* CudaDevice::alloc(size_t bytes) {
  CUstream stream = raw(default_stream());
  const Current current(context());
  CUdeviceptr p = 0;
  const size_t n = std::max<size_t>(bytes, 1);
  CUresult r = take(&p, n, stream);
  if (r == kCudaOutOfMemory) {
    // Memory whose freeing is still queued comes back with the stream.
    driver().stream_synchronize(stream);
    driver().pool_trim(pool_, 0);
    r = take(&p, n, stream);
  }
  check(r, "device memory");
  return reinterpret_cast<void*>(p);
}
CUresult CudaDevice::take(CUdeviceptr* p, size_t bytes, CUstream stream) {
  if (limit_ != UINT64_MAX && pool_bytes(kPoolUsed) + bytes > limit_) return kCudaOutOfMemory;
  return driver().pool_alloc(p, bytes, pool_, stream);
}
uint64_t CudaDevice::pool_bytes(int which) const {
  uint64_t bytes = 0;
  check(driver().pool_get(pool_, which, &bytes), "cuMemPoolGetAttribute");
  return bytes;
}
void CudaDevice::free(void* ptr) {
  if (ptr == nullptr) return;
  CUstream stream = raw(default_stream());
  const Current current(context());
  driver().pool_free(address(ptr), stream);
}
void CudaDevice::evict() {
  CUstream stream = raw(default_stream());
  const Current current(context());
  driver().stream_synchronize(stream);
  driver().pool_trim(pool_, 0);
}
uint64_t CudaDevice::memory_available() {
  CUstream stream = raw(default_stream());
  const Current current(context());
  // Memory whose freeing is still queued comes back with the stream.
  check(driver().stream_synchronize(stream), "cuStreamSynchronize");
  size_t free = 0, total = 0;
  check(driver().memory_info(&free, &total), "cuMemGetInfo");
  const uint64_t used = pool_bytes(kPoolUsed);
  // What the pool keeps for later is there for NEF.
  const uint64_t room = free + pool_bytes(kPoolReserved) - used;
  return std::min(room, limit_ - std::min(limit_, used));
}

void CudaDevice::copy(void* dst, const void* src, size_t bytes, nef_copy_kind kind) {
  CUstream stream = raw(default_stream());
  const Current current(context());
  queue_copy(stream, dst, src, bytes, kind);
  // Launches on the default stream come behind the copy; those on others would not.
  if (caller_streams > 0) check(driver().stream_synchronize(stream), "copy");
}

void CudaDevice::queue_copy(CUstream stream, void* dst, const void* src, size_t bytes,
                            nef_copy_kind kind) {
  const DriverApi& d = driver();
  if (kind == NEF_COPY_ON_DEVICE) {
    return check(d.on_device(address(dst), address(src), bytes, stream), "copy on the device");
  }
  const bool in = kind == NEF_COPY_HOST_TO_DEVICE, large = bytes > kSmallCopy;
  const bool pinned = large && pinned_.holds(in ? src : dst, bytes);
  if (large && !pinned) {
    std::lock_guard lock(staging_mutex_);
    if (in) return stage_in(address(dst), static_cast<const char*>(src), bytes);
    return stage_out(static_cast<char*>(dst), address(src), bytes);
  }
  if (in) {
    check(d.to_device(address(dst), src, bytes, stream), "copy to the device");
    if (!pinned) return;  // the driver has taken it along
  } else {
    check(d.to_host(dst, address(src), bytes, stream), "copy to the host");
  }
  wait_here(stream);
}

void* CudaDevice::host_alloc(size_t bytes) {
  const Current current(context());
  void* memory = nullptr;
  check(driver().host_alloc(&memory, bytes, 0), "pinned memory");
  pinned_.add(memory, bytes);
  return memory;
}
void CudaDevice::host_free(void* ptr) {
  const Current current(context());
  pinned_.remove(ptr);
  driver().host_free(ptr);
}

// Until what is queued now is done, whatever other threads queue behind it.
void CudaDevice::wait_here(CUstream stream) {
  const DriverApi& d = driver();
  CUevent event = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      event = events_.back();
      events_.pop_back();
    }
  }
  if (event == nullptr) check(d.event_create(&event, kEventNoTiming), "cuEventCreate");
  CUresult result = d.event_record(event, stream);
  if (result == kCudaOk) result = d.event_synchronize(event);
  {
    std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  check(result, "copy");
}

// Through two pinned pieces in turns: one is filled while the other is on its way.
void CudaDevice::stage_in(CUdeviceptr dst, const char* src, size_t bytes) {
  const DriverApi& d = driver();
  for (size_t i = 0; i < 2 && staging_.memory[i] == nullptr; ++i) {
    check(d.event_create(&staging_.free[i], kEventNoTiming), "cuEventCreate");
    check(d.host_alloc(&staging_.memory[i], kStage, 0), "pinned memory");
  }
  size_t piece = 0;
  for (size_t at = 0; at < bytes; at += kStage, piece ^= 1) {
    const size_t n = std::min(kStage, bytes - at);
    check(d.event_synchronize(staging_.free[piece]), "copy to the device");
    std::memcpy(staging_.memory[piece], src + at, n);
    check(d.to_device(dst + at, staging_.memory[piece], n, stream_->get()), "copy to the device");
    check(d.event_record(staging_.free[piece], stream_->get()), "copy to the device");
  }
}

void CudaDevice::stage_out(char* dst, CUdeviceptr src, size_t bytes) {
  const DriverApi& d = driver();
  for (size_t i = 0; i < 2 && staging_.memory[i] == nullptr; ++i) {
    check(d.event_create(&staging_.free[i], kEventNoTiming), "cuEventCreate");
    check(d.host_alloc(&staging_.memory[i], kStage, 0), "pinned memory");
  }
  const auto fetch = [&](size_t at, size_t piece) {
    const size_t n = std::min(kStage, bytes - at);
    check(d.event_synchronize(staging_.free[piece]), "copy to the host");
    check(d.to_host(staging_.memory[piece], src + at, n, stream_->get()), "copy to the host");
    check(d.event_record(staging_.free[piece], stream_->get()), "copy to the host");
  };
  fetch(0, 0);
  size_t piece = 0;
  for (size_t at = 0; at < bytes; at += kStage, piece ^= 1) {
    if (at + kStage < bytes) fetch(at + kStage, piece ^ 1);
    check(d.event_synchronize(staging_.free[piece]), "copy to the host");
    std::memcpy(dst + at, staging_.memory[piece], std::min(kStage, bytes - at));
  }
}

void CudaDevice::copy_on_device(void* dst, const void* src, size_t bytes, gpu::Stream& stream) {
  const Current current(context());
  check(driver().on_device(address(dst), address(src), bytes, raw(stream)), "copy on the device");
}

// ---- code

std::vector<uint8_t> CudaDevice::build(const std::string& source) {
  const NvrtcApi& n = nvrtc();
  nvrtcProgram program = nullptr;
  if (n.create(&program, source.c_str(), "nef.cu", 0, nullptr, nullptr) != 0) {
    throw BackendError(NEF_COMPILE_FAILED, "NVRTC made no program");
  }
  // Functions of the prelude that a kernel does not use are no fault.
  const char* const options[] = {gpu_arch_.c_str(), "--std=c++17", "--disable-warnings"};
  const nvrtcResult result = n.compile(program, 3, options);
  std::vector<uint8_t> code;
  std::string why;
  if (result == 0) {
    size_t size = 0;
    if (n.code_size(program, &size) == 0 && size > 0) {
      code.resize(size);
      n.code(program, reinterpret_cast<char*>(code.data()));
    }
  } else {
    size_t size = 0;
    n.log_size(program, &size);
    why.resize(size);
    if (size > 0) n.log(program, why.data());
    why = std::string(n.error_text(result)) + ": " + why.substr(0, 600);
  }
  n.destroy(&program);
  if (code.empty()) throw BackendError(NEF_COMPILE_FAILED, "NVRTC: " + why);
  return code;
}

std::unique_ptr<gpu::Module> CudaDevice::load(const std::vector<uint8_t>& code) {
  return std::make_unique<CudaModule>(*this, code);
}

gpu::TileMap CudaDevice::tile_map(const gpu::Tiles& t) {
  const Current current(context());
  gpu::TileMap map;
  constexpr unsigned kRank = 4;
  const unsigned box[kRank] = {t.columns, t.rows, 1, 1}, steps[kRank] = {1, 1, 1, 1};
  uint64_t dims[kRank], strides[kRank - 1];
  for (unsigned d = 0; d < kRank; ++d) dims[d] = static_cast<uint64_t>(t.dims[d]);
  for (unsigned d = 1; d < kRank; ++d) strides[d - 1] = static_cast<uint64_t>(2 * t.steps[d]);
  check(driver().tile_map(&map, t.dtype == NEF_BFLOAT16 ? kTileBf16 : kTileF16, kRank,
                          const_cast<void*>(t.data), dims, strides, box, steps, 0,
                          t.swizzled ? kTileSwizzle128 : 0, kTilePromote256, 0),
        "cuTensorMapEncodeTiled");
  return map;
}

LaunchConfig CudaDevice::launch_config(const gpu::Grid& grid, LaunchAttribute (&attributes)[2],
                                       CUstream stream) const {
  LaunchConfig config{{static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y), 1},
                      {grid.threads, 1, 1},
                      grid.shared,
                      stream,
                      attributes,
                      0};
  if (info_.bulk_copies) {
    // Every kernel waits for the one before it where it needs to.
    LaunchAttribute& early = attributes[config.attribute_count++];
    early.id = kLaunchEarly;
    early.early = 1;
  }
  if (grid.cluster > 1) {
    LaunchAttribute& cluster = attributes[config.attribute_count++];
    cluster.id = kLaunchCluster;
    cluster.cluster[0] = grid.cluster;
    cluster.cluster[1] = cluster.cluster[2] = 1;
  }
  return config;
}

int64_t CudaDevice::clusters_at_once(void* function, const gpu::Grid& grid) {
  const Current current(context());
  LaunchAttribute attributes[2] = {};
  const LaunchConfig config = launch_config(grid, attributes, nullptr);
  int count = 0;
  check(driver().most_clusters(&count, static_cast<CUfunction>(function), &config),
        "cuOccupancyMaxActiveClusters");
  return count;
}

void CudaDevice::launch(void* function, const gpu::Grid& grid, const void* params, size_t,
                        gpu::Stream& stream) {
  const Current current(context());
  void* args[] = {const_cast<void*>(params)};
  LaunchAttribute attributes[2] = {};
  const LaunchConfig config = launch_config(grid, attributes, raw(stream));
  check(driver().launch(&config, static_cast<CUfunction>(function), args, nullptr),
        "cuLaunchKernelEx");
}

// ---- products

BlasLt* CudaDevice::blas() const {
  std::lock_guard lock(mutex_);
  if (!blas_tried_) {
    blas_tried_ = true;
    try {
      const Current current(context_);
      blas_ = std::make_unique<BlasLt>();
    } catch (const BackendError&) {
      // Our own kernels multiply then.
    }
  }
  return blas_.get();
}
bool CudaDevice::has_gemm(nef_dtype dtype) const { return BlasLt::has(dtype) && blas() != nullptr; }

void CudaDevice::gemm(const gpu::Gemm& g, gpu::Stream& stream) {
  const Current current(context());
  auto& s = static_cast<CudaStream&>(stream);
  blas()->multiply(g, s.workspace(), s.get());
}

Dnn* CudaDevice::dnn_library() {
  const Current current(context());
  std::lock_guard lock(mutex_);
  if (!dnn_tried_) {
    dnn_tried_ = true;
    try {
      dnn_ = std::make_unique<Dnn>();
    } catch (const BackendError&) {
      // Our own kernels convolve then.
    }
  }
  return dnn_.get();
}

bool CudaDevice::conv(const gpu::Conv& c, gpu::Stream& stream) {
  Dnn* library = dnn_library();
  if (library == nullptr) return false;
  const Current current(context());
  auto& s = static_cast<CudaStream&>(stream);
  return library->convolve(c, s.workspace(), BlasLt::kWorkspace, s.get());
}

}  // namespace nef::cuda
