// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "backends/reference/call.h"

namespace nef::reference {

// The spatial geometry of a convolution or pooling: axis d of the result is axis d + 2.
struct Window {
  int rank = 0;
  int64_t kernel[NEF_MAX_RANK], stride[NEF_MAX_RANK], dilation[NEF_MAX_RANK];
  int64_t begin[NEF_MAX_RANK];  // padding before the first element
  int64_t end[NEF_MAX_RANK];    // padding after the last one, before ceil_mode adds more
};

struct WindowSlots {
  unsigned auto_pad, pads, strides, dilations;
};

// `kernel` has one size per spatial axis; paddings of auto_pad follow from both shapes.
inline Window make_window(const Call& c, const WindowSlots& slots, const int64_t* kernel,
                          const View& x, const View& y) {
  Window w;
  w.rank = x.rank - 2;
  const auto pads = c.attr_ints(slots.pads), strides = c.attr_ints(slots.strides);
  const auto dilations = c.attr_ints(slots.dilations);
  const std::string_view mode = c.attr_string(slots.auto_pad);
  for (int d = 0; d < w.rank; ++d) {
    const auto i = static_cast<size_t>(d);
    w.kernel[d] = kernel[d];
    w.stride[d] = strides.empty() ? 1 : strides[i];
    w.dilation[d] = dilations.empty() ? 1 : dilations[i];
    w.begin[d] = w.end[d] = 0;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t extent = (kernel[d] - 1) * w.dilation[d] + 1;
      const int64_t total =
          std::max<int64_t>((y.dims[d + 2] - 1) * w.stride[d] + extent - x.dims[d + 2], 0);
      w.begin[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.end[d] = total - w.begin[d];
    } else if (mode != "VALID" && !pads.empty()) {
      w.begin[d] = pads[i];
      w.end[d] = pads[i + static_cast<size_t>(w.rank)];
    }
  }
  return w;
}

// Calls f(input offset, kernel offset) for every kernel position of output position `at` that
// falls on the input. Offsets count spatial elements.
template <typename F>
void for_window(const Window& w, const Coords& at, const View& x, F f) {
  int64_t kernel_count = 1;
  for (int d = 0; d < w.rank; ++d) kernel_count *= w.kernel[d];
  Coords k(w.kernel, w.rank);
  for (int64_t n = 0; n < kernel_count; ++n, k.next()) {
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < w.rank && inside; ++d) {
      const int64_t i = at.at[d] * w.stride[d] - w.begin[d] + k.at[d] * w.dilation[d];
      inside = i >= 0 && i < x.dims[d + 2];
      offset = offset * x.dims[d + 2] + i;
    }
    if (inside) f(offset, n);
  }
}

}  // namespace nef::reference
