// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace nef::fuzz {

// How deep the inputs of a run went; packaging/checks/fuzz.sh reads the line it prints at exit.
struct Counts {
  uint64_t runs = 0, past_parsing = 0, accepted = 0;
  ~Counts() {
    std::fprintf(stderr, "COUNTS runs=%" PRIu64 " past_parsing=%" PRIu64 " accepted=%" PRIu64 "\n",
                 runs, past_parsing, accepted);
  }
};

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  __builtin_trap();
}

}  // namespace nef::fuzz
