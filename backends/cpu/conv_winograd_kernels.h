// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::cpu {

// 4 x 4 tiles of one channel, flat: element i of tile j at x[offsets[i] + j].
struct WinogradInput {
  const float* x = nullptr;
  const int64_t* offsets = nullptr;
  int64_t tiles = 0;  // a multiple of two vectors
  // Point i of tile j goes to out[i * point + j / nr * panel + j % nr], nr = two vectors.
  float* out = nullptr;
  int64_t point = 0, panel = 0;
};

// A row of tiles of one filter: point i of tile j at x[i * point + j].
struct WinogradOutput {
  const float* x = nullptr;
  int64_t point = 0;
  int64_t columns = 0;  // of the output: two a tile, or one less in all
  float bias = 0;
  float* y0 = nullptr;
  float* y1 = nullptr;  // null: there is no second row
};

struct WinogradOps {
  void (*input)(const WinogradInput& in);
  bool (*output)(const WinogradOutput& out);  // is everything finite?
};
const WinogradOps& winograd_ops();

}  // namespace nef::cpu
