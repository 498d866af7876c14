// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/kernel.h"

// The spatial geometry of convolutions and pools: axis d of a window is axis d + 2 of a tensor.
namespace nef::gpu {

struct Window {
  int rank = 0;
  int64_t in[NEF_MAX_RANK], out[NEF_MAX_RANK];
  int64_t kernel[NEF_MAX_RANK], stride[NEF_MAX_RANK], dilation[NEF_MAX_RANK];
  int64_t begin[NEF_MAX_RANK];  // padding before the first element
  int64_t end[NEF_MAX_RANK];    // padding after the last one, before ceil_mode adds more

  int64_t in_count() const { return backends::element_count(in, rank); }
  int64_t out_count() const { return backends::element_count(out, rank); }
  int64_t kernel_count() const { return backends::element_count(kernel, rank); }
  // The fields that kWindow names.
  void add_to(Params& p) const {
    for (const int64_t* list : {in, out, kernel, stride, dilation, begin, end}) {
      p.add(list, rank, rank, 0);
    }
  }
};

// Fields of a kernel's parameters, and R spatial axes.
constexpr const char* kWindow =
    "i64 in[R]; i64 out[R]; i64 kernel[R]; i64 stride[R]; i64 dilation[R]; i64 begin[R]; i64 "
    "end[R];";

struct WindowSlots {
  unsigned auto_pad, pads, strides, dilations;
};

// `kernel` has one size per spatial axis; paddings of auto_pad follow from both shapes.
inline Window make_window(const Call& c, const WindowSlots& slots, const int64_t* kernel,
                          const Dims& x, const Dims& y) {
  Window w;
  w.rank = x.rank - 2;
  const auto pads = c.ints(slots.pads), strides = c.ints(slots.strides);
  const auto dilations = c.ints(slots.dilations);
  const std::string_view mode = c.string(slots.auto_pad);
  for (int d = 0; d < w.rank; ++d) {
    w.in[d] = x.at[d + 2];
    w.out[d] = y.at[d + 2];
    w.kernel[d] = kernel[d];
    w.stride[d] = Call::entry(strides, d, 1);
    w.dilation[d] = Call::entry(dilations, d, 1);
    w.begin[d] = w.end[d] = 0;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t extent = (kernel[d] - 1) * w.dilation[d] + 1;
      const int64_t total = std::max<int64_t>((w.out[d] - 1) * w.stride[d] + extent - w.in[d], 0);
      w.begin[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.end[d] = total - w.begin[d];
    } else if (mode != "VALID") {
      w.begin[d] = Call::entry(pads, d, 0);
      w.end[d] = Call::entry(pads, w.rank + d, 0);
    }
  }
  return w;
}

}  // namespace nef::gpu
