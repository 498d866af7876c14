// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::fuzz {

// What one input costs: processor time of all threads, and the most bytes that the process held on
// its heap beyond what it held before. Address sanitizer's own shadow and quarantine do not count,
// nor do stacks; they are the tool's, and bounded.
class Meter {
 public:
  static constexpr double kMostSeconds = 2;
  static constexpr int64_t kMostBytes = int64_t{256} << 20;

  static void install();  // once, before the first input
  Meter();
  double seconds() const;
  int64_t peak_bytes() const;

 private:
  double began_;
  int64_t held_;
};

}  // namespace nef::fuzz
