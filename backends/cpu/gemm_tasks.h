// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// How many tasks may run at once. Kept by a prepared kernel, so that scratch sized with it fits.
inline int64_t task_slots() { return std::clamp<int64_t>(host().num_threads(), 1, 256); }

// Runs body(slot, task) for every task in [0, tasks). Tasks are taken from a counter, so uneven
// ones balance. A slot below `slots` is held by one task at a time: it names that task's scratch.
template <typename Body>
void run_tasks(int64_t slots, int64_t tasks, const Body& body) {
  if (slots <= 1 || tasks <= 1) {
    for (int64_t task = 0; task < tasks; ++task) body(int64_t{0}, task);
    return;
  }
  std::atomic<int64_t> next{0};
  parallel_for(std::min(slots, tasks), 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      for (int64_t task = next++; task < tasks; task = next++) body(slot, task);
    }
  });
}

}  // namespace nef::cpu
