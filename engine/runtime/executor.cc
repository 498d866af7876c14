// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <set>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/runtime/thread_pool.h"

namespace nef::runtime {

using compile::Slot;
using compile::SlotKind;
using compile::Step;
using ir::DimPool;
using ir::ValueId;

namespace {

constexpr size_t kMessageBytes = 1024;

std::string dims_text(std::span<const int64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += cat(i == 0 ? "" : " ", dims[i]);
  return out + "]";
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
    : program_(std::move(program)), layout_(*program_) {
  idle_.reserve(kMaxIdleFrames);  // give_back must not allocate
  for (uint32_t i = 0; i < program_->step_values.size(); ++i) {
    const uint32_t s = program_->step_values[i].slot;
    if (s == ir::kNone) continue;
    const Slot& slot = program_->slots[s];
    if (slot.kind == SlotKind::Input) input_patches_.push_back({i, slot.index});
    if (slot.kind == SlotKind::Output) output_patches_.push_back({i, slot.index});
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
      if (b.symbols[k] != inputs[symbols[k].input].dims[symbols[k].axis]) return false;
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
    const int64_t n = inputs[s.input].dims[s.axis];
    if (n < e.lo || n > e.hi) {
      fail(NEF_OUT_OF_RANGE, "run",
           cat("input \"", std::string(graph.input_name(s.input)), "\": dim ", s.axis, " (", e.name,
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
  for (size_t k = 0; k < frame.arenas.size(); ++k) {
    Arena& a = frame.arenas[k];
    if (a.data == nullptr) continue;
    const plan::Device& device = *frame.binding->spaces[k].device;
    const auto lock = device.lock();
    device.backend->free(device.index, a.data, a.bytes);
    a = {};
  }
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

void Executor::reallocate(const plan::Device& device, uint64_t bytes, Arena& arena) {
  const auto lock = device.lock();
  if (arena.data != nullptr) device.backend->free(device.index, arena.data, arena.bytes);
  arena = {};
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  void* data = nullptr;
  const nef_code code = device.backend->alloc(device.index, bytes, &data, &err);
  if (code != NEF_OK) {
    fail(code, "run", cat(device.name, ": arena of ", bytes, " bytes: ", message));
  }
  arena = {data, bytes};
}

std::unique_ptr<Executor::Frame> Executor::acquire(const std::shared_ptr<const Binding>& binding,
                                                   const RunControl& control) {
  for (const Binding::Space& space : binding->spaces) {
    if (control.memory_budget == 0 || space.arena_bytes <= control.memory_budget) continue;
    throw OverBudget(space.device->host_memory() ? NEF_OUT_OF_MEMORY : NEF_DEVICE_OUT_OF_MEMORY,
                     "run",
                     cat("the run needs an arena of ", space.arena_bytes,
                         " bytes, the memory budget is ", control.memory_budget));
  }
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
    frame->arenas.resize(binding->spaces.size());
    frame->tensors.resize(program_->step_values.size());
    frame->scratch.resize(program_->steps.size());
  }
  frame->binding = binding;
  for (size_t k = 0; k < binding->spaces.size(); ++k) {
    Arena& a = frame->arenas[k];
    const Binding::Space& space = binding->spaces[k];
    if (a.bytes >= space.arena_bytes) continue;
    try {
      reallocate(*space.device, space.arena_bytes, a);
    } catch (const Error&) {
      release_arenas(*frame);
      throw;
    }
  }
  fill(*frame);
  return frame;
}

void Executor::give_back(std::unique_ptr<Frame> frame) {
  {
    std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdleFrames) {
      idle_.push_back(std::move(frame));
      return;
    }
  }
  release_arenas(*frame);
}

// Everything of the argument table that does not change from run to run.
void Executor::fill(Frame& frame) const {
  const compile::Program& p = *program_;
  const Binding& b = *frame.binding;
  for (size_t i = 0; i < p.step_values.size(); ++i) {
    const compile::StepValue& sv = p.step_values[i];
    nef_backend_tensor& t = frame.tensors[i];
    t.dims = b.dims.data() + layout_.dims_begin(sv.value);
    t.data = nullptr;
    if (sv.slot == ir::kNone) continue;
    const Slot& slot = p.slots[sv.slot];
    switch (slot.kind) {
      case SlotKind::Arena: {
        auto* base = static_cast<char*>(frame.arenas[layout_.space_index(slot.space)].data);
        t.data = base + b.slot_offset[sv.slot];
        break;
      }
      case SlotKind::Constant: t.data = p.graph->constant_data(slot.value)->data(); break;
      case SlotKind::Shape:
        t.data = const_cast<int64_t*>(b.shape_data.data() + b.slot_offset[sv.slot]);
        break;
      case SlotKind::Input:
      case SlotKind::Output: break;
    }
  }
  for (size_t s = 0; s < p.steps.size(); ++s) {
    const size_t k = layout_.space_index(layout_.step_space(p.steps[s]));
    frame.scratch[s] = static_cast<char*>(frame.arenas[k].data) + b.scratch_offset[s];
  }
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

void Executor::execute(Frame& frame, const RunControl& control) const {
  const auto count = static_cast<uint32_t>(program_->steps.size());
  const int32_t branches = program_->options.parallel_branches;
  const ThreadLimit limit(control.threads);
  for (uint32_t s = 0; s < count;) {
    if (control.cancel != nullptr && control.cancel->load(std::memory_order_relaxed)) {
      fail(NEF_CANCELLED, "run", cat("cancelled before step ", s, " of ", count));
    }
    uint32_t end = s + 1;
    while (end < count && program_->wave[end] == program_->wave[s]) ++end;
    if (end - s == 1) {
      run_traced(frame, s, 0, control);
    } else {
      run_wave(frame, s, end, branches, control);
    }
    s = end;
  }
}

void Executor::run_traced(const Frame& frame, uint32_t step, uint32_t lane,
                          const RunControl& control) const {
  if (control.trace == nullptr) return run_step(frame, step);
  const int64_t begin = Trace::now();
  run_step(frame, step);
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

  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId v = graph.graph_outputs()[i];
    const auto begin = binding->dims.begin() + layout_.dims_begin(v);
    outputs[i].dtype = graph.dtype(v);
    outputs[i].dims.assign(begin, begin + static_cast<std::ptrdiff_t>(graph.dims(v).size()));
    outputs[i].data = ir::Buffer::allocate(binding->output_bytes[i]);
  }
  FrameLease frame(*this, acquire(binding, control));
  for (const Patch& p : input_patches_) {
    (*frame).tensors[p.tensor].data = const_cast<void*>(inputs[p.index].data);
  }
  for (const Patch& p : output_patches_) {
    (*frame).tensors[p.tensor].data = outputs[p.index].data->data();
  }
  if (control.trace != nullptr) {
    control.trace->program = program_;
    control.trace->spans.assign(program_->steps.size(), {});
  }
  execute(*frame, control);
}

// Dims that repeat a symbol, or are expressions of symbols, must agree with the binding.
void Executor::check_bound_dims(const Binding& binding, size_t i, const TensorArg& arg) const {
  const ir::Graph& graph = *program_->graph;
  const ValueId v = graph.graph_inputs()[i];
  const int64_t* bound = binding.dims.data() + layout_.dims_begin(v);
  if (std::equal(arg.dims.begin(), arg.dims.end(), bound)) return;
  fail(NEF_SHAPE_MISMATCH, "run",
       cat("input ", i, " \"", std::string(graph.input_name(i)), "\" is ", graph.type_str(v),
           ", which is ", dims_text({bound, arg.dims.size()}), " beside the other inputs; got ",
           dims_text(arg.dims)));
}

}  // namespace nef::runtime
