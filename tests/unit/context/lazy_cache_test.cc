// SPDX-License-Identifier: Apache-2.0
// One program serves every call of the same structure: nothing of one call's data may stay in it.
#include <gtest/gtest.h>

#include <functional>

#include "engine/context/context.h"
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

// Windows of a signal one after the other: after a few of them one program serves all.
TEST(LazyCacheTest, HostInputsThatVaryBecomeInputs) {
  std::vector<float> data(256);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const Tensor x = tensor(data, {256});
  const auto compiled = [] { return context::Context::get().counters().programs_compiled; };
  const uint64_t before = compiled();
  for (int64_t start = 0; start < 100; ++start) {
    const Tensor y = op("relu", {op("slice", {x, ints({start}), ints({start + 8}), ints({0})})});
    const auto got = floats(y);
    ASSERT_EQ(got.size(), 8u);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], data[i + static_cast<size_t>(start)]);
  }
  EXPECT_LE(compiled() - before, 9u);
}

// Whatever a host input decides, with the sizes that it leaves as they are.
TEST(LazyCacheTest, AnyHostInputMayVary) {
  std::vector<float> data(4 * 6);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>((i * 7) % 24) - 9;
  const Tensor x = tensor(data, {4, 6}), square = tensor({data.begin(), data.begin() + 16}, {4, 4});
  const auto scalar = [](int64_t v) {
    Tensor t;
    ok(nef_tensor_create(NEF_INT64, 0, nullptr, &v, t.out()));
    return t;
  };
  using Make = std::function<Tensor(int64_t)>;
  const std::vector<std::pair<const char*, Make>> ops = {
      {"slice",
       [&](int64_t i) {
         return op("slice", {x, ints({i % 3}), ints({i % 3 + 2})});
       }},
      {"slice back",
       [&](int64_t i) {
         return op("slice", {x, ints({5 - i % 3}), ints({1 - i % 3 - 7}), ints({1}), ints({-4})});
       }},
      {"pad",
       [&](int64_t i) {
         return op("pad", {x, ints({i % 3, 0, 2 - i % 3, 1})});
       }},
      {"trilu",
       [&](int64_t i) {
         return op("trilu", {x, scalar(i % 5 - 2)});
       }},
      {"cumsum",
       [&](int64_t i) {
         return op("cumsum", {x, scalar(i % 2)});
       }},
      {"reduce",
       [&](int64_t i) {
         return op("reduce_sum", {square, ints({i % 2})});
       }},
      {"tile",
       [&](int64_t i) {
         return op("tile", {x, ints({1 + i % 2, 2 - i % 2})});
       }},
      {"reshape",
       [&](int64_t i) {
         return op("reshape", {x, ints({2 + i % 2 * 2, -1})});
       }},
      {"squeeze",
       [&](int64_t i) {
         return op("squeeze", {op("reshape", {square, ints({1, 16, 1})}), ints({i % 2 * 2})});
       }},
      {"unsqueeze",
       [&](int64_t i) {
         return op("unsqueeze", {x, ints({i % 3})});
       }},
      {"expand",
       [&](int64_t i) {
         return op("expand", {x, ints({1 + i % 2, 4, 6})});
       }},
  };
  for (const auto& [name, make] : ops) {
    for (int64_t i = 0; i < 60; ++i) {
      const auto want = floats(run(compile(capture({make(i)}), options("reference")), {})[0]);
      ASSERT_EQ(floats(make(i)), want) << name << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace nef::test
