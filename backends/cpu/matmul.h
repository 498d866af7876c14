// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/cpu/gemm_epilogue.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/matmul_batched.h"
#include "backends/cpu/matmul_view.h"

namespace nef::cpu {

// MatMul, Gemm or FusedMatMul in one form: alpha * a' b' + beta * bias, then the epilogue.
struct MatmulSpec {
  int32_t a = -1, b = -1, bias = -1;
  int32_t out = -1;  // the region's output
  OperandView a_view, b_view;
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 1;
  Epilogue epilogue;

  bool viewed() const { return a_view.viewed() || b_view.viewed(); }
  // How many leading dims of the result are rows.
  static int row_dims(int out_rank, int b_rank) { return b_rank == 1 ? out_rank : out_rank - 1; }
};

// Where a launch finds the operands of a product.
struct MatmulPlaces {
  MatmulShape s;
  MatmulLayout l;
  const void *a = nullptr, *b = nullptr;
  // Of a B that does not lie densely.
  Strides b_strides;
  const int64_t* b_dims = nullptr;
  int b_batch_rank = 0;

  // The element with which matrix `i` of all those of B begins.
  int64_t b_matrix(int64_t i) const;
  // As `l`, with the matrices of B packed, `size` elements each.
  MatmulLayout packed(int64_t size) const;
};

// What the kernels of a MatmulSpec share: its shapes, and its epilogue bound to a launch.
class MatmulValues {
 public:
  MatmulValues(const ValueTable& values, const MatmulSpec& spec) : values_(values), spec_(spec) {
    for (size_t id = 0; id < values.size(); ++id) {
      ranks_.push_back(values.rank(static_cast<int32_t>(id)));
    }
  }

  const ValueTable& table() const { return values_; }
  const MatmulSpec& spec() const { return spec_; }
  int64_t count(const Tensor* values, int32_t id) const { return values_.count(values, id); }

  MatmulShape shape(const Tensor* values) const {
    return matmul_shape(values[spec_.a].dims, ranks_[spec_.a], values[spec_.b].dims,
                        ranks_[spec_.b], spec_.trans_a, spec_.trans_b);
  }
  // Before a launch the pointers mean nothing.
  MatmulPlaces places(const Tensor* values) const;
  // What scratch is sized by: grows with the dims, wherever operands lie.
  MatmulShape room_shape(const Tensor* values) const;
  // Of K, N and B's own batch; before a launch, A is not known.
  MatmulShape b_shape(const Tensor* constants) const;

  // `bias` holds the values of spec.bias, or is null.
  template <typename T>
  EpilogueRun<T> epilogue(const Tensor* values, const T* bias) const;

  // With dims known only at launch, an operand of the chain could have broadcast the product.
  void check_output(const Tensor* values, const MatmulShape& s) const;

 private:
  ValueTable values_;
  const void* first(const Tensor* values, int32_t operand, const OperandView& view,
                    const Strides& strides) const;

  MatmulSpec spec_;
  std::vector<int> ranks_;
};

std::unique_ptr<Kernel> make_float_matmul(const Region& region, MatmulSpec spec);
// On AMX (see amx.h): bfloat16 tensors, and float32 ones where precision is `fast`. Null where the
// region asks for something else or the CPU has none.
std::unique_ptr<Kernel> make_amx_matmul(const Region& region, const MatmulSpec& spec);
// float16 and bfloat16 by one constant matrix. Null where the region asks for something else.
std::unique_ptr<Kernel> make_narrow_matmul(const Region& region, const MatmulSpec& spec);
// float16 and bfloat16 by anything else.
std::unique_ptr<Kernel> make_half_matmul(const Region& region, const MatmulSpec& spec);
std::unique_ptr<Kernel> make_integer_matmul(const Region& region, const MatmulSpec& spec);
// MatMulInteger or QLinearMatMul, behind the `head` transposes and slices that make its operands.
std::unique_ptr<Kernel> make_viewed_quant_product(const Region& region, size_t head,
                                                  std::string* why);

std::unique_ptr<Kernel> make_einsum(const Region& region, std::string* why);

// Converts on the pool; float32 is copied.
void load_floats_parallel(nef_dtype dtype, const void* src, int64_t n, float* out);
void store_floats_parallel(nef_dtype dtype, const float* x, int64_t n, void* dst);

}  // namespace nef::cpu
