/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/**
 * \file nef/ops.h
 * The operators, one function each: part of <nef/nef.h>, which includes this file.
 *
 * generated from engine/ir/ops.toml, do not edit.
 *
 * Every function makes a node and computes nothing: tensors are lazy, see nef_execute. Shapes and
 * dtypes are checked at once, so a mistake is reported by the call that made it.
 *
 * Common to all: inputs are borrowed and never consumed; each out-parameter receives a new handle
 * that the caller releases with nef_tensor_release, and NULL when the call fails. Negative axes
 * count from the end. A list is a pointer and a count and is copied. An options struct is filled
 * by its _init function, called with sizeof the struct; NULL stands for all defaults. Every
 * function is safe to call from any thread, also with the same inputs in several threads at once.
 *
 * The functions return NULL, or a status that the caller releases with nef_status_release:
 * NEF_INVALID_ARGUMENT for a NULL or a value out of its range, NEF_SHAPE_MISMATCH and
 * NEF_DTYPE_MISMATCH for inputs that do not fit, NEF_OUT_OF_MEMORY.
 */
#ifndef NEF_OPS_H
#define NEF_OPS_H

#include <nef/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * \brief Abs: Absolute value. The most negative signed integer wraps to itself.
 *
 * \param input any dtype but bool and float8
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_abs(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Acos: Arc cosine in radians; NaN outside [-1, 1].
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_acos(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Acosh: Inverse hyperbolic cosine; NaN below 1.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_acosh(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Add: Sum of both inputs, broadcast as in NumPy. Integers wrap.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_add(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief And: Logical and, broadcast as in NumPy.
 *
 * \param a bool
 * \param b bool
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_and(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/** Options of nef_argmax; fill with nef_argmax_options_init first. */
typedef struct nef_argmax_options {
  size_t struct_size; /**< set by _init */
  int64_t select_last_index; /**< 0 or 1; default 0 */
} nef_argmax_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_argmax_options_init(nef_argmax_options* options, size_t struct_size);

/**
 * \brief ArgMax: Index of the largest element along axis. The first NaN wins over any number; of
 * equal values the first one, or the last one with select_last_index. The axis must not have size
 * 0. keepdims leaves it with size 1.
 *
 * \param input any dtype but bool and float8
 * \param axis an integer; usually 0
 * \param keepdims 0 or 1; usually 1
 * \param options NULL for the defaults
 * \param[out] out_output int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_argmax(
    const nef_tensor* input, int64_t axis, int32_t keepdims, const nef_argmax_options* options,
    nef_tensor** out_output);

/** Options of nef_argmin; fill with nef_argmin_options_init first. */
typedef struct nef_argmin_options {
  size_t struct_size; /**< set by _init */
  int64_t select_last_index; /**< 0 or 1; default 0 */
} nef_argmin_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_argmin_options_init(nef_argmin_options* options, size_t struct_size);

/**
 * \brief ArgMin: Index of the smallest element along axis. The first NaN wins over any number; of
 * equal values the first one, or the last one with select_last_index. The axis must not have size
 * 0. keepdims leaves it with size 1.
 *
 * \param input any dtype but bool and float8
 * \param axis an integer; usually 0
 * \param keepdims 0 or 1; usually 1
 * \param options NULL for the defaults
 * \param[out] out_output int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_argmin(
    const nef_tensor* input, int64_t axis, int32_t keepdims, const nef_argmin_options* options,
    nef_tensor** out_output);

/**
 * \brief Asin: Arc sine in radians; NaN outside [-1, 1].
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_asin(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Asinh: Inverse hyperbolic sine.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_asinh(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Atan: Arc tangent in radians.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_atan(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Atanh: Inverse hyperbolic tangent; +-inf at +-1, NaN beyond.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_atanh(const nef_tensor* input, nef_tensor** out_output);

/** Options of nef_attention; fill with nef_attention_options_init first. */
typedef struct nef_attention_options {
  size_t struct_size; /**< set by _init */
  const nef_tensor* past_key; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const nef_tensor* past_value; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const nef_tensor* nonpad_kv_seqlen; /**< int64; NULL means absent */
  int64_t is_causal; /**< 0 or 1; default 0 */
  int64_t kv_num_heads; /**< read only with has_kv_num_heads */
  int64_t has_kv_num_heads; /**< 1 when kv_num_heads is given; default 0 */
  int64_t q_num_heads; /**< read only with has_q_num_heads */
  int64_t has_q_num_heads; /**< 1 when q_num_heads is given; default 0 */
  int64_t qk_matmul_output_mode; /**< default 0 */
  double scale; /**< read only with has_scale */
  int64_t has_scale; /**< 1 when scale is given; default 0 */
  double softcap; /**< default 0 */
  nef_dtype softmax_precision; /**< 0 means absent */
  int32_t reserved_softmax_precision; /**< must be 0 */
} nef_attention_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_attention_options_init(nef_attention_options* options, size_t struct_size);

/**
 * \brief Attention: softmax(q k^T * scale + mask) v. Inputs are [batch, heads, sequence, head
 * size], or [batch, sequence, heads * head size] with q_num_heads and kv_num_heads set; q may
 * have the one form, k and v the other. Fewer key heads than query heads means grouped queries.
 * scale is 1/sqrt(head size) when absent; softcap > 0 replaces a score s by softcap * tanh(s /
 * softcap). A bool mask keeps where true, any other is added; keys beyond a shorter mask are
 * masked; is_causal hides later positions. A row with everything masked gives 0. past_key and
 * past_value are put before k and v, and come out as present_key and present_value;
 * nonpad_kv_seqlen [batch] is the number of valid keys.
 *
 * \param q float16, bfloat16, float32 or float64
 * \param k float16, bfloat16, float32 or float64
 * \param v float16, bfloat16, float32 or float64
 * \param attn_mask bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16,
 *     bfloat16, float32 or float64; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of q
 * \param[out] out_present_key the dtype of q; may be NULL
 * \param[out] out_present_value the dtype of v; may be NULL
 * \param[out] out_qk_matmul_output the dtype of q; may be NULL
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_attention(
    const nef_tensor* q, const nef_tensor* k, const nef_tensor* v, const nef_tensor* attn_mask,
    const nef_attention_options* options, nef_tensor** out_y, nef_tensor** out_present_key,
    nef_tensor** out_present_value, nef_tensor** out_qk_matmul_output);

/** Options of nef_average_pool; fill with nef_average_pool_options_init first. */
typedef struct nef_average_pool_options {
  size_t struct_size; /**< set by _init */
  const char* auto_pad; /**< NOTSET, SAME_UPPER, SAME_LOWER, VALID; default NOTSET */
  int64_t ceil_mode; /**< 0 or 1; default 0 */
  int64_t count_include_pad; /**< 0 or 1; default 0 */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_average_pool_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_average_pool_options_init(nef_average_pool_options* options, size_t struct_size);

/**
 * \brief AveragePool: Mean over a sliding window of x [N, C, D1, ...]. pads is [begin...,
 * end...], default 0; strides and dilations default to 1. Padding counts in the mean only with
 * count_include_pad.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param kernel_shape integers
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_average_pool(
    const nef_tensor* x, const int64_t* kernel_shape, size_t n_kernel_shape,
    const nef_average_pool_options* options, nef_tensor** out_y);

/**
 * \brief BatchNormalization: (x - mean) / sqrt(variance + epsilon) * scale + bias per channel of
 * x [N, C, ...], with the stored statistics [C] (inference only).
 *
 * \param x float16, bfloat16, float32 or float64
 * \param scale float16, bfloat16, float32 or float64
 * \param bias float16, bfloat16, float32 or float64
 * \param mean float16, bfloat16, float32 or float64
 * \param variance float16, bfloat16, float32 or float64
 * \param epsilon a number; usually 1e-05
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_batch_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, const nef_tensor* mean,
    const nef_tensor* variance, double epsilon, nef_tensor** out_y);

/**
 * \brief BitShift: x shifted by y bits, broadcast as in NumPy. A shift by the width of the type
 * or more, or by a negative number, gives 0; signed integers keep their sign to the right: -1 for
 * a negative one.
 *
 * \param x int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param y int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param direction LEFT, RIGHT
 * \param[out] out_output the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_bit_shift(
    const nef_tensor* x, const nef_tensor* y, const char* direction, nef_tensor** out_output);

/**
 * \brief BitwiseAnd: Bit by bit and, broadcast as in NumPy.
 *
 * \param a int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param b int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_bitwise_and(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief BitwiseNot: Every bit inverted.
 *
 * \param input int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_bitwise_not(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief BitwiseOr: Bit by bit or, broadcast as in NumPy.
 *
 * \param a int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param b int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_bitwise_or(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief BitwiseXor: Bit by bit exclusive or, broadcast as in NumPy.
 *
 * \param a int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param b int8, uint8, int16, uint16, int32, uint32, int64 or uint64
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_bitwise_xor(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief Cast: The input converted to dtype `to`. Float to integer truncates towards zero,
 * saturates, and turns NaN into 0; integer to narrower integer wraps; to bool is `!= 0`; to a
 * narrower float rounds to nearest even. To float8, what lies beyond the largest number becomes
 * that number with its sign, or with saturate off infinity (float8_e5m2) or NaN (float8_e4m3fn).
 *
 * \param input any dtype
 * \param to a dtype
 * \param[out] out_output any dtype
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_cast(
    const nef_tensor* input, nef_dtype to, nef_tensor** out_output);

/**
 * \brief CastLike: The input converted to the dtype of target, whose values are not read. Same
 * rules as Cast.
 *
 * \param input any dtype
 * \param target any dtype
 * \param[out] out_output the dtype of target
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_cast_like(
    const nef_tensor* input, const nef_tensor* target, nef_tensor** out_output);

/**
 * \brief Ceil: Smallest whole number not below the input.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_ceil(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Celu: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param alpha a number; usually 1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_celu(
    const nef_tensor* input, double alpha, nef_tensor** out_output);

/**
 * \brief Clip: min(max(x, min), max) with scalar bounds; an absent bound does not bind. NaN stays
 * NaN; where min > max the result is max.
 *
 * \param input any dtype but bool and float8
 * \param min any dtype but bool and float8; NULL means absent
 * \param max any dtype but bool and float8; NULL means absent
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_clip(
    const nef_tensor* input, const nef_tensor* min, const nef_tensor* max,
    nef_tensor** out_output);

/**
 * \brief Concat: The inputs one after the other along axis; all other dims must be equal. A
 * negative axis counts from the end.
 *
 * \param inputs one tensor or more, all of one dtype: any dtype
 * \param axis an integer
 * \param[out] out_output the dtype of inputs
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_concat(
    const nef_tensor* const* inputs, size_t n_inputs, int64_t axis, nef_tensor** out_output);

/**
 * \brief ConstantOfShape: A tensor of the given shape filled with value, a one-element tensor
 * that also sets the dtype; float32 0 when absent. (ONNX gives value as an attribute.)
 *
 * \param shape integers; NULL only when there are none
 * \param value any dtype; NULL means absent
 * \param[out] out_output the dtype of value
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_constant_of_shape(
    const int64_t* shape, size_t n_shape, const nef_tensor* value, nef_tensor** out_output);

/** Options of nef_conv; fill with nef_conv_options_init first. */
typedef struct nef_conv_options {
  size_t struct_size; /**< set by _init */
  const char* auto_pad; /**< NOTSET, SAME_UPPER, SAME_LOWER, VALID; default NOTSET */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  int64_t group; /**< default 1 */
  const int64_t* kernel_shape; /**< NULL means absent */
  size_t n_kernel_shape;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_conv_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_conv_options_init(nef_conv_options* options, size_t struct_size);

/**
 * \brief Conv: Convolution (cross-correlation) of x [N, C, D1, ...] with w [M, C / group, k1,
 * ...] plus bias b [M]. pads is [begin..., end...], default 0; strides and dilations default to
 * 1; kernel_shape, when given, must agree with w.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param w float16, bfloat16, float32 or float64
 * \param b float16, bfloat16, float32 or float64; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_conv(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* b,
    const nef_conv_options* options, nef_tensor** out_y);

/** Options of nef_conv_transpose; fill with nef_conv_transpose_options_init first. */
typedef struct nef_conv_transpose_options {
  size_t struct_size; /**< set by _init */
  const char* auto_pad; /**< NOTSET, SAME_UPPER, SAME_LOWER, VALID; default NOTSET */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  int64_t group; /**< default 1 */
  const int64_t* kernel_shape; /**< NULL means absent */
  size_t n_kernel_shape;
  const int64_t* output_padding; /**< NULL means absent */
  size_t n_output_padding;
  const int64_t* output_shape; /**< NULL means absent */
  size_t n_output_shape;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_conv_transpose_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_conv_transpose_options_init(nef_conv_transpose_options* options,
    size_t struct_size);

/**
 * \brief ConvTranspose: Transposed convolution of x [N, C, D1, ...] with w [C, M / group, k1,
 * ...] plus bias b [M]. A spatial dim of the result is stride * (D - 1) + output_padding + (k -
 * 1) * dilation + 1 - pads, or is set by output_shape, which then sets pads.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param w float16, bfloat16, float32 or float64
 * \param b float16, bfloat16, float32 or float64; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_conv_transpose(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* b,
    const nef_conv_transpose_options* options, nef_tensor** out_y);

/**
 * \brief Cos: Cosine of radians.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_cos(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Cosh: Hyperbolic cosine.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_cosh(const nef_tensor* input, nef_tensor** out_output);

/** Options of nef_cumsum; fill with nef_cumsum_options_init first. */
typedef struct nef_cumsum_options {
  size_t struct_size; /**< set by _init */
  int64_t exclusive; /**< 0 or 1; default 0 */
  int64_t reverse; /**< 0 or 1; default 0 */
} nef_cumsum_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_cumsum_options_init(nef_cumsum_options* options, size_t struct_size);

/**
 * \brief CumSum: Running sum along axis; exclusive leaves the element itself out, reverse runs
 * from the end.
 *
 * \param input any dtype but bool and float8
 * \param axis an integer
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_cumsum(
    const nef_tensor* input, int64_t axis, const nef_cumsum_options* options,
    nef_tensor** out_output);

/** Options of nef_depth_to_space; fill with nef_depth_to_space_options_init first. */
typedef struct nef_depth_to_space_options {
  size_t struct_size; /**< set by _init */
  const char* mode; /**< DCR, CRD; default DCR */
} nef_depth_to_space_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_depth_to_space_options_init(nef_depth_to_space_options* options,
    size_t struct_size);

/**
 * \brief DepthToSpace: [N, C, H, W] -> [N, C / b^2, H * b, W * b]: channels become b x b blocks.
 * Mode DCR takes the block index from the outer part of C, CRD from the inner part.
 *
 * \param input any dtype
 * \param blocksize an integer
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_depth_to_space(
    const nef_tensor* input, int64_t blocksize, const nef_depth_to_space_options* options,
    nef_tensor** out_output);

/**
 * \brief Div: a / b, broadcast as in NumPy. Integers truncate towards zero; x / 0 is 0 and the
 * most negative integer / -1 wraps.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_div(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief Einsum: Sum of products in Einstein notation, such as "bij,bjk->bik"; `...` stands for
 * broadcast dims. Without `->` the output has the labels that occur once, in alphabetical order.
 *
 * \param inputs one tensor or more, all of one dtype: any dtype but bool and float8
 * \param equation text
 * \param[out] out_output the dtype of inputs
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_einsum(
    const nef_tensor* const* inputs, size_t n_inputs, const char* equation,
    nef_tensor** out_output);

/**
 * \brief Elu: x for x >= 0, else alpha * (exp(x) - 1).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param alpha a number; usually 1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_elu(
    const nef_tensor* input, double alpha, nef_tensor** out_output);

/**
 * \brief Equal: a == b, broadcast as in NumPy. NaN equals nothing.
 *
 * \param a bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param b bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_equal(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief Erf: Error function.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_erf(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Exp: e to the power of the input.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_exp(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Expand: The input broadcast against shape, in both directions as in NumPy: a 1 in shape
 * keeps the input's dim.
 *
 * \param input any dtype
 * \param shape integers; NULL only when there are none
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_expand(
    const nef_tensor* input, const int64_t* shape, size_t n_shape, nef_tensor** out_output);

/** Options of nef_eye_like; fill with nef_eye_like_options_init first. */
typedef struct nef_eye_like_options {
  size_t struct_size; /**< set by _init */
  nef_dtype dtype; /**< 0 means absent */
  int32_t reserved_dtype; /**< must be 0 */
} nef_eye_like_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_eye_like_options_init(nef_eye_like_options* options, size_t struct_size);

/**
 * \brief EyeLike: A matrix shaped like the 2-D input with ones on diagonal k (k > 0 above the
 * main one) and zeros elsewhere; dtype defaults to the input's.
 *
 * \param input bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param k an integer; usually 0
 * \param options NULL for the defaults
 * \param[out] out_output bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16,
 *     bfloat16, float32 or float64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_eye_like(
    const nef_tensor* input, int64_t k, const nef_eye_like_options* options,
    nef_tensor** out_output);

/**
 * \brief Flatten: Reshape to a matrix: the dims before axis make the rows, the others the
 * columns.
 *
 * \param input any dtype
 * \param axis an integer; usually 1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_flatten(
    const nef_tensor* input, int64_t axis, nef_tensor** out_output);

/**
 * \brief Floor: Largest whole number not above the input.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_floor(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Gather: Slices of data picked by indices along axis; the shape of indices replaces that
 * axis. Negative indices count from the end; one out of range is an error when the run reaches
 * it.
 *
 * \param data any dtype
 * \param indices int32 or int64
 * \param axis an integer; usually 0
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_gather(
    const nef_tensor* data, const nef_tensor* indices, int64_t axis, nef_tensor** out_output);

/**
 * \brief GatherElements: output[i][j] = data[indices[i][j]][j] for axis 0 (and so on): one
 * element per index, output shaped like indices, which has the rank of data. Negative indices
 * count from the end; one out of range is an error.
 *
 * \param data any dtype
 * \param indices int32 or int64
 * \param axis an integer; usually 0
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_gather_elements(
    const nef_tensor* data, const nef_tensor* indices, int64_t axis, nef_tensor** out_output);

/**
 * \brief GatherND: Slices of data addressed by index tuples, the last axis of indices; the first
 * batch_dims axes of both are walked together. Negative indices count from the end; one out of
 * range is an error.
 *
 * \param data any dtype
 * \param indices int64
 * \param batch_dims an integer; usually 0
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_gather_nd(
    const nef_tensor* data, const nef_tensor* indices, int64_t batch_dims,
    nef_tensor** out_output);

/** Options of nef_gelu; fill with nef_gelu_options_init first. */
typedef struct nef_gelu_options {
  size_t struct_size; /**< set by _init */
  const char* approximate; /**< none, tanh; default none */
} nef_gelu_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_gelu_options_init(nef_gelu_options* options, size_t struct_size);

/**
 * \brief Gelu: x / 2 * (1 + erf(x / sqrt(2))); with approximate = "tanh", x / 2 * (1 +
 * tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_gelu(
    const nef_tensor* input, const nef_gelu_options* options, nef_tensor** out_output);

/** Options of nef_gemm; fill with nef_gemm_options_init first. */
typedef struct nef_gemm_options {
  size_t struct_size; /**< set by _init */
  double alpha; /**< default 1 */
  double beta; /**< default 1 */
  int64_t trans_a; /**< 0 or 1; default 0 */
  int64_t trans_b; /**< 0 or 1; default 0 */
} nef_gemm_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_gemm_options_init(nef_gemm_options* options, size_t struct_size);

/**
 * \brief Gemm: alpha * a' b' + beta * c for matrices, where ' transposes if transA or transB is
 * set; c broadcasts to the result [M, N].
 *
 * \param a int32, uint32, int64, uint64, float16, bfloat16, float32 or float64
 * \param b int32, uint32, int64, uint64, float16, bfloat16, float32 or float64
 * \param c int32, uint32, int64, uint64, float16, bfloat16, float32 or float64; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_gemm(
    const nef_tensor* a, const nef_tensor* b, const nef_tensor* c,
    const nef_gemm_options* options, nef_tensor** out_y);

/**
 * \brief GlobalAveragePool: Mean over all spatial axes of x [N, C, D1, ...], which stay with size
 * 1.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_global_average_pool(const nef_tensor* x, nef_tensor** out_y);

/**
 * \brief GlobalMaxPool: Largest element over all spatial axes of x [N, C, D1, ...], which stay
 * with size 1. NaN propagates.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_global_max_pool(const nef_tensor* x, nef_tensor** out_y);

/**
 * \brief Greater: a > b, broadcast as in NumPy; false where either is NaN.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_greater(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief GreaterOrEqual: a >= b, broadcast as in NumPy; false where either is NaN.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_greater_or_equal(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief GroupNormalization: x [N, C, ...] normalised to mean 0 and variance 1 over each of
 * num_groups groups of channels, then scaled and shifted per channel by scale and bias [C].
 *
 * \param x float16, bfloat16, float32 or float64
 * \param scale float16, bfloat16, float32 or float64
 * \param bias float16, bfloat16, float32 or float64
 * \param num_groups an integer
 * \param epsilon a number; usually 1e-05
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_group_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, int64_t num_groups,
    double epsilon, nef_tensor** out_y);

/**
 * \brief HardSigmoid: max(0, min(1, alpha * x + beta)).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param alpha a number; usually 0.2
 * \param beta a number; usually 0.5
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_hard_sigmoid(
    const nef_tensor* input, double alpha, double beta, nef_tensor** out_output);

/**
 * \brief HardSwish: x * max(0, min(1, x / 6 + 0.5)).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_hard_swish(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Hardmax: 1 at the first largest element along axis, 0 elsewhere.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param axis an integer; usually -1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_hardmax(
    const nef_tensor* input, int64_t axis, nef_tensor** out_output);

/**
 * \brief Identity: The input unchanged.
 *
 * \param input any dtype
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_identity(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief InstanceNormalization: x [N, C, D1, ...] normalised to mean 0 and variance 1 over the
 * spatial axes of each channel, then scaled and shifted by scale and bias [C].
 *
 * \param x float16, bfloat16, float32 or float64
 * \param scale float16, bfloat16, float32 or float64
 * \param bias float16, bfloat16, float32 or float64
 * \param epsilon a number; usually 1e-05
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_instance_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, double epsilon,
    nef_tensor** out_y);

/** Options of nef_isinf; fill with nef_isinf_options_init first. */
typedef struct nef_isinf_options {
  size_t struct_size; /**< set by _init */
  int64_t detect_negative; /**< 0 or 1; default 1 */
  int64_t detect_positive; /**< 0 or 1; default 1 */
} nef_isinf_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_isinf_options_init(nef_isinf_options* options, size_t struct_size);

/**
 * \brief IsInf: True where the input is infinite, of the signs asked for.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param options NULL for the defaults
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_isinf(
    const nef_tensor* input, const nef_isinf_options* options, nef_tensor** out_output);

/**
 * \brief IsNaN: True where the input is NaN.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_isnan(const nef_tensor* input, nef_tensor** out_output);

/** Options of nef_lrn; fill with nef_lrn_options_init first. */
typedef struct nef_lrn_options {
  size_t struct_size; /**< set by _init */
  double alpha; /**< default 0.0001 */
  double beta; /**< default 0.75 */
  double bias; /**< default 1 */
} nef_lrn_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_lrn_options_init(nef_lrn_options* options, size_t struct_size);

/**
 * \brief LRN: x / (bias + alpha / size * s)^beta, where s is the sum of squares over `size`
 * neighbouring channels of x [N, C, ...].
 *
 * \param x float16, bfloat16, float32 or float64
 * \param size an integer
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_lrn(
    const nef_tensor* x, int64_t size, const nef_lrn_options* options, nef_tensor** out_y);

/**
 * \brief LayerNormalization: x normalised to mean 0 and variance 1 over the axes from axis to the
 * last, then times scale plus bias, which broadcast to those axes. mean and inv_std_dev have
 * these axes with size 1.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param scale float16, bfloat16, float32 or float64
 * \param bias float16, bfloat16, float32 or float64; NULL means absent
 * \param axis an integer; usually -1
 * \param epsilon a number; usually 1e-05
 * \param[out] out_y the dtype of x
 * \param[out] out_mean float32; may be NULL
 * \param[out] out_inv_std_dev float32; may be NULL
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_layer_normalization(
    const nef_tensor* x, const nef_tensor* scale, const nef_tensor* bias, int64_t axis,
    double epsilon, nef_tensor** out_y, nef_tensor** out_mean, nef_tensor** out_inv_std_dev);

/**
 * \brief LeakyRelu: x for x >= 0, else alpha * x.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param alpha a number; usually 0.01
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_leaky_relu(
    const nef_tensor* input, double alpha, nef_tensor** out_output);

/**
 * \brief Less: a < b, broadcast as in NumPy; false where either is NaN.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_less(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief LessOrEqual: a <= b, broadcast as in NumPy; false where either is NaN.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_less_or_equal(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief Log: Natural logarithm; -inf at 0, NaN below.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_log(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief LogSoftmax: x - max - log(sum(exp(x - max))) along axis.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param axis an integer; usually -1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_log_softmax(
    const nef_tensor* input, int64_t axis, nef_tensor** out_output);

/**
 * \brief LpNormalization: The input divided by its p-norm (p is 1 or 2) along axis; 0 where the
 * norm is 0.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param axis an integer; usually -1
 * \param p an integer; usually 2
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_lp_normalization(
    const nef_tensor* input, int64_t axis, int64_t p, nef_tensor** out_output);

/**
 * \brief MatMul: Matrix product as numpy.matmul: [..., M, K] x [..., K, N] -> [..., M, N] with
 * the leading dims broadcast; a vector on the left counts as one row, on the right as one column,
 * and that dim is dropped. float16 and bfloat16 accumulate in float32; integers wrap.
 *
 * \param a int32, uint32, int64, uint64, float16, bfloat16, float32 or float64
 * \param b int32, uint32, int64, uint64, float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_matmul(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief Max: Largest of the inputs element by element, broadcast as in NumPy. NaN propagates.
 *
 * \param inputs one tensor or more, all of one dtype: any dtype but bool and float8
 * \param[out] out_output the dtype of inputs
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_max(
    const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output);

/** Options of nef_max_pool; fill with nef_max_pool_options_init first. */
typedef struct nef_max_pool_options {
  size_t struct_size; /**< set by _init */
  const char* auto_pad; /**< NOTSET, SAME_UPPER, SAME_LOWER, VALID; default NOTSET */
  int64_t ceil_mode; /**< 0 or 1; default 0 */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  int64_t storage_order; /**< default 0 */
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_max_pool_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_max_pool_options_init(nef_max_pool_options* options, size_t struct_size);

/**
 * \brief MaxPool: Largest element in a sliding window over x [N, C, D1, ...]; padding never wins,
 * NaN propagates. pads is [begin..., end...], default 0; strides and dilations default to 1.
 * indices are flat positions in x, with the last two spatial axes swapped where storage_order is
 * 1.
 *
 * \param x int8, uint8, float16, bfloat16, float32 or float64
 * \param kernel_shape integers
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \param[out] out_indices int64; may be NULL
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_max_pool(
    const nef_tensor* x, const int64_t* kernel_shape, size_t n_kernel_shape,
    const nef_max_pool_options* options, nef_tensor** out_y, nef_tensor** out_indices);

/**
 * \brief Mean: Mean of the inputs element by element, broadcast as in NumPy.
 *
 * \param inputs one tensor or more, all of one dtype: float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of inputs
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_mean(
    const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output);

/**
 * \brief MeanVarianceNormalization: (x - mean) / (standard deviation + 1e-9) over axes, which
 * default to [0, 2, 3].
 *
 * \param x float16, bfloat16, float32 or float64
 * \param axes integers; NULL means absent
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_mean_variance_normalization(
    const nef_tensor* x, const int64_t* axes, size_t n_axes, nef_tensor** out_y);

/**
 * \brief Min: Smallest of the inputs element by element, broadcast as in NumPy. NaN propagates.
 *
 * \param inputs one tensor or more, all of one dtype: any dtype but bool and float8
 * \param[out] out_output the dtype of inputs
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_min(
    const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output);

/**
 * \brief Mish: x * tanh(log(1 + exp(x))).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_mish(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Mod: Remainder of a / b, broadcast as in NumPy. The sign follows b, or a with fmod (the
 * C function). An integer x mod 0 is 0.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param fmod 0 or 1; usually 0
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_mod(
    const nef_tensor* a, const nef_tensor* b, int32_t fmod, nef_tensor** out_output);

/**
 * \brief Mul: Product of both inputs, broadcast as in NumPy. Integers wrap.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_mul(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief Neg: The input with the other sign. The most negative integer wraps to itself.
 *
 * \param input int8, int16, int32, int64, float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_neg(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief NonZero: Indices of the elements that are not 0, in row-major order, as [rank, count];
 * count depends on the data.
 *
 * \param input bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param[out] out_output int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_nonzero(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Not: Logical not.
 *
 * \param input bool
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_not(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief OneHot: values is [off, on]: a new axis of size depth holds `on` at the index and `off`
 * elsewhere. Negative indices count from the end; an index out of range gives `off` only.
 *
 * \param indices any dtype but bool and float8
 * \param depth an integer
 * \param values bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16,
 *     bfloat16, float32 or float64
 * \param axis an integer; usually -1
 * \param[out] out_output the dtype of values
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_one_hot(
    const nef_tensor* indices, int64_t depth, const nef_tensor* values, int64_t axis,
    nef_tensor** out_output);

/**
 * \brief Or: Logical or, broadcast as in NumPy.
 *
 * \param a bool
 * \param b bool
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_or(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief PRelu: x for x >= 0, else slope * x; slope broadcasts to the shape of x.
 *
 * \param x int32, uint32, int64, uint64, float16, bfloat16, float32 or float64
 * \param slope int32, uint32, int64, uint64, float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_prelu(
    const nef_tensor* x, const nef_tensor* slope, nef_tensor** out_output);

/** Options of nef_pad; fill with nef_pad_options_init first. */
typedef struct nef_pad_options {
  size_t struct_size; /**< set by _init */
  const char* mode; /**< constant, reflect, edge, wrap; default constant */
} nef_pad_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_pad_options_init(nef_pad_options* options, size_t struct_size);

/**
 * \brief Pad: data with elements added around it: pads is [begin..., end...] for the given axes
 * (all by default), negative values crop. constant_value, a scalar, defaults to 0; reflect
 * mirrors without the edge, edge repeats it, wrap continues from the other side.
 *
 * \param data any dtype
 * \param pads integers; NULL only when there are none
 * \param constant_value any dtype; NULL means absent
 * \param axes integers; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_pad(
    const nef_tensor* data, const int64_t* pads, size_t n_pads, const nef_tensor* constant_value,
    const int64_t* axes, size_t n_axes, const nef_pad_options* options, nef_tensor** out_output);

/**
 * \brief Pow: a to the power of b, broadcast as in NumPy, in the dtype of a. Integer powers wrap;
 * a negative integer exponent gives 0 unless a is 1 or -1.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_pow(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief RMSNormalization: x / sqrt(mean(x^2) + epsilon) * scale over the axes from axis to the
 * last; scale broadcasts to x. The result has the dtype of scale.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param scale float16, bfloat16, float32 or float64
 * \param axis an integer; usually -1
 * \param epsilon a number; usually 1e-05
 * \param[out] out_y the dtype of scale
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_rms_normalization(
    const nef_tensor* x, const nef_tensor* scale, int64_t axis, double epsilon,
    nef_tensor** out_y);

/**
 * \brief Range: start, start + delta, ... below limit (above it for a negative delta); all three
 * are scalars. The size is max(0, ceil((limit - start) / delta)); delta 0 is an error.
 *
 * \param start any dtype but bool and float8
 * \param limit any dtype but bool and float8
 * \param delta any dtype but bool and float8
 * \param[out] out_output the dtype of start
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_range(
    const nef_tensor* start, const nef_tensor* limit, const nef_tensor* delta,
    nef_tensor** out_output);

/**
 * \brief Reciprocal: 1 / x.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reciprocal(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief ReduceL1: Sum of absolute values, over axes, or over all of them when axes is absent or
 * empty. keepdims leaves the reduced axes with size 1. Over nothing the result is 0.
 *
 * \param data any dtype but bool and float8
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_l1(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceL2: Square root of the sum of squares, over axes, or over all of them when axes is
 * absent or empty. keepdims leaves the reduced axes with size 1. Over nothing the result is 0.
 *
 * \param data any dtype but bool and float8
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_l2(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceLogSum: Natural logarithm of the sum, over axes, or over all of them when axes is
 * absent or empty. keepdims leaves the reduced axes with size 1. Over nothing the result is -inf.
 *
 * \param data float16, bfloat16, float32 or float64
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_log_sum(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceLogSumExp: Logarithm of the sum of exponentials, shifted by the largest element so
 * that it does not overflow, over axes, or over all of them when axes is absent or empty.
 * keepdims leaves the reduced axes with size 1. Over nothing the result is -inf.
 *
 * \param data float16, bfloat16, float32 or float64
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_log_sum_exp(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceMax: Largest element; NaN propagates, over axes, or over all of them when axes is
 * absent or empty. keepdims leaves the reduced axes with size 1. Over nothing the result is the
 * lowest value of the dtype (-inf for floats).
 *
 * \param data bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_max(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceMean: Mean; integers truncate, over axes, or over all of them when axes is absent
 * or empty. keepdims leaves the reduced axes with size 1. Over nothing the result is NaN (0 for
 * integers).
 *
 * \param data any dtype but bool and float8
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_mean(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceMin: Smallest element; NaN propagates, over axes, or over all of them when axes is
 * absent or empty. keepdims leaves the reduced axes with size 1. Over nothing the result is the
 * highest value of the dtype (inf for floats).
 *
 * \param data bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_min(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceProd: Product, over axes, or over all of them when axes is absent or empty.
 * keepdims leaves the reduced axes with size 1. Over nothing the result is 1.
 *
 * \param data any dtype but bool and float8
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_prod(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceSum: Sum, over axes, or over all of them when axes is absent or empty. keepdims
 * leaves the reduced axes with size 1. Over nothing the result is 0.
 *
 * \param data any dtype but bool and float8
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_sum(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief ReduceSumSquare: Sum of squares, over axes, or over all of them when axes is absent or
 * empty. keepdims leaves the reduced axes with size 1. Over nothing the result is 0.
 *
 * \param data any dtype but bool and float8
 * \param axes integers; NULL means absent
 * \param keepdims 0 or 1; usually 1
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reduce_sum_square(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, int32_t keepdims,
    nef_tensor** out_output);

/**
 * \brief Relu: max(0, x). NaN propagates.
 *
 * \param input int8, int16, int32, int64, float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_relu(const nef_tensor* input, nef_tensor** out_output);

/** Options of nef_reshape; fill with nef_reshape_options_init first. */
typedef struct nef_reshape_options {
  size_t struct_size; /**< set by _init */
  int64_t allowzero; /**< 0 or 1; default 0 */
} nef_reshape_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_reshape_options_init(nef_reshape_options* options, size_t struct_size);

/**
 * \brief Reshape: The same elements with another shape. One dim may be -1 and is worked out; 0
 * copies the dim of data at that place, or means size 0 with allowzero.
 *
 * \param data any dtype
 * \param shape integers; NULL only when there are none
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reshape(
    const nef_tensor* data, const int64_t* shape, size_t n_shape,
    const nef_reshape_options* options, nef_tensor** out_output);

/** Options of nef_resize; fill with nef_resize_options_init first. */
typedef struct nef_resize_options {
  size_t struct_size; /**< set by _init */
  const nef_tensor* roi; /**< float16, bfloat16, float32 or float64; NULL means absent */
  int64_t antialias; /**< 0 or 1; default 0 */
  const int64_t* axes; /**< NULL means absent */
  size_t n_axes;
  /**
   * half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric,
   * tf_crop_and_resize, tf_half_pixel_for_nn; default half_pixel
   */
  const char* coordinate_transformation_mode;
  double cubic_coeff_a; /**< default -0.75 */
  int64_t exclude_outside; /**< 0 or 1; default 0 */
  double extrapolation_value; /**< default 0 */
  const char* keep_aspect_ratio_policy; /**< stretch, not_larger, not_smaller; default stretch */
  /**
   * round_prefer_floor, round_prefer_ceil, floor, ceil; default round_prefer_floor
   */
  const char* nearest_mode;
} nef_resize_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_resize_options_init(nef_resize_options* options, size_t struct_size);

/**
 * \brief Resize: x sampled on another grid; exactly one of scales (a float32 factor per axis) and
 * sizes is given, for the axes in axes (all by default). roi is read only by tf_crop_and_resize.
 * tf_half_pixel_for_nn is of opset 11 only: half_pixel without its last half.
 *
 * \param x any dtype but bool and float8
 * \param scales float32; NULL means absent
 * \param sizes integers; NULL means absent
 * \param mode nearest, linear, cubic; usually nearest
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_resize(
    const nef_tensor* x, const nef_tensor* scales, const int64_t* sizes, size_t n_sizes,
    const char* mode, const nef_resize_options* options, nef_tensor** out_y);

/**
 * \brief ReverseSequence: The first sequence_lens[b] elements along time_axis reversed for each
 * batch b, the rest unchanged. The two axes are 0 and 1 in either order.
 *
 * \param input any dtype
 * \param sequence_lens int64
 * \param batch_axis an integer; usually 1
 * \param time_axis an integer; usually 0
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_reverse_sequence(
    const nef_tensor* input, const nef_tensor* sequence_lens, int64_t batch_axis,
    int64_t time_axis, nef_tensor** out_output);

/** Options of nef_rotary_embedding; fill with nef_rotary_embedding_options_init first. */
typedef struct nef_rotary_embedding_options {
  size_t struct_size; /**< set by _init */
  int64_t interleaved; /**< 0 or 1; default 0 */
  int64_t num_heads; /**< default 0 */
  int64_t rotary_embedding_dim; /**< default 0 */
} nef_rotary_embedding_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_rotary_embedding_options_init(nef_rotary_embedding_options* options,
    size_t struct_size);

/**
 * \brief RotaryEmbedding: Pairs of elements of x [batch, heads, sequence, head size] (or [batch,
 * sequence, hidden] with num_heads) rotated by the angles in cos_cache and sin_cache: [max
 * position, rotary / 2] looked up by position_ids [batch, sequence], or [batch, sequence, rotary
 * / 2] without them. Pairs are (i, i + rotary / 2), or neighbours when interleaved; only the
 * first rotary_embedding_dim elements turn, all when it is 0.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param cos_cache float16, bfloat16, float32 or float64
 * \param sin_cache float16, bfloat16, float32 or float64
 * \param position_ids int64; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_rotary_embedding(
    const nef_tensor* x, const nef_tensor* cos_cache, const nef_tensor* sin_cache,
    const nef_tensor* position_ids, const nef_rotary_embedding_options* options,
    nef_tensor** out_y);

/**
 * \brief Round: Nearest whole number, halves to even.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_round(const nef_tensor* input, nef_tensor** out_output);

/** Options of nef_scatter_elements; fill with nef_scatter_elements_options_init first. */
typedef struct nef_scatter_elements_options {
  size_t struct_size; /**< set by _init */
  const char* reduction; /**< none, add, mul, max, min; default none */
} nef_scatter_elements_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_scatter_elements_options_init(nef_scatter_elements_options* options,
    size_t struct_size);

/**
 * \brief ScatterElements: A copy of data where output[indices[i][j]][j] = updates[i][j] for axis
 * 0 (and so on), combined with the old value by reduction. With none, of equal indices the last
 * update in row-major order stays. Negative indices count from the end; one out of range is an
 * error.
 *
 * \param data bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param indices int32 or int64
 * \param updates bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16,
 *     bfloat16, float32 or float64
 * \param axis an integer; usually 0
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_scatter_elements(
    const nef_tensor* data, const nef_tensor* indices, const nef_tensor* updates, int64_t axis,
    const nef_scatter_elements_options* options, nef_tensor** out_output);

/** Options of nef_scatter_nd; fill with nef_scatter_nd_options_init first. */
typedef struct nef_scatter_nd_options {
  size_t struct_size; /**< set by _init */
  const char* reduction; /**< none, add, mul, max, min; default none */
} nef_scatter_nd_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_scatter_nd_options_init(nef_scatter_nd_options* options, size_t struct_size);

/**
 * \brief ScatterND: A copy of data with the slices addressed by the index tuples (last axis of
 * indices) replaced by updates, or combined by reduction. With none, of equal indices the last
 * update in row-major order stays. Negative indices count from the end; one out of range is an
 * error.
 *
 * \param data bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param indices int64
 * \param updates bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16,
 *     bfloat16, float32 or float64
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_scatter_nd(
    const nef_tensor* data, const nef_tensor* indices, const nef_tensor* updates,
    const nef_scatter_nd_options* options, nef_tensor** out_output);

/** Options of nef_selu; fill with nef_selu_options_init first. */
typedef struct nef_selu_options {
  size_t struct_size; /**< set by _init */
  double alpha; /**< default 1.67326 */
  double gamma; /**< default 1.0507 */
} nef_selu_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_selu_options_init(nef_selu_options* options, size_t struct_size);

/**
 * \brief Selu: gamma * x for x > 0, else gamma * alpha * (exp(x) - 1).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_selu(
    const nef_tensor* input, const nef_selu_options* options, nef_tensor** out_output);

/** Options of nef_shape; fill with nef_shape_options_init first. */
typedef struct nef_shape_options {
  size_t struct_size; /**< set by _init */
  int64_t start; /**< default 0 */
  int64_t end; /**< read only with has_end */
  int64_t has_end; /**< 1 when end is given; default 0 */
} nef_shape_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_shape_options_init(nef_shape_options* options, size_t struct_size);

/**
 * \brief Shape: The dims of data from start up to, not including, end (the rank when absent) as a
 * vector. Negative values count from the end, both are clamped.
 *
 * \param data any dtype
 * \param options NULL for the defaults
 * \param[out] out_output int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_shape(
    const nef_tensor* data, const nef_shape_options* options, nef_tensor** out_output);

/**
 * \brief Shrink: x + bias for x < -lambd, x - bias for x > lambd, else 0.
 *
 * \param input any dtype but bool and float8
 * \param lambd a number; usually 0.5
 * \param bias a number; usually 0
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_shrink(
    const nef_tensor* input, double lambd, double bias, nef_tensor** out_output);

/**
 * \brief Sigmoid: 1 / (1 + exp(-x)).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_sigmoid(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Sign: -1, 0 or 1; NaN stays NaN.
 *
 * \param input any dtype but bool and float8
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_sign(const nef_tensor* input, nef_tensor** out_output);

/** Options of nef_silu; fill with nef_silu_options_init first. */
typedef struct nef_silu_options {
  size_t struct_size; /**< set by _init */
  double alpha; /**< default 1 */
} nef_silu_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_silu_options_init(nef_silu_options* options, size_t struct_size);

/**
 * \brief Silu: x * sigmoid(alpha * x). ONNX calls it Swish.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_silu(
    const nef_tensor* input, const nef_silu_options* options, nef_tensor** out_output);

/**
 * \brief Sin: Sine of radians.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_sin(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Sinh: Hyperbolic sine.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_sinh(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Size: The number of elements of data as a scalar.
 *
 * \param data any dtype
 * \param[out] out_output int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_size(const nef_tensor* data, nef_tensor** out_output);

/**
 * \brief Slice: data[start:end:step] per axis as in Python: negative positions count from the
 * end, all are clamped, a step may be negative but not 0. axes defaults to the first ones in
 * order, steps to 1.
 *
 * \param data any dtype
 * \param starts integers; NULL only when there are none
 * \param ends integers; NULL only when there are none
 * \param axes integers; NULL means absent
 * \param steps integers; NULL means absent
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_slice(
    const nef_tensor* data, const int64_t* starts, size_t n_starts, const int64_t* ends,
    size_t n_ends, const int64_t* axes, size_t n_axes, const int64_t* steps, size_t n_steps,
    nef_tensor** out_output);

/**
 * \brief Softmax: exp(x - max) / sum(exp(x - max)) along axis. A row of -inf only gives NaN, or 0
 * with zero_masked_rows (files only).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param axis an integer; usually -1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_softmax(
    const nef_tensor* input, int64_t axis, nef_tensor** out_output);

/**
 * \brief Softplus: log(1 + exp(x)), without overflow for large x.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_softplus(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Softsign: x / (1 + |x|).
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_softsign(const nef_tensor* input, nef_tensor** out_output);

/** Options of nef_space_to_depth; fill with nef_space_to_depth_options_init first. */
typedef struct nef_space_to_depth_options {
  size_t struct_size; /**< set by _init */
  const char* mode; /**< DCR, CRD; default DCR */
} nef_space_to_depth_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_space_to_depth_options_init(nef_space_to_depth_options* options,
    size_t struct_size);

/**
 * \brief SpaceToDepth: [N, C, H, W] -> [N, C * b^2, H / b, W / b]: b x b blocks become channels,
 * the block index outermost in mode DCR, innermost in CRD. H and W must be multiples of b.
 *
 * \param input any dtype
 * \param blocksize an integer
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_space_to_depth(
    const nef_tensor* input, int64_t blocksize, const nef_space_to_depth_options* options,
    nef_tensor** out_output);

/**
 * \brief Split: The input cut along axis into pieces of the sizes in split; without it into
 * num_outputs pieces of equal size, the last one smaller when it does not divide evenly.
 *
 * \param input any dtype
 * \param split integers; NULL means absent
 * \param axis an integer; usually 0
 * \param[out] out_outputs room for n_outputs handles: the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_split(
    const nef_tensor* input, const int64_t* split, size_t n_split, int64_t axis,
    nef_tensor** out_outputs, size_t n_outputs);

/**
 * \brief Sqrt: Square root; NaN below 0.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_sqrt(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Squeeze: data without the axes given, which must have size 1; without axes, all dims of
 * size 1 go.
 *
 * \param data any dtype
 * \param axes integers; NULL means absent
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_squeeze(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, nef_tensor** out_output);

/**
 * \brief Sub: a - b, broadcast as in NumPy. Integers wrap.
 *
 * \param a any dtype but bool and float8
 * \param b any dtype but bool and float8
 * \param[out] out_output the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_sub(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/**
 * \brief Sum: Sum of the inputs element by element, broadcast as in NumPy. Integers wrap.
 *
 * \param inputs one tensor or more, all of one dtype: any dtype but bool and float8
 * \param[out] out_output the dtype of inputs
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_sum(
    const nef_tensor* const* inputs, size_t n_inputs, nef_tensor** out_output);

/**
 * \brief Tan: Tangent of radians.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_tan(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief Tanh: Hyperbolic tangent.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_tanh(const nef_tensor* input, nef_tensor** out_output);

/**
 * \brief ThresholdedRelu: x for x > alpha, else 0. NaN gives 0.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param alpha a number; usually 1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_thresholded_relu(
    const nef_tensor* input, double alpha, nef_tensor** out_output);

/**
 * \brief Tile: The input repeated repeats[i] times along each axis i.
 *
 * \param input any dtype
 * \param repeats integers; NULL only when there are none
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_tile(
    const nef_tensor* input, const int64_t* repeats, size_t n_repeats, nef_tensor** out_output);

/**
 * \brief TopK: The k largest (or smallest) elements along axis in order, and their indices. Of
 * equal values the lower index comes first; NaN counts as larger than any number. k must be
 * between 0 and the size of the axis.
 *
 * \param x any dtype but bool and float8
 * \param k an integer
 * \param axis an integer; usually -1
 * \param largest 0 or 1; usually 1
 * \param[out] out_values the dtype of x
 * \param[out] out_indices int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_topk(
    const nef_tensor* x, int64_t k, int64_t axis, int32_t largest, nef_tensor** out_values,
    nef_tensor** out_indices);

/**
 * \brief Transpose: Axes reordered: output axis i is input axis perm[i]. Without perm the order
 * is reversed.
 *
 * \param data any dtype
 * \param perm integers; NULL means absent
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_transpose(
    const nef_tensor* data, const int64_t* perm, size_t n_perm, nef_tensor** out_output);

/**
 * \brief Trilu: The upper (or lower) triangle of the last two axes, diagonal k included, zeros
 * elsewhere. k > 0 is above the main diagonal; absent means 0.
 *
 * \param input any dtype
 * \param k an integer
 * \param upper 0 or 1; usually 1
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_trilu(
    const nef_tensor* input, int64_t k, int32_t upper, nef_tensor** out_output);

/**
 * \brief Unsqueeze: New axes of size 1 at the given positions of the result; no position twice.
 *
 * \param data any dtype
 * \param axes integers; NULL only when there are none
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_unsqueeze(
    const nef_tensor* data, const int64_t* axes, size_t n_axes, nef_tensor** out_output);

/**
 * \brief Where: x where condition is true, else y; all three broadcast as in NumPy.
 *
 * \param condition bool
 * \param x any dtype
 * \param y any dtype
 * \param[out] out_output the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_where(
    const nef_tensor* condition, const nef_tensor* x, const nef_tensor* y,
    nef_tensor** out_output);

/**
 * \brief Xor: Logical exclusive or, broadcast as in NumPy.
 *
 * \param a bool
 * \param b bool
 * \param[out] out_output bool
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_xor(
    const nef_tensor* a, const nef_tensor* b, nef_tensor** out_output);

/** Options of nef_lstm; fill with nef_lstm_options_init first. */
typedef struct nef_lstm_options {
  size_t struct_size; /**< set by _init */
  const nef_tensor* sequence_lens; /**< int32; NULL means absent */
  const nef_tensor* initial_h; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const nef_tensor* initial_c; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const nef_tensor* p; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const double* activation_alpha; /**< NULL means absent */
  size_t n_activation_alpha;
  const double* activation_beta; /**< NULL means absent */
  size_t n_activation_beta;
  const char* activations; /**< NULL means absent */
  double clip; /**< read only with has_clip */
  int64_t has_clip; /**< 1 when clip is given; default 0 */
  int64_t hidden_size; /**< read only with has_hidden_size */
  int64_t has_hidden_size; /**< 1 when hidden_size is given; default 0 */
  int64_t layout; /**< default 0 */
  int64_t input_forget; /**< 0 or 1; default 0 */
} nef_lstm_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_lstm_options_init(nef_lstm_options* options, size_t struct_size);

/**
 * \brief LSTM: Long short-term memory over x [sequence, batch, input] (layout 1: [batch,
 * sequence, input]), one or two directions. w [directions, 4 * hidden, input] and r [directions,
 * 4 * hidden, hidden] hold the gates i, o, f, c; b [directions, 8 * hidden] their two biases, p
 * [directions, 3 * hidden] peepholes of i, o, f. y is [sequence, directions, batch, hidden]
 * (layout 1: [batch, sequence, directions, hidden]), y_h and y_c the last states [directions,
 * batch, hidden] (layout 1: batch first). Steps from sequence_lens[b] on give 0 in y.
 * activations: names f, g, h of each direction separated by commas, Sigmoid,Tanh,Tanh when
 * absent. clip limits what goes into activations.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param w float16, bfloat16, float32 or float64
 * \param r float16, bfloat16, float32 or float64
 * \param b float16, bfloat16, float32 or float64; NULL means absent
 * \param direction forward, reverse, bidirectional; usually forward
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \param[out] out_y_h the dtype of x
 * \param[out] out_y_c the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_lstm(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* r, const nef_tensor* b,
    const char* direction, const nef_lstm_options* options, nef_tensor** out_y,
    nef_tensor** out_y_h, nef_tensor** out_y_c);

/** Options of nef_gru; fill with nef_gru_options_init first. */
typedef struct nef_gru_options {
  size_t struct_size; /**< set by _init */
  const nef_tensor* sequence_lens; /**< int32; NULL means absent */
  const nef_tensor* initial_h; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const double* activation_alpha; /**< NULL means absent */
  size_t n_activation_alpha;
  const double* activation_beta; /**< NULL means absent */
  size_t n_activation_beta;
  const char* activations; /**< NULL means absent */
  double clip; /**< read only with has_clip */
  int64_t has_clip; /**< 1 when clip is given; default 0 */
  int64_t hidden_size; /**< read only with has_hidden_size */
  int64_t has_hidden_size; /**< 1 when hidden_size is given; default 0 */
  int64_t layout; /**< default 0 */
  int64_t linear_before_reset; /**< 0 or 1; default 0 */
} nef_gru_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_gru_options_init(nef_gru_options* options, size_t struct_size);

/**
 * \brief GRU: Gated recurrent unit, shapes as in LSTM with 3 gates z, r, h: w [directions, 3 *
 * hidden, input], r [directions, 3 * hidden, hidden], b [directions, 6 * hidden].
 * linear_before_reset applies the reset gate behind the product with r instead of before it.
 * activations: f, g of each direction separated by commas, Sigmoid,Tanh when absent.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param w float16, bfloat16, float32 or float64
 * \param r float16, bfloat16, float32 or float64
 * \param b float16, bfloat16, float32 or float64; NULL means absent
 * \param direction forward, reverse, bidirectional; usually forward
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \param[out] out_y_h the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_gru(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* r, const nef_tensor* b,
    const char* direction, const nef_gru_options* options, nef_tensor** out_y,
    nef_tensor** out_y_h);

/** Options of nef_rnn; fill with nef_rnn_options_init first. */
typedef struct nef_rnn_options {
  size_t struct_size; /**< set by _init */
  const nef_tensor* sequence_lens; /**< int32; NULL means absent */
  const nef_tensor* initial_h; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const double* activation_alpha; /**< NULL means absent */
  size_t n_activation_alpha;
  const double* activation_beta; /**< NULL means absent */
  size_t n_activation_beta;
  const char* activations; /**< NULL means absent */
  double clip; /**< read only with has_clip */
  int64_t has_clip; /**< 1 when clip is given; default 0 */
  int64_t hidden_size; /**< read only with has_hidden_size */
  int64_t has_hidden_size; /**< 1 when hidden_size is given; default 0 */
  int64_t layout; /**< default 0 */
} nef_rnn_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_rnn_options_init(nef_rnn_options* options, size_t struct_size);

/**
 * \brief RNN: Simple recurrent layer h = f(x w' + h r' + b), shapes as in LSTM with one gate: b
 * is [directions, 2 * hidden]. activations: f of each direction separated by commas, Tanh when
 * absent.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param w float16, bfloat16, float32 or float64
 * \param r float16, bfloat16, float32 or float64
 * \param b float16, bfloat16, float32 or float64; NULL means absent
 * \param direction forward, reverse, bidirectional; usually forward
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \param[out] out_y_h the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_rnn(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* r, const nef_tensor* b,
    const char* direction, const nef_rnn_options* options, nef_tensor** out_y,
    nef_tensor** out_y_h);

/** Options of nef_quantize_linear; fill with nef_quantize_linear_options_init first. */
typedef struct nef_quantize_linear_options {
  size_t struct_size; /**< set by _init */
  int64_t block_size; /**< default 0 */
  nef_dtype output_dtype; /**< 0 means absent */
  int32_t reserved_output_dtype; /**< must be 0 */
  nef_dtype precision; /**< 0 means absent */
  int32_t reserved_precision; /**< must be 0 */
  int64_t saturate; /**< 0 or 1; default 1 */
} nef_quantize_linear_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_quantize_linear_options_init(nef_quantize_linear_options* options,
    size_t struct_size);

/**
 * \brief QuantizeLinear: saturate(round(x / y_scale) + y_zero_point), halves to even. y_scale is
 * a scalar (or one element), a vector along axis, or with block_size of x's shape but for
 * ceil(size / block_size) along axis; y_zero_point has its shape. The result has the dtype of
 * y_zero_point, else output_dtype, else uint8. The quotient is rounded to the dtype precision, by
 * default that of y_scale (float32 for int32). NaN becomes the zero point. To float8 it is x /
 * y_scale + y_zero_point as Cast converts it, saturate included.
 *
 * \param x int32, float16, bfloat16, float32 or float64
 * \param y_scale int32, float16, bfloat16, float32 or float64
 * \param y_zero_point int8, uint8, int16, uint16, float8_e4m3fn or float8_e5m2; NULL means absent
 * \param axis an integer; usually 1
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of y_zero_point
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_quantize_linear(
    const nef_tensor* x, const nef_tensor* y_scale, const nef_tensor* y_zero_point, int64_t axis,
    const nef_quantize_linear_options* options, nef_tensor** out_y);

/** Options of nef_dequantize_linear; fill with nef_dequantize_linear_options_init first. */
typedef struct nef_dequantize_linear_options {
  size_t struct_size; /**< set by _init */
  int64_t block_size; /**< default 0 */
  nef_dtype output_dtype; /**< 0 means absent */
  int32_t reserved_output_dtype; /**< must be 0 */
} nef_dequantize_linear_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_dequantize_linear_options_init(nef_dequantize_linear_options* options,
    size_t struct_size);

/**
 * \brief DequantizeLinear: (x - x_zero_point) * x_scale, with scales as in QuantizeLinear. The
 * result has the dtype output_dtype, by default that of x_scale.
 *
 * \param x int8, uint8, int16, uint16, int32, float8_e4m3fn or float8_e5m2
 * \param x_scale float16, bfloat16, float32 or float64
 * \param x_zero_point int8, uint8, int16, uint16, int32, float8_e4m3fn or float8_e5m2; NULL means
 *     absent
 * \param axis an integer; usually 1
 * \param options NULL for the defaults
 * \param[out] out_y float16, bfloat16, float32 or float64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_dequantize_linear(
    const nef_tensor* x, const nef_tensor* x_scale, const nef_tensor* x_zero_point, int64_t axis,
    const nef_dequantize_linear_options* options, nef_tensor** out_y);

/**
 * \brief DynamicQuantizeLinear: x as uint8 with the scale and zero point that its own range,
 * widened to hold 0, calls for: y_scale = (max - min) / 255. Where x holds nothing but 0, or
 * nothing at all, the scale is 1 (ONNX divides 0 by 0).
 *
 * \param x float32
 * \param[out] out_y uint8
 * \param[out] out_y_scale float32
 * \param[out] out_y_zero_point uint8
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_dynamic_quantize_linear(
    const nef_tensor* x, nef_tensor** out_y, nef_tensor** out_y_scale,
    nef_tensor** out_y_zero_point);

/**
 * \brief MatMulInteger: (a - a_zero_point) (b - b_zero_point) as MatMul, in int32 that wraps.
 * a_zero_point is a scalar or one per row of a, b_zero_point a scalar or one per column of b.
 *
 * \param a int8 or uint8
 * \param b int8 or uint8
 * \param a_zero_point int8 or uint8; NULL means absent
 * \param b_zero_point int8 or uint8; NULL means absent
 * \param[out] out_y int32
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_matmul_integer(
    const nef_tensor* a, const nef_tensor* b, const nef_tensor* a_zero_point,
    const nef_tensor* b_zero_point, nef_tensor** out_y);

/**
 * \brief QLinearMatMul: MatMul of quantised tensors: the sum of (a - a_zero_point) (b -
 * b_zero_point) times a_scale * b_scale / y_scale, rounded half to even, plus y_zero_point,
 * saturated. What belongs to a may be one per row, what belongs to b one per column, what belongs
 * to y is a scalar.
 *
 * \param a int8 or uint8
 * \param a_scale float16, bfloat16, float32 or float64
 * \param a_zero_point int8 or uint8
 * \param b int8 or uint8
 * \param b_scale float16, bfloat16, float32 or float64
 * \param b_zero_point int8 or uint8
 * \param y_scale float16, bfloat16, float32 or float64
 * \param y_zero_point int8 or uint8
 * \param[out] out_y the dtype of y_zero_point
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_qlinear_matmul(
    const nef_tensor* a, const nef_tensor* a_scale, const nef_tensor* a_zero_point,
    const nef_tensor* b, const nef_tensor* b_scale, const nef_tensor* b_zero_point,
    const nef_tensor* y_scale, const nef_tensor* y_zero_point, nef_tensor** out_y);

/** Options of nef_conv_integer; fill with nef_conv_integer_options_init first. */
typedef struct nef_conv_integer_options {
  size_t struct_size; /**< set by _init */
  const char* auto_pad; /**< NOTSET, SAME_UPPER, SAME_LOWER, VALID; default NOTSET */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  int64_t group; /**< default 1 */
  const int64_t* kernel_shape; /**< NULL means absent */
  size_t n_kernel_shape;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_conv_integer_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_conv_integer_options_init(nef_conv_integer_options* options, size_t struct_size);

/**
 * \brief ConvInteger: Conv of x - x_zero_point and w - w_zero_point in int32 that wraps; padding
 * is x_zero_point. x_zero_point is a scalar, w_zero_point a scalar or one per output channel.
 *
 * \param x int8 or uint8
 * \param w int8 or uint8
 * \param x_zero_point int8 or uint8; NULL means absent
 * \param w_zero_point int8 or uint8; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y int32
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_conv_integer(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* x_zero_point,
    const nef_tensor* w_zero_point, const nef_conv_integer_options* options, nef_tensor** out_y);

/** Options of nef_qlinear_conv; fill with nef_qlinear_conv_options_init first. */
typedef struct nef_qlinear_conv_options {
  size_t struct_size; /**< set by _init */
  const char* auto_pad; /**< NOTSET, SAME_UPPER, SAME_LOWER, VALID; default NOTSET */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  int64_t group; /**< default 1 */
  const int64_t* kernel_shape; /**< NULL means absent */
  size_t n_kernel_shape;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_qlinear_conv_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_qlinear_conv_options_init(nef_qlinear_conv_options* options, size_t struct_size);

/**
 * \brief QLinearConv: Conv of quantised tensors: the sum of (x - x_zero_point) (w - w_zero_point)
 * and b, times x_scale * w_scale / y_scale, rounded half to even, plus y_zero_point, saturated.
 * Padding is x_zero_point. What belongs to w is a scalar or one per output channel, the rest are
 * scalars.
 *
 * \param x int8 or uint8
 * \param x_scale float32
 * \param x_zero_point int8 or uint8
 * \param w int8 or uint8
 * \param w_scale float32
 * \param w_zero_point int8 or uint8
 * \param y_scale float32
 * \param y_zero_point int8 or uint8
 * \param b int32; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of y_zero_point
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_qlinear_conv(
    const nef_tensor* x, const nef_tensor* x_scale, const nef_tensor* x_zero_point,
    const nef_tensor* w, const nef_tensor* w_scale, const nef_tensor* w_zero_point,
    const nef_tensor* y_scale, const nef_tensor* y_zero_point, const nef_tensor* b,
    const nef_qlinear_conv_options* options, nef_tensor** out_y);

/**
 * \brief MatMulNBits: a [..., k] times the transpose of b, a matrix [n, k] of unsigned integers
 * of 2, 4 or 8 bits in blocks along k: b is [n, blocks, block_size * bits / 8], the lowest bits
 * first, scales one per block [n * blocks] or [n, blocks], and a weight (q - zero point) * scale.
 * zero_points are floats like scales, or packed like b, each row padded to bytes: [n, ceil(blocks
 * * bits / 8)] or flat; 2^(bits - 1) when absent. With b of a float8 (bits is 8) a weight is q *
 * scale, and there are no zero points.
 *
 * \param a float16, bfloat16, float32 or float64
 * \param b uint8, float8_e4m3fn or float8_e5m2
 * \param scales float16, bfloat16, float32 or float64
 * \param zero_points uint8, float16, bfloat16, float32 or float64; NULL means absent
 * \param bias float16, bfloat16, float32 or float64; NULL means absent
 * \param k an integer
 * \param n an integer
 * \param bits an integer; usually 4
 * \param block_size an integer
 * \param[out] out_y the dtype of a
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_matmul_nbits(
    const nef_tensor* a, const nef_tensor* b, const nef_tensor* scales,
    const nef_tensor* zero_points, const nef_tensor* bias, int64_t k, int64_t n, int64_t bits,
    int64_t block_size, nef_tensor** out_y);

/** Options of nef_non_max_suppression; fill with nef_non_max_suppression_options_init first. */
typedef struct nef_non_max_suppression_options {
  size_t struct_size; /**< set by _init */
  const nef_tensor* iou_threshold; /**< float16, bfloat16, float32 or float64; NULL means absent */
  /**
   * float16, bfloat16, float32 or float64; NULL means absent
   */
  const nef_tensor* score_threshold;
  int64_t center_point_box; /**< default 0 */
} nef_non_max_suppression_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_non_max_suppression_options_init(nef_non_max_suppression_options* options,
    size_t struct_size);

/**
 * \brief NonMaxSuppression: Boxes that are kept: rows [batch, class, box] of the result [n, 3],
 * per batch and class in the order of falling scores (equal scores: the lower box first). boxes
 * [batches, boxes, 4] are two opposite corners y1, x1, y2, x2, or with center_point_box 1 x, y,
 * width, height; scores [batches, classes, boxes]. A box is dropped when its score is not above
 * score_threshold (if given), or when the intersection over union with a kept one is above
 * iou_threshold (0 when absent). At most max_output_boxes_per_class are kept, none when it is
 * absent or 0. n depends on the data.
 *
 * \param boxes float16, bfloat16, float32 or float64
 * \param scores float16, bfloat16, float32 or float64
 * \param max_output_boxes_per_class an integer
 * \param options NULL for the defaults
 * \param[out] out_selected_indices int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_non_max_suppression(
    const nef_tensor* boxes, const nef_tensor* scores, int64_t max_output_boxes_per_class,
    const nef_non_max_suppression_options* options, nef_tensor** out_selected_indices);

/** Options of nef_compress; fill with nef_compress_options_init first. */
typedef struct nef_compress_options {
  size_t struct_size; /**< set by _init */
  int64_t axis; /**< read only with has_axis */
  int64_t has_axis; /**< 1 when axis is given; default 0 */
} nef_compress_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_compress_options_init(nef_compress_options* options, size_t struct_size);

/**
 * \brief Compress: The slices of input along axis where the vector condition is true; without
 * axis, elements of the flattened input. A shorter condition leaves out the rest; it must not be
 * longer. The size depends on the data.
 *
 * \param input any dtype
 * \param condition bool
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_compress(
    const nef_tensor* input, const nef_tensor* condition, const nef_compress_options* options,
    nef_tensor** out_output);

/** Options of nef_unique; fill with nef_unique_options_init first. */
typedef struct nef_unique_options {
  size_t struct_size; /**< set by _init */
  int64_t axis; /**< read only with has_axis */
  int64_t has_axis; /**< 1 when axis is given; default 0 */
} nef_unique_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_unique_options_init(nef_unique_options* options, size_t struct_size);

/**
 * \brief Unique: The distinct elements of x (flattened), or the distinct slices along axis, in
 * ascending order or in that of their first occurrence; where each stands first, which one each
 * element or slice of x is, and how often each occurs. NaN equals NaN and sorts last. The sizes
 * depend on the data.
 *
 * \param x bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16,
 *     float32 or float64
 * \param sorted 0 or 1; usually 1
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \param[out] out_indices int64
 * \param[out] out_inverse_indices int64
 * \param[out] out_counts int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_unique(
    const nef_tensor* x, int32_t sorted, const nef_unique_options* options, nef_tensor** out_y,
    nef_tensor** out_indices, nef_tensor** out_inverse_indices, nef_tensor** out_counts);

/** Options of nef_grid_sample; fill with nef_grid_sample_options_init first. */
typedef struct nef_grid_sample_options {
  size_t struct_size; /**< set by _init */
  int64_t align_corners; /**< 0 or 1; default 0 */
  const char* padding_mode; /**< zeros, border, reflection; default zeros */
} nef_grid_sample_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_grid_sample_options_init(nef_grid_sample_options* options, size_t struct_size);

/**
 * \brief GridSample: x [N, C, D1, ..., Dr] sampled at the positions in grid [N, O1, ..., Or, r],
 * whose last axis gives the coordinates from the last spatial axis to the first, -1 and 1 being
 * the borders: the centres of the outermost elements with align_corners, else their outer edges.
 * Ties of mode nearest go to the even element.
 *
 * \param x any dtype but bool and float8
 * \param grid float16, bfloat16, float32 or float64
 * \param mode linear, nearest, cubic; usually linear
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_grid_sample(
    const nef_tensor* x, const nef_tensor* grid, const char* mode,
    const nef_grid_sample_options* options, nef_tensor** out_y);

/**
 * \brief AffineGrid: The grid for GridSample that samples an image of the given size [N, C, H, W]
 * (or [N, C, D, H, W]) along the affine maps theta [N, 2, 3] (or [N, 3, 4]).
 *
 * \param theta float16, bfloat16, float32 or float64
 * \param size integers; NULL only when there are none
 * \param align_corners 0 or 1; usually 0
 * \param[out] out_grid the dtype of theta
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_affine_grid(
    const nef_tensor* theta, const int64_t* size, size_t n_size, int32_t align_corners,
    nef_tensor** out_grid);

/** Options of nef_roi_align; fill with nef_roi_align_options_init first. */
typedef struct nef_roi_align_options {
  size_t struct_size; /**< set by _init */
  /**
   * half_pixel, output_half_pixel; default half_pixel
   */
  const char* coordinate_transformation_mode;
  int64_t sampling_ratio; /**< default 0 */
} nef_roi_align_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_roi_align_options_init(nef_roi_align_options* options, size_t struct_size);

/**
 * \brief RoiAlign: Regions rois [R, 4] (x1, y1, x2, y2, times spatial_scale) of the images
 * x[batch_indices] cut into output_height x output_width bins, each the mean of bilinear samples,
 * or (max) the largest of their weighted corners: sampling_ratio^2 of them, or as many as the bin
 * has pixels when it is 0. The result is [R, C, output_height, output_width].
 *
 * \param x float16, bfloat16, float32 or float64
 * \param rois float16, bfloat16, float32 or float64
 * \param batch_indices int64
 * \param mode avg, max; usually avg
 * \param output_height an integer; usually 1
 * \param output_width an integer; usually 1
 * \param spatial_scale a number; usually 1
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_roi_align(
    const nef_tensor* x, const nef_tensor* rois, const nef_tensor* batch_indices,
    const char* mode, int64_t output_height, int64_t output_width, double spatial_scale,
    const nef_roi_align_options* options, nef_tensor** out_y);

/**
 * \brief MaxRoiPool: Maximum over the bins of regions rois [R, 5] (batch, x1, y1, x2, y2, times
 * spatial_scale, rounded) of x [N, C, H, W]: [R, C, pooled height, pooled width]. An empty bin
 * gives 0.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param rois float16, bfloat16, float32 or float64
 * \param pooled_shape integers
 * \param spatial_scale a number; usually 1
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_max_roi_pool(
    const nef_tensor* x, const nef_tensor* rois, const int64_t* pooled_shape,
    size_t n_pooled_shape, double spatial_scale, nef_tensor** out_y);

/** Options of nef_max_unpool; fill with nef_max_unpool_options_init first. */
typedef struct nef_max_unpool_options {
  size_t struct_size; /**< set by _init */
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_max_unpool_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_max_unpool_options_init(nef_max_unpool_options* options, size_t struct_size);

/**
 * \brief MaxUnpool: Zeros with the elements of x [N, C, D1, ...] put at the places i, which
 * MaxPool gave. The places count within the tensor that kernel_shape, strides and pads call for;
 * output_shape, when given, is larger and keeps their coordinates.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param i int64
 * \param output_shape integers; NULL means absent
 * \param kernel_shape integers
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_max_unpool(
    const nef_tensor* x, const nef_tensor* i, const int64_t* output_shape, size_t n_output_shape,
    const int64_t* kernel_shape, size_t n_kernel_shape, const nef_max_unpool_options* options,
    nef_tensor** out_output);

/** Options of nef_deform_conv; fill with nef_deform_conv_options_init first. */
typedef struct nef_deform_conv_options {
  size_t struct_size; /**< set by _init */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  int64_t group; /**< default 1 */
  const int64_t* kernel_shape; /**< NULL means absent */
  size_t n_kernel_shape;
  int64_t offset_group; /**< default 1 */
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_deform_conv_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_deform_conv_options_init(nef_deform_conv_options* options, size_t struct_size);

/**
 * \brief DeformConv: Convolution whose kernel positions move by offset [N, offset_group * kernel
 * size * r, O1, ..., Or] and weigh by mask [N, offset_group * kernel size, O1, ..., Or], r being
 * the number of spatial axes; samples are linear, outside the input 0.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param w float16, bfloat16, float32 or float64
 * \param offset float16, bfloat16, float32 or float64
 * \param b float16, bfloat16, float32 or float64; NULL means absent
 * \param mask float16, bfloat16, float32 or float64; NULL means absent
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_deform_conv(
    const nef_tensor* x, const nef_tensor* w, const nef_tensor* offset, const nef_tensor* b,
    const nef_tensor* mask, const nef_deform_conv_options* options, nef_tensor** out_y);

/** Options of nef_lp_pool; fill with nef_lp_pool_options_init first. */
typedef struct nef_lp_pool_options {
  size_t struct_size; /**< set by _init */
  const char* auto_pad; /**< NOTSET, SAME_UPPER, SAME_LOWER, VALID; default NOTSET */
  int64_t ceil_mode; /**< 0 or 1; default 0 */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_lp_pool_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_lp_pool_options_init(nef_lp_pool_options* options, size_t struct_size);

/**
 * \brief LpPool: The p-norm over a sliding window of x [N, C, D1, ...]; padding counts as 0.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param kernel_shape integers
 * \param p an integer; usually 2
 * \param options NULL for the defaults
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_lp_pool(
    const nef_tensor* x, const int64_t* kernel_shape, size_t n_kernel_shape, int64_t p,
    const nef_lp_pool_options* options, nef_tensor** out_y);

/** Options of nef_col2im; fill with nef_col2im_options_init first. */
typedef struct nef_col2im_options {
  size_t struct_size; /**< set by _init */
  const int64_t* dilations; /**< NULL means absent */
  size_t n_dilations;
  const int64_t* pads; /**< NULL means absent */
  size_t n_pads;
  const int64_t* strides; /**< NULL means absent */
  size_t n_strides;
} nef_col2im_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_col2im_options_init(nef_col2im_options* options, size_t struct_size);

/**
 * \brief Col2Im: Blocks [N, C * block size, blocks] put back into images [N, C, image_shape...];
 * where blocks overlap their elements add up.
 *
 * \param input any dtype but bool and float8
 * \param image_shape integers; NULL only when there are none
 * \param block_shape integers; NULL only when there are none
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_col2im(
    const nef_tensor* input, const int64_t* image_shape, size_t n_image_shape,
    const int64_t* block_shape, size_t n_block_shape, const nef_col2im_options* options,
    nef_tensor** out_output);

/** Options of nef_center_crop_pad; fill with nef_center_crop_pad_options_init first. */
typedef struct nef_center_crop_pad_options {
  size_t struct_size; /**< set by _init */
  const int64_t* axes; /**< NULL means absent */
  size_t n_axes;
} nef_center_crop_pad_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_center_crop_pad_options_init(nef_center_crop_pad_options* options,
    size_t struct_size);

/**
 * \brief CenterCropPad: input_data cut or padded with zeros around its centre to the sizes in
 * shape, along axes (all by default). The odd element comes off or goes on at the end.
 *
 * \param input_data any dtype
 * \param shape integers; NULL only when there are none
 * \param options NULL for the defaults
 * \param[out] out_output_data the dtype of input_data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_center_crop_pad(
    const nef_tensor* input_data, const int64_t* shape, size_t n_shape,
    const nef_center_crop_pad_options* options, nef_tensor** out_output_data);

/** Options of nef_dft; fill with nef_dft_options_init first. */
typedef struct nef_dft_options {
  size_t struct_size; /**< set by _init */
  int64_t inverse; /**< 0 or 1; default 0 */
  int64_t onesided; /**< 0 or 1; default 0 */
} nef_dft_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_dft_options_init(nef_dft_options* options, size_t struct_size);

/**
 * \brief DFT: Discrete Fourier transform along axis (the last but one when absent) of input [...,
 * 1] (real) or [..., 2] (real and imaginary part), cut or padded with zeros to dft_length.
 * inverse divides by the length. onesided keeps the first length / 2 + 1 values of a real input;
 * with inverse it takes those and gives the real signal [..., 1].
 *
 * \param input float16, bfloat16, float32 or float64
 * \param dft_length an integer
 * \param axis an integer
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_dft(
    const nef_tensor* input, int64_t dft_length, int64_t axis, const nef_dft_options* options,
    nef_tensor** out_output);

/**
 * \brief STFT: Fourier transforms of frames of signal [batch, length, 1 or 2], frame_step apart
 * and frame_length long (default: as window, or the whole signal), each multiplied by window:
 * [batch, frames, bins, 2]. onesided keeps the first length / 2 + 1 bins of a real signal.
 *
 * \param signal float16, bfloat16, float32 or float64
 * \param frame_step an integer
 * \param window float16, bfloat16, float32 or float64; NULL means absent
 * \param frame_length an integer
 * \param onesided 0 or 1; usually 1
 * \param[out] out_output the dtype of signal
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_stft(
    const nef_tensor* signal, int64_t frame_step, const nef_tensor* window, int64_t frame_length,
    int32_t onesided, nef_tensor** out_output);

/**
 * \brief MelWeightMatrix: The matrix [dft_length / 2 + 1, num_mel_bins] that turns a spectrum
 * into mel bands: triangles with peak 1 between lower_edge_hertz and upper_edge_hertz, evenly
 * spaced on the mel scale 2595 * log10(1 + f / 700).
 *
 * \param num_mel_bins an integer
 * \param dft_length an integer
 * \param sample_rate an integer
 * \param lower_edge_hertz float16, bfloat16, float32 or float64
 * \param upper_edge_hertz float16, bfloat16, float32 or float64
 * \param output_datatype a dtype; usually float32
 * \param[out] out_output any dtype but bool and float8
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_mel_weight_matrix(
    int64_t num_mel_bins, int64_t dft_length, int64_t sample_rate,
    const nef_tensor* lower_edge_hertz, const nef_tensor* upper_edge_hertz,
    nef_dtype output_datatype, nef_tensor** out_output);

/**
 * \brief HannWindow: 0.5 - 0.5 * cos(2 pi i / n) for i below size, n being size, or size - 1 when
 * not periodic.
 *
 * \param size an integer
 * \param output_datatype a dtype; usually float32
 * \param periodic 0 or 1; usually 1
 * \param[out] out_output any dtype but bool and float8
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_hann_window(
    int64_t size, nef_dtype output_datatype, int32_t periodic, nef_tensor** out_output);

/**
 * \brief HammingWindow: 25 / 46 - 21 / 46 * cos(2 pi i / n) for i below size, n being size, or
 * size - 1 when not periodic.
 *
 * \param size an integer
 * \param output_datatype a dtype; usually float32
 * \param periodic 0 or 1; usually 1
 * \param[out] out_output any dtype but bool and float8
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_hamming_window(
    int64_t size, nef_dtype output_datatype, int32_t periodic, nef_tensor** out_output);

/**
 * \brief BlackmanWindow: 0.42 - 0.5 * cos(2 pi i / n) + 0.08 * cos(4 pi i / n) for i below size,
 * n being size, or size - 1 when not periodic.
 *
 * \param size an integer
 * \param output_datatype a dtype; usually float32
 * \param periodic 0 or 1; usually 1
 * \param[out] out_output any dtype but bool and float8
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_blackman_window(
    int64_t size, nef_dtype output_datatype, int32_t periodic, nef_tensor** out_output);

/**
 * \brief Det: The determinant of each square matrix in the last two axes of x; 1 for an empty
 * matrix.
 *
 * \param x float16, bfloat16, float32 or float64
 * \param[out] out_y the dtype of x
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_det(const nef_tensor* x, nef_tensor** out_y);

/** Options of nef_tensor_scatter; fill with nef_tensor_scatter_options_init first. */
typedef struct nef_tensor_scatter_options {
  size_t struct_size; /**< set by _init */
  int64_t axis; /**< default -2 */
} nef_tensor_scatter_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_tensor_scatter_options_init(nef_tensor_scatter_options* options,
    size_t struct_size);

/**
 * \brief TensorScatter: past_cache [batch, ...] with update written along axis from
 * write_indices[batch] on (0 when absent). Positions wrap around in mode circular; in mode linear
 * one beyond the cache is an error.
 *
 * \param past_cache any dtype
 * \param update any dtype
 * \param write_indices int64; NULL means absent
 * \param mode linear, circular; usually linear
 * \param options NULL for the defaults
 * \param[out] out_present_cache the dtype of past_cache
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_tensor_scatter(
    const nef_tensor* past_cache, const nef_tensor* update, const nef_tensor* write_indices,
    const char* mode, const nef_tensor_scatter_options* options, nef_tensor** out_present_cache);

/** Options of nef_cumprod; fill with nef_cumprod_options_init first. */
typedef struct nef_cumprod_options {
  size_t struct_size; /**< set by _init */
  int64_t exclusive; /**< 0 or 1; default 0 */
  int64_t reverse; /**< 0 or 1; default 0 */
} nef_cumprod_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_cumprod_options_init(nef_cumprod_options* options, size_t struct_size);

/**
 * \brief CumProd: Running product along axis; exclusive leaves the element itself out, reverse
 * runs from the end.
 *
 * \param input any dtype but bool and float8
 * \param axis an integer
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of input
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_cumprod(
    const nef_tensor* input, int64_t axis, const nef_cumprod_options* options,
    nef_tensor** out_output);

/**
 * \brief BitCast: The bytes of the input read as another dtype of the same size.
 *
 * \param input any dtype
 * \param to a dtype
 * \param[out] out_output any dtype
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_bit_cast(
    const nef_tensor* input, nef_dtype to, nef_tensor** out_output);

/** Options of nef_random_uniform; fill with nef_random_uniform_options_init first. */
typedef struct nef_random_uniform_options {
  size_t struct_size; /**< set by _init */
  nef_dtype dtype; /**< default float32 */
  int32_t reserved_dtype; /**< must be 0 */
  double high; /**< default 1 */
  double low; /**< default 0 */
} nef_random_uniform_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_random_uniform_options_init(nef_random_uniform_options* options,
    size_t struct_size);

/**
 * \brief RandomUniform: Numbers between low and high, evenly spread. The same seed gives the same
 * numbers, on every run, thread count and backend.
 *
 * \param shape integers; NULL only when there are none
 * \param seed an integer; usually 0
 * \param options NULL for the defaults
 * \param[out] out_output float16, bfloat16, float32 or float64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_random_uniform(
    const int64_t* shape, size_t n_shape, int64_t seed,
    const nef_random_uniform_options* options, nef_tensor** out_output);

/** Options of nef_random_normal; fill with nef_random_normal_options_init first. */
typedef struct nef_random_normal_options {
  size_t struct_size; /**< set by _init */
  nef_dtype dtype; /**< default float32 */
  int32_t reserved_dtype; /**< must be 0 */
  double mean; /**< default 0 */
  double scale; /**< default 1 */
} nef_random_normal_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_random_normal_options_init(nef_random_normal_options* options, size_t struct_size);

/**
 * \brief RandomNormal: Normally distributed numbers with the given mean and standard deviation.
 * The same seed gives the same numbers, on every run, thread count and backend.
 *
 * \param shape integers; NULL only when there are none
 * \param seed an integer; usually 0
 * \param options NULL for the defaults
 * \param[out] out_output float16, bfloat16, float32 or float64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_random_normal(
    const int64_t* shape, size_t n_shape, int64_t seed, const nef_random_normal_options* options,
    nef_tensor** out_output);

/** Options of nef_bernoulli; fill with nef_bernoulli_options_init first. */
typedef struct nef_bernoulli_options {
  size_t struct_size; /**< set by _init */
  nef_dtype dtype; /**< 0 means absent */
  int32_t reserved_dtype; /**< must be 0 */
} nef_bernoulli_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_bernoulli_options_init(nef_bernoulli_options* options, size_t struct_size);

/**
 * \brief Bernoulli: 1 with the probability that input gives, else 0, as dtype (that of input when
 * absent). The same seed gives the same numbers.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param seed an integer; usually 0
 * \param options NULL for the defaults
 * \param[out] out_output bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16,
 *     bfloat16, float32 or float64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_bernoulli(
    const nef_tensor* input, int64_t seed, const nef_bernoulli_options* options,
    nef_tensor** out_output);

/** Options of nef_multinomial; fill with nef_multinomial_options_init first. */
typedef struct nef_multinomial_options {
  size_t struct_size; /**< set by _init */
  nef_dtype dtype; /**< default int32 */
  int32_t reserved_dtype; /**< must be 0 */
} nef_multinomial_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_multinomial_options_init(nef_multinomial_options* options, size_t struct_size);

/**
 * \brief Multinomial: sample_size classes drawn for each row of input [batch, classes],
 * unnormalised log-probabilities: [batch, sample_size]. The same seed gives the same numbers. A
 * row without a class of positive probability is an error.
 *
 * \param input float16, bfloat16, float32 or float64
 * \param sample_size an integer; usually 1
 * \param seed an integer; usually 0
 * \param options NULL for the defaults
 * \param[out] out_output int32 or int64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_multinomial(
    const nef_tensor* input, int64_t sample_size, int64_t seed,
    const nef_multinomial_options* options, nef_tensor** out_output);

/** Options of nef_linear_attention; fill with nef_linear_attention_options_init first. */
typedef struct nef_linear_attention_options {
  size_t struct_size; /**< set by _init */
  const nef_tensor* past_state; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const nef_tensor* decay; /**< float16, bfloat16, float32 or float64; NULL means absent */
  const nef_tensor* beta; /**< float16, bfloat16, float32 or float64; NULL means absent */
  double scale; /**< default 0 */
} nef_linear_attention_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_linear_attention_options_init(nef_linear_attention_options* options,
    size_t struct_size);

/**
 * \brief LinearAttention: Attention through a state S [batch, kv heads, key size, value size]
 * that each step changes: S = exp(decay) S (gated rules), then S += k v, where the delta rules
 * take beta (v - S k) for v; the output is scale * q S. query [batch, steps, q heads * key size],
 * key and value alike with kv heads; decay [batch, steps, kv heads] or [.., kv heads * key size],
 * beta [batch, steps, kv heads] or [.., 1]. scale 0 means 1 / sqrt(key size).
 *
 * \param query float16, bfloat16, float32 or float64
 * \param key float16, bfloat16, float32 or float64
 * \param value float16, bfloat16, float32 or float64
 * \param kv_num_heads an integer
 * \param q_num_heads an integer
 * \param update_rule linear, gated, delta, gated_delta; usually gated_delta
 * \param options NULL for the defaults
 * \param[out] out_output the dtype of query
 * \param[out] out_present_state float16, bfloat16, float32 or float64
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_linear_attention(
    const nef_tensor* query, const nef_tensor* key, const nef_tensor* value,
    int64_t kv_num_heads, int64_t q_num_heads, const char* update_rule,
    const nef_linear_attention_options* options, nef_tensor** out_output,
    nef_tensor** out_present_state);

/** Options of nef_tf_idf_vectorizer; fill with nef_tf_idf_vectorizer_options_init first. */
typedef struct nef_tf_idf_vectorizer_options {
  size_t struct_size; /**< set by _init */
  const double* weights; /**< NULL means absent */
  size_t n_weights;
} nef_tf_idf_vectorizer_options;
/** Sets every option to its default. NULL is a no-op. */
NEF_API void nef_tf_idf_vectorizer_options_init(nef_tf_idf_vectorizer_options* options,
    size_t struct_size);

/**
 * \brief TfIdfVectorizer: Counts of the n-grams of pool_int64s in each row of x [C] or [N, C]:
 * element ngram_indexes[i] of a row of the result is how often n-gram i occurs (TF), its weight
 * if it does (IDF), or both multiplied (TFIDF). Up to max_skip_count elements may be left out
 * between those of an n-gram. ngram_counts says where the n-grams of each length start in the
 * pool. Of numbers only.
 *
 * \param x int32 or int64
 * \param max_gram_length an integer
 * \param max_skip_count an integer
 * \param min_gram_length an integer
 * \param mode TF, IDF, TFIDF
 * \param ngram_counts integers
 * \param ngram_indexes integers
 * \param pool_int64s integers
 * \param options NULL for the defaults
 * \param[out] out_y float32
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_tf_idf_vectorizer(
    const nef_tensor* x, int64_t max_gram_length, int64_t max_skip_count,
    int64_t min_gram_length, const char* mode, const int64_t* ngram_counts,
    size_t n_ngram_counts, const int64_t* ngram_indexes, size_t n_ngram_indexes,
    const int64_t* pool_int64s, size_t n_pool_int64s,
    const nef_tf_idf_vectorizer_options* options, nef_tensor** out_y);

/**
 * \brief Require: data unchanged. The run fails with NEF_OUT_OF_RANGE and the message when an
 * element of condition, of any shape, is false. Nobody checks what nobody needs: use the output
 * in the place of data.
 *
 * \param data any dtype
 * \param condition bool
 * \param message text
 * \param[out] out_output the dtype of data
 * \return NULL, or a status: NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH or
 * NEF_OUT_OF_MEMORY.
 * Safe to call from any thread. The caller releases what it is given with nef_tensor_release.
 */
NEF_API NEF_NODISCARD nef_status* nef_require(
    const nef_tensor* data, const nef_tensor* condition, const char* message,
    nef_tensor** out_output);

#ifdef __cplusplus
}
#endif

#endif /* NEF_OPS_H */
