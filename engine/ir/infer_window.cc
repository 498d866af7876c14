// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings: x [N, C, D1, ...].
#include <algorithm>

#include "engine/ir/checked.h"
#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// Attributes of a sliding window, one entry per spatial axis once normalised.
struct Window {
  size_t spatial = 0;
  std::string_view auto_pad;
  std::span<const int64_t> dilations, pads, strides;

  int64_t dilation(size_t i) const { return dilations.empty() ? 1 : dilations[i]; }
  int64_t stride(size_t i) const { return strides.empty() ? 1 : strides[i]; }
  int64_t pad_begin(size_t i) const { return pads.empty() ? 0 : pads[i]; }
  int64_t pad_end(size_t i) const { return pads.empty() ? 0 : pads[spatial + i]; }
  bool explicit_pads() const { return auto_pad.empty() || auto_pad == "NOTSET"; }
  bool same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
};

void check_list(const InferContext& c, std::span<const int64_t> v, size_t count, int64_t least,
                const char* name) {
  if (v.empty()) return;
  if (v.size() != count) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat(name, " has ", v.size(), " entries; x ", c.shape(0), " needs ", count));
  }
  for (int64_t x : v) {
    if (x < least || x > INT32_MAX) {
      c.fail(NEF_INVALID_ARGUMENT,
             cat(name, " has the entry ", x, "; it must be between ", least, " and ", INT32_MAX));
    }
  }
}

void check_window(const InferContext& c, const Window& w) {
  check_list(c, w.dilations, w.spatial, 1, "dilations");
  check_list(c, w.strides, w.spatial, 1, "strides");
  check_list(c, w.pads, 2 * w.spatial, 0, "pads");
  if (w.explicit_pads() || w.pads.empty()) return;
  for (int64_t p : w.pads) {
    if (p != 0) c.fail(NEF_INVALID_ARGUMENT, "pads and auto_pad are both given; drop one");
  }
}

// (k - 1) * dilation + 1.
Dim extent(const InferContext& c, const Window& w, size_t i, Dim kernel) {
  return c.pool.add(c.pool.mul(c.pool.sub(kernel, 1), Dim::of(w.dilation(i))), 1);
}

Dim window_count(const InferContext& c, const Window& w, size_t i, Dim size, Dim kernel,
                 bool ceil_mode) {
  DimPool& pool = c.pool;
  const Dim stride = Dim::of(w.stride(i));
  if (w.same()) return pool.ceildiv(size, stride);
  const bool valid = !w.explicit_pads();
  const int64_t before = valid ? 0 : w.pad_begin(i), after = valid ? 0 : w.pad_end(i);
  const Dim padded = pool.add(size, Dim::of(before + after));
  const Dim slack = pool.sub(padded, extent(c, w, i, kernel));
  if (pool.upper(slack) < 0) {
    c.fail(NEF_SHAPE_MISMATCH,
           cat("the window does not fit into spatial axis ", i, ": ", c.shapes(), " (",
               pool.str(extent(c, w, i, kernel)), " > ", pool.str(padded), ")"));
  }
  if (!ceil_mode) return pool.add(pool.floordiv(slack, stride), 1);
  // A window that would start in the padding behind the data is dropped.
  const Dim rounded_up = pool.add(pool.ceildiv(slack, stride), 1);
  return pool.min(rounded_up, pool.ceildiv(pool.add(size, Dim::of(before)), stride));
}

Dim positive_group(const InferContext& c, int64_t group) {
  if (group < 1) c.fail(NEF_INVALID_ARGUMENT, cat("group must be positive, got ", group));
  return Dim::of(group);
}

void check_kernel_shape(const InferContext& c, std::span<const int64_t> given, size_t spatial) {
  check_list(c, given, spatial, 1, "kernel_shape");
  for (size_t i = 0; i < given.size(); ++i) {
    same_dim(c, c.dims(1)[2 + i], Dim::of(given[i]), "kernel_shape and w differ");
  }
}

void check_kernel_size(const InferContext& c, size_t spatial) {
  for (size_t i = 0; i < spatial; ++i) {
    if (c.pool.upper(c.dims(1)[2 + i]) >= 1) continue;
    c.fail(NEF_SHAPE_MISMATCH, cat("w has an empty kernel: ", c.shapes()));
  }
}

Dim transposed_size(const InferContext& c, const Window& w, size_t i, int64_t output_padding) {
  DimPool& pool = c.pool;
  const Dim size = c.dims(0)[2 + i], kernel = c.dims(1)[2 + i];
  const Dim stride = Dim::of(w.stride(i)), reach = pool.mul(size, stride);
  if (w.same()) return reach;
  const Dim last = pool.add(pool.sub(reach, stride), Dim::of(output_padding));
  const Dim full = pool.add(last, extent(c, w, i, kernel));
  if (!w.explicit_pads()) return full;
  return pool.sub(full, Dim::of(w.pad_begin(i) + w.pad_end(i)));
}

void check_output_padding(const InferContext& c, const Window& w, std::span<const int64_t> v) {
  check_list(c, v, w.spatial, 0, "output_padding");
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i] < std::max(w.stride(i), w.dilation(i))) continue;
    c.fail(NEF_INVALID_ARGUMENT, cat("output_padding ", v[i], " must be below the stride ",
                                     w.stride(i), " or the dilation ", w.dilation(i)));
  }
}

struct PoolSlots {
  unsigned auto_pad, ceil_mode, dilations, kernel_shape, pads, strides;
};
PoolSlots pool_slots(nef_op op) {
  if (op == NEF_OP_MAX_POOL) {
    return {NEF_MAX_POOL_AUTO_PAD,     NEF_MAX_POOL_CEIL_MODE, NEF_MAX_POOL_DILATIONS,
            NEF_MAX_POOL_KERNEL_SHAPE, NEF_MAX_POOL_PADS,      NEF_MAX_POOL_STRIDES};
  }
  if (op == NEF_OP_LP_POOL) {
    return {NEF_LP_POOL_AUTO_PAD,     NEF_LP_POOL_CEIL_MODE, NEF_LP_POOL_DILATIONS,
            NEF_LP_POOL_KERNEL_SHAPE, NEF_LP_POOL_PADS,      NEF_LP_POOL_STRIDES};
  }
  return {NEF_AVERAGE_POOL_AUTO_PAD,     NEF_AVERAGE_POOL_CEIL_MODE, NEF_AVERAGE_POOL_DILATIONS,
          NEF_AVERAGE_POOL_KERNEL_SHAPE, NEF_AVERAGE_POOL_PADS,      NEF_AVERAGE_POOL_STRIDES};
}

}  // namespace

void infer_conv(InferContext& c) {
  require_rank_at_least(c, 0, 3);
  require_rank(c, 1, c.rank(0));
  const std::span<const Dim> x = c.dims(0), k = c.dims(1);
  Window w{x.size() - 2, c.attrs.s(NEF_CONV_AUTO_PAD), c.attrs.ints(NEF_CONV_DILATIONS),
           c.attrs.ints(NEF_CONV_PADS), c.attrs.ints(NEF_CONV_STRIDES)};
  check_window(c, w);
  check_kernel_shape(c, c.attrs.ints(NEF_CONV_KERNEL_SHAPE), w.spatial);
  check_kernel_size(c, w.spatial);
  const Dim group = positive_group(c, c.attrs.i(NEF_CONV_GROUP, 1));
  same_dim(c, x[1], c.pool.mul(k[1], group), "channels of x are not w's times group");
  divided(c, k[0], group, "output channels do not split into groups");
  if (c.has(2)) require_vector(c, 2, k[0], "the bias has one element per output channel");
  c.out[0].shape = Shape{x[0], k[0]};
  for (size_t i = 0; i < w.spatial; ++i) {
    c.out[0].shape.push(window_count(c, w, i, x[2 + i], k[2 + i], false));
  }
}

void infer_conv_transpose(InferContext& c) {
  require_rank_at_least(c, 0, 3);
  require_rank(c, 1, c.rank(0));
  const std::span<const Dim> x = c.dims(0), k = c.dims(1);
  Window w{x.size() - 2, c.attrs.s(NEF_CONV_TRANSPOSE_AUTO_PAD),
           c.attrs.ints(NEF_CONV_TRANSPOSE_DILATIONS), c.attrs.ints(NEF_CONV_TRANSPOSE_PADS),
           c.attrs.ints(NEF_CONV_TRANSPOSE_STRIDES)};
  const std::span<const int64_t> extra = c.attrs.ints(NEF_CONV_TRANSPOSE_OUTPUT_PADDING);
  const std::span<const int64_t> wanted = c.attrs.ints(NEF_CONV_TRANSPOSE_OUTPUT_SHAPE);
  check_window(c, w);
  check_output_padding(c, w, extra);
  check_list(c, wanted, w.spatial, 0, "output_shape");
  check_kernel_shape(c, c.attrs.ints(NEF_CONV_TRANSPOSE_KERNEL_SHAPE), w.spatial);
  check_kernel_size(c, w.spatial);
  const Dim group = positive_group(c, c.attrs.i(NEF_CONV_TRANSPOSE_GROUP, 1));
  same_dim(c, x[1], k[0], "channels of x and w differ");
  divided(c, x[1], group, "channels do not split into groups");
  const Dim channels = c.pool.mul(k[1], group);
  if (c.has(2)) require_vector(c, 2, channels, "the bias has one element per output channel");
  c.out[0].shape = Shape{x[0], channels};
  for (size_t i = 0; i < w.spatial; ++i) {
    const Dim size = wanted.empty() ? transposed_size(c, w, i, extra.empty() ? 0 : extra[i])
                                    : Dim::of(wanted[i]);
    c.out[0].shape.push(size);
  }
}

void infer_pool(InferContext& c) {
  require_rank_at_least(c, 0, 3);
  const PoolSlots slots = pool_slots(c.spec.id);
  const std::span<const Dim> x = c.dims(0);
  Window w{x.size() - 2, c.attrs.s(slots.auto_pad), c.attrs.ints(slots.dilations),
           c.attrs.ints(slots.pads), c.attrs.ints(slots.strides)};
  const std::span<const int64_t> kernel = c.attrs.ints(slots.kernel_shape);
  const bool ceil_mode = c.attrs.i(slots.ceil_mode) != 0;
  if (c.spec.id == NEF_OP_LP_POOL && c.attrs.i(NEF_LP_POOL_P, 2) < 1) {
    c.fail(NEF_INVALID_ARGUMENT, cat("p must be at least 1, got ", c.attrs.i(NEF_LP_POOL_P)));
  }
  check_window(c, w);
  if (kernel.size() != w.spatial) {
    c.fail(NEF_INVALID_ARGUMENT, cat("kernel_shape has ", kernel.size(), " entries; x ", c.shape(0),
                                     " needs ", w.spatial));
  }
  check_list(c, kernel, w.spatial, 1, "kernel_shape");
  Shape shape{x[0], x[1]};
  for (size_t i = 0; i < w.spatial; ++i) {
    const int64_t reach = (kernel[i] - 1) * w.dilation(i) + 1;
    if (std::max(w.pad_begin(i), w.pad_end(i)) >= reach) {
      c.fail(NEF_INVALID_ARGUMENT, cat("pads must be smaller than the window of ", reach,
                                       " on spatial axis ", i, ", or a window sees no data"));
    }
    shape.push(window_count(c, w, i, x[2 + i], Dim::of(kernel[i]), ceil_mode));
  }
  for (Inferred& r : c.out) r.shape = shape;
}

void infer_global_pool(InferContext& c) {
  require_rank_at_least(c, 0, 3);
  c.out[0].shape.assign(c.dims(0));
  std::fill(c.out[0].shape.dims + 2, c.out[0].shape.dims + c.rank(0), Dim(1));
}

}  // namespace nef::ir
