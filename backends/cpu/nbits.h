// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Products with weights of 4 bits in blocks along k, each with a scale, and rows of floats.
//
// Weights lie in panels of 32 columns: for each 8 steps of k, one 32-bit word a column, the first
// step in its lowest bits. A block is a whole number of such groups.
namespace nef::cpu {

constexpr int64_t kNibblePanel = 32;
constexpr int64_t kNibbleGroup = 8;  // steps of k in a word
constexpr int64_t kNibbleRows = 8;   // most rows of one call

struct NibblePanel {
  const uint32_t* words = nullptr;  // [blocks][groups][32]
  const float* scales = nullptr;    // [blocks][32]
  const float* offsets = nullptr;   // [blocks][32]: zero points less 8; null: all 0
  int64_t blocks = 0, groups = 0;   // groups of a block
};

struct NibbleOps {
  // out[i][j] = bias[j] + sum over k of x[i][k] w[k][j], for rows i < m <= kNibbleRows and the 32
  // columns; no bias where it is null.
  void (*multiply)(const NibblePanel& panel, const float* x, int64_t ldx, int64_t m,
                   const float* bias, float* out);
  // The weights as floats: out[k][32].
  void (*expand)(const NibblePanel& panel, float* out);
};
const NibbleOps& nibble_ops();

}  // namespace nef::cpu
