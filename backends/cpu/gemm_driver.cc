// SPDX-License-Identifier: Apache-2.0
// Splits a product into blocks of row and column panels for the pool.
#include <algorithm>

#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"

namespace nef::cpu {
namespace {

constexpr int64_t kTaskWork = 256 * 1024;     // multiply-adds that outweigh handing out a task
constexpr int64_t kWakingWork = 1536 * 1024;  // and waking a thread
// Long tasks are cut once more: a thread that was held up shall not leave the others waiting.
constexpr int64_t kTasksPerSlot = 4, kMostTasksPerSlot = 8;
constexpr int64_t kLongTaskWork = 32 * 1024 * 1024;

struct Grid {
  int64_t rows = 1, cols = 1;
};

// Multiply-adds, in units of so many. A few rows take as long as one: they wait for B.
int64_t work_in(int64_t unit, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kFewRows = 4;
  m = std::max(m, kFewRows);
  return m * n / unit * k + m * n % unit * k / unit;
}

// Blocks as square as the panels allow: each reads its rows of A and its columns of B. Where each
// packs its rows first, they are cut by rows as far as that goes.
template <typename T>
Grid make_grid(int64_t m, int64_t n, int64_t k, int64_t slots, bool pack) {
  Grid grid;
  if (slots <= 1) return grid;
  const auto& ops = gemm_ops<T>();
  const int64_t row_panels = ceil_div(m, ops.mr), col_panels = ceil_div(n, ops.nr);
  const int64_t wanted =
      std::max(std::clamp<int64_t>(work_in(kTaskWork, m, n, k), 1, slots * kTasksPerSlot),
               std::min(work_in(kLongTaskWork, m, n, k), slots * kMostTasksPerSlot));
  while (grid.rows * grid.cols < wanted) {
    const bool rows_splittable = row_panels >= 4 * grid.rows;
    const bool cols_splittable = col_panels >= 2 * grid.cols;
    if (!rows_splittable && !cols_splittable) break;
    const bool taller = pack || m / grid.rows > n / grid.cols;
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
  const bool pack = !g.a_packed && wants_packed_a<T>(g.m, g.n, g.a_row, g.a_k);
  const Grid grid = make_grid<T>(g.m, g.n, g.k, slots, pack);
  const int64_t row_panels = ceil_div(g.m, ops.mr), col_panels = ceil_div(g.n, ops.nr);
  const auto run = [&](int64_t slot, int64_t task) {
    const int64_t i = task / grid.cols, j = task % grid.cols;
    const int64_t col = col_panels * j / grid.cols * ops.nr;
    const int64_t col_end = std::min(g.n, col_panels * (j + 1) / grid.cols * ops.nr);
    GemmBlock<T> part = g;
    // Every other column gives the first rows what is left over, and not the last.
    const int64_t left_over = j % 2 * (grid.rows - 1);
    part.panel_begin = (row_panels * i + left_over) / grid.rows;
    part.panel_end = (row_panels * (i + 1) + left_over) / grid.rows;
    part.n = col_end - col;
    part.b = g.b + col * g.k;
    part.c = g.c + col;
    part.col0 = g.col0 + col;
    if (pack) part.a_buffer = scratch + slot * gemm_a_buffer<T>(g.blocking, g.m, g.k);
    ops.block(part);
  };
  run_tasks(slots, grid.rows * grid.cols, run, work_in(kWakingWork, g.m, g.n, g.k) > 0);
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
