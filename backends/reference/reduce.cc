// SPDX-License-Identifier: Apache-2.0
// The Reduce family, in two nested walks: over the kept coordinates and, for each, over the
// reduced ones.
#include <cmath>

#include "backends/reference/call.h"
#include "backends/shared/axes.h"

namespace nef::reference {
namespace {

// The axes of the input, sorted into kept and reduced ones.
struct Plan {
  int n_kept = 0, n_reduced = 0;
  int64_t kept_dims[NEF_MAX_RANK], reduced_dims[NEF_MAX_RANK];
  Strides kept, reduced;
  int64_t reduced_count = 1;
};

Plan plan_reduction(const Call& c, unsigned noop_slot) {
  const View x = c.in(0);
  bool reduce[NEF_MAX_RANK] = {};
  const View axes = c.has(1) ? c.in(1) : View{};
  if (axes.count == 0) {
    const bool noop = c.attr_int(noop_slot) != 0;
    for (int d = 0; d < x.rank; ++d) reduce[d] = !noop;
  }
  for (int64_t i = 0; c.has(1) && i < axes.count; ++i) {
    backends::mark_axis("Reduce", checked_index("Reduce: axes", load_int(axes, i), 0, x.rank),
                        reduce);
  }
  Plan p;
  const Strides dense = dense_strides(x.dims, x.rank);
  for (int d = 0; d < x.rank; ++d) {
    if (reduce[d]) {
      p.reduced_dims[p.n_reduced] = x.dims[d];
      p.reduced.by[p.n_reduced++] = dense.by[d];
      p.reduced_count *= x.dims[d];
    } else {
      p.kept_dims[p.n_kept] = x.dims[d];
      p.kept.by[p.n_kept++] = dense.by[d];
    }
  }
  return p;
}

// f(out_index, visit): visit(g) calls g(input_index) for every element that goes into one output.
template <typename F>
void for_each_output(const Call& c, F f) {
  const Plan p = plan_reduction(c, NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES);
  const int64_t n = c.out().count;
  if (n == 0) return;
  Coords kept(p.kept_dims, p.n_kept);
  for (int64_t o = 0; o < n; ++o, kept.next()) {
    const int64_t base = p.kept.offset(kept);
    f(o, p.reduced_count, [&](auto g) {
      if (p.reduced_count == 0) return;
      Coords at(p.reduced_dims, p.n_reduced);
      do g(base + p.reduced.offset(at));
      while (at.next());
    });
  }
}
// The whole family has the same attributes, so one slot number serves all.
constexpr bool same_slot(int slot) { return slot == int{NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES}; }
static_assert(same_slot(NEF_REDUCE_L1_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_L2_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_MAX_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_MIN_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_MEAN_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_PROD_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_SUM_SQUARE_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_LOG_SUM_NOOP_WITH_EMPTY_AXES) &&
              same_slot(NEF_REDUCE_LOG_SUM_EXP_NOOP_WITH_EMPTY_AXES));

// Folds map(x) with `combine` from `start`, then stores finish(total, count).
template <typename Start, typename Map, typename Combine, typename Finish>
void fold(const Call& c, Start start, Map map, Combine combine, Finish finish) {
  const View x = c.in(0), y = c.out();
  with_domain(x.dtype, [&]<typename D>(D) {
    for_each_output(c, [&](int64_t o, int64_t count, auto visit) {
      D total = start(D{});
      visit([&](int64_t i) { total = combine(total, map(load<D>(x, i))); });
      store<D>(y, o, finish(total, count));
    });
  });
}

constexpr auto kZero = []<typename D>(D) { return D{0}; };
constexpr auto kOne = []<typename D>(D) { return D{1}; };
constexpr auto kSame = [](auto v) { return v; };
constexpr auto kTotal = [](auto total, int64_t) { return total; };
constexpr auto kAdd = [](auto a, auto b) { return add(a, b); };
constexpr auto kSquare = [](auto v) { return multiply(v, v); };
constexpr auto kAbsolute = []<typename D>(D v) {
  if constexpr (std::is_same_v<D, double>) return std::fabs(v);
  else return std::is_same_v<D, int64_t> && v < 0 ? subtract<D>(0, v) : v;
};

void run_sum(const Call& c) { fold(c, kZero, kSame, kAdd, kTotal); }
void run_l1(const Call& c) { fold(c, kZero, kAbsolute, kAdd, kTotal); }
void run_sum_square(const Call& c) { fold(c, kZero, kSquare, kAdd, kTotal); }
void run_prod(const Call& c) {
  fold(
      c, kOne, kSame, [](auto a, auto b) { return multiply(a, b); }, kTotal);
}
void run_log_sum(const Call& c) {
  fold(c, kZero, kSame, kAdd, []<typename D>(D total, int64_t) {
    return static_cast<D>(std::log(static_cast<double>(total)));
  });
}
void run_mean(const Call& c) {
  fold(c, kZero, kSame, kAdd, []<typename D>(D total, int64_t count) {
    if constexpr (std::is_same_v<D, double>) return total / static_cast<double>(count);
    else return count == 0 ? D{0} : static_cast<D>(total / static_cast<D>(count));
  });
}
void run_max(const Call& c) {
  const nef_dtype dtype = c.in(0).dtype;
  fold(
      c, [=]<typename D>(D) { return lowest<D>(dtype); }, kSame,
      [](auto a, auto b) { return larger(a, b); }, kTotal);
}
void run_min(const Call& c) {
  const nef_dtype dtype = c.in(0).dtype;
  fold(
      c, [=]<typename D>(D) { return highest<D>(dtype); }, kSame,
      [](auto a, auto b) { return smaller(a, b); }, kTotal);
}

// The root of integers is taken of the exact sum of squares in double, and truncates.
void run_l2(const Call& c) {
  const View x = c.in(0), y = c.out();
  for_each_output(c, [&](int64_t o, int64_t, auto visit) {
    double total = 0;
    visit([&](int64_t i) { total += kSquare(load_float(x, i)); });
    if (is_float(y.dtype)) store_float(y, o, std::sqrt(total));
    else store_int(y, o, saturate(std::sqrt(total), y.dtype));
  });
}

void run_log_sum_exp(const Call& c) {
  const View x = c.in(0), y = c.out();
  for_each_output(c, [&](int64_t o, int64_t, auto visit) {
    double most = lowest<double>(x.dtype), total = 0;
    visit([&](int64_t i) { most = larger(most, load_float(x, i)); });
    if (!std::isfinite(most)) return store_float(y, o, most);
    visit([&](int64_t i) { total += std::exp(load_float(x, i) - most); });
    store_float(y, o, most + std::log(total));
  });
}

constexpr Kernel kKernels[] = {
    {NEF_OP_REDUCE_SUM, run_sum},         {NEF_OP_REDUCE_MEAN, run_mean},
    {NEF_OP_REDUCE_PROD, run_prod},       {NEF_OP_REDUCE_MAX, run_max},
    {NEF_OP_REDUCE_MIN, run_min},         {NEF_OP_REDUCE_L1, run_l1},
    {NEF_OP_REDUCE_L2, run_l2},           {NEF_OP_REDUCE_SUM_SQUARE, run_sum_square},
    {NEF_OP_REDUCE_LOG_SUM, run_log_sum}, {NEF_OP_REDUCE_LOG_SUM_EXP, run_log_sum_exp},
};

}  // namespace

std::span<const Kernel> reduce_kernels() { return kKernels; }

}  // namespace nef::reference
