// SPDX-License-Identifier: Apache-2.0
// What a compile may compute and keep ahead of runs, whatever the graph asks for; and that a
// compile can be cancelled, and a run holds to its memory budget with all that it allocates.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/support/blocks.h"

namespace nef::test {
namespace {

Tensor filled(const std::vector<int64_t>& shape) {
  return op("expand", {tensor({1}, {1}), ints(shape)});
}
nef_attr text_attr(const char* name, const char* value) {
  nef_attr a{};
  a.struct_size = sizeof a;
  a.name = name;
  a.type = NEF_ATTR_STRING;
  a.s = value;
  return a;
}
// The value beside an input, so that the program has a run to do.
Graph beside_input(const Tensor& value) {
  const Tensor all = op("reduce_sum", {value}, {int_attr("keepdims", 0)});
  return capture({op("add", {all, input("x", {dim(1)})})});
}
double number(const Json& json, const char* key) {
  const cJSON* item = cJSON_GetObjectItemCaseSensitive(json.get(), key);
  return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

// Each would take seconds to decades. Folding one makes this test run into its time limit.
TEST(CompileLimitsTest, LongWorkStaysForTheRun) {
  const Tensor line = filled({1, 1, 262144}), vector = filled({262144});
  const Tensor image = filled({1, 1, 511, 511});
  const Tensor signal = filled({1, 131071, 1});
  Tensor squares = filled({360, 360});
  for (int i = 0; i < 60; ++i) squares = op("matmul", {squares, squares});
  const std::pair<const char*, Tensor> cases[] = {
      {"max_pool", op("max_pool", {line}, {ints_attr("kernel_shape", {131072})})},
      {"average_pool", op("average_pool", {line}, {ints_attr("kernel_shape", {131072})})},
      {"lp_pool", op("lp_pool", {line}, {ints_attr("kernel_shape", {131072})})},
      {"max_pool", op("max_pool", {image}, {ints_attr("kernel_shape", {255, 255})})},
      {"lrn", op("lrn", {filled({1, 262144, 1})}, {int_attr("size", 262143)})},
      {"einsum", op("einsum", {vector, vector, vector}, {text_attr("equation", "i,j,k->")})},
      {"einsum", op("einsum", {vector, vector}, {text_attr("equation", "...i,...j->")})},
      {"dft", op("dft", {signal})},
      {"roi_align", op("roi_align", {image, tensor({0, 0, 500, 500}, {1, 4}), ints({0})},
                       {int_attr("output_height", 256), int_attr("output_width", 256),
                        int_attr("sampling_ratio", 1024)})},
      {"det", op("det", {filled({512, 512})})},
      {"matmul", squares},
  };
  for (const auto& [name, value] : cases) {
    SCOPED_TRACE(name);
    const Program p = compile(beside_input(value));
    EXPECT_NE(placement(p).find(name), std::string::npos) << placement(p);
  }
}

TEST(CompileLimitsTest, ShortWorkIsDoneAhead) {
  const Tensor m = filled({64, 64});
  const std::pair<const char*, Tensor> cases[] = {
      {"matmul", op("matmul", {m, m})},
      {"max_pool", op("max_pool", {filled({1, 1, 4096})}, {ints_attr("kernel_shape", {64})})},
      {"einsum", op("einsum", {m, m}, {text_attr("equation", "ij,jk->ik")})},
      {"dft", op("dft", {filled({1, 256, 1})})},
  };
  for (const auto& [name, value] : cases) {
    SCOPED_TRACE(name);
    const Program p = compile(beside_input(value));
    EXPECT_EQ(placement(p).find(name), std::string::npos) << placement(p);
  }
}

// 3,000 constants of 4 bytes that would become 1 MiB each.
TEST(CompileLimitsTest, SmallConstantsDoNotGrowWithoutBound) {
  for (const char* name : {"add", "mul"}) {
    SCOPED_TRACE(name);
    Tensor h = input("x", {dim(262144)});
    for (int i = 0; i < 3000; ++i) {
      const auto value = static_cast<float>(i);
      h = op(name, {h, op("expand", {tensor({value}, {1}), ints({262144})})});
    }
    const Graph g = capture({h});
    EXPECT_LE(number(plan(compile(g)), "computed_bytes"), 17 << 20);
    nef_compile_options o = options();
    o.memory_budget = 16 << 20;
    EXPECT_LE(number(plan(compile(g, o)), "computed_bytes"), 4 << 20);
  }
}

// Panels would pad these to 32 times their size.
TEST(CompileLimitsTest, NarrowWeightsAreNotKeptPadded) {
  for (const int64_t n : {1, 3}) {
    const int64_t k = 262144 / n;
    const Tensor w = filled({k, n});
    const Program p = compile(capture({op("matmul", {input("x", {dim("b"), dim(k)}), w})}));
    EXPECT_LE(number(plan(p), "packed_bytes"), 4.0 * static_cast<double>(n * k) * sizeof(float));
    for (const int64_t rows : {1, 5, 40}) {
      const std::vector<float> x(static_cast<size_t>(rows * k), 1.f);
      for (float y : floats(run(p, {tensor(x, {rows, k})})[0])) {
        ASSERT_EQ(y, static_cast<float>(k));
      }
    }
  }
}

// Blocks share the budget of the graph around them.
TEST(CompileLimitsTest, BlocksCountToo) {
  Tensor h = input("x", {dim(262144)});
  for (int i = 0; i < 40; ++i) {
    const Tensor before = h;
    const Tensor condition =
        op("greater", {op("reduce_max", {h}, {int_attr("keepdims", 0)}), tensor({0.5f}, {})});
    h = branch(
        condition,
        [&] {
          const Tensor value = tensor({static_cast<float>(i)}, {1});
          return op("add", {before, op("expand", {value, ints({262144})})});
        },
        [&] { return op("identity", {before}); });
  }
  EXPECT_LE(number(plan(compile(capture({h}))), "computed_bytes"), 17 << 20);
}

TEST(CompileLimitsTest, ACancelledCompileStops) {
  nef_cancel* cancel = nullptr;
  ok(nef_cancel_create(&cancel));
  // Many nodes that fold, each within what one node may take.
  Tensor h = filled({256, 256});
  for (int i = 0; i < 2000; ++i) h = op("exp", {h});
  const Graph g = beside_input(h);
  nef_compile_options o = options();
  o.cancel = cancel;
  Program p;
  ok(nef_graph_compile(g.get(), &o, p.out()));
  nef_cancel_request(cancel);
  Program none;
  const Failure f = take(nef_graph_compile(g.get(), &o, none.out()));
  EXPECT_EQ(f.code, NEF_CANCELLED) << f.message;
  EXPECT_EQ(none.get(), nullptr);
  nef_cancel_release(cancel);
  nef_cancel_request(nullptr);
  nef_cancel_release(nullptr);
  // What was compiled is not tied to the flag.
  EXPECT_EQ(run(p, {tensor({0}, {1})}).size(), 1u);
}

TEST(CompileLimitsTest, CancelFromAnotherThread) {
  // Kernels for thousands of regions, none of which is in the cache.
  Tensor h = input("x", {dim(8), dim(8)});
  for (int i = 0; i < 3000; ++i) {
    h = op("reduce_sum", {h, ints({1})});
    h = op("add", {h, tensor(std::vector<float>(static_cast<size_t>(8), 1.f), {1, 8})});
  }
  const Graph g = capture({h});
  int cancelled = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    nef_cancel* cancel = nullptr;
    ok(nef_cancel_create(&cancel));
    nef_compile_options o = options();
    o.cancel = cancel;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(200 * attempt));
      nef_cancel_request(cancel);
    });
    Program p;
    const nef_code code = take(nef_graph_compile(g.get(), &o, p.out())).code;
    other.join();
    EXPECT_TRUE(code == NEF_OK || code == NEF_CANCELLED) << code;
    cancelled += code == NEF_CANCELLED ? 1 : 0;
    nef_cancel_release(cancel);
  }
  EXPECT_GT(cancelled, 0);
}

nef_code budget_code(const Tensor& out, uint64_t budget) {
  nef_compile_options o = options();
  o.memory_budget = budget;
  std::vector<Tensor> outs;
  return take(try_run(compile(capture({out}), o), {tensor({1}, {1})}, &outs)).code;
}

// None of these lies in the arena.
TEST(MemoryBudgetTest, WhatARunAllocatesBesideItsPlanCounts) {
  const Tensor x = input("x", {dim(1)});
  const Tensor many = op("expand", {x, ints({1 << 20})});  // 4 MiB
  EXPECT_EQ(budget_code(many, 16 << 20), NEF_OK);
  EXPECT_EQ(budget_code(many, 1 << 20), NEF_OUT_OF_MEMORY);
  // Sizes that only data tells.
  const Tensor found = op("nonzero", {many});  // 8 MiB
  EXPECT_EQ(budget_code(found, 64 << 20), NEF_OK);
  EXPECT_EQ(budget_code(found, 6 << 20), NEF_OUT_OF_MEMORY);
}

// The same program again and again: what a run took is given back with it.
TEST(MemoryBudgetTest, RunsGiveBackWhatTheyTook) {
  const Tensor x = input("x", {dim("n", 1, 1 << 20)});
  nef_compile_options o = options();
  o.memory_budget = 1 << 20;
  const Program p = compile(capture({op("relu", {op("nonzero", {x})})}), o);
  for (int i = 0; i < 200; ++i) {
    std::vector<Tensor> outs;
    const int64_t n = i % 3 == 0 ? 100000 : 1000 + i;
    const nef_code code =
        take(try_run(p, {tensor(std::vector<float>(static_cast<size_t>(n), 1), {n})}, &outs)).code;
    EXPECT_EQ(code, i % 3 == 0 ? NEF_OUT_OF_MEMORY : NEF_OK) << i;
  }
}

// x of n elements, doubled as often as told, in a loop that stacks or carries it.
Program loop_program(bool stack, uint64_t budget) {
  const Tensor x = input("x", {dim("n", 1, 1 << 20)}), trips = input("trips", {}, NEF_INT64);
  const Tensors outs = loop(&trips, {x}, [&](const Tensors& p) -> Tensors {
    if (stack) return {p[1], p[2], op("neg", {p[2]})};
    return {p[1], op("concat", {p[2], p[2]}, {int_attr("axis", 0)})};
  });
  nef_compile_options o = options();
  o.memory_budget = budget;
  return compile(capture({outs.back()}), o);
}
nef_code loop_code(const Program& p, int64_t trips) {
  Tensor t;
  ok(nef_tensor_create(NEF_INT64, 0, nullptr, &trips, t.out()));
  std::vector<Tensor> outs;
  const std::vector<float> data(1024, 1.f);
  return take(try_run(p, {t, tensor(data, {1024})}, &outs)).code;
}

TEST(MemoryBudgetTest, LoopsCountWhatTheyHoldNotWhatTheyHeld) {
  const Program stacks = loop_program(true, 1 << 20);
  EXPECT_EQ(loop_code(stacks, 10), NEF_OK);
  EXPECT_EQ(loop_code(stacks, 1000), NEF_OUT_OF_MEMORY);  // 4 MiB
  EXPECT_EQ(loop_code(stacks, 10), NEF_OK);
  const Program grows = loop_program(false, 4 << 20);
  EXPECT_EQ(loop_code(grows, 6), NEF_OK);
  EXPECT_EQ(loop_code(grows, 12), NEF_OUT_OF_MEMORY);  // 16 MiB
  EXPECT_EQ(loop_code(grows, 6), NEF_OK);
}

}  // namespace
}  // namespace nef::test
