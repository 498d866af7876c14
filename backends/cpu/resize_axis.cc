// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/resize_axis.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {
namespace {

// A float tensor of any float dtype, one element.
double float_at(const View& v, int64_t i) {
  double value = 0;
  with_element_type(v.dtype, [&]<class T>(T) {
    value = static_cast<double>(widen(reinterpret_cast<const T*>(v.data)[i]));
  });
  return value;
}

// The input coordinate of output position o. Lengths are scale times size, not rounded.
double source_coordinate(const ResizeAxis& a, int64_t o, std::string_view mode) {
  const auto position = static_cast<double>(o), last = static_cast<double>(a.in - 1);
  const double length = a.scale * static_cast<double>(a.in);
  const double half_pixel = (position + 0.5) / a.scale - 0.5;
  if (mode == "asymmetric") return position / a.scale;
  if (mode == "align_corners") return length == 1 ? 0 : position * last / (length - 1);
  if (mode == "pytorch_half_pixel") return length == 1 ? 0 : half_pixel;
  if (mode == "half_pixel_symmetric") {
    const double center = static_cast<double>(a.in) / 2;
    return center * (1 - static_cast<double>(a.out) / length) + half_pixel;
  }
  if (mode == "tf_half_pixel_for_nn") return half_pixel + 0.5;
  if (mode == "tf_crop_and_resize") {
    const double width = (a.roi_end - a.roi_start) * last;
    return a.roi_start * last + (length == 1 ? width / 2 : position * width / (length - 1));
  }
  return half_pixel;
}

int64_t nearest_position(double x, std::string_view mode) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

double cubic_weight(double x, double a) {
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double weight_at(const ResizeOptions& o, double distance) {
  const double x = std::fabs(distance);
  return o.method == ResizeMethod::kCubic ? cubic_weight(x, o.cubic_a) : std::max(0.0, 1 - x);
}

// How far the filter is stretched: more than its own reach only when antialiasing.
double squeeze_of(const ResizeOptions& o, const ResizeAxis& a) {
  return o.antialias ? std::min(a.scale, 1.0) : 1.0;
}

// Taps before the one at or just below the coordinate, as a negative number.
int64_t first_tap(const ResizeOptions& o, const ResizeAxis& a) {
  const double reach = o.method == ResizeMethod::kCubic ? 2 : 1;
  return static_cast<int64_t>(std::floor(-reach / squeeze_of(o, a))) + 1;
}

bool is_weighted(const ResizeOptions& o, const ResizeAxis& a) {
  return a.resized && o.method != ResizeMethod::kNearest;
}

void fill_weights(const ResizeOptions& o, const ResizeAxis& a, double x, int64_t step,
                  int64_t count, ResizeTap* taps) {
  // The coordinate lies in (base, base + 1]; taps are symmetric around that.
  const int64_t first = static_cast<int64_t>(std::ceil(x)) - 1 + first_tap(o, a);
  double sum = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t position = first + k;
    const bool outside = position < 0 || position >= a.in;
    const double distance = (static_cast<double>(position) - x) * squeeze_of(o, a);
    taps[k].offset = std::clamp<int64_t>(position, 0, a.in - 1) * step;
    taps[k].weight = o.exclude_outside && outside ? 0 : weight_at(o, distance);
    sum += taps[k].weight;
  }
  if (!o.antialias && !o.exclude_outside) return;
  for (int64_t k = 0; k < count; ++k) taps[k].weight /= sum;
}

}  // namespace

ResizeOptions read_resize_options(const Call& c) {
  const std::string_view mode = c.attr_string(NEF_RESIZE_MODE);
  return {mode == "cubic"    ? ResizeMethod::kCubic
          : mode == "linear" ? ResizeMethod::kLinear
                             : ResizeMethod::kNearest,
          c.attr_string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE),
          c.attr_string(NEF_RESIZE_NEAREST_MODE),
          c.attr_int(NEF_RESIZE_ANTIALIAS) != 0,
          c.attr_int(NEF_RESIZE_EXCLUDE_OUTSIDE) != 0,
          c.attr_float(NEF_RESIZE_CUBIC_COEFF_A, -0.75),
          c.attr_float(NEF_RESIZE_EXTRAPOLATION_VALUE)};
}

void read_resize_axes(const Call& c, ResizeAxis* axes) {
  const View x = c.in(0), y = c.out();
  const auto listed = c.attr_ints(NEF_RESIZE_AXES);
  const int n = listed.empty() ? x.rank : static_cast<int>(listed.size());
  const bool by_scale = c.has(2) && c.in(2).count > 0;
  const std::string_view policy = c.attr_string(NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY);
  const bool common = !by_scale && (policy == "not_larger" || policy == "not_smaller");
  for (int d = 0; d < x.rank; ++d) axes[d].in = axes[d].out = x.dims[d];
  double shared = 0;
  for (int i = 0; i < n; ++i) {
    const int d = listed.empty() ? i : normal_axis(listed[static_cast<size_t>(i)], x.rank);
    ResizeAxis& a = axes[d];
    a.resized = true;
    a.out = y.dims[d];
    a.scale = by_scale ? float_at(c.in(2), i)
                       : static_cast<double>(int_at(c.in(3), i)) / static_cast<double>(a.in);
    const bool smaller_wins = policy == "not_larger";
    if (i == 0) shared = a.scale;
    shared = smaller_wins ? std::min(shared, a.scale) : std::max(shared, a.scale);
    if (c.has(1) && c.in(1).count >= 2 * n) {
      a.roi_start = float_at(c.in(1), i);
      a.roi_end = float_at(c.in(1), n + i);
    }
  }
  for (int d = 0; common && d < x.rank; ++d) {
    if (axes[d].resized) axes[d].scale = shared;
  }
}

int64_t resize_taps_per_output(const ResizeOptions& options, const ResizeAxis& axis) {
  return is_weighted(options, axis) ? 2 - 2 * first_tap(options, axis) : 1;
}

void fill_resize_taps(const ResizeOptions& options, const ResizeAxis& axis, int64_t step,
                      const ResizeTaps& taps) {
  for (int64_t o = 0; o < axis.out; ++o) {
    ResizeTap* out = taps.taps + o * taps.per_output;
    out[0] = {o * step, 1};
    if (!axis.resized) continue;
    const double x = source_coordinate(axis, o, options.coordinates);
    const bool outside = options.coordinates == "tf_crop_and_resize" &&
                         (x < 0 || x > static_cast<double>(axis.in - 1));
    if (outside) {
      out[0].offset = kResizeOutside;
    } else if (is_weighted(options, axis)) {
      fill_weights(options, axis, x, step, taps.per_output, out);
    } else {
      const int64_t position = nearest_position(x, options.nearest);
      out[0].offset = std::clamp<int64_t>(position, 0, axis.in - 1) * step;
    }
  }
}

void drop_zero_taps(int64_t n, ResizeTaps& taps) {
  const int64_t before = taps.per_output;
  const auto is_outside = [](const ResizeTap* t) { return t->offset == kResizeOutside; };
  const auto counts = [](const ResizeTap& tap) { return tap.weight != 0; };
  int64_t most = 1;
  for (int64_t o = 0; o < n; ++o) {
    const ResizeTap* t = taps.at(o);
    if (!is_outside(t)) most = std::max<int64_t>(most, std::count_if(t, t + before, counts));
  }
  for (int64_t o = 0; o < n && most < before; ++o) {
    const ResizeTap *from = taps.at(o), first = *from;
    ResizeTap* to = taps.taps + o * most;
    int64_t kept = 0;
    for (int64_t k = 0; k < before && !is_outside(&first); ++k) {
      if (counts(from[k])) to[kept++] = from[k];  // never beyond what is read next
    }
    std::fill(to + kept, to + most, ResizeTap{first.offset, 0});
  }
  taps.per_output = most;
}

// Four taps without antialiasing; with it at most 2 + 4 / scale, and scale >= (out - 1/2) / in.
int64_t resize_taps_bound(int64_t in, int64_t out) { return 8 * in + 8 * out + 16; }

}  // namespace nef::cpu
