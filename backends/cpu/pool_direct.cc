// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/pool_direct.h"

#include <algorithm>

#include "backends/cpu/conv_stage.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/pool_kernels.h"

namespace nef::cpu {
namespace {

constexpr int64_t kStretch = 2048;        // outputs of a row at a time: their line stays in L1
constexpr int64_t kTaskWork = 64 * 1024;  // elements read that outweigh handing out a task

// Output rows cut into stretches, and the room for the line of one.
template <typename T>
struct Plan {
  Stage::Axis h, w;
  int64_t stretches = 1, room = 0;

  explicit Plan(const Window& window) {
    const Stage s = make_stage(window);
    h = s.h;
    w = s.w;
    stretches = std::max<int64_t>(1, ceil_div(w.out, kStretch));
    const int64_t lanes = pool_ops<T>().lanes;
    const int64_t most = round_up(std::min(w.out, kStretch), lanes);
    room = round_up(most * w.stride + (w.kernel - 1) * w.dilation + 2 * lanes, 2 * lanes);
  }

  template <typename M>
  PoolRow<T, M> row(const M* x, M* y, int64_t at, int64_t stretch, T* line) const {
    const int64_t first = stretch * kStretch, out = std::min(w.out - first, kStretch);
    const int64_t begin = first * w.stride - w.begin;
    const int64_t end = begin + (out - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
    const int64_t from = std::clamp<int64_t>(0, begin, end), to = std::clamp(w.in, from, end);
    const int64_t top = at * h.stride - h.begin;
    int64_t skipped = 0, reached = h.kernel;
    if (top < 0 || top + (h.kernel - 1) * h.dilation >= h.in) {
      skipped = std::clamp(ceil_div(-top, h.dilation), int64_t{0}, h.kernel);
      reached = std::clamp(ceil_div(h.in - top, h.dilation), skipped, h.kernel);
    }
    PoolRow<T, M> r;
    r.x = x + (top + skipped * h.dilation) * w.in + from;
    r.step = h.dilation * w.in;
    r.rows = reached - skipped;
    r.lead = from - begin;
    r.count = to - from;
    r.tail = end - to;
    r.line = line;
    r.room = room;
    r.kernel = w.kernel;
    r.stride = w.stride;
    r.dilation = w.dilation;
    r.out = out;
    r.y = y + at * w.out + first;
    return r;
  }
};

}  // namespace

template <typename T>
int64_t direct_pool_scratch(const Window& window, int64_t slots) {
  return slots * Plan<T>(window).room;
}

template <typename T, typename M>
void run_direct_pool(const DirectPool<T, M>& pool, int64_t slots, T* scratch) {
  const Plan<T> plan(pool.window);
  const Window& w = pool.window;
  const int64_t height = plan.h.out, rows = pool.planes * height;
  const int64_t work = std::max<int64_t>(1, plan.w.out * w.kernel_count);
  const int64_t share = std::max<int64_t>(1, kTaskWork / work);
  run_tasks(slots, ceil_div(rows, share), [&](int64_t slot, int64_t task) {
    int64_t plane = task * share / height, at = task * share % height;
    for (int64_t i = task * share; i < std::min(rows, (task + 1) * share); ++i, ++at) {
      if (at == height) ++plane, at = 0;
      for (int64_t stretch = 0; stretch < plan.stretches; ++stretch) {
        pool.row(plan.row(pool.x + plane * w.in_count, pool.y + plane * w.out_count, at, stretch,
                          scratch + slot * plan.room));
      }
    }
  });
}

template int64_t direct_pool_scratch<float>(const Window&, int64_t);
template int64_t direct_pool_scratch<double>(const Window&, int64_t);
template int64_t direct_pool_scratch<int8_t>(const Window&, int64_t);
template int64_t direct_pool_scratch<uint8_t>(const Window&, int64_t);
template void run_direct_pool<float>(const DirectPool<float>&, int64_t, float*);
template void run_direct_pool<double>(const DirectPool<double>&, int64_t, double*);
template void run_direct_pool<int8_t>(const DirectPool<int8_t>&, int64_t, int8_t*);
template void run_direct_pool<uint8_t>(const DirectPool<uint8_t>&, int64_t, uint8_t*);
template void run_direct_pool<double>(const DirectPool<double, float>&, int64_t, double*);

}  // namespace nef::cpu
