// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/order_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "backends/cpu/order_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Rows that are walked at a time: what is carried is read and written once for all of them.
constexpr size_t kRowsAtATime = 8;

// Elements of memory as vectors of what they are summed in.
template <class T>
struct Elements {
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;
  using D = hn::ScalableTag<Sum>;
  using V = hn::Vec<D>;
  static HWY_INLINE V load(const T* x, size_t n) {
    const hn::Rebind<T, D> d;
    const auto v = n >= hn::Lanes(d) ? hn::LoadU(d, x) : hn::LoadN(d, x, n);
    if constexpr (std::is_same_v<T, float>) return hn::PromoteTo(D(), v);
    else return v;
  }
  static HWY_INLINE void store(V sum, T* y, size_t n) {
    const hn::Rebind<T, D> d;
    hn::Vec<decltype(d)> v;
    if constexpr (std::is_same_v<T, float>) v = hn::DemoteTo(d, sum);
    else v = sum;
    if (n >= hn::Lanes(d)) hn::StoreU(v, d, y);
    else hn::StoreN(v, d, y, n);
  }
};

// Sums of each element and all of the vector before it, or behind it.
template <bool kReverse, size_t kBy = 1, class D, class V = hn::Vec<D>>
HWY_INLINE V scan(D d, V v) {
  if constexpr (kBy < hn::MaxLanes(D())) {
    if (kBy >= hn::Lanes(d)) return v;
    const V moved = kReverse ? hn::SlideDownLanes(d, v, kBy) : hn::SlideUpLanes(d, v, kBy);
    return scan<kReverse, 2 * kBy>(d, hn::Add(v, moved));
  } else {
    return v;
  }
}

template <class T, bool kExclusive, bool kReverse>
void sum_along(const RunningSum& run) {
  using E = Elements<T>;
  const typename E::D d;
  using Index = hwy::MakeSigned<typename E::Sum>;
  const size_t lanes = hn::Lanes(d);
  const auto end = hn::IndicesFromVec(
      d, hn::Set(hn::RebindToSigned<decltype(d)>(), static_cast<Index>(lanes - 1)));
  auto* sum = static_cast<typename E::Sum*>(run.sums);
  const T* x = static_cast<const T*>(run.x);
  T* y = static_cast<T*>(run.y);
  auto before = hn::Set(d, *sum);
  for (size_t line = 0; line < run.lines; ++line, x += run.rows, y += run.rows) {
    if (line > 0) before = hn::Zero(d);
    for (size_t done = 0; done < run.rows; done += lanes) {
      const size_t n = std::min(lanes, run.rows - done);
      const size_t at = kReverse ? run.rows - done - n : done;
      auto v = scan<kReverse>(d, E::load(x + at, n));
      const auto total = kReverse ? hn::BroadcastLane<0>(v) : hn::TableLookupLanes(v, end);
      if (kExclusive) v = kReverse ? hn::Slide1Down(d, v) : hn::Slide1Up(d, v);
      E::store(hn::Add(before, v), y + at, n);
      before = hn::Add(before, total);
    }
  }
  *sum = hn::GetLane(before);
}

template <class T, bool kExclusive, bool kReverse, size_t kRows>
HWY_INLINE void sum_rows(const T* x, T* y, size_t step, size_t columns,
                         typename Elements<T>::Sum* sums) {
  using E = Elements<T>;
  const typename E::D d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < columns; i += lanes) {
    const size_t n = std::min(lanes, columns - i);
    auto sum = hn::LoadN(d, sums + i, n);
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) {
      const size_t at = (kReverse ? kRows - 1 - r : r) * step + i;
      const auto next = hn::Add(sum, E::load(x + at, n));
      E::store(kExclusive ? sum : next, y + at, n);
      sum = next;
    }
    hn::StoreN(sum, d, sums + i, n);
  }
}

template <class T, bool kExclusive, bool kReverse>
void sum_across(const RunningSum& run) {
  using Sum = typename Elements<T>::Sum;
  auto* sums = static_cast<Sum*>(run.sums);
  for (size_t line = 0; line < run.lines; ++line) {
    const T* x = static_cast<const T*>(run.x) + line * run.rows * run.step;
    T* y = static_cast<T*>(run.y) + line * run.rows * run.step;
    if (line > 0) std::fill_n(sums, run.columns, Sum{0});
    const auto place = [&](size_t done, size_t rows) {
      return (kReverse ? run.rows - done - rows : done) * run.step;
    };
    size_t r = 0;
    for (; r + kRowsAtATime <= run.rows; r += kRowsAtATime) {
      const size_t at = place(r, kRowsAtATime);
      sum_rows<T, kExclusive, kReverse, kRowsAtATime>(x + at, y + at, run.step, run.columns, sums);
    }
    for (; r < run.rows; ++r) {
      const size_t at = place(r, 1);
      sum_rows<T, kExclusive, kReverse, 1>(x + at, y + at, run.step, run.columns, sums);
    }
  }
}

template <class T, bool kExclusive, bool kReverse>
void sum_either(const RunningSum& run) {
  if (run.columns == 1) sum_along<T, kExclusive, kReverse>(run);
  else sum_across<T, kExclusive, kReverse>(run);
}

template <class T>
void running_sum(const RunningSum& run) {
  if (run.exclusive) {
    return run.reverse ? sum_either<T, true, true>(run) : sum_either<T, true, false>(run);
  }
  return run.reverse ? sum_either<T, false, true>(run) : sum_either<T, false, false>(run);
}

using D32 = hn::ScalableTag<float>;
using V32 = hn::Vec<D32>;

size_t place(const float* x, size_t n, float value, bool last) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const V32 wanted = hn::Set(d, value);
  const bool nan = value != value;
  const auto hits = [&](size_t i, size_t rest) HWY_ATTR {
    const V32 v = rest == lanes ? hn::LoadU(d, x + i) : hn::LoadN(d, x + i, rest);
    const auto hit = nan ? hn::IsNaN(v) : hn::Eq(v, wanted);
    return rest == lanes ? hit : hn::And(hit, hn::FirstN(d, rest));
  };
  if (last && !nan) {
    for (size_t end = n; end > 0;) {
      const size_t rest = end % lanes == 0 ? lanes : end % lanes;
      end -= rest;
      const auto hit = hits(end, rest);
      if (!hn::AllFalse(d, hit)) return end + hn::FindKnownLastTrue(d, hit);
    }
    return 0;
  }
  for (size_t i = 0; i < n; i += lanes) {
    const auto hit = hits(i, std::min(lanes, n - i));
    if (!hn::AllFalse(d, hit)) return i + hn::FindKnownFirstTrue(d, hit);
  }
  return 0;
}

// A row takes over unless it is no better, or what it is compared with is NaN.
struct Larger {
  static HWY_INLINE auto no_better(V32 v, V32 best) { return hn::Le(v, best); }
  static HWY_INLINE auto worse(V32 v, V32 best) { return hn::Lt(v, best); }
};
struct Smaller {
  static HWY_INLINE auto no_better(V32 v, V32 best) { return hn::Ge(v, best); }
  static HWY_INLINE auto worse(V32 v, V32 best) { return hn::Gt(v, best); }
};

template <class Pick, bool kLast, size_t kRows>
HWY_INLINE void place_rows(float* best, int32_t* at, const float* x, size_t step, size_t n,
                           int32_t first) {
  const D32 d;
  const hn::RebindToSigned<D32> di;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t rest = std::min(lanes, n - i);
    V32 most = hn::LoadN(d, best + i, rest);
    auto place = hn::LoadN(di, at + i, rest);
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) {
      const float* p = x + r * step + i;
      const V32 v = rest == lanes ? hn::LoadU(d, p) : hn::LoadN(d, p, rest);
      const auto kept =
          hn::Or(kLast ? Pick::worse(v, most) : Pick::no_better(v, most), hn::IsNaN(most));
      most = hn::IfThenElse(kept, most, v);
      place = hn::IfThenElse(hn::RebindMask(di, kept), place,
                             hn::Set(di, first + static_cast<int32_t>(r)));
    }
    hn::StoreN(most, d, best + i, rest);
    hn::StoreN(place, di, at + i, rest);
  }
}

template <class Pick, bool kLast>
HWY_INLINE void place_all(float* best, int32_t* at, const float* x, size_t step, size_t rows,
                          size_t n, int32_t first) {
  size_t r = 0;
  for (; r + kRowsAtATime <= rows; r += kRowsAtATime) {
    place_rows<Pick, kLast, kRowsAtATime>(best, at, x + r * step, step, n,
                                          first + static_cast<int32_t>(r));
  }
  for (; r < rows; ++r) {
    place_rows<Pick, kLast, 1>(best, at, x + r * step, step, n, first + static_cast<int32_t>(r));
  }
}

template <class Pick>
void place_columns(float* best, int32_t* at, const float* x, size_t step, size_t rows, size_t n,
                   int32_t first, bool last) {
  if (last) place_all<Pick, true>(best, at, x, step, rows, n, first);
  else place_all<Pick, false>(best, at, x, step, rows, n, first);
}

}  // namespace

RunningSumFn running_sum_of(nef_dtype dtype) {
  switch (dtype) {
    case NEF_INT8:
    case NEF_UINT8: return running_sum<uint8_t>;
    case NEF_INT16:
    case NEF_UINT16: return running_sum<uint16_t>;
    case NEF_INT32:
    case NEF_UINT32: return running_sum<uint32_t>;
    case NEF_INT64:
    case NEF_UINT64: return running_sum<uint64_t>;
    case NEF_FLOAT64: return running_sum<double>;
    default: return running_sum<float>;
  }
}

PlaceOps place_ops() { return {place, place_columns<Larger>, place_columns<Smaller>}; }

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(running_sum_of);
HWY_EXPORT(place_ops);

RunningSumFn find_running_sum(nef_dtype dtype) {
  return HWY_DYNAMIC_DISPATCH(running_sum_of)(dtype);
}
PlaceOps find_place_ops() { return HWY_DYNAMIC_DISPATCH(place_ops)(); }
}  // namespace nef::cpu
#endif
