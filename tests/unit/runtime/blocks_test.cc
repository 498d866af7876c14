// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan over the C API; what they mean is tested from Go as well (control_test.go).
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

#include "tests/support/blocks.h"

namespace nef::test {
namespace {

Tensor scalar(int64_t value) {
  Tensor t;
  ok(nef_tensor_create(NEF_INT64, 0, nullptr, &value, t.out()));
  return t;
}

// trips, x [n] -> x * 2^trips by doubling, and every step of it.
Graph doubling() {
  const Tensor trips = input("trips", {}, NEF_INT64), x = input("x", {dim("n", 0, 1000)});
  const Tensors out = loop(&trips, {x}, [](const Tensors& p) -> Tensors {
    const Tensor twice = op("add", {p[2], p[2]});
    return {p[1], twice, twice};
  });
  return capture({out[0], out[1]});
}

TEST(BlocksTest, ThreadsShareOneProgram) {
  const Program p = compile(doubling());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&p, t] {
      for (int k = 0; k < 20; ++k) {
        const int64_t trips = (t + k) % 5, n = 1 + k % 3;
        const auto out = run(p, {scalar(trips), tensor(std::vector<float>(n, 3), {n})}, 2);
        ASSERT_EQ(floats(out[0]), std::vector<float>(n, 3.f * float(1 << trips)));
        ASSERT_EQ(shape_of(out[1]), (std::vector<int64_t>{trips, n}));
        const auto steps = floats(out[1]);
        for (int64_t i = 0; i < trips * n; ++i) {
          ASSERT_EQ(steps[static_cast<size_t>(i)], 3.f * float(2 << (i / n)));
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

// Passes work within blocks: each one left out in turn, the results stay.
TEST(BlocksTest, EveryPassLeftOut) {
  const Tensor x = input("x", {dim("n", 1, 100)}), c = input("c", {}, NEF_BOOL);
  const Tensor w = tensor({1, 2, 3, 4}, {4});
  const Tensor three = scalar(3);
  const Tensor y = branch(
      c,
      [&] {
        return loop(&three, {x}, [&](const Tensors& p) -> Tensors {
          const Tensor sum = op("reduce_sum", {op("mul", {w, w})}, {int_attr("keepdims", 0)});
          return {p[1], op("add", {op("mul", {p[2], sum}), x})};
        })[0];
      },
      [&] {
        return op("concat", {x, w}, {int_attr("axis", 0)});
      });
  const Graph g = capture({op("relu", {y})});
  for (const char* pass : {"", "canonicalise", "fold", "blocks", "simplify", "cse", "dead", "fuse",
                           "canonicalise,fold,blocks,simplify,cse,dead,fuse"}) {
    nef_compile_options o = options();
    o.disabled_passes = pass;
    const Program p = compile(g, o);
    for (const uint8_t taken : {0, 1}) {
      Tensor condition;
      ok(nef_tensor_create(NEF_BOOL, 0, nullptr, &taken, condition.out()));
      const auto got = floats(run(p, {condition, tensor({2}, {1})})[0]);
      const std::vector<float> looped{2 * 30 * 30 * 30 + 2 * 30 * 30 + 2 * 30 + 2};
      EXPECT_EQ(got, taken ? looped : (std::vector<float>{2, 1, 2, 3, 4})) << pass;
    }
  }
}

TEST(BlocksTest, PlanAndTraceShowThem) {
  const Program p = compile(doubling());
  const Json json = plan(p);
  const cJSON* region = cJSON_GetArrayItem(cJSON_GetObjectItem(json.get(), "regions"), 0);
  EXPECT_EQ(json_text(region, "ops"), "loop");
  const cJSON* block = cJSON_GetArrayItem(cJSON_GetObjectItem(region, "blocks"), 0);
  EXPECT_EQ(json_text(cJSON_GetArrayItem(block, 0), "ops"), "add");
  test::Run r;
  ok(nef_run_create(p.get(), r.out()));
  ok(nef_run_set_input(r.get(), 0, scalar(3).get()));
  ok(nef_run_set_input(r.get(), 1, tensor({1}, {1}).get()));
  nef_run_enable_trace(r.get());
  ok(nef_run_execute(r.get()));
  char* text = nullptr;
  ok(nef_run_trace(r.get(), &text));
  const Json trace = take_json(text);
  int adds = 0;
  const cJSON* event;
  cJSON_ArrayForEach(event, cJSON_GetObjectItem(trace.get(), "traceEvents")) {
    const bool kernel = json_text(event, "cat") == "kernel";
    adds += kernel && json_text(event, "name").find("(add)") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(adds, 3);
}

// What is stacked must have one shape in all iterations.
TEST(BlocksTest, PartsOfAStackThatDifferAreAnError) {
  const Tensor trips = input("trips", {}, NEF_INT64);
  const Tensors out = loop(&trips, {tensor({1}, {1})}, [](const Tensors& p) -> Tensors {
    const Tensor longer = op("concat", {p[2], tensor({1}, {1})}, {int_attr("axis", 0)});
    return {p[1], longer, longer};
  });
  const Program p = compile(capture(out));
  Tensors got;
  EXPECT_EQ(take(try_run(p, {scalar(1)}, &got, 2)).code, NEF_OK);
  EXPECT_EQ(take(try_run(p, {scalar(2)}, &got, 2)).code, NEF_SHAPE_MISMATCH);
  ok(try_run(p, {scalar(0)}, &got, 2));
  EXPECT_EQ(shape_of(got[0]), (std::vector<int64_t>{1}));
  EXPECT_EQ(shape_of(got[1]), (std::vector<int64_t>{0, 1}));  // a part has at least 1
}

TEST(BlocksTest, BadArgumentsAreErrors) {
  nef_body body;
  nef_body_begin(&body, sizeof body);
  nef_tensor* out = nullptr;
  const Tensor x = tensor({1}, {1});
  EXPECT_EQ(take(nef_if(x.get(), &body, nullptr, &out, 1)).code, NEF_INVALID_ARGUMENT);
  EXPECT_EQ(take(nef_if(nullptr, &body, &body, &out, 1)).code, NEF_INVALID_ARGUMENT);
  EXPECT_EQ(take(nef_loop(nullptr, nullptr, nullptr, 0, &body, &out, 1)).code,
            NEF_INVALID_ARGUMENT);
  nef_body zero;
  std::memset(&zero, 0, sizeof zero);
  EXPECT_EQ(take(nef_loop(nullptr, nullptr, nullptr, 0, &zero, &out, 1)).code,
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(take(nef_scan(nullptr, 0, nullptr, 0, nullptr, &body, &out, 1)).code,
            NEF_INVALID_ARGUMENT);
  Tensor p;
  EXPECT_EQ(take(nef_body_parameter(x.get(), 1, p.out())).code, NEF_INVALID_ARGUMENT);
  EXPECT_EQ(take(nef_body_scalar(NEF_FLOAT32, p.out())).code, NEF_INVALID_ARGUMENT);
  EXPECT_EQ(take(nef_op_call("loop", nullptr, 0, nullptr, 0, "", 1, &out)).code,
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(out, nullptr);
}

}  // namespace
}  // namespace nef::test
