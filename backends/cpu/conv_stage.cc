// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_stage.h"

#include <algorithm>

#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/gemm.h"

namespace nef::cpu {
namespace {

Stage::Axis make_axis(const Window& w, int d) {
  return {w.in[d], w.out[d], w.kernel[d], w.stride[d], w.dilation[d], w.begin[d]};
}

bool trivial(const Stage::Axis& a) {
  return a.in == 1 && a.out == 1 && a.kernel == 1 && a.begin == 0;
}

// Staged positions of a phase that hold input: [begin, end) of `size`, the first from `source`.
struct Inside {
  int64_t begin, end, source;
};
Inside inside(const Stage::Axis& a, int64_t phase, int64_t size) {
  const int64_t before = std::max<int64_t>(0, a.begin - phase);
  const int64_t behind = std::max<int64_t>(0, a.in + a.begin - phase);
  const int64_t begin = std::min(size, ceil_div(before, a.stride));
  const int64_t end = std::clamp(ceil_div(behind, a.stride), begin, size);
  return {begin, end, begin * a.stride + phase - a.begin};
}

}  // namespace

int64_t Stage::plane() const {
  // An odd number of cache lines: channels do not fall on the same places in the cache.
  constexpr int64_t kLine = 16;
  // One more for what the last row writes behind itself.
  const int64_t lines = ceil_div(h.phases() * w.phases() * phase() + behind, kLine) + 1;
  return (lines | 1) * kLine;
}

bool can_stage(const Window& window) {
  for (int d = 0; d < window.rank; ++d) {
    if (window.begin[d] < 0) return false;
  }
  return window.rank <= 2;
}

Stage make_stage(const Window& window) {
  Stage s;
  if (window.rank > 0) s.w = make_axis(window, window.rank - 1);
  if (window.rank > 1) s.h = make_axis(window, 0);
  if (trivial(s.w)) std::swap(s.w, s.h);
  const int64_t needed = s.w.out + s.w.reach();
  const int64_t real = std::min(needed, ceil_div(s.w.begin + s.w.in, s.w.stride));
  // Every phase of a row begins with at least so many zeros.
  const int64_t zeros = s.w.begin / s.w.stride;
  s.width = std::max({int64_t{1}, real, needed - zeros, s.w.out});
  s.behind = needed - std::min(needed, s.width);
  return s;
}

void stage_offsets(const Stage& s, int64_t channels, int64_t* out) {
  const int64_t plane = s.plane(), phase = s.phase(), phases = s.w.phases();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < s.h.kernel; ++i) {
      const int64_t y = i * s.h.dilation;
      const int64_t row = c * plane + y % s.h.stride * phases * phase + y / s.h.stride * s.width;
      for (int64_t j = 0; j < s.w.kernel; ++j) {
        const int64_t x = j * s.w.dilation;
        *out++ = row + x % s.w.stride * phase + x / s.w.stride;
      }
    }
  }
}

void stage_keep(const Stage& s, int64_t lanes, uint64_t* out) {
  const int64_t columns = s.columns(s.rows);
  int64_t col = 0;
  for (int64_t j = 0; j < columns; j += lanes) {
    uint64_t keep = 0;
    for (int64_t i = 0; i < lanes; ++i) {
      if (j + i < columns && col < s.w.out) keep |= uint64_t{1} << i;
      if (++col == s.width) col = 0;
    }
    *out++ = keep;
  }
}

namespace {

// Rows [above, below) of `rows` staged ones lie in the input, the first at row `source`.
struct Rows {
  int64_t rows, above, below, source;
};
Rows rows_of(const Stage& s, int64_t phase, int64_t first, int64_t count) {
  const int64_t rows = count + s.h.reach();
  const int64_t shift = s.h.begin - phase - first * s.h.stride;
  const int64_t above = std::min(rows, ceil_div(std::max<int64_t>(0, shift), s.h.stride));
  const int64_t end = ceil_div(std::max<int64_t>(0, s.h.in + shift), s.h.stride);
  return {rows, above, std::clamp(end, above, rows), above * s.h.stride - shift};
}

// One phase of every plane.
template <typename T>
void stage_phase(const Stage& s, const T* x, int64_t channels, const Rows& rows, int64_t phase,
                 T* out) {
  const Inside cols = inside(s.w, phase, s.width);
  const int64_t plane = s.plane(), outside = s.pad_rows ? (rows.rows - rows.below) * s.width : 0;
  StageRows<T> r;
  r.src_row = s.h.stride * s.w.in;
  r.stride = s.w.stride;
  r.rows = rows.below - rows.above;
  r.begin = cols.begin;
  r.count = cols.end - cols.begin;
  r.width = s.width;
  r.pad = static_cast<T>(s.pad);
  const auto& ops = conv_ops<T>();
  for (int64_t c = 0; c < channels; ++c, out += plane) {
    if (s.pad_rows) std::fill_n(out, rows.above * s.width, r.pad);
    r.src = x + (c * s.h.in + rows.source) * s.w.in + cols.source;
    r.dst = out + rows.above * s.width;
    ops.stage(r);
    std::fill_n(out + rows.below * s.width, outside + s.behind, r.pad);
  }
}

// Both phases of stride 2: one begins with the first element of a row, the other with the second.
template <typename T>
void stage_two_phases(const Stage& s, const T* x, int64_t channels, const Rows& rows, T* out) {
  const int64_t plane = s.plane(), outside = s.pad_rows ? (rows.rows - rows.below) * s.width : 0;
  StagePairs<T> r;
  r.src_row = s.h.stride * s.w.in;
  r.src_count = s.w.in;
  r.rows = rows.below - rows.above;
  r.width = s.width;
  r.pad = static_cast<T>(s.pad);
  const Inside cols[2] = {inside(s.w, 0, s.width), inside(s.w, 1, s.width)};
  const int even = s.w.begin % 2 == 0 ? 0 : 1;
  const auto& ops = conv_ops<T>();
  for (int64_t c = 0; c < channels; ++c, out += plane) {
    r.src = x + (c * s.h.in + rows.source) * s.w.in;
    for (int i : {0, 1}) {
      T* phase = out + i * s.phase();
      if (s.pad_rows) std::fill_n(phase, rows.above * s.width, r.pad);
      (i == even ? r.even : r.odd) = {cols[i].begin, cols[i].end - cols[i].begin,
                                      phase + rows.above * s.width};
    }
    ops.stage_pairs(r);
    for (int i : {0, 1}) {
      std::fill_n(out + i * s.phase() + rows.below * s.width, outside + s.behind, r.pad);
    }
  }
}

}  // namespace

template <typename T>
void stage_planes(const Stage& s, const T* x, int64_t channels, int64_t first, int64_t count,
                  T* out) {
  const int64_t phases = s.w.phases();
  for (int64_t ph = 0; ph < s.h.phases(); ++ph) {
    const Rows rows = rows_of(s, ph, first, count);
    T* part = out + ph * phases * s.phase();
    if (s.w.stride == 2 && phases == 2) {
      stage_two_phases(s, x, channels, rows, part);
      continue;
    }
    for (int64_t pw = 0; pw < phases; ++pw) {
      stage_phase(s, x, channels, rows, pw, part + pw * s.phase());
    }
  }
}

template void stage_planes<float>(const Stage&, const float*, int64_t, int64_t, int64_t, float*);
template void stage_planes<double>(const Stage&, const double*, int64_t, int64_t, int64_t, double*);

}  // namespace nef::cpu
