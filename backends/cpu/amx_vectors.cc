// SPDX-License-Identifier: Apache-2.0
// Products of operands in AMX's layout where a CPU has only the dot products of AVX-512: VNNI of
// bytes, BF16 of bfloat16. A row of a B tile is a vector; four bytes of A are spread over one. The
// rows of both tiles of a panel lie in turn, so that B is read in the order of memory: the
// prefetchers of Zen 4 follow nothing else.
#include "backends/cpu/amx_vectors.h"

#include <hwy/detect_compiler_arch.h>

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <immintrin.h>

#include <cstring>

#include "backends/cpu/device.h"

namespace nef::cpu {
// GCC takes the undefined registers of its own intrinsics for a fault of ours.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
namespace {

// One set for both kinds, so that they can share templates; each runs only its own dot product.
#define NEF_DOTS __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,avx512bf16")))

constexpr int64_t kTileBytes = 1024, kRowBytes = 64, kSteps = 16;  // of a tile
constexpr int64_t kPairBytes = 2 * kRowBytes;                      // a row of both tiles of a panel
constexpr int64_t kRows = 8;                   // at a time: with two vectors each, 16 sums
constexpr int64_t kResidentBytes = 512 << 10;  // of B that stay in L2
constexpr int64_t kFarBytes = 512 << 10;       // of C, from which on its lines are fetched ahead
constexpr int64_t kGroup = 2048;               // most columns of a group
// Up to so many rows some processors run far enough ahead of the products by themselves, and more
// slowly if they are told what to fetch.
constexpr int kUnhurried = 5;
constexpr int64_t kAhead = 8192;  // bytes of B that others, and more rows, ask for ahead

// A product, whatever its elements: rows and columns of `depth` bytes.
struct Problem {
  int64_t m, n, depth;
  const uint8_t *a, *b;
  void* c;
  int64_t ldc;
  int64_t a_row, a_step;  // bytes between rows of A, and between 64 bytes of a row and the next 64
  bool packed;
  bool piece;  // c is room for a piece
  bool far;    // C is fetched ahead

  const uint8_t* row(int64_t i) const {
    if (!packed) return a + i * a_row;
    return a + i / kAmxTile * kAmxTile * depth + i % kAmxTile * kRowBytes;
  }
};

// What is added to the sums of each column of a group, and to those of each row.
struct Moved {
  alignas(64) uint32_t columns[kGroup];
  uint32_t rows[kAmxPanel];
};

struct Floats {
  using Sum = __m512;
  using Out = int32_t;
  NEF_DOTS static Sum zero() { return _mm512_setzero_ps(); }
  NEF_DOTS static Sum add(Sum x, Sum y) { return _mm512_add_ps(x, y); }
  NEF_DOTS static Sum dot(Sum sum, __m512i a, __m512i b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
  }
  NEF_DOTS static __m512i a(__m512i x) { return x; }
  NEF_DOTS static __m512i b(__m512i x) { return x; }
  NEF_DOTS static __m512i result(Sum sum, const uint32_t*, uint32_t) {
    return _mm512_castps_si512(sum);
  }
  NEF_DOTS static void move_rows(const Problem&, int64_t, int64_t, Moved*) {}
  NEF_DOTS static void move_columns(const Problem&, const uint8_t*, uint32_t*) {}
};
// Their sums leave as bfloat16.
struct RoundedFloats : Floats {
  using Out = uint16_t;
};

// vpdpbusd multiplies unsigned A by signed B. Others become such by turning their highest bit,
// which moves them by 128: a b = (a' - 128) b' = a' (b' + 128), so that sums over the other side,
// taken once, are added.
template <bool kSignedA, bool kUnsignedB>
struct Bytes {
  // The type that the instruction has in GCC, which else copies every sum in every step.
  typedef int32_t Sum __attribute__((vector_size(64)));
  using Out = int32_t;
  NEF_DOTS static Sum zero() { return Sum{}; }
  NEF_DOTS static Sum add(Sum x, Sum y) { return (Sum)_mm512_add_epi32((__m512i)x, (__m512i)y); }
  NEF_DOTS static Sum dot(Sum sum, __m512i a, __m512i b) {
    return (Sum)_mm512_dpbusd_epi32((__m512i)sum, a, b);
  }
  NEF_DOTS static __m512i turned(__m512i x) {
    return _mm512_xor_si512(x, _mm512_set1_epi8(static_cast<char>(0x80)));
  }
  NEF_DOTS static __m512i a(__m512i x) { return kSignedA ? turned(x) : x; }
  NEF_DOTS static __m512i b(__m512i x) { return kUnsignedB ? turned(x) : x; }
  NEF_DOTS static __m512i result(Sum sum, const uint32_t* columns, uint32_t row) {
    if constexpr (kSignedA) sum = add(sum, (Sum)_mm512_loadu_si512(columns));
    if constexpr (kUnsignedB) sum = add(sum, (Sum)_mm512_set1_epi32(static_cast<int>(row)));
    return (__m512i)sum;
  }
  // + 128 times the sum of a', and what both being moved adds: - 128 * 128 for each byte.
  NEF_DOTS static void move_rows(const Problem& g, int64_t first, int64_t count, Moved* moved) {
    if constexpr (!kUnsignedB) return;
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t* x = g.row(first + i);
      Sum sum = zero();
      for (int64_t p = 0; p < g.depth; p += kRowBytes, x += g.a_step) {
        sum = dot(sum, a(_mm512_loadu_si512(x)), _mm512_set1_epi8(1));
      }
      const auto total = static_cast<uint32_t>(_mm512_reduce_add_epi32((__m512i)sum));
      const uint32_t both = kSignedA ? (uint32_t{1} << 14) * static_cast<uint32_t>(g.depth) : 0;
      moved->rows[i] = 128 * total - both;
    }
  }
  // - 128 times the sum of b'.
  NEF_DOTS static void move_columns(const Problem& g, const uint8_t* panel, uint32_t* columns) {
    if constexpr (!kSignedA) return;
    Sum low = zero(), high = low, low2 = low, high2 = low;
    const __m512i ones = _mm512_set1_epi8(1);
    for (const uint8_t* end = panel + kAmxPanel * g.depth; panel < end; panel += 2 * kPairBytes) {
      low = dot(low, ones, b(_mm512_loadu_si512(panel)));
      high = dot(high, ones, b(_mm512_loadu_si512(panel + kRowBytes)));
      low2 = dot(low2, ones, b(_mm512_loadu_si512(panel + 2 * kRowBytes)));
      high2 = dot(high2, ones, b(_mm512_loadu_si512(panel + 3 * kRowBytes)));
    }
    low = add(low, low2), high = add(high, high2);
    const __m512i none = _mm512_setzero_si512();
    _mm512_store_si512(columns, _mm512_sub_epi32(none, _mm512_slli_epi32((__m512i)low, 7)));
    _mm512_store_si512(columns + kAmxTile,
                       _mm512_sub_epi32(none, _mm512_slli_epi32((__m512i)high, 7)));
  }
};

template <class Kind>
NEF_DOTS inline __m512i spread(const uint8_t* a) {
  int32_t four;
  std::memcpy(&four, a, sizeof four);
  return Kind::a(_mm512_set1_epi32(four));
}

// The place of a tile of C, which of its columns there are, and what is added to its sums.
template <class Kind>
struct Place {
  typename Kind::Out* c;
  int64_t ldc;
  __mmask16 low, high;
  const uint32_t *columns, *rows;
};
template <class Kind>
NEF_DOTS inline void store(const Place<Kind>& to, int64_t i, typename Kind::Sum p,
                           typename Kind::Sum q) {
  auto* c = to.c + i * to.ldc;
  if constexpr (sizeof(*c) == 2) {
    _mm256_mask_storeu_epi16(c, to.low, (__m256i)_mm512_cvtneps_pbh(p));
    _mm256_mask_storeu_epi16(c + kAmxTile, to.high, (__m256i)_mm512_cvtneps_pbh(q));
  } else {
    _mm512_mask_storeu_epi32(c, to.low, Kind::result(p, to.columns, to.rows[i]));
    _mm512_mask_storeu_epi32(c + kAmxTile, to.high,
                             Kind::result(q, to.columns + kAmxTile, to.rows[i]));
  }
}

// GCC else reads a row of bytes again for each product.
NEF_DOTS inline __m512i load_once(const uint8_t* row) {
  __m512i x = _mm512_loadu_si512(row);
  asm volatile("" : "+v"(x));
  return x;
}

// kCount rows of a row tile by a panel, over all of the depth. Few rows have several sums for each
// column, as one alone would wait on itself. The sums have names, as arrays of vectors spill.
template <class Kind, int kCount>
[[gnu::noinline]] NEF_DOTS void several_rows(const Problem& g, const uint8_t* a, const uint8_t* b,
                                             const Place<Kind>& to) {
  constexpr int kSums = kCount <= 4 ? 2 : 1;
#define NEF_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define NEF_DECLARE(i) auto p##i = Kind::zero(), q##i = Kind::zero();
  NEF_EACH(NEF_DECLARE)
  const int64_t a_row = g.a_row, a_step = g.a_step;
  const bool asks = kCount > kUnhurried || !reads_ahead_by_itself();
  for (int64_t at = 0; at < g.depth; at += kRowBytes, a += a_step) {
    for (int64_t step = 0; step < kSteps; step += kSums, b += kSums * kPairBytes) {
      for (int64_t i = 0; asks && i < 2 * kSums; ++i) {
        _mm_prefetch(b + kAhead + i * kRowBytes, _MM_HINT_T1);
      }
#define NEF_LOAD(i)                                               \
  __m512i low##i = {}, high##i = {};                              \
  if constexpr (i < kSums) {                                      \
    low##i = Kind::b(load_once(b + i * kPairBytes));              \
    high##i = Kind::b(load_once(b + i * kPairBytes + kRowBytes)); \
  }
      NEF_LOAD(0)
      NEF_LOAD(1)
#define NEF_ROW(i)                                                              \
  if constexpr (i < kCount * kSums) {                                           \
    constexpr int kStep = i % kSums;                                            \
    const __m512i x = spread<Kind>(a + i / kSums * a_row + 4 * (step + kStep)); \
    p##i = Kind::dot(p##i, x, kStep == 0 ? low0 : low1);                        \
    q##i = Kind::dot(q##i, x, kStep == 0 ? high0 : high1);                      \
  }
      NEF_EACH(NEF_ROW)
    }
  }
#undef NEF_ROW
#undef NEF_LOAD
  if constexpr (kSums == 2) {
    p0 = Kind::add(p0, p1), q0 = Kind::add(q0, q1);
    p1 = Kind::add(p2, p3), q1 = Kind::add(q2, q3);
    p2 = Kind::add(p4, p5), q2 = Kind::add(q4, q5);
    p3 = Kind::add(p6, p7), q3 = Kind::add(q6, q7);
  }
#define NEF_STORE(i) \
  if constexpr (i < kCount) store<Kind>(to, i, p##i, q##i);
  NEF_EACH(NEF_STORE)
#undef NEF_STORE
#undef NEF_DECLARE
#undef NEF_EACH
}

template <class Kind>
NEF_DOTS void run_rows(int64_t count, const Problem& g, const uint8_t* a, const uint8_t* b,
                       const Place<Kind>& to) {
  switch (count) {
    case 1: return several_rows<Kind, 1>(g, a, b, to);
    case 2: return several_rows<Kind, 2>(g, a, b, to);
    case 3: return several_rows<Kind, 3>(g, a, b, to);
    case 4: return several_rows<Kind, 4>(g, a, b, to);
    case 5: return several_rows<Kind, 5>(g, a, b, to);
    case 6: return several_rows<Kind, 6>(g, a, b, to);
    case 7: return several_rows<Kind, 7>(g, a, b, to);
    default: return several_rows<Kind, 8>(g, a, b, to);
  }
}

__mmask16 first_lanes(int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1 << count) - 1);
}

// Rows [i, i + count) by the panel of column j.
template <class Kind>
NEF_DOTS void rows_by_panel(const Problem& g, int64_t i, int64_t count, int64_t j,
                            typename Kind::Out* c, const uint32_t* columns, const uint32_t* rows) {
  const uint8_t* panel = g.b + j * g.depth;
  Place<Kind> to{c, g.ldc, first_lanes(g.n - j), first_lanes(g.n - j - kAmxTile), columns, rows};
  for (int64_t r = 0; r < count; r += kRows) {
    for (int64_t i = r; g.far && i < std::min(count, r + kRows); ++i) {
      __builtin_prefetch(c + i * g.ldc, 1);
      __builtin_prefetch(c + i * g.ldc + kAmxTile, 1);
    }
    run_rows<Kind>(std::min(kRows, count - r), g, g.row(i + r), panel, to);
    to.c += kRows * g.ldc;
    to.rows += kRows;
  }
}

// Columns in groups that stay in L2 while all rows pass; finish(row, rows, col, cols, c) after each
// piece of C.
template <class Kind, class Finish>
NEF_DOTS void multiply_all(const Problem& g, const Finish& finish) {
  Moved moved;
  const int64_t panels =
      std::clamp<int64_t>(kResidentBytes / g.depth / kAmxPanel, 1, kGroup / kAmxPanel);
  for (int64_t j0 = 0; j0 < g.n; j0 += panels * kAmxPanel) {
    const int64_t j1 = std::min(g.n, j0 + panels * kAmxPanel);
    for (int64_t i = 0; i < g.m; i += kAmxPanel) {
      const int64_t count = std::min(kAmxPanel, g.m - i);
      Kind::move_rows(g, i, count, &moved);
      for (int64_t f = j0; f < j1; f += kAmxPiece) {
        const int64_t end = std::min(j1, f + kAmxPiece);
        auto* c = static_cast<typename Kind::Out*>(g.c) + (g.piece ? 0 : i * g.ldc + f);
        for (int64_t j = f; j < end; j += kAmxPanel) {
          uint32_t* columns = moved.columns + (j - j0);
          if (i == 0) Kind::move_columns(g, g.b + j * g.depth, columns);
          rows_by_panel<Kind>(g, i, count, j, c + (j - f), columns, moved.rows);
        }
        finish(i, count, f, end - f, c);
      }
    }
  }
}

constexpr auto kNothing = [](int64_t, int64_t, int64_t, int64_t, void*) {};

template <bool kSignedA, bool kUnsignedB>
void multiply_bytes(const Problem& g) {
  multiply_all<Bytes<kSignedA, kUnsignedB>>(g, kNothing);
}

template <class Block>
Problem make_problem(const Block& g, const uint8_t* a, int64_t row_bytes, int64_t depth,
                     bool piece) {
  const bool packed = row_bytes == 0;
  return {g.m,
          g.n,
          depth,
          a,
          reinterpret_cast<const uint8_t*>(g.b),
          g.c,
          g.ldc,
          packed ? kRowBytes : row_bytes,
          packed ? kTileBytes : kRowBytes,
          packed,
          piece,
          !piece && g.m * g.n * 4 >= kFarBytes};
}

}  // namespace

void multiply_by_vectors(const AmxBlock& g) {
  Problem problem = make_problem(g, reinterpret_cast<const uint8_t*>(g.a), 2 * g.a_row,
                                 2 * amx_depth(g.k), g.piece);
  if (g.rounded != nullptr) {
    problem.c = g.rounded;
    return multiply_all<RoundedFloats>(problem, kNothing);
  }
  multiply_all<Floats>(problem, [&](int64_t i, int64_t rows, int64_t j, int64_t cols, int32_t* c) {
    if (g.tile == nullptr) return;
    g.tile(g.context, g.row0 + i, g.col0 + j, rows, cols, reinterpret_cast<float*>(c), g.ldc);
  });
}

void multiply_bytes_by_vectors(const AmxByteBlock& g) {
  const Problem problem = make_problem(g, g.a, g.a_row, amx_byte_depth(g.k), false);
  if (g.a_signed) {
    g.b_signed ? multiply_bytes<true, false>(problem) : multiply_bytes<true, true>(problem);
  } else {
    g.b_signed ? multiply_bytes<false, false>(problem) : multiply_bytes<false, true>(problem);
  }
}

}  // namespace nef::cpu

#endif
