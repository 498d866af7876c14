// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/program.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::runtime {

using compile::Event;
using compile::is_out_of_memory;

namespace {

constexpr size_t kMaxEvents = 1000;

// Elements before and from an axis on.
struct Strides {
  int64_t outer = 1, inner = 1;
};
Strides strides(std::span<const int64_t> dims, int axis) {
  Strides s;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i < static_cast<size_t>(axis)) s.outer *= dims[i];
    if (i > static_cast<size_t>(axis)) s.inner *= dims[i];
  }
  return s;
}

ProgramOptions with_budget(ProgramOptions options) {
  options.compile.memory_budget = options.memory_budget;
  return options;
}

}  // namespace

Program::Program(std::shared_ptr<const ir::Graph> graph, ProgramOptions options,
                 compile::Environment env, const std::atomic<bool>* cancel)
    : source_(std::move(graph)), options_(with_budget(std::move(options))), env_(std::move(env)) {
  auto compiled = compile::compile(source_, options_.compile, env_, {}, cancel);
  events_ = compiled->events;
  batch_ =
      find_batch(*compiled->graph, options_.batch_symbol.empty() ? "batch" : options_.batch_symbol);
  // Slices of a batch may get other sizes where sizes depend on data.
  batch_.splittable = batch_.splittable && compiled->levels == 1;
  executor_ = std::make_shared<Executor>(std::move(compiled));
}

std::shared_ptr<Executor> Program::executor() const {
  std::lock_guard lock(mutex_);
  return executor_;
}

std::vector<Event> Program::events() const {
  std::lock_guard lock(mutex_);
  return events_;
}

std::vector<Event> Program::take_events() {
  std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void Program::add_event(Event event) {
  std::lock_guard lock(mutex_);
  if (events_.size() < kMaxEvents) events_.push_back(std::move(event));
}

void Program::run(std::span<const TensorArg> inputs, std::span<TensorResult> outputs,
                  RunControl control) {
  if (control.threads == 0) control.threads = options_.threads;
  if (control.memory_budget == 0) control.memory_budget = options_.memory_budget;
  control.report = &report_;
  const std::shared_ptr<Executor> executor = this->executor();
  if (control.memory_budget != 0) {
    control.memory =
        std::make_shared<MemoryUse>(control.memory_budget, executor->program().computed_bytes);
  }
  try {
    executor->run(inputs, outputs, control);
  } catch (const Error& e) {
    if (!is_out_of_memory(e.code()) && e.code() != NEF_DEVICE_LOST) throw;
    recover(e, inputs, outputs, control, executor);
  }
}

void Program::recover(const Error& error, std::span<const TensorArg> inputs,
                      std::span<TensorResult> outputs, const RunControl& control,
                      const std::shared_ptr<Executor>& executor) {
  for (TensorResult& r : outputs) r.data = nullptr;  // of the run that failed
  // Branches side by side take more memory than one behind the other, which is no fallback.
  if (is_out_of_memory(error.code()) && !executor->program().waits.empty()) {
    leave_streams(error, *executor, control.cancel);
    const std::shared_ptr<Executor> next = this->executor();
    try {
      return next->run(inputs, outputs, control);
    } catch (const Error& e) {
      if (!is_out_of_memory(e.code()) && e.code() != NEF_DEVICE_LOST) throw;
      return recover(e, inputs, outputs, control, next);
    }
  }
  if (options_.compile.strict) {
    fail(NEF_FALLBACK_FORBIDDEN, error.op(),
         cat(error.message(), " (strict mode forbids a fallback)"));
  }
  if (is_out_of_memory(error.code())) {
    // Nothing that other programs could give back keeps a run within its budget.
    if (dynamic_cast<const OverBudget*>(&error) != nullptr) {
      add_event({"out of memory", error.message(), "", "a smaller batch"});
    } else {
      add_event({"out of memory", error.message(), "", "the same device, after evicting caches"});
      compile::evict_caches(env_);
      try {
        return executor->run(inputs, outputs, control);
      } catch (const Error& e) {
        if (!is_out_of_memory(e.code())) throw;
      }
    }
    if (run_smaller(error, inputs, outputs, control, *executor)) return;
  }
  move_to_cpu(error, *executor, control.cancel);
  this->executor()->run(inputs, outputs, control);
}

// Halves the batch until it fits; begins with what fitted the last time. False when nothing does.
bool Program::run_smaller(const Error& error, std::span<const TensorArg> inputs,
                          std::span<TensorResult> outputs, const RunControl& control,
                          Executor& executor) {
  if (!batch_.splittable) return false;
  const int64_t batch = batch_of(inputs);
  int64_t parts = 2;
  if (const int64_t rows = fitting_rows_.load(std::memory_order_relaxed); rows > 0) {
    parts = std::max(parts, batch / rows + (batch % rows != 0));
  }
  for (; parts <= batch && batch / parts >= batch_.least; parts *= 2) {
    try {
      run_split(inputs, outputs, control, executor, batch, parts);
    } catch (const Error& e) {
      // A dim of another name that must equal the batch: only the whole batch fits.
      if (e.code() == NEF_SHAPE_MISMATCH) return false;
      if (!is_out_of_memory(e.code())) throw;
      continue;
    }
    fitting_rows_.store(batch / parts + (batch % parts != 0), std::memory_order_relaxed);
    add_event({"still out of memory", error.message(), "", cat(parts, " smaller batches")});
    return true;
  }
  return false;
}

int64_t Program::batch_of(std::span<const TensorArg> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (batch_.input_axis[i] >= 0) return inputs[i].dims[batch_.input_axis[i]];
  }
  return 0;
}

// Runs in `parts` slices along the batch and puts the outputs together.
void Program::run_split(std::span<const TensorArg> inputs, std::span<TensorResult> outputs,
                        const RunControl& control, Executor& executor, int64_t batch,
                        int64_t parts) {
  std::vector<TensorResult> whole(outputs.size()), part(outputs.size());
  std::vector<TensorArg> args(inputs.begin(), inputs.end());
  std::vector<std::vector<int64_t>> dims(inputs.size());
  std::vector<std::shared_ptr<ir::Buffer>> slices(inputs.size());
  int64_t done = 0;
  for (int64_t k = 0; k < parts; ++k) {
    const int64_t end = batch * (k + 1) / parts, rows = end - done;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int axis = batch_.input_axis[i];
      if (axis < 0) continue;
      const Strides s = strides(inputs[i].dims, axis);
      const size_t row = static_cast<size_t>(s.inner) * ir::dtype_size(inputs[i].dtype);
      const size_t slice = static_cast<size_t>(s.outer * rows) * row;
      if (slices[i] == nullptr || slices[i]->bytes() != slice) {
        slices[i] = allocate(control.memory, slice, "a slice of an input");
      }
      for (int64_t o = 0; o < s.outer; ++o) {
        std::memcpy(
            static_cast<char*>(slices[i]->data()) + static_cast<size_t>(o * rows) * row,
            static_cast<const char*>(inputs[i].data) + static_cast<size_t>(o * batch + done) * row,
            static_cast<size_t>(rows) * row);
      }
      dims[i].assign(inputs[i].dims.begin(), inputs[i].dims.end());
      dims[i][static_cast<size_t>(axis)] = rows;
      args[i].dims = dims[i];
      args[i].data = slices[i]->data();
    }
    executor.run(args, part, control);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int axis = batch_.output_axis[i];
      const Strides s = strides(part[i].dims, axis);
      const size_t row = static_cast<size_t>(s.inner) * ir::dtype_size(part[i].dtype);
      if (whole[i].data == nullptr) {
        whole[i].dtype = part[i].dtype;
        whole[i].dims = part[i].dims;
        whole[i].dims[static_cast<size_t>(axis)] = batch;
        whole[i].data =
            allocate(control.memory, static_cast<size_t>(s.outer * batch) * row, "an output");
      }
      for (int64_t o = 0; o < s.outer; ++o) {
        std::memcpy(
            static_cast<char*>(whole[i].data->data()) + static_cast<size_t>(o * batch + done) * row,
            static_cast<const char*>(part[i].data->data()) + static_cast<size_t>(o * rows) * row,
            static_cast<size_t>(rows) * row);
      }
    }
    done = end;
  }
  std::move(whole.begin(), whole.end(), outputs.begin());
}

namespace {

// Those that the program uses, "cuda:0, cuda:1"; "" when there are none.
std::string devices_with_memory(const compile::Program& program) {
  std::set<uint16_t> used;
  for (const compile::Step& s : program.steps) {
    if (!program.devices[s.device]->host_memory()) used.insert(s.device);
  }
  std::string out;
  for (uint16_t d : used) out += (out.empty() ? "" : ", ") + program.devices[d]->name;
  return out;
}

}  // namespace

// Compiles again for one stream of each device; from then on runs go there.
void Program::leave_streams(const Error& error, const Executor& failed,
                            const std::atomic<bool>* cancel) {
  std::lock_guard moving(moving_);
  if (executor().get() != &failed) return;  // another run has done so already
  compile::evict_caches(env_);
  compile::Options options = options_.compile;
  options.streams = 1;
  auto compiled = compile::compile(source_, options, env_, {}, cancel);
  const std::string on = devices_with_memory(failed.program());
  std::lock_guard lock(mutex_);
  executor_ = std::make_shared<Executor>(std::move(compiled));
  events_.push_back({"out of memory", error.message(), on, "the same device, on one stream"});
}

// Compiles again without the devices that have memory of their own; from then on runs go there.
void Program::move_to_cpu(const Error& error, const Executor& failed,
                          const std::atomic<bool>* cancel) {
  // Nowhere else to go: the host itself is out of memory.
  const std::string from = devices_with_memory(failed.program());
  if (from.empty()) throw Error(error);
  std::vector<uint16_t> banned;
  for (uint16_t d = 0; d < env_.devices.size(); ++d) {
    if (!env_.devices[d]->host_memory()) banned.push_back(d);
  }
  std::lock_guard moving(moving_);
  if (executor().get() != &failed) return;  // another run has moved it already
  auto compiled = compile::compile(source_, options_.compile, env_, banned, cancel);
  std::lock_guard lock(mutex_);
  executor_ = std::make_shared<Executor>(std::move(compiled));
  events_.push_back({error.code() == NEF_DEVICE_LOST ? "device lost" : "still out of memory",
                     error.message(), from, "cpu"});
}

std::string Program::plan_json() const {
  const std::shared_ptr<Executor> executor = this->executor();
  std::shared_ptr<const Binding> binding = executor->current_binding();
  if (binding == nullptr && executor->layout().symbols().empty()) {
    binding = executor->layout().bind({});
  }
  return runtime::plan_json(executor->program(), binding.get());
}

}  // namespace nef::runtime
