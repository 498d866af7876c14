// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "engine/build/lazy.h"
#include "engine/compile/costs.h"
#include "engine/compile/kernel_cache.h"
#include "engine/context/registry.h"
#include "engine/runtime/program.h"

namespace nef::context {

// What a process shares: backends, kernels, and the programs of the lazy door. Made on first use,
// never destroyed. Thread-safe.
class Context {
 public:
  static Context& get();

  Registry& registry() { return registry_; }
  compile::KernelCache& kernels() { return kernels_; }
  compile::CostCache& costs() { return costs_; }
  compile::Environment environment();

  // Throws NEF_CANCELLED soon after *cancel is set; it may be null.
  std::shared_ptr<runtime::Program> compile(std::shared_ptr<const ir::Graph> graph,
                                            runtime::ProgramOptions options,
                                            const std::atomic<bool>* cancel = nullptr);

  // The lazy door: computes the values (those that have no data yet) in one program. A second
  // call for a graph of the same structure finds its program in the cache. Host inputs belong to
  // the structure until they have varied a few times; then one program serves them all.
  void execute(std::span<build::LazyTensor* const> tensors);
  // Fallbacks of the lazy door's programs, oldest first; the last kMaxEvents are kept.
  std::vector<compile::Event> lazy_events() const;

  struct Counters {
    uint64_t programs_compiled, program_hits, program_misses, runs;
  };
  Counters counters() const;
  void count_run() { runs_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Context();
  // A captured graph with its program.
  struct LazyCall {
    build::Captured captured;
    std::shared_ptr<runtime::Program> program;
  };
  LazyCall lazy_call(std::span<build::LazyTensor* const> pending);
  std::shared_ptr<runtime::Program> cached_program(const std::string& key);
  std::shared_ptr<runtime::Program> new_program(std::string key, const ir::Graph& graph);
  // Have several programs been made already that differ from this graph in host inputs only?
  bool host_inputs_vary(const ir::Graph& graph);
  void keep_events(runtime::Program& program);

  struct CachedProgram {
    std::string key;
    std::shared_ptr<runtime::Program> program;
  };
  using Lru = std::list<CachedProgram>;
  static constexpr size_t kMaxPrograms = 256;
  static constexpr size_t kMaxKeyBytes = 64u << 20;
  static constexpr size_t kMaxEvents = 1000;
  static constexpr uint32_t kMaxVariants = 8;
  static constexpr size_t kMaxCounted = 4 * kMaxPrograms;

  Registry registry_;
  compile::KernelCache kernels_;
  compile::CostCache costs_;
  mutable std::mutex mutex_;  // guards the five below
  Lru lru_;                   // most recent first
  std::unordered_map<std::string_view, Lru::iterator> index_;
  size_t key_bytes_ = 0;
  std::unordered_map<std::string, uint32_t> variants_;  // programs by key without host inputs
  std::deque<compile::Event> lazy_events_;
  std::atomic<uint64_t> compiled_{0}, hits_{0}, misses_{0}, runs_{0};
};

// Names the structure of a lazily captured graph: nodes, attributes, types, and the data of its
// constants unless they are left out.
std::string structure_key(const ir::Graph& graph, bool with_data = true);
// Computes a node of constants on the reference device; for constant folding.
bool evaluate_node(Context& context, const ir::Graph& graph, ir::NodeId node,
                   std::vector<std::shared_ptr<ir::Buffer>>* outputs);

}  // namespace nef::context
