// SPDX-License-Identifier: Apache-2.0
// Register-blocked products of packed panels, for float and double, one per Highway target.
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/device.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_shape-inl.h"
#include "backends/cpu/half-inl.h"
#include "backends/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

template <typename T>
using Tag = GemmTag<T>;

// A vector of B as it is multiplied: of its own type, or of 16 bits an element.
struct HalfBits {
  uint16_t bits;
};
struct BrainBits {
  uint16_t bits;
};
template <class D>
HWY_INLINE hn::Vec<D> load_b(D d, const hn::TFromD<D>* b) {
  return hn::LoadU(d, b);
}
template <class D>
HWY_INLINE hn::Vec<D> load_b(D d, const HalfBits* b) {
  return widen<true>(d, hn::LoadU(hn::Rebind<uint16_t, D>(), &b->bits));
}
template <class D>
HWY_INLINE hn::Vec<D> load_b(D d, const BrainBits* b) {
  return widen<false>(d, hn::LoadU(hn::Rebind<uint16_t, D>(), &b->bits));
}

// Up to so many rows some processors run far enough ahead of the products by themselves, and more
// slowly if they are told what to fetch; on a Xeon four rows take 1.8 times as long without.
constexpr int kUnhurried = HWY_MAX_BYTES == 64 ? 5 : 2;
constexpr int64_t kAhead = 8192;  // bytes of B fetched ahead of more rows, where no others follow

// One MR x 2-vector tile of C. The accumulators are named variables, not an array: arrays of
// vectors spill, and sizeless vectors cannot be array elements. kPacked: A is [k][MR]. Without a
// `next`, B is read only once, and fetched well ahead; else a cache line behind `next` is fetched
// for every two steps of k. Where C is `far`, a row of the tile is too: stores to lines that are
// not there hold up the next tile.
template <int MR, bool kPacked, class D, typename B, typename T = hn::TFromD<D>>
HWY_NOINLINE void tile(D d, const T* HWY_RESTRICT a, int64_t a_row, int64_t a_k,
                       const B* HWY_RESTRICT b, const B* next, int64_t k, T* HWY_RESTRICT c,
                       int64_t ldc, bool accumulate, bool far) {
  using V = hn::Vec<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *row = c, *const end_row = far ? c + MR * ldc : c;
  constexpr int64_t kLine = 64 / sizeof(B);
  const int64_t fetched = next != nullptr ? kLine : std::max(kLine, 4 * lanes);
  if (next == nullptr) next = b + kAhead / sizeof(B);
  const bool asks = MR > kUnhurried || !reads_ahead_by_itself();
#define NEF_DECLARE(i) V p##i = hn::Zero(d), q##i = hn::Zero(d);
  NEF_ROWS(NEF_DECLARE)
#undef NEF_DECLARE
#define NEF_FMA(i)                                         \
  if constexpr (i < MR) {                                  \
    const V x = hn::Set(d, kPacked ? a[i] : a[i * a_row]); \
    p##i = hn::MulAdd(x, b0, p##i);                        \
    q##i = hn::MulAdd(x, b1, q##i);                        \
  }
#define NEF_STEP                       \
  {                                    \
    const V b0 = load_b(d, b);         \
    const V b1 = load_b(d, b + lanes); \
    NEF_ROWS(NEF_FMA)                  \
    a += kPacked ? MR : a_k;           \
    b += 2 * lanes;                    \
  }
  int64_t p = 0;
  for (; p + 2 <= k; p += 2) {
    if (asks) hwy::Prefetch(b + 16 * lanes);
    NEF_STEP
    if (asks) {
      __builtin_prefetch(next, 0, 2);
      if (fetched > kLine) {
        for (int64_t i = kLine; i < fetched; i += kLine) __builtin_prefetch(next + i, 0, 2);
      }
      next += fetched;
    }
    if (row < end_row) {
      __builtin_prefetch(row, 1);
      __builtin_prefetch(row + 2 * lanes - 1, 1);
      row += ldc;
    }
    NEF_STEP
  }
  if (p < k) NEF_STEP
#undef NEF_STEP
#undef NEF_FMA
    // Added at the end: sums of the passes stay apart, and are more exact for it.
#define NEF_ADD(i)                                           \
  if constexpr (i < MR) {                                    \
    p##i = hn::Add(p##i, hn::LoadU(d, c + i * ldc));         \
    q##i = hn::Add(q##i, hn::LoadU(d, c + i * ldc + lanes)); \
  }
  if (accumulate) {
    NEF_ROWS(NEF_ADD)
  }
#undef NEF_ADD
#define NEF_STORE(i)                          \
  if constexpr (i < MR) {                     \
    hn::StoreU(p##i, d, c + i * ldc);         \
    hn::StoreU(q##i, d, c + i * ldc + lanes); \
  }
  NEF_ROWS(NEF_STORE)
#undef NEF_STORE
}

// One row: four steps of k at once, since two accumulators alone would wait on each other.
template <class D, typename B, typename T = hn::TFromD<D>>
HWY_NOINLINE void tile_one_row(D d, const T* HWY_RESTRICT a, int64_t a_k, const B* HWY_RESTRICT b,
                               int64_t k, T* HWY_RESTRICT c, bool accumulate) {
  using V = hn::Vec<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V p0 = hn::Zero(d), p1 = p0, p2 = p0, p3 = p0, q0 = p0, q1 = p0, q2 = p0, q3 = p0;
#define NEF_STEP(i)                                                 \
  {                                                                 \
    const V x = hn::Set(d, a[i * a_k]);                             \
    p##i = hn::MulAdd(x, load_b(d, b + 2 * i * lanes), p##i);       \
    q##i = hn::MulAdd(x, load_b(d, b + (2 * i + 1) * lanes), q##i); \
  }
  const bool asks = !reads_ahead_by_itself();
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    if (asks) {
      hwy::Prefetch(b + 64 * lanes);
      hwy::Prefetch(b + 66 * lanes);
      hwy::Prefetch(b + 68 * lanes);
      hwy::Prefetch(b + 70 * lanes);
    }
    NEF_STEP(0) NEF_STEP(1) NEF_STEP(2) NEF_STEP(3) a += 4 * a_k;
    b += 8 * lanes;
  }
  for (; i < k; ++i) {
    NEF_STEP(0)
    a += a_k;
    b += 2 * lanes;
  }
#undef NEF_STEP
  V p = hn::Add(hn::Add(p0, p1), hn::Add(p2, p3));
  V q = hn::Add(hn::Add(q0, q1), hn::Add(q2, q3));
  if (accumulate) {
    p = hn::Add(p, hn::LoadU(d, c));
    q = hn::Add(q, hn::LoadU(d, c + lanes));
  }
  hn::StoreU(p, d, c);
  hn::StoreU(q, d, c + lanes);
}

template <typename T>
void run_tile(int64_t rows, bool packed, const T* a, int64_t a_row, int64_t a_k, const T* b,
              const T* next, int64_t k, T* c, int64_t ldc, bool accumulate, bool far) {
  const Tag<T> d;
  if (rows == 1) return tile_one_row(d, a, packed ? 1 : a_k, b, k, c, accumulate);
  switch (rows) {
#define NEF_CASE(i)                                                                        \
  case i + 1:                                                                              \
    if (packed) return tile<i + 1, true>(d, a, 0, 0, b, next, k, c, ldc, accumulate, far); \
    return tile<i + 1, false>(d, a, a_row, a_k, b, next, k, c, ldc, accumulate, far);
    NEF_ROWS(NEF_CASE)
#undef NEF_CASE
  }
}

// Rows that multiply weights of 16 bits as they are: more are better served by one conversion.
constexpr int kNarrowRows = 8;

// The last panel may be narrower than the tile: computed beside C, then copied.
template <typename T>
HWY_NOINLINE void run_edge(int64_t rows, int64_t cols, bool packed, const T* a, int64_t a_row,
                           int64_t a_k, const T* b, const T* next, int64_t k, T* c, int64_t ldc,
                           bool accumulate) {
  HWY_ALIGN T buffer[kMr * kMaxNr<T>] = {};
  const int64_t width = 2 * static_cast<int64_t>(hn::Lanes(Tag<T>()));
  if (accumulate) {
    for (int64_t i = 0; i < rows; ++i) std::copy_n(c + i * ldc, cols, buffer + i * width);
  }
  run_tile(rows, packed, a, a_row, a_k, b, next, k, buffer, width, accumulate, false);
  for (int64_t i = 0; i < rows; ++i) std::copy_n(buffer + i * width, cols, c + i * ldc);
}

// out[p][j] = x[j][p] for `lines` of them, 4 or more; the last four may be some again. A cache line
// of each is read at a time, so that few of them need a place.
HWY_INLINE void pack_lines(const float* x, int64_t step, int64_t k, int64_t lines, float* out) {
  constexpr int64_t kRun = 16;
  const int64_t whole = k - k % 4;
  for (int64_t p0 = 0; p0 < whole; p0 += kRun) {
    const int64_t p1 = std::min(p0 + kRun, whole);
    for (int64_t i = 0; i < lines; i += 4) {
      const int64_t j = std::min(i, lines - 4);
      for (int64_t p = p0; p < p1; p += 4) {
        transpose_four<false>(x + j * step + p, step, out + p * lines + j, lines);
      }
    }
  }
  for (int64_t p = whole; p < k; ++p) {
    for (int64_t j = 0; j < lines; ++j) out[p * lines + j] = x[p + j * step];
  }
}

// Packs rows [0, rows) x [0, k) as [k][rows]. Contiguous rows are read in short runs so that both
// sides stay in a few cache lines.
template <typename T>
void pack_a_panel(const T* a, int64_t a_row, int64_t a_k, int64_t rows, int64_t k, T* out) {
  constexpr int64_t kRun = 16;
  if (a_row == 1) {
    for (int64_t p = 0; p < k; ++p) std::copy_n(a + p * a_k, rows, out + p * rows);
    return;
  }
  if constexpr (sizeof(T) == 4) {
    if (a_k == 1 && rows >= 4) return pack_lines(a, a_row, k, rows, out);
  }
  for (int64_t p0 = 0; p0 < k; p0 += kRun) {
    const int64_t run = std::min(kRun, k - p0);
    for (int64_t i = 0; i < rows; ++i) {
      const T* src = a + i * a_row + p0 * a_k;
      T* dst = out + p0 * rows + i;
      for (int64_t p = 0; p < run; ++p) dst[p * rows] = src[p * a_k];
    }
  }
}

template <typename T>
void pack_a(const T* a, int64_t a_row, int64_t a_k, int64_t m, int64_t k, T* out) {
  const int64_t panels = ceil_div(m, kMr);
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t row = panel_row(m, panels, p), end = panel_row(m, panels, p + 1);
    pack_a_panel(a + row * a_row, a_row, a_k, end - row, k, out + row * k);
  }
}

constexpr int64_t kDeep = 128;
constexpr int64_t kFarBytes = 512 << 10;  // a C this large is not in L2 when it is stored

template <typename T>
void block(const GemmBlock<T>& g) {
  const int64_t nr = 2 * static_cast<int64_t>(hn::Lanes(Tag<T>()));
  const int64_t panels = ceil_div(g.m, kMr);
  const int64_t end_panel = g.panel_end < 0 ? panels : g.panel_end;
  const int64_t group = std::max<int64_t>(1, g.blocking.mc / kMr);
  // A single row panel has nothing to reuse B for, so C stays in registers over all of K.
  const bool single = end_panel - g.panel_begin == 1;
  const int64_t deepest = std::max<int64_t>(1, g.blocking.kc * 4 / sizeof(T));
  const bool whole = single || g.k <= deepest + deepest / 2;
  const int64_t b_depth = g.b_depth > 0 ? g.b_depth : g.k;
  const int64_t passes = whole ? 1 : ceil_div(g.k, deepest);
  const int64_t kc = std::max<int64_t>(1, ceil_div(g.k, passes));
  const bool repack = g.a_buffer != nullptr && !g.a_packed && !single;
  for (int64_t p0 = g.panel_begin; p0 < end_panel; p0 += group) {
    const int64_t p1 = std::min(end_panel, p0 + group);
    const int64_t first_row = panel_row(g.m, panels, p0);
    const int64_t last_row = panel_row(g.m, panels, p1);
    int64_t k0 = 0;
    do {
      const int64_t depth = std::min(kc, g.k - k0);
      const bool done = k0 + depth >= g.k;
      for (int64_t p = p0; repack && p < p1; ++p) {
        const int64_t row = panel_row(g.m, panels, p), end = panel_row(g.m, panels, p + 1);
        pack_a_panel(g.a + row * g.a_row + k0 * g.a_k, g.a_row, g.a_k, end - row, depth,
                     g.a_buffer + (row - first_row) * depth);
      }
      // Rows of C may share a set of L1: where a call costs little beside its tile, each is
      // finished while it is there.
      const bool deep = depth >= kDeep;
      const bool far = deep && g.m * g.n * static_cast<int64_t>(sizeof(T)) >= kFarBytes;
      for (int64_t j = 0; j < g.n; j += nr) {
        const T* b = g.b + j * b_depth + k0 * nr;
        const int64_t cols = std::min(nr, g.n - j);
        for (int64_t p = p0; p < p1; ++p) {
          const int64_t row = panel_row(g.m, panels, p);
          const int64_t rows = panel_row(g.m, panels, p + 1) - row;
          const bool packed = repack || g.a_packed;
          const T* a = repack       ? g.a_buffer + (row - first_row) * depth
                       : g.a_packed ? g.a + row * g.k + k0 * rows
                                    : g.a + row * g.a_row + k0 * g.a_k;
          T* c = g.c + row * g.ldc + j;
          // The panel that follows is fetched meanwhile, a quarter of it by each row panel.
          const T* next = single ? nullptr : b + nr * b_depth + (p - p0) * (depth * nr / 4);
          const bool onto = g.accumulate || k0 > 0;
          if (cols == nr) {
            run_tile(rows, packed, a, g.a_row, g.a_k, b, next, depth, c, g.ldc, onto, far);
          } else {
            run_edge(rows, cols, packed, a, g.a_row, g.a_k, b, next, depth, c, g.ldc, onto);
          }
          if (done && g.tile != nullptr && deep) {
            g.tile(g.context, g.row0 + row, g.col0 + j, rows, cols, c, g.ldc);
          }
        }
        if (done && g.tile != nullptr && !deep) {
          g.tile(g.context, g.row0 + first_row, g.col0 + j, last_row - first_row, cols,
                 g.c + first_row * g.ldc + j, g.ldc);
        }
      }
      k0 += depth;
    } while (k0 < g.k);
  }
}

template <typename T>
void pack_b(const T* b, int64_t row, int64_t col, int64_t k, int64_t n, T* out) {
  constexpr int64_t kRun = 16;
  const int64_t nr = 2 * static_cast<int64_t>(hn::Lanes(Tag<T>()));
  for (int64_t j0 = 0; j0 < n; j0 += nr, out += k * nr) {
    const int64_t cols = std::min(nr, n - j0);
    if (col == 1) {
      for (int64_t p = 0; p < k; ++p) {
        T* dst = std::copy_n(b + p * row + j0, cols, out + p * nr);
        std::fill_n(dst, nr - cols, T(0));
      }
      continue;
    }
    if constexpr (sizeof(T) == 4) {
      if (row == 1 && cols == nr && nr >= 4) {
        pack_lines(b + j0 * col, col, k, nr, out);
        continue;
      }
    }
    for (int64_t p0 = 0; p0 < k; p0 += kRun) {
      const int64_t run = std::min(kRun, k - p0);
      for (int64_t j = 0; j < nr; ++j) {
        T* dst = out + p0 * nr + j;
        const T* src = b + p0 * row + (j0 + std::min(j, cols - 1)) * col;
        for (int64_t p = 0; p < run; ++p) dst[p * nr] = j < cols ? src[p * row] : T(0);
      }
    }
  }
}

// y[n] += x[0] b[0][n] + ... + x[kDepth - 1] b[kDepth - 1][n]
template <int kDepth, class D, typename T = hn::TFromD<D>>
HWY_INLINE void add_rows(D d, const T* x, const T* HWY_RESTRICT b, int64_t ldb, int64_t n,
                         T* HWY_RESTRICT y) {
  static_assert(kDepth == 1 || kDepth == 4);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto x0 = hn::Set(d, x[0]);
  int64_t j = 0;
  if constexpr (kDepth == 1) {
    for (; j + lanes <= n; j += lanes) {
      hn::StoreU(hn::MulAdd(x0, hn::LoadU(d, b + j), hn::LoadU(d, y + j)), d, y + j);
    }
  } else {
    const auto x1 = hn::Set(d, x[1]), x2 = hn::Set(d, x[2]), x3 = hn::Set(d, x[3]);
    for (; j + lanes <= n; j += lanes) {
      auto s = hn::MulAdd(x0, hn::LoadU(d, b + j), hn::LoadU(d, y + j));
      auto t = hn::Mul(x1, hn::LoadU(d, b + ldb + j));
      s = hn::MulAdd(x2, hn::LoadU(d, b + 2 * ldb + j), s);
      t = hn::MulAdd(x3, hn::LoadU(d, b + 3 * ldb + j), t);
      hn::StoreU(hn::Add(s, t), d, y + j);
    }
  }
  for (; j < n; ++j) {
    for (int q = 0; q < kDepth; ++q) y[j] += x[q] * b[q * ldb + j];
  }
}

template <typename T>
void rows(const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t ldb, int64_t m, int64_t n,
          int64_t k, T* c, int64_t ldc, bool accumulate) {
  constexpr int64_t kWidth = 4096 / sizeof(T);  // four rows of b of this width stay in L1
  const Tag<T> d;
  for (int64_t j = 0; j < n; j += kWidth) {
    const int64_t cols = std::min(kWidth, n - j);
    for (int64_t i = 0; !accumulate && i < m; ++i) std::fill_n(c + i * ldc + j, cols, T(0));
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
      for (int64_t i = 0; i < m; ++i) {
        const T* s = a + i * a_row + p * a_k;
        const T x[4] = {s[0], s[a_k], s[2 * a_k], s[3 * a_k]};
        add_rows<4>(d, x, b + p * ldb + j, ldb, cols, c + i * ldc + j);
      }
    }
    for (; p < k; ++p) {
      for (int64_t i = 0; i < m; ++i) {
        add_rows<1>(d, a + i * a_row + p * a_k, b + p * ldb + j, ldb, cols, c + i * ldc + j);
      }
    }
  }
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE T dot(D d, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t k) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t p = 0;
  for (; p + 4 * lanes <= k; p += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + p), hn::LoadU(d, b + p), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + p + lanes), hn::LoadU(d, b + p + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, a + p + 2 * lanes), hn::LoadU(d, b + p + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, a + p + 3 * lanes), hn::LoadU(d, b + p + 3 * lanes), s3);
  }
  for (; p + lanes <= k; p += lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + p), hn::LoadU(d, b + p), s0);
  }
  T sum = hn::ReduceSum(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
  for (; p < k; ++p) sum += a[p] * b[p];
  return sum;
}

template <typename T>
void dots(const T* a, int64_t a_row, const T* b, int64_t ldb, int64_t m, int64_t n, int64_t k, T* c,
          int64_t ldc) {
  const Tag<T> d;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) c[i * ldc + j] = dot(d, a + i * a_row, b + j * ldb, k);
  }
}

template <typename B>
void narrow_rows(int64_t rows, const float* a, int64_t a_row, int64_t a_k, const void* b, int64_t k,
                 float* c, int64_t ldc) {
  const Tag<float> d;
  const auto* panel = static_cast<const B*>(b);
  const B* next = nullptr;
  if (rows == 1) return tile_one_row(d, a, a_k, panel, k, c, false);
  switch (rows) {
#define NEF_CASE(i)                                                                      \
  case i + 1:                                                                            \
    if constexpr (i < kNarrowRows) {                                                     \
      return tile<i + 1, false>(d, a, a_row, a_k, panel, next, k, c, ldc, false, false); \
    }                                                                                    \
    break;
    NEF_ROWS(NEF_CASE)
#undef NEF_CASE
  }
}
void narrow(nef_dtype dtype, int64_t rows, const float* a, int64_t a_row, int64_t a_k,
            const uint16_t* b, int64_t k, float* c, int64_t ldc) {
  if (dtype == NEF_FLOAT16) return narrow_rows<HalfBits>(rows, a, a_row, a_k, b, k, c, ldc);
  narrow_rows<BrainBits>(rows, a, a_row, a_k, b, k, c, ldc);
}
const NarrowOps& ops_narrow() {
  static const NarrowOps table = {std::min<int64_t>(kMr, kNarrowRows), narrow};
  return table;
}

template <typename T>
const GemmOps<T>& ops() {
  static const GemmOps<T> table = {kMr,
                                   2 * static_cast<int64_t>(hn::Lanes(Tag<T>())),
                                   hwy::TargetName(HWY_TARGET),
                                   block<T>,
                                   pack_b<T>,
                                   pack_a<T>,
                                   rows<T>,
                                   dots<T>};
  return table;
}
const GemmOps<float>& ops_float() { return ops<float>(); }
const GemmOps<double>& ops_double() { return ops<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(ops_float);
HWY_EXPORT(ops_double);
HWY_EXPORT(ops_narrow);
const NarrowOps& narrow_ops() { return HWY_DYNAMIC_DISPATCH(ops_narrow)(); }
template <>
const GemmOps<float>& gemm_ops<float>() {
  return HWY_DYNAMIC_DISPATCH(ops_float)();
}
template <>
const GemmOps<double>& gemm_ops<double>() {
  return HWY_DYNAMIC_DISPATCH(ops_double)();
}
}  // namespace nef::cpu
#endif
