// SPDX-License-Identifier: Apache-2.0
// MatMul, FusedMatMul, Gemm.
#include <cmath>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// One operand as a stack of matrices: steps along the result's batch axes, its row and column.
struct Operand {
  Strides batch;
  int64_t rows, columns, row_step, column_step;
};

// A vector is one row (left) or one column (right); `transposed` swaps the last two axes.
Operand matrix_operand(const View& v, bool is_left, bool transposed, int batch_rank) {
  Operand o;
  if (v.rank == 1) {
    const int64_t n = v.dims[0];
    return is_left ? Operand{{}, 1, n, 0, 1} : Operand{{}, n, 1, 1, 0};
  }
  const int64_t rows = v.dims[v.rank - 2], columns = v.dims[v.rank - 1];
  o = transposed ? Operand{{}, columns, rows, 1, columns} : Operand{{}, rows, columns, columns, 1};
  int64_t step = rows * columns;
  const int leading = v.rank - 2;
  for (int d = leading - 1; d >= 0; --d) {
    o.batch.by[batch_rank - leading + d] = v.dims[d] == 1 ? 0 : step;
    step *= v.dims[d];
  }
  return o;
}

template <typename D>
D dot(const View& a, int64_t ia, int64_t step_a, const View& b, int64_t ib, int64_t step_b,
      int64_t n) {
  D sum{0};
  for (int64_t k = 0; k < n; ++k) {
    sum = add(sum, multiply(load<D>(a, ia + k * step_a), load<D>(b, ib + k * step_b)));
  }
  return sum;
}

// store(out_index, dot product) for the whole batch.
template <typename D, typename Finish>
void multiply_batches(const Call& c, bool trans_a, bool trans_b, Finish finish) {
  const View a = c.in(0), b = c.in(1), y = c.out();
  if (y.count == 0) return;
  const int batch_rank = std::max(std::max(a.rank, b.rank) - 2, 0);
  const Operand oa = matrix_operand(a, true, trans_a, batch_rank);
  const Operand ob = matrix_operand(b, false, trans_b, batch_rank);
  // The batch dims of the result stand first in it, whether or not rows and columns follow.
  Coords batch(y.dims, batch_rank);
  int64_t out = 0;
  do {
    const int64_t base_a = oa.batch.offset(batch), base_b = ob.batch.offset(batch);
    for (int64_t m = 0; m < oa.rows; ++m) {
      for (int64_t n = 0; n < ob.columns; ++n, ++out) {
        finish(out, dot<D>(a, base_a + m * oa.row_step, oa.column_step, b,
                           base_b + n * ob.column_step, ob.row_step, oa.columns));
      }
    }
  } while (batch.next());
}

void run_matmul(const Call& c) {
  const View y = c.out();
  with_domain(y.dtype, [&]<typename D>(D) {
    multiply_batches<D>(c, false, false, [&](int64_t o, D v) { store<D>(y, o, v); });
  });
}

void run_fused_matmul(const Call& c) {
  const View y = c.out();
  const double alpha = c.attr_float(NEF_FUSED_MATMUL_ALPHA, 1);
  const View bias = c.has(2) ? c.in(2) : View{};
  const Strides bias_steps = broadcast_strides(bias, y.rank);
  Coords at(y.dims, y.rank);
  multiply_batches<double>(c, c.attr_int(NEF_FUSED_MATMUL_TRANS_A) != 0,
                           c.attr_int(NEF_FUSED_MATMUL_TRANS_B) != 0, [&](int64_t o, double v) {
                             v *= alpha;
                             if (c.has(2)) v += load_float(bias, bias_steps.offset(at));
                             store_float(y, o, v);
                             at.next();
                           });
}

// As it is in memory: sums of narrower integers wrap before they are scaled.
template <typename D>
double stored(D value, nef_dtype dtype) {
  if (dtype == NEF_INT32) return static_cast<double>(static_cast<int32_t>(value));
  if (dtype == NEF_UINT32) return static_cast<double>(static_cast<uint32_t>(value));
  return static_cast<double>(value);
}

// alpha and beta of integers: a whole number multiplies exactly, others go through double and
// saturate.
template <typename D>
D scaled(D value, double factor, nef_dtype dtype) {
  if constexpr (std::is_same_v<D, double>) return value * factor;
  if (factor == std::floor(factor) && std::abs(factor) < 0x1p62) {
    return multiply(value, static_cast<D>(static_cast<int64_t>(factor)));
  }
  return static_cast<D>(saturate(stored(value, dtype) * factor, dtype));
}

void run_gemm(const Call& c) {
  const View y = c.out();
  const double alpha = c.attr_float(NEF_GEMM_ALPHA, 1), beta = c.attr_float(NEF_GEMM_BETA, 1);
  const View bias = c.has(2) ? c.in(2) : View{};
  const Strides bias_steps = broadcast_strides(bias, y.rank);
  with_domain(y.dtype, [&]<typename D>(D) {
    Coords at(y.dims, y.rank);
    multiply_batches<D>(c, c.attr_int(NEF_GEMM_TRANS_A) != 0, c.attr_int(NEF_GEMM_TRANS_B) != 0,
                        [&](int64_t o, D v) {
                          v = scaled(v, alpha, y.dtype);
                          if (c.has(2))
                            v = add(v, scaled(load<D>(bias, bias_steps.offset(at)), beta, y.dtype));
                          store<D>(y, o, v);
                          at.next();
                        });
  });
}

constexpr Kernel kKernels[] = {
    {NEF_OP_MATMUL, run_matmul},
    {NEF_OP_FUSED_MATMUL, run_fused_matmul},
    {NEF_OP_GEMM, run_gemm},
};

}  // namespace

std::span<const Kernel> contraction_kernels() { return kKernels; }

}  // namespace nef::reference
