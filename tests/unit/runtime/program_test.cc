// SPDX-License-Identifier: Apache-2.0
// Programs as their users meet them: many shapes, many threads, odd outputs, traces.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#include "engine/build/builder.h"
#include "engine/context/context.h"
#include "engine/runtime/float_mode.h"
#include "tests/support/handles.h"

namespace nef::test {
namespace {

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6));
  }
  return 0;
}

std::vector<float> ramp(int64_t n, float start = 0) {
  std::vector<float> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(i)] = start + static_cast<float>(i);
  return out;
}

// x [n, 8] -> relu(x @ ones + 1), and its sum per row.
Graph rows_graph() {
  const Tensor x = input("x", {dim("n", 0, 1 << 20), dim(8)});
  const Tensor w = tensor(std::vector<float>(8 * 4, 1.f), {8, 4});
  const Tensor y = op("relu", {op("add", {op("matmul", {x, w}), tensor({1}, {1})})});
  return capture({y, op("reduce_sum", {y, ints({1})}, {int_attr("keepdims", 0)})});
}

void expect_rows(const std::vector<Tensor>& outs, int64_t n, float start) {
  ASSERT_EQ(shape_of(outs[0]), (std::vector<int64_t>{n, 4}));
  ASSERT_EQ(shape_of(outs[1]), (std::vector<int64_t>{n}));
  const auto y = floats(outs[0]), sums = floats(outs[1]);
  for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / 5)) {
    const float sum = 8 * (start + static_cast<float>(8 * i)) + 28 + 1;
    ASSERT_EQ(y[static_cast<size_t>(4 * i)], sum);
    ASSERT_EQ(sums[static_cast<size_t>(i)], 4 * sum);
  }
}

TEST(ProgramTest, TenThousandLengthsOfOneProgramStaySmall) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps freed memory for a while";
#endif
  const Program p = compile(rows_graph());
  uint32_t x = 1;
  long warm = 0;
  for (int k = 0; k < 10000; ++k) {
    x = x * 1664525u + 1013904223u;
    const int64_t n = (x >> 16) % 300;
    const float start = static_cast<float>(k % 17);
    expect_rows(run(p, {tensor(ramp(n * 8, start), {n, 8})}, 2), n, start);
    if (k == 1000) warm = resident_kib();
  }
  EXPECT_LT(resident_kib() - warm, 8 * 1024);
  const Json json = plan(p);
  EXPECT_GT(cJSON_GetArraySize(cJSON_GetObjectItem(json.get(), "regions")), 0);
}

TEST(ProgramTest, SixteenThreadsShareOne) {
  const Program p = compile(rows_graph());
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&p, t] {
      for (int k = 0; k < 60; ++k) {
        const int64_t n = (t * 7 + k) % 40;
        expect_rows(run(p, {tensor(ramp(n * 8, static_cast<float>(t)), {n, 8})}, 2), n,
                    static_cast<float>(t));
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(ProgramTest, SixteenThreadsExecuteOneLazyValue) {
  for (int k = 0; k < 20; ++k) {
    const Tensor y =
        op("exp", {op("matmul", {tensor(noise(64), {8, 8}), tensor(noise(64), {8, 8})})});
    std::vector<std::thread> threads;
    std::vector<const void*> views(16);
    for (size_t t = 0; t < 16; ++t) {
      threads.emplace_back([&, t] {
        size_t bytes = 0;
        ok(nef_tensor_data(y.get(), &views[t], &bytes));
        EXPECT_EQ(bytes, 256u);
      });
    }
    for (std::thread& t : threads) t.join();
    // One result, and every view of it is still good.
    for (const void* view : views) EXPECT_EQ(view, views[0]);
  }
}

// Kernels move the address of each operand by offsets, which the undefined-behaviour checks refuse
// where it is null.
TEST(ProgramTest, EmptyInputsNeedNoMemory) {
  auto g = std::make_shared<ir::Graph>();
  build::Builder build(*g);
  const ir::ValueId x = g->add_input("x", NEF_FLOAT32, ir::Shape{0, 3});
  const ir::ValueId w = g->add_input("w", NEF_FLOAT32, ir::Shape{5, 0});
  const ir::ValueId ints[] = {build.ints(std::vector<int64_t>{1, 2})};
  ir::AttrBuilder split(NEF_OP_SPLIT);
  split.set_int(NEF_SPLIT_AXIS, 1);
  const ir::ValueId pieces[] = {x, ints[0]}, product[] = {w, x};
  const ir::NodeId cut = build.add(NEF_OP_SPLIT, pieces, split.build(), 2);
  g->add_output("a", g->output(cut, 0));
  g->add_output("b", g->output(cut, 1));
  g->add_output("c", build.value(NEF_OP_MATMUL, product));
  for (const char* device : {"cpu", "reference"}) {
    runtime::ProgramOptions options;
    options.compile.device = device;
    const auto program = context::Context::get().compile(g, options);
    const int64_t rows[] = {0, 3}, columns[] = {5, 0};
    const runtime::TensorArg args[] = {{NEF_FLOAT32, rows, nullptr},
                                       {NEF_FLOAT32, columns, nullptr}};
    std::vector<runtime::TensorResult> out(3);
    program->run(args, out, {});
    ASSERT_EQ(out[2].data->bytes(), 15 * sizeof(float));
    for (int i = 0; i < 15; ++i) EXPECT_EQ(static_cast<const float*>(out[2].data->data())[i], 0.f);
  }
}

TEST(ProgramTest, OutputsThatNoNodeMakes) {
  const Tensor x = input("x", {dim("n"), dim(2)});
  const Tensor c = tensor({5, 6}, {2}), y = op("neg", {x});
  // Input as output, constant as output, one value twice, a view of the input.
  const Graph g = capture({x, c, y, y, op("flatten", {x}), x, op("reshape", {y, ints({-1})})});
  const Program p = compile(g);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const float first = static_cast<float>(repeat);
    const auto outs = run(p, {tensor({first, 2, 3, 4}, {2, 2})}, 7);
    const std::vector<float> same = {first, 2, 3, 4}, negated = {-first, -2, -3, -4};
    EXPECT_EQ(floats(outs[0]), same);
    EXPECT_EQ(floats(outs[1]), (std::vector<float>{5, 6}));
    EXPECT_EQ(floats(outs[2]), negated);
    EXPECT_EQ(floats(outs[3]), negated);
    EXPECT_EQ(floats(outs[4]), same);
    EXPECT_EQ(floats(outs[5]), same);
    EXPECT_EQ(floats(outs[6]), negated);
    // Scribbling on results touches nothing but them: not the next run, nor each other.
    std::set<const void*> distinct;
    for (const Tensor& t : outs) {
      const void* data = nullptr;
      size_t bytes = 0;
      ok(nef_tensor_data(t.get(), &data, &bytes));
      std::memset(const_cast<void*>(data), 0xff, bytes);
      distinct.insert(data);
    }
    EXPECT_EQ(distinct.size(), 7u);
  }
}

TEST(ProgramTest, AFoldedConstantIsNotHandedOut) {
  const Tensor folded = op("add", {tensor({1, 2}, {2}), tensor({10, 20}, {2})});
  const Program p = compile(capture({folded, op("mul", {folded, input("x", {dim(2)})})}));
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto outs = run(p, {tensor({1, 1}, {2})}, 2);
    EXPECT_EQ(floats(outs[0]), (std::vector<float>{11, 22}));
    EXPECT_EQ(floats(outs[1]), (std::vector<float>{11, 22}));
    const void* data = nullptr;
    size_t bytes = 0;
    ok(nef_tensor_data(outs[0].get(), &data, &bytes));
    std::memset(const_cast<void*>(data), 0xff, bytes);
  }
}

// More elements than one thread takes, so that workers follow too.
TEST(ProgramTest, SubnormalNumbersAreKeptUnlessFast) {
  const float tiny = 1e-40f;
  const Tensor x = input("x", {dim("n")});
  const Graph g = capture({op("mul", {x, tensor({0.5f}, {1})}), op("matmul", {x, x})});
  nef_compile_options fast = options();
  fast.precision = NEF_PRECISION_FAST;
  const Program exact = compile(g), flushed = compile(g, fast);
  const Tensor data = tensor(std::vector<float>(1 << 20, tiny), {1 << 20});
  for (const bool caller : {false, true}) {
    const runtime::FlushSubnormals mode(caller);
    // By bits: comparisons on this thread may take subnormals as zero.
    for (float v : floats(run(exact, {data}, 2)[0])) ASSERT_NE(std::bit_cast<uint32_t>(v), 0u);
    EXPECT_EQ(runtime::flushes_subnormals(), caller);
    for (float v : floats(run(flushed, {data}, 2)[0])) ASSERT_EQ(std::bit_cast<uint32_t>(v), 0u);
    EXPECT_EQ(runtime::flushes_subnormals(), caller);
  }
}

TEST(ProgramTest, NanAndInfinityPassThrough) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  const Tensor x = input("x", {dim("n")});
  const Tensor shifted = op("add", {op("mul", {x, tensor({2}, {1})}), tensor({1}, {1})});
  const Tensor zero = op("mul", {x, tensor({0}, {1})});
  const Tensor difference = op("sub", {x, x});
  const Tensor clipped = op("max", {x, tensor({0}, {1})});
  const Program p = compile(capture({shifted, zero, difference, clipped}));
  const auto outs = run(p, {tensor({1, nan, inf, -inf, -0.f}, {5})}, 4);
  const auto s = floats(outs[0]), z = floats(outs[1]), d = floats(outs[2]), c = floats(outs[3]);
  EXPECT_EQ(s[0], 3);
  EXPECT_TRUE(std::isnan(s[1]));
  EXPECT_EQ(s[2], inf);
  EXPECT_EQ(s[3], -inf);
  // x * 0 and x - x are not zero for these, whatever an optimiser wishes.
  EXPECT_TRUE(std::isnan(z[1]) && std::isnan(z[2]) && std::isnan(z[3]));
  EXPECT_TRUE(std::signbit(z[4]));
  EXPECT_TRUE(std::isnan(d[1]) && std::isnan(d[2]) && std::isnan(d[3]));
  EXPECT_EQ(c[0], 1);
  EXPECT_TRUE(std::isnan(c[1]));
  EXPECT_EQ(c[2], inf);
  EXPECT_EQ(c[3], 0);
}

TEST(ProgramTest, InputsThatDoNotFitAreRefused) {
  const Program p = compile(capture(
      {op("add", {input("a", {dim("n", 2, 8), dim(3)}), input("b", {dim("n", 2, 8), dim(3)})})}));
  const auto rows = [](int64_t n, int64_t m = 3) { return tensor(ramp(n * m), {n, m}); };
  std::vector<Tensor> out;
  const auto code = [&](std::vector<Tensor> in) { return take(try_run(p, in, &out)).code; };
  EXPECT_EQ(code({rows(2), rows(2)}), NEF_OK);
  EXPECT_EQ(code({rows(2)}), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code({rows(2), rows(2), rows(2)}), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code({rows(2), rows(3)}), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(code({rows(2, 4), rows(2, 4)}), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(code({rows(1), rows(1)}), NEF_OUT_OF_RANGE);
  EXPECT_EQ(code({rows(9), rows(9)}), NEF_OUT_OF_RANGE);
  EXPECT_EQ(code({ints({1, 2}), rows(2)}), NEF_DTYPE_MISMATCH);
  const Failure f = take(try_run(p, {rows(9), rows(9)}, &out));
  EXPECT_NE(f.message.find("must be within [2, 8]"), std::string::npos) << f.message;
}

TEST(ProgramTest, ATraceIsChromeTraceEvents) {
  const Program p = compile(rows_graph());
  test::Run r;
  ok(nef_run_create(p.get(), r.out()));
  ok(nef_run_set_input(r.get(), 0, tensor(ramp(24), {3, 8}).get()));
  nef_run_enable_trace(r.get());
  ok(nef_run_execute(r.get()));
  char* text = nullptr;
  ok(nef_run_trace(r.get(), &text));
  const Json json = take_json(text);
  const cJSON* list = cJSON_GetObjectItem(json.get(), "traceEvents");
  ASSERT_TRUE(cJSON_IsArray(list));
  std::set<int> named, used;  // a process for each device
  double before = -1;
  int complete = 0;
  const cJSON* e;
  cJSON_ArrayForEach(e, list) {
    const auto number = [&](const char* key) {
      const cJSON* item = cJSON_GetObjectItem(e, key);
      EXPECT_TRUE(cJSON_IsNumber(item)) << key;
      return item == nullptr ? 0.0 : item->valuedouble;
    };
    const int pid = static_cast<int>(number("pid"));
    if (json_text(e, "ph") == "M") {
      EXPECT_NE(json_text(cJSON_GetObjectItem(e, "args"), "name"), "");
      EXPECT_EQ(json_text(e, "name"), "process_name");
      named.insert(pid);
      continue;
    }
    EXPECT_EQ(json_text(e, "ph"), "X");
    EXPECT_NE(json_text(e, "name"), "");
    EXPECT_TRUE(json_text(e, "cat") == "kernel" || json_text(e, "cat") == "copy");
    EXPECT_GE(number("ts"), before);
    EXPECT_GE(number("dur"), 0);
    before = number("ts");
    EXPECT_GE(number("tid"), 0);
    used.insert(pid);
    ++complete;
  }
  EXPECT_GT(complete, 0);
  for (int pid : used) EXPECT_EQ(named.count(pid), 1u) << pid;
}

TEST(ProgramTest, TheSameKernelServesEachDtype) {
  // Same structure, other dtypes, in one process: a cache key without them would mix them up.
  const auto check = [](nef_dtype a_type, nef_dtype b_type) {
    const auto typed = [](nef_dtype dtype, double value) {
      Tensor d, t;
      ok(nef_tensor_create(NEF_FLOAT64, 0, nullptr, &value, d.out()));
      return op("cast", {d}, {int_attr("to", dtype)});
    };
    const Tensor a = op("cast", {typed(a_type, 3)}, {int_attr("to", b_type)});
    const Tensor sum = op("add", {op("mul", {a, typed(b_type, 2)}), typed(b_type, 1)});
    double got = 0;
    ok(nef_tensor_read(op("cast", {sum}, {int_attr("to", NEF_FLOAT64)}).get(), &got, sizeof got));
    EXPECT_EQ(got, 7) << nef_dtype_name(a_type) << ' ' << nef_dtype_name(b_type);
  };
  for (nef_dtype a = NEF_INT8; a <= NEF_FLOAT64; ++a) {
    for (nef_dtype b = NEF_FLOAT64; b >= NEF_INT8; --b) check(a, b);
  }
}

}  // namespace
}  // namespace nef::test
