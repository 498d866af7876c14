// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "engine/ir/checked.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::ir {
namespace {

nef_code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return NEF_OK;
}
nef_code count_code(const std::vector<int64_t>& dims) {
  return code_of([&] { element_count(dims); });
}

TEST(Shape, HoldsUpToTheLimit) {
  Shape s;
  for (int i = 0; i < NEF_MAX_RANK; ++i) s.push(Dim::of(i));
  EXPECT_EQ(s.rank, NEF_MAX_RANK);
  EXPECT_THROW(s.push(1), Error);
  EXPECT_THROW(Shape(std::vector<Dim>(NEF_MAX_RANK + 1, 1)), Error);
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 4}));
}

TEST(Shape, Text) {
  DimPool pool;
  EXPECT_EQ(shape_str({}, pool), "[]");
  EXPECT_EQ(shape_str(Shape{2, 3}, pool), "[2 3]");
  EXPECT_EQ(shape_str(Shape{pool.symbol("batch"), pool.mul(pool.symbol("seq"), 2), 384}, pool),
            "[batch 2*seq 384]");
  EXPECT_EQ(shape_str(Sizes{2, 3}), "[2 3]");
}

// One way in and one way out for sizes of tensors.
TEST(Shape, SizesAndBack) {
  const Sizes sizes{2, 0, INT64_MAX};
  const Shape shape = shape_of(sizes);
  EXPECT_TRUE(std::ranges::equal(numbers(shape), sizes.view()));
  EXPECT_EQ(code_of([] { shape_of(Sizes{2, INT64_MIN}); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([] { shape_of(Sizes{2, INT64_MIN + INT32_MAX}); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([] { shape_of(std::vector<int64_t>(NEF_MAX_RANK + 1, 1)); }),
            NEF_LIMIT_EXCEEDED);
  DimPool pool;
  const Shape symbolic{2, pool.symbol("n")};
  EXPECT_EQ(code_of([&] { (void)numbers(symbolic); }), NEF_INTERNAL);
  EXPECT_EQ(code_of([&] { (void)symbolic[1].number(); }), NEF_INTERNAL);
}

TEST(Shape, CountsAreChecked) {
  EXPECT_EQ(element_count(Shape{}), 1);
  EXPECT_EQ(element_count(Shape{2, 3, 4}), 24);
  EXPECT_EQ(element_count(Shape{INT64_MAX, INT64_MAX, 0}), 0);
  EXPECT_EQ(element_count(Shape{0, INT64_MAX, 2}), 0);
  EXPECT_EQ(count_code({INT64_MAX, 2}), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(count_code({int64_t{1} << 32, int64_t{1} << 31}), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(count_code({int64_t{1} << 31, int64_t{1} << 31, 1}), NEF_OK);
  EXPECT_EQ(count_code({-1}), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(byte_count(NEF_FLOAT64, Shape{3, 5}), 120);
  EXPECT_THROW(byte_count(NEF_FLOAT64, Shape{int64_t{1} << 60}), Error);
  EXPECT_EQ(byte_count(NEF_FLOAT64, Shape{(int64_t{1} << 60) - 1}), INT64_MAX - 7);
}

TEST(ShapeTable, EqualShapesHaveEqualIds) {
  ShapeTable table;
  EXPECT_EQ(table.intern({}), 0u);
  DimPool pool;
  const ShapeId a = table.intern(Shape{2, 3}), b = table.intern(Shape{pool.symbol("n"), 3});
  EXPECT_NE(a, b);
  EXPECT_EQ(table.intern(Shape{2, 3}), a);
  EXPECT_TRUE(table.is_static(a));
  EXPECT_FALSE(table.is_static(b));
  EXPECT_EQ(table.dims(a).size(), 2u);
  // A shape of the table itself may be interned again while the table grows.
  std::mt19937 random(1);
  std::vector<std::vector<Dim>> shapes;
  std::vector<ShapeId> ids;
  for (int i = 0; i < 5000; ++i) {
    std::vector<Dim> dims(random() % 5);
    for (Dim& d : dims) d = Dim::of(static_cast<int64_t>(random() % 9));
    shapes.push_back(dims);
    ids.push_back(table.intern(dims));
    EXPECT_EQ(table.intern(table.dims(ids.back())), ids.back());
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(table.intern(shapes[i]), ids[i]);
    const auto dims = table.dims(ids[i]);
    EXPECT_TRUE(std::equal(dims.begin(), dims.end(), shapes[i].begin(), shapes[i].end()));
  }
  EXPECT_LE(table.size(), 3u + 1 + 9 + 81 + 729 + 6561);
}

TEST(DType, NamesReadBack) {
  for (nef_dtype t = NEF_BOOL; t <= kLastDtype; ++t) {
    EXPECT_EQ(dtype_from_name(dtype_name(t)), t);
    EXPECT_TRUE(dtype_valid(t));
  }
  EXPECT_STREQ(dtype_name(NEF_FLOAT32), "float32");
  EXPECT_STREQ(dtype_name(0), "invalid");
  EXPECT_STREQ(dtype_name(-5), "invalid");
  EXPECT_STREQ(dtype_name(1000), "invalid");
  EXPECT_EQ(dtype_from_name("invalid"), NEF_DTYPE_INVALID);
  EXPECT_EQ(dtype_from_name("float"), NEF_DTYPE_INVALID);
}

TEST(Error, CodesHaveNames) {
  EXPECT_STREQ(code_name(NEF_OK), "ok");
  for (nef_code c = NEF_OK; c <= NEF_INTERNAL; ++c) EXPECT_STRNE(code_name(c), "unknown") << c;
  EXPECT_STREQ(code_name(NEF_INTERNAL + 1), "unknown");
  EXPECT_STREQ(code_name(-1), "unknown");
}

TEST(Checked, DivisionRounds) {
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b = 1; b <= 7; ++b) {
      EXPECT_LE(floor_div(a, b) * b, a);
      EXPECT_GT(floor_div(a, b) * b, a - b);
      EXPECT_GE(ceil_div(a, b) * b, a);
      EXPECT_LT(ceil_div(a, b) * b, a + b);
    }
  }
}

}  // namespace
}  // namespace nef::ir
