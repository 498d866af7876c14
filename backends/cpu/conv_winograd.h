// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/conv_direct.h"
#include "backends/cpu/gemm_values.h"

// Convolutions by 3 x 3 of stride 1 as products of transformed tiles: Winograd's F(2 x 2, 3 x 3),
// with 16 multiplications for 4 outputs instead of 36. Transforms only add and halve, so an error
// is at most a few times that of the sum itself, relative to the largest element of the tile.
namespace nef::cpu {

constexpr int64_t kWinogradPoints = 16;

// Of one group: weights [filters][channels][3][3] as packed rows of gemm.h for each point.
inline int64_t winograd_size(int64_t filters, int64_t channels) {
  return kWinogradPoints * filters * channels;
}
void winograd_weights(const float* w, int64_t filters, int64_t channels, float* out);

int64_t winograd_scratch(const DirectConv<float>& conv, int64_t slots);  // elements
// False if a sum is not finite: then y is to be computed in another way, as an infinity or NaN
// spreads to the whole tile here.
bool run_winograd(const DirectConv<float>& conv, int64_t slots, float* scratch);

}  // namespace nef::cpu
