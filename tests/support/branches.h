// SPDX-License-Identifier: Apache-2.0
// Graphs with branches side by side, for tests of devices that have streams.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/handles.h"

namespace nef::test {

// Softmaxes of [n, width] in `branches` rows of five, then their sum.
inline Graph branches_graph(int branches, int64_t width) {
  const Tensor x = op("softmax", {input("x", {dim("batch", 0, 4096), dim(width)})});
  Tensor all;
  for (int b = 0; b < branches; ++b) {
    const auto seed = static_cast<uint32_t>(b + 1);
    Tensor y = op("mul", {x, tensor(noise(width, seed), {width})});
    for (int i = 0; i < 5; ++i) {
      y = op("softmax", {op("mul", {y, tensor(noise(width, 100 * seed + i), {width})})});
    }
    all = b == 0 ? y : op("add", {all, y});
  }
  return capture({op("softmax", {all})});
}

inline std::vector<float> branches_result(const Program& p, int64_t n, int64_t width,
                                          uint32_t seed) {
  return floats(run(p, {tensor(noise(n * width, seed), {n, width})})[0]);
}

// The streams that a trace shows the device's kernels on.
inline std::set<int> lanes(const Program& p, const Tensor& x) {
  Run r;
  ok(nef_run_create(p.get(), r.out()));
  nef_run_enable_trace(r.get());
  ok(nef_run_set_input(r.get(), 0, x.get()));
  ok(nef_run_execute(r.get()));
  char* text = nullptr;
  ok(nef_run_trace(r.get(), &text));
  const Json json = take_json(text);
  std::set<int> out;
  const cJSON* e;
  cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(json.get(), "traceEvents")) {
    if (json_text(e, "cat") != "kernel") continue;
    out.insert(cJSON_GetObjectItemCaseSensitive(e, "tid")->valueint);
  }
  return out;
}

// Results on several streams are those on one, bit for bit: of odd sizes, in runs that are
// launched, noted and replayed, from several threads at once.
inline void expect_streams_change_nothing(const char* device, int64_t width,
                                          const std::vector<int64_t>& sizes, int runs) {
  constexpr int kBranches = 5;
  nef_compile_options o = options(device);
  // Short of memory, runs may have to be smaller, which other kernels may be for.
  const bool pressed = std::getenv("NEF_CUDA_MEMORY_LIMIT") != nullptr;
  o.strict = pressed ? 0 : 1;
  ::setenv("NEF_GPU_STREAMS", "1", 1);
  const Program one = compile(branches_graph(kBranches, width), o);
  ::unsetenv("NEF_GPU_STREAMS");
  const Program many = compile(branches_graph(kBranches, width), o);
  const Tensor x = tensor(noise(3 * width, 5), {3, width});
  EXPECT_EQ(lanes(one, x), (std::set<int>{0}));
  EXPECT_EQ(lanes(many, x), (std::set<int>{0, 1, 2, 3}));
  const auto compare = [&](uint32_t first_seed) {
    for (const int64_t n : sizes) {
      for (int i = 0; i < runs; ++i) {
        const uint32_t seed = first_seed + static_cast<uint32_t>(i);
        const auto want = branches_result(one, n, width, seed);
        const auto got = branches_result(many, n, width, seed);
        ASSERT_EQ(want.size(), got.size());
        if (!pressed) {
          const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
          ASSERT_TRUE(std::ranges::equal(want, got, {}, bits, bits)) << "n " << n << ", run " << i;
          continue;
        }
        for (size_t k = 0; k < want.size(); ++k) {
          ASSERT_NEAR(want[k], got[k], 1e-6 * want[k]) << "n " << n << ", run " << i;
        }
      }
    }
  };
  compare(1);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 3; ++t) threads.emplace_back([&, t] { compare(1000 * (t + 1)); });
  for (std::thread& t : threads) t.join();
  for (const Program* p : {&one, &many}) {
    for (const Event& e : events(*p)) EXPECT_TRUE(pressed && e.to != "cpu") << e.to << e.why;
  }
}

}  // namespace nef::test
