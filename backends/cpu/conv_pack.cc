// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_pack.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/norm_rows.h"

namespace nef::cpu {
namespace {

constexpr int64_t kMaxPanel = 64;
constexpr int kMaxRuns = 5;

// Where the columns of a panel read for one kernel position: a few runs of neighbours (or of
// padding, -1), or else one by one.
struct Run {
  int64_t begin, count, offset;
};
struct PanelSource {
  int64_t offset[kMaxPanel];
  Run runs[kMaxRuns];
  int n_runs = 0;  // kMaxRuns + 1: too many
};

int64_t source_offset(const Window& w, bool transposed, const int64_t* out, const int64_t* k) {
  int64_t offset = 0;
  for (int d = 0; d < w.rank; ++d) {
    const int64_t i = transposed ? w.transposed_source(d, out[d], k[d]) : w.source(d, out[d], k[d]);
    if (i < 0 || i >= w.in[d]) return -1;
    offset = offset * w.in[d] + i;
  }
  return offset;
}

void find_sources(const Window& w, bool transposed, const int64_t (*positions)[NEF_MAX_RANK],
                  int64_t cols, const int64_t* k, PanelSource* s) {
  s->n_runs = 0;
  for (int64_t j = 0; j < cols; ++j) {
    s->offset[j] = source_offset(w, transposed, positions[j], k);
    if (s->n_runs > kMaxRuns) continue;
    if (s->n_runs > 0) {
      Run& run = s->runs[s->n_runs - 1];
      const int64_t next = run.offset < 0 ? -1 : run.offset + run.count;
      if (s->offset[j] == next) {
        ++run.count;
        continue;
      }
    }
    if (s->n_runs < kMaxRuns) s->runs[s->n_runs] = {j, 1, s->offset[j]};
    ++s->n_runs;
  }
}

// Copies n elements, mostly few.
template <typename T>
void copy_run(const T* src, int64_t n, T* dst) {
  constexpr int64_t kChunk = 32 / sizeof(T);  // of a fixed size, so that no call is made
  int64_t i = 0;
  for (; i + kChunk <= n; i += kChunk) std::memcpy(dst + i, src + i, 32);
  if (i == n) return;
  if (n >= kChunk) {  // the last chunk again overlaps the one before
    std::memcpy(dst + n - kChunk, src + n - kChunk, 32);
    return;
  }
  for (; i < n; ++i) dst[i] = src[i];
}

template <typename T>
void fill_row(const PanelSource& s, const T* x, int64_t cols, int64_t nr, T pad, T* dst) {
  if (s.n_runs <= kMaxRuns) {
    for (int r = 0; r < s.n_runs; ++r) {
      const Run& run = s.runs[r];
      if (run.offset < 0) {
        std::fill_n(dst + run.begin, run.count, pad);
      } else {
        copy_run(x + run.offset, run.count, dst + run.begin);
      }
    }
  } else {
    for (int64_t j = 0; j < cols; ++j) dst[j] = s.offset[j] < 0 ? pad : x[s.offset[j]];
  }
  std::fill(dst + cols, dst + nr, pad);
}

// Do all windows of these positions lie inside the input?
bool all_inside(const Window& w, const int64_t (*positions)[NEF_MAX_RANK], int64_t cols) {
  for (int d = 0; d < w.rank; ++d) {
    int64_t low = positions[0][d], high = low;
    for (int64_t j = 1; j < cols; ++j) {
      low = std::min(low, positions[j][d]);
      high = std::max(high, positions[j][d]);
    }
    if (w.source(d, low, 0) < 0 || w.source(d, high, w.kernel[d] - 1) >= w.in[d]) return false;
  }
  return true;
}

// How far the source of an inside window moves from kernel position 0 to `k`.
int64_t kernel_shift(const Window& w, const int64_t* k) {
  int64_t shift = 0;
  for (int d = 0; d < w.rank; ++d) shift = shift * w.in[d] + k[d] * w.dilation[d];
  return shift;
}

// Channel by channel: each is read in one go.
template <typename T>
void pack_pointwise(const Window& w, const T* x, int64_t channels, int64_t count, int64_t nr, T pad,
                    T* out) {
  for (int64_t c = 0; c < channels; ++c) {
    const T* src = x + c * w.in_count;
    T* dst = out + c * nr;
    for (int64_t p = 0; p < count; p += nr, dst += channels * nr) {
      const int64_t cols = std::min(nr, count - p);
      copy_run(src + p, cols, dst);
      std::fill(dst + cols, dst + nr, pad);
    }
  }
}

// Calls row(kernel position, sources, how far beyond them it reads) for all of the window.
template <typename Row>
void for_kernel(const Window& w, bool transposed, int64_t first, int64_t cols, const Row& row) {
  int64_t positions[kMaxPanel][NEF_MAX_RANK];
  for (int64_t j = 0; j < cols; ++j) unflatten(first + j, w.out, w.rank, positions[j]);
  const bool inside = !transposed && all_inside(w, positions, cols);
  PanelSource s;
  for (int64_t k = 0; k < w.kernel_count; ++k) {
    int64_t at[NEF_MAX_RANK];
    unflatten(k, w.kernel, w.rank, at);
    if (k == 0 || !inside) find_sources(w, transposed, positions, cols, at, &s);
    row(k, s, inside ? kernel_shift(w, at) : 0);
  }
}

}  // namespace

template <typename T>
void pack_positions(const Window& w, bool transposed, const T* x, int64_t channels, int64_t first,
                    int64_t count, int64_t nr, T* out, T pad) {
  if (channels == 0) return;  // x may be null then
  if (!transposed && w.pointwise()) {
    return pack_pointwise(w, x + first, channels, count, nr, pad, out);
  }
  const int64_t depth = channels * w.kernel_count;
  for (int64_t p = 0; p < count; p += nr, out += depth * nr) {
    const int64_t cols = std::min(nr, count - p);
    for_kernel(w, transposed, first + p, cols, [&](int64_t k, const PanelSource& s, int64_t shift) {
      for (int64_t c = 0; c < channels; ++c) {
        fill_row(s, x + shift + c * w.in_count, cols, nr, pad, out + (c * w.kernel_count + k) * nr);
      }
    });
  }
}

void pack_byte_panel(const AmxOps& ops, const Window& w, const uint8_t* x, int64_t channels,
                     int64_t first, int64_t cols, uint8_t pad, uint8_t* out) {
  if (channels == 0) return;  // x may be null then
  for_kernel(w, false, first, cols, [&](int64_t k, const PanelSource& s, int64_t shift) {
    const uint8_t* src = x + shift;
    uint8_t* dst = out + k * kAmxPanel;
    const int64_t row = w.kernel_count * kAmxPanel;
    if (s.n_runs <= ByteRuns::kMost) {
      ByteRuns runs;
      for (int r = 0; r < s.n_runs; ++r) {
        if (s.runs[r].offset >= 0) runs.add(s.runs[r].begin, s.runs[r].count, s.runs[r].offset);
      }
      return ops.gather_rows(src, w.in_count, channels, runs, pad, dst, row);
    }
    for (int64_t c = 0; c < channels; ++c, src += w.in_count, dst += row) {
      fill_row(s, src, cols, kAmxPanel, pad, dst);
    }
  });
}

namespace {

// Output columns whose source along the last axis lies inside the input.
struct Range {
  int64_t begin, end;
};
Range inside_range(const Window& w, int d, int64_t k) {
  const int64_t shift = k * w.dilation[d] - w.begin[d];
  const int64_t s = w.stride[d];
  const int64_t begin = shift >= 0 ? 0 : (-shift + s - 1) / s;
  const int64_t last = w.in[d] - 1 - shift;
  const int64_t end = last < 0 ? 0 : last / s + 1;
  return {std::min(begin, w.out[d]), std::clamp(end, begin, std::max(begin, w.out[d]))};
}

// y[j] += x[j * step] * scale
template <typename T>
void add_strided(const T* x, int64_t step, int64_t n, T scale, T* y) {
  const auto& ops = row_ops<T>();
  if (step == 1) return ops.add_scaled(x, n, scale, y);
  if (step != 2) {
    for (int64_t j = 0; j < n; ++j) y[j] += scale * x[j * step];
    return;
  }
  constexpr int64_t kChunk = 256;
  T even[kChunk];
  for (int64_t j = 0; j < n; j += kChunk) {
    const int64_t part = std::min(kChunk, n - j);
    ops.every_second(x + 2 * j, part, even);
    ops.add_scaled(even, part, scale, y + j);
  }
}

}  // namespace

template <typename T>
void convolve_plane(const Window& w, const T* x, const T* weights, T bias, T* y) {
  constexpr int64_t kKnown = 32;  // kernel positions whose range is worked out once
  const int last = w.rank - 1;
  const int64_t width = w.out[last];
  const int64_t rows = width == 0 ? 0 : w.out_count / width;
  Range ranges[kKnown];
  for (int64_t k = 0; k < std::min(kKnown, w.kernel[last]); ++k)
    ranges[k] = inside_range(w, last, k);
  std::fill_n(y, w.out_count, bias);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t out[NEF_MAX_RANK];
    unflatten(row, w.out, last, out);
    for (int64_t k = 0; k < w.kernel_count; ++k) {
      int64_t at[NEF_MAX_RANK];
      unflatten(k, w.kernel, w.rank, at);
      const int64_t base = w.flat_source(out, at, last);
      if (base < 0) continue;
      const Range range = at[last] < kKnown ? ranges[at[last]] : inside_range(w, last, at[last]);
      if (range.begin >= range.end) continue;
      const T* src = x + base * w.in[last] + w.source(last, range.begin, at[last]);
      T* dst = y + row * width + range.begin;
      const int64_t n = range.end - range.begin;
      add_strided(src, w.stride[last], n, weights[k], dst);
    }
  }
}

template void pack_positions<float>(const Window&, bool, const float*, int64_t, int64_t, int64_t,
                                    int64_t, float*, float);
template void pack_positions<double>(const Window&, bool, const double*, int64_t, int64_t, int64_t,
                                     int64_t, double*, double);
template void convolve_plane<float>(const Window&, const float*, const float*, float, float*);
template void convolve_plane<double>(const Window&, const double*, const double*, double, double*);

}  // namespace nef::cpu
