// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/dtypes.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/odometer.h"
#include "backends/cpu/transpose_kernels.h"

namespace nef::cpu {
namespace {

constexpr size_t kChunkBytes = 256 * 1024;  // about 30 us of copying
constexpr int64_t kStreamBytes = 4 << 20;   // transposes this large go past the caches
constexpr int64_t kBlockBytes = 1024;  // rows of a transpose's source are read so far at a time

// Drops dims of size 1 and merges neighbours that one step covers.
StridedView merge(const StridedView& view) {
  StridedView out;
  out.data = view.data;
  for (int d = 0; d < view.rank; ++d) {
    if (view.dims[d] == 1) continue;
    const int last = out.rank - 1;
    if (last >= 0 && out.steps[last] == view.steps[d] * view.dims[d]) {
      out.dims[last] *= view.dims[d];
      out.steps[last] = view.steps[d];
    } else {
      out.push(view.dims[d], view.steps[d]);
    }
  }
  if (out.rank == 0) out.push(1, 1);
  return out;
}

int64_t count_of(const StridedView& view) {
  int64_t n = 1;
  for (int d = 0; d < view.rank; ++d) n *= view.dims[d];
  return n;
}

template <class T>
void copy_row(T* dst, const T* src, int64_t n, int64_t step) {
  if (step == 1 && n >= 16) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
  } else if (step == 0) {
    std::fill(dst, dst + n, *src);
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i * step];
  }
}

// Row by row; a long row is cut into segments so that it spreads over threads.
template <class T>
void copy_by_rows(T* dst, const StridedView& view) {
  const int last = view.rank - 1;
  const int64_t n = view.dims[last], step = view.steps[last];
  const int64_t segment = std::min<int64_t>(n, kChunkBytes / sizeof(T));
  const int64_t segments = (n + segment - 1) / segment;
  const int64_t rows = count_of(view) / n;
  const auto* src = reinterpret_cast<const T*>(view.data);
  parallel_for(rows * segments, copy_grain(static_cast<size_t>(segment) * sizeof(T)),
               [&](int64_t begin, int64_t end) {
                 Odometer row(view, last, begin / segments);
                 for (int64_t u = begin; u < end; ++u) {
                   const int64_t from = u % segments * segment;
                   const int64_t m = std::min(segment, n - from);
                   copy_row(dst + u / segments * n + from, src + row.offset() + from * step, m,
                            step);
                   if (u % segments == segments - 1) row.next();
                 }
               });
}

// The dim that is contiguous in the source, when it is not the last: a transpose.
int transposed_dim(const StridedView& view) {
  const int last = view.rank - 1;
  if (view.steps[last] == 1 || view.steps[last] == 0 || view.dims[last] < 4) return -1;
  for (int d = last - 1; d >= 0; --d) {
    // Two or three elements are worth it where they lie together.
    if (view.steps[d] == 1 && (view.dims[d] >= 4 || view.dims[d] == view.steps[last])) return d;
  }
  return -1;
}

// Strips of the plane (dim `t`, last dim): a few cache lines of each row of the source.
void copy_transposed(char* dst, const StridedView& view, int t, size_t element_size) {
  const int last = view.rank - 1;
  const int64_t rows = view.dims[t], columns = view.dims[last];
  int64_t dense = 1, dense_steps[NEF_MAX_RANK];
  for (int d = last; d >= 0; --d) {
    dense_steps[d] = dense;
    dense *= view.dims[d];
  }
  // The other dims, each with its step in source and destination.
  StridedView outer, outer_dst;
  for (int d = 0; d < last; ++d) {
    if (d == t) continue;
    outer.push(view.dims[d], view.steps[d]);
    outer_dst.push(view.dims[d], dense_steps[d]);
  }
  const auto size = static_cast<int64_t>(element_size);
  const int64_t block = kBlockBytes / size, strips = (rows + block - 1) / block;
  // Few rows are cut along the columns, so that threads share them.
  const int64_t piece =
      strips > 1 ? columns
                 : std::min(columns, static_cast<int64_t>(kChunkBytes) / size / rows / 64 * 64);
  const int64_t pieces = (columns + piece - 1) / piece, units = strips * pieces;
  const size_t unit_bytes = static_cast<size_t>(std::min(block, rows) * piece * size);
  const TransposeFn transpose = find_transpose(element_size);
  const bool stream = dense * size >= kStreamBytes && reinterpret_cast<uintptr_t>(dst) % 16 == 0 &&
                      view.dims[last] * size % 16 == 0;
  parallel_for(count_of(outer) * units, copy_grain(unit_bytes), [&](int64_t begin, int64_t end) {
    Odometer from(outer, outer.rank, begin / units), to(outer_dst, outer.rank, begin / units);
    for (int64_t u = begin; u < end; ++u) {
      const int64_t row = u % units / pieces * block, column = u % pieces * piece;
      transpose(view.data + (from.offset() + row + column * view.steps[last]) * size,
                view.steps[last], dst + (to.offset() + row * dense_steps[t] + column) * size,
                dense_steps[t], std::min(block, rows - row), std::min(piece, columns - column),
                stream);
      if (u % units < units - 1) continue;
      from.next();
      to.next();
    }
  });
}

// Are the last dims those of two or three planes that become one line?
bool interleaves(const StridedView& view) {
  const int last = view.rank - 1;
  return last >= 1 && view.dims[last] <= 3 && view.steps[last - 1] == 1;
}

template <class T>
void copy_interleaved(T* dst, const StridedView& view) {
  const int last = view.rank - 1;
  const int64_t planes = view.dims[last], step = view.steps[last], length = view.dims[last - 1];
  const int64_t segment = std::min<int64_t>(length, kBlockBytes);
  const int64_t segments = (length + segment - 1) / segment;
  const int64_t lines = count_of(view) / (planes * length);
  const auto* src = reinterpret_cast<const T*>(view.data);
  const size_t bytes = static_cast<size_t>(segment * planes) * sizeof(T);
  const TransposeFn transpose = find_transpose(sizeof(T));
  parallel_for(lines * segments, copy_grain(bytes), [&](int64_t begin, int64_t end) {
    Odometer line(view, last - 1, begin / segments);
    for (int64_t u = begin; u < end; ++u) {
      const int64_t from = u % segments * segment, n = std::min(segment, length - from);
      T* to = dst + (u / segments * length + from) * planes;
      transpose(src + line.offset() + from, step, to, planes, n, planes, false);
      if (u % segments == segments - 1) line.next();
    }
  });
}

}  // namespace

int64_t copy_grain(size_t row_bytes) {
  return static_cast<int64_t>(kChunkBytes / std::max<size_t>(row_bytes, 1)) + 1;
}

void copy_view(char* dst, const StridedView& view, size_t element_size) {
  if (count_of(view) == 0) return;
  const StridedView merged = merge(view);
  const int t = transposed_dim(merged);
  if (t >= 0) return copy_transposed(dst, merged, t, element_size);
  with_bits_type(element_size, [&]<class T>(T) {
    if (interleaves(merged)) copy_interleaved(reinterpret_cast<T*>(dst), merged);
    else copy_by_rows(reinterpret_cast<T*>(dst), merged);
  });
}

void copy_bytes(char* dst, const char* src, size_t bytes) {
  if (bytes == 0 || dst == src) return;
  const auto chunks = static_cast<int64_t>((bytes + kChunkBytes - 1) / kChunkBytes);
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    const size_t from = static_cast<size_t>(begin) * kChunkBytes;
    const size_t to = std::min(static_cast<size_t>(end) * kChunkBytes, bytes);
    std::memcpy(dst + from, src + from, to - from);
  });
}

void copy_rows(char* dst, size_t dst_pitch, const char* src, size_t src_pitch, size_t row_bytes,
               int64_t rows) {
  if (row_bytes == 0 || rows == 0) return;
  if (rows == 1) return copy_bytes(dst, src, row_bytes);
  parallel_for(rows, copy_grain(row_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      std::memcpy(dst + static_cast<size_t>(r) * dst_pitch,
                  src + static_cast<size_t>(r) * src_pitch, row_bytes);
    }
  });
}

void fill(char* dst, const char* element, size_t element_size, int64_t count) {
  with_bits_type(element_size, [&]<class T>(T) {
    T value;
    std::memcpy(&value, element, sizeof(T));
    auto* out = reinterpret_cast<T*>(dst);
    parallel_for(count, kChunkBytes / sizeof(T),
                 [&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, value); });
  });
}

void fill_zero(char* dst, size_t bytes) {
  const char zero = 0;
  fill(dst, &zero, 1, static_cast<int64_t>(bytes));
}

}  // namespace nef::cpu
