// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/ir/infer_case.h"

namespace nef::ir {
namespace {

const std::vector<InferCase> kMatmul = register_cases({
    {"MatMul", "", "f32[2 3], f32[3 4]", "f32[2 4]"},
    {"MatMul", "", "f32[3], f32[3]", "f32[]"},
    {"MatMul", "", "f32[3], f32[3 4]", "f32[4]"},
    {"MatMul", "", "f32[2 3], f32[3]", "f32[2]"},
    {"MatMul", "", "f32[5 2 3], f32[3]", "f32[5 2]"},
    {"MatMul", "", "f32[B S 384], f32[384 1536]", "f32[B S 1536]"},
    {"MatMul", "", "f32[B 12 S 32], f32[B 12 32 S]", "f32[B 12 S S]"},
    {"MatMul", "", "f32[0 2 3], f32[1 3 4]", "f32[0 2 4]"},
    {"MatMul", "", "f32[5 1 2 3], f32[7 3 4]", "f32[5 7 2 4]"},
    {"MatMul", "", "f32[2 0], f32[0 4]", "f32[2 4]"},
    {"MatMul", "", "i32[2 3], i32[3 4]", "i32[2 4]"},
    {"MatMul", "", "f32[2 x], f32[3 4]", "f32[2 4]"},
    {"MatMul", "", "f32[2 3], f32[2 2]",
     "!shape_mismatch inner dimensions differ: [2 3] x [2 2] (3 != 2)"},
    {"MatMul", "", "f32[2 H], f32[65 2]", "!shape_mismatch inner dimensions differ"},
    {"MatMul", "", "f32[], f32[3]", "!shape_mismatch input a must have at least 1 dims, got []"},
    {"MatMul", "", "f32[2 2 3], f32[3 3 4]", "!shape_mismatch"},
    {"MatMul", "", "i8[2 3], i8[3 4]", "!dtype_mismatch"},
    {"MatMul", "", "f32[4294967296 1], f32[1 4294967296]", "!limit_exceeded"},
    {"FusedMatMul", "trans_b=1", "f32[B S 64], f32[32 64], f32[32]", "f32[B S 32]"},
    {"FusedMatMul", "trans_a=1", "f32[3 2], f32[3 4]", "f32[2 4]"},
    {"FusedMatMul", "", "f32[2 3], f32[3 4], f32[5]", "!shape_mismatch bias [5]"},
    {"FusedMatMul", "trans_b=1", "f32[3], f32[3]", "!shape_mismatch"},
    {"Gemm", "", "f32[2 3], f32[3 4]", "f32[2 4]"},
    {"Gemm", "transA=1 transB=1", "f32[3 2], f32[4 3], f32[4]", "f32[2 4]"},
    {"Gemm", "transB=1", "f32[B 3], f32[4 3], f32[B 1]", "f32[B 4]"},
    {"Gemm", "", "f32[2 3], f32[3 4], f32[3 4]",
     "!shape_mismatch c [3 4] does not broadcast to [2 4]"},
    {"Gemm", "", "f32[1 2 3], f32[3 4]", "!shape_mismatch input a must have 2 dims"},
});

const std::vector<InferCase> kEinsum = register_cases({
    {"Einsum", "equation=bij,bjk->bik", "f32[2 3 4], f32[2 4 5]", "f32[2 3 5]"},
    {"Einsum", "equation=ij,jk", "f32[2 3], f32[3 4]", "f32[2 4]"},
    {"Einsum", "equation=ii", "f32[3 3]", "f32[]"},
    {"Einsum", "equation=ii->i", "f32[3 3]", "f32[3]"},
    {"Einsum", "equation=ba->ab", "f32[B S]", "f32[S B]"},
    {"Einsum", "equation=...ij,...jk->...ik", "f32[B 1 2 3], f32[7 3 4]", "f32[B 7 2 4]"},
    {"Einsum", "equation=i,j->", "f32[2], f32[3]", "f32[]"},
    {"Einsum", "equation=ij,jk->ik", "f32[2 3], f32[4 5]", "!shape_mismatch label j has two sizes"},
    {"Einsum", "equation=ij->k", "f32[2 3]", "!invalid_argument output label k is in no input"},
    {"Einsum", "equation=ij->ii", "f32[2 3]", "!invalid_argument given twice"},
    {"Einsum", "equation=ij,jk->ik", "f32[2 3]", "!invalid_argument more terms than the 1 inputs"},
    {"Einsum", "equation=ij->ij", "f32[2 3], f32[2]", "!invalid_argument 1 terms for 2 inputs"},
    {"Einsum", "equation=ij->ij", "f32[2 3 4]", "!invalid_argument names 2 dims"},
    {"Einsum", "equation=i1->i", "f32[2 3]", "!invalid_argument unexpected character '1'"},
    {"Einsum", "equation=ij->...", "f32[2 3]", "!invalid_argument ellipsis"},
});

const std::vector<InferCase> kAttention = register_cases({
    {"Attention", "", "f32[B 12 S 32], f32[B 12 S 32], f32[B 12 S 64]", "f32[B 12 S 64]"},
    {"Attention", "q_num_heads=4 kv_num_heads=2", "f32[2 5 32], f32[2 7 16], f32[2 7 20]",
     "f32[2 5 40]"},
    {"Attention", "", "f32[2 4 5 8], f32[2 2 7 8], f32[2 2 7 8], bool[5 7]", "f32[2 4 5 8]"},
    {"Attention", "", "f32[2 4 1 8], f32[2 2 1 8], f32[2 2 1 8], -, f32[2 2 x 8], f32[2 2 x 8]",
     "f32[2 4 1 8], f32[2 2 x+1 8], f32[2 2 x+1 8], f32[2 4 1 x+1]"},
    {"Attention", "", "f32[2 4 5 8], f32[2 4 7 8], f32[2 4 7 8], -, -, -, i64[2]", "f32[2 4 5 8]"},
    {"Attention", "q_num_heads=4 kv_num_heads=2",
     "f32[B S 32], f32[B 2 T 8], f32[B 2 T 8], -, -, -, i64[B]", "f32[B S 32]"},
    {"Attention", "q_num_heads=4 kv_num_heads=2", "f32[B S 32], f32[B 2 T 8], f32[B T 16]",
     "!shape_mismatch the same rank"},
    {"Attention", "", "f32[2 4 5 8], f32[2 3 7 8], f32[2 3 7 8]", "!shape_mismatch query heads"},
    {"Attention", "", "f32[2 4 5 8], f32[2 4 7 9], f32[2 4 7 8]", "!shape_mismatch head size"},
    {"Attention", "", "f32[2 4 5 8], f32[2 4 7 8], f32[2 4 6 8]",
     "!shape_mismatch sequence of k and v"},
    {"Attention", "", "f32[2 5 32], f32[2 5 32], f32[2 5 32]",
     "!invalid_argument q_num_heads must be set"},
    {"Attention", "", "f32[2 4 5 8], f32[2 4 7 8], f32[2 4 7 8], bool[5 6]", "f32[2 4 5 8]"},
    {"Attention", "", "f32[2 4 5 8], f32[2 4 7 8], f32[2 4 7 8], bool[5 8]",
     "!shape_mismatch attn_mask"},
    {"Attention", "", "f32[2 4 5 8], f32[2 4 7 8], f32[2 4 7 8], i32[5 7]",
     "!dtype_mismatch attn_mask is int32"},
    {"Attention", "", "f32[2 4 5 8], f32[2 4 7 8], f32[2 4 7 8], -, f32[2 4 1 8]",
     "!invalid_argument past_key"},
    {"RotaryEmbedding", "", "f32[B 4 S 64], f32[512 32], f32[512 32], i64[B S]", "f32[B 4 S 64]"},
    {"RotaryEmbedding", "num_heads=4", "f32[B S 256], f32[B S 32], f32[B S 32]", "f32[B S 256]"},
    {"RotaryEmbedding", "rotary_embedding_dim=16", "f32[2 4 3 64], f32[2 3 8], f32[2 3 8]",
     "f32[2 4 3 64]"},
    {"RotaryEmbedding", "", "f32[2 4 3 64], f32[2 3 16], f32[2 3 16]",
     "!shape_mismatch half the rotated size"},
    {"RotaryEmbedding", "", "f32[2 4 3 63], f32[2 3 16], f32[2 3 16]", "!shape_mismatch even"},
    {"RotaryEmbedding", "", "f32[2 3 256], f32[2 3 32], f32[2 3 32]",
     "!invalid_argument num_heads must be set"},
});

const std::vector<InferCase> kWindow = register_cases({
    {"Conv", "", "f32[1 3 8 8], f32[16 3 3 3]", "f32[1 16 6 6]"},
    {"Conv", "pads=[1 1 1 1] strides=[2 2]", "f32[B 3 8 9], f32[16 3 3 3], f32[16]",
     "f32[B 16 4 5]"},
    {"Conv", "pads=[1 1]", "f32[B 80 S], f32[384 80 3]", "f32[B 384 S]"},
    {"Conv", "pads=[1 1] strides=[2]", "f32[B 80 x], f32[384 80 3]", "f32[B 384 (x+1)/2]"},
    {"Conv", "group=4 dilations=[2]", "f32[1 8 9], f32[4 2 3]", "f32[1 4 5]"},
    {"Conv", "", "f32[0 3 8 8], f32[16 3 3 3]", "f32[0 16 6 6]"},
    {"Conv", "auto_pad=SAME_UPPER strides=[3]", "f32[1 1 x], f32[1 1 4]", "f32[1 1 (x+2)/3]"},
    {"Conv", "auto_pad=VALID", "f32[1 1 8], f32[1 1 4]", "f32[1 1 5]"},
    {"Conv", "", "f32[1 4 8], f32[16 3 3]",
     "!shape_mismatch channels of x are not w's times group"},
    {"Conv", "group=3", "f32[1 6 8], f32[16 2 3]", "!shape_mismatch output channels"},
    {"Conv", "group=0", "f32[1 6 8], f32[16 2 3]", "!invalid_argument group must be positive"},
    {"Conv", "", "f32[1 3 2], f32[16 3 3]", "!shape_mismatch the window does not fit"},
    {"Conv", "", "f32[1 3 4], f32[16 3 0]", "!shape_mismatch empty kernel"},
    {"Conv", "strides=[0]", "f32[1 3 4], f32[16 3 2]", "!invalid_argument strides has the entry 0"},
    {"Conv", "pads=[1]", "f32[1 3 4], f32[16 3 2]", "!invalid_argument pads has 1 entries"},
    {"Conv", "pads=[1 1] auto_pad=VALID", "f32[1 3 4], f32[16 3 2]", "!invalid_argument drop one"},
    {"Conv", "kernel_shape=[3]", "f32[1 3 4], f32[16 3 2]",
     "!shape_mismatch kernel_shape and w differ"},
    {"Conv", "", "f32[1 3 4], f32[16 3 2], f32[15]", "!shape_mismatch bias"},
    {"Conv", "", "f32[1 3], f32[16 3]", "!shape_mismatch at least 3 dims"},
    {"ConvTranspose", "", "f32[1 3 4], f32[3 8 3]", "f32[1 8 6]"},
    {"ConvTranspose", "strides=[2] pads=[1 1] output_padding=[1] group=3",
     "f32[B 3 x], f32[3 2 3], f32[6]", "f32[B 6 2*x]"},
    {"ConvTranspose", "strides=[2] auto_pad=SAME_UPPER", "f32[1 3 5], f32[3 8 3]", "f32[1 8 10]"},
    {"ConvTranspose", "strides=[2] output_shape=[9]", "f32[1 3 5], f32[3 8 3]", "f32[1 8 9]"},
    {"ConvTranspose", "output_padding=[1]", "f32[1 3 5], f32[3 8 3]",
     "!invalid_argument output_padding"},
    {"ConvTranspose", "", "f32[1 4 5], f32[3 8 3]", "!shape_mismatch channels of x and w differ"},
    {"MaxPool", "kernel_shape=[2 2] strides=[2 2]", "f32[B 3 8 9]", "f32[B 3 4 4]"},
    {"MaxPool", "kernel_shape=[2 2] strides=[2 2] ceil_mode=1", "f32[1 3 8 9]",
     "f32[1 3 4 5], i64[1 3 4 5]"},
    {"MaxPool", "kernel_shape=[3] strides=[2]", "f32[1 3 x]", "f32[1 3 (x+1)/2-1]"},
    {"AveragePool", "kernel_shape=[3] pads=[1 1] strides=[2] ceil_mode=1", "f32[1 1 4]",
     "f32[1 1 3]"},
    // The last window would start in the padding behind the data, so it is dropped.
    {"AveragePool", "kernel_shape=[2] pads=[0 1] strides=[3] ceil_mode=1", "f32[1 1 3]",
     "f32[1 1 1]"},
    {"AveragePool", "kernel_shape=[3 3] auto_pad=SAME_LOWER", "f32[1 1 5 x]", "f32[1 1 5 x]"},
    {"AveragePool", "kernel_shape=[2] pads=[2 0]", "f32[1 1 5]",
     "!invalid_argument pads must be smaller"},
    {"AveragePool", "kernel_shape=[2]", "f32[1 1 5 5]",
     "!invalid_argument kernel_shape has 1 entries"},
    {"AveragePool", "kernel_shape=[0]", "f32[1 1 5]",
     "!invalid_argument kernel_shape has the entry 0"},
    {"AveragePool", "", "f32[1 1 5]", "!invalid_argument attribute kernel_shape is required"},
    {"GlobalAveragePool", "", "f32[B 3 x y]", "f32[B 3 1 1]"},
    {"GlobalMaxPool", "", "f32[B 3 7]", "f32[B 3 1]"},
    {"GlobalMaxPool", "", "f32[B 3]", "!shape_mismatch"},
});

TEST(InferContraction, Matmul) { check_cases(kMatmul); }
TEST(InferContraction, Einsum) { check_cases(kEinsum); }
TEST(InferContraction, Attention) { check_cases(kAttention); }
TEST(InferContraction, Window) { check_cases(kWindow); }

// SAME means ceil(size / stride), whatever kernel and dilation are.
TEST(InferContraction, SamePaddingSizes) {
  for (int in = 5; in <= 8; ++in) {
    for (int k = 2; k <= 4; ++k) {
      for (int s = 1; s <= 3; ++s) {
        for (int d = 1; d <= 2; ++d) {
          for (const char* pad : {"SAME_UPPER", "SAME_LOWER"}) {
            const std::string attrs = std::string("auto_pad=") + pad + " strides=[" +
                                      std::to_string(s) + "] dilations=[" + std::to_string(d) + "]";
            const std::string inputs =
                "f32[1 1 " + std::to_string(in) + "], f32[1 1 " + std::to_string(k) + "]";
            const std::string want = "f32[1 1 " + std::to_string((in + s - 1) / s) + "]";
            check_cases({{"Conv", attrs.c_str(), inputs.c_str(), want.c_str()}});
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nef::ir
