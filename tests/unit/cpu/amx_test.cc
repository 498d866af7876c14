// SPDX-License-Identifier: Apache-2.0
// Precision `fast`, and bfloat16 tensors: products of bfloat16, sums of float32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/cpu/amx.h"
#include "backends/cpu/targets.h"
#include "engine/ir/attrs.h"
#include "tests/unit/cpu/region_runner.h"

#include <hwy/targets.h>

namespace nef::cpu_test {
namespace {

using Dims = std::vector<int64_t>;

// Two roundings to 8 bits, and one sum in float32.
constexpr double kBound = 0x1p-7 * 1.01;

uint16_t bfloat(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float from_bfloat(uint16_t x) {
  const uint32_t bits = static_cast<uint32_t>(x) << 16;
  float out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

// A sum in float64 beside the sum of its magnitudes.
struct Sum {
  double value = 0, magnitude = 0;
  void add(double x) {
    value += x;
    magnitude += std::abs(x);
  }
};

std::vector<Sum> multiply(int64_t m, int64_t n, int64_t k, const std::vector<float>& a,
                          const std::vector<float>& b, bool trans_a = false, bool trans_b = false) {
  std::vector<Sum> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m * n; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      c[i].add(double{a[trans_a ? p * m + i / n : i / n * k + p]} *
               b[trans_b ? i % n * k + p : p * n + i % n]);
    }
  }
  return c;
}

void expect_within(const std::vector<float>& got, const std::vector<Sum>& want, double bound) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i].value, bound * want[i].magnitude + 1e-30) << "element " << i;
  }
}

class Amx : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cpu::amx_ops() == nullptr) GTEST_SKIP() << "this CPU has neither AMX nor AVX512_BF16";
    kernel_ = std::string(cpu::amx_ops()->name) + " bf16";
  }
  std::string kernel_;
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

void check_fast(int64_t m, int64_t n, int64_t k, bool constant) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " constant " << constant);
  const auto a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  RegionRunner r(NEF_REGION_SINGLE, NEF_PRECISION_FAST);
  const int32_t ia = r.floats({m, k}, a);
  const int32_t ib = constant ? r.constant(NEF_FLOAT32, {k, n}, b) : r.floats({k, n}, b);
  const int32_t ic = r.output(NEF_FLOAT32, {m, n});
  r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  expect_within(r.result<float>(ic), multiply(m, n, k, a, b), kBound);
}

TEST_F(Amx, FastStaysWithinTheBoundOfBfloat16) {
  for (int64_t m : {1, 2, 3, 4, 5, 6, 15, 16, 17, 31, 32, 33, 48, 70, 129}) {
    for (int64_t n : {16, 17, 31, 32, 33, 48, 67}) {
      for (int64_t k : {16, 17, 31, 32, 33, 63, 100}) {
        check_fast(m, n, k, true);
        check_fast(m, n, k, false);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(Amx, LargeShapesAreCutIntoTasks) {
  check_fast(300, 520, 700, true);
  check_fast(700, 40, 2100, true);
  check_fast(1, 3000, 2048, true);
  check_fast(33, 1100, 900, false);
  check_fast(0, 64, 64, true);
}

TEST_F(Amx, BeyondTheRoundingOfItsInputsFastIsExact) {
  const int64_t m = 37, n = 45, k = 200;
  auto a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  for (float& x : a) x = from_bfloat(bfloat(x));
  for (float& x : b) x = from_bfloat(bfloat(x));
  RegionRunner r(NEF_REGION_SINGLE, NEF_PRECISION_FAST);
  const int32_t ia = r.floats({m, k}, a), ib = r.constant(NEF_FLOAT32, {k, n}, b);
  const int32_t ic = r.output(NEF_FLOAT32, {m, n});
  r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
  const Outcome outcome = r.run();
  EXPECT_EQ(outcome.kernel, "gemm " + kernel_ + " packed");
  expect_within(r.result<float>(ic), multiply(m, n, k, a, b), k * 0x1p-24);
}

TEST_F(Amx, OnlyFastOrBfloat16TakesIt) {
  const auto kernel = [](nef_precision precision, nef_dtype dtype, int64_t n) {
    RegionRunner r(NEF_REGION_SINGLE, precision);
    const std::vector<uint8_t> bytes(static_cast<size_t>(64 * 64 * 8));
    const int32_t a = r.input(dtype, {64, 64}, bytes), b = r.constant(dtype, {64, n}, bytes);
    r.node(NEF_OP_MATMUL, {a, b}, {r.output(dtype, {64, n})});
    return r.run().kernel;
  };
  EXPECT_EQ(kernel(NEF_PRECISION_FAST, NEF_FLOAT32, 64), "gemm " + kernel_ + " packed");
  EXPECT_EQ(kernel(NEF_PRECISION_EXACT, NEF_BFLOAT16, 64), "gemm " + kernel_ + " packed");
  for (const std::string& name :
       {kernel(NEF_PRECISION_EXACT, NEF_FLOAT32, 64), kernel(NEF_PRECISION_FAST, NEF_FLOAT64, 64),
        kernel(NEF_PRECISION_FAST, NEF_FLOAT16, 64), kernel(NEF_PRECISION_FAST, NEF_FLOAT32, 3)}) {
    EXPECT_EQ(name.find("bf16"), std::string::npos) << name;
  }
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  const std::string forced = kernel(NEF_PRECISION_FAST, NEF_FLOAT32, 64);
  EXPECT_EQ(forced.find("bf16"), std::string::npos) << forced;
}

TEST_F(Amx, TransposesAlphaAndBias) {
  for (int variant = 0; variant < 8; ++variant) {
    const bool ta = variant & 1, tb = variant & 2, constant = variant & 4;
    const int64_t m = 50, n = 70, k = 65;
    const auto a = random_floats(m * k, 3), b = random_floats(k * n, 4), bias = random_floats(n, 5);
    RegionRunner r(NEF_REGION_SINGLE, NEF_PRECISION_FAST);
    const Dims b_dims = tb ? Dims{n, k} : Dims{k, n};
    const int32_t ia = r.floats(ta ? Dims{k, m} : Dims{m, k}, a);
    const int32_t ib = constant ? r.constant(NEF_FLOAT32, b_dims, b) : r.floats(b_dims, b);
    const int32_t ibias = r.floats({n}, bias), ic = r.output(NEF_FLOAT32, {m, n});
    r.node(NEF_OP_GEMM, {ia, ib, ibias}, {ic},
           ir::AttrBuilder(NEF_OP_GEMM)
               .set_float(NEF_GEMM_ALPHA, 0.5)
               .set_float(NEF_GEMM_BETA, 2)
               .set_int(NEF_GEMM_TRANS_A, ta)
               .set_int(NEF_GEMM_TRANS_B, tb)
               .build());
    ASSERT_EQ(r.run().code, NEF_OK);
    auto want = multiply(m, n, k, a, b, ta, tb);
    for (int64_t i = 0; i < m * n; ++i) {
      want[i].value = 0.5 * want[i].value + 2 * double{bias[i % n]};
    }
    expect_within(r.result<float>(ic), want, kBound);
  }
}

TEST_F(Amx, BatchesBroadcast) {
  for (bool constant : {false, true}) {
    const int64_t m = 20, n = 40, k = 50;
    const auto a = random_floats(2 * m * k, 6), b = random_floats(3 * k * n, 7);
    RegionRunner r(NEF_REGION_SINGLE, NEF_PRECISION_FAST);
    const int32_t ia = r.floats({2, 1, m, k}, a);
    const int32_t ib = constant ? r.constant(NEF_FLOAT32, {3, k, n}, b) : r.floats({3, k, n}, b);
    const int32_t ic = r.output(NEF_FLOAT32, {2, 3, m, n});
    r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
    ASSERT_EQ(r.run().code, NEF_OK);
    std::vector<Sum> want;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) {
        const std::vector<float> ai(a.begin() + i * m * k, a.begin() + (i + 1) * m * k);
        const std::vector<float> bj(b.begin() + j * k * n, b.begin() + (j + 1) * k * n);
        const auto c = multiply(m, n, k, ai, bj);
        want.insert(want.end(), c.begin(), c.end());
      }
    }
    expect_within(r.result<float>(ic), want, kBound);
  }
}

TEST_F(Amx, EpilogueOfBiasAndResidual) {
  for (int64_t m : {1, 16, 50, 130}) {
    const int64_t n = 300, k = 64;
    const auto a = random_floats(m * k, 8), b = random_floats(k * n, 9);
    const auto bias = random_floats(n, 10), residual = random_floats(m * n, 11);
    RegionRunner r(NEF_REGION_EPILOGUE, NEF_PRECISION_FAST);
    const int32_t ia = r.floats({m, k}, a), ib = r.constant(NEF_FLOAT32, {k, n}, b);
    const int32_t ibias = r.constant(NEF_FLOAT32, {n}, bias), ires = r.floats({m, n}, residual);
    const int32_t t0 = r.internal(NEF_FLOAT32, {m, n}), t1 = r.internal(NEF_FLOAT32, {m, n}),
                  t2 = r.internal(NEF_FLOAT32, {m, n}), out = r.output(NEF_FLOAT32, {m, n});
    r.node(NEF_OP_MATMUL, {ia, ib}, {t0});
    r.node(NEF_OP_ADD, {t0, ibias}, {t1});
    r.node(NEF_OP_RELU, {t1}, {t2});
    r.node(NEF_OP_ADD, {ires, t2}, {out});
    const Outcome outcome = r.run();
    EXPECT_EQ(outcome.kernel, "gemm " + kernel_ + "+3 packed");
    auto want = multiply(m, n, k, a, b);
    for (int64_t i = 0; i < m * n; ++i) {
      want[i].value = std::max(0.0, want[i].value + bias[i % n]) + residual[i];
    }
    expect_within(r.result<float>(out), want, kBound);
  }
}

TEST_F(Amx, Bfloat16TensorsRoundOnce) {
  for (bool trans_b : {false, true}) {
    for (int64_t m : {1, 19, 70}) {
      const int64_t n = 37, k = 131;
      std::vector<uint16_t> a, b;
      std::vector<float> wide_a, wide_b;
      for (float x : random_floats(m * k, 1)) a.push_back(bfloat(x));
      for (float x : random_floats(k * n, 2)) b.push_back(bfloat(x));
      for (uint16_t x : a) wide_a.push_back(from_bfloat(x));
      for (uint16_t x : b) wide_b.push_back(from_bfloat(x));
      RegionRunner r;
      const int32_t ia = r.input(NEF_BFLOAT16, {m, k}, a);
      const int32_t ib = r.constant(NEF_BFLOAT16, trans_b ? Dims{n, k} : Dims{k, n}, b);
      const int32_t ic = r.output(NEF_BFLOAT16, {m, n});
      r.node(NEF_OP_GEMM, {ia, ib}, {ic},
             ir::AttrBuilder(NEF_OP_GEMM).set_int(NEF_GEMM_TRANS_B, trans_b).build());
      const Outcome outcome = r.run();
      EXPECT_EQ(outcome.kernel, "gemm " + kernel_ + " packed");
      const auto want = multiply(m, n, k, wide_a, wide_b, false, trans_b);
      const auto got = r.result<uint16_t>(ic);
      for (int64_t i = 0; i < m * n; ++i) {
        const double bound = 0x1p-8 * std::abs(want[i].value) + k * 0x1p-24 * want[i].magnitude;
        ASSERT_NEAR(from_bfloat(got[i]), want[i].value, bound) << i;
      }
    }
  }
}

TEST_F(Amx, Bfloat16RowsAreReadInPlaceWhereTheyFillTiles) {
  // Depths of whole tile rows (64 bytes), one of them of whole pages; columns of several groups.
  for (int64_t k : {32, 96, 1024, 2048}) {
    for (int64_t m : {1, 8, 16, 31, 33, 70}) {
      const int64_t n = k == 2048 ? 700 : 45;
      std::vector<uint16_t> a, b;
      std::vector<float> wide_a, wide_b;
      for (float x : random_floats(m * k, 1)) a.push_back(bfloat(x));
      for (float x : random_floats(k * n, 2)) b.push_back(bfloat(x));
      for (uint16_t x : a) wide_a.push_back(from_bfloat(x));
      for (uint16_t x : b) wide_b.push_back(from_bfloat(x));
      RegionRunner r;
      const int32_t ia = r.input(NEF_BFLOAT16, {m, k}, a);
      const int32_t ib = r.constant(NEF_BFLOAT16, {k, n}, b);
      const int32_t ic = r.output(NEF_BFLOAT16, {m, n});
      r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
      ASSERT_EQ(r.run().code, NEF_OK);
      const auto want = multiply(m, n, k, wide_a, wide_b);
      const auto got = r.result<uint16_t>(ic);
      for (int64_t i = 0; i < m * n; ++i) {
        const double bound = 0x1p-8 * std::abs(want[i].value) + k * 0x1p-24 * want[i].magnitude;
        ASSERT_NEAR(from_bfloat(got[i]), want[i].value, bound) << m << "x" << k << " " << i;
      }
    }
  }
}

TEST_F(Amx, InfinityAndNanStayInTheirRow) {
  const int64_t m = 20, n = 20, k = 40;
  auto a = random_floats(m * k, 12);
  a[4 * k + 1] = INFINITY;
  a[6 * k + 39] = NAN;
  RegionRunner r(NEF_REGION_SINGLE, NEF_PRECISION_FAST);
  const int32_t ia = r.floats({m, k}, a);
  const int32_t ib = r.constant(NEF_FLOAT32, {k, n}, std::vector<float>(k * n, 0.5f));
  const int32_t ic = r.output(NEF_FLOAT32, {m, n});
  r.node(NEF_OP_MATMUL, {ia, ib}, {ic});
  ASSERT_EQ(r.run().code, NEF_OK);
  const auto got = r.result<float>(ic);
  for (int64_t i = 0; i < m * n; ++i) {
    EXPECT_EQ(std::isinf(got[i]), i / n == 4) << i;
    EXPECT_EQ(std::isnan(got[i]), i / n == 6) << i;
  }
}

struct Conv {
  int64_t batch, channels, filters, groups, size, kernel, stride, pad;
  int64_t out() const { return (size + 2 * pad - kernel) / stride + 1; }
};

std::vector<Sum> convolve(const Conv& p, const std::vector<float>& x, const std::vector<float>& w) {
  const int64_t depth = p.channels / p.groups, width = p.filters / p.groups, o = p.out();
  std::vector<Sum> y;
  for (int64_t at = 0; at < p.batch * p.filters * o * o; ++at) {
    const int64_t n = at / o / o / p.filters, f = at / o / o % p.filters;
    const int64_t row = at / o % o, col = at % o;
    Sum sum;
    for (int64_t q = 0; q < depth * p.kernel * p.kernel; ++q) {
      const int64_t c = q / p.kernel / p.kernel;
      const int64_t i = row * p.stride - p.pad + q / p.kernel % p.kernel;
      const int64_t j = col * p.stride - p.pad + q % p.kernel;
      if (i < 0 || i >= p.size || j < 0 || j >= p.size) continue;
      const int64_t channel = n * p.channels + f / width * depth + c;
      sum.add(double{x[(channel * p.size + i) * p.size + j]} *
              w[f * depth * p.kernel * p.kernel + q]);
    }
    y.push_back(sum);
  }
  return y;
}

TEST_F(Amx, Convolutions) {
  for (const Conv& p : {Conv{1, 33, 17, 1, 9, 1, 1, 0}, Conv{2, 64, 48, 1, 13, 1, 2, 0},
                        Conv{1, 7, 40, 1, 15, 3, 1, 1}, Conv{2, 32, 64, 2, 11, 3, 2, 1},
                        Conv{1, 3, 16, 1, 20, 7, 3, 2}, Conv{1, 40, 200, 1, 40, 1, 1, 0},
                        Conv{1, 128, 33, 1, 30, 3, 1, 1}, Conv{1, 600, 300, 1, 3, 3, 1, 1},
                        Conv{2, 20, 70, 1, 17, 3, 2, 1}, Conv{1, 64, 130, 2, 21, 5, 1, 2}}) {
    SCOPED_TRACE(testing::Message() << p.channels << "->" << p.filters << " k" << p.kernel);
    const int64_t depth = p.channels / p.groups * p.kernel * p.kernel, o = p.out();
    const auto x = random_floats(p.batch * p.channels * p.size * p.size, 1);
    const auto w = random_floats(p.filters * depth, 2), bias = random_floats(p.filters, 3);
    RegionRunner r(NEF_REGION_EPILOGUE, NEF_PRECISION_FAST);
    const int32_t ix = r.floats({p.batch, p.channels, p.size, p.size}, x);
    const int32_t iw =
        r.constant(NEF_FLOAT32, {p.filters, p.channels / p.groups, p.kernel, p.kernel}, w);
    const int32_t ibias = r.constant(NEF_FLOAT32, {p.filters}, bias);
    const Dims out = {p.batch, p.filters, o, o};
    const int32_t inner = r.internal(NEF_FLOAT32, out), iy = r.output(NEF_FLOAT32, out);
    r.node(NEF_OP_CONV, {ix, iw, ibias}, {inner},
           ir::AttrBuilder(NEF_OP_CONV)
               .set_int(NEF_CONV_GROUP, p.groups)
               .set_ints(NEF_CONV_PADS, Dims(4, p.pad))
               .set_ints(NEF_CONV_STRIDES, Dims(2, p.stride))
               .build());
    r.node(NEF_OP_RELU, {inner}, {iy});
    const Outcome outcome = r.run();
    ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
    const bool many = p.filters / p.groups >= 64 && (p.kernel != 3 || p.stride != 1);
    if (cpu::amx_ops()->tiles || many) {
      EXPECT_EQ(outcome.kernel, "conv " + kernel_ + "+1");
    }
    auto want = convolve(p, x, w);
    for (size_t i = 0; i < want.size(); ++i) {
      const auto filter = static_cast<int64_t>(i) / (o * o) % p.filters;
      want[i].value = std::max(0.0, want[i].value + bias[filter]);
      want[i].magnitude += std::abs(bias[filter]);
    }
    expect_within(r.result<float>(iy), want, kBound);
  }
}

// Bytes over their whole range, as int8 or uint8.
std::vector<uint8_t> random_bytes(int64_t n, uint32_t seed) {
  std::vector<uint8_t> out;
  for (float x : random_floats(n, seed)) out.push_back(static_cast<uint8_t>(int(x * 128) + 128));
  return out;
}
int64_t number(nef_dtype dtype, uint8_t x) {
  return dtype == NEF_INT8 ? static_cast<int8_t>(x) : x;
}

// These are exact on AMX, on VNNI and on neither, so all must give the very numbers.
class Bytes : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) hwy::SetSupportedTargetsForTest(HWY_AVX2);
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};
INSTANTIATE_TEST_SUITE_P(AllTargets, Bytes, ::testing::Bool());

void check_matmul_integer(int64_t m, int64_t n, int64_t k, nef_dtype ta, nef_dtype tb, bool zeros,
                          bool by_column) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " " << ta << " " << tb);
  const auto a = random_bytes(m * k, 1), b = random_bytes(k * n, 2);
  const std::vector<uint8_t> za = {zeros ? uint8_t{201} : uint8_t{0}};
  auto zb = random_bytes(by_column ? n : 1, 3);
  if (!zeros) std::fill(zb.begin(), zb.end(), uint8_t{0});
  RegionRunner r;
  const int32_t ia = r.input(ta, {m, k}, a), ib = r.constant(tb, {k, n}, b);
  const int32_t iza = r.input(ta, {}, za);
  const int32_t izb = r.constant(tb, by_column ? Dims{n} : Dims{}, zb);
  const int32_t ic = r.output(NEF_INT32, {m, n});
  r.node(NEF_OP_MATMUL_INTEGER, {ia, ib, iza, izb}, {ic});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<int32_t>(ic);
  for (int64_t i = 0; i < m * n; ++i) {
    int64_t sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum += (number(ta, a[i / n * k + p]) - number(ta, za[0])) *
             (number(tb, b[p * n + i % n]) - number(tb, zb[by_column ? i % n : 0]));
    }
    ASSERT_EQ(got[i], sum) << i;
  }
}

TEST_P(Bytes, MatMulInteger) {
  for (nef_dtype ta : {NEF_UINT8, NEF_INT8}) {
    for (nef_dtype tb : {NEF_UINT8, NEF_INT8}) {
      for (int64_t m : {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 70}) {
        check_matmul_integer(m, 8, 64, ta, tb, false, false);
        check_matmul_integer(m, 33, 65, ta, tb, true, false);
        check_matmul_integer(m, 70, 200, ta, tb, true, true);
        check_matmul_integer(m, 300, 3, ta, tb, true, true);
        check_matmul_integer(m, 1100, 600, ta, tb, true, true);  // several groups of columns
        check_matmul_integer(m, 40, 192, ta, tb, true, false);   // rows of a read in place
        check_matmul_integer(m, 34, 2048, ta, tb, false, false);
        check_matmul_integer(m, 34, 4096, ta, tb, true, false);  // few of whole pages are, too
      }
    }
  }
}

TEST_P(Bytes, ConvInteger) {
  for (nef_dtype tx : {NEF_UINT8, NEF_INT8}) {
    for (nef_dtype tw : {NEF_UINT8, NEF_INT8}) {
      for (const Conv& p : {Conv{1, 33, 17, 1, 9, 1, 1, 0}, Conv{2, 32, 64, 2, 11, 3, 2, 1},
                            Conv{1, 3, 4, 1, 20, 7, 3, 2}, Conv{1, 40, 70, 1, 40, 1, 1, 0},
                            Conv{2, 12, 24, 12, 9, 3, 1, 1}, Conv{1, 300, 40, 1, 7, 3, 1, 1},
                            Conv{1, 5, 8, 1, 4, 3, 1, 1}, Conv{1, 8, 16, 1, 33, 3, 1, 1}}) {
        SCOPED_TRACE(testing::Message() << p.channels << "->" << p.filters << " k" << p.kernel);
        const int64_t depth = p.channels / p.groups * p.kernel * p.kernel, o = p.out();
        const auto x = random_bytes(p.batch * p.channels * p.size * p.size, 1);
        const auto w = random_bytes(p.filters * depth, 2);
        // Zero points of the weights: one of each filter, or none that is not 0.
        const auto zw = p.groups > 1 || p.channels == 5 ? std::vector<uint8_t>(p.filters)
                                                        : random_bytes(p.filters, 3);
        const std::vector<uint8_t> zx = {140};
        RegionRunner r;
        const int32_t ix = r.input(tx, {p.batch, p.channels, p.size, p.size}, x);
        const int32_t iw =
            r.constant(tw, {p.filters, p.channels / p.groups, p.kernel, p.kernel}, w);
        const int32_t izx = r.input(tx, {}, zx), izw = r.constant(tw, {p.filters}, zw);
        const int32_t iy = r.output(NEF_INT32, {p.batch, p.filters, o, o});
        r.node(NEF_OP_CONV_INTEGER, {ix, iw, izx, izw}, {iy},
               ir::AttrBuilder(NEF_OP_CONV_INTEGER)
                   .set_int(NEF_CONV_INTEGER_GROUP, p.groups)
                   .set_ints(NEF_CONV_INTEGER_PADS, Dims(4, p.pad))
                   .set_ints(NEF_CONV_INTEGER_STRIDES, Dims(2, p.stride))
                   .build());
        const Outcome outcome = r.run();
        ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
        std::vector<float> wide_x, wide_w;
        for (uint8_t v : x) wide_x.push_back(float(number(tx, v) - number(tx, zx[0])));
        for (int64_t i = 0; i < p.filters * depth; ++i) {
          wide_w.push_back(float(number(tw, w[i]) - number(tw, zw[i / depth])));
        }
        const auto want = convolve(p, wide_x, wide_w);
        const auto got = r.result<int32_t>(iy);
        for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got[i], want[i].value) << i;
      }
    }
  }
}

}  // namespace
}  // namespace nef::cpu_test
