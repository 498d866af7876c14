// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/ir/array.h"

namespace nef::plan {

// A block of memory that is needed during steps [first, last].
struct MemoryRequest {
  uint64_t bytes = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

struct MemoryPlan {
  ir::Array<uint64_t> offset;  // per request, multiples of kMemoryAlignment
  uint64_t arena_bytes = 0;
  uint64_t sum_bytes = 0;  // what it would take without reuse
};

constexpr uint64_t kMemoryAlignment = 64;

// Execution-order best fit over a binned free list: about 20 ns a request. Requests must be
// ordered by `first`. Throws NEF_LIMIT_EXCEEDED when sizes overflow.
MemoryPlan plan_memory(std::span<const MemoryRequest> requests);
// Greedy by size with the smallest gap that fits (Pisarchyk & Lee, arXiv:2001.03288): tighter,
// quadratic; for compiling ahead of time.
MemoryPlan plan_memory_tight(std::span<const MemoryRequest> requests);

// "" when no two requests that are alive together overlap, else what overlaps. A sweep, O(n log n).
std::string check_memory(std::span<const MemoryRequest> requests, const MemoryPlan& plan);

}  // namespace nef::plan
