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
// Weights arrive by rows of the contraction; here each output has a row of its own.
struct TurnP { T* o; const T* x; i64 rows; i64 columns; };
NEF_KERNEL(turn_weights, TurnP) {
  __shared__ T tile[32][33];
  const i64 across = (p.columns + 31) / 32, tiles = across * ((p.rows + 31) / 32);
  const i32 tx = i32(threadIdx.x) % 32, ty = i32(threadIdx.x) / 32;
  for (i64 at = blockIdx.x; at < tiles; at += gridDim.x) {
    const i64 c0 = at % across * 32, r0 = at / across * 32;
    for (i32 i = ty; i < 32; i += 8) if (r0 + i < p.rows && c0 + tx < p.columns) tile[i][tx] = p.x[(r0 + i) * p.columns + c0 + tx];
    __syncthreads();
    for (i32 i = ty; i < 32; i += 8) if (c0 + i < p.columns && r0 + tx < p.rows) p.o[(c0 + i) * p.rows + r0 + tx] = tile[tx][i];
    __syncthreads();
  }
}
DEV $R$ finish($ARGS$) {
$BODY$}
struct GemvP { $O$* y; const T* x; const T* scale; const u8* w[$C$]; const T* scales[$C$]; $EXTERNALS$ i64 rows; i64 n; i64 slots; f64 epsilon; f64 alpha[$C$]; };
// Bits of a weight; weights of a slot; groups of 8 numbers of x that go with 16 bytes of weights.
constexpr i32 kBits = $BITS$, kElements = 2048 * 8 / kBits, kShare = 16 / kBits, kBlock = $BLOCK$;
constexpr i32 kVectors = $K$ / 8, kWhole = (kVectors + 32 * kShare - 1) / (32 * kShare) * (32 * kShare);
constexpr i32 kBlocks = ($K$ + kElements - 1) / kElements, kLast = $K$ - (kBlocks - 1) * kElements;
constexpr u32 kScaleBytes = kBits == 16 ? 0 : kElements / kBlock * 2, kSlotBytes = 2048 + kScaleBytes;
#if $BITS$ < 16
DEV u32 half2_of(f32 a, f32 b) { u32 r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
DEV u32 less(u32 a, u32 b) { u32 r; asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
DEV u32 added(u32 a, u32 b, u32 c) { u32 r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
DEV f32 total(u32 v) { f16 a, b; a.v = u16(v); b.v = u16(v >> 16); return wide(a) + wide(b); }
DEV u32 bytes_of(u32 q, u32 which) { u32 r; asm("prmt.b32 %0, %1, 0x64646464, %2;" : "=r"(r) : "r"(q), "r"(which)); return r; }
#if $FLOAT8$
DEV u32 halves_of(u16 v) { u32 r; asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(v)); return r; }
#endif
// Sixteen bytes of weights times numbers of x: whole numbers in 16-bit floats, in short sums.
DEV f32 packed_dot(const V4& w, u32 x_at) {
  u32 a = 0, b = 0;
#if $BITS$ == 8
#pragma unroll
  for (i32 half = 0; half < 2; ++half) {
    const V4 x = load_shared(x_at + half * 512);
#pragma unroll
    for (i32 e = 0; e < 2; ++e) {
      const u32 q = w.e[2 * half + e];
#if $FLOAT8$
      a = added(halves_of(u16(q)), x.e[2 * e], a);
      b = added(halves_of(u16(q >> 16)), x.e[2 * e + 1], b);
#else
      a = added(less(bytes_of(q, 0x4140), 0x64806480u), x.e[2 * e], a);
      b = added(less(bytes_of(q, 0x4342), 0x64806480u), x.e[2 * e + 1], b);
#endif
    }
  }
#else
#pragma unroll
  for (i32 e = 0; e < 4; ++e) {
    const V4 x = load_shared(x_at + e * 512);
    const u32 q = w.e[e], r = q >> 8;
    a = added(less((q & 0x000f000fu) | 0x64006400u, 0x64086408u), x.e[0], a);
    b = added(less((q & 0x00f000f0u) | 0x54005400u, 0x54805480u), x.e[1], b);
    a = added(less((r & 0x000f000fu) | 0x64006400u, 0x64086408u), x.e[2], a);
    b = added(less((r & 0x00f000f0u) | 0x54005400u, 0x54805480u), x.e[3], b);
  }
#endif
  return total(a) + total(b);
}
#endif

template <int M> DEV void gemv(const GemvP& p) {
  extern __shared__ __align__(128) u8 memory[];
  const i32 t = i32(threadIdx.x), warp = t / 32, lane = t % 32, slots = i32(p.slots);
  const u32 ring = shared_address(memory) + u32(warp * slots) * kSlotBytes;
  V4* xs = (V4*)(memory + 16 * slots * kSlotBytes);
  f32* squares = (f32*)(xs + M * kWhole);
  const u32 bars = shared_address(squares + 32 * M) + u32(warp * slots * 8);
  const i64 first = i64(warp) * gridDim.x + blockIdx.x, step = i64(gridDim.x) * 16;
  nef_let_next_begin();

  const u64 policy = read_once_policy();
  i64 ahead = first;  // where the next copy comes from
  i32 ahead_block = 0, ahead_matrix = 0, fill = 0;
  const auto issue = [&]() {
    if (ahead >= p.n) return;
    const bool last = ahead_block == kBlocks - 1;
    if (lane == 0) {
      const u32 elements = last ? kLast : kElements, bytes = elements * kBits / 8, scale_bytes = kBits == 16 ? 0 : elements / kBlock * 2;
      const bool second = $C$ > 1 && ahead_matrix == 1;
      const u8* w = second ? p.w[$C$ - 1] : p.w[0];
      barrier_expect(bars + fill * 8, bytes + scale_bytes);
      bulk_copy(ring + fill * kSlotBytes, w + ahead * ($K$ * kBits / 8) + ahead_block * 2048, bytes, bars + fill * 8, policy);
      if (kBits < 16) {
        const T* scales = second ? p.scales[$C$ - 1] : p.scales[0];
        bulk_copy(ring + fill * kSlotBytes + 2048, scales + (ahead * $K$ + ahead_block * kElements) / kBlock, scale_bytes, bars + fill * 8, policy);
      }
    }
    fill = fill + 1 == slots ? 0 : fill + 1;
    if (!last) { ++ahead_block; return; }
    ahead_block = 0;
    if (++ahead_matrix < $C$) return;
    ahead_matrix = 0;
    ahead += step;
  };
  if (lane == 0) {
    for (i32 i = 0; i < slots; ++i) barrier_init(bars + i * 8, 1);
    barrier_inits_seen();
  }
  __syncwarp();
  for (i32 i = 0; i < slots; ++i) issue();
  constexpr i32 kMine = (kVectors + 511) / 512;
#if $NORM$
  V4 scale[kMine];
#pragma unroll
  for (i32 k = 0; k < kMine; ++k) if (t + k * 512 < kVectors) scale[k] = ((const V4*)p.scale)[t + k * 512];
#endif
  nef_wait();

  // What the sums of each row are multiplied by in the end.
  f32 factor[M];
#if $NORM$ || $BITS$ < 16
  f32 square[M], most[M];
#pragma unroll
  for (i32 m = 0; m < M; ++m) square[m] = most[m] = 0.0f;
#if $BITS$ < 16
  V4 held[kMine][M];
#endif
#pragma unroll
  for (i32 k = 0; k < kMine; ++k) {
    const i32 i = t + k * 512;
#pragma unroll
    for (i32 m = 0; m < M; ++m) {
      V4 v = {{0, 0, 0, 0}};
      if (i < kVectors && m < p.rows) v = load_fresh((const V4*)p.x + m * kVectors + i);
#pragma unroll
      for (i32 e = 0; e < 4; ++e) {
        f32 a = low(v.e[e]), b = high(v.e[e]);
        square[m] += a * a + b * b;
#if $NORM$
        if (i < kVectors) { a *= low(scale[k].e[e]); b *= high(scale[k].e[e]); }
#endif
#if $BITS$ < 16
        most[m] = fmaxf(most[m], fmaxf(fabsf(a), fabsf(b)));
#else
        v.e[e] = pair_of(a, b);
#endif
      }
#if $BITS$ < 16
      held[k][m] = v;
#else
      if (i < kWhole) xs[m * kWhole + i] = v;
#endif
    }
  }
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    square[m] = sum_of_warp(square[m]);
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) most[m] = fmaxf(most[m], nef_xor(most[m], mask));
    if (lane == 0) { squares[m * 32 + warp] = square[m]; squares[m * 32 + 16 + warp] = most[m]; }
  }
  __syncthreads();
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    f32 sum = 0.0f;
    for (i32 w = 0; w < 16; ++w) { sum += squares[m * 32 + w]; most[m] = fmaxf(most[m], squares[m * 32 + 16 + w]); }
    factor[m] = $NORM$ ? 1.0f / sqrtf(sum / f32($K$) + f32(p.epsilon)) : 1.0f;
  }
#if $BITS$ < 16
  // As 16-bit floats of at most 1, in the order that weights are unpacked in.
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    const bool finite = most[m] > 0.0f && most[m] - most[m] == 0.0f;
    const f32 shrink = finite ? 1.0f / most[m] : 1.0f;
    if (finite) factor[m] *= most[m];
#pragma unroll
    for (i32 k = 0; k < (kWhole + 511) / 512; ++k) {
      const i32 i = t + k * 512;
      if (i >= kWhole) continue;
      f32 x[8];
#pragma unroll
      for (i32 e = 0; e < 4; ++e) {
        const u32 v = k < kMine ? held[k < kMine ? k : 0][m].e[e] : 0u;
        x[2 * e] = low(v) * shrink;
        x[2 * e + 1] = high(v) * shrink;
#if $NORM$
        if (i < kVectors) { x[2 * e] *= low(scale[k < kMine ? k : 0].e[e]); x[2 * e + 1] *= high(scale[k < kMine ? k : 0].e[e]); }
#endif
      }
      const i32 r = i % (32 * kShare), at = i / (32 * kShare) * (32 * kShare) + r % kShare * 32 + r / kShare;
#if $BITS$ == 8
      xs[m * kWhole + at] = {{half2_of(x[0], x[1]), half2_of(x[2], x[3]), half2_of(x[4], x[5]), half2_of(x[6], x[7])}};
#else
      xs[m * kWhole + at] = {{half2_of(x[0], x[4]), half2_of(x[1], x[5]), half2_of(x[2], x[6]), half2_of(x[3], x[7])}};
#endif
    }
  }
  __syncthreads();
#endif
#else
  for (i32 i = t; i < kWhole; i += 512) {
#pragma unroll
    for (i32 m = 0; m < M; ++m) {
      V4 v = {{0, 0, 0, 0}};
      if (i < kVectors && m < p.rows) v = load_fresh((const V4*)p.x + m * kVectors + i);
      xs[m * kWhole + i] = v;
    }
  }
  __syncthreads();
#pragma unroll
  for (i32 m = 0; m < M; ++m) factor[m] = 1.0f;
#endif

  const u32 x_at = shared_address(xs) + u32(lane) * 16;
  i32 take = 0;
  u32 phase = 0;
  for (i64 r = first; r < p.n; r += step) {
    const i64 mine = lane < M && lane < p.rows ? lane : 0;
    $LOADS$
    f32 sum[$C$][M];
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) {
#pragma unroll
      for (i32 m = 0; m < M; ++m) sum[c][m] = 0.0f;
#pragma unroll 1
      for (i32 block = 0; block < kBlocks; ++block) {
        barrier_wait(bars + take * 8, phase);
        V4 w[4];
        const u32 slot = ring + take * kSlotBytes;
#pragma unroll
        for (i32 v = 0; v < 4; ++v) w[v] = load_shared(slot + v * 512 + lane * 16);
#if $BITS$ < 16
        f32 by[4];
#pragma unroll
        for (i32 v = 0; v < 4; ++v) {
          T scale_of_group;
          asm volatile("ld.shared.u16 %0, [%1];" : "=h"(scale_of_group.v) : "r"(slot + 2048 + (v * 32 + lane) * (128 / kBits) / kBlock * 2) : "memory");
          by[v] = ld(scale_of_group);
        }
#endif
        __syncwarp();
        issue();
        if (++take == slots) { take = 0; phase ^= 1; }
#pragma unroll
        for (i32 v = 0; v < 4; ++v) {
          const i32 i = (block * 128 + v * 32 + lane) * kShare;
          if (kVectors % (128 * kShare) != 0 && i >= kVectors) continue;
#pragma unroll
          for (i32 m = 0; m < M; ++m) {
            const u32 at = x_at + u32(m * kWhole + (block * 128 + v * 32) * kShare) * 16;
#if $BITS$ < 16
            sum[c][m] = fmaf(packed_dot(w[v], at), by[v], sum[c][m]);
#else
            const V4 x = load_shared(at);
            f32 a = 0.0f, b = 0.0f;
#pragma unroll
            for (i32 e = 0; e < 4; ++e) {
              a = fmaf(low(w[v].e[e]), low(x.e[e]), a);
              b = fmaf(high(w[v].e[e]), high(x.e[e]), b);
            }
            sum[c][m] += a + b;
#endif
          }
        }
      }
    }
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) {
#pragma unroll
      for (i32 m = 0; m < M; ++m) sum[c][m] = sum_of_warp(sum[c][m]) * factor[m] * f32(p.alpha[c]);
    }
    f32 my[$C$];
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) {
      my[c] = sum[c][0];
#pragma unroll
      for (i32 m = 1; m < M; ++m) my[c] = mine == m ? sum[c][m] : my[c];
    }
    if (lane < M && lane < p.rows) st(p.y[mine * p.n + r], finish($CALL$));
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
