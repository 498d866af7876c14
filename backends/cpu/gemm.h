// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

// Matrix products on one core (GemmOps) and on the pool (gemm_parallel).
//
// B is always given packed: panels of `nr` columns, each [K][nr] and zero-padded to nr, one after
// the other. A is read in place through strides, or packed into row panels of at most `mr` rows,
// each [K][rows of the panel]; M rows make ceil(M / mr) panels of nearly equal height.
namespace nef::cpu {

// Called when a block of C is finished, while it is in cache. `row` and `col` place it in the
// whole matrix.
template <typename T>
using TileFn = void (*)(const void* context, int64_t row, int64_t col, int64_t rows, int64_t cols,
                        T* c, int64_t ldc);

// How a product is cut for the caches. Kept in the kernel cache, so it must stay plain data.
struct GemmBlocking {
  static constexpr int64_t kRows = 144;
  int64_t kc = default_depth();  // depth of a pass, in elements of 4 bytes
  int64_t mc = kRows;            // rows of A: with this depth they stay in L2 meanwhile

  // As deep as the L2 of this CPU allows: each further pass reads and writes C again.
  static int64_t default_depth();
};

// As bytes for the kernel cache: a version, the micro-kernel's shape, the sizes, a checksum. Bytes
// that do not fit this CPU's kernels, or are damaged, leave *out as it is.
std::vector<uint8_t> save_blocking(const GemmBlocking& blocking);
void load_blocking(const uint8_t* blob, size_t size, GemmBlocking* out);

// C[m][n] = A[m][k] B[k][n], one core.
template <typename T>
struct GemmBlock {
  int64_t m = 0, n = 0, k = 0;
  int64_t panel_begin = 0, panel_end = -1;  // only these row panels of C; -1: to the last
  const T* a = nullptr;                     // in place: element (i, p) at a[i * a_row + p * a_k]
  int64_t a_row = 0, a_k = 1;
  bool a_packed = false;  // a is a packed matrix of m rows; strides unused
  T* a_buffer = nullptr;  // not null: pack A here first, gemm_a_buffer(m, k) elements
  const T* b = nullptr;   // packed panels
  int64_t b_depth = 0;    // of the panels, where that is not k
  T* c = nullptr;
  int64_t ldc = 0;
  bool accumulate = false;     // onto what C holds
  int64_t row0 = 0, col0 = 0;  // position of C in the whole matrix, for `tile`
  TileFn<T> tile = nullptr;
  const void* context = nullptr;
  GemmBlocking blocking;
};

template <typename T>
struct GemmOps {
  int64_t mr, nr;
  const char* target;
  void (*block)(const GemmBlock<T>& g);
  // Packs B[k][n], element (p, j) at b[p * row + j * col].
  void (*pack_b)(const T* b, int64_t row, int64_t col, int64_t k, int64_t n, T* out);
  void (*pack_a)(const T* a, int64_t row, int64_t col, int64_t m, int64_t k, T* out);
  // c[m][n] (+)= a b with b row-major and contiguous in n; for few rows. Reads b once.
  void (*rows)(const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t ldb, int64_t m,
               int64_t n, int64_t k, T* c, int64_t ldc, bool accumulate);
  // c[m][n] = a b' with b[n][k] contiguous in k; for few rows. Reads b once.
  void (*dots)(const T* a, int64_t a_row, const T* b, int64_t ldb, int64_t m, int64_t n, int64_t k,
               T* c, int64_t ldc);
};

// Kernels of the best (or forced) target. T is float or double.
template <typename T>
const GemmOps<T>& gemm_ops();

// A few rows by a panel of 16-bit floats, packed as those of B are.
struct NarrowOps {
  int64_t most_rows;
  // c[rows][nr] = a b, rows up to most_rows, `dtype` that of b.
  void (*multiply)(nef_dtype dtype, int64_t rows, const float* a, int64_t a_row, int64_t a_k,
                   const uint16_t* b, int64_t k, float* c, int64_t ldc);
};
const NarrowOps& narrow_ops();

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// First row of panel p of `m` rows cut into `panels`.
inline int64_t panel_row(int64_t m, int64_t panels, int64_t p) { return m * p / panels; }

// Elements of a constant B as given and in panels, which pad a narrow or shallow one to many times
// its size. Such a B of many megabytes is not packed once and kept, but in the scratch of each run.
template <typename T>
bool worth_keeping_packed(int64_t packed, int64_t given) {
  constexpr int64_t kMostGrowth = 4, kAlways = (4 << 20) / static_cast<int64_t>(sizeof(T));
  return packed <= kAlways || packed / kMostGrowth <= given;
}

template <typename T>
int64_t packed_b_size(int64_t k, int64_t n) {
  return round_up(n, gemm_ops<T>().nr) * k;
}
// Room for the rows of A that are packed at a time; grows with m and k up to what the caches hold.
template <typename T>
int64_t gemm_a_buffer(const GemmBlocking& blocking, int64_t m, int64_t k) {
  return std::min(m, blocking.mc + gemm_ops<T>().mr) * std::min(k, blocking.kc + blocking.kc / 2);
}
// Would reading A in place thrash the cache (a stride of whole pages, or a transposed A)?
template <typename T>
bool wants_packed_a(int64_t m, int64_t n, int64_t a_row, int64_t a_k) {
  const auto& ops = gemm_ops<T>();
  if (m <= ops.mr || n <= 4 * ops.nr) return false;
  return a_k != 1 || (a_row * static_cast<int64_t>(sizeof(T))) % 4096 == 0;
}

// A whole product on the pool. Scratch has slots * gemm_a_buffer(m, k) elements when A wants
// packing.
template <typename T>
void gemm_parallel(const GemmBlock<T>& g, int64_t slots, T* scratch);

// Packs on the pool.
template <typename T>
void pack_b_parallel(const T* b, int64_t row, int64_t col, int64_t k, int64_t n, T* out);

}  // namespace nef::cpu
