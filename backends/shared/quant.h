// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/shared/float16.h"
#include "backends/shared/float8.h"
#include "backends/shared/region.h"

// Where the scale of an element stands, for QuantizeLinear and DequantizeLinear.
namespace nef::backends {

// Element (o, i, j) of x [outer, length, inner] has scale (o, i / block, j) of
// [outer, blocks, inner]; per axis the scales are [length], per tensor one.
struct QuantLayout {
  int64_t outer = 1, length = 1, inner = 1;
  int64_t block = 0, blocks = 1;  // block 0: not blocked
  bool per_axis = false;

  int64_t scale_index(int64_t o, int64_t i, int64_t j) const {
    if (block > 0) return (o * blocks + i / block) * inner + j;
    return per_axis ? i : 0;
  }
};

inline QuantLayout quant_layout(const int64_t* x_dims, int x_rank, int64_t scale_count,
                                int64_t axis, int64_t block) {
  QuantLayout q;
  if (block == 0 && scale_count == 1) {
    q.inner = element_count(x_dims, x_rank);
    return q;
  }
  const int at = static_cast<int>(axis < 0 ? axis + x_rank : axis);
  for (int d = 0; d < at; ++d) q.outer *= x_dims[d];
  q.length = x_dims[at];
  for (int d = at + 1; d < x_rank; ++d) q.inner *= x_dims[d];
  q.per_axis = block == 0;
  q.block = block;
  if (block > 0) q.blocks = (q.length + block - 1) / block;
  return q;
}

// The nearest number that a float dtype holds; float32 for all other dtypes.
inline double rounded_to(nef_dtype dtype, double v) {
  switch (dtype) {
    case NEF_FLOAT16: return float_from_float16(float16_from_double(v));
    case NEF_BFLOAT16: return float_from_bfloat16(bfloat16_from_double(v));
    case NEF_FLOAT64: return v;
    default: return static_cast<double>(static_cast<float>(v));
  }
}

// The range that uint8 must cover and what follows from it: DynamicQuantizeLinear. All in float32,
// as ONNX has it.
struct DynamicScale {
  float scale = 1;
  uint8_t zero_point = 0;
};
inline DynamicScale dynamic_scale(float low, float high) {
  DynamicScale s;
  const float range = (high > 0 ? high : 0) - (low < 0 ? low : 0);
  if (!(range > 0) || !std::isfinite(range)) return s;
  s.scale = range / 255.0f;
  if (s.scale == 0) {
    s.scale = 1;
    return s;
  }
  const float zero = (0.0f - (low < 0 ? low : 0)) / s.scale;
  s.zero_point = static_cast<uint8_t>(std::nearbyint(zero < 0 ? 0 : zero > 255 ? 255 : zero));
  return s;
}

}  // namespace nef::backends
