// SPDX-License-Identifier: Apache-2.0
// Launches that are noted in the second run of a program and replayed from then on: results stay
// those of the inputs at hand, and a failure ends as it would without. On the GPU kernels that run
// on the host.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nef/nef.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/handles.h"

namespace {

void ok(nef_status* st) { ASSERT_EQ(st, nullptr) << nef_status_message(st); }

nef_tensor* op(const char* name, const std::vector<nef_tensor*>& inputs) {
  nef_tensor* out = nullptr;
  ok(nef_op_call(name, inputs.data(), inputs.size(), nullptr, 0, "", 1, &out));
  return out;
}

class Replay : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { nef::test::load_plugin(NEF_TEST_PLUGIN_DIR "/gpu_on_host.so"); }
  nef_tensor* input(const char* name, nef_dtype dtype, const std::vector<int64_t>& shape) {
    std::vector<nef_dim> dims;
    for (int64_t n : shape) dims.push_back(nef::test::dim(n));
    return input_of(name, dtype, dims);
  }
  nef_tensor* input_of(const char* name, nef_dtype dtype, const std::vector<nef_dim>& dims) {
    nef_tensor* t = nullptr;
    ok(nef_tensor_input(name, dtype, dims.size(), dims.data(), &t));
    return keep(t);
  }
  nef_tensor* floats(const std::vector<float>& v) {
    return floats(v, {static_cast<int64_t>(v.size())});
  }
  nef_tensor* floats(const std::vector<float>& v, const std::vector<int64_t>& shape) {
    nef_tensor* t = nullptr;
    ok(nef_tensor_create(NEF_FLOAT32, static_cast<int32_t>(shape.size()), shape.data(), v.data(),
                         &t));
    return keep(t);
  }
  nef_tensor* keep(nef_tensor* t) {
    kept_.push_back(t);
    return t;
  }
  void compile(nef_tensor* y) { compile(std::vector<nef_tensor*>{y}); }
  void compile(const std::vector<nef_tensor*>& outputs) {
    const char* names[2] = {"y", "z"};
    nef_graph* graph = nullptr;
    ok(nef_graph_capture(outputs.data(), names, outputs.size(), &graph));
    nef_compile_options options;
    nef_compile_options_init(&options, sizeof options);
    options.device = "gpuhost";
    options.strict = 1;
    ok(nef_graph_compile(graph, &options, &program));
    nef_graph_release(graph);
  }
  // Copies that came behind a replay by themselves, so far.
  static int copies_behind() {
    void* plugin = dlopen(NEF_TEST_PLUGIN_DIR "/gpu_on_host.so", RTLD_NOW | RTLD_NOLOAD);
    const auto* copies =
        static_cast<const std::atomic<int>*>(dlsym(plugin, "nef_test_replay_copies"));
    EXPECT_NE(copies, nullptr) << dlerror();
    const int n = copies == nullptr ? 0 : copies->load();
    dlclose(plugin);
    return n;
  }
  void TearDown() override {
    nef_program_release(program);
    for (nef_tensor* t : kept_) nef_tensor_release(t);
  }

  nef_program* program = nullptr;

 private:
  std::vector<nef_tensor*> kept_;
};

TEST_F(Replay, EveryRunSeesItsOwnInputs) {
  // Three launches: sums cannot be fused with what reads them again.
  nef_tensor* x = input("x", NEF_FLOAT32, {4});
  nef_tensor* weights = keep(op("softmax", {x}));
  nef_tensor* norm = keep(op("softmax", {keep(op("mul", {weights, x}))}));
  compile(keep(op("sub", {norm, x})));
  for (int run = 0; run < 6; ++run) {
    const float v = static_cast<float>(run);
    nef_tensor* given = floats({v, v, v, v});
    nef_tensor* y = nullptr;
    ok(nef_program_run(program, &given, 1, &y, 1));
    float out[4];
    ok(nef_tensor_read(keep(y), out, sizeof out));
    for (float f : out) EXPECT_FLOAT_EQ(f, 0.25f - v) << "run " << run;
  }
}

// What a replay made leaves behind it, and not behind what other threads have queued since.
TEST_F(Replay, LargeResultsComeBehindTheirOwnReplay) {
  const std::vector<int64_t> shape = {5000, 4};  // 80,000 bytes
  nef_tensor* x = input("x", NEF_FLOAT32, shape);
  compile(keep(op("softmax", {keep(op("softmax", {x}))})));
  const int before = copies_behind();
  for (int run = 0; run < 6; ++run) {
    nef_tensor *given = floats(std::vector<float>(5000 * 4, 1), shape), *y = nullptr;
    ok(nef_program_run(program, &given, 1, &y, 1));
    keep(y);
    // The first run launches one by one.
    EXPECT_EQ(copies_behind() - before, run);
  }
}

// Copies of small results are noted with the launches; each run's are its own, whatever a caller
// still holds of those before.
TEST_F(Replay, SmallResultsAreCopiedWithinAReplay) {
  nef_tensor* x = input("x", NEF_FLOAT32, {4});
  nef_tensor* shares = keep(op("softmax", {x}));
  nef_tensor* again = keep(op("softmax", {shares}));
  compile({keep(op("add", {again, x})), keep(op("sub", {shares, x}))});
  const int before = copies_behind();
  std::vector<nef_tensor*> held;
  for (int run = 0; run < 6; ++run) {
    const float v = static_cast<float>(run);
    nef_tensor *given = floats({v, v, v, v}), *y[2] = {};
    ok(nef_program_run(program, &given, 1, y, 2));
    for (nef_tensor* t : y) held.push_back(keep(t));
    EXPECT_EQ(copies_behind(), before);
  }
  for (size_t i = 0; i < held.size(); ++i) {
    const float v = static_cast<float>(i / 2), want = i % 2 == 0 ? 0.25f + v : 0.25f - v;
    float out[4];
    ok(nef_tensor_read(held[i], out, sizeof out));
    for (float f : out) EXPECT_FLOAT_EQ(f, want) << "result " << i;
  }
}

// Of one program, and as large as a run wants them.
TEST_F(Replay, LargeAndSmallResultsLeaveEachItsOwnWay) {
  using nef::test::dim;
  nef_tensor* x = input_of("x", NEF_FLOAT32, {dim("rows"), dim(4)});
  nef_tensor* w = input("w", NEF_FLOAT32, {4});
  compile({keep(op("add", {keep(op("softmax", {w})), w})),
           keep(op("sub", {keep(op("softmax", {x})), x}))});
  const int before = copies_behind();
  float v = 0;
  for (int64_t rows : {4, 4, 4, 5000, 5000, 5000, 4, 4, 4}) {
    v += 1;
    nef_tensor* given[2] = {
        floats({v, v, v, v}),
        floats(std::vector<float>(static_cast<size_t>(rows) * 4, v), {rows, 4})};
    nef_tensor* y[2] = {};
    ok(nef_program_run(program, given, 2, y, 2));
    std::vector<float> large(static_cast<size_t>(rows) * 4), small(4);
    ok(nef_tensor_read(keep(y[1]), large.data(), large.size() * sizeof(float)));
    ok(nef_tensor_read(keep(y[0]), small.data(), small.size() * sizeof(float)));
    for (float f : large) ASSERT_FLOAT_EQ(f, 0.25f - v);
    for (float f : small) ASSERT_FLOAT_EQ(f, 0.25f + v);
  }
  // The second and third run of the large ones.
  EXPECT_EQ(copies_behind() - before, 2);
}

// Copies of small inputs are noted with the launches: each replay makes them again. A larger one
// goes its own way before them.
TEST_F(Replay, SmallInputsAreCopiedWithinAReplay) {
  constexpr int64_t kLines = 5000;  // 80,000 bytes
  const std::vector<int64_t> shape = {kLines, 4};
  nef_tensor* small = input("small", NEF_FLOAT32, {1});
  nef_tensor* large = input("large", NEF_FLOAT32, shape);
  nef_tensor* shares = keep(op("softmax", {large}));
  compile(keep(op("mul", {keep(op("softmax", {shares})), small})));
  for (int run = 0; run < 6; ++run) {
    const float v = static_cast<float>(run + 1);
    nef_tensor* given[2] = {floats(std::vector<float>(4 * kLines, v), shape), floats({v})};
    nef_tensor* y = nullptr;
    ok(nef_program_run(program, given, 2, &y, 1));
    std::vector<float> out(4 * kLines);
    ok(nef_tensor_read(keep(y), out.data(), out.size() * sizeof(float)));
    for (float f : out) ASSERT_FLOAT_EQ(f, v / 4) << "run " << run;
  }
}

TEST_F(Replay, AnIndexOutOfRangeIsNoticedInAReplay) {
  nef_tensor* i = input("i", NEF_INT64, {2});
  nef_tensor* picked = keep(op("gather", {floats({1, 2, 3}), i}));
  compile(keep(op("softmax", {keep(op("softmax", {picked}))})));
  for (int run = 0; run < 6; ++run) {
    const int64_t indices[2] = {0, run == 4 ? 7 : 1}, n = 2;
    nef_tensor *given = nullptr, *y = nullptr;
    ok(nef_tensor_create(NEF_INT64, 1, &n, indices, &given));
    keep(given);
    nef_status* st = nef_program_run(program, &given, 1, &y, 1);
    if (run == 4) {
      ASSERT_NE(st, nullptr);
      EXPECT_EQ(nef_status_code(st), NEF_OUT_OF_RANGE);
      nef_status_release(st);
    } else {
      ok(st);
      keep(y);
    }
  }
}

// Each recording has a place of its own for faults.
TEST_F(Replay, RunsSideBySideFailForTheirOwnIndices) {
  nef_tensor* i = input("i", NEF_INT64, {2});
  nef_tensor* picked = keep(op("gather", {floats({1, 2, 3}), i}));
  compile(keep(op("softmax", {keep(op("softmax", {picked}))})));
  const auto runs = [this](bool every_other_fails) {
    for (int run = 0; run < 40; ++run) {
      const bool fails = every_other_fails && run % 2 == 1;
      const int64_t indices[2] = {0, fails ? 7 : 1}, n = 2;
      nef_tensor *given = nullptr, *y = nullptr;
      ok(nef_tensor_create(NEF_INT64, 1, &n, indices, &given));
      nef_status* st = nef_program_run(program, &given, 1, &y, 1);
      EXPECT_EQ(nef_status_code(st), fails ? NEF_OUT_OF_RANGE : NEF_OK) << "run " << run;
      nef_status_release(st);
      nef_tensor_release(y);
      nef_tensor_release(given);
    }
  };
  std::thread failing(runs, true), other(runs, false), third(runs, false);
  failing.join();
  other.join();
  third.join();
}

}  // namespace
