// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/conv_direct.h"

// Depthwise convolutions of one filter a channel in blocks of channels: a band of their planes is
// turned so that the channels of a position lie side by side, which makes every load a whole one,
// whatever the stride and however small the planes; the sums are turned back.
namespace nef::cpu {

// Are there channels enough, and planes that are not better read as they lie?
template <typename T>
bool wants_blocks(const DirectConv<T>& conv);

// Elements of scratch; looks at shapes only.
template <typename T>
int64_t blocks_scratch(const DirectConv<T>& conv, int64_t slots);
template <typename T>
void run_blocks(const DirectConv<T>& conv, int64_t slots, T* scratch);

}  // namespace nef::cpu
