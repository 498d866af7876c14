// SPDX-License-Identifier: Apache-2.0
// What the backend of a real GPU offers beside kernels: costs, pinned memory, recordings.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "backends/cuda/cuda.h"
#include "backends/rocm/rocm.h"
#include "tests/support/card.h"

namespace nef::cuda {
namespace {

class Card : public ::testing::Test {
 protected:
  void SetUp() override {
    if (table_.init(nullptr, &err_) != NEF_OK) GTEST_SKIP() << message_;
  }
  void must(nef_code code) { ASSERT_EQ(code, NEF_OK) << message_; }

  const nef_backend& table_ =
      test::card_backend() == "rocm" ? *nef_backend_rocm() : *nef_backend_cuda();
  char message_[512] = "";
  nef_backend_error err_{message_, sizeof message_};
};

TEST_F(Card, CostsAreMeasuredInMilliseconds) {
  for (int32_t d = 0; d < table_.device_count(); ++d) {
    void* p = nullptr;  // the driver is up
    must(table_.alloc(d, 1, &p, &err_));
    table_.free(d, p, 1);
    nef_backend_costs c{};
    c.struct_size = sizeof c;
    const auto begin = std::chrono::steady_clock::now();
    must(table_.measure(d, &c, &err_));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 0.2);
    // PCIe 3 of four lanes to NVLink.
    EXPECT_GT(c.link_bytes_per_second, 1e9);
    EXPECT_LT(c.link_bytes_per_second, 1e12);
    EXPECT_GT(c.launch_seconds, 1e-7);
    EXPECT_LT(c.launch_seconds, 1e-4);
    EXPECT_GT(c.link_seconds, 1e-7);
    EXPECT_LT(c.link_seconds, 1e-3);
    std::printf("%s:%d: launch %.2f us, link %.2f us and %.1f GB/s, measured in %.1f ms\n",
                table_.name, d, c.launch_seconds * 1e6, c.link_seconds * 1e6,
                c.link_bytes_per_second * 1e-9, took.count() * 1e3);
  }
}

TEST_F(Card, MemoryThatOneGpuPinnedServesAll) {
  constexpr size_t kBytes = size_t{3} << 20;
  void* host = nullptr;
  ASSERT_EQ(table_.host_alloc(0, kBytes, &host, &err_), NEF_OK) << message_;
  std::vector<unsigned char> want(kBytes);
  for (size_t i = 0; i < kBytes; ++i) want[i] = static_cast<unsigned char>(i * 7 + i / 4099);
  for (int32_t d = 0; d < table_.device_count(); ++d) {
    void* there = nullptr;
    must(table_.alloc(d, kBytes, &there, &err_));
    must(table_.copy(d, there, want.data(), kBytes, NEF_COPY_HOST_TO_DEVICE, &err_));
    std::memset(host, 0, kBytes);
    must(table_.copy(d, host, there, kBytes, NEF_COPY_DEVICE_TO_HOST, &err_));
    EXPECT_EQ(std::memcmp(host, want.data(), kBytes), 0) << d;
    table_.free(d, there, kBytes);
  }
  table_.host_free(0, host, kBytes);
}

TEST_F(Card, AReplayCopiesWhatIsThereThen) {
  constexpr size_t kBytes = 1000;
  void *host = nullptr, *there = nullptr;
  ASSERT_EQ(table_.host_alloc(0, kBytes, &host, &err_), NEF_OK) << message_;
  must(table_.alloc(0, kBytes, &there, &err_));
  std::memset(host, 1, kBytes);
  must(table_.copy(0, there, host, kBytes, NEF_COPY_HOST_TO_DEVICE, &err_));
  must(table_.record_begin(0, &err_));
  std::memset(host, 2, kBytes);
  must(table_.record_copy(0, there, host, kBytes, &err_));
  nef_backend_recording* recording = nullptr;
  must(table_.record_end(0, &recording, &err_));
  ASSERT_NE(recording, nullptr);
  std::vector<unsigned char> got(kBytes);
  must(table_.copy(0, got.data(), there, kBytes, NEF_COPY_DEVICE_TO_HOST, &err_));
  EXPECT_EQ(got, std::vector<unsigned char>(kBytes, 1)) << "what is noted has run";
  for (unsigned char v : {3, 4}) {
    std::memset(host, v, kBytes);
    must(table_.replay(recording, &err_));
    must(table_.copy(0, got.data(), there, kBytes, NEF_COPY_DEVICE_TO_HOST, &err_));
    EXPECT_EQ(got, std::vector<unsigned char>(kBytes, v));
  }
  table_.recording_free(recording);
  table_.free(0, there, kBytes);
  table_.host_free(0, host, kBytes);
}

TEST_F(Card, AReplayLeavesOnTheHostWhatItCopiedThere) {
  constexpr size_t kBytes = 1000;
  void *in = nullptr, *out = nullptr, *there = nullptr;
  ASSERT_EQ(table_.host_alloc(0, kBytes, &in, &err_), NEF_OK) << message_;
  ASSERT_EQ(table_.host_alloc(0, kBytes, &out, &err_), NEF_OK) << message_;
  must(table_.alloc(0, kBytes, &there, &err_));
  must(table_.record_begin(0, &err_));
  must(table_.record_copy(0, there, in, kBytes, &err_));
  must(table_.record_copy(0, out, there, kBytes, &err_));
  nef_backend_recording* recording = nullptr;
  must(table_.record_end(0, &recording, &err_));
  ASSERT_NE(recording, nullptr);
  for (int v = 0; v < 200; ++v) {
    std::memset(in, v, kBytes);
    must(table_.replay_wait(recording, &err_));
    const std::vector<unsigned char> want(kBytes, static_cast<unsigned char>(v));
    ASSERT_EQ(std::memcmp(out, want.data(), kBytes), 0) << v;
  }
  table_.recording_free(recording);
  table_.free(0, there, kBytes);
  table_.host_free(0, in, kBytes);
  table_.host_free(0, out, kBytes);
}

}  // namespace
}  // namespace nef::cuda
