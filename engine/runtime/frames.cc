// SPDX-License-Identifier: Apache-2.0
// Frames of an executor: their memory, their argument tables, and which of them wait for the next
// run.
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/runtime/executor.h"

namespace nef::runtime {

using compile::Slot;
using compile::SlotKind;
using compile::Step;
using ir::ValueId;

void Executor::release_arenas(Frame& frame) const {
  frame.blocks.clear();
  for (Recorded& r : frame.recorded) r.reset();
  frame.streams.reset();
  for (size_t k = 0; k < frame.arenas.size(); ++k) {
    Arena& a = frame.arenas[k];
    release(*frame.binding->spaces[k % layout_.spaces().size()].device, a);
  }
  if (link_ != nullptr) release(*link_, frame.staging);
}

void Executor::release(const plan::Device& device, Arena& a) const {
  if (a.data == nullptr) return;
  const plan::Device& owner = a.pinned ? *link_ : device;
  const auto lock = owner.lock();
  if (a.pinned) owner.backend->host_free(owner.index, a.data, a.bytes);
  else owner.backend->free(owner.index, a.data, a.bytes);
  a = {};
}

void Executor::evict() {
  std::vector<std::unique_ptr<Frame>> idle;
  {
    std::lock_guard lock(mutex_);
    idle.reserve(kMaxIdleFrames);  // give_back must not allocate
    idle.swap(idle_);
  }
  for (const auto& frame : idle) release_arenas(*frame);
}

// Host memory that a device reaches without a detour; false where there is none to be had.
bool Executor::pin(uint64_t bytes, Arena& arena, const RunControl& control) const {
  if (link_ == nullptr) return false;
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  void* data = nullptr;
  std::string why;
  if (bytes > kMaxPinned) {
    why = cat("an arena of ", bytes, " bytes, a run pins ", kMaxPinned, " at most");
  } else {
    const auto lock = link_->lock();
    if (link_->backend->host_alloc(link_->index, bytes, &data, &err) == NEF_OK) {
      arena = {data, bytes, true};
      return true;
    }
    why = cat("an arena of ", bytes, " bytes: ", message);
  }
  if (control.report != nullptr && !unpinned_.exchange(true)) {
    (*control.report)(
        {"host memory is not pinned", why, link_->name, "ordinary memory, which is copied slower"});
  }
  return false;
}

void Executor::reallocate(const plan::Device& device, uint64_t bytes, Arena& arena,
                          const RunControl& control) const {
  release(device, arena);
  if (device.host_memory() && pin(bytes, arena, control)) return;
  const auto lock = device.lock();
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  void* data = nullptr;
  const nef_code code = device.backend->alloc(device.index, bytes, &data, &err);
  if (code != NEF_OK) {
    fail(code, "run", cat(device.name, ": arena of ", bytes, " bytes: ", message));
  }
  arena = {data, bytes, false};
}

std::unique_ptr<Executor::Frame> Executor::acquire(const std::shared_ptr<const Binding>& binding,
                                                   const RunControl& control) {
  check_budget(*binding, control);
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex_);
    // The same binding first, then any frame whose arenas can be reused.
    for (size_t i = idle_.size(); i-- > 0;) {
      if (idle_[i]->binding != binding) continue;
      frame = std::move(idle_[i]);
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (frame == nullptr && !idle_.empty()) {
      frame = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (frame != nullptr && frame->binding == binding) return frame;
  if (frame == nullptr) {
    frame = std::make_unique<Frame>();
    frame->arenas.resize(binding->spaces.size() * layout_.levels());
    frame->later.resize(layout_.levels() - 1);
    frame->held.resize(held_tensors_.size());
    frame->tensors.resize(program_->step_values.size());
    frame->scratch.resize(program_->steps.size());
  }
  for (Recorded& r : frame->recorded) r.reset();
  frame->binding = binding;
  try {
    reserve(*frame, 0, control);
    frame->streams.make(*program_);
  } catch (const Error&) {
    release_arenas(*frame);
    throw;
  }
  fill(*frame, 0);
  stage_copies(*frame, control);
  frame->sequences = find_sequences(*program_, frame->staged);
  frame->recorded.resize(frame->sequences.size());
  return frame;
}

// Pinned memory for small inputs and outputs whose way to or from a device is noted with launches.
void Executor::stage_copies(Frame& frame, const RunControl& control) const {
  frame.staged.clear();
  uint64_t end = 0;
  const ir::Graph& graph = *program_->graph;
  for (StagedCopy copy : copies_to_stage_) {
    const ValueId v = (copy.out ? graph.graph_outputs() : graph.graph_inputs())[copy.index];
    const auto bytes =
        static_cast<uint64_t>(ir::byte_count(graph.dtype(v), layout_.dims(*frame.binding, 0, v)));
    if (bytes == 0 || bytes > kMaxStaged) continue;
    copy.offset = end;
    copy.bytes = bytes;
    end += (bytes + 63) / 64 * 64;
    frame.staged.push_back(copy);
  }
  if (frame.staging.bytes >= end) return;
  release(*link_, frame.staging);
  if (!pin(end, frame.staging, control)) frame.staged.clear();
}

// The arenas of a level and of those before it together. Those of the host are counted with
// everything else that a run takes there.
void Executor::check_budget(const Binding& binding, const RunControl& control) {
  if (control.memory_budget == 0) return;
  for (size_t k = 0; k < binding.spaces.size(); ++k) {
    if (binding.spaces[k].device->host_memory()) continue;
    uint64_t bytes = 0;
    for (const Binding* b = &binding; b != nullptr; b = b->before.get()) {
      bytes += b->spaces[k].arena_bytes;
    }
    if (bytes <= control.memory_budget) continue;
    throw OverBudget(NEF_DEVICE_OUT_OF_MEMORY, "run",
                     cat("the run needs an arena of ", bytes, " bytes, the memory budget is ",
                         control.memory_budget));
  }
}

// Arenas that are large enough for a level that has just been bound.
void Executor::reserve(Frame& frame, Level level, const RunControl& control) const {
  const Binding& binding = frame.bound(level);
  check_budget(binding, control);
  for (size_t k = 0; k < binding.spaces.size(); ++k) {
    Arena& a = frame.arenas[level * binding.spaces.size() + k];
    const Binding::Space& space = binding.spaces[k];
    if (a.bytes < space.arena_bytes) reallocate(*space.device, space.arena_bytes, a, control);
  }
}

void Executor::give_back(std::unique_ptr<Frame> frame) {
  for (auto& held : frame->held) held = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdleFrames) {
      idle_.push_back(std::move(frame));
      return;
    }
  }
  release_arenas(*frame);
}

void* Executor::place(const Arena& arena, uint64_t offset) {
  if (arena.data == nullptr) return const_cast<char*>(kNothing);
  return static_cast<char*>(arena.data) + offset;
}

// Everything of a level in the argument table that does not change from run to run.
void Executor::fill(Frame& frame, Level level) const {
  if (layout_.late()) {
    for (uint32_t i : layout_.part(level).tensors) fill_tensor(frame, i);
    for (uint32_t s : layout_.part(level).steps) fill_scratch(frame, s);
    return;
  }
  for (uint32_t i = 0; i < program_->step_values.size(); ++i) fill_tensor(frame, i);
  for (uint32_t s = 0; s < program_->steps.size(); ++s) fill_scratch(frame, s);
}

void Executor::fill_tensor(Frame& frame, uint32_t i) const {
  const compile::Program& p = *program_;
  const compile::StepValue& sv = p.step_values[i];
  nef_backend_tensor& t = frame.tensors[i];
  t.dims = frame.bound(layout_.level(sv.value)).dims.data() + layout_.dims_begin(sv.value);
  t.data = nullptr;
  if (sv.slot == ir::kNone) return;
  const Slot& slot = p.slots[sv.slot];
  const Level level = layout_.level(slot.value);
  const Binding& b = frame.bound(level);
  const uint64_t offset = b.slot_offset[layout_.slot_place(sv.slot)];
  switch (slot.kind) {
    case SlotKind::Arena: {
      const size_t k = level * b.spaces.size() + layout_.space_index(slot.space);
      t.data = place(frame.arenas[k], offset);
      break;
    }
    case SlotKind::Constant:
      t.data = p.graph->constant_data(slot.value)->data();
      if (t.data == nullptr) t.data = const_cast<char*>(kNothing);
      break;
    case SlotKind::Shape: t.data = const_cast<int64_t*>(b.shape_data.data() + offset); break;
    case SlotKind::Held: {
      const auto& held = frame.held[slot.index];
      if (held != nullptr) t.data = held->data();
      break;
    }
    case SlotKind::Input:
    case SlotKind::Output: break;
  }
}

void Executor::fill_scratch(Frame& frame, uint32_t s) const {
  const Step& step = program_->steps[s];
  const Level level = layout_.scratch_level(step);
  const Binding& b = frame.bound(level);
  const size_t k = level * b.spaces.size() + layout_.space_index(layout_.step_space(step));
  frame.scratch[s] = place(frame.arenas[k], b.scratch_offset[layout_.step_place(s)]);
}

}  // namespace nef::runtime
