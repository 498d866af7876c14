// SPDX-License-Identifier: Apache-2.0
// Ops along one axis: ArgMax, ArgMin, TopK, CumSum.
#include <algorithm>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// A tensor as [outer, n, inner] around one axis.
struct Lines {
  int64_t outer, n, inner;
  Lines(const View& x, int axis)
      : outer(span_count(x, 0, axis)), n(x.dims[axis]), inner(span_count(x, axis + 1, x.rank)) {}
  int64_t index(int64_t line, int64_t i) const {
    return (line / inner * n + i) * inner + line % inner;
  }
  int64_t lines() const { return outer * inner; }
};

// Does a stand before b? NaN counts as larger than any number.
template <typename D>
bool beats(D a, D b, bool largest) {
  if (is_nan(a) || is_nan(b)) return largest ? is_nan(a) && !is_nan(b) : is_nan(b) && !is_nan(a);
  return largest ? a > b : a < b;
}

void arg_extreme(const Call& c, bool largest, int axis, bool last) {
  const View x = c.in(0), y = c.out();
  const Lines lines(x, axis);
  if (lines.n == 0 && y.count > 0) {
    throw BackendError(NEF_OUT_OF_RANGE, "ArgMax/ArgMin: axis " + std::to_string(axis) +
                                             " has size 0, so there is no element to pick");
  }
  with_domain(x.dtype, [&]<typename D>(D) {
    for (int64_t l = 0; l < lines.lines(); ++l) {
      int64_t best = 0;
      D value = load<D>(x, lines.index(l, 0));
      for (int64_t i = 1; i < lines.n && !is_nan(value); ++i) {
        const D v = load<D>(x, lines.index(l, i));
        if (is_nan(v) || (largest ? v > value : v < value) || (last && v == value)) {
          best = i;
          value = v;
        }
      }
      store_int(y, l, best);
    }
  });
}

void run_argmax(const Call& c) {
  arg_extreme(c, true, c.axis(c.attr_int(NEF_ARGMAX_AXIS), c.in(0).rank),
              c.attr_int(NEF_ARGMAX_SELECT_LAST_INDEX) != 0);
}
void run_argmin(const Call& c) {
  arg_extreme(c, false, c.axis(c.attr_int(NEF_ARGMIN_AXIS), c.in(0).rank),
              c.attr_int(NEF_ARGMIN_SELECT_LAST_INDEX) != 0);
}

int topk_axis(const Call& c) { return c.axis(c.attr_int(NEF_TOPK_AXIS, -1), c.in(0).rank); }
// Either output tells k; both are optional to the caller.
View topk_output(const Call& c) { return c.wants(0) ? c.out(0) : c.out(1); }

size_t topk_scratch(const Call& c) {
  return static_cast<size_t>(c.in(0).dims[topk_axis(c)]) * sizeof(int64_t);
}

void run_topk(const Call& c) {
  const View x = c.in(0);
  const int axis = topk_axis(c);
  const Lines from(x, axis), to(topk_output(c), axis);
  if (to.n > from.n) throw BackendError(NEF_OUT_OF_RANGE, "TopK: k is more than the axis holds");
  const bool largest = c.attr_int(NEF_TOPK_LARGEST, 1) != 0;
  auto* order = c.scratch<int64_t>();
  with_domain(x.dtype, [&]<typename D>(D) {
    for (int64_t l = 0; l < from.lines(); ++l) {
      for (int64_t i = 0; i < from.n; ++i) order[i] = i;
      std::partial_sort(order, order + to.n, order + from.n, [&](int64_t a, int64_t b) {
        const D va = load<D>(x, from.index(l, a)), vb = load<D>(x, from.index(l, b));
        if (beats(va, vb, largest)) return true;
        return !beats(vb, va, largest) && a < b;
      });
      for (int64_t i = 0; i < to.n; ++i) {
        if (c.wants(0)) copy_element(c.out(0), to.index(l, i), x, from.index(l, order[i]));
        if (c.wants(1)) store_int(c.out(1), to.index(l, i), order[i]);
      }
    }
  });
}

void run_cumsum(const Call& c) {
  const View x = c.in(0), y = c.out();
  const auto axis =
      static_cast<int>(checked_index("CumSum: axis", load_int(c.in(1), 0), 0, x.rank));
  const Lines lines(x, axis);
  const bool exclusive = c.attr_int(NEF_CUMSUM_EXCLUSIVE) != 0;
  const bool reverse = c.attr_int(NEF_CUMSUM_REVERSE) != 0;
  with_domain(x.dtype, [&]<typename D>(D) {
    for (int64_t l = 0; l < lines.lines(); ++l) {
      D sum{0};
      for (int64_t k = 0; k < lines.n; ++k) {
        const int64_t i = lines.index(l, reverse ? lines.n - 1 - k : k);
        const D next = add(sum, load<D>(x, i));
        store<D>(y, i, exclusive ? sum : next);
        sum = next;
      }
    }
  });
}

constexpr Kernel kKernels[] = {
    {NEF_OP_ARGMAX, run_argmax},
    {NEF_OP_ARGMIN, run_argmin},
    {NEF_OP_TOPK, run_topk, topk_scratch},
    {NEF_OP_CUMSUM, run_cumsum},
};

}  // namespace

std::span<const Kernel> order_kernels() { return kKernels; }

}  // namespace nef::reference
