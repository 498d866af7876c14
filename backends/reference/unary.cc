// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one tensor: float functions computed in double and rounded once, and the
// few that integers and bool have too.
#include <cmath>
#include <numbers>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// f(x) on every element in double.
template <typename F>
void map_float(const Call& c, F f) {
  const View x = c.in(0), y = c.out();
  for (int64_t i = 0; i < y.count; ++i) store_float(y, i, f(load_float(x, i)));
}

// f(x) in the domain of the dtype.
template <typename F>
void map_number(const Call& c, F f) {
  const View x = c.in(0), y = c.out();
  with_domain(x.dtype, [&]<typename D>(D) {
    for (int64_t i = 0; i < y.count; ++i) store<D>(y, i, f(load<D>(x, i)));
  });
}

template <double (*kFunction)(double)>
void run_function(const Call& c) {
  map_float(c, kFunction);
}

double ceil(double x) { return std::ceil(x); }
double floor(double x) { return std::floor(x); }
double round_even(double x) { return std::nearbyint(x); }
double reciprocal(double x) { return 1 / x; }
double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double softsign(double x) { return x / (1 + std::fabs(x)); }
double mish(double x) { return x * std::tanh(softplus(x)); }
double unit_clamp(double x) { return smaller(1.0, larger(0.0, x)); }
double hard_swish(double x) { return x * unit_clamp(x / 6 + 0.5); }
double gelu(double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x * 0.5 * (1 + std::tanh(inner));
}

void run_gelu(const Call& c) {
  map_float(c, c.attr_string(NEF_GELU_APPROXIMATE) == "tanh" ? gelu_tanh : gelu);
}
void run_celu(const Call& c) {
  const double alpha = c.attr_float(NEF_CELU_ALPHA, 1);
  map_float(c, [=](double x) { return x >= 0 ? x : smaller(0.0, alpha * std::expm1(x / alpha)); });
}
void run_elu(const Call& c) {
  const double alpha = c.attr_float(NEF_ELU_ALPHA, 1);
  map_float(c, [=](double x) { return x >= 0 ? x : alpha * std::expm1(x); });
}
void run_selu(const Call& c) {
  const double alpha = c.attr_float(NEF_SELU_ALPHA), gamma = c.attr_float(NEF_SELU_GAMMA);
  map_float(c, [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}
void run_leaky_relu(const Call& c) {
  const double alpha = c.attr_float(NEF_LEAKY_RELU_ALPHA, 0.01);
  map_float(c, [=](double x) { return x >= 0 ? x : alpha * x; });
}
void run_thresholded_relu(const Call& c) {
  const double alpha = c.attr_float(NEF_THRESHOLDED_RELU_ALPHA, 1);
  map_float(c, [=](double x) { return x > alpha ? x : 0.0; });
}
void run_hard_sigmoid(const Call& c) {
  const double alpha = c.attr_float(NEF_HARD_SIGMOID_ALPHA, 0.2);
  const double beta = c.attr_float(NEF_HARD_SIGMOID_BETA, 0.5);
  map_float(c, [=](double x) { return unit_clamp(alpha * x + beta); });
}
void run_silu(const Call& c) {
  const double alpha = c.attr_float(NEF_SILU_ALPHA, 1);
  map_float(c, [=](double x) { return x * sigmoid(alpha * x); });
}

void run_abs(const Call& c) {
  map_number(c, []<typename D>(D x) {
    if constexpr (std::is_same_v<D, double>) return std::fabs(x);
    else if constexpr (std::is_same_v<D, int64_t>) return x < 0 ? subtract<D>(0, x) : x;
    else return x;
  });
}
void run_neg(const Call& c) {
  map_number(c, []<typename D>(D x) {
    if constexpr (std::is_same_v<D, double>) return -x;
    else return subtract<D>(0, x);
  });
}
void run_relu(const Call& c) {
  map_number(c, []<typename D>(D x) { return is_nan(x) || x > 0 ? x : D{0}; });
}
void run_sign(const Call& c) {
  map_number(c, []<typename D>(D x) {
    if (is_nan(x)) return x;
    return x > 0 ? D{1} : x == 0 ? D{0} : static_cast<D>(-1);
  });
}
void run_not(const Call& c) {
  map_number(c, []<typename D>(D x) { return static_cast<D>(x == 0); });
}
void run_bitwise_not(const Call& c) {
  const View x = c.in(0), y = c.out();
  for (int64_t i = 0; i < y.count; ++i) store_int(y, i, ~load_int(x, i));
}

// Integers work in double too, and come back by the rules of Cast.
void run_shrink(const Call& c) {
  const double lambda = c.attr_float(NEF_SHRINK_LAMBD, 0.5);
  const double bias = c.attr_float(NEF_SHRINK_BIAS, 0);
  const View x = c.in(0), y = c.out();
  for (int64_t i = 0; i < y.count; ++i) {
    const double v = load_float(x, i);
    const double r = v < -lambda ? v + bias : v > lambda ? v - bias : 0;
    if (is_float(y.dtype)) store_float(y, i, r);
    else store_int(y, i, saturate(r, y.dtype));
  }
}

void run_isnan(const Call& c) {
  const View x = c.in(0), y = c.out();
  for (int64_t i = 0; i < y.count; ++i) store_int(y, i, std::isnan(load_float(x, i)));
}
void run_isinf(const Call& c) {
  const bool negative = c.attr_int(NEF_ISINF_DETECT_NEGATIVE, 1) != 0;
  const bool positive = c.attr_int(NEF_ISINF_DETECT_POSITIVE, 1) != 0;
  const View x = c.in(0), y = c.out();
  for (int64_t i = 0; i < y.count; ++i) {
    const double v = load_float(x, i);
    store_int(y, i, std::isinf(v) && (v < 0 ? negative : positive));
  }
}

void run_cast(const Call& c) {
  const View x = c.in(0), y = c.out();
  const unsigned slot =
      c.op() == NEF_OP_CAST ? unsigned{NEF_CAST_SATURATE} : unsigned{NEF_CAST_LIKE_SATURATE};
  const bool saturate = c.attr_int(slot, 1) != 0;
  for (int64_t i = 0; i < y.count; ++i) cast_element(y, i, x, i, saturate);
}

constexpr Kernel kKernels[] = {
    {NEF_OP_ABS, run_abs},
    {NEF_OP_NEG, run_neg},
    {NEF_OP_RELU, run_relu},
    {NEF_OP_SIGN, run_sign},
    {NEF_OP_NOT, run_not},
    {NEF_OP_BITWISE_NOT, run_bitwise_not},
    {NEF_OP_SHRINK, run_shrink},
    {NEF_OP_ISNAN, run_isnan},
    {NEF_OP_ISINF, run_isinf},
    {NEF_OP_CAST, run_cast},
    {NEF_OP_CAST_LIKE, run_cast},
    {NEF_OP_ACOS, run_function<std::acos>},
    {NEF_OP_ACOSH, run_function<std::acosh>},
    {NEF_OP_ASIN, run_function<std::asin>},
    {NEF_OP_ASINH, run_function<std::asinh>},
    {NEF_OP_ATAN, run_function<std::atan>},
    {NEF_OP_ATANH, run_function<std::atanh>},
    {NEF_OP_CEIL, run_function<ceil>},
    {NEF_OP_COS, run_function<std::cos>},
    {NEF_OP_COSH, run_function<std::cosh>},
    {NEF_OP_ERF, run_function<std::erf>},
    {NEF_OP_EXP, run_function<std::exp>},
    {NEF_OP_FLOOR, run_function<floor>},
    {NEF_OP_HARD_SWISH, run_function<hard_swish>},
    {NEF_OP_LOG, run_function<std::log>},
    {NEF_OP_MISH, run_function<mish>},
    {NEF_OP_RECIPROCAL, run_function<reciprocal>},
    {NEF_OP_ROUND, run_function<round_even>},
    {NEF_OP_SIGMOID, run_function<sigmoid>},
    {NEF_OP_SIN, run_function<std::sin>},
    {NEF_OP_SINH, run_function<std::sinh>},
    {NEF_OP_SOFTPLUS, run_function<softplus>},
    {NEF_OP_SOFTSIGN, run_function<softsign>},
    {NEF_OP_SQRT, run_function<std::sqrt>},
    {NEF_OP_TAN, run_function<std::tan>},
    {NEF_OP_TANH, run_function<std::tanh>},
    {NEF_OP_CELU, run_celu},
    {NEF_OP_ELU, run_elu},
    {NEF_OP_SELU, run_selu},
    {NEF_OP_GELU, run_gelu},
    {NEF_OP_HARD_SIGMOID, run_hard_sigmoid},
    {NEF_OP_LEAKY_RELU, run_leaky_relu},
    {NEF_OP_SILU, run_silu},
    {NEF_OP_THRESHOLDED_RELU, run_thresholded_relu},
};

}  // namespace

std::span<const Kernel> unary_kernels() { return kKernels; }

}  // namespace nef::reference
