// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/nbits.h"

#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/nbits.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr int64_t kAhead = 4096 / 4;  // words fetched ahead

// Two vectors of columns at a time, at most 16 lanes each.
using D = hn::CappedTag<float, 16>;
using DW = hn::RebindToUnsigned<D>;

// Field j of each word, less 8, as a float. With 16 lanes it is one look-up in a table, which reads
// the lowest four bits only.
template <int j>
HWY_INLINE hn::Vec<D> field(hn::Vec<DW> words) {
  const D d;
  const DW dw;
  auto index = words;
  if constexpr (j > 0) index = hn::ShiftRight<nibble_bit(j)>(words);
#if HWY_TARGET == HWY_AVX3
  HWY_ALIGN static constexpr float kValues[16] = {-8, -7, -6, -5, -4, -3, -2, -1,
                                                  0,  1,  2,  3,  4,  5,  6,  7};
  if constexpr (HWY_IS_DEBUG_BUILD) index = hn::And(index, hn::Set(dw, 15));
  return hn::TableLookupLanes(hn::Load(d, kValues), hn::IndicesFromVec(d, index));
#else
  const hn::RebindToSigned<D> di;
  const auto value = hn::BitCast(di, hn::And(index, hn::Set(dw, 15)));
  return hn::ConvertTo(d, hn::Sub(value, hn::Set(di, 8)));
#endif
}

#define NEF_FIELDS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

// kRows rows by two vectors of columns. The sums of a block have names, as arrays of vectors spill;
// those of all blocks are in `out`.
template <int kRows, bool kOffsets>
HWY_NOINLINE void rows_by_columns(const NibblePanel& panel, int64_t col, const float* x,
                                  int64_t ldx, float* HWY_RESTRICT out) {
  const D d;
  const DW dw;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t* words = panel.words + col;
  for (int64_t block = 0; block < panel.blocks; ++block) {
#define NEF_DECLARE(i) auto p##i = hn::Zero(d), q##i = hn::Zero(d);
    NEF_FIELDS(NEF_DECLARE)
#undef NEF_DECLARE
    auto o0 = hn::Zero(d), o1 = o0;
    if constexpr (kOffsets) {
      o0 = hn::LoadU(d, panel.offsets + block * kNibblePanel + col);
      o1 = hn::LoadU(d, panel.offsets + block * kNibblePanel + col + lanes);
    }
    for (int64_t g = 0; g < panel.groups; ++g, words += kNibblePanel, x += kNibbleGroup) {
      hwy::Prefetch(words + kAhead);
      hwy::Prefetch(words + kAhead + lanes);
      const auto low = hn::LoadU(dw, words), high = hn::LoadU(dw, words + lanes);
#define NEF_ROW(i, step)                              \
  if constexpr (i < kRows) {                          \
    const auto value = hn::Set(d, x[i * ldx + step]); \
    p##i = hn::MulAdd(value, w0, p##i);               \
    q##i = hn::MulAdd(value, w1, q##i);               \
  }
// A single row has a sum for every second step, since two sums alone would wait on each other.
#define NEF_STEP(step)                                                                     \
  {                                                                                        \
    auto w0 = field<step>(low), w1 = field<step>(high);                                    \
    if constexpr (kOffsets) {                                                              \
      w0 = hn::Sub(w0, o0);                                                                \
      w1 = hn::Sub(w1, o1);                                                                \
    }                                                                                      \
    if constexpr (kRows == 1) {                                                            \
      const auto value = hn::Set(d, x[step]);                                              \
      auto& p = step % 4 == 0 ? p0 : step % 4 == 1 ? p1 : step % 4 == 2 ? p2 : p3;         \
      auto& q = step % 4 == 0 ? q0 : step % 4 == 1 ? q1 : step % 4 == 2 ? q2 : q3;         \
      p = hn::MulAdd(value, w0, p);                                                        \
      q = hn::MulAdd(value, w1, q);                                                        \
    } else {                                                                               \
      NEF_ROW(0, step)                                                                     \
      NEF_ROW(1, step)                                                                     \
      NEF_ROW(2, step)                                                                     \
      NEF_ROW(3, step) NEF_ROW(4, step) NEF_ROW(5, step) NEF_ROW(6, step) NEF_ROW(7, step) \
    }                                                                                      \
  }
      NEF_FIELDS(NEF_STEP)
#undef NEF_STEP
#undef NEF_ROW
    }
    if constexpr (kRows == 1) {
      p0 = hn::Add(hn::Add(p0, p1), hn::Add(p2, p3));
      q0 = hn::Add(hn::Add(q0, q1), hn::Add(q2, q3));
    }
    const float* scales = panel.scales + block * kNibblePanel + col;
    const auto s0 = hn::LoadU(d, scales), s1 = hn::LoadU(d, scales + lanes);
#define NEF_ADD(i)                                                             \
  if constexpr (i < kRows) {                                                   \
    float* to = out + i * kNibblePanel + col;                                  \
    hn::StoreU(hn::MulAdd(p##i, s0, hn::LoadU(d, to)), d, to);                 \
    hn::StoreU(hn::MulAdd(q##i, s1, hn::LoadU(d, to + lanes)), d, to + lanes); \
  }
    NEF_FIELDS(NEF_ADD)
#undef NEF_ADD
  }
}

template <int kRows>
void run_rows(const NibblePanel& panel, int64_t col, const float* x, int64_t ldx, float* out) {
  if (panel.offsets == nullptr) return rows_by_columns<kRows, false>(panel, col, x, ldx, out);
  return rows_by_columns<kRows, true>(panel, col, x, ldx, out);
}

void run_columns(const NibblePanel& panel, int64_t col, const float* x, int64_t ldx, int64_t m,
                 float* out) {
  switch (m) {
    case 1: return run_rows<1>(panel, col, x, ldx, out);
    case 2: return run_rows<2>(panel, col, x, ldx, out);
    case 3: return run_rows<3>(panel, col, x, ldx, out);
    case 4: return run_rows<4>(panel, col, x, ldx, out);
    case 5: return run_rows<5>(panel, col, x, ldx, out);
    case 6: return run_rows<6>(panel, col, x, ldx, out);
    case 7: return run_rows<7>(panel, col, x, ldx, out);
    default: return run_rows<8>(panel, col, x, ldx, out);
  }
}

void multiply(const NibblePanel& panel, const float* x, int64_t ldx, int64_t m, const float* bias,
              float* out) {
  for (int64_t i = 0; i < m * kNibblePanel; ++i) {
    out[i] = bias == nullptr ? 0 : bias[i % kNibblePanel];
  }
  const auto width = 2 * static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t col = 0; col < kNibblePanel; col += width) {
    run_columns(panel, col, x, ldx, m, out);
  }
}

void expand(const NibblePanel& panel, float* HWY_RESTRICT out) {
  const D d;
  const DW dw;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t* words = panel.words;
  for (int64_t block = 0; block < panel.blocks; ++block) {
    const float* scales = panel.scales + block * kNibblePanel;
    for (int64_t g = 0; g < panel.groups; ++g, words += kNibblePanel) {
      for (int64_t col = 0; col < kNibblePanel; col += lanes) {
        const auto w = hn::LoadU(dw, words + col);
        const auto scale = hn::LoadU(d, scales + col);
        const auto offset = panel.offsets == nullptr
                                ? hn::Zero(d)
                                : hn::LoadU(d, panel.offsets + block * kNibblePanel + col);
#define NEF_STORE(step) \
  hn::StoreU(hn::Mul(hn::Sub(field<step>(w), offset), scale), d, out + step * kNibblePanel + col);
        NEF_FIELDS(NEF_STORE)
#undef NEF_STORE
      }
      out += kNibbleGroup * kNibblePanel;
    }
  }
}
#undef NEF_FIELDS

const NibbleOps& ops() {
  static constexpr NibbleOps table = {multiply, expand};
  return table;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(ops);

const NibbleOps& nibble_ops() { return HWY_DYNAMIC_DISPATCH(ops)(); }

}  // namespace nef::cpu
#endif
