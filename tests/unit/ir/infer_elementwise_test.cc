// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "engine/ir/error.h"
#include "engine/ir/ops.h"
#include "tests/unit/ir/infer_case.h"

namespace nef::ir {
namespace {

const std::vector<InferCase> kUnary = register_cases({
    {"Abs", "", "f32[2 3]", "f32[2 3]"},
    {"Abs", "", "i64[2]={B 3}", "i64[2]={B 3}"},
    {"Acos", "", "f32[]", "f32[]"},
    {"Acosh", "", "f16[0 3]", "f16[0 3]"},
    {"Asin", "", "bf16[B S]", "bf16[B S]"},
    {"Asinh", "", "f64[1]", "f64[1]"},
    {"Atan", "", "f32[B]", "f32[B]"},
    {"Atanh", "", "f32[4]", "f32[4]"},
    {"BitwiseNot", "", "u8[3]", "u8[3]"},
    {"BitwiseNot", "", "f32[3]", "!dtype_mismatch input 0 (input) is float32; it must be int8"},
    {"Cast", "to=i32", "f32[B 2]", "i32[B 2]"},
    {"Cast", "to=i32", "i64[2]={B 7}", "i32[2]={B 7}"},
    {"Cast", "to=i32", "i64[1]={5000000000}", "i32[1]"},
    {"Cast", "to=bool", "i64[3]={B 0 -4}", "bool[3]={1 0 1}"},
    {"Cast", "to=bool", "i64[1]={x}", "bool[1]"},
    {"Cast", "to=f32", "i64[1]={3}", "f32[1]"},
    {"Cast", "", "f32[2]", "!invalid_argument attribute to is required"},
    {"CastLike", "", "f32[2 3], i8[]", "i8[2 3]"},
    {"CastLike", "", "i32[1]={S}, i64[1]", "i64[1]={S}"},
    {"Ceil", "", "f32[2]", "f32[2]"},
    {"Celu", "alpha=2", "f32[2]", "f32[2]"},
    {"Cos", "", "f32[2]", "f32[2]"},
    {"Cosh", "", "f32[2]", "f32[2]"},
    {"Elu", "", "f32[2]", "f32[2]"},
    {"Erf", "", "f32[2]", "f32[2]"},
    {"Exp", "", "f32[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2]", "f32[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2]"},
    {"Exp", "", "i32[2]", "!dtype_mismatch"},
    {"Exp", "", "", "!invalid_argument input 0 (input) is missing"},
    {"Exp", "", "-", "!invalid_argument input 0 (input) is missing"},
    {"Exp", "", "f32[1], f32[1]", "!invalid_argument takes at most 1 inputs, got 2"},
    {"Floor", "", "f32[2]", "f32[2]"},
    {"Gelu", "approximate=tanh", "f32[B S 384]", "f32[B S 384]"},
    {"Gelu", "approximate=maybe", "f32[2]", "!invalid_argument it takes one of"},
    {"HardSigmoid", "", "f32[2]", "f32[2]"},
    {"HardSwish", "", "f32[2]", "f32[2]"},
    {"Identity", "", "i64[2]={B S}", "i64[2]={B S}"},
    {"IsInf", "", "f32[B]", "bool[B]"},
    {"IsNaN", "", "f32[2 0]", "bool[2 0]"},
    {"LeakyRelu", "", "f32[2]", "f32[2]"},
    {"Log", "", "f32[2]", "f32[2]"},
    {"Mish", "", "f32[2]", "f32[2]"},
    {"Neg", "", "i64[2]={B -3}", "i64[2]={-B 3}"},
    {"Not", "", "bool[2]={1 0}", "bool[2]={0 1}"},
    {"Reciprocal", "", "f32[2]", "f32[2]"},
    {"Relu", "", "f32[2]", "f32[2]"},
    {"Round", "", "f32[2]", "f32[2]"},
    {"Selu", "", "f32[2]", "f32[2]"},
    {"Shrink", "", "i8[2]", "i8[2]"},
    {"Sigmoid", "", "f32[2]", "f32[2]"},
    {"Sign", "", "i32[2]", "i32[2]"},
    {"Silu", "", "f32[2]", "f32[2]"},
    {"Sin", "", "f32[2]", "f32[2]"},
    {"Sinh", "", "f32[2]", "f32[2]"},
    {"Softplus", "", "f32[2]", "f32[2]"},
    {"Softsign", "", "f32[2]", "f32[2]"},
    {"Sqrt", "", "f32[2]", "f32[2]"},
    {"Tan", "", "f32[2]", "f32[2]"},
    {"Tanh", "", "f32[2]", "f32[2]"},
    {"ThresholdedRelu", "", "f32[2]", "f32[2]"},
    {"Clip", "", "f32[2 3], f32[], f32[1]", "f32[2 3]"},
    {"Clip", "", "f32[2 3], -, f32[]", "f32[2 3]"},
    {"Clip", "", "f32[2 3], f32[2]", "!shape_mismatch input min must be a scalar, got [2]"},
    {"Clip", "", "i64[3]={-4 S 900}, i64[]={0}, i64[]={600}", "i64[3]={0 S 600}"},
});

const std::vector<InferCase> kBroadcast = register_cases({
    {"Add", "", "f32[2 3], f32[3]", "f32[2 3]"},
    {"Add", "", "f32[3], f32[2 1]", "f32[2 3]"},
    {"Add", "", "f32[], f32[B S]", "f32[B S]"},
    {"Add", "", "f32[B 1], f32[1 S]", "f32[B S]"},
    {"Add", "", "f32[2 3], f32[2 4]",
     "!shape_mismatch shapes do not broadcast: [2 3] x [2 4] (3 against 4)"},
    {"Add", "", "f32[2], f64[2]",
     "!dtype_mismatch input 1 (b) is float64, but input 0 (a) is float32; cast one of them"},
    {"Add", "", "bool[2], bool[2]", "!dtype_mismatch"},
    {"Add", "", "f32[2]", "!invalid_argument input 1 (b) is missing"},
    // A symbol against a number above 1 is that number or 1, and the sum is the number.
    {"Add", "", "f32[x], f32[5]", "f32[5]"},
    {"Add", "", "f32[H], f32[y]", "f32[H]"},
    {"Add", "", "f32[x], f32[y]", "f32[broadcast(x,y)]"},
    {"Add", "", "f32[H], f32[65]", "!shape_mismatch"},
    {"Add", "", "i64[2]={B 3}, i64[]={1}", "i64[2]={B+1 4}"},
    {"Add", "", "i64[1]={9223372036854775807}, i64[1]={1}", "i64[1]"},
    {"Add", "", "i32[1]={2147483647}, i32[1]={1}", "i32[1]"},
    {"Add", "", "i64[2 1]={1 2}, i64[1]={1}", "i64[2 1]"},
    {"And", "", "bool[2], bool[1]={1}", "bool[2]"},
    {"And", "", "bool[2]={1 0}, bool[1]={1}", "bool[2]={1 0}"},
    {"BitShift", "direction=LEFT", "u8[2], u8[]", "u8[2]"},
    {"BitShift", "direction=RIGHT", "i8[2], i8[]", "i8[2]"},
    {"BitShift", "direction=UP", "u8[2], u8[]", "!invalid_argument"},
    {"BitwiseAnd", "", "i32[2], i32[2 1]", "i32[2 2]"},
    {"BitwiseOr", "", "i32[2], i32[2]", "i32[2]"},
    {"BitwiseXor", "", "i32[2], i32[2]", "i32[2]"},
    {"Div", "", "f32[2], f32[]", "f32[2]"},
    {"Div", "", "i64[4]={-7 7 S 5}, i64[4]={2 0 2 -1}", "i64[4]={-3 0 S/2 -5}"},
    {"Equal", "", "f32[2], f32[]", "bool[2]"},
    {"Equal", "", "i64[4]={B -1 B x}, i64[4]={-1 -1 B B}", "bool[4]"},
    {"Equal", "", "i64[3]={B -1 B}, i64[3]={-1 -1 B}", "bool[3]={0 1 1}"},
    {"Greater", "", "i64[2]={S 3}, i64[]={0}", "bool[2]={1 1}"},
    {"GreaterOrEqual", "", "i64[2]={S 3}, i64[2]={1 4}", "bool[2]={1 0}"},
    {"Less", "", "i64[2]={S 3}, i64[2]={513 3}", "bool[2]={1 0}"},
    {"LessOrEqual", "", "i64[2]={S 3}, i64[2]={512 3}", "bool[2]={1 1}"},
    {"Max", "", "f32[2], f32[3 1], f32[]", "f32[3 2]"},
    {"Max", "", "i64[2]={B x}, i64[2]={1 y}", "i64[2]={B max(x,y)}"},
    {"Mean", "", "f32[2], f32[2]", "f32[2]"},
    {"Min", "", "i64[1]={S}, i64[1]={512}, i64[1]={600}", "i64[1]={S}"},
    {"Mod", "", "i64[3]={-7 7 x}, i64[3]={3 -3 4}", "i64[3]={2 -2 x-4*(x/4)}"},
    {"Mod", "fmod=1", "i64[2]={-7 7}, i64[2]={3 0}", "i64[2]={-1 0}"},
    {"Mod", "fmod=1", "f32[2], f32[2]", "f32[2]"},
    {"Mod", "", "f32[2], f32[2]", "f32[2]"},
    {"Mul", "", "i64[2]={B 3}, i64[1]={S}", "i64[2]={B*S 3*S}"},
    {"Or", "", "bool[2]={1 0}, bool[2]={0 0}", "bool[2]={1 0}"},
    {"PRelu", "", "f32[2 3 4], f32[3 1]", "f32[2 3 4]"},
    {"PRelu", "", "f32[3 1], f32[2 3 4]",
     "!shape_mismatch slope [2 3 4] does not broadcast to [3 1]"},
    {"PRelu", "", "f32[2 1], f32[2 3]", "!shape_mismatch"},
    {"Pow", "", "f32[2], i32[]", "f32[2]"},
    {"Sub", "", "i64[2]={B 3}, i64[2]={B 5}", "i64[2]={0 -2}"},
    {"Sum", "", "f32[2], f32[3 1], f32[4 1 1]", "f32[4 3 2]"},
    {"Sum", "", "f32[2]", "f32[2]"},
    {"Where", "", "bool[2 1], f32[3], f32[]", "f32[2 3]"},
    {"Where", "", "bool[2]={1 0}, i64[2]={B -1}, i64[2]={7 S}", "i64[2]={B S}"},
    {"Where", "", "bool[2]={0 0}, i64[2], i64[2]={7 S}", "i64[2]={7 S}"},
    {"Where", "", "bool[2]={1 0}, i64[2], i64[2]={7 S}", "i64[2]"},
    {"Where", "", "f32[2], f32[2], f32[2]", "!dtype_mismatch"},
    {"Xor", "", "bool[2]={1 1}, bool[2]={0 1}", "bool[2]={1 0}"},
});

TEST(InferElementwise, Unary) { check_cases(kUnary); }

TEST(InferElementwise, Broadcast) { check_cases(kBroadcast); }

// numpy's rule for every pair of 0, 1 and 3: 1 gives way, also to 0; anything else must be equal.
TEST(InferElementwise, ZeroOneThree) {
  for (const char* op : {"Add", "Sub", "Greater", "Max"}) {
    const std::string out = std::strcmp(op, "Greater") == 0 ? "bool" : "f32";
    for (int a : {0, 1, 3}) {
      for (int b : {0, 1, 3}) {
        const std::string inputs = cat("f32[2 ", a, "], f32[2 ", b, "]");
        const int result = a == 1 ? b : a;
        const std::string want =
            a == b || a == 1 || b == 1 ? out + cat("[2 ", result, "]") : "!shape_mismatch";
        check_cases({{op, "", inputs.c_str(), want.c_str()}});
      }
    }
  }
}

TEST(InferElementwise, ResultsThatNoMachineHolds) {
  check_cases({
      {"Add", "", "f32[4611686018427387904 1], f32[1 2]", "!limit_exceeded"},
      {"Add", "", "f64[1152921504606846975], f64[1]", "f64[1152921504606846975]"},
      {"Add", "", "f64[1152921504606846976], f64[1]", "!limit_exceeded"},
      {"Add", "", "f32[9223372036854775807 1 1], f32[1 3 0]", "f32[9223372036854775807 3 0]"},
      {"Relu", "", "f32[9223372036854775807 2 1 1]", "!limit_exceeded"},
  });
}

TEST(Infer, EveryOpHasAShapeTest) {
  std::set<std::string> tested;
  for (const InferCase& c : registered_cases()) {
    if (c.want[0] != '!') tested.insert(spec(find_op(c.op)).name);
  }
  for (unsigned id = 1; id < kOpTableSize; ++id) {
    if (!op_valid(id) || id == NEF_OP_SHAPE_EXPR) continue;  // ShapeExpr: infer_shape_test.cc
    if (kOpTable[id].n_blocks != 0) continue;                // infer_blocks_test.cc
    EXPECT_TRUE(tested.count(kOpTable[id].name)) << kOpTable[id].name << " has no shape test";
  }
}

}  // namespace
}  // namespace nef::ir
