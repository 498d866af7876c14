// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_pack.h"

#include <algorithm>

#include "backends/cpu/norm_rows.h"

namespace nef::cpu {
namespace {

constexpr int64_t kMaxPanel = 64;

// Where the columns of a panel read for one kernel position.
struct PanelSource {
  int64_t offset[kMaxPanel];  // -1: padding
  bool contiguous;            // one run without padding
  bool inside;                // no padding
};

int64_t source_offset(const Window& w, bool transposed, const int64_t* out, const int64_t* k) {
  int64_t offset = 0;
  for (int d = 0; d < w.rank; ++d) {
    const int64_t i =
        transposed ? w.transposed_source(d, out[d], k[d]) : w.source(d, out[d], k[d]);
    if (i < 0 || i >= w.in[d]) return -1;
    offset = offset * w.in[d] + i;
  }
  return offset;
}

PanelSource find_sources(const Window& w, bool transposed,
                         const int64_t (*positions)[NEF_MAX_RANK], int64_t cols,
                         const int64_t* k) {
  PanelSource s;
  s.contiguous = s.inside = true;
  for (int64_t j = 0; j < cols; ++j) {
    s.offset[j] = source_offset(w, transposed, positions[j], k);
    if (s.offset[j] < 0) s.inside = s.contiguous = false;
    if (s.contiguous && s.offset[j] != s.offset[0] + j) s.contiguous = false;
  }
  return s;
}

template <typename T>
void fill_row(const PanelSource& s, const T* x, int64_t cols, int64_t nr, T* dst) {
  if (s.contiguous) {
    std::copy_n(x + s.offset[0], cols, dst);
  } else if (s.inside) {
    for (int64_t j = 0; j < cols; ++j) dst[j] = x[s.offset[j]];
  } else {
    for (int64_t j = 0; j < cols; ++j) dst[j] = s.offset[j] < 0 ? T(0) : x[s.offset[j]];
  }
  std::fill(dst + cols, dst + nr, T(0));
}

}  // namespace

template <typename T>
void pack_positions(const Window& w, bool transposed, const T* x, int64_t channels, int64_t first,
                    int64_t count, int64_t nr, T* out) {
  int64_t positions[kMaxPanel][NEF_MAX_RANK];
  const int64_t depth = channels * w.kernel_count;
  for (int64_t p = 0; p < count; p += nr, out += depth * nr) {
    const int64_t cols = std::min(nr, count - p);
    for (int64_t j = 0; j < cols; ++j) unflatten(first + p + j, w.out, w.rank, positions[j]);
    for (int64_t k = 0; k < w.kernel_count; ++k) {
      int64_t at[NEF_MAX_RANK];
      unflatten(k, w.kernel, w.rank, at);
      const PanelSource s = find_sources(w, transposed, positions, cols, at);
      for (int64_t c = 0; c < channels; ++c) {
        fill_row(s, x + c * w.in_count, cols, nr, out + (c * w.kernel_count + k) * nr);
      }
    }
  }
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

}  // namespace

template <typename T>
void convolve_plane(const Window& w, const T* x, const T* weights, T bias, T* y) {
  const auto& ops = row_ops<T>();
  const int last = w.rank - 1;
  const int64_t width = w.out[last];
  const int64_t rows = width == 0 ? 0 : w.out_count / width;
  std::fill_n(y, w.out_count, bias);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t out[NEF_MAX_RANK];
    unflatten(row, w.out, last, out);
    for (int64_t k = 0; k < w.kernel_count; ++k) {
      int64_t at[NEF_MAX_RANK];
      unflatten(k, w.kernel, w.rank, at);
      int64_t base = 0;
      bool inside = true;
      for (int d = 0; d < last && inside; ++d) {
        const int64_t i = w.source(d, out[d], at[d]);
        inside = i >= 0 && i < w.in[d];
        base = base * w.in[d] + i;
      }
      if (!inside) continue;
      const Range range = inside_range(w, last, at[last]);
      if (range.begin >= range.end) continue;
      const T* src = x + base * w.in[last] + w.source(last, range.begin, at[last]);
      T* dst = y + row * width + range.begin;
      const int64_t n = range.end - range.begin;
      if (w.stride[last] == 1) {
        ops.add_scaled(src, n, weights[k], dst);
      } else {
        for (int64_t j = 0; j < n; ++j) dst[j] += weights[k] * src[j * w.stride[last]];
      }
    }
  }
}

template void pack_positions<float>(const Window&, bool, const float*, int64_t, int64_t, int64_t,
                                    int64_t, float*);
template void pack_positions<double>(const Window&, bool, const double*, int64_t, int64_t,
                                     int64_t, int64_t, double*);
template void convolve_plane<float>(const Window&, const float*, const float*, float, float*);
template void convolve_plane<double>(const Window&, const double*, const double*, double, double*);

}  // namespace nef::cpu
