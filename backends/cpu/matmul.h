// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/cpu/gemm_epilogue.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/matmul_batched.h"

namespace nef::cpu {

// MatMul, Gemm or FusedMatMul in one form: alpha * a' b' + beta * bias, then the epilogue.
struct MatmulSpec {
  int32_t a = -1, b = -1, bias = -1;
  int32_t out = -1;  // the region's output
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 1;
  Epilogue epilogue;

  // How many leading dims of the result are rows.
  static int row_dims(int out_rank, int b_rank) { return b_rank == 1 ? out_rank : out_rank - 1; }
};

std::unique_ptr<Kernel> make_float_matmul(const Region& region, MatmulSpec spec);
std::unique_ptr<Kernel> make_integer_matmul(const Region& region, const MatmulSpec& spec);

std::unique_ptr<Kernel> make_einsum(const Region& region, std::string* why);

// Converts on the pool; float32 is copied.
void load_floats_parallel(nef_dtype dtype, const void* src, int64_t n, float* out);
void store_floats_parallel(nef_dtype dtype, const float* x, int64_t n, void* dst);

}  // namespace nef::cpu
