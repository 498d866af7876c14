// SPDX-License-Identifier: Apache-2.0
// What folding computes ahead of time, and what it leaves to the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/build/builder.h"
#include "engine/context/context.h"
#include "engine/optimize/optimize.h"

namespace nef {
namespace {

using ir::Graph;
using ir::ValueId;

class Fold : public ::testing::Test {
 protected:
  ValueId zeros(std::vector<int64_t> dims) {
    auto buffer = ir::Buffer::allocate(static_cast<size_t>(ir::byte_count(NEF_FLOAT32, dims)));
    std::memset(buffer->data(), 0, buffer->bytes());
    return graph.add_constant(NEF_FLOAT32, ir::shape_of(dims), buffer);
  }
  void optimise() {
    optimize::Options options;
    options.verify = true;
    options.evaluate = context::Context::get().environment().evaluate;
    optimize::optimise(graph, options);
  }

  Graph graph;
  build::Builder builder{graph};
};

TEST_F(Fold, AReshapedConstantKeepsItsMemory) {
  const ValueId w = zeros({512, 1024});
  const void* data = graph.constant_data(w)->data();
  const int64_t target[3] = {64, 8, -1};
  const ValueId in[2] = {w, builder.ints(target)};
  const auto attrs = ir::AttrBuilder(NEF_OP_RESHAPE).build();
  graph.add_output("y", builder.value(NEF_OP_RESHAPE, in, attrs));
  optimise();
  ASSERT_EQ(graph.node_count(), 0u);
  EXPECT_EQ(graph.constant_data(graph.graph_outputs()[0])->data(), data);
}

// A copy would live as long as the program, beside what the kernel packs.
TEST_F(Fold, TransposedWeightsKeepTheirMemory) {
  const int64_t dims[2] = {4, 256};
  const ValueId w = zeros({512, 256}), x = graph.add_input("x", NEF_FLOAT32, ir::shape_of(dims));
  const void* data = graph.constant_data(w)->data();
  const ValueId t =
      builder.value(NEF_OP_TRANSPOSE, {&w, 1}, ir::AttrBuilder(NEF_OP_TRANSPOSE).build());
  const ValueId in[2] = {x, t};
  graph.add_output("y", builder.value(NEF_OP_MATMUL, in));
  optimise();
  ASSERT_EQ(graph.node_count(), 1u);
  ASSERT_EQ(graph.op(0), NEF_OP_FUSED_MATMUL);
  EXPECT_EQ(graph.constant_data(graph.inputs(0)[1])->data(), data);
}

// A check of constants that holds is gone, one that does not is left to fail the run.
TEST_F(Fold, AFailingCheckStays) {
  const int64_t kNumbers[2] = {3, 4};
  const ValueId data = builder.ints(kNumbers);
  const auto attrs =
      ir::AttrBuilder(NEF_OP_REQUIRE).set_string(NEF_REQUIRE_MESSAGE, "less than 5").build();
  for (int64_t most : {5, 4}) {
    const ValueId compared[2] = {data, builder.int_scalar(most)};
    const ValueId in[2] = {data, builder.value(NEF_OP_LESS, compared)};
    graph.add_output("y" + std::to_string(most), builder.value(NEF_OP_REQUIRE, in, attrs));
  }
  optimise();
  ASSERT_EQ(graph.node_count(), 1u);
  EXPECT_EQ(graph.op(0), NEF_OP_REQUIRE);
  EXPECT_TRUE(graph.is_constant(graph.graph_outputs()[0]));
  EXPECT_FALSE(graph.is_constant(graph.graph_outputs()[1]));
}

// The most results of folding that are there at once.
TEST_F(Fold, WhatIsOnTheWayToAnotherConstantGoes) {
  std::vector<std::weak_ptr<ir::Buffer>> made;
  size_t most = 0;
  optimize::Options options;
  options.verify = true;
  options.evaluate = [&](const Graph& g, ir::NodeId n,
                         std::vector<std::shared_ptr<ir::Buffer>>* out) {
    if (!context::Context::get().environment().evaluate(g, n, out)) return false;
    made.push_back(out->at(0));
    most =
        std::max<size_t>(most, std::ranges::count_if(made, [](auto& m) { return !m.expired(); }));
    return true;
  };
  for (const bool read_twice : {false, true}) {
    graph = Graph();
    made.clear();
    most = 0;
    const ValueId w = zeros({128, 256});
    ValueId v = w, second = w;
    for (int i = 0; i < 6; ++i) {
      v = builder.value(i % 2 == 0 ? NEF_OP_EXP : NEF_OP_NEG, {&v, 1});
      if (i == 1) second = v;
    }
    const ValueId sum[2] = {v, second};
    graph.add_output("y", read_twice ? builder.value(NEF_OP_ADD, sum) : v);
    if (read_twice) graph.add_output("z", second);
    optimize::optimise(graph, options);
    ASSERT_EQ(graph.node_count(), 0u);
    EXPECT_EQ(graph.constant_count(), read_twice ? 2u : 1u);
    EXPECT_EQ(most, read_twice ? 3u : 2u);
    const auto first = [&](size_t output) {
      return *static_cast<const float*>(graph.constant_data(graph.graph_outputs()[output])->data());
    };
    EXPECT_NEAR(first(0), read_twice ? -std::exp(-std::exp(-1.0)) - 1 : -std::exp(-std::exp(-1.0)),
                1e-6);
    if (read_twice) {
      EXPECT_EQ(first(1), -1.0f);
    }
  }
}

// A node that cannot be computed still has what it reads.
TEST_F(Fold, ANodeThatIsLeftKeepsItsInputs) {
  optimize::Options options;
  options.verify = true;
  options.evaluate = [&](const Graph& g, ir::NodeId n,
                         std::vector<std::shared_ptr<ir::Buffer>>* out) {
    return g.op(n) != NEF_OP_SQRT && context::Context::get().environment().evaluate(g, n, out);
  };
  const ValueId w = zeros({128, 256});
  const ValueId e = builder.value(NEF_OP_EXP, {&w, 1});
  const ValueId root = builder.value(NEF_OP_SQRT, {&e, 1}),
                minus = builder.value(NEF_OP_NEG, {&e, 1});
  graph.add_output("root", root);
  graph.add_output("minus", minus);
  optimize::optimise(graph, options);
  ASSERT_EQ(graph.node_count(), 1u);
  ASSERT_NE(graph.constant_data(graph.inputs(0)[0]), nullptr);
}

// Computed by the slow reference device it would hold compiling up for minutes.
TEST_F(Fold, ALargeProductIsLeftToTheRun) {
  for (const int64_t n : {16, 2048}) {
    graph = Graph();
    const ValueId in[2] = {zeros({n, n}), zeros({n, n})};
    graph.add_output("y", builder.value(NEF_OP_MATMUL, in));
    optimise();
    EXPECT_EQ(graph.node_count(), n == 16 ? 0u : 1u);
  }
}

}  // namespace
}  // namespace nef
