// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/order.h"

#include <algorithm>

#include "backends/cpu/call.h"
#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {
namespace {

constexpr int64_t kColumns = 256;  // lines side by side are walked together
constexpr int64_t kGrainElements = 16 * 1024;
constexpr int64_t kGroups = 16;  // TopK: groups of lines, each with its own scratch

// A tensor as [outer, n, inner] around one axis. Lines with inner > 1 lie side by side.
struct Lines {
  int64_t outer, n, inner;
  Lines(const View& x, int axis)
      : outer(x.span(0, axis)), n(x.dims[axis]), inner(x.span(axis + 1, x.rank)) {}
  int64_t first(int64_t line) const { return line / inner * n * inner + line % inner; }
  int64_t lines() const { return outer * inner; }
};

// f(outer index, first column, columns) over tiles of neighbouring lines.
template <class F>
void for_line_tiles(const Lines& lines, F f) {
  if (lines.lines() == 0) return;
  const int64_t width = std::min(lines.inner, kColumns);
  const int64_t tiles = (lines.inner + width - 1) / width;
  const int64_t grain = kGrainElements / std::max<int64_t>(lines.n * width, 1) + 1;
  parallel_for(lines.outer * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      const int64_t first = u % tiles * width;
      f(u / tiles, first, std::min(width, lines.inner - first));
    }
  });
}

// Whether v takes the place of best: the first NaN wins and then stays.
template <class C>
bool takes_over(C v, C best, bool largest, bool last) {
  if (is_nan(best)) return false;
  return is_nan(v) || (largest ? v > best : v < best) || (last && v == best);
}

template <class T>
void arg_tile(const T* x, int64_t* y, const Lines& lines, int64_t columns, bool largest,
              bool last) {
  Compute<T> best[kColumns];
  for (int64_t i = 0; i < columns; ++i) {
    best[i] = widen(x[i]);
    y[i] = 0;
  }
  for (int64_t k = 1; k < lines.n; ++k) {
    const T* row = x + k * lines.inner;
    for (int64_t i = 0; i < columns; ++i) {
      const Compute<T> v = widen(row[i]);
      if (!takes_over(v, best[i], largest, last)) continue;
      best[i] = v;
      y[i] = k;
    }
  }
}

void arg_extreme(const Call& c, bool largest, int axis, bool last) {
  const View x = c.in(0), y = c.out();
  const Lines lines(x, axis);
  if (lines.n == 0 && y.count > 0) {
    throw BackendError(NEF_OUT_OF_RANGE, "ArgMax/ArgMin: axis " + std::to_string(axis) +
                                             " has size 0, so there is no element to pick");
  }
  with_element_type(x.dtype, [&]<class T>(T) {
    const auto* in = reinterpret_cast<const T*>(x.data);
    auto* out = reinterpret_cast<int64_t*>(y.data);
    for_line_tiles(lines, [&](int64_t o, int64_t first, int64_t columns) {
      arg_tile(in + o * lines.n * lines.inner + first, out + o * lines.inner + first, lines,
               columns, largest, last);
    });
  });
}

void run_argmax(const Call& c) {
  arg_extreme(c, true, normal_axis(c.attr_int(NEF_ARGMAX_AXIS), c.in(0).rank),
              c.attr_int(NEF_ARGMAX_SELECT_LAST_INDEX) != 0);
}
void run_argmin(const Call& c) {
  arg_extreme(c, false, normal_axis(c.attr_int(NEF_ARGMIN_AXIS), c.in(0).rank),
              c.attr_int(NEF_ARGMIN_SELECT_LAST_INDEX) != 0);
}

// Floats are summed in double and rounded at each element.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<Compute<T>>, double, Compute<T>>;

template <class T>
void cumsum_tile(const T* x, T* y, const Lines& lines, int64_t columns, bool exclusive,
                 bool reverse) {
  Sum<T> sum[kColumns] = {};
  for (int64_t k = 0; k < lines.n; ++k) {
    const int64_t row = (reverse ? lines.n - 1 - k : k) * lines.inner;
    for (int64_t i = 0; i < columns; ++i) {
      const Sum<T> next = wrapping_add(sum[i], static_cast<Sum<T>>(widen(x[row + i])));
      y[row + i] = narrow<T>(static_cast<Compute<T>>(exclusive ? sum[i] : next));
      sum[i] = next;
    }
  }
}

void run_cumsum(const Call& c) {
  const View x = c.in(0), y = c.out();
  const auto axis = static_cast<int>(checked_index("CumSum: axis", int_at(c.in(1), 0), 0, x.rank));
  const Lines lines(x, axis);
  const bool exclusive = c.attr_int(NEF_CUMSUM_EXCLUSIVE) != 0;
  const bool reverse = c.attr_int(NEF_CUMSUM_REVERSE) != 0;
  with_element_type(x.dtype, [&]<class T>(T) {
    const auto* in = reinterpret_cast<const T*>(x.data);
    auto* out = reinterpret_cast<T*>(y.data);
    for_line_tiles(lines, [&](int64_t o, int64_t first, int64_t columns) {
      const int64_t at = o * lines.n * lines.inner + first;
      cumsum_tile(in + at, out + at, lines, columns, exclusive, reverse);
    });
  });
}

int topk_axis(const Call& c) { return normal_axis(c.attr_int(NEF_TOPK_AXIS, -1), c.in(0).rank); }
// Either output tells k; both are optional to the caller.
View topk_output(const Call& c) { return c.wants(0) ? c.out(0) : c.out(1); }

// Room for one value and its index per element of a line and group.
size_t topk_scratch(const Call& c) {
  return static_cast<size_t>(c.in(0).dims[topk_axis(c)] * kGroups) * 16;
}

template <class T>
class TopK {
 public:
  explicit TopK(const Call& c)
      : x_(reinterpret_cast<const T*>(c.in(0).data)),
        values_(c.wants(0) ? reinterpret_cast<T*>(c.out(0).data) : nullptr),
        indices_(c.wants(1) ? reinterpret_cast<int64_t*>(c.out(1).data) : nullptr),
        from_(c.in(0), topk_axis(c)),
        to_(topk_output(c), topk_axis(c)),
        largest_(c.attr_int(NEF_TOPK_LARGEST, 1) != 0),
        scratch_(c.scratch<Entry>()) {}

  void run() const {
    const int64_t lines = from_.lines();
    parallel_for(kGroups, std::max<int64_t>(1, kGroups * kGrainElements / (lines * from_.n + 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t g = begin; g < end; ++g) {
                     for (int64_t l = lines * g / kGroups; l < lines * (g + 1) / kGroups; ++l) {
                       pick(l, scratch_ + g * from_.n);
                     }
                   }
                 });
  }

 private:
  struct Entry {
    Compute<T> value;
    int64_t index;
  };
  static_assert(sizeof(Entry) <= 16);

  // NaN counts as larger than any number; of equal values the lower index comes first.
  bool before(const Entry& a, const Entry& b) const {
    if (is_nan(a.value) || is_nan(b.value)) {
      if (is_nan(a.value) != is_nan(b.value)) return is_nan(a.value) == largest_;
      return a.index < b.index;
    }
    if (a.value == b.value) return a.index < b.index;
    return largest_ ? a.value > b.value : a.value < b.value;
  }

  void pick(int64_t line, Entry* entries) const {
    const T* in = x_ + from_.first(line);
    for (int64_t i = 0; i < from_.n; ++i) entries[i] = {widen(in[i * from_.inner]), i};
    std::partial_sort(entries, entries + to_.n, entries + from_.n,
                      [this](const Entry& a, const Entry& b) { return before(a, b); });
    const int64_t out = to_.first(line);
    for (int64_t i = 0; i < to_.n; ++i) {
      const int64_t o = out + i * to_.inner;
      if (values_ != nullptr) values_[o] = in[entries[i].index * from_.inner];
      if (indices_ != nullptr) indices_[o] = entries[i].index;
    }
  }

  const T* x_;
  T* values_;
  int64_t* indices_;
  Lines from_, to_;
  bool largest_;
  Entry* scratch_;
};

void run_topk(const Call& c) {
  if (topk_output(c).count == 0) return;
  with_element_type(c.in(0).dtype, [&]<class T>(T) { TopK<T>(c).run(); });
}

}  // namespace

void register_order() {
  register_call(NEF_OP_ARGMAX, {"argmax", run_argmax});
  register_call(NEF_OP_ARGMIN, {"argmin", run_argmin});
  register_call(NEF_OP_CUMSUM, {"cumsum", run_cumsum});
  register_call(NEF_OP_TOPK, {"topk", run_topk, topk_scratch});
}

}  // namespace nef::cpu
