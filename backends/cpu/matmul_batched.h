// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu/gemm.h"
#include "backends/cpu/kernel.h"

namespace nef::cpu {

// [batch..., M, K] x [batch..., K, N] with the batch dims broadcast. Matrices are dense; trans_a
// and trans_b say that they are stored with the last two axes swapped.
struct MatmulShape {
  int64_t m = 1, n = 1, k = 1;
  bool trans_a = false, trans_b = false;
  int64_t batches = 1;
  int batch_rank = 0;
  int64_t batch_dims[NEF_MAX_RANK];
  // In matrices, per batch dim; 0 where broadcast.
  int64_t a_stride[NEF_MAX_RANK], b_stride[NEF_MAX_RANK];
  int64_t b_matrices = 1;

  int64_t a_row() const { return trans_a ? 1 : k; }
  int64_t a_k() const { return trans_a ? m : 1; }
  int64_t b_row() const { return trans_b ? 1 : n; }
  int64_t b_col() const { return trans_b ? k : 1; }
  int64_t a_matrix(int64_t batch) const { return matrix(batch, a_stride); }
  int64_t b_matrix(int64_t batch) const { return matrix(batch, b_stride); }

 private:
  int64_t matrix(int64_t batch, const int64_t* strides) const;
};

// Where the matrices of a product lie: strides in elements, of rows and columns and per batch dim.
// The columns of C are contiguous.
struct MatmulLayout {
  int64_t m = 1, n = 1, k = 1;
  int64_t batches = 1;
  int batch_rank = 0;
  int64_t batch_dims[NEF_MAX_RANK];
  int64_t a_row = 1, a_k = 1, b_row = 1, b_col = 1, c_row = 1;
  int64_t a_step[NEF_MAX_RANK], b_step[NEF_MAX_RANK], c_step[NEF_MAX_RANK];

  int64_t at(int64_t batch, const int64_t* steps) const;
};

// Matrices one after the other; `b_size` elements each of B, which may be packed.
MatmulLayout dense_layout(const MatmulShape& s, int64_t b_size);
// So few rows that B, where it is not packed, is best read once in place, in lines of K or of N.
bool reads_in_place(const MatmulLayout& l);

// Makes the rows of all batches those of one tall matrix, where they lie so and one B is for all.
void merge_rows(MatmulShape& s, MatmulLayout& l);

// As numpy.matmul: a vector on the left is a row, on the right a column. The
// rows of every batch make one tall matrix where one B is for all, unless they shall not `merge`.
MatmulShape matmul_shape(const int64_t* a_dims, int a_rank, const int64_t* b_dims, int b_rank,
                         bool trans_a, bool trans_b, bool merge = true);

// Products of a shape on the pool, for float and double.
template <typename T>
class BatchedGemm {
 public:
  BatchedGemm(const GemmBlocking& blocking, int64_t slots) : blocking_(blocking), slots_(slots) {}

  // Elements of one packed matrix B.
  static int64_t packed_size(const MatmulShape& s) { return packed_b_size<T>(s.k, s.n); }
  // Packs all matrices B of a shape, one after the other.
  static void pack(const MatmulShape& s, const T* b, T* out);

  size_t scratch_bytes(const MatmulShape& s, bool prepacked) const;
  // `b` is packed when `prepacked`. `tile` sees rows counted over all batches.
  void run(const MatmulShape& s, const T* a, const T* b, bool prepacked, T* c, TileFn<T> tile,
           const void* context, void* scratch) const;
  // Wherever the matrices lie, with the scratch of dense ones. Of `b` packed the steps are what
  // counts.
  void run(const MatmulLayout& l, const T* a, const T* b, T* c, void* scratch) const {
    run(l, a, b, false, c, nullptr, nullptr, scratch);
  }
  void run(const MatmulLayout& l, const T* a, const T* b, bool prepacked, T* c, TileFn<T> tile,
           const void* context, void* scratch) const;

 private:
  int64_t pack_buffers(int64_t batches) const { return batches > 1 ? slots_ : 1; }
  void run_direct(const MatmulLayout& l, const T* a, const T* b, T* c, TileFn<T> tile,
                  const void* context) const;

  GemmBlocking blocking_;
  int64_t slots_;
};

}  // namespace nef::cpu
