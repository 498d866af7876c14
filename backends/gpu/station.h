// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/gpu/source.h"
#include "backends/gpu/stage.h"

// What is kept for a device: code that was compiled for it and constants that were uploaded to it.
namespace nef::gpu {

// Modules by the text they were made of, so that equal kernels of different regions are one.
class ModuleCache {
 public:
  struct Entry {
    std::shared_ptr<Module> module;
    std::vector<uint8_t> code;
  };

  std::shared_ptr<const Entry> find(const std::string& source) {
    std::lock_guard lock(mutex_);
    const auto it = entries_.find(source);
    if (it == entries_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second.second);
    return it->second.first;
  }
  void add(const std::string& source, std::shared_ptr<const Entry> entry) {
    std::lock_guard lock(mutex_);
    if (entries_.count(source) != 0) return;
    order_.push_front(source);
    entries_.emplace(source, std::pair{std::move(entry), order_.begin()});
    if (order_.size() <= kMost) return;
    entries_.erase(order_.back());
    order_.pop_back();
  }
  void clear() {
    std::lock_guard lock(mutex_);
    entries_.clear();
    order_.clear();
  }

 private:
  static constexpr size_t kMost = 1024;
  std::mutex mutex_;
  std::list<std::string> order_;
  std::unordered_map<std::string,
                     std::pair<std::shared_ptr<const Entry>, std::list<std::string>::iterator>>
      entries_;
};
using Code = std::shared_ptr<const ModuleCache::Entry>;

// Device memory with an owner.
class Buffer {
 public:
  Buffer(Device& device, size_t bytes)
      : device_(device), data_(device.alloc(bytes)), bytes_(bytes) {}
  ~Buffer() { device_.free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  char* data() const { return static_cast<char*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  Device& device_;
  void* data_;
  size_t bytes_;
};

// Constants on the device. Kernels that share one share its memory: host memory that outlives its
// prepared kernels is one constant while any of them lives.
class Constants {
 public:
  // What was uploaded may be wanted in another layout: as a matrix that lies by columns, or as
  // tiles, which may take more bytes.
  struct Turn {
    int64_t rows = 0, columns = 0;  // 0: as it is
    std::function<void(void* to, const void* from)> work = nullptr;
    size_t tiles = 0;  // bytes of them
  };
  std::shared_ptr<Buffer> upload(Device& device, const void* host, size_t bytes, const Turn& turn) {
    std::lock_guard lock(mutex_);
    std::weak_ptr<Buffer>& known = known_[{host, bytes, turn.rows, turn.columns, turn.tiles}];
    if (auto buffer = known.lock()) return buffer;
    auto buffer = std::make_shared<Buffer>(device, bytes);
    if (bytes > 0) device.copy(buffer->data(), host, bytes, NEF_COPY_HOST_TO_DEVICE);
    if (bytes > 0 && turn.work != nullptr) {
      auto turned = std::make_shared<Buffer>(device, std::max(bytes, turn.tiles));
      turn.work(turned->data(), buffer->data());
      buffer = std::move(turned);  // memory is freed behind the work that is queued
    }
    known = buffer;
    if (++uploads_ % 256 == 0) forget_dead();
    return buffer;
  }

 private:
  void forget_dead() {
    for (auto it = known_.begin(); it != known_.end();) {
      it = it->second.expired() ? known_.erase(it) : std::next(it);
    }
  }
  std::mutex mutex_;
  std::map<std::tuple<const void*, size_t, int64_t, int64_t, size_t>, std::weak_ptr<Buffer>> known_;
  size_t uploads_ = 0;
};

// A device and what is kept for it.
struct Station {
  explicit Station(Device& d) : device(d) {}
  Device& device;
  ModuleCache modules;
  Constants constants;
  std::mutex fault_mutex;  // of the default stream
};

// The code of a kernel's text: what is known of it, else `stored`, else compiled.
inline Code make_code(Station& station, const std::string& text,
                      const std::vector<uint8_t>* stored) {
  if (text.empty()) return nullptr;
  if (Code known = station.modules.find(text)) return known;
  auto entry = std::make_shared<ModuleCache::Entry>();
  entry->code =
      stored != nullptr && !stored->empty() ? *stored : station.device.build(kPrelude + text);
  entry->module = station.device.load(entry->code);
  station.modules.add(text, entry);
  return entry;
}

}  // namespace nef::gpu
