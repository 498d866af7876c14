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
