// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/reduce_plan.h"

#include <algorithm>
#include <initializer_list>

#include "backends/shared/axes.h"

namespace nef::cpu {
namespace {

void mark_axes(const Call& c, const View& x, bool* reduce) {
  const View axes = c.has(1) ? c.in(1) : View{};
  if (!c.has(1) || axes.count == 0) {
    const bool noop = c.attr_int(NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES) != 0;
    for (int d = 0; d < x.rank; ++d) reduce[d] = !noop;
    return;
  }
  for (int64_t i = 0; i < axes.count; ++i) {
    backends::mark_axis("Reduce", checked_index("Reduce: axes", int_at(axes, i), 0, x.rank),
                        reduce);
  }
}
// One slot serves the whole family.
constexpr bool same_slot(std::initializer_list<int> slots) {
  return std::all_of(slots.begin(), slots.end(),
                     [](int slot) { return slot == NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES; });
}
static_assert(same_slot({NEF_REDUCE_L1_NOOP_WITH_EMPTY_AXES, NEF_REDUCE_L2_NOOP_WITH_EMPTY_AXES,
                         NEF_REDUCE_LOG_SUM_NOOP_WITH_EMPTY_AXES,
                         NEF_REDUCE_LOG_SUM_EXP_NOOP_WITH_EMPTY_AXES,
                         NEF_REDUCE_MAX_NOOP_WITH_EMPTY_AXES, NEF_REDUCE_MEAN_NOOP_WITH_EMPTY_AXES,
                         NEF_REDUCE_MIN_NOOP_WITH_EMPTY_AXES, NEF_REDUCE_PROD_NOOP_WITH_EMPTY_AXES,
                         NEF_REDUCE_SUM_SQUARE_NOOP_WITH_EMPTY_AXES}));

struct Run {
  int64_t size, step;
  bool reduced;
};

}  // namespace

ReducePlan plan_reduction(const Call& c) {
  const View x = c.in(0);
  bool reduce[NEF_MAX_RANK] = {};
  mark_axes(c, x, reduce);
  // From the innermost axis outwards; an axis of size 1 joins any run.
  Run runs[NEF_MAX_RANK];
  int n = 0;
  int64_t step = 1;
  for (int d = x.rank - 1; d >= 0; --d) {
    if (x.dims[d] == 1) continue;
    if (n > 0 && runs[n - 1].reduced == reduce[d]) runs[n - 1].size *= x.dims[d];
    else runs[n++] = {x.dims[d], step, reduce[d]};
    step *= x.dims[d];
  }
  ReducePlan plan;
  if (n == 0) return plan;
  plan.inner_reduced = runs[0].reduced;
  plan.inner = runs[0].size;
  for (int i = n - 1; i > 0; --i) {
    (runs[i].reduced ? plan.reduced : plan.kept).push(runs[i].size, runs[i].step);
    (runs[i].reduced ? plan.reduced_count : plan.kept_count) *= runs[i].size;
  }
  return plan;
}

}  // namespace nef::cpu
