// SPDX-License-Identifier: Apache-2.0
// Branches that do not depend on each other may run side by side: same results, memory of one
// wave disjoint, failures and cancellation as in a plain run.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "engine/build/builder.h"
#include "engine/context/context.h"
#include "engine/ir/error.h"

namespace nef {
namespace {

using ir::ValueId;

constexpr int64_t kWidth = 48;
constexpr int kBranches = 6;

ValueId constant(ir::Graph& graph, float number) {
  auto data = ir::Buffer::allocate(kWidth * kWidth * sizeof(float));
  auto* p = static_cast<float*>(data->data());
  for (int64_t i = 0; i < kWidth * kWidth; ++i) p[i] = number / kWidth + static_cast<float>(i % 7);
  const ir::Dim dims[2] = {kWidth, kWidth};
  return graph.add_constant(NEF_FLOAT32, dims, data);
}

// sum over b of softmax(relu(x w_b)) w_b
std::shared_ptr<const ir::Graph> fan() {
  auto graph = std::make_shared<ir::Graph>();
  build::Builder builder(*graph);
  const ir::Dim dims[2] = {kWidth, kWidth};
  const ValueId x = graph->add_input("x", NEF_FLOAT32, dims);
  const auto op = [&](nef_op id, std::vector<ValueId> in) {
    return builder.value(id, in, ir::AttrBuilder(id).build());
  };
  std::vector<ValueId> ends;
  for (int b = 0; b < kBranches; ++b) {
    const ValueId w = constant(*graph, static_cast<float>(b));
    const ValueId h = op(NEF_OP_SOFTMAX, {op(NEF_OP_RELU, {op(NEF_OP_MATMUL, {x, w})})});
    ends.push_back(op(NEF_OP_MATMUL, {h, w}));
  }
  graph->add_output("y", op(NEF_OP_SUM, ends));
  return graph;
}

std::shared_ptr<runtime::Program> program(int branches) {
  runtime::ProgramOptions options;
  options.compile.parallel_branches = branches;
  return context::Context::get().compile(fan(), options);
}

std::vector<char> run(runtime::Program& p, const runtime::RunControl& control = {}) {
  std::vector<float> x(kWidth * kWidth);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) - 6;
  const int64_t dims[2] = {kWidth, kWidth};
  const runtime::TensorArg arg{NEF_FLOAT32, dims, x.data()};
  runtime::TensorResult result;
  p.run({&arg, 1}, {&result, 1}, control);
  const auto* data = static_cast<const char*>(result.data->data());
  return {data, data + result.data->bytes()};
}

TEST(Branches, SideBySideGivesTheSameBytes) {
  const auto one = program(1), many = program(kBranches);
  const std::vector<char> expected = run(*one);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(run(*many), expected) << "run " << i;
}

TEST(Branches, WavesHoldWhatIsIndependent) {
  const auto many = program(kBranches);
  const compile::Program& p = many->executor()->program();
  std::multiset<uint32_t> sizes;
  for (uint32_t w : std::set<uint32_t>(p.wave.begin(), p.wave.end())) {
    sizes.insert(static_cast<uint32_t>(std::count(p.wave.begin(), p.wave.end(), w)));
  }
  EXPECT_EQ(*sizes.rbegin(), static_cast<uint32_t>(kBranches));
  EXPECT_TRUE(std::is_sorted(p.wave.begin(), p.wave.end()));
  const auto one = program(1);
  const compile::Program& q = one->executor()->program();
  EXPECT_EQ(std::set<uint32_t>(q.wave.begin(), q.wave.end()).size(), q.steps.size());
}

TEST(Branches, EveryStepIsTracedOnce) {
  const auto many = program(kBranches);
  runtime::Trace trace;
  runtime::RunControl control;
  control.trace = &trace;
  run(*many, control);
  ASSERT_EQ(trace.spans.size(), many->executor()->program().steps.size());
  for (const auto& span : trace.spans) EXPECT_GE(span.end, span.begin);
  EXPECT_NE(trace.json().find("\"traceEvents\""), std::string::npos);
}

TEST(Branches, ACancelledRunStopsBeforeAWave) {
  const auto many = program(kBranches);
  const std::atomic<bool> cancel{true};
  runtime::RunControl control;
  control.cancel = &cancel;
  try {
    run(*many, control);
    FAIL() << "the run was not cancelled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), NEF_CANCELLED);
  }
}

}  // namespace
}  // namespace nef
