// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/elementwise_ops.h"

#include <algorithm>
#include <iterator>

namespace nef::cpu {
namespace {

constexpr OpRow kRows[] = {
    {NEF_OP_ABS, "Abs", OpForm::kUnary, TileOp::kAbs},
    {NEF_OP_ACOS, "Acos", OpForm::kUnary, TileOp::kAcos},
    {NEF_OP_ACOSH, "Acosh", OpForm::kUnary, TileOp::kAcosh},
    {NEF_OP_ADD, "Add", OpForm::kBinary, TileOp::kAdd},
    {NEF_OP_AND, "And", OpForm::kBinary, TileOp::kBitAnd},
    {NEF_OP_ASIN, "Asin", OpForm::kUnary, TileOp::kAsin},
    {NEF_OP_ASINH, "Asinh", OpForm::kUnary, TileOp::kAsinh},
    {NEF_OP_ATAN, "Atan", OpForm::kUnary, TileOp::kAtan},
    {NEF_OP_ATANH, "Atanh", OpForm::kUnary, TileOp::kAtanh},
    {NEF_OP_BIT_SHIFT, "BitShift", OpForm::kBitShift, TileOp::kShiftLeft},
    {NEF_OP_BITWISE_AND, "BitwiseAnd", OpForm::kBinary, TileOp::kBitAnd},
    {NEF_OP_BITWISE_NOT, "BitwiseNot", OpForm::kUnary, TileOp::kBitNot},
    {NEF_OP_BITWISE_OR, "BitwiseOr", OpForm::kBinary, TileOp::kBitOr},
    {NEF_OP_BITWISE_XOR, "BitwiseXor", OpForm::kBinary, TileOp::kBitXor},
    {NEF_OP_CAST, "Cast", OpForm::kCast, TileOp::kAdd},
    {NEF_OP_CAST_LIKE, "CastLike", OpForm::kCastLike, TileOp::kAdd},
    {NEF_OP_CEIL, "Ceil", OpForm::kUnary, TileOp::kCeil},
    {NEF_OP_CELU, "Celu", OpForm::kUnary, TileOp::kCelu, NEF_CELU_ALPHA},
    {NEF_OP_CLIP, "Clip", OpForm::kClip, TileOp::kMax},
    {NEF_OP_COS, "Cos", OpForm::kUnary, TileOp::kCos},
    {NEF_OP_COSH, "Cosh", OpForm::kUnary, TileOp::kCosh},
    {NEF_OP_DIV, "Div", OpForm::kBinary, TileOp::kDiv},
    {NEF_OP_ELU, "Elu", OpForm::kUnary, TileOp::kElu, NEF_ELU_ALPHA},
    {NEF_OP_EQUAL, "Equal", OpForm::kBinary, TileOp::kEqual},
    {NEF_OP_ERF, "Erf", OpForm::kUnary, TileOp::kErf},
    {NEF_OP_EXP, "Exp", OpForm::kUnary, TileOp::kExp},
    {NEF_OP_FLOOR, "Floor", OpForm::kUnary, TileOp::kFloor},
    {NEF_OP_GELU, "Gelu", OpForm::kGelu, TileOp::kGelu},
    {NEF_OP_GREATER, "Greater", OpForm::kSwapped, TileOp::kLess},
    {NEF_OP_GREATER_OR_EQUAL, "GreaterOrEqual", OpForm::kSwapped, TileOp::kLessEqual},
    {NEF_OP_HARD_SIGMOID, "HardSigmoid", OpForm::kUnary, TileOp::kHardSigmoid,
     NEF_HARD_SIGMOID_ALPHA, NEF_HARD_SIGMOID_BETA},
    {NEF_OP_HARD_SWISH, "HardSwish", OpForm::kUnary, TileOp::kHardSwish},
    {NEF_OP_IDENTITY, "Identity", OpForm::kIdentity, TileOp::kAdd},
    {NEF_OP_ISINF, "IsInf", OpForm::kIsInf, TileOp::kIsInf},
    {NEF_OP_ISNAN, "IsNaN", OpForm::kUnary, TileOp::kIsNan},
    {NEF_OP_LEAKY_RELU, "LeakyRelu", OpForm::kUnary, TileOp::kLeakyRelu, NEF_LEAKY_RELU_ALPHA},
    {NEF_OP_LESS, "Less", OpForm::kBinary, TileOp::kLess},
    {NEF_OP_LESS_OR_EQUAL, "LessOrEqual", OpForm::kBinary, TileOp::kLessEqual},
    {NEF_OP_LOG, "Log", OpForm::kUnary, TileOp::kLog},
    {NEF_OP_MAX, "Max", OpForm::kFold, TileOp::kMax},
    {NEF_OP_MEAN, "Mean", OpForm::kMean, TileOp::kAdd},
    {NEF_OP_MIN, "Min", OpForm::kFold, TileOp::kMin},
    {NEF_OP_MISH, "Mish", OpForm::kUnary, TileOp::kMish},
    {NEF_OP_MOD, "Mod", OpForm::kMod, TileOp::kMod},
    {NEF_OP_MUL, "Mul", OpForm::kBinary, TileOp::kMul},
    {NEF_OP_NEG, "Neg", OpForm::kUnary, TileOp::kNeg},
    {NEF_OP_NOT, "Not", OpForm::kUnary, TileOp::kNot},
    {NEF_OP_OR, "Or", OpForm::kBinary, TileOp::kBitOr},
    {NEF_OP_PRELU, "PRelu", OpForm::kBinary, TileOp::kPRelu},
    {NEF_OP_POW, "Pow", OpForm::kPow, TileOp::kPow},
    {NEF_OP_RECIPROCAL, "Reciprocal", OpForm::kUnary, TileOp::kReciprocal},
    {NEF_OP_RELU, "Relu", OpForm::kUnary, TileOp::kRelu},
    {NEF_OP_ROUND, "Round", OpForm::kUnary, TileOp::kRound},
    {NEF_OP_SELU, "Selu", OpForm::kUnary, TileOp::kSelu, NEF_SELU_ALPHA, NEF_SELU_GAMMA},
    {NEF_OP_SHRINK, "Shrink", OpForm::kUnary, TileOp::kShrink, NEF_SHRINK_LAMBD, NEF_SHRINK_BIAS},
    {NEF_OP_SIGMOID, "Sigmoid", OpForm::kUnary, TileOp::kSigmoid},
    {NEF_OP_SIGN, "Sign", OpForm::kUnary, TileOp::kSign},
    {NEF_OP_SILU, "Silu", OpForm::kUnary, TileOp::kSilu, NEF_SILU_ALPHA},
    {NEF_OP_SIN, "Sin", OpForm::kUnary, TileOp::kSin},
    {NEF_OP_SINH, "Sinh", OpForm::kUnary, TileOp::kSinh},
    {NEF_OP_SOFTPLUS, "Softplus", OpForm::kUnary, TileOp::kSoftplus},
    {NEF_OP_SOFTSIGN, "Softsign", OpForm::kUnary, TileOp::kSoftsign},
    {NEF_OP_SQRT, "Sqrt", OpForm::kUnary, TileOp::kSqrt},
    {NEF_OP_SUB, "Sub", OpForm::kBinary, TileOp::kSub},
    {NEF_OP_SUM, "Sum", OpForm::kFold, TileOp::kAdd},
    {NEF_OP_TAN, "Tan", OpForm::kUnary, TileOp::kTan},
    {NEF_OP_TANH, "Tanh", OpForm::kUnary, TileOp::kTanh},
    {NEF_OP_THRESHOLDED_RELU, "ThresholdedRelu", OpForm::kUnary, TileOp::kThresholdedRelu,
     NEF_THRESHOLDED_RELU_ALPHA},
    {NEF_OP_WHERE, "Where", OpForm::kWhere, TileOp::kSelect},
    {NEF_OP_XOR, "Xor", OpForm::kBinary, TileOp::kBitXor},
};

}  // namespace

const OpRow* find_op_row(nef_op op) {
  const auto* it = std::find_if(std::begin(kRows), std::end(kRows),
                                [op](const OpRow& row) { return row.op == op; });
  return it == std::end(kRows) ? nullptr : it;
}

}  // namespace nef::cpu
