// SPDX-License-Identifier: Apache-2.0
// AMX kernels by intrinsics: Highway has none.
#include "backends/cpu/amx.h"

#include "backends/cpu/amx_pack.h"
#include "backends/cpu/amx_vectors.h"
#include "backends/cpu/amx_windows.h"
#include "backends/cpu/targets.h"

#include <hwy/highway.h>

#include <algorithm>

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace nef::cpu {

#if HWY_ARCH_X86_64 && defined(__linux__)
// GCC takes the undefined registers of its own intrinsics for a fault of ours.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
namespace {

#define NEF_AVX512 __attribute__((target("avx512f")))
#define NEF_AMX __attribute__((target("amx-tile,amx-bf16,amx-int8,avx512f")))

constexpr int64_t kTileBytes = 1024, kRowBytes = 64;
constexpr int64_t kResidentBytes = 512 << 10;  // of B that stay in L2, beside the next as many
constexpr int64_t kAheadSteps = 2;             // of a panel, fetched into L1 ahead
constexpr int64_t kPieceColumns = 64;          // of C that only passes through, and stays in L1
constexpr int64_t kFarBytes = 128 << 10;       // of C, from which on its lines are fetched ahead

struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Tiles for `rows` rows of C: 0, 1 and 4 hold the upper 16, 2, 3 and 5 those below; 6 and 7 are of
// B. In memory that lives on, as the compiler does not see that an instruction reads it.
struct TileConfigs {
  TileConfigs() {
    for (int rows = 1; rows <= kAmxPanel; ++rows) {
      TileConfig& c = of[rows];
      const int upper = std::min<int>(rows, kAmxTile), lower = std::max(1, rows - upper);
      const int tile_rows[8] = {upper, upper, lower, lower, upper, lower, kAmxTile, kAmxTile};
      for (int i = 0; i < 8; ++i) {
        c.row_bytes[i] = 64;
        c.rows[i] = static_cast<uint8_t>(tile_rows[i]);
      }
    }
  }
  TileConfig of[kAmxPanel + 1];
};

// ---- products. Nothing here writes memory before it loads tiles from it: the compiler does not
// see what a tile load reads.

// What the elements of A and B are; those of C have 32 bits.
enum class Kind { kBfloat, kSignedSigned, kSignedUnsigned, kUnsignedSigned, kUnsignedUnsigned };

#define NEF_DOT(c, a, b)                                 \
  if constexpr (kKind == Kind::kBfloat) {                \
    _tile_dpbf16ps(c, a, b);                             \
  } else if constexpr (kKind == Kind::kSignedSigned) {   \
    _tile_dpbssd(c, a, b);                               \
  } else if constexpr (kKind == Kind::kSignedUnsigned) { \
    _tile_dpbsud(c, a, b);                               \
  } else if constexpr (kKind == Kind::kUnsignedSigned) { \
    _tile_dpbusd(c, a, b);                               \
  } else {                                               \
    _tile_dpbuud(c, a, b);                               \
  }

inline void prefetch_tile(const uint8_t* tile) {
  for (int64_t i = 0; i < kTileBytes; i += 64) _mm_prefetch(tile + i, _MM_HINT_T0);
}

// Operands of a product, whatever their elements: rows and columns of `depth` bytes.
struct Operands {
  int64_t m, n, depth;
  const uint8_t *a, *b;
  uint32_t* c;
  int64_t ldc;
  int64_t columns;                // finished at a time
  bool piece;                     // c is room for so many
  bool far;                       // C is fetched ahead
  int64_t a_row, a_step, a_tile;  // bytes between rows of A, its tiles along k, its row tiles
};

// What L2 shall have next: `lines` lines in each step.
struct Ahead {
  const uint8_t* at;
  int64_t lines;
};

// kTiles row tiles times one panel, over all of k. The next steps of B are fetched ahead.
template <Kind kKind, int kTiles>
NEF_AMX inline void multiply(const Operands& g, const uint8_t* a, const uint8_t* b, uint32_t* c,
                             int64_t ldc, Ahead ahead) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTiles == 2) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const int64_t a_step = g.a_step, a_next = g.a_tile;
  const auto a_row = static_cast<size_t>(g.a_row);
  constexpr int64_t kRows = kTiles * kAmxTile;
  const int64_t far_rows = g.far ? ceil_div(kRows * kRowBytes, g.depth) : 0;
  for (int64_t p = 0; p < g.depth; p += kRowBytes, a += a_step, b += 2 * kTileBytes) {
    _tile_loadd(6, b, kRowBytes);
    _tile_loadd(4, a, a_row);
    prefetch_tile(b + 2 * kAheadSteps * kTileBytes);
    NEF_DOT(0, 4, 6)
    _tile_loadd(7, b + kTileBytes, kRowBytes);
    prefetch_tile(b + (2 * kAheadSteps + 1) * kTileBytes);
    NEF_DOT(1, 4, 7)
    if constexpr (kTiles == 2) {
      _tile_loadd(5, a + a_next, a_row);
      NEF_DOT(2, 5, 6)
      NEF_DOT(3, 5, 7)
    }
    for (int64_t i = 0; i < ahead.lines; ++i, ahead.at += 64) _mm_prefetch(ahead.at, _MM_HINT_T1);
    const int64_t far = p / kRowBytes * far_rows;
    for (int64_t i = far; i < std::min(kRows, far + far_rows); ++i) {
      __builtin_prefetch(c + i * ldc, 1);
      __builtin_prefetch(c + i * ldc + kAmxTile, 1);
    }
  }
  const size_t stride = static_cast<size_t>(ldc) * sizeof(uint32_t);
  _tile_stored(0, c, stride);
  _tile_stored(1, c + kAmxTile, stride);
  if constexpr (kTiles == 2) {
    _tile_stored(2, c + kAmxTile * ldc, stride);
    _tile_stored(3, c + kAmxTile * ldc + kAmxTile, stride);
  }
}
#undef NEF_DOT

// Rows [i, i + 32) times one panel; c is their place.
template <Kind kKind>
NEF_AMX inline void multiply_tile(const Operands& g, int64_t i, int64_t j, uint32_t* c,
                                  Ahead ahead) {
  const int64_t rows = std::min(kAmxPanel, g.m - i), cols = std::min(kAmxPanel, g.n - j);
  const uint8_t *a = g.a + i / kAmxTile * g.a_tile, *b = g.b + j * g.depth;
  const bool whole = g.piece || cols == kAmxPanel;
  alignas(64) uint32_t edge[kAmxPanel * kAmxPanel];
  uint32_t* to = whole ? c : edge;
  const int64_t ldc = whole ? g.ldc : kAmxPanel;
  if (rows > kAmxTile) {
    multiply<kKind, 2>(g, a, b, to, ldc, ahead);
  } else {
    multiply<kKind, 1>(g, a, b, to, ldc, ahead);
  }
  if (whole) return;
  for (int64_t r = 0; r < rows; ++r) std::copy_n(edge + r * kAmxPanel, cols, c + r * g.ldc);
}

// Columns in groups that stay in L2 while all rows pass, and meanwhile the next group comes there;
// finish(row, rows, col, cols, c) after each piece of C.
template <Kind kKind, class Finish>
NEF_AMX void multiply_all(const Operands& g, const Finish& finish) {
  static const TileConfigs configs;
  const int64_t group = std::max<int64_t>(1, kResidentBytes / g.depth / kAmxPanel) * kAmxPanel;
  // A panel has 32 lines in each step, and as many passes fetch it as there are blocks of rows.
  const int64_t lines = g.n <= group ? 0 : ceil_div(kAmxPanel, ceil_div(g.m, kAmxPanel));
  for (int64_t j0 = 0; j0 < g.n; j0 += group) {
    const int64_t j1 = std::min(g.n, j0 + group);
    for (int64_t i = 0; i < g.m; i += kAmxPanel) {
      const int64_t rows = std::min(kAmxPanel, g.m - i);
      // At every entry: other code in this thread may have set its own.
      if (i == 0 || rows < kAmxPanel) _tile_loadconfig(&configs.of[rows]);
      for (int64_t f = j0; f < j1; f += g.columns) {
        const int64_t end = std::min(j1, f + g.columns);
        uint32_t* c = g.piece ? g.c : g.c + i * g.ldc + f;
        for (int64_t j = f; j < end; j += kAmxPanel) {
          const int64_t next = (j + group < g.n ? j + group : j - j0) * g.depth;
          const Ahead ahead = {g.b + next + i / kAmxPanel * g.depth * lines, lines};
          multiply_tile<kKind>(g, i, j, c + (j - f), ahead);
        }
        finish(i, rows, f, end - f, c);
      }
    }
  }
  _tile_release();  // a thread that holds tiles is dearer to switch
}

template <class Block>
Operands operands_of(const Block& g, const void* a, int64_t row_bytes, int64_t depth, bool piece) {
  const bool packed = row_bytes == 0;
  return {g.m,
          g.n,
          depth,
          static_cast<const uint8_t*>(a),
          reinterpret_cast<const uint8_t*>(g.b),
          reinterpret_cast<uint32_t*>(g.c),
          piece ? kPieceColumns : g.ldc,
          piece ? kPieceColumns : kAmxPiece,
          piece,
          !piece && g.m * g.n * 4 >= kFarBytes,
          packed ? kRowBytes : row_bytes,
          packed ? kTileBytes : kRowBytes,
          kAmxTile * (packed ? depth : row_bytes)};
}

void block(const AmxBlock& g) {
  const Operands operands = operands_of(g, g.a, 2 * g.a_row, 2 * amx_depth(g.k), g.piece);
  multiply_all<Kind::kBfloat>(operands,
                              [&](int64_t i, int64_t rows, int64_t j, int64_t cols, uint32_t* c) {
                                if (g.tile == nullptr) return;
                                g.tile(g.context, g.row0 + i, g.col0 + j, rows, cols,
                                       reinterpret_cast<float*>(c), operands.ldc);
                              });
}

template <Kind kKind>
void multiply_bytes(const Operands& operands) {
  multiply_all<kKind>(operands, [](int64_t, int64_t, int64_t, int64_t, uint32_t*) {});
}
void block_bytes(const AmxByteBlock& g) {
  const Operands operands = operands_of(g, g.a, g.a_row, amx_byte_depth(g.k), false);
  if (g.a_signed) {
    g.b_signed ? multiply_bytes<Kind::kSignedSigned>(operands)
               : multiply_bytes<Kind::kSignedUnsigned>(operands);
  } else {
    g.b_signed ? multiply_bytes<Kind::kUnsignedSigned>(operands)
               : multiply_bytes<Kind::kUnsignedUnsigned>(operands);
  }
}

NEF_AVX512 void take_zeros_off(int64_t n, int32_t a_zero, const int32_t* sums, int32_t part,
                               const int32_t* zeros, int32_t* c) {
  const __m512i za = _mm512_set1_epi32(a_zero), rest = _mm512_set1_epi32(part);
  for (int64_t j = 0; j < n; j += 16) {
    const auto lanes = static_cast<__mmask16>(n - j >= 16 ? 0xffff : (1 << (n - j)) - 1);
    __m512i x = _mm512_mullo_epi32(za, _mm512_maskz_loadu_epi32(lanes, sums + j));
    if (zeros != nullptr) {
      const __m512i zb = _mm512_maskz_loadu_epi32(lanes, zeros + j);
      x = _mm512_add_epi32(x, _mm512_mullo_epi32(zb, rest));
    }
    const __m512i old = _mm512_maskz_loadu_epi32(lanes, c + j);
    _mm512_mask_storeu_epi32(c + j, lanes, _mm512_sub_epi32(old, x));
  }
}

// ---- detection

struct Features {
  bool amx = false, bf16 = false, vnni = false;
};

// Linux gives the tile registers to a process that asks; threads inherit it.
bool permitted() {
  constexpr long kRequest = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

Features detect() {
  Features out;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return out;
  const bool tiles = (d >> 24 & 1) != 0, bf16 = (d >> 22 & 1) != 0, int8 = (d >> 25 & 1) != 0;
  out.vnni = (c >> 11 & 1) != 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return out;
  out.bf16 = (a >> 5 & 1) != 0;
  out.amx = tiles && bf16 && int8 && out.bf16 && permitted();
  return out;
}
const Features& features() {
  static const Features features = detect();
  return features;
}
// Asked each time: tests force other targets.
bool allowed(int64_t targets) { return (hwy::SupportedTargets() & targets) != 0; }

constexpr AmxOps kAmx = {"amx",
                         true,
                         pack_amx_a,
                         pack_amx_b<TileOrder::kWhole>,
                         block,
                         narrow_floats,
                         all_finite_bfloats,
                         pack_amx_a_bytes,
                         pack_amx_b_bytes<TileOrder::kWhole>,
                         block_bytes,
                         take_zeros_off,
                         gather_byte_rows,
                         add_byte_columns};
constexpr AmxOps kVectors = {"avx512",
                             false,
                             pack_amx_a,
                             pack_amx_b<TileOrder::kRowsInTurn>,
                             multiply_by_vectors,
                             narrow_floats,
                             all_finite_bfloats,
                             pack_amx_a_bytes,
                             pack_amx_b_bytes<TileOrder::kRowsInTurn>,
                             multiply_bytes_by_vectors,
                             take_zeros_off,
                             gather_byte_rows,
                             add_byte_columns};

}  // namespace

const AmxOps* amx_ops() {
  if (features().amx && allowed(HWY_AVX3_SPR)) return &kAmx;
  return features().bf16 && allowed(HWY_AVX3_SPR | HWY_AVX3_ZEN4) ? &kVectors : nullptr;
}
const AmxOps* amx_byte_ops() {
  if (features().amx && allowed(HWY_AVX3_SPR)) return &kAmx;
  const int64_t wide = HWY_AVX3_SPR | HWY_AVX3_ZEN4 | HWY_AVX3_DL;
  return features().vnni && allowed(wide) ? &kVectors : nullptr;
}

#else

const AmxOps* amx_ops() { return nullptr; }
const AmxOps* amx_byte_ops() { return nullptr; }

#endif

}  // namespace nef::cpu
