// SPDX-License-Identifier: Apache-2.0
// What the shape rules share; only the infer_*.cc files include this.
#pragma once

#include <string>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/ir/infer.h"

namespace nef::ir {

// One inference. Counts and dtypes have been checked, dtypes of outputs set where the op table
// determines them, and contents cleared, before a rule runs.
struct InferContext {
  const OpSpec& spec;
  const Attrs& attrs;
  std::span<const Operand> in;
  DimPool& pool;
  std::span<Inferred> out;

  bool has(size_t i) const { return i < in.size() && in[i].present; }
  std::span<const Dim> dims(size_t i) const { return in[i].dims; }
  size_t rank(size_t i) const { return in[i].dims.size(); }
  std::string shape(size_t i) const { return shape_str(in[i].dims, pool); }
  // "[2 3] x [2 2]": all present inputs.
  std::string shapes() const;
  [[noreturn]] void fail(nef_code code, std::string message) const {
    nef::fail(code, spec.snake, std::move(message));
  }
};

// ---- ranks, axes, dims

void require_rank(const InferContext& c, size_t input, size_t rank);
void require_rank_at_least(const InferContext& c, size_t input, size_t rank);
// An axis in [-rank, rank) made non-negative; NEF_INVALID_ARGUMENT otherwise.
size_t normal_axis(const InferContext& c, int64_t axis, size_t rank);
// The one dim that both are; NEF_SHAPE_MISMATCH "<what>: [2 3] x [2 2] (3 != 2)" otherwise.
Dim same_dim(const InferContext& c, Dim a, Dim b, const char* what);
// acc = acc broadcast with dims.
void broadcast_into(const InferContext& c, Shape& acc, std::span<const Dim> dims);
// `from` must broadcast to `to` without changing it.
void require_broadcasts_to(const InferContext& c, std::span<const Dim> from,
                           std::span<const Dim> to, const char* what);
// A vector of exactly that many elements.
// The dtype that an attribute asks for, which the first output must take.
nef_dtype dtype_attr(const InferContext& c, unsigned slot, nef_dtype fallback);
void require_vector(const InferContext& c, size_t input, Dim size, const char* what);
// The number of entries of a vector; 1 for a scalar. Kernels read as many as others say: where only
// the run knows, require_entries leaves a check for it.
Dim entries(const InferContext& c, size_t input);
void require_entries(const InferContext& c, size_t input, Dim count, const char* what);
// a / b, where b must divide a.
Dim divided(const InferContext& c, Dim a, Dim b, const char* what);
Dim product(DimPool& pool, std::span<const Dim> dims);

// ---- host inputs

// The elements of a host input: a vector, or a scalar that counts as one element.
struct HostInts {
  bool known = false;
  std::span<const Dim> elements;  // when known
  int64_t count = -1;             // -1 = not even the length is known
};
HostInts any_host_ints(const InferContext& c, size_t input);
// The same where a number too low to be a dim is an error.
HostInts host_ints(const InferContext& c, size_t input);
// As above, and the length must be known: the rank of the result follows from it.
HostInts host_ints_sized(const InferContext& c, size_t input);
// The elements of a small float constant; false when it is not one of `count`.
bool host_floats(const InferContext& c, size_t input, size_t count, double* out);
// An element that must be a number by now.
int64_t host_number(const InferContext& c, size_t input, Dim element);
void require_one_element(const InferContext& c, size_t input);

// Axes made non-negative and checked; a bit mask over `rank` dims.
uint32_t axis_mask(const InferContext& c, std::span<const int64_t> axes, size_t rank);
// Axes of a host input.
uint32_t axis_mask(const InferContext& c, size_t input, std::span<const Dim> axes, size_t rank);

// ---- content

constexpr bool tracks_content(nef_dtype t) {
  return t == NEF_INT64 || t == NEF_INT32 || t == NEF_BOOL;
}
// A number of elements of which contents are kept.
inline bool few_elements(Dim n) {
  return n.is_number() && n.number() <= static_cast<int64_t>(kMaxContent);
}
// An element of int32; a symbol is taken to fit, as every dim of a tensor in memory does.
inline bool fits_int32(Dim d) {
  return is_expr(d) || (d.number() >= INT32_MIN && d.number() <= INT32_MAX);
}
void copy_content(const InferContext& c, size_t input, Inferred& out);
// Content of an elementwise op on operands whose contents are known; leaves none when one of the
// elements is not known as a dim.
void infer_elementwise_content(const InferContext& c);

// ---- rules, one per InferRule

void infer_affine_grid(InferContext& c);
void infer_arg_reduce(InferContext& c);
void infer_attention(InferContext& c);
void infer_batch_norm(InferContext& c);
void infer_bernoulli(InferContext& c);
void infer_bit_cast(InferContext& c);
void infer_broadcast(InferContext& c);
void infer_cast(InferContext& c);
void infer_cast_like(InferContext& c);
void infer_center_crop_pad(InferContext& c);
void infer_clip(InferContext& c);
void infer_col2im(InferContext& c);
void infer_compress(InferContext& c);
void infer_concat(InferContext& c);
void infer_constant_of_shape(InferContext& c);
void infer_conv(InferContext& c);
void infer_conv_integer(InferContext& c);
void infer_conv_transpose(InferContext& c);
void infer_cumsum(InferContext& c);
void infer_deform_conv(InferContext& c);
void infer_depth_to_space(InferContext& c);
void infer_dequantize_linear(InferContext& c);
void infer_det(InferContext& c);
void infer_dft(InferContext& c);
void infer_dynamic_quantize_linear(InferContext& c);
void infer_einsum(InferContext& c);
void infer_expand(InferContext& c);
void infer_eye_like(InferContext& c);
void infer_flatten(InferContext& c);
void infer_fused_matmul(InferContext& c);
void infer_gather(InferContext& c);
void infer_gather_elements(InferContext& c);
void infer_gather_nd(InferContext& c);
void infer_gemm(InferContext& c);
void infer_global_pool(InferContext& c);
void infer_grid_sample(InferContext& c);
void infer_group_norm(InferContext& c);
void infer_instance_norm(InferContext& c);
void infer_layer_norm(InferContext& c);
void infer_linear_attention(InferContext& c);
void infer_matmul(InferContext& c);
void infer_matmul_integer(InferContext& c);
void infer_matmul_nbits(InferContext& c);
void infer_max_roi_pool(InferContext& c);
void infer_max_unpool(InferContext& c);
void infer_mel_weight_matrix(InferContext& c);
void infer_multinomial(InferContext& c);
void infer_non_max_suppression(InferContext& c);
void infer_nonzero(InferContext& c);
void infer_one_hot(InferContext& c);
void infer_pad(InferContext& c);
void infer_pool(InferContext& c);
void infer_prelu(InferContext& c);
void infer_qlinear_conv(InferContext& c);
void infer_qlinear_matmul(InferContext& c);
void infer_quantize_linear(InferContext& c);
void infer_random(InferContext& c);
void infer_range(InferContext& c);
void infer_reduce(InferContext& c);
void infer_reshape(InferContext& c);
void infer_resize(InferContext& c);
void infer_reverse_sequence(InferContext& c);
void infer_rms_norm(InferContext& c);
void infer_rnn(InferContext& c);
void infer_roi_align(InferContext& c);
void infer_rotary_embedding(InferContext& c);
void infer_same(InferContext& c);
void infer_same_axes(InferContext& c);
void infer_same_axis(InferContext& c);
void infer_scatter_elements(InferContext& c);
void infer_scatter_nd(InferContext& c);
void infer_shape(InferContext& c);
void infer_shape_expr(InferContext& c);
void infer_size(InferContext& c);
void infer_slice(InferContext& c);
void infer_space_to_depth(InferContext& c);
void infer_split(InferContext& c);
void infer_squeeze(InferContext& c);
void infer_stft(InferContext& c);
void infer_tensor_scatter(InferContext& c);
void infer_tf_idf(InferContext& c);
void infer_tile(InferContext& c);
void infer_topk(InferContext& c);
void infer_transpose(InferContext& c);
void infer_trilu(InferContext& c);
void infer_unique(InferContext& c);
void infer_unsqueeze(InferContext& c);
void infer_window_function(InferContext& c);

}  // namespace nef::ir
