// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/kernel_cache.h"

#include <cstdlib>

#include "engine/ir/error.h"

namespace nef::compile {

namespace {

constexpr size_t kMessageBytes = 1024;

// What a kernel depends on beside its region.
std::string device_key(const plan::Device& device) {
  const char* arch = device.info.arch == nullptr ? "" : device.info.arch;
  return cat(device.backend->name, '\0', device.backend->version, '\0', arch, '\0', device.index,
             '\0');
}

// Empty when the backend keeps nothing of this kernel.
std::vector<char> blob_of(const Kernel& kernel) {
  const nef_backend& backend = *kernel.device().backend;
  const auto lock = kernel.device().lock();
  std::vector<char> blob(backend.serialize(kernel.handle(), nullptr, 0));
  if (blob.empty()) return blob;
  if (backend.serialize(kernel.handle(), blob.data(), blob.size()) != blob.size()) blob.clear();
  return blob;
}

}  // namespace

std::string default_cache_directory() {
  if (const char* own = std::getenv("NEF_CACHE_DIR")) return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && xdg[0] == '/') {
    return std::string(xdg) + "/nef";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return std::string(home) + "/.cache/nef";
  }
  return "";
}

Kernel::~Kernel() {
  const auto lock = device_.lock();
  device_.backend->kernel_free(handle_);
}

const char* Kernel::name() const {
  const auto lock = device_.lock();
  return device_.backend->kernel_name(handle_);
}

Prepared::Prepared(std::shared_ptr<Kernel> kernel, std::span<const nef_backend_tensor> values)
    : kernel_(std::move(kernel)) {
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  const plan::Device& device = kernel_->device();
  const auto lock = device.lock();
  const nef_code code = device.backend->prepare(kernel_->handle(), values.data(), &handle_, &err);
  if (code != NEF_OK) fail(code, "prepare", cat(device.name, ": ", message));
}

Prepared::~Prepared() {
  const plan::Device& device = kernel_->device();
  const auto lock = device.lock();
  device.backend->prepared_free(handle_);
}

uint64_t Prepared::bytes() const {
  const plan::Device& device = kernel_->device();
  if (device.backend->prepared_bytes == nullptr) return 0;
  const auto lock = device.lock();
  return device.backend->prepared_bytes(handle_);
}

std::shared_ptr<Kernel> KernelCache::get(const plan::Device& device, const RegionDesc& region) {
  const std::string key = device_key(device) + region.key();
  {
    std::lock_guard lock(mutex_);
    if (const auto it = index_.find(key); it != index_.end()) {
      ++stats_.hits;
      lru_.splice(lru_.begin(), lru_, it->second);
      return it->second->kernel;
    }
    ++stats_.misses;
  }
  // Compiled outside the lock: two threads may both compile the same region, the first one wins.
  std::shared_ptr<Kernel> kernel = compile(device, region, key);
  std::lock_guard lock(mutex_);
  if (const auto it = index_.find(key); it != index_.end()) return it->second->kernel;
  lru_.push_front({key, kernel});
  index_.emplace(lru_.front().key, lru_.begin());
  bytes_ += key.size() + sizeof(Entry);
  while (bytes_ > kMaxBytes && lru_.size() > 1) {
    index_.erase(lru_.back().key);
    bytes_ -= lru_.back().key.size() + sizeof(Entry);
    lru_.pop_back();
  }
  return kernel;
}

const DiskCache* KernelCache::disk_of(const nef_backend& backend) {
  if (backend.serialize == nullptr || directory_.empty()) return nullptr;
  std::lock_guard lock(mutex_);
  return &disks_.try_emplace(backend.name, directory_, backend.name).first->second;
}

std::shared_ptr<Kernel> KernelCache::compile(const plan::Device& device, const RegionDesc& region,
                                             const std::string& key) {
  const DiskCache* disk = disk_of(*device.backend);
  const std::vector<char> blob = disk == nullptr ? std::vector<char>() : disk->read(key);
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  nef_backend_kernel* handle = nullptr;
  {
    const auto lock = device.lock();
    const nef_code code =
        device.backend->compile(device.index, &region.view(), blob.empty() ? nullptr : blob.data(),
                                blob.size(), &handle, &err);
    if (code != NEF_OK) fail(code, "compile", cat(device.name, ": ", message));
  }
  auto kernel = std::make_shared<Kernel>(device, handle);
  if (disk == nullptr) return kernel;
  // A blob that did not fit, as one of another release, gives way to what was made instead.
  const std::vector<char> now = blob_of(*kernel);
  const bool hit = !blob.empty() && now == blob;
  if (!hit) disk->write(key, now);
  std::lock_guard lock(mutex_);
  ++(hit ? stats_.disk_hits : stats_.disk_misses);
  return kernel;
}

KernelCache::Stats KernelCache::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

std::string KernelCache::refusal() const {
  std::lock_guard lock(mutex_);
  for (const auto& [name, disk] : disks_) {
    if (std::string why = disk.refusal(); !why.empty()) return why;
  }
  return {};
}

void KernelCache::evict() {
  std::lock_guard lock(mutex_);
  for (auto it = lru_.begin(); it != lru_.end();) {
    if (it->kernel.use_count() > 1) {
      ++it;
      continue;
    }
    index_.erase(it->key);
    bytes_ -= it->key.size() + sizeof(Entry);
    it = lru_.erase(it);
  }
}

}  // namespace nef::compile
