// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/call.h"

namespace nef::cpu {

enum class ResizeMethod { kNearest, kLinear, kCubic };

struct ResizeOptions {
  ResizeMethod method;
  std::string_view coordinates, nearest;
  bool antialias, exclude_outside;
  double cubic_a, extrapolation;
};
ResizeOptions read_resize_options(const Call& c);

// One axis of a Resize: sizes, factor, and the part of the input that is cut out (roi).
struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
  bool resized = false;
};
// Fills one entry per axis of the input.
void read_resize_axes(const Call& c, ResizeAxis* axes);

// One weighted input position.
struct ResizeTap {
  int64_t offset;  // in elements
  double weight;
};

// Where the outputs along one axis read from: `per_output` taps each.
struct ResizeTaps {
  int64_t per_output = 1;
  ResizeTap* taps = nullptr;
  const ResizeTap* at(int64_t o) const { return taps + o * per_output; }
};

// An output that lies outside the input and is extrapolated: the offset of its first tap.
constexpr int64_t kResizeOutside = -1;

int64_t resize_taps_per_output(const ResizeOptions& options, const ResizeAxis& axis);
// Writes axis.out * per_output taps; `step` is the element step of the axis.
void fill_resize_taps(const ResizeOptions& options, const ResizeAxis& axis, int64_t step,
                      const ResizeTaps& taps);

// Leaves as many taps for each of n outputs as the one with most weights other than 0 has.
void drop_zero_taps(int64_t n, ResizeTaps& taps);

// Taps that an axis needs at most, whatever the scales are.
int64_t resize_taps_bound(int64_t in, int64_t out);

}  // namespace nef::cpu
