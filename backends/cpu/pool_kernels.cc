// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "backends/cpu/gemm_shape-inl.h"
#include "backends/cpu/pool_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

constexpr int64_t kAhead = 4096;  // bytes of the input that are asked for ahead

// Each element as it is, and what a window gives.
struct AsTheyAre {
  template <class V>
  static HWY_INLINE V first(V x) {
    return x;
  }
  template <class V>
  static HWY_INLINE V last(V x) {
    return x;
  }
};
template <typename T>
struct Largest : AsTheyAre {
  static constexpr T kStart = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();
  template <class V>
  static HWY_INLINE V take(V x, V y) {
    if constexpr (!std::is_floating_point_v<T>) return hn::Max(x, y);
    else return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Gt(x, y)), x, y);
  }
};
template <typename T>
struct Sum : AsTheyAre {
  static constexpr T kStart = 0;
  template <class V>
  static HWY_INLINE V take(V x, V y) {
    return hn::Add(x, y);
  }
};
template <typename T>
struct SumAbs : Sum<T> {
  template <class V>
  static HWY_INLINE V first(V x) {
    return hn::Abs(x);
  }
};
template <typename T>
struct RootOfSquares : Sum<T> {
  template <class V>
  static HWY_INLINE V first(V x) {
    return hn::Mul(x, x);
  }
  template <class V>
  static HWY_INLINE V last(V x) {
    return hn::Sqrt(x);
  }
};

// n elements of memory, which holds T itself or float for double.
template <class D, typename M>
HWY_INLINE hn::Vec<D> load_as(D d, const M* x) {
  if constexpr (std::is_same_v<M, hn::TFromD<D>>) return hn::LoadU(d, x);
  else return hn::PromoteTo(d, hn::LoadU(hn::Rebind<M, D>(), x));
}
template <class D, typename M>
HWY_INLINE hn::Vec<D> load_as(D d, const M* x, size_t n) {
  if constexpr (std::is_same_v<M, hn::TFromD<D>>) return hn::LoadN(d, x, n);
  else return hn::PromoteTo(d, hn::LoadN(hn::Rebind<M, D>(), x, n));
}
template <class D, typename M>
HWY_INLINE void store_as(D d, hn::Vec<D> v, M* y, size_t n) {
  if constexpr (std::is_same_v<M, hn::TFromD<D>>) {
    hn::StoreN(v, d, y, n);
  } else {
    const hn::Rebind<M, D> dm;
    hn::StoreN(hn::DemoteTo(dm, v), dm, y, n);
  }
}

// Where elements of a line go: with two phases those of even and of odd places lie apart, so that
// what one position of a window of stride 2 reads is contiguous.
template <int kPhases, typename T>
struct Line {
  T* phases[2];

  template <typename M>
  explicit Line(const PoolRow<T, M>& r) : phases{r.line, r.line + r.room / 2} {}
  T* at(int64_t place) const {
    return kPhases == 1 ? phases[0] + place : phases[place & 1] + (place >> 1);
  }
  void fill(int64_t place, int64_t count, T value) const {
    for (int64_t i = 0; i < count; ++i) *at(place + i) = value;
  }
};

// Elements j to j + lanes of all rows; of the last row that many lines ahead are asked for.
template <class Op, class D, typename T, typename M, class Load>
HWY_INLINE hn::Vec<D> rows_at(D, const PoolRow<T, M>& r, int64_t j, const Load& load) {
  const M* HWY_RESTRICT x = r.x + j;
  auto sum = Op::first(load(x));
  for (int64_t i = 1; i < r.rows; ++i) {
    x += r.step;
    hwy::Prefetch(x + kAhead / sizeof(M));
    sum = Op::take(Op::first(load(x)), sum);
  }
  return sum;
}

template <class Op, int kPhases, typename T, typename M>
void rows_together(const PoolRow<T, M>& r, const Line<kPhases, T>& line) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  line.fill(0, r.lead, Op::kStart);
  line.fill(r.lead + r.count, r.tail, Op::kStart);
  if (r.rows <= 0) return line.fill(r.lead, r.count, Op::kStart);
  T *first = line.at(r.lead), *second = line.at(r.lead + (kPhases == 2 ? 1 : lanes));
  int64_t j = 0;
  for (; j + 2 * lanes <= r.count; j += 2 * lanes) {
    const auto whole = [d](const M* x) HWY_ATTR { return load_as(d, x); };
    const auto a = rows_at<Op>(d, r, j, whole), b = rows_at<Op>(d, r, j + lanes, whole);
    hn::StoreU(kPhases == 2 ? hn::ConcatEven(d, b, a) : a, d, first + j / kPhases);
    hn::StoreU(kPhases == 2 ? hn::ConcatOdd(d, b, a) : b, d, second + j / kPhases);
  }
  for (; j < r.count; j += lanes) {
    const auto rest = static_cast<size_t>(HWY_MIN(lanes, r.count - j));
    const auto part = [d, rest](const M* x) HWY_ATTR { return load_as(d, x, rest); };
    const auto a = rows_at<Op>(d, r, j, part);
    if constexpr (kPhases == 1) {
      hn::StoreN(a, d, first + j, rest);
      continue;
    }
    hn::StoreN(hn::ConcatEven(d, a, a), d, first + j / 2, (rest + 1) / 2);
    hn::StoreN(hn::ConcatOdd(d, a, a), d, second + j / 2, rest / 2);
  }
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_every(D d, const T* HWY_RESTRICT x, int64_t stride) {
  if (stride == 1) return hn::LoadU(d, x);
  HWY_ALIGN T part[64 / sizeof(T)];
  for (int64_t i = 0; i < static_cast<int64_t>(hn::Lanes(d)); ++i) part[i] = x[i * stride];
  return hn::Load(d, part);
}

template <class Op, int kPhases, typename T, typename M>
void along(const PoolRow<T, M>& r, const Line<kPhases, T>& line) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), step = r.stride / kPhases;
  for (int64_t j = 0; j < r.out; j += lanes) {
    auto sum = load_every(d, line.at(0) + j * step, step);
    for (int64_t i = 1; i < r.kernel; ++i) {
      sum = Op::take(load_every(d, line.at(i * r.dilation) + j * step, step), sum);
    }
    store_as(d, Op::last(sum), r.y + j, static_cast<size_t>(HWY_MIN(lanes, r.out - j)));
  }
}

template <class Op, int kPhases, typename T, typename M>
void pool_row(const PoolRow<T, M>& r) {
  const Line<kPhases, T> line(r);
  rows_together<Op>(r, line);
  along<Op>(r, line);
}

template <template <typename> class Op, typename T, typename M = T>
void pool(const PoolRow<T, M>& r) {
  return r.stride == 2 ? pool_row<Op<T>, 2>(r) : pool_row<Op<T>, 1>(r);
}

template <typename T>
const PoolOps<T>& ops() {
  static const PoolOps<T> table = {static_cast<int64_t>(hn::Lanes(GemmTag<T>())), pool<Largest, T>,
                                   pool<Sum, T>};
  return table;
}
template <typename M>
const NormPoolOps<M>& norm_ops() {
  static const NormPoolOps<M> table = {pool<SumAbs, double, M>, pool<RootOfSquares, double, M>};
  return table;
}
const PoolOps<float>& pool_float() { return ops<float>(); }
const PoolOps<double>& pool_double() { return ops<double>(); }
const PoolOps<int8_t>& pool_int8() { return ops<int8_t>(); }
const PoolOps<uint8_t>& pool_uint8() { return ops<uint8_t>(); }
const NormPoolOps<float>& norm_float() { return norm_ops<float>(); }
const NormPoolOps<double>& norm_double() { return norm_ops<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(pool_float);
HWY_EXPORT(pool_double);
HWY_EXPORT(pool_int8);
HWY_EXPORT(pool_uint8);
HWY_EXPORT(norm_float);
HWY_EXPORT(norm_double);
template <>
const PoolOps<float>& pool_ops<float>() {
  return HWY_DYNAMIC_DISPATCH(pool_float)();
}
template <>
const PoolOps<double>& pool_ops<double>() {
  return HWY_DYNAMIC_DISPATCH(pool_double)();
}
template <>
const PoolOps<int8_t>& pool_ops<int8_t>() {
  return HWY_DYNAMIC_DISPATCH(pool_int8)();
}
template <>
const PoolOps<uint8_t>& pool_ops<uint8_t>() {
  return HWY_DYNAMIC_DISPATCH(pool_uint8)();
}
template <>
const NormPoolOps<float>& norm_pool_ops<float>() {
  return HWY_DYNAMIC_DISPATCH(norm_float)();
}
template <>
const NormPoolOps<double>& norm_pool_ops<double>() {
  return HWY_DYNAMIC_DISPATCH(norm_double)();
}
}  // namespace nef::cpu
#endif
