// SPDX-License-Identifier: Apache-2.0
// ScatterElements and ScatterND. Updates go one after the other, so that of equal indices the
// last one stays and sums come out the same every time.
#include <cstring>

#include "backends/cpu/call.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/index_tuples.h"
#include "backends/cpu/movement.h"
#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {
namespace {

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

Reduction reduction(std::string_view name) {
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMul;
  if (name == "max") return Reduction::kMax;
  return name == "min" ? Reduction::kMin : Reduction::kNone;
}

template <class C>
C combine(Reduction how, C old, C update) {
  switch (how) {
    case Reduction::kAdd: return wrapping_add(old, update);
    case Reduction::kMul: return wrapping_multiply(old, update);
    case Reduction::kMax: return larger(old, update);
    case Reduction::kMin: return smaller(old, update);
    default: return update;
  }
}

// put(o, u): update u goes to element o of y.
template <class Walk>
void scatter(const Call& c, Reduction how, Walk walk) {
  const View x = c.in(0), updates = c.in(2), y = c.out();
  copy_bytes(y.data, x.data, x.bytes());
  if (how == Reduction::kNone) {
    with_bits_type(y.element_size(), [&]<class T>(T) {
      auto* to = reinterpret_cast<T*>(y.data);
      const auto* from = reinterpret_cast<const T*>(updates.data);
      walk([=](int64_t o, int64_t u) { to[o] = from[u]; });
    });
    return;
  }
  const bool logical = y.dtype == NEF_BOOL;
  with_element_type(y.dtype, [&]<class T>(T) {
    auto* to = reinterpret_cast<T*>(y.data);
    const auto* from = reinterpret_cast<const T*>(updates.data);
    walk([=](int64_t o, int64_t u) {
      if constexpr (std::is_same_v<T, uint8_t>) {
        if (logical) {
          to[o] = combine<int>(how, to[o] != 0, from[u] != 0) != 0;
          return;
        }
      }
      to[o] = narrow<T>(combine(how, widen(to[o]), widen(from[u])));
    });
  });
}

void run_scatter_elements(const Call& c) {
  const View x = c.in(0), indices = c.in(1);
  const int axis = normal_axis(c.attr_int(NEF_SCATTER_ELEMENTS_AXIS), x.rank);
  IndexFault fault("ScatterElements", axis, x.rank == 0 ? 1 : x.dims[axis]);
  scatter(c, reduction(c.attr_string(NEF_SCATTER_ELEMENTS_REDUCTION)), [&](auto put) {
    if (indices.count == 0) return;
    const ElementIndices at("ScatterElements", x, indices, axis);
    at.visit(0, indices.count, fault, [&](int64_t k, int64_t i) { put(i, k); });
  });
  fault.rethrow();
}

void run_scatter_nd(const Call& c) {
  const View x = c.in(0);
  const IndexTuples tuples(x, c.in(1), 0);
  const int64_t count = tuples.count(), block = tuples.block();
  IndexFault fault("ScatterND", 0, 0);
  scatter(c, reduction(c.attr_string(NEF_SCATTER_ND_REDUCTION)), [&](auto put) {
    for (int64_t t = 0; t < count; ++t) {
      const int64_t base = tuples.offset(t, fault);
      if (base < 0) continue;
      for (int64_t k = 0; k < block; ++k) put(base + k, t * block + k);
    }
  });
  fault.rethrow();
}

}  // namespace

void register_scatter() {
  register_call(NEF_OP_SCATTER_ELEMENTS, {"scatter elements", run_scatter_elements, nullptr, true});
  register_call(NEF_OP_SCATTER_ND, {"scatter nd", run_scatter_nd, nullptr, true});
}

}  // namespace nef::cpu
