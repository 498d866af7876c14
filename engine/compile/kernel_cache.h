// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/compile/disk_cache.h"
#include "engine/compile/region_desc.h"
#include "engine/plan/device.h"

namespace nef::compile {

// A compiled region; shared by every program with a region of that structure on that device.
class Kernel {
 public:
  Kernel(const plan::Device& device, nef_backend_kernel* handle)
      : device_(device), handle_(handle) {}
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const plan::Device& device() const { return device_; }
  nef_backend_kernel* handle() const { return handle_; }
  const char* name() const;

 private:
  const plan::Device& device_;
  nef_backend_kernel* handle_;
};

// A kernel bound to the constants of one program.
class Prepared {
 public:
  Prepared(std::shared_ptr<Kernel> kernel, std::span<const nef_backend_tensor> values);
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  const Kernel& kernel() const { return *kernel_; }
  nef_backend_prepared* handle() const { return handle_; }
  uint64_t bytes() const;

 private:
  std::shared_ptr<Kernel> kernel_;
  nef_backend_prepared* handle_ = nullptr;
};

// Kernels by structure: in memory (least recently used go first) and, for backends that
// serialise, on disk under $XDG_CACHE_HOME/nef. Thread-safe.
class KernelCache {
 public:
  struct Stats {
    uint64_t hits = 0, misses = 0;            // in memory
    uint64_t disk_hits = 0, disk_misses = 0;  // of the memory misses, for backends that serialise
  };

  // `directory` "" = no disk cache.
  explicit KernelCache(std::string directory) : directory_(std::move(directory)) {}

  // The kernel for a region on a device. Throws what the backend reports (NEF_COMPILE_FAILED,
  // NEF_UNSUPPORTED, ...).
  std::shared_ptr<Kernel> get(const plan::Device& device, const RegionDesc& region);
  Stats stats() const;
  // Why kernels are not kept on disk although there is a folder for them; empty when they are.
  std::string refusal() const;
  // Drops every kernel that no program uses.
  void evict();

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<Kernel> kernel;
  };
  using Lru = std::list<Entry>;
  std::shared_ptr<Kernel> compile(const plan::Device& device, const RegionDesc& region,
                                  const std::string& key);
  // Null without a folder, or when the backend does not serialise.
  const DiskCache* disk_of(const nef_backend& backend);

  static constexpr size_t kMaxBytes = 64u << 20;  // of keys and bookkeeping
  const std::string directory_;
  mutable std::mutex mutex_;
  std::map<std::string, DiskCache, std::less<>> disks_;  // by backend
  Lru lru_;                                              // most recent first
  std::unordered_map<std::string_view, Lru::iterator> index_;
  size_t bytes_ = 0;
  Stats stats_;
};

// $NEF_CACHE_DIR, else $XDG_CACHE_HOME/nef, else $HOME/.cache/nef; "" when none is usable or
// NEF_CACHE_DIR is set and empty.
std::string default_cache_directory();

}  // namespace nef::compile
