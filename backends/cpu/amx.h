// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <algorithm>
#include <cstdint>

#include "backends/cpu/gemm.h"

// Products of bfloat16 matrices with float32 sums on AMX tiles (x86 since Sapphire Rapids), or by
// vectors where there are none (amx_vectors.h).
//
// Both operands are packed: A as row tiles, [m / 16][k / 32] tiles of 16 rows x 32; B as panels of
// 32 columns, [n / 32][k / 32] pairs of tiles of 32 x 16, in which two neighbours along k lie side
// by side. Where there are no tiles, the rows of such a pair lie in turn. Both are padded with
// zeros. float32 is rounded to nearest even on the way in; subnormal numbers count as zero.
namespace nef::cpu {

constexpr int64_t kAmxTile = 16;    // rows of a tile
constexpr int64_t kAmxDepth = 32;   // elements of a tile along k
constexpr int64_t kAmxPanel = 32;   // columns of a panel of B, and the rows that one step takes
constexpr int64_t kAmxPiece = 256;  // columns of C that are finished at a time

// C[m][n] = A[m][k] B[k][n], one core.
struct AmxBlock {
  int64_t m = 0, n = 0, k = 0;
  const uint16_t* a = nullptr;
  const uint16_t* b = nullptr;
  float* c = nullptr;
  int64_t ldc = 0;
  int64_t row0 = 0, col0 = 0;  // position of C in the whole matrix, for `tile`
  TileFn<float> tile = nullptr;
  const void* context = nullptr;
  int64_t a_row = 0;  // not 0: A is not packed, and its rows lie so far apart; see reads_rows
  // Does C only pass through `tile`? Then c is room for a piece of it, of at most kAmxPanel rows
  // and kAmxPiece columns, and ldc is kAmxPiece; `tile` is told how far apart rows are in the end.
  bool piece = false;
  // Not null, where AmxOps::rounds(): C becomes bfloat16 here instead, rows ldc apart; `c` and
  // `tile` are not used.
  uint16_t* rounded = nullptr;
};

// The same of 8-bit integers, exact sums that wrap at 32 bits. A tile is 64 elements deep, and four
// neighbours along k lie side by side in B.
struct AmxByteBlock {
  int64_t m = 0, n = 0, k = 0;
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;
  bool a_signed = false, b_signed = false;
  int32_t* c = nullptr;
  int64_t ldc = 0;
  int64_t a_row = 0;  // as in AmxBlock
};

// Where the columns of a row of a panel come from: column j of run r from x[j + shift[r]].
struct ByteRuns {
  static constexpr int kMost = 4;
  int count = 0;
  int64_t shift[kMost];
  uint32_t columns[kMost];  // a bit for each

  void add(int64_t first, int64_t n, int64_t from) {
    shift[count] = from - first;
    columns[count++] = (n == kAmxPanel ? ~uint32_t{0} : (uint32_t{1} << n) - 1) << first;
  }
};

struct AmxOps {
  const char* name;  // of what multiplies
  bool tiles;        // on AMX: many times as fast as float32, not only twice

  // Can A be read as it lies, `rows` contiguous rows of `bytes` bytes? If they fill whole tile rows
  // and do not all fall into the same places of the caches.
  bool reads_rows(int64_t rows, int64_t bytes) const {
    const bool apart = tiles ? bytes % 2048 != 0 : rows <= kFewRows || bytes % 4096 != 0;
    return bytes % 64 == 0 && apart;
  }
  static constexpr int64_t kFewRows = 8;  // of one place of the caches, that are there together
  bool rounds() const { return !tiles; }
  // A[m][k], element (i, p) at a[i * row + p * col]; float32 or bfloat16.
  void (*pack_a)(nef_dtype dtype, const void* a, int64_t row, int64_t col, int64_t m, int64_t k,
                 uint16_t* out);
  // B[k][n], element (p, j) at b[p * row + j * col]; float32 or bfloat16.
  void (*pack_b)(nef_dtype dtype, const void* b, int64_t row, int64_t col, int64_t k, int64_t n,
                 uint16_t* out);
  void (*block)(const AmxBlock& g);
  // Rows of floats, `from_row` apart, as bfloat16; subnormal ones become 0.
  void (*narrow)(const float* from, int64_t from_row, int64_t rows, int64_t cols, uint16_t* to,
                 int64_t to_row);
  // No infinity and no NaN among packed bfloat16?
  bool (*all_finite)(const uint16_t* x, int64_t n);
  // As pack_a and pack_b, of contiguous rows.
  void (*pack_a_bytes)(const uint8_t* a, int64_t row, int64_t m, int64_t k, uint8_t* out);
  void (*pack_b_bytes)(const uint8_t* b, int64_t row, int64_t k, int64_t n, uint8_t* out);
  void (*block_bytes)(const AmxByteBlock& g);
  // Takes off n sums of a row what zero points added: c[j] -= a_zero * sums[j] + zeros[j] * part;
  // without `zeros`, they are 0.
  void (*take_zeros_off)(int64_t n, int32_t a_zero, const int32_t* sums, int32_t part,
                         const int32_t* zeros, int32_t* c);
  // Rows of a panel of B, `to_row` apart, from rows of x; columns in no run are `pad`.
  void (*gather_rows)(const uint8_t* x, int64_t x_row, int64_t rows, const ByteRuns& runs,
                      uint8_t pad, uint8_t* to, int64_t to_row);
  // sums[j] of each of kAmxPanel columns over k rows.
  void (*add_columns)(const uint8_t* panel, int64_t k, bool is_signed, int32_t* sums);
};

// Products of bfloat16 on AMX, or else by the dot products of AVX512_BF16. Null where the CPU has
// neither, the system does not permit it, or NEF_CPU_TARGET forces less. Asks the CPU each time,
// which is slow in a virtual machine: kernels keep the answer.
const AmxOps* amx_ops();
// The same of bytes: on AMX, or by AVX512_VNNI.
const AmxOps* amx_byte_ops();

inline int64_t amx_depth(int64_t k) { return round_up(std::max<int64_t>(k, 1), kAmxDepth); }
inline int64_t amx_byte_depth(int64_t k) { return round_up(std::max<int64_t>(k, 1), 64); }
inline int64_t amx_a_bytes(int64_t m, int64_t k) {
  return round_up(m, kAmxTile) * amx_byte_depth(k);
}
inline int64_t amx_b_bytes(int64_t k, int64_t n) {
  return round_up(n, kAmxPanel) * amx_byte_depth(k);
}
inline int64_t amx_a_size(int64_t m, int64_t k) { return round_up(m, kAmxTile) * amx_depth(k); }
inline int64_t amx_b_size(int64_t k, int64_t n) { return round_up(n, kAmxPanel) * amx_depth(k); }

}  // namespace nef::cpu
