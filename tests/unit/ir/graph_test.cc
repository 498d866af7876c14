// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/graph.h"

#include <gtest/gtest.h>

#include "engine/build/builder.h"
#include "engine/ir/array.h"
#include "engine/ir/error.h"
#include "engine/ir/verify.h"

namespace nef::ir {
namespace {

std::shared_ptr<Buffer> floats(size_t n) { return Buffer::allocate(n * sizeof(float)); }

TEST(Array, AppendsAPartOfItselfWhileItGrows) {
  Array<int> a;
  for (int i = 0; i < 100; ++i) a.push_back(i);
  for (int k = 0; k < 8; ++k) a.append({a.data(), a.size()});
  ASSERT_EQ(a.size(), 25600u);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], static_cast<int>(i % 100));
}

TEST(Array, CopiesAndMoves) {
  Array<int> a(3, 7);
  Array<int> b = a;
  b[0] = 1;
  EXPECT_EQ(a[0], 7);
  const Array<int> c = std::move(b);
  EXPECT_EQ(c[0], 1);
  a = c;
  EXPECT_EQ(a[0], 1);
  a.resize(5, 9);
  EXPECT_EQ(a[4], 9);
}

TEST(Array, BlocksOfAllSizesHoldWhatWasAskedFor) {
  for (size_t bytes : {size_t{1}, size_t{16383}, size_t{16384}, size_t{16385}, size_t{24576},
                       size_t{24577}, size_t{32768}, size_t{1} << 20, (size_t{1} << 24) - 1,
                       size_t{1} << 24, (size_t{1} << 24) + 1}) {
    for (int round = 0; round < 2; ++round) {
      const Block b = take_block(bytes);
      EXPECT_GE(b.bytes, bytes);
      std::memset(b.data, round, b.bytes);
      give_block(b);
    }
  }
  free_kept_blocks();
}

// x -> relu -> y, with a chain beside it that nothing reads.
TEST(Graph, CompactDropsDeadNodesAndTheirConstants) {
  Graph g;
  build::Builder b(g);
  const Dim dims[1] = {4};
  const ValueId x = g.add_input("x", NEF_FLOAT32, dims);
  const ValueId used = g.add_constant(NEF_FLOAT32, dims, floats(4));
  const ValueId unused = g.add_constant(NEF_FLOAT32, dims, floats(4));
  const ValueId in_dead[2] = {x, unused}, in_live[2] = {x, used};
  const ValueId dead = b.value(NEF_OP_ADD, in_dead);
  const ValueId dead_too = b.value(NEF_OP_RELU, {&dead, 1});
  const ValueId sum = b.value(NEF_OP_ADD, in_live);
  const ValueId y = b.value(NEF_OP_RELU, {&sum, 1});
  g.add_output("y", y);
  g.value_names().set(sum, "sum");
  g.node_names().set(g.producer(y), "last");
  g.node_devices().set(g.producer(dead_too), "gpu");
  EXPECT_EQ(g.uses(x), 2u);

  ASSERT_TRUE(g.compact());
  verify(g, "test");
  ASSERT_EQ(g.node_count(), 2u);
  EXPECT_EQ(g.constant_count(), 1u);
  EXPECT_EQ(g.value_count(), 4u);
  EXPECT_EQ(g.op(0), NEF_OP_ADD);
  EXPECT_EQ(g.op(1), NEF_OP_RELU);
  EXPECT_EQ(g.value_names().get(g.output(0)), "sum");
  EXPECT_EQ(g.node_names().get(1), "last");
  EXPECT_EQ(g.node_names().get(0), "");
  EXPECT_EQ(g.node_devices().get(1), "");
  EXPECT_EQ(g.uses(g.graph_inputs()[0]), 1u);
  EXPECT_FALSE(g.compact());
}

TEST(Graph, CompactKeepsKnownElements) {
  Graph g;
  build::Builder b(g);
  const Dim dims[2] = {2, 3};
  const ValueId x = g.add_input("x", NEF_FLOAT32, dims);
  b.value(NEF_OP_RELU, {&x, 1});
  const ValueId shape = b.value(NEF_OP_SHAPE, {&x, 1}, AttrBuilder(NEF_OP_SHAPE).build());
  b.value(NEF_OP_NEG, {&x, 1});
  g.add_output("shape", shape);
  ASSERT_TRUE(g.compact());
  verify(g, "test");
  ASSERT_EQ(g.content(g.graph_outputs()[0]).size(), 2u);
  EXPECT_EQ(g.content(g.graph_outputs()[0])[1], 3);
}

TEST(Graph, CountsUsesThroughEdits) {
  Graph g;
  build::Builder b(g);
  const Dim dims[1] = {4};
  const ValueId x = g.add_input("x", NEF_FLOAT32, dims);
  const ValueId y = g.add_input("y", NEF_FLOAT32, dims);
  const ValueId in[2] = {x, x}, other[2] = {y, y};
  const ValueId sum = b.value(NEF_OP_ADD, in);
  g.add_output("a", sum);
  g.add_output("b", sum);
  EXPECT_EQ(g.uses(x), 2u);
  EXPECT_EQ(g.uses(sum), 2u);
  g.set_graph_output(1, x);
  EXPECT_EQ(g.uses(sum), 1u);
  g.rewrite_node(0, NEF_OP_MUL, other, {});
  EXPECT_EQ(g.uses(x), 1u);
  EXPECT_EQ(g.uses(y), 2u);
  g.set_input(0, 1, x);
  EXPECT_EQ(g.uses(y), 1u);
  EXPECT_TRUE(g.may_have(NEF_OP_MUL));
  EXPECT_FALSE(g.may_have(NEF_OP_SOFTMAX));
  verify(g, "test");
  g.clear_outputs();
  EXPECT_EQ(g.uses(sum), 0u);
}

}  // namespace
}  // namespace nef::ir
