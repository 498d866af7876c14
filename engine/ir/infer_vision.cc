// SPDX-License-Identifier: Apache-2.0
// Boxes, regions and sampling grids.
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// A list with one entry per spatial axis (or two), within [least, 2^31).
void check_list(const InferContext& c, std::span<const int64_t> v, size_t count, int64_t least,
                const char* name) {
  if (v.empty()) return;
  if (v.size() != count) {
    c.fail(NEF_INVALID_ARGUMENT, cat(name, " has ", v.size(), " entries, but needs ", count));
  }
  for (int64_t x : v) {
    if (x >= least && x <= INT32_MAX) continue;
    c.fail(NEF_INVALID_ARGUMENT,
           cat(name, " has the entry ", x, "; it must be between ", least, " and ", INT32_MAX));
  }
}

int64_t entry(std::span<const int64_t> v, size_t i, int64_t fallback) {
  return v.empty() ? fallback : v[i];
}

// An output size that an attribute gives.
Dim size_attr(const InferContext& c, int64_t v, const char* name) {
  if (v >= 1 && v <= INT32_MAX) return Dim::of(v);
  c.fail(NEF_INVALID_ARGUMENT, cat(name, " must be between 1 and ", INT32_MAX, ", got ", v));
}

// One element of a host input that is a size: not negative.
Dim host_size(const InferContext& c, size_t input, Dim element) {
  if (c.pool.upper(element) >= 0) return element;
  c.fail(NEF_INVALID_ARGUMENT,
         cat("input ", c.spec.inputs[input].name, " has a negative entry: ", c.pool.str(element)));
}

// The number of places of a window along one axis.
Dim places(const InferContext& c, Dim size, Dim kernel, int64_t stride, int64_t dilation,
           int64_t before, int64_t after) {
  const Dim extent = c.pool.add(c.pool.mul(c.pool.sub(kernel, 1), Dim::of(dilation)), 1);
  const Dim slack = c.pool.sub(c.pool.add(size, Dim::of(before + after)), extent);
  if (c.pool.upper(slack) < 0) {
    c.fail(NEF_SHAPE_MISMATCH, cat("the window does not fit: ", c.shapes()));
  }
  return c.pool.add(c.pool.floordiv(slack, Dim::of(stride)), 1);
}

}  // namespace

void infer_non_max_suppression(InferContext& c) {
  require_rank(c, 0, 3);
  require_rank(c, 1, 3);
  same_dim(c, c.dims(0)[0], c.dims(1)[0], "batches of boxes and scores differ");
  same_dim(c, c.dims(0)[1], c.dims(1)[2], "boxes and scores differ in number");
  same_dim(c, c.dims(0)[2], 4, "a box has 4 numbers");
  for (size_t i : {2, 3, 4}) {
    if (c.has(i)) require_one_element(c, i);
  }
  const int64_t center = c.attrs.i(NEF_NON_MAX_SUPPRESSION_CENTER_POINT_BOX);
  if (center != 0 && center != 1) {
    c.fail(NEF_INVALID_ARGUMENT, cat("center_point_box must be 0 or 1, got ", center));
  }
  const Dim scores = product(c.pool, c.dims(1));
  c.out[0].shape = Shape{c.pool.unknown(0, c.pool.upper(scores)), 3};
}

void infer_grid_sample(InferContext& c) {
  require_rank_at_least(c, 0, 3);
  require_rank(c, 1, c.rank(0));
  const std::span<const Dim> x = c.dims(0), grid = c.dims(1);
  const size_t spatial = x.size() - 2;
  same_dim(c, grid[0], x[0], "batches of x and grid differ");
  same_dim(c, grid.back(), Dim::of(spatial), "the grid has a coordinate per spatial axis");
  c.out[0].shape = Shape{x[0], x[1]};
  for (size_t i = 0; i < spatial; ++i) c.out[0].shape.push(grid[1 + i]);
}

void infer_affine_grid(InferContext& c) {
  require_rank(c, 0, 3);
  const HostInts size = host_ints_sized(c, 1);
  if (size.count != 4 && size.count != 5) {
    c.fail(NEF_INVALID_ARGUMENT, cat("size must have 4 or 5 entries, got ", size.count));
  }
  const auto spatial = static_cast<size_t>(size.count) - 2;
  same_dim(c, c.dims(0)[1], Dim::of(spatial), "theta is [N, r, r + 1]");
  same_dim(c, c.dims(0)[2], Dim::of(spatial + 1), "theta is [N, r, r + 1]");
  Shape& out = c.out[0].shape;
  out = Shape{c.dims(0)[0]};
  if (size.known) same_dim(c, host_size(c, 1, size.elements[0]), c.dims(0)[0], "size and theta");
  for (size_t i = 0; i < spatial; ++i) {
    out.push(size.known ? host_size(c, 1, size.elements[i + 2]) : c.pool.unknown());
  }
  out.push(Dim::of(spatial));
}

void infer_roi_align(InferContext& c) {
  require_rank(c, 0, 4);
  require_rank(c, 1, 2);
  same_dim(c, c.dims(1)[1], 4, "a region has 4 numbers");
  require_vector(c, 2, c.dims(1)[0], "one batch index per region is needed");
  const int64_t ratio = c.attrs.i(NEF_ROI_ALIGN_SAMPLING_RATIO);
  if (ratio < 0 || ratio > 1024) {
    c.fail(NEF_INVALID_ARGUMENT, cat("sampling_ratio must be between 0 and 1024, got ", ratio));
  }
  const Dim height = size_attr(c, c.attrs.i(NEF_ROI_ALIGN_OUTPUT_HEIGHT, 1), "output_height");
  const Dim width = size_attr(c, c.attrs.i(NEF_ROI_ALIGN_OUTPUT_WIDTH, 1), "output_width");
  c.out[0].shape = Shape{c.dims(1)[0], c.dims(0)[1], height, width};
}

void infer_max_roi_pool(InferContext& c) {
  require_rank(c, 0, 4);
  require_rank(c, 1, 2);
  same_dim(c, c.dims(1)[1], 5, "a region has 5 numbers");
  const std::span<const int64_t> pooled = c.attrs.ints(NEF_MAX_ROI_POOL_POOLED_SHAPE);
  if (pooled.size() != 2) {
    c.fail(NEF_INVALID_ARGUMENT, cat("pooled_shape has ", pooled.size(), " entries, not 2"));
  }
  check_list(c, pooled, 2, 1, "pooled_shape");
  c.out[0].shape = Shape{c.dims(1)[0], c.dims(0)[1], Dim::of(pooled[0]), Dim::of(pooled[1])};
}

void infer_max_unpool(InferContext& c) {
  require_rank_at_least(c, 0, 3);
  require_rank(c, 1, c.rank(0));
  for (size_t i = 0; i < c.rank(0); ++i) {
    same_dim(c, c.dims(0)[i], c.dims(1)[i], "x and i have one shape");
  }
  const size_t spatial = c.rank(0) - 2;
  const auto kernel = c.attrs.ints(NEF_MAX_UNPOOL_KERNEL_SHAPE);
  const auto pads = c.attrs.ints(NEF_MAX_UNPOOL_PADS);
  const auto strides = c.attrs.ints(NEF_MAX_UNPOOL_STRIDES);
  if (kernel.size() != spatial) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("kernel_shape has ", kernel.size(), " entries, x ", c.shape(0), " needs ", spatial));
  }
  check_list(c, kernel, spatial, 1, "kernel_shape");
  check_list(c, pads, 2 * spatial, 0, "pads");
  check_list(c, strides, spatial, 1, "strides");
  Shape& out = c.out[0].shape;
  out = Shape{c.dims(0)[0], c.dims(0)[1]};
  const HostInts wanted = c.has(2) ? host_ints(c, 2) : HostInts{};
  if (c.has(2) && wanted.count >= 0 && wanted.count != static_cast<int64_t>(c.rank(0))) {
    c.fail(NEF_SHAPE_MISMATCH, "output_shape has one entry per dim of x");
  }
  for (size_t i = 0; i < spatial; ++i) {
    if (c.has(2)) {
      out.push(wanted.known ? host_size(c, 2, wanted.elements[i + 2]) : c.pool.unknown());
      continue;
    }
    const Dim reach = c.pool.mul(c.pool.sub(c.dims(0)[2 + i], 1), Dim::of(entry(strides, i, 1)));
    const int64_t cut = entry(pads, i, 0) + entry(pads, spatial + i, 0);
    out.push(c.pool.sub(c.pool.add(reach, Dim::of(kernel[i])), Dim::of(cut)));
  }
}

void infer_deform_conv(InferContext& c) {
  require_rank_at_least(c, 0, 3);
  require_rank(c, 1, c.rank(0));
  require_rank(c, 2, c.rank(0));
  const std::span<const Dim> x = c.dims(0), w = c.dims(1);
  const size_t spatial = x.size() - 2;
  const auto dilations = c.attrs.ints(NEF_DEFORM_CONV_DILATIONS);
  const auto pads = c.attrs.ints(NEF_DEFORM_CONV_PADS);
  const auto strides = c.attrs.ints(NEF_DEFORM_CONV_STRIDES);
  const auto kernel = c.attrs.ints(NEF_DEFORM_CONV_KERNEL_SHAPE);
  check_list(c, dilations, spatial, 1, "dilations");
  check_list(c, pads, 2 * spatial, 0, "pads");
  check_list(c, strides, spatial, 1, "strides");
  check_list(c, kernel, spatial, 1, "kernel_shape");
  const int64_t groups = c.attrs.i(NEF_DEFORM_CONV_GROUP, 1);
  const int64_t offset_groups = c.attrs.i(NEF_DEFORM_CONV_OFFSET_GROUP, 1);
  if (groups < 1 || offset_groups < 1) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("group and offset_group must be positive, got ", groups, " and ", offset_groups));
  }
  const Dim group = Dim::of(groups), offsets = Dim::of(offset_groups);
  same_dim(c, x[1], c.pool.mul(w[1], group), "channels of x are not w's times group");
  divided(c, w[0], group, "output channels do not split into groups");
  divided(c, x[1], offsets, "channels do not split into offset groups");
  Dim kernel_size = 1;
  Shape& out = c.out[0].shape;
  out = Shape{x[0], w[0]};
  for (size_t i = 0; i < spatial; ++i) {
    if (is_expr(w[2 + i]) || w[2 + i].number() < 1) {
      c.fail(NEF_SHAPE_MISMATCH, cat("the kernel's size must be known and positive: ", c.shape(1)));
    }
    if (!kernel.empty()) same_dim(c, w[2 + i], Dim::of(kernel[i]), "kernel_shape and w differ");
    kernel_size = c.pool.mul(kernel_size, w[2 + i]);
    out.push(places(c, x[2 + i], w[2 + i], entry(strides, i, 1), entry(dilations, i, 1),
                    entry(pads, i, 0), entry(pads, spatial + i, 0)));
  }
  const auto check_map = [&](size_t input, Dim channels) {
    require_rank(c, input, c.rank(0));
    same_dim(c, c.dims(input)[0], x[0], "batches differ");
    same_dim(c, c.dims(input)[1], channels, "offset and mask have entries per kernel position");
    for (size_t i = 0; i < spatial; ++i) {
      same_dim(c, c.dims(input)[2 + i], out[2 + i], "offset and mask have the size of the result");
    }
  };
  const Dim per_group = c.pool.mul(kernel_size, offsets);
  check_map(2, c.pool.mul(per_group, Dim::of(spatial)));
  if (c.has(3)) require_vector(c, 3, w[0], "the bias has one element per output channel");
  if (c.has(4)) check_map(4, per_group);
}

void infer_col2im(InferContext& c) {
  require_rank(c, 0, 3);
  const HostInts image = host_ints_sized(c, 1), block = host_ints_sized(c, 2);
  if (image.count != block.count || image.count < 1) {
    c.fail(NEF_SHAPE_MISMATCH, "image_shape and block_shape have one entry per spatial axis");
  }
  const auto spatial = static_cast<size_t>(image.count);
  const auto dilations = c.attrs.ints(NEF_COL2IM_DILATIONS);
  const auto pads = c.attrs.ints(NEF_COL2IM_PADS);
  const auto strides = c.attrs.ints(NEF_COL2IM_STRIDES);
  check_list(c, dilations, spatial, 1, "dilations");
  check_list(c, pads, 2 * spatial, 0, "pads");
  check_list(c, strides, spatial, 1, "strides");
  Shape& out = c.out[0].shape;
  out = Shape{c.dims(0)[0]};
  if (!image.known || !block.known) {
    for (size_t i = 0; i < spatial + 1; ++i) out.push(c.pool.unknown());
    return;
  }
  Dim block_size = 1, blocks = 1;
  for (size_t i = 0; i < spatial; ++i) {
    const Dim k = size_attr(c, host_number(c, 2, block.elements[i]), "block_shape");
    block_size = c.pool.mul(block_size, k);
    blocks = c.pool.mul(
        blocks, places(c, host_size(c, 1, image.elements[i]), k, entry(strides, i, 1),
                       entry(dilations, i, 1), entry(pads, i, 0), entry(pads, spatial + i, 0)));
  }
  same_dim(c, c.dims(0)[2], blocks, "the image has another number of blocks");
  out.push(divided(c, c.dims(0)[1], block_size, "channels do not split into blocks"));
  for (Dim d : image.elements) out.push(d);
}

void infer_center_crop_pad(InferContext& c) {
  const auto axes = c.attrs.ints(NEF_CENTER_CROP_PAD_AXES);
  axis_mask(c, axes, c.rank(0));
  const size_t count = axes.empty() ? c.rank(0) : axes.size();
  const HostInts shape = host_ints(c, 1);
  if (shape.count >= 0 && shape.count != static_cast<int64_t>(count)) {
    c.fail(NEF_SHAPE_MISMATCH, cat("shape has ", shape.count, " entries for ", count, " axes"));
  }
  require_entries(c, 1, Dim::of(static_cast<int64_t>(count)), "one entry per axis is needed");
  c.out[0].shape.assign(c.dims(0));
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = axes.empty() ? i : normal_axis(c, axes[i], c.rank(0));
    c.out[0].shape.dims[axis] = shape.known ? host_size(c, 1, shape.elements[i]) : c.pool.unknown();
  }
}

}  // namespace nef::ir
