// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/math-inl.h"
#include "backends/cpu/reduce_rows.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace {
using D32 = hn::ScalableTag<float>;
using V32 = hn::Vec<D32>;

using D64 = hn::Repartition<double, D32>;
using V64 = hn::Vec<D64>;

constexpr size_t kBlock = 1024;

// Sums are taken in double throughout: float32 squares and partial sums may overflow where the
// result does not.
struct Same {
  static HWY_INLINE V64 add(V64 sum, V64 x) { return hn::Add(sum, x); }
};
struct Absolute {
  static HWY_INLINE V64 add(V64 sum, V64 x) { return hn::Add(sum, hn::Abs(x)); }
};
struct Square {
  static HWY_INLINE V64 add(V64 sum, V64 x) { return hn::MulAdd(x, x, sum); }
};

// Four chains hide the latency of the additions.
template <class Map>
double row_sum(const float* x, size_t n) {
  const D32 d;
  const D64 dd;
  const size_t lanes = hn::Lanes(d);
  V64 s0 = hn::Zero(dd), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const V32 a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + lanes);
    s0 = Map::add(s0, hn::PromoteLowerTo(dd, a));
    s1 = Map::add(s1, hn::PromoteUpperTo(dd, a));
    s2 = Map::add(s2, hn::PromoteLowerTo(dd, b));
    s3 = Map::add(s3, hn::PromoteUpperTo(dd, b));
  }
  for (; i < n; i += lanes) {
    const V32 a = n - i >= lanes ? hn::LoadU(d, x + i) : hn::LoadN(d, x + i, n - i);
    s0 = Map::add(s0, hn::PromoteLowerTo(dd, a));
    s1 = Map::add(s1, hn::PromoteUpperTo(dd, a));
  }
  return hn::ReduceSum(dd, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

struct Larger {
  static HWY_INLINE V32 apply(V32 a, V32 b) { return hn::Max(a, b); }
  static HWY_INLINE float across(D32 d, V32 v) { return hn::ReduceMax(d, v); }
};
struct Smaller {
  static HWY_INLINE V32 apply(V32 a, V32 b) { return hn::Min(a, b); }
  static HWY_INLINE float across(D32 d, V32 v) { return hn::ReduceMin(d, v); }
};

// Max and Min of vectors may lose a NaN, depending on its side: NaNs are gathered apart.
template <class Pick>
double row_extreme(const float* x, size_t n) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const V32 first = hn::Set(d, x[0]);
  V32 best0 = first, best1 = first;
  auto nan = hn::IsNaN(first);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const V32 a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + lanes);
    nan = hn::Or(nan, hn::IsEitherNaN(a, b));
    best0 = Pick::apply(best0, a);
    best1 = Pick::apply(best1, b);
  }
  for (; i < n; i += lanes) {
    const V32 a = n - i >= lanes ? hn::LoadU(d, x + i) : hn::LoadNOr(first, d, x + i, n - i);
    nan = hn::Or(nan, hn::IsNaN(a));
    best0 = Pick::apply(best0, a);
  }
  if (!hn::AllFalse(d, nan)) return hn::GetLane(hn::NaN(d));
  return Pick::across(d, Pick::apply(best0, best1));
}

// Rows of two, three or four elements: a vector of outputs at a time.
template <class Map, class V>
HWY_INLINE void add_to(V x, V64& low, V64& high) {
  const D64 dd;
  low = Map::add(low, hn::PromoteLowerTo(dd, x));
  high = Map::add(high, hn::PromoteUpperTo(dd, x));
}
template <class Map, size_t kLength>
size_t interleaved_sums(double* out, const float* x, size_t rows) {
  const D32 d;
  const D64 dd;
  const size_t lanes = hn::Lanes(d);
  size_t r = 0;
  for (; r + lanes <= rows; r += lanes, x += kLength * lanes) {
    V32 v0, v1, v2, v3;
    if constexpr (kLength == 2) hn::LoadInterleaved2(d, x, v0, v1);
    if constexpr (kLength == 3) hn::LoadInterleaved3(d, x, v0, v1, v2);
    if constexpr (kLength == 4) hn::LoadInterleaved4(d, x, v0, v1, v2, v3);
    V64 low = hn::Zero(dd), high = low;
    add_to<Map>(v0, low, high);
    add_to<Map>(v1, low, high);
    if constexpr (kLength > 2) add_to<Map>(v2, low, high);
    if constexpr (kLength > 3) add_to<Map>(v3, low, high);
    hn::StoreU(low, dd, out + r);
    hn::StoreU(high, dd, out + r + hn::Lanes(dd));
  }
  return r;
}
template <class Map>
void short_sum(double* out, const float* x, size_t rows, size_t n) {
  size_t r = 0;
  if (n == 2) r = interleaved_sums<Map, 2>(out, x, rows);
  if (n == 3) r = interleaved_sums<Map, 3>(out, x, rows);
  if (n == 4) r = interleaved_sums<Map, 4>(out, x, rows);
  for (; r < rows; ++r) out[r] = row_sum<Map>(x + r * n, n);
}
template <class Pick>
void short_extreme(float* out, const float* x, size_t rows, size_t n) {
  for (size_t r = 0; r < rows; ++r) out[r] = static_cast<float>(row_extreme<Pick>(x + r * n, n));
}

// Rows that are folded at a time: each is read along, for memory to keep up, and what was folded so
// far is read and written once for all of them.
constexpr size_t kRowsAtATime = 8;

template <class Map, size_t kRows>
void add_rows(double* acc, const float* x, size_t step, size_t n) {
  const D32 d;
  const D64 dd;
  const size_t lanes = hn::Lanes(d), half = hn::Lanes(dd);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V64 low = hn::LoadU(dd, acc + i), high = hn::LoadU(dd, acc + i + half);
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) {
      const V32 v = hn::LoadU(d, x + r * step + i);
      low = Map::add(low, hn::PromoteLowerTo(dd, v));
      high = Map::add(high, hn::PromoteUpperTo(dd, v));
    }
    hn::StoreU(low, dd, acc + i);
    hn::StoreU(high, dd, acc + i + half);
  }
  for (; i < n; ++i) {
    V64 sum = hn::Set(dd, acc[i]);
    for (size_t r = 0; r < kRows; ++r) {
      sum = Map::add(sum, hn::Set(dd, static_cast<double>(x[r * step + i])));
    }
    acc[i] = hn::GetLane(sum);
  }
}

template <class Map>
void column_sum(double* acc, const float* x, size_t step, size_t rows, size_t n) {
  size_t r = 0;
  for (; r + kRowsAtATime <= rows; r += kRowsAtATime) {
    add_rows<Map, kRowsAtATime>(acc, x + r * step, step, n);
  }
  for (; r < rows; ++r) add_rows<Map, 1>(acc, x + r * step, step, n);
}

template <class Pick, size_t kRows>
void pick_rows(float* acc, const float* x, size_t step, size_t n) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t rest = std::min(lanes, n - i);
    V32 best = hn::LoadN(d, acc + i, rest);
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) {
      const float* p = x + r * step + i;
      const V32 v = rest == lanes ? hn::LoadU(d, p) : hn::LoadN(d, p, rest);
      best = hn::IfThenElse(hn::IsEitherNaN(best, v), hn::Add(best, v), Pick::apply(best, v));
    }
    hn::StoreN(best, d, acc + i, rest);
  }
}

template <class Pick>
void column_extreme(float* acc, const float* x, size_t step, size_t rows, size_t n) {
  size_t r = 0;
  for (; r + kRowsAtATime <= rows; r += kRowsAtATime) {
    pick_rows<Pick, kRowsAtATime>(acc, x + r * step, step, n);
  }
  for (; r < rows; ++r) pick_rows<Pick, 1>(acc, x + r * step, step, n);
}

double exp_sum(const float* x, size_t n, float shift) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const V32 by = hn::Set(d, shift), low = hn::Neg(hn::Inf(d));
  double total = 0;
  for (size_t b = 0; b < n; b += kBlock) {
    const size_t end = std::min(b + kBlock, n);
    V32 s = hn::Zero(d);
    for (size_t i = b; i < end; i += lanes) {
      const size_t rest = end - i;
      const V32 v = rest >= lanes ? hn::LoadU(d, x + i) : hn::LoadNOr(low, d, x + i, rest);
      s = hn::Add(s, exp(d, hn::Sub(v, by)));
    }
    total += hn::ReduceSum(d, s);
  }
  return total;
}

template <size_t kRows>
void exp_rows(float* most, float* sum, const float* x, size_t step, size_t n) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const V32 low = hn::Neg(hn::Inf(d));
  for (size_t i = 0; i < n; i += lanes) {
    const size_t rest = std::min(lanes, n - i);
    const auto load = [=](size_t r) HWY_ATTR {
      const float* p = x + r * step + i;
      return rest == lanes ? hn::LoadU(d, p) : hn::LoadN(d, p, rest);
    };
    const V32 before = hn::LoadN(d, most + i, rest);
    V32 high = before, least = hn::Inf(d);
    auto nan = hn::IsNaN(before);
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) {
      const V32 v = load(r);
      nan = hn::Or(nan, hn::IsNaN(v));
      high = hn::Max(high, v);
      least = hn::Min(least, v);
    }
    high = hn::IfThenElse(nan, hn::NaN(d), high);
    // Where nothing is seen yet, -inf - -inf would be NaN.
    const V32 shift = hn::IfThenElse(hn::Eq(high, low), hn::Zero(d), high);
    const V32 factor = exp_below_89(d, hn::Sub(before, shift));
    V32 total = hn::Mul(hn::LoadN(d, sum + i, rest), factor);
    if (hn::AllTrue(d, hn::Ge(hn::Sub(least, shift), hn::Set(d, kLeastPlainWeight)))) {
      HWY_UNROLL(8)
      for (size_t r = 0; r < kRows; ++r) {
        total = hn::Add(total, exp_plain_weight(d, hn::Sub(load(r), shift)));
      }
    } else {
      HWY_UNROLL(8)
      for (size_t r = 0; r < kRows; ++r) {
        total = hn::Add(total, exp_below_89(d, hn::Sub(load(r), shift)));
      }
    }
    hn::StoreN(high, d, most + i, rest);
    hn::StoreN(total, d, sum + i, rest);
  }
}

void exp_columns(float* most, float* sum, const float* x, size_t step, size_t rows, size_t n) {
  size_t r = 0;
  for (; r + 8 <= rows; r += 8) exp_rows<8>(most, sum, x + r * step, step, n);
  if (rows - r >= 4) exp_rows<4>(most, sum, x + r * step, step, n), r += 4;
  if (rows - r >= 2) exp_rows<2>(most, sum, x + r * step, step, n), r += 2;
  if (rows > r) exp_rows<1>(most, sum, x + r * step, step, n);
}

}  // namespace

RowFold row_fold(Fold fold) {
  switch (fold) {
    case Fold::kSum: return row_sum<Same>;
    case Fold::kAbsSum: return row_sum<Absolute>;
    case Fold::kSquareSum: return row_sum<Square>;
    case Fold::kMax: return row_extreme<Larger>;
    case Fold::kMin: return row_extreme<Smaller>;
    default: return nullptr;
  }
}

ColumnSum column_sum_of(Fold fold) {
  switch (fold) {
    case Fold::kSum: return column_sum<Same>;
    case Fold::kAbsSum: return column_sum<Absolute>;
    case Fold::kSquareSum: return column_sum<Square>;
    default: return nullptr;
  }
}

ColumnExtreme column_extreme_of(Fold fold) {
  switch (fold) {
    case Fold::kMax: return column_extreme<Larger>;
    case Fold::kMin: return column_extreme<Smaller>;
    default: return nullptr;
  }
}

ShortSum short_sum_of(Fold fold) {
  switch (fold) {
    case Fold::kSum: return short_sum<Same>;
    case Fold::kAbsSum: return short_sum<Absolute>;
    case Fold::kSquareSum: return short_sum<Square>;
    default: return nullptr;
  }
}

ShortExtreme short_extreme_of(Fold fold) {
  switch (fold) {
    case Fold::kMax: return short_extreme<Larger>;
    case Fold::kMin: return short_extreme<Smaller>;
    default: return nullptr;
  }
}

ExpSum exp_sum_of() { return exp_sum; }
ExpColumns exp_columns_of() { return exp_columns; }

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(row_fold);
HWY_EXPORT(column_sum_of);
HWY_EXPORT(column_extreme_of);
HWY_EXPORT(short_sum_of);
HWY_EXPORT(short_extreme_of);
HWY_EXPORT(exp_sum_of);
HWY_EXPORT(exp_columns_of);

RowFold find_row_fold(Fold fold) { return HWY_DYNAMIC_DISPATCH(row_fold)(fold); }
ColumnSum find_column_sum(Fold fold) { return HWY_DYNAMIC_DISPATCH(column_sum_of)(fold); }
ColumnExtreme find_column_extreme(Fold fold) {
  return HWY_DYNAMIC_DISPATCH(column_extreme_of)(fold);
}
ShortSum find_short_sum(Fold fold) { return HWY_DYNAMIC_DISPATCH(short_sum_of)(fold); }
ShortExtreme find_short_extreme(Fold fold) { return HWY_DYNAMIC_DISPATCH(short_extreme_of)(fold); }
ExpSum find_exp_sum() { return HWY_DYNAMIC_DISPATCH(exp_sum_of)(); }
ExpColumns find_exp_columns() { return HWY_DYNAMIC_DISPATCH(exp_columns_of)(); }
}  // namespace nef::cpu
#endif
