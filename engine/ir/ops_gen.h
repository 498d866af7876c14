// SPDX-License-Identifier: Apache-2.0
// generated from engine/ir/ops.toml, do not edit.
// clang-format off
#pragma once

#include <nef/op_ids.h>

#include <cstdint>
#include <string_view>

namespace nef::ir {

// How the shapes of the outputs follow from the inputs.
enum class InferRule : uint8_t {
  kAffineGrid,
  kArgReduce,
  kAttention,
  kBatchNorm,
  kBernoulli,
  kBitCast,
  kBlocks,
  kBroadcast,
  kCast,
  kCastLike,
  kCenterCropPad,
  kClip,
  kCol2im,
  kCompress,
  kConcat,
  kConstantOfShape,
  kConv,
  kConvInteger,
  kConvTranspose,
  kCumsum,
  kDeformConv,
  kDepthToSpace,
  kDequantizeLinear,
  kDet,
  kDft,
  kDynamicQuantizeLinear,
  kEinsum,
  kExpand,
  kEyeLike,
  kFlatten,
  kFusedMatmul,
  kGather,
  kGatherElements,
  kGatherNd,
  kGemm,
  kGlobalPool,
  kGridSample,
  kGroupNorm,
  kInstanceNorm,
  kLayerNorm,
  kLinearAttention,
  kMatmul,
  kMatmulInteger,
  kMatmulNbits,
  kMaxRoiPool,
  kMaxUnpool,
  kMelWeightMatrix,
  kMultinomial,
  kNonMaxSuppression,
  kNonzero,
  kOneHot,
  kPad,
  kPool,
  kPrelu,
  kQlinearConv,
  kQlinearMatmul,
  kQuantizeLinear,
  kRandom,
  kRange,
  kReduce,
  kReshape,
  kResize,
  kReverseSequence,
  kRmsNorm,
  kRnn,
  kRoiAlign,
  kRotaryEmbedding,
  kSame,
  kSameAxes,
  kSameAxis,
  kScatterElements,
  kScatterNd,
  kShape,
  kShapeExpr,
  kSize,
  kSlice,
  kSpaceToDepth,
  kSplit,
  kSqueeze,
  kStft,
  kTensorScatter,
  kTfIdf,
  kTile,
  kTopk,
  kTranspose,
  kTrilu,
  kUnique,
  kUnsqueeze,
  kWindowFunction,
};

// How to estimate the work of a node. kElementsX8 is 8 operations per output element, kInputs one
// per element of the first input; kNone moves data at most.
enum class Cost : uint8_t {
  kNone,
  kElements,
  kElementsX4,
  kElementsX8,
  kElementsX16,
  kInputs,
  kInputsX8,
  kMatmul,
  kGemm,
  kConv,
  kConvTranspose,
  kPool,
  kEinsum,
  kAttention,
  kRnn,
};

// The strings a string attribute takes, separated by '|'; null when any string may be legal.
const char* attr_choices(nef_op op, unsigned slot);
// Whether value is one of them (true when there are none).
bool attr_choice_valid(nef_op op, unsigned slot, std::string_view value);

}  // namespace nef::ir
