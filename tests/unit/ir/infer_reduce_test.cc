// SPDX-License-Identifier: Apache-2.0
// Reductions and normalisations.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/ir/infer_case.h"

namespace nef::ir {
namespace {

const std::vector<InferCase> kReduce = register_cases({
    {"ReduceL1", "", "f32[2 3]", "f32[1 1]"},
    {"ReduceL2", "keepdims=0", "f32[2 3]", "f32[]"},
    {"ReduceLogSum", "", "f32[2 3], i64[1]={-1}", "f32[2 1]"},
    {"ReduceLogSumExp", "keepdims=0", "f32[2 3 4], i64[2]={0 2}", "f32[3]"},
    {"ReduceMax", "", "bool[2 3], i64[1]={0}", "bool[1 3]"},
    {"ReduceMean", "", "f32[B S 384], i64[1]={1}", "f32[B 1 384]"},
    {"ReduceMin", "keepdims=0", "i64[2]={B 0}, i64[1]={0}", "i64[]={0}"},
    {"ReduceProd", "keepdims=0", "i64[3]={B S 2}", "i64[]={2*B*S}"},
    {"ReduceProd", "keepdims=1", "i64[2]={4611686018427387904 4}", "i64[1]"},
    {"ReduceSum", "keepdims=0", "i64[2]={B S}", "i64[]={B+S}"},
    {"ReduceSumSquare", "", "f32[2 3], i64[0]={}", "f32[1 1]"},
    {"ReduceSum", "noop_with_empty_axes=1", "f32[2 3], i64[0]={}", "f32[2 3]"},
    {"ReduceSum", "noop_with_empty_axes=1", "f32[2 3]", "f32[2 3]"},
    {"ReduceSum", "", "f32[], i64[0]={}", "f32[]"},
    {"ReduceSum", "", "f32[2 3], i64[1]", "f32[? ?]"},
    {"ReduceSum", "keepdims=0", "f32[2 3], i64[1]", "f32[?]"},
    {"ReduceSum", "keepdims=0", "f32[2 3], i64[x]", "!unsupported input axes, whose length"},
    {"ReduceSum", "", "f32[2 3], i64[1]={2}", "!invalid_argument axis 2 is outside [-2, 2)"},
    {"ReduceSum", "", "f32[2 3], i64[2]={1 -1}", "!invalid_argument given twice"},
    {"ReduceSum", "", "f32[2 3], i64[1 1]", "!shape_mismatch input axes must be a vector"},
    {"ArgMax", "axis=-1 keepdims=0", "f32[B S 7]", "i64[B S]"},
    {"ArgMin", "axis=0", "f32[4 2]", "i64[1 2]"},
    {"ArgMin", "axis=0", "f32[0 2]", "!shape_mismatch axis 0 has size 0"},
    {"ArgMax", "axis=2", "f32[4 2]", "!invalid_argument axis 2"},
    {"CumSum", "", "f32[2 3], i64[]={1}", "f32[2 3]"},
    {"CumSum", "", "f32[2 3], i64[]", "f32[2 3]"},
    {"CumSum", "", "f32[2 3], i64[]={2}", "!invalid_argument axis 2"},
    {"TopK", "axis=-1", "f32[B 7], i64[1]={3}", "f32[B 3], i64[B 3]"},
    {"TopK", "axis=0", "f32[B 7], i64[1]", "f32[? 7], i64[? 7]"},
    {"TopK", "axis=-1", "f32[B 7], i64[1]={8}", "!out_of_range k is 8"},
    {"TopK", "axis=-1", "f32[B 7], i64[1]={-1}", "!out_of_range k is -1"},
});

const std::vector<InferCase> kNorm = register_cases({
    {"BatchNormalization", "", "f32[B 3 x y], f32[3], f32[3], f32[3], f32[3]", "f32[B 3 x y]"},
    {"BatchNormalization", "", "f32[B 3 x y], f32[3], f32[3], f32[4], f32[3]",
     "!shape_mismatch one element per channel"},
    {"GroupNormalization", "num_groups=2", "f32[B 4 x], f32[4], f32[4]", "f32[B 4 x]"},
    {"GroupNormalization", "num_groups=3", "f32[B 4 x], f32[4], f32[4]",
     "!shape_mismatch channels do not split"},
    {"GroupNormalization", "num_groups=0", "f32[B 4 x], f32[4], f32[4]",
     "!invalid_argument num_groups"},
    {"InstanceNormalization", "", "f32[B 4 x], f32[4], f32[4]", "f32[B 4 x]"},
    {"InstanceNormalization", "", "f32[B 4], f32[4], f32[4]", "!shape_mismatch at least 3"},
    {"LayerNormalization", "", "f32[B S 384], f32[384], f32[384]", "f32[B S 384]"},
    {"LayerNormalization", "axis=1", "f16[B S 384], f16[S 384]",
     "f16[B S 384], f32[B 1 1], f32[B 1 1]"},
    {"LayerNormalization", "", "f32[B S 384], f32[383]",
     "!shape_mismatch scale [383] does not broadcast to [384]"},
    {"LayerNormalization", "", "f32[B S 384], f32[S 384]", "!shape_mismatch scale"},
    {"LayerNormalization", "axis=3", "f32[B S 384], f32[384]", "!invalid_argument axis 3"},
    {"layernorm", "", "f32[], f32[]", "!invalid_argument axis -1"},
    {"RMSNormalization", "", "f32[B S 64], f16[64]", "f16[B S 64]"},
    {"RMSNormalization", "", "f32[B S 64], f32[32]", "!shape_mismatch scale"},
    {"LRN", "size=3", "f32[1 3 x y]", "f32[1 3 x y]"},
    {"LRN", "size=0", "f32[1 3 x y]", "!invalid_argument size"},
    {"Softmax", "axis=-1", "f32[B 12 S S]", "f32[B 12 S S]"},
    {"Softmax", "axis=1", "f32[3]", "!invalid_argument axis 1"},
    {"Softmax", "", "f32[]", "!invalid_argument"},
    {"Softmax", "", "f32[0 3]", "f32[0 3]"},
    {"LogSoftmax", "", "f32[2 3]", "f32[2 3]"},
    {"Hardmax", "", "f32[2 3]", "f32[2 3]"},
    {"LpNormalization", "p=1", "f32[2 3]", "f32[2 3]"},
    {"LpNormalization", "p=3", "f32[2 3]", "!invalid_argument p must be 1 or 2"},
    {"MeanVarianceNormalization", "", "f32[B 3 x y]", "f32[B 3 x y]"},
    {"MeanVarianceNormalization", "", "f32[B 3 x]", "!invalid_argument axis 3"},
    {"MeanVarianceNormalization", "axes=[-1]", "f32[B 3]", "f32[B 3]"},
});

TEST(InferReduce, Reduce) { check_cases(kReduce); }
TEST(InferReduce, Norm) { check_cases(kNorm); }

// Reducing nothing still has a shape, the same way with and without keepdims.
TEST(InferReduce, EmptyAxes) {
  for (const char* op :
       {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    check_cases({
        {op, "keepdims=1", "f32[2 0 3], i64[1]={1}", "f32[2 1 3]"},
        {op, "keepdims=0", "f32[2 0 3], i64[1]={1}", "f32[2 3]"},
        {op, "keepdims=1", "f32[2 0 3], i64[1]={0}", "f32[1 0 3]"},
        {op, "keepdims=0", "f32[2 0 3], i64[1]={0}", "f32[0 3]"},
        {op, "keepdims=1", "f32[2 0 3]", "f32[1 1 1]"},
        {op, "keepdims=0", "f32[2 0 3]", "f32[]"},
    });
  }
}

}  // namespace
}  // namespace nef::ir
