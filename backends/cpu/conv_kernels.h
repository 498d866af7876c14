// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Register-blocked sums of convolutions that read their input where it lies: element (k, j) of the
// input is x[offsets[k] + j], for a kernel position and channel k and an output column j.
namespace nef::cpu {

// Entries behind the offsets that are read but not used.
constexpr int64_t kOffsetSlack = 8;

// c[rows][columns] = bias + weights [k][rows] times the input. Only the columns whose bit in `keep`
// is set are stored, next to each other.
template <typename T>
struct ConvTile {
  const T* weights = nullptr;
  const T* x = nullptr;
  const int64_t* offsets = nullptr;
  int64_t k = 0;
  const T* bias = nullptr;  // null: none
  uint64_t keep = 0;
  T* c = nullptr;
  int64_t ldc = 0;
};

// Rows of a depthwise convolution, next to each other: several at a time share what they read.
template <typename T>
struct DepthwiseRows {
  const T* weights = nullptr;  // [tall][wide]
  const T* x = nullptr;
  const int64_t* offsets = nullptr;  // of the kernel positions in the first row of the kernel
  int64_t tall = 1, wide = 1;
  int64_t width = 0;  // from one row of x to the next, which the next row of the kernel reads
  int64_t rows = 0, columns = 0;
  T bias = 0;
  T* c = nullptr;
};

// Rows of a plane for the stage: dst[begin + i] = src[i * stride] for i < count, zeros before and
// up to `width`. A few vectors behind the last row are written too.
template <typename T>
struct StageRows {
  const T* src = nullptr;
  int64_t src_row = 0;  // from one row to the next
  int64_t stride = 1;
  int64_t rows = 0;
  int64_t begin = 0, count = 0, width = 0;
  T* dst = nullptr;
  T pad = 0;
};

// The same for the two phases of stride 2 at once: even elements of src to the first, odd ones to
// the second. Nothing behind the rows is written.
template <typename T>
struct StagePairs {
  const T* src = nullptr;
  int64_t src_row = 0, src_count = 0;  // from one row to the next, elements of a row
  int64_t rows = 0, width = 0;
  struct Phase {
    int64_t begin = 0, count = 0;
    T* dst = nullptr;
  } even, odd;
  T pad = 0;
};

template <typename T>
struct ConvOps {
  int64_t lanes;
  // One or two vectors of columns, as many rows as a panel of gemm.h has at most.
  void (*tile)(const ConvTile<T>& tile, int64_t rows, bool two_vectors);
  // One row of `columns`, with `keep` for each vector of them. Up to a vector of input behind is
  // read.
  void (*row)(const ConvTile<T>& tile, int64_t columns, const uint64_t* keep);
  // Four rows or more. Up to four vectors of input behind are read.
  void (*depthwise)(const DepthwiseRows<T>& rows);
  void (*stage)(const StageRows<T>& rows);
  void (*stage_pairs)(const StagePairs<T>& rows);
  void (*interleave)(const T* a, const T* b, int64_t n, T* y);  // a[0] b[0] a[1] b[1] ...
};
template <typename T>
const ConvOps<T>& conv_ops();

}  // namespace nef::cpu
