// SPDX-License-Identifier: Apache-2.0
// Ops whose output is made rather than moved: fills, ranges, shapes.
#include <algorithm>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

void zero(const View& y) {
  if (y.count > 0) std::memset(y.data, 0, static_cast<size_t>(y.count) * y.element_size());
}

void run_constant_of_shape(const Call& c) {
  const View y = c.out();
  if (!c.has(1)) return zero(y);
  for (int64_t i = 0; i < y.count; ++i) copy_element(y, i, c.in(1), 0);
}

void run_eye_like(const Call& c) {
  const View y = c.out();
  zero(y);
  const int64_t k = c.attr_int(NEF_EYE_LIKE_K);
  const int64_t rows = y.dims[0], columns = y.dims[1];
  if (k <= -rows || k >= columns) return;
  for (int64_t r = std::max<int64_t>(0, -k); r < rows && r + k < columns; ++r) {
    if (is_float(y.dtype)) store_float(y, r * columns + r + k, 1);
    else store_int(y, r * columns + r + k, 1);
  }
}

void run_range(const Call& c) {
  const View y = c.out();
  with_domain(y.dtype, [&]<typename D>(D) {
    const D start = load<D>(c.in(0), 0), delta = load<D>(c.in(2), 0);
    for (int64_t i = 0; i < y.count; ++i) {
      store<D>(y, i, add(start, multiply(static_cast<D>(i), delta)));
    }
  });
}

void run_shape(const Call& c) {
  const View x = c.in(0), y = c.out();
  int64_t start = c.attr_int(NEF_SHAPE_START);
  if (start < 0) start += x.rank;
  start = std::clamp<int64_t>(start, 0, x.rank);
  for (int64_t i = 0; i < y.count; ++i) store_int(y, i, x.dims[start + i]);
}

void run_size(const Call& c) { store_int(c.out(), 0, c.in(0).count); }

constexpr Kernel kKernels[] = {
    {NEF_OP_CONSTANT_OF_SHAPE, run_constant_of_shape},
    {NEF_OP_EYE_LIKE, run_eye_like},
    {NEF_OP_RANGE, run_range},
    {NEF_OP_SHAPE, run_shape},
    {NEF_OP_SIZE, run_size},
};

}  // namespace

std::span<const Kernel> generate_kernels() { return kKernels; }

}  // namespace nef::reference
