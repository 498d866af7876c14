// SPDX-License-Identifier: Apache-2.0
// generated from engine/ir/ops.toml, do not edit.
// clang-format off
#include <nef/op_ids.h>
#include <nef/ops.h>

#include <cstring>

#include "capi/op_call.h"

using nef::capi::OpCall;

namespace {

// An options struct of another version may be shorter (its caller knows fewer fields) or longer.
constexpr size_t kMaxOptionsSize = 4096;

template <class T>
void init_options(T* options, size_t struct_size, T defaults) {
  if (options == nullptr || struct_size < sizeof(size_t) || struct_size > kMaxOptionsSize) return;
  defaults.struct_size = struct_size;
  std::memset(static_cast<void*>(options), 0, struct_size);
  std::memcpy(options, &defaults, struct_size < sizeof(T) ? struct_size : sizeof(T));
}

// Copies the caller's fields over the defaults in *given. False when the struct was not
// initialised, or asks for something this version does not know.
template <class T>
bool read_options(const T* options, T* given) {
  if (options == nullptr) return true;
  const size_t size = options->struct_size;
  if (size < sizeof(size_t) || size > kMaxOptionsSize) return false;
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(options);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  std::memcpy(given, options, size < sizeof(T) ? size : sizeof(T));
  return true;
}

void add_inputs(OpCall& call, const nef_tensor* const* list, size_t n) {
  if (list == nullptr && n != 0) return call.input(nullptr);
  for (size_t i = 0; i < n; ++i) call.input(list[i]);
}

}  // namespace

nef_status* nef_abs(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ABS);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_acos(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ACOS);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_acosh(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ACOSH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_add(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_ADD);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_and(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_AND);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_argmax_options_init(nef_argmax_options* options, size_t struct_size) {
  nef_argmax_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_argmax(
    const nef_tensor* input, int64_t axis, int32_t keepdims, const nef_argmax_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_ARGMAX);
  nef_argmax_options given;
  nef_argmax_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.attr_int(NEF_ARGMAX_AXIS, axis);
  call.attr_int(NEF_ARGMAX_KEEPDIMS, keepdims != 0);
  call.attr_int(NEF_ARGMAX_SELECT_LAST_INDEX, given.select_last_index != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_argmin_options_init(nef_argmin_options* options, size_t struct_size) {
  nef_argmin_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_argmin(
    const nef_tensor* input, int64_t axis, int32_t keepdims, const nef_argmin_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_ARGMIN);
  nef_argmin_options given;
  nef_argmin_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.attr_int(NEF_ARGMIN_AXIS, axis);
  call.attr_int(NEF_ARGMIN_KEEPDIMS, keepdims != 0);
  call.attr_int(NEF_ARGMIN_SELECT_LAST_INDEX, given.select_last_index != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_asin(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ASIN);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_asinh(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ASINH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_atan(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ATAN);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_atanh(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ATANH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_attention_options_init(nef_attention_options* options, size_t struct_size) {
  nef_attention_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_attention(
    const nef_tensor* q, const nef_tensor* k, const nef_tensor* v, const nef_tensor* attn_mask,
    const nef_attention_options* options, nef_tensor** out_y, nef_tensor** out_present_key,
    nef_tensor** out_present_value, nef_tensor** out_qk_matmul_output) {
  OpCall call(NEF_OP_ATTENTION);
  nef_attention_options given;
  nef_attention_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_softmax_precision == 0);
  call.input(q);
  call.input(k);
  call.input(v);
  call.input(attn_mask);
  call.input(given.past_key);
  call.input(given.past_value);
  call.input(given.nonpad_kv_seqlen);
  call.attr_int(NEF_ATTENTION_IS_CAUSAL, given.is_causal != 0);
  if (given.has_kv_num_heads != 0) call.attr_int(NEF_ATTENTION_KV_NUM_HEADS, given.kv_num_heads);
  if (given.has_q_num_heads != 0) call.attr_int(NEF_ATTENTION_Q_NUM_HEADS, given.q_num_heads);
  call.attr_int(NEF_ATTENTION_QK_MATMUL_OUTPUT_MODE, given.qk_matmul_output_mode);
  if (given.has_scale != 0) call.attr_float(NEF_ATTENTION_SCALE, given.scale);
  call.attr_float(NEF_ATTENTION_SOFTCAP, given.softcap);
  if (given.softmax_precision != NEF_DTYPE_INVALID) {
    call.attr_int(NEF_ATTENTION_SOFTMAX_PRECISION, given.softmax_precision);
  }
  nef_tensor** const outs[] = {out_y, out_present_key, out_present_value, out_qk_matmul_output};
  return call.call(outs, 4);
}

void nef_average_pool_options_init(nef_average_pool_options* options, size_t struct_size) {
  nef_average_pool_options defaults = {};
  defaults.auto_pad = "NOTSET";
  init_options(options, struct_size, defaults);
}

nef_status* nef_average_pool(
    const nef_tensor* x, const int64_t* kernel_shape, size_t n_kernel_shape,
    const nef_average_pool_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_AVERAGE_POOL);
  nef_average_pool_options given;
  nef_average_pool_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  if (given.auto_pad != nullptr) call.attr_string(NEF_AVERAGE_POOL_AUTO_PAD, given.auto_pad);
  call.attr_int(NEF_AVERAGE_POOL_CEIL_MODE, given.ceil_mode != 0);
  call.attr_int(NEF_AVERAGE_POOL_COUNT_INCLUDE_PAD, given.count_include_pad != 0);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_AVERAGE_POOL_DILATIONS, given.dilations, given.n_dilations);
  }
  if (kernel_shape != nullptr) {
    call.attr_ints(NEF_AVERAGE_POOL_KERNEL_SHAPE, kernel_shape, n_kernel_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_AVERAGE_POOL_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) {
    call.attr_ints(NEF_AVERAGE_POOL_STRIDES, given.strides, given.n_strides);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_batch_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, const nef_tensor* mean,
    const nef_tensor* variance, double epsilon, nef_tensor** out_y) {
  OpCall call(NEF_OP_BATCH_NORMALIZATION);
  call.input(x);
  call.input(scale);
  call.input(bias);
  call.input(mean);
  call.input(variance);
  call.attr_float(NEF_BATCH_NORMALIZATION_EPSILON, epsilon);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_bit_shift(
    const nef_tensor* x, const nef_tensor* y, const char* direction, nef_tensor** out_output) {
  OpCall call(NEF_OP_BIT_SHIFT);
  call.input(x);
  call.input(y);
  if (direction != nullptr) call.attr_string(NEF_BIT_SHIFT_DIRECTION, direction);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_bitwise_and(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_BITWISE_AND);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_bitwise_not(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_BITWISE_NOT);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_bitwise_or(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_BITWISE_OR);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_bitwise_xor(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_BITWISE_XOR);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_cast(const nef_tensor* input, nef_dtype to, nef_tensor** out_output) {
  OpCall call(NEF_OP_CAST);
  call.input(input);
  call.attr_int(NEF_CAST_TO, to);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_cast_like(
    const nef_tensor* input, const nef_tensor* target, nef_tensor** out_output) {
  OpCall call(NEF_OP_CAST_LIKE);
  call.input(input);
  call.input(target);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_ceil(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_CEIL);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_celu(const nef_tensor* input, double alpha, nef_tensor** out_output) {
  OpCall call(NEF_OP_CELU);
  call.input(input);
  call.attr_float(NEF_CELU_ALPHA, alpha);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_clip(
    const nef_tensor* input, const nef_tensor* min, const nef_tensor* max,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_CLIP);
  call.input(input);
  call.input(min);
  call.input(max);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_concat(
    const nef_tensor* const* inputs, size_t n_inputs, int64_t axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_CONCAT);
  add_inputs(call, inputs, n_inputs);
  call.attr_int(NEF_CONCAT_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_constant_of_shape(
    const int64_t* shape, size_t n_shape, const nef_tensor* value, nef_tensor** out_output) {
  OpCall call(NEF_OP_CONSTANT_OF_SHAPE);
  call.host_ints(shape, n_shape, true);
  call.input(value);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_conv_options_init(nef_conv_options* options, size_t struct_size) {
  nef_conv_options defaults = {};
  defaults.auto_pad = "NOTSET";
  defaults.group = 1;
  init_options(options, struct_size, defaults);
}

nef_status* nef_conv(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* b,
    const nef_conv_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_CONV);
  nef_conv_options given;
  nef_conv_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(w);
  call.input(b);
  if (given.auto_pad != nullptr) call.attr_string(NEF_CONV_AUTO_PAD, given.auto_pad);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_CONV_DILATIONS, given.dilations, given.n_dilations);
  }
  call.attr_int(NEF_CONV_GROUP, given.group);
  if (given.kernel_shape != nullptr) {
    call.attr_ints(NEF_CONV_KERNEL_SHAPE, given.kernel_shape, given.n_kernel_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_CONV_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) call.attr_ints(NEF_CONV_STRIDES, given.strides, given.n_strides);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_conv_transpose_options_init(nef_conv_transpose_options* options, size_t struct_size) {
  nef_conv_transpose_options defaults = {};
  defaults.auto_pad = "NOTSET";
  defaults.group = 1;
  init_options(options, struct_size, defaults);
}

nef_status* nef_conv_transpose(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* b,
    const nef_conv_transpose_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_CONV_TRANSPOSE);
  nef_conv_transpose_options given;
  nef_conv_transpose_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(w);
  call.input(b);
  if (given.auto_pad != nullptr) call.attr_string(NEF_CONV_TRANSPOSE_AUTO_PAD, given.auto_pad);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_CONV_TRANSPOSE_DILATIONS, given.dilations, given.n_dilations);
  }
  call.attr_int(NEF_CONV_TRANSPOSE_GROUP, given.group);
  if (given.kernel_shape != nullptr) {
    call.attr_ints(NEF_CONV_TRANSPOSE_KERNEL_SHAPE, given.kernel_shape, given.n_kernel_shape);
  }
  if (given.output_padding != nullptr) {
    call.attr_ints(NEF_CONV_TRANSPOSE_OUTPUT_PADDING, given.output_padding, given.n_output_padding);
  }
  if (given.output_shape != nullptr) {
    call.attr_ints(NEF_CONV_TRANSPOSE_OUTPUT_SHAPE, given.output_shape, given.n_output_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_CONV_TRANSPOSE_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) {
    call.attr_ints(NEF_CONV_TRANSPOSE_STRIDES, given.strides, given.n_strides);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_cos(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_COS);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_cosh(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_COSH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_cumsum_options_init(nef_cumsum_options* options, size_t struct_size) {
  nef_cumsum_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_cumsum(
    const nef_tensor* input, int64_t axis, const nef_cumsum_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_CUMSUM);
  nef_cumsum_options given;
  nef_cumsum_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.host_int(axis);
  call.attr_int(NEF_CUMSUM_EXCLUSIVE, given.exclusive != 0);
  call.attr_int(NEF_CUMSUM_REVERSE, given.reverse != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_depth_to_space_options_init(nef_depth_to_space_options* options, size_t struct_size) {
  nef_depth_to_space_options defaults = {};
  defaults.mode = "DCR";
  init_options(options, struct_size, defaults);
}

nef_status* nef_depth_to_space(
    const nef_tensor* input, int64_t blocksize, const nef_depth_to_space_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_DEPTH_TO_SPACE);
  nef_depth_to_space_options given;
  nef_depth_to_space_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.attr_int(NEF_DEPTH_TO_SPACE_BLOCKSIZE, blocksize);
  if (given.mode != nullptr) call.attr_string(NEF_DEPTH_TO_SPACE_MODE, given.mode);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_div(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_DIV);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_einsum(
    const nef_tensor* const* inputs, size_t n_inputs, const char* equation,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_EINSUM);
  add_inputs(call, inputs, n_inputs);
  if (equation != nullptr) call.attr_string(NEF_EINSUM_EQUATION, equation);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_elu(const nef_tensor* input, double alpha, nef_tensor** out_output) {
  OpCall call(NEF_OP_ELU);
  call.input(input);
  call.attr_float(NEF_ELU_ALPHA, alpha);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_equal(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_EQUAL);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_erf(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ERF);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_exp(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_EXP);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_expand(
    const nef_tensor* input, const int64_t* shape, size_t n_shape, nef_tensor** out_output) {
  OpCall call(NEF_OP_EXPAND);
  call.input(input);
  call.host_ints(shape, n_shape, true);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_eye_like_options_init(nef_eye_like_options* options, size_t struct_size) {
  nef_eye_like_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_eye_like(
    const nef_tensor* input, int64_t k, const nef_eye_like_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_EYE_LIKE);
  nef_eye_like_options given;
  nef_eye_like_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_dtype == 0);
  call.input(input);
  if (given.dtype != NEF_DTYPE_INVALID) call.attr_int(NEF_EYE_LIKE_DTYPE, given.dtype);
  call.attr_int(NEF_EYE_LIKE_K, k);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_flatten(const nef_tensor* input, int64_t axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_FLATTEN);
  call.input(input);
  call.attr_int(NEF_FLATTEN_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_floor(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_FLOOR);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_gather(
    const nef_tensor* data, const nef_tensor* indices, int64_t axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_GATHER);
  call.input(data);
  call.input(indices);
  call.attr_int(NEF_GATHER_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_gather_elements(
    const nef_tensor* data, const nef_tensor* indices, int64_t axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_GATHER_ELEMENTS);
  call.input(data);
  call.input(indices);
  call.attr_int(NEF_GATHER_ELEMENTS_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_gather_nd(
    const nef_tensor* data, const nef_tensor* indices, int64_t batch_dims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_GATHER_ND);
  call.input(data);
  call.input(indices);
  call.attr_int(NEF_GATHER_ND_BATCH_DIMS, batch_dims);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_gelu_options_init(nef_gelu_options* options, size_t struct_size) {
  nef_gelu_options defaults = {};
  defaults.approximate = "none";
  init_options(options, struct_size, defaults);
}

nef_status* nef_gelu(
    const nef_tensor* input, const nef_gelu_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_GELU);
  nef_gelu_options given;
  nef_gelu_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  if (given.approximate != nullptr) call.attr_string(NEF_GELU_APPROXIMATE, given.approximate);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_gemm_options_init(nef_gemm_options* options, size_t struct_size) {
  nef_gemm_options defaults = {};
  defaults.alpha = 1.0;
  defaults.beta = 1.0;
  init_options(options, struct_size, defaults);
}

nef_status* nef_gemm(
    const nef_tensor* a, const nef_tensor* b, const nef_tensor* c,
    const nef_gemm_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_GEMM);
  nef_gemm_options given;
  nef_gemm_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(a);
  call.input(b);
  call.input(c);
  call.attr_float(NEF_GEMM_ALPHA, given.alpha);
  call.attr_float(NEF_GEMM_BETA, given.beta);
  call.attr_int(NEF_GEMM_TRANS_A, given.trans_a != 0);
  call.attr_int(NEF_GEMM_TRANS_B, given.trans_b != 0);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_global_average_pool(const nef_tensor* x, nef_tensor** out_y) {
  OpCall call(NEF_OP_GLOBAL_AVERAGE_POOL);
  call.input(x);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_global_max_pool(const nef_tensor* x, nef_tensor** out_y) {
  OpCall call(NEF_OP_GLOBAL_MAX_POOL);
  call.input(x);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_greater(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_GREATER);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_greater_or_equal(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_GREATER_OR_EQUAL);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_group_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, int64_t num_groups,
    double epsilon, nef_tensor** out_y) {
  OpCall call(NEF_OP_GROUP_NORMALIZATION);
  call.input(x);
  call.input(scale);
  call.input(bias);
  call.attr_int(NEF_GROUP_NORMALIZATION_NUM_GROUPS, num_groups);
  call.attr_float(NEF_GROUP_NORMALIZATION_EPSILON, epsilon);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_hard_sigmoid(
    const nef_tensor* input, double alpha, double beta, nef_tensor** out_output) {
  OpCall call(NEF_OP_HARD_SIGMOID);
  call.input(input);
  call.attr_float(NEF_HARD_SIGMOID_ALPHA, alpha);
  call.attr_float(NEF_HARD_SIGMOID_BETA, beta);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_hard_swish(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_HARD_SWISH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_hardmax(const nef_tensor* input, int64_t axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_HARDMAX);
  call.input(input);
  call.attr_int(NEF_HARDMAX_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_identity(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_IDENTITY);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_instance_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, double epsilon,
    nef_tensor** out_y) {
  OpCall call(NEF_OP_INSTANCE_NORMALIZATION);
  call.input(x);
  call.input(scale);
  call.input(bias);
  call.attr_float(NEF_INSTANCE_NORMALIZATION_EPSILON, epsilon);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_isinf_options_init(nef_isinf_options* options, size_t struct_size) {
  nef_isinf_options defaults = {};
  defaults.detect_negative = 1;
  defaults.detect_positive = 1;
  init_options(options, struct_size, defaults);
}

nef_status* nef_isinf(
    const nef_tensor* input, const nef_isinf_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_ISINF);
  nef_isinf_options given;
  nef_isinf_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.attr_int(NEF_ISINF_DETECT_NEGATIVE, given.detect_negative != 0);
  call.attr_int(NEF_ISINF_DETECT_POSITIVE, given.detect_positive != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_isnan(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ISNAN);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_lrn_options_init(nef_lrn_options* options, size_t struct_size) {
  nef_lrn_options defaults = {};
  defaults.alpha = 0.0001;
  defaults.beta = 0.75;
  defaults.bias = 1.0;
  init_options(options, struct_size, defaults);
}

nef_status* nef_lrn(
    const nef_tensor* x, int64_t size, const nef_lrn_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_LRN);
  nef_lrn_options given;
  nef_lrn_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.attr_int(NEF_LRN_SIZE, size);
  call.attr_float(NEF_LRN_ALPHA, given.alpha);
  call.attr_float(NEF_LRN_BETA, given.beta);
  call.attr_float(NEF_LRN_BIAS, given.bias);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_layer_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, int64_t axis,
    double epsilon, nef_tensor** out_y, nef_tensor** out_mean, nef_tensor** out_inv_std_dev) {
  OpCall call(NEF_OP_LAYER_NORMALIZATION);
  call.input(x);
  call.input(scale);
  call.input(bias);
  call.attr_int(NEF_LAYER_NORMALIZATION_AXIS, axis);
  call.attr_float(NEF_LAYER_NORMALIZATION_EPSILON, epsilon);
  nef_tensor** const outs[] = {out_y, out_mean, out_inv_std_dev};
  return call.call(outs, 3);
}

nef_status* nef_leaky_relu(const nef_tensor* input, double alpha, nef_tensor** out_output) {
  OpCall call(NEF_OP_LEAKY_RELU);
  call.input(input);
  call.attr_float(NEF_LEAKY_RELU_ALPHA, alpha);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_less(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_LESS);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_less_or_equal(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_LESS_OR_EQUAL);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_log(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_LOG);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_log_softmax(const nef_tensor* input, int64_t axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_LOG_SOFTMAX);
  call.input(input);
  call.attr_int(NEF_LOG_SOFTMAX_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_lp_normalization(
    const nef_tensor* input, int64_t axis, int64_t p, nef_tensor** out_output) {
  OpCall call(NEF_OP_LP_NORMALIZATION);
  call.input(input);
  call.attr_int(NEF_LP_NORMALIZATION_AXIS, axis);
  call.attr_int(NEF_LP_NORMALIZATION_P, p);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_matmul(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_MATMUL);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_max(const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output) {
  OpCall call(NEF_OP_MAX);
  add_inputs(call, inputs, n_inputs);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_max_pool_options_init(nef_max_pool_options* options, size_t struct_size) {
  nef_max_pool_options defaults = {};
  defaults.auto_pad = "NOTSET";
  init_options(options, struct_size, defaults);
}

nef_status* nef_max_pool(
    const nef_tensor* x, const int64_t* kernel_shape, size_t n_kernel_shape,
    const nef_max_pool_options* options, nef_tensor** out_y, nef_tensor** out_indices) {
  OpCall call(NEF_OP_MAX_POOL);
  nef_max_pool_options given;
  nef_max_pool_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  if (given.auto_pad != nullptr) call.attr_string(NEF_MAX_POOL_AUTO_PAD, given.auto_pad);
  call.attr_int(NEF_MAX_POOL_CEIL_MODE, given.ceil_mode != 0);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_MAX_POOL_DILATIONS, given.dilations, given.n_dilations);
  }
  if (kernel_shape != nullptr) {
    call.attr_ints(NEF_MAX_POOL_KERNEL_SHAPE, kernel_shape, n_kernel_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_MAX_POOL_PADS, given.pads, given.n_pads);
  call.attr_int(NEF_MAX_POOL_STORAGE_ORDER, given.storage_order);
  if (given.strides != nullptr) {
    call.attr_ints(NEF_MAX_POOL_STRIDES, given.strides, given.n_strides);
  }
  nef_tensor** const outs[] = {out_y, out_indices};
  return call.call(outs, 2);
}

nef_status* nef_mean(const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output) {
  OpCall call(NEF_OP_MEAN);
  add_inputs(call, inputs, n_inputs);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_mean_variance_normalization(
    const nef_tensor* x, const int64_t* axes, size_t n_axes, nef_tensor** out_y) {
  OpCall call(NEF_OP_MEAN_VARIANCE_NORMALIZATION);
  call.input(x);
  if (axes != nullptr) call.attr_ints(NEF_MEAN_VARIANCE_NORMALIZATION_AXES, axes, n_axes);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_min(const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output) {
  OpCall call(NEF_OP_MIN);
  add_inputs(call, inputs, n_inputs);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_mish(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_MISH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_mod(
    const nef_tensor* a, const nef_tensor* b, int32_t fmod, nef_tensor** out_output) {
  OpCall call(NEF_OP_MOD);
  call.input(a);
  call.input(b);
  call.attr_int(NEF_MOD_FMOD, fmod != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_mul(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_MUL);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_neg(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_NEG);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_nonzero(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_NONZERO);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_not(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_NOT);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_one_hot(
    const nef_tensor* indices, int64_t depth, const nef_tensor* values, int64_t axis,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_ONE_HOT);
  call.input(indices);
  call.host_int(depth);
  call.input(values);
  call.attr_int(NEF_ONE_HOT_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_or(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_OR);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_prelu(const nef_tensor* x, const nef_tensor* slope, nef_tensor** out_output) {
  OpCall call(NEF_OP_PRELU);
  call.input(x);
  call.input(slope);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_pad_options_init(nef_pad_options* options, size_t struct_size) {
  nef_pad_options defaults = {};
  defaults.mode = "constant";
  init_options(options, struct_size, defaults);
}

nef_status* nef_pad(
    const nef_tensor* data, const int64_t* pads, size_t n_pads, const nef_tensor* constant_value,
    const int64_t* axes, size_t n_axes, const nef_pad_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_PAD);
  nef_pad_options given;
  nef_pad_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(data);
  call.host_ints(pads, n_pads, true);
  call.input(constant_value);
  call.host_ints(axes, n_axes, axes != nullptr);
  if (given.mode != nullptr) call.attr_string(NEF_PAD_MODE, given.mode);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_pow(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_POW);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_rms_normalization(
    const nef_tensor* x, const nef_tensor* scale, int64_t axis, double epsilon,
    nef_tensor** out_y) {
  OpCall call(NEF_OP_RMS_NORMALIZATION);
  call.input(x);
  call.input(scale);
  call.attr_int(NEF_RMS_NORMALIZATION_AXIS, axis);
  call.attr_float(NEF_RMS_NORMALIZATION_EPSILON, epsilon);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_range(
    const nef_tensor* start, const nef_tensor* limit, const nef_tensor* delta,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_RANGE);
  call.input(start);
  call.input(limit);
  call.input(delta);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reciprocal(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_RECIPROCAL);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_l1(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_L1);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_L1_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_l2(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_L2);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_L2_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_log_sum(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_LOG_SUM);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_LOG_SUM_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_log_sum_exp(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_LOG_SUM_EXP);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_LOG_SUM_EXP_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_max(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_MAX);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_MAX_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_mean(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_MEAN);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_MEAN_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_min(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_MIN);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_MIN_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_prod(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_PROD);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_PROD_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_sum(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_SUM);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_SUM_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_reduce_sum_square(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REDUCE_SUM_SQUARE);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.attr_int(NEF_REDUCE_SUM_SQUARE_KEEPDIMS, keepdims != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_relu(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_RELU);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_reshape_options_init(nef_reshape_options* options, size_t struct_size) {
  nef_reshape_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_reshape(
    const nef_tensor* data, const int64_t* shape, size_t n_shape,
    const nef_reshape_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_RESHAPE);
  nef_reshape_options given;
  nef_reshape_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(data);
  call.host_ints(shape, n_shape, true);
  call.attr_int(NEF_RESHAPE_ALLOWZERO, given.allowzero != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_resize_options_init(nef_resize_options* options, size_t struct_size) {
  nef_resize_options defaults = {};
  defaults.coordinate_transformation_mode = "half_pixel";
  defaults.cubic_coeff_a = -0.75;
  defaults.keep_aspect_ratio_policy = "stretch";
  defaults.nearest_mode = "round_prefer_floor";
  init_options(options, struct_size, defaults);
}

nef_status* nef_resize(
    const nef_tensor* x, const nef_tensor* scales, const int64_t* sizes, size_t n_sizes,
    const char* mode, const nef_resize_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_RESIZE);
  nef_resize_options given;
  nef_resize_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(given.roi);
  call.input(scales);
  call.host_ints(sizes, n_sizes, sizes != nullptr);
  if (mode != nullptr) call.attr_string(NEF_RESIZE_MODE, mode);
  call.attr_int(NEF_RESIZE_ANTIALIAS, given.antialias != 0);
  if (given.axes != nullptr) call.attr_ints(NEF_RESIZE_AXES, given.axes, given.n_axes);
  if (given.coordinate_transformation_mode != nullptr) {
    call.attr_string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE, given.coordinate_transformation_mode);
  }
  call.attr_float(NEF_RESIZE_CUBIC_COEFF_A, given.cubic_coeff_a);
  call.attr_int(NEF_RESIZE_EXCLUDE_OUTSIDE, given.exclude_outside != 0);
  call.attr_float(NEF_RESIZE_EXTRAPOLATION_VALUE, given.extrapolation_value);
  if (given.keep_aspect_ratio_policy != nullptr) {
    call.attr_string(NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY, given.keep_aspect_ratio_policy);
  }
  if (given.nearest_mode != nullptr) call.attr_string(NEF_RESIZE_NEAREST_MODE, given.nearest_mode);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_reverse_sequence(
    const nef_tensor* input, const nef_tensor* sequence_lens, int64_t batch_axis,
    int64_t time_axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_REVERSE_SEQUENCE);
  call.input(input);
  call.input(sequence_lens);
  call.attr_int(NEF_REVERSE_SEQUENCE_BATCH_AXIS, batch_axis);
  call.attr_int(NEF_REVERSE_SEQUENCE_TIME_AXIS, time_axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_rotary_embedding_options_init(nef_rotary_embedding_options* options, size_t struct_size) {
  nef_rotary_embedding_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_rotary_embedding(
    const nef_tensor* x, const nef_tensor* cos_cache, const nef_tensor* sin_cache,
    const nef_tensor* position_ids, const nef_rotary_embedding_options* options,
    nef_tensor** out_y) {
  OpCall call(NEF_OP_ROTARY_EMBEDDING);
  nef_rotary_embedding_options given;
  nef_rotary_embedding_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(cos_cache);
  call.input(sin_cache);
  call.input(position_ids);
  call.attr_int(NEF_ROTARY_EMBEDDING_INTERLEAVED, given.interleaved != 0);
  call.attr_int(NEF_ROTARY_EMBEDDING_NUM_HEADS, given.num_heads);
  call.attr_int(NEF_ROTARY_EMBEDDING_ROTARY_EMBEDDING_DIM, given.rotary_embedding_dim);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_round(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_ROUND);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_scatter_elements_options_init(nef_scatter_elements_options* options, size_t struct_size) {
  nef_scatter_elements_options defaults = {};
  defaults.reduction = "none";
  init_options(options, struct_size, defaults);
}

nef_status* nef_scatter_elements(
    const nef_tensor* data, const nef_tensor* indices, const nef_tensor* updates, int64_t axis,
    const nef_scatter_elements_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_SCATTER_ELEMENTS);
  nef_scatter_elements_options given;
  nef_scatter_elements_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(data);
  call.input(indices);
  call.input(updates);
  call.attr_int(NEF_SCATTER_ELEMENTS_AXIS, axis);
  if (given.reduction != nullptr) call.attr_string(NEF_SCATTER_ELEMENTS_REDUCTION, given.reduction);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_scatter_nd_options_init(nef_scatter_nd_options* options, size_t struct_size) {
  nef_scatter_nd_options defaults = {};
  defaults.reduction = "none";
  init_options(options, struct_size, defaults);
}

nef_status* nef_scatter_nd(
    const nef_tensor* data, const nef_tensor* indices, const nef_tensor* updates,
    const nef_scatter_nd_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_SCATTER_ND);
  nef_scatter_nd_options given;
  nef_scatter_nd_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(data);
  call.input(indices);
  call.input(updates);
  if (given.reduction != nullptr) call.attr_string(NEF_SCATTER_ND_REDUCTION, given.reduction);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_selu_options_init(nef_selu_options* options, size_t struct_size) {
  nef_selu_options defaults = {};
  defaults.alpha = 1.6732631921768188;
  defaults.gamma = 1.0507010221481323;
  init_options(options, struct_size, defaults);
}

nef_status* nef_selu(
    const nef_tensor* input, const nef_selu_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_SELU);
  nef_selu_options given;
  nef_selu_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.attr_float(NEF_SELU_ALPHA, given.alpha);
  call.attr_float(NEF_SELU_GAMMA, given.gamma);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_shape_options_init(nef_shape_options* options, size_t struct_size) {
  nef_shape_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_shape(
    const nef_tensor* data, const nef_shape_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_SHAPE);
  nef_shape_options given;
  nef_shape_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(data);
  call.attr_int(NEF_SHAPE_START, given.start);
  if (given.has_end != 0) call.attr_int(NEF_SHAPE_END, given.end);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_shrink(
    const nef_tensor* input, double lambd, double bias, nef_tensor** out_output) {
  OpCall call(NEF_OP_SHRINK);
  call.input(input);
  call.attr_float(NEF_SHRINK_LAMBD, lambd);
  call.attr_float(NEF_SHRINK_BIAS, bias);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_sigmoid(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_SIGMOID);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_sign(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_SIGN);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_silu_options_init(nef_silu_options* options, size_t struct_size) {
  nef_silu_options defaults = {};
  defaults.alpha = 1.0;
  init_options(options, struct_size, defaults);
}

nef_status* nef_silu(
    const nef_tensor* input, const nef_silu_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_SILU);
  nef_silu_options given;
  nef_silu_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.attr_float(NEF_SILU_ALPHA, given.alpha);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_sin(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_SIN);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_sinh(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_SINH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_size(const nef_tensor* data, nef_tensor** out_output) {
  OpCall call(NEF_OP_SIZE);
  call.input(data);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_slice(
    const nef_tensor* data, const int64_t* starts, size_t n_starts, const int64_t* ends,
    size_t n_ends, const int64_t* axes, size_t n_axes, const int64_t* steps, size_t n_steps,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_SLICE);
  call.input(data);
  call.host_ints(starts, n_starts, true);
  call.host_ints(ends, n_ends, true);
  call.host_ints(axes, n_axes, axes != nullptr);
  call.host_ints(steps, n_steps, steps != nullptr);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_softmax(const nef_tensor* input, int64_t axis, nef_tensor** out_output) {
  OpCall call(NEF_OP_SOFTMAX);
  call.input(input);
  call.attr_int(NEF_SOFTMAX_AXIS, axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_softplus(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_SOFTPLUS);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_softsign(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_SOFTSIGN);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_space_to_depth_options_init(nef_space_to_depth_options* options, size_t struct_size) {
  nef_space_to_depth_options defaults = {};
  defaults.mode = "DCR";
  init_options(options, struct_size, defaults);
}

nef_status* nef_space_to_depth(
    const nef_tensor* input, int64_t blocksize, const nef_space_to_depth_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_SPACE_TO_DEPTH);
  nef_space_to_depth_options given;
  nef_space_to_depth_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.attr_int(NEF_SPACE_TO_DEPTH_BLOCKSIZE, blocksize);
  if (given.mode != nullptr) call.attr_string(NEF_SPACE_TO_DEPTH_MODE, given.mode);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_split(
    const nef_tensor* input, const int64_t* split, size_t n_split, int64_t axis,
    nef_tensor** out_outputs, size_t n_outputs) {
  OpCall call(NEF_OP_SPLIT);
  call.input(input);
  call.host_ints(split, n_split, split != nullptr);
  call.attr_int(NEF_SPLIT_AXIS, axis);
  if (split == nullptr) call.attr_int(NEF_SPLIT_NUM_OUTPUTS, static_cast<int64_t>(n_outputs));
  return call.call_variadic(out_outputs, n_outputs);
}

nef_status* nef_sqrt(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_SQRT);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_squeeze(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, nef_tensor** out_output) {
  OpCall call(NEF_OP_SQUEEZE);
  call.input(data);
  call.host_ints(axes, n_axes, axes != nullptr);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_sub(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_SUB);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_sum(const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output) {
  OpCall call(NEF_OP_SUM);
  add_inputs(call, inputs, n_inputs);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_tan(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_TAN);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_tanh(const nef_tensor* input, nef_tensor** out_output) {
  OpCall call(NEF_OP_TANH);
  call.input(input);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_thresholded_relu(const nef_tensor* input, double alpha, nef_tensor** out_output) {
  OpCall call(NEF_OP_THRESHOLDED_RELU);
  call.input(input);
  call.attr_float(NEF_THRESHOLDED_RELU_ALPHA, alpha);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_tile(
    const nef_tensor* input, const int64_t* repeats, size_t n_repeats, nef_tensor** out_output) {
  OpCall call(NEF_OP_TILE);
  call.input(input);
  call.host_ints(repeats, n_repeats, true);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_topk(
    const nef_tensor* x, int64_t k, int64_t axis, int32_t largest, nef_tensor** out_values,
    nef_tensor** out_indices) {
  OpCall call(NEF_OP_TOPK);
  call.input(x);
  call.host_int(k);
  call.attr_int(NEF_TOPK_AXIS, axis);
  call.attr_int(NEF_TOPK_LARGEST, largest != 0);
  nef_tensor** const outs[] = {out_values, out_indices};
  return call.call(outs, 2);
}

nef_status* nef_transpose(
    const nef_tensor* data, const int64_t* perm, size_t n_perm, nef_tensor** out_output) {
  OpCall call(NEF_OP_TRANSPOSE);
  call.input(data);
  if (perm != nullptr) call.attr_ints(NEF_TRANSPOSE_PERM, perm, n_perm);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_trilu(const nef_tensor* input, int64_t k, int32_t upper, nef_tensor** out_output) {
  OpCall call(NEF_OP_TRILU);
  call.input(input);
  call.host_int(k);
  call.attr_int(NEF_TRILU_UPPER, upper != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_unsqueeze(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, nef_tensor** out_output) {
  OpCall call(NEF_OP_UNSQUEEZE);
  call.input(data);
  call.host_ints(axes, n_axes, true);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_where(
    const nef_tensor* condition, const nef_tensor* x, const nef_tensor* y,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_WHERE);
  call.input(condition);
  call.input(x);
  call.input(y);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_xor(const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output) {
  OpCall call(NEF_OP_XOR);
  call.input(a);
  call.input(b);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_lstm_options_init(nef_lstm_options* options, size_t struct_size) {
  nef_lstm_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_lstm(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* r, const nef_tensor* b,
    const char* direction, const nef_lstm_options* options, nef_tensor** out_y,
    nef_tensor** out_y_h, nef_tensor** out_y_c) {
  OpCall call(NEF_OP_LSTM);
  nef_lstm_options given;
  nef_lstm_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(w);
  call.input(r);
  call.input(b);
  call.input(given.sequence_lens);
  call.input(given.initial_h);
  call.input(given.initial_c);
  call.input(given.p);
  if (given.activation_alpha != nullptr) {
    call.attr_floats(NEF_LSTM_ACTIVATION_ALPHA, given.activation_alpha, given.n_activation_alpha);
  }
  if (given.activation_beta != nullptr) {
    call.attr_floats(NEF_LSTM_ACTIVATION_BETA, given.activation_beta, given.n_activation_beta);
  }
  if (given.activations != nullptr) call.attr_string(NEF_LSTM_ACTIVATIONS, given.activations);
  if (given.has_clip != 0) call.attr_float(NEF_LSTM_CLIP, given.clip);
  if (direction != nullptr) call.attr_string(NEF_LSTM_DIRECTION, direction);
  if (given.has_hidden_size != 0) call.attr_int(NEF_LSTM_HIDDEN_SIZE, given.hidden_size);
  call.attr_int(NEF_LSTM_LAYOUT, given.layout);
  call.attr_int(NEF_LSTM_INPUT_FORGET, given.input_forget != 0);
  nef_tensor** const outs[] = {out_y, out_y_h, out_y_c};
  return call.call(outs, 3);
}

void nef_gru_options_init(nef_gru_options* options, size_t struct_size) {
  nef_gru_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_gru(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* r, const nef_tensor* b,
    const char* direction, const nef_gru_options* options, nef_tensor** out_y,
    nef_tensor** out_y_h) {
  OpCall call(NEF_OP_GRU);
  nef_gru_options given;
  nef_gru_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(w);
  call.input(r);
  call.input(b);
  call.input(given.sequence_lens);
  call.input(given.initial_h);
  if (given.activation_alpha != nullptr) {
    call.attr_floats(NEF_GRU_ACTIVATION_ALPHA, given.activation_alpha, given.n_activation_alpha);
  }
  if (given.activation_beta != nullptr) {
    call.attr_floats(NEF_GRU_ACTIVATION_BETA, given.activation_beta, given.n_activation_beta);
  }
  if (given.activations != nullptr) call.attr_string(NEF_GRU_ACTIVATIONS, given.activations);
  if (given.has_clip != 0) call.attr_float(NEF_GRU_CLIP, given.clip);
  if (direction != nullptr) call.attr_string(NEF_GRU_DIRECTION, direction);
  if (given.has_hidden_size != 0) call.attr_int(NEF_GRU_HIDDEN_SIZE, given.hidden_size);
  call.attr_int(NEF_GRU_LAYOUT, given.layout);
  call.attr_int(NEF_GRU_LINEAR_BEFORE_RESET, given.linear_before_reset != 0);
  nef_tensor** const outs[] = {out_y, out_y_h};
  return call.call(outs, 2);
}

void nef_rnn_options_init(nef_rnn_options* options, size_t struct_size) {
  nef_rnn_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_rnn(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* r, const nef_tensor* b,
    const char* direction, const nef_rnn_options* options, nef_tensor** out_y,
    nef_tensor** out_y_h) {
  OpCall call(NEF_OP_RNN);
  nef_rnn_options given;
  nef_rnn_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(w);
  call.input(r);
  call.input(b);
  call.input(given.sequence_lens);
  call.input(given.initial_h);
  if (given.activation_alpha != nullptr) {
    call.attr_floats(NEF_RNN_ACTIVATION_ALPHA, given.activation_alpha, given.n_activation_alpha);
  }
  if (given.activation_beta != nullptr) {
    call.attr_floats(NEF_RNN_ACTIVATION_BETA, given.activation_beta, given.n_activation_beta);
  }
  if (given.activations != nullptr) call.attr_string(NEF_RNN_ACTIVATIONS, given.activations);
  if (given.has_clip != 0) call.attr_float(NEF_RNN_CLIP, given.clip);
  if (direction != nullptr) call.attr_string(NEF_RNN_DIRECTION, direction);
  if (given.has_hidden_size != 0) call.attr_int(NEF_RNN_HIDDEN_SIZE, given.hidden_size);
  call.attr_int(NEF_RNN_LAYOUT, given.layout);
  nef_tensor** const outs[] = {out_y, out_y_h};
  return call.call(outs, 2);
}

void nef_quantize_linear_options_init(nef_quantize_linear_options* options, size_t struct_size) {
  nef_quantize_linear_options defaults = {};
  defaults.saturate = 1;
  init_options(options, struct_size, defaults);
}

nef_status* nef_quantize_linear(
    const nef_tensor* x, const nef_tensor* y_scale, const nef_tensor* y_zero_point, int64_t axis,
    const nef_quantize_linear_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_QUANTIZE_LINEAR);
  nef_quantize_linear_options given;
  nef_quantize_linear_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_output_dtype == 0 && given.reserved_precision == 0);
  call.input(x);
  call.input(y_scale);
  call.input(y_zero_point);
  call.attr_int(NEF_QUANTIZE_LINEAR_AXIS, axis);
  call.attr_int(NEF_QUANTIZE_LINEAR_BLOCK_SIZE, given.block_size);
  if (given.output_dtype != NEF_DTYPE_INVALID) {
    call.attr_int(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE, given.output_dtype);
  }
  if (given.precision != NEF_DTYPE_INVALID) {
    call.attr_int(NEF_QUANTIZE_LINEAR_PRECISION, given.precision);
  }
  call.attr_int(NEF_QUANTIZE_LINEAR_SATURATE, given.saturate != 0);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_dequantize_linear_options_init(nef_dequantize_linear_options* options, size_t struct_size) {
  nef_dequantize_linear_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_dequantize_linear(
    const nef_tensor* x, const nef_tensor* x_scale, const nef_tensor* x_zero_point, int64_t axis,
    const nef_dequantize_linear_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_DEQUANTIZE_LINEAR);
  nef_dequantize_linear_options given;
  nef_dequantize_linear_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_output_dtype == 0);
  call.input(x);
  call.input(x_scale);
  call.input(x_zero_point);
  call.attr_int(NEF_DEQUANTIZE_LINEAR_AXIS, axis);
  call.attr_int(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE, given.block_size);
  if (given.output_dtype != NEF_DTYPE_INVALID) {
    call.attr_int(NEF_DEQUANTIZE_LINEAR_OUTPUT_DTYPE, given.output_dtype);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_dynamic_quantize_linear(
    const nef_tensor* x, nef_tensor** out_y, nef_tensor** out_y_scale,
    nef_tensor** out_y_zero_point) {
  OpCall call(NEF_OP_DYNAMIC_QUANTIZE_LINEAR);
  call.input(x);
  nef_tensor** const outs[] = {out_y, out_y_scale, out_y_zero_point};
  return call.call(outs, 3);
}

nef_status* nef_matmul_integer(
    const nef_tensor* a, const nef_tensor* b, const nef_tensor* a_zero_point,
    const nef_tensor* b_zero_point, nef_tensor** out_y) {
  OpCall call(NEF_OP_MATMUL_INTEGER);
  call.input(a);
  call.input(b);
  call.input(a_zero_point);
  call.input(b_zero_point);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_qlinear_matmul(
    const nef_tensor* a, const nef_tensor* a_scale, const nef_tensor* a_zero_point,
    const nef_tensor* b, const nef_tensor* b_scale, const nef_tensor* b_zero_point,
    const nef_tensor* y_scale, const nef_tensor* y_zero_point, nef_tensor** out_y) {
  OpCall call(NEF_OP_QLINEAR_MATMUL);
  call.input(a);
  call.input(a_scale);
  call.input(a_zero_point);
  call.input(b);
  call.input(b_scale);
  call.input(b_zero_point);
  call.input(y_scale);
  call.input(y_zero_point);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_conv_integer_options_init(nef_conv_integer_options* options, size_t struct_size) {
  nef_conv_integer_options defaults = {};
  defaults.auto_pad = "NOTSET";
  defaults.group = 1;
  init_options(options, struct_size, defaults);
}

nef_status* nef_conv_integer(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* x_zero_point,
    const nef_tensor* w_zero_point, const nef_conv_integer_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_CONV_INTEGER);
  nef_conv_integer_options given;
  nef_conv_integer_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(w);
  call.input(x_zero_point);
  call.input(w_zero_point);
  if (given.auto_pad != nullptr) call.attr_string(NEF_CONV_INTEGER_AUTO_PAD, given.auto_pad);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_CONV_INTEGER_DILATIONS, given.dilations, given.n_dilations);
  }
  call.attr_int(NEF_CONV_INTEGER_GROUP, given.group);
  if (given.kernel_shape != nullptr) {
    call.attr_ints(NEF_CONV_INTEGER_KERNEL_SHAPE, given.kernel_shape, given.n_kernel_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_CONV_INTEGER_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) {
    call.attr_ints(NEF_CONV_INTEGER_STRIDES, given.strides, given.n_strides);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_qlinear_conv_options_init(nef_qlinear_conv_options* options, size_t struct_size) {
  nef_qlinear_conv_options defaults = {};
  defaults.auto_pad = "NOTSET";
  defaults.group = 1;
  init_options(options, struct_size, defaults);
}

nef_status* nef_qlinear_conv(
    const nef_tensor* x, const nef_tensor* x_scale, const nef_tensor* x_zero_point,
    const nef_tensor* w, const nef_tensor* w_scale, const nef_tensor* w_zero_point,
    const nef_tensor* y_scale, const nef_tensor* y_zero_point, const nef_tensor* b,
    const nef_qlinear_conv_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_QLINEAR_CONV);
  nef_qlinear_conv_options given;
  nef_qlinear_conv_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(x_scale);
  call.input(x_zero_point);
  call.input(w);
  call.input(w_scale);
  call.input(w_zero_point);
  call.input(y_scale);
  call.input(y_zero_point);
  call.input(b);
  if (given.auto_pad != nullptr) call.attr_string(NEF_QLINEAR_CONV_AUTO_PAD, given.auto_pad);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_QLINEAR_CONV_DILATIONS, given.dilations, given.n_dilations);
  }
  call.attr_int(NEF_QLINEAR_CONV_GROUP, given.group);
  if (given.kernel_shape != nullptr) {
    call.attr_ints(NEF_QLINEAR_CONV_KERNEL_SHAPE, given.kernel_shape, given.n_kernel_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_QLINEAR_CONV_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) {
    call.attr_ints(NEF_QLINEAR_CONV_STRIDES, given.strides, given.n_strides);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_matmul_nbits(
    const nef_tensor* a, const nef_tensor* b, const nef_tensor* scales,
    const nef_tensor* zero_points, const nef_tensor* bias, int64_t k, int64_t n, int64_t bits,
    int64_t block_size, nef_tensor** out_y) {
  OpCall call(NEF_OP_MATMUL_NBITS);
  call.input(a);
  call.input(b);
  call.input(scales);
  call.input(zero_points);
  call.input(bias);
  call.attr_int(NEF_MATMUL_NBITS_K, k);
  call.attr_int(NEF_MATMUL_NBITS_N, n);
  call.attr_int(NEF_MATMUL_NBITS_BITS, bits);
  call.attr_int(NEF_MATMUL_NBITS_BLOCK_SIZE, block_size);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_non_max_suppression_options_init(nef_non_max_suppression_options* options, size_t struct_size) {
  nef_non_max_suppression_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_non_max_suppression(
    const nef_tensor* boxes, const nef_tensor* scores, int64_t max_output_boxes_per_class,
    const nef_non_max_suppression_options* options, nef_tensor** out_selected_indices) {
  OpCall call(NEF_OP_NON_MAX_SUPPRESSION);
  nef_non_max_suppression_options given;
  nef_non_max_suppression_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(boxes);
  call.input(scores);
  call.host_int(max_output_boxes_per_class);
  call.input(given.iou_threshold);
  call.input(given.score_threshold);
  call.attr_int(NEF_NON_MAX_SUPPRESSION_CENTER_POINT_BOX, given.center_point_box);
  nef_tensor** const outs[] = {out_selected_indices};
  return call.call(outs, 1);
}

void nef_compress_options_init(nef_compress_options* options, size_t struct_size) {
  nef_compress_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_compress(
    const nef_tensor* input, const nef_tensor* condition, const nef_compress_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_COMPRESS);
  nef_compress_options given;
  nef_compress_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.input(condition);
  if (given.has_axis != 0) call.attr_int(NEF_COMPRESS_AXIS, given.axis);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_unique_options_init(nef_unique_options* options, size_t struct_size) {
  nef_unique_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_unique(
    const nef_tensor* x, int32_t sorted, const nef_unique_options* options, nef_tensor** out_y,
    nef_tensor** out_indices, nef_tensor** out_inverse_indices, nef_tensor** out_counts) {
  OpCall call(NEF_OP_UNIQUE);
  nef_unique_options given;
  nef_unique_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  if (given.has_axis != 0) call.attr_int(NEF_UNIQUE_AXIS, given.axis);
  call.attr_int(NEF_UNIQUE_SORTED, sorted != 0);
  nef_tensor** const outs[] = {out_y, out_indices, out_inverse_indices, out_counts};
  return call.call(outs, 4);
}

void nef_grid_sample_options_init(nef_grid_sample_options* options, size_t struct_size) {
  nef_grid_sample_options defaults = {};
  defaults.padding_mode = "zeros";
  init_options(options, struct_size, defaults);
}

nef_status* nef_grid_sample(
    const nef_tensor* x, const nef_tensor* grid, const char* mode,
    const nef_grid_sample_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_GRID_SAMPLE);
  nef_grid_sample_options given;
  nef_grid_sample_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(grid);
  call.attr_int(NEF_GRID_SAMPLE_ALIGN_CORNERS, given.align_corners != 0);
  if (mode != nullptr) call.attr_string(NEF_GRID_SAMPLE_MODE, mode);
  if (given.padding_mode != nullptr) {
    call.attr_string(NEF_GRID_SAMPLE_PADDING_MODE, given.padding_mode);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_affine_grid(
    const nef_tensor* theta, const int64_t* size, size_t n_size, int32_t align_corners,
    nef_tensor** out_grid) {
  OpCall call(NEF_OP_AFFINE_GRID);
  call.input(theta);
  call.host_ints(size, n_size, true);
  call.attr_int(NEF_AFFINE_GRID_ALIGN_CORNERS, align_corners != 0);
  nef_tensor** const outs[] = {out_grid};
  return call.call(outs, 1);
}

void nef_roi_align_options_init(nef_roi_align_options* options, size_t struct_size) {
  nef_roi_align_options defaults = {};
  defaults.coordinate_transformation_mode = "half_pixel";
  init_options(options, struct_size, defaults);
}

nef_status* nef_roi_align(
    const nef_tensor* x, const nef_tensor* rois, const nef_tensor* batch_indices,
    const char* mode, int64_t output_height, int64_t output_width, double spatial_scale,
    const nef_roi_align_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_ROI_ALIGN);
  nef_roi_align_options given;
  nef_roi_align_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(rois);
  call.input(batch_indices);
  if (given.coordinate_transformation_mode != nullptr) {
    call.attr_string(NEF_ROI_ALIGN_COORDINATE_TRANSFORMATION_MODE, given.coordinate_transformation_mode);
  }
  if (mode != nullptr) call.attr_string(NEF_ROI_ALIGN_MODE, mode);
  call.attr_int(NEF_ROI_ALIGN_OUTPUT_HEIGHT, output_height);
  call.attr_int(NEF_ROI_ALIGN_OUTPUT_WIDTH, output_width);
  call.attr_int(NEF_ROI_ALIGN_SAMPLING_RATIO, given.sampling_ratio);
  call.attr_float(NEF_ROI_ALIGN_SPATIAL_SCALE, spatial_scale);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_max_roi_pool(
    const nef_tensor* x, const nef_tensor* rois, const int64_t* pooled_shape,
    size_t n_pooled_shape, double spatial_scale, nef_tensor** out_y) {
  OpCall call(NEF_OP_MAX_ROI_POOL);
  call.input(x);
  call.input(rois);
  if (pooled_shape != nullptr) {
    call.attr_ints(NEF_MAX_ROI_POOL_POOLED_SHAPE, pooled_shape, n_pooled_shape);
  }
  call.attr_float(NEF_MAX_ROI_POOL_SPATIAL_SCALE, spatial_scale);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_max_unpool_options_init(nef_max_unpool_options* options, size_t struct_size) {
  nef_max_unpool_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_max_unpool(
    const nef_tensor* x, const nef_tensor* i, const int64_t* output_shape, size_t n_output_shape,
    const int64_t* kernel_shape, size_t n_kernel_shape, const nef_max_unpool_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_MAX_UNPOOL);
  nef_max_unpool_options given;
  nef_max_unpool_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(i);
  call.host_ints(output_shape, n_output_shape, output_shape != nullptr);
  if (kernel_shape != nullptr) {
    call.attr_ints(NEF_MAX_UNPOOL_KERNEL_SHAPE, kernel_shape, n_kernel_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_MAX_UNPOOL_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) {
    call.attr_ints(NEF_MAX_UNPOOL_STRIDES, given.strides, given.n_strides);
  }
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_deform_conv_options_init(nef_deform_conv_options* options, size_t struct_size) {
  nef_deform_conv_options defaults = {};
  defaults.group = 1;
  defaults.offset_group = 1;
  init_options(options, struct_size, defaults);
}

nef_status* nef_deform_conv(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* offset, const nef_tensor* b,
    const nef_tensor* mask, const nef_deform_conv_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_DEFORM_CONV);
  nef_deform_conv_options given;
  nef_deform_conv_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.input(w);
  call.input(offset);
  call.input(b);
  call.input(mask);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_DEFORM_CONV_DILATIONS, given.dilations, given.n_dilations);
  }
  call.attr_int(NEF_DEFORM_CONV_GROUP, given.group);
  if (given.kernel_shape != nullptr) {
    call.attr_ints(NEF_DEFORM_CONV_KERNEL_SHAPE, given.kernel_shape, given.n_kernel_shape);
  }
  call.attr_int(NEF_DEFORM_CONV_OFFSET_GROUP, given.offset_group);
  if (given.pads != nullptr) call.attr_ints(NEF_DEFORM_CONV_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) {
    call.attr_ints(NEF_DEFORM_CONV_STRIDES, given.strides, given.n_strides);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_lp_pool_options_init(nef_lp_pool_options* options, size_t struct_size) {
  nef_lp_pool_options defaults = {};
  defaults.auto_pad = "NOTSET";
  init_options(options, struct_size, defaults);
}

nef_status* nef_lp_pool(
    const nef_tensor* x, const int64_t* kernel_shape, size_t n_kernel_shape, int64_t p,
    const nef_lp_pool_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_LP_POOL);
  nef_lp_pool_options given;
  nef_lp_pool_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  if (given.auto_pad != nullptr) call.attr_string(NEF_LP_POOL_AUTO_PAD, given.auto_pad);
  call.attr_int(NEF_LP_POOL_CEIL_MODE, given.ceil_mode != 0);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_LP_POOL_DILATIONS, given.dilations, given.n_dilations);
  }
  if (kernel_shape != nullptr) {
    call.attr_ints(NEF_LP_POOL_KERNEL_SHAPE, kernel_shape, n_kernel_shape);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_LP_POOL_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) call.attr_ints(NEF_LP_POOL_STRIDES, given.strides, given.n_strides);
  call.attr_int(NEF_LP_POOL_P, p);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_col2im_options_init(nef_col2im_options* options, size_t struct_size) {
  nef_col2im_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_col2im(
    const nef_tensor* input, const int64_t* image_shape, size_t n_image_shape,
    const int64_t* block_shape, size_t n_block_shape, const nef_col2im_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_COL2IM);
  nef_col2im_options given;
  nef_col2im_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.host_ints(image_shape, n_image_shape, true);
  call.host_ints(block_shape, n_block_shape, true);
  if (given.dilations != nullptr) {
    call.attr_ints(NEF_COL2IM_DILATIONS, given.dilations, given.n_dilations);
  }
  if (given.pads != nullptr) call.attr_ints(NEF_COL2IM_PADS, given.pads, given.n_pads);
  if (given.strides != nullptr) call.attr_ints(NEF_COL2IM_STRIDES, given.strides, given.n_strides);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_center_crop_pad_options_init(nef_center_crop_pad_options* options, size_t struct_size) {
  nef_center_crop_pad_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_center_crop_pad(
    const nef_tensor* input_data, const int64_t* shape, size_t n_shape,
    const nef_center_crop_pad_options* options, nef_tensor** out_output_data) {
  OpCall call(NEF_OP_CENTER_CROP_PAD);
  nef_center_crop_pad_options given;
  nef_center_crop_pad_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input_data);
  call.host_ints(shape, n_shape, true);
  if (given.axes != nullptr) call.attr_ints(NEF_CENTER_CROP_PAD_AXES, given.axes, given.n_axes);
  nef_tensor** const outs[] = {out_output_data};
  return call.call(outs, 1);
}

void nef_dft_options_init(nef_dft_options* options, size_t struct_size) {
  nef_dft_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_dft(
    const nef_tensor* input, int64_t dft_length, int64_t axis, const nef_dft_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_DFT);
  nef_dft_options given;
  nef_dft_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.host_int(dft_length);
  call.host_int(axis);
  call.attr_int(NEF_DFT_INVERSE, given.inverse != 0);
  call.attr_int(NEF_DFT_ONESIDED, given.onesided != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_stft(
    const nef_tensor* signal, int64_t frame_step, const nef_tensor* window, int64_t frame_length,
    int32_t onesided, nef_tensor** out_output) {
  OpCall call(NEF_OP_STFT);
  call.input(signal);
  call.host_int(frame_step);
  call.input(window);
  call.host_int(frame_length);
  call.attr_int(NEF_STFT_ONESIDED, onesided != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_mel_weight_matrix(
    int64_t num_mel_bins, int64_t dft_length, int64_t sample_rate,
    const nef_tensor* lower_edge_hertz, const nef_tensor* upper_edge_hertz,
    nef_dtype output_datatype, nef_tensor** out_output) {
  OpCall call(NEF_OP_MEL_WEIGHT_MATRIX);
  call.host_int(num_mel_bins);
  call.host_int(dft_length);
  call.host_int(sample_rate);
  call.input(lower_edge_hertz);
  call.input(upper_edge_hertz);
  call.attr_int(NEF_MEL_WEIGHT_MATRIX_OUTPUT_DATATYPE, output_datatype);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_hann_window(
    int64_t size, nef_dtype output_datatype, int32_t periodic, nef_tensor** out_output) {
  OpCall call(NEF_OP_HANN_WINDOW);
  call.host_int(size);
  call.attr_int(NEF_HANN_WINDOW_OUTPUT_DATATYPE, output_datatype);
  call.attr_int(NEF_HANN_WINDOW_PERIODIC, periodic != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_hamming_window(
    int64_t size, nef_dtype output_datatype, int32_t periodic, nef_tensor** out_output) {
  OpCall call(NEF_OP_HAMMING_WINDOW);
  call.host_int(size);
  call.attr_int(NEF_HAMMING_WINDOW_OUTPUT_DATATYPE, output_datatype);
  call.attr_int(NEF_HAMMING_WINDOW_PERIODIC, periodic != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_blackman_window(
    int64_t size, nef_dtype output_datatype, int32_t periodic, nef_tensor** out_output) {
  OpCall call(NEF_OP_BLACKMAN_WINDOW);
  call.host_int(size);
  call.attr_int(NEF_BLACKMAN_WINDOW_OUTPUT_DATATYPE, output_datatype);
  call.attr_int(NEF_BLACKMAN_WINDOW_PERIODIC, periodic != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_det(const nef_tensor* x, nef_tensor** out_y) {
  OpCall call(NEF_OP_DET);
  call.input(x);
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

void nef_tensor_scatter_options_init(nef_tensor_scatter_options* options, size_t struct_size) {
  nef_tensor_scatter_options defaults = {};
  defaults.axis = -2;
  init_options(options, struct_size, defaults);
}

nef_status* nef_tensor_scatter(
    const nef_tensor* past_cache, const nef_tensor* update, const nef_tensor* write_indices,
    const char* mode, const nef_tensor_scatter_options* options, nef_tensor** out_present_cache) {
  OpCall call(NEF_OP_TENSOR_SCATTER);
  nef_tensor_scatter_options given;
  nef_tensor_scatter_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(past_cache);
  call.input(update);
  call.input(write_indices);
  call.attr_int(NEF_TENSOR_SCATTER_AXIS, given.axis);
  if (mode != nullptr) call.attr_string(NEF_TENSOR_SCATTER_MODE, mode);
  nef_tensor** const outs[] = {out_present_cache};
  return call.call(outs, 1);
}

void nef_cumprod_options_init(nef_cumprod_options* options, size_t struct_size) {
  nef_cumprod_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_cumprod(
    const nef_tensor* input, int64_t axis, const nef_cumprod_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_CUMPROD);
  nef_cumprod_options given;
  nef_cumprod_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(input);
  call.host_int(axis);
  call.attr_int(NEF_CUMPROD_EXCLUSIVE, given.exclusive != 0);
  call.attr_int(NEF_CUMPROD_REVERSE, given.reverse != 0);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

nef_status* nef_bit_cast(const nef_tensor* input, nef_dtype to, nef_tensor** out_output) {
  OpCall call(NEF_OP_BIT_CAST);
  call.input(input);
  call.attr_int(NEF_BIT_CAST_TO, to);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_random_uniform_options_init(nef_random_uniform_options* options, size_t struct_size) {
  nef_random_uniform_options defaults = {};
  defaults.dtype = 12;
  defaults.high = 1.0;
  init_options(options, struct_size, defaults);
}

nef_status* nef_random_uniform(
    const int64_t* shape, size_t n_shape, int64_t seed,
    const nef_random_uniform_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_RANDOM_UNIFORM);
  nef_random_uniform_options given;
  nef_random_uniform_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_dtype == 0);
  call.host_ints(shape, n_shape, true);
  call.attr_int(NEF_RANDOM_UNIFORM_DTYPE, given.dtype);
  call.attr_float(NEF_RANDOM_UNIFORM_HIGH, given.high);
  call.attr_float(NEF_RANDOM_UNIFORM_LOW, given.low);
  call.attr_int(NEF_RANDOM_UNIFORM_SEED, seed);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_random_normal_options_init(nef_random_normal_options* options, size_t struct_size) {
  nef_random_normal_options defaults = {};
  defaults.dtype = 12;
  defaults.scale = 1.0;
  init_options(options, struct_size, defaults);
}

nef_status* nef_random_normal(
    const int64_t* shape, size_t n_shape, int64_t seed, const nef_random_normal_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_RANDOM_NORMAL);
  nef_random_normal_options given;
  nef_random_normal_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_dtype == 0);
  call.host_ints(shape, n_shape, true);
  call.attr_int(NEF_RANDOM_NORMAL_DTYPE, given.dtype);
  call.attr_float(NEF_RANDOM_NORMAL_MEAN, given.mean);
  call.attr_float(NEF_RANDOM_NORMAL_SCALE, given.scale);
  call.attr_int(NEF_RANDOM_NORMAL_SEED, seed);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_bernoulli_options_init(nef_bernoulli_options* options, size_t struct_size) {
  nef_bernoulli_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_bernoulli(
    const nef_tensor* input, int64_t seed, const nef_bernoulli_options* options,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_BERNOULLI);
  nef_bernoulli_options given;
  nef_bernoulli_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_dtype == 0);
  call.input(input);
  if (given.dtype != NEF_DTYPE_INVALID) call.attr_int(NEF_BERNOULLI_DTYPE, given.dtype);
  call.attr_int(NEF_BERNOULLI_SEED, seed);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_multinomial_options_init(nef_multinomial_options* options, size_t struct_size) {
  nef_multinomial_options defaults = {};
  defaults.dtype = 6;
  init_options(options, struct_size, defaults);
}

nef_status* nef_multinomial(
    const nef_tensor* input, int64_t sample_size, int64_t seed,
    const nef_multinomial_options* options, nef_tensor** out_output) {
  OpCall call(NEF_OP_MULTINOMIAL);
  nef_multinomial_options given;
  nef_multinomial_options_init(&given, sizeof given);
  call.options(read_options(options, &given) && given.reserved_dtype == 0);
  call.input(input);
  call.attr_int(NEF_MULTINOMIAL_DTYPE, given.dtype);
  call.attr_int(NEF_MULTINOMIAL_SAMPLE_SIZE, sample_size);
  call.attr_int(NEF_MULTINOMIAL_SEED, seed);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}

void nef_linear_attention_options_init(nef_linear_attention_options* options, size_t struct_size) {
  nef_linear_attention_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_linear_attention(
    const nef_tensor* query, const nef_tensor* key, const nef_tensor* value,
    int64_t kv_num_heads, int64_t q_num_heads, const char* update_rule,
    const nef_linear_attention_options* options, nef_tensor** out_output,
    nef_tensor** out_present_state) {
  OpCall call(NEF_OP_LINEAR_ATTENTION);
  nef_linear_attention_options given;
  nef_linear_attention_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(query);
  call.input(key);
  call.input(value);
  call.input(given.past_state);
  call.input(given.decay);
  call.input(given.beta);
  call.attr_int(NEF_LINEAR_ATTENTION_KV_NUM_HEADS, kv_num_heads);
  call.attr_int(NEF_LINEAR_ATTENTION_Q_NUM_HEADS, q_num_heads);
  call.attr_float(NEF_LINEAR_ATTENTION_SCALE, given.scale);
  if (update_rule != nullptr) call.attr_string(NEF_LINEAR_ATTENTION_UPDATE_RULE, update_rule);
  nef_tensor** const outs[] = {out_output, out_present_state};
  return call.call(outs, 2);
}

void nef_tf_idf_vectorizer_options_init(nef_tf_idf_vectorizer_options* options, size_t struct_size) {
  nef_tf_idf_vectorizer_options defaults = {};
  init_options(options, struct_size, defaults);
}

nef_status* nef_tf_idf_vectorizer(
    const nef_tensor* x, int64_t max_gram_length, int64_t max_skip_count,
    int64_t min_gram_length, const char* mode, const int64_t* ngram_counts,
    size_t n_ngram_counts, const int64_t* ngram_indexes, size_t n_ngram_indexes,
    const int64_t* pool_int64s, size_t n_pool_int64s,
    const nef_tf_idf_vectorizer_options* options, nef_tensor** out_y) {
  OpCall call(NEF_OP_TF_IDF_VECTORIZER);
  nef_tf_idf_vectorizer_options given;
  nef_tf_idf_vectorizer_options_init(&given, sizeof given);
  call.options(read_options(options, &given));
  call.input(x);
  call.attr_int(NEF_TF_IDF_VECTORIZER_MAX_GRAM_LENGTH, max_gram_length);
  call.attr_int(NEF_TF_IDF_VECTORIZER_MAX_SKIP_COUNT, max_skip_count);
  call.attr_int(NEF_TF_IDF_VECTORIZER_MIN_GRAM_LENGTH, min_gram_length);
  if (mode != nullptr) call.attr_string(NEF_TF_IDF_VECTORIZER_MODE, mode);
  if (ngram_counts != nullptr) {
    call.attr_ints(NEF_TF_IDF_VECTORIZER_NGRAM_COUNTS, ngram_counts, n_ngram_counts);
  }
  if (ngram_indexes != nullptr) {
    call.attr_ints(NEF_TF_IDF_VECTORIZER_NGRAM_INDEXES, ngram_indexes, n_ngram_indexes);
  }
  if (pool_int64s != nullptr) {
    call.attr_ints(NEF_TF_IDF_VECTORIZER_POOL_INT64S, pool_int64s, n_pool_int64s);
  }
  if (given.weights != nullptr) {
    call.attr_floats(NEF_TF_IDF_VECTORIZER_WEIGHTS, given.weights, given.n_weights);
  }
  nef_tensor** const outs[] = {out_y};
  return call.call(outs, 1);
}

nef_status* nef_require(
    const nef_tensor* data, const nef_tensor* condition, const char* message,
    nef_tensor** out_output) {
  OpCall call(NEF_OP_REQUIRE);
  call.input(data);
  call.input(condition);
  if (message != nullptr) call.attr_string(NEF_REQUIRE_MESSAGE, message);
  nef_tensor** const outs[] = {out_output};
  return call.call(outs, 1);
}
