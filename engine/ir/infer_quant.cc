// SPDX-License-Identifier: Apache-2.0
// Quantised tensors: integers with scales and zero points.
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

bool is_single(std::span<const Dim> dims) {
  return dims.empty() || (dims.size() == 1 && dims[0] == 1);
}

// A scale or zero point that is a scalar or one element.
void require_single(const InferContext& c, size_t input) {
  if (!c.has(input) || is_single(c.dims(input))) return;
  if (c.rank(input) == 1) {
    same_dim(c, c.dims(input)[0], 1, "one element is needed");
    return;
  }
  c.fail(NEF_SHAPE_MISMATCH,
         cat("input ", c.spec.inputs[input].name, " must be a scalar, got ", c.shape(input)));
}

// ceil(size / block) along the axis, x's dims elsewhere.
void check_blocks(const InferContext& c, int64_t axis_attr, int64_t block) {
  if (block > INT32_MAX) c.fail(NEF_INVALID_ARGUMENT, cat("block_size ", block, " is too large"));
  const size_t axis = normal_axis(c, axis_attr, c.rank(0));
  require_rank(c, 1, c.rank(0));
  for (size_t i = 0; i < c.rank(0); ++i) {
    const Dim x = c.dims(0)[i];
    same_dim(c, c.dims(1)[i], i == axis ? c.pool.ceildiv(x, Dim::of(block)) : x,
             "a scale per block is needed");
  }
}

void check_scales(const InferContext& c, int64_t axis, int64_t block) {
  if (block < 0) c.fail(NEF_INVALID_ARGUMENT, cat("block_size must not be negative, got ", block));
  if (block > 0) {
    check_blocks(c, axis, block);
  } else if (!is_single(c.dims(1))) {
    require_vector(c, 1, c.dims(0)[normal_axis(c, axis, c.rank(0))],
                   "one scale per element of the axis is needed");
  }
  if (!c.has(2)) return;
  if (is_single(c.dims(1)) && is_single(c.dims(2))) return;
  require_rank(c, 2, c.rank(1));
  for (size_t i = 0; i < c.rank(1); ++i) {
    same_dim(c, c.dims(2)[i], c.dims(1)[i], "zero points have the shape of the scales");
  }
}

void require_float_dtype(const InferContext& c, nef_dtype t, const char* attr) {
  if (dtype_is_float(t)) return;
  c.fail(NEF_INVALID_ARGUMENT, cat(attr, " must be a float dtype, got ", dtype_name(t)));
}

// One value for all, or one per row of a [..., M, K] (axis M) or column of b [..., K, N].
void check_per_line(const InferContext& c, size_t input, size_t matrix, bool rows) {
  if (!c.has(input) || is_single(c.dims(input))) return;
  const std::span<const Dim> m = c.dims(matrix), z = c.dims(input);
  const size_t back = rows ? 2 : 1;
  if (m.size() < 2) {
    c.fail(NEF_SHAPE_MISMATCH, cat("input ", c.spec.inputs[input].name,
                                   " must be a scalar beside a vector, got ", c.shape(input)));
  }
  if (z.size() == 1) {
    same_dim(c, z[0], m[m.size() - back], "one value per row of a or column of b is needed");
    return;
  }
  require_rank(c, input, m.size());
  for (size_t i = 0; i < m.size(); ++i) {
    const bool summed = i == m.size() - (rows ? 1 : 2);
    same_dim(c, z[i], summed ? Dim(1) : m[i], "one value per row of a or column of b is needed");
  }
}

// The shape rule of a float op on inputs 0 and `second`; errors name this op.
void shape_as(InferContext& c, nef_op op, size_t second, void (*rule)(InferContext&)) {
  OpSpec like = spec(op);
  like.snake = c.spec.snake;
  const Operand operands[2] = {c.in[0], c.in[second]};
  InferContext inner{like, c.attrs, operands, c.pool, c.out};
  rule(inner);
}

void check_per_filter(const InferContext& c, size_t input, size_t w) {
  if (!c.has(input) || is_single(c.dims(input))) return;
  require_vector(c, input, c.dims(w)[0], "one value per output channel is needed");
}

// Flat, or with the given dims.
void require_flat_or(const InferContext& c, size_t input, const Shape& want, const char* what) {
  if (c.rank(input) == 1) {
    same_dim(c, c.dims(input)[0], product(c.pool, want), what);
    return;
  }
  require_rank(c, input, static_cast<size_t>(want.rank));
  for (size_t i = 0; i < c.rank(input); ++i) same_dim(c, c.dims(input)[i], want[i], what);
}

}  // namespace

void infer_quantize_linear(InferContext& c) {
  check_scales(c, c.attrs.i(NEF_QUANTIZE_LINEAR_AXIS, 1),
               c.attrs.i(NEF_QUANTIZE_LINEAR_BLOCK_SIZE));
  if (c.attrs.has(NEF_QUANTIZE_LINEAR_PRECISION)) {
    require_float_dtype(c, static_cast<nef_dtype>(c.attrs.i(NEF_QUANTIZE_LINEAR_PRECISION)),
                        "precision");
  }
  c.out[0].shape.assign(c.dims(0));
  const bool asked = c.attrs.has(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE);
  const auto to = static_cast<nef_dtype>(c.attrs.i(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE, NEF_UINT8));
  if (asked && (to < NEF_INT8 || to > NEF_UINT16) && !dtype_is_float8(to)) {
    c.fail(
        NEF_INVALID_ARGUMENT,
        cat("output_dtype must be int8, uint8, int16, uint16 or a float8, got ", dtype_name(to)));
  }
  if (c.has(2) && asked && c.in[2].dtype != to) {
    c.fail(NEF_DTYPE_MISMATCH, cat("output_dtype is ", dtype_name(to), ", y_zero_point is ",
                                   dtype_name(c.in[2].dtype)));
  }
  c.out[0].dtype = c.has(2) ? c.in[2].dtype : to;
}

void infer_dequantize_linear(InferContext& c) {
  check_scales(c, c.attrs.i(NEF_DEQUANTIZE_LINEAR_AXIS, 1),
               c.attrs.i(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE));
  const auto to =
      static_cast<nef_dtype>(c.attrs.i(NEF_DEQUANTIZE_LINEAR_OUTPUT_DTYPE, c.in[1].dtype));
  require_float_dtype(c, to, "output_dtype");
  c.out[0].shape.assign(c.dims(0));
  c.out[0].dtype = to;
}

void infer_dynamic_quantize_linear(InferContext& c) { c.out[0].shape.assign(c.dims(0)); }

void infer_matmul_integer(InferContext& c) {
  shape_as(c, NEF_OP_MATMUL, 1, infer_matmul);
  check_per_line(c, 2, 0, true);
  check_per_line(c, 3, 1, false);
}

void infer_qlinear_matmul(InferContext& c) {
  shape_as(c, NEF_OP_MATMUL, 3, infer_matmul);
  for (size_t i : {1, 2}) check_per_line(c, i, 0, true);
  for (size_t i : {4, 5}) check_per_line(c, i, 3, false);
  for (size_t i : {6, 7}) require_single(c, i);
}

// Conv's attributes stand in the same slots.
static_assert(unsigned{NEF_QLINEAR_CONV_STRIDES} == unsigned{NEF_CONV_STRIDES} &&
              unsigned{NEF_CONV_INTEGER_STRIDES} == unsigned{NEF_CONV_STRIDES});

void infer_conv_integer(InferContext& c) {
  shape_as(c, NEF_OP_CONV, 1, infer_conv);
  require_single(c, 2);
  check_per_filter(c, 3, 1);
}

void infer_qlinear_conv(InferContext& c) {
  shape_as(c, NEF_OP_CONV, 3, infer_conv);
  for (size_t i : {1, 2, 6, 7}) require_single(c, i);
  for (size_t i : {4, 5}) check_per_filter(c, i, 3);
  if (c.has(8)) require_vector(c, 8, c.dims(3)[0], "the bias has one element per output channel");
}

void infer_matmul_nbits(InferContext& c) {
  const int64_t k = c.attrs.i(NEF_MATMUL_NBITS_K), n = c.attrs.i(NEF_MATMUL_NBITS_N);
  const int64_t bits = c.attrs.i(NEF_MATMUL_NBITS_BITS, 4);
  const int64_t block = c.attrs.i(NEF_MATMUL_NBITS_BLOCK_SIZE);
  if (bits != 2 && bits != 4 && bits != 8) {
    c.fail(NEF_INVALID_ARGUMENT, cat("bits must be 2, 4 or 8, got ", bits));
  }
  const bool float8 = dtype_is_float8(c.in[1].dtype);
  if (float8 && (bits != 8 || c.has(3))) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("b of ", dtype_name(c.in[1].dtype), " takes 8 bits and no zero_points, got ", bits,
               c.has(3) ? " bits and zero_points" : " bits"));
  }
  const bool power = block >= 8 && block <= (1 << 16) && (block & (block - 1)) == 0;
  if (!power) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("block_size must be a power of two from 8 to 65536, got ", block));
  }
  if (k < 1 || n < 1 || k > INT32_MAX || n > INT32_MAX) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("k and n must be positive and below 2^31, got ", k, " and ", n));
  }
  require_rank_at_least(c, 0, 1);
  same_dim(c, c.dims(0).back(), Dim::of(k), "the last dim of a is not k");
  const int64_t blocks = (k + block - 1) / block;
  require_flat_or(c, 1, shape_of(Sizes{n, blocks, block * bits / 8}),
                  "b is [n, blocks, block bytes]");
  require_flat_or(c, 2, shape_of(Sizes{n, blocks}), "scales has one element per block");
  if (c.has(3)) {
    const bool packed = c.in[3].dtype == NEF_UINT8;
    if (!packed && c.in[3].dtype != c.in[0].dtype) {
      c.fail(NEF_DTYPE_MISMATCH, cat("zero_points is ", dtype_name(c.in[3].dtype),
                                     "; it must be uint8 or ", dtype_name(c.in[0].dtype)));
    }
    require_flat_or(c, 3, shape_of(Sizes{n, packed ? (blocks * bits + 7) / 8 : blocks}),
                    "zero_points has one element per block, or packed rows");
  }
  if (c.has(4)) require_vector(c, 4, Dim::of(n), "the bias has one element per column");
  c.out[0].shape.assign(c.dims(0));
  c.out[0].shape.dims[c.rank(0) - 1] = Dim::of(n);
}

}  // namespace nef::ir
