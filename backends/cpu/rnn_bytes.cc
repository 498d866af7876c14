// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/rnn_bytes.h"

#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rnn_bytes.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/gemm.h"
#include "backends/cpu/kernel.h"

#ifndef NEF_CPU_RNN_BYTES_ONCE
#define NEF_CPU_RNN_BYTES_ONCE
namespace nef::cpu {

constexpr int64_t kBytePanel = 32;  // rows of weights side by side
constexpr int64_t kStates = 4;      // at a time

}  // namespace nef::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr int64_t kAhead = 4096;  // bytes fetched ahead

using D = hn::CappedTag<float, 16>;

HWY_INLINE hn::Vec<D> weights(const int8_t* from) {
  const D d;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<int8_t, D> di8;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(di8, from)));
}

#define NEF_EACH(X) X(0) X(1) X(2) X(3)

// kRows states by two vectors of a panel. A single one has sums for every fourth step, since two
// sums alone would wait on each other. They have names, as arrays of vectors spill.
template <int kRows>
HWY_NOINLINE void states_by_weights(const int8_t* w, const float* scales, int64_t depth,
                                    const float* a, int64_t a_row, float* c, int64_t ldc) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
#define NEF_DECLARE(i) auto p##i = hn::Zero(d), q##i = hn::Zero(d);
  NEF_EACH(NEF_DECLARE)
#undef NEF_DECLARE
  int64_t k = 0;
  if constexpr (kRows == 1) {
    for (; k + 4 <= depth; k += 4, w += 4 * kBytePanel) {
      hwy::Prefetch(w + kAhead);
      hwy::Prefetch(w + kAhead + 64);
#define NEF_STEP(i)                                                  \
  {                                                                  \
    const auto x = hn::Set(d, a[k + i]);                             \
    p##i = hn::MulAdd(x, weights(w + i * kBytePanel), p##i);         \
    q##i = hn::MulAdd(x, weights(w + i * kBytePanel + lanes), q##i); \
  }
      NEF_EACH(NEF_STEP)
#undef NEF_STEP
    }
  }
  for (; k < depth; ++k, w += kBytePanel) {
    const auto w0 = weights(w), w1 = weights(w + lanes);
#define NEF_ROW(i)                               \
  if constexpr (i < kRows) {                     \
    const auto x = hn::Set(d, a[i * a_row + k]); \
    p##i = hn::MulAdd(x, w0, p##i);              \
    q##i = hn::MulAdd(x, w1, q##i);              \
  }
    NEF_EACH(NEF_ROW)
#undef NEF_ROW
  }
  if constexpr (kRows == 1) {
    p0 = hn::Add(hn::Add(p0, p1), hn::Add(p2, p3));
    q0 = hn::Add(hn::Add(q0, q1), hn::Add(q2, q3));
  }
  const auto s0 = hn::LoadU(d, scales), s1 = hn::LoadU(d, scales + lanes);
#define NEF_STORE(i)                                       \
  if constexpr (i < kRows) {                               \
    hn::StoreU(hn::Mul(p##i, s0), d, c + i * ldc);         \
    hn::StoreU(hn::Mul(q##i, s1), d, c + i * ldc + lanes); \
  }
  NEF_EACH(NEF_STORE)
#undef NEF_STORE
}
#undef NEF_EACH

// m states, at most kStates, by a panel: c[m][kBytePanel].
void multiply_panel(const int8_t* w, const float* scales, int64_t depth, const float* a,
                    int64_t a_row, int64_t m, float* c) {
  const auto width = 2 * static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t j = 0; j < kBytePanel; j += width) {
    const auto run = m == 1   ? states_by_weights<1>
                     : m == 2 ? states_by_weights<2>
                     : m == 3 ? states_by_weights<3>
                              : states_by_weights<4>;
    run(w + j, scales + j, depth, a, a_row, c + j, kBytePanel);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(multiply_panel);

namespace {

constexpr int64_t kTaskWork = 128 * 1024;  // multiply-adds

// The whole numbers of a row for this scale; false where some weight is no such number times it.
bool whole_numbers(const float* w, int64_t n, float scale, int8_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    const float q = std::nearbyint(w[i] / scale);
    if (!(q >= -128 && q <= 127) || q * scale != w[i]) return false;
    out[i] = static_cast<int8_t>(q);
  }
  return true;
}

// The scale of a row, 1 for zeros alone, or 0 where there is none. The largest magnitude is one of
// 1 to 128 times the scale, rounded once: all that this can be are tried, `guess` first.
float find_scale(const float* w, int64_t n, float guess, int8_t* out) {
  float most = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max(most, std::abs(w[i]));
  if (most == 0) guess = 1;
  if (guess > 0 && whole_numbers(w, n, guess, out)) return guess;
  for (int count = 128; count > 0; --count) {
    const float scale = most / static_cast<float>(count);
    // A scale that has lost bits stands for none.
    if (!(scale >= 1e-30f)) continue;
    for (float s : {scale, std::nextafter(scale, 0.0f), std::nextafter(scale, most)}) {
      if (whole_numbers(w, n, s, out)) return s;
    }
  }
  return 0;
}

}  // namespace

bool ByteMatrix::pack(const float* w, int64_t rows, int64_t depth) {
  const int64_t padded = round_up(rows, kBytePanel);
  AlignedBuffer<int8_t> panels(padded * depth);
  AlignedBuffer<float> scales(padded);
  std::fill_n(panels.data(), padded * depth, int8_t{0});
  std::fill_n(scales.data(), padded, 0.0f);
  std::vector<int8_t> row(static_cast<size_t>(depth));
  float scale = 0, largest = 0;
  for (int64_t i = 0; i < rows; ++i) {
    scale = find_scale(w + i * depth, depth, scale, row.data());
    if (scale == 0) return false;
    largest = std::max(largest, scale);
    scales.data()[i] = scale;
    int8_t* panel = panels.data() + i / kBytePanel * kBytePanel * depth + i % kBytePanel;
    for (int64_t k = 0; k < depth; ++k) panel[k * kBytePanel] = row[static_cast<size_t>(k)];
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  state_scale_ = std::ldexp(1.0f, exponent);
  for (int64_t i = 0; i < rows; ++i) scales.data()[i] /= state_scale_;
  rows_ = rows;
  depth_ = depth;
  panels_ = std::move(panels);
  scales_ = std::move(scales);
  return true;
}

void ByteMatrix::multiply(const float* a, int64_t a_row, int64_t m, float* c, int64_t ldc) const {
  const auto run = HWY_DYNAMIC_POINTER(multiply_panel);
  const int64_t panels = ceil_div(rows_, kBytePanel), work = kBytePanel * depth_ * m;
  parallel_for(panels, std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, work)),
               [&](int64_t begin, int64_t end) {
                 float out[kStates * kBytePanel];
                 for (int64_t p = begin; p < end; ++p) {
                   const int64_t first = p * kBytePanel, n = std::min(kBytePanel, rows_ - first);
                   for (int64_t i = 0; i < m; i += kStates) {
                     const int64_t count = std::min(kStates, m - i);
                     run(panels_.data() + first * depth_, scales_.data() + first, depth_,
                         a + i * a_row, a_row, count, out);
                     for (int64_t r = 0; r < count; ++r) {
                       std::copy_n(out + r * kBytePanel, n, c + (i + r) * ldc + first);
                     }
                   }
                 }
               });
}

}  // namespace nef::cpu
#endif
