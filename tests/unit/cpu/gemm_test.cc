// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "backends/cpu/gemm.h"
#include "engine/ir/attrs.h"
#include "tests/unit/cpu/each_target.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

using Dims = std::vector<int64_t>;

std::vector<float> multiply(int64_t m, int64_t n, int64_t k, const std::vector<float>& a,
                            const std::vector<float>& b, bool trans_a = false,
                            bool trans_b = false) {
  std::vector<float> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += double{a[trans_a ? p * m + i : i * k + p]} * b[trans_b ? j * k + p : p * n + j];
      }
      c[i * n + j] = static_cast<float>(sum);
    }
  }
  return c;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& want, double scale) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], 2e-6 * (scale + std::abs(want[i]))) << "element " << i;
  }
}

float half_to_float(uint16_t bits) {  // of normal numbers and 0
  const int exponent = bits >> 10 & 31;
  const float magnitude =
      exponent == 0 ? 0 : std::ldexp(static_cast<float>(1024 + (bits & 1023)), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

void check_matmul(int64_t m, int64_t n, int64_t k, bool constant) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " constant " << constant);
  const auto a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  RegionRunner r;
  const int32_t ia = r.floats({m, k}, a);
  const int32_t ib = constant ? r.constant(NEF_FLOAT32, {k, n}, b) : r.floats({k, n}, b);
  const int32_t ic = r.output(NEF_FLOAT32, {m, n});
  r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  expect_near(r.result<float>(ic), multiply(m, n, k, a, b), std::sqrt(double(k)));
}

TEST(Gemm, EverySmallShape) {
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 11, 13, 14, 15, 29, 67}) {
    for (int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 67}) {
      for (int64_t k : {1, 2, 3, 4, 5, 8, 17, 67}) {
        check_matmul(m, n, k, true);
        check_matmul(m, n, k, false);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Gemm, DepthIsCutIntoPasses) {
  for (int64_t k : {255, 256, 257, 384, 385, 1000, 2048}) {
    check_matmul(1, 40, k, true);
    check_matmul(19, 70, k, true);
    check_matmul(200, 33, k, false);
  }
  check_matmul(300, 300, 1024, true);  // rows of whole pages: A is packed
  check_matmul(64, 512, 128, false);
}

// By constant weights, which stay narrow in memory, or by what a run brings. Whole numbers make
// every product exact.
void check_narrow_products(bool constant) {
  const auto half = [](int v) {  // -8 to 8
    const uint16_t sign = v < 0 ? 0x8000 : 0;
    const int a = std::abs(v);
    if (a == 0) return sign;
    int exponent = 0;
    while (a >> (exponent + 1)) ++exponent;
    return static_cast<uint16_t>(sign | (exponent + 15) << 10 | ((a << (10 - exponent)) & 0x3ff));
  };
  for_each_target([&] {
    for (int64_t m : {1, 3, 14, 40, 150, 300}) {
      for (const Dims& kn : {Dims{0, 5}, Dims{1, 1}, Dims{67, 33}, Dims{257, 70}, Dims{2048, 40}}) {
        for (int variant = 0; variant < 4; ++variant) {
          const int64_t k = kn[0], n = kn[1];
          const bool ta = variant & 1, tb = variant & 2;
          std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
          std::vector<uint16_t> ha, hb;
          // Few of them differ from 0, so that sums stay exact in 11 bits.
          for (size_t i = 0; i < a.size(); ++i) a[i] = i % 5 == 0 ? float(i % 7) - 3 : 0;
          for (size_t i = 0; i < b.size(); ++i) b[i] = i % 3 == 0 ? float(i % 5) - 2 : 0;
          for (float v : a) ha.push_back(half(static_cast<int>(v)));
          for (float v : b) hb.push_back(half(static_cast<int>(v)));
          RegionRunner r;
          const int32_t ia = r.input(NEF_FLOAT16, ta ? Dims{k, m} : Dims{m, k}, ha);
          const Dims db = tb ? Dims{n, k} : Dims{k, n};
          const int32_t ib =
              constant ? r.constant(NEF_FLOAT16, db, hb) : r.input(NEF_FLOAT16, db, hb);
          const int32_t ic = r.output(NEF_FLOAT16, {m, n});
          r.node(NEF_OP_GEMM, {ia, ib}, {ic},
                 ir::AttrBuilder(NEF_OP_GEMM)
                     .set_int(NEF_GEMM_TRANS_A, ta)
                     .set_int(NEF_GEMM_TRANS_B, tb)
                     .build());
          const Outcome outcome = r.run();
          ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
          ASSERT_EQ(outcome.kernel.ends_with(constant ? "float16 packed" : "float16"), true)
              << outcome.kernel;
          const auto got = r.result<uint16_t>(ic);
          const auto want = multiply(m, n, k, a, b, ta, tb);
          for (size_t i = 0; i < want.size(); ++i) {
            ASSERT_EQ(half_to_float(got[i]), want[i]) << m << " " << k << " " << n << " " << i;
          }
        }
      }
    }
  });
}

TEST(Gemm, NarrowConstantWeights) { check_narrow_products(true); }
TEST(Gemm, NarrowProductsOfTwoInputs) { check_narrow_products(false); }

TEST(Gemm, FewRowsByNarrowPanels) {
  for_each_target([] {
    const auto& ops = cpu::narrow_ops();
    const int64_t nr = cpu::gemm_ops<float>().nr;
    for (int64_t rows = 1; rows <= ops.most_rows; ++rows) {
      for (int64_t k : {0, 1, 2, 3, 4, 5, 67}) {
        const auto a = random_floats(rows * k, 1), b = random_floats(k * nr, 2);
        std::vector<uint16_t> bits(b.size());
        std::vector<float> rounded(b.size());
        for (size_t i = 0; i < b.size(); ++i) {
          bits[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(b[i]) >> 16);
          rounded[i] = std::bit_cast<float>(uint32_t{bits[i]} << 16);
        }
        std::vector<float> c(static_cast<size_t>(rows * nr), 7);
        ops.multiply(NEF_BFLOAT16, rows, a.data(), k, 1, bits.data(), k, c.data(), nr);
        expect_near(c, multiply(rows, nr, k, a, rounded), 4);
      }
    }
  });
}

TEST(Gemm, NoDepthGivesZeros) {
  for (bool constant : {true, false}) {
    check_matmul(1, 9, 0, constant);
    check_matmul(40, 40, 0, constant);
  }
  check_matmul(0, 4, 4, true);
  check_matmul(4, 0, 4, true);
}

TEST(Gemm, TransposesAndBroadcastsBias) {
  for (int64_t m : {1, 5, 40, 90}) {
    for (int variant = 0; variant < 4; ++variant) {
      const bool ta = variant & 1, tb = variant & 2;
      const int64_t n = 70, k = 33;
      const auto a = random_floats(m * k, 3), b = random_floats(k * n, 4);
      for (const Dims& bias_dims : {Dims{n}, Dims{1, n}, Dims{m, 1}, Dims{m, n}, Dims{}, Dims{1}}) {
        const auto bias = random_floats(product(bias_dims), 5);
        RegionRunner r;
        const int32_t ia = r.floats(ta ? Dims{k, m} : Dims{m, k}, a);
        const int32_t ib = r.floats(tb ? Dims{n, k} : Dims{k, n}, b);
        const int32_t ibias = r.floats(bias_dims, bias);
        const int32_t ic = r.output(NEF_FLOAT32, {m, n});
        r.node(NEF_OP_GEMM, {ia, ib, ibias}, {ic},
               ir::AttrBuilder(NEF_OP_GEMM)
                   .set_float(NEF_GEMM_ALPHA, 0.5)
                   .set_float(NEF_GEMM_BETA, 2)
                   .set_int(NEF_GEMM_TRANS_A, ta)
                   .set_int(NEF_GEMM_TRANS_B, tb)
                   .build());
        ASSERT_EQ(r.run().code, NEF_OK);
        auto want = multiply(m, n, k, a, b, ta, tb);
        const int64_t row = bias_dims.size() == 2 && bias_dims[0] == m && m > 1 ? bias_dims[1] : 0;
        const int64_t col = !bias_dims.empty() && bias_dims.back() == n ? 1 : 0;
        for (int64_t i = 0; i < m * n; ++i) {
          want[i] = 0.5f * want[i] + 2 * bias[i / n * row + i % n * col];
        }
        expect_near(r.result<float>(ic), want, 6);
      }
    }
  }
}

TEST(Gemm, BatchesBroadcast) {
  for (bool constant : {false, true}) {
    for (int64_t m : {1, 7, 20}) {
      const int64_t n = 21, k = 10;
      const auto a = random_floats(2 * 1 * m * k, 6), b = random_floats(3 * k * n, 7);
      RegionRunner r;
      const int32_t ia = r.floats({2, 1, m, k}, a);
      const int32_t ib = constant ? r.constant(NEF_FLOAT32, {3, k, n}, b) : r.floats({3, k, n}, b);
      const int32_t ic = r.output(NEF_FLOAT32, {2, 3, m, n});
      r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
      ASSERT_EQ(r.run().code, NEF_OK);
      std::vector<float> want;
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
          const std::vector<float> ai(a.begin() + i * m * k, a.begin() + (i + 1) * m * k);
          const std::vector<float> bj(b.begin() + j * k * n, b.begin() + (j + 1) * k * n);
          const auto c = multiply(m, n, k, ai, bj);
          want.insert(want.end(), c.begin(), c.end());
        }
      }
      expect_near(r.result<float>(ic), want, 4);
    }
  }
}

TEST(Gemm, EpilogueOfBiasGeluResidual) {
  for (int64_t m : {1, 6, 50}) {
    const int64_t n = 45, k = 30;
    const auto a = random_floats(m * k, 8), b = random_floats(k * n, 9);
    const auto bias = random_floats(n, 10), residual = random_floats(m * n, 11);
    RegionRunner r(NEF_REGION_EPILOGUE);
    const int32_t ia = r.floats({m, k}, a), ib = r.constant(NEF_FLOAT32, {k, n}, b);
    const int32_t ibias = r.constant(NEF_FLOAT32, {n}, bias), ires = r.floats({m, n}, residual);
    const int32_t t0 = r.internal(NEF_FLOAT32, {m, n}), t1 = r.internal(NEF_FLOAT32, {m, n}),
                  t2 = r.internal(NEF_FLOAT32, {m, n}), out = r.output(NEF_FLOAT32, {m, n});
    r.node(NEF_OP_MATMUL, {ia, ib}, {t0});
    r.node(NEF_OP_ADD, {t0, ibias}, {t1});
    r.node(NEF_OP_GELU, {t1}, {t2}, ir::AttrBuilder(NEF_OP_GELU).build());
    r.node(NEF_OP_ADD, {ires, t2}, {out});
    const Outcome outcome = r.run();
    ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
    auto want = multiply(m, n, k, a, b);
    for (int64_t i = 0; i < m * n; ++i) {
      const double x = double{want[i]} + bias[i % n];
      want[i] = static_cast<float>(x / 2 * (1 + std::erf(x / std::sqrt(2.0))) + residual[i]);
    }
    expect_near(r.result<float>(out), want, 6);
  }
}

TEST(Gemm, RefusesAChainWithTwoBranches) {
  RegionRunner r(NEF_REGION_EPILOGUE);
  const int32_t a = r.floats({2, 2}, {1, 2, 3, 4}), b = r.floats({2, 2}, {1, 2, 3, 4});
  const int32_t t0 = r.internal(NEF_FLOAT32, {2, 2}), t1 = r.internal(NEF_FLOAT32, {2, 2}),
                out = r.output(NEF_FLOAT32, {2, 2});
  r.node(NEF_OP_MATMUL, {a, b}, {t0});
  r.node(NEF_OP_SIGMOID, {t0}, {t1});
  r.node(NEF_OP_MUL, {t1, t0}, {out});
  const Outcome outcome = r.run();
  EXPECT_EQ(outcome.code, NEF_UNSUPPORTED);
  EXPECT_NE(outcome.message.find("two branches"), std::string::npos) << outcome.message;
}

TEST(Gemm, KeepsInfinityInItsOwnCells) {
  // Zero padding of a panel must not meet an infinity of A.
  const int64_t m = 9, n = 5, k = 3;
  auto a = random_floats(m * k, 12), b = random_floats(k * n, 13);
  a[4 * k + 1] = INFINITY;
  RegionRunner r;
  const int32_t ia = r.floats({m, k}, a), ib = r.constant(NEF_FLOAT32, {k, n}, b);
  const int32_t ic = r.output(NEF_FLOAT32, {m, n});
  r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
  ASSERT_EQ(r.run().code, NEF_OK);
  const auto got = r.result<float>(ic);
  for (int64_t i = 0; i < m * n; ++i) EXPECT_EQ(std::isinf(got[i]), i / n == 4) << i;
}

TEST(Gemm, IntegersWrap) {
  const std::vector<int64_t> a = {INT64_MAX, 2, -3, 4}, b = {2, 1, 5, INT64_MIN};
  RegionRunner r;
  const int32_t ia = r.input(NEF_INT64, {2, 2}, a), ib = r.input(NEF_INT64, {2, 2}, b);
  const int32_t ic = r.output(NEF_INT64, {2, 2});
  r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
  ASSERT_EQ(r.run().code, NEF_OK);
  EXPECT_EQ(r.result<int64_t>(ic), (std::vector<int64_t>{8, INT64_MAX, 14, -3}));
}

TEST(Gemm, BlobComesBackAndDamageIsIgnored) {
  const auto run = [](const std::vector<uint8_t>* blob) {
    RegionRunner r;
    const int32_t a = r.floats({3, 4}, random_floats(12, 1));
    const int32_t b = r.constant(NEF_FLOAT32, {4, 5}, random_floats(20, 2));
    const int32_t c = r.output(NEF_FLOAT32, {3, 5});
    r.node(NEF_OP_MATMUL, {a, b}, {c});
    return r.run(blob);
  };
  const Outcome first = run(nullptr);
  ASSERT_EQ(first.code, NEF_OK);
  ASSERT_FALSE(first.blob.empty());
  EXPECT_EQ(run(&first.blob).blob, first.blob);
  for (size_t i = 0; i < first.blob.size(); ++i) {
    auto damaged = first.blob;
    damaged[i] ^= 0x41;
    const Outcome again = run(&damaged);
    EXPECT_EQ(again.code, NEF_OK);
    EXPECT_EQ(again.blob, first.blob);
  }
}

}  // namespace
}  // namespace nef::cpu_test
