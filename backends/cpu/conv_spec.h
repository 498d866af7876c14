// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/cpu/amx.h"
#include "backends/cpu/conv_geometry.h"
#include "backends/cpu/gemm_epilogue.h"
#include "backends/cpu/gemm_values.h"

namespace nef::cpu {

// Fewer filters per channel are no product: each is summed directly.
constexpr int64_t kFewFilters = 4;
// No more output positions than this are rows of one panel on every target.
constexpr int64_t kMostFew = 6;
// With fewer channels or filters the transforms cost more than they save.
constexpr int64_t kWinogradLeast = 16;
constexpr int64_t kWinogradHeavy = 12 * 1024, kWinogradPositions = 384;
constexpr int kRowDims = 2;  // [N, M] are rows of the result, the rest columns

struct ConvSpec {
  int32_t x = -1, w = -1, bias = -1;
  int32_t conv_out = -1;  // what the convolution itself gives
  int32_t y = -1;         // the region's output
  bool transposed = false;
  int64_t groups = 1;
  WindowAttrs window;
  const AmxOps* amx = nullptr;  // not null: products of bfloat16
  bool few = false;       // windows as rows of a product with the weights, which are its columns
  bool apart = false;     // transposed: windows do not overlap
  bool winograd = false;  // see conv_winograd.h
  Epilogue epilogue;
};

std::unique_ptr<Prepared> prepare_conv(const ValueTable& values, const ConvSpec& spec,
                                       const Tensor* constants);

}  // namespace nef::cpu
