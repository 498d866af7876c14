// SPDX-License-Identifier: Apache-2.0
// Reductions large enough to be cut into parts, and NaN at every lane.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/ir/attrs.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

using Dims = std::vector<int64_t>;

std::vector<int64_t> keepdims_off(nef_op op) {
  return ir::AttrBuilder(op).set_int(NEF_REDUCE_SUM_KEEPDIMS, 0).build();
}

template <typename T>
std::vector<T> reduce(nef_op op, nef_dtype dtype, const Dims& dims, const Dims& axes,
                      const Dims& out_dims, const std::vector<T>& data) {
  RegionRunner r;
  const int32_t x = r.input(dtype, dims, data);
  const int32_t a = r.input(NEF_INT64, {static_cast<int64_t>(axes.size())}, axes);
  const int32_t y = r.output(dtype, out_dims);
  r.node(op, {x, a}, {y}, keepdims_off(op));
  const Outcome outcome = r.run();
  EXPECT_EQ(outcome.code, NEF_OK) << outcome.message;
  return r.result<T>(y);
}

// [outer, n, inner] summed over the middle, in double.
std::vector<double> middle_sums(const std::vector<float>& x, int64_t outer, int64_t n,
                                int64_t inner) {
  std::vector<double> sums(static_cast<size_t>(outer * inner), 0);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < inner; ++i) sums[o * inner + i] += x[(o * n + k) * inner + i];
    }
  }
  return sums;
}

void check_sum(int64_t outer, int64_t n, int64_t inner) {
  SCOPED_TRACE(testing::Message() << outer << "x" << n << "x" << inner);
  const auto x = random_floats(outer * n * inner, 5);
  const auto got =
      reduce<float>(NEF_OP_REDUCE_SUM, NEF_FLOAT32, {outer, n, inner}, {1}, {outer, inner}, x);
  const auto want = middle_sums(x, outer, n, inner);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], 1e-6 * std::fabs(want[i]) + 1e-10) << "output " << i;
  }
}

TEST(CpuReduce, ManyElementsToFewOutputs) {
  check_sum(1, 1'000'003, 1);
  check_sum(3, 200'001, 1);
  check_sum(1, 200'001, 3);
  check_sum(2, 1001, 700);
  check_sum(1, 1000, 1500);
}

TEST(CpuReduce, OuterAndInnerAxesAtOnce) {
  const int64_t a = 700, b = 3, c = 300;
  const auto x = random_floats(a * b * c, 6);
  const auto got = reduce<float>(NEF_OP_REDUCE_MAX, NEF_FLOAT32, {a, b, c}, {0, 2}, {b}, x);
  for (int64_t j = 0; j < b; ++j) {
    float want = x[j * c];
    for (int64_t i = 0; i < a; ++i) {
      for (int64_t k = 0; k < c; ++k) want = std::fmax(want, x[(i * b + j) * c + k]);
    }
    EXPECT_EQ(got[j], want);
  }
}

TEST(CpuReduce, LongIntegerSumsWrap) {
  const int64_t n = 300'000;
  const std::vector<int64_t> x(n, INT64_MAX);
  const auto got = reduce<int64_t>(NEF_OP_REDUCE_SUM, NEF_INT64, {n}, {0}, {}, x);
  EXPECT_EQ(got[0], static_cast<int64_t>(static_cast<uint64_t>(n) * uint64_t{INT64_MAX}));
}

TEST(CpuReduce, NanWinsAtEveryPosition) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const nef_op op : {NEF_OP_REDUCE_MAX, NEF_OP_REDUCE_MIN, NEF_OP_REDUCE_LOG_SUM_EXP}) {
    for (int64_t n = 1; n <= 67; ++n) {
      for (int64_t at = 0; at < n; ++at) {
        std::vector<float> x(static_cast<size_t>(n), 1);
        x[at] = nan;
        const auto row = reduce<float>(op, NEF_FLOAT32, {n}, {0}, {}, x);
        ASSERT_TRUE(std::isnan(row[0])) << n << " elements, NaN at " << at;
      }
    }
    // The same down columns: only the column with the NaN is one.
    for (int64_t at = 0; at < 19; ++at) {
      std::vector<float> x(5 * 19, 1);
      x[2 * 19 + at] = nan;
      const auto columns = reduce<float>(op, NEF_FLOAT32, {5, 19}, {0}, {19}, x);
      for (int64_t i = 0; i < 19; ++i) ASSERT_EQ(std::isnan(columns[i]), i == at);
    }
  }
}

}  // namespace
}  // namespace nef::cpu_test
