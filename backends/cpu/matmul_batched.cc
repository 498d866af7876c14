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

}  // namespace

int64_t MatmulShape::matrix(int64_t batch, const int64_t* strides) const {
  int64_t index = 0;
  for (int i = batch_rank - 1; i >= 0; --i) {
    index += batch % batch_dims[i] * strides[i];
    batch /= batch_dims[i];
  }
  return index;
}

MatmulShape matmul_shape(const int64_t* a_dims, int a_rank, const int64_t* b_dims, int b_rank,
                         bool trans_a, bool trans_b) {
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
  // One B for all: the rows of every batch make one tall matrix.
  if (b_count == 1 && !s.trans_a && s.batches == a_count) {
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
bool BatchedGemm<T>::direct(const MatmulShape& s, bool prepacked) const {
  return !prepacked && s.m <= kDirectRows && !(s.trans_a && s.trans_b);
}

template <typename T>
int64_t BatchedGemm<T>::pack_buffers(const MatmulShape& s) const {
  return s.batches > 1 ? slots_ : 1;
}

template <typename T>
size_t BatchedGemm<T>::scratch_bytes(const MatmulShape& s, bool prepacked) const {
  // Whether A is packed or B read directly hangs on exact dims; the room is always there, so that
  // the answer grows with the dims.
  int64_t elements = slots_ * gemm_a_buffer<T>(blocking_, s.m, s.k);
  if (!prepacked) elements += pack_buffers(s) * packed_size(s);
  return static_cast<size_t>(elements) * sizeof(T);
}

template <typename T>
void BatchedGemm<T>::run_direct(const MatmulShape& s, const T* a, const T* b, T* c, TileFn<T> tile,
                                const void* context) const {
  const auto& ops = gemm_ops<T>();
  // Columns per task. Rows of B are read side by side, so they should be long; each dot product
  // reads its own row.
  const int64_t work = std::max<int64_t>(1, s.m * s.k);
  const int64_t narrowest = s.trans_b ? ops.nr : kDirectWidth;
  const int64_t width = std::max(round_up(kDirectWork / work, ops.nr), narrowest);
  const int64_t parts = ceil_div(s.n, width);
  run_tasks(slots_, s.batches * parts, [&](int64_t, int64_t task) {
    const int64_t batch = task / parts, col = task % parts * width;
    const int64_t cols = std::min(width, s.n - col);
    const T* a_data = a + s.a_matrix(batch) * s.m * s.k;
    const T* b_data = b + s.b_matrix(batch) * s.k * s.n + col * s.b_col();
    T* out = c + batch * s.m * s.n + col;
    if (s.trans_b) {
      ops.dots(a_data, s.a_row(), b_data, s.k, s.m, cols, s.k, out, s.n);
    } else {
      ops.rows(a_data, s.a_row(), s.a_k(), b_data, s.n, s.m, cols, s.k, out, s.n, false);
    }
    if (tile != nullptr) tile(context, batch * s.m, col, s.m, cols, out, s.n);
  });
}

template <typename T>
void BatchedGemm<T>::run(const MatmulShape& s, const T* a, const T* b, bool prepacked, T* c,
                         TileFn<T> tile, const void* context, void* scratch) const {
  if (s.batches == 0 || s.m == 0 || s.n == 0) return;
  if (direct(s, prepacked)) return run_direct(s, a, b, c, tile, context);
  const int64_t packed = packed_size(s);
  T* a_buffers = static_cast<T*>(scratch);
  T* b_buffers = a_buffers + slots_ * gemm_a_buffer<T>(blocking_, s.m, s.k);
  const auto problem = [&](int64_t batch) {
    GemmBlock<T> g;
    g.m = s.m;
    g.n = s.n;
    g.k = s.k;
    g.a = a + s.a_matrix(batch) * s.m * s.k;
    g.a_row = s.a_row();
    g.a_k = s.a_k();
    g.c = c + batch * s.m * s.n;
    g.ldc = s.n;
    g.row0 = batch * s.m;
    g.tile = tile;
    g.context = context;
    g.blocking = blocking_;
    return g;
  };
  if (s.batches < slots_ || s.batches == 1) {
    for (int64_t batch = 0; batch < s.batches; ++batch) {
      GemmBlock<T> g = problem(batch);
      const int64_t matrix = s.b_matrix(batch);
      if (prepacked) {
        g.b = b + matrix * packed;
      } else {
        pack_b_parallel(b + matrix * s.k * s.n, s.b_row(), s.b_col(), s.k, s.n, b_buffers);
        g.b = b_buffers;
      }
      gemm_parallel(g, slots_, a_buffers);
    }
    return;
  }
  const auto& ops = gemm_ops<T>();
  const bool pack_a = wants_packed_a<T>(s.m, s.n, s.a_row(), s.a_k());
  run_tasks(slots_, s.batches, [&](int64_t slot, int64_t batch) {
    GemmBlock<T> g = problem(batch);
    const int64_t matrix = s.b_matrix(batch);
    if (prepacked) {
      g.b = b + matrix * packed;
    } else {
      T* buffer = b_buffers + slot * packed;
      ops.pack_b(b + matrix * s.k * s.n, s.b_row(), s.b_col(), s.k, s.n, buffer);
      g.b = buffer;
    }
    if (pack_a) g.a_buffer = a_buffers + slot * gemm_a_buffer<T>(blocking_, s.m, s.k);
    ops.block(g);
  });
}

template class BatchedGemm<float>;
template class BatchedGemm<double>;

}  // namespace nef::cpu
