// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/gemm_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

// Which lanes of a vector are stored.
struct Kept {
  uint64_t bits;
  size_t count;
  Kept(uint64_t keep, int64_t lanes)
      : bits(keep & (~uint64_t{0} >> (64 - lanes))), count(hwy::PopCount(bits)) {}
  template <class D>
  hn::Mask<D> mask(D d) const {
    return hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&bits));
  }
};

// MR x kVectors vectors of the output. Named accumulators, as in gemm_kernels.cc.
template <int MR, int kVectors, typename T>
HWY_NOINLINE void tile(const ConvTile<T>& t) {
  const GemmTag<T> d;
  using V = hn::Vec<GemmTag<T>>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* HWY_RESTRICT a = t.weights;
  const T* HWY_RESTRICT x = t.x;
  const int64_t* HWY_RESTRICT offsets = t.offsets;
#define NEF_DECLARE(i)                                   \
  V p##i = hn::Zero(d);                                  \
  if constexpr (i < MR) {                                \
    if (t.bias != nullptr) p##i = hn::Set(d, t.bias[i]); \
  }                                                      \
  V q##i = p##i;
  NEF_ROWS(NEF_DECLARE)
#undef NEF_DECLARE
#define NEF_FMA(i)                                               \
  if constexpr (i < MR) {                                        \
    const V w = hn::Set(d, a[i]);                                \
    p##i = hn::MulAdd(w, x0, p##i);                              \
    if constexpr (kVectors == 2) q##i = hn::MulAdd(w, x1, q##i); \
  }
  for (int64_t k = 0; k < t.k; ++k, a += MR) {
    const T* HWY_RESTRICT source = x + offsets[k];
    hwy::Prefetch(x + offsets[k + kOffsetSlack]);
    hwy::Prefetch(a + 20 * MR);
    const V x0 = hn::LoadU(d, source);
    V x1 = x0;
    if constexpr (kVectors == 2) x1 = hn::LoadU(d, source + lanes);
    NEF_ROWS(NEF_FMA)
  }
#undef NEF_FMA
  const uint64_t all = ~uint64_t{0} >> (64 - kVectors * lanes);
  if ((t.keep & all) == all) {
#define NEF_STORE(i)                                                           \
  if constexpr (i < MR) {                                                      \
    hn::StoreU(p##i, d, t.c + i * t.ldc);                                      \
    if constexpr (kVectors == 2) hn::StoreU(q##i, d, t.c + i * t.ldc + lanes); \
  }
    NEF_ROWS(NEF_STORE)
#undef NEF_STORE
    return;
  }
  const Kept kept0(t.keep, lanes), kept1(t.keep >> (lanes & 63), lanes);
  const auto m0 = kept0.mask(d), m1 = kept1.mask(d);
#define NEF_STORE(i)                                                       \
  if constexpr (i < MR) {                                                  \
    T* HWY_RESTRICT c = t.c + i * t.ldc;                                   \
    hn::StoreN(hn::Compress(p##i, m0), d, c, kept0.count);                 \
    if constexpr (kVectors == 2) {                                         \
      hn::StoreN(hn::Compress(q##i, m1), d, c + kept0.count, kept1.count); \
    }                                                                      \
  }
  NEF_ROWS(NEF_STORE)
#undef NEF_STORE
}

template <typename T>
void run_tile(const ConvTile<T>& t, int64_t rows, bool two_vectors) {
  switch (rows) {
#define NEF_CASE(i) \
  case i + 1: return two_vectors ? tile<i + 1, 2>(t) : tile<i + 1, 1>(t);
    NEF_ROWS(NEF_CASE)
#undef NEF_CASE
  }
}

// Stores the lanes to keep of the first `left` at *c, which moves on.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void store_kept(D d, hn::Vec<D> v, uint64_t keep, int64_t left, T** c) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (left < lanes) keep &= (uint64_t{1} << left) - 1;
  const Kept kept(keep, lanes);
  if (kept.count == static_cast<size_t>(lanes)) {
    hn::StoreU(v, d, *c);
  } else {
    hn::StoreN(hn::Compress(v, kept.mask(d)), d, *c, kept.count);
  }
  *c += kept.count;
}

template <typename T>
void row(const ConvTile<T>& t, int64_t columns, const uint64_t* keep) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* HWY_RESTRICT weights = t.weights;
  const int64_t* HWY_RESTRICT offsets = t.offsets;
  const auto start = hn::Set(d, t.bias == nullptr ? T(0) : *t.bias);
  T* c = t.c;
  int64_t j = 0;
  for (; j + 3 * lanes < columns; j += 4 * lanes, keep += 4) {
    auto s0 = start, s1 = start, s2 = start, s3 = start;
    for (int64_t i = 0; i < t.k; ++i) {
      const T* HWY_RESTRICT source = t.x + offsets[i] + j;
      const auto w = hn::Set(d, weights[i]);
      s0 = hn::MulAdd(w, hn::LoadU(d, source), s0);
      s1 = hn::MulAdd(w, hn::LoadU(d, source + lanes), s1);
      s2 = hn::MulAdd(w, hn::LoadU(d, source + 2 * lanes), s2);
      s3 = hn::MulAdd(w, hn::LoadU(d, source + 3 * lanes), s3);
    }
    store_kept(d, s0, keep[0], columns - j, &c);
    store_kept(d, s1, keep[1], columns - j - lanes, &c);
    store_kept(d, s2, keep[2], columns - j - 2 * lanes, &c);
    store_kept(d, s3, keep[3], columns - j - 3 * lanes, &c);
  }
  for (; j < columns; j += lanes, ++keep) {
    auto sum = start;
    for (int64_t i = 0; i < t.k; ++i) {
      sum = hn::MulAdd(hn::Set(d, weights[i]), hn::LoadU(d, t.x + offsets[i] + j), sum);
    }
    store_kept(d, sum, *keep, columns - j, &c);
  }
}

// Four rows by V vectors, from `row` and `col` on. A row of x is read once for all rows of the
// result that lie over it.
constexpr int kSharing = 4;
template <int V, typename T>
HWY_NOINLINE void depthwise_tile(const DepthwiseRows<T>& t, int64_t row, int64_t col) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto start = hn::Set(d, t.bias);
#define NEF_EACH(X) X(0) X(1) X(2) X(3)
#define NEF_DECLARE(i) auto p##i = start, q##i = start, u##i = start, v##i = start;
  NEF_EACH(NEF_DECLARE)
#undef NEF_DECLARE
  for (int64_t r = 0; r < kSharing - 1 + t.tall; ++r) {
    for (int64_t k = 0; k < t.wide; ++k) {
      const T* HWY_RESTRICT x = t.x + t.offsets[k] + (row + r) * t.width + col;
      const T* HWY_RESTRICT weight = t.weights + k;
      const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + lanes);
      const auto e = hn::LoadU(d, x + (V > 2 ? 2 * lanes : 0));
      const auto f = hn::LoadU(d, x + (V > 2 ? 3 * lanes : 0));
#define NEF_STEP(i)                                      \
  if (r >= i && r - i < t.tall) {                        \
    const auto w = hn::Set(d, weight[(r - i) * t.wide]); \
    p##i = hn::MulAdd(w, a, p##i);                       \
    q##i = hn::MulAdd(w, b, q##i);                       \
    if constexpr (V > 2) u##i = hn::MulAdd(w, e, u##i);  \
    if constexpr (V > 2) v##i = hn::MulAdd(w, f, v##i);  \
  }
      NEF_EACH(NEF_STEP)
#undef NEF_STEP
    }
  }
  const auto store = [d, lanes](auto v, int64_t left, T* c) HWY_ATTR {
    if (left >= lanes) hn::StoreU(v, d, c);
    else if (left > 0) hn::StoreN(v, d, c, static_cast<size_t>(left));
  };
  const int64_t left = t.columns - col;
#define NEF_STORE(i)                                                   \
  {                                                                    \
    T* c = t.c + (row + i) * t.columns + col;                          \
    store(p##i, left, c);                                              \
    store(q##i, left - lanes, c + lanes);                              \
    if constexpr (V > 2) store(u##i, left - 2 * lanes, c + 2 * lanes); \
    if constexpr (V > 2) store(v##i, left - 3 * lanes, c + 3 * lanes); \
  }
  NEF_EACH(NEF_STORE)
#undef NEF_STORE
#undef NEF_EACH
}

// As many vectors as the registers hold; the last tile of rows overlaps the one before.
template <typename T>
void depthwise(const DepthwiseRows<T>& t) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(GemmTag<T>()));
  for (int64_t col = 0; col < t.columns;) {
    const bool four = kMr > 6 && t.columns - col > 2 * lanes;
    for (int64_t r = 0; r < t.rows; r += kSharing) {
      const int64_t row = HWY_MIN(r, t.rows - kSharing);
      four ? depthwise_tile<4>(t, row, col) : depthwise_tile<2>(t, row, col);
    }
    col += (four ? 4 : 2) * lanes;
  }
}

// n elements of x, every second one; the other lanes are zeros.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_even(D d, const T* HWY_RESTRICT x, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t wanted = 2 * n - 1;
  const auto low = wanted >= lanes ? hn::LoadU(d, x) : hn::LoadN(d, x, static_cast<size_t>(wanted));
  if (wanted <= lanes) return hn::ConcatEven(d, hn::Zero(d), low);
  const size_t rest = static_cast<size_t>(HWY_MIN(lanes, wanted - lanes));
  return hn::ConcatEven(d, hn::LoadN(d, x + lanes, rest), low);
}

template <typename T>
void stage(const StageRows<T>& s) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* HWY_RESTRICT src = s.src;
  T* HWY_RESTRICT dst = s.dst;
  const auto pad = hn::Set(d, s.pad);
  for (int64_t r = 0; r < s.rows; ++r, src += s.src_row, dst += s.width) {
    for (int64_t j = 0; j < s.begin; j += lanes) hn::StoreU(pad, d, dst + j);
    T* out = dst + s.begin;
    int64_t j = 0;
    if (s.stride == 1) {
      for (; j + lanes <= s.count; j += lanes) hn::StoreU(hn::LoadU(d, src + j), d, out + j);
      if (j < s.count) {
        hn::StoreU(hn::LoadN(d, src + j, static_cast<size_t>(s.count - j)), d, out + j);
      }
    } else if (s.stride == 2) {
      for (; j < s.count; j += lanes) {
        hn::StoreU(load_even(d, src + 2 * j, HWY_MIN(lanes, s.count - j)), d, out + j);
      }
    } else {
      for (; j < s.count; ++j) out[j] = src[j * s.stride];
    }
    for (j = s.count; s.begin + j < s.width; j += lanes) hn::StoreU(pad, d, out + j);
  }
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void pad_row(D d, T pad, int64_t begin, int64_t end, T* HWY_RESTRICT row) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = begin; j < end; j += lanes) {
    hn::StoreN(hn::Set(d, pad), d, row + j, static_cast<size_t>(HWY_MIN(lanes, end - j)));
  }
}

template <typename T>
void stage_pairs(const StagePairs<T>& s) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t both = HWY_MIN(HWY_MIN(s.even.count, s.odd.count), s.src_count / 2);
  const int64_t most = HWY_MAX(s.even.count, s.odd.count);
  for (int64_t r = 0; r < s.rows; ++r) {
    const T* HWY_RESTRICT src = s.src + r * s.src_row;
    T* even = s.even.dst + r * s.width;
    T* odd = s.odd.dst + r * s.width;
    pad_row(d, s.pad, 0, s.even.begin, even);
    pad_row(d, s.pad, 0, s.odd.begin, odd);
    pad_row(d, s.pad, s.even.begin + s.even.count, s.width, even);
    pad_row(d, s.pad, s.odd.begin + s.odd.count, s.width, odd);
    even += s.even.begin;
    odd += s.odd.begin;
    int64_t j = 0;
    for (; j + lanes <= both; j += lanes) {
      const auto a = hn::LoadU(d, src + 2 * j), b = hn::LoadU(d, src + 2 * j + lanes);
      hn::StoreU(hn::ConcatEven(d, b, a), d, even + j);
      hn::StoreU(hn::ConcatOdd(d, b, a), d, odd + j);
    }
    for (; j < most; j += lanes) {
      const int64_t left = HWY_MIN(s.src_count - 2 * j, 2 * lanes);
      const auto a = hn::LoadN(d, src + 2 * j, static_cast<size_t>(HWY_MIN(left, lanes)));
      const auto b =
          hn::LoadN(d, src + 2 * j + lanes, static_cast<size_t>(HWY_MAX(left - lanes, 0)));
      const int64_t evens = HWY_MIN(lanes, s.even.count - j),
                    odds = HWY_MIN(lanes, s.odd.count - j);
      if (evens > 0) hn::StoreN(hn::ConcatEven(d, b, a), d, even + j, static_cast<size_t>(evens));
      if (odds > 0) hn::StoreN(hn::ConcatOdd(d, b, a), d, odd + j, static_cast<size_t>(odds));
    }
  }
}

template <typename T>
void interleave(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t n, T* HWY_RESTRICT y) {
  const GemmTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    hn::StoreInterleaved2(hn::LoadU(d, a + j), hn::LoadU(d, b + j), d, y + 2 * j);
  }
  for (; j < n; ++j) {
    y[2 * j] = a[j];
    y[2 * j + 1] = b[j];
  }
}

template <typename T>
const ConvOps<T>& ops() {
  static const ConvOps<T> table = {static_cast<int64_t>(hn::Lanes(GemmTag<T>())),
                                   run_tile<T>,
                                   row<T>,
                                   depthwise<T>,
                                   stage<T>,
                                   stage_pairs<T>,
                                   interleave<T>};
  return table;
}
const ConvOps<float>& conv_float() { return ops<float>(); }
const ConvOps<double>& conv_double() { return ops<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(conv_float);
HWY_EXPORT(conv_double);
template <>
const ConvOps<float>& conv_ops<float>() {
  return HWY_DYNAMIC_DISPATCH(conv_float)();
}
template <>
const ConvOps<double>& conv_ops<double>() {
  return HWY_DYNAMIC_DISPATCH(conv_double)();
}
}  // namespace nef::cpu
#endif
