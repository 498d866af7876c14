// SPDX-License-Identifier: Apache-2.0
// The rules of docs/numerics.md as numbers worked out by hand, on every backend: what the
// reference itself must get right.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/conformance/backends.h"
#include "tests/conformance/case.h"
#include "tests/conformance/runner.h"

namespace nef::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// Runs a case everywhere; its first output must be `want`.
void expect_values(const Case& c, const std::vector<double>& want) {
  for (const nef_backend* backend : backends()) {
    for (const Mode& mode : kModes) {
      const RunResult r = run_case(*backend, c, mode);
      if (r.refused) continue;
      ASSERT_EQ(r.code, NEF_OK) << backend->name << " " << c.name << ": " << r.message;
      const Tensor& got = r.outputs.at(0);
      ASSERT_EQ(got.count(), static_cast<int64_t>(want.size())) << c.name;
      for (size_t i = 0; i < want.size(); ++i) {
        const double g = float_at(got, static_cast<int64_t>(i));
        if (std::isnan(want[i]))
          EXPECT_TRUE(std::isnan(g))
              << backend->name << " " << c.name << " element " << i << ": " << g;
        else EXPECT_DOUBLE_EQ(g, want[i]) << backend->name << " " << c.name << " element " << i;
      }
    }
  }
}

void expect_error(const Case& c, nef_code code, const char* part) {
  for (const nef_backend* backend : backends()) {
    const RunResult r = run_case(*backend, c, kModes[0]);
    if (r.refused) continue;
    EXPECT_EQ(r.code, code) << backend->name << " " << c.name;
    EXPECT_NE(r.message.find(part), std::string::npos)
        << backend->name << " " << c.name << ": " << r.message;
  }
}

Tensor vec(nef_dtype t, const std::vector<double>& v) {
  return values(t, {static_cast<int64_t>(v.size())}, v);
}

Case cast_case(nef_dtype from, nef_dtype to, const std::vector<double>& v) {
  return single("cast", NEF_OP_CAST, {vec(from, v)},
                attrs(NEF_OP_CAST).set_int(NEF_CAST_TO, to).build());
}

TEST(Policy, CastSaturatesAndNanBecomesZero) {
  const std::vector<double> v = {300, kNan, kInf, -kInf, -1.5, 2147483648.0};
  for (nef_dtype from : {NEF_FLOAT32, NEF_FLOAT64}) {
    expect_values(cast_case(from, NEF_UINT8, v), {255, 0, 255, 0, 0, 255});
    expect_values(cast_case(from, NEF_INT8, v), {127, 0, 127, -128, -1, 127});
    expect_values(cast_case(from, NEF_INT32, v),
                  {300, 0, 2147483647.0, -2147483648.0, -1, 2147483647.0});
    expect_values(cast_case(from, NEF_UINT32, v), {300, 0, 4294967295.0, 0, 0, 2147483648.0});
    expect_values(cast_case(from, NEF_INT64, v), {300, 0, 0x1p63, -0x1p63, -1, 2147483648.0});
    expect_values(cast_case(from, NEF_BOOL, v), {1, 1, 1, 1, 1, 1});
  }
  expect_values(cast_case(NEF_INT32, NEF_INT8, {300, -129, 128, -1}), {44, 127, -128, -1});
}

// The table of ONNX's Cast.
TEST(Policy, Float8SaturatesOrNot) {
  const auto over = [](nef_dtype from, nef_dtype to, const std::vector<double>& v) {
    return single(
        "over", NEF_OP_CAST, {vec(from, v)},
        attrs(NEF_OP_CAST).set_int(NEF_CAST_TO, to).set_int(NEF_CAST_SATURATE, 0).build());
  };
  const std::vector<double> v = {kNan, kInf,  -kInf, 1e30,   -1e30, 464,
                                 465,  61439, 61440, 1.0625, 1e-9};
  for (nef_dtype from : {NEF_FLOAT32, NEF_FLOAT64}) {
    expect_values(cast_case(from, NEF_FLOAT8_E4M3FN, v),
                  {kNan, 448, -448, 448, -448, 448, 448, 448, 448, 1, 0});
    expect_values(over(from, NEF_FLOAT8_E4M3FN, v),
                  {kNan, kNan, kNan, kNan, kNan, 448, kNan, kNan, kNan, 1, 0});
    expect_values(cast_case(from, NEF_FLOAT8_E5M2, v),
                  {kNan, 57344, -57344, 57344, -57344, 448, 448, 57344, 57344, 1, 0});
    expect_values(over(from, NEF_FLOAT8_E5M2, v),
                  {kNan, kInf, -kInf, kInf, -kInf, 448, 448, 57344, kInf, 1, 0});
  }
  expect_values(cast_case(NEF_FLOAT8_E5M2, NEF_FLOAT8_E4M3FN, {kInf, -kInf, kNan, 57344, 0.875}),
                {448, -448, kNan, 448, 0.875});
  expect_values(over(NEF_FLOAT8_E5M2, NEF_FLOAT8_E4M3FN, {kInf, 448, 512}), {kNan, 448, kNan});
  expect_values(cast_case(NEF_FLOAT8_E5M2, NEF_FLOAT8_E5M2, {kInf, -1}), {kInf, -1});
  expect_values(cast_case(NEF_FLOAT8_E5M2, NEF_INT8, {kInf, -kInf, kNan, -1.75}),
                {127, -128, 0, -1});
  expect_values(cast_case(NEF_FLOAT8_E4M3FN, NEF_BOOL, {0, kNan, 0.001953125}), {0, 1, 1});
  expect_values(cast_case(NEF_INT32, NEF_FLOAT8_E4M3FN, {17, 19, -100000}), {16, 20, -448});
  expect_values(cast_case(NEF_BOOL, NEF_FLOAT8_E5M2, {0, 1}), {0, 1});
}

TEST(Policy, QuantisedFloat8) {
  const auto words = attrs(NEF_OP_QUANTIZE_LINEAR).build();
  expect_values(single("quantize", NEF_OP_QUANTIZE_LINEAR,
                       {vec(NEF_FLOAT32, {0, 1, 2, 1000, -1000, 2.125}),
                        values(NEF_FLOAT32, {}, {2}), values(NEF_FLOAT8_E4M3FN, {}, {0})},
                       words),
                {0, 0.5, 1, 448, -448, 1});
  // The zero point is added before the one rounding.
  expect_values(single("zero_point", NEF_OP_QUANTIZE_LINEAR,
                       {vec(NEF_FLOAT32, {0.0625, 0.25, kNan}), values(NEF_FLOAT32, {}, {1}),
                        values(NEF_FLOAT8_E4M3FN, {}, {1})},
                       words),
                {1, 1.25, kNan});
  expect_values(single("dequantize", NEF_OP_DEQUANTIZE_LINEAR,
                       {vec(NEF_FLOAT8_E5M2, {0.875, -57344, kInf, kNan}),
                        values(NEF_FLOAT32, {}, {0.5}), values(NEF_FLOAT8_E5M2, {}, {0.5})},
                       attrs(NEF_OP_DEQUANTIZE_LINEAR).build()),
                {0.1875, -28672.25, kInf, kNan});
}

TEST(Policy, NarrowFloatsRoundOnceToNearestEven) {
  expect_values(
      cast_case(NEF_FLOAT32, NEF_BFLOAT16, {1.00390625, 1.01171875, 3.4028234663852886e38, 1e-45}),
      {1, 1.015625, kInf, 0});
  // Just above a tie in float64: going through float32 first would round down to 1.
  expect_values(cast_case(NEF_FLOAT64, NEF_BFLOAT16, {1.00390625 + 1e-12}), {1.0078125});
  expect_values(
      cast_case(NEF_FLOAT64, NEF_FLOAT16, {65519.99, 65520, 0x1p-25, 0x1.8p-25, -0x1p-24}),
      {65504, kInf, 0, 0x1p-24, -0x1p-24});
  expect_values(cast_case(NEF_INT64, NEF_FLOAT32, {16777217, 16777219}), {16777216, 16777220});
  // Just above a tie: float32 in between would lose the last bit and round down.
  for (nef_dtype from : {NEF_INT64, NEF_UINT64, NEF_UINT32}) {
    expect_values(cast_case(from, NEF_BFLOAT16, {2155872257.0, 2155872256.0}), {0x1.02p31, 0x1p31});
  }
}

TEST(Policy, SignallingNanStaysNan) {
  Tensor x{NEF_FLOAT32, {1}, {0x01, 0x00, 0x80, 0x7F}};
  for (nef_dtype to : {NEF_BFLOAT16, NEF_FLOAT16, NEF_FLOAT64}) {
    expect_values(
        single("snan", NEF_OP_CAST, {x}, attrs(NEF_OP_CAST).set_int(NEF_CAST_TO, to).build()),
        {kNan});
  }
}

TEST(Policy, IntegerDivisionAndRemainder) {
  const Tensor a = vec(NEF_INT8, {120, -120, 7, -7, -128, 5}),
               b = vec(NEF_INT8, {-27, 27, -2, 2, -1, 0});
  expect_values(single("div", NEF_OP_DIV, {a, b}), {-4, -4, -3, -3, -128, 0});
  expect_values(single("mod", NEF_OP_MOD, {a, b}, attrs(NEF_OP_MOD).build()),
                {-15, 15, -1, 1, 0, 0});
  expect_values(
      single("fmod", NEF_OP_MOD, {a, b}, attrs(NEF_OP_MOD).set_int(NEF_MOD_FMOD, 1).build()),
      {12, -12, 1, -1, 0, 0});
  for (nef_dtype t : {NEF_INT32, NEF_INT64}) {
    const double least = t == NEF_INT32 ? -0x1p31 : -0x1p63;
    expect_values(single("div_least", NEF_OP_DIV, {vec(t, {least, least}), vec(t, {-1, 0})}),
                  {least, 0});
    expect_values(single("abs_least", NEF_OP_ABS, {vec(t, {least})}), {least});
  }
}

TEST(Policy, PowOfIntegers) {
  expect_values(
      single("pow", NEF_OP_POW,
             {vec(NEF_INT32, {2, -1, 1, -3, 0, 3}), vec(NEF_INT32, {31, -3, -5, -1, 0, 21})}),
      {-2147483648.0, -1, 1, 0, 1, 1870418611.0});
}

TEST(Policy, NanPropagates) {
  const Tensor a = vec(NEF_FLOAT32, {kNan, 1, kNan, 2}), b = vec(NEF_FLOAT32, {1, kNan, kNan, 3});
  expect_values(single("max", NEF_OP_MAX, {a, b}), {kNan, kNan, kNan, 3});
  expect_values(single("min", NEF_OP_MIN, {a, b}), {kNan, kNan, kNan, 2});
  expect_values(single("relu", NEF_OP_RELU, {a}), {kNan, 1, kNan, 2});
  expect_values(single("clip", NEF_OP_CLIP, {a, scalar(NEF_FLOAT32, 1.5), scalar(NEF_FLOAT32, 5)}),
                {kNan, 1.5, kNan, 2});
  expect_values(
      single("clip_nan_bound", NEF_OP_CLIP, {vec(NEF_FLOAT32, {1, 2}), scalar(NEF_FLOAT32, kNan)}),
      {kNan, kNan});
  expect_values(
      single("thresholded", NEF_OP_THRESHOLDED_RELU, {a}, attrs(NEF_OP_THRESHOLDED_RELU).build()),
      {0, 0, 0, 2});
}

TEST(Policy, ClipWithCrossedBoundsGivesMax) {
  expect_values(
      single("clip", NEF_OP_CLIP,
             {vec(NEF_FLOAT32, {0, 3, 9}), scalar(NEF_FLOAT32, 5), scalar(NEF_FLOAT32, 2)}),
      {2, 2, 2});
}

TEST(Policy, ReducingNothing) {
  const auto reduce = [](nef_op op, nef_dtype t) {
    return single(ir::spec(op).name, op, {make(t, {2, 0}, Fill::Small), ints({1})},
                  attrs(op).build());
  };
  expect_values(reduce(NEF_OP_REDUCE_SUM, NEF_FLOAT32), {0, 0});
  expect_values(reduce(NEF_OP_REDUCE_PROD, NEF_INT32), {1, 1});
  expect_values(reduce(NEF_OP_REDUCE_MEAN, NEF_FLOAT32), {kNan, kNan});
  expect_values(reduce(NEF_OP_REDUCE_MEAN, NEF_INT32), {0, 0});
  expect_values(reduce(NEF_OP_REDUCE_MAX, NEF_FLOAT32), {-kInf, -kInf});
  expect_values(reduce(NEF_OP_REDUCE_MAX, NEF_INT8), {-128, -128});
  expect_values(reduce(NEF_OP_REDUCE_MIN, NEF_UINT8), {255, 255});
  expect_values(reduce(NEF_OP_REDUCE_LOG_SUM_EXP, NEF_FLOAT32), {-kInf, -kInf});
}

TEST(Policy, ArgMaxAndTopKOrder) {
  const Tensor x = vec(NEF_FLOAT32, {1, 5, kNan, 5, kNan});
  const auto arg = [](int64_t last) {
    return attrs(NEF_OP_ARGMAX).set_int(NEF_ARGMAX_SELECT_LAST_INDEX, last).build();
  };
  expect_values(single("nan", NEF_OP_ARGMAX, {x}, arg(0)), {2});
  expect_values(single("ties", NEF_OP_ARGMAX, {vec(NEF_FLOAT32, {1, 5, 5})}, arg(0)), {1});
  expect_values(single("last", NEF_OP_ARGMAX, {vec(NEF_FLOAT32, {1, 5, 5})}, arg(1)), {2});
  const auto topk = attrs(NEF_OP_TOPK).build();
  expect_values(single("topk", NEF_OP_TOPK, {x, ints({4})}, topk), {kNan, kNan, 5, 5});
}

TEST(Policy, SoftmaxOfMaskedRows) {
  const Tensor x = vec(NEF_FLOAT32, {-kInf, -kInf});
  expect_values(single("nan", NEF_OP_SOFTMAX, {x}, attrs(NEF_OP_SOFTMAX).build()), {kNan, kNan});
  expect_values(single("zero", NEF_OP_SOFTMAX, {x},
                       attrs(NEF_OP_SOFTMAX).set_int(NEF_SOFTMAX_ZERO_MASKED_ROWS, 1).build()),
                {0, 0});
}

TEST(Policy, AttentionOfMaskedRowsIsZero) {
  const Tensor q = make(NEF_FLOAT32, {1, 1, 2, 2}, Fill::Small, 1),
               k = make(NEF_FLOAT32, {1, 1, 2, 2}, Fill::Small, 2);
  const Tensor v = values(NEF_FLOAT32, {1, 1, 2, 2}, {kNan, kInf, 7, 9});
  // Query 0 sees nothing; query 1 sees key 1 only, and nothing of key 0's infinities.
  const Tensor mask = values(NEF_BOOL, {2, 2}, {0, 0, 0, 1});
  expect_values(
      single("masked", NEF_OP_ATTENTION, {q, k, v, mask}, attrs(NEF_OP_ATTENTION).build()),
      {0, 0, 7, 9});
}

TEST(Policy, NormsOfConstantRowsGiveTheBias) {
  for (double constant : {1234.0, 1e-8, 1e30, 0.0}) {
    const Tensor x = values(NEF_FLOAT32, {1, 256}, std::vector<double>(256, constant));
    const std::vector<double> bias(256, 0.5);
    expect_values(single("layer_norm", NEF_OP_LAYER_NORMALIZATION,
                         {x, values(NEF_FLOAT32, {256}, std::vector<double>(256, 2)),
                          values(NEF_FLOAT32, {256}, bias)},
                         attrs(NEF_OP_LAYER_NORMALIZATION).build()),
                  bias);
  }
}

TEST(Policy, QuantizingRoundsHalvesToEven) {
  const std::vector<double> x = {-7.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 7.5};
  expect_values(single("ties", NEF_OP_QUANTIZE_LINEAR,
                       {vec(NEF_FLOAT32, x), scalar(NEF_FLOAT32, 1), scalar(NEF_UINT8, 7)},
                       attrs(NEF_OP_QUANTIZE_LINEAR).build()),
                {0, 5, 5, 7, 7, 9, 9, 11, 15});
  expect_values(single("saturates", NEF_OP_QUANTIZE_LINEAR,
                       {vec(NEF_FLOAT32, {1e30, -1e30, kInf, -kInf, kNan, 300}),
                        scalar(NEF_FLOAT32, 1), scalar(NEF_INT8, 3)},
                       attrs(NEF_OP_QUANTIZE_LINEAR).build()),
                {127, -128, 127, -128, 3, 127});
}

TEST(Policy, ScalesPerAxisAndPerBlock) {
  const Tensor scale = vec(NEF_FLOAT32, {0.5, 2, 10}), zero = vec(NEF_INT8, {0, 1, -1});
  const Tensor x = values(NEF_FLOAT32, {3, 2}, {1, -2, 4, -6, 50, -20});
  const auto axis0 = attrs(NEF_OP_QUANTIZE_LINEAR).set_int(NEF_QUANTIZE_LINEAR_AXIS, 0).build();
  expect_values(single("axis", NEF_OP_QUANTIZE_LINEAR, {x, scale, zero}, axis0),
                {2, -4, 3, -2, 4, -3});
  const auto back = attrs(NEF_OP_DEQUANTIZE_LINEAR).set_int(NEF_DEQUANTIZE_LINEAR_AXIS, 0).build();
  expect_values(single("axis", NEF_OP_DEQUANTIZE_LINEAR,
                       {values(NEF_INT8, {3, 2}, {2, -4, 3, -2, 4, -3}), scale, zero}, back),
                {1, -2, 4, -6, 50, -20});
  const auto blocks = attrs(NEF_OP_DEQUANTIZE_LINEAR)
                          .set_int(NEF_DEQUANTIZE_LINEAR_AXIS, 0)
                          .set_int(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE, 2)
                          .build();
  expect_values(single("blocks", NEF_OP_DEQUANTIZE_LINEAR,
                       {vec(NEF_INT8, {1, 2, 3, 4, 5}), vec(NEF_FLOAT32, {1, 10, 100})}, blocks),
                {1, 2, 30, 40, 500});
}

TEST(Policy, RecurrentLayersStopAtTheSequencesEnd) {
  // h = x + h, so a state is the sum of what was seen.
  const Tensor x = values(NEF_FLOAT32, {3, 2, 1}, {1, 10, 2, 20, 4, 40});
  const Tensor one = values(NEF_FLOAT32, {1, 1, 1}, {1});
  const auto sums = [&](const char* direction) {
    return attrs(NEF_OP_RNN)
        .set_string(NEF_RNN_ACTIVATIONS, "Affine")
        .set_string(NEF_RNN_DIRECTION, direction)
        .build();
  };
  const Tensor lengths = vec(NEF_INT32, {3, 2});
  expect_values(
      single("forward", NEF_OP_RNN, {x, one, one, Tensor{}, lengths}, sums("forward"), {}, 2),
      {1, 10, 3, 30, 7, 0});
  expect_values(
      single("reverse", NEF_OP_RNN, {x, one, one, Tensor{}, lengths}, sums("reverse"), {}, 2),
      {7, 30, 6, 20, 4, 0});
}

TEST(Policy, PackedWeights) {
  // Two blocks of 8: nibbles 0, 1, ..., 15 less 8, times 1 and 2.
  const Tensor b{NEF_UINT8, {1, 2, 4}, {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}};
  const auto words = attrs(NEF_OP_MATMUL_NBITS)
                         .set_int(NEF_MATMUL_NBITS_K, 16)
                         .set_int(NEF_MATMUL_NBITS_N, 1)
                         .set_int(NEF_MATMUL_NBITS_BITS, 4)
                         .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, 8)
                         .build();
  std::vector<double> eye(16 * 16, 0);
  for (size_t i = 0; i < 16; ++i) eye[17 * i] = 1;
  expect_values(single("nibbles", NEF_OP_MATMUL_NBITS,
                       {values(NEF_FLOAT32, {16, 16}, eye), b, vec(NEF_FLOAT32, {1, 2})}, words),
                {-8, -7, -6, -5, -4, -3, -2, -1, 0, 2, 4, 6, 8, 10, 12, 14});
}

TEST(Policy, RemainderOfFloatsHasTheDivisorsSign) {
  const Tensor a = vec(NEF_FLOAT32, {-5.5, 5.5, -5.5, 6}), b = vec(NEF_FLOAT32, {2, -2, -2, 3});
  expect_values(single("mod", NEF_OP_MOD, {a, b}, attrs(NEF_OP_MOD).build()), {0.5, -0.5, -1.5, 0});
}

TEST(Policy, ShiftsKeepTheSign) {
  const Tensor a = vec(NEF_INT8, {-8, -8, -1, 64, 1}), b = vec(NEF_INT8, {1, 8, -1, 6, 7});
  const auto way = [](const char* direction) {
    return attrs(NEF_OP_BIT_SHIFT).set_string(NEF_BIT_SHIFT_DIRECTION, direction).build();
  };
  expect_values(single("right", NEF_OP_BIT_SHIFT, {a, b}, way("RIGHT")), {-4, -1, -1, 1, 0});
  expect_values(single("left", NEF_OP_BIT_SHIFT, {a, b}, way("LEFT")), {-16, 0, 0, 0, -128});
}

TEST(Policy, FourierTransformOfAnImpulse) {
  const auto words = attrs(NEF_OP_DFT).set_int(NEF_DFT_ONESIDED, 1).build();
  expect_values(
      single("impulse", NEF_OP_DFT, {values(NEF_FLOAT32, {1, 4, 1}, {3, 0, 0, 0})}, words),
      {3, 0, 3, 0, 3, 0});
}

TEST(Policy, SmallDeterminantsAndWindows) {
  expect_values(
      single("det", NEF_OP_DET, {values(NEF_FLOAT32, {2, 2, 2}, {0, 1, 1, 0, 2, 3, 4, 5})}),
      {-1, -2});
  expect_values(
      single("hann", NEF_OP_HANN_WINDOW, {scalar(NEF_INT64, 4)}, attrs(NEF_OP_HANN_WINDOW).build()),
      {0, 0.5, 1, 0.5});
}

TEST(Policy, EmptyBatchBroadcasts) {
  expect_values(single("matmul", NEF_OP_MATMUL,
                       {make(NEF_FLOAT32, {0, 3, 4}, Fill::Small),
                        make(NEF_FLOAT32, {1, 4, 2}, Fill::Small)}),
                {});
  expect_values(
      single("no_terms", NEF_OP_MATMUL,
             {make(NEF_FLOAT32, {2, 0}, Fill::Small), make(NEF_FLOAT32, {0, 1}, Fill::Small)}),
      {0, 0});
}

TEST(Policy, IndicesAreChecked) {
  const Tensor x = vec(NEF_FLOAT32, {1, 2, 3});
  const auto words = attrs(NEF_OP_GATHER).build();
  expect_values(single("negative", NEF_OP_GATHER, {x, ints({-3, -1})}, words), {1, 3});
  for (int64_t bad : {int64_t{3}, int64_t{-4}, std::numeric_limits<int64_t>::min()}) {
    expect_error(single("outside", NEF_OP_GATHER, {x, ints({bad})}, words), NEF_OUT_OF_RANGE,
                 "Gather");
  }
}

}  // namespace
}  // namespace nef::conformance
