// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/shared/region.h"

// What a vendor's driver gives to the kernels of this folder. CUDA is one implementation; the tests
// have another that runs kernels on the host.
namespace nef::gpu {

using backends::BackendError;

// The first index of a stream's kernels that was out of range; written by kernels, read by the host
// once the stream is done. All fields are eight bytes, as in every structure kernels see.
struct Fault {
  int64_t set = 0, index = 0, axis = 0, size = 0;
};
// The axis of a fault that is a message: its index is where the text lies on the host, its size how
// long it is.
constexpr int64_t kMessageAxis = -1;

// Work in order. Owned by its creator; one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  // Blocks until all is done. Throws NEF_DEVICE_LOST and the like.
  virtual void synchronize() = 0;
  // Where kernels note a fault: the same memory as the device and as the host sees it.
  virtual void* fault_on_device() = 0;
  virtual Fault& fault() = 0;
};

// Compiled code on a device.
class Module {
 public:
  virtual ~Module() = default;
  // An entry point by name; lives as long as the module. Throws NEF_INTERNAL when there is none.
  virtual void* function(const char* name) = 0;
};

struct Grid {
  int64_t x = 1, y = 1;
  uint32_t threads = 256;
  uint32_t shared = 0;   // bytes of dynamic shared memory
  uint32_t cluster = 1;  // neighbouring blocks that see each other's shared memory
  // One block on each multiprocessor, with half of its shared memory and at most half of all else:
  // the next kernel's blocks may begin beside them, one each.
  bool takes_half = false;
};
// The stream of what this thread queued last, when that is such a launch.
inline thread_local const Stream* half_taken = nullptr;

// Launches that run again as they are, with the memory they were noted with.
class Recording {
 public:
  virtual ~Recording() = default;
  // Queues all of them on the default stream.
  virtual void launch() = 0;
  // The same, and blocks until they are done, whatever is queued behind them.
  virtual void run() = 0;
  // Copies to the host behind that, whatever is queued behind it.
  virtual void copy_to_host(void* dst, const void* src, size_t bytes) = 0;
  // Where its kernels note a fault.
  virtual Fault& fault() = 0;
};

// d = alpha * a b + beta * c + bias, row-major: a is [m, k] (stored [k, m] when trans_a), b is
// [k, n] (stored [n, k] when trans_b), c (d itself where it is null) and d [m, n], bias [n];
// `batch` of them, `stride_*` elements apart.
struct Gemm {
  nef_dtype dtype = NEF_FLOAT32;
  // Of float8 operands, whose product is of `dtype`; 0 = a and b are of `dtype` themselves.
  nef_dtype a_dtype = NEF_DTYPE_INVALID, b_dtype = NEF_DTYPE_INVALID;
  const void* scale = nullptr;  // a float on the device that a product of float8 is multiplied by
  int64_t m = 0, n = 0, k = 0, batch = 1;
  bool trans_a = false, trans_b = false;
  int64_t lda = 0, ldb = 0, ldd = 0, stride_a = 0, stride_b = 0, stride_d = 0;
  double alpha = 1, beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
};

// y = x convolved with w + beta * y, all dense with channels before the spatial axes.
struct Conv {
  static constexpr int kMostAxes = 3;
  nef_dtype dtype = NEF_FLOAT32;
  int rank = 2;  // spatial axes
  int64_t batch = 0, channels = 0, filters = 0, groups = 1;
  int64_t in[kMostAxes], out[kMostAxes], kernel[kMostAxes];
  int64_t stride[kMostAxes], dilation[kMostAxes];
  int64_t pad[kMostAxes];  // on either side
  const void* x = nullptr;
  const void* w = nullptr;
  double beta = 0;
  void* y = nullptr;
};

// A tensor of 16-bit floats, or float32, that kernels copy in tiles: columns run densely, then the
// other axes with steps in elements (multiples of 16 bytes). What a tile has beyond the tensor's
// end is zero.
struct Tiles {
  nef_dtype dtype = NEF_BFLOAT16;
  const void* data = nullptr;
  int64_t dims[4] = {}, steps[4] = {};
  uint32_t columns = 64, rows = 128;  // of a tile; 128 bytes of columns at most
  bool swizzled = true;               // sixteens of bytes change places within 128, by row
};
// What the copy engine is told about it.
struct TileMap {
  alignas(64) uint64_t words[16] = {};
};

struct DeviceInfo {
  std::string description, arch;
  std::string build;  // what code depends on besides its source: part of cache keys
  uint64_t memory_bytes = 0;
  double flops = 0, bytes = 0, link_bytes = 0, launch_seconds = 0;
  int processors = 1;  // multiprocessors
  // Kernels of Hopper and later: bulk copies into shared memory, clusters of blocks, and launches
  // that begin before the one in front of them is done.
  bool bulk_copies = false;
  bool float8_products = false;      // tensor cores take float8
  bool warpgroups = false;           // Hopper's instructions for tensor cores (wgmma)
  uint32_t shared_bytes = 48 << 10;  // a block's shared memory at most
};

// What is found out on the device itself.
struct MeasuredCosts {
  double launch_seconds = 0;  // of one launch among many
  double link_seconds = 0;    // of a small copy between the device and the host, waited for
  double link_bytes = 0;      // per second, of a large one
};

// One device. Thread-safe. Failures are thrown as BackendError.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  // Memory is ordered with the default stream: freed memory is not reused before it is done.
  virtual void* alloc(size_t bytes) = 0;
  virtual void free(void* ptr) = 0;
  // Ordered behind the default stream's work; to the host it waits.
  virtual void copy(void* dst, const void* src, size_t bytes, nef_copy_kind kind) = 0;
  // Host memory that copies and kernels reach without a detour; null where there is none.
  virtual void* host_alloc(size_t) { return nullptr; }
  virtual void host_free(void*) {}
  // Queued on the stream; `dst` is memory of host_alloc.
  virtual void copy_to_host(void* dst, const void* src, size_t bytes, Stream& stream) = 0;
  virtual void copy_on_device(void* dst, const void* src, size_t bytes, Stream& stream) = 0;
  virtual void evict() = 0;
  virtual uint64_t memory_available() = 0;
  // Milliseconds.
  virtual MeasuredCosts measure() {
    throw BackendError(NEF_UNSUPPORTED, "this device measures nothing");
  }

  // The stream of launches that name none.
  virtual Stream& default_stream() = 0;
  virtual std::unique_ptr<Stream> make_stream() = 0;
  // What `stream` is given from now on comes behind what `other` holds now.
  virtual void wait(Stream& stream, Stream& other) = 0;

  // Source text to code for this device (NEF_COMPILE_FAILED), and code to a module.
  virtual std::vector<uint8_t> build(const std::string& source) = 0;
  virtual std::unique_ptr<Module> load(const std::vector<uint8_t>& code) = 0;
  // `params`: one structure of eight-byte fields, passed by value.
  virtual void launch(void* function, const Grid& grid, const void* params, size_t bytes,
                      Stream& stream) = 0;

  // Clusters of such a launch that run side by side.
  virtual int64_t clusters_at_once(void* /*function*/, const Grid& grid) {
    return grid.x / grid.cluster;
  }
  virtual TileMap tile_map(const Tiles&) {
    throw BackendError(NEF_UNSUPPORTED, "this device copies no tiles");
  }
  // From `record` to `recorded`, what this thread launches on the default stream is noted and not
  // run. Both may throw; then nothing is noted any more.
  virtual void record() { throw BackendError(NEF_UNSUPPORTED, "this device records nothing"); }
  virtual std::unique_ptr<Recording> recorded() { return nullptr; }

  // Does a library multiply matrices of this dtype? Else the kernels of this folder do.
  virtual bool has_gemm(nef_dtype dtype) const = 0;
  virtual void gemm(const Gemm& g, Stream& stream) = 0;
  // Does the library multiply float8, both rows of k numbers (trans_b)?
  virtual bool has_float8_gemm() const { return false; }
  // A library for convolutions; `conv` is false when it does not take one.
  virtual bool has_conv() { return false; }
  virtual bool conv(const Conv&, Stream&) { return false; }
};

// The devices of one vendor.
class Platform {
 public:
  virtual ~Platform() = default;
  // Once, before all else. Throws NEF_BACKEND_UNAVAILABLE with the reason when there is none.
  virtual void open() = 0;
  virtual size_t count() const = 0;
  virtual Device& device(size_t i) = 0;
};

}  // namespace nef::gpu
