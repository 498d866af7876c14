// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/matmul_batched.h"

#include <algorithm>

#include "backends/cpu/gemm_tasks.h"

namespace nef::cpu {
namespace {

// Up to this many rows, an unpacked B is read once in place: packing would read it twice.
constexpr int64_t kDirectRows = 4;
constexpr int64_t kDirectWork = 64 * 1024;
constexpr int64_t kDirectWidth = 512;

// Where a batch begins whose dims are walked in these steps.
int64_t walk(int64_t batch, int rank, const int64_t* dims, const int64_t* steps) {
  int64_t index = 0;
  for (int i = rank - 1; i >= 0; --i) {
    index += batch % dims[i] * steps[i];
    batch /= dims[i];
  }
  return index;
}

// One B for several batches.
bool shares_b(const MatmulLayout& l) {
  for (int i = 0; i < l.batch_rank; ++i) {
    if (l.batch_dims[i] > 1 && l.b_step[i] != 0) return false;
  }
  return l.batches > 1;
}

}  // namespace

int64_t MatmulShape::matrix(int64_t batch, const int64_t* strides) const {
  return walk(batch, batch_rank, batch_dims, strides);
}
int64_t MatmulLayout::at(int64_t batch, const int64_t* steps) const {
  return walk(batch, batch_rank, batch_dims, steps);
}

MatmulLayout dense_layout(const MatmulShape& s, int64_t b_size) {
  MatmulLayout l;
  l.m = s.m;
  l.n = s.n;
  l.k = s.k;
  l.batches = s.batches;
  l.batch_rank = s.batch_rank;
  l.a_row = s.a_row();
  l.a_k = s.a_k();
  l.b_row = s.b_row();
  l.b_col = s.b_col();
  l.c_row = s.n;
  int64_t c_step = s.m * s.n;
  for (int i = s.batch_rank - 1; i >= 0; --i) {
    l.batch_dims[i] = s.batch_dims[i];
    l.a_step[i] = s.a_stride[i] * s.m * s.k;
    l.b_step[i] = s.b_stride[i] * b_size;
    l.c_step[i] = c_step;
    c_step *= s.batch_dims[i];
  }
  return l;
}

void merge_rows(MatmulShape& s, MatmulLayout& l) {
  if (s.b_matrices != 1) return;
  int64_t row = l.a_row, rows = l.m;
  for (int i = l.batch_rank; i-- > 0;) {
    if (l.batch_dims[i] == 1) continue;
    if (rows == 1) row = l.a_step[i];
    if (l.a_step[i] != row * rows || row == 0) return;
    rows *= l.batch_dims[i];
  }
  s.m = l.m = rows;
  s.batches = l.batches = 1;
  s.batch_rank = l.batch_rank = 0;
  l.a_row = row;
}

bool reads_in_place(const MatmulLayout& l) {
  return l.m <= kDirectRows && (l.b_col == 1 || (l.b_row == 1 && l.a_k == 1));
}

MatmulShape matmul_shape(const int64_t* a_dims, int a_rank, const int64_t* b_dims, int b_rank,
                         bool trans_a, bool trans_b, bool merge) {
  MatmulShape s;
  s.trans_a = trans_a && a_rank > 1;
  s.trans_b = trans_b && b_rank > 1;
  const int64_t* a = a_dims + a_rank;
  const int64_t* b = b_dims + b_rank;
  s.m = a_rank == 1 ? 1 : s.trans_a ? a[-1] : a[-2];
  s.k = s.trans_a ? a[-2] : a[-1];
  s.n = b_rank == 1 ? 1 : s.trans_b ? b[-2] : b[-1];
  const int a_batch = std::max(0, a_rank - 2), b_batch = std::max(0, b_rank - 2);
  s.batch_rank = std::max(a_batch, b_batch);
  int64_t a_count = 1, b_count = 1;
  for (int i = s.batch_rank - 1; i >= 0; --i) {
    const int ai = i - (s.batch_rank - a_batch), bi = i - (s.batch_rank - b_batch);
    const int64_t da = ai < 0 ? 1 : a_dims[ai], db = bi < 0 ? 1 : b_dims[bi];
    s.batch_dims[i] = da == 1 ? db : da;
    s.a_stride[i] = da == 1 ? 0 : a_count;
    s.b_stride[i] = db == 1 ? 0 : b_count;
    a_count *= da;
    b_count *= db;
    s.batches *= s.batch_dims[i];
  }
  s.b_matrices = b_count;
  if (merge && b_count == 1 && !s.trans_a && s.batches == a_count) {
    s.m *= s.batches;
    s.batches = 1;
    s.batch_rank = 0;
  }
  return s;
}

template <typename T>
void BatchedGemm<T>::pack(const MatmulShape& s, const T* b, T* out) {
  for (int64_t i = 0; i < s.b_matrices; ++i) {
    pack_b_parallel(b + i * s.k * s.n, s.b_row(), s.b_col(), s.k, s.n, out + i * packed_size(s));
  }
}

template <typename T>
size_t BatchedGemm<T>::scratch_bytes(const MatmulShape& s, bool prepacked) const {
  // Whether A is packed or B read directly hangs on exact dims; the room is always there, so that
  // the answer grows with the dims.
  int64_t elements = slots_ * gemm_a_buffer<T>(blocking_, s.m, s.k);
  if (!prepacked) elements += pack_buffers(s.batches) * packed_size(s);
  return static_cast<size_t>(elements) * sizeof(T);
}

template <typename T>
void BatchedGemm<T>::run_direct(const MatmulLayout& l, const T* a, const T* b, T* c, TileFn<T> tile,
                                const void* context) const {
  const auto& ops = gemm_ops<T>();
  const bool dots = l.b_col != 1;
  // Columns per task. Rows of B are read side by side, so they should be long; each dot product
  // reads its own row.
  const int64_t work = std::max<int64_t>(1, l.m * l.k);
  const int64_t narrowest = dots ? ops.nr : kDirectWidth;
  const int64_t width = std::max(round_up(kDirectWork / work, ops.nr), narrowest);
  const int64_t parts = ceil_div(l.n, width);
  run_tasks(slots_, l.batches * parts, [&](int64_t, int64_t task) {
    const int64_t batch = task / parts, col = task % parts * width;
    const int64_t cols = std::min(width, l.n - col);
    const T* a_data = a + l.at(batch, l.a_step);
    const T* b_data = b + l.at(batch, l.b_step) + col * l.b_col;
    T* out = c + l.at(batch, l.c_step) + col;
    if (dots) {
      ops.dots(a_data, l.a_row, b_data, l.b_col, l.m, cols, l.k, out, l.c_row);
    } else {
      ops.rows(a_data, l.a_row, l.a_k, b_data, l.b_row, l.m, cols, l.k, out, l.c_row, false);
    }
    if (tile != nullptr) tile(context, batch * l.m, col, l.m, cols, out, l.c_row);
  });
}

template <typename T>
void BatchedGemm<T>::run(const MatmulShape& s, const T* a, const T* b, bool prepacked, T* c,
                         TileFn<T> tile, const void* context, void* scratch) const {
  const MatmulLayout l = dense_layout(s, prepacked ? packed_size(s) : s.k * s.n);
  run(l, a, b, prepacked, c, tile, context, scratch);
}

template <typename T>
void BatchedGemm<T>::run(const MatmulLayout& l, const T* a, const T* b, bool prepacked, T* c,
                         TileFn<T> tile, const void* context, void* scratch) const {
  if (l.batches == 0 || l.m == 0 || l.n == 0) return;
  if (!prepacked && reads_in_place(l)) return run_direct(l, a, b, c, tile, context);
  const int64_t packed = packed_b_size<T>(l.k, l.n);
  T* a_buffers = static_cast<T*>(scratch);
  T* b_buffers = a_buffers + slots_ * gemm_a_buffer<T>(blocking_, l.m, l.k);
  if (!prepacked && shares_b(l)) {
    pack_b_parallel(b, l.b_row, l.b_col, l.k, l.n, b_buffers);
    b = b_buffers;
    prepacked = true;
  }
  const auto problem = [&](int64_t batch) {
    GemmBlock<T> g;
    g.m = l.m;
    g.n = l.n;
    g.k = l.k;
    g.a = a + l.at(batch, l.a_step);
    g.a_row = l.a_row;
    g.a_k = l.a_k;
    g.c = c + l.at(batch, l.c_step);
    g.ldc = l.c_row;
    g.row0 = batch * l.m;
    g.tile = tile;
    g.context = context;
    g.blocking = blocking_;
    return g;
  };
  if (l.batches < slots_ || l.batches == 1) {
    for (int64_t batch = 0; batch < l.batches; ++batch) {
      GemmBlock<T> g = problem(batch);
      g.b = b + l.at(batch, l.b_step);
      if (!prepacked) {
        pack_b_parallel(g.b, l.b_row, l.b_col, l.k, l.n, b_buffers);
        g.b = b_buffers;
      }
      gemm_parallel(g, slots_, a_buffers);
    }
    return;
  }
  const auto& ops = gemm_ops<T>();
  const bool pack_a = wants_packed_a<T>(l.m, l.n, l.a_row, l.a_k);
  run_tasks(slots_, l.batches, [&](int64_t slot, int64_t batch) {
    GemmBlock<T> g = problem(batch);
    g.b = b + l.at(batch, l.b_step);
    if (!prepacked) {
      T* buffer = b_buffers + slot * packed;
      ops.pack_b(g.b, l.b_row, l.b_col, l.k, l.n, buffer);
      g.b = buffer;
    }
    if (pack_a) g.a_buffer = a_buffers + slot * gemm_a_buffer<T>(blocking_, l.m, l.k);
    ops.block(g);
  });
}

template class BatchedGemm<float>;
template class BatchedGemm<double>;

}  // namespace nef::cpu
