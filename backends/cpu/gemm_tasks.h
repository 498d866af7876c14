// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// How many tasks may run at once. Kept by a prepared kernel, so that scratch sized with it fits.
constexpr int64_t kMostSlots = 256;
inline int64_t task_slots() { return std::clamp<int64_t>(host().num_threads(), 1, kMostSlots); }

// Runs body(slot, task) for every task in [0, tasks). A slot, below `slots`, is held by one thread
// at a time and names its scratch. Each begins with a part of the tasks that is the same in every
// loop, and then takes from the parts of others, so that uneven ones balance. Tasks that are not
// worth `waking` a thread for are shared with those that are awake.
template <typename Body>
void run_tasks(int64_t slots, int64_t tasks, const Body& body, bool waking = true) {
  slots = std::min(slots, tasks);
  if (slots <= 1) {
    for (int64_t task = 0; task < tasks; ++task) body(int64_t{0}, task);
    return;
  }
  std::atomic<int64_t> next[kMostSlots];
  for (int64_t i = 0; i < slots; ++i) next[i].store(tasks * i / slots, std::memory_order_relaxed);
  parallel_for(slots, waking ? 1 : slots, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      for (int64_t i = slot; i < slot + slots; ++i) {
        const int64_t part = i % slots, last = tasks * (part + 1) / slots;
        for (int64_t task = next[part]++; task < last; task = next[part]++) body(slot, task);
      }
    }
  });
}

}  // namespace nef::cpu
