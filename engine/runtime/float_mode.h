// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How this thread's processor treats subnormal numbers. One state per thread, which a library must
// leave as it found it.
namespace nef::runtime {

// Are subnormal operands and results taken as zero on this thread?
bool flushes_subnormals();

// Sets that for as long as it lives. No effect on processors without such a switch.
class FlushSubnormals {
 public:
  explicit FlushSubnormals(bool on);
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  uint64_t before_, now_;
};

}  // namespace nef::runtime
