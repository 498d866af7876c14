// SPDX-License-Identifier: Apache-2.0
// generated from engine/ir/ops.toml, do not edit.
// clang-format off
#include "engine/ir/ops_gen.h"

#include "engine/ir/ops.h"

namespace nef::ir {
namespace {

constexpr InputSpec kAbsInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kAbsOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kAcosInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kAcosOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kAcoshInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kAcoshOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kAddInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kAddOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kAndInputs[] = {
    {"a", 0x0002, 255, false, false, false},
    {"b", 0x0002, 255, false, false, false},
};
constexpr OutputSpec kAndOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kArgMaxInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kArgMaxOutputs[] = {
    {"output", 0x0100, 255, false, false},
};
constexpr AttrSpec kArgMaxAttrs[] = {
    {"axis", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"select_last_index", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kArgMinInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kArgMinOutputs[] = {
    {"output", 0x0100, 255, false, false},
};
constexpr AttrSpec kArgMinAttrs[] = {
    {"axis", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"select_last_index", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kAsinInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kAsinOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kAsinhInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kAsinhOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kAtanInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kAtanOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kAtanhInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kAtanhOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kAttentionInputs[] = {
    {"q", 0x3c00, 0, false, false, false},
    {"k", 0x3c00, 0, false, false, false},
    {"v", 0x3c00, 1, false, false, false},
    {"attn_mask", 0x3ffe, 2, true, false, false},
    {"past_key", 0x3c00, 0, true, false, false},
    {"past_value", 0x3c00, 1, true, false, false},
    {"nonpad_kv_seqlen", 0x0100, 255, true, false, false},
};
constexpr OutputSpec kAttentionOutputs[] = {
    {"y", 0x3c00, 0, false, false},
    {"present_key", 0x3c00, 0, true, false},
    {"present_value", 0x3c00, 1, true, false},
    {"qk_matmul_output", 0x3c00, 0, true, false},
};
constexpr AttrSpec kAttentionAttrs[] = {
    {"is_causal", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"kv_num_heads", AttrType::Int, false, false, 0, 0.0, nullptr},
    {"q_num_heads", AttrType::Int, false, false, 0, 0.0, nullptr},
    {"qk_matmul_output_mode", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"scale", AttrType::Float, false, false, 0, 0.0, nullptr},
    {"softcap", AttrType::Float, false, true, 0, 0.0, nullptr},
    {"softmax_precision", AttrType::DType, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kAveragePoolInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kAveragePoolOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kAveragePoolAttrs[] = {
    {"auto_pad", AttrType::String, false, true, 0, 0.0, "NOTSET"},
    {"ceil_mode", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"count_include_pad", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kBatchNormalizationInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"scale", 0x3c00, 1, false, false, false},
    {"bias", 0x3c00, 1, false, false, false},
    {"mean", 0x3c00, 2, false, false, false},
    {"variance", 0x3c00, 2, false, false, false},
};
constexpr OutputSpec kBatchNormalizationOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kBatchNormalizationAttrs[] = {
    {"epsilon", AttrType::Float, false, true, 0, 1e-05, nullptr},
};
constexpr InputSpec kBitShiftInputs[] = {
    {"x", 0x03fc, 0, false, false, false},
    {"y", 0x03fc, 0, false, false, false},
};
constexpr OutputSpec kBitShiftOutputs[] = {
    {"output", 0x03fc, 0, false, false},
};
constexpr AttrSpec kBitShiftAttrs[] = {
    {"direction", AttrType::String, true, false, 0, 0.0, nullptr},
};
constexpr InputSpec kBitwiseAndInputs[] = {
    {"a", 0x03fc, 0, false, false, false},
    {"b", 0x03fc, 0, false, false, false},
};
constexpr OutputSpec kBitwiseAndOutputs[] = {
    {"output", 0x03fc, 0, false, false},
};
constexpr InputSpec kBitwiseNotInputs[] = {
    {"input", 0x03fc, 0, false, false, false},
};
constexpr OutputSpec kBitwiseNotOutputs[] = {
    {"output", 0x03fc, 0, false, false},
};
constexpr InputSpec kBitwiseOrInputs[] = {
    {"a", 0x03fc, 0, false, false, false},
    {"b", 0x03fc, 0, false, false, false},
};
constexpr OutputSpec kBitwiseOrOutputs[] = {
    {"output", 0x03fc, 0, false, false},
};
constexpr InputSpec kBitwiseXorInputs[] = {
    {"a", 0x03fc, 0, false, false, false},
    {"b", 0x03fc, 0, false, false, false},
};
constexpr OutputSpec kBitwiseXorOutputs[] = {
    {"output", 0x03fc, 0, false, false},
};
constexpr InputSpec kCastInputs[] = {
    {"input", 0xfffe, 255, false, false, false},
};
constexpr OutputSpec kCastOutputs[] = {
    {"output", 0xfffe, 255, false, false},
};
constexpr AttrSpec kCastAttrs[] = {
    {"to", AttrType::DType, true, false, 0, 0.0, nullptr},
    {"saturate", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kCastLikeInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
    {"target", 0xfffe, 1, false, false, false},
};
constexpr OutputSpec kCastLikeOutputs[] = {
    {"output", 0xfffe, 1, false, false},
};
constexpr AttrSpec kCastLikeAttrs[] = {
    {"saturate", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kCeilInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kCeilOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kCeluInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kCeluOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kCeluAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr InputSpec kClipInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
    {"min", 0x3ffc, 0, true, false, false},
    {"max", 0x3ffc, 0, true, false, false},
};
constexpr OutputSpec kClipOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kConcatInputs[] = {
    {"inputs", 0xfffe, 0, false, true, false},
};
constexpr OutputSpec kConcatOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kConcatAttrs[] = {
    {"axis", AttrType::Int, true, false, 0, 0.0, nullptr},
};
constexpr InputSpec kConstantOfShapeInputs[] = {
    {"shape", 0x0100, 255, false, false, true},
    {"value", 0xfffe, 0, true, false, false},
};
constexpr OutputSpec kConstantOfShapeOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kConvInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"w", 0x3c00, 0, false, false, false},
    {"b", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kConvOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kConvAttrs[] = {
    {"auto_pad", AttrType::String, false, true, 0, 0.0, "NOTSET"},
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"group", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kConvTransposeInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"w", 0x3c00, 0, false, false, false},
    {"b", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kConvTransposeOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kConvTransposeAttrs[] = {
    {"auto_pad", AttrType::String, false, true, 0, 0.0, "NOTSET"},
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"group", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"output_padding", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"output_shape", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kCosInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kCosOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kCoshInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kCoshOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kCumSumInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
    {"axis", 0x0140, 255, false, false, true},
};
constexpr OutputSpec kCumSumOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kCumSumAttrs[] = {
    {"exclusive", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"reverse", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kDepthToSpaceInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
};
constexpr OutputSpec kDepthToSpaceOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kDepthToSpaceAttrs[] = {
    {"blocksize", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"mode", AttrType::String, false, true, 0, 0.0, "DCR"},
};
constexpr InputSpec kDivInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kDivOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kEinsumInputs[] = {
    {"inputs", 0x3ffc, 0, false, true, false},
};
constexpr OutputSpec kEinsumOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kEinsumAttrs[] = {
    {"equation", AttrType::String, true, false, 0, 0.0, nullptr},
};
constexpr InputSpec kEluInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kEluOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kEluAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr InputSpec kEqualInputs[] = {
    {"a", 0x3ffe, 0, false, false, false},
    {"b", 0x3ffe, 0, false, false, false},
};
constexpr OutputSpec kEqualOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kErfInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kErfOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kExpInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kExpOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kExpandInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
    {"shape", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kExpandOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kEyeLikeInputs[] = {
    {"input", 0x3ffe, 255, false, false, false},
};
constexpr OutputSpec kEyeLikeOutputs[] = {
    {"output", 0x3ffe, 255, false, false},
};
constexpr AttrSpec kEyeLikeAttrs[] = {
    {"dtype", AttrType::DType, false, false, 0, 0.0, nullptr},
    {"k", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kFlattenInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
};
constexpr OutputSpec kFlattenOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kFlattenAttrs[] = {
    {"axis", AttrType::Int, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kFloorInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kFloorOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kGatherInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"indices", 0x0140, 1, false, false, false},
};
constexpr OutputSpec kGatherOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kGatherAttrs[] = {
    {"axis", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kGatherElementsInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"indices", 0x0140, 1, false, false, false},
};
constexpr OutputSpec kGatherElementsOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kGatherElementsAttrs[] = {
    {"axis", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kGatherNDInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"indices", 0x0100, 255, false, false, false},
};
constexpr OutputSpec kGatherNDOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kGatherNDAttrs[] = {
    {"batch_dims", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kGeluInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kGeluOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kGeluAttrs[] = {
    {"approximate", AttrType::String, false, true, 0, 0.0, "none"},
};
constexpr InputSpec kGemmInputs[] = {
    {"a", 0x3fc0, 0, false, false, false},
    {"b", 0x3fc0, 0, false, false, false},
    {"c", 0x3fc0, 0, true, false, false},
};
constexpr OutputSpec kGemmOutputs[] = {
    {"y", 0x3fc0, 0, false, false},
};
constexpr AttrSpec kGemmAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 1.0, nullptr},
    {"beta", AttrType::Float, false, true, 0, 1.0, nullptr},
    {"transA", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"transB", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kGlobalAveragePoolInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kGlobalAveragePoolOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr InputSpec kGlobalMaxPoolInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kGlobalMaxPoolOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr InputSpec kGreaterInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kGreaterOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kGreaterOrEqualInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kGreaterOrEqualOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kGroupNormalizationInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"scale", 0x3c00, 0, false, false, false},
    {"bias", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kGroupNormalizationOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kGroupNormalizationAttrs[] = {
    {"num_groups", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"epsilon", AttrType::Float, false, true, 0, 1e-05, nullptr},
    {"stash_type", AttrType::DType, false, true, 12, 0.0, nullptr},
};
constexpr InputSpec kHardSigmoidInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kHardSigmoidOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kHardSigmoidAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 0.2, nullptr},
    {"beta", AttrType::Float, false, true, 0, 0.5, nullptr},
};
constexpr InputSpec kHardSwishInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kHardSwishOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kHardmaxInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kHardmaxOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kHardmaxAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
};
constexpr InputSpec kIdentityInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
};
constexpr OutputSpec kIdentityOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kInstanceNormalizationInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"scale", 0x3c00, 0, false, false, false},
    {"bias", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kInstanceNormalizationOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kInstanceNormalizationAttrs[] = {
    {"epsilon", AttrType::Float, false, true, 0, 1e-05, nullptr},
};
constexpr InputSpec kIsInfInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kIsInfOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr AttrSpec kIsInfAttrs[] = {
    {"detect_negative", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"detect_positive", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kIsNaNInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kIsNaNOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kLRNInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kLRNOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kLRNAttrs[] = {
    {"size", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"alpha", AttrType::Float, false, true, 0, 0.0001, nullptr},
    {"beta", AttrType::Float, false, true, 0, 0.75, nullptr},
    {"bias", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr InputSpec kLayerNormalizationInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"scale", 0x3c00, 0, false, false, false},
    {"bias", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kLayerNormalizationOutputs[] = {
    {"y", 0x3c00, 0, false, false},
    {"mean", 0x1000, 255, true, false},
    {"inv_std_dev", 0x1000, 255, true, false},
};
constexpr AttrSpec kLayerNormalizationAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
    {"epsilon", AttrType::Float, false, true, 0, 1e-05, nullptr},
    {"stash_type", AttrType::DType, false, true, 12, 0.0, nullptr},
};
constexpr InputSpec kLeakyReluInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kLeakyReluOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kLeakyReluAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 0.01, nullptr},
};
constexpr InputSpec kLessInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kLessOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kLessOrEqualInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kLessOrEqualOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kLogInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kLogOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kLogSoftmaxInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kLogSoftmaxOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kLogSoftmaxAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
};
constexpr InputSpec kLpNormalizationInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kLpNormalizationOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kLpNormalizationAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
    {"p", AttrType::Int, false, true, 2, 0.0, nullptr},
};
constexpr InputSpec kMatMulInputs[] = {
    {"a", 0x3fc0, 0, false, false, false},
    {"b", 0x3fc0, 0, false, false, false},
};
constexpr OutputSpec kMatMulOutputs[] = {
    {"output", 0x3fc0, 0, false, false},
};
constexpr InputSpec kMaxInputs[] = {
    {"inputs", 0x3ffc, 0, false, true, false},
};
constexpr OutputSpec kMaxOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kMaxPoolInputs[] = {
    {"x", 0x3c0c, 0, false, false, false},
};
constexpr OutputSpec kMaxPoolOutputs[] = {
    {"y", 0x3c0c, 0, false, false},
    {"indices", 0x0100, 255, true, false},
};
constexpr AttrSpec kMaxPoolAttrs[] = {
    {"auto_pad", AttrType::String, false, true, 0, 0.0, "NOTSET"},
    {"ceil_mode", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"storage_order", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kMeanInputs[] = {
    {"inputs", 0x3c00, 0, false, true, false},
};
constexpr OutputSpec kMeanOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kMeanVarianceNormalizationInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kMeanVarianceNormalizationOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kMeanVarianceNormalizationAttrs[] = {
    {"axes", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kMinInputs[] = {
    {"inputs", 0x3ffc, 0, false, true, false},
};
constexpr OutputSpec kMinOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kMishInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kMishOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kModInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kModOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kModAttrs[] = {
    {"fmod", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kMulInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kMulOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kNegInputs[] = {
    {"input", 0x3d54, 0, false, false, false},
};
constexpr OutputSpec kNegOutputs[] = {
    {"output", 0x3d54, 0, false, false},
};
constexpr InputSpec kNonZeroInputs[] = {
    {"input", 0x3ffe, 0, false, false, false},
};
constexpr OutputSpec kNonZeroOutputs[] = {
    {"output", 0x0100, 255, false, false},
};
constexpr InputSpec kNotInputs[] = {
    {"input", 0x0002, 255, false, false, false},
};
constexpr OutputSpec kNotOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kOneHotInputs[] = {
    {"indices", 0x3ffc, 0, false, false, false},
    {"depth", 0x0140, 255, false, false, true},
    {"values", 0x3ffe, 1, false, false, false},
};
constexpr OutputSpec kOneHotOutputs[] = {
    {"output", 0x3ffe, 1, false, false},
};
constexpr AttrSpec kOneHotAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
};
constexpr InputSpec kOrInputs[] = {
    {"a", 0x0002, 255, false, false, false},
    {"b", 0x0002, 255, false, false, false},
};
constexpr OutputSpec kOrOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kPReluInputs[] = {
    {"x", 0x3fc0, 0, false, false, false},
    {"slope", 0x3fc0, 0, false, false, false},
};
constexpr OutputSpec kPReluOutputs[] = {
    {"output", 0x3fc0, 0, false, false},
};
constexpr InputSpec kPadInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"pads", 0x0100, 255, false, false, true},
    {"constant_value", 0xfffe, 0, true, false, false},
    {"axes", 0x0140, 255, true, false, true},
};
constexpr OutputSpec kPadOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kPadAttrs[] = {
    {"mode", AttrType::String, false, true, 0, 0.0, "constant"},
};
constexpr InputSpec kPowInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 1, false, false, false},
};
constexpr OutputSpec kPowOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kRMSNormalizationInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"scale", 0x3c00, 1, false, false, false},
};
constexpr OutputSpec kRMSNormalizationOutputs[] = {
    {"y", 0x3c00, 1, false, false},
};
constexpr AttrSpec kRMSNormalizationAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
    {"epsilon", AttrType::Float, false, true, 0, 1e-05, nullptr},
    {"stash_type", AttrType::DType, false, true, 12, 0.0, nullptr},
};
constexpr InputSpec kRangeInputs[] = {
    {"start", 0x3ffc, 0, false, false, true},
    {"limit", 0x3ffc, 0, false, false, true},
    {"delta", 0x3ffc, 0, false, false, true},
};
constexpr OutputSpec kRangeOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kReciprocalInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kReciprocalOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kReduceL1Inputs[] = {
    {"data", 0x3ffc, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceL1Outputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kReduceL1Attrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceL2Inputs[] = {
    {"data", 0x3ffc, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceL2Outputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kReduceL2Attrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceLogSumInputs[] = {
    {"data", 0x3c00, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceLogSumOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kReduceLogSumAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceLogSumExpInputs[] = {
    {"data", 0x3c00, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceLogSumExpOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kReduceLogSumExpAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceMaxInputs[] = {
    {"data", 0x3ffe, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceMaxOutputs[] = {
    {"output", 0x3ffe, 0, false, false},
};
constexpr AttrSpec kReduceMaxAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceMeanInputs[] = {
    {"data", 0x3ffc, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceMeanOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kReduceMeanAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceMinInputs[] = {
    {"data", 0x3ffe, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceMinOutputs[] = {
    {"output", 0x3ffe, 0, false, false},
};
constexpr AttrSpec kReduceMinAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceProdInputs[] = {
    {"data", 0x3ffc, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceProdOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kReduceProdAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceSumInputs[] = {
    {"data", 0x3ffc, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceSumOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kReduceSumAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReduceSumSquareInputs[] = {
    {"data", 0x3ffc, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kReduceSumSquareOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kReduceSumSquareAttrs[] = {
    {"keepdims", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"noop_with_empty_axes", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kReluInputs[] = {
    {"input", 0x3d54, 0, false, false, false},
};
constexpr OutputSpec kReluOutputs[] = {
    {"output", 0x3d54, 0, false, false},
};
constexpr InputSpec kReshapeInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"shape", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kReshapeOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kReshapeAttrs[] = {
    {"allowzero", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kResizeInputs[] = {
    {"x", 0x3ffc, 0, false, false, false},
    {"roi", 0x3c00, 255, true, false, true},
    {"scales", 0x1000, 255, true, false, true},
    {"sizes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kResizeOutputs[] = {
    {"y", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kResizeAttrs[] = {
    {"mode", AttrType::String, false, true, 0, 0.0, "nearest"},
    {"antialias", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"axes", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"coordinate_transformation_mode", AttrType::String, false, true, 0, 0.0, "half_pixel"},
    {"cubic_coeff_a", AttrType::Float, false, true, 0, -0.75, nullptr},
    {"exclude_outside", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"extrapolation_value", AttrType::Float, false, true, 0, 0.0, nullptr},
    {"keep_aspect_ratio_policy", AttrType::String, false, true, 0, 0.0, "stretch"},
    {"nearest_mode", AttrType::String, false, true, 0, 0.0, "round_prefer_floor"},
};
constexpr InputSpec kReverseSequenceInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
    {"sequence_lens", 0x0100, 255, false, false, false},
};
constexpr OutputSpec kReverseSequenceOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kReverseSequenceAttrs[] = {
    {"batch_axis", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"time_axis", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kRotaryEmbeddingInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"cos_cache", 0x3c00, 0, false, false, false},
    {"sin_cache", 0x3c00, 0, false, false, false},
    {"position_ids", 0x0100, 255, true, false, false},
};
constexpr OutputSpec kRotaryEmbeddingOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kRotaryEmbeddingAttrs[] = {
    {"interleaved", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"num_heads", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"rotary_embedding_dim", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kRoundInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kRoundOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kScatterElementsInputs[] = {
    {"data", 0x3ffe, 0, false, false, false},
    {"indices", 0x0140, 1, false, false, false},
    {"updates", 0x3ffe, 0, false, false, false},
};
constexpr OutputSpec kScatterElementsOutputs[] = {
    {"output", 0x3ffe, 0, false, false},
};
constexpr AttrSpec kScatterElementsAttrs[] = {
    {"axis", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"reduction", AttrType::String, false, true, 0, 0.0, "none"},
};
constexpr InputSpec kScatterNDInputs[] = {
    {"data", 0x3ffe, 0, false, false, false},
    {"indices", 0x0100, 255, false, false, false},
    {"updates", 0x3ffe, 0, false, false, false},
};
constexpr OutputSpec kScatterNDOutputs[] = {
    {"output", 0x3ffe, 0, false, false},
};
constexpr AttrSpec kScatterNDAttrs[] = {
    {"reduction", AttrType::String, false, true, 0, 0.0, "none"},
};
constexpr InputSpec kSeluInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSeluOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kSeluAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 1.6732631921768188, nullptr},
    {"gamma", AttrType::Float, false, true, 0, 1.0507010221481323, nullptr},
};
constexpr InputSpec kShapeInputs[] = {
    {"data", 0xfffe, 255, false, false, false},
};
constexpr OutputSpec kShapeOutputs[] = {
    {"output", 0x0100, 255, false, false},
};
constexpr AttrSpec kShapeAttrs[] = {
    {"start", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"end", AttrType::Int, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kShrinkInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kShrinkOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kShrinkAttrs[] = {
    {"lambd", AttrType::Float, false, true, 0, 0.5, nullptr},
    {"bias", AttrType::Float, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kSigmoidInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSigmoidOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kSignInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kSignOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kSiluInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSiluOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kSiluAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr InputSpec kSinInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSinOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kSinhInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSinhOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kSizeInputs[] = {
    {"data", 0xfffe, 255, false, false, false},
};
constexpr OutputSpec kSizeOutputs[] = {
    {"output", 0x0100, 255, false, false},
};
constexpr InputSpec kSliceInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"starts", 0x0140, 1, false, false, true},
    {"ends", 0x0140, 1, false, false, true},
    {"axes", 0x0140, 1, true, false, true},
    {"steps", 0x0140, 1, true, false, true},
};
constexpr OutputSpec kSliceOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kSoftmaxInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSoftmaxOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kSoftmaxAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
    {"zero_masked_rows", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kSoftplusInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSoftplusOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kSoftsignInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSoftsignOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kSpaceToDepthInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
};
constexpr OutputSpec kSpaceToDepthOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kSpaceToDepthAttrs[] = {
    {"blocksize", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"mode", AttrType::String, false, true, 0, 0.0, "DCR"},
};
constexpr InputSpec kSplitInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
    {"split", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kSplitOutputs[] = {
    {"outputs", 0xfffe, 0, false, true},
};
constexpr AttrSpec kSplitAttrs[] = {
    {"axis", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"num_outputs", AttrType::Int, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kSqrtInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kSqrtOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kSqueezeInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"axes", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kSqueezeOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kSubInputs[] = {
    {"a", 0x3ffc, 0, false, false, false},
    {"b", 0x3ffc, 0, false, false, false},
};
constexpr OutputSpec kSubOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kSumInputs[] = {
    {"inputs", 0x3ffc, 0, false, true, false},
};
constexpr OutputSpec kSumOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr InputSpec kTanInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kTanOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kTanhInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kTanhOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr InputSpec kThresholdedReluInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kThresholdedReluOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kThresholdedReluAttrs[] = {
    {"alpha", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr InputSpec kTileInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
    {"repeats", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kTileOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kTopKInputs[] = {
    {"x", 0x3ffc, 0, false, false, false},
    {"k", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kTopKOutputs[] = {
    {"values", 0x3ffc, 0, false, false},
    {"indices", 0x0100, 255, false, false},
};
constexpr AttrSpec kTopKAttrs[] = {
    {"axis", AttrType::Int, false, true, -1, 0.0, nullptr},
    {"largest", AttrType::Bool, false, true, 1, 0.0, nullptr},
    {"sorted", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kTransposeInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
};
constexpr OutputSpec kTransposeOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kTransposeAttrs[] = {
    {"perm", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kTriluInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
    {"k", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kTriluOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kTriluAttrs[] = {
    {"upper", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kUnsqueezeInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"axes", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kUnsqueezeOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kWhereInputs[] = {
    {"condition", 0x0002, 255, false, false, false},
    {"x", 0xfffe, 0, false, false, false},
    {"y", 0xfffe, 0, false, false, false},
};
constexpr OutputSpec kWhereOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr InputSpec kXorInputs[] = {
    {"a", 0x0002, 255, false, false, false},
    {"b", 0x0002, 255, false, false, false},
};
constexpr OutputSpec kXorOutputs[] = {
    {"output", 0x0002, 255, false, false},
};
constexpr InputSpec kFusedMatMulInputs[] = {
    {"a", 0x3c00, 0, false, false, false},
    {"b", 0x3c00, 0, false, false, false},
    {"bias", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kFusedMatMulOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kFusedMatMulAttrs[] = {
    {"trans_a", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"trans_b", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"alpha", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr OutputSpec kShapeExprOutputs[] = {
    {"output", 0x0100, 255, false, false},
};
constexpr InputSpec kLSTMInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"w", 0x3c00, 0, false, false, false},
    {"r", 0x3c00, 0, false, false, false},
    {"b", 0x3c00, 0, true, false, false},
    {"sequence_lens", 0x0040, 255, true, false, false},
    {"initial_h", 0x3c00, 0, true, false, false},
    {"initial_c", 0x3c00, 0, true, false, false},
    {"p", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kLSTMOutputs[] = {
    {"y", 0x3c00, 0, false, false},
    {"y_h", 0x3c00, 0, false, false},
    {"y_c", 0x3c00, 0, false, false},
};
constexpr AttrSpec kLSTMAttrs[] = {
    {"activation_alpha", AttrType::Floats, false, false, 0, 0.0, nullptr},
    {"activation_beta", AttrType::Floats, false, false, 0, 0.0, nullptr},
    {"activations", AttrType::String, false, false, 0, 0.0, nullptr},
    {"clip", AttrType::Float, false, false, 0, 0.0, nullptr},
    {"direction", AttrType::String, false, true, 0, 0.0, "forward"},
    {"hidden_size", AttrType::Int, false, false, 0, 0.0, nullptr},
    {"layout", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"input_forget", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kGRUInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"w", 0x3c00, 0, false, false, false},
    {"r", 0x3c00, 0, false, false, false},
    {"b", 0x3c00, 0, true, false, false},
    {"sequence_lens", 0x0040, 255, true, false, false},
    {"initial_h", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kGRUOutputs[] = {
    {"y", 0x3c00, 0, false, false},
    {"y_h", 0x3c00, 0, false, false},
};
constexpr AttrSpec kGRUAttrs[] = {
    {"activation_alpha", AttrType::Floats, false, false, 0, 0.0, nullptr},
    {"activation_beta", AttrType::Floats, false, false, 0, 0.0, nullptr},
    {"activations", AttrType::String, false, false, 0, 0.0, nullptr},
    {"clip", AttrType::Float, false, false, 0, 0.0, nullptr},
    {"direction", AttrType::String, false, true, 0, 0.0, "forward"},
    {"hidden_size", AttrType::Int, false, false, 0, 0.0, nullptr},
    {"layout", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"linear_before_reset", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kRNNInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"w", 0x3c00, 0, false, false, false},
    {"r", 0x3c00, 0, false, false, false},
    {"b", 0x3c00, 0, true, false, false},
    {"sequence_lens", 0x0040, 255, true, false, false},
    {"initial_h", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kRNNOutputs[] = {
    {"y", 0x3c00, 0, false, false},
    {"y_h", 0x3c00, 0, false, false},
};
constexpr AttrSpec kRNNAttrs[] = {
    {"activation_alpha", AttrType::Floats, false, false, 0, 0.0, nullptr},
    {"activation_beta", AttrType::Floats, false, false, 0, 0.0, nullptr},
    {"activations", AttrType::String, false, false, 0, 0.0, nullptr},
    {"clip", AttrType::Float, false, false, 0, 0.0, nullptr},
    {"direction", AttrType::String, false, true, 0, 0.0, "forward"},
    {"hidden_size", AttrType::Int, false, false, 0, 0.0, nullptr},
    {"layout", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kQuantizeLinearInputs[] = {
    {"x", 0x3c40, 0, false, false, false},
    {"y_scale", 0x3c40, 1, false, false, false},
    {"y_zero_point", 0xc03c, 2, true, false, false},
};
constexpr OutputSpec kQuantizeLinearOutputs[] = {
    {"y", 0xc03c, 2, false, false},
};
constexpr AttrSpec kQuantizeLinearAttrs[] = {
    {"axis", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"block_size", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"output_dtype", AttrType::DType, false, false, 0, 0.0, nullptr},
    {"precision", AttrType::DType, false, false, 0, 0.0, nullptr},
    {"saturate", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kDequantizeLinearInputs[] = {
    {"x", 0xc07c, 0, false, false, false},
    {"x_scale", 0x3c00, 1, false, false, false},
    {"x_zero_point", 0xc07c, 0, true, false, false},
};
constexpr OutputSpec kDequantizeLinearOutputs[] = {
    {"y", 0x3c00, 255, false, false},
};
constexpr AttrSpec kDequantizeLinearAttrs[] = {
    {"axis", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"block_size", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"output_dtype", AttrType::DType, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kDynamicQuantizeLinearInputs[] = {
    {"x", 0x1000, 255, false, false, false},
};
constexpr OutputSpec kDynamicQuantizeLinearOutputs[] = {
    {"y", 0x0008, 255, false, false},
    {"y_scale", 0x1000, 255, false, false},
    {"y_zero_point", 0x0008, 255, false, false},
};
constexpr InputSpec kMatMulIntegerInputs[] = {
    {"a", 0x000c, 0, false, false, false},
    {"b", 0x000c, 1, false, false, false},
    {"a_zero_point", 0x000c, 0, true, false, false},
    {"b_zero_point", 0x000c, 1, true, false, false},
};
constexpr OutputSpec kMatMulIntegerOutputs[] = {
    {"y", 0x0040, 255, false, false},
};
constexpr InputSpec kQLinearMatMulInputs[] = {
    {"a", 0x000c, 0, false, false, false},
    {"a_scale", 0x3c00, 2, false, false, false},
    {"a_zero_point", 0x000c, 0, false, false, false},
    {"b", 0x000c, 1, false, false, false},
    {"b_scale", 0x3c00, 2, false, false, false},
    {"b_zero_point", 0x000c, 1, false, false, false},
    {"y_scale", 0x3c00, 2, false, false, false},
    {"y_zero_point", 0x000c, 3, false, false, false},
};
constexpr OutputSpec kQLinearMatMulOutputs[] = {
    {"y", 0x000c, 3, false, false},
};
constexpr InputSpec kConvIntegerInputs[] = {
    {"x", 0x000c, 0, false, false, false},
    {"w", 0x000c, 1, false, false, false},
    {"x_zero_point", 0x000c, 0, true, false, false},
    {"w_zero_point", 0x000c, 1, true, false, false},
};
constexpr OutputSpec kConvIntegerOutputs[] = {
    {"y", 0x0040, 255, false, false},
};
constexpr AttrSpec kConvIntegerAttrs[] = {
    {"auto_pad", AttrType::String, false, true, 0, 0.0, "NOTSET"},
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"group", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kQLinearConvInputs[] = {
    {"x", 0x000c, 0, false, false, false},
    {"x_scale", 0x1000, 255, false, false, false},
    {"x_zero_point", 0x000c, 0, false, false, false},
    {"w", 0x000c, 1, false, false, false},
    {"w_scale", 0x1000, 255, false, false, false},
    {"w_zero_point", 0x000c, 1, false, false, false},
    {"y_scale", 0x1000, 255, false, false, false},
    {"y_zero_point", 0x000c, 2, false, false, false},
    {"b", 0x0040, 255, true, false, false},
};
constexpr OutputSpec kQLinearConvOutputs[] = {
    {"y", 0x000c, 2, false, false},
};
constexpr AttrSpec kQLinearConvAttrs[] = {
    {"auto_pad", AttrType::String, false, true, 0, 0.0, "NOTSET"},
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"group", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kMatMulNBitsInputs[] = {
    {"a", 0x3c00, 0, false, false, false},
    {"b", 0xc008, 255, false, false, false},
    {"scales", 0x3c00, 0, false, false, false},
    {"zero_points", 0x3c08, 1, true, false, false},
    {"bias", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kMatMulNBitsOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kMatMulNBitsAttrs[] = {
    {"k", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"n", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"bits", AttrType::Int, false, true, 4, 0.0, nullptr},
    {"block_size", AttrType::Int, true, false, 0, 0.0, nullptr},
};
constexpr InputSpec kNonMaxSuppressionInputs[] = {
    {"boxes", 0x3c00, 0, false, false, false},
    {"scores", 0x3c00, 0, false, false, false},
    {"max_output_boxes_per_class", 0x0100, 255, true, false, true},
    {"iou_threshold", 0x3c00, 1, true, false, false},
    {"score_threshold", 0x3c00, 1, true, false, false},
};
constexpr OutputSpec kNonMaxSuppressionOutputs[] = {
    {"selected_indices", 0x0100, 255, false, false},
};
constexpr AttrSpec kNonMaxSuppressionAttrs[] = {
    {"center_point_box", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kCompressInputs[] = {
    {"input", 0xfffe, 0, false, false, false},
    {"condition", 0x0002, 255, false, false, false},
};
constexpr OutputSpec kCompressOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kCompressAttrs[] = {
    {"axis", AttrType::Int, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kUniqueInputs[] = {
    {"x", 0x3ffe, 0, false, false, false},
};
constexpr OutputSpec kUniqueOutputs[] = {
    {"y", 0x3ffe, 0, false, false},
    {"indices", 0x0100, 255, false, false},
    {"inverse_indices", 0x0100, 255, false, false},
    {"counts", 0x0100, 255, false, false},
};
constexpr AttrSpec kUniqueAttrs[] = {
    {"axis", AttrType::Int, false, false, 0, 0.0, nullptr},
    {"sorted", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kGridSampleInputs[] = {
    {"x", 0x3ffc, 0, false, false, false},
    {"grid", 0x3c00, 1, false, false, false},
};
constexpr OutputSpec kGridSampleOutputs[] = {
    {"y", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kGridSampleAttrs[] = {
    {"align_corners", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"mode", AttrType::String, false, true, 0, 0.0, "linear"},
    {"padding_mode", AttrType::String, false, true, 0, 0.0, "zeros"},
};
constexpr InputSpec kAffineGridInputs[] = {
    {"theta", 0x3c00, 0, false, false, false},
    {"size", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kAffineGridOutputs[] = {
    {"grid", 0x3c00, 0, false, false},
};
constexpr AttrSpec kAffineGridAttrs[] = {
    {"align_corners", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kRoiAlignInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"rois", 0x3c00, 0, false, false, false},
    {"batch_indices", 0x0100, 255, false, false, false},
};
constexpr OutputSpec kRoiAlignOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kRoiAlignAttrs[] = {
    {"coordinate_transformation_mode", AttrType::String, false, true, 0, 0.0, "half_pixel"},
    {"mode", AttrType::String, false, true, 0, 0.0, "avg"},
    {"output_height", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"output_width", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"sampling_ratio", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"spatial_scale", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr InputSpec kMaxRoiPoolInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"rois", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kMaxRoiPoolOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kMaxRoiPoolAttrs[] = {
    {"pooled_shape", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"spatial_scale", AttrType::Float, false, true, 0, 1.0, nullptr},
};
constexpr InputSpec kMaxUnpoolInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"i", 0x0100, 255, false, false, false},
    {"output_shape", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kMaxUnpoolOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kMaxUnpoolAttrs[] = {
    {"kernel_shape", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kDeformConvInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
    {"w", 0x3c00, 0, false, false, false},
    {"offset", 0x3c00, 0, false, false, false},
    {"b", 0x3c00, 0, true, false, false},
    {"mask", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kDeformConvOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kDeformConvAttrs[] = {
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"group", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"offset_group", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kLpPoolInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kLpPoolOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr AttrSpec kLpPoolAttrs[] = {
    {"auto_pad", AttrType::String, false, true, 0, 0.0, "NOTSET"},
    {"ceil_mode", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"kernel_shape", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"p", AttrType::Int, false, true, 2, 0.0, nullptr},
};
constexpr InputSpec kCol2ImInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
    {"image_shape", 0x0100, 255, false, false, true},
    {"block_shape", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kCol2ImOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kCol2ImAttrs[] = {
    {"dilations", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"pads", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"strides", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kCenterCropPadInputs[] = {
    {"input_data", 0xfffe, 0, false, false, false},
    {"shape", 0x0140, 1, false, false, true},
};
constexpr OutputSpec kCenterCropPadOutputs[] = {
    {"output_data", 0xfffe, 0, false, false},
};
constexpr AttrSpec kCenterCropPadAttrs[] = {
    {"axes", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kDFTInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
    {"dft_length", 0x0140, 1, true, false, true},
    {"axis", 0x0100, 255, true, false, true},
};
constexpr OutputSpec kDFTOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kDFTAttrs[] = {
    {"inverse", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"onesided", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kSTFTInputs[] = {
    {"signal", 0x3c00, 0, false, false, false},
    {"frame_step", 0x0140, 1, false, false, true},
    {"window", 0x3c00, 0, true, false, false},
    {"frame_length", 0x0140, 1, true, false, true},
};
constexpr OutputSpec kSTFTOutputs[] = {
    {"output", 0x3c00, 0, false, false},
};
constexpr AttrSpec kSTFTAttrs[] = {
    {"onesided", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kMelWeightMatrixInputs[] = {
    {"num_mel_bins", 0x0140, 0, false, false, true},
    {"dft_length", 0x0140, 0, false, false, true},
    {"sample_rate", 0x0140, 0, false, false, true},
    {"lower_edge_hertz", 0x3c00, 1, false, false, false},
    {"upper_edge_hertz", 0x3c00, 1, false, false, false},
};
constexpr OutputSpec kMelWeightMatrixOutputs[] = {
    {"output", 0x3ffc, 255, false, false},
};
constexpr AttrSpec kMelWeightMatrixAttrs[] = {
    {"output_datatype", AttrType::DType, false, true, 12, 0.0, nullptr},
};
constexpr InputSpec kHannWindowInputs[] = {
    {"size", 0x0140, 255, false, false, true},
};
constexpr OutputSpec kHannWindowOutputs[] = {
    {"output", 0x3ffc, 255, false, false},
};
constexpr AttrSpec kHannWindowAttrs[] = {
    {"output_datatype", AttrType::DType, false, true, 12, 0.0, nullptr},
    {"periodic", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kHammingWindowInputs[] = {
    {"size", 0x0140, 255, false, false, true},
};
constexpr OutputSpec kHammingWindowOutputs[] = {
    {"output", 0x3ffc, 255, false, false},
};
constexpr AttrSpec kHammingWindowAttrs[] = {
    {"output_datatype", AttrType::DType, false, true, 12, 0.0, nullptr},
    {"periodic", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kBlackmanWindowInputs[] = {
    {"size", 0x0140, 255, false, false, true},
};
constexpr OutputSpec kBlackmanWindowOutputs[] = {
    {"output", 0x3ffc, 255, false, false},
};
constexpr AttrSpec kBlackmanWindowAttrs[] = {
    {"output_datatype", AttrType::DType, false, true, 12, 0.0, nullptr},
    {"periodic", AttrType::Bool, false, true, 1, 0.0, nullptr},
};
constexpr InputSpec kDetInputs[] = {
    {"x", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kDetOutputs[] = {
    {"y", 0x3c00, 0, false, false},
};
constexpr InputSpec kTensorScatterInputs[] = {
    {"past_cache", 0xfffe, 0, false, false, false},
    {"update", 0xfffe, 0, false, false, false},
    {"write_indices", 0x0100, 255, true, false, false},
};
constexpr OutputSpec kTensorScatterOutputs[] = {
    {"present_cache", 0xfffe, 0, false, false},
};
constexpr AttrSpec kTensorScatterAttrs[] = {
    {"axis", AttrType::Int, false, true, -2, 0.0, nullptr},
    {"mode", AttrType::String, false, true, 0, 0.0, "linear"},
};
constexpr InputSpec kCumProdInputs[] = {
    {"input", 0x3ffc, 0, false, false, false},
    {"axis", 0x0140, 255, false, false, true},
};
constexpr OutputSpec kCumProdOutputs[] = {
    {"output", 0x3ffc, 0, false, false},
};
constexpr AttrSpec kCumProdAttrs[] = {
    {"exclusive", AttrType::Bool, false, true, 0, 0.0, nullptr},
    {"reverse", AttrType::Bool, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kBitCastInputs[] = {
    {"input", 0xfffe, 255, false, false, false},
};
constexpr OutputSpec kBitCastOutputs[] = {
    {"output", 0xfffe, 255, false, false},
};
constexpr AttrSpec kBitCastAttrs[] = {
    {"to", AttrType::DType, true, false, 0, 0.0, nullptr},
};
constexpr InputSpec kRandomUniformInputs[] = {
    {"shape", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kRandomUniformOutputs[] = {
    {"output", 0x3c00, 255, false, false},
};
constexpr AttrSpec kRandomUniformAttrs[] = {
    {"dtype", AttrType::DType, false, true, 12, 0.0, nullptr},
    {"high", AttrType::Float, false, true, 0, 1.0, nullptr},
    {"low", AttrType::Float, false, true, 0, 0.0, nullptr},
    {"seed", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kRandomNormalInputs[] = {
    {"shape", 0x0100, 255, false, false, true},
};
constexpr OutputSpec kRandomNormalOutputs[] = {
    {"output", 0x3c00, 255, false, false},
};
constexpr AttrSpec kRandomNormalAttrs[] = {
    {"dtype", AttrType::DType, false, true, 12, 0.0, nullptr},
    {"mean", AttrType::Float, false, true, 0, 0.0, nullptr},
    {"scale", AttrType::Float, false, true, 0, 1.0, nullptr},
    {"seed", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kBernoulliInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kBernoulliOutputs[] = {
    {"output", 0x3ffe, 255, false, false},
};
constexpr AttrSpec kBernoulliAttrs[] = {
    {"dtype", AttrType::DType, false, false, 0, 0.0, nullptr},
    {"seed", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kMultinomialInputs[] = {
    {"input", 0x3c00, 0, false, false, false},
};
constexpr OutputSpec kMultinomialOutputs[] = {
    {"output", 0x0140, 255, false, false},
};
constexpr AttrSpec kMultinomialAttrs[] = {
    {"dtype", AttrType::DType, false, true, 6, 0.0, nullptr},
    {"sample_size", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"seed", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kLinearAttentionInputs[] = {
    {"query", 0x3c00, 0, false, false, false},
    {"key", 0x3c00, 0, false, false, false},
    {"value", 0x3c00, 0, false, false, false},
    {"past_state", 0x3c00, 1, true, false, false},
    {"decay", 0x3c00, 0, true, false, false},
    {"beta", 0x3c00, 0, true, false, false},
};
constexpr OutputSpec kLinearAttentionOutputs[] = {
    {"output", 0x3c00, 0, false, false},
    {"present_state", 0x3c00, 255, false, false},
};
constexpr AttrSpec kLinearAttentionAttrs[] = {
    {"kv_num_heads", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"q_num_heads", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"scale", AttrType::Float, false, true, 0, 0.0, nullptr},
    {"update_rule", AttrType::String, false, true, 0, 0.0, "gated_delta"},
};
constexpr InputSpec kTfIdfVectorizerInputs[] = {
    {"x", 0x0140, 255, false, false, false},
};
constexpr OutputSpec kTfIdfVectorizerOutputs[] = {
    {"y", 0x1000, 255, false, false},
};
constexpr AttrSpec kTfIdfVectorizerAttrs[] = {
    {"max_gram_length", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"max_skip_count", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"min_gram_length", AttrType::Int, true, false, 0, 0.0, nullptr},
    {"mode", AttrType::String, true, false, 0, 0.0, nullptr},
    {"ngram_counts", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"ngram_indexes", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"pool_int64s", AttrType::Ints, true, false, 0, 0.0, nullptr},
    {"weights", AttrType::Floats, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kIfInputs[] = {
    {"condition", 0x0002, 255, false, false, false},
    {"captures", 0xfffe, 255, true, true, false},
};
constexpr OutputSpec kIfOutputs[] = {
    {"outputs", 0xfffe, 255, false, true},
};
constexpr InputSpec kLoopInputs[] = {
    {"trip_count", 0x0100, 255, true, false, false},
    {"condition", 0x0002, 255, true, false, false},
    {"values", 0xfffe, 255, true, true, false},
};
constexpr OutputSpec kLoopOutputs[] = {
    {"outputs", 0xfffe, 255, false, true},
};
constexpr AttrSpec kLoopAttrs[] = {
    {"carried", AttrType::Int, false, true, 0, 0.0, nullptr},
};
constexpr InputSpec kScanInputs[] = {
    {"values", 0xfffe, 255, true, true, false},
};
constexpr OutputSpec kScanOutputs[] = {
    {"outputs", 0xfffe, 255, false, true},
};
constexpr AttrSpec kScanAttrs[] = {
    {"carried", AttrType::Int, false, true, 0, 0.0, nullptr},
    {"num_scan_inputs", AttrType::Int, false, true, 1, 0.0, nullptr},
    {"scan_input_axes", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"scan_input_directions", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"scan_output_axes", AttrType::Ints, false, false, 0, 0.0, nullptr},
    {"scan_output_directions", AttrType::Ints, false, false, 0, 0.0, nullptr},
};
constexpr InputSpec kRequireInputs[] = {
    {"data", 0xfffe, 0, false, false, false},
    {"condition", 0x0002, 255, false, false, false},
};
constexpr OutputSpec kRequireOutputs[] = {
    {"output", 0xfffe, 0, false, false},
};
constexpr AttrSpec kRequireAttrs[] = {
    {"message", AttrType::String, true, false, 0, 0.0, nullptr},
};

struct AttrChoices {
  nef_op op;
  unsigned slot;
  const char* values;
};
constexpr AttrChoices kAttrChoices[] = {
    {NEF_OP_AVERAGE_POOL, NEF_AVERAGE_POOL_AUTO_PAD,
     "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {NEF_OP_BIT_SHIFT, NEF_BIT_SHIFT_DIRECTION,
     "LEFT|RIGHT"},
    {NEF_OP_CONV, NEF_CONV_AUTO_PAD,
     "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {NEF_OP_CONV_TRANSPOSE, NEF_CONV_TRANSPOSE_AUTO_PAD,
     "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {NEF_OP_DEPTH_TO_SPACE, NEF_DEPTH_TO_SPACE_MODE,
     "DCR|CRD"},
    {NEF_OP_GELU, NEF_GELU_APPROXIMATE,
     "none|tanh"},
    {NEF_OP_MAX_POOL, NEF_MAX_POOL_AUTO_PAD,
     "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {NEF_OP_PAD, NEF_PAD_MODE,
     "constant|reflect|edge|wrap"},
    {NEF_OP_RESIZE, NEF_RESIZE_MODE,
     "nearest|linear|cubic"},
    {NEF_OP_RESIZE, NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE,
     "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|asymmetric|tf_crop_and_resize|tf_half_pixel_for_nn"},
    {NEF_OP_RESIZE, NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY,
     "stretch|not_larger|not_smaller"},
    {NEF_OP_RESIZE, NEF_RESIZE_NEAREST_MODE,
     "round_prefer_floor|round_prefer_ceil|floor|ceil"},
    {NEF_OP_SCATTER_ELEMENTS, NEF_SCATTER_ELEMENTS_REDUCTION,
     "none|add|mul|max|min"},
    {NEF_OP_SCATTER_ND, NEF_SCATTER_ND_REDUCTION,
     "none|add|mul|max|min"},
    {NEF_OP_SPACE_TO_DEPTH, NEF_SPACE_TO_DEPTH_MODE,
     "DCR|CRD"},
    {NEF_OP_LSTM, NEF_LSTM_DIRECTION,
     "forward|reverse|bidirectional"},
    {NEF_OP_GRU, NEF_GRU_DIRECTION,
     "forward|reverse|bidirectional"},
    {NEF_OP_RNN, NEF_RNN_DIRECTION,
     "forward|reverse|bidirectional"},
    {NEF_OP_CONV_INTEGER, NEF_CONV_INTEGER_AUTO_PAD,
     "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {NEF_OP_QLINEAR_CONV, NEF_QLINEAR_CONV_AUTO_PAD,
     "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {NEF_OP_GRID_SAMPLE, NEF_GRID_SAMPLE_MODE,
     "linear|nearest|cubic"},
    {NEF_OP_GRID_SAMPLE, NEF_GRID_SAMPLE_PADDING_MODE,
     "zeros|border|reflection"},
    {NEF_OP_ROI_ALIGN, NEF_ROI_ALIGN_COORDINATE_TRANSFORMATION_MODE,
     "half_pixel|output_half_pixel"},
    {NEF_OP_ROI_ALIGN, NEF_ROI_ALIGN_MODE,
     "avg|max"},
    {NEF_OP_LP_POOL, NEF_LP_POOL_AUTO_PAD,
     "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {NEF_OP_TENSOR_SCATTER, NEF_TENSOR_SCATTER_MODE,
     "linear|circular"},
    {NEF_OP_LINEAR_ATTENTION, NEF_LINEAR_ATTENTION_UPDATE_RULE,
     "linear|gated|delta|gated_delta"},
    {NEF_OP_TF_IDF_VECTORIZER, NEF_TF_IDF_VECTORIZER_MODE,
     "TF|IDF|TFIDF"},
};

}  // namespace

const OpSpec kOpTable[] = {
    {NEF_OP_INVALID, nullptr, nullptr, OpClass::Elementwise, InferRule::kSame, Cost::kNone,
     false, false, false, 0, 0, 0, 0, nullptr, nullptr, nullptr},
    {NEF_OP_ABS, "Abs", "abs",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kAbsInputs, kAbsOutputs, nullptr},
    {NEF_OP_ACOS, "Acos", "acos",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kAcosInputs, kAcosOutputs, nullptr},
    {NEF_OP_ACOSH, "Acosh", "acosh",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kAcoshInputs, kAcoshOutputs, nullptr},
    {NEF_OP_ADD, "Add", "add",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kAddInputs, kAddOutputs, nullptr},
    {NEF_OP_AND, "And", "and",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kAndInputs, kAndOutputs, nullptr},
    {NEF_OP_ARGMAX, "ArgMax", "argmax",
     OpClass::Reduction, InferRule::kArgReduce, Cost::kInputs,
     false, false, false, 0, 1, 1, 3, kArgMaxInputs, kArgMaxOutputs, kArgMaxAttrs},
    {NEF_OP_ARGMIN, "ArgMin", "argmin",
     OpClass::Reduction, InferRule::kArgReduce, Cost::kInputs,
     false, false, false, 0, 1, 1, 3, kArgMinInputs, kArgMinOutputs, kArgMinAttrs},
    {NEF_OP_ASIN, "Asin", "asin",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kAsinInputs, kAsinOutputs, nullptr},
    {NEF_OP_ASINH, "Asinh", "asinh",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kAsinhInputs, kAsinhOutputs, nullptr},
    {NEF_OP_ATAN, "Atan", "atan",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kAtanInputs, kAtanOutputs, nullptr},
    {NEF_OP_ATANH, "Atanh", "atanh",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kAtanhInputs, kAtanhOutputs, nullptr},
    {NEF_OP_ATTENTION, "Attention", "attention",
     OpClass::Attention, InferRule::kAttention, Cost::kAttention,
     false, false, false, 0, 7, 4, 7, kAttentionInputs, kAttentionOutputs, kAttentionAttrs},
    {NEF_OP_AVERAGE_POOL, "AveragePool", "average_pool",
     OpClass::Reduction, InferRule::kPool, Cost::kPool,
     false, false, false, 0, 1, 1, 7, kAveragePoolInputs, kAveragePoolOutputs, kAveragePoolAttrs},
    {NEF_OP_BATCH_NORMALIZATION, "BatchNormalization", "batch_normalization",
     OpClass::Normalization, InferRule::kBatchNorm, Cost::kElementsX4,
     false, false, false, 0, 5, 1, 1, kBatchNormalizationInputs, kBatchNormalizationOutputs, kBatchNormalizationAttrs},
    {NEF_OP_BIT_SHIFT, "BitShift", "bit_shift",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     false, false, false, 0, 2, 1, 1, kBitShiftInputs, kBitShiftOutputs, kBitShiftAttrs},
    {NEF_OP_BITWISE_AND, "BitwiseAnd", "bitwise_and",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kBitwiseAndInputs, kBitwiseAndOutputs, nullptr},
    {NEF_OP_BITWISE_NOT, "BitwiseNot", "bitwise_not",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kBitwiseNotInputs, kBitwiseNotOutputs, nullptr},
    {NEF_OP_BITWISE_OR, "BitwiseOr", "bitwise_or",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kBitwiseOrInputs, kBitwiseOrOutputs, nullptr},
    {NEF_OP_BITWISE_XOR, "BitwiseXor", "bitwise_xor",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kBitwiseXorInputs, kBitwiseXorOutputs, nullptr},
    {NEF_OP_CAST, "Cast", "cast",
     OpClass::Elementwise, InferRule::kCast, Cost::kElements,
     false, false, false, 0, 1, 1, 2, kCastInputs, kCastOutputs, kCastAttrs},
    {NEF_OP_CAST_LIKE, "CastLike", "cast_like",
     OpClass::Elementwise, InferRule::kCastLike, Cost::kElements,
     false, false, false, 0, 2, 1, 1, kCastLikeInputs, kCastLikeOutputs, kCastLikeAttrs},
    {NEF_OP_CEIL, "Ceil", "ceil",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kCeilInputs, kCeilOutputs, nullptr},
    {NEF_OP_CELU, "Celu", "celu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 1, kCeluInputs, kCeluOutputs, kCeluAttrs},
    {NEF_OP_CLIP, "Clip", "clip",
     OpClass::Elementwise, InferRule::kClip, Cost::kElements,
     false, false, false, 0, 3, 1, 0, kClipInputs, kClipOutputs, nullptr},
    {NEF_OP_CONCAT, "Concat", "concat",
     OpClass::Movement, InferRule::kConcat, Cost::kNone,
     false, false, false, 0, 1, 1, 1, kConcatInputs, kConcatOutputs, kConcatAttrs},
    {NEF_OP_CONSTANT_OF_SHAPE, "ConstantOfShape", "constant_of_shape",
     OpClass::Movement, InferRule::kConstantOfShape, Cost::kNone,
     false, false, false, 0, 2, 1, 0, kConstantOfShapeInputs, kConstantOfShapeOutputs, nullptr},
    {NEF_OP_CONV, "Conv", "conv",
     OpClass::Contraction, InferRule::kConv, Cost::kConv,
     false, false, false, 0, 3, 1, 6, kConvInputs, kConvOutputs, kConvAttrs},
    {NEF_OP_CONV_TRANSPOSE, "ConvTranspose", "conv_transpose",
     OpClass::Contraction, InferRule::kConvTranspose, Cost::kConvTranspose,
     false, false, false, 0, 3, 1, 8, kConvTransposeInputs, kConvTransposeOutputs, kConvTransposeAttrs},
    {NEF_OP_COS, "Cos", "cos",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kCosInputs, kCosOutputs, nullptr},
    {NEF_OP_COSH, "Cosh", "cosh",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kCoshInputs, kCoshOutputs, nullptr},
    {NEF_OP_CUMSUM, "CumSum", "cumsum",
     OpClass::Reduction, InferRule::kCumsum, Cost::kElements,
     false, false, false, 0, 2, 1, 2, kCumSumInputs, kCumSumOutputs, kCumSumAttrs},
    {NEF_OP_DEPTH_TO_SPACE, "DepthToSpace", "depth_to_space",
     OpClass::Movement, InferRule::kDepthToSpace, Cost::kNone,
     false, false, false, 0, 1, 1, 2, kDepthToSpaceInputs, kDepthToSpaceOutputs, kDepthToSpaceAttrs},
    {NEF_OP_DIV, "Div", "div",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElementsX4,
     false, false, false, 0, 2, 1, 0, kDivInputs, kDivOutputs, nullptr},
    {NEF_OP_EINSUM, "Einsum", "einsum",
     OpClass::Contraction, InferRule::kEinsum, Cost::kEinsum,
     false, false, false, 0, 1, 1, 1, kEinsumInputs, kEinsumOutputs, kEinsumAttrs},
    {NEF_OP_ELU, "Elu", "elu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 1, kEluInputs, kEluOutputs, kEluAttrs},
    {NEF_OP_EQUAL, "Equal", "equal",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kEqualInputs, kEqualOutputs, nullptr},
    {NEF_OP_ERF, "Erf", "erf",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kErfInputs, kErfOutputs, nullptr},
    {NEF_OP_EXP, "Exp", "exp",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX8,
     false, false, false, 0, 1, 1, 0, kExpInputs, kExpOutputs, nullptr},
    {NEF_OP_EXPAND, "Expand", "expand",
     OpClass::Movement, InferRule::kExpand, Cost::kNone,
     false, false, false, 0, 2, 1, 0, kExpandInputs, kExpandOutputs, nullptr},
    {NEF_OP_EYE_LIKE, "EyeLike", "eye_like",
     OpClass::Movement, InferRule::kEyeLike, Cost::kNone,
     false, false, false, 0, 1, 1, 2, kEyeLikeInputs, kEyeLikeOutputs, kEyeLikeAttrs},
    {NEF_OP_FLATTEN, "Flatten", "flatten",
     OpClass::Movement, InferRule::kFlatten, Cost::kNone,
     false, false, false, 0, 1, 1, 1, kFlattenInputs, kFlattenOutputs, kFlattenAttrs},
    {NEF_OP_FLOOR, "Floor", "floor",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kFloorInputs, kFloorOutputs, nullptr},
    {NEF_OP_GATHER, "Gather", "gather",
     OpClass::Movement, InferRule::kGather, Cost::kNone,
     false, false, false, 0, 2, 1, 1, kGatherInputs, kGatherOutputs, kGatherAttrs},
    {NEF_OP_GATHER_ELEMENTS, "GatherElements", "gather_elements",
     OpClass::Movement, InferRule::kGatherElements, Cost::kNone,
     false, false, false, 0, 2, 1, 1, kGatherElementsInputs, kGatherElementsOutputs, kGatherElementsAttrs},
    {NEF_OP_GATHER_ND, "GatherND", "gather_nd",
     OpClass::Movement, InferRule::kGatherNd, Cost::kNone,
     false, false, false, 0, 2, 1, 1, kGatherNDInputs, kGatherNDOutputs, kGatherNDAttrs},
    {NEF_OP_GELU, "Gelu", "gelu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 1, kGeluInputs, kGeluOutputs, kGeluAttrs},
    {NEF_OP_GEMM, "Gemm", "gemm",
     OpClass::Contraction, InferRule::kGemm, Cost::kGemm,
     false, false, false, 0, 3, 1, 4, kGemmInputs, kGemmOutputs, kGemmAttrs},
    {NEF_OP_GLOBAL_AVERAGE_POOL, "GlobalAveragePool", "global_average_pool",
     OpClass::Reduction, InferRule::kGlobalPool, Cost::kInputs,
     false, false, false, 0, 1, 1, 0, kGlobalAveragePoolInputs, kGlobalAveragePoolOutputs, nullptr},
    {NEF_OP_GLOBAL_MAX_POOL, "GlobalMaxPool", "global_max_pool",
     OpClass::Reduction, InferRule::kGlobalPool, Cost::kInputs,
     false, false, false, 0, 1, 1, 0, kGlobalMaxPoolInputs, kGlobalMaxPoolOutputs, nullptr},
    {NEF_OP_GREATER, "Greater", "greater",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     false, false, false, 0, 2, 1, 0, kGreaterInputs, kGreaterOutputs, nullptr},
    {NEF_OP_GREATER_OR_EQUAL, "GreaterOrEqual", "greater_or_equal",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     false, false, false, 0, 2, 1, 0, kGreaterOrEqualInputs, kGreaterOrEqualOutputs, nullptr},
    {NEF_OP_GROUP_NORMALIZATION, "GroupNormalization", "group_normalization",
     OpClass::Normalization, InferRule::kGroupNorm, Cost::kElementsX8,
     false, false, false, 0, 3, 1, 3, kGroupNormalizationInputs, kGroupNormalizationOutputs, kGroupNormalizationAttrs},
    {NEF_OP_HARD_SIGMOID, "HardSigmoid", "hard_sigmoid",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 2, kHardSigmoidInputs, kHardSigmoidOutputs, kHardSigmoidAttrs},
    {NEF_OP_HARD_SWISH, "HardSwish", "hard_swish",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 0, kHardSwishInputs, kHardSwishOutputs, nullptr},
    {NEF_OP_HARDMAX, "Hardmax", "hardmax",
     OpClass::Normalization, InferRule::kSameAxis, Cost::kElements,
     false, false, false, 0, 1, 1, 1, kHardmaxInputs, kHardmaxOutputs, kHardmaxAttrs},
    {NEF_OP_IDENTITY, "Identity", "identity",
     OpClass::Movement, InferRule::kSame, Cost::kNone,
     false, false, false, 0, 1, 1, 0, kIdentityInputs, kIdentityOutputs, nullptr},
    {NEF_OP_INSTANCE_NORMALIZATION, "InstanceNormalization", "instance_normalization",
     OpClass::Normalization, InferRule::kInstanceNorm, Cost::kElementsX8,
     false, false, false, 0, 3, 1, 1, kInstanceNormalizationInputs, kInstanceNormalizationOutputs, kInstanceNormalizationAttrs},
    {NEF_OP_ISINF, "IsInf", "isinf",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 2, kIsInfInputs, kIsInfOutputs, kIsInfAttrs},
    {NEF_OP_ISNAN, "IsNaN", "isnan",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kIsNaNInputs, kIsNaNOutputs, nullptr},
    {NEF_OP_LRN, "LRN", "lrn",
     OpClass::Normalization, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 4, kLRNInputs, kLRNOutputs, kLRNAttrs},
    {NEF_OP_LAYER_NORMALIZATION, "LayerNormalization", "layer_normalization",
     OpClass::Normalization, InferRule::kLayerNorm, Cost::kElementsX8,
     false, false, false, 0, 3, 3, 3, kLayerNormalizationInputs, kLayerNormalizationOutputs, kLayerNormalizationAttrs},
    {NEF_OP_LEAKY_RELU, "LeakyRelu", "leaky_relu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 1, kLeakyReluInputs, kLeakyReluOutputs, kLeakyReluAttrs},
    {NEF_OP_LESS, "Less", "less",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     false, false, false, 0, 2, 1, 0, kLessInputs, kLessOutputs, nullptr},
    {NEF_OP_LESS_OR_EQUAL, "LessOrEqual", "less_or_equal",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     false, false, false, 0, 2, 1, 0, kLessOrEqualInputs, kLessOrEqualOutputs, nullptr},
    {NEF_OP_LOG, "Log", "log",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX8,
     false, false, false, 0, 1, 1, 0, kLogInputs, kLogOutputs, nullptr},
    {NEF_OP_LOG_SOFTMAX, "LogSoftmax", "log_softmax",
     OpClass::Normalization, InferRule::kSameAxis, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 1, kLogSoftmaxInputs, kLogSoftmaxOutputs, kLogSoftmaxAttrs},
    {NEF_OP_LP_NORMALIZATION, "LpNormalization", "lp_normalization",
     OpClass::Normalization, InferRule::kSameAxis, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 2, kLpNormalizationInputs, kLpNormalizationOutputs, kLpNormalizationAttrs},
    {NEF_OP_MATMUL, "MatMul", "matmul",
     OpClass::Contraction, InferRule::kMatmul, Cost::kMatmul,
     false, false, false, 0, 2, 1, 0, kMatMulInputs, kMatMulOutputs, nullptr},
    {NEF_OP_MAX, "Max", "max",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 1, 1, 0, kMaxInputs, kMaxOutputs, nullptr},
    {NEF_OP_MAX_POOL, "MaxPool", "max_pool",
     OpClass::Reduction, InferRule::kPool, Cost::kPool,
     false, false, false, 0, 1, 2, 7, kMaxPoolInputs, kMaxPoolOutputs, kMaxPoolAttrs},
    {NEF_OP_MEAN, "Mean", "mean",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 1, 1, 0, kMeanInputs, kMeanOutputs, nullptr},
    {NEF_OP_MEAN_VARIANCE_NORMALIZATION, "MeanVarianceNormalization", "mean_variance_normalization",
     OpClass::Normalization, InferRule::kSameAxes, Cost::kElementsX8,
     false, false, false, 0, 1, 1, 1, kMeanVarianceNormalizationInputs, kMeanVarianceNormalizationOutputs, kMeanVarianceNormalizationAttrs},
    {NEF_OP_MIN, "Min", "min",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 1, 1, 0, kMinInputs, kMinOutputs, nullptr},
    {NEF_OP_MISH, "Mish", "mish",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kMishInputs, kMishOutputs, nullptr},
    {NEF_OP_MOD, "Mod", "mod",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElementsX4,
     false, false, false, 0, 2, 1, 1, kModInputs, kModOutputs, kModAttrs},
    {NEF_OP_MUL, "Mul", "mul",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kMulInputs, kMulOutputs, nullptr},
    {NEF_OP_NEG, "Neg", "neg",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kNegInputs, kNegOutputs, nullptr},
    {NEF_OP_NONZERO, "NonZero", "nonzero",
     OpClass::Movement, InferRule::kNonzero, Cost::kInputs,
     false, false, true, 0, 1, 1, 0, kNonZeroInputs, kNonZeroOutputs, nullptr},
    {NEF_OP_NOT, "Not", "not",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kNotInputs, kNotOutputs, nullptr},
    {NEF_OP_ONE_HOT, "OneHot", "one_hot",
     OpClass::Movement, InferRule::kOneHot, Cost::kNone,
     false, false, false, 0, 3, 1, 1, kOneHotInputs, kOneHotOutputs, kOneHotAttrs},
    {NEF_OP_OR, "Or", "or",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kOrInputs, kOrOutputs, nullptr},
    {NEF_OP_PRELU, "PRelu", "prelu",
     OpClass::Elementwise, InferRule::kPrelu, Cost::kElements,
     false, false, false, 0, 2, 1, 0, kPReluInputs, kPReluOutputs, nullptr},
    {NEF_OP_PAD, "Pad", "pad",
     OpClass::Movement, InferRule::kPad, Cost::kNone,
     false, false, false, 0, 4, 1, 1, kPadInputs, kPadOutputs, kPadAttrs},
    {NEF_OP_POW, "Pow", "pow",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElementsX16,
     false, false, false, 0, 2, 1, 0, kPowInputs, kPowOutputs, nullptr},
    {NEF_OP_RMS_NORMALIZATION, "RMSNormalization", "rms_normalization",
     OpClass::Normalization, InferRule::kRmsNorm, Cost::kElementsX8,
     false, false, false, 0, 2, 1, 3, kRMSNormalizationInputs, kRMSNormalizationOutputs, kRMSNormalizationAttrs},
    {NEF_OP_RANGE, "Range", "range",
     OpClass::Movement, InferRule::kRange, Cost::kNone,
     false, false, false, 0, 3, 1, 0, kRangeInputs, kRangeOutputs, nullptr},
    {NEF_OP_RECIPROCAL, "Reciprocal", "reciprocal",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 0, kReciprocalInputs, kReciprocalOutputs, nullptr},
    {NEF_OP_REDUCE_L1, "ReduceL1", "reduce_l1",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceL1Inputs, kReduceL1Outputs, kReduceL1Attrs},
    {NEF_OP_REDUCE_L2, "ReduceL2", "reduce_l2",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceL2Inputs, kReduceL2Outputs, kReduceL2Attrs},
    {NEF_OP_REDUCE_LOG_SUM, "ReduceLogSum", "reduce_log_sum",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceLogSumInputs, kReduceLogSumOutputs, kReduceLogSumAttrs},
    {NEF_OP_REDUCE_LOG_SUM_EXP, "ReduceLogSumExp", "reduce_log_sum_exp",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputsX8,
     false, false, false, 0, 2, 1, 2, kReduceLogSumExpInputs, kReduceLogSumExpOutputs, kReduceLogSumExpAttrs},
    {NEF_OP_REDUCE_MAX, "ReduceMax", "reduce_max",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceMaxInputs, kReduceMaxOutputs, kReduceMaxAttrs},
    {NEF_OP_REDUCE_MEAN, "ReduceMean", "reduce_mean",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceMeanInputs, kReduceMeanOutputs, kReduceMeanAttrs},
    {NEF_OP_REDUCE_MIN, "ReduceMin", "reduce_min",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceMinInputs, kReduceMinOutputs, kReduceMinAttrs},
    {NEF_OP_REDUCE_PROD, "ReduceProd", "reduce_prod",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceProdInputs, kReduceProdOutputs, kReduceProdAttrs},
    {NEF_OP_REDUCE_SUM, "ReduceSum", "reduce_sum",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceSumInputs, kReduceSumOutputs, kReduceSumAttrs},
    {NEF_OP_REDUCE_SUM_SQUARE, "ReduceSumSquare", "reduce_sum_square",
     OpClass::Reduction, InferRule::kReduce, Cost::kInputs,
     false, false, false, 0, 2, 1, 2, kReduceSumSquareInputs, kReduceSumSquareOutputs, kReduceSumSquareAttrs},
    {NEF_OP_RELU, "Relu", "relu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kReluInputs, kReluOutputs, nullptr},
    {NEF_OP_RESHAPE, "Reshape", "reshape",
     OpClass::Movement, InferRule::kReshape, Cost::kNone,
     false, false, false, 0, 2, 1, 1, kReshapeInputs, kReshapeOutputs, kReshapeAttrs},
    {NEF_OP_RESIZE, "Resize", "resize",
     OpClass::Movement, InferRule::kResize, Cost::kElementsX8,
     false, false, false, 0, 4, 1, 9, kResizeInputs, kResizeOutputs, kResizeAttrs},
    {NEF_OP_REVERSE_SEQUENCE, "ReverseSequence", "reverse_sequence",
     OpClass::Movement, InferRule::kReverseSequence, Cost::kNone,
     false, false, false, 0, 2, 1, 2, kReverseSequenceInputs, kReverseSequenceOutputs, kReverseSequenceAttrs},
    {NEF_OP_ROTARY_EMBEDDING, "RotaryEmbedding", "rotary_embedding",
     OpClass::Attention, InferRule::kRotaryEmbedding, Cost::kElementsX4,
     false, false, false, 0, 4, 1, 3, kRotaryEmbeddingInputs, kRotaryEmbeddingOutputs, kRotaryEmbeddingAttrs},
    {NEF_OP_ROUND, "Round", "round",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kRoundInputs, kRoundOutputs, nullptr},
    {NEF_OP_SCATTER_ELEMENTS, "ScatterElements", "scatter_elements",
     OpClass::Movement, InferRule::kScatterElements, Cost::kNone,
     false, false, false, 0, 3, 1, 2, kScatterElementsInputs, kScatterElementsOutputs, kScatterElementsAttrs},
    {NEF_OP_SCATTER_ND, "ScatterND", "scatter_nd",
     OpClass::Movement, InferRule::kScatterNd, Cost::kNone,
     false, false, false, 0, 3, 1, 1, kScatterNDInputs, kScatterNDOutputs, kScatterNDAttrs},
    {NEF_OP_SELU, "Selu", "selu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 2, kSeluInputs, kSeluOutputs, kSeluAttrs},
    {NEF_OP_SHAPE, "Shape", "shape",
     OpClass::Control, InferRule::kShape, Cost::kNone,
     false, false, false, 0, 1, 1, 2, kShapeInputs, kShapeOutputs, kShapeAttrs},
    {NEF_OP_SHRINK, "Shrink", "shrink",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 2, kShrinkInputs, kShrinkOutputs, kShrinkAttrs},
    {NEF_OP_SIGMOID, "Sigmoid", "sigmoid",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX8,
     false, false, false, 0, 1, 1, 0, kSigmoidInputs, kSigmoidOutputs, nullptr},
    {NEF_OP_SIGN, "Sign", "sign",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 0, kSignInputs, kSignOutputs, nullptr},
    {NEF_OP_SILU, "Silu", "silu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX8,
     false, false, false, 0, 1, 1, 1, kSiluInputs, kSiluOutputs, kSiluAttrs},
    {NEF_OP_SIN, "Sin", "sin",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kSinInputs, kSinOutputs, nullptr},
    {NEF_OP_SINH, "Sinh", "sinh",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kSinhInputs, kSinhOutputs, nullptr},
    {NEF_OP_SIZE, "Size", "size",
     OpClass::Control, InferRule::kSize, Cost::kNone,
     false, false, false, 0, 1, 1, 0, kSizeInputs, kSizeOutputs, nullptr},
    {NEF_OP_SLICE, "Slice", "slice",
     OpClass::Movement, InferRule::kSlice, Cost::kNone,
     false, false, false, 0, 5, 1, 0, kSliceInputs, kSliceOutputs, nullptr},
    {NEF_OP_SOFTMAX, "Softmax", "softmax",
     OpClass::Normalization, InferRule::kSameAxis, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 2, kSoftmaxInputs, kSoftmaxOutputs, kSoftmaxAttrs},
    {NEF_OP_SOFTPLUS, "Softplus", "softplus",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kSoftplusInputs, kSoftplusOutputs, nullptr},
    {NEF_OP_SOFTSIGN, "Softsign", "softsign",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 0, kSoftsignInputs, kSoftsignOutputs, nullptr},
    {NEF_OP_SPACE_TO_DEPTH, "SpaceToDepth", "space_to_depth",
     OpClass::Movement, InferRule::kSpaceToDepth, Cost::kNone,
     false, false, false, 0, 1, 1, 2, kSpaceToDepthInputs, kSpaceToDepthOutputs, kSpaceToDepthAttrs},
    {NEF_OP_SPLIT, "Split", "split",
     OpClass::Movement, InferRule::kSplit, Cost::kNone,
     false, false, false, 0, 2, 1, 2, kSplitInputs, kSplitOutputs, kSplitAttrs},
    {NEF_OP_SQRT, "Sqrt", "sqrt",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 0, kSqrtInputs, kSqrtOutputs, nullptr},
    {NEF_OP_SQUEEZE, "Squeeze", "squeeze",
     OpClass::Movement, InferRule::kSqueeze, Cost::kNone,
     false, false, false, 0, 2, 1, 0, kSqueezeInputs, kSqueezeOutputs, nullptr},
    {NEF_OP_SUB, "Sub", "sub",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     false, false, false, 0, 2, 1, 0, kSubInputs, kSubOutputs, nullptr},
    {NEF_OP_SUM, "Sum", "sum",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 1, 1, 0, kSumInputs, kSumOutputs, nullptr},
    {NEF_OP_TAN, "Tan", "tan",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 0, kTanInputs, kTanOutputs, nullptr},
    {NEF_OP_TANH, "Tanh", "tanh",
     OpClass::Elementwise, InferRule::kSame, Cost::kElementsX8,
     false, false, false, 0, 1, 1, 0, kTanhInputs, kTanhOutputs, nullptr},
    {NEF_OP_THRESHOLDED_RELU, "ThresholdedRelu", "thresholded_relu",
     OpClass::Elementwise, InferRule::kSame, Cost::kElements,
     false, false, false, 0, 1, 1, 1, kThresholdedReluInputs, kThresholdedReluOutputs, kThresholdedReluAttrs},
    {NEF_OP_TILE, "Tile", "tile",
     OpClass::Movement, InferRule::kTile, Cost::kNone,
     false, false, false, 0, 2, 1, 0, kTileInputs, kTileOutputs, nullptr},
    {NEF_OP_TOPK, "TopK", "topk",
     OpClass::Reduction, InferRule::kTopk, Cost::kInputsX8,
     false, false, false, 0, 2, 2, 3, kTopKInputs, kTopKOutputs, kTopKAttrs},
    {NEF_OP_TRANSPOSE, "Transpose", "transpose",
     OpClass::Movement, InferRule::kTranspose, Cost::kNone,
     false, false, false, 0, 1, 1, 1, kTransposeInputs, kTransposeOutputs, kTransposeAttrs},
    {NEF_OP_TRILU, "Trilu", "trilu",
     OpClass::Movement, InferRule::kTrilu, Cost::kNone,
     false, false, false, 0, 2, 1, 1, kTriluInputs, kTriluOutputs, kTriluAttrs},
    {NEF_OP_UNSQUEEZE, "Unsqueeze", "unsqueeze",
     OpClass::Movement, InferRule::kUnsqueeze, Cost::kNone,
     false, false, false, 0, 2, 1, 0, kUnsqueezeInputs, kUnsqueezeOutputs, nullptr},
    {NEF_OP_WHERE, "Where", "where",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     false, false, false, 0, 3, 1, 0, kWhereInputs, kWhereOutputs, nullptr},
    {NEF_OP_XOR, "Xor", "xor",
     OpClass::Elementwise, InferRule::kBroadcast, Cost::kElements,
     true, false, false, 0, 2, 1, 0, kXorInputs, kXorOutputs, nullptr},
    {NEF_OP_FUSED_MATMUL, "FusedMatMul", "fused_matmul",
     OpClass::Contraction, InferRule::kFusedMatmul, Cost::kMatmul,
     false, true, false, 0, 3, 1, 3, kFusedMatMulInputs, kFusedMatMulOutputs, kFusedMatMulAttrs},
    {NEF_OP_SHAPE_EXPR, "ShapeExpr", "shape_expr",
     OpClass::Control, InferRule::kShapeExpr, Cost::kNone,
     false, true, false, 0, 0, 1, 0, nullptr, kShapeExprOutputs, nullptr},
    {NEF_OP_LSTM, "LSTM", "lstm",
     OpClass::Contraction, InferRule::kRnn, Cost::kRnn,
     false, false, false, 0, 8, 3, 8, kLSTMInputs, kLSTMOutputs, kLSTMAttrs},
    {NEF_OP_GRU, "GRU", "gru",
     OpClass::Contraction, InferRule::kRnn, Cost::kRnn,
     false, false, false, 0, 6, 2, 8, kGRUInputs, kGRUOutputs, kGRUAttrs},
    {NEF_OP_RNN, "RNN", "rnn",
     OpClass::Contraction, InferRule::kRnn, Cost::kRnn,
     false, false, false, 0, 6, 2, 7, kRNNInputs, kRNNOutputs, kRNNAttrs},
    {NEF_OP_QUANTIZE_LINEAR, "QuantizeLinear", "quantize_linear",
     OpClass::Movement, InferRule::kQuantizeLinear, Cost::kElementsX4,
     false, false, false, 0, 3, 1, 5, kQuantizeLinearInputs, kQuantizeLinearOutputs, kQuantizeLinearAttrs},
    {NEF_OP_DEQUANTIZE_LINEAR, "DequantizeLinear", "dequantize_linear",
     OpClass::Movement, InferRule::kDequantizeLinear, Cost::kElements,
     false, false, false, 0, 3, 1, 3, kDequantizeLinearInputs, kDequantizeLinearOutputs, kDequantizeLinearAttrs},
    {NEF_OP_DYNAMIC_QUANTIZE_LINEAR, "DynamicQuantizeLinear", "dynamic_quantize_linear",
     OpClass::Reduction, InferRule::kDynamicQuantizeLinear, Cost::kElementsX8,
     false, false, false, 0, 1, 3, 0, kDynamicQuantizeLinearInputs, kDynamicQuantizeLinearOutputs, nullptr},
    {NEF_OP_MATMUL_INTEGER, "MatMulInteger", "matmul_integer",
     OpClass::Contraction, InferRule::kMatmulInteger, Cost::kMatmul,
     false, false, false, 0, 4, 1, 0, kMatMulIntegerInputs, kMatMulIntegerOutputs, nullptr},
    {NEF_OP_QLINEAR_MATMUL, "QLinearMatMul", "qlinear_matmul",
     OpClass::Contraction, InferRule::kQlinearMatmul, Cost::kMatmul,
     false, false, false, 0, 8, 1, 0, kQLinearMatMulInputs, kQLinearMatMulOutputs, nullptr},
    {NEF_OP_CONV_INTEGER, "ConvInteger", "conv_integer",
     OpClass::Contraction, InferRule::kConvInteger, Cost::kConv,
     false, false, false, 0, 4, 1, 6, kConvIntegerInputs, kConvIntegerOutputs, kConvIntegerAttrs},
    {NEF_OP_QLINEAR_CONV, "QLinearConv", "qlinear_conv",
     OpClass::Contraction, InferRule::kQlinearConv, Cost::kConv,
     false, false, false, 0, 9, 1, 6, kQLinearConvInputs, kQLinearConvOutputs, kQLinearConvAttrs},
    {NEF_OP_MATMUL_NBITS, "MatMulNBits", "matmul_nbits",
     OpClass::Contraction, InferRule::kMatmulNbits, Cost::kMatmul,
     false, false, false, 0, 5, 1, 4, kMatMulNBitsInputs, kMatMulNBitsOutputs, kMatMulNBitsAttrs},
    {NEF_OP_NON_MAX_SUPPRESSION, "NonMaxSuppression", "non_max_suppression",
     OpClass::Control, InferRule::kNonMaxSuppression, Cost::kInputsX8,
     false, false, true, 0, 5, 1, 1, kNonMaxSuppressionInputs, kNonMaxSuppressionOutputs, kNonMaxSuppressionAttrs},
    {NEF_OP_COMPRESS, "Compress", "compress",
     OpClass::Movement, InferRule::kCompress, Cost::kNone,
     false, false, true, 0, 2, 1, 1, kCompressInputs, kCompressOutputs, kCompressAttrs},
    {NEF_OP_UNIQUE, "Unique", "unique",
     OpClass::Reduction, InferRule::kUnique, Cost::kInputsX8,
     false, false, true, 0, 1, 4, 2, kUniqueInputs, kUniqueOutputs, kUniqueAttrs},
    {NEF_OP_GRID_SAMPLE, "GridSample", "grid_sample",
     OpClass::Movement, InferRule::kGridSample, Cost::kElementsX16,
     false, false, false, 0, 2, 1, 3, kGridSampleInputs, kGridSampleOutputs, kGridSampleAttrs},
    {NEF_OP_AFFINE_GRID, "AffineGrid", "affine_grid",
     OpClass::Movement, InferRule::kAffineGrid, Cost::kElementsX4,
     false, false, false, 0, 2, 1, 1, kAffineGridInputs, kAffineGridOutputs, kAffineGridAttrs},
    {NEF_OP_ROI_ALIGN, "RoiAlign", "roi_align",
     OpClass::Movement, InferRule::kRoiAlign, Cost::kElementsX16,
     false, false, false, 0, 3, 1, 6, kRoiAlignInputs, kRoiAlignOutputs, kRoiAlignAttrs},
    {NEF_OP_MAX_ROI_POOL, "MaxRoiPool", "max_roi_pool",
     OpClass::Movement, InferRule::kMaxRoiPool, Cost::kElementsX16,
     false, false, false, 0, 2, 1, 2, kMaxRoiPoolInputs, kMaxRoiPoolOutputs, kMaxRoiPoolAttrs},
    {NEF_OP_MAX_UNPOOL, "MaxUnpool", "max_unpool",
     OpClass::Movement, InferRule::kMaxUnpool, Cost::kNone,
     false, false, false, 0, 3, 1, 3, kMaxUnpoolInputs, kMaxUnpoolOutputs, kMaxUnpoolAttrs},
    {NEF_OP_DEFORM_CONV, "DeformConv", "deform_conv",
     OpClass::Contraction, InferRule::kDeformConv, Cost::kConv,
     false, false, false, 0, 5, 1, 6, kDeformConvInputs, kDeformConvOutputs, kDeformConvAttrs},
    {NEF_OP_LP_POOL, "LpPool", "lp_pool",
     OpClass::Reduction, InferRule::kPool, Cost::kPool,
     false, false, false, 0, 1, 1, 7, kLpPoolInputs, kLpPoolOutputs, kLpPoolAttrs},
    {NEF_OP_COL2IM, "Col2Im", "col2im",
     OpClass::Movement, InferRule::kCol2im, Cost::kInputs,
     false, false, false, 0, 3, 1, 3, kCol2ImInputs, kCol2ImOutputs, kCol2ImAttrs},
    {NEF_OP_CENTER_CROP_PAD, "CenterCropPad", "center_crop_pad",
     OpClass::Movement, InferRule::kCenterCropPad, Cost::kNone,
     false, false, false, 0, 2, 1, 1, kCenterCropPadInputs, kCenterCropPadOutputs, kCenterCropPadAttrs},
    {NEF_OP_DFT, "DFT", "dft",
     OpClass::Reduction, InferRule::kDft, Cost::kElementsX16,
     false, false, false, 0, 3, 1, 2, kDFTInputs, kDFTOutputs, kDFTAttrs},
    {NEF_OP_STFT, "STFT", "stft",
     OpClass::Reduction, InferRule::kStft, Cost::kElementsX16,
     false, false, false, 0, 4, 1, 1, kSTFTInputs, kSTFTOutputs, kSTFTAttrs},
    {NEF_OP_MEL_WEIGHT_MATRIX, "MelWeightMatrix", "mel_weight_matrix",
     OpClass::Control, InferRule::kMelWeightMatrix, Cost::kElementsX16,
     false, false, false, 0, 5, 1, 1, kMelWeightMatrixInputs, kMelWeightMatrixOutputs, kMelWeightMatrixAttrs},
    {NEF_OP_HANN_WINDOW, "HannWindow", "hann_window",
     OpClass::Control, InferRule::kWindowFunction, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 2, kHannWindowInputs, kHannWindowOutputs, kHannWindowAttrs},
    {NEF_OP_HAMMING_WINDOW, "HammingWindow", "hamming_window",
     OpClass::Control, InferRule::kWindowFunction, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 2, kHammingWindowInputs, kHammingWindowOutputs, kHammingWindowAttrs},
    {NEF_OP_BLACKMAN_WINDOW, "BlackmanWindow", "blackman_window",
     OpClass::Control, InferRule::kWindowFunction, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 2, kBlackmanWindowInputs, kBlackmanWindowOutputs, kBlackmanWindowAttrs},
    {NEF_OP_DET, "Det", "det",
     OpClass::Reduction, InferRule::kDet, Cost::kInputsX8,
     false, false, false, 0, 1, 1, 0, kDetInputs, kDetOutputs, nullptr},
    {NEF_OP_TENSOR_SCATTER, "TensorScatter", "tensor_scatter",
     OpClass::Movement, InferRule::kTensorScatter, Cost::kNone,
     false, false, false, 0, 3, 1, 2, kTensorScatterInputs, kTensorScatterOutputs, kTensorScatterAttrs},
    {NEF_OP_CUMPROD, "CumProd", "cumprod",
     OpClass::Reduction, InferRule::kCumsum, Cost::kElements,
     false, false, false, 0, 2, 1, 2, kCumProdInputs, kCumProdOutputs, kCumProdAttrs},
    {NEF_OP_BIT_CAST, "BitCast", "bit_cast",
     OpClass::Movement, InferRule::kBitCast, Cost::kNone,
     false, false, false, 0, 1, 1, 1, kBitCastInputs, kBitCastOutputs, kBitCastAttrs},
    {NEF_OP_RANDOM_UNIFORM, "RandomUniform", "random_uniform",
     OpClass::Control, InferRule::kRandom, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 4, kRandomUniformInputs, kRandomUniformOutputs, kRandomUniformAttrs},
    {NEF_OP_RANDOM_NORMAL, "RandomNormal", "random_normal",
     OpClass::Control, InferRule::kRandom, Cost::kElementsX16,
     false, false, false, 0, 1, 1, 4, kRandomNormalInputs, kRandomNormalOutputs, kRandomNormalAttrs},
    {NEF_OP_BERNOULLI, "Bernoulli", "bernoulli",
     OpClass::Control, InferRule::kBernoulli, Cost::kElementsX4,
     false, false, false, 0, 1, 1, 2, kBernoulliInputs, kBernoulliOutputs, kBernoulliAttrs},
    {NEF_OP_MULTINOMIAL, "Multinomial", "multinomial",
     OpClass::Control, InferRule::kMultinomial, Cost::kInputsX8,
     false, false, false, 0, 1, 1, 3, kMultinomialInputs, kMultinomialOutputs, kMultinomialAttrs},
    {NEF_OP_LINEAR_ATTENTION, "LinearAttention", "linear_attention",
     OpClass::Attention, InferRule::kLinearAttention, Cost::kElementsX16,
     false, false, false, 0, 6, 2, 4, kLinearAttentionInputs, kLinearAttentionOutputs, kLinearAttentionAttrs},
    {NEF_OP_TF_IDF_VECTORIZER, "TfIdfVectorizer", "tf_idf_vectorizer",
     OpClass::Reduction, InferRule::kTfIdf, Cost::kInputsX8,
     false, false, false, 0, 1, 1, 8, kTfIdfVectorizerInputs, kTfIdfVectorizerOutputs, kTfIdfVectorizerAttrs},
    {NEF_OP_IF, "If", "if",
     OpClass::Control, InferRule::kBlocks, Cost::kNone,
     false, false, false, 2, 2, 1, 0, kIfInputs, kIfOutputs, nullptr},
    {NEF_OP_LOOP, "Loop", "loop",
     OpClass::Control, InferRule::kBlocks, Cost::kNone,
     false, false, false, 1, 3, 1, 1, kLoopInputs, kLoopOutputs, kLoopAttrs},
    {NEF_OP_SCAN, "Scan", "scan",
     OpClass::Control, InferRule::kBlocks, Cost::kNone,
     false, false, false, 1, 1, 1, 6, kScanInputs, kScanOutputs, kScanAttrs},
    {NEF_OP_REQUIRE, "Require", "require",
     OpClass::Movement, InferRule::kSame, Cost::kNone,
     false, false, false, 0, 2, 1, 1, kRequireInputs, kRequireOutputs, kRequireAttrs},
};
const unsigned kOpTableSize = NEF_OP_COUNT_;
static_assert(sizeof(kOpTable) / sizeof(kOpTable[0]) == NEF_OP_COUNT_);

const OpAlias kOpAliases[] = {
    {"Abs", NEF_OP_ABS},
    {"Acos", NEF_OP_ACOS},
    {"Acosh", NEF_OP_ACOSH},
    {"Add", NEF_OP_ADD},
    {"AffineGrid", NEF_OP_AFFINE_GRID},
    {"And", NEF_OP_AND},
    {"ArgMax", NEF_OP_ARGMAX},
    {"ArgMin", NEF_OP_ARGMIN},
    {"Asin", NEF_OP_ASIN},
    {"Asinh", NEF_OP_ASINH},
    {"Atan", NEF_OP_ATAN},
    {"Atanh", NEF_OP_ATANH},
    {"Attention", NEF_OP_ATTENTION},
    {"AveragePool", NEF_OP_AVERAGE_POOL},
    {"BatchNormalization", NEF_OP_BATCH_NORMALIZATION},
    {"Bernoulli", NEF_OP_BERNOULLI},
    {"BitCast", NEF_OP_BIT_CAST},
    {"BitShift", NEF_OP_BIT_SHIFT},
    {"BitwiseAnd", NEF_OP_BITWISE_AND},
    {"BitwiseNot", NEF_OP_BITWISE_NOT},
    {"BitwiseOr", NEF_OP_BITWISE_OR},
    {"BitwiseXor", NEF_OP_BITWISE_XOR},
    {"BlackmanWindow", NEF_OP_BLACKMAN_WINDOW},
    {"Cast", NEF_OP_CAST},
    {"CastLike", NEF_OP_CAST_LIKE},
    {"Ceil", NEF_OP_CEIL},
    {"Celu", NEF_OP_CELU},
    {"CenterCropPad", NEF_OP_CENTER_CROP_PAD},
    {"Clip", NEF_OP_CLIP},
    {"Col2Im", NEF_OP_COL2IM},
    {"Compress", NEF_OP_COMPRESS},
    {"Concat", NEF_OP_CONCAT},
    {"ConstantOfShape", NEF_OP_CONSTANT_OF_SHAPE},
    {"Conv", NEF_OP_CONV},
    {"ConvInteger", NEF_OP_CONV_INTEGER},
    {"ConvTranspose", NEF_OP_CONV_TRANSPOSE},
    {"Cos", NEF_OP_COS},
    {"Cosh", NEF_OP_COSH},
    {"CumProd", NEF_OP_CUMPROD},
    {"CumSum", NEF_OP_CUMSUM},
    {"DFT", NEF_OP_DFT},
    {"DeformConv", NEF_OP_DEFORM_CONV},
    {"DepthToSpace", NEF_OP_DEPTH_TO_SPACE},
    {"DequantizeLinear", NEF_OP_DEQUANTIZE_LINEAR},
    {"Det", NEF_OP_DET},
    {"Div", NEF_OP_DIV},
    {"DynamicQuantizeLinear", NEF_OP_DYNAMIC_QUANTIZE_LINEAR},
    {"Einsum", NEF_OP_EINSUM},
    {"Elu", NEF_OP_ELU},
    {"Equal", NEF_OP_EQUAL},
    {"Erf", NEF_OP_ERF},
    {"Exp", NEF_OP_EXP},
    {"Expand", NEF_OP_EXPAND},
    {"EyeLike", NEF_OP_EYE_LIKE},
    {"Flatten", NEF_OP_FLATTEN},
    {"Floor", NEF_OP_FLOOR},
    {"FusedMatMul", NEF_OP_FUSED_MATMUL},
    {"GRU", NEF_OP_GRU},
    {"Gather", NEF_OP_GATHER},
    {"GatherElements", NEF_OP_GATHER_ELEMENTS},
    {"GatherND", NEF_OP_GATHER_ND},
    {"Gelu", NEF_OP_GELU},
    {"Gemm", NEF_OP_GEMM},
    {"GlobalAveragePool", NEF_OP_GLOBAL_AVERAGE_POOL},
    {"GlobalMaxPool", NEF_OP_GLOBAL_MAX_POOL},
    {"Greater", NEF_OP_GREATER},
    {"GreaterOrEqual", NEF_OP_GREATER_OR_EQUAL},
    {"GridSample", NEF_OP_GRID_SAMPLE},
    {"GroupNormalization", NEF_OP_GROUP_NORMALIZATION},
    {"HammingWindow", NEF_OP_HAMMING_WINDOW},
    {"HannWindow", NEF_OP_HANN_WINDOW},
    {"HardSigmoid", NEF_OP_HARD_SIGMOID},
    {"HardSwish", NEF_OP_HARD_SWISH},
    {"Hardmax", NEF_OP_HARDMAX},
    {"Identity", NEF_OP_IDENTITY},
    {"If", NEF_OP_IF},
    {"InstanceNormalization", NEF_OP_INSTANCE_NORMALIZATION},
    {"IsInf", NEF_OP_ISINF},
    {"IsNaN", NEF_OP_ISNAN},
    {"LRN", NEF_OP_LRN},
    {"LSTM", NEF_OP_LSTM},
    {"LayerNormalization", NEF_OP_LAYER_NORMALIZATION},
    {"LeakyRelu", NEF_OP_LEAKY_RELU},
    {"Less", NEF_OP_LESS},
    {"LessOrEqual", NEF_OP_LESS_OR_EQUAL},
    {"LinearAttention", NEF_OP_LINEAR_ATTENTION},
    {"Log", NEF_OP_LOG},
    {"LogSoftmax", NEF_OP_LOG_SOFTMAX},
    {"Loop", NEF_OP_LOOP},
    {"LpNormalization", NEF_OP_LP_NORMALIZATION},
    {"LpPool", NEF_OP_LP_POOL},
    {"MatMul", NEF_OP_MATMUL},
    {"MatMulInteger", NEF_OP_MATMUL_INTEGER},
    {"MatMulNBits", NEF_OP_MATMUL_NBITS},
    {"Max", NEF_OP_MAX},
    {"MaxPool", NEF_OP_MAX_POOL},
    {"MaxRoiPool", NEF_OP_MAX_ROI_POOL},
    {"MaxUnpool", NEF_OP_MAX_UNPOOL},
    {"Mean", NEF_OP_MEAN},
    {"MeanVarianceNormalization", NEF_OP_MEAN_VARIANCE_NORMALIZATION},
    {"MelWeightMatrix", NEF_OP_MEL_WEIGHT_MATRIX},
    {"Min", NEF_OP_MIN},
    {"Mish", NEF_OP_MISH},
    {"Mod", NEF_OP_MOD},
    {"Mul", NEF_OP_MUL},
    {"Multinomial", NEF_OP_MULTINOMIAL},
    {"Neg", NEF_OP_NEG},
    {"NonMaxSuppression", NEF_OP_NON_MAX_SUPPRESSION},
    {"NonZero", NEF_OP_NONZERO},
    {"Not", NEF_OP_NOT},
    {"OneHot", NEF_OP_ONE_HOT},
    {"Or", NEF_OP_OR},
    {"PRelu", NEF_OP_PRELU},
    {"Pad", NEF_OP_PAD},
    {"Pow", NEF_OP_POW},
    {"QLinearConv", NEF_OP_QLINEAR_CONV},
    {"QLinearMatMul", NEF_OP_QLINEAR_MATMUL},
    {"QuantizeLinear", NEF_OP_QUANTIZE_LINEAR},
    {"RMSNormalization", NEF_OP_RMS_NORMALIZATION},
    {"RNN", NEF_OP_RNN},
    {"RandomNormal", NEF_OP_RANDOM_NORMAL},
    {"RandomUniform", NEF_OP_RANDOM_UNIFORM},
    {"Range", NEF_OP_RANGE},
    {"Reciprocal", NEF_OP_RECIPROCAL},
    {"ReduceL1", NEF_OP_REDUCE_L1},
    {"ReduceL2", NEF_OP_REDUCE_L2},
    {"ReduceLogSum", NEF_OP_REDUCE_LOG_SUM},
    {"ReduceLogSumExp", NEF_OP_REDUCE_LOG_SUM_EXP},
    {"ReduceMax", NEF_OP_REDUCE_MAX},
    {"ReduceMean", NEF_OP_REDUCE_MEAN},
    {"ReduceMin", NEF_OP_REDUCE_MIN},
    {"ReduceProd", NEF_OP_REDUCE_PROD},
    {"ReduceSum", NEF_OP_REDUCE_SUM},
    {"ReduceSumSquare", NEF_OP_REDUCE_SUM_SQUARE},
    {"Relu", NEF_OP_RELU},
    {"Require", NEF_OP_REQUIRE},
    {"Reshape", NEF_OP_RESHAPE},
    {"Resize", NEF_OP_RESIZE},
    {"ReverseSequence", NEF_OP_REVERSE_SEQUENCE},
    {"RoiAlign", NEF_OP_ROI_ALIGN},
    {"RotaryEmbedding", NEF_OP_ROTARY_EMBEDDING},
    {"Round", NEF_OP_ROUND},
    {"STFT", NEF_OP_STFT},
    {"Scan", NEF_OP_SCAN},
    {"ScatterElements", NEF_OP_SCATTER_ELEMENTS},
    {"ScatterND", NEF_OP_SCATTER_ND},
    {"Selu", NEF_OP_SELU},
    {"Shape", NEF_OP_SHAPE},
    {"ShapeExpr", NEF_OP_SHAPE_EXPR},
    {"Shrink", NEF_OP_SHRINK},
    {"Sigmoid", NEF_OP_SIGMOID},
    {"Sign", NEF_OP_SIGN},
    {"Silu", NEF_OP_SILU},
    {"Sin", NEF_OP_SIN},
    {"Sinh", NEF_OP_SINH},
    {"Size", NEF_OP_SIZE},
    {"Slice", NEF_OP_SLICE},
    {"Softmax", NEF_OP_SOFTMAX},
    {"Softplus", NEF_OP_SOFTPLUS},
    {"Softsign", NEF_OP_SOFTSIGN},
    {"SpaceToDepth", NEF_OP_SPACE_TO_DEPTH},
    {"Split", NEF_OP_SPLIT},
    {"Sqrt", NEF_OP_SQRT},
    {"Squeeze", NEF_OP_SQUEEZE},
    {"Sub", NEF_OP_SUB},
    {"Sum", NEF_OP_SUM},
    {"Swish", NEF_OP_SILU},
    {"Tan", NEF_OP_TAN},
    {"Tanh", NEF_OP_TANH},
    {"TensorScatter", NEF_OP_TENSOR_SCATTER},
    {"TfIdfVectorizer", NEF_OP_TF_IDF_VECTORIZER},
    {"ThresholdedRelu", NEF_OP_THRESHOLDED_RELU},
    {"Tile", NEF_OP_TILE},
    {"TopK", NEF_OP_TOPK},
    {"Transpose", NEF_OP_TRANSPOSE},
    {"Trilu", NEF_OP_TRILU},
    {"Unique", NEF_OP_UNIQUE},
    {"Unsqueeze", NEF_OP_UNSQUEEZE},
    {"Where", NEF_OP_WHERE},
    {"Xor", NEF_OP_XOR},
    {"abs", NEF_OP_ABS},
    {"acos", NEF_OP_ACOS},
    {"acosh", NEF_OP_ACOSH},
    {"add", NEF_OP_ADD},
    {"affine_grid", NEF_OP_AFFINE_GRID},
    {"and", NEF_OP_AND},
    {"arange", NEF_OP_RANGE},
    {"arg_max", NEF_OP_ARGMAX},
    {"arg_min", NEF_OP_ARGMIN},
    {"argmax", NEF_OP_ARGMAX},
    {"argmin", NEF_OP_ARGMIN},
    {"asin", NEF_OP_ASIN},
    {"asinh", NEF_OP_ASINH},
    {"atan", NEF_OP_ATAN},
    {"atanh", NEF_OP_ATANH},
    {"attention", NEF_OP_ATTENTION},
    {"average_pool", NEF_OP_AVERAGE_POOL},
    {"avg_pool", NEF_OP_AVERAGE_POOL},
    {"batch_norm", NEF_OP_BATCH_NORMALIZATION},
    {"batch_normalization", NEF_OP_BATCH_NORMALIZATION},
    {"batchnorm", NEF_OP_BATCH_NORMALIZATION},
    {"bernoulli", NEF_OP_BERNOULLI},
    {"bit_cast", NEF_OP_BIT_CAST},
    {"bit_shift", NEF_OP_BIT_SHIFT},
    {"bitwise_and", NEF_OP_BITWISE_AND},
    {"bitwise_not", NEF_OP_BITWISE_NOT},
    {"bitwise_or", NEF_OP_BITWISE_OR},
    {"bitwise_xor", NEF_OP_BITWISE_XOR},
    {"blackman_window", NEF_OP_BLACKMAN_WINDOW},
    {"broadcast_to", NEF_OP_EXPAND},
    {"cast", NEF_OP_CAST},
    {"cast_like", NEF_OP_CAST_LIKE},
    {"ceil", NEF_OP_CEIL},
    {"celu", NEF_OP_CELU},
    {"center_crop_pad", NEF_OP_CENTER_CROP_PAD},
    {"clamp", NEF_OP_CLIP},
    {"clip", NEF_OP_CLIP},
    {"col2im", NEF_OP_COL2IM},
    {"compress", NEF_OP_COMPRESS},
    {"concat", NEF_OP_CONCAT},
    {"constant_of_shape", NEF_OP_CONSTANT_OF_SHAPE},
    {"conv", NEF_OP_CONV},
    {"conv_integer", NEF_OP_CONV_INTEGER},
    {"conv_transpose", NEF_OP_CONV_TRANSPOSE},
    {"convolution", NEF_OP_CONV},
    {"cos", NEF_OP_COS},
    {"cosh", NEF_OP_COSH},
    {"cum_prod", NEF_OP_CUMPROD},
    {"cum_sum", NEF_OP_CUMSUM},
    {"cumprod", NEF_OP_CUMPROD},
    {"cumsum", NEF_OP_CUMSUM},
    {"deform_conv", NEF_OP_DEFORM_CONV},
    {"depth_to_space", NEF_OP_DEPTH_TO_SPACE},
    {"dequantize_linear", NEF_OP_DEQUANTIZE_LINEAR},
    {"det", NEF_OP_DET},
    {"dft", NEF_OP_DFT},
    {"div", NEF_OP_DIV},
    {"dynamic_quantize_linear", NEF_OP_DYNAMIC_QUANTIZE_LINEAR},
    {"einsum", NEF_OP_EINSUM},
    {"elu", NEF_OP_ELU},
    {"equal", NEF_OP_EQUAL},
    {"erf", NEF_OP_ERF},
    {"exp", NEF_OP_EXP},
    {"expand", NEF_OP_EXPAND},
    {"expand_dims", NEF_OP_UNSQUEEZE},
    {"eye_like", NEF_OP_EYE_LIKE},
    {"flatten", NEF_OP_FLATTEN},
    {"floor", NEF_OP_FLOOR},
    {"full", NEF_OP_CONSTANT_OF_SHAPE},
    {"fused_matmul", NEF_OP_FUSED_MATMUL},
    {"gather", NEF_OP_GATHER},
    {"gather_elements", NEF_OP_GATHER_ELEMENTS},
    {"gather_nd", NEF_OP_GATHER_ND},
    {"gelu", NEF_OP_GELU},
    {"gemm", NEF_OP_GEMM},
    {"global_average_pool", NEF_OP_GLOBAL_AVERAGE_POOL},
    {"global_avg_pool", NEF_OP_GLOBAL_AVERAGE_POOL},
    {"global_max_pool", NEF_OP_GLOBAL_MAX_POOL},
    {"greater", NEF_OP_GREATER},
    {"greater_equal", NEF_OP_GREATER_OR_EQUAL},
    {"greater_or_equal", NEF_OP_GREATER_OR_EQUAL},
    {"grid_sample", NEF_OP_GRID_SAMPLE},
    {"group_norm", NEF_OP_GROUP_NORMALIZATION},
    {"group_normalization", NEF_OP_GROUP_NORMALIZATION},
    {"groupnorm", NEF_OP_GROUP_NORMALIZATION},
    {"gru", NEF_OP_GRU},
    {"hamming_window", NEF_OP_HAMMING_WINDOW},
    {"hann_window", NEF_OP_HANN_WINDOW},
    {"hard_sigmoid", NEF_OP_HARD_SIGMOID},
    {"hard_swish", NEF_OP_HARD_SWISH},
    {"hardmax", NEF_OP_HARDMAX},
    {"identity", NEF_OP_IDENTITY},
    {"if", NEF_OP_IF},
    {"instance_norm", NEF_OP_INSTANCE_NORMALIZATION},
    {"instance_normalization", NEF_OP_INSTANCE_NORMALIZATION},
    {"is_inf", NEF_OP_ISINF},
    {"is_nan", NEF_OP_ISNAN},
    {"isinf", NEF_OP_ISINF},
    {"isnan", NEF_OP_ISNAN},
    {"layer_norm", NEF_OP_LAYER_NORMALIZATION},
    {"layer_normalization", NEF_OP_LAYER_NORMALIZATION},
    {"layernorm", NEF_OP_LAYER_NORMALIZATION},
    {"leaky_relu", NEF_OP_LEAKY_RELU},
    {"less", NEF_OP_LESS},
    {"less_equal", NEF_OP_LESS_OR_EQUAL},
    {"less_or_equal", NEF_OP_LESS_OR_EQUAL},
    {"linear_attention", NEF_OP_LINEAR_ATTENTION},
    {"log", NEF_OP_LOG},
    {"log_softmax", NEF_OP_LOG_SOFTMAX},
    {"logical_and", NEF_OP_AND},
    {"logical_not", NEF_OP_NOT},
    {"logical_or", NEF_OP_OR},
    {"logical_xor", NEF_OP_XOR},
    {"loop", NEF_OP_LOOP},
    {"lp_norm", NEF_OP_LP_NORMALIZATION},
    {"lp_normalization", NEF_OP_LP_NORMALIZATION},
    {"lp_pool", NEF_OP_LP_POOL},
    {"lrn", NEF_OP_LRN},
    {"lstm", NEF_OP_LSTM},
    {"mat_mul", NEF_OP_MATMUL},
    {"matmul", NEF_OP_MATMUL},
    {"matmul_integer", NEF_OP_MATMUL_INTEGER},
    {"matmul_nbits", NEF_OP_MATMUL_NBITS},
    {"max", NEF_OP_MAX},
    {"max_pool", NEF_OP_MAX_POOL},
    {"max_roi_pool", NEF_OP_MAX_ROI_POOL},
    {"max_unpool", NEF_OP_MAX_UNPOOL},
    {"maximum", NEF_OP_MAX},
    {"mean", NEF_OP_MEAN},
    {"mean_variance_normalization", NEF_OP_MEAN_VARIANCE_NORMALIZATION},
    {"mel_weight_matrix", NEF_OP_MEL_WEIGHT_MATRIX},
    {"min", NEF_OP_MIN},
    {"minimum", NEF_OP_MIN},
    {"mish", NEF_OP_MISH},
    {"mod", NEF_OP_MOD},
    {"mul", NEF_OP_MUL},
    {"multinomial", NEF_OP_MULTINOMIAL},
    {"mvn", NEF_OP_MEAN_VARIANCE_NORMALIZATION},
    {"neg", NEF_OP_NEG},
    {"nms", NEF_OP_NON_MAX_SUPPRESSION},
    {"non_max_suppression", NEF_OP_NON_MAX_SUPPRESSION},
    {"non_zero", NEF_OP_NONZERO},
    {"nonzero", NEF_OP_NONZERO},
    {"not", NEF_OP_NOT},
    {"one_hot", NEF_OP_ONE_HOT},
    {"or", NEF_OP_OR},
    {"p_relu", NEF_OP_PRELU},
    {"pad", NEF_OP_PAD},
    {"permute", NEF_OP_TRANSPOSE},
    {"pixel_shuffle", NEF_OP_DEPTH_TO_SPACE},
    {"pow", NEF_OP_POW},
    {"prelu", NEF_OP_PRELU},
    {"qlinear_conv", NEF_OP_QLINEAR_CONV},
    {"qlinear_matmul", NEF_OP_QLINEAR_MATMUL},
    {"quantize_linear", NEF_OP_QUANTIZE_LINEAR},
    {"random_normal", NEF_OP_RANDOM_NORMAL},
    {"random_uniform", NEF_OP_RANDOM_UNIFORM},
    {"range", NEF_OP_RANGE},
    {"reciprocal", NEF_OP_RECIPROCAL},
    {"reduce_l1", NEF_OP_REDUCE_L1},
    {"reduce_l2", NEF_OP_REDUCE_L2},
    {"reduce_log_sum", NEF_OP_REDUCE_LOG_SUM},
    {"reduce_log_sum_exp", NEF_OP_REDUCE_LOG_SUM_EXP},
    {"reduce_max", NEF_OP_REDUCE_MAX},
    {"reduce_mean", NEF_OP_REDUCE_MEAN},
    {"reduce_min", NEF_OP_REDUCE_MIN},
    {"reduce_prod", NEF_OP_REDUCE_PROD},
    {"reduce_sum", NEF_OP_REDUCE_SUM},
    {"reduce_sum_square", NEF_OP_REDUCE_SUM_SQUARE},
    {"relu", NEF_OP_RELU},
    {"require", NEF_OP_REQUIRE},
    {"reshape", NEF_OP_RESHAPE},
    {"resize", NEF_OP_RESIZE},
    {"reverse_sequence", NEF_OP_REVERSE_SEQUENCE},
    {"rms_norm", NEF_OP_RMS_NORMALIZATION},
    {"rms_normalization", NEF_OP_RMS_NORMALIZATION},
    {"rmsnorm", NEF_OP_RMS_NORMALIZATION},
    {"rnn", NEF_OP_RNN},
    {"roi_align", NEF_OP_ROI_ALIGN},
    {"rope", NEF_OP_ROTARY_EMBEDDING},
    {"rotary_embedding", NEF_OP_ROTARY_EMBEDDING},
    {"round", NEF_OP_ROUND},
    {"scaled_dot_product_attention", NEF_OP_ATTENTION},
    {"scan", NEF_OP_SCAN},
    {"scatter_elements", NEF_OP_SCATTER_ELEMENTS},
    {"scatter_nd", NEF_OP_SCATTER_ND},
    {"sdpa", NEF_OP_ATTENTION},
    {"selu", NEF_OP_SELU},
    {"shape", NEF_OP_SHAPE},
    {"shape_expr", NEF_OP_SHAPE_EXPR},
    {"shrink", NEF_OP_SHRINK},
    {"sigmoid", NEF_OP_SIGMOID},
    {"sign", NEF_OP_SIGN},
    {"silu", NEF_OP_SILU},
    {"sin", NEF_OP_SIN},
    {"sinh", NEF_OP_SINH},
    {"size", NEF_OP_SIZE},
    {"slice", NEF_OP_SLICE},
    {"softmax", NEF_OP_SOFTMAX},
    {"softplus", NEF_OP_SOFTPLUS},
    {"softsign", NEF_OP_SOFTSIGN},
    {"space_to_depth", NEF_OP_SPACE_TO_DEPTH},
    {"split", NEF_OP_SPLIT},
    {"sqrt", NEF_OP_SQRT},
    {"squeeze", NEF_OP_SQUEEZE},
    {"stft", NEF_OP_STFT},
    {"sub", NEF_OP_SUB},
    {"sum", NEF_OP_SUM},
    {"swish", NEF_OP_SILU},
    {"take", NEF_OP_GATHER},
    {"tan", NEF_OP_TAN},
    {"tanh", NEF_OP_TANH},
    {"tensor_scatter", NEF_OP_TENSOR_SCATTER},
    {"tf_idf_vectorizer", NEF_OP_TF_IDF_VECTORIZER},
    {"thresholded_relu", NEF_OP_THRESHOLDED_RELU},
    {"tile", NEF_OP_TILE},
    {"top_k", NEF_OP_TOPK},
    {"topk", NEF_OP_TOPK},
    {"transpose", NEF_OP_TRANSPOSE},
    {"trilu", NEF_OP_TRILU},
    {"unique", NEF_OP_UNIQUE},
    {"unsqueeze", NEF_OP_UNSQUEEZE},
    {"where", NEF_OP_WHERE},
    {"xor", NEF_OP_XOR},
};
const unsigned kOpAliasCount = sizeof(kOpAliases) / sizeof(kOpAliases[0]);

const char* attr_choices(nef_op op, unsigned slot) {
  for (const AttrChoices& c : kAttrChoices) {
    if (c.op == op && c.slot == slot) return c.values;
  }
  return nullptr;
}

bool attr_choice_valid(nef_op op, unsigned slot, std::string_view value) {
  const char* values = attr_choices(op, slot);
  if (values == nullptr) return true;
  for (std::string_view rest = values;;) {
    const size_t end = rest.find('|');
    if (rest.substr(0, end) == value) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace nef::ir
