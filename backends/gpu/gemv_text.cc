// SPDX-License-Identifier: Apache-2.0
// The kernels of decode.cc for very few rows. Weights of 16 bits are multiplied as floats; those of
// 8 and 4 bits, with a scale for each 32 of them, as 16-bit floats in short sums.
#include "backends/gpu/decode.h"

namespace nef::gpu {

const char* const kGemvText = R"device(
typedef $T$ T;
DEV f32 low(u32 v) { T x; x.v = u16(v); return wide(x); }
DEV f32 high(u32 v) { $HIGH$ }
DEV u32 pair_of(f32 a, f32 b) { T x, y; st(x, a); st(y, b); return u32(x.v) | u32(y.v) << 16; }
// Of two pairs of bfloat16.
DEV u32 product(u32 a, u32 b) { u32 r; asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
DEV $R$ finish($ARGS$) {
$BODY$}
struct GemvP { $O$* y; const T* x; const T* scale; const u8* w[$C$]; const T* scales[$C$]; $EXTERNALS$ i64 rows; i64 n; i64 slots; f64 epsilon; f64 alpha[$C$]; };
// Bits of a weight; rows of the weights that a warp takes at a time, and what a slot has of each:
// bytes, vectors of 16 bytes a lane, weights; groups of 8 numbers of x that go with 16 bytes of weights.
constexpr i32 kBits = $BITS$, kPair = $PAIR$, kRowBytes = 2048 / kPair, kRowVectors = 4 / kPair, kElements = kRowBytes * 8 / kBits, kShare = 16 / kBits;
constexpr i32 kBlock = $BLOCK$, kVectors = $K$ / 8, kWhole = (kVectors + 32 * kShare - 1) / (32 * kShare) * (32 * kShare);
constexpr i32 kBlocks = ($K$ + kElements - 1) / kElements, kLast = $K$ - (kBlocks - 1) * kElements;
// Scales lie behind the weights of a slot. Where these have few, those of a whole row come with its
// first slot, into memory of their own for the rows that a ring has part of.
constexpr u32 kRowScales = kBits == 16 ? 0 : kElements / kBlock * 2, kAllScales = kBits == 16 ? 0 : $K$ / kBlock * 2;
constexpr bool kByRow = kBits < 16 && kRowScales < 64;
constexpr u32 kSlotBytes = 2048 + (kByRow ? 0 : kPair * kRowScales);
constexpr i32 kScaleRows = ($SLOTS$ + kBlocks - 1) / kBlocks + 1;
#if $BITS$ < 16
DEV u32 half2_of(f32 a, f32 b) { u32 r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
DEV u32 less(u32 a, u32 b) { u32 r; asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
DEV u32 added(u32 a, u32 b, u32 c) { u32 r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
DEV f32 total(u32 v) { f16 a, b; a.v = u16(v); b.v = u16(v >> 16); return wide(a) + wide(b); }
DEV u32 bytes_of(u32 q, u32 which) { u32 r; asm("prmt.b32 %0, %1, 0x64646464, %2;" : "=r"(r) : "r"(q), "r"(which)); return r; }
// Eight weights of 4 bits as pairs of whole numbers: 0 and 4, 1 and 5, and so on. Two constants go
// into one instruction when one of them is in a register.
DEV void unpack_nibbles(u32 (&w)[4], u32 q) {
  u32 low_exponent = 0x64006400u, high_exponent = 0x54005400u;
  asm("" : "+r"(low_exponent), "+r"(high_exponent));
  const auto joined = [](u32 v, u32 mask, u32 exponent) { u32 r; asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(v), "r"(mask), "r"(exponent)); return r; };
  w[0] = less(joined(q, 0x000f000fu, low_exponent), 0x64086408u);
  w[1] = less(joined(q, 0x00f000f0u, high_exponent), 0x54805480u);
  w[2] = less(joined(q >> 8, 0x000f000fu, low_exponent), 0x64086408u);
  w[3] = less(joined(q >> 8, 0x00f000f0u, high_exponent), 0x54805480u);
}
#if $FLOAT8$
DEV u32 halves_of(u16 v) { u32 r; asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(v)); return r; }
#endif
// Sixteen bytes of weights times numbers of x: whole numbers in 16-bit floats, in short sums.
DEV f32 packed_dot(const V4& w, const V4 (&x)[kShare]) {
  u32 a = 0, b = 0;
#if $BITS$ == 8
#pragma unroll
  for (i32 i = 0; i < 4; ++i) {
    const u32 q = w.e[i], x0 = x[i / 2].e[i % 2 * 2], x1 = x[i / 2].e[i % 2 * 2 + 1];
#if $FLOAT8$
    a = added(halves_of(u16(q)), x0, a);
    b = added(halves_of(u16(q >> 16)), x1, b);
#else
    a = added(less(bytes_of(q, 0x4140), 0x64806480u), x0, a);
    b = added(less(bytes_of(q, 0x4342), 0x64806480u), x1, b);
#endif
  }
#else
#pragma unroll
  for (i32 e = 0; e < 4; ++e) {
    u32 v[4];
    unpack_nibbles(v, w.e[e]);
    a = added(v[0], x[e].e[0], a);
    b = added(v[1], x[e].e[1], b);
    a = added(v[2], x[e].e[2], a);
    b = added(v[3], x[e].e[3], b);
  }
#endif
  return total(a) + total(b);
}
// Scales go four or eight bytes a lane.
constexpr i32 kScalePiece = kPair * kRowScales >= 256 ? 8 : 4, kScaleLanes = (kByRow ? kAllScales : kRowScales) / kScalePiece;
DEV void copy_scales(u32 to, const u8* from) { asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kScalePiece) : "memory"); }
// Do sums of numbers of at most this size stay within 16-bit floats, and lose nothing?
DEV bool suits(f32 largest) { return largest == 0.0f || (largest >= 0.00390625f && largest <= 32.0f) || largest - largest != 0.0f; }
DEV void scales_arrive(u32 bar) { asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory"); }
#endif

template <int M> DEV void gemv(const GemvP& p) {
  extern __shared__ __align__(128) u8 memory[];
  const i32 t = i32(threadIdx.x), warp = first_lane(t / 32), lane = t % 32, slots = i32(p.slots), n = i32(p.n);
  const u32 ring = shared_address(memory) + u32(warp * slots) * kSlotBytes;
  V4* xs = (V4*)(memory + 16 * slots * kSlotBytes);
  f32* squares = (f32*)(xs + M * kWhole);  // [M][16] of warps, and [M][16] their largest
  const u32 bars = shared_address(squares + 32 * M) + u32(warp * slots * 8);
  [[maybe_unused]] const u32 row_scales = shared_address(squares + 32 * M) + u32(16 * slots * 8) + u32(warp * kScaleRows) * kAllScales;
  const i32 first = (warp * i32(gridDim.x) + i32(blockIdx.x)) * kPair, step = i32(gridDim.x) * 16 * kPair;
  nef_let_next_begin();

  const u64 policy = read_once_policy();
  i32 ahead = first, ahead_block = 0, ahead_matrix = 0, fill = 0, fill_row = 0;  // where the next copy comes from
  const auto issue = [&]() {
    if (ahead >= n) return;
    const bool last = ahead_block == kBlocks - 1, second = $C$ > 1 && ahead_matrix == 1;
    const u32 to = ring + fill * kSlotBytes, bar = bars + fill * 8;
    const i32 elements = last ? kLast : kElements;
    if (lane == 0) {
      const i32 bytes = elements * kBits / 8;
      const u8* w = (second ? p.w[$C$ - 1] : p.w[0]) + ahead_block * kRowBytes;
      barrier_expect(bar, bytes * kPair);
#pragma unroll
      for (i32 q = 0; q < kPair; ++q) bulk_copy(to + q * kRowBytes, w + i64(ahead + q < n ? ahead + q : n - 1) * ($K$ * kBits / 8), bytes, bar, policy);
    }
#if $BITS$ < 16
    const T* scales = second ? p.scales[$C$ - 1] : p.scales[0];
    if (kByRow) {
      for (i32 at = lane; ahead_block == 0 && at < kScaleLanes; at += 32) copy_scales(row_scales + fill_row * kAllScales + at * kScalePiece, (const u8*)scales + i64(ahead) * kAllScales + at * kScalePiece);
      if (last) fill_row = fill_row + 1 == kScaleRows ? 0 : fill_row + 1;
    } else {
      scales += ahead_block * (kElements / kBlock);
      const i32 row = ahead + lane / kScaleLanes, at = lane % kScaleLanes * kScalePiece;
      if (lane < kPair * kScaleLanes && at < elements / kBlock * 2) copy_scales(to + 2048 + lane * kScalePiece, (const u8*)scales + i64(row < n ? row : n - 1) * ($K$ / kBlock * 2) + at);
    }
    scales_arrive(bar);  // for every lane
#endif
    fill = fill + 1 == slots ? 0 : fill + 1;
    if (!last) { ++ahead_block; return; }
    ahead_block = 0;
    if (++ahead_matrix < $C$) return;
    ahead_matrix = 0;
    ahead += step;
  };
  if (lane == 0) {
#pragma unroll 1
    for (i32 i = 0; i < slots; ++i) barrier_init(bars + i * 8, kBits == 16 ? 1 : 33);
    barrier_inits_seen();
  }
  __syncwarp();
#pragma unroll 1
  for (i32 i = 0; i < slots; ++i) issue();
  constexpr i32 kMine = (kVectors + 511) / 512;
#if $NORM$
  V4 scale[kMine];
#pragma unroll
  for (i32 k = 0; k < kMine; ++k) scale[k] = t + k * 512 < kVectors ? ((const V4*)p.scale)[t + k * 512] : V4{{0, 0, 0, 0}};
#endif
  nef_wait();

  // x into shared memory, for packed weights as 16-bit floats in the order that these are unpacked
  // in. All loads before the first store.
  constexpr f32 kFirst = kBits < 16 && $NORM$ ? 0.0625f : 1.0f;
  f32 square[M], most[M];
  V4 held[kMine][M];
#pragma unroll
  for (i32 k = 0; k < kMine; ++k) {
#pragma unroll
    for (i32 m = 0; m < M; ++m) {
      held[k][m] = {{0, 0, 0, 0}};
      if (t + k * 512 < kVectors && m < p.rows) held[k][m] = load_fresh((const V4*)p.x + m * kVectors + t + k * 512);
    }
  }
  const auto keep = [&](const V4& v, i32 k, i32 m, f32 by) {
    const i32 i = t + k * 512;
#if $NORM$
#pragma unroll
    for (i32 e = 0; e < 4; ++e) square[m] += low(v.e[e]) * low(v.e[e]) + high(v.e[e]) * high(v.e[e]);
#endif
    if (i >= kWhole) return;
#if $BITS$ < 16
    f32 x[8];
#pragma unroll
    for (i32 e = 0; e < 8; ++e) {
      x[e] = e % 2 == 0 ? low(v.e[e / 2]) : high(v.e[e / 2]);
#if $NORM$
      x[e] *= e % 2 == 0 ? low(scale[k].e[e / 2]) : high(scale[k].e[e / 2]);
#endif
      most[m] = fmaxf(most[m], fabsf(x[e]));
      x[e] *= by;
    }
    const i32 r = i % (32 * kShare), at = i / (32 * kShare) * (32 * kShare) + r % kShare * 32 + r / kShare;
    if (kBits == 8) xs[m * kWhole + at] = {{half2_of(x[0], x[1]), half2_of(x[2], x[3]), half2_of(x[4], x[5]), half2_of(x[6], x[7])}};
    else xs[m * kWhole + at] = {{half2_of(x[0], x[4]), half2_of(x[1], x[5]), half2_of(x[2], x[6]), half2_of(x[3], x[7])}};
#elif $NORM$
    xs[m * kWhole + i] = {{product(v.e[0], scale[k].e[0]), product(v.e[1], scale[k].e[1]), product(v.e[2], scale[k].e[2]), product(v.e[3], scale[k].e[3])}};
#else
    xs[m * kWhole + i] = v;
#endif
  };
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    square[m] = most[m] = 0.0f;
#pragma unroll
    for (i32 k = 0; k < kMine; ++k) keep(held[k][m], k, m, kFirst);
  }
  // What the sums of each row are multiplied by in the end.
  f32 factor[M];
#if $NORM$ || $BITS$ < 16
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    square[m] = sum_of_warp(square[m]);
    most[m] = largest_of_warp(most[m]);
    if (lane == 0) { squares[m * 32 + warp] = square[m]; squares[m * 32 + 16 + warp] = most[m]; }
  }
  __syncthreads();
  [[maybe_unused]] bool again = false;
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    f32 sum = 0.0f, largest = 0.0f;
#pragma unroll
    for (i32 w = 0; w < 4; ++w) {
      const V4 s = load_shared(shared_address(squares + m * 32 + w * 4)), l = load_shared(shared_address(squares + m * 32 + 16 + w * 4));
#pragma unroll
      for (i32 e = 0; e < 4; ++e) { sum += f32_of(s.e[e]); largest = fmaxf(largest, f32_of(l.e[e])); }
    }
    factor[m] = ($NORM$ ? 1.0f / sqrtf(sum / f32($K$) + f32(p.epsilon)) : 1.0f) / kFirst;
    most[m] = largest;
#if $BITS$ < 16
    again = again || !suits(largest * kFirst);
#endif
  }
#if $BITS$ < 16
  // Numbers too large for sums of 16-bit floats, or too small, become those of at most 1.
  if (again) {
#pragma unroll
    for (i32 m = 0; m < M; ++m) {
      const f32 largest = most[m];
      if (suits(largest * kFirst)) continue;
      factor[m] *= largest * kFirst;
#pragma unroll
      for (i32 k = 0; k < kMine; ++k) {
        if (t + k * 512 < kVectors && m < p.rows) keep(load_fresh((const V4*)p.x + m * kVectors + t + k * 512), k, m, 1.0f / largest);
      }
    }
    __syncthreads();
  }
#endif
#else
  __syncthreads();
#pragma unroll
  for (i32 m = 0; m < M; ++m) factor[m] = 1.0f;
#endif

  const u32 x_at = shared_address(xs) + u32(lane) * 16;
  i32 take = 0, take_row = 0;
  u32 phase = 0;
  for (i32 row = first; row < n; row += step) {
    // Lane m * kPair + q has the result of row m of x and row q of these.
    const bool stores = lane < M * kPair && lane / kPair < i32(p.rows) && row + lane % kPair < n;
    const i64 mine = stores ? lane / kPair : 0, r = stores ? row + lane % kPair : row;
    $LOADS$
    f32 sum[$C$][kPair][M];
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) {
#pragma unroll
      for (i32 q = 0; q < kPair; ++q) {
#pragma unroll
        for (i32 m = 0; m < M; ++m) sum[c][q][m] = 0.0f;
      }
#pragma unroll 1
      for (i32 block = 0; block < kBlocks; ++block) {
        barrier_wait(bars + take * 8, phase);
        V4 w[kPair][kRowVectors];
        const u32 slot = ring + take * kSlotBytes;
#pragma unroll
        for (i32 v = 0; v < 4; ++v) w[v / kRowVectors][v % kRowVectors] = load_shared(slot + v * 512 + lane * 16);
#if $BITS$ < 16
        T by[kPair][kRowVectors];
#pragma unroll
        for (i32 v = 0; v < 4; ++v) {
          const i32 before = (v % kRowVectors * 32 + lane) * (128 / kBits);  // weights
          const u32 at = kByRow ? row_scales + take_row * kAllScales + (block * kElements + before) / kBlock * 2 : slot + 2048 + v / kRowVectors * kRowScales + before / kBlock * 2;
          asm volatile("ld.shared.u16 %0, [%1];" : "=h"(by[v / kRowVectors][v % kRowVectors].v) : "r"(at) : "memory");
        }
#endif
        __syncwarp();
        issue();
        if (++take == slots) { take = 0; phase ^= 1; }
#pragma unroll
        for (i32 v = 0; v < kRowVectors; ++v) {
          const i32 i = (block * kRowVectors + v) * 32 * kShare;
          if (kVectors % (32 * kRowVectors * kShare) != 0 && i + lane * kShare >= kVectors) continue;
#pragma unroll
          for (i32 m = 0; m < M; ++m) {
            V4 x[kShare];
#pragma unroll
            for (i32 s = 0; s < kShare; ++s) x[s] = load_shared(x_at + u32(m * kWhole + i + s * 32) * 16);
#pragma unroll
            for (i32 q = 0; q < kPair; ++q) {
#if $BITS$ < 16
              sum[c][q][m] = fmaf(packed_dot(w[q][v], x), ld(by[q][v]), sum[c][q][m]);
#else
              f32 a = 0.0f, b = 0.0f;
#pragma unroll
              for (i32 e = 0; e < 4; ++e) {
                a = fmaf(low(w[q][v].e[e]), low(x[0].e[e]), a);
                b = fmaf(high(w[q][v].e[e]), high(x[0].e[e]), b);
              }
              sum[c][q][m] += a + b;
#endif
            }
          }
        }
      }
      if (kByRow) take_row = take_row + 1 == kScaleRows ? 0 : take_row + 1;
    }
    f32 my[$C$];
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) {
#pragma unroll
      for (i32 q = 0; q < kPair; ++q) {
#pragma unroll
        for (i32 m = 0; m < M; ++m) {
          const f32 all = sum_of_warp(sum[c][q][m]) * factor[m] * f32(p.alpha[c]);
          if (m + q == 0 || lane == m * kPair + q) my[c] = all;
        }
      }
    }
    if (stores) st(p.y[mine * n + r], finish($CALL$));
  }
}
#if $ONE$
NEF_EARLY_KERNEL(gemv1, GemvP, 512, 2) { gemv<1>(p); }
#endif
#if $FOUR$
NEF_EARLY_KERNEL(gemv4, GemvP, 512, 1) { gemv<4>(p); }
#endif
)device";

}  // namespace nef::gpu
