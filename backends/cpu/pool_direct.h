// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/conv_geometry.h"
#include "backends/cpu/pool_kernels.h"

// Pools over up to two axes: each output row takes the rows under it together, then goes along what
// became of them.
namespace nef::cpu {

template <typename T, typename M = T>
struct DirectPool {
  int64_t planes = 0;
  Window window;  // one that can be staged (conv_stage.h)
  void (*row)(const PoolRow<T, M>& row) = nullptr;
  const M* x = nullptr;
  M* y = nullptr;
};

// Elements of scratch; looks at shapes only.
template <typename T>
int64_t direct_pool_scratch(const Window& window, int64_t slots);
template <typename T, typename M>
void run_direct_pool(const DirectPool<T, M>& pool, int64_t slots, T* scratch);

}  // namespace nef::cpu
