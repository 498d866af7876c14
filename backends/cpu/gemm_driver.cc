// SPDX-License-Identifier: Apache-2.0
// Splits a product into blocks of row and column panels for the pool.
#include <algorithm>

#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"

namespace nef::cpu {
namespace {

constexpr int64_t kTaskWork = 256 * 1024;  // multiply-adds that outweigh handing out a task
constexpr int64_t kTasksPerSlot = 4;

struct Grid {
  int64_t rows = 1, cols = 1;
};

// Blocks as square as the panels allow: each reads its rows of A and its columns of B.
template <typename T>
Grid make_grid(int64_t m, int64_t n, int64_t k, int64_t slots) {
  Grid grid;
  if (slots <= 1) return grid;
  const auto& ops = gemm_ops<T>();
  const int64_t row_panels = ceil_div(m, ops.mr), col_panels = ceil_div(n, ops.nr);
  const int64_t wanted = std::clamp<int64_t>(
      m * n / kTaskWork * k + m * n % kTaskWork * k / kTaskWork, 1, slots * kTasksPerSlot);
  while (grid.rows * grid.cols < wanted) {
    const bool rows_splittable = row_panels >= 4 * grid.rows;
    const bool cols_splittable = col_panels >= 2 * grid.cols;
    if (!rows_splittable && !cols_splittable) break;
    const bool taller = m / grid.rows > n / grid.cols;
    if (rows_splittable && (taller || !cols_splittable)) {
      grid.rows *= 2;
    } else {
      grid.cols *= 2;
    }
  }
  return grid;
}

}  // namespace

template <typename T>
void gemm_parallel(const GemmBlock<T>& g, int64_t slots, T* scratch) {
  if (g.m == 0 || g.n == 0) return;
  const auto& ops = gemm_ops<T>();
  const Grid grid = make_grid<T>(g.m, g.n, g.k, slots);
  const int64_t row_panels = ceil_div(g.m, ops.mr), col_panels = ceil_div(g.n, ops.nr);
  const bool pack = !g.a_packed && wants_packed_a<T>(g.m, g.n, g.a_row, g.a_k);
  run_tasks(slots, grid.rows * grid.cols, [&](int64_t slot, int64_t task) {
    const int64_t i = task / grid.cols, j = task % grid.cols;
    const int64_t col = col_panels * j / grid.cols * ops.nr;
    const int64_t col_end = std::min(g.n, col_panels * (j + 1) / grid.cols * ops.nr);
    GemmBlock<T> part = g;
    part.panel_begin = row_panels * i / grid.rows;
    part.panel_end = row_panels * (i + 1) / grid.rows;
    part.n = col_end - col;
    part.b = g.b + col * g.k;
    part.c = g.c + col;
    part.col0 = g.col0 + col;
    if (pack) part.a_buffer = scratch + slot * gemm_a_buffer<T>(g.blocking, g.m, g.k);
    ops.block(part);
  });
}

template <typename T>
void pack_b_parallel(const T* b, int64_t row, int64_t col, int64_t k, int64_t n, T* out) {
  const auto& ops = gemm_ops<T>();
  const int64_t grain = std::max<int64_t>(1, 32 * 1024 / std::max<int64_t>(1, k * ops.nr));
  parallel_for(ceil_div(n, ops.nr), grain, [&](int64_t begin, int64_t end) {
    const int64_t j = begin * ops.nr;
    ops.pack_b(b + j * col, row, col, k, std::min(n, end * ops.nr) - j, out + j * k);
  });
}

template void gemm_parallel<float>(const GemmBlock<float>&, int64_t, float*);
template void gemm_parallel<double>(const GemmBlock<double>&, int64_t, double*);
template void pack_b_parallel<float>(const float*, int64_t, int64_t, int64_t, int64_t, float*);
template void pack_b_parallel<double>(const double*, int64_t, int64_t, int64_t, int64_t, double*);

}  // namespace nef::cpu
