// SPDX-License-Identifier: Apache-2.0
// Two symbols that only a run can tell to be equal or broadcast: what is fused must serve both.
#include <gtest/gtest.h>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

std::vector<float> ramp(int64_t n) {
  std::vector<float> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(i)] = static_cast<float>(i * i % 17);
  return out;
}

// The results with and without the passes, for a and b of n and m rows of 8.
void expect_same(const Graph& g, int64_t n, int64_t m) {
  nef_compile_options plain = options();
  plain.disabled_passes = "canonicalise,fold,simplify,gelu,norm,attention,cse,dead,fuse";
  const std::vector<Tensor> in{tensor(ramp(8 * n), {n, 8}), tensor(ramp(8 * m), {m, 8})};
  const Tensor want = run(compile(g, plain), in)[0];
  const Tensor got = run(compile(g), in)[0];
  EXPECT_EQ(shape_of(got), shape_of(want));
  const auto x = floats(want), y = floats(got);
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-4f) << n << " " << m;
}

const std::vector<std::pair<int64_t, int64_t>> kRows{{3, 3}, {3, 1}, {1, 3}, {1, 1}};

TEST(BroadcastTest, NormOfASum) {
  const Tensor a = input("a", {dim("n", 1, 64), dim(8)}), b = input("b", {dim("m", 1, 64), dim(8)});
  const Tensor scale = tensor(std::vector<float>(8, 2.f), {8});
  const Graph g = capture({op("layer_normalization", {op("add", {a, b}), scale})});
  for (const auto& [n, m] : kRows) expect_same(g, n, m);
}

TEST(BroadcastTest, EpilogueOfAProduct) {
  const Tensor w = tensor(ramp(64), {8, 8});
  for (const int64_t least : {1, 3}) {
    const Tensor a = input("a", {dim("n", least, 64), dim(8)});
    const Tensor b = input("b", {dim("m", 1, 64), dim(8)});
    const Graph g = capture({op("relu", {op("add", {op("matmul", {a, w}), b})})});
    for (const auto& [n, m] : kRows) {
      if (n >= least) expect_same(g, n, m);
    }
  }
}

TEST(BroadcastTest, ElementwiseTree) {
  const Tensor a = input("a", {dim("n", 1, 64), dim(8)}), b = input("b", {dim("m", 1, 64), dim(8)});
  const Graph g = capture({op("mul", {op("relu", {op("add", {a, b})}), op("sub", {b, a})})});
  for (const auto& [n, m] : kRows) expect_same(g, n, m);
}

// A smaller batch would not fit b any more: the run is short of memory, not wrong.
TEST(BroadcastTest, ABatchTiedToAnotherDimIsNotSplit) {
  const Tensor a = input("a", {dim("batch", 1, 64), dim(8)});
  const Tensor b = input("b", {dim("m", 1, 64), dim(8)});
  const Tensor w = tensor(ramp(64), {8, 8});
  const Tensor joined = op("concat", {a, b}, {int_attr("axis", 1)});
  const Tensor ww = op("concat", {w, w}, {int_attr("axis", 0)});
  const Graph g = capture({op("softmax", {op("matmul", {joined, ww})})});
  nef_compile_options small = options();
  small.memory_budget = 512;
  std::vector<Tensor> outs;
  const std::vector<Tensor> in{tensor(ramp(256), {32, 8}), tensor(ramp(256), {32, 8})};
  EXPECT_EQ(take(try_run(compile(g, small), in, &outs)).code, NEF_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace nef::test
