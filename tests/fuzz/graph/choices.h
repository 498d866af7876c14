// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nef::fuzz {

// Reads an input as a row of choices. What lies behind its end reads as 0, so that every prefix of
// an input is one too.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool done() const { return at_ >= bytes_.size(); }
  uint8_t byte() { return done() ? 0 : bytes_[at_++]; }
  // Below n, which is at least 1.
  size_t below(size_t n) {
    size_t v = byte();
    if (n > 256) v = v << 8 | byte();
    return v % n;
  }
  // True in one of n cases; false behind the end.
  bool chance(size_t n) { return below(n) == n - 1; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low) + 1));
  }
  template <typename T, size_t N>
  T pick(const T (&from)[N]) {
    return from[below(N)];
  }
  uint64_t word() {
    uint64_t v = 0;
    for (int i = 0; i < 8; ++i) v = v << 8 | byte();
    return v;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// Numbers at which sums, products, casts and table look-ups go wrong.
int64_t extreme_int(Choices& c);
double extreme_float(Choices& c);
// A dim: mostly small; large ones only where `large` is set.
int64_t any_dim(Choices& c, bool large);

}  // namespace nef::fuzz
