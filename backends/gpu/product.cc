// SPDX-License-Identifier: Apache-2.0
// MatMul, FusedMatMul, Gemm: a vendor's library where it has the dtype, else a tiled kernel of our
// own.
#include <cmath>

#include "backends/gpu/stage.h"

namespace nef::gpu {
namespace {

// y = a b, each [m, k] and [k, n] with steps, for every place of `batch`.
struct Problem {
  int64_t m = 1, n = 1, k = 0;
  int64_t a_row = 0, a_column = 1, b_row = 1, b_column = 0;
  Walk batch;  // steps of y, a, b
  int64_t batches = 1;
};

constexpr const char* kKernels = R"device(
typedef $S$ S;
typedef $C$ C;  // what products are summed up in
struct ProductP { S* y; const S* a; const S* b; const S* bias; const S* residual; i64 m; i64 n; i64 k; i64 a_row; i64 a_column;
  i64 b_row; i64 b_column; i64 bias_row; i64 bias_column; i64 whole_alpha; i64 whole_beta; f64 alpha; f64 beta;
  i64 rank; i64 dims[16]; i64 steps_y[16]; i64 steps_a[16]; i64 steps_b[16]; i64 steps_bias[16]; };
DEV $T$ finished(C sum, const ProductP& p, const S* bias, const S* residual) {
#if $FLOAT$
  C v = sum * C(p.alpha);
  if (bias) v += C(ld(*bias)) * C(p.beta);
  if (residual) v += C(ld(*residual));
  return $T$(v);
#else
  C v = op_mul(sum, C(p.whole_alpha));
  if (bias) v = op_add(v, op_mul(C(ld(*bias)), C(p.whole_beta)));
  return $T$(v);
#endif
}
// 64 x 64 results a block, 4 x 4 a thread.
NEF_KERNEL(product, ProductP) {
  __shared__ C as[16][65];
  __shared__ C bs[16][65];
  const i32 t = i32(threadIdx.x), tr = t / 16, tc = t % 16;
  const i64 column_tiles = (p.n + 63) / 64;
  const i64 row0 = i64(blockIdx.x) / column_tiles * 64, column0 = i64(blockIdx.x) % column_tiles * 64;
  const S* a = p.a + offset_of(blockIdx.y, p.rank, p.dims, p.steps_a);
  const S* b = p.b + offset_of(blockIdx.y, p.rank, p.dims, p.steps_b);
  C sum[4][4];
  for (i32 i = 0; i < 4; ++i) for (i32 j = 0; j < 4; ++j) sum[i][j] = C(0);
  for (i64 k0 = 0; k0 < p.k; k0 += 16) {
    for (i32 i = t; i < 1024; i += 256) {
      const i32 ak = p.a_column == 1 ? i % 16 : i / 64, ar = p.a_column == 1 ? i / 16 : i % 64;
      const i64 r = row0 + ar, ka = k0 + ak;
      as[ak][ar] = r < p.m && ka < p.k ? C(ld(a[r * p.a_row + ka * p.a_column])) : C(0);
      const i32 bk = p.b_column == 1 ? i / 64 : i % 16, bc = p.b_column == 1 ? i % 64 : i / 16;
      const i64 c = column0 + bc, kb = k0 + bk;
      bs[bk][bc] = c < p.n && kb < p.k ? C(ld(b[kb * p.b_row + c * p.b_column])) : C(0);
    }
    __syncthreads();
    const i32 depth = p.k - k0 < 16 ? i32(p.k - k0) : 16;
    for (i32 k = 0; k < depth; ++k) {
#pragma unroll
      for (i32 i = 0; i < 4; ++i) {
#pragma unroll
        for (i32 j = 0; j < 4; ++j) sum[i][j] += as[k][tr + 16 * i] * bs[k][tc + 16 * j];
      }
    }
    __syncthreads();
  }
  S* y = p.y + offset_of(blockIdx.y, p.rank, p.dims, p.steps_y);
  const S* bias = p.bias ? p.bias + offset_of(blockIdx.y, p.rank, p.dims, p.steps_bias) : p.bias;
  for (i32 i = 0; i < 4; ++i) {
    for (i32 j = 0; j < 4; ++j) {
      const i64 r = row0 + tr + 16 * i, c = column0 + tc + 16 * j;
      if (r >= p.m || c >= p.n) continue;
      st(y[r * p.n + c], finished(sum[i][j], p, bias ? bias + r * p.bias_row + c * p.bias_column : bias,
                                  p.residual ? p.residual + (y - p.y) + r * p.n + c : p.residual));
    }
  }
}
)device";

class Product : public Stage {
 public:
  Product(const Region& region, const Node& node, const ProductTail& tail, bool turned)
      : node_(node), dtype_(region.output(node, 0).dtype), turned_(turned) {
    out_ = tail.out >= 0 ? tail.out : node.outputs[0];
    bias_ = tail.bias;
    residual_ = tail.residual;
    if (node.op == NEF_OP_FUSED_MATMUL) {
      trans_a_ = nef_attr_int(node.attrs(), NEF_FUSED_MATMUL_TRANS_A, 0) != 0;
      trans_b_ = nef_attr_int(node.attrs(), NEF_FUSED_MATMUL_TRANS_B, 0) != 0;
      alpha_ = nef_attr_float(node.attrs(), NEF_FUSED_MATMUL_ALPHA, 1);
    } else if (node.op == NEF_OP_GEMM) {
      trans_a_ = nef_attr_int(node.attrs(), NEF_GEMM_TRANS_A, 0) != 0;
      trans_b_ = nef_attr_int(node.attrs(), NEF_GEMM_TRANS_B, 0) != 0;
      alpha_ = nef_attr_float(node.attrs(), NEF_GEMM_ALPHA, 1);
      beta_ = nef_attr_float(node.attrs(), NEF_GEMM_BETA, 1);
    }
    if (node.has_input(2)) {
      if (bias_ >= 0) throw Refusal{"a product with two biases"};
      bias_ = node.inputs[2];
    }
    const auto whole = [](double v) { return v == std::trunc(v) && std::fabs(v) < 1e15; };
    if (!is_float(dtype_) && !(whole(alpha_) && whole(beta_))) {
      throw Refusal{"Gemm of integers with an alpha or beta that is not whole"};
    }
    if (backends::dtype_size(dtype_) == 0) throw Refusal{"no such dtype"};
  }

  std::string source() const override {
    const std::string sum = is_float(dtype_) ? (dtype_ == NEF_FLOAT64 ? "f64" : "f32")
                            : backends::dtype_size(dtype_) == 8 ? "u64"
                                                                : "u32";
    return fill(kKernels, {{"S", memory_type(dtype_)},
                           {"C", sum},
                           {"T", register_type(dtype_)},
                           {"FLOAT", is_float(dtype_) ? "1" : "0"}}) +
           strided_copy_source(backends::dtype_size(dtype_));
  }
  const char* name() const override { return "product"; }

  void launch(const Run& run, Module* module) const override {
    const Dims y = run.values.dims(node_.outputs[0]), whole = run.values.dims(out_);
    if (whole.rank != y.rank || !std::equal(y.at, y.at + y.rank, whole.at)) {
      throw BackendError(NEF_UNSUPPORTED, "the bias behind a product changes its shape");
    }
    if (y.count() == 0) return;
    const Problem p = problem(run.values, y);
    if (p.k > 0 && run.device.has_gemm(dtype_)) return by_library(run, *module, p, y);
    by_kernel(run, *module, p, y);
  }

 private:
  Problem problem(const Values& values, const Dims& y) const {
    const Dims a = values.dims(node_.inputs[0]), b = values.dims(node_.inputs[1]);
    Problem p;
    const int batch_rank = std::max(std::max(a.rank, b.rank) - 2, 0);
    Dims batch_a, batch_b;
    batch_a.rank = batch_b.rank = batch_rank;
    p.k = a.rank == 1 ? a.at[0] : a.at[trans_a_ ? a.rank - 2 : a.rank - 1];
    if (a.rank == 1) {
      p.a_row = p.k;
    } else {
      const int64_t rows = a.at[a.rank - 2], columns = a.at[a.rank - 1];
      p.m = trans_a_ ? columns : rows;
      p.a_row = trans_a_ ? 1 : columns;
      p.a_column = trans_a_ ? columns : 1;
      batch_steps(a, batch_rank, batch_a);
    }
    if (b.rank > 1) {
      const int64_t rows = b.at[b.rank - 2], columns = b.at[b.rank - 1];
      p.n = trans_b_ ? rows : columns;
      const bool by_columns = trans_b_ || turned_;
      p.b_row = by_columns ? 1 : columns;
      p.b_column = by_columns ? p.k : 1;
      batch_steps(b, batch_rank, batch_b);
    } else {
      p.b_column = 1;
    }
    p.batch.dims.rank = batch_rank;
    std::copy(y.at, y.at + batch_rank, p.batch.dims.at);
    Dims batch_y = dense_steps(p.batch.dims);
    for (int d = 0; d < batch_rank; ++d) batch_y.at[d] *= p.m * p.n;
    p.batch.steps = {batch_y, batch_a, batch_b};
    p.batches = p.batch.dims.count();
    return p;
  }
  static void batch_steps(const Dims& v, int batch_rank, Dims& steps) {
    int64_t step = v.at[v.rank - 2] * v.at[v.rank - 1];
    const int leading = v.rank - 2;
    for (int d = leading - 1; d >= 0; --d) {
      steps.at[batch_rank - leading + d] = v.at[d] == 1 ? 0 : step;
      step *= v.at[d];
    }
  }

  // Steps of the bias along the result's axes: its batch axes, row and column.
  Dims bias_steps(const Values& values, const Dims& y) const {
    return broadcast_steps(values.dims(bias_), y.rank);
  }
  // The result's row and column are its last two axes, where it has them.
  void matrix_steps(const Values& values, const Dims& y, const Dims& steps, int64_t* row,
                    int64_t* column) const {
    const bool has_rows = values.dims(node_.inputs[0]).rank > 1;
    const bool has_columns = values.dims(node_.inputs[1]).rank > 1;
    int d = y.rank - 1;
    *column = has_columns ? steps.at[d--] : 0;
    *row = has_rows ? steps.at[d] : 0;
  }

  void by_kernel(const Run& run, Module& module, Problem p, const Dims& y) const {
    const Values& values = run.values;
    Dims bias_batch;
    int64_t row = 0, column = 0;
    if (bias_ >= 0) {
      const Dims steps = bias_steps(values, y);
      matrix_steps(values, y, steps, &row, &column);
      bias_batch = steps;
    }
    bias_batch.rank = p.batch.dims.rank;
    p.batch.steps.push_back(bias_batch);
    p.batch.simplify();
    Params q;
    q.add(values.data(out_)).add(values.data(node_.inputs[0])).add(values.data(node_.inputs[1]));
    q.add(bias_ >= 0 ? values.data(bias_) : nullptr);
    q.add(residual_ >= 0 ? values.data(residual_) : nullptr).add(p.m).add(p.n).add(p.k);
    q.add(p.a_row).add(p.a_column).add(p.b_row).add(p.b_column).add(row).add(column);
    const auto whole = [&](double v) { return is_float(dtype_) ? 0 : static_cast<int64_t>(v); };
    q.add(whole(alpha_)).add(whole(beta_)).add(alpha_).add(beta_);
    q.add(int64_t{p.batch.dims.rank});
    q.add(p.batch.dims.at, p.batch.dims.rank, NEF_MAX_RANK, 1);
    for (const Dims& s : p.batch.steps) q.add(s.at, p.batch.dims.rank, NEF_MAX_RANK, 0);
    if (p.batches > 65535) {
      throw BackendError(NEF_LIMIT_EXCEEDED, "a product of more than 65535 matrices at once");
    }
    run.launch(module, "product", {(p.m + 63) / 64 * ((p.n + 63) / 64), p.batches, 256}, q);
  }

  void by_library(const Run& run, Module& module, Problem p, const Dims& y) const {
    const Values& values = run.values;
    Gemm g;
    g.dtype = dtype_;
    g.m = p.m;
    g.n = p.n;
    g.k = p.k;
    // A single row or column is dense either way.
    g.trans_a = trans_a_ && values.dims(node_.inputs[0]).rank > 1;
    g.trans_b = (trans_b_ || turned_) && values.dims(node_.inputs[1]).rank > 1;
    g.lda = g.trans_a ? p.m : p.k;
    g.ldb = g.trans_b ? p.k : p.n;
    g.ldd = p.n;
    g.alpha = alpha_;
    if (bias_ >= 0) add_bias(run, module, g, y);
    if (residual_ >= 0) g.beta = 1;
    Walk batch = p.batch;
    batch.simplify();
    // All of it at once where one step leads from each matrix to the next.
    if (batch.dims.rank == 1) {
      // One left matrix after the other against one right matrix is one tall product.
      if (p.batches > 1 && batch.steps[2].at[0] == 0 && !g.trans_a &&
          batch.steps[1].at[0] == p.m * p.k) {
        g.m *= p.batches;
        return run_library(run, g, 0, 0, 0);
      }
      g.batch = p.batches;
      g.stride_d = batch.steps[0].at[0];
      g.stride_a = batch.steps[1].at[0];
      g.stride_b = batch.steps[2].at[0];
      return run_library(run, g, 0, 0, 0);
    }
    const int last = batch.dims.rank - 1;
    g.batch = batch.dims.at[last];
    g.stride_d = batch.steps[0].at[last];
    g.stride_a = batch.steps[1].at[last];
    g.stride_b = batch.steps[2].at[last];
    const int64_t outer = batch.dims.count(0, last);
    for (int64_t i = 0; i < outer; ++i) {
      int64_t at[3] = {}, left = i;
      for (int d = last - 1; d >= 0; --d) {
        for (size_t k = 0; k < 3; ++k) at[k] += left % batch.dims.at[d] * batch.steps[k].at[d];
        left /= batch.dims.at[d];
      }
      run_library(run, g, at[0], at[1], at[2]);
    }
  }
  void run_library(const Run& run, Gemm g, int64_t d, int64_t a, int64_t b) const {
    const auto size = static_cast<int64_t>(backends::dtype_size(dtype_));
    g.d = run.values.data(out_) + d * size;
    if (residual_ >= 0) g.c = run.values.data(residual_) + d * size;
    g.a = run.values.data(node_.inputs[0]) + a * size;
    g.b = run.values.data(node_.inputs[1]) + b * size;
    run.device.gemm(g, run.stream);
  }

  // A vector over the columns goes into the library's epilogue; anything else is spread over the
  // result first, which the product is then added to.
  void add_bias(const Run& run, Module& module, Gemm& g, const Dims& y) const {
    const Values& values = run.values;
    const Dims steps = bias_steps(values, y);
    const bool columns = values.dims(node_.inputs[1]).rank > 1 && y.rank > 0;
    bool vector = columns && beta_ == 1 && (steps.at[y.rank - 1] == 1) && dtype_ != NEF_FLOAT64;
    for (int d = 0; d + 1 < y.rank; ++d) vector = vector && (steps.at[d] == 0 || y.at[d] == 1);
    if (vector) {
      g.bias = values.data(bias_);
      return;
    }
    launch_strided_copy(run, module, {y, {dense_steps(y), steps}}, values.data(out_),
                        values.data(bias_), backends::dtype_size(dtype_));
    g.beta = beta_;
  }

  Node node_;
  nef_dtype dtype_;
  int32_t out_ = -1, bias_ = -1, residual_ = -1;
  bool trans_a_ = false, trans_b_ = false, turned_ = false;
  double alpha_ = 1, beta_ = 1;
};

}  // namespace

bool is_product(nef_op op) {
  return op == NEF_OP_MATMUL || op == NEF_OP_FUSED_MATMUL || op == NEF_OP_GEMM;
}
std::unique_ptr<Stage> product_stage(const Region& region, const Node& node,
                                     const ProductTail& tail, bool turned) {
  return std::make_unique<Product>(region, node, tail, turned);
}

}  // namespace nef::gpu
