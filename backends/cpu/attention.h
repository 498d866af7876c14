// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::cpu {

// Rows of a tensor of heads, [batch, heads, length, size] or [batch, length, heads * size].
template <typename T>
struct HeadRows {
  T* data = nullptr;
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
  T* row(int64_t b, int64_t h, int64_t s) const {
    return data + b * batch_stride + h * head_stride + s * row_stride;
  }
};

struct HeadShape {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  bool packed = false;  // three dims

  HeadShape() = default;
  HeadShape(const int64_t* dims, int rank, int64_t n_heads) : batch(dims[0]), packed(rank == 3) {
    heads = packed ? n_heads : dims[1];
    length = packed ? dims[1] : dims[2];
    size = packed ? (n_heads == 0 ? 0 : dims[2] / n_heads) : dims[3];
  }
  template <typename T>
  HeadRows<T> rows(T* data) const {
    if (packed) return {data, length * heads * size, size, heads * size};
    return {data, heads * length * size, length * size, size};
  }
  int64_t count() const { return batch * heads * length * size; }
};

void register_rotary();

}  // namespace nef::cpu
