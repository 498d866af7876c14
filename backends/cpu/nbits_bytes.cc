// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits by activations of 8: dot products of bytes, one scale a block on either side.
#include "backends/cpu/byte_targets.h"
#include "backends/cpu/nbits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/nbits_bytes.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr int64_t kAhead = 8192 / 4;            // words fetched ahead
constexpr int64_t kScalesAhead = 8192 / 4 / 4;  // of blocks of 32: as far
// Below it the scale of a block loses bits, and its reciprocal overflows.
constexpr float kSmallest = 1e-30f;

// Two vectors of columns at a time, at most 16 lanes each.
using D = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<D>;
using DW = hn::RebindToUnsigned<D>;
using DI8 = hn::Repartition<int8_t, D>;
using DU8 = hn::Repartition<uint8_t, D>;

// A block of x as bytes: its largest magnitude becomes 127.
bool quantize_block(const float* x, int64_t n, int8_t* q, float* scale, int32_t* sum) {
  const hn::CappedTag<float, kNibbleGroup> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<int8_t, decltype(d)> di8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto largest = hn::Zero(d), nothing = hn::Zero(d);
  for (int64_t i = 0; i < n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    largest = hn::Max(largest, hn::Abs(v));
    nothing = hn::MulAdd(v, hn::Zero(d), nothing);  // NaN once v is not finite
  }
  const float most = hn::ReduceMax(d, largest), zero = hn::ReduceSum(d, nothing);
  if (zero != 0 || (most != 0 && most < kSmallest)) return false;
  *scale = most / 127;
  const auto inverse = hn::Set(d, most == 0 ? 0 : 127 / most);
  auto total = hn::Zero(di);
  for (int64_t i = 0; i < n; i += lanes) {
    const auto v = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), inverse));
    total = hn::Add(total, v);
    hn::StoreU(hn::DemoteTo(di8, v), di8, q + i);
  }
  *sum = hn::ReduceSum(di, total);
  return true;
}

bool quantize(const float* x, int64_t blocks, int64_t block, int8_t* q, float* scales,
              int32_t* sums) {
  for (int64_t i = 0; i < blocks; ++i) {
    if (!quantize_block(x + i * block, block, q + i * block, scales + i, sums + i)) return false;
  }
  return true;
}

// Four bytes of a row in every lane.
HWY_INLINE hn::Vec<DI8> spread(const int8_t* x) {
  int32_t four;
  std::memcpy(&four, x, sizeof four);
  return hn::BitCast(DI8(), hn::Set(DI(), four));
}

#define NEF_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

// kRows rows by two vectors of columns. The sums of a block have names, as arrays of vectors spill;
// those of all blocks are in `out`.
template <int kRows, bool kOffsets>
HWY_NOINLINE void rows_by_columns(const NibblePanel& panel, int64_t col, const NibbleBytes& x,
                                  float* HWY_RESTRICT out) {
  const D d;
  const DI di;
  const DW dw;
  const DU8 du8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto low_half = hn::Set(dw, 0x0f0f0f0f);
  const uint32_t* words = panel.words + col;
  const int8_t* bytes = x.bytes;
  for (int64_t block = 0; block < panel.blocks; ++block) {
    // Weights count from 0 here: less 8 of each is 8 times the sum of the row less.
#define NEF_DECLARE(i) \
  auto p##i = hn::Set(di, i < kRows ? -8 * x.sums[i * panel.blocks + block] : 0), q##i = p##i;
    NEF_EACH(NEF_DECLARE)
#undef NEF_DECLARE
    for (int64_t g = 0; g < panel.groups; ++g, words += kNibblePanel, bytes += kNibbleGroup) {
      hwy::Prefetch(words + kAhead);
      hwy::Prefetch(words + kAhead + lanes);
      const auto w0 = hn::LoadU(dw, words), w1 = hn::LoadU(dw, words + lanes);
      const auto a0 = hn::BitCast(du8, hn::And(w0, low_half));
      const auto a1 = hn::BitCast(du8, hn::And(w1, low_half));
      const auto b0 = hn::BitCast(du8, hn::And(hn::ShiftRight<4>(w0), low_half));
      const auto b1 = hn::BitCast(du8, hn::And(hn::ShiftRight<4>(w1), low_half));
#define NEF_ROW(i)                                          \
  if constexpr (i < kRows) {                                \
    const auto early = spread(bytes + i * x.row);           \
    const auto late = spread(bytes + i * x.row + 4);        \
    p##i = hn::SumOfMulQuadAccumulate(di, a0, early, p##i); \
    q##i = hn::SumOfMulQuadAccumulate(di, a1, early, q##i); \
    p##i = hn::SumOfMulQuadAccumulate(di, b0, late, p##i);  \
    q##i = hn::SumOfMulQuadAccumulate(di, b1, late, q##i);  \
  }
      NEF_EACH(NEF_ROW)
#undef NEF_ROW
    }
    const float* scales = panel.scales + block * kNibblePanel + col;
    hwy::Prefetch(scales + kScalesAhead);
    hwy::Prefetch(scales + kScalesAhead + lanes);
    const auto s0 = hn::LoadU(d, scales), s1 = hn::LoadU(d, scales + lanes);
    auto o0 = hn::Zero(d), o1 = o0;
    if constexpr (kOffsets) {
      o0 = hn::LoadU(d, panel.offsets + block * kNibblePanel + col);
      o1 = hn::LoadU(d, panel.offsets + block * kNibblePanel + col + lanes);
    }
#define NEF_ADD(i)                                                                           \
  if constexpr (i < kRows) {                                                                 \
    float* to = out + i * kNibblePanel + col;                                                \
    auto f0 = hn::ConvertTo(d, p##i), f1 = hn::ConvertTo(d, q##i);                           \
    if constexpr (kOffsets) {                                                                \
      const auto sum = hn::Set(d, static_cast<float>(x.sums[i * panel.blocks + block]));     \
      f0 = hn::NegMulAdd(o0, sum, f0);                                                       \
      f1 = hn::NegMulAdd(o1, sum, f1);                                                       \
    }                                                                                        \
    const auto scale = hn::Set(d, x.scales[i * panel.blocks + block]);                       \
    hn::StoreU(hn::MulAdd(f0, hn::Mul(s0, scale), hn::LoadU(d, to)), d, to);                 \
    hn::StoreU(hn::MulAdd(f1, hn::Mul(s1, scale), hn::LoadU(d, to + lanes)), d, to + lanes); \
  }
    NEF_EACH(NEF_ADD)
#undef NEF_ADD
  }
}
#undef NEF_EACH

template <int kRows>
void run_rows(const NibblePanel& panel, int64_t col, const NibbleBytes& x, float* out) {
  if (panel.offsets == nullptr) return rows_by_columns<kRows, false>(panel, col, x, out);
  return rows_by_columns<kRows, true>(panel, col, x, out);
}

void run_columns(const NibblePanel& panel, int64_t col, const NibbleBytes& x, int64_t m,
                 float* out) {
  switch (m) {
    case 1: return run_rows<1>(panel, col, x, out);
    case 2: return run_rows<2>(panel, col, x, out);
    case 3: return run_rows<3>(panel, col, x, out);
    case 4: return run_rows<4>(panel, col, x, out);
    case 5: return run_rows<5>(panel, col, x, out);
    case 6: return run_rows<6>(panel, col, x, out);
    case 7: return run_rows<7>(panel, col, x, out);
    default: return run_rows<8>(panel, col, x, out);
  }
}

void multiply(const NibblePanel& panel, const NibbleBytes& x, int64_t m, const float* bias,
              float* out) {
  for (int64_t i = 0; i < m * kNibblePanel; ++i) {
    out[i] = bias == nullptr ? 0 : bias[i % kNibblePanel];
  }
  const auto width = 2 * static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t col = 0; col < kNibblePanel; col += width) run_columns(panel, col, x, m, out);
}

const NibbleByteOps& byte_ops() {
  static constexpr NibbleByteOps table = {quantize, multiply};
  return table;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(byte_ops);

const NibbleByteOps& nibble_byte_ops() { return HWY_DYNAMIC_DISPATCH(byte_ops)(); }

}  // namespace nef::cpu
#endif
