// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/attrs.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

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

TEST(Attrs, DefaultsAreFilledIn) {
  const std::vector<int64_t> words = AttrBuilder(NEF_OP_LAYER_NORMALIZATION).build();
  const Attrs a(words);
  EXPECT_EQ(a.i(NEF_LAYER_NORMALIZATION_AXIS), -1);
  EXPECT_DOUBLE_EQ(a.f(NEF_LAYER_NORMALIZATION_EPSILON), 1e-5);
  EXPECT_EQ(a.i(NEF_LAYER_NORMALIZATION_STASH_TYPE), NEF_FLOAT32);
  EXPECT_TRUE(AttrBuilder(NEF_OP_ADD).build().empty());
}

TEST(Attrs, ValuesReadBack) {
  const int64_t pads[] = {1, 2, 3, 4};
  AttrBuilder b(NEF_OP_CONV);
  b.set_string(NEF_CONV_AUTO_PAD, "VALID").set_ints(NEF_CONV_PADS, pads).set_int(NEF_CONV_GROUP, 7);
  const std::vector<int64_t> words = b.build();
  const Attrs a(words);
  EXPECT_EQ(a.s(NEF_CONV_AUTO_PAD), "VALID");
  EXPECT_EQ(a.i(NEF_CONV_GROUP), 7);
  ASSERT_EQ(a.ints(NEF_CONV_PADS).size(), 4u);
  EXPECT_EQ(a.ints(NEF_CONV_PADS)[3], 4);
  EXPECT_FALSE(a.has(NEF_CONV_STRIDES));
  EXPECT_TRUE(a.ints(NEF_CONV_STRIDES).empty());
  // A block works at any address.
  const std::vector<int64_t> moved = words;
  EXPECT_EQ(Attrs(moved).s(NEF_CONV_AUTO_PAD), "VALID");
}

TEST(Attrs, EqualAttributesGiveEqualWords) {
  const int64_t strides[] = {2, 2}, other[] = {1};
  AttrBuilder a(NEF_OP_CONV), b(NEF_OP_CONV);
  a.set_ints(NEF_CONV_STRIDES, strides).set_string(NEF_CONV_AUTO_PAD, "NOTSET");
  b.set_ints(NEF_CONV_STRIDES, other).set_ints(NEF_CONV_STRIDES, strides);
  const std::vector<int64_t> words = a.build();
  EXPECT_EQ(words, b.build());
  EXPECT_EQ(AttrBuilder(NEF_OP_CONV).copy(Attrs(words)).build(), words);
  EXPECT_EQ(AttrBuilder(NEF_OP_GEMM).set_int(NEF_GEMM_TRANS_A, 5).build(),
            AttrBuilder(NEF_OP_GEMM).set_int(NEF_GEMM_TRANS_A, 1).build());
}

TEST(Attrs, WrongOnesAreRefused) {
  EXPECT_EQ(code_of([] { AttrBuilder(NEF_OP_CONCAT).build(); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([] { AttrBuilder(NEF_OP_CONCAT).set_int(5, 0); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([] { AttrBuilder(NEF_OP_CONCAT).set_float(NEF_CONCAT_AXIS, 0); }),
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([] { AttrBuilder(NEF_OP_CAST).set_int(NEF_CAST_TO, 99); }),
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([] { AttrBuilder(NEF_OP_CAST).set_int(NEF_CAST_TO, -1); }),
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([] { AttrBuilder(NEF_OP_GELU).set_string(NEF_GELU_APPROXIMATE, "x"); }),
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([] { AttrBuilder(0); }), NEF_UNKNOWN_OP);
  EXPECT_EQ(code_of([] { AttrBuilder(12345); }), NEF_UNKNOWN_OP);
  EXPECT_EQ(code_of([] {
              AttrBuilder(NEF_OP_EINSUM).set_string(NEF_EINSUM_EQUATION, std::string(2 << 20, 'a'));
            }),
            NEF_LIMIT_EXCEEDED);
}

TEST(Attrs, EmptyBlockHasNothing) {
  const Attrs a;
  EXPECT_FALSE(a.has(0));
  EXPECT_EQ(a.i(0, 3), 3);
  EXPECT_EQ(a.s(0), "");
  EXPECT_TRUE(a.floats(0).empty());
}

TEST(Ops, Lookup) {
  EXPECT_EQ(find_op("MatMul"), NEF_OP_MATMUL);
  EXPECT_EQ(find_op("matmul"), NEF_OP_MATMUL);
  EXPECT_EQ(find_op("mat_mul"), NEF_OP_MATMUL);
  EXPECT_EQ(find_op("layernorm"), NEF_OP_LAYER_NORMALIZATION);
  EXPECT_EQ(find_op("matmulx"), 0);
  EXPECT_EQ(find_op(""), 0);
  EXPECT_STREQ(nearest_op("matmull"), "matmul");
  EXPECT_STREQ(nearest_op("SoftMax"), "softmax");
  EXPECT_STREQ(nearest_op("zzzzzzzzzz"), "");
  EXPECT_STREQ(nearest_op(""), "");
  EXPECT_STREQ(nearest_op(std::string(100000, 'a')), "");
}

}  // namespace
}  // namespace nef::ir
