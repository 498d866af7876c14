// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/graph/runner.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "engine/context/context.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/ir/work.h"
#include "engine/plan/placement.h"
#include "tests/fuzz/fuzz_counts.h"

namespace nef::context {

// The backends that every machine has.
std::span<const BackendEntry> builtin_backends() {
  static constexpr BackendEntry kBackends[] = {nef_backend_cpu, nef_backend_reference};
  return kBackends;
}

}  // namespace nef::context

namespace nef::fuzz {
namespace {

using ir::Graph;
using runtime::TensorResult;

constexpr uint64_t kBudget = uint64_t{64} << 20;
// What a run may cost by its estimate; address sanitizer and coverage make each step dear.
constexpr double kMostWork = 2e6;
constexpr double kMostBytes = 32 << 20;

// The one place that says what a run costs. Blocks are cancelled when they take too long.
bool cheap_enough(const Graph& graph) {
  double work = 0, bytes = 0;
  for (ir::NodeId n = 0; n < graph.node_count(); ++n) {
    const double bound = ir::work(graph, n);  // endless where sizes are symbols
    work += std::isfinite(bound) ? bound : plan::region_flops(graph, std::span(&n, 1));
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      const ir::ValueId v = graph.output(n, i);
      const double size = plan::value_bytes(graph, v);
      bytes += size;
      work += size / static_cast<double>(ir::dtype_size(graph.dtype(v)));
    }
    for (const Graph::Block& b : graph.blocks(n)) {
      if (!cheap_enough(*b)) return false;
    }
  }
  return work <= kMostWork && bytes <= kMostBytes;
}

// Cancels a run that takes half a second; one that goes on all the same is a failure by its time.
class Watchdog {
 public:
  Watchdog() : thread_([this] { wait(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  const std::atomic<bool>* flag() const { return &cancel_; }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, std::chrono::milliseconds(500), [this] { return done_; })) {
      cancel_.store(true);
    }
  }
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::atomic<bool> cancel_{false};
  std::thread thread_;
};

// Numbers that make indices, shapes and sums both fit and not.
std::vector<char> data_for(nef_dtype dtype, int64_t count) {
  const size_t size = ir::dtype_size(dtype);
  std::vector<char> out(static_cast<size_t>(count) * size);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t v = dtype == NEF_BOOL ? i % 2 : i % 5;
    char* at = out.data() + static_cast<size_t>(i) * size;
    if (dtype == NEF_FLOAT32) {
      const float f = static_cast<float>(i % 7) / 4 - 0.75f;
      std::memcpy(at, &f, sizeof f);
    } else if (dtype == NEF_FLOAT64) {
      const double f = static_cast<double>(i % 7) / 4 - 0.75;
      std::memcpy(at, &f, sizeof f);
    } else if (dtype == NEF_FLOAT16 || dtype == NEF_BFLOAT16) {
      const uint16_t f = dtype == NEF_FLOAT16 ? 0x3c00 : 0x3f80;
      std::memcpy(at, &f, sizeof f);
    } else {
      std::memcpy(at, &v, size);
    }
  }
  return out;
}

class Inputs {
 public:
  Inputs(const Graph& graph, const std::map<std::string, int64_t>& symbols) {
    for (ir::ValueId v : graph.graph_inputs()) {
      std::vector<int64_t> dims;
      int64_t count = 1;
      for (ir::Dim d : graph.dims(v)) {
        dims.push_back(size_of(graph, d, symbols));
        fits_ = fits_ && dims.back() >= 0 && dims.back() <= kMost && count * dims.back() <= kMost;
        if (fits_) count *= dims.back();
      }
      if (!fits_) return;
      dims_.push_back(std::move(dims));
      data_.push_back(data_for(graph.dtype(v), count));
    }
    for (size_t i = 0; i < dims_.size(); ++i) {
      args_.push_back({graph.dtype(graph.graph_inputs()[i]), dims_[i], data_[i].data()});
    }
  }
  bool fits() const { return fits_; }
  std::span<const runtime::TensorArg> args() const { return args_; }

 private:
  static constexpr int64_t kMost = 1 << 16;
  static int64_t size_of(const Graph& graph, ir::Dim d,
                         const std::map<std::string, int64_t>& symbols) {
    if (d.is_number()) return d.number();
    if (!graph.pool().is_symbol(d)) return 1;
    const auto it = symbols.find(graph.pool().str(d));
    return it != symbols.end() ? it->second : std::max<int64_t>(graph.pool().lower(d), 1);
  }
  bool fits_ = true;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<std::vector<char>> data_;
  std::vector<runtime::TensorArg> args_;
};

struct Outcome {
  nef_code code = NEF_OK;
  std::vector<TensorResult> results;
};

void judge(const Error& e) {
  if (e.code() == NEF_INTERNAL) std::fprintf(stderr, "%s: %s\n", e.op().c_str(), e.what());
  require(e.code() != NEF_INTERNAL, "what cannot be done is refused with a reason");
  require(!e.message().empty(), "an error says what is wrong");
}

std::shared_ptr<runtime::Program> compile(const std::shared_ptr<const Graph>& graph,
                                          const char* device, RunCounts& counts) {
  runtime::ProgramOptions options;
  options.compile.device = device;
  options.memory_budget = kBudget;
  options.threads = 1;
  try {
    auto program = context::Context::get().compile(graph, options);
    ++counts.compiled;
    return program;
  } catch (const Error& e) {
    judge(e);
    ++counts.compile_refused;
    return nullptr;
  }
}

Outcome run(runtime::Program& program, const Inputs& inputs, RunCounts& counts) {
  Outcome out;
  out.results.resize(program.graph().graph_outputs().size());
  const Watchdog watchdog;
  runtime::RunControl control;
  control.cancel = watchdog.flag();
  try {
    program.run(inputs.args(), out.results, control);
    ++counts.run;
  } catch (const Error& e) {
    judge(e);
    ++counts.run_refused;
    out.code = e.code();
  }
  return out;
}

// Only integers from start to end: nothing to round, so everything must be the same.
bool exact(const Graph& graph) {
  for (ir::ValueId v = 0; v < graph.value_count(); ++v) {
    const nef_dtype t = graph.dtype(v);
    if (t != NEF_BOOL && !ir::dtype_is_int(t)) return false;
  }
  return !graph.has_blocks();
}

// Do backends answer this for other reasons than the graph?
bool circumstance(nef_code code) {
  return code == NEF_CANCELLED || code == NEF_OUT_OF_MEMORY || code == NEF_LIMIT_EXCEEDED ||
         code == NEF_DEVICE_OUT_OF_MEMORY || code == NEF_UNSUPPORTED;
}

void compare(const Graph& graph, const Outcome& a, const Outcome& b, RunCounts& counts) {
  if (circumstance(a.code) || circumstance(b.code)) return;
  const bool same = exact(graph);
  if (same) require(a.code == b.code, "reference and cpu agree about what is an error");
  if (a.code != NEF_OK || b.code != NEF_OK) return;
  ++counts.compared;
  for (size_t i = 0; i < a.results.size(); ++i) {
    const TensorResult &x = a.results[i], &y = b.results[i];
    require(x.dtype == y.dtype && x.dims.rank == y.dims.rank, "both results are of one type");
    if (!same) continue;
    require(x.dims == y.dims, "both results are of one shape");
    require(x.data->bytes() == y.data->bytes() &&
                (x.data->bytes() == 0 ||
                 std::memcmp(x.data->data(), y.data->data(), x.data->bytes()) == 0),
            "both results hold the same integers");
  }
}

}  // namespace

void compile_and_run(const std::shared_ptr<const Graph>& graph,
                     const std::map<std::string, int64_t>& symbols, RunCounts& counts) {
  const auto reference = compile(graph, "reference", counts);
  const auto cpu = compile(graph, "cpu", counts);
  const Inputs inputs(*graph, symbols);
  if (reference == nullptr || cpu == nullptr) return;
  if (!inputs.fits() || !cheap_enough(*graph)) {
    ++counts.too_dear;
    return;
  }
  const Outcome a = run(*reference, inputs, counts);
  const Outcome b = run(*cpu, inputs, counts);
  compare(*graph, a, b, counts);
}

}  // namespace nef::fuzz
