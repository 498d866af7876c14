// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, and the global pools.
#include "backends/reference/window.h"

namespace nef::reference {
namespace {

// f(plane, output index, coordinates) for every output of every channel of every sample.
template <typename F>
void for_outputs(const View& y, F f) {
  if (y.count == 0) return;
  const int64_t positions = span_count(y, 2, y.rank);
  for (int64_t plane = 0; plane < y.dims[0] * y.dims[1]; ++plane) {
    Coords at(y.dims + 2, y.rank - 2);
    for (int64_t p = 0; p < positions; ++p, at.next()) f(plane, plane * positions + p, at);
  }
}

// Kernel positions that fall on the input or its padding, but not beyond (ceil_mode).
int64_t padded_count(const Window& w, const Coords& at, const View& x) {
  int64_t count = 1;
  for (int d = 0; d < w.rank; ++d) {
    int64_t along = 0;
    for (int64_t k = 0; k < w.kernel[d]; ++k) {
      const int64_t i = at.at[d] * w.stride[d] - w.begin[d] + k * w.dilation[d];
      if (i < x.dims[d + 2] + w.end[d]) ++along;
    }
    count *= along;
  }
  return count;
}

void run_average_pool(const Call& c) {
  const View x = c.in(0), y = c.out();
  const Window w = make_window(c,
                               {NEF_AVERAGE_POOL_AUTO_PAD, NEF_AVERAGE_POOL_PADS,
                                NEF_AVERAGE_POOL_STRIDES, NEF_AVERAGE_POOL_DILATIONS},
                               c.attr_ints(NEF_AVERAGE_POOL_KERNEL_SHAPE).data(), x, y);
  const bool include_pad = c.attr_int(NEF_AVERAGE_POOL_COUNT_INCLUDE_PAD) != 0;
  const int64_t area = span_count(x, 2, x.rank);
  for_outputs(y, [&](int64_t plane, int64_t o, const Coords& at) {
    double sum = 0;
    int64_t count = 0;
    for_window(w, at, x, [&](int64_t offset, int64_t) {
      sum += load_float(x, plane * area + offset);
      ++count;
    });
    if (include_pad) count = padded_count(w, at, x);
    store_float(y, o, sum / static_cast<double>(count));
  });
}

// The flat position in x of a spatial offset, with the last two axes swapped if asked for.
int64_t flat_index(const View& x, int64_t plane, int64_t offset, bool column_major) {
  const int64_t area = span_count(x, 2, x.rank);
  if (!column_major || x.rank < 4) return plane * area + offset;
  const int64_t h = x.dims[x.rank - 2], w = x.dims[x.rank - 1];
  const int64_t slice = offset / (h * w), r = offset / w % h, column = offset % w;
  return plane * area + slice * h * w + column * h + r;
}

void run_max_pool(const Call& c) {
  const View x = c.in(0), y = c.wants(0) ? c.out(0) : c.out(1);
  const Window w = make_window(
      c, {NEF_MAX_POOL_AUTO_PAD, NEF_MAX_POOL_PADS, NEF_MAX_POOL_STRIDES, NEF_MAX_POOL_DILATIONS},
      c.attr_ints(NEF_MAX_POOL_KERNEL_SHAPE).data(), x, y);
  const bool column_major = c.attr_int(NEF_MAX_POOL_STORAGE_ORDER) != 0;
  const int64_t area = span_count(x, 2, x.rank);
  with_domain(x.dtype, [&]<typename D>(D) {
    for_outputs(y, [&](int64_t plane, int64_t o, const Coords& at) {
      D most = lowest<D>(x.dtype);
      int64_t best = -1;
      for_window(w, at, x, [&](int64_t offset, int64_t) {
        const D v = load<D>(x, plane * area + offset);
        if (is_nan(most) || !(best < 0 || v > most || is_nan(v))) return;
        most = v;
        best = offset;
      });
      if (c.wants(0)) store<D>(c.out(0), o, most);
      if (c.wants(1)) {
        store_int(c.out(1), o, best < 0 ? -1 : flat_index(x, plane, best, column_major));
      }
    });
  });
}

void run_global_average_pool(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t area = span_count(x, 2, x.rank);
  for (int64_t o = 0; o < y.count; ++o) {
    double sum = 0;
    for (int64_t i = 0; i < area; ++i) sum += load_float(x, o * area + i);
    store_float(y, o, sum / static_cast<double>(area));
  }
}

void run_global_max_pool(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t area = span_count(x, 2, x.rank);
  for (int64_t o = 0; o < y.count; ++o) {
    double most = lowest<double>(x.dtype);
    for (int64_t i = 0; i < area; ++i) most = larger(most, load_float(x, o * area + i));
    store_float(y, o, most);
  }
}

constexpr Kernel kKernels[] = {
    {NEF_OP_AVERAGE_POOL, run_average_pool},
    {NEF_OP_MAX_POOL, run_max_pool},
    {NEF_OP_GLOBAL_AVERAGE_POOL, run_global_average_pool},
    {NEF_OP_GLOBAL_MAX_POOL, run_global_max_pool},
};

}  // namespace

std::span<const Kernel> pool_kernels() { return kKernels; }

}  // namespace nef::reference
