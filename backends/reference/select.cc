// SPDX-License-Identifier: Apache-2.0
// Clip and Where.
#include "backends/reference/call.h"

namespace nef::reference {
namespace {

void run_clip(const Call& c) {
  const View x = c.in(0), y = c.out();
  with_domain(x.dtype, [&]<typename D>(D) {
    const bool has_min = c.has(1), has_max = c.has(2);
    const D min = has_min ? load<D>(c.in(1), 0) : D{};
    const D max = has_max ? load<D>(c.in(2), 0) : D{};
    for (int64_t i = 0; i < y.count; ++i) {
      D v = load<D>(x, i);
      if (has_min) v = larger(v, min);
      if (has_max) v = smaller(v, max);
      store<D>(y, i, v);
    }
  });
}

void run_where(const Call& c) {
  const View condition = c.in(0), x = c.in(1), z = c.in(2), y = c.out();
  if (y.count == 0) return;
  const Strides sc = broadcast_strides(condition, y.rank);
  const Strides sx = broadcast_strides(x, y.rank), sz = broadcast_strides(z, y.rank);
  Coords at(y.dims, y.rank);
  for (int64_t i = 0; i < y.count; ++i, at.next()) {
    if (load_int(condition, sc.offset(at)) != 0) copy_element(y, i, x, sx.offset(at));
    else copy_element(y, i, z, sz.offset(at));
  }
}

constexpr Kernel kKernels[] = {{NEF_OP_CLIP, run_clip}, {NEF_OP_WHERE, run_where}};

}  // namespace

std::span<const Kernel> select_kernels() { return kKernels; }

}  // namespace nef::reference
