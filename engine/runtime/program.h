// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/compile/program.h"
#include "engine/ir/error.h"
#include "engine/runtime/batch.h"
#include "engine/runtime/executor.h"

namespace nef::runtime {

struct ProgramOptions {
  compile::Options compile;
  int32_t threads = 0;
  uint64_t memory_budget = 0;
  std::string batch_symbol;  // "" = "batch" when the graph has it
};

// A compiled graph that keeps its promise when a device does not: out of memory -> evict what is
// cached -> a smaller batch -> the CPU; a lost device -> the CPU. Every such step is an event;
// strict mode forbids them. Thread-safe.
class Program {
 public:
  // Compiles. Throws NEF_CANCELLED soon after *cancel is set; it may be null.
  Program(std::shared_ptr<const ir::Graph> graph, ProgramOptions options, compile::Environment env,
          const std::atomic<bool>* cancel = nullptr);

  void run(std::span<const TensorArg> inputs, std::span<TensorResult> outputs, RunControl control);

  const ir::Graph& graph() const { return *source_; }
  std::vector<compile::Event> events() const;
  // The same, and forgets them.
  std::vector<compile::Event> take_events();
  // Regions, devices, reasons, costs, kernels and memory as JSON.
  std::string plan_json() const;
  std::shared_ptr<Executor> executor() const;

 private:
  void recover(const Error& error, std::span<const TensorArg> inputs,
               std::span<TensorResult> outputs, const RunControl& control,
               const std::shared_ptr<Executor>& executor);
  bool run_smaller(const Error& error, std::span<const TensorArg> inputs,
                   std::span<TensorResult> outputs, const RunControl& control, Executor& executor);
  void run_split(std::span<const TensorArg> inputs, std::span<TensorResult> outputs,
                 const RunControl& control, Executor& executor, int64_t batch, int64_t parts);
  int64_t batch_of(std::span<const TensorArg> inputs) const;
  void leave_streams(const Error& error, const Executor& failed, const std::atomic<bool>* cancel);
  void move_to_cpu(const Error& error, const Executor& failed, const std::atomic<bool>* cancel);
  void add_event(compile::Event event);

  const std::shared_ptr<const ir::Graph> source_;
  const ProgramOptions options_;
  const compile::Environment env_;
  const std::function<void(compile::Event)> report_ = [this](compile::Event e) {
    add_event(std::move(e));
  };
  Batch batch_;
  std::atomic<int64_t> fitting_rows_{0};  // most rows of a batch that fitted after one did not
  std::mutex moving_;                     // held while the program is compiled for the CPU
  mutable std::mutex mutex_;              // guards the two below
  std::shared_ptr<Executor> executor_;
  std::vector<compile::Event> events_;
};

// The JSON of Program::plan_json for one compiled program. `binding` may be null.
std::string plan_json(const compile::Program& program, const Binding* binding);
std::string events_json(const std::vector<compile::Event>& events);

}  // namespace nef::runtime
