// SPDX-License-Identifier: Apache-2.0
// Any bytes as choices that make a valid graph with extreme numbers, shapes and attributes. It is
// written as a .nef file, read from it, verified, compiled for `reference` and `cpu`, and run there
// where that is cheap. Crashes, NEF_INTERNAL, more than two seconds of processor time and more than
// 256 MiB of heap are failures.
//
// NEF_FUZZ_LARGE=1 makes large shapes and long chains too. NEF_FUZZ_TEXT=FILE writes the graph of
// each input to FILE before it is read.
#include <cinttypes>
#include <cstdlib>
#include <fstream>
#include <random>
#include <span>

#include "engine/compile/program.h"
#include "engine/context/context.h"
#include "engine/io/nef.h"
#include "engine/ir/buffer.h"
#include "engine/ir/error.h"
#include "engine/ir/verify.h"
#include "tests/fuzz/fuzz_counts.h"
#include "tests/fuzz/graph/maker.h"
#include "tests/fuzz/graph/meter.h"
#include "tests/fuzz/graph/runner.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using nef::fuzz::Maker;
using nef::fuzz::Meter;
using nef::fuzz::require;

bool large() {
  static const bool set = [] {
    const char* text = std::getenv("NEF_FUZZ_LARGE");
    return text != nullptr && *text == '1';
  }();
  return set;
}

// Counts of the process, printed when it ends; packaging/checks/fuzz.sh reads the lines.
struct Report {
  nef::fuzz::Counts counts;
  nef::fuzz::RunCounts runs;
  double slowest = 0;
  int64_t peak = 0;

  ~Report() {
    std::fprintf(stderr,
                 "GRAPHS compiled=%" PRIu64 " compile_refused=%" PRIu64 " runs=%" PRIu64
                 " run_refused=%" PRIu64 " too_dear=%" PRIu64 " compared=%" PRIu64
                 " slowest_ms=%.0f peak_kib=%" PRId64 "\n",
                 runs.compiled, runs.compile_refused, runs.run, runs.run_refused, runs.too_dear,
                 runs.compared, 1e3 * slowest, peak >> 10);
    for (int op = 1; op < NEF_OP_COUNT_; ++op) {
      if (!nef::ir::op_valid(op) || nef::ir::spec(op).internal) continue;
      const auto& t = nef::fuzz::tallies()[static_cast<size_t>(op)];
      std::fprintf(stderr, "OP %s taken=%" PRIu64 " refused=%" PRIu64 "\n", nef::ir::spec(op).snake,
                   t.taken, t.refused);
    }
  }
};
Report& report() {
  static Report all;
  return all;
}

std::string text_of(const nef::ir::Graph& graph) {
  try {
    return nef::io::nef_bytes(graph);
  } catch (const nef::Error& e) {
    require(e.code() == NEF_LIMIT_EXCEEDED, "what was built can be saved");
    return {};
  }
}

std::shared_ptr<const nef::ir::Graph> load(const std::string& text) {
  try {
    auto graph = nef::io::load_nef_bytes(std::as_bytes(std::span(text)));
    ++report().counts.accepted;
    return graph;
  } catch (const nef::Error& e) {
    std::fprintf(stderr, "%s: %s\n", e.op().c_str(), e.what());
    require(false, "what was saved can be loaded");
    return nullptr;
  }
}

void take_through(const uint8_t* data, size_t size) {
  nef::fuzz::Choices choices({data, size});
  Maker maker(choices, {.large = large()});
  maker.make();
  const std::string text = text_of(maker.graph());
  if (text.empty()) return;
  if (const char* file = std::getenv("NEF_FUZZ_TEXT")) std::ofstream(file) << text;
  ++report().counts.past_parsing;
  const auto graph = load(text);
  nef::ir::verify(*graph, "load");
  require(nef::io::nef_bytes(*graph) == text, "round trips are byte-stable");
  nef::fuzz::compile_and_run(graph, maker.symbols(), report().runs);
}

// What is kept for the next program would count as held by the next input.
void let_go() {
  nef::compile::evict_caches(nef::context::Context::get().environment());
  nef::ir::free_spare_buffers();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Nothing of this machine's caches, and the same placement everywhere.
  ::setenv("NEF_CACHE_DIR", "", 1);
  ::setenv("NEF_STATED_COSTS", "1", 1);
  ::setenv("NEF_NUM_THREADS", "1", 1);
  Meter::install();
  nef::context::Context::get();
  report();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Report& r = report();
  ++r.counts.runs;
  const Meter meter;
  take_through(data, size);
  let_go();
  const double seconds = meter.seconds();
  const int64_t bytes = meter.peak_bytes();
  r.slowest = std::max(r.slowest, seconds);
  r.peak = std::max(r.peak, bytes);
  if (seconds > Meter::kMostSeconds) std::fprintf(stderr, "%.1f s\n", seconds);
  if (bytes > Meter::kMostBytes) std::fprintf(stderr, "%" PRId64 " bytes\n", bytes);
  require(seconds <= Meter::kMostSeconds, "no input takes more than two seconds");
  require(bytes <= Meter::kMostBytes, "no input takes more than 256 MiB");
  return 0;
}

// New graphs as well as mutated ones: most bytes say which op comes next and what it is given, so
// that one changed byte gives another graph anyway.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t capacity,
                                          unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 3 != 0) return LLVMFuzzerMutate(data, size, capacity);
  const size_t count = std::min<size_t>(capacity, 8 + random() % 400);
  for (size_t i = 0; i < count; ++i) data[i] = static_cast<uint8_t>(random());
  return count;
}
