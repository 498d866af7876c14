// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <set>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/runtime/float_mode.h"
#include "engine/runtime/thread_pool.h"

namespace nef::runtime {

using compile::Slot;
using compile::SlotKind;
using compile::Step;
using ir::DimPool;
using ir::ValueId;

namespace {

// A device that values are copied to or from, and that has host memory for them.
const plan::Device* find_link(const compile::Program& p) {
  for (const Step& step : p.steps) {
    if (step.kind != Step::Kind::Copy) continue;
    const plan::Device& device = *p.devices[step.device];
    if (device.backend->host_alloc != nullptr && device.backend->host_free != nullptr)
      return &device;
  }
  return nullptr;
}

// All executors, so that one that is short of memory finds what others keep.
struct Everyone {
  std::mutex mutex;
  std::set<Executor*> executors;
};
Everyone& everyone() {
  static auto* all = new Everyone;  // never destroyed: programs may outlive static storage
  return *all;
}

}  // namespace

Executor::Executor(std::shared_ptr<const compile::Program> program)
    : program_(std::move(program)),
      layout_(*program_),
      sequences_(find_sequences(*program_)),
      link_(find_link(*program_)) {
  idle_.reserve(kMaxIdleFrames);  // give_back must not allocate
  patches_.resize(layout_.levels());
  for (uint32_t i = 0; i < program_->step_values.size(); ++i) {
    const uint32_t s = program_->step_values[i].slot;
    if (s == ir::kNone) continue;
    const Slot& slot = program_->slots[s];
    Patches& patches = patches_[layout_.tensor_level(i)];
    if (slot.kind == SlotKind::Input) patches.inputs.push_back({i, slot.index});
    if (slot.kind == SlotKind::Output) patches.outputs.push_back({i, slot.index});
    if (slot.kind != SlotKind::Held) continue;
    if (held_tensors_.size() <= slot.index) held_tensors_.resize(slot.index + size_t{1});
    held_tensors_[slot.index].push_back(i);
  }
  const auto outputs = program_->graph->graph_outputs();
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    patches_[layout_.level(outputs[i])].made.push_back(i);
  }
  for (const auto& [region, blocks] : program_->blocks) {
    for (const auto& block : blocks) blocks_[region].push_back(std::make_unique<Executor>(block));
  }
  Everyone& all = everyone();
  std::lock_guard lock(all.mutex);
  all.executors.insert(this);
}

Executor::~Executor() {
  {
    Everyone& all = everyone();
    std::lock_guard lock(all.mutex);
    all.executors.erase(this);
  }
  for (const auto& frame : idle_) release_arenas(*frame);
}

void Executor::check_input(size_t i, const TensorArg& arg) const {
  const ir::Graph& graph = *program_->graph;
  const ValueId v = graph.graph_inputs()[i];
  const auto expected = graph.dims(v);
  const auto what = [&] { return cat("input ", i, " \"", std::string(graph.input_name(i)), "\""); };
  if (arg.dtype != graph.dtype(v)) {
    fail(NEF_DTYPE_MISMATCH, "run",
         cat(what(), " is ", graph.type_str(v), ", got ", ir::dtype_name(arg.dtype)));
  }
  bool fits = arg.dims.size() == expected.size();
  for (size_t a = 0; fits && a < expected.size(); ++a) {
    fits = ir::is_expr(expected[a]) || expected[a] == arg.dims[a];
  }
  if (!fits) {
    fail(NEF_SHAPE_MISMATCH, "run",
         cat(what(), " is ", graph.type_str(v), ", got shape ", dims_text(arg.dims)));
  }
}

std::shared_ptr<const Binding> Executor::binding_for(std::span<const TensorArg> inputs) {
  const ir::Graph& graph = *program_->graph;
  const DimPool& pool = graph.pool();
  const auto symbols = layout_.symbols();
  const auto matches = [&](const Binding& b) {
    for (size_t k = 0; k < symbols.size(); ++k) {
      if (b.symbols[k] != inputs[symbols[k].place].dims[symbols[k].axis]) return false;
    }
    return true;
  };
  {
    std::lock_guard lock(mutex_);
    for (auto it = bindings_.begin(); it != bindings_.end(); ++it) {
      if (!matches(**it)) continue;
      if (it != bindings_.begin()) bindings_.splice(bindings_.begin(), bindings_, it);
      return bindings_.front();
    }
  }
  std::vector<int64_t> values;
  for (const Layout::Symbol& s : symbols) {
    const DimPool::Expr& e = pool.expr(DimPool::dim_of(s.expr));
    const int64_t n = inputs[s.place].dims[s.axis];
    if (n < e.lo || n > e.hi) {
      fail(NEF_OUT_OF_RANGE, "run",
           cat("input \"", std::string(graph.input_name(s.place)), "\": dim ", s.axis, " (", e.name,
               ") is ", n, ", must be within [", e.lo, ", ",
               e.hi == ir::kUnbounded ? std::string("any") : std::to_string(e.hi), "]"));
    }
    values.push_back(n);
  }
  std::shared_ptr<const Binding> binding = layout_.bind(std::move(values));
  std::lock_guard lock(mutex_);
  bindings_.push_front(binding);
  if (bindings_.size() > kMaxBindings) bindings_.pop_back();
  return binding;
}

std::shared_ptr<const Binding> Executor::current_binding() const {
  std::lock_guard lock(mutex_);
  return bindings_.empty() ? nullptr : bindings_.front();
}

void Executor::release_arenas(Frame& frame) const {
  frame.blocks.clear();
  for (Recorded& r : frame.recorded) r.reset();
  for (size_t k = 0; k < frame.arenas.size(); ++k) {
    Arena& a = frame.arenas[k];
    release(*frame.binding->spaces[k % layout_.spaces().size()].device, a);
  }
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

void Executor::evict_all() {
  Everyone& all = everyone();
  std::lock_guard lock(all.mutex);
  for (Executor* e : all.executors) e->evict();
}

// Host memory that a device reaches without a detour; false where there is none to be had.
bool Executor::pin(uint64_t bytes, Arena& arena) const {
  if (link_ == nullptr || bytes > kMaxPinned) return false;
  const auto lock = link_->lock();
  void* data = nullptr;
  if (link_->backend->host_alloc(link_->index, bytes, &data, nullptr) != NEF_OK) return false;
  arena = {data, bytes, true};
  return true;
}

void Executor::reallocate(const plan::Device& device, uint64_t bytes, Arena& arena) const {
  release(device, arena);
  if (device.host_memory() && pin(bytes, arena)) return;
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
    frame->recorded.resize(sequences_.size());
  }
  for (Recorded& r : frame->recorded) r.reset();
  frame->binding = binding;
  try {
    reserve(*frame, 0, control);
  } catch (const Error&) {
    release_arenas(*frame);
    throw;
  }
  fill(*frame, 0);
  return frame;
}

// The arenas of a level and of those before it together.
void Executor::check_budget(const Binding& binding, const RunControl& control) {
  if (control.memory_budget == 0) return;
  for (size_t k = 0; k < binding.spaces.size(); ++k) {
    uint64_t bytes = 0;
    for (const Binding* b = &binding; b != nullptr; b = b->before.get()) {
      bytes += b->spaces[k].arena_bytes;
    }
    if (bytes <= control.memory_budget) continue;
    const bool host = binding.spaces[k].device->host_memory();
    throw OverBudget(host ? NEF_OUT_OF_MEMORY : NEF_DEVICE_OUT_OF_MEMORY, "run",
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
    if (a.bytes < space.arena_bytes) reallocate(*space.device, space.arena_bytes, a);
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
      t.data = static_cast<char*>(frame.arenas[k].data) + offset;
      break;
    }
    case SlotKind::Constant: t.data = p.graph->constant_data(slot.value)->data(); break;
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
  frame.scratch[s] =
      static_cast<char*>(frame.arenas[k].data) + b.scratch_offset[layout_.step_place(s)];
}

void Executor::run_step(const Frame& frame, uint32_t index) const {
  const Step& step = program_->steps[index];
  const nef_backend_tensor* values = frame.tensors.data() + step.first_value;
  char message[kMessageBytes];
  nef_backend_error err{message, sizeof message};
  const plan::Device& device = *program_->devices[step.device];
  if (step.kind == Step::Kind::Launch) {
    const auto lock = device.lock();
    message[0] = '\0';
    const nef_code code = device.backend->launch(step.prepared->handle(), nullptr, values,
                                                 frame.scratch[index], &err);
    if (code == NEF_OK) return;
    const ir::NodeId root = program_->regions.root(program_->regions.list[step.region]);
    fail(code, ir::spec(program_->graph->op(root)).snake,
         cat(program_->graph->node_label(root), " on ", device.name, ": ", message));
  }
  const compile::StepValue* sv = program_->step_values.data() + step.first_value;
  const Slot& from = program_->slots[sv[0].slot];
  const Slot& to = program_->slots[sv[1].slot];
  const size_t bytes = static_cast<size_t>(
      ir::byte_count(program_->graph->dtype(from.value),
                     {values[0].dims, program_->graph->dims(from.value).size()}));
  if (bytes == 0) return;
  if (from.space == to.space) {
    std::memcpy(values[1].data, values[0].data, bytes);
    return;
  }
  const auto lock = device.lock();
  message[0] = '\0';
  const nef_code code = device.backend->copy(
      device.index, values[1].data, values[0].data, bytes,
      from.space == 0 ? NEF_COPY_HOST_TO_DEVICE : NEF_COPY_DEVICE_TO_HOST, &err);
  if (code != NEF_OK) fail(code, "copy", cat(device.name, ": ", message));
}

void Executor::run_sequence(Frame& frame, const Sequence& steps, Recorded& recorded) const {
  const plan::Device& device = *program_->devices[program_->steps[steps.begin].device];
  const auto launch = [&](uint32_t s) { run_step(frame, s); };
  if (recorded.run(device, steps, launch)) return;
  for (uint32_t s = steps.begin; s < steps.end; ++s) launch(s);
}

void Executor::execute(const Run& run) {
  Frame& frame = run.frame;
  const RunControl& control = run.control;
  const auto count = static_cast<uint32_t>(program_->steps.size());
  const int32_t branches = program_->options.parallel_branches;
  const ThreadLimit limit(control.threads);
  const FlushSubnormals mode(program_->options.precision == NEF_PRECISION_FAST);
  size_t sequence = 0;
  for (uint32_t s = 0; s < count;) {
    if (control.cancel != nullptr && control.cancel->load(std::memory_order_relaxed)) {
      fail(NEF_CANCELLED, "run", cat("cancelled before step ", s, " of ", count));
    }
    // A trace wants to know each step.
    if (sequence < sequences_.size() && sequences_[sequence].begin == s &&
        control.trace == nullptr) {
      run_sequence(frame, sequences_[sequence], frame.recorded[sequence]);
      s = sequences_[sequence++].end;
      continue;
    }
    uint32_t end = s + 1;
    while (end < count && program_->wave[end] == program_->wave[s]) ++end;
    if (program_->steps[s].alone()) {
      run_alone(run, s);
    } else if (end - s == 1) {
      run_traced(frame, s, 0, control);
    } else {
      run_wave(frame, s, end, branches, control);
    }
    s = end;
  }
}

// What a step has queued counts as its time. A copy to the host has been waited for.
void Executor::wait_for(uint32_t index) const {
  const Step& step = program_->steps[index];
  if (step.kind == Step::Kind::Copy) {
    const uint32_t to = program_->step_values[step.first_value + 1].slot;
    if (program_->slots[to].space == 0) return;
  }
  const plan::Device& device = *program_->devices[step.device];
  if (device.backend->synchronize == nullptr) return;
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  const auto lock = device.lock();
  const nef_code code = device.backend->synchronize(device.index, &err);
  if (code != NEF_OK) fail(code, "run", cat(device.name, ": ", message));
}

void Executor::run_traced(const Frame& frame, uint32_t step, uint32_t lane,
                          const RunControl& control) const {
  if (control.trace == nullptr) return run_step(frame, step);
  const int64_t begin = Trace::now();
  run_step(frame, step);
  wait_for(step);
  // Every step has its own place, so steps that run side by side do not meet.
  control.trace->spans[step] = {step, lane, begin, Trace::now()};
}

// Runs steps [begin, end), which depend on earlier ones only, on up to `branches` threads.
void Executor::run_wave(const Frame& frame, uint32_t begin, uint32_t end, int32_t branches,
                        const RunControl& control) const {
  struct Wave {
    const Executor& executor;
    const Frame& frame;
    const RunControl& control;
    uint32_t begin;
    std::mutex mutex;
    std::exception_ptr failure;
  } wave{*this, frame, control, begin, {}, nullptr};
  const ThreadLimit limit(control.threads > 0 ? std::min(control.threads, branches) : branches);
  ThreadPool::shared().parallel_for(
      end - begin, 1,
      [](void* arg, int64_t from, int64_t to) {
        auto& w = *static_cast<Wave*>(arg);
        for (int64_t i = from; i < to; ++i) {
          try {
            const auto lane = static_cast<uint32_t>(i);
            w.executor.run_traced(w.frame, w.begin + lane, lane, w.control);
          } catch (...) {
            std::lock_guard lock(w.mutex);
            if (w.failure == nullptr) w.failure = std::current_exception();
          }
        }
      },
      &wave);
  if (wave.failure != nullptr) std::rethrow_exception(wave.failure);
}

// Gives the frame back whatever happens.
class Executor::FrameLease {
 public:
  FrameLease(Executor& executor, std::unique_ptr<Frame> frame)
      : executor_(executor), frame_(std::move(frame)) {}
  ~FrameLease() { executor_.give_back(std::move(frame_)); }
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;
  Frame& operator*() { return *frame_; }

 private:
  Executor& executor_;
  std::unique_ptr<Frame> frame_;
};

void Executor::run(std::span<const TensorArg> inputs, std::span<TensorResult> outputs,
                   const RunControl& control) {
  const ir::Graph& graph = *program_->graph;
  if (inputs.size() != graph.graph_inputs().size()) {
    fail(NEF_INVALID_ARGUMENT, "run",
         cat("the graph has ", graph.graph_inputs().size(), " inputs, got ", inputs.size()));
  }
  if (outputs.size() != graph.graph_outputs().size()) {
    fail(NEF_INVALID_ARGUMENT, "run",
         cat("the graph has ", graph.graph_outputs().size(), " outputs, got room for ",
             outputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) check_input(i, inputs[i]);
  const std::shared_ptr<const Binding> binding = binding_for(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) check_bound_dims(*binding, i, inputs[i]);

  FrameLease frame(*this, acquire(binding, control));
  const Run run{*frame, inputs, outputs, control};
  for (uint32_t i : patches_[0].made) make_output(run, i, 0);
  patch(run, 0);
  if (control.trace != nullptr) {
    control.trace->program = program_;
    control.trace->spans.assign(program_->steps.size(), {});
  }
  execute(run);
}

void Executor::make_output(const Run& run, size_t i, Level bound) const {
  const ValueId v = program_->graph->graph_outputs()[i];
  TensorResult& out = run.outputs[i];
  const auto dims = layout_.dims(run.frame.bound(bound), bound, v);
  out.dtype = program_->graph->dtype(v);
  out.dims.assign(dims.begin(), dims.end());
  const auto bytes = static_cast<size_t>(ir::byte_count(out.dtype, dims));
  // A loop hands in what it got two iterations ago.
  if (out.data != nullptr && out.data.use_count() == 1 && out.data->bytes() == bytes) return;
  out.data = ir::Buffer::allocate(bytes);
}

// The caller's memory into the argument table.
void Executor::patch(const Run& run, Level level) const {
  for (const Patch& p : patches_[level].inputs) {
    run.frame.tensors[p.tensor].data = const_cast<void*>(run.inputs[p.index].data);
  }
  for (const Patch& p : patches_[level].outputs) {
    run.frame.tensors[p.tensor].data = run.outputs[p.index].data->data();
  }
}

}  // namespace nef::runtime
