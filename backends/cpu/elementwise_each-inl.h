// SPDX-License-Identifier: Apache-2.0

// The loop of tile functions. Included once per target, inside a foreach_target unit and after
// <hwy/highway.h>.

// Per-target include guard.
#if defined(NEF_BACKENDS_CPU_ELEMENTWISE_EACH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEF_BACKENDS_CPU_ELEMENTWISE_EACH_INL_H_
#undef NEF_BACKENDS_CPU_ELEMENTWISE_EACH_INL_H_
#else
#define NEF_BACKENDS_CPU_ELEMENTWISE_EACH_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "backends/cpu/elementwise_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {

// Calls body(i) for each whole vector of the tile, from its first element on; elements have `size`
// bytes. Returns how many elements that were.
template <class Body>
HWY_INLINE size_t each_vector(const TileArgs& args, size_t lanes, size_t size, const Body& body) {
  size_t i = 0;
  if (args.ahead[0] == 0) {
    for (; i + lanes <= args.n; i += lanes) body(i);
    return i;
  }
  for (; i + lanes <= args.n; i += lanes) {
    for (uintptr_t ahead : args.ahead) {
      if (ahead != 0) hwy::Prefetch(reinterpret_cast<const char*>(ahead + i * size));
    }
    body(i);
  }
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
