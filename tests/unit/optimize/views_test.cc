// SPDX-License-Identifier: Apache-2.0
// Which transposes and slices become part of the product that reads them.
#include <gtest/gtest.h>

#include "engine/build/builder.h"
#include "engine/optimize/regions.h"

namespace nef {
namespace {

using ir::Graph;
using ir::ValueId;
using optimize::Regions;

class Views : public ::testing::Test {
 protected:
  ValueId input(std::vector<int64_t> dims, nef_dtype dtype = NEF_FLOAT32) {
    return graph.add_input("x" + std::to_string(inputs_++), dtype, ir::shape_of(dims));
  }
  ValueId op(nef_op op, std::vector<ValueId> in) {
    return builder.value(op, in, ir::AttrBuilder(op).build());
  }
  ValueId heads(ValueId x) {
    const int64_t perm[4] = {0, 2, 1, 3};
    const ValueId in[1] = {x};
    return builder.value(
        NEF_OP_TRANSPOSE, in,
        ir::AttrBuilder(NEF_OP_TRANSPOSE).set_ints(NEF_TRANSPOSE_PERM, perm).build());
  }
  ValueId rows(ValueId x, int64_t begin, int64_t end) {
    const int64_t axis[1] = {1};
    return op(NEF_OP_SLICE,
              {x, builder.ints({&begin, 1}), builder.ints({&end, 1}), builder.ints(axis)});
  }
  Regions regions(ValueId y) {
    graph.add_output("y", y);
    return optimize::viewed_regions(graph, optimize::fused_regions(graph));
  }

  Graph graph;
  build::Builder builder{graph};

 private:
  int inputs_ = 0;
};

TEST_F(Views, OfBothOperandsJoinAndFallApartAgain) {
  const ValueId a = heads(rows(input({2, 20, 4, 16}), 3, 13)), b = heads(input({2, 16, 4, 8}));
  Regions r = regions(op(NEF_OP_RELU, {op(NEF_OP_MATMUL, {a, b})}));
  ASSERT_EQ(r.list.size(), 1u);
  EXPECT_EQ(r.list[0].kind, NEF_REGION_EPILOGUE);
  EXPECT_EQ(r.list[0].node_count, 5u);
  EXPECT_EQ(graph.op(r.root(r.list[0])), NEF_OP_RELU);

  const Regions before = optimize::fused_regions(graph);
  const uint32_t first[] = {0};
  optimize::split_regions(graph, first, r);
  ASSERT_EQ(r.list.size(), before.list.size());
  EXPECT_EQ(r.list.back().kind, NEF_REGION_EPILOGUE);
  EXPECT_EQ(r.list.back().node_count, 2u);
}

TEST_F(Views, ThatOthersReadStay) {
  const ValueId a = heads(input({2, 16, 4, 16}));
  graph.add_output("a", a);
  EXPECT_EQ(regions(op(NEF_OP_MATMUL, {a, input({2, 4, 16, 8})})).list.size(), 2u);
  const ValueId b = heads(input({2, 16, 4, 16}));
  graph.add_output("z", op(NEF_OP_MATMUL, {b, b}));
  EXPECT_EQ(regions(op(NEF_OP_RELU, {input({3})})).list.size(), 5u);
}

TEST_F(Views, OfQuantisedProductsJoin) {
  const ValueId a = heads(input({2, 16, 4, 16}, NEF_INT8));
  const ValueId b = heads(input({2, 16, 4, 8}, NEF_INT8));
  const ValueId scale = input({}), zero = input({}, NEF_INT8);
  EXPECT_EQ(
      regions(op(NEF_OP_QLINEAR_MATMUL, {a, scale, zero, b, scale, zero, scale, zero})).list.size(),
      1u);
  const ValueId c = heads(input({2, 16, 4, 16}, NEF_UINT8));
  const ValueId d = input({2, 4, 16, 8}, NEF_INT8);
  EXPECT_EQ(regions(op(NEF_OP_MATMUL_INTEGER, {c, d})).list.size(), 2u);
}

TEST_F(Views, OfIntegersAndCutsOnlyARunKnowsStay) {
  const ValueId a = heads(input({2, 16, 4, 16}, NEF_INT32));
  EXPECT_EQ(regions(op(NEF_OP_MATMUL, {a, input({2, 4, 16, 8}, NEF_INT32)})).list.size(), 2u);
  const ValueId cut =
      op(NEF_OP_SLICE, {input({2, 9, 16}), input({1}, NEF_INT64), input({1}, NEF_INT64)});
  EXPECT_EQ(regions(op(NEF_OP_MATMUL, {cut, input({16, 8})})).list.size(), 4u);
}

}  // namespace
}  // namespace nef
