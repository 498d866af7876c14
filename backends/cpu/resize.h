// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nef::cpu {

enum class ResizeMethod { kNearest, kLinear, kCubic };
enum class ResizeGrid {
  kHalfPixel, kHalfPixelSymmetric, kPytorchHalfPixel, kAlignCorners, kAsymmetric, kCropAndResize,
};
enum class ResizeNearest { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResizeOptions {
  ResizeMethod method = ResizeMethod::kNearest;
  ResizeGrid grid = ResizeGrid::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75;
};

struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
  bool resized = false;
};

// For every output position along an axis the input positions it reads and their weights.
struct ResizeTaps {
  int64_t count = 1;     // per output position
  int64_t* positions;    // [out][count], inside the input
  double* weights;       // [out][count]
  bool* outside;         // [out]: extrapolated
};

// Entries that the tables of an axis may need; hangs on the sizes only.
int64_t resize_tap_room(const ResizeOptions& options, int64_t in, int64_t out);
// Entries per output position. More than fit in the room only if scale and sizes disagree.
int64_t resize_tap_count(const ResizeOptions& options, const ResizeAxis& axis);
void fill_resize_taps(const ResizeOptions& options, const ResizeAxis& axis, ResizeTaps* taps);

}  // namespace nef::cpu
