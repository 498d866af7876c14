// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/pool_direct.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/conv_stage.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"

namespace nef::cpu {
namespace {

constexpr int64_t kStageElements = 16 * 1024;  // of a plane at a time
constexpr int64_t kTaskWork = 64 * 1024;       // elements read that outweigh handing out a task

// Scratch: offsets and which columns are kept, for all, then a stage for each slot. Elements.
template <typename T>
struct Plan {
  Stage stage;
  int64_t bands = 1, offsets = 0, keep = 0, room = 0;

  explicit Plan(const DirectPool<T>& pool) : stage(make_stage(pool.window)) {
    Stage& s = stage;
    s.pad = pool.largest ? -std::numeric_limits<double>::infinity() : 0;
    const int64_t row = s.h.phases() * s.w.phases() * s.width;
    s.rows =
        std::clamp<int64_t>(kStageElements / row - s.h.reach(), 1, std::max<int64_t>(1, s.h.out));
    bands = std::max<int64_t>(1, ceil_div(s.h.out, s.rows));
    const int64_t lanes = conv_ops<T>().lanes;
    constexpr int64_t kWord = sizeof(int64_t) / sizeof(T);
    offsets = round_up((pool.window.kernel_count + kOffsetSlack) * kWord, 16);
    keep = round_up((s.columns(s.rows) / lanes + 1) * kWord, 16);
    room = round_up(s.plane() + 8 * lanes, 16);
  }
};

}  // namespace

template <typename T>
int64_t direct_pool_scratch(const DirectPool<T>& pool, int64_t slots) {
  const Plan<T> plan(pool);
  return plan.offsets + plan.keep + std::min(slots, pool.planes * plan.bands) * plan.room;
}

template <typename T>
void run_direct_pool(const DirectPool<T>& pool, int64_t slots, T* scratch) {
  const Plan<T> plan(pool);
  const Stage& s = plan.stage;
  const Window& w = pool.window;
  auto* offsets = reinterpret_cast<int64_t*>(scratch);
  auto* keep = reinterpret_cast<uint64_t*>(scratch + plan.offsets);
  T* stages = scratch + plan.offsets + plan.keep;
  stage_offsets(s, 1, offsets);
  stage_keep(s, conv_ops<T>().lanes, keep);
  const int64_t bands = pool.planes * plan.bands;
  const int64_t work = std::max<int64_t>(1, w.out_count * w.kernel_count / plan.bands);
  const int64_t share = std::max<int64_t>(1, kTaskWork / work);
  run_tasks(slots, ceil_div(bands, share), [&](int64_t slot, int64_t task) {
    T* staged = stages + slot * plan.room;
    for (int64_t i = task * share; i < std::min(bands, (task + 1) * share); ++i) {
      const int64_t plane = i / plan.bands, row = i % plan.bands * s.rows;
      const int64_t rows = std::min(s.rows, s.h.out - row);
      stage_planes(s, pool.x + plane * w.in_count, 1, row, rows, staged);
      ConvTile<T> t;
      t.x = staged;
      t.offsets = offsets;
      t.k = w.kernel_count;
      t.c = pool.y + plane * w.out_count + row * s.w.out;
      conv_ops<T>().pool(t, pool.largest, s.columns(rows), keep);
    }
  });
}

template int64_t direct_pool_scratch<float>(const DirectPool<float>&, int64_t);
template int64_t direct_pool_scratch<double>(const DirectPool<double>&, int64_t);
template void run_direct_pool<float>(const DirectPool<float>&, int64_t, float*);
template void run_direct_pool<double>(const DirectPool<double>&, int64_t, double*);

}  // namespace nef::cpu
