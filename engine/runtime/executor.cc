// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <set>

#include "engine/ir/bools.h"
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
      link_(find_link(*program_)),
      copies_to_stage_(find_staged_copies(*program_, link_ == nullptr ? nullptr : link_->backend)) {
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
  const auto by_plugin = [this](const compile::Step& s) {
    return s.kind == compile::Step::Kind::Launch && program_->devices[s.device]->plugin;
  };
  if (std::any_of(program_->steps.begin(), program_->steps.end(), by_plugin)) {
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      if (program_->graph->dtype(outputs[i]) == NEF_BOOL) foreign_bools_.push_back(i);
    }
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

void Executor::evict_all() {
  Everyone& all = everyone();
  std::lock_guard lock(all.mutex);
  for (Executor* e : all.executors) e->evict();
}

size_t Executor::copied_bytes(const Frame& frame, const Step& step) const {
  const ValueId v = program_->slots[program_->step_values[step.first_value].slot].value;
  return static_cast<size_t>(
      ir::byte_count(program_->graph->dtype(v),
                     {frame.tensors[step.first_value].dims, program_->graph->dims(v).size()}));
}

void Executor::run_step(const Frame& frame, uint32_t index) const {
  const Step& step = program_->steps[index];
  const nef_backend_tensor* values = frame.tensors.data() + step.first_value;
  char message[kMessageBytes];
  nef_backend_error err{message, sizeof message};
  const plan::Device& device = *program_->devices[step.device];
  if (step.kind == Step::Kind::Launch) {
    if (step.waits_before > 0)
      frame.streams.wait(*program_, step, step.first_wait, step.waits_before);
    auto lock = device.lock();
    message[0] = '\0';
    const nef_code code = device.backend->launch(step.prepared->handle(), frame.streams.get(step),
                                                 values, frame.scratch[index], &err);
    if (code == NEF_OK) {
      if (step.waits_after == 0) return;
      if (lock.owns_lock()) lock.unlock();
      return frame.streams.wait(*program_, step, step.first_wait + step.waits_before,
                                step.waits_after);
    }
    fail_launch(step, code, message);
  }
  const compile::StepValue* sv = program_->step_values.data() + step.first_value;
  const Slot& from = program_->slots[sv[0].slot];
  const Slot& to = program_->slots[sv[1].slot];
  const size_t bytes = copied_bytes(frame, step);
  if (bytes == 0) return;
  if (from.space == to.space) {
    std::memcpy(values[1].data, values[0].data, bytes);
    return;
  }
  if (frame.replayed != nullptr && to.space == 0 && frame.replayed->on(device) &&
      frame.replayed->copy(values[1].data, values[0].data, bytes)) {
    return;
  }
  const auto lock = device.lock();
  message[0] = '\0';
  const nef_code code = device.backend->copy(
      device.index, values[1].data, values[0].data, bytes,
      from.space == 0 ? NEF_COPY_HOST_TO_DEVICE : NEF_COPY_DEVICE_TO_HOST, &err);
  if (code != NEF_OK) fail(code, "copy", cat(device.name, ": ", message));
}

void Executor::fail_launch(const Step& step, nef_code code, const char* message) const {
  const ir::NodeId root = program_->regions.root(program_->regions.list[step.region]);
  fail(code, ir::spec(program_->graph->op(root)).snake,
       cat(program_->graph->node_label(root), " on ", program_->devices[step.device]->name, ": ",
           message));
}

// A copy that each replay shall make again.
void Executor::note_copy(const Frame& frame, uint32_t index) const {
  const Step& step = program_->steps[index];
  const nef_backend_tensor* values = frame.tensors.data() + step.first_value;
  const plan::Device& device = *program_->devices[step.device];
  const auto copy = std::ranges::lower_bound(frame.staged, index, {}, &StagedCopy::step);
  void* const staged = static_cast<char*>(frame.staging.data) + copy->offset;
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  const auto lock = device.lock();
  const nef_code code =
      device.backend->record_copy(device.index, copy->out ? staged : values[1].data,
                                  copy->out ? values[0].data : staged, copy->bytes, &err);
  if (code != NEF_OK) fail(code, "copy", cat(device.name, ": ", message));
}

void Executor::run_sequence(Frame& frame, const Sequence& steps, Recorded& recorded) const {
  const plan::Device& device = *program_->devices[program_->steps[steps.begin].device];
  const auto note = [&](uint32_t s) {
    if (program_->steps[s].kind == Step::Kind::Copy) note_copy(frame, s);
    else run_step(frame, s);
  };
  frame.replayed = nullptr;
  if (recorded.run(device, steps, note)) {
    frame.replayed = &recorded;
    if (steps.brings) take_noted_outputs(frame, steps);
    return;
  }
  for (uint32_t s = steps.begin; s < steps.end; ++s) run_step(frame, s);
}

// What a replay has brought to the host, into memory of the outputs.
void Executor::take_noted_outputs(const Frame& frame, const Sequence& steps) const {
  for (const StagedCopy& c : frame.staged) {
    if (!c.out || c.step < steps.begin || c.step >= steps.end) continue;
    std::memcpy(frame.tensors[c.tensor].data,
                static_cast<const char*>(frame.staging.data) + c.offset, c.bytes);
  }
}

// Nothing on a device: a copy to the host, or a launch there.
bool Executor::queues_nothing(const Step& step) const {
  if (step.kind == Step::Kind::Launch) return program_->devices[step.device]->host_memory();
  return step.kind == Step::Kind::Copy &&
         program_->slots[program_->step_values[step.first_value + 1].slot].space == 0;
}

void Executor::execute(const Run& run) {
  try {
    walk(run);
  } catch (...) {
    // Nothing may still run in memory that is used again, or freed.
    run.frame.streams.settle();
    throw;
  }
}

void Executor::walk(const Run& run) {
  Frame& frame = run.frame;
  const RunControl& control = run.control;
  const auto count = static_cast<uint32_t>(program_->steps.size());
  const int32_t branches = program_->options.parallel_branches;
  const ThreadLimit limit(control.threads);
  const FlushSubnormals mode(program_->options.precision == NEF_PRECISION_FAST);
  size_t sequence = 0, in_pieces = 0;
  frame.replayed = nullptr;
  for (uint32_t s = 0; s < count;) {
    if (control.cancel != nullptr && control.cancel->load(std::memory_order_relaxed)) {
      fail(NEF_CANCELLED, "run", cat("cancelled before step ", s, " of ", count));
    }
    // A trace wants to know each step.
    if (sequence < frame.sequences.size() && frame.sequences[sequence].begin == s &&
        control.trace == nullptr) {
      run_sequence(frame, frame.sequences[sequence], frame.recorded[sequence]);
      s = frame.sequences[sequence++].end;
      continue;
    }
    if (in_pieces < program_->in_pieces.size() && program_->in_pieces[in_pieces].copy == s) {
      const compile::InPieces& p = program_->in_pieces[in_pieces++];
      if (goes_in_pieces(frame, p)) {
        run_pieces(frame, p, control);
        s += 2;
        continue;
      }
    }
    uint32_t end = s + 1;
    while (end < count && program_->wave[end] == program_->wave[s]) ++end;
    for (uint32_t i = s; i < end; ++i) {
      if (!queues_nothing(program_->steps[i])) frame.replayed = nullptr;
    }
    if (program_->steps[s].alone()) {
      run_alone(run, s);
    } else if (end - s == 1 || branches <= 1) {
      for (uint32_t i = s; i < end; ++i) {
        run_traced(frame, i, program_->steps[i].stream, control);
      }
    } else {
      run_wave(frame, s, end, branches, control);
    }
    s = end;
  }
}

// What a step has queued counts as its time. A copy to the host has been waited for.
void Executor::wait_for(const Frame& frame, uint32_t index) const {
  const Step& step = program_->steps[index];
  if (step.stream != 0) return frame.streams.synchronize(step.device, step.stream);
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
  wait_for(frame, step);
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

  MemoryLease arenas(control.memory);
  if (control.memory != nullptr) arenas.add(binding->host_bytes(), "its arena");
  FrameLease frame(*this, acquire(binding, control));
  const Run run{*frame, inputs, outputs, control, arenas};
  for (uint32_t i : patches_[0].made) make_output(run, i, 0);
  patch(run, 0);
  if (control.trace != nullptr) {
    control.trace->program = program_;
    control.trace->spans.assign(program_->steps.size(), {});
  }
  execute(run);
  // A plugin may take any byte but 0 for true. Kernels read it so too; nobody else has to.
  for (const uint32_t i : foreign_bools_) {
    outputs[i].data = ir::clean_bools(NEF_BOOL, std::move(outputs[i].data));
  }
}

void Executor::make_output(const Run& run, size_t i, Level bound) const {
  const ValueId v = program_->graph->graph_outputs()[i];
  TensorResult& out = run.outputs[i];
  const auto dims = layout_.dims(run.frame.bound(bound), bound, v);
  out.dtype = program_->graph->dtype(v);
  out.dims.assign(dims);
  const auto bytes = static_cast<size_t>(ir::byte_count(out.dtype, dims));
  // A loop hands in what it got two iterations ago.
  if (out.data != nullptr && out.data.use_count() == 1 && out.data->bytes() == bytes) return;
  out.data = nullptr;  // makes room for the new one
  out.data = allocate(run.control.memory, bytes, "an output");
}

// The caller's memory into the argument table, or what it holds into memory of the frame.
void Executor::patch(const Run& run, Level level) const {
  for (const Patch& p : patches_[level].inputs) {
    const void* data = run.inputs[p.index].data;
    run.frame.tensors[p.tensor].data = const_cast<void*>(data != nullptr ? data : kNothing);
  }
  if (level == 0) {
    for (const StagedCopy& s : run.frame.staged) {
      if (s.out) continue;
      char* to = static_cast<char*>(run.frame.staging.data) + s.offset;
      std::memcpy(to, run.inputs[s.index].data, s.bytes);
      run.frame.tensors[s.tensor].data = to;
    }
  }
  for (const Patch& p : patches_[level].outputs) {
    run.frame.tensors[p.tensor].data = run.outputs[p.index].data->data();
  }
}

}  // namespace nef::runtime
