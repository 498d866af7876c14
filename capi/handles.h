// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/nef.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "engine/build/lazy.h"
#include "engine/runtime/program.h"

// What the opaque handles of nef.h point to. A nef_tensor is a build::LazyTensor.

namespace nef::capi {

inline build::LazyTensor* unwrap(const nef_tensor* t) {
  return reinterpret_cast<build::LazyTensor*>(const_cast<nef_tensor*>(t));
}
inline nef_tensor* wrap(build::LazyTensor* t) { return reinterpret_cast<nef_tensor*>(t); }

// Counts objects of one kind that are alive.
template <typename Tag>
struct Counted {
  Counted() { live.fetch_add(1, std::memory_order_relaxed); }
  ~Counted() { live.fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  static inline std::atomic<uint64_t> live{0};
};

// The text of a graph input or output, made once per graph.
struct InfoText {
  std::string name;
  std::vector<int64_t> dims, lo, hi;
  std::vector<std::string> dim_texts;
  std::vector<const char*> dim_names;
};

}  // namespace nef::capi

struct nef_graph : nef::capi::Counted<nef_graph> {
  std::atomic<uint32_t> refs{1};
  std::shared_ptr<const nef::ir::Graph> graph;
  std::vector<nef::capi::InfoText> inputs, outputs;
};

struct nef_program : nef::capi::Counted<nef_program> {
  std::atomic<uint32_t> refs{1};
  std::shared_ptr<nef::runtime::Program> program;
};

struct nef_cancel {
  std::atomic<bool> requested{false};
};

struct nef_run : nef::capi::Counted<nef_run> {
  std::atomic<uint32_t> refs{1};
  std::shared_ptr<nef::runtime::Program> program;
  std::vector<nef::build::LazyTensor*> inputs;  // one reference each
  std::vector<nef::build::LazyTensor*> outputs;
  std::atomic<bool> cancel{false};
  std::atomic<int> state{0};  // Idle, Running, Done
  bool traced = false;
  nef::runtime::Trace trace;
  nef_code code = NEF_OK;
  std::string op, message;
  std::mutex join_mutex;
  std::thread thread;
  bool abandoned = false;  // released on its own thread, which then destroys it
};

namespace nef::capi {
// Adds a graph handle around an engine graph.
nef_graph* make_graph(std::shared_ptr<const ir::Graph> graph);
// Runs a program on tensors: executes lazy inputs, wraps outputs. `outs` has room for all.
void run_program(runtime::Program& program, std::span<build::LazyTensor* const> inputs,
                 std::span<build::LazyTensor*> outs, const runtime::RunControl& control);
}  // namespace nef::capi
