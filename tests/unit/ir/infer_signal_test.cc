// SPDX-License-Identifier: Apache-2.0
// Sampling, signals, made numbers, sizes that depend on data.
#include <gtest/gtest.h>

#include "tests/unit/ir/infer_case.h"

namespace nef::ir {
namespace {

const std::vector<InferCase> kSampling = register_cases({
    {"NonMaxSuppression", "", "f32[B x 4], f32[B 3 x], i64[]={5}, f32[], f32[1]", "i64[? 3]"},
    {"NonMaxSuppression", "", "f32[B x 5], f32[B 3 x]", "!shape_mismatch 4 numbers"},
    {"NonMaxSuppression", "center_point_box=2", "f32[B x 4], f32[B 3 x]",
     "!invalid_argument center_point_box"},
    {"GridSample", "", "f32[B 3 x y], f32[B 5 6 2]", "f32[B 3 5 6]"},
    {"GridSample", "mode=cubic", "u8[B 3 x y z], f16[B 5 6 7 3]", "u8[B 3 5 6 7]"},
    {"GridSample", "", "f32[B 3 x y], f32[B 5 6 3]", "!shape_mismatch coordinate per spatial axis"},
    {"AffineGrid", "", "f32[B 2 3], i64[4]={B 3 S 7}", "f32[B S 7 2]"},
    {"AffineGrid", "", "f32[B 3 4], i64[5]", "f32[B ? ? ? 3]"},
    {"AffineGrid", "", "f32[B 2 3], i64[3]={B 3 4}", "!invalid_argument 4 or 5"},
    {"AffineGrid", "", "f32[B 2 3], i64[4]={B 3 -1 4}", "!invalid_argument negative"},
    {"RoiAlign", "output_height=7 output_width=5", "f32[B 3 x y], f32[r 4], i64[r]",
     "f32[r 3 7 5]"},
    {"RoiAlign", "output_height=-1", "f32[B 3 x y], f32[r 4], i64[r]",
     "!invalid_argument output_height"},
    {"RoiAlign", "sampling_ratio=100000", "f32[B 3 x y], f32[r 4], i64[r]",
     "!invalid_argument sampling_ratio"},
    {"MaxRoiPool", "pooled_shape=[2 3]", "f32[B 3 x y], f32[r 5]", "f32[r 3 2 3]"},
    {"MaxRoiPool", "pooled_shape=[2]", "f32[B 3 x y], f32[r 5]", "!invalid_argument pooled_shape"},
    {"MaxUnpool", "kernel_shape=[2 2] strides=[2 2]", "f32[B 3 4 S], i64[B 3 4 S]",
     "f32[B 3 8 2*S]"},
    {"MaxUnpool", "kernel_shape=[2]", "f32[B 3 4], i64[B 3 4], i64[3]={B 3 9}", "f32[B 3 9]"},
    {"MaxUnpool", "kernel_shape=[2 0]", "f32[B 3 4 4], i64[B 3 4 4]",
     "!invalid_argument kernel_shape"},
    {"DeformConv", "pads=[0 0 1 1]",
     "f32[B 2 4 5], f32[6 2 2 2], f32[B 8 4 5], f32[6], f32[B 4 4 5]", "f32[B 6 4 5]"},
    {"DeformConv", "", "f32[B 2 4 5], f32[6 2 2 2], f32[B 7 3 4]",
     "!shape_mismatch kernel position"},
    {"DeformConv", "offset_group=-2", "f32[B 2 4 5], f32[6 2 2 2], f32[B 8 3 4]",
     "!invalid_argument offset_group"},
    {"DeformConv", "strides=[0 1]", "f32[B 2 4 5], f32[6 2 2 2], f32[B 8 3 4]",
     "!invalid_argument strides"},
    {"LpPool", "kernel_shape=[3 3] p=3 strides=[2 2]", "f32[B 3 9 S]", "f32[B 3 4 (S+1)/2-1]"},
    {"LpPool", "kernel_shape=[3 3] p=0", "f32[B 3 9 9]", "!invalid_argument p must be"},
    {"Col2Im", "", "f32[B 5 5], i64[2]={5 5}, i64[2]={1 5}", "f32[B 1 5 5]"},
    {"Col2Im", "strides=[0 1]", "f32[B 5 5], i64[2]={5 5}, i64[2]={1 5}",
     "!invalid_argument strides"},
    {"Col2Im", "", "f32[B 5 6], i64[2]={5 5}, i64[2]={1 5}", "!shape_mismatch number of blocks"},
    {"Col2Im", "", "f32[B 5 5], i64[2], i64[2]", "f32[B ? ? ?]"},
    {"CenterCropPad", "", "f32[B 5], i64[2]={S 3}", "f32[S 3]"},
    {"CenterCropPad", "axes=[-1]", "f32[B 5], i32[1]={3}", "f32[B 3]"},
    {"CenterCropPad", "axes=[1 -1]", "f32[B 5], i64[2]={3 3}", "!invalid_argument given twice"},
    {"CenterCropPad", "", "f32[B 5], i64[2]={3 -3}", "!invalid_argument negative"},
});

const std::vector<InferCase> kSignal = register_cases({
    {"DFT", "", "f32[B S 1]", "f32[B S 2]"},
    {"DFT", "onesided=1", "f32[B 10 1]", "f32[B 6 2]"},
    {"DFT", "onesided=1 inverse=1", "f32[B 6 2]", "f32[B 10 1]"},
    {"DFT", "", "f32[B 10 3 2], i64[]={7}, i64[]={1}", "f32[B 7 3 2]"},
    {"DFT", "", "f32[B 10 3 2], i64[]", "f32[B 10 ? 2]"},
    {"DFT", "", "f32[B 10 3]", "!shape_mismatch 1 (real) or 2 (complex)"},
    {"DFT", "onesided=1", "f32[B 10 2]", "!shape_mismatch onesided takes a real"},
    {"DFT", "", "f32[B 10 1], -, i64[]={-1}", "!invalid_argument axis may not be the last"},
    {"DFT", "", "f32[B 10 1], i64[]={0}", "!invalid_argument at least 1"},
    {"DFT", "", "f32[B 10 1], i64[]={-5}", "!invalid_argument at least 1"},
    {"DFT", "", "f32[B 0 1]", "!shape_mismatch nothing to transform"},
    {"STFT", "", "f32[B 100 1], i64[]={10}, f32[20]", "f32[B 9 11 2]"},
    {"STFT", "onesided=0", "f32[B 100 2], i64[]={10}, -, i64[]={20}", "f32[B 9 20 2]"},
    {"STFT", "", "f32[B 100 1], i64[]={10}", "f32[B 1 51 2]"},
    {"STFT", "", "f32[B 100 1], i64[]={0}, f32[20]", "!invalid_argument at least 1"},
    {"STFT", "", "f32[B 10 1], i64[]={1}, f32[20]", "!shape_mismatch does not fit"},
    {"STFT", "", "f32[B 100 1], i64[]={10}, f32[20], i64[]={21}", "!shape_mismatch"},
    {"MelWeightMatrix", "", "i64[]={8}, i64[]={16}, i64[]={8000}, f32[], f32[]", "f32[9 8]"},
    {"MelWeightMatrix", "", "i64[]={0}, i64[]={16}, i64[]={8000}, f32[], f32[]",
     "!invalid_argument at least 1"},
    {"HannWindow", "", "i64[]={S}", "f32[S]"},
    {"HammingWindow", "output_datatype=f16", "i32[]={10}", "f16[10]"},
    {"BlackmanWindow", "", "i64[]", "f32[?]"},
    {"BlackmanWindow", "output_datatype=bool", "i64[]={3}", "!invalid_argument output_datatype"},
    {"HannWindow", "", "i64[]={-3}", "!invalid_argument at least 0"},
});

const std::vector<InferCase> kOthers = register_cases({
    {"Det", "", "f32[B 3 3]", "f32[B]"},
    {"Det", "", "f32[0 0]", "f32[]"},
    {"Det", "", "f32[B 3 4]", "!shape_mismatch square"},
    {"TensorScatter", "", "f32[B 2 S 4], f32[B 2 1 4], i64[B]", "f32[B 2 S 4]"},
    {"TensorScatter", "axis=0", "f32[B 2], f32[B 2]", "!invalid_argument batch axis"},
    {"TensorScatter", "", "f32[B 2 3 4], f32[B 2 5 4]", "!shape_mismatch longer"},
    {"CumProd", "", "f32[B 3], i64[]={1}", "f32[B 3]"},
    {"CumProd", "", "f32[B 3], i64[]={2}", "!invalid_argument axis 2"},
    {"BitCast", "to=i32", "f32[B 3]", "i32[B 3]"},
    {"BitCast", "to=i64", "f32[B 3]", "!dtype_mismatch differ in size"},
    {"BitCast", "to=bool", "u8[B 3]", "!unsupported no bool"},
    {"RandomUniform", "", "i64[2]={B 3}", "f32[B 3]"},
    {"RandomNormal", "dtype=f64", "i64[2]", "f64[? ?]"},
    {"RandomNormal", "dtype=i32", "i64[1]={2}", "!invalid_argument dtype"},
    {"RandomUniform", "", "i64[1]={-1}", "!invalid_argument negative"},
    {"Bernoulli", "", "f16[B 3]", "f16[B 3]"},
    {"Bernoulli", "dtype=bool", "f16[B 3]", "bool[B 3]"},
    {"Multinomial", "sample_size=7", "f32[B 3]", "i32[B 7]"},
    {"Multinomial", "dtype=i64", "f32[B 3]", "i64[B 1]"},
    {"Multinomial", "sample_size=-7", "f32[B 3]", "!invalid_argument sample_size"},
    {"Compress", "", "f32[B 3], bool[2]", "f32[?]"},
    {"Compress", "axis=-1", "f32[B 3], bool[2]", "f32[B ?]"},
    {"Compress", "axis=1", "f32[B 3], bool[4]", "!shape_mismatch longer"},
    {"Unique", "", "f32[B 3]", "f32[?], i64[?], i64[3*B], i64[?]"},
    {"Unique", "axis=0", "i8[B 3]", "i8[? 3], i64[?], i64[B], i64[?]"},
    {"LinearAttention", "q_num_heads=4 kv_num_heads=2",
     "f32[B S 12], f32[B S 6], f32[B S 10], -, f32[B S 2], f32[B S 1]",
     "f32[B S 20], f32[B 2 3 5]"},
    {"LinearAttention", "q_num_heads=4 kv_num_heads=2 update_rule=linear",
     "f32[B S 12], f32[B S 6], f32[B S 10], f16[B 2 3 5]", "f32[B S 20], f16[B 2 3 5]"},
    {"LinearAttention", "q_num_heads=4 kv_num_heads=3", "f32[B S 12], f32[B S 9], f32[B S 9]",
     "!invalid_argument do not split"},
    {"LinearAttention", "q_num_heads=4 kv_num_heads=2", "f32[B S 12], f32[B S 6], f32[B S 10]",
     "!invalid_argument takes decay"},
    {"TfIdfVectorizer",
     "mode=TF min_gram_length=1 max_gram_length=2 max_skip_count=0 ngram_counts=[0 2] "
     "ngram_indexes=[0 1 5] pool_int64s=[2 3 5 4]",
     "i64[B 7]", "f32[B 6]"},
    {"TfIdfVectorizer",
     "mode=TF min_gram_length=1 max_gram_length=2 max_skip_count=0 ngram_counts=[0 3] "
     "ngram_indexes=[0 1 5] pool_int64s=[2 3 5 4]",
     "i64[B 7]", "!invalid_argument ngram_counts"},
    {"TfIdfVectorizer",
     "mode=TF min_gram_length=1 max_gram_length=2 max_skip_count=0 ngram_counts=[0 2] "
     "ngram_indexes=[0 1 -5] pool_int64s=[2 3 5 4]",
     "i64[B 7]", "!invalid_argument n-gram index"},
});

TEST(InferSampling, Types) { check_cases(kSampling); }
TEST(InferSignal, Types) { check_cases(kSignal); }
TEST(InferOthers, Types) { check_cases(kOthers); }

}  // namespace
}  // namespace nef::ir
