// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/attrs.h"
#include "tests/unit/cpu/each_target.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

std::vector<float> layer_norm(int64_t rows, int64_t n, const std::vector<float>& x,
                              const std::vector<float>& scale, const std::vector<float>& bias) {
  RegionRunner r;
  const int32_t ix = r.floats({rows, n}, x), is = r.constant(NEF_FLOAT32, {n}, scale),
                ib = r.constant(NEF_FLOAT32, {n}, bias), y = r.output(NEF_FLOAT32, {rows, n});
  r.node(NEF_OP_LAYER_NORMALIZATION, {ix, is, ib}, {y},
         ir::AttrBuilder(NEF_OP_LAYER_NORMALIZATION).build());
  EXPECT_EQ(r.run().code, NEF_OK);
  return r.result<float>(y);
}

TEST(LayerNorm, ConstantRowsGiveTheBias) {
  for (float value : {1e-8f, 1.0f, 1234.0f, 1e10f, 1e18f}) {
    for (int64_t n : {1, 3, 16, 67, 256}) {
      const std::vector<float> bias = random_floats(n, 1);
      const auto y = layer_norm(2, n, std::vector<float>(static_cast<size_t>(2 * n), value),
                                std::vector<float>(static_cast<size_t>(n), 1), bias);
      for (int64_t i = 0; i < 2 * n; ++i) {
        // The mean itself is rounded: what is left over is that rounding over sqrt(epsilon).
        const double slack = std::abs(value) * 3e-7 / std::sqrt(1e-5);
        ASSERT_NEAR(y[i], bias[i % n], std::min(slack, 1.5)) << value << " " << n;
      }
    }
  }
}

TEST(LayerNorm, LargeMeanKeepsItsVariance) {
  const auto y = layer_norm(1, 4, {40000, 40001, 40002, 40003}, {1, 1, 1, 1}, {0, 0, 0, 0});
  const double d = std::sqrt(1.25 + 1e-5);
  const double want[] = {-1.5 / d, -0.5 / d, 0.5 / d, 1.5 / d};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], want[i], 1e-5);
}

TEST(LayerNorm, AddsTheResidualFirst) {
  const int64_t rows = 5, n = 37;
  const auto a = random_floats(rows * n, 2), b = random_floats(rows * n, 3);
  const auto scale = random_floats(n, 4), bias = random_floats(n, 5);
  std::vector<float> sum(a);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  RegionRunner r(NEF_REGION_REDUCTION);
  const int32_t ia = r.floats({rows, n}, a), ib = r.floats({rows, n}, b),
                is = r.constant(NEF_FLOAT32, {n}, scale),
                ibias = r.constant(NEF_FLOAT32, {n}, bias), t = r.internal(NEF_FLOAT32, {rows, n}),
                y = r.output(NEF_FLOAT32, {rows, n});
  r.node(NEF_OP_ADD, {ia, ib}, {t});
  r.node(NEF_OP_LAYER_NORMALIZATION, {t, is, ibias}, {y},
         ir::AttrBuilder(NEF_OP_LAYER_NORMALIZATION).build());
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  EXPECT_EQ(r.result<float>(y), layer_norm(rows, n, sum, scale, bias));
}

TEST(LayerNorm, BroadcastAdditionIsRefused) {
  RegionRunner r(NEF_REGION_REDUCTION);
  const int32_t a = r.floats({2, 2}, {1, 2, 3, 4}), b = r.floats({2}, {1, 2}),
                s = r.floats({2}, {1, 1}), t = r.internal(NEF_FLOAT32, {2, 2}),
                y = r.output(NEF_FLOAT32, {2, 2});
  r.node(NEF_OP_ADD, {a, b}, {t});
  r.node(NEF_OP_RMS_NORMALIZATION, {t, s}, {y}, ir::AttrBuilder(NEF_OP_RMS_NORMALIZATION).build());
  const Outcome outcome = r.run();
  EXPECT_EQ(outcome.code, NEF_UNSUPPORTED);
  EXPECT_NE(outcome.message.find("broadcast"), std::string::npos) << outcome.message;
}

// Squares of 8000 overflow float16 thousands of times over.
TEST(RmsNorm, HalfAccumulatesInFloat) {
  const int64_t n = 4096;
  const uint16_t eight_thousand = 0x6fd0, one = 0x3c00;
  RegionRunner r;
  const int32_t x =
      r.input(NEF_FLOAT16, {1, n}, std::vector<uint16_t>(static_cast<size_t>(n), eight_thousand));
  const int32_t s = r.input(NEF_FLOAT16, {n}, std::vector<uint16_t>(static_cast<size_t>(n), one));
  const int32_t y = r.output(NEF_FLOAT16, {1, n});
  r.node(NEF_OP_RMS_NORMALIZATION, {x, s}, {y}, ir::AttrBuilder(NEF_OP_RMS_NORMALIZATION).build());
  ASSERT_EQ(r.run().code, NEF_OK);
  for (uint16_t bits : r.result<uint16_t>(y)) ASSERT_EQ(bits, one);
}

TEST(Softmax, EveryAxisAndLength) {
  for (int64_t axis : {0, 1, 2}) {
    for (int64_t n : {1, 2, 7, 8, 9, 33, 67}) {
      std::vector<int64_t> dims = {3, 19, 5};
      dims[static_cast<size_t>(axis)] = n;
      const auto x = random_floats(product(dims), 6);
      RegionRunner r;
      const int32_t ix = r.floats(dims, x), y = r.output(NEF_FLOAT32, dims);
      r.node(NEF_OP_SOFTMAX, {ix}, {y},
             ir::AttrBuilder(NEF_OP_SOFTMAX).set_int(NEF_SOFTMAX_AXIS, axis).build());
      ASSERT_EQ(r.run().code, NEF_OK);
      const auto got = r.result<float>(y);
      int64_t inner = 1;
      for (size_t i = static_cast<size_t>(axis) + 1; i < 3; ++i) inner *= dims[i];
      for (int64_t line = 0; line < product(dims) / n; ++line) {
        const int64_t base = line / inner * n * inner + line % inner;
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += std::exp(double{x[base + i * inner]});
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_NEAR(got[base + i * inner], std::exp(double{x[base + i * inner]}) / sum, 5e-7);
        }
      }
    }
  }
}

// Short rows stay in registers, eight vectors at most; long ones go part by part, in which the
// largest element so far may rise, fall or be missing.
TEST(Softmax, ShortAndLongRows) {
  for_each_target([] {
    for (int64_t n : {1, 15, 16, 17, 32, 33, 63, 100, 127, 128, 129, 8192, 8193, 20001, 200003}) {
      for (int kind = 0; kind < 4; ++kind) {
        std::vector<float> x = random_floats(n, 3);
        for (int64_t i = 0; i < n; ++i) {
          const float along = static_cast<float>(i) / static_cast<float>(n);
          if (kind == 1) x[i] += 300 * along;
          if (kind == 2) x[i] -= 300 * along;
          if (kind == 3 && i < n / 2) x[i] = -INFINITY;
        }
        const double most = *std::max_element(x.begin(), x.end());
        double sum = 0;
        for (float v : x) sum += std::exp(v - most);
        RegionRunner r;
        const int32_t ix = r.floats({1, n}, x), y = r.output(NEF_FLOAT32, {1, n});
        r.node(NEF_OP_SOFTMAX, {ix}, {y}, ir::AttrBuilder(NEF_OP_SOFTMAX).build());
        ASSERT_EQ(r.run().code, NEF_OK);
        const auto got = r.result<float>(y);
        for (int64_t i = 0; i < n; ++i) {
          const double want = std::exp(x[i] - most) / sum;
          ASSERT_NEAR(got[i], want, 2e-5 * want + 1e-38) << n << " " << kind << " " << i;
        }
      }
      for (float bad : {NAN, INFINITY}) {
        std::vector<float> x(static_cast<size_t>(n), 1);
        x[static_cast<size_t>(n - 1)] = bad;
        RegionRunner r;
        const int32_t ix = r.floats({1, n}, x), y = r.output(NEF_FLOAT32, {1, n});
        r.node(NEF_OP_SOFTMAX, {ix}, {y}, ir::AttrBuilder(NEF_OP_SOFTMAX).build());
        ASSERT_EQ(r.run().code, NEF_OK);
        for (float v : r.result<float>(y)) ASSERT_TRUE(std::isnan(v)) << n << " " << bad;
      }
    }
  });
}

TEST(Softmax, MaskedRowIsNanUnlessAskedForZero) {
  for (bool zero : {false, true}) {
    for (int64_t n : {1, 5, 40, 9000}) {
      RegionRunner r;
      const int32_t x = r.floats({1, n}, std::vector<float>(static_cast<size_t>(n), -INFINITY));
      const int32_t y = r.output(NEF_FLOAT32, {1, n});
      r.node(NEF_OP_SOFTMAX, {x}, {y},
             ir::AttrBuilder(NEF_OP_SOFTMAX).set_int(NEF_SOFTMAX_ZERO_MASKED_ROWS, zero).build());
      ASSERT_EQ(r.run().code, NEF_OK);
      for (float v : r.result<float>(y)) {
        if (zero) {
          ASSERT_EQ(v, 0);
        } else {
          ASSERT_TRUE(std::isnan(v));
        }
      }
    }
  }
}

// One NaN must show wherever it stands: in a full vector, in the tail, alone.
TEST(Softmax, NanInAnyLaneSpreadsOverItsRow) {
  for (int64_t n = 1; n <= 67; n += 3) {
    for (int64_t at = 0; at < n; ++at) {
      std::vector<float> x(static_cast<size_t>(n), 1);
      x[static_cast<size_t>(at)] = NAN;
      RegionRunner r;
      const int32_t ix = r.floats({1, n}, x), y = r.output(NEF_FLOAT32, {1, n});
      r.node(NEF_OP_SOFTMAX, {ix}, {y}, ir::AttrBuilder(NEF_OP_SOFTMAX).build());
      ASSERT_EQ(r.run().code, NEF_OK);
      for (float v : r.result<float>(y)) ASSERT_TRUE(std::isnan(v)) << n << " " << at;
    }
  }
}

}  // namespace
}  // namespace nef::cpu_test
