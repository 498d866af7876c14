// SPDX-License-Identifier: Apache-2.0
// Random graphs that the CPU and a real GPU share.
#include "tests/support/card.h"
#include "tests/support/random_graph.h"

namespace nef::test {
namespace {

// Sixteen of each, so that processes can share the work.
class Random : public ::testing::TestWithParam<unsigned> {
 protected:
  static constexpr unsigned kSeeds = 24;  // of one
  void SetUp() override {
    if (card_.empty()) GTEST_SKIP() << "there is no GPU here";
  }

  const std::string card_ = card();
};

TEST_P(Random, GraphsComputeWhatWasWritten) {
  unsigned checked = 0;
  for (unsigned seed = GetParam() * kSeeds; seed < (GetParam() + 1) * kSeeds; ++seed) {
    checked += expect_devices_agree(
        seed, card_.c_str(), "reference",
        {{3, 3}, {3, 3}, {3, 3}, {3, 3}, {16, 1}, {3, 3}, {1, 5}, {1, 5}, {1, 5}, {4, 4}});
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(checked, kSeeds / 2);
}

// Values of more than 1 MiB pass between devices in pieces.
TEST_P(Random, LargeGraphsComputeWhatTheCpuDoes) {
  const auto agree = [this](unsigned seed) {
    return expect_devices_agree(seed, card_.c_str(), "cpu",
                                {{12000, 1}, {12000, 1}, {12000, 1}, {12000, 1}}, 1 << 14);
  };
  unsigned seed = 1000 + GetParam();
  while (!agree(seed) && seed < 2000) seed += 16;
  EXPECT_LT(seed, 2000u);
}

INSTANTIATE_TEST_SUITE_P(Card, Random, ::testing::Range(0u, 16u));

}  // namespace
}  // namespace nef::test
