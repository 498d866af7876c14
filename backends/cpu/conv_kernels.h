// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Register-blocked sums of convolutions that read their input where it lies: element (k, j) of the
// input is x[offsets[k] + j], for a kernel position and channel k and an output column j.
namespace nef::cpu {

// Entries behind the offsets that are read but not used.
constexpr int64_t kOffsetSlack = 8;

// c[rows][columns] = bias + weights [k][rows] times the input.
template <typename T>
struct ConvTile {
  const T* weights = nullptr;
  const T* x = nullptr;
  const int64_t* offsets = nullptr;
  int64_t k = 0;
  const T* bias = nullptr;  // null: none
  T* c = nullptr;
  int64_t ldc = 0;
};

template <typename T>
struct ConvOps {
  int64_t lanes;
  // One or two vectors of columns, as many rows as a panel of gemm.h has at most.
  void (*tile)(const ConvTile<T>& tile, int64_t rows, bool two_vectors);
  // y[n] = bias + weights [k] times the input; up to a vector of input behind n is read.
  void (*row)(const T* weights, const T* x, const int64_t* offsets, int64_t k, T bias, int64_t n,
              T* y);
};
template <typename T>
const ConvOps<T>& conv_ops();

}  // namespace nef::cpu
