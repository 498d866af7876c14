// SPDX-License-Identifier: Apache-2.0
// Resize: each axis maps an output position to a few weighted input positions ("taps"); an
// output is the sum over all combinations.
#include <algorithm>
#include <cmath>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

enum class Method { kNearest, kLinear, kCubic };

struct Options {
  Method method;
  std::string_view coordinates, nearest;
  bool antialias, exclude_outside;
  double cubic_a, extrapolation;
};

Options read_options(const Call& c) {
  const std::string_view mode = c.attr_string(NEF_RESIZE_MODE);
  return {mode == "cubic"    ? Method::kCubic
          : mode == "linear" ? Method::kLinear
                             : Method::kNearest,
          c.attr_string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE),
          c.attr_string(NEF_RESIZE_NEAREST_MODE),
          c.attr_int(NEF_RESIZE_ANTIALIAS) != 0,
          c.attr_int(NEF_RESIZE_EXCLUDE_OUTSIDE) != 0,
          c.attr_float(NEF_RESIZE_CUBIC_COEFF_A, -0.75),
          c.attr_float(NEF_RESIZE_EXTRAPOLATION_VALUE)};
}

// One axis: its sizes, factor, and the part of the input that is cut out (roi).
struct Axis {
  int64_t in = 1, out = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
  bool resized = false;
};

// Fills the axes that are resized; scales may be the same for all (keep_aspect_ratio_policy).
void read_axes(const Call& c, Axis* axes) {
  const View x = c.in(0), y = c.out();
  const auto listed = c.attr_ints(NEF_RESIZE_AXES);
  const int n = listed.empty() ? x.rank : static_cast<int>(listed.size());
  const bool by_scale = c.has(2) && c.in(2).count > 0;
  const std::string_view policy = c.attr_string(NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY);
  const bool keep = !by_scale && (policy == "not_larger" || policy == "not_smaller");
  double common = 0;
  for (int d = 0; d < x.rank; ++d) axes[d].in = axes[d].out = x.dims[d];
  for (int i = 0; i < n; ++i) {
    const int d = listed.empty() ? i : c.axis(listed[static_cast<size_t>(i)], x.rank);
    Axis& a = axes[d];
    a.resized = true;
    a.out = y.dims[d];
    const double asked =
        by_scale ? load_float(c.in(2), i)
                 : static_cast<double>(load_int(c.in(3), i)) / static_cast<double>(a.in);
    a.scale = asked;
    common = i == 0                   ? asked
             : policy == "not_larger" ? std::min(common, asked)
                                      : std::max(common, asked);
    if (c.has(1) && c.in(1).count >= 2 * n) {
      a.roi_start = load_float(c.in(1), i);
      a.roi_end = load_float(c.in(1), n + i);
    }
  }
  for (int d = 0; d < x.rank && keep; ++d) {
    if (axes[d].resized) axes[d].scale = common;
  }
}

// The input coordinate of output position o. Lengths are products of scale and size, unrounded.
double source_coordinate(const Axis& a, int64_t o, std::string_view mode) {
  const auto position = static_cast<double>(o), last = static_cast<double>(a.in - 1);
  const double length = a.scale * static_cast<double>(a.in);
  const double half_pixel = (position + 0.5) / a.scale - 0.5;
  if (mode == "asymmetric") return position / a.scale;
  if (mode == "align_corners") return length == 1 ? 0 : position * last / (length - 1);
  if (mode == "pytorch_half_pixel") return length == 1 ? 0 : half_pixel;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(a.out) / length;
    return static_cast<double>(a.in) / 2 * (1 - adjustment) + half_pixel;
  }
  if (mode == "tf_half_pixel_for_nn") return half_pixel + 0.5;
  if (mode == "tf_crop_and_resize") {
    const double width = (a.roi_end - a.roi_start) * last;
    return a.roi_start * last + (length == 1 ? width / 2 : position * width / (length - 1));
  }
  return half_pixel;
}

double cubic_weight(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The taps of one output position along one axis.
struct Taps {
  int64_t first = 0, count = 1;  // unclamped input positions
  double offset = 0;             // of the first tap from the coordinate
  double squeeze = 1;            // distances shrink when antialiasing
  double norm = 1;
  bool outside = false;  // extrapolated (tf_crop_and_resize)
};

int64_t nearest_position(double x, std::string_view mode) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

double raw_weight(const Options& o, const Axis& a, const Taps& t, int64_t k) {
  if (o.method == Method::kNearest || !a.resized) return 1;
  const int64_t position = t.first + k;
  if (o.exclude_outside && (position < 0 || position >= a.in)) return 0;
  const double distance = (t.offset + static_cast<double>(k)) * t.squeeze;
  if (o.method == Method::kCubic) return cubic_weight(distance, o.cubic_a);
  return std::max(0.0, 1 - std::fabs(distance));
}

Taps find_taps(const Options& o, const Axis& a, int64_t out_position) {
  Taps t;
  t.first = out_position;
  if (!a.resized) return t;
  const double x = source_coordinate(a, out_position, o.coordinates);
  t.outside = o.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(a.in - 1));
  if (t.outside) return t;
  if (o.method == Method::kNearest) {
    t.first = nearest_position(x, o.nearest);
    return t;
  }
  const double reach = o.method == Method::kCubic ? 2 : 1;
  if (o.antialias) t.squeeze = std::min(a.scale, 1.0);
  const auto before = static_cast<int64_t>(std::floor(-reach / t.squeeze)) + 1;
  // The coordinate lies in (base, base + 1]; taps are symmetric around that.
  const auto base = static_cast<int64_t>(std::ceil(x)) - 1;
  t.first = base + before;
  t.count = 2 - 2 * before;
  t.offset = static_cast<double>(t.first) - x;
  if (o.antialias || o.exclude_outside) {
    double sum = 0;
    for (int64_t k = 0; k < t.count; ++k) sum += raw_weight(o, a, t, k);
    t.norm = sum;
  }
  return t;
}

// Sum over all tap combinations of one output.
double weighted_sum(const Options& o, const View& x, const Axis* axes, const Taps* taps,
                    const Strides& dense) {
  int64_t counts[NEF_MAX_RANK];
  for (int d = 0; d < x.rank; ++d) counts[d] = taps[d].count;
  Coords k(counts, x.rank);
  double sum = 0;
  do {
    double weight = 1;
    int64_t at = 0;
    for (int d = 0; d < x.rank; ++d) {
      weight *= raw_weight(o, axes[d], taps[d], k.at[d]) / taps[d].norm;
      at += std::clamp<int64_t>(taps[d].first + k.at[d], 0, axes[d].in - 1) * dense.by[d];
    }
    if (weight != 0) sum += weight * load_float(x, at);
  } while (k.next());
  return sum;
}

// Integers round to nearest even, then saturate.
void store_number(const View& y, int64_t i, double value) {
  if (is_float(y.dtype)) store_float(y, i, value);
  else store_int(y, i, saturate(std::nearbyint(value), y.dtype));
}

void run_resize(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  if (x.count == 0) throw BackendError(NEF_SHAPE_MISMATCH, "Resize: an empty tensor cannot grow");
  const Options options = read_options(c);
  Axis axes[NEF_MAX_RANK];
  read_axes(c, axes);
  const Strides dense = dense_strides(x.dims, x.rank);
  Coords at(y.dims, y.rank);
  for (int64_t o = 0; o < y.count; ++o, at.next()) {
    Taps taps[NEF_MAX_RANK];
    bool outside = false;
    int64_t nearest = 0;
    for (int d = 0; d < x.rank; ++d) {
      taps[d] = find_taps(options, axes[d], at.at[d]);
      outside = outside || taps[d].outside;
      nearest += std::clamp<int64_t>(taps[d].first, 0, axes[d].in - 1) * dense.by[d];
    }
    if (outside) store_number(y, o, options.extrapolation);
    else if (options.method == Method::kNearest) copy_element(y, o, x, nearest);
    else store_number(y, o, weighted_sum(options, x, axes, taps, dense));
  }
}

constexpr Kernel kKernels[] = {{NEF_OP_RESIZE, run_resize}};

}  // namespace

std::span<const Kernel> resize_kernels() { return kKernels; }

}  // namespace nef::reference
