// SPDX-License-Identifier: Apache-2.0
// Libraries of CUDA that fail. `gpu-test` puts those of tests/plugins in the place of the real
// ones, one at a time, and says so in NEF_TEST_FAULT.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

class Fault : public ::testing::Test {
 protected:
  static void needs(const std::string& fault) {
    const char* now = std::getenv("NEF_TEST_FAULT");
    if (now == nullptr || now != fault) GTEST_SKIP() << "NEF_TEST_FAULT is not " << fault;
    ASSERT_TRUE(has_gpu()) << "there is no GPU here";
  }
  static bool has_gpu() {
    for (size_t i = 0; i < nef_device_count(); ++i) {
      nef_device_info info{};
      info.struct_size = sizeof info;
      ok(nef_device(i, &info));
      if (std::string(info.name) == "cuda:0") return info.available != 0;
    }
    return false;
  }
  static Graph layers() {
    Tensor y = input("x", {dim("batch"), dim(64)});
    for (uint32_t i = 0; i < 3; ++i) {
      y = op("softmax", {op("matmul", {y, tensor(noise(64 * 64, i), {64, 64})})},
             {int_attr("axis", -1)});
    }
    return capture({y});
  }
  static std::vector<float> result(const Program& p) {
    return floats(run(p, {tensor(noise(4 * 64, 9), {4, 64})})[0]);
  }
  static void expect_as_on_cpu(const std::vector<float>& got) {
    const auto want = result(compile(layers(), options("cpu")));
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << i;
  }
};

TEST_F(Fault, WhereNothingCompilesTheCpuComputes) {
  ASSERT_NO_FATAL_FAILURE(needs("nvrtc"));
  if (IsSkipped()) return;
  const Program p = compile(layers(), options("cuda:0"));
  const auto all = events(p);
  ASSERT_FALSE(all.empty());
  EXPECT_NE(all[0].what.find("compile of"), std::string::npos) << all[0].what;
  EXPECT_NE(all[0].why.find("fault_nvrtc compiles nothing"), std::string::npos) << all[0].why;
  expect_as_on_cpu(result(p));

  nef_compile_options strict = options("cuda:0");
  strict.strict = 1;
  Program refused;
  EXPECT_EQ(take(nef_graph_compile(layers().get(), &strict, refused.out())).code,
            NEF_FALLBACK_FORBIDDEN);
}

TEST_F(Fault, AGpuThatIsLostInARunIsLeft) {
  ASSERT_NO_FATAL_FAILURE(needs("lost"));
  if (IsSkipped()) return;
  const Program p = compile(layers(), options("cuda:0"));
  nef_compile_options o = options("cuda:0");
  o.strict = 1;
  const Program strict = compile(layers(), o);
  ASSERT_TRUE(events(p).empty());
  int runs = 0;
  std::vector<Event> all;
  for (; runs < 100 && all.empty(); ++runs) {
    expect_as_on_cpu(result(p));
    all = events(p);
  }
  ASSERT_EQ(all.size(), 1u) << "after " << runs << " runs";
  EXPECT_GT(runs, 1) << "nothing ran before the loss";
  EXPECT_EQ(all[0].what, "device lost");
  EXPECT_EQ(all[0].from, "cuda:0");
  EXPECT_EQ(all[0].to, "cpu");
  expect_as_on_cpu(result(p));

  std::vector<Tensor> out;
  const Failure f = take(try_run(strict, {tensor(noise(4 * 64, 9), {4, 64})}, &out));
  EXPECT_EQ(f.code, NEF_FALLBACK_FORBIDDEN) << f.message;
  // A program made afterwards finds out by itself.
  expect_as_on_cpu(result(compile(layers(), options("cuda:0"))));
}

}  // namespace
}  // namespace nef::test
