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

ExpSum exp_sum_of() { return exp_sum; }

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(row_fold);
HWY_EXPORT(column_sum_of);
HWY_EXPORT(column_extreme_of);
HWY_EXPORT(exp_sum_of);

RowFold find_row_fold(Fold fold) { return HWY_DYNAMIC_DISPATCH(row_fold)(fold); }
ColumnSum find_column_sum(Fold fold) { return HWY_DYNAMIC_DISPATCH(column_sum_of)(fold); }
ColumnExtreme find_column_extreme(Fold fold) {
  return HWY_DYNAMIC_DISPATCH(column_extreme_of)(fold);
}
ExpSum find_exp_sum() { return HWY_DYNAMIC_DISPATCH(exp_sum_of)(); }
}  // namespace nef::cpu
#endif
