// SPDX-License-Identifier: Apache-2.0
// Which regions become one for devices that run chains, and what those fall apart into.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/build/builder.h"
#include "engine/optimize/regions.h"

namespace nef {
namespace {

using ir::Graph;
using ir::ValueId;
using optimize::Regions;

class Chains : public ::testing::Test {
 protected:
  ValueId constant(std::vector<int64_t> dims) {
    auto buffer = ir::Buffer::allocate(static_cast<size_t>(ir::byte_count(NEF_FLOAT32, dims)));
    std::memset(buffer->data(), 0, buffer->bytes());
    return graph.add_constant(NEF_FLOAT32, ir::shape_of(dims), buffer);
  }
  ValueId input(std::vector<int64_t> dims) {
    return graph.add_input("x" + std::to_string(inputs_++), NEF_FLOAT32, ir::shape_of(dims));
  }
  ValueId op(nef_op op, std::vector<ValueId> in) {
    return builder.value(op, in, ir::AttrBuilder(op).build());
  }
  ValueId norm(ValueId x) { return op(NEF_OP_RMS_NORMALIZATION, {x, constant({16})}); }
  ValueId product(ValueId x) { return op(NEF_OP_MATMUL, {x, constant({16, 16})}); }
  Regions regions(ValueId y) {
    graph.add_output("y", y);
    return optimize::chained_regions(graph, optimize::fused_regions(graph));
  }

  Graph graph;
  build::Builder builder{graph};

 private:
  int inputs_ = 0;
};

TEST_F(Chains, ANormAndTheGatedProductsBehindItAreOne) {
  const ValueId x = norm(input({1, 16}));
  const ValueId gate = op(NEF_OP_SILU, {product(x)});
  Regions r = regions(op(NEF_OP_MUL, {gate, product(x)}));
  ASSERT_EQ(r.list.size(), 1u);
  EXPECT_EQ(r.list[0].kind, NEF_REGION_CHAIN);
  EXPECT_EQ(r.nodes_of(r.list[0]).size(), 5u);

  // Refused, it is what it was made of.
  const Regions before = optimize::fused_regions(graph);
  const uint32_t first[] = {0};
  optimize::split_regions(graph, first, r);
  ASSERT_EQ(r.list.size(), before.list.size());
  for (size_t i = 0; i < before.list.size(); ++i) {
    EXPECT_EQ(r.list[i].kind, before.list[i].kind);
    EXPECT_EQ(r.root(r.list[i]), before.root(before.list[i]));
  }
}

TEST_F(Chains, ANormThatOthersReadStaysAlone) {
  const ValueId x = norm(input({1, 16}));
  graph.add_output("norm", x);
  const Regions r = regions(product(x));
  ASSERT_EQ(r.list.size(), 2u);
  EXPECT_EQ(r.list[1].kind, NEF_REGION_SINGLE);
}

TEST_F(Chains, ProductsOfDifferentOperandsAreNotJoined) {
  const ValueId a = product(input({1, 16})), b = product(input({1, 16}));
  const Regions r = regions(op(NEF_OP_MUL, {a, b}));
  for (const optimize::Region& region : r.list) EXPECT_NE(region.kind, NEF_REGION_CHAIN);
}

TEST_F(Chains, AProductOfTwoScaledFloat8IsOne) {
  const auto scaled = [&](std::string name, nef_dtype dtype) {
    const ValueId x = graph.add_input(name, dtype, ir::Shape{16, 16});
    return op(NEF_OP_DEQUANTIZE_LINEAR, {x, input({})});
  };
  const ValueId a = scaled("a", NEF_FLOAT8_E4M3FN);
  Regions r = regions(op(NEF_OP_MATMUL, {a, scaled("b", NEF_FLOAT8_E5M2)}));
  ASSERT_EQ(r.list.size(), 1u);
  EXPECT_EQ(r.list[0].kind, NEF_REGION_CHAIN);

  // Another reader keeps its operand, and bytes are no float8.
  r = regions(op(NEF_OP_MATMUL, {a, scaled("c", NEF_FLOAT8_E4M3FN)}));
  for (const optimize::Region& region : r.list) EXPECT_NE(region.kind, NEF_REGION_CHAIN);
  graph = Graph();
  r = regions(op(NEF_OP_MATMUL, {scaled("d", NEF_UINT8), scaled("e", NEF_FLOAT8_E4M3FN)}));
  for (const optimize::Region& region : r.list) EXPECT_NE(region.kind, NEF_REGION_CHAIN);
}

TEST_F(Chains, ASlicedQueryJoinsItsAttention) {
  for (const int64_t queries : {1, 5}) {
    graph = Graph();
    const ValueId wide = input({1, 4, queries, 24});
    const int64_t begin[1] = {0}, end[1] = {16}, axis[1] = {3};
    const ValueId q =
        op(NEF_OP_SLICE, {wide, builder.ints(begin), builder.ints(end), builder.ints(axis)});
    const Regions r =
        regions(op(NEF_OP_ATTENTION, {q, input({1, 4, 9, 16}), input({1, 4, 9, 16})}));
    EXPECT_EQ(r.list.size(), queries == 1 ? 1u : 2u);
  }
}

TEST_F(Chains, SlicesOfRowsJoinTheAttentionThatReadsThem) {
  const ValueId wide = input({2, 5, 48});
  const auto part = [&](int64_t begin) {
    const int64_t end[1] = {begin + 16}, axis[1] = {2};
    return op(NEF_OP_SLICE,
              {wide, builder.ints({&begin, 1}), builder.ints(end), builder.ints(axis)});
  };
  const ValueId k = part(16);
  graph.add_output("k", k);  // others read it: it stays
  const ValueId in[3] = {part(0), k, part(32)};
  const auto attrs = ir::AttrBuilder(NEF_OP_ATTENTION)
                         .set_int(NEF_ATTENTION_Q_NUM_HEADS, 2)
                         .set_int(NEF_ATTENTION_KV_NUM_HEADS, 2)
                         .build();
  const Regions r = regions(builder.value(NEF_OP_ATTENTION, in, attrs));
  ASSERT_EQ(r.list.size(), 2u);
  EXPECT_EQ(r.list[1].kind, NEF_REGION_CHAIN);
  EXPECT_EQ(r.nodes_of(r.list[1]).size(), 3u);
}

}  // namespace
}  // namespace nef
