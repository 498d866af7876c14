// SPDX-License-Identifier: Apache-2.0
// Branches of a graph on streams of their own, on a real GPU.
#include "tests/support/branches.h"

namespace nef::test {
namespace {

class Branches : public ::testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < nef_device_count(); ++i) {
      nef_device_info info{};
      info.struct_size = sizeof info;
      ok(nef_device(i, &info));
      if (std::string(info.name) == "cuda:0" && info.available != 0) return;
    }
    GTEST_SKIP() << "there is no GPU here";
  }
};

// gpu-test runs them with a limit on memory too.
TEST_F(Branches, StreamsChangeNothing) {
  expect_streams_change_nothing("cuda:0", 515, {1, 7, 0, 33, 1000}, 30);
}

}  // namespace
}  // namespace nef::test
