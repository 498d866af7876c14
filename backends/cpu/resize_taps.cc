// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "backends/cpu/resize.h"

namespace nef::cpu {
namespace {

double reach_of(const ResizeOptions& o) { return o.method == ResizeMethod::kCubic ? 2 : 1; }

// When antialiasing a reduction, the filter is stretched by 1 / squeeze.
double squeeze_of(const ResizeOptions& o, const ResizeAxis& a) {
  return o.antialias ? std::min(a.scale, 1.0) : 1.0;
}

// Taps before the input position just below the coordinate, as a number <= 0.
double first_tap(const ResizeOptions& o, const ResizeAxis& a) {
  return std::floor(-reach_of(o) / squeeze_of(o, a)) + 1;
}

double input_coordinate(ResizeGrid grid, const ResizeAxis& a, int64_t out) {
  const double o = static_cast<double>(out), last = static_cast<double>(a.in - 1);
  const double length = a.scale * static_cast<double>(a.in);  // unrounded output length
  const double half_pixel = (o + 0.5) / a.scale - 0.5;
  switch (grid) {
    case ResizeGrid::kAsymmetric: return o / a.scale;
    case ResizeGrid::kAlignCorners: return length == 1 ? 0 : o * last / (length - 1);
    case ResizeGrid::kPytorchHalfPixel: return length == 1 ? 0 : half_pixel;
    case ResizeGrid::kHalfPixelSymmetric:
      return static_cast<double>(a.in) / 2 * (1 - static_cast<double>(a.out) / length) +
             half_pixel;
    case ResizeGrid::kCropAndResize: {
      const double width = (a.roi_end - a.roi_start) * last;
      return a.roi_start * last + (length == 1 ? width / 2 : o * width / (length - 1));
    }
    default: return half_pixel;
  }
}

// A coordinate as an integer, for any double (roi may be anything).
int64_t to_position(double x) {
  if (!(x > -1e15)) return static_cast<int64_t>(-1e15);
  return static_cast<int64_t>(std::min(x, 1e15));
}

int64_t nearest_position(ResizeNearest mode, double x) {
  switch (mode) {
    case ResizeNearest::kFloor: return to_position(std::floor(x));
    case ResizeNearest::kCeil: return to_position(std::ceil(x));
    case ResizeNearest::kRoundPreferCeil: return to_position(std::floor(x + 0.5));
    default: return to_position(std::ceil(x - 0.5));
  }
}

double filter(const ResizeOptions& o, double distance) {
  const double x = std::fabs(distance), a = o.cubic_a;
  if (o.method == ResizeMethod::kLinear) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

void fill_filtered(const ResizeOptions& o, const ResizeAxis& a, double x, int64_t count,
                   int64_t* positions, double* weights) {
  // The coordinate lies in (below, below + 1]; the taps are symmetric around that gap.
  const int64_t first = to_position(std::ceil(x)) - 1 + to_position(first_tap(o, a));
  const double squeeze = squeeze_of(o, a);
  double sum = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t position = first + k;
    const bool inside = position >= 0 && position < a.in;
    weights[k] = o.exclude_outside && !inside
                     ? 0
                     : filter(o, (static_cast<double>(position) - x) * squeeze);
    positions[k] = std::clamp<int64_t>(position, 0, a.in - 1);
    sum += weights[k];
  }
  if (!o.antialias && !o.exclude_outside) return;
  for (int64_t k = 0; k < count; ++k) weights[k] /= sum;
}

}  // namespace

int64_t resize_tap_room(const ResizeOptions& o, int64_t in, int64_t out) {
  if (o.method == ResizeMethod::kNearest) return out;
  const int64_t reach = static_cast<int64_t>(reach_of(o));
  // 1 / scale is below in / (out - 1/2), so a row of taps is below 2 reach in / (out - 1/2) + 2.
  return (o.antialias ? 4 * reach * in + 4 * out : 0) + (2 * reach + 2) * out + 16;
}

int64_t resize_tap_count(const ResizeOptions& o, const ResizeAxis& a) {
  if (o.method == ResizeMethod::kNearest || !a.resized) return 1;
  return 2 - 2 * to_position(first_tap(o, a));
}

void fill_resize_taps(const ResizeOptions& o, const ResizeAxis& a, ResizeTaps* taps) {
  for (int64_t i = 0; i < a.out; ++i) {
    int64_t* positions = taps->positions + i * taps->count;
    double* weights = taps->weights + i * taps->count;
    taps->outside[i] = false;
    if (!a.resized) {
      positions[0] = i;
      weights[0] = 1;
      continue;
    }
    const double x = input_coordinate(o.grid, a, i);
    taps->outside[i] = o.grid == ResizeGrid::kCropAndResize &&
                       !(x >= 0 && x <= static_cast<double>(a.in - 1));
    if (o.method == ResizeMethod::kNearest) {
      positions[0] = std::clamp<int64_t>(nearest_position(o.nearest, x), 0, a.in - 1);
      weights[0] = 1;
    } else {
      fill_filtered(o, a, x, taps->count, positions, weights);
    }
  }
}

}  // namespace nef::cpu
