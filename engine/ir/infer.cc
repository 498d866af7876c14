// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/infer.h"

#include <algorithm>
#include <bit>

#include "engine/ir/checked.h"
#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

constexpr uint8_t kNoVar = 255;
constexpr size_t kMaxVars = 16;

// dtypes bound to the type variables of an op, and by which input.
struct TypeVars {
  nef_dtype dtype[kMaxVars] = {};
  uint8_t input[kMaxVars] = {};
};

std::string dtype_list(uint32_t mask) {
  std::string out;
  for (nef_dtype t = NEF_BOOL; t <= kLastDtype; ++t) {
    if ((mask >> t & 1u) == 0) continue;
    if (!out.empty()) out += ", ";
    out += dtype_name(t);
  }
  return out;
}

const InputSpec& input_spec(const OpSpec& spec, size_t i) {
  return spec.inputs[std::min<size_t>(i, spec.n_inputs - 1u)];
}

void check_input_count(const InferContext& c) {
  const OpSpec& spec = c.spec;
  const bool variadic = spec.n_inputs > 0 && spec.inputs[spec.n_inputs - 1].variadic;
  if (c.in.size() > spec.n_inputs && !variadic) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("takes at most ", spec.n_inputs + 0, " inputs, got ", c.in.size()));
  }
  for (size_t i = 0; i < std::max<size_t>(spec.n_inputs, c.in.size()); ++i) {
    const InputSpec& s = input_spec(spec, i);
    if (c.has(i) || s.optional) continue;
    c.fail(NEF_INVALID_ARGUMENT, cat("input ", i, " (", s.name, ") is missing"));
  }
}

void check_input_types(const InferContext& c, TypeVars& vars) {
  for (size_t i = 0; i < c.in.size(); ++i) {
    const Operand& o = c.in[i];
    if (!o.present) continue;
    const InputSpec& s = input_spec(c.spec, i);
    const bool known = o.dtype > 0 && o.dtype < 32;
    if (!known || (s.dtypes >> o.dtype & 1u) == 0) {
      c.fail(NEF_DTYPE_MISMATCH, cat("input ", i, " (", s.name, ") is ", dtype_name(o.dtype),
                                     "; it must be ", dtype_list(s.dtypes)));
    }
    if (s.type_var == kNoVar) continue;
    nef_dtype& bound = vars.dtype[s.type_var];
    if (bound == NEF_DTYPE_INVALID) {
      bound = o.dtype;
      vars.input[s.type_var] = static_cast<uint8_t>(std::min<size_t>(i, 255));
    } else if (bound != o.dtype) {
      const size_t first = vars.input[s.type_var];
      c.fail(NEF_DTYPE_MISMATCH, cat("input ", i, " (", s.name, ") is ", dtype_name(o.dtype),
                                     ", but input ", first, " (", input_spec(c.spec, first).name,
                                     ") is ", dtype_name(bound), "; cast one of them"));
    }
  }
}

void prepare_outputs(const InferContext& c, const TypeVars& vars) {
  const OpSpec& spec = c.spec;
  const bool variadic = spec.n_outputs > 0 && spec.outputs[spec.n_outputs - 1].variadic;
  size_t required = 0;
  for (size_t i = 0; i < spec.n_outputs; ++i) required += spec.outputs[i].optional ? 0 : 1;
  if (c.out.size() < required || (c.out.size() > spec.n_outputs && !variadic)) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("has ", required, " to ", spec.n_outputs + 0, " outputs, asked for ", c.out.size()));
  }
  for (size_t i = 0; i < c.out.size(); ++i) {
    const OutputSpec& s = spec.outputs[std::min<size_t>(i, spec.n_outputs - 1u)];
    Inferred& r = c.out[i];
    r.shape.rank = 0;
    r.dtype = s.type_var != kNoVar            ? vars.dtype[s.type_var]
              : std::has_single_bit(s.dtypes) ? std::countr_zero(s.dtypes)
                                              : NEF_DTYPE_INVALID;
    if (spec.infer == InferRule::kShapeExpr) continue;
    r.has_content = false;
    r.content.clear();
  }
}

void apply_rule(InferContext& c) {
  switch (c.spec.infer) {
    case InferRule::kAffineGrid: return infer_affine_grid(c);
    case InferRule::kArgReduce: return infer_arg_reduce(c);
    case InferRule::kAttention: return infer_attention(c);
    case InferRule::kBatchNorm: return infer_batch_norm(c);
    case InferRule::kBernoulli: return infer_bernoulli(c);
    case InferRule::kBitCast: return infer_bit_cast(c);
    case InferRule::kBlocks:
      c.fail(NEF_INVALID_ARGUMENT, "its blocks are missing: it is not made by an op call");
    case InferRule::kBroadcast: return infer_broadcast(c);
    case InferRule::kCast: return infer_cast(c);
    case InferRule::kCastLike: return infer_cast_like(c);
    case InferRule::kCenterCropPad: return infer_center_crop_pad(c);
    case InferRule::kClip: return infer_clip(c);
    case InferRule::kCol2im: return infer_col2im(c);
    case InferRule::kCompress: return infer_compress(c);
    case InferRule::kConcat: return infer_concat(c);
    case InferRule::kConstantOfShape: return infer_constant_of_shape(c);
    case InferRule::kConv: return infer_conv(c);
    case InferRule::kConvInteger: return infer_conv_integer(c);
    case InferRule::kConvTranspose: return infer_conv_transpose(c);
    case InferRule::kCumsum: return infer_cumsum(c);
    case InferRule::kDeformConv: return infer_deform_conv(c);
    case InferRule::kDepthToSpace: return infer_depth_to_space(c);
    case InferRule::kDequantizeLinear: return infer_dequantize_linear(c);
    case InferRule::kDet: return infer_det(c);
    case InferRule::kDft: return infer_dft(c);
    case InferRule::kDynamicQuantizeLinear: return infer_dynamic_quantize_linear(c);
    case InferRule::kEinsum: return infer_einsum(c);
    case InferRule::kExpand: return infer_expand(c);
    case InferRule::kEyeLike: return infer_eye_like(c);
    case InferRule::kFlatten: return infer_flatten(c);
    case InferRule::kFusedMatmul: return infer_fused_matmul(c);
    case InferRule::kGather: return infer_gather(c);
    case InferRule::kGatherElements: return infer_gather_elements(c);
    case InferRule::kGatherNd: return infer_gather_nd(c);
    case InferRule::kGemm: return infer_gemm(c);
    case InferRule::kGlobalPool: return infer_global_pool(c);
    case InferRule::kGridSample: return infer_grid_sample(c);
    case InferRule::kGroupNorm: return infer_group_norm(c);
    case InferRule::kInstanceNorm: return infer_instance_norm(c);
    case InferRule::kLayerNorm: return infer_layer_norm(c);
    case InferRule::kLinearAttention: return infer_linear_attention(c);
    case InferRule::kMatmul: return infer_matmul(c);
    case InferRule::kMatmulInteger: return infer_matmul_integer(c);
    case InferRule::kMatmulNbits: return infer_matmul_nbits(c);
    case InferRule::kMaxRoiPool: return infer_max_roi_pool(c);
    case InferRule::kMaxUnpool: return infer_max_unpool(c);
    case InferRule::kMelWeightMatrix: return infer_mel_weight_matrix(c);
    case InferRule::kMultinomial: return infer_multinomial(c);
    case InferRule::kNonMaxSuppression: return infer_non_max_suppression(c);
    case InferRule::kNonzero: return infer_nonzero(c);
    case InferRule::kOneHot: return infer_one_hot(c);
    case InferRule::kPad: return infer_pad(c);
    case InferRule::kPool: return infer_pool(c);
    case InferRule::kPrelu: return infer_prelu(c);
    case InferRule::kQlinearConv: return infer_qlinear_conv(c);
    case InferRule::kQlinearMatmul: return infer_qlinear_matmul(c);
    case InferRule::kQuantizeLinear: return infer_quantize_linear(c);
    case InferRule::kRandom: return infer_random(c);
    case InferRule::kRange: return infer_range(c);
    case InferRule::kReduce: return infer_reduce(c);
    case InferRule::kReshape: return infer_reshape(c);
    case InferRule::kResize: return infer_resize(c);
    case InferRule::kReverseSequence: return infer_reverse_sequence(c);
    case InferRule::kRmsNorm: return infer_rms_norm(c);
    case InferRule::kRnn: return infer_rnn(c);
    case InferRule::kRoiAlign: return infer_roi_align(c);
    case InferRule::kRotaryEmbedding: return infer_rotary_embedding(c);
    case InferRule::kSame: return infer_same(c);
    case InferRule::kSameAxes: return infer_same_axes(c);
    case InferRule::kSameAxis: return infer_same_axis(c);
    case InferRule::kScatterElements: return infer_scatter_elements(c);
    case InferRule::kScatterNd: return infer_scatter_nd(c);
    case InferRule::kShape: return infer_shape(c);
    case InferRule::kShapeExpr: return infer_shape_expr(c);
    case InferRule::kSize: return infer_size(c);
    case InferRule::kSlice: return infer_slice(c);
    case InferRule::kSpaceToDepth: return infer_space_to_depth(c);
    case InferRule::kSplit: return infer_split(c);
    case InferRule::kSqueeze: return infer_squeeze(c);
    case InferRule::kStft: return infer_stft(c);
    case InferRule::kTensorScatter: return infer_tensor_scatter(c);
    case InferRule::kTfIdf: return infer_tf_idf(c);
    case InferRule::kTile: return infer_tile(c);
    case InferRule::kTopk: return infer_topk(c);
    case InferRule::kTranspose: return infer_transpose(c);
    case InferRule::kTrilu: return infer_trilu(c);
    case InferRule::kUnique: return infer_unique(c);
    case InferRule::kUnsqueeze: return infer_unsqueeze(c);
    case InferRule::kWindowFunction: return infer_window_function(c);
  }
  c.fail(NEF_INTERNAL, "the op has no shape rule");
}

// No dim is negative for certain, and what is static fits into int64 bytes.
void check_result(const InferContext& c, const Inferred& r) {
  int64_t bytes = static_cast<int64_t>(dtype_size(r.dtype));
  bool overflow = false, empty = false;
  for (Dim d : r.shape.view()) {
    if (is_expr(d)) {
      if (c.pool.upper(d) >= 0) continue;
    } else if (d.number() >= 0) {
      empty = empty || d == 0;
      overflow = overflow || (d != 0 && !checked_mul(bytes, d.number(), &bytes));
      continue;
    }
    c.fail(NEF_SHAPE_MISMATCH, cat("the result would have a negative dim: ",
                                   shape_str(r.shape, c.pool), " from ", c.shapes()));
  }
  if (overflow && !empty) {
    c.fail(NEF_LIMIT_EXCEEDED,
           cat("the result ", shape_str(r.shape, c.pool), " is over 2^63 - 1 bytes"));
  }
}

// Rules read content by the shape: where they differ in length, only a run can say which is right.
void check_content(Inferred& r) {
  const Dim count = r.shape.rank == 0 ? Dim(1) : r.shape.dims[0];
  if (!r.has_content || (r.shape.rank <= 1 && count == static_cast<int64_t>(r.content.size()))) {
    return;
  }
  r.has_content = false;
  r.content.clear();
}

const OpSpec& checked_spec(nef_op op) {
  if (!op_valid(op)) fail(NEF_UNKNOWN_OP, "infer", cat("no op has the number ", op));
  return spec(op);
}

}  // namespace

void infer(nef_op op, const Attrs& attrs, std::span<const Operand> operands, DimPool& pool,
           std::span<Inferred> results) {
  InferContext c{checked_spec(op), attrs, operands, pool, results};
  TypeVars vars;
  check_input_count(c);
  check_input_types(c, vars);
  prepare_outputs(c, vars);
  apply_rule(c);
  for (Inferred& r : results) {
    check_result(c, r);
    check_content(r);
  }
}

size_t default_output_count(nef_op op, const Attrs& attrs, std::span<const Operand> operands) {
  const OpSpec& s = checked_spec(op);
  if (s.n_outputs == 0 || !s.outputs[s.n_outputs - 1].variadic) {
    size_t n = 0;
    while (n < s.n_outputs && !s.outputs[n].optional) ++n;
    return n;
  }
  const auto within_limit = [&](int64_t n) {
    if (n <= kMaxOperands) return static_cast<size_t>(n);
    fail(NEF_LIMIT_EXCEEDED, s.snake,
         cat("would have ", n, " outputs, a node has ", kMaxOperands, " at most"));
  };
  const int64_t asked = attrs.i(NEF_SPLIT_NUM_OUTPUTS, 0);
  if (asked > 0) return within_limit(asked);
  if (operands.size() > 1 && operands[1].present && operands[1].dims.size() == 1) {
    const Dim n = operands[1].dims[0];
    if (!is_expr(n) && n.number() > 0) return within_limit(n.number());
  }
  fail(NEF_INVALID_ARGUMENT, s.snake, "give split sizes or num_outputs");
}

}  // namespace nef::ir
