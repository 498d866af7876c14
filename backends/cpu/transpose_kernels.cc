// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/transpose_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "backends/cpu/transpose-inl.h"
#include "backends/cpu/transpose_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLineBytes = 64;

// Squares whose rows are vectors of 16 bytes: out[r][c] = in[c][r].
template <class T>
using Small = hn::FixedTag<T, 16 / sizeof(T)>;
template <class T>
constexpr int64_t kSmall = 16 / static_cast<int64_t>(sizeof(T));

// One round of a transpose of eight or sixteen rows: those half of them apart meet, and after as
// many rounds as that takes row becomes column.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void meet(D d, V& a0, V& a1, V& a2, V& a3, V& a4, V& a5, V& a6, V& a7) {
  const V b0 = a0, b1 = a1, b2 = a2, b3 = a3;
  a0 = hn::InterleaveLower(d, b0, a4);
  a1 = hn::InterleaveUpper(d, b0, a4);
  a2 = hn::InterleaveLower(d, b1, a5);
  a3 = hn::InterleaveUpper(d, b1, a5);
  a4 = hn::InterleaveLower(d, b2, a6);
  a5 = hn::InterleaveUpper(d, b2, a6);
  a6 = hn::InterleaveLower(d, b3, a7);
  a7 = hn::InterleaveUpper(d, b3, a7);
}
template <bool kStream>
HWY_INLINE void transpose_eight(const uint16_t* in, int64_t in_step, uint16_t* out,
                                int64_t out_step) {
  const Small<uint16_t> d;
#define NEF_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define NEF_LOAD(i) auto a##i = hn::LoadU(d, in + i * in_step);
  NEF_EACH(NEF_LOAD)
#undef NEF_LOAD
  for (int round = 0; round < 3; ++round) meet(d, a0, a1, a2, a3, a4, a5, a6, a7);
#define NEF_PUT(i) put<kStream>(a##i, d, out + i * out_step);
  NEF_EACH(NEF_PUT)
#undef NEF_PUT
#undef NEF_EACH
}

template <bool kStream>
HWY_INLINE void transpose_sixteen(const uint8_t* in, int64_t in_step, uint8_t* out,
                                  int64_t out_step) {
  const Small<uint8_t> d;
#define NEF_EACH(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define NEF_LOAD(i) auto a##i = hn::LoadU(d, in + i * in_step);
  NEF_EACH(NEF_LOAD)
#undef NEF_LOAD
  for (int round = 0; round < 4; ++round) {
    // Rows i and i + 8, of which the first four pairs come first.
    auto c0 = a4, c1 = a5, c2 = a6, c3 = a7, c4 = a12, c5 = a13, c6 = a14, c7 = a15;
    meet(d, c0, c1, c2, c3, c4, c5, c6, c7);
    a4 = a8, a5 = a9, a6 = a10, a7 = a11;
    meet(d, a0, a1, a2, a3, a4, a5, a6, a7);
    a8 = c0, a9 = c1, a10 = c2, a11 = c3, a12 = c4, a13 = c5, a14 = c6, a15 = c7;
  }
#define NEF_PUT(i) put<kStream>(a##i, d, out + i * out_step);
  NEF_EACH(NEF_PUT)
#undef NEF_PUT
#undef NEF_EACH
}

template <bool kStream, class T>
HWY_INLINE void transpose_small(const T* in, int64_t in_step, T* out, int64_t out_step) {
  const Small<T> d;
  if constexpr (sizeof(T) == 8) {
    const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + in_step);
    put<kStream>(hn::InterleaveLower(d, a, b), d, out);
    put<kStream>(hn::InterleaveUpper(d, a, b), d, out + out_step);
  } else if constexpr (sizeof(T) == 4) {
    transpose_four<kStream>(in, in_step, out, out_step);
  } else if constexpr (sizeof(T) == 2) {
    transpose_eight<kStream>(in, in_step, out, out_step);
  } else {
    transpose_sixteen<kStream>(in, in_step, out, out_step);
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// A block whose lines are vectors: squares of four in each of their parts, then parts.
template <bool kStream>
void transpose_lines(const uint32_t* src, int64_t src_step, uint32_t* dst, int64_t dst_step) {
  const hn::FixedTag<uint32_t, 16> d;
#define NEF_FOUR(X) X(0) X(1) X(2) X(3)
#define NEF_LOAD(g)                                       \
  auto a##g = hn::LoadU(d, src + 4 * g * src_step);       \
  auto b##g = hn::LoadU(d, src + (4 * g + 1) * src_step); \
  auto e##g = hn::LoadU(d, src + (4 * g + 2) * src_step); \
  auto f##g = hn::LoadU(d, src + (4 * g + 3) * src_step); \
  {                                                       \
    const auto ae0 = hn::InterleaveLower(d, a##g, e##g);  \
    const auto ae1 = hn::InterleaveUpper(d, a##g, e##g);  \
    const auto bf0 = hn::InterleaveLower(d, b##g, f##g);  \
    const auto bf1 = hn::InterleaveUpper(d, b##g, f##g);  \
    a##g = hn::InterleaveLower(d, ae0, bf0);              \
    b##g = hn::InterleaveUpper(d, ae0, bf0);              \
    e##g = hn::InterleaveLower(d, ae1, bf1);              \
    f##g = hn::InterleaveUpper(d, ae1, bf1);              \
  }
  NEF_FOUR(NEF_LOAD)
#undef NEF_LOAD
#undef NEF_FOUR
  // Row `at` of each part.
  const auto store = [=](int64_t at, auto x0, auto x1, auto x2, auto x3) HWY_ATTR {
    const auto even0 = hn::InterleaveEvenBlocks(d, x0, x1);
    const auto even1 = hn::InterleaveEvenBlocks(d, x2, x3);
    const auto odd0 = hn::InterleaveOddBlocks(d, x0, x1);
    const auto odd1 = hn::InterleaveOddBlocks(d, x2, x3);
    uint32_t* to = dst + at * dst_step;
    put<kStream>(hn::ConcatLowerLower(d, even1, even0), d, to);
    put<kStream>(hn::ConcatLowerLower(d, odd1, odd0), d, to + 4 * dst_step);
    put<kStream>(hn::ConcatUpperUpper(d, even1, even0), d, to + 8 * dst_step);
    put<kStream>(hn::ConcatUpperUpper(d, odd1, odd0), d, to + 12 * dst_step);
  };
  store(0, a0, a1, a2, a3);
  store(1, b0, b1, b2, b3);
  store(2, e0, e1, e2, e3);
  store(3, f0, f1, f2, f3);
}
template <bool kStream, class T>
constexpr bool kLines = sizeof(T) == 4 && !kStream;
#else
template <bool kStream>
void transpose_lines(const uint32_t*, int64_t, uint32_t*, int64_t) {}
template <bool kStream, class T>
constexpr bool kLines = false;
#endif

// A block as wide as a cache line on both sides. Lines of the source are read once, whole: where
// its rows lie a power of two apart they share few places of the cache, and would push each other
// out between two readings.
template <bool kStream, class T>
void transpose_block(const T* src, int64_t src_step, T* dst, int64_t dst_step) {
  if constexpr (kLines<kStream, T>) {
    return transpose_lines<kStream>(src, src_step, dst, dst_step);
  }
  constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(T));
  const hn::CappedTag<T, static_cast<size_t>(kLine)> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(kLineBytes) T lines[kLine * kLine];
  for (int64_t c = 0; c < kLine; ++c) {
    for (int64_t i = 0; i < kLine; i += lanes) {
      hn::Store(hn::LoadU(d, src + c * src_step + i), d, lines + c * kLine + i);
    }
  }
  for (int64_t r = 0; r < kLine; r += kSmall<T>) {
    for (int64_t c = 0; c < kLine; c += kSmall<T>) {
      transpose_small<kStream>(lines + c * kLine + r, kLine, dst + r * dst_step + c, dst_step);
    }
  }
}

template <class T>
void transpose_elements(const T* src, int64_t src_step, T* dst, int64_t dst_step, int64_t rows,
                        int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) dst[r * dst_step + c] = src[r + c * src_step];
  }
}

template <class T>
void transpose_edge(const T* src, int64_t src_step, T* dst, int64_t dst_step, int64_t rows,
                    int64_t columns) {
  const int64_t whole_rows = rows - rows % kSmall<T>;
  const int64_t whole_columns = columns - columns % kSmall<T>;
  for (int64_t r = 0; r < whole_rows; r += kSmall<T>) {
    for (int64_t c = 0; c < whole_columns; c += kSmall<T>) {
      transpose_small<false>(src + c * src_step + r, src_step, dst + r * dst_step + c, dst_step);
    }
  }
  transpose_elements(src + whole_columns * src_step, src_step, dst + whole_columns, dst_step,
                     whole_rows, columns - whole_columns);
  transpose_elements(src + whole_rows, src_step, dst + whole_rows * dst_step, dst_step,
                     rows - whole_rows, columns);
}

// kPlanes lines, `step` apart, become one whose elements alternate.
template <int kPlanes, class T>
void interleave(const T* src, int64_t step, T* dst, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto a = hn::LoadU(d, src + i), b = hn::LoadU(d, src + step + i);
    T* to = dst + kPlanes * i;
    if constexpr (kPlanes == 2) {
      hn::StoreInterleaved2(a, b, d, to);
    } else {
      const auto e = hn::LoadU(d, src + 2 * step + i);
      if constexpr (kPlanes == 3) hn::StoreInterleaved3(a, b, e, d, to);
      else hn::StoreInterleaved4(a, b, e, hn::LoadU(d, src + 3 * step + i), d, to);
    }
  }
  transpose_elements(src + i, step, dst + kPlanes * i, kPlanes, n - i, kPlanes);
}

// A line whose elements alternate becomes kPlanes lines, `step` apart.
template <int kPlanes, class T>
void deinterleave(const T* src, T* dst, int64_t step, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const T* from = src + kPlanes * i;
    hn::Vec<decltype(d)> a, b, e, f;
    if constexpr (kPlanes == 2) hn::LoadInterleaved2(d, from, a, b);
    if constexpr (kPlanes == 3) hn::LoadInterleaved3(d, from, a, b, e);
    if constexpr (kPlanes == 4) hn::LoadInterleaved4(d, from, a, b, e, f);
    hn::StoreU(a, d, dst + i);
    hn::StoreU(b, d, dst + step + i);
    if constexpr (kPlanes > 2) hn::StoreU(e, d, dst + 2 * step + i);
    if constexpr (kPlanes > 3) hn::StoreU(f, d, dst + 3 * step + i);
  }
  transpose_elements(src + kPlanes * i, kPlanes, dst + i, step, kPlanes, n - i);
}

// Two, three or four elements that lie together on one side; false where they do not.
template <class T>
bool transpose_thin(const T* src, int64_t src_step, T* dst, int64_t dst_step, int64_t rows,
                    int64_t columns) {
  if (dst_step == columns && columns == 2) interleave<2>(src, src_step, dst, rows);
  else if (dst_step == columns && columns == 3) interleave<3>(src, src_step, dst, rows);
  else if (dst_step == columns && columns == 4) interleave<4>(src, src_step, dst, rows);
  else if (src_step == rows && rows == 2) deinterleave<2>(src, dst, dst_step, columns);
  else if (src_step == rows && rows == 3) deinterleave<3>(src, dst, dst_step, columns);
  else if (src_step == rows && rows == 4) deinterleave<4>(src, dst, dst_step, columns);
  else return false;
  return true;
}

template <class T>
void transpose(const void* from, int64_t src_step, void* to, int64_t dst_step, int64_t rows,
               int64_t columns, bool stream) {
  constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(T));
  const T* src = static_cast<const T*>(from);
  T* dst = static_cast<T*>(to);
  if (transpose_thin(src, src_step, dst, dst_step, rows, columns)) return;
  const auto block = stream ? transpose_block<true, T> : transpose_block<false, T>;
  const int64_t whole_rows = rows - rows % kLine, whole_columns = columns - columns % kLine;
  for (int64_t c = 0; c < whole_columns; c += kLine) {
    for (int64_t r = 0; r < whole_rows; r += kLine) {
      block(src + c * src_step + r, src_step, dst + r * dst_step + c, dst_step);
    }
  }
  transpose_edge(src + whole_columns * src_step, src_step, dst + whole_columns, dst_step,
                 whole_rows, columns - whole_columns);
  transpose_edge(src + whole_rows, src_step, dst + whole_rows * dst_step, dst_step,
                 rows - whole_rows, columns);
  if (stream) hwy::FlushStream();
}

}  // namespace

TransposeFn transpose_of(size_t element_size) {
  switch (element_size) {
    case 1: return transpose<uint8_t>;
    case 2: return transpose<uint16_t>;
    case 4: return transpose<uint32_t>;
    default: return transpose<uint64_t>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(transpose_of);
TransposeFn find_transpose(size_t element_size) {
  return HWY_DYNAMIC_DISPATCH(transpose_of)(element_size);
}
}  // namespace nef::cpu
#endif
