// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose, any number of spatial axes.
#include "backends/reference/window.h"

namespace nef::reference {
namespace {

void run_conv(const Call& c) {
  const View x = c.in(0), weights = c.in(1), y = c.out();
  if (y.count == 0) return;
  const Window w =
      make_window(c, {NEF_CONV_AUTO_PAD, NEF_CONV_PADS, NEF_CONV_STRIDES, NEF_CONV_DILATIONS},
                  weights.dims + 2, x, y);
  const int64_t groups = c.attr_int(NEF_CONV_GROUP, 1);
  const int64_t filters = y.dims[1], depth = weights.dims[1];  // depth: input channels per group
  const int64_t area = span_count(x, 2, x.rank), kernel = span_count(weights, 2, weights.rank);
  const int64_t positions = span_count(y, 2, y.rank);
  for (int64_t m = 0; m < y.dims[0] * filters; ++m) {
    const int64_t filter = m % filters, group = filter / (filters / groups);
    const int64_t first = (m / filters * x.dims[1] + group * depth) * area;
    const double bias = c.has(2) ? load_float(c.in(2), filter) : 0;
    Coords at(y.dims + 2, w.rank);
    for (int64_t p = 0; p < positions; ++p, at.next()) {
      double sum = bias;
      for_window(w, at, x, [&](int64_t offset, int64_t k) {
        for (int64_t ch = 0; ch < depth; ++ch) {
          sum += load_float(x, first + ch * area + offset) *
                 load_float(weights, (filter * depth + ch) * kernel + k);
        }
      });
      store_float(y, m * positions + p, sum);
    }
  }
}

// Geometry of ConvTranspose: `begin` is what is cut off in front of the full result. SAME modes
// and output_shape set it; then an odd total is cut more in front, but for SAME_UPPER.
Window transpose_window(const Call& c, const View& x, const View& weights, const View& y) {
  Window w = make_window(c,
                         {NEF_CONV_TRANSPOSE_AUTO_PAD, NEF_CONV_TRANSPOSE_PADS,
                          NEF_CONV_TRANSPOSE_STRIDES, NEF_CONV_TRANSPOSE_DILATIONS},
                         weights.dims + 2, x, y);
  const std::string_view mode = c.attr_string(NEF_CONV_TRANSPOSE_AUTO_PAD);
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && !c.has_attr(NEF_CONV_TRANSPOSE_OUTPUT_SHAPE)) return w;
  const auto extra = c.attr_ints(NEF_CONV_TRANSPOSE_OUTPUT_PADDING);
  for (int d = 0; d < w.rank; ++d) {
    const int64_t full = (x.dims[d + 2] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1 +
                         (extra.empty() ? 0 : extra[static_cast<size_t>(d)]);
    const int64_t total = std::max<int64_t>(full - y.dims[d + 2], 0);
    w.begin[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return w;
}

// The input position that kernel position k carries to output position o; -1 = none.
int64_t transposed_source(const Window& w, int d, int64_t o, int64_t k, int64_t n) {
  const int64_t i = o + w.begin[d] - k * w.dilation[d];
  if (i < 0 || i % w.stride[d] != 0) return -1;
  return i / w.stride[d] < n ? i / w.stride[d] : -1;
}

template <typename F>
void for_transposed_window(const Window& w, const Coords& at, const View& x, int64_t count, F f) {
  Coords k(w.kernel, w.rank);
  for (int64_t n = 0; n < count; ++n, k.next()) {
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < w.rank && inside; ++d) {
      const int64_t i = transposed_source(w, d, at.at[d], k.at[d], x.dims[d + 2]);
      inside = i >= 0;
      offset = offset * x.dims[d + 2] + i;
    }
    if (inside) f(offset, n);
  }
}

void run_conv_transpose(const Call& c) {
  const View x = c.in(0), weights = c.in(1), y = c.out();
  if (y.count == 0) return;
  const Window w = transpose_window(c, x, weights, y);
  const int64_t groups = c.attr_int(NEF_CONV_TRANSPOSE_GROUP, 1);
  const int64_t filters = y.dims[1], per_group = weights.dims[1];
  const int64_t depth = x.dims[1] / groups;
  const int64_t area = span_count(x, 2, x.rank), kernel = span_count(weights, 2, weights.rank);
  const int64_t positions = span_count(y, 2, y.rank);
  for (int64_t m = 0; m < y.dims[0] * filters; ++m) {
    const int64_t filter = m % filters, group = filter / per_group;
    const double bias = c.has(2) ? load_float(c.in(2), filter) : 0;
    Coords at(y.dims + 2, w.rank);
    for (int64_t p = 0; p < positions; ++p, at.next()) {
      double sum = bias;
      for_transposed_window(w, at, x, kernel, [&](int64_t offset, int64_t k) {
        for (int64_t ch = group * depth; ch < (group + 1) * depth; ++ch) {
          sum += load_float(x, (m / filters * x.dims[1] + ch) * area + offset) *
                 load_float(weights, (ch * per_group + filter % per_group) * kernel + k);
        }
      });
      store_float(y, m * positions + p, sum);
    }
  }
}

constexpr Kernel kKernels[] = {
    {NEF_OP_CONV, run_conv},
    {NEF_OP_CONV_TRANSPOSE, run_conv_transpose},
};

}  // namespace

std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace nef::reference
