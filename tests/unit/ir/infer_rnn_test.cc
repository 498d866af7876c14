// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and quantised tensors.
#include <gtest/gtest.h>

#include "tests/unit/ir/infer_case.h"

namespace nef::ir {
namespace {

const std::vector<InferCase> kRnn = register_cases({
    {"LSTM", "", "f32[S B 3], f32[1 16 3], f32[1 16 4]", "f32[S 1 B 4], f32[1 B 4], f32[1 B 4]"},
    {"LSTM", "layout=1 direction=bidirectional",
     "f32[B S 3], f32[2 16 3], f32[2 16 4], f32[2 32], i32[B], f32[B 2 4], f32[B 2 4], f32[2 12]",
     "f32[B S 2 4], f32[B 2 4], f32[B 2 4]"},
    {"LSTM", "", "f32[0 B 3], f32[1 16 3], f32[1 16 4]", "f32[0 1 B 4], f32[1 B 4], f32[1 B 4]"},
    {"GRU", "hidden_size=4", "f16[S B 3], f16[1 12 3], f16[1 12 4], f16[1 24]",
     "f16[S 1 B 4], f16[1 B 4]"},
    {"RNN", "direction=reverse activations=Relu", "f64[5 2 3], f64[1 4 3], f64[1 4 4]",
     "f64[5 1 2 4], f64[1 2 4]"},
    {"LSTM", "", "f32[S B 3], f32[1 12 3], f32[1 12 4]", "!shape_mismatch gates * hidden"},
    {"LSTM", "", "f32[S 3], f32[1 16 3], f32[1 16 4]", "!shape_mismatch must have 3 dims"},
    // Once the name of an expression.
    {"LSTM", "hidden_size=-9223372036854775808", "f32[S B 3], f32[1 16 3], f32[1 16 4]",
     "!limit_exceeded lowest dim"},
    {"LSTM", "hidden_size=5", "f32[S B 3], f32[1 16 3], f32[1 16 4]",
     "!shape_mismatch hidden_size"},
    {"LSTM", "layout=2", "f32[S B 3], f32[1 16 3], f32[1 16 4]", "!invalid_argument layout"},
    {"LSTM", "clip=-1", "f32[S B 3], f32[1 16 3], f32[1 16 4]", "!invalid_argument clip"},
    {"LSTM", "activations=Tanh", "f32[S B 3], f32[1 16 3], f32[1 16 4]",
     "!invalid_argument activations has 1 names; this direction needs 3"},
    {"RNN", "activations=Sinh", "f32[5 2 3], f32[1 4 3], f32[1 4 4]",
     "!invalid_argument no activation is called 'Sinh'"},
    {"RNN", "", "f32[5 2 3], f32[1 4 3], f32[1 4 4], -, i32[3]", "!shape_mismatch one length"},
    {"RNN", "direction=sideways", "f32[5 2 3], f32[1 4 3], f32[1 4 4]", "!invalid_argument"},
});

const std::vector<InferCase> kQuant = register_cases({
    {"QuantizeLinear", "", "f32[B S], f32[]", "u8[B S]"},
    {"QuantizeLinear", "axis=0", "f32[B S], f32[B], i8[B]", "i8[B S]"},
    {"QuantizeLinear", "axis=-1 block_size=32", "f32[B 70], f32[B 3], u16[B 3]", "u16[B 70]"},
    {"QuantizeLinear", "output_dtype=i16", "i32[B S], f32[1]", "i16[B S]"},
    {"QuantizeLinear", "output_dtype=i16", "f32[B], f32[1], i8[1]", "!dtype_mismatch"},
    {"QuantizeLinear", "output_dtype=i32", "f32[B], f32[1]", "!invalid_argument output_dtype"},
    {"QuantizeLinear", "precision=i8", "f32[B], f32[1]", "!invalid_argument precision"},
    {"QuantizeLinear", "axis=2", "f32[B 3], f32[3]", "!invalid_argument axis"},
    {"QuantizeLinear", "", "f32[B 3], f32[4]", "!shape_mismatch one scale per element"},
    {"QuantizeLinear", "", "f32[B 3], f32[3], i8[2]", "!shape_mismatch zero points"},
    {"QuantizeLinear", "block_size=-1", "f32[B 3], f32[3]", "!invalid_argument block_size"},
    {"QuantizeLinear", "block_size=2", "f32[B 3], f32[B 3]", "!shape_mismatch per block"},
    {"DequantizeLinear", "", "i8[B S], f16[]", "f16[B S]"},
    {"DequantizeLinear", "output_dtype=f32", "u16[B S], bf16[1], u16[1]", "f32[B S]"},
    {"DequantizeLinear", "axis=0", "i32[3 S], f32[3]", "f32[3 S]"},
    {"DequantizeLinear", "output_dtype=i32", "i8[B S], f16[]", "!invalid_argument output_dtype"},
    {"DynamicQuantizeLinear", "", "f32[B S]", "u8[B S], f32[], u8[]"},
    {"MatMulInteger", "", "i8[B S 3], u8[3 5]", "i32[B S 5]"},
    {"MatMulInteger", "", "u8[B S 3], i8[B 3 5], u8[S], i8[B 1 5]", "i32[B S 5]"},
    {"MatMulInteger", "", "u8[2 3], i8[3 5], u8[3]", "!shape_mismatch per row"},
    {"MatMulInteger", "", "u8[2 3], i8[4 5]", "!shape_mismatch inner dimensions differ"},
    {"QLinearMatMul", "", "u8[B 3], f32[], u8[], i8[3 5], f32[5], i8[5], f32[], i8[]", "i8[B 5]"},
    {"QLinearMatMul", "", "u8[B 3], f32[], u8[], i8[3 5], f32[5], i8[5], f32[2], i8[]",
     "!shape_mismatch one element"},
    {"ConvInteger", "pads=[1 1 1 1]", "u8[B 3 8 8], i8[6 3 3 3], u8[], i8[6]", "i32[B 6 8 8]"},
    {"ConvInteger", "", "u8[B 3 8 8], i8[6 3 3 3], u8[3]", "!shape_mismatch one element"},
    {"QLinearConv", "strides=[2 2]",
     "u8[B 3 8 8], f32[], u8[], i8[6 3 3 3], f32[6], i8[6], f32[], u8[], i32[6]", "u8[B 6 3 3]"},
    {"QLinearConv", "strides=[0 2]",
     "u8[B 3 8 8], f32[], u8[], i8[6 3 3 3], f32[6], i8[6], f32[], u8[]",
     "!invalid_argument strides"},
    {"MatMulNBits", "k=70 n=5 block_size=32", "f32[B S 70], u8[5 3 16], f32[15]", "f32[B S 5]"},
    {"MatMulNBits", "k=70 n=5 block_size=32 bits=8",
     "f16[B 70], u8[5 3 32], f16[5 3], u8[5 3], f16[5]", "f16[B 5]"},
    {"MatMulNBits", "k=70 n=5 block_size=32", "f32[B 70], u8[5 3 15], f32[15]",
     "!shape_mismatch block bytes"},
    {"MatMulNBits", "k=70 n=5 block_size=24", "f32[B 70], u8[5 3 16], f32[15]",
     "!invalid_argument power of two"},
    {"MatMulNBits", "k=-1 n=5 block_size=32", "f32[B 70], u8[5 3 16], f32[15]",
     "!invalid_argument k and n"},
    {"MatMulNBits", "k=70 n=5 block_size=32 bits=3", "f32[B 70], u8[5 3 16], f32[15]",
     "!invalid_argument bits"},
});

TEST(InferRnn, Types) { check_cases(kRnn); }
TEST(InferQuant, Types) { check_cases(kQuant); }

}  // namespace
}  // namespace nef::ir
