// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::cpu {

// y = x / scale to the nearest whole number, + zero, saturated to the type; NaN gives `zero`.
struct QuantRoundOps {
  void (*to_uint8)(const float* x, int64_t n, float scale, float zero, uint8_t* y);
  // Smallest and largest element with 0 among them; NaN is left out.
  void (*range)(const float* x, int64_t n, float* low, float* high);
};
const QuantRoundOps& quant_round_ops();

}  // namespace nef::cpu
