// SPDX-License-Identifier: Apache-2.0
// The kernels of decode.cc for very few rows. Weights of 16 bits are multiplied as floats; those of
// 8 bits as 16-bit floats in short sums; those of 4 bits by tensor cores, which sum them as floats
// and leave little to do for each.
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
// Sums of products with weights of 4 bits are so many times too small.
constexpr f32 kUnit = kBits == 4 ? 1048576.0f : 1.0f;
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
#if $BITS$ == 8
// Sixteen bytes of weights times numbers of x: whole numbers in 16-bit floats, in short sums.
DEV f32 packed_dot(const V4& w, const V4 (&x)[kShare]) {
  u32 a = 0, b = 0;
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
  return total(a) + total(b);
}
#else
// Weights of 4 bits as they are in memory, 0 to 15, in the last bits of 16-bit floats: these are
// subnormal numbers, in units of 2^-24, or of 2^-20 four bits further up. Numbers of x that meet
// the former are 16 times as large. What the 8 in each weight is too much comes off the sum of a
// block.
constexpr f32 kEight = 8.0f / kUnit;
DEV V4 packed_x(const f32 (&x)[8]) {
  return {{half2_of(16.0f * x[0], 16.0f * x[4]), half2_of(x[1], x[5]), half2_of(16.0f * x[2], 16.0f * x[6]), half2_of(x[3], x[7])}};
}
DEV f32 eights_of(const V4& v) { return ((total(v.e[0]) + total(v.e[2])) * 0.0625f + total(v.e[1]) + total(v.e[3])) * kEight; }
DEV V4 load_matrices(u32 p) {
  V4 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r.e[0]), "=r"(r.e[1]), "=r"(r.e[2]), "=r"(r.e[3]) : "r"(p) : "memory");
  return r;
}
DEV void multiply_nibbles(f32 (&d)[4], u32 w0, u32 w1, u32 x0, u32 x1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(w0 & 0x000f000fu), "r"(w1 & 0x000f000fu), "r"(w0 & 0x00f000f0u), "r"(w1 & 0x00f000f0u), "r"(x0), "r"(x1));
}
// The sums of 32 blocks of two rows with each of M of x, one of each a lane. Eight blocks are
// multiplied at a time: rows 0 to 7 of the matrix of weights are those of the first row, 8 to 15
// those of the second; the columns of the other are their numbers of x. Of the products of all with
// all those of a block with itself count. Where x lies moves them by two columns a step, so that in
// four steps each lane gets one: in step `own_step`.
template <int M> DEV void block_sums(f32 (&sums)[M][2], const V4 (&w)[2], u32 x, i32 own_step, bool odd) {
  constexpr i32 kTogether = M == 1 ? 2 : 1;  // steps: a product waits for the one before it
  f32 kept[M][4];
#pragma unroll
  for (i32 from = 0; from < 4; from += kTogether) {
    f32 d[kTogether][M][4];
#pragma unroll
    for (i32 part = 0; part < 2; ++part) {
#pragma unroll
      for (i32 s = 0; s < kTogether; ++s) {
        const i32 step = from + s;
        const u32 w0 = w[step / 2].e[step % 2 * 2] >> 8 * part, w1 = w[step / 2].e[step % 2 * 2 + 1] >> 8 * part;
#pragma unroll
        for (i32 m = 0; m < M; ++m) {
          if (part == 0) d[s][m][0] = d[s][m][1] = d[s][m][2] = d[s][m][3] = 0.0f;
          u32 x0, x1;
          asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x0), "=r"(x1) : "r"(x + u32(m * kWhole + step * 32) * 16 + 8 * part) : "memory");
          multiply_nibbles(d[s][m], w0, w1, x0, x1);
        }
      }
    }
#pragma unroll
    for (i32 s = 0; s < kTogether; ++s) {
#pragma unroll
      for (i32 m = 0; m < M; ++m) {
#pragma unroll
        for (i32 e = 0; e < 4; ++e) if (from + s == 0 || from + s == own_step) kept[m][e] = d[s][m][e];
      }
    }
  }
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    sums[m][0] = odd ? kept[m][1] : kept[m][0];
    sums[m][1] = odd ? kept[m][3] : kept[m][2];
  }
}
// Of an infinite sum no eights come off: it is made number by number.
DEV f32 exact_sum(const u8* w, const T* scales, const T* x, i32 lane) {
  f64 sum = 0;
#pragma unroll 1
  for (i32 k = lane; k < $K$; k += 32) {
    T v;
    v.v = *(const volatile u16*)&x[k].v;
    sum += f64((w[k / 2] >> k % 2 * 4 & 15) - 8) * f64(ld(scales[k / kBlock])) * f64(ld(v));
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) sum += nef_xor(sum, mask);
  return f32(sum);
}
#endif
// Scales go four or eight bytes a lane.
constexpr i32 kScalePiece = kPair * kRowScales >= 256 ? 8 : 4, kScaleLanes = (kByRow ? kAllScales : kRowScales) / kScalePiece;
DEV void copy_scales(u32 to, const u8* from) { asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kScalePiece) : "memory"); }
// Do sums of numbers of at most this size stay within 16-bit floats, and lose nothing?
DEV bool suits(f32 largest) { return largest == 0.0f || (largest >= 0.00390625f && largest <= 32.0f) || largest - largest != 0.0f; }
DEV void scales_arrive(u32 bar) { asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory"); }
#endif

// The root of the mean of squares, of which each warp has a sum.
DEV f32 norm_of(const f32* squares, f32 epsilon) {
  f32 sum = 0.0f;
#pragma unroll
  for (i32 w = 0; w < 4; ++w) {
    const V4 s = load_shared(shared_address(squares + w * 4));
    sum += f32_of(s.e[0]) + f32_of(s.e[1]) + f32_of(s.e[2]) + f32_of(s.e[3]);
  }
  return sqrtf(sum / f32($K$) + epsilon);
}

template <int M> DEV void gemv(const GemvP& p) {
  extern __shared__ __align__(128) u8 memory[];
  const i32 t = i32(threadIdx.x), warp = first_lane(t / 32), lane = t % 32, slots = i32(p.slots), n = i32(p.n);
  const u32 ring = shared_address(memory) + u32(warp * slots) * kSlotBytes;
  V4* xs = (V4*)(memory + 16 * slots * kSlotBytes);
  f32* squares = (f32*)(xs + M * kWhole);  // [M][16] of warps, and [M][16] their largest
  f32* eights = squares + 32 * M;         // [M] of blocks, by weights of 4 bits
  const u32 bars = shared_address(eights + (kBits == 4 ? M * kWhole / 4 : 0)) + u32(warp * slots * 8);
  [[maybe_unused]] const u32 row_scales = shared_address(eights) + u32(16 * slots * 8) + u32(warp * kScaleRows) * kAllScales;
  const i32 first = (warp * i32(gridDim.x) + i32(blockIdx.x)) * kPair, step = i32(gridDim.x) * 16 * kPair;
  nef_let_next_begin();

  const u64 policy = read_once_policy();
  i32 ahead = first, ahead_block = 0, ahead_matrix = 0, fill = 0, fill_row = 0;  // where the next copy comes from
  // Into a slot of which `seen` was read.
  const auto issue = [&](u32 seen) {
    if (ahead >= n) return;
    const bool last = ahead_block == kBlocks - 1, second = $C$ > 1 && ahead_matrix == 1;
    const u32 to = ring + fill * kSlotBytes, bar = bars + fill * 8;
    const i32 elements = last ? kLast : kElements;
    if (elected()) {
      const i32 bytes = elements * kBits / 8;
      const u8* w = (second ? p.w[$C$ - 1] : p.w[0]) + ahead_block * kRowBytes;
      barrier_expect(bar, behind(bytes * kPair, seen));
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
  for (i32 i = 0; i < slots; ++i) issue(0);
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
#if $BITS$ == 4
    const V4 packed = packed_x(x);
    xs[m * kWhole + (i ^ i / 32 % 4 * 8)] = packed;
    f32 eight = eights_of(packed);  // of a block: four threads
    eight += nef_xor(eight, 1);
    eight += nef_xor(eight, 2);
    if (t % 4 == 0) eights[(m * kWhole + i) / 4] = eight;
#else
    const i32 r = i % (32 * kShare), at = i / (32 * kShare) * (32 * kShare) + r % kShare * 32 + r / kShare;
    xs[m * kWhole + at] = {{half2_of(x[0], x[1]), half2_of(x[2], x[3]), half2_of(x[4], x[5]), half2_of(x[6], x[7])}};
#endif
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
  [[maybe_unused]] bool again = false, infinite = false;
#pragma unroll
  for (i32 m = 0; m < M; ++m) {
    factor[m] = kUnit / kFirst;
#if $NORM$
    factor[m] /= norm_of(squares + m * 32, f32(p.epsilon));
#endif
#if $BITS$ < 16
    f32 largest = 0.0f;
#pragma unroll
    for (i32 w = 0; w < 4; ++w) {
      const V4 l = load_shared(shared_address(squares + m * 32 + 16 + w * 4));
#pragma unroll
      for (i32 e = 0; e < 4; ++e) largest = fmaxf(largest, f32_of(l.e[e]));
    }
    most[m] = largest;
    again = again || !suits(largest * kFirst);
    infinite = infinite || largest - largest != 0.0f;
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
#if $BITS$ == 4
  // Blocks of which this lane has sums, and where those of its matrices lie that it names.
  const i32 own_step = lane % 4 ^ lane / 8, first_block = own_step * 8 + lane / 4;
  const u32 named = u32(lane / 8 % 2 * kRowBytes + lane / 16 * 128 + lane % 8 * 16);
  const u32 eights_at = shared_address(eights + first_block);
#endif
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
        const u32 slot = ring + take * kSlotBytes;
#if $BITS$ != 4
        V4 w[kPair][kRowVectors];
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
#endif
        const auto read = [&](u32 seen) {
          __syncwarp();
          issue(seen);
          if (++take == slots) { take = 0; phase ^= 1; }
        };
#if $BITS$ == 4
#pragma unroll
        for (i32 half = 0; half < 2; ++half) {
          V4 w[2];
          T by[2];
#pragma unroll
          for (i32 q = 0; q < 2; ++q) {
            w[q] = load_matrices(slot + named + (half * 2 + q) * 256);
            asm volatile("ld.shared.u16 %0, [%1];" : "=h"(by[q].v) : "r"(slot + 2048 + q * kRowScales + half * 64 + first_block * 2) : "memory");
          }
          if (half == 1) read(w[0].e[0] | w[1].e[0] | by[0].v | by[1].v);
          const i32 i = (block * 2 + half) * 128;
          if (kVectors % 256 != 0 && i >= kVectors) continue;
          const bool there = kVectors % 128 == 0 || i / 4 + first_block < kVectors / 4;
          f32 sums[M][2];
          block_sums<M>(sums, w, x_at + u32(i) * 16, own_step, lane / 4 % 2 != 0);
#pragma unroll
          for (i32 m = 0; m < M; ++m) {
            f32 eight;
            asm volatile("ld.shared.f32 %0, [%1];" : "=f"(eight) : "r"(eights_at + u32(m * kWhole + i)) : "memory");
#pragma unroll
            for (i32 q = 0; q < 2; ++q) sum[c][q][m] = fmaf(sums[m][q] - eight, there ? ld(by[q]) : 0.0f, sum[c][q][m]);
          }
        }
#else
        u32 seen = 0;
#pragma unroll
        for (i32 v = 0; v < 4; ++v) {
          seen |= w[v / kRowVectors][v % kRowVectors].e[0];
#if $BITS$ < 16
          seen |= by[v / kRowVectors][v % kRowVectors].v;
#endif
        }
        read(seen);
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
#endif
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
#if $BITS$ == 4 && !$NORM$
#pragma unroll 1
    for (i32 i = 0; infinite && i < $C$ * kPair * M; ++i) {
      const i32 m = i % M, q = i / M % kPair, c = i / (M * kPair);
      if (m >= p.rows || row + q >= n) continue;
      const u8* w = (c > 0 ? p.w[$C$ - 1] : p.w[0]) + i64(row + q) * ($K$ / 2);
      const f32 all = exact_sum(w, (c > 0 ? p.scales[$C$ - 1] : p.scales[0]) + i64(row + q) * ($K$ / kBlock), p.x + i64(m) * $K$, lane) * f32(c > 0 ? p.alpha[$C$ - 1] : p.alpha[0]);
      if (lane != m * kPair + q) continue;
      if (c > 0) my[$C$ - 1] = all;
      else my[0] = all;
    }
#endif
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
