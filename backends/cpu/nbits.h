// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Products with weights of 4 bits in blocks along k, each with a scale, and rows of floats.
//
// Weights lie in panels of 32 columns: for each 8 steps of k, one 32-bit word a column. The first
// four steps are in the lower halves of its bytes, the others in the upper ones, so that either
// half can be multiplied by four bytes. A block is a whole number of such groups.
namespace nef::cpu {

constexpr int64_t kNibblePanel = 32;
constexpr int64_t kNibbleGroup = 8;  // steps of k in a word
constexpr int64_t kNibbleRows = 8;   // most rows of one call

// Where step j of a group begins in its word.
constexpr int nibble_bit(int64_t j) { return static_cast<int>(j % 4 * 8 + j / 4 * 4); }

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

// Rows of activations in bytes: x = byte * scale of the block.
struct NibbleBytes {
  const int8_t* bytes = nullptr;  // `row` apart
  int64_t row = 0;
  const float* scales = nullptr;  // [rows][blocks]
  const int32_t* sums = nullptr;  // [rows][blocks], of the bytes
};

struct NibbleByteOps {
  // A row of whole blocks, each rounded to 127ths of its largest magnitude. False, and nothing of
  // use, where a block is not finite or so small that its scale were subnormal.
  bool (*quantize)(const float* x, int64_t blocks, int64_t block, int8_t* q, float* scales,
                   int32_t* sums);
  // As NibbleOps::multiply.
  void (*multiply)(const NibblePanel& panel, const NibbleBytes& x, int64_t m, const float* bias,
                   float* out);
};
const NibbleByteOps& nibble_byte_ops();

}  // namespace nef::cpu
