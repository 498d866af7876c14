// SPDX-License-Identifier: Apache-2.0
// Cases of elementwise ops with one tensor, and Cast.
#include <cstring>
#include <limits>

#include "engine/ir/dtype.h"
#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

// Shapes that hurt: nothing, a scalar, odd tails around vector widths, more than one tile.
const std::vector<std::vector<int64_t>> kShapes = {
    {}, {0}, {1}, {3}, {8}, {17}, {31}, {67}, {3, 5, 7}, {4, 0, 5}, {1, 1, 1, 1}, {2500}};

struct UnaryOp {
  nef_op op;
  double ulps;           // for float32 and float64; 16-bit floats get 1 unless this is 0
  double magnitude = 0;  // below it errors count as absolute
  Fill fill = Fill::Small;
};
// 0 ulps: the result is exact or correctly rounded everywhere.
constexpr UnaryOp kOps[] = {
    {NEF_OP_ABS, 0},
    {NEF_OP_NEG, 0},
    {NEF_OP_RELU, 0},
    {NEF_OP_SIGN, 0},
    {NEF_OP_NOT, 0},
    {NEF_OP_BITWISE_NOT, 0},
    {NEF_OP_CEIL, 0},
    {NEF_OP_FLOOR, 0},
    {NEF_OP_ROUND, 0},
    {NEF_OP_SQRT, 0},
    {NEF_OP_RECIPROCAL, 0},
    {NEF_OP_ISNAN, 0},
    {NEF_OP_IDENTITY, 0},
    {NEF_OP_EXP, 4},
    {NEF_OP_LOG, 4, 0, Fill::Positive},
    {NEF_OP_SIN, 4},
    {NEF_OP_COS, 4, 0.1},
    {NEF_OP_TAN, 4, 0.1},
    {NEF_OP_SINH, 4},
    {NEF_OP_COSH, 4},
    {NEF_OP_TANH, 4},
    {NEF_OP_ASIN, 4, 0, Fill::Unit},
    {NEF_OP_ACOS, 4, 0.1, Fill::Unit},
    {NEF_OP_ATAN, 4},
    {NEF_OP_ASINH, 4},
    {NEF_OP_ACOSH, 4, 0.1, Fill::Positive},
    {NEF_OP_ATANH, 4, 0, Fill::Unit},
    {NEF_OP_ERF, 4},
    {NEF_OP_SIGMOID, 4},
    {NEF_OP_SOFTPLUS, 4},
    {NEF_OP_SOFTSIGN, 2},
    {NEF_OP_MISH, 6, 0.1},
    {NEF_OP_HARD_SWISH, 2, 1},
};

double ulps_for(double ulps, nef_dtype dtype) {
  const bool narrow = dtype == NEF_FLOAT16 || dtype == NEF_BFLOAT16;
  return ulps > 0 && narrow ? 1 : ulps;
}

void add_shapes(nef_op op, const std::vector<int64_t>& attr_words, const std::string& suffix,
                double ulps, double magnitude, Fill fill, CaseList& out) {
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tolerance tolerance{ulps_for(ulps, t), magnitude};
    for (const auto& dims : kShapes) {
      out.push_back(
          single(dims_name(dims) + suffix, op, {make(t, dims, fill)}, attr_words, tolerance));
    }
    out.push_back(
        single("special" + suffix, op, {make(t, {211}, Fill::Extreme)}, attr_words, tolerance));
  }
}

void add_isinf(CaseList& out) {
  for (int64_t negative : {0, 1}) {
    for (int64_t positive : {0, 1}) {
      const auto words = attrs(NEF_OP_ISINF)
                             .set_int(NEF_ISINF_DETECT_NEGATIVE, negative)
                             .set_int(NEF_ISINF_DETECT_POSITIVE, positive)
                             .build();
      add_shapes(NEF_OP_ISINF, words, "_" + std::to_string(negative) + std::to_string(positive), 0,
                 0, Fill::Special, out);
    }
  }
}

// Ops with one float attribute: the default and another value.
bool add_with_float(nef_op op, unsigned slot, double value, double ulps, double magnitude,
                    CaseList& out) {
  add_shapes(op, attrs(op).build(), "", ulps, magnitude, Fill::Small, out);
  add_shapes(op, attrs(op).set_float(slot, value).build(), "_attr", ulps, magnitude, Fill::Small,
             out);
  return true;
}

template <typename Bits>
Tensor from_bits(nef_dtype dtype, const std::vector<Bits>& bits) {
  Tensor t{dtype, {static_cast<int64_t>(bits.size())}, {}};
  const auto* first = reinterpret_cast<const char*>(bits.data());
  t.bytes.assign(first, first + bits.size() * sizeof(Bits));
  return t;
}

// Signalling NaN, ties, the step to infinity, limits of the integer dtypes and beyond.
Tensor hard_to_cast(nef_dtype from) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (from == NEF_FLOAT32) {
    return from_bits<uint32_t>(
        from, {0x7F800001, 0xFF800001, 0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x00000001, 0x80000001,
               0x477FEFFF, 0x477FF000, 0x33000000, 0x33000001, 0x4F000000, 0xCF000000, 0x5F000000,
               0xDF000000, 0x5F800000, 0x43960000, 0xBFC00000, 0x7F800000, 0xFF800000});
  }
  if (!is_float(from)) return make(from, {64}, Fill::Extreme, 5);
  return values(from, {20}, {300,     nan,          inf,           -inf,   -1.5,    1.5,   -0.5,
                             127,     128,          -128,          -129,   255,     256,   -32769,
                             65535.5, 2147483648.0, -2147483649.0, 9.3e18, -9.3e18, 1.9e19});
}

void add_cast(CaseList& out) {
  for (nef_dtype from = NEF_BOOL; from <= ir::kLastDtype; ++from) {
    for (nef_dtype to = NEF_BOOL; to <= ir::kLastDtype; ++to) {
      const auto words = attrs(NEF_OP_CAST).set_int(NEF_CAST_TO, to).build();
      const std::string name = "to_" + std::to_string(to) + "_";
      out.push_back(single(name + "hard", NEF_OP_CAST, {hard_to_cast(from)}, words));
      for (int64_t n : {0, 1, 67, 1500}) {
        out.push_back(
            single(name + dims_name({n}), NEF_OP_CAST, {make(from, {n}, Fill::Extreme)}, words));
      }
      out.push_back(single(name + "scalar", NEF_OP_CAST, {make(from, {}, Fill::Small)}, words));
    }
  }
}
// Ties between neighbours, subnormal numbers and the last steps of the 8-bit floats.
void add_cast_to_float8(nef_op op, CaseList& out) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> numbers = {
      inf,       -inf,    nan,       448,    449,      463,      464,      465,
      479,       -464,    -465,      480,    57344,    57345,    61439,    61440,
      -61440,    61441,   65504,     -65504, 0x1p-9,   0x1p-10,  0x1p-11,  0x1.8p-9,
      0x1p-16,   0x1p-17, 0x1.8p-16, -0.0,   0x1.cp-7, 0x1.ep-7, 0x1.fp-7, 0x1.8p-15,
      0x1.cp-15, 1e30,    -1e30,     1e-30,  -1e-30};
  for (int i = 0; i < 64; ++i) numbers.push_back((1 + i / 32.0) * (i % 2 == 0 ? 1 : -0x1p-5));
  const auto n = static_cast<int64_t>(numbers.size());
  for (nef_dtype to : {NEF_FLOAT8_E4M3FN, NEF_FLOAT8_E5M2}) {
    for (nef_dtype from = NEF_FLOAT16; from <= ir::kLastDtype; ++from) {
      for (int64_t saturate : {0, 1}) {
        const std::string name =
            "saturate" + std::to_string(saturate) + "_to_" + std::to_string(to);
        std::vector<Tensor> inputs = {values(from, {n}, numbers)};
        auto b = attrs(op);
        if (op == NEF_OP_CAST) {
          b.set_int(NEF_CAST_TO, to).set_int(NEF_CAST_SATURATE, saturate);
        } else {
          b.set_int(NEF_CAST_LIKE_SATURATE, saturate);
          inputs.push_back(make(to, {1}, Fill::Small));
        }
        out.push_back(single(name, op, std::move(inputs), b.build()));
      }
    }
  }
}
void add_cast_like(CaseList& out) {
  for (nef_dtype from = NEF_BOOL; from <= ir::kLastDtype; ++from) {
    for (nef_dtype to = NEF_BOOL; to <= ir::kLastDtype; ++to) {
      out.push_back(single("like_" + std::to_string(to), NEF_OP_CAST_LIKE,
                           {hard_to_cast(from), make(to, {2}, Fill::Small)}));
    }
  }
}

bool add_gelu(CaseList& out) {
  for (const char* kind : {"none", "tanh"}) {
    const auto words = attrs(NEF_OP_GELU).set_string(NEF_GELU_APPROXIMATE, kind).build();
    add_shapes(NEF_OP_GELU, words, std::string("_") + kind, 4, 1, Fill::Small, out);
  }
  return true;
}

bool add_attribute_ops(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_CELU: return add_with_float(op, NEF_CELU_ALPHA, 2.5, 4, 1, out);
    case NEF_OP_ELU: return add_with_float(op, NEF_ELU_ALPHA, 0.5, 4, 1, out);
    case NEF_OP_SELU: return add_with_float(op, NEF_SELU_GAMMA, 2, 4, 1, out);
    case NEF_OP_LEAKY_RELU: return add_with_float(op, NEF_LEAKY_RELU_ALPHA, -0.5, 1, 0, out);
    case NEF_OP_THRESHOLDED_RELU:
      return add_with_float(op, NEF_THRESHOLDED_RELU_ALPHA, 2, 0, 0, out);
    case NEF_OP_HARD_SIGMOID: return add_with_float(op, NEF_HARD_SIGMOID_ALPHA, 0.5, 2, 1, out);
    case NEF_OP_SHRINK: return add_with_float(op, NEF_SHRINK_BIAS, 1.5, 1, 0, out);
    case NEF_OP_SILU: return add_with_float(op, NEF_SILU_ALPHA, 1.5, 6, 0, out);
    case NEF_OP_GELU: return add_gelu(out);
    case NEF_OP_ISINF: add_isinf(out); return true;
    case NEF_OP_CAST:
      add_cast(out);
      add_cast_to_float8(op, out);
      return true;
    case NEF_OP_CAST_LIKE:
      add_cast_like(out);
      add_cast_to_float8(op, out);
      return true;
    default: return false;
  }
}

}  // namespace

bool add_unary_cases(nef_op op, CaseList& out) {
  for (const UnaryOp& u : kOps) {
    if (u.op != op) continue;
    add_shapes(op, {}, "", u.ulps, u.magnitude, u.fill, out);
    return true;
  }
  return add_attribute_ops(op, out);
}

}  // namespace nef::conformance
