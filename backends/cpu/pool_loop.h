// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// What code that both backends share calls to loop on the pool.
struct PoolLoop {
  template <class Body>
  void operator()(int64_t n, int64_t grain, const Body& body) const {
    parallel_for(n, grain, body);
  }
};

}  // namespace nef::cpu
