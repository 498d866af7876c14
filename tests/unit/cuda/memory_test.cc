// SPDX-License-Identifier: Apache-2.0
// Programs that need more than a GPU has. `gpu-test` sets the limit that these tests count on.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

constexpr long kLimit = 64L << 20;
constexpr int64_t kWidth = 2048;  // weights of 16 MiB

class Limited : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpus() == 0) GTEST_SKIP() << "there is no GPU here";
    const char* limit = std::getenv("NEF_CUDA_MEMORY_LIMIT");
    if (limit == nullptr || std::atol(limit) != kLimit) {
      GTEST_SKIP() << "NEF_CUDA_MEMORY_LIMIT is not " << kLimit;
    }
  }
  static int gpus() {
    int n = 0;
    for (size_t i = 0; i < nef_device_count(); ++i) {
      nef_device_info info{};
      info.struct_size = sizeof info;
      ok(nef_device(i, &info));
      n += std::string(info.name).rfind("cuda:", 0) == 0 && info.available != 0;
    }
    return n;
  }
  // Products of x with `layers` square matrices.
  static Graph layers(uint32_t layers, const char* device = "") {
    Tensor y = input("x", {dim("batch", 1, 1 << 20), dim(kWidth)});
    for (uint32_t i = 0; i < layers; ++i) {
      std::vector<float> w = noise(kWidth * kWidth, i);
      for (float& v : w) v /= 32;
      y = op("relu", {op("matmul", {y, tensor(w, {kWidth, kWidth})}, {}, device)}, {}, device);
    }
    return capture({y});
  }
  static Tensor batch(int64_t n) { return tensor(noise(n * kWidth, 77), {n, kWidth}); }
  static void expect_as_on_cpu(const Graph& g, const Program& p, int64_t n) {
    const auto want = floats(run(compile(g, options("cpu")), {batch(n)})[0]);
    const auto got = floats(run(p, {batch(n)})[0]);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], 1e-3 * std::max(1.f, std::fabs(want[i]))) << i;
    }
  }
  static size_t count(const std::string& text, const std::string& word) {
    size_t n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
  }
};

TEST_F(Limited, ABatchThatDoesNotFitIsRunInParts) {
  const Graph g = layers(1);
  const Program p = compile(g, options("cuda:0"));
  expect_as_on_cpu(g, p, 6000);  // 47 MiB in, as much out
  const auto all = events(p);
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].what, "out of memory");
  EXPECT_NE(all.back().to.find("smaller batches"), std::string::npos) << all.back().to;
  EXPECT_EQ(placement(p), "matmul+relu@cuda:0");
}

TEST_F(Limited, StrictModeForbidsThat) {
  nef_compile_options o = options("cuda:0");
  o.strict = 1;
  std::vector<Tensor> out;
  EXPECT_EQ(take(try_run(compile(layers(1), o), {batch(6000)}, &out)).code, NEF_FALLBACK_FORBIDDEN);
}

TEST_F(Limited, WeightsThatDoNotFitOneGpuGoToTheNextOrToTheCpu) {
  const Graph g = layers(5);  // 80 MiB
  const Program p = compile(g, options("cuda"));
  const std::string placed = placement(p);
  EXPECT_GE(count(placed, "@cuda:0"), 1u) << placed;
  if (gpus() > 1) {
    EXPECT_GE(count(placed, "@cuda:1"), 1u) << placed;
    EXPECT_EQ(count(placed, "@cpu:0"), 0u) << placed;
    EXPECT_TRUE(events(p).empty());
  } else {
    EXPECT_GE(count(placed, "@cpu:0"), 1u) << placed;
    EXPECT_FALSE(events(p).empty());
  }
  expect_as_on_cpu(g, p, 32);
}

TEST_F(Limited, APinnedGraphStaysOnItsGpuOrIsAnEvent) {
  const Graph g = layers(5);
  const Program p = compile(g, options("cuda:0"));
  EXPECT_FALSE(events(p).empty());
  expect_as_on_cpu(g, p, 32);
}

}  // namespace
}  // namespace nef::test
