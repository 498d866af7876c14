// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device.h"

#include <algorithm>

namespace nef::cuda {
namespace {

using backends::BackendError;

CUstream raw(gpu::Stream& s) {
  return static_cast<CUstream>(static_cast<gpu::DriverStream&>(s).get());
}

int attribute(CUdevice device, int which) {
  int v = 0;
  return driver().device_attribute(&v, which, device) == kCudaOk ? v : 0;
}

constexpr uint32_t kGrantedShared = 48 << 10;  // bytes that any block may ask for

std::string version_text(int v) {
  return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
}

}  // namespace

CudaDevice::CudaDevice(int ordinal, gpu::PinnedRanges& pinned)
    : DriverDevice(driver().calls, pinned, ordinal, gpu::memory_limit("NEF_CUDA_MEMORY_LIMIT")) {
  const DriverApi& d = driver();
  cuda::check(d.device_get(&device_, ordinal), "cuDeviceGet");
  char name[256] = "";
  cuda::check(d.device_name(name, sizeof name, device_), "cuDeviceGetName");
  size_t memory = 0;
  cuda::check(d.device_memory(&memory, device_), "cuDeviceTotalMem");
  const int major = attribute(device_, kAttrMajor), minor = attribute(device_, kAttrMinor);
  int driver_version = 0, nvrtc_major = 0, nvrtc_minor = 0;
  d.driver_version(&driver_version);
  nvrtc().calls.version(&nvrtc_major, &nvrtc_minor);
  const std::string compiler = std::to_string(nvrtc_major) + "." + std::to_string(nvrtc_minor);
  const int number = major * 10 + minor;
  info_.arch = "sm_" + std::to_string(number);
  info_.description = std::string(name) + ", compute capability " + std::to_string(major) + "." +
                      std::to_string(minor) + ", driver CUDA " + version_text(driver_version) +
                      ", NVRTC " + compiler;
  // Not the driver: it takes machine code as it is.
  info_.build = "cuda " + info_.arch + " nvrtc " + compiler;
  // Hopper's tensor cores are in none but its own instruction set.
  info_.warpgroups = major == 9;
  gpu_arch_ = "--gpu-architecture=" + info_.arch + (info_.warpgroups ? "a" : "");
  info_.memory_bytes = std::min<uint64_t>(memory, limit_);
  info_.processors = std::max(1, attribute(device_, kAttrMultiprocessors));
  info_.bulk_copies = major >= 9;
  info_.float8_products = major >= 9 || (major == 8 && minor >= 9);
  info_.shared_bytes = static_cast<uint32_t>(attribute(device_, kAttrMaxShared));
  state_costs(attribute(device_, kAttrClockKhz), attribute(device_, kAttrMemoryClockKhz),
              attribute(device_, kAttrBusWidth));
}

CUcontext CudaDevice::context() {
  if (CUcontext known = context_.load(std::memory_order_acquire); known != nullptr) return known;
  std::lock_guard lock(context_mutex_);
  if (context_ != nullptr) return context_;
  if (attribute(device_, kAttrMemoryPools) == 0) {
    throw BackendError(NEF_BACKEND_UNAVAILABLE, "the device has no stream-ordered memory");
  }
  CUcontext context = nullptr;
  check(driver().context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  context_.store(context, std::memory_order_release);
  return context;
}

int64_t CudaDevice::enter() {
  check(push_(context()), "cuCtxPushCurrent");
  return 0;
}
void CudaDevice::leave(int64_t) {
  CUcontext old = nullptr;
  pop_(&old);
}

// ---- code

std::vector<uint8_t> CudaDevice::build(const std::string& source) {
  // Functions of the prelude that a kernel does not use are no fault.
  const char* const options[] = {gpu_arch_.c_str(), "--std=c++17", "--disable-warnings"};
  return gpu::compile_text(nvrtc().calls, "NVRTC", source, options);
}

// What a launch may ask for beyond what every device grants.
void CudaDevice::ready(void* function, const char* name) const {
  if (!info_.bulk_copies) return;
  auto* f = static_cast<CUfunction>(function);
  int fixed = 0;
  check(driver().function_get(&fixed, kFunctionShared, f), name);
  const int most = static_cast<int>(info_.shared_bytes) - fixed;
  check(driver().function_set(f, kFunctionMaxShared, most), name);
  check(driver().function_set(f, kFunctionLargeClusters, 1), name);
}

gpu::TileMap CudaDevice::tile_map(const gpu::Tiles& t) {
  const Current current(*this);
  gpu::TileMap map;
  constexpr unsigned kRank = 4;
  const unsigned box[kRank] = {t.columns, t.rows, 1, 1}, steps[kRank] = {1, 1, 1, 1};
  uint64_t dims[kRank], strides[kRank - 1];
  for (unsigned d = 0; d < kRank; ++d) dims[d] = static_cast<uint64_t>(t.dims[d]);
  const auto size = static_cast<int64_t>(backends::dtype_size(t.dtype));
  for (unsigned d = 1; d < kRank; ++d) strides[d - 1] = static_cast<uint64_t>(size * t.steps[d]);
  const int type = t.dtype == NEF_FLOAT32    ? kTileF32
                   : t.dtype == NEF_BFLOAT16 ? kTileBf16
                                             : kTileF16;
  check(driver().tile_map(&map, type, kRank, const_cast<void*>(t.data), dims, strides, box, steps,
                          0, t.swizzled ? kTileSwizzle128 : 0, kTilePromote256, 0),
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
  const Current current(*this);
  LaunchAttribute attributes[2] = {};
  const LaunchConfig config = launch_config(grid, attributes, nullptr);
  int count = 0;
  check(driver().most_clusters(&count, static_cast<CUfunction>(function), &config),
        "cuOccupancyMaxActiveClusters");
  return count;
}

void CudaDevice::launch(void* function, const gpu::Grid& grid, const void* params, size_t,
                        gpu::Stream& stream) {
  const Current current(*this);
  void* args[] = {const_cast<void*>(params)};
  LaunchAttribute attributes[2] = {};
  const LaunchConfig config = launch_config(grid, attributes, raw(stream));
  // Kernels that share multiprocessors all want them to have as much shared memory as there can be:
  // one that had less would have to become idle before it had more.
  if (grid.shared > kGrantedShared) {
    check(driver().function_set(static_cast<CUfunction>(function), kFunctionSharedShare, 100),
          "cuFuncSetAttribute");
  }
  check(driver().launch(&config, static_cast<CUfunction>(function), args, nullptr),
        "cuLaunchKernelEx");
}

// ---- libraries

std::unique_ptr<gpu::BlasLt> CudaDevice::open_blas() const {
  return std::make_unique<gpu::BlasLt>(blaslt(), kLtNumbers);
}

Dnn* CudaDevice::dnn_library() {
  const Current current(*this);
  std::lock_guard lock(dnn_mutex_);
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
  const Current current(*this);
  void* workspace = static_cast<gpu::DriverStream&>(stream).workspace();
  return library->convolve(c, workspace, gpu::BlasLt::kWorkspace, raw(stream));
}

}  // namespace nef::cuda
