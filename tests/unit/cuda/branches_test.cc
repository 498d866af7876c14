// SPDX-License-Identifier: Apache-2.0
// Branches of a graph on streams of their own, on a real GPU.
#include "tests/support/branches.h"
#include "tests/support/card.h"

namespace nef::test {
namespace {

class Branches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (card_.empty()) GTEST_SKIP() << "there is no GPU here";
  }

  const std::string card_ = card();
};

// gpu-test runs them with a limit on memory too.
TEST_F(Branches, StreamsChangeNothing) {
  expect_streams_change_nothing(card_.c_str(), 515, {1, 7, 0, 33, 1000}, 30);
}

}  // namespace
}  // namespace nef::test
