// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/memory_use.h"

namespace nef::runtime {

void MemoryUse::take(uint64_t bytes, const char* what) {
  uint64_t taken = taken_.load(std::memory_order_relaxed);
  do {
    if (bytes <= limit_ && taken <= limit_ - bytes) continue;
    throw OverBudget(NEF_OUT_OF_MEMORY, "run",
                     cat("the run needs ", bytes, " bytes for ", what, " beside ", taken,
                         " that it holds, the memory budget is ", limit_));
  } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
}

std::shared_ptr<ir::Buffer> allocate(const std::shared_ptr<MemoryUse>& use, size_t bytes,
                                     const char* what) {
  if (use == nullptr) return ir::Buffer::allocate(bytes);
  use->take(bytes, what);
  try {
    auto memory = ir::Buffer::allocate(bytes);
    void* const data = memory->data();
    return ir::Buffer::wrap(data, bytes, [use, memory = std::move(memory)](void*, size_t size) {
      use->give_back(size);
    });
  } catch (...) {
    use->give_back(bytes);
    throw;
  }
}

}  // namespace nef::runtime
