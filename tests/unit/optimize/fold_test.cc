// SPDX-License-Identifier: Apache-2.0
// What folding computes ahead of time, and what it leaves to the run.
#include <gtest/gtest.h>

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
    return graph.add_constant(NEF_FLOAT32, dims, buffer);
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
  const ValueId w = zeros({512, 256}), x = graph.add_input("x", NEF_FLOAT32, dims);
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
