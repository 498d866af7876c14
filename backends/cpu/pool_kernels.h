// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::cpu {

// A stretch of an output row: the rows of the input under it become one line, which is then taken
// together along itself.
// `M` is what memory holds, T what it is taken together in.
template <typename T, typename M = T>
struct PoolRow {
  const M* x = nullptr;        // what the window reads of its first row that lies in the input
  int64_t step = 0, rows = 0;  // from one such row to the next, and how many there are
  int64_t lead = 0, count = 0, tail = 0;  // of the line: padding, elements of the input, padding
  T* line = nullptr;
  int64_t room = 0;  // elements of it: the line, and two vectors that are read behind its end
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t out = 0;
  M* y = nullptr;
};

template <typename T>
struct PoolOps {
  int64_t lanes;
  void (*largest)(const PoolRow<T>& row);  // NaN wins
  void (*sum)(const PoolRow<T>& row);
};
// T is float, double, int8_t or uint8_t.
template <typename T>
const PoolOps<T>& pool_ops();

// The norms of a window, taken in double so that no power overflows.
template <typename M>
struct NormPoolOps {
  void (*sum_abs)(const PoolRow<double, M>& row);
  void (*root_of_squares)(const PoolRow<double, M>& row);
};
// M is float or double.
template <typename M>
const NormPoolOps<M>& norm_pool_ops();

}  // namespace nef::cpu
