// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/ir/buffer.h"
#include "engine/ir/error.h"

namespace nef::runtime {

// A run that would take more memory than its caller allows; no device has failed.
class OverBudget : public Error {
 public:
  using Error::Error;
};

// Host memory that one run holds, its blocks included: arenas, outputs, results of blocks.
// Thread-safe.
class MemoryUse {
 public:
  // `taken` is held already, beside the run.
  MemoryUse(uint64_t limit, uint64_t taken) : limit_(limit), taken_(taken) {}

  // Throws OverBudget, naming what the bytes are for; nothing is taken then.
  void take(uint64_t bytes, const char* what);
  void give_back(uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> taken_;
};

// Takes bytes for as long as it lives.
class MemoryLease {
 public:
  // `use` may be null: then nothing is counted.
  explicit MemoryLease(std::shared_ptr<MemoryUse> use) : use_(std::move(use)) {}
  ~MemoryLease() {
    if (use_ != nullptr) use_->give_back(bytes_);
  }
  MemoryLease(const MemoryLease&) = delete;
  MemoryLease& operator=(const MemoryLease&) = delete;
  void add(uint64_t bytes, const char* what) {
    if (use_ == nullptr) return;
    use_->take(bytes, what);
    bytes_ += bytes;
  }

 private:
  const std::shared_ptr<MemoryUse> use_;
  uint64_t bytes_ = 0;
};

// A buffer that counts until nobody holds it. `use` may be null. Throws OverBudget and
// NEF_OUT_OF_MEMORY.
std::shared_ptr<ir::Buffer> allocate(const std::shared_ptr<MemoryUse>& use, size_t bytes,
                                     const char* what);

}  // namespace nef::runtime
