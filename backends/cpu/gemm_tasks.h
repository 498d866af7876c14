// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// How many tasks may run at once. Kept by a prepared kernel, so that scratch sized with it fits.
inline int64_t task_slots() { return std::clamp<int64_t>(host().num_threads(), 1, 256); }

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
  // Of many slots, some share a part.
  constexpr int64_t kMostParts = 16;
  const int64_t parts = std::min(slots, kMostParts);
  std::atomic<int64_t> next[kMostParts];
  for (int64_t i = 0; i < parts; ++i) next[i].store(tasks * i / parts, std::memory_order_relaxed);
  parallel_for(slots, waking ? 1 : slots, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      const int64_t own = slot * parts / slots;
      for (int64_t i = own; i < own + parts; ++i) {
        std::atomic<int64_t>& left = next[i % parts];
        const int64_t last = tasks * (i % parts + 1) / parts;
        while (left.load(std::memory_order_relaxed) < last) {
          const int64_t task = left++;
          if (task < last) body(slot, task);
        }
      }
    }
  });
}

}  // namespace nef::cpu
