// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_rows.h"

// Walks a tensor line by line along one axis, whatever the axis, the dtype and the layout: the
// body always sees contiguous lines of float or double.
namespace nef::cpu {

// Element i of line (o, j) stands at (o * length + i) * inner + j.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;
  int64_t count() const { return outer * inner; }
};
inline Lines lines_along(const int64_t* dims, int rank, int64_t axis) {
  Lines lines;
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  for (int i = 0; i < at; ++i) lines.outer *= dims[i];
  if (at < rank) lines.length = dims[at];
  for (int i = at + 1; i < rank; ++i) lines.inner *= dims[i];
  return lines;
}
// The last axes from `axis` on as one line.
inline Lines lines_from(const int64_t* dims, int rank, int64_t axis) {
  Lines lines;
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  for (int i = 0; i < at; ++i) lines.outer *= dims[i];
  for (int i = at; i < rank; ++i) lines.length *= dims[i];
  return lines;
}

// Apart from each other, or lines of a power of two would share one set of the cache.
constexpr int64_t kLineGap = 16;
constexpr int64_t kLineBundle = 16;  // neighbouring lines that are copied together
constexpr int64_t kLineWork = 16 * 1024;

// Is T the dtype itself, so that contiguous lines are used in place?
template <typename T>
bool is_native(nef_dtype dtype) {
  return dtype == (std::is_same_v<T, double> ? NEF_FLOAT64 : NEF_FLOAT32);
}

// Lines that go through scratch together: neighbours share cache lines when they are strided, and
// short contiguous ones are converted in one go.
inline int64_t bundle_lines(int64_t length, bool contiguous) {
  if (!contiguous) return kLineBundle;
  return std::clamp<int64_t>(4096 / std::max<int64_t>(1, length), 1, kLineBundle);
}

// `contiguous`: the lines are never strided.
template <typename T>
size_t lines_scratch(int64_t slots, int64_t length, bool contiguous) {
  const int64_t elements =
      contiguous ? std::max<int64_t>(length, 4096) : kLineBundle * (length + kLineGap);
  return static_cast<size_t>(slots * elements) * sizeof(T);
}

// Copies `lines` neighbouring lines into `out` and back: one after the other when contiguous,
// else kLineGap elements apart.
template <typename T>
void read_lines(nef_dtype dtype, const void* src, const Lines& l, int64_t first, int64_t lines,
                T* out) {
  if (l.inner == 1) {
    load_row(dtype, src, first * l.length, lines * l.length, out);
    return;
  }
  T run[kLineBundle];
  const int64_t base = first / l.inner * l.length * l.inner + first % l.inner;
  for (int64_t i = 0; i < l.length; ++i) {
    load_row(dtype, src, base + i * l.inner, lines, run);
    for (int64_t j = 0; j < lines; ++j) out[j * (l.length + kLineGap) + i] = run[j];
  }
}
template <typename T>
void write_lines(nef_dtype dtype, const T* in, const Lines& l, int64_t first, int64_t lines,
                 void* dst) {
  if (l.inner == 1) {
    store_row(dtype, in, lines * l.length, dst, first * l.length);
    return;
  }
  T run[kLineBundle];
  const int64_t base = first / l.inner * l.length * l.inner + first % l.inner;
  for (int64_t i = 0; i < l.length; ++i) {
    for (int64_t j = 0; j < lines; ++j) run[j] = in[j * (l.length + kLineGap) + i];
    store_row(dtype, run, lines, dst, base + i * l.inner);
  }
}

// body(x, y, line) turns line x into line y, which may be the same memory. `scratch` has
// lines_scratch() bytes.
template <typename T, typename Body>
void run_lines(const Lines& l, nef_dtype in, const void* src, nef_dtype out, void* dst,
               int64_t slots, void* scratch, const Body& body) {
  if (l.count() == 0 || l.length == 0) return;
  const int64_t batch = std::max<int64_t>(1, kLineWork / l.length);
  if (l.inner == 1 && is_native<T>(in) && is_native<T>(out)) {
    parallel_for(l.outer, batch, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        body(static_cast<const T*>(src) + i * l.length, static_cast<T*>(dst) + i * l.length, i);
      }
    });
    return;
  }
  // Bundles do not cross from one outer index to the next.
  const int64_t width = bundle_lines(l.length, l.inner == 1);
  const int64_t step = l.inner == 1 ? l.length : l.length + kLineGap;
  const int64_t span = l.inner == 1 ? l.outer : l.inner;
  const int64_t bundles = (span + width - 1) / width;
  const int64_t spans = l.count() / span;
  const int64_t per_task = std::max<int64_t>(1, batch / width);
  const int64_t total = spans * bundles;
  run_tasks(slots, (total + per_task - 1) / per_task, [&](int64_t slot, int64_t task) {
    T* buffer = static_cast<T*>(scratch) + slot * width * step;
    for (int64_t b = task * per_task; b < std::min(total, (task + 1) * per_task); ++b) {
      const int64_t start = b % bundles * width;
      const int64_t first = b / bundles * span + start;
      const int64_t lines = std::min(width, span - start);
      read_lines(in, src, l, first, lines, buffer);
      for (int64_t j = 0; j < lines; ++j) {
        body(buffer + j * step, buffer + j * step, first + j);
      }
      write_lines(out, buffer, l, first, lines, dst);
    }
  });
}

}  // namespace nef::cpu
