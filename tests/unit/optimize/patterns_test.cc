// SPDX-License-Identifier: Apache-2.0
// Graphs that spell out gelu, silu, norms and attention: the pass finds them, and the results
// are those of the graph as written.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "engine/build/builder.h"
#include "engine/context/context.h"
#include "engine/ir/dtype.h"
#include "engine/optimize/optimize.h"
#include "engine/optimize/regions.h"

namespace nef {
namespace {

using ir::Graph;
using ir::kNone;
using ir::ValueId;

class Patterns : public ::testing::Test {
 protected:
  ValueId input(const char* name, std::initializer_list<int64_t> dims) {
    return graph.add_input(name, NEF_FLOAT32, ir::shape_of({dims.begin(), dims.size()}));
  }
  ValueId number(float x) { return constant({}, {x}); }
  ValueId constant(std::vector<int64_t> dims, std::vector<float> data) {
    auto buffer = ir::Buffer::allocate(4 * data.size());
    std::memcpy(buffer->data(), data.data(), 4 * data.size());
    return graph.add_constant(NEF_FLOAT32, ir::shape_of(dims), buffer);
  }
  ValueId op(nef_op id, std::vector<ValueId> in) {
    return builder.value(id, in, ir::AttrBuilder(id).build());
  }
  ValueId mean(ValueId x) {
    const int64_t axis = -1;
    return op(NEF_OP_REDUCE_MEAN, {x, builder.ints({&axis, 1})});
  }
  ValueId transpose(ValueId x, std::vector<int64_t> perm) {
    ir::AttrBuilder attrs(NEF_OP_TRANSPOSE);
    attrs.set_ints(NEF_TRANSPOSE_PERM, perm);
    const auto words = attrs.build();
    return builder.value(NEF_OP_TRANSPOSE, {&x, 1}, words);
  }

  ValueId concat(ValueId a, ValueId b) {
    ir::AttrBuilder attrs(NEF_OP_CONCAT);
    attrs.set_int(NEF_CONCAT_AXIS, -1);
    const ValueId in[2] = {a, b};
    return builder.value(NEF_OP_CONCAT, in, attrs.build());
  }
  ValueId unsqueeze(ValueId x, int64_t axis) {
    return op(NEF_OP_UNSQUEEZE, {x, builder.ints({&axis, 1})});
  }
  // x * cos(table) + rotate_half(x) * sin(table)
  ValueId rotated(ValueId x, ValueId table, bool split) {
    ValueId low, high;
    if (split) {
      ir::AttrBuilder attrs(NEF_OP_SPLIT);
      attrs.set_int(NEF_SPLIT_AXIS, -1).set_int(NEF_SPLIT_NUM_OUTPUTS, 2);
      const ir::NodeId n = builder.add(NEF_OP_SPLIT, {&x, 1}, attrs.build(), 2);
      low = graph.output(n, 0);
      high = graph.output(n, 1);
    } else {
      const int64_t zero = 0, half = 4, end = INT64_MAX, axis = 3, last = -1;
      low = op(NEF_OP_SLICE,
               {x, builder.ints({&zero, 1}), builder.ints({&half, 1}), builder.ints({&axis, 1})});
      high = op(NEF_OP_SLICE,
                {x, builder.ints({&half, 1}), builder.ints({&end, 1}), builder.ints({&last, 1})});
    }
    const ValueId turned = concat(op(NEF_OP_NEG, {high}), low);
    return op(NEF_OP_ADD, {op(NEF_OP_MUL, {x, op(NEF_OP_COS, {table})}),
                           op(NEF_OP_MUL, {turned, op(NEF_OP_SIN, {table})})});
  }

  static size_t count(const Graph& g, nef_op id) {
    size_t n = 0;
    for (ir::NodeId i = 0; i < g.node_count(); ++i) n += g.op(i) == id;
    return n;
  }
  Graph optimised(bool slices_in_place = false) const {
    Graph out = graph;
    optimize::Options options;
    options.slices_in_place = slices_in_place;
    options.verify = true;
    options.evaluate = context::Context::get().environment().evaluate;
    optimize::optimise(out, options);
    return out;
  }
  // Largest difference between the graph as written and the optimised one, on random inputs.
  float difference() const { return difference(graph); }
  // The same, of what became of it before.
  float difference(const Graph& other) const {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> data;
    std::vector<runtime::TensorArg> args;
    for (ValueId v : graph.graph_inputs()) {
      data.emplace_back(static_cast<size_t>(ir::element_count(graph.dims(v))));
      for (float& x : data.back()) x = normal(random);
    }
    for (size_t i = 0; i < data.size(); ++i) {
      args.push_back(
          {NEF_FLOAT32, ir::numbers(graph.dims(graph.graph_inputs()[i])), data[i].data()});
    }
    const auto run = [&](const Graph& g, uint32_t disabled) {
      runtime::ProgramOptions options;
      options.compile.disabled_passes = disabled;
      options.compile.verify = true;
      const auto program =
          context::Context::get().compile(std::make_shared<const Graph>(g), options);
      std::vector<runtime::TensorResult> results(1);
      program->run(args, results, {});
      const auto* p = static_cast<const float*>(results[0].data->data());
      return std::vector<float>(p, p + results[0].data->bytes() / 4);
    };
    const auto plain = run(graph, ~0u), fused = run(other, 0);
    EXPECT_EQ(plain.size(), fused.size());
    float worst = 0;
    for (size_t i = 0; i < plain.size(); ++i)
      worst = std::max(worst, std::abs(plain[i] - fused[i]));
    return worst;
  }

  Graph graph;
  build::Builder builder{graph};
};

// Weights of float8 [rows, columns], scaled.
class StoredWeights : public Patterns {
 protected:
  static constexpr int64_t kDepth = 768, kColumns = 600;

  ValueId codes(nef_dtype dtype, std::vector<int64_t> dims) {
    const size_t n = static_cast<size_t>(ir::element_count(dims));
    auto buffer = ir::Buffer::allocate(n);
    std::mt19937 random(3);
    auto* to = static_cast<uint8_t*>(buffer->data());
    // Numbers of moderate size in either format.
    for (size_t i = 0; i < n; ++i)
      to[i] = (random() % 2 != 0 ? 0x80 : 0) | (0x20 + random() % 0x20);
    return graph.add_constant(dtype, ir::shape_of(dims), buffer);
  }
  ValueId scales(std::vector<int64_t> dims) {
    std::vector<float> data(static_cast<size_t>(ir::element_count(dims)));
    for (size_t i = 0; i < data.size(); ++i) data[i] = 0.25f + static_cast<float>(i % 13) / 16;
    return constant(dims, data);
  }
  ValueId dequantised(ValueId w, ValueId scale, int64_t axis, int64_t block, ValueId zero = kNone) {
    const ValueId in[3] = {w, scale, zero};
    return builder.value(NEF_OP_DEQUANTIZE_LINEAR, {in, zero == kNone ? size_t{2} : size_t{3}},
                         ir::AttrBuilder(NEF_OP_DEQUANTIZE_LINEAR)
                             .set_int(NEF_DEQUANTIZE_LINEAR_AXIS, axis)
                             .set_int(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE, block)
                             .build());
  }
  // The product of x with them, and what has become of it.
  void expect(ValueId y, bool found) {
    graph.add_output("y", y);
    EXPECT_EQ(count(optimised(), NEF_OP_MATMUL_NBITS), found ? 1u : 0u);
    EXPECT_LT(difference(), 5e-3f);  // of sums that reach hundreds, bytes thousands
    graph = Graph();
  }
};

TEST_F(StoredWeights, ScalesOfEveryForm) {
  const std::vector<int64_t> dims = {kDepth, kColumns};
  for (nef_dtype t : {NEF_FLOAT8_E4M3FN, NEF_FLOAT8_E5M2}) {
    expect(
        op(NEF_OP_MATMUL, {input("x", {5, kDepth}), dequantised(codes(t, dims), scales({}), 1, 0)}),
        true);
    expect(op(NEF_OP_MATMUL,
              {input("x", {2, 3, kDepth}), dequantised(codes(t, dims), scales({kColumns}), -1, 0)}),
           true);
    for (int64_t block : {32, 96, 256, 384}) {
      const ValueId s = scales({kDepth / block, kColumns});
      expect(op(NEF_OP_MATMUL, {input("x", {kDepth}), dequantised(codes(t, dims), s, 0, block)}),
             true);
    }
  }
}

TEST_F(StoredWeights, GemmAndTransposedOnes) {
  const std::vector<int64_t> dims = {kColumns, kDepth};
  const nef_dtype t = NEF_FLOAT8_E4M3FN;
  const ValueId bias = scales({kColumns});
  const ValueId in[3] = {input("x", {4, kDepth}),
                         dequantised(codes(t, dims), scales({kColumns}), 0, 0), bias};
  expect(builder.value(NEF_OP_GEMM, in,
                       ir::AttrBuilder(NEF_OP_GEMM).set_int(NEF_GEMM_TRANS_B, 1).build()),
         true);
  const ValueId s = scales({kColumns, kDepth / 64});
  expect(op(NEF_OP_MATMUL,
            {input("x", {4, kDepth}), transpose(dequantised(codes(t, dims), s, 1, 64), {1, 0})}),
         true);
  // Zero points that are zeros change nothing.
  auto zero = ir::Buffer::allocate(1);
  *static_cast<uint8_t*>(zero->data()) = 0x80;
  expect(op(NEF_OP_MATMUL,
            {input("x", {4, kDepth}), dequantised(codes(t, {kDepth, kColumns}), scales({}), 1, 0,
                                                  graph.add_constant(t, {}, zero))}),
         true);
}

// Results of 16 bits may come from a product of float8 by float8.
TEST_F(StoredWeights, Float8ByFloat8IsLeftToDevices) {
  for (bool narrow : {false, true}) {
    const nef_dtype t = narrow ? NEF_BFLOAT16 : NEF_FLOAT32;
    const auto scale = [&] {
      auto number = ir::Buffer::allocate(ir::dtype_size(t));
      std::memset(number->data(), 0x3e, number->bytes());
      return graph.add_constant(t, {}, number);
    };
    const ValueId x = graph.add_input("x", NEF_FLOAT8_E4M3FN, ir::Shape{5, kDepth});
    const ValueId a = op(NEF_OP_DEQUANTIZE_LINEAR, {x, scale()});
    const ValueId w =
        op(NEF_OP_DEQUANTIZE_LINEAR, {codes(NEF_FLOAT8_E4M3FN, {kDepth, kColumns}), scale()});
    graph.add_output("y", op(NEF_OP_MATMUL, {a, w}));
    optimize::Options options;
    options.verify = true;
    Graph out = graph;
    optimize::optimise(out, options);
    EXPECT_EQ(count(out, NEF_OP_MATMUL_NBITS), narrow ? 0u : 1u);
    graph = Graph();
  }
}

TEST_F(StoredWeights, WhatStaysAsItIs) {
  const std::vector<int64_t> dims = {kDepth, kColumns};
  const nef_dtype t = NEF_FLOAT8_E4M3FN;
  const ValueId x = input("x", {4, kDepth});
  expect(op(NEF_OP_MATMUL, {x, dequantised(codes(t, dims), scales({kDepth}), 0, 0)}), false);
  expect(
      op(NEF_OP_MATMUL, {input("x", {4, 64}), dequantised(codes(t, {64, 64}), scales({}), 1, 0)}),
      false);
  auto one = ir::Buffer::allocate(1);
  *static_cast<uint8_t*>(one->data()) = 0x38;
  expect(op(NEF_OP_MATMUL, {input("x", {4, kDepth}), dequantised(codes(t, dims), scales({}), 1, 0,
                                                                 graph.add_constant(t, {}, one))}),
         false);
  expect(op(NEF_OP_MATMUL,
            {input("x", {4, kDepth}), dequantised(codes(NEF_UINT8, dims), scales({}), 1, 0)}),
         false);
  const ValueId blocks = scales({kDepth, kColumns / 100});
  expect(op(NEF_OP_MATMUL, {input("x", {4, kDepth}), dequantised(codes(t, dims), blocks, 1, 100)}),
         false);
}

TEST_F(Patterns, GeluWithErfInAnyOrder) {
  for (const bool divided : {false, true}) {
    graph = Graph();
    const ValueId x = input("x", {3, 37});
    const ValueId scaled = divided ? op(NEF_OP_DIV, {x, number(std::sqrt(2.0f))})
                                   : op(NEF_OP_MUL, {number(std::sqrt(0.5f)), x});
    const ValueId erf = op(NEF_OP_ADD, {op(NEF_OP_ERF, {scaled}), number(1)});
    const ValueId y = divided ? op(NEF_OP_MUL, {op(NEF_OP_MUL, {x, erf}), number(0.5f)})
                              : op(NEF_OP_MUL, {op(NEF_OP_MUL, {x, number(0.5f)}), erf});
    graph.add_output("y", y);
    EXPECT_EQ(count(optimised(), NEF_OP_GELU), 1u);
    EXPECT_EQ(optimised().node_count(), 1u);
    EXPECT_LT(difference(), 1e-6f);
  }
}

TEST_F(Patterns, GeluWithTanh) {
  const ValueId x = input("x", {5, 8});
  const ValueId cube = op(NEF_OP_MUL, {op(NEF_OP_POW, {x, number(3)}), number(0.044715f)});
  const ValueId inner = op(NEF_OP_MUL, {op(NEF_OP_ADD, {x, cube}), number(0.7978846f)});
  const ValueId one = op(NEF_OP_ADD, {op(NEF_OP_TANH, {inner}), number(1)});
  graph.add_output("y", op(NEF_OP_MUL, {op(NEF_OP_MUL, {number(0.5f), x}), one}));
  EXPECT_EQ(count(optimised(), NEF_OP_GELU), 1u);
  EXPECT_LT(difference(), 1e-5f);
}

TEST_F(Patterns, AlmostGeluIsLeftAlone) {
  const ValueId x = input("x", {4}), z = input("z", {4});
  const ValueId erf = op(NEF_OP_ERF, {op(NEF_OP_DIV, {z, number(std::sqrt(2.0f))})});
  const ValueId one = op(NEF_OP_ADD, {erf, number(1)});
  graph.add_output("y", op(NEF_OP_MUL, {op(NEF_OP_MUL, {x, number(0.5f)}), one}));
  EXPECT_EQ(count(optimised(), NEF_OP_GELU), 0u);
  EXPECT_LT(difference(), 1e-6f);
}

TEST_F(Patterns, Silu) {
  const ValueId x = input("x", {2, 9});
  graph.add_output("y", op(NEF_OP_MUL, {op(NEF_OP_SIGMOID, {x}), x}));
  EXPECT_EQ(count(optimised(), NEF_OP_SILU), 1u);
  EXPECT_LT(difference(), 1e-6f);
}

TEST_F(Patterns, HardSwish) {
  const ValueId x = input("x", {4, 33});
  const ValueId clip = op(NEF_OP_CLIP, {op(NEF_OP_ADD, {x, number(3)}), number(0), number(6)});
  graph.add_output("y", op(NEF_OP_DIV, {op(NEF_OP_MUL, {x, clip}), number(6)}));
  EXPECT_EQ(count(optimised(), NEF_OP_HARD_SWISH), 1u);
  EXPECT_EQ(optimised().node_count(), 1u);
  EXPECT_LT(difference(), 1e-6f);
}

TEST_F(Patterns, HardSwishOnlyOfTheSameValue) {
  const ValueId x = input("x", {4}), z = input("z", {4});
  const ValueId clip = op(NEF_OP_CLIP, {op(NEF_OP_ADD, {z, number(3)}), number(0), number(6)});
  graph.add_output("y", op(NEF_OP_DIV, {op(NEF_OP_MUL, {x, clip}), number(6)}));
  EXPECT_EQ(count(optimised(), NEF_OP_HARD_SWISH), 0u);
}

TEST_F(Patterns, WhatScalesAndShiftsChannelsBecomesPartOfAConvolution) {
  const auto some = [this](std::vector<int64_t> dims, float step) {
    std::vector<float> data(static_cast<size_t>(ir::element_count(dims)));
    for (size_t i = 0; i < data.size(); ++i) data[i] = 0.25f + step * static_cast<float>(i % 7);
    return constant(dims, data);
  };
  const ValueId x = input("x", {2, 3, 5, 6});
  ValueId y = op(NEF_OP_CONV, {x, some({4, 3, 3, 3}, 0.1f)});
  y = op(NEF_OP_BATCH_NORMALIZATION,
         {y, some({4}, 0.3f), some({4}, -0.2f), some({4}, 0.7f), some({4}, 0.4f)});
  y = op(NEF_OP_MUL, {some({4, 1, 1}, -0.3f), y});
  y = op(NEF_OP_ADD, {y, some({1, 4, 1, 1}, 0.5f)});
  y = op(NEF_OP_SUB, {op(NEF_OP_DIV, {y, number(3)}), some({1}, 1)});
  graph.add_output("y", y);
  EXPECT_EQ(optimised().node_count(), 1u);
  EXPECT_EQ(count(optimised(), NEF_OP_CONV), 1u);
  EXPECT_LT(difference(), 2e-5f);
}

TEST_F(Patterns, AConvolutionKeepsWhatIsNotConstantPerChannel) {
  const ValueId x = input("x", {1, 2, 3, 4});
  const ValueId w = constant({2, 2, 1, 1}, {1, 2, 3, 4});
  const ValueId conv = op(NEF_OP_CONV, {x, w});
  const ValueId by_column = op(NEF_OP_MUL, {conv, constant({4}, {1, 2, 3, 4})});
  const ValueId twice = op(NEF_OP_CONV, {x, w});
  const ValueId shared = op(NEF_OP_ADD, {op(NEF_OP_MUL, {twice, number(2)}), twice});
  const ValueId infinite = op(NEF_OP_MUL, {op(NEF_OP_CONV, {x, w}), number(INFINITY)});
  const ValueId reversed = op(NEF_OP_SUB, {number(1), op(NEF_OP_CONV, {x, w})});
  graph.add_output("a", by_column);
  graph.add_output("b", shared);
  graph.add_output("c", infinite);
  graph.add_output("d", reversed);
  const Graph out = optimised();
  EXPECT_EQ(count(out, NEF_OP_MUL), 3u);
  EXPECT_EQ(count(out, NEF_OP_ADD), 1u);
  EXPECT_EQ(count(out, NEF_OP_SUB), 1u);
}

// x w (+ bias) in rows of `width`; `turned`: w lies by columns.
enum class Form { Plain, Biased, Turned };

TEST_F(Patterns, ProductsForOneAttentionAreOne) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  const auto numbers = [&](std::vector<int64_t> dims) {
    std::vector<float> data(static_cast<size_t>(ir::element_count(dims)));
    for (float& v : data) v = normal(random);
    return constant(dims, data);
  };
  for (const Form form : {Form::Plain, Form::Biased, Form::Turned}) {
    for (const bool crossed : {false, true}) {
      graph = Graph();
      const ValueId x = input("x", {2, 3, 6}), other = crossed ? input("z", {2, 5, 6}) : x;
      const auto linear = [&](ValueId from, int64_t width) {
        ValueId w = numbers(form == Form::Turned ? std::vector<int64_t>{width, 6}
                                                 : std::vector<int64_t>{6, width});
        if (form == Form::Turned) w = transpose(w, {1, 0});
        const ValueId y = op(NEF_OP_MATMUL, {from, w});
        return form == Form::Plain ? y : op(NEF_OP_ADD, {y, numbers({width})});
      };
      const ValueId in[3] = {linear(x, 16), linear(other, 8), linear(other, 4)};
      const auto attrs = ir::AttrBuilder(NEF_OP_ATTENTION)
                             .set_int(NEF_ATTENTION_Q_NUM_HEADS, 4)
                             .set_int(NEF_ATTENTION_KV_NUM_HEADS, 2)
                             .build();
      graph.add_output("y", builder.value(NEF_OP_ATTENTION, in, attrs));
      const auto products = [](const Graph& g) {
        return count(g, NEF_OP_MATMUL) + count(g, NEF_OP_FUSED_MATMUL);
      };
      EXPECT_EQ(products(optimised()), 3u);
      const Graph out = optimised(true);
      EXPECT_EQ(products(out), crossed ? 2u : 1u);
      EXPECT_EQ(count(out, NEF_OP_SLICE), crossed ? 2u : 3u);
      EXPECT_LT(difference(out), 1e-5f);
    }
  }
}

TEST_F(Patterns, ProductsThatOthersReadAreLeftAlone) {
  const ValueId x = input("x", {1, 3, 2});
  const auto product = [&] { return op(NEF_OP_MATMUL, {x, constant({2, 2}, {1, 2, 3, 4})}); };
  const ValueId q = op(NEF_OP_ADD, {product(), constant({2}, {1, 2})});
  const ValueId k = product(),
                v = op(NEF_OP_ADD, {product(), constant({3, 2}, {1, 2, 3, 4, 5, 6})});
  graph.add_output("k", k);
  const ValueId in[3] = {q, k, v};
  const auto attrs = ir::AttrBuilder(NEF_OP_ATTENTION)
                         .set_int(NEF_ATTENTION_Q_NUM_HEADS, 1)
                         .set_int(NEF_ATTENTION_KV_NUM_HEADS, 1)
                         .build();
  graph.add_output("y", builder.value(NEF_OP_ATTENTION, in, attrs));
  EXPECT_EQ(count(optimised(true), NEF_OP_SLICE), 0u);
}

TEST_F(Patterns, StepsOfASequenceByTheSameWeightsAreOneProduct) {
  for (const bool gemm : {false, true}) {
    graph = Graph();
    const ValueId x = input("x", {5, 2, 3});
    const ValueId w = constant(gemm ? std::vector<int64_t>{4, 3} : std::vector<int64_t>{3, 4},
                               {1, -2, 3, 4, 5, -6, 7, 8, 9, 1, 2, 3});
    const ValueId bias = constant({4}, {1, 2, 3, 4});
    const auto step = [&](int64_t t) {
      const ValueId x_t = op(NEF_OP_GATHER, {x, builder.int_scalar(t)});
      if (!gemm) return op(NEF_OP_MATMUL, {x_t, w});
      const ValueId in[3] = {x_t, w, bias};
      const auto attrs = ir::AttrBuilder(NEF_OP_GEMM)
                             .set_int(NEF_GEMM_TRANS_B, 1)
                             .set_float(NEF_GEMM_ALPHA, 0.5)
                             .build();
      return builder.value(NEF_OP_GEMM, in, attrs);
    };
    ValueId y = step(0);
    for (int64_t t : {3, 1, 4}) y = op(NEF_OP_SUB, {op(NEF_OP_TANH, {y}), step(t)});
    graph.add_output("y", y);
    const Graph out = optimised();
    EXPECT_EQ(count(out, NEF_OP_FUSED_MATMUL) + count(out, NEF_OP_MATMUL), 1u);
    EXPECT_EQ(count(out, NEF_OP_GEMM), 0u);
    EXPECT_LT(difference(), 1e-5f);
  }
}

TEST_F(Patterns, FewStepsOfALongSequenceAreLeftAlone) {
  const ValueId x = input("x", {50, 2, 2});
  const ValueId w = constant({2, 2}, {1, 2, 3, 4});
  ValueId y = kNone;
  for (int64_t t : {7, 9}) {
    const ValueId part = op(NEF_OP_MATMUL, {op(NEF_OP_GATHER, {x, builder.int_scalar(t)}), w});
    y = y == kNone ? part : op(NEF_OP_ADD, {y, part});
  }
  graph.add_output("y", y);
  EXPECT_EQ(count(optimised(), NEF_OP_MATMUL), 2u);
}

TEST_F(Patterns, LayerNorm) {
  const ValueId x = input("x", {6, 33});
  const ValueId scale = constant({33}, std::vector<float>(33, 1.5f));
  const ValueId bias = constant({33}, std::vector<float>(33, -0.25f));
  const ValueId d = op(NEF_OP_SUB, {x, mean(x)});
  const ValueId variance = mean(op(NEF_OP_POW, {d, number(2)}));
  const ValueId root = op(NEF_OP_SQRT, {op(NEF_OP_ADD, {variance, number(1e-5f)})});
  const ValueId scaled = op(NEF_OP_MUL, {op(NEF_OP_DIV, {d, root}), scale});
  graph.add_output("y", op(NEF_OP_ADD, {scaled, bias}));
  EXPECT_EQ(count(optimised(), NEF_OP_LAYER_NORMALIZATION), 1u);
  EXPECT_EQ(optimised().node_count(), 1u);
  EXPECT_LT(difference(), 1e-5f);
}

TEST_F(Patterns, RmsNorm) {
  const ValueId x = input("x", {6, 33});
  const ValueId scale = constant({33}, std::vector<float>(33, 0.5f));
  const ValueId root =
      op(NEF_OP_SQRT, {op(NEF_OP_ADD, {mean(op(NEF_OP_MUL, {x, x})), number(1e-6f)})});
  const ValueId unit = op(NEF_OP_MUL, {x, op(NEF_OP_RECIPROCAL, {root})});
  graph.add_output("y", op(NEF_OP_MUL, {unit, scale}));
  EXPECT_EQ(count(optimised(), NEF_OP_RMS_NORMALIZATION), 1u);
  EXPECT_LT(difference(), 1e-5f);
}

TEST_F(Patterns, AttentionWithoutMask) {
  const ValueId q = input("q", {2, 3, 7, 8}), k = input("k", {2, 3, 5, 8});
  const ValueId v = input("v", {2, 3, 5, 8});
  const ValueId scores = op(NEF_OP_MATMUL, {q, transpose(k, {0, 1, 3, 2})});
  const ValueId scaled = op(NEF_OP_DIV, {scores, number(std::sqrt(8.0f))});
  graph.add_output("y", op(NEF_OP_MATMUL, {op(NEF_OP_SOFTMAX, {scaled}), v}));
  EXPECT_EQ(count(optimised(), NEF_OP_ATTENTION), 1u);
  EXPECT_EQ(optimised().node_count(), 1u);
  EXPECT_LT(difference(), 1e-5f);
}

TEST_F(Patterns, AttentionOnlyWithAFiniteMask) {
  for (const bool finite : {true, false}) {
    graph = Graph();
    const ValueId q = input("q", {1, 2, 4, 8}), k = input("k", {1, 2, 4, 8});
    const ValueId v = input("v", {1, 2, 4, 8});
    const float low = finite ? -1e9f : -INFINITY;
    const ValueId mask = constant({1, 1, 1, 4}, {0, 0, low, low});
    const ValueId scores = op(NEF_OP_MATMUL, {q, transpose(k, {0, 1, 3, 2})});
    const ValueId masked = op(NEF_OP_ADD, {op(NEF_OP_MUL, {scores, number(0.3f)}), mask});
    graph.add_output("y", op(NEF_OP_MATMUL, {op(NEF_OP_SOFTMAX, {masked}), v}));
    EXPECT_EQ(count(optimised(), NEF_OP_ATTENTION), finite ? 1u : 0u);
    EXPECT_LT(difference(), 1e-5f);
  }
}

// x * cos + rotate_half(x) * sin, the halves by Slice or by Split.
TEST_F(Patterns, RotaryEmbedding) {
  for (const bool split : {false, true}) {
    for (const int64_t batch : {1, 3}) {
      graph = Graph();
      const ValueId x = input("x", {batch, 2, 5, 8});
      const ValueId f = input("angles", {1, 5, 4});
      const ValueId table = unsqueeze(concat(f, f), 1);
      graph.add_output("y", rotated(x, table, split));
      const Graph found = optimised();
      EXPECT_EQ(count(found, NEF_OP_ROTARY_EMBEDDING), 1u);
      EXPECT_EQ(count(found, NEF_OP_NEG), 0u);
      EXPECT_LT(difference(), 1e-6f);
    }
  }
}

// Angles that do not repeat have no form in the op.
TEST_F(Patterns, RotaryEmbeddingOnlyWithAnglesThatRepeat) {
  const ValueId x = input("x", {2, 2, 5, 8});
  graph.add_output("y", rotated(x, input("table", {2, 1, 5, 8}), false));
  EXPECT_EQ(count(optimised(), NEF_OP_ROTARY_EMBEDDING), 0u);
  for (const bool repeats : {true, false}) {
    graph = Graph();
    std::vector<float> angles(4 * 5 * 8);
    for (size_t i = 0; i < angles.size(); ++i) angles[i] = 0.1f * static_cast<float>(i / 8 + i % 4);
    if (!repeats) angles.back() += 1;
    const ValueId y = rotated(input("x", {4, 2, 5, 8}), constant({4, 1, 5, 8}, angles), true);
    graph.add_output("y", y);
    EXPECT_EQ(count(optimised(), NEF_OP_ROTARY_EMBEDDING), repeats ? 1u : 0u);
    EXPECT_LT(difference(), 1e-6f);
  }
}

// A gated unit is a silu whose product is one elementwise region.
TEST_F(Patterns, SwiGlu) {
  const ValueId gate = input("gate", {3, 7}), up = input("up", {3, 7});
  graph.add_output("y", op(NEF_OP_MUL, {op(NEF_OP_MUL, {gate, op(NEF_OP_SIGMOID, {gate})}), up}));
  const Graph found = optimised();
  EXPECT_EQ(count(found, NEF_OP_SILU), 1u);
  EXPECT_EQ(optimize::fused_regions(found).list.size(), 1u);
  EXPECT_LT(difference(), 1e-6f);
}

// (1 - keep) * lowest is finite for a keep of 0 or 1, not for one of 255.
TEST_F(Patterns, AttentionWithAMaskFromFlagsOnly) {
  for (const nef_dtype keep_type : {NEF_BOOL, NEF_UINT8, NEF_INT64}) {
    for (const float low : {-10000.0f, std::numeric_limits<float>::lowest()}) {
      graph = Graph();
      const ValueId q = input("q", {1, 2, 4, 8}), k = input("k", {1, 2, 4, 8});
      const ValueId v = input("v", {1, 2, 4, 8});
      const int64_t dims[4] = {1, 1, 1, 4};
      const ValueId keep = graph.add_input("keep", keep_type, ir::shape_of(dims));
      ir::AttrBuilder to(NEF_OP_CAST);
      to.set_int(NEF_CAST_TO, NEF_FLOAT32);
      const ValueId kept = builder.value(NEF_OP_CAST, {&keep, 1}, to.build());
      const ValueId mask = op(NEF_OP_MUL, {op(NEF_OP_SUB, {number(1), kept}), number(low)});
      const ValueId scores = op(NEF_OP_MATMUL, {q, transpose(k, {0, 1, 3, 2})});
      const ValueId weights = op(NEF_OP_SOFTMAX, {op(NEF_OP_ADD, {scores, mask})});
      graph.add_output("y", op(NEF_OP_MATMUL, {weights, v}));
      const bool finite = low == -10000.0f || keep_type == NEF_BOOL;
      EXPECT_EQ(count(optimised(), NEF_OP_ATTENTION), finite ? 1u : 0u) << keep_type << " " << low;
    }
  }
}

}  // namespace
}  // namespace nef
