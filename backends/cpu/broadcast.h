// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstddef>
#include <cstdint>

// Broadcast walks: an output shape with its dims merged as far as every input allows, and per
// input the element step along each merged dim.
namespace nef::cpu {

struct BroadcastStrides {
  int64_t by[NEF_MAX_RANK];
};

struct BroadcastShape {
  int rank = 0;  // at least 1
  int64_t dims[NEF_MAX_RANK];
  int64_t count = 0;

  int64_t inner() const { return dims[rank - 1]; }
};

struct BroadcastInput {
  const int64_t* dims;
  int rank;
};

// Merges dims; fills strides[i] for each of the n inputs.
BroadcastShape merge_broadcast(const int64_t* out_dims, int out_rank, const BroadcastInput* inputs,
                               size_t n, BroadcastStrides* strides);

// Copies elements [begin, begin + n) of the walk over `shape` from `src` to the dense `dst`.
void gather_tile(void* dst, const void* src, size_t element_size, const BroadcastShape& shape,
                 const BroadcastStrides& strides, int64_t begin, int64_t n);

// Fills n elements with the one at `src`.
void fill_tile(void* dst, const void* src, size_t element_size, int64_t n);

}  // namespace nef::cpu
