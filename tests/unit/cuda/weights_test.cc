// SPDX-License-Identifier: Apache-2.0
// Constants that lie on a GPU in another layout than in the host's memory.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/card.h"

namespace nef::test {
namespace {

class Weights : public ::testing::Test {
 protected:
  void SetUp() override {
    if (card_.empty()) GTEST_SKIP() << "there is no GPU here";
  }

  const std::string card_ = card();
};

// A reshaped constant is the same memory; as a matrix it is another one.
TEST_F(Weights, OneConstantIsTwoMatrices) {
  constexpr int64_t kNarrow = 1024, kWide = 4096;
  const auto bf16 = [](const Tensor& t) { return op("cast", {t}, {int_attr("to", NEF_BFLOAT16)}); };
  std::vector<float> numbers = noise(kNarrow * kWide);
  for (float& v : numbers) v /= 16;
  Tensor w = bf16(tensor(numbers, {kNarrow, kWide}));
  ok(nef_execute(w.get()));
  const Tensor x = input("x", {dim(1), dim(kNarrow)});
  const Tensor wide = op("matmul", {bf16(x), w});
  const Tensor again = op("matmul", {wide, op("reshape", {w, ints({kWide, kNarrow})})});
  const Graph g = capture({op("cast", {again}, {int_attr("to", NEF_FLOAT32)})});
  const std::vector<Tensor> in = {tensor(noise(kNarrow, 3), {1, kNarrow})};
  const auto want = floats(run(compile(g, options("cpu")), in)[0]);
  const Program p = compile(g, options(card_.c_str()));
  for (int i = 0; i < 4; ++i) {
    const auto got = floats(run(p, in)[0]);
    for (size_t k = 0; k < want.size(); ++k) ASSERT_NEAR(got[k], want[k], 0.05) << "run " << i;
  }
}

}  // namespace
}  // namespace nef::test
