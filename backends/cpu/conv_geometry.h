// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// Attributes of a sliding window, for convolutions and pools.
struct WindowAttrs {
  std::vector<int64_t> pads, strides, dilations;
  bool same_upper = false, same_lower = false, valid = false;
  std::vector<int64_t> output_padding;  // ConvTranspose
  bool output_shape = false;            // ConvTranspose: it sets the pads

  static WindowAttrs read(const int64_t* attrs, unsigned auto_pad, unsigned pads, unsigned strides,
                          unsigned dilations);
};

// A window over the spatial axes of one input and output.
struct Window {
  int rank = 0;
  int64_t in[NEF_MAX_RANK], out[NEF_MAX_RANK];
  int64_t kernel[NEF_MAX_RANK], stride[NEF_MAX_RANK], dilation[NEF_MAX_RANK];
  int64_t begin[NEF_MAX_RANK];  // padding in front; ConvTranspose: cut off in front
  int64_t end[NEF_MAX_RANK];    // padding behind, without what ceil_mode adds
  int64_t in_count = 1, out_count = 1, kernel_count = 1;

  // Does each output position read the input position of the same number, and no other?
  bool pointwise() const {
    bool same = kernel_count == 1;
    for (int d = 0; d < rank; ++d)
      same = same && stride[d] == 1 && begin[d] == 0 && in[d] == out[d];
    return same;
  }
  // Input position along axis d for an output and a kernel position; may be outside.
  int64_t source(int d, int64_t o, int64_t k) const {
    return o * stride[d] - begin[d] + k * dilation[d];
  }
  // Flat input position over the first `axes` axes; -1 outside.
  int64_t flat_source(const int64_t* o, const int64_t* k, int axes) const {
    int64_t flat = 0;
    for (int d = 0; d < axes; ++d) {
      const int64_t i = source(d, o[d], k[d]);
      if (i < 0 || i >= in[d]) return -1;
      flat = flat * in[d] + i;
    }
    return flat;
  }
  // The same as source for a transposed window; -1 where the kernel position brings nothing.
  int64_t transposed_source(int d, int64_t o, int64_t k) const {
    const int64_t i = o + begin[d] - k * dilation[d];
    return i < 0 || i % stride[d] != 0 ? -1 : i / stride[d];
  }
};

// Dims are those of whole tensors [N, C, spatial...]; `kernel` has one size per spatial axis.
Window make_window(const WindowAttrs& attrs, const int64_t* x_dims, const int64_t* y_dims,
                   int tensor_rank, const int64_t* kernel, bool transposed);

// Splits a flat position into coordinates.
inline void unflatten(int64_t flat, const int64_t* dims, int rank, int64_t* at) {
  for (int d = rank - 1; d >= 0; --d) {
    at[d] = flat % dims[d];
    flat /= dims[d];
  }
}

}  // namespace nef::cpu
