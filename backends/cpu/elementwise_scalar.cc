// SPDX-License-Identifier: Apache-2.0
// Tile functions without a vector form: integer division and powers, float64 math and the rarer
// float32 functions through libm.
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "backends/cpu/dtypes.h"
#include "backends/cpu/elementwise_tiles.h"

namespace nef::cpu {
namespace {

template <class T, auto kFunction>
void map1(const TileArgs& args) {
  const auto* a = static_cast<const T*>(args.in[0]);
  auto* out = static_cast<T*>(args.out);
  for (size_t i = 0; i < args.n; ++i) out[i] = kFunction(a[i]);
}

// The function also sees the attributes.
template <class T, auto kFunction>
void map1_attrs(const TileArgs& args) {
  const auto* a = static_cast<const T*>(args.in[0]);
  auto* out = static_cast<T*>(args.out);
  const double p = args.p0, q = args.p1;
  for (size_t i = 0; i < args.n; ++i) out[i] = kFunction(a[i], p, q);
}

template <class T, class U, auto kFunction>
void map2(const TileArgs& args) {
  const auto* a = static_cast<const T*>(args.in[0]);
  const auto* b = static_cast<const U*>(args.in[1]);
  auto* out = static_cast<T*>(args.out);
  for (size_t i = 0; i < args.n; ++i) out[i] = kFunction(a[i], b[i]);
}

// x / 0 is 0; the lowest value / -1 wraps.
template <class T>
T divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapping_negate(a);
  }
  return static_cast<T>(a / b);
}

// The sign of a; x mod 0 is 0.
template <class T>
T truncated_mod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
}

// The sign of b.
template <class T>
T floored_mod(T a, T b) {
  const T r = truncated_mod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}

// A negative count is one beyond every width.
template <class T>
T shift_left(T a, T b) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(b) >= sizeof(T) * 8) return T{0};
  return static_cast<T>(static_cast<uint64_t>(a) << b);
}
template <class T>
T shift_right(T a, T b) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(b) >= sizeof(T) * 8) return a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> b);
}

// Wraps; a negative exponent gives 0 unless the base is 1 or -1.
template <class T, class E>
T integer_power(T base, E exponent) {
  if constexpr (std::is_signed_v<E>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (std::is_signed_v<T> && base == static_cast<T>(-1)) {
        return exponent % 2 == 0 ? T{1} : static_cast<T>(-1);
      }
      return 0;
    }
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if (left & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

template <class T>
T shrink_int(T x, double lambd, double bias) {
  const auto v = static_cast<double>(x);
  return saturate<T>(v < -lambd ? v + bias : v > lambd ? v - bias : 0.0);
}

template <class T>
T float_power(T a, T b) {
  if (b == 2) return a * a;
  return std::pow(a, b);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double gelu(double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
}
// fmax drops a NaN, so softplus(NaN) is checked for here.
double safe_softplus(double x) { return std::isnan(x) ? x : softplus(x); }
double mish(double x) { return x * std::tanh(safe_softplus(x)); }
double celu(double x, double alpha, double) {
  if (x >= 0) return x;
  const double y = alpha * std::expm1(x / alpha);
  return y > 0 ? 0.0 : y;
}
double elu(double x, double alpha, double) { return x >= 0 ? x : alpha * std::expm1(x); }
double selu(double x, double alpha, double gamma) {
  return gamma * (x > 0 ? x : alpha * std::expm1(x));
}
double silu(double x, double alpha, double) { return x * sigmoid(alpha * x); }

// libm's functions are overloaded; these name one.
template <class T>
T acos(T x) {
  return std::acos(x);
}
template <class T>
T acosh(T x) {
  return std::acosh(x);
}
template <class T>
T asin(T x) {
  return std::asin(x);
}
template <class T>
T asinh(T x) {
  return std::asinh(x);
}
template <class T>
T atan(T x) {
  return std::atan(x);
}
template <class T>
T atanh(T x) {
  return std::atanh(x);
}
template <class T>
T cosh(T x) {
  return std::cosh(x);
}
template <class T>
T sinh(T x) {
  return std::sinh(x);
}
template <class T>
T tan(T x) {
  return std::tan(x);
}
double cos(double x) { return std::cos(x); }
double sin(double x) { return std::sin(x); }
double exp(double x) { return std::exp(x); }
double log(double x) { return std::log(x); }
double tanh(double x) { return std::tanh(x); }
double erf(double x) { return std::erf(x); }

template <class T>
TileFn for_any_float(TileOp op) {
  switch (op) {
    case TileOp::kMod: return map2<T, T, floored_mod<T>>;
    case TileOp::kFMod: return map2<T, T, truncated_mod<T>>;
    case TileOp::kPow: return map2<T, T, float_power<T>>;
    case TileOp::kAcos: return map1<T, acos<T>>;
    case TileOp::kAcosh: return map1<T, acosh<T>>;
    case TileOp::kAsin: return map1<T, asin<T>>;
    case TileOp::kAsinh: return map1<T, asinh<T>>;
    case TileOp::kAtan: return map1<T, atan<T>>;
    case TileOp::kAtanh: return map1<T, atanh<T>>;
    case TileOp::kCosh: return map1<T, cosh<T>>;
    case TileOp::kSinh: return map1<T, sinh<T>>;
    case TileOp::kTan: return map1<T, tan<T>>;
    default: return nullptr;
  }
}

TileFn for_double(TileOp op) {
  switch (op) {
    case TileOp::kCos: return map1<double, static_cast<double (*)(double)>(cos)>;
    case TileOp::kSin: return map1<double, static_cast<double (*)(double)>(sin)>;
    case TileOp::kExp: return map1<double, static_cast<double (*)(double)>(exp)>;
    case TileOp::kLog: return map1<double, static_cast<double (*)(double)>(log)>;
    case TileOp::kTanh: return map1<double, static_cast<double (*)(double)>(tanh)>;
    case TileOp::kErf: return map1<double, static_cast<double (*)(double)>(erf)>;
    case TileOp::kSigmoid: return map1<double, sigmoid>;
    case TileOp::kSoftplus: return map1<double, safe_softplus>;
    case TileOp::kGelu: return map1<double, gelu>;
    case TileOp::kGeluTanh: return map1<double, gelu_tanh>;
    case TileOp::kMish: return map1<double, mish>;
    case TileOp::kCelu: return map1_attrs<double, celu>;
    case TileOp::kElu: return map1_attrs<double, elu>;
    case TileOp::kSelu: return map1_attrs<double, selu>;
    case TileOp::kSilu: return map1_attrs<double, silu>;
    default: return for_any_float<double>(op);
  }
}

template <class T>
T same(T x) {
  return x;
}

template <class T>
TileFn for_int(TileOp op) {
  switch (op) {
    case TileOp::kDiv: return map2<T, T, divide<T>>;
    case TileOp::kMod: return map2<T, T, floored_mod<T>>;
    case TileOp::kFMod: return map2<T, T, truncated_mod<T>>;
    case TileOp::kShrink: return map1_attrs<T, shrink_int<T>>;
    default: break;
  }
  if (op == TileOp::kShiftLeft) return map2<T, T, shift_left<T>>;
  if (op == TileOp::kShiftRight) return map2<T, T, shift_right<T>>;
  if constexpr (std::is_unsigned_v<T>) {
    if (op == TileOp::kAbs) return map1<T, same<T>>;
  }
  return nullptr;
}

}  // namespace

TileFn find_scalar_fn(TileOp op, nef_dtype dtype) {
  if (dtype == NEF_FLOAT32) return for_any_float<float>(op);
  if (dtype == NEF_FLOAT64) return for_double(op);
  TileFn fn = nullptr;
  with_int_type(dtype, [&]<class T>(T) { fn = for_int<T>(op); });
  return fn;
}

TileFn find_power_fn(nef_dtype base, nef_dtype exponent) {
  if (base == exponent && (base == NEF_FLOAT32 || base == NEF_FLOAT64)) {
    return find_scalar_fn(TileOp::kPow, base);
  }
  TileFn fn = nullptr;
  with_int_type(base, [&]<class T>(T) {
    if (exponent == NEF_INT64) fn = map2<T, int64_t, integer_power<T, int64_t>>;
    if (exponent == NEF_UINT64) fn = map2<T, uint64_t, integer_power<T, uint64_t>>;
  });
  return fn;
}

TileFn find_tile_fn(TileOp op, nef_dtype dtype) {
  if (dtype == NEF_FLOAT32) {
    if (TileFn fn = find_math_fn(op)) return fn;
    if (TileFn fn = find_wide_fn(op)) return fn;
  }
  if (TileFn fn = find_vector_fn(op, dtype)) return fn;
  return find_scalar_fn(op, dtype);
}

}  // namespace nef::cpu
