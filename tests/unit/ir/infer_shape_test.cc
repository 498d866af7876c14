// SPDX-License-Identifier: Apache-2.0
// Ops whose results are shapes, or whose shapes are data.
#include <gtest/gtest.h>

#include "engine/ir/error.h"
#include "engine/ir/infer.h"
#include "tests/unit/ir/infer_case.h"

namespace nef::ir {
namespace {

const std::vector<InferCase> kShape = register_cases({
    {"Shape", "", "f32[B S 384]", "i64[3]={B S 384}"},
    {"Shape", "start=-1", "f32[B S 384]", "i64[1]={384}"},
    {"Shape", "start=1 end=-1", "f32[B S 384]", "i64[1]={S}"},
    {"Shape", "start=2 end=1", "f32[B S 384]", "i64[0]={}"},
    {"Shape", "start=-9 end=9", "f32[B S]", "i64[2]={B S}"},
    {"Shape", "", "f32[]", "i64[0]={}"},
    {"Size", "", "f32[B S 3]", "i64[]={3*B*S}"},
    {"Size", "", "f32[]", "i64[]={1}"},
    {"Size", "", "f32[0 9223372036854775807 3]", "i64[]={0}"},
    {"NonZero", "", "f32[B S]", "i64[2 ?]"},
    {"NonZero", "", "bool[]", "i64[0 ?]"},
    {"ConstantOfShape", "", "i64[2]={B 3}", "f32[B 3]"},
    {"ConstantOfShape", "", "i64[0]={}, i64[1]={7}", "i64[]={7}"},
    {"ConstantOfShape", "", "i64[1]={3}, i64[1]={-1}", "i64[3]={-1 -1 -1}"},
    {"ConstantOfShape", "", "i64[2], i32[]", "i32[? ?]"},
    {"ConstantOfShape", "", "i64[1]={-1}", "!invalid_argument negative"},
    {"ConstantOfShape", "", "i64[x]", "!unsupported"},
    {"ConstantOfShape", "", "i64[2]={4611686018427387904 4611686018427387904}", "!limit_exceeded"},
    {"ConstantOfShape", "", "i64[2]={4611686018427387904 0}", "f32[4611686018427387904 0]"},
    {"EyeLike", "", "i32[3 4]", "i32[3 4]"},
    {"EyeLike", "dtype=f32", "i32[B S]", "f32[B S]"},
    {"EyeLike", "", "i32[3]", "!shape_mismatch must have 2 dims"},
    {"OneHot", "", "i64[B S], i64[]={10}, f32[2]", "f32[B S 10]"},
    {"OneHot", "axis=0", "i64[B], i64[1]={10}, f32[2]", "f32[10 B]"},
    {"OneHot", "", "i64[B], i64[], f32[2]", "f32[B ?]"},
    {"OneHot", "", "i64[B], i64[]={-1}, f32[2]", "!invalid_argument depth"},
    {"OneHot", "", "i64[B], i64[]={3}, f32[3]", "!shape_mismatch values is [off, on]"},
    {"OneHot", "axis=2", "i64[B], i64[]={3}, f32[2]", "!invalid_argument axis 2"},
    {"Range", "", "i64[]={0}, i64[]={5}, i64[]={2}", "i64[3]={0 2 4}"},
    {"Range", "", "i64[]={5}, i64[]={0}, i64[]={-2}", "i64[3]={5 3 1}"},
    {"Range", "", "i64[]={5}, i64[]={0}, i64[]={1}", "i64[0]={}"},
    {"Range", "", "i64[]={0}, i64[]={S}, i64[]={1}", "i64[S]"},
    {"Range", "", "i64[]={1}, i64[]={x}, i64[]={1}", "i64[max(x-1,0)]"},
    {"Range", "", "i64[]={x}, i64[]={x+3}, i64[]={1}", "i64[3]={x x+1 x+2}"},
    {"Range", "", "i64[]={0}, i64[], i64[]={1}", "i64[?]"},
    {"Range", "", "f32[]={0}, f32[]={1}, f32[]={0.25}", "f32[4]"},
    {"Range", "", "f32[], f32[], f32[]", "f32[?]"},
    {"Range", "", "i64[]={0}, i64[]={5}, i64[]={0}", "!invalid_argument delta must not be 0"},
    {"Range", "", "f32[]={0}, f32[]={1}, f32[]={0}", "!invalid_argument delta must not be 0"},
    {"Range", "", "i64[2], i64[], i64[]", "!shape_mismatch must be a scalar"},
});

const std::vector<InferCase> kResize = register_cases({
    {"Resize", "", "f32[1 3 4 5], -, f32[4]={1 1 2 2.5}", "f32[1 3 8 12]"},
    {"Resize", "", "f32[B 3 x y], -, f32[4]={1 1 2 0.5}", "f32[B 3 2*x y/2]"},
    {"Resize", "", "f32[B 3 x y], -, f32[4]={1 1 2 0.3}", "f32[B 3 2*x ?]"},
    {"Resize", "", "f32[B 3 4 5], f32[0], f32[0], i64[4]={B 3 7 9}", "f32[B 3 7 9]"},
    {"Resize", "axes=[2 3]", "f32[B 3 4 5], -, -, i64[2]={S 9}", "f32[B 3 S 9]"},
    {"Resize", "axes=[2 3] keep_aspect_ratio_policy=not_larger", "f32[1 3 4 8], -, -, i64[2]={8 8}",
     "f32[1 3 4 8]"},
    {"Resize", "axes=[2 3] keep_aspect_ratio_policy=not_smaller",
     "f32[1 3 4 8], -, -, i64[2]={8 8}", "f32[1 3 8 16]"},
    {"Resize", "coordinate_transformation_mode=tf_crop_and_resize",
     "f32[8], f32[2]={0.25 0.75}, f32[1]={2}", "f32[8]"},
    {"Resize", "", "f32[2 2], -, f32[2]", "f32[? ?]"},
    {"Resize", "", "f32[2 2], -, -, i64[2]", "f32[? ?]"},
    {"Resize", "", "f32[2 2]", "!invalid_argument exactly one of scales and sizes, got neither"},
    {"Resize", "", "f32[2 2], -, f32[2]={1 1}, i64[2]={2 2}", "!invalid_argument got both"},
    {"Resize", "", "f32[2 2], -, f32[2]={1 0}", "!invalid_argument a scale must be positive"},
    {"Resize", "", "f32[2 2], -, f32[3]={1 1 1}", "!shape_mismatch one entry per resized axis"},
    {"Resize", "", "f32[2 2], -, -, i64[2]={-1 2}", "!invalid_argument out of range"},
    {"Resize", "", "f32[0 2], -, -, i64[2]={1 2}", "!shape_mismatch nothing to sample"},
    {"Resize", "axes=[0 0]", "f32[2 2], -, -, i64[2]={1 2}", "!invalid_argument given twice"},
});

TEST(InferShape, Shape) { check_cases(kShape); }
TEST(InferShape, Resize) { check_cases(kResize); }

TEST(InferShape, ShapeExprBringsItsContent) {
  DimPool pool;
  const Dim batch = pool.symbol("batch");
  Inferred r;
  r.has_content = true;
  r.content = {batch, 3};
  infer(NEF_OP_SHAPE_EXPR, Attrs(), {}, pool, {&r, 1});
  EXPECT_EQ(r.dtype, NEF_INT64);
  EXPECT_EQ(r.shape, Shape{2});
  EXPECT_EQ(r.content[0], batch);
  Inferred empty;
  EXPECT_THROW(infer(NEF_OP_SHAPE_EXPR, Attrs(), {}, pool, {&empty, 1}), Error);
}

TEST(InferShape, UnknownOps) {
  DimPool pool;
  Inferred r;
  for (nef_op op : {-1, 0, 99999}) {
    try {
      infer(op, Attrs(), {}, pool, {&r, 1});
      ADD_FAILURE() << op;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), NEF_UNKNOWN_OP);
    }
  }
}

TEST(InferShape, OutputCounts) {
  DimPool pool;
  const Dim dims[2] = {2, 384}, scale[1] = {384};
  Operand in[2];
  in[0] = {true, NEF_FLOAT32, dims, false, {}, nullptr};
  in[1] = {true, NEF_FLOAT32, scale, false, {}, nullptr};
  const std::vector<int64_t> words = AttrBuilder(NEF_OP_LAYER_NORMALIZATION).build();
  EXPECT_EQ(default_output_count(NEF_OP_LAYER_NORMALIZATION, Attrs(words), in), 1u);
  std::vector<Inferred> many(4);
  EXPECT_THROW(infer(NEF_OP_LAYER_NORMALIZATION, Attrs(words), in, pool, many), Error);
  EXPECT_THROW(infer(NEF_OP_LAYER_NORMALIZATION, Attrs(words), in, pool, {many.data(), 0}), Error);
  infer(NEF_OP_LAYER_NORMALIZATION, Attrs(words), in, pool, {many.data(), 3});
  EXPECT_EQ(many[2].shape, (Shape{2, 1}));
}

}  // namespace
}  // namespace nef::ir
