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
  const int64_t lines = ceil_div(h.phases() * w.phases() * phase() + behind, kLine);
  return (lines | 1) * kLine;
}

Stage::Range Stage::kernel_rows(int64_t row) const {
  const int64_t first = row * h.stride - h.begin;
  const int64_t begin = std::min(h.kernel, ceil_div(std::max<int64_t>(0, -first), h.dilation));
  const int64_t end = ceil_div(std::max<int64_t>(0, h.in - first), h.dilation);
  return {begin, std::clamp(end, begin, h.kernel)};
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

// Rows of one phase of the last axis; `x` is the first of them.
template <typename T>
void stage_one(const Stage& s, const T* x, int64_t phase, int64_t rows, T pad, T* dst) {
  const Inside cols = inside(s.w, phase, s.width);
  StageRows<T> r;
  r.src = x + cols.source;
  r.src_row = s.h.stride * s.w.in;
  r.stride = s.w.stride;
  r.rows = rows;
  r.begin = cols.begin;
  r.count = cols.end - cols.begin;
  r.width = s.width;
  r.dst = dst;
  r.pad = pad;
  conv_ops<T>().stage(r);
}

// Both phases of stride 2: one begins with the first element of a row, the other with the second.
template <typename T>
void stage_two(const Stage& s, const T* x, int64_t rows, T pad, T* dst) {
  StagePairs<T> r;
  r.src = x;
  r.src_row = s.h.stride * s.w.in;
  r.src_count = s.w.in;
  r.rows = rows;
  r.width = s.width;
  r.pad = pad;
  for (int64_t phase = 0; phase < 2; ++phase) {
    const Inside cols = inside(s.w, phase, s.width);
    auto& part = (phase + s.w.begin) % 2 == 0 ? r.even : r.odd;
    part = {cols.begin, cols.end - cols.begin, dst + phase * s.phase()};
  }
  conv_ops<T>().stage_pairs(r);
}

}  // namespace

template <typename T>
void stage_plane(const Stage& s, const T* x, int64_t first, int64_t count, T* out) {
  const int64_t phases = s.w.phases();
  for (int64_t ph = 0; ph < s.h.phases(); ++ph) {
    // Rows [above, below) of the stage lie in the input.
    const int64_t rows = count + s.h.reach();
    const int64_t before = std::max<int64_t>(0, s.h.begin - ph - first * s.h.stride);
    const int64_t behind = std::max<int64_t>(0, s.h.in + s.h.begin - ph - first * s.h.stride);
    const int64_t above = std::min(rows, ceil_div(before, s.h.stride));
    const int64_t below = std::clamp(ceil_div(behind, s.h.stride), above, rows);
    const T pad = static_cast<T>(s.pad);
    const T* src = x + ((first + above) * s.h.stride + ph - s.h.begin) * s.w.in;
    T* plane = out + ph * phases * s.phase();
    for (int64_t pw = 0; pw < phases; ++pw) {
      if (s.pad_rows) std::fill_n(plane + pw * s.phase(), above * s.width, pad);
    }
    if (s.w.stride == 2 && phases == 2) {
      stage_two(s, src, below - above, pad, plane + above * s.width);
    } else {
      for (int64_t pw = 0; pw < phases; ++pw) {
        stage_one(s, src, pw, below - above, pad, plane + pw * s.phase() + above * s.width);
      }
    }
    const int64_t outside = s.pad_rows ? (rows - below) * s.width : 0;
    for (int64_t pw = 0; pw < phases; ++pw) {
      std::fill_n(plane + pw * s.phase() + below * s.width, outside + s.behind, pad);
    }
  }
}

template void stage_plane<float>(const Stage&, const float*, int64_t, int64_t, float*);
template void stage_plane<double>(const Stage&, const double*, int64_t, int64_t, double*);

}  // namespace nef::cpu
