// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "capi/handles.h"
#include "capi/options.h"
#include "capi/status.h"
#include "engine/context/context.h"
#include "engine/ir/error.h"

using nef::capi::guard;
using nef::capi::need;
using nef::capi::unwrap;
using nef::capi::wrap;
namespace build = nef::build;
namespace runtime = nef::runtime;

namespace {

nef_compile_options read_compile_options(const nef_compile_options* given) {
  nef_compile_options o;
  nef_compile_options_init(&o, sizeof o);
  nef::capi::read_options("compile", given, &o);
  return o;
}

// The names a device option may have are checked by the planner; the rest here.
runtime::ProgramOptions program_options(const nef_compile_options& o) {
  if (o.precision != NEF_PRECISION_EXACT && o.precision != NEF_PRECISION_FAST) {
    nef::fail(NEF_INVALID_ARGUMENT, "compile",
              nef::cat("precision ", o.precision, " is neither exact (0) nor fast (1)"));
  }
  if (o.threads < 0 || o.parallel_branches < 0) {
    nef::fail(NEF_INVALID_ARGUMENT, "compile", "threads and parallel_branches must be 0 or more");
  }
  runtime::ProgramOptions out;
  out.compile.precision = o.precision;
  out.compile.device = o.device == nullptr ? "" : o.device;
  out.compile.strict = o.strict != 0;
  out.compile.parallel_branches = std::max(1, o.parallel_branches);
  if (o.disabled_passes != nullptr) {
    out.compile.disabled_passes = nef::optimize::parse_disabled(o.disabled_passes);
  }
  out.threads = o.threads;
  out.memory_budget = o.memory_budget;
  out.batch_symbol = o.batch_symbol == nullptr ? "" : o.batch_symbol;
  return out;
}

}  // namespace

nef_status* nef_cancel_create(nef_cancel** out) {
  return guard("cancel", [&] {
    need(out, "cancel", "the out pointer");
    *out = new nef_cancel;
  });
}
void nef_cancel_request(nef_cancel* cancel) {
  if (cancel != nullptr) cancel->requested.store(true, std::memory_order_relaxed);
}
void nef_cancel_release(nef_cancel* cancel) { delete cancel; }

void nef_compile_options_init(nef_compile_options* options, size_t struct_size) {
  nef::capi::init_options(options, struct_size, nef_compile_options{});
}

nef_status* nef_graph_compile(const nef_graph* graph, const nef_compile_options* options,
                              nef_program** out) {
  return guard("compile", [&] {
    need(graph, "compile", "the graph");
    need(out, "compile", "the out pointer");
    const nef_compile_options o = read_compile_options(options);
    const std::atomic<bool>* cancel = o.cancel == nullptr ? nullptr : &o.cancel->requested;
    auto handle = std::make_unique<nef_program>();
    handle->program =
        nef::context::Context::get().compile(graph->graph, program_options(o), cancel);
    *out = handle.release();
  });
}

nef_program* nef_program_retain(nef_program* program) {
  if (program != nullptr) program->refs.fetch_add(1, std::memory_order_relaxed);
  return program;
}
void nef_program_release(nef_program* program) {
  if (program != nullptr && program->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete program;
  }
}

nef_status* nef_program_plan(const nef_program* program, char** out_json) {
  return guard("plan", [&] {
    need(program, "plan", "the program");
    need(out_json, "plan", "the out pointer");
    *out_json = nef::capi::copy_string(program->program->plan_json());
  });
}

nef_status* nef_lazy_events(char** out_json) {
  return guard("events", [&] {
    need(out_json, "events", "the out pointer");
    *out_json =
        nef::capi::copy_string(runtime::events_json(nef::context::Context::get().lazy_events()));
  });
}

nef_status* nef_program_events(const nef_program* program, char** out_json) {
  return guard("events", [&] {
    need(program, "events", "the program");
    need(out_json, "events", "the out pointer");
    *out_json = nef::capi::copy_string(runtime::events_json(program->program->events()));
  });
}

nef_status* nef_program_run(nef_program* program, nef_tensor* const* inputs, size_t n_inputs,
                            nef_tensor** outs, size_t n_outs) {
  return guard("run", [&] {
    need(program, "run", "the program");
    if (n_inputs > 0) need(inputs, "run", "the list of inputs");
    if (n_outs > 0) need(outs, "run", "the list of outputs");
    // Handles are the same pointers as engine tensors; see handles.h.
    nef::capi::run_program(*program->program,
                           {reinterpret_cast<build::LazyTensor* const*>(inputs), n_inputs},
                           {reinterpret_cast<build::LazyTensor**>(outs), n_outs}, {});
  });
}

namespace nef::capi {

namespace {

// So many elements, on the stack where they are few.
template <typename T>
class Few {
 public:
  explicit Few(size_t count) : count_(count) {
    if (count > kInline) data_ = static_cast<T*>(::operator new(count * sizeof(T)));
    std::uninitialized_value_construct_n(data_, count);
  }
  ~Few() {
    std::destroy_n(data_, count_);
    if (count_ > kInline) ::operator delete(data_);
  }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  T& operator[](size_t i) { return data_[i]; }
  operator std::span<T>() { return {data_, count_}; }  // NOLINT: it is one

 private:
  static constexpr size_t kInline = 8;
  alignas(T) char room_[kInline * sizeof(T)];
  T* data_ = reinterpret_cast<T*>(room_);
  size_t count_;
};

}  // namespace

void run_program(runtime::Program& program, std::span<build::LazyTensor* const> inputs,
                 std::span<build::LazyTensor*> outs, const runtime::RunControl& control) {
  Few<std::shared_ptr<ir::Buffer>> data(inputs.size());
  Few<runtime::TensorArg> args(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    need(inputs[i], "run", "an input");
    data[i] = build::data_of(inputs[i]);
    if (data[i] == nullptr) {
      context::Context::get().execute({&inputs[i], 1});
      data[i] = build::data_of(inputs[i]);
    }
    args[i] = {inputs[i]->dtype, nef::ir::numbers(inputs[i]->dims()), data[i]->data()};
  }
  Few<runtime::TensorResult> results(outs.size());
  context::Context::get().count_run();
  program.run(std::span<runtime::TensorArg>(args), results, control);
  size_t made = 0;
  try {
    for (; made < outs.size(); ++made) {
      runtime::TensorResult& r = results[made];
      outs[made] = build::make_leaf(r.dtype, r.dims, std::move(r.data));
    }
  } catch (...) {
    while (made > 0) build::release(outs[--made]);
    throw;
  }
}

}  // namespace nef::capi
