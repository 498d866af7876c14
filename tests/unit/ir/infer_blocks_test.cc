// SPDX-License-Identifier: Apache-2.0
// Blocks: what a node of them makes, what does not fit, and how a graph keeps them.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/build/builder.h"
#include "engine/build/reinfer.h"
#include "engine/ir/blocks.h"
#include "engine/ir/error.h"
#include "engine/ir/verify.h"

namespace nef::ir {
namespace {

using Dims = std::vector<Dim>;

// x [n, 4] -> op(x), or x itself for op 0.
Graph::Block one_op(nef_op op, const Dims& dims = {}, nef_dtype dtype = NEF_FLOAT32) {
  auto g = std::make_shared<Graph>();
  const Dim n = g->pool().symbol("n");
  const ValueId x = g->add_input("x", dtype, dims.empty() ? Dims{n, 4} : dims);
  g->add_output("y", op == 0 ? x : build::Builder(*g).value(op, std::vector{x}));
  return g;
}

struct Outer {
  Graph graph;
  ValueId condition, x;
  Outer() {
    condition = graph.add_input("c", NEF_BOOL, Dims{});
    x = graph.add_input("x", NEF_FLOAT32, Dims{graph.pool().symbol("rows"), 4});
  }
  NodeId branch(const Graph::Block& a, const Graph::Block& b) {
    return build::Builder(graph).add_blocks(NEF_OP_IF, std::vector{condition, x}, {},
                                            std::vector{a, b});
  }
};

nef_code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return NEF_OK;
}

TEST(InferBlocks, SymbolsOfABlockStandForDimsOutside) {
  Outer o;
  const NodeId n = o.branch(one_op(NEF_OP_NEG), one_op(NEF_OP_EXP));
  o.graph.add_output("y", o.graph.output(n));
  EXPECT_EQ(o.graph.type_str(o.graph.output(n)), "float32 [rows 4]");
  EXPECT_NO_THROW(verify(o.graph, "test"));
  EXPECT_EQ(o.graph.block_depth(), 1u);
}

TEST(InferBlocks, SizesThatDifferBetweenBranchesAreUnknown) {
  Outer o;
  const NodeId n = o.branch(one_op(NEF_OP_TRANSPOSE, {4, 4}), one_op(NEF_OP_NEG));
  const auto dims = o.graph.dims(o.graph.output(n));
  EXPECT_TRUE(is_expr(dims[0]));
  EXPECT_NE(dims[0], o.graph.dims(o.x)[0]);
  EXPECT_EQ(dims[1], 4);
}

TEST(InferBlocks, WhatDoesNotFitIsRefused) {
  const auto with = [](Graph::Block a, Graph::Block b) {
    return code_of([&] { Outer().branch(a, b); });
  };
  EXPECT_EQ(with(one_op(NEF_OP_NEG), one_op(NEF_OP_SHAPE)), NEF_DTYPE_MISMATCH);
  EXPECT_EQ(with(one_op(NEF_OP_NEG), one_op(NEF_OP_NEG, {4})), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(with(one_op(NEF_OP_NEG), one_op(NEF_OP_NEG, {4, 5})), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(with(one_op(NEF_OP_NEG), one_op(NEF_OP_NEG, {}, NEF_FLOAT64)), NEF_DTYPE_MISMATCH);
  EXPECT_EQ(code_of([] {
              Outer o;
              build::Builder(o.graph).add_blocks(NEF_OP_IF, std::vector{o.condition, o.x}, {},
                                                 std::vector{one_op(NEF_OP_NEG)});
            }),
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([] {
              Outer o;
              build::Builder(o.graph).add(NEF_OP_IF, std::vector{o.condition, o.x}, {}, 1);
            }),
            NEF_INVALID_ARGUMENT);
}

TEST(InferBlocks, NestingHasALimit) {
  Graph::Block block = one_op(NEF_OP_NEG);
  const auto nest = [&] {
    auto g = std::make_shared<Graph>();
    const ValueId c = g->add_constant(NEF_BOOL, {}, [] {
      auto data = Buffer::allocate(1);
      std::memset(data->data(), 1, 1);
      return data;
    }());
    const ValueId x = g->add_input("x", NEF_FLOAT32, Dims{g->pool().symbol("n"), 4});
    const NodeId n = build::Builder(*g).add_blocks(NEF_OP_IF, std::vector{c, x}, {},
                                                   std::vector{block, one_op(NEF_OP_EXP)});
    g->add_output("y", g->output(n));
    block = g;
  };
  for (uint32_t i = 0; i < kMaxBlockDepth; ++i) nest();
  EXPECT_NO_THROW(verify(*block, "test"));
  EXPECT_EQ(code_of(nest), NEF_LIMIT_EXCEEDED);
  // Every condition is known: what is left is the innermost node.
  const Graph flat = build::reinfer(*block);
  ASSERT_EQ(flat.node_count(), 1u);
  EXPECT_EQ(flat.op(0), NEF_OP_NEG);
  EXPECT_FALSE(flat.has_blocks());
}

TEST(InferBlocks, CompactingKeepsBlocksWithTheirNodes) {
  Outer o;
  const NodeId dead = o.branch(one_op(NEF_OP_EXP), one_op(NEF_OP_EXP));
  const NodeId kept = o.branch(one_op(NEF_OP_NEG), one_op(NEF_OP_ABS));
  ASSERT_NE(dead, kept);
  o.graph.add_output("y", o.graph.output(kept));
  EXPECT_TRUE(o.graph.compact());
  ASSERT_EQ(o.graph.node_count(), 1u);
  ASSERT_EQ(o.graph.blocks(0).size(), 2u);
  EXPECT_EQ(o.graph.blocks(0)[1]->op(0), NEF_OP_ABS);
  EXPECT_NO_THROW(verify(o.graph, "test"));
}

TEST(InferBlocks, AnInputThatBecameAConstant) {
  auto data = Buffer::allocate(4 * 4 * 2);
  std::memset(data->data(), 0, data->bytes());
  const Graph::Block block = one_op(NEF_OP_NEG, {2, 4});
  const std::vector<std::shared_ptr<Buffer>> known{data};
  const Graph now = build::reinfer(*block, known);
  EXPECT_EQ(now.graph_inputs().size(), 0u);
  EXPECT_EQ(now.constant_count(), 1u);
  EXPECT_NO_THROW(verify(now, "test"));
}

}  // namespace
}  // namespace nef::ir
