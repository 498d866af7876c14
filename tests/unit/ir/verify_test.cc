// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/verify.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "engine/build/builder.h"
#include "engine/ir/error.h"

namespace nef::ir {
namespace {

// [batch 3] x [3 4] + [4], then its shape.
struct Sample {
  Graph graph;
  ValueId x, w, bias, product, sum;

  Sample() {
    const Dim batch = graph.pool().symbol("batch");
    x = graph.add_input("x", NEF_FLOAT32, Shape{batch, 3});
    w = constant(Shape{3, 4});
    bias = constant(Shape{4});
    build::Builder b(graph);
    const ValueId mm[] = {x, w};
    product = b.value(NEF_OP_MATMUL, mm);
    const ValueId add[] = {product, bias};
    sum = b.value(NEF_OP_ADD, add);
    graph.add_output("y", sum);
  }
  ValueId constant(const Shape& dims) {
    const size_t bytes = static_cast<size_t>(byte_count(NEF_FLOAT32, dims));
    std::shared_ptr<Buffer> data = Buffer::allocate(bytes);
    std::memset(data->data(), 0, bytes);
    return graph.add_constant(NEF_FLOAT32, dims, data);
  }
};

std::string fault(const Graph& g) {
  try {
    verify(g, "after a test");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), NEF_INTERNAL);
    EXPECT_EQ(e.message().find("after a test: "), 0u);
    return e.message();
  }
  return "";
}

void expect_fault(const std::function<void(Sample&)>& damage, const char* text) {
  Sample s;
  damage(s);
  const std::string got = fault(s.graph);
  EXPECT_NE(got.find(text), std::string::npos) << "wanted " << text << ", got " << got;
}

TEST(Verify, SoundGraph) {
  Sample s;
  EXPECT_EQ(fault(s.graph), "");
}

TEST(Verify, WrongTypes) {
  expect_fault(
      [](Sample& s) {
        s.graph.set_type(s.sum, NEF_FLOAT32, s.graph.shapes().intern(Shape{2, 4}));
      },
      "but infers as float32 [batch 4]");
  expect_fault([](Sample& s) { s.graph.set_type(s.sum, NEF_FLOAT64, s.graph.shape_id(s.sum)); },
               "float64");
  expect_fault(
      [](Sample& s) { s.graph.set_type(s.product, NEF_DTYPE_INVALID, s.graph.shape_id(s.sum)); },
      "has no dtype");
  // A dim the graph does not know may be any.
  Sample s;
  s.graph.set_type(s.sum, NEF_FLOAT32, s.graph.shapes().intern(Shape{s.graph.pool().unknown(), 4}));
  EXPECT_EQ(fault(s.graph), "");
}

TEST(Verify, WrongLinks) {
  expect_fault([](Sample& s) { s.graph.set_input(0, 0, s.sum); }, "before it is made");
  expect_fault([](Sample& s) { s.graph.set_input(0, 0, 999); }, "which is none");
  expect_fault([](Sample& s) { s.graph.set_input(0, 0, kNone); }, "is missing");
  expect_fault([](Sample& s) { s.graph.set_input(1, 1, s.x); }, "does not infer");
  expect_fault([](Sample& s) { s.graph.clear_outputs(); }, "no outputs");
}

// Folding finds out what a run would: the index is outside. That is no fault of the pass.
TEST(Verify, NumbersThatOnlyFailAreForTheRun) {
  Graph g;
  build::Builder build(g);
  const ValueId x = g.add_input("x", NEF_FLOAT32, Shape{4});
  const ValueId i = g.add_input("i", NEF_INT64, Shape{1});
  AttrBuilder attrs(NEF_OP_GATHER);
  const ValueId in[] = {x, i};
  g.add_output("y", build.value(NEF_OP_GATHER, in, attrs.build()));
  const int64_t outside[] = {9};
  g.set_input(0, 1, build.ints(outside));
  EXPECT_EQ(fault(g), "");
  // A wrong type stays one, whatever the numbers are.
  g.set_type(g.output(0), NEF_FLOAT64, g.shape_id(g.output(0)));
  EXPECT_NE(fault(g).find("does not infer"), std::string::npos) << fault(g);
}

TEST(Verify, WrongAttributes) {
  expect_fault(
      [](Sample& s) {
        const ValueId in[] = {s.product};
        s.graph.rewrite_node(1, NEF_OP_SOFTMAX, in, {});
      },
      "wrong size");
  expect_fault(
      [](Sample& s) {
        const ValueId in[] = {s.product};
        const int64_t words[] = {1, 7, 0};
        s.graph.rewrite_node(1, NEF_OP_SOFTMAX, in, words);
      },
      "is absent");
  expect_fault(
      [](Sample& s) {
        const ValueId in[] = {s.product};
        const int64_t words[] = {1, int64_t{5} << 32 | 9};
        s.graph.rewrite_node(1, NEF_OP_TRANSPOSE, in, words);
      },
      "points outside its block");
}

TEST(Verify, WrongConstants) {
  Sample s;
  s.graph.set_type(s.bias, NEF_FLOAT64, s.graph.shape_id(s.bias));
  EXPECT_NE(fault(s.graph).find("needs 32"), std::string::npos) << fault(s.graph);
}

}  // namespace
}  // namespace nef::ir
