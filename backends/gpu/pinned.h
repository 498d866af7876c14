// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace nef::gpu {

// Host memory that the devices of a driver copy to and from by themselves. Thread-safe.
class PinnedRanges {
 public:
  void add(const void* begin, size_t bytes) {
    std::lock_guard lock(mutex_);
    ranges_[address(begin)] = bytes;
  }
  void remove(const void* begin) {
    std::lock_guard lock(mutex_);
    ranges_.erase(address(begin));
  }
  bool holds(const void* begin, size_t bytes) const {
    std::lock_guard lock(mutex_);
    auto it = ranges_.upper_bound(address(begin));
    if (it == ranges_.begin()) return false;
    --it;
    return address(begin) + bytes <= it->first + it->second;
  }

 private:
  static uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }

  mutable std::mutex mutex_;
  std::map<uintptr_t, size_t> ranges_;
};

}  // namespace nef::gpu
