// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/cpu/call.h"

namespace nef::cpu {

// An index that a parallel loop found to be out of range. The loop skips it and goes on; the
// error is thrown after the loop.
class IndexFault {
 public:
  IndexFault(const char* op, int axis, int64_t size) : op_(op), axis_(axis), size_(size) {}

  // The index counted from the front, or -1 after noting the fault.
  int64_t check(int64_t index) { return check(index, axis_, size_); }
  int64_t check(int64_t index, int axis, int64_t size) {
    const int64_t wrapped = wrap_index(index, size);
    if (wrapped < 0 && !found_.exchange(true)) {
      index_ = index;
      axis_ = axis;
      size_ = size;
    }
    return wrapped;
  }
  void rethrow() const {
    if (found_.load()) throw_bad_index(op_, index_, axis_, size_);
  }

 private:
  const char* op_;
  int axis_;
  int64_t size_, index_ = 0;
  std::atomic<bool> found_{false};
};

}  // namespace nef::cpu
