// SPDX-License-Identifier: Apache-2.0
// Sizes that only a run can tell: of results that depend on data, and of ops whose shape inputs
// are computed.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor int_tensor(const Ints& data, const Ints& shape) {
  Tensor t;
  ok(nef_tensor_create(NEF_INT64, shape.size(), shape.data(), data.data(), t.out()));
  return t;
}

Ints int64s(const Tensor& t) {
  ok(nef_execute(t.get()));
  size_t n = 1;
  for (int64_t d : shape_of(t)) n *= static_cast<size_t>(d);
  Ints out(n);
  ok(nef_tensor_read(t.get(), out.data(), n * sizeof(int64_t)));
  return out;
}

nef_code run_code(const Program& p, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outs;
  return take(try_run(p, inputs, &outs)).code;
}

// Indices of what is not 0, as [rank, count].
Ints nonzero_of(const std::vector<float>& x, const Ints& shape) {
  Ints found;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != 0) found.push_back(static_cast<int64_t>(i));
  }
  Ints out;
  int64_t inner = static_cast<int64_t>(x.size());
  for (int64_t d : shape) {
    inner = d == 0 ? 0 : inner / d;
    for (int64_t i : found) out.push_back(i / inner % d);
  }
  return out;
}

// A shape that no pass can know: the input's elements, as they are, through a float and back.
Tensor opaque(const Tensor& ints) {
  const auto to = [](nef_dtype t) { return int_attr("to", t); };
  return op("cast", {op("cast", {ints}, {to(NEF_FLOAT32)})}, {to(NEF_INT64)});
}

// The k largest elements; their indices are let go.
Tensor largest(const Tensor& x, const Tensor& k) {
  const nef_tensor* inputs[] = {x.get(), k.get()};
  nef_tensor* outs[2] = {};
  ok(nef_op_call("topk", inputs, 2, nullptr, 0, "", 2, outs));
  nef_tensor_release(outs[1]);
  return Tensor(outs[0]);
}

TEST(LateSizesTest, LazyNonZeroHasItsShapeOnceComputed) {
  const std::vector<float> data{0, 1, 0, 2, 3, 0};
  const Tensor z = op("nonzero", {tensor(data, {2, 3})});
  EXPECT_EQ(shape_of(z), (Ints{2, -1}));
  EXPECT_EQ(int64s(op("add", {z, z})), (Ints{0, 2, 2, 2, 0, 2}));
  ok(nef_execute(z.get()));
  EXPECT_EQ(shape_of(z), (Ints{2, 3}));
  EXPECT_EQ(int64s(z), nonzero_of(data, {2, 3}));
  // With data it is a value like any other.
  EXPECT_EQ(shape_of(op("transpose", {z})), (Ints{3, 2}));
}

TEST(LateSizesTest, TheShapeOfWhatNobodyElseNeeds) {
  EXPECT_EQ(int64s(op("shape", {op("nonzero", {tensor({0, 1, 0, 2}, {4})})})), (Ints{1, 2}));
}

TEST(LateSizesTest, OneProgramForAnyNumberOfResults) {
  const Tensor x = input("x", {dim("n", 0, 1 << 16)});
  const Tensor z = op("nonzero", {x});
  const Tensor twice = op("concat", {z, z}, {int_attr("axis", 1)});
  const Tensor count = op("gather", {op("shape", {twice}), ints({1})});
  const Tensor zeros = op("constant_of_shape", {count});
  const Program p = compile(capture({op("mul", {z, z}), count, zeros}));
  std::mt19937 random(7);
  for (int k = 0; k < 50; ++k) {
    const int64_t n = static_cast<int64_t>(random() % 40);
    std::vector<float> data(static_cast<size_t>(n));
    for (float& v : data) v = random() % 3 == 0 ? 1.f : 0.f;
    const auto outs = run(p, {tensor(data, {n})}, 3);
    Ints want = nonzero_of(data, {n});
    for (int64_t& v : want) v *= v;
    EXPECT_EQ(int64s(outs[0]), want);
    EXPECT_EQ(shape_of(outs[0]), (Ints{1, static_cast<int64_t>(want.size())}));
    EXPECT_EQ(int64s(outs[1]), (Ints{2 * static_cast<int64_t>(want.size())}));
    EXPECT_EQ(floats(outs[2]), std::vector<float>(2 * want.size(), 0.f));
  }
}

TEST(LateSizesTest, WhatIsChosenByData) {
  // Boxes 0 and 1 overlap, 2 stands alone; box 3 scores too low.
  const Tensor boxes = input("boxes", {dim(1), dim("n", 0, 100), dim(4)});
  const Tensor scores = input("scores", {dim(1), dim(1), dim("n", 0, 100)});
  const Tensor kept = op("non_max_suppression", {boxes, scores, int_tensor({10}, {}),
                                                 tensor({0.5f}, {}), tensor({0.4f}, {})});
  const Tensor passed =
      op("compress",
         {scores, op("greater", {op("reshape", {scores, ints({-1})}), tensor({0.4f}, {})})},
         {int_attr("axis", 2)});
  const nef_tensor* in[] = {scores.get()};
  nef_tensor* outs[4] = {};
  ok(nef_op_call("unique", in, 1, nullptr, 0, "", 4, outs));
  const Tensor unique(outs[0]), first(outs[1]), inverse(outs[2]), counts(outs[3]);
  const Program p = compile(capture({kept, passed, unique, first, inverse, counts}));
  const auto got = run(p,
                       {tensor({0, 0, 2, 2, 0, 0, 2, 2.2f, 5, 5, 6, 6, 8, 8, 9, 9}, {1, 4, 4}),
                        tensor({0.5f, 0.75f, 0.5f, 0.25f}, {1, 1, 4})},
                       6);
  EXPECT_EQ(shape_of(got[0]), (Ints{2, 3}));
  EXPECT_EQ(int64s(got[0]), (Ints{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(shape_of(got[1]), (Ints{1, 1, 3}));
  EXPECT_EQ(floats(got[1]), (std::vector<float>{0.5f, 0.75f, 0.5f}));
  EXPECT_EQ(floats(got[2]), (std::vector<float>{0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(int64s(got[3]), (Ints{3, 0, 1}));
  EXPECT_EQ(int64s(got[4]), (Ints{1, 2, 1, 0}));
  EXPECT_EQ(int64s(got[5]), (Ints{1, 2, 1}));
  const auto none = run(p, {tensor({}, {1, 0, 4}), tensor({}, {1, 1, 0})}, 6);
  EXPECT_EQ(shape_of(none[0]), (Ints{0, 3}));
  EXPECT_EQ(shape_of(none[1]), (Ints{1, 1, 0}));
  EXPECT_EQ(shape_of(none[2]), (Ints{0}));
}

TEST(LateSizesTest, ComputedShapeInputs) {
  const Tensor x = input("x", {dim("n", 0, 100)});
  const Tensor shape = input("shape", {dim(2)}, NEF_INT64);
  const Tensor s = opaque(shape);
  const Tensor first = op("gather", {s, int_tensor({0}, {})});
  const std::vector<Tensor> outs{
      op("reshape", {x, s}),
      op("constant_of_shape", {s}),
      op("expand", {tensor({5}, {1, 1}), s}),
      op("range", {int_tensor({0}, {}), first, int_tensor({1}, {})}),
      op("slice", {x, ints({0}), op("reshape", {first, ints({1})})}),
      op("tile", {tensor({1, 2}, {1, 2}), s}),
      largest(x, op("reshape", {first, ints({1})})),
  };
  const Program p = compile(capture(outs));
  for (const int64_t rows : {1, 2, 3, 6}) {
    const int64_t columns = 6 / rows;
    const auto got = run(p, {tensor({6, 5, 4, 3, 2, 1}, {6}), ints({rows, columns})}, outs.size());
    const std::vector<float> data{6, 5, 4, 3, 2, 1};
    const std::vector<float> head(data.begin(), data.begin() + rows);
    EXPECT_EQ(shape_of(got[0]), (Ints{rows, columns}));
    EXPECT_EQ(floats(got[0]), data);
    EXPECT_EQ(floats(got[1]), std::vector<float>(6, 0.f));
    EXPECT_EQ(shape_of(got[2]), (Ints{rows, columns}));
    EXPECT_EQ(floats(got[2]), std::vector<float>(6, 5.f));
    Ints counted(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) counted[static_cast<size_t>(i)] = i;
    EXPECT_EQ(int64s(got[3]), counted);
    EXPECT_EQ(floats(got[4]), head);
    EXPECT_EQ(shape_of(got[5]), (Ints{rows, 2 * columns}));
    EXPECT_EQ(floats(got[6]), head);
  }
}

TEST(LateSizesTest, DataThatMakesNoShapeIsAnError) {
  const Tensor x = input("x", {dim("n", 0, 100)});
  const Tensor shape = input("shape", {dim(2)}, NEF_INT64);
  const Program reshape = compile(capture({op("reshape", {x, opaque(shape)})}));
  const Tensor six = tensor({1, 2, 3, 4, 5, 6}, {6});
  EXPECT_EQ(run_code(reshape, {six, ints({4, 2})}), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(run_code(reshape, {six, ints({-1, -1})}), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(reshape, {six, ints({-1, 3})}), NEF_OK);
  const Program fill = compile(capture({op("constant_of_shape", {opaque(shape)})}));
  EXPECT_NE(run_code(fill, {ints({-1, 3})}), NEF_OK);
  EXPECT_NE(run_code(fill, {ints({INT64_C(1) << 40, INT64_C(1) << 40})}), NEF_OK);
  EXPECT_EQ(run_code(fill, {ints({0, 3})}), NEF_OK);
}

// Four known elements as a vector of n: rules that look elements up must not look behind them.
TEST(LateSizesTest, KnownElementsOfAnUnknownLength) {
  const Tensor x = input("x", {dim("n", 0, 300)});
  const Tensor four = op("reshape", {ints({1, 2, 3, 4}), op("shape", {x})});
  const Tensor wide = ints(Ints(200, 7));
  const std::vector<Tensor> outs{op("gather", {four, ints({100})}), op("add", {four, wide}),
                                 op("slice", {four, ints({90}), ints({100})})};
  for (const Tensor& y : outs) {
    EXPECT_EQ(nef_tensor_known_ints(y.get(), nullptr, 0), -1);
    const Program p = compile(capture({y}));
    EXPECT_NE(run_code(p, {tensor(std::vector<float>(200, 1), {200})}), NEF_OK);
  }
  const Program p = compile(capture({op("gather", {four, ints({-1})})}));
  EXPECT_EQ(int64s(run(p, {tensor({0, 0, 0, 0}, {4})})[0]), (Ints{4}));
}

// Two sizes that must agree are compared in the run.
// What the size must be follows from the other input; whether the data says so, only from the run.
TEST(LateSizesTest, ShapesThatCanOnlyBeOneAreChecked) {
  const Tensor x = input("x", {dim("n"), dim(3)}), c = input("c", {dim(1)}, NEF_INT64);
  const Program reshape = compile(capture({op("reshape", {x, c})}));
  const Program expand = compile(capture({op("expand", {input("x", {dim(6)}), c})}));
  const Tensor two_by_three = tensor({1, 2, 3, 4, 5, 6}, {2, 3}),
               six = tensor({1, 2, 3, 4, 5, 6}, {6});
  for (int64_t n : {6, -1}) {
    const Tensor y = run(reshape, {two_by_three, ints({n})})[0];
    EXPECT_EQ(shape_of(y), (Ints{6}));
    EXPECT_EQ(floats(y), floats(six));
  }
  for (int64_t n : {6, 1}) EXPECT_EQ(floats(run(expand, {six, ints({n})})[0]), floats(six));
  for (int64_t n : {INT64_MIN, INT64_MIN + 1, INT64_C(-2), INT64_C(5), INT64_C(7), INT64_MAX}) {
    EXPECT_NE(run_code(reshape, {two_by_three, ints({n})}), NEF_OK) << n;
    EXPECT_NE(run_code(expand, {six, ints({n})}), NEF_OK) << n;
  }
}

// The rank says that all axes go; the data must name each of them once.
TEST(LateSizesTest, AxesThatOnlyTheRunKnowsAreChecked) {
  const Tensor x = input("x", {dim(2), dim(3)}), axes = input("axes", {dim(2)}, NEF_INT64);
  const Tensor sum = op("reduce_sum", {x, axes}, {int_attr("keepdims", 0)});
  for (const char* device : {"reference", "cpu"}) {
    const Program p = compile(capture({sum}), options(device));
    const Tensor data = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_EQ(floats(run(p, {data, ints({1, 0})})[0]), std::vector<float>{21});
    EXPECT_EQ(floats(run(p, {data, ints({0, -1})})[0]), std::vector<float>{21});
    EXPECT_EQ(run_code(p, {data, ints({0, 0})}), NEF_INVALID_ARGUMENT);
    EXPECT_EQ(run_code(p, {data, ints({1, -1})}), NEF_INVALID_ARGUMENT);
    EXPECT_EQ(run_code(p, {data, ints({0, INT64_MIN})}), NEF_OUT_OF_RANGE);
  }
}

// The result is known, so that no step looks for its size: how many entries there are is checked
// all the same, before a kernel reads as many as others say.
TEST(LateSizesTest, NumbersOfEntriesThatOnlyTheRunKnowsAreChecked) {
  const Tensor x = input("x", {dim("n", 0, 64)}),
               counts = input("counts", {dim("m", 0, 8)}, NEF_INT64);
  const Tensor padded = op("pad", {x, counts, Tensor(), ints({})});
  const Tensor sliced = op("slice", {x, ints({}), counts, ints({})});
  const Tensor three = ints({3});
  const nef_tensor* in[] = {x.get(), three.get()};
  nef_tensor* made[2] = {};
  ok(nef_op_call("topk", in, 2, nullptr, 0, "", 2, made));
  const Tensor picked(made[0]), places(made[1]);
  for (const char* device : {"reference", "cpu"}) {
    SCOPED_TRACE(device);
    const Tensor two = tensor({1, 2}, {2}), four = tensor({1, 2, 3, 4}, {4});
    const Program pad = compile(capture({padded}), options(device));
    EXPECT_EQ(floats(run(pad, {two, ints({})})[0]), (std::vector<float>{1, 2}));
    EXPECT_EQ(run_code(pad, {two, ints({1, 1})}), NEF_SHAPE_MISMATCH);
    const Program slice = compile(capture({sliced}), options(device));
    EXPECT_EQ(floats(run(slice, {two, ints({})})[0]), (std::vector<float>{1, 2}));
    EXPECT_EQ(run_code(slice, {two, ints({1})}), NEF_SHAPE_MISMATCH);
    const Program top = compile(capture({picked}), options(device));
    EXPECT_EQ(floats(run(top, {four})[0]), (std::vector<float>{4, 3, 2}));
    EXPECT_EQ(run_code(top, {two}), NEF_SHAPE_MISMATCH);
  }
}

TEST(LateSizesTest, SizesThatMustAgree) {
  const Tensor a = input("a", {dim("n", 0, 100)}), b = input("b", {dim("m", 0, 100)});
  const Program p = compile(capture({op("add", {op("nonzero", {a}), op("nonzero", {b})})}));
  const Tensor two = tensor({1, 0, 1}, {3}), three = tensor({1, 1, 1}, {3}),
               one = tensor({0, 1}, {2});
  EXPECT_EQ(int64s(run(p, {two, two}, 1)[0]), (Ints{0, 4}));
  EXPECT_EQ(int64s(run(p, {two, one}, 1)[0]), (Ints{1, 3}));
  EXPECT_EQ(run_code(p, {two, three}), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(int64s(run(p, {three, three}, 1)[0]), (Ints{0, 2, 4}));
}

TEST(LateSizesTest, ThreadsAndBranchesShareOneProgram) {
  const Tensor x = input("x", {dim("n", 0, 1000)});
  std::vector<Tensor> sums;
  for (int k = 0; k < 4; ++k) {
    const Tensor z = op("nonzero", {op("relu", {op("sub", {x, tensor({float(k)}, {1})})})});
    sums.push_back(op("reduce_sum", {op("add", {z, z})}, {int_attr("keepdims", 0)}));
  }
  for (const int32_t branches : {1, 4}) {
    nef_compile_options o = options();
    o.parallel_branches = branches;
    const Program p = compile(capture(sums), o);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&p, t] {
        for (int round = 0; round < 20; ++round) {
          const int64_t n = (t + round) % 9;
          std::vector<float> data;
          for (int64_t i = 0; i < n; ++i) data.push_back(static_cast<float>(i));
          const auto outs = run(p, {tensor(data, {n})}, 4);
          for (int64_t k = 0; k < 4; ++k) {
            int64_t want = 0;
            for (int64_t i = k + 1; i < n; ++i) want += 2 * i;
            ASSERT_EQ(int64s(outs[static_cast<size_t>(k)]), (Ints{want}));
          }
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }
}

// Every level counts against the budget of a run.
TEST(LateSizesTest, TheBudgetHoldsForLaterLevels) {
  const Tensor x = input("x", {dim("n", 0, 1 << 20)});
  const Tensor z = op("nonzero", {x});
  nef_compile_options o = options();
  o.memory_budget = 1 << 14;
  const Program p =
      compile(capture({op("reduce_sum", {op("cumsum", {z, int_tensor({1}, {})})})}), o);
  EXPECT_EQ(run_code(p, {tensor(std::vector<float>(100, 1), {100})}), NEF_OK);
  EXPECT_EQ(run_code(p, {tensor(std::vector<float>(10000, 1), {10000})}), NEF_OUT_OF_MEMORY);
}

TEST(LateSizesTest, BoundsFollowFromShapes) {
  const Graph g = capture({op("nonzero", {input("x", {dim("n", 0, 7), dim(3)})})});
  nef_tensor_info info{};
  info.struct_size = sizeof info;
  ok(nef_graph_output(g.get(), 0, &info));
  EXPECT_EQ(info.dims[0], 2);
  EXPECT_EQ(info.dims[1], -1);
  EXPECT_EQ(info.dim_min[1], 0);
  EXPECT_EQ(info.dim_max[1], 21);
}

TEST(LateSizesTest, TracedAndPlanned) {
  const Program p = compile(capture({op("nonzero", {input("x", {dim("n")})})}));
  test::Run r;
  ok(nef_run_create(p.get(), r.out()));
  ok(nef_run_set_input(r.get(), 0, tensor({1, 0}, {2}).get()));
  nef_run_enable_trace(r.get());
  ok(nef_run_execute(r.get()));
  char* text = nullptr;
  ok(nef_run_trace(r.get(), &text));
  EXPECT_NE(std::string(text).find("size of"), std::string::npos) << text;
  nef_string_free(text);
}

}  // namespace
}  // namespace nef::test
