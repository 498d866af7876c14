// SPDX-License-Identifier: Apache-2.0
#include "engine/context/context.h"

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::context {

using build::LazyTensor;
using ir::Graph;
using ir::NodeId;
using ir::ValueId;

Context::Context()
    : kernels_(compile::default_cache_directory()), costs_(compile::default_cache_directory()) {}

Context& Context::get() {
  static auto* context = new Context;  // never destroyed: handles may outlive static storage
  return *context;
}

compile::Environment Context::environment() {
  compile::Environment env;
  env.devices = registry_.devices();
  env.kernels = &kernels_;
  env.costs = &costs_;
  env.evict_arenas = runtime::Executor::evict_all;
  env.evaluate = [this](const Graph& graph, NodeId node,
                        std::vector<std::shared_ptr<ir::Buffer>>* outputs) {
    return evaluate_node(*this, graph, node, outputs);
  };
  return env;
}

namespace {

bool is_aligned(const Graph& graph, ValueId v) {
  const auto address = reinterpret_cast<uintptr_t>(graph.constant_data(v)->data());
  return address % ir::dtype_size(graph.dtype(v)) == 0;
}

// Kernels read whole elements; a weight that is mapped from somewhere within a file may lie askew.
std::shared_ptr<const Graph> with_aligned_constants(std::shared_ptr<const Graph> graph) {
  std::shared_ptr<Graph> copy;
  for (size_t i = 0; i < graph->constant_count(); ++i) {
    const ValueId v = graph->constant_value(i);
    if (is_aligned(*graph, v)) continue;
    if (copy == nullptr) copy = std::make_shared<Graph>(*graph);
    copy->set_constant_data(v,
                            ir::aligned(graph->constant_data(v), ir::dtype_size(graph->dtype(v))));
  }
  return copy != nullptr ? copy : graph;
}

}  // namespace

std::shared_ptr<runtime::Program> Context::compile(std::shared_ptr<const Graph> graph,
                                                   runtime::ProgramOptions options,
                                                   const std::atomic<bool>* cancel) {
#ifdef NEF_VERIFY
  options.compile.verify = true;
#endif
  compiled_.fetch_add(1, std::memory_order_relaxed);
  return std::make_shared<runtime::Program>(with_aligned_constants(std::move(graph)),
                                            std::move(options), environment(), cancel);
}

Context::Counters Context::counters() const {
  return {compiled_.load(), hits_.load(), misses_.load(), runs_.load()};
}

Context::LazyCall Context::lazy_call(std::span<LazyTensor* const> pending) {
  build::Captured captured = build::capture(pending, {}, build::LeafMode::Inputs);
  std::string key = structure_key(captured.graph);
  std::shared_ptr<runtime::Program> program = cached_program(key);
  if (program == nullptr && host_inputs_vary(captured.graph)) {
    captured = build::capture(pending, {}, build::LeafMode::AllInputs);
    key = structure_key(captured.graph);
    program = cached_program(key);
  }
  (program != nullptr ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
  if (program == nullptr) program = new_program(std::move(key), captured.graph);
  return {std::move(captured), std::move(program)};
}

std::shared_ptr<runtime::Program> Context::cached_program(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto it = index_.find(key);
  if (it == index_.end()) return nullptr;
  lru_.splice(lru_.begin(), lru_, it->second);
  return it->second->program;
}

bool Context::host_inputs_vary(const Graph& graph) {
  if (graph.constant_count() == 0) return false;
  std::string key = structure_key(graph, false);
  std::lock_guard lock(mutex_);
  if (variants_.size() >= kMaxCounted) variants_.clear();
  return ++variants_[std::move(key)] > kMaxVariants;
}

std::shared_ptr<runtime::Program> Context::new_program(std::string key, const Graph& graph) {
  auto program = compile(std::make_shared<const Graph>(graph), {});
  std::lock_guard lock(mutex_);
  if (const auto it = index_.find(key); it != index_.end()) return it->second->program;
  key_bytes_ += key.size();
  lru_.push_front({std::move(key), program});
  index_.emplace(lru_.front().key, lru_.begin());
  while (lru_.size() > 1 && (lru_.size() > kMaxPrograms || key_bytes_ > kMaxKeyBytes)) {
    index_.erase(lru_.back().key);
    key_bytes_ -= lru_.back().key.size();
    lru_.pop_back();
  }
  return program;
}

std::vector<compile::Event> Context::lazy_events() const {
  std::lock_guard lock(mutex_);
  return {lazy_events_.begin(), lazy_events_.end()};
}

void Context::keep_events(runtime::Program& program) {
  std::vector<compile::Event> events = program.take_events();
  if (events.empty()) return;
  std::lock_guard lock(mutex_);
  for (compile::Event& e : events) lazy_events_.push_back(std::move(e));
  while (lazy_events_.size() > kMaxEvents) lazy_events_.pop_front();
}

void Context::execute(std::span<LazyTensor* const> tensors) {
  std::vector<LazyTensor*> pending;
  for (LazyTensor* t : tensors) {
    if (build::data_of(t) == nullptr) pending.push_back(t);
  }
  if (pending.empty()) return;
  LazyCall call = lazy_call(pending);
  const Graph& graph = call.captured.graph;

  std::vector<runtime::TensorArg> inputs;
  std::vector<std::shared_ptr<ir::Buffer>> data = std::move(call.captured.input_data);
  for (size_t i = 0; i < data.size(); ++i) {
    const ValueId v = graph.graph_inputs()[i];
    data[i] = ir::aligned(std::move(data[i]), ir::dtype_size(graph.dtype(v)));
    inputs.push_back({graph.dtype(v), ir::numbers(graph.dims(v)), data[i]->data()});
  }
  const std::shared_ptr<runtime::Program>& program = call.program;
  std::vector<runtime::TensorResult> results(pending.size());
  count_run();
  try {
    program->run(inputs, results, {});
  } catch (const Error&) {
    keep_events(*program);
    throw;
  }
  keep_events(*program);
  for (size_t i = 0; i < pending.size(); ++i) {
    build::materialise(pending[i], std::move(results[i].data), results[i].dims);
  }
}

}  // namespace nef::context
