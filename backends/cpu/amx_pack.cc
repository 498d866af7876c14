// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/amx_pack.h"

#include <hwy/detect_compiler_arch.h>

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace nef::cpu {
// GCC takes the undefined registers of its own intrinsics for a fault of ours.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
namespace {

#define NEF_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

constexpr int64_t kTileElements = kAmxTile * kAmxDepth;  // 1 KiB
constexpr int64_t kPanelStep = 2 * kTileElements;        // of one panel, one step along k
constexpr int64_t kTileBytes = 1024, kRowBytes = 64;

// How far apart the rows of a tile of B lie, and the tiles of a panel.
template <TileOrder kOrder>
constexpr int64_t kTileRow = kOrder == TileOrder::kWhole ? kRowBytes : 2 * kRowBytes;
template <TileOrder kOrder>
constexpr int64_t kNextTile = kOrder == TileOrder::kWhole ? kTileBytes : kRowBytes;

// 32 elements from `x`, `count` of them there, the others zero.
NEF_AVX512 inline __m512i load_float(const float* x, int64_t count) {
  if (count >= kAmxDepth) {
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + 16), _mm512_loadu_ps(x));
  }
  const uint32_t mask = count <= 0 ? 0 : (uint32_t{1} << count) - 1;
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), x);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), x + 16);
  return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}
NEF_AVX512 inline __m512i load_bfloat(const uint16_t* x, int64_t count) {
  if (count >= kAmxDepth) return _mm512_loadu_si512(x);
  const uint32_t mask = count <= 0 ? 0 : (uint32_t{1} << count) - 1;
  return _mm512_maskz_loadu_epi16(mask, x);
}
NEF_AVX512 inline __m512i load_run(const float* x, int64_t count) { return load_float(x, count); }
NEF_AVX512 inline __m512i load_run(const uint16_t* x, int64_t count) {
  return load_bfloat(x, count);
}

// As load_run, of elements `step` apart.
template <typename T>
NEF_AVX512 inline __m512i load_spread(const T* x, int64_t step, int64_t count) {
  T run[kAmxDepth] = {};
  for (int64_t i = 0; i < std::min(count, kAmxDepth); ++i) run[i] = x[i * step];
  return load_run(run, kAmxDepth);
}

// One row into its places in `depth / kAmxDepth` tiles.
template <typename T>
NEF_AVX512 inline void pack_a_row(const T* a, int64_t col, int64_t k, int64_t depth,
                                  uint16_t* out) {
  int64_t p = 0;
  for (; col == 1 && p + kAmxDepth <= k; p += kAmxDepth, out += kTileElements) {
    _mm512_store_si512(out, load_run(a + p, kAmxDepth));
  }
  for (; p < depth; p += kAmxDepth, out += kTileElements) {
    const T* src = a + p * col;
    _mm512_store_si512(out, col == 1 ? load_run(src, k - p) : load_spread(src, col, k - p));
  }
}

template <typename T>
NEF_AVX512 void pack_a_rows(const T* a, int64_t row, int64_t col, int64_t m, int64_t k,
                            uint16_t* out) {
  const int64_t depth = amx_depth(k);
  for (int64_t i = 0; i < round_up(m, kAmxTile); ++i) {
    uint16_t* dst = out + i / kAmxTile * kAmxTile * depth + i % kAmxTile * kAmxDepth;
    pack_a_row(a + i * row, col, i < m ? k : 0, depth, dst);
  }
}

// The lanes of `low` and `high`, 16 bits each, in turn: what two rows of B look like in a tile.
NEF_AVX512 inline __m512i rows_in_turn(const float* low, const float* high, __mmask16 mask) {
  const __m512 a = _mm512_maskz_loadu_ps(mask, low);
  const __m512 b = high == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, high);
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(b, a));
}
NEF_AVX512 inline __m512i rows_in_turn(const uint16_t* low, const uint16_t* high, __mmask16 mask) {
  const __m512i a = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, low));
  if (high == nullptr) return a;
  const __m512i b = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, high));
  return _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
}

// One panel from rows of B: neighbouring columns are neighbours in memory.
template <TileOrder kOrder, typename T>
NEF_AVX512 void pack_panel_rows(const T* b, int64_t row, int64_t k, int64_t cols, uint16_t* out) {
  const uint32_t mask = cols >= kAmxPanel ? ~uint32_t{0} : (uint32_t{1} << cols) - 1;
  const int64_t depth = amx_depth(k);
  for (int64_t p = 0; p < depth; p += 2) {
    uint16_t* dst = out + p / kAmxDepth * kPanelStep + p % kAmxDepth / 2 * (kTileRow<kOrder> / 2);
    for (int t = 0; t < 2; ++t, dst += kNextTile<kOrder> / 2) {
      const auto lanes = static_cast<__mmask16>(mask >> (16 * t));
      const T* low = b + p * row + kAmxTile * t;
      const __m512i x = p >= k ? _mm512_setzero_si512()
                               : rows_in_turn(low, p + 1 < k ? low + row : nullptr, lanes);
      _mm512_store_si512(dst, x);
    }
  }
}

// Rows and columns of 16 x 16 elements of 32 bits change places.
NEF_AVX512 inline void transpose(__m512i (&x)[16]) {
  __m512i y[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
  // x[4 g + r] has columns r, r + 4, r + 8 and r + 12 of rows 4 g to 4 g + 3.
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    const __m512i a = _mm512_shuffle_i32x4(x[r], x[4 + r], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(x[8 + r], x[12 + r], 0x88);
    const __m512i c = _mm512_shuffle_i32x4(x[r], x[4 + r], 0xdd);
    const __m512i d = _mm512_shuffle_i32x4(x[8 + r], x[12 + r], 0xdd);
    y[r] = _mm512_shuffle_i32x4(a, b, 0x88);
    y[r + 8] = _mm512_shuffle_i32x4(a, b, 0xdd);
    y[r + 4] = _mm512_shuffle_i32x4(c, d, 0x88);
    y[r + 12] = _mm512_shuffle_i32x4(c, d, 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) x[i] = y[i];
}

// One panel from columns of B: neighbours along k are neighbours in memory, or `row` apart.
template <TileOrder kOrder, typename T>
NEF_AVX512 void pack_panel_columns(const T* b, int64_t row, int64_t col, int64_t k, int64_t cols,
                                   uint16_t* out) {
  for (int64_t p = 0; p < amx_depth(k); p += kAmxDepth, out += kPanelStep) {
    uint16_t* dst = out;
    for (int64_t j = 0; j < kAmxPanel; j += kAmxTile, dst += kNextTile<kOrder> / 2) {
      const T* src = b + p * row + j * col;
      __m512i x[kAmxTile];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kAmxTile; ++i) {
        x[i] = i + j >= cols ? _mm512_setzero_si512()
               : row == 1    ? load_run(src + i * col, k - p)
                             : load_spread(src + i * col, row, k - p);
      }
      transpose(x);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kAmxTile; ++i) {
        _mm512_store_si512(dst + i * (kTileRow<kOrder> / 2), x[i]);
      }
    }
  }
}

template <TileOrder kOrder, typename T>
void pack_b_panels(const T* b, int64_t row, int64_t col, int64_t k, int64_t n, uint16_t* out) {
  for (int64_t j = 0; j < n; j += kAmxPanel, out += kAmxPanel * amx_depth(k)) {
    const int64_t cols = std::min(kAmxPanel, n - j);
    if (col == 1) {
      pack_panel_rows<kOrder>(b + j, row, k, cols, out);
    } else {
      pack_panel_columns<kOrder>(b + j * col, row, col, k, cols, out);
    }
  }
}

// Four rows of 16 bytes, element by element in turn.
inline void bytes_in_turn(const uint8_t* const* rows, uint8_t* out) {
  const auto load = [&](int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i]));
  };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab = _mm_unpacklo_epi8(a, b), cd = _mm_unpacklo_epi8(c, d);
  const __m128i ab1 = _mm_unpackhi_epi8(a, b), cd1 = _mm_unpackhi_epi8(c, d);
  auto* dst = reinterpret_cast<__m128i*>(out);
  _mm_store_si128(dst, _mm_unpacklo_epi16(ab, cd));
  _mm_store_si128(dst + 1, _mm_unpackhi_epi16(ab, cd));
  _mm_store_si128(dst + 2, _mm_unpacklo_epi16(ab1, cd1));
  _mm_store_si128(dst + 3, _mm_unpackhi_epi16(ab1, cd1));
}

template <TileOrder kOrder>
void pack_panel_bytes(const uint8_t* b, int64_t row, int64_t k, int64_t cols, uint8_t* out) {
  constexpr uint8_t kZeros[kAmxPanel] = {};
  uint8_t edge[4][kAmxPanel] = {};
  for (int64_t p = 0; p < amx_byte_depth(k); p += 4) {
    const uint8_t* rows[4];
    for (int64_t q = 0; q < 4; ++q) {
      rows[q] = p + q < k ? b + (p + q) * row : kZeros;
      if (p + q >= k || cols == kAmxPanel) continue;
      std::copy_n(rows[q], cols, edge[q]);
      rows[q] = edge[q];
    }
    uint8_t* dst = out + p / kRowBytes * 2 * kTileBytes + p % kRowBytes / 4 * kTileRow<kOrder>;
    bytes_in_turn(rows, dst);
    for (const uint8_t*& r : rows) r += kAmxTile;
    bytes_in_turn(rows, dst + kNextTile<kOrder>);
  }
}

}  // namespace

void pack_amx_a(nef_dtype dtype, const void* a, int64_t row, int64_t col, int64_t m, int64_t k,
                uint16_t* out) {
  if (dtype == NEF_FLOAT32) {
    pack_a_rows(static_cast<const float*>(a), row, col, m, k, out);
  } else {
    pack_a_rows(static_cast<const uint16_t*>(a), row, col, m, k, out);
  }
}

template <TileOrder kOrder>
void pack_amx_b(nef_dtype dtype, const void* b, int64_t row, int64_t col, int64_t k, int64_t n,
                uint16_t* out) {
  if (dtype == NEF_FLOAT32) {
    pack_b_panels<kOrder>(static_cast<const float*>(b), row, col, k, n, out);
  } else {
    pack_b_panels<kOrder>(static_cast<const uint16_t*>(b), row, col, k, n, out);
  }
}

template void pack_amx_b<TileOrder::kWhole>(nef_dtype, const void*, int64_t, int64_t, int64_t,
                                            int64_t, uint16_t*);
template void pack_amx_b<TileOrder::kRowsInTurn>(nef_dtype, const void*, int64_t, int64_t, int64_t,
                                                 int64_t, uint16_t*);

NEF_AVX512 void narrow_floats(const float* from, int64_t from_row, int64_t rows, int64_t cols,
                              uint16_t* to, int64_t to_row) {
  for (int64_t i = 0; i < rows; ++i, from += from_row, to += to_row) {
    int64_t j = 0;
    for (; j + kAmxDepth <= cols; j += kAmxDepth) {
      _mm512_storeu_si512(to + j, load_float(from + j, kAmxDepth));
    }
    if (j == cols) continue;
    const auto lanes = static_cast<__mmask32>((uint32_t{1} << (cols - j)) - 1);
    _mm512_mask_storeu_epi16(to + j, lanes, load_float(from + j, cols - j));
  }
}

NEF_AVX512 bool all_finite_bfloats(const uint16_t* x, int64_t n) {
  const __m512i exponent = _mm512_set1_epi16(0x7f80);
  __mmask32 found = 0;
  for (int64_t i = 0; i < n; i += kAmxDepth) {
    found |=
        _mm512_cmpeq_epi16_mask(_mm512_and_si512(_mm512_loadu_si512(x + i), exponent), exponent);
  }
  return found == 0;
}

void pack_amx_a_bytes(const uint8_t* a, int64_t row, int64_t m, int64_t k, uint8_t* out) {
  const int64_t depth = amx_byte_depth(k), whole = k / kRowBytes * kRowBytes;
  for (int64_t i = 0; i < round_up(m, kAmxTile); ++i) {
    uint8_t* dst = out + i / kAmxTile * kAmxTile * depth + i % kAmxTile * kRowBytes;
    const uint8_t* src = a + i * row;
    int64_t p = 0;
    for (; i < m && p < whole; p += kRowBytes, dst += kTileBytes) {
      std::memcpy(dst, src + p, kRowBytes);
    }
    for (; p < depth; p += kRowBytes, dst += kTileBytes) {
      std::memset(dst, 0, kRowBytes);
      if (i < m && p < k) std::memcpy(dst, src + p, static_cast<size_t>(k - p));
    }
  }
}

template <TileOrder kOrder>
void pack_amx_b_bytes(const uint8_t* b, int64_t row, int64_t k, int64_t n, uint8_t* out) {
  for (int64_t j = 0; j < n; j += kAmxPanel, out += kAmxPanel * amx_byte_depth(k)) {
    pack_panel_bytes<kOrder>(b + j, row, k, std::min(kAmxPanel, n - j), out);
  }
}

template void pack_amx_b_bytes<TileOrder::kWhole>(const uint8_t*, int64_t, int64_t, int64_t,
                                                  uint8_t*);
template void pack_amx_b_bytes<TileOrder::kRowsInTurn>(const uint8_t*, int64_t, int64_t, int64_t,
                                                       uint8_t*);

}  // namespace nef::cpu

#endif
