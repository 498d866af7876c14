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

// A reshaped constant is the same memory; as a matrix it is another one, and lies in another way
// for one row than for several.
TEST_F(Weights, OneConstantIsTwoMatrices) {
  constexpr int64_t kNarrow = 1024, kWide = 4096;
  const auto bf16 = [](const Tensor& t) { return op("cast", {t}, {int_attr("to", NEF_BFLOAT16)}); };
  std::vector<float> numbers = noise(kNarrow * kWide);
  for (float& v : numbers) v /= 16;
  Tensor w = bf16(tensor(numbers, {kNarrow, kWide}));
  ok(nef_execute(w.get()));
  std::vector<Program> programs;
  std::vector<std::vector<Tensor>> in;
  std::vector<std::vector<float>> want;
  for (int64_t rows : {1, 4, 16}) {
    const Tensor x = input("x", {dim(rows), dim(kNarrow)});
    const Tensor wide = op("matmul", {bf16(x), w});
    const Tensor again = op("matmul", {wide, op("reshape", {w, ints({kWide, kNarrow})})});
    const Graph g = capture({op("cast", {again}, {int_attr("to", NEF_FLOAT32)})});
    in.push_back({tensor(noise(rows * kNarrow, 3), {rows, kNarrow})});
    want.push_back(floats(run(compile(g, options("cpu")), in.back())[0]));
    programs.push_back(compile(g, options(card_.c_str())));
  }
  for (int i = 0; i < 4; ++i) {
    for (size_t p = 0; p < programs.size(); ++p) {
      const auto got = floats(run(programs[p], in[p])[0]);
      for (size_t k = 0; k < got.size(); ++k) {
        ASSERT_NEAR(got[k], want[p][k], 0.05) << "program " << p << ", run " << i;
      }
    }
  }
}

}  // namespace
}  // namespace nef::test
