// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "engine/compile/program.h"

namespace nef::compile {

// Steps touch their slots' memory: outputs write, everything else reads.
bool writes(const Program& p, const Step& step, uint32_t i) {
  if (step.kind == Step::Kind::Copy) return i == 1;
  if (step.kind == Step::Kind::Size) return false;
  if (step.kind == Step::Kind::Launch) {
    return p.regions.values_of(p.regions.list[step.region])[i].kind == NEF_VALUE_OUTPUT;
  }
  const ir::ValueId v = p.step_values[step.first_value + i].value;
  const ir::NodeId root = p.regions.root(p.regions.list[step.region]);
  return p.graph->producer(v) == root;
}

namespace {

// A step's level: one more than the greatest level of the steps that made what it reads. A step
// that finds sizes or runs blocks stands between all before and all after it.
std::vector<uint32_t> levels(const Program& p) {
  std::vector<uint32_t> level(p.steps.size(), 0), ready(p.slots.size(), 0);
  uint32_t least = 0, most = 0;
  for (size_t s = 0; s < p.steps.size(); ++s) {
    const Step& step = p.steps[s];
    level[s] = step.alone() ? most : least;
    for (uint32_t i = 0; i < step.value_count; ++i) {
      const uint32_t slot = p.step_values[step.first_value + i].slot;
      if (slot != ir::kNone && !writes(p, step, i)) level[s] = std::max(level[s], ready[slot]);
    }
    for (uint32_t i = 0; i < step.value_count; ++i) {
      const uint32_t slot = p.step_values[step.first_value + i].slot;
      if (slot != ir::kNone && writes(p, step, i)) ready[slot] = level[s] + 1;
    }
    most = std::max(most, level[s] + 1);
    if (step.alone()) least = most;
  }
  return level;
}

}  // namespace

void form_waves(Program& p) {
  p.wave.resize_unset(p.steps.size());
  std::iota(p.wave.begin(), p.wave.end(), 0u);
  if (p.options.parallel_branches <= 1 || p.steps.empty()) return;

  const std::vector<uint32_t> level = levels(p);
  std::vector<uint32_t> order(p.steps.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return level[a] < level[b]; });
  ir::Array<Step> steps;
  for (size_t i = 0; i < order.size(); ++i) {
    steps.push_back(p.steps[order[i]]);
    p.wave[i] = level[order[i]];
  }
  p.steps = std::move(steps);
  // Lifetimes in waves: what two steps of one wave need never shares memory.
  for (Slot& slot : p.slots) {
    slot.first = ir::kNone;
    slot.last = 0;
  }
  for (size_t s = 0; s < p.steps.size(); ++s) {
    for (uint32_t i = 0; i < p.steps[s].value_count; ++i) {
      const uint32_t index = p.step_values[p.steps[s].first_value + i].slot;
      if (index == ir::kNone) continue;
      p.slots[index].first = std::min(p.slots[index].first, p.wave[s]);
      p.slots[index].last = std::max(p.slots[index].last, p.wave[s]);
    }
  }
  // A slot that no step touches needs no memory at any time.
  for (Slot& slot : p.slots) {
    if (slot.first == ir::kNone) slot.first = slot.last = 0;
  }
}

}  // namespace nef::compile
