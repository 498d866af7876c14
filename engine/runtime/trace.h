// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/compile/program.h"

namespace nef::runtime {

// Times of the steps of one run, in nanoseconds of the monotonic clock.
struct Trace {
  struct Span {
    uint32_t step = 0;
    uint32_t lane = 0;           // place in its wave: steps side by side get tracks of their own
    int64_t begin = 0, end = 0;  // 0, 0: did not run
  };
  std::shared_ptr<const compile::Program> program;  // whose steps the spans are
  std::vector<Span> spans;
  std::vector<Trace> nested;  // runs of blocks, in order; the first kMaxNested of them
  static constexpr size_t kMaxNested = 1000;

  static int64_t now();
  // Chrome's trace_event format (JSON object form), opens in Perfetto: one complete event per
  // step, named after its node, on a track per device and lane.
  std::string json() const;
};

}  // namespace nef::runtime
