// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/sequence.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/ir/error.h"

namespace nef::runtime {

using compile::Program;
using compile::Slot;
using compile::SlotKind;
using compile::Step;

namespace {

constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
constexpr size_t kMessageBytes = 512;

bool records(const plan::Device& device) {
  const nef_backend& b = *device.backend;
  return !device.host_memory() && b.record_begin != nullptr && b.record_end != nullptr &&
         b.replay != nullptr && b.recording_free != nullptr;
}

// Memory that is the same in every run of a frame.
bool lasting(SlotKind kind) {
  return kind == SlotKind::Arena || kind == SlotKind::Constant || kind == SlotKind::Shape;
}

bool may_be_noted(const Program& p, uint32_t index, std::span<const StagedCopy> staged) {
  const Step& step = p.steps[index];
  if (step.kind == Step::Kind::Copy) {
    return std::ranges::binary_search(staged, index, {}, &StagedCopy::step);
  }
  if (step.kind != Step::Kind::Launch || !records(*p.devices[step.device])) return false;
  const auto values = p.regions.values_of(p.regions.list[step.region]);
  for (uint32_t i = 0; i < step.value_count; ++i) {
    const uint32_t slot = p.step_values[step.first_value + i].slot;
    if (slot == ir::kNone) continue;
    if (!lasting(p.slots[slot].kind)) return false;
    // A host input counts with what it holds at launch: that must not change either.
    if (values[i].host != 0 && p.slots[slot].kind == SlotKind::Arena) return false;
  }
  return true;
}

// Steps side by side are on several threads, and late sizes move memory within a run.
bool notes_steps(const Program& p) { return p.options.parallel_branches <= 1 && p.levels <= 1; }

}  // namespace

std::vector<StagedCopy> find_staged_copies(const Program& p, const nef_backend* backend) {
  std::vector<StagedCopy> out;
  if (!notes_steps(p)) return out;
  for (uint32_t s = 0; s < p.steps.size(); ++s) {
    const Step& step = p.steps[s];
    if (step.kind != Step::Kind::Copy) continue;
    const plan::Device& device = *p.devices[step.device];
    const nef_backend& b = *device.backend;
    if (&b != backend || !records(device) || b.record_copy == nullptr) continue;
    const Slot& from = p.slots[p.step_values[step.first_value].slot];
    const Slot& to = p.slots[p.step_values[step.first_value + 1].slot];
    if (from.kind == SlotKind::Input) out.push_back({s, step.first_value, from.index, false});
    else if (to.kind == SlotKind::Output && from.space != 0 && b.replay_wait != nullptr)
      out.push_back({s, step.first_value + 1, to.index, true});
  }
  return out;
}

std::vector<Sequence> find_sequences(const Program& p, std::span<const StagedCopy> staged) {
  std::vector<Sequence> out;
  if (!notes_steps(p)) return out;
  const auto count = static_cast<uint32_t>(p.steps.size());
  // Steps of one wave are on streams that wait for each other: all are noted, or none.
  const auto wave_end = [&](uint32_t s) {
    uint32_t end = s + 1;
    while (end < count && p.wave[end] == p.wave[s]) ++end;
    return end;
  };
  const auto noted = [&](uint32_t s, uint32_t end) {
    for (; s < end; ++s) {
      if (!may_be_noted(p, s, staged)) return false;
    }
    return true;
  };
  for (uint32_t begin = 0; begin < count;) {
    uint32_t end = wave_end(begin);
    const bool begins = noted(begin, end);
    while (begins && end < count && p.steps[end].device == p.steps[begin].device &&
           noted(end, wave_end(end))) {
      end = wave_end(end);
    }
    const auto brings = [&](const StagedCopy& c) {
      return c.out && begin <= c.step && c.step < end;
    };
    if (begins && end - begin > 1) out.push_back({begin, end, std::ranges::any_of(staged, brings)});
    begin = end;
  }
  return out;
}

Recorded::Recorded(Recorded&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      handle_(std::exchange(other.handle_, nullptr)),
      runs_(other.runs_) {}

void Recorded::reset() {
  if (handle_ != nullptr) {
    const auto lock = device_->lock();
    device_->backend->recording_free(handle_);
  }
  device_ = nullptr;
  handle_ = nullptr;
  runs_ = 0;
}

bool Recorded::due() {
  if (runs_ == kNever) return false;
  return ++runs_ == 2;
}

void Recorded::begin(const plan::Device& device) {
  const auto lock = device.lock();
  if (device.backend->record_begin(device.index, nullptr) == NEF_OK) device_ = &device;
  else runs_ = kNever;
}

// A recording that cannot be made is no failure: the steps are launched one by one as before.
void Recorded::end() {
  const auto lock = device_->lock();
  if (device_->backend->record_end(device_->index, &handle_, nullptr) == NEF_OK) return;
  handle_ = nullptr;
  runs_ = kNever;
}
void Recorded::abandon() {
  const auto lock = device_->lock();
  device_->backend->record_end(device_->index, nullptr, nullptr);
  runs_ = kNever;
}

void Recorded::replay(bool waits) const {
  char message[kMessageBytes];  // not filled: caches are cold in a run behind a wait
  message[0] = '\0';
  nef_backend_error err{message, sizeof message};
  const auto lock = device_->lock();
  const nef_backend& b = *device_->backend;
  const nef_code code = (waits ? b.replay_wait : b.replay)(handle_, &err);
  if (code != NEF_OK) fail(code, "run", cat(device_->name, ": ", message));
}

bool Recorded::copy(void* dst, const void* src, size_t bytes) const {
  const nef_backend& backend = *device_->backend;
  if (backend.replay_copy == nullptr) return false;
  char message[kMessageBytes];  // not filled: caches are cold in a run behind a wait
  message[0] = '\0';
  nef_backend_error err{message, sizeof message};
  const auto lock = device_->lock();
  const nef_code code = backend.replay_copy(handle_, dst, src, bytes, &err);
  if (code != NEF_OK) fail(code, "copy", cat(device_->name, ": ", message));
  return true;
}

}  // namespace nef::runtime
