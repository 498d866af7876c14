// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// Every Reduce* op has these two attributes in the same slots.
constexpr unsigned kKeepdims = NEF_REDUCE_SUM_KEEPDIMS;
constexpr unsigned kNoop = NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES;

void reduced_shape(std::span<const Dim> dims, uint32_t mask, bool keepdims, Shape& out) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((mask >> i & 1u) == 0) out.push(dims[i]);
    else if (keepdims) out.push(1);
  }
}

// Sum, product, maximum or minimum of a small vector whose elements are known.
void reduced_content(InferContext& c) {
  const Operand& data = c.in[0];
  if (!data.has_content || !tracks_content(data.dtype) || data.dtype == NEF_BOOL) return;
  if (data.dims.size() != 1 || data.content.empty()) return;
  Dim acc = data.content[0];
  try {
    for (Dim d : data.content.subspan(1)) {
      switch (c.spec.id) {
        case NEF_OP_REDUCE_SUM: acc = c.pool.add(acc, d); break;
        case NEF_OP_REDUCE_PROD: acc = c.pool.mul(acc, d); break;
        case NEF_OP_REDUCE_MAX: acc = c.pool.max(acc, d); break;
        case NEF_OP_REDUCE_MIN: acc = c.pool.min(acc, d); break;
        default: return;
      }
    }
  } catch (const Error&) {
    return;  // integers wrap at run time: not known here, and no error
  }
  if (data.dtype == NEF_INT32 && !fits_int32(acc)) return;
  c.out[0].has_content = true;
  c.out[0].content.assign(1, acc);
}

bool reduces_content(nef_op op) {
  return op == NEF_OP_REDUCE_SUM || op == NEF_OP_REDUCE_PROD || op == NEF_OP_REDUCE_MAX ||
         op == NEF_OP_REDUCE_MIN;
}

// The axes are data: every dim may be one of them.
void reduce_unknown_axes(InferContext& c, bool keepdims) {
  const size_t rank = c.rank(0);
  size_t out_rank = rank;
  if (!keepdims) {
    const int64_t n = host_ints_sized(c, 1).count;
    if (n > static_cast<int64_t>(rank)) {
      c.fail(NEF_INVALID_ARGUMENT, cat(n, " axes for a tensor of ", rank, " dims"));
    }
    out_rank -= static_cast<size_t>(n);
  }
  for (size_t i = 0; i < out_rank; ++i) c.out[0].shape.push(c.pool.unknown());
}

}  // namespace

void infer_reduce(InferContext& c) {
  const bool keepdims = c.attrs.i(kKeepdims, 1) != 0;
  const HostInts axes = c.has(1) ? host_ints(c, 1) : HostInts{true, {}, 0};
  if (!axes.known) return reduce_unknown_axes(c, keepdims);
  if (axes.elements.empty() && c.attrs.i(kNoop, 0) != 0) {
    c.out[0].shape.assign(c.dims(0));
    // Still applied to each element alone: the identity only for sums, products and extremes.
    if (reduces_content(c.spec.id)) copy_content(c, 0, c.out[0]);
    return;
  }
  const uint32_t all = (1u << c.rank(0)) - 1;
  const uint32_t mask = axes.elements.empty() ? all : axis_mask(c, 1, axes.elements, c.rank(0));
  reduced_shape(c.dims(0), mask, keepdims, c.out[0].shape);
  if (reduces_content(c.spec.id) && c.in[0].has_content) reduced_content(c);
}

void infer_arg_reduce(InferContext& c) {
  const size_t axis = normal_axis(c, c.attrs.i(NEF_ARGMAX_AXIS), c.rank(0));
  if (c.dims(0)[axis] == 0) {
    c.fail(NEF_SHAPE_MISMATCH, cat("axis ", axis, " has size 0: ", c.shapes()));
  }
  reduced_shape(c.dims(0), 1u << axis, c.attrs.i(NEF_ARGMAX_KEEPDIMS, 1) != 0, c.out[0].shape);
}

void infer_cumsum(InferContext& c) {
  require_one_element(c, 1);
  if (c.in[1].has_content) {
    const Dim axis = c.in[1].content[0];
    if (!is_expr(axis)) normal_axis(c, axis.number(), c.rank(0));
  }
  c.out[0].shape.assign(c.dims(0));
}

void infer_topk(InferContext& c) {
  const size_t axis = normal_axis(c, c.attrs.i(NEF_TOPK_AXIS), c.rank(0));
  require_one_element(c, 1);
  const Dim size = c.dims(0)[axis];
  const Dim k = c.in[1].has_content ? c.in[1].content[0] : c.pool.unknown();
  if (c.pool.upper(k) < 0 || c.pool.lower(k) > c.pool.upper(size)) {
    c.fail(NEF_OUT_OF_RANGE, cat("k is ", c.pool.str(k), "; it must be between 0 and ",
                                 c.pool.str(size), ", the size of axis ", axis));
  }
  // Leaves a check for the run unless k fits for certain.
  Dim fits{};
  if (!c.pool.equal(c.pool.min(k, size), k, &fits)) {
    c.fail(NEF_OUT_OF_RANGE, cat("k is ", c.pool.str(k), ", more than ", c.pool.str(size),
                                 ", the size of axis ", axis));
  }
  for (Inferred& r : c.out) {
    r.shape.assign(c.dims(0));
    r.shape.dims[axis] = k;
  }
}

}  // namespace nef::ir
