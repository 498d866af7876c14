// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/amx.h"
#include "backends/cpu/conv_geometry.h"

namespace nef::cpu {

// Packs output positions [first, first + count) of one sample and group as matrix B of a product:
// row (channel, kernel position), column output position, in panels of `nr` (see gemm.h).
// `x` is the first channel of the group. Positions outside the input are `pad`, columns beyond the
// count too. T is float or double.
template <typename T>
void pack_positions(const Window& w, bool transposed, const T* x, int64_t channels, int64_t first,
                    int64_t count, int64_t nr, T* out, T pad = 0);

// The same of bytes: one panel, up to kAmxPanel positions.
void pack_byte_panel(const AmxOps& ops, const Window& w, const uint8_t* x, int64_t channels,
                     int64_t first, int64_t cols, uint8_t pad, uint8_t* out);

// Depthwise: y = sum over the kernel of w[k] * x, for one channel; y is overwritten.
template <typename T>
void convolve_plane(const Window& w, const T* x, const T* weights, T bias, T* y);

}  // namespace nef::cpu
