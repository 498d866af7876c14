// SPDX-License-Identifier: Apache-2.0
// A block computes 128 rows by kN columns at a time: one thread has the copy engine bring rows of a
// and b, 64 numbers deep, into a ring; two warpgroups multiply them, 64 rows each, and finish their
// results while the ring fills again. Two blocks with tiles below each other form a cluster, and
// each brings half of b to both.
#include "backends/gpu/product_tiles.h"

namespace nef::gpu {

const char* const kProductTilesText = R"device(
namespace product_tiles {
typedef $T$ T;
constexpr i32 kN = $N$, kStages = $STAGES$, kCluster = $CLUSTER$, kColumns = $COLUMNS$;
constexpr i32 kGroups = kN / 8, kTogether = 4;  // eights of columns, and of them what is finished at once
constexpr u32 kA = 128 * 128, kB = kN * 128, kPitch = kN * 2 + 16;
struct alignas(64) TilesP { TileMap a; TileMap b; T* y; const T* same; $EXTERNALS$ i64 m; i64 n; i64 steps; i64 row_tiles; i64 tiles; i64 early; };
$WGMMA$
DEV void copy16(u32 to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory"); }
DEV u32 load4(u32 at) { u32 r; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(at) : "memory"); return r; }
DEV void store4(u32 at, u32 v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }
DEV u32 pair_of(f32 a, f32 b) { u32 r; asm("cvt.rn.$TYPE$x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
DEV f32 first(u32 pair) { const T v = {u16(pair)}; return ld(v); }
DEV f32 second(u32 pair) { const T v = {u16(pair >> 16)}; return ld(v); }
DEV f32 region($ARGS$) {
$BODY$}

extern "C" __global__ void __launch_bounds__(384, 1) product_tiles(const __grid_constant__ TilesP p) {
  extern __shared__ __align__(1024) u8 memory[];
  const u32 ring = (shared_address(memory) + 1023) / 1024 * 1024, staging = ring + kStages * (kA + kB);
  const u32 rows_of_columns = staging + 128 * kPitch, full = rows_of_columns + 8 * kColumns * kN * 2, empty = full + 8 * kStages;
  const i32 t = i32(threadIdx.x), lane = t % 32, worker = t / 128 - 1;
  const i32 rank = i32(blockIdx.x) % kCluster, first_tile = i32(blockIdx.x) / kCluster, at_once = i32(gridDim.x) / kCluster;
  const i32 tiles = i32(p.tiles), row_tiles = i32(p.row_tiles), steps = i32(p.steps);
  if (t == 0) {
    for (i32 i = 0; i < kStages; ++i) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, 8 * kCluster);
    }
    barrier_inits_seen();
  }
  if (kCluster == 1) __syncthreads();
  else meet_cluster();
  nef_let_next_begin();
  if (worker < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 0) {
      const auto bring_b = [&](u32 stage, i32 tile, i32 step) {
        const u32 bar = full + 8 * stage, to = ring + stage * (kA + kB) + kA;
        barrier_expect(bar, kA + kB);
        const i32 row = tile / row_tiles * kN;
        if (kCluster == 1) copy_tile(to, &p.b, step * 64, row, 0, 0, bar);
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
            barrier_wait(empty + 8 * stage, (s / kStages + 1) & 1u);
            bring_b(stage, tile, step);
          }
          copy_tile(ring + stage * (kA + kB), &p.a, step * 64, row, 0, 0, full + 8 * stage);
        }
      }
      // A block must not go while the other one may reach into its memory.
      for (i32 i = 0; i < kStages; ++i, ++s) barrier_wait(empty + 8 * (s % kStages), (s / kStages + 1) & 1u);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    nef_wait();
    const i32 warp = t % 128 / 32;
    const u32 own = staging + u32(worker * 4 + warp) * 16 * kPitch, mine = own + lane / 4 * kPitch + lane % 4 * 4;
    const u32 columns = rows_of_columns + u32(worker * 4 + warp) * kColumns * kN * 2;
    f32 sums[kN / 2];
    u32 s = 0;
    for (i32 tile = first_tile; tile < tiles; tile += at_once) {
      const i32 column0 = tile / row_tiles * kN, row0 = (tile % row_tiles * kCluster + rank) * 128 + worker * 64 + warp * 16;
      // What is added comes while the product is computed: a row of numbers for the columns, or the
      // same number for all, and the warp's sixteen rows of a tensor of the result's shape.
      const auto bring_columns = [&](const T* from, i64 dense, i32 which) {
        for (i32 i = lane; i < kGroups; i += 32) {
          const u32 to = columns + which * kN * 2 + i * 16;
          if (!dense) {
            const u32 v = u32(from->v) * 0x10001u;
            for (i32 e = 0; e < 4; ++e) store4(to + e * 4, v);
          } else if (column0 + i * 8 < p.n) copy16(to, from + column0 + i * 8);
        }
      };
      $BRING$
      if ($SAME$) {
#pragma unroll 4
        for (i32 i = lane; i < 16 * kGroups; i += 32) {
          const i64 row = row0 + i / kGroups, column = column0 + i % kGroups * 8;
          if (row < p.m && column < p.n) copy16(own + i / kGroups * kPitch + i % kGroups * 16, p.same + row * p.n + column);
        }
      }
      for (i32 step = 0; step < steps; ++step, ++s) {
        const u32 stage = s % kStages, a = ring + stage * (kA + kB) + worker * 8192, b = ring + stage * (kA + kB) + kA;
        barrier_wait(full + 8 * stage, (s / kStages) & 1u);
        group_begin();
#pragma unroll
        for (i32 k = 0; k < 4; ++k) multiply(sums, matrix(a + k * 32, 16), matrix(b + k * 32, 16), step > 0 || k > 0);
        group_end();
        if (step > 0) {
          group_wait<1>();
          if (lane < kCluster) arrive_at(empty + 8 * ((s - 1) % kStages), lane);
        }
      }
      group_wait<0>();
      if (lane < kCluster) arrive_at(empty + 8 * ((s - 1) % kStages), lane);
      keep(sums);
      asm volatile("cp.async.wait_all;" ::: "memory");
      __syncwarp();
#pragma unroll
      for (i32 g = 0; g < kGroups; g += kTogether) {
        u32 same[kTogether][2], pairs[kTogether][2];
        $DECLARE$
#pragma unroll
        for (i32 j = 0; j < kTogether; ++j) {
          $LOADS$
          for (i32 e = 0; e < 2; ++e) same[j][e] = $SAME$ ? load4(mine + e * 8 * kPitch + (g + j) * 16) : 0;
        }
#pragma unroll
        for (i32 j = 0; j < kTogether; ++j) {
#pragma unroll
          for (i32 e = 0; e < 2; ++e) {
            const f32 sum0 = sums[4 * (g + j) + 2 * e], sum1 = sums[4 * (g + j) + 2 * e + 1];
            pairs[j][e] = pair_of(region($FIRST$), region($SECOND$));
          }
        }
#pragma unroll
        for (i32 j = 0; j < kTogether; ++j) {
          for (i32 e = 0; e < 2; ++e) store4(mine + e * 8 * kPitch + (g + j) * 16, pairs[j][e]);
        }
      }
      __syncwarp();
      constexpr i32 kBatch = kGroups / 2 % 4 == 0 ? 4 : 2;
#pragma unroll
      for (i32 i0 = 0; i0 < kGroups / 2; i0 += kBatch) {
        V4 v[kBatch];
#pragma unroll
        for (i32 j = 0; j < kBatch; ++j) {
          const i32 i = (i0 + j) * 32 + lane;
          v[j] = load_shared(own + i / kGroups * kPitch + i % kGroups * 16);
        }
#pragma unroll
        for (i32 j = 0; j < kBatch; ++j) {
          const i32 i = (i0 + j) * 32 + lane;
          const i64 row = row0 + i / kGroups, column = column0 + i % kGroups * 8;
          if (row < p.m && column < p.n) *(V4*)(p.y + row * p.n + column) = v[j];
        }
      }
      __syncwarp();
    }
  }
}
}  // namespace product_tiles
)device";

}  // namespace nef::gpu
