// SPDX-License-Identifier: Apache-2.0
// A NaN may be passed over where the largest element is looked for, but spoils the sum.
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/math-inl.h"
#include "backends/cpu/softmax_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

using Tag = hn::CappedTag<float, 16>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Range {
  float most = -kInfinity, least = kInfinity;
};

Range range(const float* x, int64_t n) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto high = hn::Inf(d), low = hn::Neg(high);
  auto most = low, most1 = low, most2 = low, most3 = low;
  auto least = high, least1 = high, least2 = high, least3 = high;
#define NEF_STEP(i, at)                    \
  {                                        \
    const auto v = hn::LoadU(d, x + (at)); \
    most##i = hn::Max(v, most##i);         \
    least##i = hn::Min(v, least##i);       \
  }
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    NEF_STEP(, i) NEF_STEP(1, i + lanes) NEF_STEP(2, i + 2 * lanes) NEF_STEP(3, i + 3 * lanes)
  }
  for (; i + lanes <= n; i += lanes) NEF_STEP(, i)
#undef NEF_STEP
  if (i < n) {
    const size_t rest = static_cast<size_t>(n - i);
    const auto here = hn::FirstN(d, rest);
    const auto v = hn::LoadN(d, x + i, rest);
    most1 = hn::Max(hn::IfThenElse(here, v, low), most1);
    least1 = hn::Min(hn::IfThenElse(here, v, high), least1);
  }
  return {hn::ReduceMax(d, hn::Max(hn::Max(most, most1), hn::Max(most2, most3))),
          hn::ReduceMin(d, hn::Min(hn::Min(least, least1), hn::Min(least2, least3)))};
}

// e^(x * scale - shift) and its sum.
template <bool kScaled, class F>
HWY_INLINE float weigh(const float* x, int64_t n, float scale, float shift, float* y,
                       const F& e_to_the) {
  const Tag d;
  const auto f = hn::Set(d, scale), s = hn::Set(d, shift);
  const auto weight = [&](auto v) HWY_ATTR {
    return e_to_the(kScaled ? hn::MulSub(v, f, s) : hn::Sub(v, s));
  };
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d), sum1 = sum;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto v = weight(hn::LoadU(d, x + i)), v1 = weight(hn::LoadU(d, x + i + lanes));
    hn::StoreU(v, d, y + i);
    hn::StoreU(v1, d, y + i + lanes);
    sum = hn::Add(sum, v);
    sum1 = hn::Add(sum1, v1);
  }
  for (; i < n; i += lanes) {
    const size_t rest = static_cast<size_t>(std::min(lanes, n - i));
    const auto v = hn::IfThenElseZero(hn::FirstN(d, rest), weight(hn::LoadN(d, x + i, rest)));
    hn::StoreN(v, d, y + i, rest);
    sum = hn::Add(sum, v);
  }
  return hn::ReduceSum(d, hn::Add(sum, sum1));
}
template <bool kScaled = false>
float weigh_part(const float* x, int64_t n, float least, float shift, float* y, float scale = 1) {
  const Tag d;
  if (least * scale - shift >= kLeastPlainWeight) {
    return weigh<kScaled>(x, n, scale, shift, y,
                          [&](auto v) HWY_ATTR { return exp_plain_weight(d, v); });
  }
  return weigh<kScaled>(x, n, scale, shift, y, [&](auto v) HWY_ATTR { return exp_below_89(d, v); });
}

template <typename T>
void scale_rows(const T* x, int64_t ldx, int64_t rows, int64_t n, const T* factor, T* y,
                int64_t ldy) {
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < rows; ++i, x += ldx, y += ldy) {
    if (factor[i] == 1 && x == y) continue;
    const auto f = hn::Set(d, factor[i]);
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, x + j), f), d, y + j);
    const size_t rest = static_cast<size_t>(n - j);
    if (rest > 0) hn::StoreN(hn::Mul(hn::LoadN(d, x + j, rest), f), d, y + j, rest);
  }
}

// Part by part, so that each is in L1 when its weights are computed; relative to the largest
// element so far, which the last pass makes up for.
void long_row(const float* x, int64_t n, int64_t part, float* y) {
  constexpr int kMost = 64;
  float shift[kMost];
  float most = -kInfinity, total = 0;
  int parts = 0;
  for (int64_t i = 0; i < n; i += part, ++parts) {
    const int64_t count = std::min(part, n - i);
    const Range r = range(x + i, count);
    const float before = most;
    most = std::max(most, r.most);
    shift[parts] = most == -kInfinity ? 0 : most;
    total = before == -kInfinity ? 0 : total * std::exp(before - most);
    total += weigh_part(x + i, count, r.least, shift[parts], y + i);
  }
  for (int p = 0; p < parts; ++p) {
    // Of nothing but -inf the total is 0, and 0 / 0 is NaN.
    const float factor = std::exp(std::min(0.0f, shift[p] - most)) / total;
    scale_rows(y + p * part, n, 1, std::min(part, n - p * part), &factor, y + p * part, n);
  }
}

// The first `left` of a vector, `other` behind them.
template <class V>
HWY_INLINE V load_first(const float* x, int64_t left, V other) {
  const Tag d;
  if (left >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, x);
  return left > 0 ? hn::LoadNOr(other, d, x, static_cast<size_t>(left)) : other;
}
template <class V>
HWY_INLINE void store_first(V v, int64_t left, float* y) {
  const Tag d;
  if (left >= static_cast<int64_t>(hn::Lanes(d))) hn::StoreU(v, d, y);
  else if (left > 0) hn::StoreN(v, d, y, static_cast<size_t>(left));
}

// Eight vectors at most stay in registers until they are weights: rows so short wait for what goes
// across a vector, unless the next ones are under way meanwhile.
constexpr int64_t kRowVectors = 8;
#define NEF_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define NEF_FOLD(op, v) op(op(op(v##0, v##1), op(v##2, v##3)), op(op(v##4, v##5), op(v##6, v##7)))
void short_row(const float* x, int64_t n, float* y) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto high = hn::Inf(d), low = hn::Neg(high);
#define NEF_LOAD(i) auto v##i = load_first(x + i * lanes, n - i * lanes, low);
  NEF_EACH(NEF_LOAD)
#undef NEF_LOAD
  const auto most = hn::MaxOfLanes(d, NEF_FOLD(hn::Max, v));
#define NEF_LEAST(i) const auto least##i = load_first(x + i * lanes, n - i * lanes, high);
  NEF_EACH(NEF_LEAST)
#undef NEF_LEAST
  const auto least = hn::Sub(NEF_FOLD(hn::Min, least), most);
#define NEF_PLAIN(i) v##i = exp_plain_weight(d, hn::Sub(v##i, most));
#define NEF_ANY(i) v##i = exp_below_89(d, hn::Sub(v##i, most));
  if (hn::AllTrue(d, hn::Ge(least, hn::Set(d, kLeastPlainWeight)))) {
    NEF_EACH(NEF_PLAIN)
  } else {
    NEF_EACH(NEF_ANY)
  }
#undef NEF_ANY
#undef NEF_PLAIN
  // What is no element weighs nothing.
#define NEF_KEEP(i)                                                                              \
  if (n - i * lanes < lanes) {                                                                   \
    v##i =                                                                                       \
        hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(HWY_MAX(n - i * lanes, 0))), v##i); \
  }
  NEF_EACH(NEF_KEEP)
#undef NEF_KEEP
  const auto factor = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, NEF_FOLD(hn::Add, v)));
#define NEF_STORE(i) store_first(hn::Mul(v##i, factor), n - i * lanes, y + i * lanes);
  NEF_EACH(NEF_STORE)
#undef NEF_STORE
}
#undef NEF_FOLD
#undef NEF_EACH

void row_of_floats(const float* x, int64_t n, float* y) {
  constexpr int64_t kShort = 8192, kPart = 2048;
  if (n <= kRowVectors * static_cast<int64_t>(hn::Lanes(Tag()))) return short_row(x, n, y);
  if (n > kShort) return long_row(x, n, std::max(kPart, (n + 63) / 64), y);
  const Range r = range(x, n);
  const float factor = 1 / weigh_part(x, n, r.least, r.most, y);
  scale_rows(y, n, 1, n, &factor, y, n);
}

void row_of_doubles(const double* x, int64_t n, double* y) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max(most, x[i]);
  for (int64_t i = 0; i < n; ++i) sum += y[i] = std::exp(x[i] - most);
  for (int64_t i = 0; i < n; ++i) y[i] /= sum;
}

// Two vectors of columns, which become weights; their sums.
template <class V, class F>
HWY_INLINE void weigh_columns(float* x, int64_t ld, int64_t keys, float scale, V shift_a, V shift_b,
                              V& sum_a, V& sum_b, const F& e_to_the) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto s = hn::Set(d, scale);
  sum_a = hn::Zero(d);
  sum_b = hn::Zero(d);
  for (int64_t i = 0; i < keys; ++i, x += ld) {
    const auto a = e_to_the(hn::MulSub(hn::LoadU(d, x), s, shift_a));
    const auto b = e_to_the(hn::MulSub(hn::LoadU(d, x + lanes), s, shift_b));
    hn::StoreU(a, d, x);
    hn::StoreU(b, d, x + lanes);
    sum_a = hn::Add(sum_a, a);
    sum_b = hn::Add(sum_b, b);
  }
}

void columns_of_floats(float* scores, int64_t ld, int64_t keys, int64_t queries, float scale,
                       float* most, float* total, float* factor) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto s = hn::Set(d, scale), high = hn::Inf(d), low = hn::Neg(high);
  for (int64_t c = 0; c < queries; c += 2 * lanes) {
    auto most_a = low, most_b = low, least_a = high, least_b = high;
    const float* x = scores + c;
    for (int64_t i = 0; i < keys; ++i, x += ld) {
      const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + lanes);
      most_a = hn::Max(a, most_a);
      most_b = hn::Max(b, most_b);
      least_a = hn::Min(a, least_a);
      least_b = hn::Min(b, least_b);
    }
    const auto before_a = hn::LoadU(d, most + c), before_b = hn::LoadU(d, most + c + lanes);
    most_a = hn::Max(hn::Mul(most_a, s), before_a);
    most_b = hn::Max(hn::Mul(most_b, s), before_b);
    hn::StoreU(most_a, d, most + c);
    hn::StoreU(most_b, d, most + c + lanes);
    // Where nothing is seen yet, -inf - -inf would be NaN.
    const auto shift_a = hn::IfThenElse(hn::Eq(most_a, low), hn::Zero(d), most_a);
    const auto shift_b = hn::IfThenElse(hn::Eq(most_b, low), hn::Zero(d), most_b);
    const auto factor_a = exp_below_89(d, hn::Sub(before_a, shift_a));
    const auto factor_b = exp_below_89(d, hn::Sub(before_b, shift_b));
    hn::StoreU(factor_a, d, factor + c);
    hn::StoreU(factor_b, d, factor + c + lanes);
    const auto least = hn::Min(hn::MulSub(least_a, s, shift_a), hn::MulSub(least_b, s, shift_b));
    auto sum_a = hn::Zero(d), sum_b = sum_a;
    if (hn::AllTrue(d, hn::Ge(least, hn::Set(d, kLeastPlainWeight)))) {
      weigh_columns(scores + c, ld, keys, scale, shift_a, shift_b, sum_a, sum_b,
                    [&](auto v) HWY_ATTR { return exp_plain_weight(d, v); });
    } else {
      weigh_columns(scores + c, ld, keys, scale, shift_a, shift_b, sum_a, sum_b,
                    [&](auto v) HWY_ATTR { return exp_below_89(d, v); });
    }
    const auto total_a = hn::LoadU(d, total + c), total_b = hn::LoadU(d, total + c + lanes);
    hn::StoreU(hn::MulAdd(total_a, factor_a, sum_a), d, total + c);
    hn::StoreU(hn::MulAdd(total_b, factor_b, sum_b), d, total + c + lanes);
  }
}

// As columns_of_floats, along rows. All rows of a group are looked through before the first is
// weighed, so that none waits for what goes across a vector.
void rows_of_floats(float* scores, int64_t ld, int64_t queries, int64_t keys, float scale,
                    float* most, float* total, float* factor) {
  const Tag d;
  constexpr int64_t kGroup = 16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto s = hn::Set(d, scale), low = hn::Neg(hn::Inf(d));
  HWY_ALIGN float high[kGroup] = {}, least[kGroup] = {}, shift[kGroup], sums[kGroup] = {};
  for (int64_t q = 0; q < queries; q += kGroup) {
    const int64_t count = std::min(kGroup, queries - q);
    float* rows = scores + q * ld;
    for (int64_t i = 0; i < count; ++i) {
      const Range r = range(rows + i * ld, keys);
      high[i] = r.most;
      least[i] = r.least;
    }
    for (int64_t i = 0; i < count; i += lanes) {
      const size_t n = static_cast<size_t>(std::min(lanes, count - i));
      const auto before = hn::LoadN(d, most + q + i, n);
      const auto now = hn::Max(hn::Mul(hn::Load(d, high + i), s), before);
      // Where nothing is seen yet, -inf - -inf would be NaN.
      const auto moved = hn::IfThenElse(hn::Eq(now, low), hn::Zero(d), now);
      hn::StoreN(now, d, most + q + i, n);
      hn::Store(moved, d, shift + i);
      hn::StoreN(exp_below_89(d, hn::Sub(before, moved)), d, factor + q + i, n);
    }
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = weigh_part<true>(rows + i * ld, keys, least[i], shift[i], rows + i * ld, scale);
    }
    for (int64_t i = 0; i < count; i += lanes) {
      const size_t n = static_cast<size_t>(std::min(lanes, count - i));
      const auto f = hn::LoadN(d, factor + q + i, n);
      const auto before = hn::LoadN(d, total + q + i, n);
      hn::StoreN(hn::MulAdd(before, f, hn::Load(d, sums + i)), d, total + q + i, n);
    }
  }
}

// Scores of a query are `step` apart, queries `next`.
void doubles(double* scores, int64_t step, int64_t next, int64_t keys, int64_t queries,
             double scale, double* most, double* total, double* factor) {
  constexpr double kLow = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < queries; ++c) {
    double now = most[c];
    for (int64_t i = 0; i < keys; ++i) now = std::fmax(now, scores[i * step + c * next] * scale);
    const double shift = now == kLow ? 0 : now;
    factor[c] = std::exp(most[c] - shift);
    most[c] = now;
    total[c] *= factor[c];
    for (int64_t i = 0; i < keys; ++i) {
      double& x = scores[i * step + c * next];
      x = std::exp(x * scale - shift);
      total[c] += x;
    }
  }
}
void columns_of_doubles(double* scores, int64_t ld, int64_t keys, int64_t queries, double scale,
                        double* most, double* total, double* factor) {
  doubles(scores, ld, 1, keys, queries, scale, most, total, factor);
}
void rows_of_doubles(double* scores, int64_t ld, int64_t queries, int64_t keys, double scale,
                     double* most, double* total, double* factor) {
  doubles(scores, 1, ld, keys, queries, scale, most, total, factor);
}

template <typename T>
void hide(const uint8_t* keep, int64_t n, T* scores) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto low = hn::Neg(hn::Inf(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto kept = hn::PromoteTo(bits, hn::LoadU(bytes, keep + i));
    const auto x = hn::LoadU(d, scores + i);
    const auto hidden = hn::RebindMask(d, hn::Eq(kept, hn::Zero(bits)));
    hn::StoreU(hn::MaskedAddOr(x, hidden, x, low), d, scores + i);
  }
  for (; i < n; ++i) {
    if (keep[i] == 0) scores[i] -= std::numeric_limits<T>::infinity();
  }
}

const SoftmaxOps<float>& ops_float() {
  static const SoftmaxOps<float> table = {row_of_floats, columns_of_floats, rows_of_floats,
                                          scale_rows<float>, hide<float>};
  return table;
}
const SoftmaxOps<double>& ops_double() {
  static const SoftmaxOps<double> table = {row_of_doubles, columns_of_doubles, rows_of_doubles,
                                           scale_rows<double>, hide<double>};
  return table;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(ops_float);
HWY_EXPORT(ops_double);
template <>
const SoftmaxOps<float>& softmax_ops<float>() {
  return HWY_DYNAMIC_DISPATCH(ops_float)();
}
template <>
const SoftmaxOps<double>& softmax_ops<double>() {
  return HWY_DYNAMIC_DISPATCH(ops_double)();
}
}  // namespace nef::cpu
#endif
