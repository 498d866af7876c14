// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/broadcast.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/dtypes.h"

namespace nef::cpu {
namespace {

// Element steps of one input along the axes of the output, 0 where it broadcasts.
void align_strides(const BroadcastInput& in, int out_rank, int64_t* by) {
  std::fill(by, by + out_rank, int64_t{0});
  int64_t step = 1;
  for (int d = in.rank - 1; d >= 0; --d) {
    by[out_rank - in.rank + d] = in.dims[d] == 1 ? 0 : step;
    step *= in.dims[d];
  }
}

template <class T>
void gather_runs(T* dst, const T* src, const BroadcastShape& shape, const BroadcastStrides& strides,
                 int64_t begin, int64_t n) {
  int64_t at[NEF_MAX_RANK];
  int64_t offset = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    at[d] = begin % shape.dims[d];
    begin /= shape.dims[d];
    offset += at[d] * strides.by[d];
  }
  const int last = shape.rank - 1;
  const int64_t inner = shape.dims[last], step = strides.by[last];
  while (n > 0) {
    const int64_t run = std::min(inner - at[last], n);
    if (step == 1 && run >= 16) {
      std::memcpy(dst, src + offset, static_cast<size_t>(run) * sizeof(T));
    } else {
      const T* from = src + offset;
      for (int64_t i = 0; i < run; ++i) dst[i] = from[i * step];
    }
    dst += run;
    n -= run;
    offset -= at[last] * step;
    at[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      offset += strides.by[d];
      if (++at[d] < shape.dims[d]) break;
      offset -= at[d] * strides.by[d];
      at[d] = 0;
    }
  }
}

}  // namespace

BroadcastShape merge_broadcast(const int64_t* out_dims, int out_rank, const BroadcastInput* inputs,
                               size_t n, BroadcastStrides* strides) {
  for (size_t i = 0; i < n; ++i) align_strides(inputs[i], out_rank, strides[i].by);
  BroadcastShape shape;
  shape.count = 1;
  for (int d = 0; d < out_rank; ++d) {
    shape.count *= out_dims[d];
    if (out_dims[d] == 1) continue;
    const int last = shape.rank - 1;
    // Dim d continues the one before it when one step there is a whole pass over d here.
    const bool merges = last >= 0 && std::all_of(strides, strides + n, [&](const auto& s) {
                          return s.by[last] == s.by[d] * out_dims[d];
                        });
    const int to = merges ? last : shape.rank++;
    shape.dims[to] = merges ? shape.dims[to] * out_dims[d] : out_dims[d];
    for (size_t i = 0; i < n; ++i) strides[i].by[to] = strides[i].by[d];
  }
  if (shape.rank == 0) {
    shape.rank = 1;
    shape.dims[0] = 1;
    for (size_t i = 0; i < n; ++i) strides[i].by[0] = 0;
  }
  return shape;
}

void gather_tile(void* dst, const void* src, size_t element_size, const BroadcastShape& shape,
                 const BroadcastStrides& strides, int64_t begin, int64_t n) {
  with_bits_type(element_size, [&]<class T>(T) {
    gather_runs(static_cast<T*>(dst), static_cast<const T*>(src), shape, strides, begin, n);
  });
}

void fill_tile(void* dst, const void* src, size_t element_size, int64_t n) {
  with_bits_type(element_size, [&]<class T>(T) {
    std::fill(static_cast<T*>(dst), static_cast<T*>(dst) + n, *static_cast<const T*>(src));
  });
}

}  // namespace nef::cpu
