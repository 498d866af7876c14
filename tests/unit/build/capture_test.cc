// SPDX-License-Identifier: Apache-2.0
// What a captured graph knows of its symbols.
#include <gtest/gtest.h>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

void expect_only_four(const Graph& g) {
  const Program p = compile(g);
  std::vector<Tensor> outs;
  for (const int64_t n : {1, 3, 5, 4}) {
    const std::vector<float> data(static_cast<size_t>(n * 4), 1.f);
    const Failure f = take(try_run(p, {tensor(data, {n, 4})}, &outs));
    EXPECT_EQ(f.code, n == 4 ? NEF_OK : NEF_SHAPE_MISMATCH) << n << " " << f.message;
  }
}

// The result is static, but only right for one size of the symbol: running with another read and
// wrote out of bounds.
TEST(CaptureTest, AStaticResultKeepsWhatItNeedsOfASymbol) {
  const Tensor x = input("x", {dim("batch", 1, 64), dim(4)});
  const Tensor w = tensor(std::vector<float>(16, 1.f), {4, 4});
  expect_only_four(capture({op("concat", {w, x}, {int_attr("axis", -1)})}));
  expect_only_four(capture({op("matmul", {w, x})}));
  expect_only_four(capture({op("reshape", {x, ints({2, 8})})}));
}

}  // namespace
}  // namespace nef::test
