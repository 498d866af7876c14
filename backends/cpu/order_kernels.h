// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <cstddef>
#include <cstdint>

// Running sums and places of extremes along one axis, on vectors.
namespace nef::cpu {

// `lines` blocks of `rows` rows of `columns` elements. Rows are `step` elements apart, and lines
// follow each other; a single column is contiguous (step is 1).
struct RunningSum {
  const void* x;
  void* y;
  size_t lines, rows, columns, step;
  // Floats are summed in double, integers wrap. The sums of each column that the first line starts
  // with; left behind are those of the last one. Other lines start with 0.
  void* sums;
  bool exclusive, reverse;
};
using RunningSumFn = void (*)(const RunningSum& run);
// For integers, float32 and float64.
RunningSumFn find_running_sum(nef_dtype dtype);

struct PlaceOps {
  // Where `value`, which is among the n elements, stands for the first or the last time; the first
  // NaN when it is one.
  size_t (*place)(const float* x, size_t n, float value, bool last);
  // Rows `first`, `first` + 1, ..., `step` elements apart, against the best elements of n columns
  // and the rows that they stand in. The first NaN stays; of equals the first stays, or the last.
  void (*largest)(float* best, int32_t* at, const float* x, size_t step, size_t rows, size_t n,
                  int32_t first, bool last);
  void (*smallest)(float* best, int32_t* at, const float* x, size_t step, size_t rows, size_t n,
                   int32_t first, bool last);
};
PlaceOps find_place_ops();

}  // namespace nef::cpu
