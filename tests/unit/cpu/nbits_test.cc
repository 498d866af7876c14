// SPDX-License-Identifier: Apache-2.0
// MatMulNBits with constant weights, which are packed.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/ir/attrs.h"
#include "tests/unit/cpu/each_target.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

struct Case {
  int64_t m, k, n, block;
  bool zeros, bias;
};

// The weights as a file has them, and as numbers.
struct Weights {
  explicit Weights(const Case& c)
      : blocks((c.k + c.block - 1) / c.block), zero_bytes((blocks + 1) / 2) {
    for (float x : random_floats(c.n * blocks * c.block / 2, 1)) {
      packed.push_back(static_cast<uint8_t>(int(x * 128) + 128));
    }
    for (float x : random_floats(c.n * zero_bytes, 2)) {
      zeros.push_back(static_cast<uint8_t>(int(x * 128) + 128));
    }
    scales = random_floats(c.n * blocks, 3);
    for (int64_t j = 0; j < c.n; ++j) {
      for (int64_t p = 0; p < c.k; ++p) wide.push_back(number(c, j, p));
    }
  }
  double number(const Case& c, int64_t j, int64_t p) const {
    const int64_t at = p / c.block;
    const uint8_t byte = packed[j * blocks * c.block / 2 + p / 2];
    const uint8_t zero = zeros[j * zero_bytes + at / 2];
    const int q = p % 2 == 0 ? byte & 15 : byte >> 4;
    const int z = !c.zeros ? 8 : at % 2 == 0 ? zero & 15 : zero >> 4;
    return double{scales[j * blocks + at]} * (q - z);
  }

  int64_t blocks, zero_bytes;
  std::vector<uint8_t> packed, zeros;
  std::vector<float> scales;
  std::vector<double> wide;  // [n][k]
};

void check(const Case& c) {
  SCOPED_TRACE(testing::Message() << c.m << "x" << c.k << "x" << c.n << " block " << c.block
                                  << (c.zeros ? " zeros" : "") << (c.bias ? " bias" : ""));
  const Weights w(c);
  const auto a = random_floats(c.m * c.k, 4), bias = random_floats(c.n, 5);
  RegionRunner r;
  const int32_t ia = r.floats({c.m, c.k}, a);
  std::vector<int32_t> in = {ia, r.constant(NEF_UINT8, {c.n, w.blocks, c.block / 2}, w.packed),
                             r.constant(NEF_FLOAT32, {c.n * w.blocks}, w.scales)};
  if (c.zeros || c.bias) {
    in.push_back(c.zeros ? r.constant(NEF_UINT8, {c.n * w.zero_bytes}, w.zeros) : -1);
  }
  if (c.bias) in.push_back(r.constant(NEF_FLOAT32, {c.n}, bias));
  const int32_t iy = r.output(NEF_FLOAT32, {c.m, c.n});
  r.node(NEF_OP_MATMUL_NBITS, in, {iy},
         ir::AttrBuilder(NEF_OP_MATMUL_NBITS)
             .set_int(NEF_MATMUL_NBITS_K, c.k)
             .set_int(NEF_MATMUL_NBITS_N, c.n)
             .set_int(NEF_MATMUL_NBITS_BITS, 4)
             .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, c.block)
             .build());
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(iy);
  for (int64_t i = 0; i < c.m * c.n; ++i) {
    double sum = c.bias ? bias[i % c.n] : 0, magnitude = std::abs(sum);
    for (int64_t p = 0; p < c.k; ++p) {
      const double term = double{a[i / c.n * c.k + p]} * w.wide[i % c.n * c.k + p];
      sum += term;
      magnitude += std::abs(term);
    }
    ASSERT_NEAR(got[i], sum, 1e-6 * magnitude) << i;
  }
}

TEST(NBits, EveryTargetAndTail) {
  for_each_target([] {
    for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
      for (bool zeros : {false, true}) {
        check({m, 64, 32, 32, zeros, false});
        check({m, 70, 37, 16, zeros, true});
        check({m, 9, 5, 64, zeros, true});
      }
    }
    check({64, 96, 40, 32, true, true});  // panels become floats
    check({130, 300, 70, 128, false, true});
    check({0, 32, 8, 32, false, false});
  });
}

}  // namespace
}  // namespace nef::cpu_test
