// SPDX-License-Identifier: Apache-2.0
// A block computes 128 rows by kN columns at a time: one thread has the copy engine bring rows of a
// and b, 64 numbers deep, into a ring; two warpgroups multiply them, 64 rows each, and leave the
// sums, as 16 bits, to a third one that computes what is behind the product while they multiply
// the next tile. All three finish the last tile. Two blocks with tiles below each other form a
// cluster, and each brings half of b to both.
#include "backends/gpu/product_tiles.h"

namespace nef::gpu {

const char* const kProductTilesText = R"device(
namespace product_tiles {
typedef $T$ T;
constexpr i32 kN = $N$, kStages = $STAGES$, kCluster = $CLUSTER$;
constexpr i32 kGroups = kN / 8, kTogether = 2;  // eights of columns; rows finished at once
constexpr u32 kA = 128 * 128, kB = kN * 128, kPitch = kN * 2 + 16;
struct alignas(64) TilesP { TileMap a; TileMap b; T* y; const T* same; $EXTERNALS$ i64 m; i64 n; i64 steps; i64 row_tiles; i64 tiles; i64 early; };
$WGMMA$
DEV void store4(u32 at, u32 v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }
DEV u32 pair_of(f32 a, f32 b) { u32 r; asm("cvt.rn.$TYPE$x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
DEV f32 first(u32 pair) { const T v = {u16(pair)}; return ld(v); }
DEV f32 second(u32 pair) { const T v = {u16(pair >> 16)}; return ld(v); }
DEV f32 region($ARGS$) {
$BODY$}

struct Places { u32 ring, sums, full, empty, there, taken; };

// One thread: rows of a and b for every step of the block's tiles.
DEV void bring_tiles(const TilesP& p, const Places& at, i32 rank, i32 first_tile, i32 at_once) {
  const i32 tiles = i32(p.tiles), row_tiles = i32(p.row_tiles), steps = i32(p.steps);
  // What nothing reads again shall not take the place of what is read again.
  const u64 policy = read_once_policy();
  const auto bring_b = [&](u32 stage, i32 tile, i32 step) {
    const u32 bar = at.full + 8 * stage, to = at.ring + stage * (kA + kB) + kA;
    barrier_expect(bar, kA + kB);
    const i32 row = tile / row_tiles * kN;
    if (kCluster == 1) copy_tile(to, &p.b, step * 64, row, 0, 0, bar);
    else if ($ONCE_B$) copy_shared_tile<kCluster>(to + rank * (kB / kCluster), &p.b, step * 64, row + rank * (kN / kCluster), bar, policy);
    else copy_shared_tile<kCluster>(to + rank * (kB / kCluster), &p.b, step * 64, row + rank * (kN / kCluster), bar);
  };
  // Constants are there before the kernel in front of this one is done.
  const i32 ahead = p.early ? (steps < kStages ? steps : kStages) : 0;
  if (first_tile < tiles) {
    for (i32 s = 0; s < ahead; ++s) bring_b(s, first_tile, s);
  }
  nef_wait();
  asm volatile("fence.proxy.async.global;" ::: "memory");
  u32 s = 0;
  for (i32 tile = first_tile; tile < tiles; tile += at_once) {
    const i32 row = (tile % row_tiles * kCluster + rank) * 128;
    for (i32 step = 0; step < steps; ++step, ++s) {
      const u32 stage = s % kStages;
      if (s >= u32(ahead)) {
        barrier_wait(at.empty + 8 * stage, (s / kStages + 1) & 1u);
        bring_b(stage, tile, step);
      }
      if ($ONCE_A$) copy_tile(at.ring + stage * (kA + kB), &p.a, step * 64, row, 0, 0, at.full + 8 * stage, policy);
      else copy_tile(at.ring + stage * (kA + kB), &p.a, step * 64, row, 0, 0, at.full + 8 * stage);
    }
  }
  // A block must not go while the other one may reach into its memory.
  for (i32 i = 0; i < kStages; ++i, ++s) barrier_wait(at.empty + 8 * (s % kStages), (s / kStages + 1) & 1u);
}

// A warpgroup's 64 rows of a tile; `s` counts the steps of all tiles.
DEV void multiply_tile(f32 (&sums)[kN / 2], const Places& at, i32 worker, i32 lane, i32 steps, u32& s) {
  for (i32 step = 0; step < steps; ++step, ++s) {
    const u32 stage = s % kStages, a = at.ring + stage * (kA + kB) + worker * 8192, b = at.ring + stage * (kA + kB) + kA;
    barrier_wait(at.full + 8 * stage, (s / kStages) & 1u);
    group_begin();
#pragma unroll
    for (i32 k = 0; k < 4; ++k) multiply(sums, matrix(a + k * 32, 16), matrix(b + k * 32, 16), step > 0 || k > 0);
    group_end();
    if (step > 0) {
      group_wait<1>();
      if (lane < kCluster) arrive_at(at.empty + 8 * ((s - 1) % kStages), lane);
    }
  }
  group_wait<0>();
  if (lane < kCluster) arrive_at(at.empty + 8 * ((s - 1) % kStages), lane);
  keep(sums);
}

// A thread's share of a tile, of which kTakers threads take all: eight columns of every kAtOnce'th row.
template <i32 kTakers> constexpr i32 kAtOnce = kTakers / kGroups;
template <i32 kTakers> constexpr i32 kTimes = (128 + kAtOnce<kTakers> - 1) / kAtOnce<kTakers>;
struct Share { i64 at; i32 row, group, rows; };  // its first number in y; within the tile; rows of the tile, 0 where it is empty
template <i32 kTakers> DEV Share share_of(const TilesP& p, i32 taker, i32 row0, i32 column0) {
  const i32 row = taker / kGroups, group = taker % kGroups, column = column0 + group * 8;
  const bool some = row < kAtOnce<kTakers> && column < p.n && row0 < p.m;
  return {i64(row0) * p.n + column, row, group, !some ? 0 : p.m - row0 < 128 ? i32(p.m - row0) : 128};
}
// Rows that are not there are the last one.
template <i32 kTakers> DEV i32 row_at(const Share& share, i32 time) {
  const i32 row = share.row + time * kAtOnce<kTakers>;
  return row < share.rows ? row : share.rows - 1;
}
template <i32 kTakers> DEV V4 same_at(const TilesP& p, const Share& share, i32 time) {
  return load_fresh(p.same + share.at + row_at<kTakers>(share, time) * p.n);
}

// What is behind the product, as soon as the sums are there.
template <i32 kTakers, class F> DEV void finish_tile(const TilesP& p, const Places& at, u32 phase, const Share& share, i32 column0, const F& same_of) {
  const auto columns_of = [&](const T* from, i64 dense) {
    V4 v;
    if (dense) return load_fresh(from + column0 + share.group * 8);
    for (i32 e = 0; e < 4; ++e) v.e[e] = u32(from->v) * 0x10001u;
    return v;
  };
  $DECLARE$
  if (share.rows > 0) {
    $BRING$
  }
  barrier_wait(at.there, phase);
  if (share.rows == 0) return;
#pragma unroll (kTakers == 128 ? 1 : 8)
  for (i32 time = 0; time < kTimes<kTakers>; time += kTogether) {
    V4 v[kTogether], same[kTogether];
#pragma unroll
    for (i32 j = 0; j < kTogether; ++j) {
      v[j] = load_shared(at.sums + row_at<kTakers>(share, time + j) * kPitch + share.group * 16);
      if ($SAME$) same[j] = same_of(time + j);
    }
#pragma unroll
    for (i32 j = 0; j < kTogether; ++j) {
#pragma unroll
      for (i32 e = 0; e < 4; ++e) {
        const f32 sum0 = first(v[j].e[e]), sum1 = second(v[j].e[e]);
        v[j].e[e] = pair_of(region($FIRST$), region($SECOND$));
      }
    }
#pragma unroll
    for (i32 j = 0; j < kTogether; ++j) *(V4*)(p.y + share.at + row_at<kTakers>(share, time + j) * p.n) = v[j];
  }
}

extern "C" __global__ void __launch_bounds__(512, 1) product_tiles(const __grid_constant__ TilesP p) {
  extern __shared__ __align__(1024) u8 memory[];
  Places at;
  at.ring = (shared_address(memory) + 1023) / 1024 * 1024;
  at.sums = at.ring + kStages * (kA + kB);
  at.full = at.sums + 128 * kPitch;
  at.empty = at.full + 8 * kStages;
  at.there = at.empty + 8 * kStages;
  at.taken = at.there + 8;
  const i32 t = i32(threadIdx.x), lane = t % 32, worker = t / 128 - 1;
  const i32 rank = i32(blockIdx.x) % kCluster, first_tile = i32(blockIdx.x) / kCluster, at_once = i32(gridDim.x) / kCluster;
  const i32 tiles = i32(p.tiles), row_tiles = i32(p.row_tiles), steps = i32(p.steps);
  if (t == 0) {
    for (i32 i = 0; i < kStages; ++i) {
      barrier_init(at.full + 8 * i, 1);
      barrier_init(at.empty + 8 * i, 8 * kCluster);
    }
    barrier_init(at.there, 256);
    barrier_init(at.taken, 128);
    barrier_inits_seen();
  }
  if (kCluster == 1) __syncthreads();
  else meet_cluster();
  nef_let_next_begin();
  if (worker < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 0) bring_tiles(p, at, rank, first_tile, at_once);
    return;
  }
  const auto row_of = [&](i32 tile) { return (tile % row_tiles * kCluster + rank) * 128; };
  const auto column_of = [&](i32 tile) { return tile / row_tiles * kN; };
  const i32 last_tile = first_tile + (tiles - 1 - first_tile) / at_once * at_once;
  const Share last = share_of<384>(p, t - 128, row_of(last_tile), column_of(last_tile));
  V4 same[kTimes<384>];
  // What is added to the last tile comes before its sums are there.
  const auto bring_same = [&] {
    if (!$SAME$ || last.rows == 0) return;
#pragma unroll
    for (i32 i = 0; i < kTimes<384>; ++i) same[i] = same_at<384>(p, last, i);
  };
  u32 turn = 0;
  if (worker == 2) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 152;");
    nef_wait();
    for (i32 tile = first_tile; tile < last_tile; tile += at_once, turn ^= 1) {
      const Share share = share_of<128>(p, t % 128, row_of(tile), column_of(tile));
      finish_tile<128>(p, at, turn, share, column_of(tile), [&](i32 time) { return same_at<128>(p, share, time); });
      barrier_arrive(at.taken);
    }
    bring_same();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    nef_wait();
    const u32 mine = at.sums + u32(worker * 64 + t % 128 / 32 * 16 + lane / 4) * kPitch + lane % 4 * 4;
    f32 sums[kN / 2];
    u32 s = 0;
    for (i32 tile = first_tile;; tile += at_once, turn ^= 1) {
      if (tile == last_tile) bring_same();
      multiply_tile(sums, at, worker, lane, steps, s);
      if (tile != first_tile) barrier_wait(at.taken, turn ^ 1);
#pragma unroll
      for (i32 g = 0; g < kGroups; ++g) {
        for (i32 e = 0; e < 2; ++e) store4(mine + e * 8 * kPitch + g * 16, pair_of(sums[4 * g + 2 * e], sums[4 * g + 2 * e + 1]));
      }
      barrier_arrive(at.there);
      if (tile == last_tile) break;
    }
  }
  finish_tile<384>(p, at, turn, last, column_of(last_tile), [&](i32 time) { return same[time]; });
}
}  // namespace product_tiles
)device";

}  // namespace nef::gpu
