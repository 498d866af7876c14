// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Vector loops of Resize over pieces of lines.
namespace nef::cpu {

constexpr int64_t kResizeColumns = 256;  // most outputs of a piece, and a multiple of a group
constexpr int kResizeTaps = 4;           // most taps along a line that are taken in groups

// Outputs of a piece that read one window for each of their taps: as many as a vector has floats.
// Beyond the last output indices and weights are 0.
struct ResizeGroups {
  int taps = 0;
  int64_t count = 0;
  int64_t start[kResizeTaps][kResizeColumns];  // of the group's window
  bool near[kResizeTaps][kResizeColumns];      // two vectors from there on hold all it reads
  int32_t index[kResizeTaps][kResizeColumns];  // within the window
  double weight[kResizeTaps][kResizeColumns];
};

struct ResizeLineOps {
  int64_t lanes;  // of a group
  // Sums of weighted elements of x; whole groups are written.
  void (*sample)(const ResizeGroups& groups, const float* x, double* out);
  // The sum of weighted lines, plus `out` where `add`; whole groups of the first n.
  void (*blend)(const double* const* lines, const double* weights, int count, int64_t n, bool add,
                double* out);
};
const ResizeLineOps& resize_line_ops();

}  // namespace nef::cpu
