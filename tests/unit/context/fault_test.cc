// SPDX-License-Identifier: Apache-2.0
// Structured failure through a backend that fails when it is told to (tests/plugins/fault.h).
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "engine/context/context.h"
#include "tests/plugins/fault.h"
#include "tests/support/handles.h"

namespace nef::test {
namespace {

std::string plugin(const char* name) { return std::string(NEF_TEST_PLUGIN_DIR "/") + name + ".so"; }

// A plugin's own counters, through its own symbols.
class Counts {
 public:
  explicit Counts(const char* name)
      : library_(::dlopen(plugin(name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
    read_ = reinterpret_cast<nef_fault_read_fn>(::dlsym(library_, NEF_FAULT_READ_SYMBOL));
    reset_ = reinterpret_cast<nef_fault_reset_fn>(::dlsym(library_, NEF_FAULT_RESET_SYMBOL));
  }
  nef_fault_counts read() const {
    nef_fault_counts c;
    read_(&c);
    return c;
  }
  void reset() const { reset_(); }

 private:
  void* library_;
  nef_fault_read_fn read_;
  nef_fault_reset_fn reset_;
};

nef_device_info device(const std::string& name) {
  for (size_t i = 0; i < nef_device_count(); ++i) {
    nef_device_info info{};
    info.struct_size = sizeof info;
    ok(nef_device(i, &info));
    if (name == info.name) return info;
  }
  throw std::runtime_error("no device " + name);
}

// The first plugin that any test loads, so that it is "gpu" in whatever order they run.
const Counts& fault() {
  static const Counts* counts = [] {
    ok(nef_backend_load(plugin("fault_backend").c_str()));
    return new Counts("fault_backend");
  }();
  return *counts;
}

constexpr int64_t kIn = 64, kOut = 48;

class Fault : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { counts_ = &fault(); }
  void SetUp() override {
    obey();
    counts_->reset();
    // Kernels of earlier tests would never be compiled again.
    context::Context::get().kernels().evict();
  }
  void TearDown() override {
    obey();
    // Whatever went wrong, no host address reached the device.
    EXPECT_EQ(counts_->read().host_pointers, 0);
  }
  static void set(const char* name, long value) {
    ::setenv(name, std::to_string(value).c_str(), 1);
  }
  static void obey() {
    for (const char* name :
         {"NEF_FAULT_MEMORY", "NEF_FAULT_CACHE", "NEF_FAULT_COMPILE", "NEF_FAULT_PREPARE",
          "NEF_FAULT_LOST", "NEF_FAULT_REFUSE", "NEF_FAULT_PIN"}) {
      ::unsetenv(name);
    }
  }

  // relu(x @ w + b) * s over any batch.
  static Graph layer(int64_t min_batch = 1) {
    const Tensor x = input("x", {dim("batch", min_batch, 4096), dim(kIn)});
    const Tensor w = tensor(noise(kIn * kOut, 2), {kIn, kOut});
    const Tensor b = tensor(noise(kOut, 3), {kOut});
    return capture({op("relu", {op("add", {op("matmul", {x, w}), b})})});
  }
  static Tensor batch(int64_t n) { return tensor(noise(n * kIn, 7), {n, kIn}); }
  static void expect_right(const Tensor& got, int64_t n) {
    ASSERT_EQ(shape_of(got), (std::vector<int64_t>{n, kOut}));
    const auto x = noise(n * kIn, 7), w = noise(kIn * kOut, 2), b = noise(kOut, 3);
    const auto y = floats(got);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < kOut; ++j) {
        double sum = b[j];
        for (int64_t k = 0; k < kIn; ++k) sum += double{x[i * kIn + k]} * w[k * kOut + j];
        ASSERT_NEAR(y[i * kOut + j], std::max(0.0, sum), 1e-4) << i << ' ' << j;
      }
    }
  }
  static std::vector<std::string> whats(const Program& p) {
    std::vector<std::string> out;
    for (const Event& e : events(p)) out.push_back(e.what);
    return out;
  }
  static Program on_fault(const Graph& g, bool strict = false) {
    nef_compile_options o = options("fault");
    o.strict = strict;
    return compile(g, o);
  }
  // Device memory of a run of `n` rows, with the weights, measured.
  static long memory_of(const Graph& g, int64_t n) {
    counts_->reset();
    const long before = counts_->read().bytes;
    const Program p = on_fault(g);
    run(p, {batch(n)});
    const long most = counts_->read().most_bytes - before;
    counts_->reset();
    return most;
  }

  static inline const Counts* counts_ = nullptr;
};

using Words = std::vector<std::string>;

TEST_F(Fault, EmptyValuesAreInDeviceMemoryToo) {
  const Program p =
      compile(capture({op("relu", {input("x", {dim("n", 0, 8), dim(4)})})}), options("gpu"));
  EXPECT_EQ(shape_of(run(p, {tensor({}, {0, 4})})[0]), (std::vector<int64_t>{0, 4}));
}

TEST_F(Fault, RunsOnTheDeviceWithTransfersAtItsBoundaryOnly) {
  const Program p = on_fault(layer());
  EXPECT_EQ(placement(p), "matmul@fault:0 add@fault:0 relu@fault:0");
  const Json json = plan(p);
  EXPECT_EQ(cJSON_GetObjectItem(json.get(), "transfers")->valueint, 2);
  for (int64_t n : {1, 5, 33}) {
    counts_->reset();
    expect_right(run(p, {batch(n)})[0], n);
    EXPECT_EQ(counts_->read().to_device, 1);
    EXPECT_EQ(counts_->read().from_device, 1);
    EXPECT_EQ(counts_->read().launches, 3);
  }
  EXPECT_TRUE(events(p).empty());
}

TEST_F(Fault, MemoryThatCannotBePinnedIsAnEvent) {
  // What is in between lies in host memory.
  const Tensor x = op("relu", {input("x", {dim("n", 0, 4096)})}, {}, "fault");
  const Graph g = capture({op("relu", {op("neg", {x}, {}, "cpu")}, {}, "fault")});
  nef_compile_options o = options("");
  o.strict = 1;  // nothing computes elsewhere for that: strict mode allows it
  const Program pinned = compile(g, o);
  run(pinned, {tensor({1, 2}, {2})});
  EXPECT_EQ(whats(pinned), Words{});
  set("NEF_FAULT_PIN", 0);
  const Program p = compile(g, o);
  for (const int64_t n : {3, 1000, 5, 0}) {
    const auto y = floats(run(p, {tensor(noise(n, 7), {n})})[0]);
    ASSERT_EQ(y.size(), static_cast<size_t>(n));
    for (const float v : y) ASSERT_EQ(v, 0.0f);
  }
  ASSERT_EQ(whats(p), Words{"host memory is not pinned"});
  const Event e = events(p)[0];
  EXPECT_NE(e.why.find("fault: nothing can be pinned"), std::string::npos) << e.why;
  EXPECT_EQ(e.from, "fault:0");
}

TEST_F(Fault, EverythingIsGivenBack) {
  const long before = counts_->read().bytes;
  {
    const Program p = on_fault(layer());
    run(p, {batch(3)});
    run(p, {batch(300)});
    EXPECT_GT(counts_->read().bytes, before);
  }
  EXPECT_EQ(counts_->read().bytes, before);
  EXPECT_EQ(counts_->read().allocs, counts_->read().frees);
}

TEST_F(Fault, LargeContractionsGoThereUnasked) {
  const Tensor x = input("x", {dim(2), dim(1024)});
  const Tensor w = tensor(noise(1024 * 1024), {1024, 1024});
  const Program p = compile(capture({op("relu", {op("matmul", {x, w})})}));
  EXPECT_NE(placement(p).find("matmul@fault:0"), std::string::npos) << placement(p);
}

TEST_F(Fault, NodesGoWhereTheirAuthorWantsThem) {
  const Tensor x = input("x", {dim(4), dim(4)});
  const Tensor there = op("mul", {x, x}, {}, "gpu");
  const Tensor back = op("add", {there, x}, {}, "cpu");
  const Tensor again = op("relu", {op("sub", {back, there}, {}, "fault:0")}, {}, "cpu");
  const Program p = compile(capture({again}));
  EXPECT_EQ(placement(p), "mul@fault:0 add@cpu:0 sub@fault:0 relu@cpu:0");
  const auto data = noise(16);
  const auto y = floats(run(p, {tensor(data, {4, 4})})[0]);
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(y[i], std::max(0.f, data[i] * data[i] + data[i] - data[i] * data[i]));
}

// ---- out of memory

TEST_F(Fault, OutOfMemoryFirstEvictsCaches) {
  const Graph g = layer();
  const long need = memory_of(g, 64);
  set("NEF_FAULT_CACHE", need / 2);
  set("NEF_FAULT_MEMORY", need + need / 4);
  const Program p = on_fault(g);
  expect_right(run(p, {batch(64)})[0], 64);
  EXPECT_EQ(whats(p), (Words{"out of memory"}));
  const Event e = events(p)[0];
  EXPECT_NE(e.why.find("device memory is short"), std::string::npos) << e.why;
  EXPECT_NE(e.to.find("evict"), std::string::npos) << e.to;
  EXPECT_EQ(counts_->read().evictions, 1);
  EXPECT_EQ(counts_->read().launches, 3);  // on the device, in one piece
}

TEST_F(Fault, WhatOtherProgramsKeepIsEvictedToo) {
  const Graph g = layer();
  const long need = memory_of(g, 64);
  const Program other = on_fault(g);
  run(other, {batch(64)});
  const Program p = on_fault(g);
  set("NEF_FAULT_MEMORY", need + need / 2);
  expect_right(run(p, {batch(64)})[0], 64);
  EXPECT_EQ(whats(p), (Words{"out of memory"}));
  expect_right(run(other, {batch(2)})[0], 2);
  EXPECT_TRUE(events(other).empty());
}

TEST_F(Fault, ThenItTriesSmallerBatches) {
  const Graph g = layer();
  set("NEF_FAULT_MEMORY", memory_of(g, 20));
  const Program p = on_fault(g);
  for (int64_t n : {64, 61}) {
    counts_->reset();
    expect_right(run(p, {batch(n)})[0], n);
    EXPECT_EQ(counts_->read().launches, 3 * 4);  // four parts
  }
  EXPECT_EQ(whats(p), (Words{"out of memory", "still out of memory", "out of memory",
                             "still out of memory"}));
  EXPECT_EQ(events(p)[1].to, "4 smaller batches");
  // A batch that fits runs whole and quietly.
  counts_->reset();
  expect_right(run(p, {batch(20)})[0], 20);
  EXPECT_EQ(counts_->read().launches, 3);
  EXPECT_EQ(events(p).size(), 4u);
}

TEST_F(Fault, ThenItMovesToTheCpu) {
  const Graph g = layer();
  const Program p = on_fault(g);
  set("NEF_FAULT_MEMORY", counts_->read().bytes + 64);
  expect_right(run(p, {batch(8)})[0], 8);
  EXPECT_EQ(whats(p), (Words{"out of memory", "still out of memory"}));
  EXPECT_EQ(events(p)[1].from, "fault:0");
  EXPECT_EQ(events(p)[1].to, "cpu");
  EXPECT_EQ(placement(p).find("fault"), std::string::npos) << placement(p);
  counts_->reset();
  expect_right(run(p, {batch(9)})[0], 9);  // and stays there
  EXPECT_EQ(counts_->read().launches, 0);
  EXPECT_EQ(events(p).size(), 2u);
}

TEST_F(Fault, ABatchIsNotSplitBelowItsLowerBound) {
  const Graph g = layer(16);
  const Program p = on_fault(g);
  set("NEF_FAULT_MEMORY", counts_->read().bytes + 64);
  expect_right(run(p, {batch(40)})[0], 40);
  EXPECT_EQ(whats(p), (Words{"out of memory", "still out of memory"}));
  EXPECT_EQ(events(p)[1].to, "cpu");
}

// Rows that depend on each other must not be computed apart.
TEST_F(Fault, ABatchWhoseRowsMeetIsNotSplit) {
  const Tensor x = input("x", {dim("batch", 1, 4096), dim(kIn)});
  const Tensor centred = op("sub", {x, op("reduce_mean", {x, ints({0})})});
  const Tensor over_batch = op("softmax", {x}, {int_attr("axis", 0)});
  const Tensor running =
      op("cumsum", {x, [] {
                      Tensor t;
                      const int64_t zero = 0;
                      ok(nef_tensor_create(NEF_INT64, 0, nullptr, &zero, t.out()));
                      return t;
                    }()});
  const Tensor mixed = op("matmul", {op("matmul", {x, op("transpose", {x})}), x});
  for (const Tensor& y : {centred, over_batch, running, mixed}) {
    obey();
    const Graph g = capture({op("relu", {op("mul", {y, y}, {}, "gpu")}, {}, "gpu")});
    const auto want = floats(run(compile(g, options("reference")), {batch(64)})[0]);
    const Program p = compile(g);
    set("NEF_FAULT_MEMORY", counts_->read().bytes + 8192);
    const auto got = floats(run(p, {batch(64)})[0]);
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], 1e-4 * std::max(1.f, std::fabs(want[i]))) << i;
    }
    EXPECT_EQ(whats(p), (Words{"out of memory", "still out of memory"}));
    EXPECT_EQ(events(p)[1].to, "cpu");
  }
}

TEST_F(Fault, AMemoryBudgetIsKeptTheSameWay) {
  nef_compile_options o = options("fault");
  o.memory_budget = 20 * (kIn + 2 * kOut) * sizeof(float);
  const Program p = compile(layer(), o);
  expect_right(run(p, {batch(64)})[0], 64);
  EXPECT_EQ(whats(p), (Words{"out of memory", "still out of memory"}));
  EXPECT_NE(events(p)[0].why.find("memory budget"), std::string::npos) << events(p)[0].why;
  EXPECT_NE(events(p)[1].to.find("smaller batches"), std::string::npos);
  EXPECT_LE(counts_->read().most_bytes, static_cast<long>(o.memory_budget) + 16384);
}

// No other program's memory is in the way of a budget, and what fitted once is tried first.
TEST_F(Fault, ABudgetEvictsNothingAndLearnsWhatFits) {
  const Tensor x = input("x", {dim("batch"), dim(kIn)});
  const Tensor w = tensor(noise(kIn * kOut, 2), {kIn, kOut});
  // One number a row: the output, which counts as a whole, stays small.
  const Graph g = capture({op("reduce_sum", {op("relu", {op("matmul", {x, w})}), ints({1})})});
  nef_compile_options o = options("fault");
  const Program unlimited = compile(g, o);
  o.memory_budget = 20 * (kIn + kOut) * sizeof(float);
  const Program p = compile(g, o);
  const auto expect_same = [&](int64_t rows) {
    const auto want = floats(run(unlimited, {batch(rows)})[0]);
    const auto got = floats(run(p, {batch(rows)})[0]);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4f) << i;
  };
  const size_t placed = events(p).size();
  expect_same(64);
  ASSERT_EQ(events(p).size(), placed + 2);
  EXPECT_EQ(counts_->read().evictions, 0);
  const std::string parts = events(p).back().to;
  expect_same(128);
  ASSERT_EQ(events(p).size(), placed + 4);
  EXPECT_EQ(std::stoi(events(p).back().to), 2 * std::stoi(parts));
  EXPECT_EQ(counts_->read().evictions, 0);
}

TEST_F(Fault, FallbacksOfLazyTensorsCanBeRead) {
  ::setenv("NEF_FAULT_COMPILE", "relu", 1);
  const Tensor y = op("relu", {tensor({1, -3}, {2})}, {}, "fault");
  EXPECT_EQ(floats(y), (std::vector<float>{1, 0}));
  const std::vector<Event> all = lazy_events();
  ASSERT_FALSE(all.empty());
  EXPECT_NE(all.back().why.find("the compiler crashed on relu"), std::string::npos);
  EXPECT_EQ(all.back().from, "fault:0");
}

TEST_F(Fault, ABudgetThatNothingFitsIsAnError) {
  nef_compile_options o = options("cpu");
  o.memory_budget = 1;
  const Tensor x = input("x", {dim("batch"), dim(kIn)});
  const Tensor w = tensor(noise(kIn * kOut, 2), {kIn, kOut});
  // Two contractions need memory between them.
  const Program p =
      compile(capture({op("matmul", {op("matmul", {x, w}), op("transpose", {w})})}), o);
  std::vector<Tensor> out;
  const Failure f = take(try_run(p, {batch(4)}, &out));
  EXPECT_EQ(f.code, NEF_OUT_OF_MEMORY);
  EXPECT_NE(f.message.find("memory budget is 1"), std::string::npos) << f.message;
}

TEST_F(Fault, WeightsThatDoNotFitGoToTheCpu) {
  ::setenv("NEF_FAULT_PREPARE", "matmul", 1);
  const Program p = on_fault(layer());
  EXPECT_EQ(placement(p), "matmul@cpu:0 add@fault:0 relu@fault:0");
  expect_right(run(p, {batch(6)})[0], 6);
  EXPECT_EQ(counts_->read().evictions, 1);
  ASSERT_EQ(events(p).size(), 2u);
  EXPECT_EQ(events(p)[0].what, "out of memory");
  EXPECT_NE(events(p)[0].to.find("evict"), std::string::npos);
  const Event e = events(p)[1];
  EXPECT_NE(e.what.find("preparation of"), std::string::npos) << e.what;
  EXPECT_NE(e.why.find("no room for the weights"), std::string::npos) << e.why;
  EXPECT_EQ(e.from, "fault:0");
  EXPECT_EQ(e.to, "cpu:0");
}

// Two failures of the last step (once before caches are evicted): the others are made once.
TEST_F(Fault, WeightsThatFitArePackedOnce) {
  ::setenv("NEF_FAULT_PREPARE", "relu", 1);
  counts_->reset();
  const Program p = on_fault(layer());
  EXPECT_EQ(placement(p), "matmul@fault:0 add@fault:0 relu@cpu:0");
  EXPECT_EQ(counts_->read().prepares, 4);  // matmul, add, relu twice
  expect_right(run(p, {batch(6)})[0], 6);
}

// ---- compile failure

TEST_F(Fault, WhatDoesNotCompileGoesToTheCpu) {
  ::setenv("NEF_FAULT_COMPILE", "add", 1);
  const Program p = on_fault(layer());
  EXPECT_EQ(placement(p), "matmul@fault:0 add@cpu:0 relu@fault:0");
  expect_right(run(p, {batch(6)})[0], 6);
  ASSERT_EQ(events(p).size(), 1u);
  const Event e = events(p)[0];
  EXPECT_NE(e.what.find("compile of"), std::string::npos) << e.what;
  EXPECT_NE(e.what.find("add"), std::string::npos) << e.what;
  EXPECT_NE(e.why.find("the compiler crashed on add"), std::string::npos) << e.why;
  EXPECT_EQ(e.from, "fault:0");
  EXPECT_EQ(e.to, "cpu:0");
}

TEST_F(Fault, WhatADeviceDoesNotServeIsAnEventWhenItWasAskedFor) {
  ::setenv("NEF_FAULT_REFUSE", "add", 1);
  // A fresh thread: what a device serves is remembered per thread.
  std::thread([] {
    const Program p = on_fault(layer());
    EXPECT_EQ(placement(p), "matmul@fault:0 add@cpu:0 relu@fault:0");
    expect_right(run(p, {batch(6)})[0], 6);
    ASSERT_EQ(events(p).size(), 1u);
    EXPECT_NE(events(p)[0].why.find("told to refuse"), std::string::npos);
    EXPECT_EQ(events(p)[0].to, "cpu:0");
  }).join();
}

TEST_F(Fault, ADeviceThatIsNotThereIsAnEventForItsNode) {
  const Tensor x = input("x", {dim(2)});
  const Program p = compile(capture({op("relu", {x}, {}, "npu")}));
  EXPECT_EQ(placement(p), "relu@cpu:0");
  ASSERT_EQ(events(p).size(), 1u);
  EXPECT_NE(events(p)[0].why.find("\"npu\", which is not present"), std::string::npos);
  EXPECT_EQ(events(p)[0].from, "npu");
  EXPECT_EQ(events(p)[0].to, "cpu:0");
}

// ---- device lost

TEST_F(Fault, ALostDeviceIsLeftForTheCpu) {
  const Program p = on_fault(layer());
  expect_right(run(p, {batch(4)})[0], 4);
  counts_->reset();
  set("NEF_FAULT_LOST", 2);
  expect_right(run(p, {batch(5)})[0], 5);
  EXPECT_EQ(counts_->read().launches, 2);
  EXPECT_EQ(whats(p), (Words{"device lost"}));
  EXPECT_NE(events(p)[0].why.find("fell off the bus"), std::string::npos);
  EXPECT_EQ(events(p)[0].from, "fault:0");
  EXPECT_EQ(events(p)[0].to, "cpu");
}

TEST_F(Fault, ALostDeviceUnderManyThreadsIsOneEvent) {
  const Program p = on_fault(layer());
  set("NEF_FAULT_LOST", 10);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&p, i] {
      for (int k = 0; k < 5; ++k) expect_right(run(p, {batch(1 + i)})[0], 1 + i);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(whats(p), (Words{"device lost"}));
}

// ---- branches side by side

// The sum of four branches; two of them are on the device.
Graph branches(const char* device) {
  const Tensor x = input("x", {dim("batch", 1, 4096), dim(kIn)});
  std::vector<Tensor> ends;
  for (uint32_t b = 0; b < 4; ++b) {
    const char* where = b % 2 == 0 ? device : "cpu";
    const Tensor h = op("matmul", {x, tensor(noise(kIn * kOut, 20 + b), {kIn, kOut})}, {}, where);
    ends.push_back(op("relu", {h}, {}, where));
  }
  return capture({op("sum", ends, {}, "cpu")});
}

TEST_F(Fault, BranchesSideBySideFailLikeOthers) {
  nef_compile_options o = options();
  o.parallel_branches = 4;
  const Graph g = branches("fault");
  const auto want = floats(run(compile(branches("cpu")), {batch(40)})[0]);
  const auto expect_sum = [&](const Program& p) {
    const auto got = floats(run(p, {batch(40)})[0]);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4);
  };
  {
    const Program p = compile(g, o);
    for (int k = 0; k < 50; ++k) expect_sum(p);
    EXPECT_TRUE(events(p).empty());
    counts_->reset();
    set("NEF_FAULT_LOST", 3);
    expect_sum(p);
    expect_sum(p);
    EXPECT_EQ(whats(p), (Words{"device lost"}));
    obey();
  }
  const Program squeezed = compile(g, o);
  set("NEF_FAULT_MEMORY", counts_->read().bytes + 7000);
  expect_sum(squeezed);
  EXPECT_EQ(whats(squeezed), (Words{"out of memory", "still out of memory"}));
}

// ---- strict mode

TEST_F(Fault, StrictModeForbidsEachFallback) {
  const Graph g = layer();
  std::vector<Tensor> out;
  const auto refused = [&](nef_status* status, const char* word) {
    const Failure f = take(status);
    EXPECT_EQ(f.code, NEF_FALLBACK_FORBIDDEN) << f.message;
    EXPECT_NE(f.message.find(word), std::string::npos) << f.message;
  };
  nef_compile_options o = options("fault");
  o.strict = 1;
  {
    const Program p = compile(g, o);
    set("NEF_FAULT_MEMORY", counts_->read().bytes + 64);
    refused(try_run(p, {batch(8)}, &out), "device memory is short");
    obey();
    set("NEF_FAULT_LOST", 1);
    counts_->reset();
    refused(try_run(p, {batch(8)}, &out), "fell off the bus");
    obey();
    expect_right(run(p, {batch(8)})[0], 8);  // it has kept its place
    EXPECT_TRUE(events(p).empty());
  }
  nef_program* none = nullptr;
  ::setenv("NEF_FAULT_COMPILE", "relu", 1);
  const Graph other = capture({op("relu", {input("x", {dim("batch"), dim(3), dim(3)})})});
  refused(nef_graph_compile(other.get(), &o, &none), "the compiler crashed");
  obey();
  ::setenv("NEF_FAULT_PREPARE", "matmul", 1);
  refused(nef_graph_compile(g.get(), &o, &none), "no room for the weights");
  obey();
  const Graph unserved = capture({op("tanh", {input("x", {dim(2)})})});
  refused(nef_graph_compile(unserved.get(), &o, &none), "does not serve");
  nef_compile_options anywhere = options();
  anywhere.strict = 1;
  const Graph absent = capture({op("relu", {input("x", {dim(2)})}, {}, "npu")});
  refused(nef_graph_compile(absent.get(), &anywhere, &none), "npu");
  const Graph asked = capture({op("tanh", {input("x", {dim(2)})}, {}, "fault")});
  refused(nef_graph_compile(asked.get(), &anywhere, &none), "does not serve");
  EXPECT_EQ(none, nullptr);
}

// ---- plugins that do not load

TEST(Plugin, AFailedProbeIsListedWithItsReason) {
  const Failure f = take(nef_backend_load(plugin("fault_probe").c_str()));
  EXPECT_EQ(f.code, NEF_BACKEND_UNAVAILABLE);
  EXPECT_NE(f.message.find("driver 1.2 is older than 3.4"), std::string::npos) << f.message;
  EXPECT_EQ(device("probe").available, 0);
  EXPECT_STREQ(device("probe").reason, "driver 1.2 is older than 3.4: update it");
}

TEST(Plugin, OneWithoutDevicesIsListedToo) {
  ok(nef_backend_load(plugin("fault_no_device").c_str()));
  EXPECT_EQ(device("nodevice").available, 0);
  EXPECT_STREQ(device("nodevice").reason, "it found no device");
}

TEST(Plugin, OfAnotherAbiVersionIsRefusedBeforeItRuns) {
  const std::string path = plugin("fault_abi");
  const Failure f = take(nef_backend_load(path.c_str()));
  EXPECT_EQ(f.code, NEF_ABI_MISMATCH);
  EXPECT_NE(f.message.find("version 99"), std::string::npos) << f.message;
  EXPECT_NE(f.message.find("speaks 1"), std::string::npos) << f.message;
  EXPECT_EQ(device(path).available, 0);
}

TEST(Plugin, WithoutWhatEveryBackendHasIsRefused) {
  for (const char* name : {"fault_short", "fault_incomplete"}) {
    const Failure f = take(nef_backend_load(plugin(name).c_str()));
    EXPECT_EQ(f.code, NEF_ABI_MISMATCH) << name;
    EXPECT_NE(f.message.find("lacks"), std::string::npos) << f.message;
  }
  const Failure f = take(nef_backend_load(plugin("fault_no_symbol").c_str()));
  EXPECT_EQ(f.code, NEF_ABI_MISMATCH);
  EXPECT_NE(f.message.find("nef_backend_entry"), std::string::npos) << f.message;
}

TEST(Plugin, OfAShorterTableWorks) {
  fault();
  ok(nef_backend_load(plugin("fault_old").c_str()));
  const Graph g = capture({op("relu", {input("x", {dim(3)})})});
  const Program p = compile(g, options("old"));
  EXPECT_EQ(placement(p), "relu@old:0");
  EXPECT_EQ(floats(run(p, {tensor({-1, 0, 2}, {3})})[0]), (std::vector<float>{0, 0, 2}));
}

TEST(Plugin, IsNamedByAnExistingFileWithItsFolder) {
  EXPECT_EQ(take(nef_backend_load("fault_backend.so")).code, NEF_INVALID_ARGUMENT);
  EXPECT_EQ(take(nef_backend_load("./no_such_plugin.so")).code, NEF_BACKEND_UNAVAILABLE);
  EXPECT_EQ(take(nef_backend_load(NEF_SOURCE_DIR "/LICENSE")).code, NEF_BACKEND_UNAVAILABLE);
  EXPECT_EQ(take(nef_backend_load(nullptr)).code, NEF_INVALID_ARGUMENT);
}

TEST_F(Fault, APluginLoadsOnce) {
  const Failure f = take(nef_backend_load(plugin("fault_backend").c_str()));
  EXPECT_EQ(f.code, NEF_DUPLICATE_NAME);
}

// ---- several devices

// Four layers, each with weights of 64 KiB, and one that its author pinned.
TEST(Pair, AGraphTooLargeForOneDeviceIsSpreadOverBoth) {
  fault();
  static const bool loaded = (ok(nef_backend_load(plugin("fault_pair").c_str())), true);
  ASSERT_TRUE(loaded);
  const Counts counts("fault_pair");
  constexpr int64_t kWidth = 128;
  Tensor y = input("x", {dim(2), dim(kWidth)});
  for (uint32_t layer = 0; layer < 4; ++layer) {
    const Tensor w = tensor(noise(kWidth * kWidth, layer), {kWidth, kWidth});
    y = op("relu", {op("matmul", {y, w}, {}, layer == 3 ? "pair:0" : "pair")}, {}, "pair");
  }
  const Graph g = capture({y});
  const std::vector<Tensor> x{tensor(noise(2 * kWidth), {2, kWidth})};
  const auto want = floats(run(compile(g, options("reference")), x)[0]);
  const auto check = [&](const char* placed, const char* room) {
    ::setenv("NEF_FAULT_ROOM", room, 1);
    const Program p = compile(g);
    ::unsetenv("NEF_FAULT_ROOM");
    EXPECT_EQ(placement(p), placed);
    const auto got = floats(run(p, x)[0]);
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-3) << room << ' ' << i;
    EXPECT_TRUE(events(p).empty());
  };
  check(
      "matmul@pair:0 relu@pair:0 matmul@pair:0 relu@pair:0 "
      "matmul@pair:0 relu@pair:0 matmul@pair:0 relu@pair:0",
      "1000000");
  check(
      "matmul@pair:0 relu@pair:0 matmul@pair:0 relu@pair:0 "
      "matmul@pair:1 relu@pair:1 matmul@pair:0 relu@pair:1",
      "150000");
  EXPECT_EQ(counts.read().host_pointers, 0);
}

// ---- serial backends

TEST(Serial, OneCallAtATimeForAllItsDevices) {
  fault();
  ok(nef_backend_load(plugin("fault_serial").c_str()));
  const Counts counts("fault_serial");
  const Tensor x = input("x", {dim("batch"), dim(8)});
  const Tensor first = op("relu", {op("mul", {x, x}, {}, "serial:0")}, {}, "serial:1");
  const Graph g = capture({op("add", {first, x}, {}, "serial:1")});
  const Program shared = compile(g);
  EXPECT_EQ(placement(shared), "mul@serial:0 relu@serial:1 add@serial:1");
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int64_t k = 0; k < 20; ++k) {
        const Program own = k % 5 == 0 ? compile(g) : shared;
        const int64_t n = 1 + (i + k) % 7;
        const auto data = noise(static_cast<size_t>(n * 8), static_cast<uint32_t>(i));
        const auto y = floats(run(own, {tensor(data, {n, 8})})[0]);
        for (size_t j = 0; j < y.size(); ++j) ASSERT_EQ(y[j], data[j] * data[j] + data[j]);
        plan(own);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(counts.read().overlaps, 0);
  EXPECT_GT(counts.read().launches, 16 * 20 * 2);

  nef_compile_options o = options();
  o.parallel_branches = 4;
  const Program side_by_side = compile(branches("serial"), o);
  for (int k = 0; k < 50; ++k) {
    run(side_by_side, {tensor(noise(8 * kIn), {8, kIn})});
  }
  EXPECT_EQ(counts.read().overlaps, 0);
}

}  // namespace
}  // namespace nef::test
