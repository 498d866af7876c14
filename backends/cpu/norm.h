// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::cpu {

// y = softmax of x over n elements; y may be x. A line of -inf only gives NaN, or 0 on demand.
template <typename T>
void softmax_line(const T* x, T* y, int64_t n, bool zero_masked);

void register_softmax();
void register_layer_norms();    // over the last axes
void register_channel_norms();  // per channel of [N, C, ...]

}  // namespace nef::cpu
