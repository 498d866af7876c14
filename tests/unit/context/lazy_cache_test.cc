// SPDX-License-Identifier: Apache-2.0
// One program serves every call of the same structure: nothing of one call's data may stay in it.
#include <gtest/gtest.h>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

std::vector<int64_t> int64s(const Tensor& t) {
  std::vector<int64_t> out(static_cast<size_t>(shape_of(t).at(0)));
  ok(nef_tensor_read(t.get(), out.data(), out.size() * sizeof(int64_t)));
  return out;
}

TEST(LazyCacheTest, SmallIntegersAreDataNotStructure) {
  EXPECT_EQ(int64s(op("add", {ints({1, 2, 3}), ints({4, 5, 6})})), (std::vector<int64_t>{5, 7, 9}));
  EXPECT_EQ(int64s(op("add", {ints({10, 20, 30}), ints({4, 5, 6})})),
            (std::vector<int64_t>{14, 25, 36}));
}

// The shape given to reshape is computed from data, and the result's dims are part of the key.
TEST(LazyCacheTest, ComputedShapesFollowTheData) {
  const std::vector<float> data{0, 1, 2, 3, 4, 5};
  for (const int64_t rows : {2, 3}) {
    const Tensor shape = op("mul", {ints({1, 6 / rows}), ints({rows, 1})});
    const Tensor y = op("reshape", {tensor(data, {6}), shape});
    EXPECT_EQ(shape_of(y), (std::vector<int64_t>{rows, 6 / rows}));
    EXPECT_EQ(floats(y), data);
  }
}

TEST(LazyCacheTest, WhatFollowsFromShapesStaysKnown) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(int64s(op("add", {op("shape", {x}), ints({1, 1})})), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(int64s(op("add", {op("shape", {x}), ints({2, 5})})), (std::vector<int64_t>{4, 8}));
}

// A size that only a run can know is not folded away from its maker.
TEST(LazyCacheTest, ShapesThatDependOnDataFollowTheData) {
  for (const float second : {0.f, 1.f}) {
    const Tensor shape = op("shape", {op("nonzero", {tensor({0, second, 0, 2}, {4})})});
    EXPECT_EQ(int64s(shape), (std::vector<int64_t>{1, second == 0.f ? 1 : 2}));
  }
}

}  // namespace
}  // namespace nef::test
