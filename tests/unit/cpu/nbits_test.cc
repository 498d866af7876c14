// SPDX-License-Identifier: Apache-2.0
// MatMulNBits with constant weights, which are packed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

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

struct Product {
  std::string kernel;
  std::vector<float> y;
};

Product multiplied(const Case& c, const Weights& w, const std::vector<float>& a,
                   const std::vector<float>& bias, nef_precision precision) {
  RegionRunner r(NEF_REGION_SINGLE, precision);
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
  EXPECT_EQ(outcome.code, NEF_OK) << outcome.message;
  return {outcome.kernel, r.result<float>(iy)};
}

struct Sum {
  double value, magnitude;
  double rounding;  // at most, of activations in bytes
};

Sum sum_of(const Case& c, const Weights& w, const float* row, int64_t j, float bias) {
  Sum s{bias, std::abs(bias), 0};
  for (int64_t first = 0; first < c.k; first += c.block) {
    double most = 0, weights = 0;
    for (int64_t p = first; p < std::min(c.k, first + c.block); ++p) {
      const double wide = w.wide[j * c.k + p];
      s.value += double{row[p]} * wide;
      s.magnitude += std::abs(double{row[p]} * wide);
      most = std::max(most, std::abs(double{row[p]}));
      weights += std::abs(wide);
    }
    s.rounding += most / 254 * weights;
  }
  return s;
}

std::string traced(const Case& c) {
  return (testing::Message() << c.m << "x" << c.k << "x" << c.n << " block " << c.block
                             << (c.zeros ? " zeros" : "") << (c.bias ? " bias" : ""))
      .GetString();
}

void check(const Case& c) {
  SCOPED_TRACE(traced(c));
  const Weights w(c);
  const auto a = random_floats(c.m * c.k, 4), bias = random_floats(c.n, 5);
  const Product exact = multiplied(c, w, a, bias, NEF_PRECISION_EXACT);
  const Product fast = multiplied(c, w, a, bias, NEF_PRECISION_FAST);
  EXPECT_EQ(exact.kernel, "matmul of packed weights");
  EXPECT_EQ(fast.kernel, "matmul of packed weights by bytes");
  for (int64_t i = 0; i < c.m * c.n; ++i) {
    const Sum want = sum_of(c, w, &a[i / c.n * c.k], i % c.n, c.bias ? bias[i % c.n] : 0);
    ASSERT_NEAR(exact.y[i], want.value, 1e-6 * want.magnitude) << i;
    ASSERT_NEAR(fast.y[i], want.value, want.rounding + 1e-6 * want.magnitude) << i;
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

TEST(NBits, WholeNumbersStayExactInBytes) {
  for_each_target([] {
    const Case c{3, 64, 33, 32, true, false};
    const Weights w(c);
    auto a = random_floats(c.m * c.k, 4);
    for (float& x : a) x = std::nearbyint(x * 127);
    for (int64_t i = 0; i < c.m * c.k; i += c.block) a[i] = 127;
    const Product fast = multiplied(c, w, a, {}, NEF_PRECISION_FAST);
    for (int64_t i = 0; i < c.m * c.n; ++i) {
      const Sum want = sum_of(c, w, &a[i / c.n * c.k], i % c.n, 0);
      ASSERT_NEAR(fast.y[i], want.value, 1e-6 * want.magnitude) << i;
    }
  });
}

TEST(NBits, RowsThatBytesCannotHoldAreExact) {
  for_each_target([] {
    const Case c{12, 64, 33, 32, false, true};
    const Weights w(c);
    auto a = random_floats(c.m * c.k, 4);
    const auto bias = random_floats(c.n, 5);
    a[1 * c.k + 40] = INFINITY;
    a[3 * c.k] = NAN;
    a[4 * c.k + 63] = 1e36f;
    for (int64_t p = 0; p < c.k; ++p) a[6 * c.k + p] = 0;
    for (int64_t p = 0; p < c.k; ++p) a[7 * c.k + p] *= 1e-36f;
    const Product exact = multiplied(c, w, a, bias, NEF_PRECISION_EXACT);
    const Product fast = multiplied(c, w, a, bias, NEF_PRECISION_FAST);
    for (int64_t i = 0; i < c.m * c.n; ++i) {
      const int64_t row = i / c.n;
      if (row == 1 || row == 3) {
        EXPECT_EQ(std::isfinite(exact.y[i]), std::isfinite(fast.y[i])) << i;
        EXPECT_EQ(std::isnan(exact.y[i]), std::isnan(fast.y[i])) << i;
        continue;
      }
      const Sum want = sum_of(c, w, &a[row * c.k], i % c.n, bias[i % c.n]);
      const double rounding = row == 6 || row == 7 ? 0 : want.rounding;
      EXPECT_NEAR(fast.y[i], want.value, rounding + 1e-6 * want.magnitude) << i;
    }
  });
}

TEST(NBits, OnlyFloat32AndFastRoundToBytes) {
  for (nef_dtype dtype : {NEF_FLOAT16, NEF_BFLOAT16, NEF_FLOAT64}) {
    const Case c{1, 32, 8, 32, false, false};
    const Weights w(c);
    RegionRunner r(NEF_REGION_SINGLE, NEF_PRECISION_FAST);
    const size_t bytes = dtype == NEF_FLOAT64 ? 8 : 2;
    const int32_t ia = r.input(dtype, {1, c.k}, std::vector<uint8_t>(c.k * bytes));
    const int32_t ib = r.constant(NEF_UINT8, {c.n, w.blocks, c.block / 2}, w.packed);
    const int32_t is = r.constant(dtype, {c.n * w.blocks}, std::vector<uint8_t>(c.n * bytes));
    r.node(NEF_OP_MATMUL_NBITS, {ia, ib, is}, {r.output(dtype, {1, c.n})},
           ir::AttrBuilder(NEF_OP_MATMUL_NBITS)
               .set_int(NEF_MATMUL_NBITS_K, c.k)
               .set_int(NEF_MATMUL_NBITS_N, c.n)
               .set_int(NEF_MATMUL_NBITS_BITS, 4)
               .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, c.block)
               .build());
    EXPECT_EQ(r.run().kernel, "matmul of packed weights") << dtype;
  }
}

}  // namespace
}  // namespace nef::cpu_test
