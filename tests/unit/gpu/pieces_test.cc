// SPDX-License-Identifier: Apache-2.0
// Copies to the host in pieces, on the GPU kernels that run on the host: there, a piece arrives
// when it is waited for, and not before.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

class Pieces : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { load_plugin(NEF_TEST_PLUGIN_DIR "/gpu_on_host.so"); }

  // What is on the GPU: [rows, t, d].
  static Tensor hidden(const std::vector<nef_dim>& dims) {
    return op("neg", {input("x", dims)}, {}, "gpuhost");
  }
  static Tensor on_cpu(const char* name, const std::vector<Tensor>& in,
                       const std::vector<nef_attr>& attrs = {}) {
    return op(name, in, attrs, "cpu");
  }
  // Does the trace of a run show the copy to the host and a kernel of the CPU at the same time?
  static bool overlaps(const Program& p, const std::vector<Tensor>& in) {
    test::Run r;
    ok(nef_run_create(p.get(), r.out()));
    nef_run_enable_trace(r.get());
    for (size_t i = 0; i < in.size(); ++i) ok(nef_run_set_input(r.get(), i, in[i].get()));
    ok(nef_run_execute(r.get()));
    char* text = nullptr;
    ok(nef_run_trace(r.get(), &text));
    const Json json = take_json(text);
    struct Span {
      double begin, end;
    };
    std::vector<Span> copies, kernels;
    const cJSON* e;
    cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(json.get(), "traceEvents")) {
      const std::string category = json_text(e, "cat");
      if (category != "copy" && category != "kernel") continue;
      const double begin = cJSON_GetObjectItemCaseSensitive(e, "ts")->valuedouble;
      const double took = cJSON_GetObjectItemCaseSensitive(e, "dur")->valuedouble;
      (category == "copy" ? copies : kernels).push_back({begin, begin + took});
    }
    for (const Span& c : copies) {
      for (const Span& k : kernels) {
        if (k.begin > c.begin && k.begin < c.end) return true;
      }
    }
    return false;
  }
  static void expect_same(const Graph& g, const std::vector<Tensor>& in, bool in_pieces) {
    nef_compile_options o = options("");
    o.strict = 1;
    ::setenv("NEF_GPU_STREAMS", "1", 1);
    const Program whole = compile(g, o);
    ::unsetenv("NEF_GPU_STREAMS");
    const Program cut = compile(g, o);
    EXPECT_FALSE(overlaps(whole, in));
    EXPECT_EQ(overlaps(cut, in), in_pieces);
    for (int i = 0; i < 3; ++i) {
      const auto want = floats(run(whole, in)[0]), got = floats(run(cut, in)[0]);
      ASSERT_EQ(want.size(), got.size());
      for (size_t k = 0; k < want.size(); ++k) {
        ASSERT_NEAR(want[k], got[k], 1e-6 * std::max(1.0f, std::fabs(want[k]))) << k;
      }
    }
  }
  static Tensor data(const std::vector<int64_t>& shape, uint32_t seed = 3) {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return tensor(noise(static_cast<size_t>(n), seed), shape);
  }
};

TEST_F(Pieces, MeansOfAnyNumberOfRows) {
  const Graph g =
      capture({on_cpu("reduce_mean", {hidden({dim("batch", 0, 64), dim("t"), dim(129)}), ints({1})},
                      {int_attr("keepdims", 0)})});
  for (const int64_t rows : {2, 3, 5, 7, 33}) {
    expect_same(g, {data({rows, 2100 / rows + 1, 129})}, true);
  }
  for (const int64_t rows : {0, 1}) expect_same(g, {data({rows, 2100, 129})}, false);
  expect_same(g, {data({33, 5, 129})}, false);  // small
}

TEST_F(Pieces, SizesThatAreKnownBefore) {
  const Graph g =
      capture({on_cpu("reduce_max", {hidden({dim(6), dim(353), dim(129)}), ints({1})})});
  expect_same(g, {data({6, 353, 129})}, true);
}

// As sentences are pooled: what is masked does not count.
TEST_F(Pieces, WhatIsBesideTheRowsIsCutToo) {
  const Tensor mask = input("mask", {dim("batch"), dim("t"), dim(1)});
  const Tensor scale = tensor(noise(129, 8), {129});
  Tensor y = on_cpu("mul", {hidden({dim("batch"), dim("t"), dim(129)}), mask});
  y = on_cpu("reduce_sum", {on_cpu("mul", {y, scale}), ints({1})}, {int_attr("keepdims", 0)});
  expect_same(capture({y}), {data({7, 301, 129}), data({7, 301, 1}, 9)}, true);
}

TEST_F(Pieces, RowsThatSeeEachOtherStayTogether) {
  const Tensor x = hidden({dim("batch"), dim("t"), dim(129)});
  expect_same(capture({on_cpu("reduce_mean", {x, ints({0})})}), {data({7, 301, 129})}, false);
  expect_same(capture({on_cpu("reduce_mean", {x, ints({-3, 1})})}), {data({7, 301, 129})}, false);
  expect_same(capture({on_cpu("reduce_mean", {x})}), {data({7, 301, 129})}, false);
  // The rows are not the first axis of the result.
  const Tensor wide = tensor(noise(2 * 7, 4), {2, 7, 1, 1});
  expect_same(capture({on_cpu("mul", {hidden({dim(7), dim(301), dim(129)}), wide})}),
              {data({7, 301, 129})}, false);
}

}  // namespace
}  // namespace nef::test
