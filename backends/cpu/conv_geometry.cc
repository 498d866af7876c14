// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_geometry.h"

#include <algorithm>

#include "backends/cpu/gemm_values.h"

namespace nef::cpu {

WindowAttrs WindowAttrs::read(const int64_t* attrs, unsigned auto_pad, unsigned pads,
                              unsigned strides, unsigned dilations) {
  WindowAttrs w;
  const std::string_view mode = attr_string(attrs, auto_pad);
  w.same_upper = mode == "SAME_UPPER";
  w.same_lower = mode == "SAME_LOWER";
  w.valid = mode == "VALID";
  w.pads = attr_ints(attrs, pads);
  w.strides = attr_ints(attrs, strides);
  w.dilations = attr_ints(attrs, dilations);
  return w;
}

namespace {

// auto_pad splits what the shapes call for; the odd element goes behind for SAME_UPPER.
void split_padding(int64_t total, bool upper, int64_t* begin, int64_t* end) {
  total = std::max<int64_t>(total, 0);
  *begin = upper ? total / 2 : total - total / 2;
  *end = total - *begin;
}

}  // namespace

Window make_window(const WindowAttrs& attrs, const int64_t* x_dims, const int64_t* y_dims,
                   int tensor_rank, const int64_t* kernel, bool transposed) {
  Window w;
  w.rank = tensor_rank - 2;
  const bool same = attrs.same_upper || attrs.same_lower;
  for (int d = 0; d < w.rank; ++d) {
    const auto i = static_cast<size_t>(d);
    w.in[d] = x_dims[d + 2];
    w.out[d] = y_dims[d + 2];
    w.kernel[d] = kernel[d];
    w.stride[d] = attrs.strides.empty() ? 1 : attrs.strides[i];
    w.dilation[d] = attrs.dilations.empty() ? 1 : attrs.dilations[i];
    w.begin[d] = w.end[d] = 0;
    const int64_t extent = (kernel[d] - 1) * w.dilation[d] + 1;
    if (transposed && (same || attrs.output_shape)) {
      const int64_t extra = attrs.output_padding.empty() ? 0 : attrs.output_padding[i];
      const int64_t full = (w.in[d] - 1) * w.stride[d] + extent + extra;
      split_padding(full - w.out[d], attrs.same_upper, &w.begin[d], &w.end[d]);
    } else if (same) {
      const int64_t span = (w.out[d] - 1) * w.stride[d] + extent;
      split_padding(span - w.in[d], attrs.same_upper, &w.begin[d], &w.end[d]);
    } else if (!attrs.valid && !attrs.pads.empty()) {
      w.begin[d] = attrs.pads[i];
      w.end[d] = attrs.pads[i + static_cast<size_t>(w.rank)];
    }
    w.in_count *= w.in[d];
    w.out_count *= w.out[d];
    w.kernel_count *= w.kernel[d];
  }
  return w;
}

}  // namespace nef::cpu
