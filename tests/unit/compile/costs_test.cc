// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>
#include <vector>

namespace nef::compile {
namespace {

nef_backend_costs answer;
nef_code answer_code;
int asked;

nef_code measure(int32_t, nef_backend_costs* out, nef_backend_error* err) {
  ++asked;
  EXPECT_EQ(out->struct_size, sizeof *out);
  if (answer_code != NEF_OK) std::snprintf(err->message, err->capacity, "the link is down");
  *out = answer;
  return answer_code;
}

class Costs : public ::testing::Test {
 protected:
  void SetUp() override {
    asked = 0;
    answer = {sizeof answer, 2.345e-6, 9.87e-6, 5.4321e10};
    answer_code = NEF_OK;
    backend.name = "far";
    backend.version = "1";
    backend.measure = measure;
    device.backend = &backend;
    device.name = "far:0";
    device.info.arch = "far_1";
    device.info.description = "a far device, driver 1";
    device.info.launch_seconds = 8e-6;
    device.info.link_bytes_per_second = 2e10;
    char path[] = "/tmp/nef-costs-XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    folder = path;
  }
  void TearDown() override {
    ::unsetenv("NEF_STATED_COSTS");
    std::filesystem::remove_all(folder);
  }
  void expect_stated(const CostCache::Entry& e, const std::string& why) const {
    EXPECT_EQ(e.how, "stated: " + why);
    EXPECT_EQ(e.costs.launch_seconds, 8e-6);
    EXPECT_EQ(e.costs.link_seconds, 8e-6);
    EXPECT_EQ(e.costs.link_bytes_per_second, 2e10);
  }
  static void expect_measured(const CostCache::Entry& e) {
    EXPECT_STREQ(e.how, "measured");
    EXPECT_DOUBLE_EQ(e.costs.launch_seconds, 2.3e-6);
    EXPECT_DOUBLE_EQ(e.costs.link_seconds, 9.9e-6);
    EXPECT_DOUBLE_EQ(e.costs.link_bytes_per_second, 5.4e10);
  }

  nef_backend backend{};
  plan::Device device;
  std::string folder;
};

TEST_F(Costs, AreMeasuredOnceToTwoDigits) {
  CostCache cache("");
  expect_stated(cache.known(device), "not measured yet");
  EXPECT_EQ(asked, 0);
  expect_measured(cache.of(device));
  answer.launch_seconds = 1;
  expect_measured(cache.of(device));
  expect_measured(cache.known(device));
  EXPECT_EQ(asked, 1);
}

TEST_F(Costs, ThreadsMeasureOnce) {
  CostCache cache("");
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back([&] { expect_measured(cache.of(device)); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(asked, 1);
}

TEST_F(Costs, AreKeptOnDiskForTheDeviceAndItsDriver) {
  CostCache(folder).of(device);
  answer.launch_seconds = 1e-3;
  expect_measured(CostCache(folder).known(device));
  expect_measured(CostCache(folder).of(device));
  EXPECT_EQ(asked, 1);
  device.info.description = "a far device, driver 2";
  EXPECT_DOUBLE_EQ(CostCache(folder).of(device).costs.launch_seconds, 1e-3);
  device.name = "far:1";
  CostCache(folder).of(device);
  EXPECT_EQ(asked, 3);
}

TEST_F(Costs, WhereMeasuringFailsWhatIsStatedCounts) {
  answer_code = NEF_INTERNAL;
  CostCache cache(folder);
  expect_stated(cache.of(device), "the link is down");
  expect_stated(cache.known(device), "the link is down");
  EXPECT_EQ(asked, 1);
  // It is not kept on disk: the next process tries again.
  answer_code = NEF_OK;
  expect_measured(CostCache(folder).of(device));
}

TEST_F(Costs, NumbersThatMakeNoSenseDoNotCount) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double wrong : {0.0, -1e-6, std::nan(""), inf, 1e-30}) {
    for (double* field :
         {&answer.launch_seconds, &answer.link_seconds, &answer.link_bytes_per_second}) {
      const double right = *field;
      *field = wrong;
      expect_stated(CostCache(folder).of(device), "what was measured makes no sense");
      *field = right;
    }
  }
  expect_stated(CostCache(folder).known(device), "not measured yet");
}

TEST_F(Costs, OfSomeDevicesNothingIsMeasured) {
  backend.measure = nullptr;
  expect_stated(CostCache(folder).of(device), "its backend measures nothing");
  backend.measure = measure;
  device.info.flags = NEF_DEVICE_HOST_MEMORY;
  expect_stated(CostCache(folder).of(device), "it computes in host memory");
  device.info.flags = 0;
  ::setenv("NEF_STATED_COSTS", "1", 1);
  expect_stated(CostCache(folder).of(device), "NEF_STATED_COSTS is set");
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace nef::compile
