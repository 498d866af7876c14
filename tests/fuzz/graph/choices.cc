// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/graph/choices.h"

#include <cstring>
#include <limits>

namespace nef::fuzz {

int64_t extreme_int(Choices& c) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kNumbers[] = {0,
                                         1,
                                         -1,
                                         2,
                                         -2,
                                         3,
                                         7,
                                         127,
                                         -128,
                                         255,
                                         256,
                                         1009,
                                         32767,
                                         65536,
                                         65537,
                                         262144,
                                         int64_t{1} << 30,
                                         (int64_t{1} << 31) - 1,
                                         int64_t{1} << 31,
                                         -(int64_t{1} << 31),
                                         -(int64_t{1} << 31) - 1,
                                         int64_t{1} << 32,
                                         int64_t{1} << 53,
                                         int64_t{1} << 61,
                                         int64_t{1} << 62,
                                         -(int64_t{1} << 62),
                                         kMax,
                                         kMax - 1,
                                         kMax - 1000,
                                         kMax / 2 + 1,
                                         kMin,
                                         kMin + 1,
                                         kMin + 2,
                                         kMin + 7,
                                         kMin + 1000,
                                         kMin + (int64_t{1} << 31) - 1,
                                         kMin + (int64_t{1} << 31),
                                         -kMax + 1000};
  if (c.chance(16)) return static_cast<int64_t>(c.word());
  return c.pick(kNumbers);
}

double extreme_float(Choices& c) {
  using limits = std::numeric_limits<double>;
  static constexpr double kNumbers[] = {0.0,
                                        -0.0,
                                        1.0,
                                        -1.0,
                                        0.5,
                                        2.5,
                                        1e-5,
                                        1e-45,
                                        limits::denorm_min(),
                                        -1e-40,
                                        65504.0,
                                        65520.0,
                                        448.0,
                                        3.4028234663852886e38,
                                        -3.5e38,
                                        1e300,
                                        limits::max(),
                                        limits::lowest(),
                                        limits::infinity(),
                                        -limits::infinity(),
                                        limits::quiet_NaN(),
                                        2147483648.0,
                                        9223372036854775808.0,
                                        -9223372036854775809.0,
                                        18446744073709551616.0};
  if (c.chance(16)) {
    const uint64_t bits = c.word();
    double v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }
  return c.pick(kNumbers);
}

int64_t any_dim(Choices& c, bool large) {
  static constexpr int64_t kSmall[] = {1, 2, 3, 4, 5, 7, 8, 1, 2, 4, 13, 16, 17, 31, 0, 6};
  static constexpr int64_t kLarge[] = {64,
                                       127,
                                       257,
                                       1009,
                                       4096,
                                       65537,
                                       262144,
                                       1 << 24,
                                       (int64_t{1} << 31) - 1,
                                       int64_t{1} << 31,
                                       int64_t{1} << 32,
                                       int64_t{1} << 61,
                                       int64_t{1} << 62,
                                       std::numeric_limits<int64_t>::max()};
  if (large && c.chance(12)) return c.pick(kLarge);
  return c.pick(kSmall);
}

}  // namespace nef::fuzz
