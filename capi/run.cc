// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "capi/handles.h"
#include "capi/status.h"
#include "engine/ir/error.h"

using nef::capi::guard;
using nef::capi::need;
using nef::capi::unwrap;
using nef::capi::wrap;
namespace build = nef::build;

namespace {

enum State : int { kIdle = 0, kRunning = 1, kDone = 2 };

void begin(nef_run* run) {
  int expected = kIdle;
  if (run->state.compare_exchange_strong(expected, kRunning)) return;
  nef::fail(NEF_INVALID_ARGUMENT, "run", "a run executes once; create another one");
}

// The run itself, on whichever thread; leaves its failure in the run.
void work(nef_run* run) noexcept {
  nef_status* status = guard("run", [&] {
    for (size_t i = 0; i < run->inputs.size(); ++i) {
      if (run->inputs[i] != nullptr) continue;
      nef::fail(NEF_INVALID_ARGUMENT, "run",
                nef::cat("input ", i, " \"", std::string(run->program->graph().input_name(i)),
                         "\" was not set"));
    }
    nef::runtime::RunControl control;
    control.cancel = &run->cancel;
    if (run->traced) control.trace = &run->trace;
    std::vector<build::LazyTensor*> outs(run->program->graph().graph_outputs().size());
    nef::capi::run_program(*run->program, run->inputs, outs, control);
    run->outputs = std::move(outs);
  });
  if (status != nullptr) {
    run->code = nef_status_code(status);
    // A copy that does not fit in memory leaves the code, which is what matters.
    nef_status_release(guard("run", [&] {
      run->op = nef_status_op(status);
      run->message = nef_status_message(status);
    }));
    nef_status_release(status);
  }
  run->state.store(kDone, std::memory_order_release);
  run->state.notify_all();
}

nef_status* result(const nef_run* run) {
  if (run->code == NEF_OK) return nullptr;
  return nef::capi::make_status(run->code, run->op.c_str(), run->message.c_str());
}

void destroy(nef_run* run) {
  for (build::LazyTensor* t : run->inputs) build::release(t);
  for (build::LazyTensor* t : run->outputs) build::release(t);
  delete run;
}

void work_on_thread(nef_run* run) noexcept {
  work(run);
  if (run->abandoned) destroy(run);
}

// False on the run's own thread (a callback of a wrapped tensor released it there): a thread
// cannot wait for itself.
bool join(nef_run* run) {
  std::lock_guard lock(run->join_mutex);
  if (!run->thread.joinable()) return true;
  if (run->thread.get_id() == std::this_thread::get_id()) {
    run->thread.detach();
    return false;
  }
  run->thread.join();
  return true;
}

void need_done(const nef_run* run, const char* what) {
  if (run->state.load(std::memory_order_acquire) == kDone) return;
  nef::fail(NEF_INVALID_ARGUMENT, "run", nef::cat("the run is not done: ", what, " come after it"));
}

}  // namespace

nef_status* nef_run_create(nef_program* program, nef_run** out) {
  return guard("run", [&] {
    need(program, "run", "the program");
    need(out, "run", "the out pointer");
    auto run = std::make_unique<nef_run>();
    run->program = program->program;
    run->inputs.resize(program->program->graph().graph_inputs().size(), nullptr);
    *out = run.release();
  });
}

nef_status* nef_run_set_input(nef_run* run, size_t index, nef_tensor* tensor) {
  return guard("run", [&] {
    need(run, "run", "the run");
    need(tensor, "run", "the tensor");
    if (run->state.load() != kIdle) {
      nef::fail(NEF_INVALID_ARGUMENT, "run", "the run has started: its inputs are fixed");
    }
    if (index >= run->inputs.size()) {
      nef::fail(NEF_OUT_OF_RANGE, "run",
                nef::cat("input ", index, " of a graph with ", run->inputs.size(), " inputs"));
    }
    build::retain(unwrap(tensor));
    build::release(std::exchange(run->inputs[index], unwrap(tensor)));
  });
}

void nef_run_enable_trace(nef_run* run) {
  if (run != nullptr && run->state.load() == kIdle) run->traced = true;
}

nef_status* nef_run_execute(nef_run* run) {
  nef_status* status = guard("run", [&] {
    need(run, "run", "the run");
    begin(run);
  });
  if (status != nullptr) return status;
  work(run);
  return result(run);
}

nef_status* nef_run_start(nef_run* run) {
  return guard("run", [&] {
    need(run, "run", "the run");
    begin(run);
    try {
      std::lock_guard lock(run->join_mutex);
      run->thread = std::thread(work_on_thread, run);
    } catch (...) {
      run->state.store(kIdle);
      run->state.notify_all();
      nef::fail(NEF_OUT_OF_MEMORY, "run", "the system has no thread left for an asynchronous run");
    }
  });
}

nef_status* nef_run_wait(nef_run* run) {
  nef_status* status = guard("run", [&] {
    need(run, "run", "the run");
    if (run->state.load() == kIdle) {
      nef::fail(NEF_INVALID_ARGUMENT, "run", "the run has not been started");
    }
    run->state.wait(kRunning, std::memory_order_acquire);
  });
  return status != nullptr ? status : result(run);
}

void nef_run_cancel(nef_run* run) {
  if (run != nullptr) run->cancel.store(true, std::memory_order_relaxed);
}

int32_t nef_run_done(const nef_run* run) {
  return run != nullptr && run->state.load(std::memory_order_acquire) == kDone ? 1 : 0;
}

nef_status* nef_run_output(nef_run* run, size_t index, nef_tensor** out) {
  nef_status* failed = nullptr;
  nef_status* status = guard("run", [&] {
    need(run, "run", "the run");
    need(out, "run", "the out pointer");
    need_done(run, "outputs");
    failed = result(run);
    if (failed != nullptr) return;
    if (index >= run->outputs.size()) {
      nef::fail(NEF_OUT_OF_RANGE, "run",
                nef::cat("output ", index, " of a graph with ", run->outputs.size(), " outputs"));
    }
    build::retain(run->outputs[index]);
    *out = wrap(run->outputs[index]);
  });
  return status != nullptr ? status : failed;
}

nef_status* nef_run_trace(const nef_run* run, char** out_json) {
  return guard("trace", [&] {
    need(run, "trace", "the run");
    need(out_json, "trace", "the out pointer");
    need_done(run, "traces");
    if (!run->traced) {
      nef::fail(NEF_INVALID_ARGUMENT, "trace",
                "the run was not traced: enable it before it starts");
    }
    *out_json = nef::capi::copy_string(run->trace.json());
  });
}

nef_run* nef_run_retain(nef_run* run) {
  if (run != nullptr) run->refs.fetch_add(1, std::memory_order_relaxed);
  return run;
}

void nef_run_release(nef_run* run) {
  if (run == nullptr || run->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  run->cancel.store(true, std::memory_order_relaxed);
  if (join(run)) return destroy(run);
  run->abandoned = true;
}
