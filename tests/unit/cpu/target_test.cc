// SPDX-License-Identifier: Apache-2.0
// NEF_CPU_TARGET.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backends/cpu/device.h"
#include "backends/shared/region.h"
#include "tests/unit/cpu/each_target.h"

namespace nef::cpu_test {
namespace {

class TargetVariable : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("NEF_CPU_TARGET");
    hwy::SetSupportedTargetsForTest(0);
  }
};

std::string refusal(const char* target) {
  setenv("NEF_CPU_TARGET", target, 1);
  try {
    cpu::choose_target();
  } catch (const backends::BackendError& e) {
    return e.what();
  }
  return "";
}

// The one that every processor of its kind has.
constexpr int64_t kBaseline = HWY_STATIC_TARGET;

TEST_F(TargetVariable, ForcesAnInstructionSet) {
  EXPECT_EQ(refusal(hwy::TargetName(kBaseline)), "");
  EXPECT_EQ(hwy::SupportedTargets() & HWY_TARGETS, kBaseline);
}

TEST_F(TargetVariable, UnknownNamesAreRefusedWithTheKnownOnes) {
  const std::string why = refusal("AVX9");
  EXPECT_NE(why.find("'AVX9'"), std::string::npos) << why;
  EXPECT_NE(why.find(hwy::TargetName(kBaseline)), std::string::npos) << why;
}

TEST_F(TargetVariable, EmptyMeansTheBestOne) { EXPECT_EQ(refusal(""), ""); }

}  // namespace
}  // namespace nef::cpu_test
