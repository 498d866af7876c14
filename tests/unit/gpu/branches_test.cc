// SPDX-License-Identifier: Apache-2.0
// Branches of a graph on streams of their own, on the GPU kernels that run on the host: there, work
// on a stream is done as late as what waits for it allows.
#include "tests/support/branches.h"

namespace nef::test {
namespace {

class Branches : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { load_plugin(NEF_TEST_PLUGIN_DIR "/gpu_on_host.so"); }
};

TEST_F(Branches, StreamsChangeNothing) {
  expect_streams_change_nothing("gpuhost", 17, {1, 7, 0, 33}, 4);
}

// Side by side branches need more memory than one behind the other.
TEST_F(Branches, ABudgetThatIsTooSmallForThemMakesThemOneStream) {
  constexpr int64_t kRows = 64, kWidth = 33;
  nef_compile_options o = options("gpuhost");
  const auto arena = [&] {
    const Program p = compile(branches_graph(5, kWidth), o);
    branches_result(p, kRows, kWidth, 1);
    char* text = nullptr;
    ok(nef_program_plan(p.get(), &text));
    const Json plan = take_json(text);
    double most = 0;
    const cJSON* a;
    cJSON_ArrayForEach(a, cJSON_GetObjectItemCaseSensitive(plan.get(), "arenas")) {
      most = std::max(most, cJSON_GetObjectItemCaseSensitive(a, "bytes")->valuedouble);
    }
    return static_cast<uint64_t>(most);
  };
  const uint64_t side_by_side = arena();
  ::setenv("NEF_GPU_STREAMS", "1", 1);
  const uint64_t one = arena();
  ::unsetenv("NEF_GPU_STREAMS");
  ASSERT_GT(side_by_side, 2 * one);
  o.strict = 1;
  const auto want = branches_result(compile(branches_graph(5, kWidth), o), kRows, kWidth, 1);
  o.memory_budget = (one + side_by_side) / 2;
  const Program p = compile(branches_graph(5, kWidth), o);
  EXPECT_EQ(lanes(p, tensor(noise(kWidth, 1), {1, kWidth})), (std::set<int>{0, 1, 2, 3}));
  for (int run = 0; run < 4; ++run) EXPECT_EQ(branches_result(p, kRows, kWidth, 1), want) << run;
  const auto all = events(p);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].to, "the same device, on one stream");
  EXPECT_EQ(all[0].from, "gpuhost:0");
  EXPECT_EQ(lanes(p, tensor(noise(kWidth, 1), {1, kWidth})), (std::set<int>{0}));
  o.memory_budget = one / 2;
  std::vector<Tensor> out;
  const Tensor x = tensor(noise(kRows * kWidth, 1), {kRows, kWidth});
  EXPECT_EQ(take(try_run(compile(branches_graph(5, kWidth), o), {x}, &out)).code,
            NEF_FALLBACK_FORBIDDEN);
}

// An index is looked for where it is noticed: on the first stream.
TEST_F(Branches, AnIndexOutOfRangeIsNoticedOnABranch) {
  const Tensor x = op("softmax", {input("x", {dim(4), dim(8)})});
  const Tensor i = input("i", {dim(3)}, NEF_INT64);
  Tensor a = op("gather", {op("mul", {x, tensor(noise(8, 1), {8})}), i});
  Tensor b = op("gather", {op("mul", {x, tensor(noise(8, 2), {8})}), i});
  for (int k = 0; k < 5; ++k) {
    a = op("softmax", {op("mul", {a, tensor(noise(8, 10 + k), {8})})});
    b = op("softmax", {op("mul", {b, tensor(noise(8, 20 + k), {8})})});
  }
  nef_compile_options o = options("gpuhost");
  o.strict = 1;
  const Program p = compile(capture({op("softmax", {op("add", {a, b})})}), o);
  const Tensor data = tensor(noise(32, 3), {4, 8});
  std::vector<float> first;
  for (int run = 0; run < 8; ++run) {
    std::vector<Tensor> out;
    const Failure f = take(try_run(p, {data, ints({0, run == 3 || run == 6 ? 9 : 3, 1})}, &out));
    if (run == 3 || run == 6) {
      EXPECT_EQ(f.code, NEF_OUT_OF_RANGE) << run << f.message;
      continue;
    }
    ASSERT_EQ(f.code, NEF_OK) << f.message;
    if (first.empty()) first = floats(out[0]);
    EXPECT_EQ(floats(out[0]), first) << run;
  }
}

}  // namespace
}  // namespace nef::test
