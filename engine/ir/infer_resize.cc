// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

enum Input : size_t { kX, kRoi, kScales, kSizes };

// An empty optional tensor counts as absent.
bool given(const InferContext& c, size_t input) {
  return c.has(input) && !(c.rank(input) == 1 && c.dims(input)[0] == 0);
}

// Which axes the entries of roi, scales and sizes stand for.
struct Axes {
  size_t count = 0;
  size_t axis[NEF_MAX_RANK];
};

Axes read_axes(const InferContext& c) {
  Axes a;
  const std::span<const int64_t> given_axes = c.attrs.ints(NEF_RESIZE_AXES);
  if (given_axes.empty()) {
    a.count = c.rank(kX);
    for (size_t i = 0; i < a.count; ++i) a.axis[i] = i;
    return a;
  }
  axis_mask(c, given_axes, c.rank(kX));
  a.count = given_axes.size();
  for (size_t i = 0; i < a.count; ++i) a.axis[i] = normal_axis(c, given_axes[i], c.rank(kX));
  return a;
}

void require_entries(const InferContext& c, size_t input, size_t count) {
  require_vector(c, input, Dim::of(count), "one entry per resized axis is needed");
}

// A size that was worked out in floats.
Dim whole_size(const InferContext& c, double n, Dim size, double scale) {
  if (n < 9e15) return Dim::of(static_cast<int64_t>(n));
  c.fail(NEF_LIMIT_EXCEEDED,
         cat("axis of ", c.pool.str(size), " scaled by ", scale, " is too large"));
}

// floor(size * scale); a symbol is scaled exactly when scale is p / 2^k, else not known.
Dim scaled(const InferContext& c, Dim size, float scale) {
  if (!(scale > 0) || std::isinf(scale)) {
    c.fail(NEF_INVALID_ARGUMENT, cat("a scale must be positive and finite, got ", scale));
  }
  if (!is_expr(size)) {
    const float out = std::floor(static_cast<float>(size.number()) * scale);
    return whole_size(c, out, size, scale);
  }
  for (int64_t q = 1; q <= 1024; q *= 2) {
    const double p = double{scale} * static_cast<double>(q);
    if (p != std::floor(p) || p > INT32_MAX) continue;
    return c.pool.floordiv(c.pool.mul(size, Dim::of(static_cast<int64_t>(p))), Dim::of(q));
  }
  return c.pool.unknown();
}

void resize_by_scales(InferContext& c, const Axes& axes) {
  require_entries(c, kScales, axes.count);
  double scales[NEF_MAX_RANK], roi[2 * NEF_MAX_RANK];
  const bool known = host_floats(c, kScales, axes.count, scales);
  const bool crop = c.attrs.s(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE) == "tf_crop_and_resize";
  const bool roi_known = crop && c.has(kRoi) && host_floats(c, kRoi, 2 * axes.count, roi);
  for (size_t k = 0; k < axes.count; ++k) {
    Dim& d = c.out[0].shape.dims[axes.axis[k]];
    if (!known || (crop && (!roi_known || is_expr(d)))) {
      d = c.pool.unknown();
      continue;
    }
    const float scale = static_cast<float>(scales[k]);
    if (!crop) {
      d = scaled(c, d, scale);
      continue;
    }
    const float part = static_cast<float>(roi[axes.count + k] - roi[k]);
    d = part > 0 ? scaled(c, d, part * scale) : 0;
  }
}

// One scale for all axes, so that the result is not larger or not smaller than sizes.
void keep_aspect_ratio(InferContext& c, const Axes& axes, std::span<const Dim> sizes,
                       bool not_larger) {
  Shape& out = c.out[0].shape;
  double scale = 0;
  bool known = true;
  for (size_t k = 0; k < axes.count; ++k) {
    const Dim d = out.dims[axes.axis[k]];
    known = known && !is_expr(d) && !is_expr(sizes[k]) && d.number() > 0;
    if (!known) break;
    const double s = static_cast<double>(sizes[k].number()) / static_cast<double>(d.number());
    scale = k == 0 ? s : not_larger ? std::min(scale, s) : std::max(scale, s);
  }
  for (size_t k = 0; k < axes.count; ++k) {
    Dim& d = out.dims[axes.axis[k]];
    d = known ? whole_size(c, std::floor(scale * static_cast<double>(d.number()) + 0.5), d, scale)
              : c.pool.unknown();
  }
}

void resize_to_sizes(InferContext& c, const Axes& axes) {
  require_entries(c, kSizes, axes.count);
  const HostInts sizes = host_ints(c, kSizes);
  Shape& out = c.out[0].shape;
  for (size_t k = 0; k < axes.count; ++k) {
    if (!sizes.known) {
      out.dims[axes.axis[k]] = c.pool.unknown();
    } else if (c.pool.upper(sizes.elements[k]) < 0 ||
               (!is_expr(sizes.elements[k]) && sizes.elements[k].number() > INT64_C(1) << 53)) {
      c.fail(NEF_INVALID_ARGUMENT, cat("a size is out of range: ", c.pool.str(sizes.elements[k])));
    }
  }
  if (!sizes.known) return;
  const std::string_view policy = c.attrs.s(NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY);
  if (policy == "not_larger" || policy == "not_smaller") {
    return keep_aspect_ratio(c, axes, sizes.elements, policy == "not_larger");
  }
  for (size_t k = 0; k < axes.count; ++k) out.dims[axes.axis[k]] = sizes.elements[k];
}

}  // namespace

void infer_resize(InferContext& c) {
  require_rank_at_least(c, kX, 1);
  const bool scales = given(c, kScales), sizes = given(c, kSizes);
  if (scales == sizes) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("give exactly one of scales and sizes, got ", scales ? "both" : "neither"));
  }
  const Axes axes = read_axes(c);
  if (given(c, kRoi)) require_entries(c, kRoi, 2 * axes.count);
  c.out[0].shape.assign(c.dims(kX));
  if (scales) resize_by_scales(c, axes);
  else resize_to_sizes(c, axes);
  for (size_t k = 0; k < axes.count; ++k) {
    const size_t i = axes.axis[k];
    const Dim d = c.out[0].shape.dims[i];
    if (c.dims(kX)[i] != 0 || is_expr(d) || d == 0) continue;
    c.fail(NEF_SHAPE_MISMATCH,
           cat("axis ", i, " of ", c.shape(kX), " is empty: nothing to sample"));
  }
}

}  // namespace nef::ir
