// SPDX-License-Identifier: Apache-2.0
// float32 on tensor cores: a number is the sum of three of bfloat16, each what rounding left of the
// one before it, so that six products of such pieces are a product of float32 but for 2^-24 of it.
// Tensor cores cut off what they add up: the large products of 64 numbers, which need no more than
// 24 bits, and then the small ones start anew, and are added to sums that round.
//
// `split_pieces` makes the pieces of b. In `product_pieces` a block computes 128 rows by kN columns
// at a time: one thread has the copy engine bring a and the pieces of b into a ring, and two
// warpgroups split their rows of a in registers. Two blocks with tiles below each other form a
// cluster, and each brings half of b to both.
#include "backends/gpu/product_pieces.h"

namespace nef::gpu {

const char* const kProductPiecesText = R"device(
namespace product_pieces {
constexpr i32 kN = $N$, kStages = $STAGES$, kCluster = 2;
constexpr i32 kGroups = kN / 8, kTogether = 2;  // eights of columns, and of them what is finished at once
constexpr i32 kWords = (kN / 2 + 31) / 32;
constexpr u32 kHalfA = 128 * 128, kA = 2 * kHalfA, kPiece = kN * 128, kB = 3 * kPiece;
constexpr f32 kLargest = 3.402823466e38f;
// Bits of 2^-110: the last piece of what is smaller has not all of its bits.
constexpr u32 kTiny = 17u << 23;
struct alignas(8) Pair { f32 x, y; };
struct alignas(64) PiecesP { TileMap a; TileMap b; f32* y; const f32* same; $EXTERNALS$ i64 m; i64 n; i64 k; i64 steps; i64 row_tiles; i64 tiles;
  const f32* left; const f32* right; i64 b_row; i64 b_column; const u32* extremes; i64 extents; };
$WGMMA$
DEV u32 pair_of(f32 a, f32 b) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
// What rounding to a pair of bfloat16 leaves.
DEV void take_off(f32& a, f32& b, u32 pair) {
  a -= f32_of(pair << 16);
  b -= f32_of(pair & 0xffff0000u);
}
DEV f32 region($ARGS$) {
$BODY$}
DEV f32 value_at(const f32* from, i64 dense, i64 column) { return from[dense ? column : 0]; }
DEV Pair pair_at(const f32* from, i64 dense, i64 column) {
  if (dense) return *(const Pair*)(from + column);
  return {*from, *from};
}
DEV f32 whole_sum(const PiecesP& p, i64 row, i64 column) {
  f32 sum = 0.0f;
  for (i64 k = 0; k < p.k; ++k) sum = fmaf(p.left[row * p.k + k], p.right[k * p.b_row + column * p.b_column], sum);
  return sum;
}

extern "C" __global__ void __launch_bounds__(384, 1) product_pieces(const __grid_constant__ PiecesP p) {
  extern __shared__ __align__(1024) u8 memory[];
  const u32 ring = (shared_address(memory) + 1023) / 1024 * 1024, full = ring + kStages * (kA + kB), empty = full + 8 * kStages;
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
  meet_cluster();
  nef_let_next_begin();
  nef_wait();
  if (worker < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 0) {
      asm volatile("fence.proxy.async.global;" ::: "memory");
      u32 s = 0;
      for (i32 tile = first_tile; tile < tiles; tile += at_once) {
        const i32 row = (tile % row_tiles * kCluster + rank) * 128, column = tile / row_tiles * kN + rank * (kN / kCluster);
        for (i32 step = 0; step < steps; ++step, ++s) {
          const u32 stage = s % kStages, bar = full + 8 * stage, a = ring + stage * (kA + kB), b = a + kA + rank * (kPiece / kCluster);
          barrier_wait(empty + 8 * stage, (s / kStages + 1) & 1u);
          barrier_expect(bar, kA + kB);
          for (i32 h = 0; h < 2; ++h) copy_tile(a + h * kHalfA, &p.a, step * 64 + h * 32, row, 0, 0, bar);
          for (i32 piece = 0; piece < 3; ++piece) copy_shared_tile<kCluster>(b + piece * kPiece, &p.b, (step * 3 + piece) * 64, column, bar);
        }
      }
      // A block must not go while the other one may reach into its memory.
      for (i32 i = 0; i < kStages; ++i, ++s) barrier_wait(empty + 8 * (s % kStages), (s / kStages + 1) & 1u);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    u32 most_b = 0, least_b = ~0u;
#pragma unroll 8
    for (i32 i = lane; i < i32(p.extents); i += 32) {
      const u64 both = ((const u64*)p.extremes)[i];
      const u32 most = u32(both), least = u32(both >> 32);
      most_b = most > most_b ? most : most_b;
      least_b = least < least_b ? least : least_b;
    }
    most_b = __reduce_max_sync(0xffffffffu, most_b);
    least_b = __reduce_min_sync(0xffffffffu, least_b);
    // Rows 0 and 4, 1 and 5, ... are neighbours: they lie in other banks.
    const i32 own = worker * 64 + t % 128 / 32 * 16 + lane / 8 + lane / 4 % 2 * 4;
    f32 sums[kN / 2], part[kN / 2];
#pragma unroll
    for (i32 i = 0; i < kN / 2; ++i) part[i] = 0.0f;
    u32 s = 0;
    for (i32 tile = first_tile; tile < tiles; tile += at_once) {
#pragma unroll
      for (i32 i = 0; i < kN / 2; ++i) sums[i] = 0.0f;
      f32 top[2] = {0.0f, 0.0f};
      u32 least[2] = {~0u, ~0u};
      const auto add_up = [&]() {
        group_wait<0>();
        keep(part);
#pragma unroll
        for (i32 i = 0; i < kN / 2; ++i) sums[i] += part[i];
        keep(part);
      };
      for (i32 step = 0; step < steps; ++step, ++s) {
        const u32 stage = s % kStages, a = ring + stage * (kA + kB), b = a + kA, mine = a + own * 128;
        // Four numbers of a row and of the one 8 below it, the same four for the four lanes' part of 16.
        const auto load = [&](i32 k, f32 (&x)[8]) {
          const u32 at = mine + k / 2 * kHalfA + (u32(k % 2 * 4 + lane % 4) ^ (own & 7)) * 16;
#pragma unroll
          for (i32 e = 0; e < 2; ++e) {
            const V4 v = load_shared(at + e * 1024);
#pragma unroll
            for (i32 i = 0; i < 4; ++i) x[4 * e + i] = f32_of(v.e[i]);
          }
        };
        const auto piece_of = [&](f32 (&x)[8], u32* out) {
          out[0] = pair_of(x[0], x[1]);
          out[1] = pair_of(x[4], x[5]);
          out[2] = pair_of(x[2], x[3]);
          out[3] = pair_of(x[6], x[7]);
        };
        const auto take_piece_off = [&](f32 (&x)[8], const u32* piece) {
          take_off(x[0], x[1], piece[0]);
          take_off(x[4], x[5], piece[1]);
          take_off(x[2], x[3], piece[2]);
          take_off(x[6], x[7], piece[3]);
        };
        barrier_wait(full + 8 * stage, (s / kStages) & 1u);
        u32 first[16];
#pragma unroll
        for (i32 k = 0; k < 4; ++k) {
          f32 x[8];
          load(k, x);
          piece_of(x, first + 4 * k);
#pragma unroll
          for (i32 i = 0; i < 8; ++i) {
            const u32 magnitude = bits_of(x[i]) & 0x7fffffffu;
            top[i / 4] = fmaxf(top[i / 4], f32_of(magnitude));
            least[i / 4] = magnitude - 1 < least[i / 4] ? magnitude - 1 : least[i / 4];
          }
        }
        group_begin();
#pragma unroll
        for (i32 k = 0; k < 4; ++k) multiply(part, first + 4 * k, matrix(b + k * 32, 16), k > 0);
        group_end();
        add_up();
#pragma unroll
        for (i32 k = 0; k < 4; ++k) {
          f32 x[8];
          u32 pieces[12];
          load(k, x);
          piece_of(x, pieces);
          take_piece_off(x, pieces);
          piece_of(x, pieces + 4);
          take_piece_off(x, pieces + 4);
          piece_of(x, pieces + 8);
          const u64 b0 = matrix(b + k * 32, 16), b1 = matrix(b + kPiece + k * 32, 16), b2 = matrix(b + 2 * kPiece + k * 32, 16);
          if (k > 0) {
            group_wait<0>();
            keep(part);
          }
          group_begin();
          multiply(part, pieces + 8, b0, k > 0);
          multiply(part, pieces, b2, 1);
          multiply(part, pieces + 4, b1, 1);
          multiply(part, pieces + 4, b0, 1);
          multiply(part, pieces, b1, 1);
          group_end();
        }
        add_up();
        if (lane < kCluster) arrive_at(empty + 8 * stage, lane);
      }
      // Where pieces lost bits that may count, or made an infinity or a NaN of their own, the sum is
      // had again by float32.
      const i64 row0 = i64(tile % row_tiles * kCluster + rank) * 128 + own, column0 = i64(tile / row_tiles) * kN + lane % 4 * 2;
      f32 enough[2];
#pragma unroll
      for (i32 e = 0; e < 2; ++e) {
        for (i32 mask = 1; mask < 4; mask *= 2) {
          top[e] = fmaxf(top[e], nef_xor(top[e], mask));
          const u32 other = __shfl_xor_sync(0xffffffffu, least[e], mask);
          least[e] = other < least[e] ? other : least[e];
        }
        const bool tiny = least[e] < kTiny || least_b < kTiny;
        enough[e] = tiny && top[e] > 0.0f && most_b > 0 ? top[e] * 0x1p-90f + f32_of(most_b) * 0x1p-90f : 0.0f;
      }
      u32 odd[kWords];
#pragma unroll
      for (i32 i = 0; i < kWords; ++i) odd[i] = 0;
#pragma unroll
      for (i32 g = 0; g < kGroups; g += kTogether) {
        Pair same[kTogether][2];
        $DECLARE$
#pragma unroll
        for (i32 j = 0; j < kTogether; ++j) {
          const i64 column = column0 + (g + j) * 8;
          if (column >= p.n) continue;
          $LOADS$
          for (i32 e = 0; e < 2; ++e) if ($SAME$ && row0 + 8 * e < p.m) same[j][e] = *(const Pair*)(p.same + (row0 + 8 * e) * p.n + column);
        }
#pragma unroll
        for (i32 j = 0; j < kTogether; ++j) {
          const i64 column = column0 + (g + j) * 8;
#pragma unroll
          for (i32 e = 0; e < 2; ++e) {
            if (row0 + 8 * e >= p.m || column >= p.n) continue;
            const i32 at = 4 * (g + j) + 2 * e;
            const f32 sum0 = sums[at], sum1 = sums[at + 1];
            if (!(fabsf(sum0) >= enough[e] && fabsf(sum0) <= kLargest)) odd[at / 32] |= 1u << at % 32;
            if (!(fabsf(sum1) >= enough[e] && fabsf(sum1) <= kLargest)) odd[at / 32] |= 2u << at % 32;
            *(Pair*)(p.y + (row0 + 8 * e) * p.n + column) = {region($FIRST$), region($SECOND$)};
          }
        }
      }
#pragma unroll
      for (i32 i = 0; i < kWords; ++i) {
        for (u32 left = odd[i]; left != 0; left &= left - 1) {
          const i32 at = i * 32 + __ffs(i32(left)) - 1;
          const i64 row = row0 + at / 2 % 2 * 8, column = column0 + at / 4 * 8 + at % 2;
          const f32 sum = whole_sum(p, row, column);
          p.y[row * p.n + column] = region($AGAIN$);
        }
      }
    }
  }
}

// b as pieces, by columns: of each 64 numbers all first pieces, then the second, then the third; and
// for each block the largest magnitude and the least one that is not zero, less one, as bits. Of
// sixteen numbers those stand first that the lanes of `product_pieces` have first.
struct SplitP { u16* pieces; const f32* b; u32* extremes; i64 n; i64 k; i64 b_row; i64 b_column; i64 steps; i64 together; i64 early; };
NEF_EARLY_KERNEL(split_pieces, SplitP, 256, 4) {
  __shared__ f32 tile[64][33];
  __shared__ u32 mosts[8], leasts[8];
  const i32 t = i32(threadIdx.x), c = t / 8, part = t % 8;
  const i64 n0 = i64(blockIdx.x) * 32, end = (i64(blockIdx.y) + 1) * p.together < p.steps ? (i64(blockIdx.y) + 1) * p.together : p.steps;
  const bool by_rows = p.b_column == 1;
  const i32 row = by_rows ? t / 32 : t % 64, column = by_rows ? t % 32 : t / 64;  // of eight, the first
  f32 next[8];
  const auto load = [&](i64 step) {
    const f32* from = p.b + (step * 64 + row) * p.b_row + (n0 + column) * p.b_column;
#pragma unroll
    for (i32 i = 0; i < 8; ++i) {
      const i64 k = step * 64 + row + (by_rows ? 8 * i : 0), n = n0 + column + (by_rows ? 0 : 4 * i);
      next[i] = k < p.k && n < p.n ? from[by_rows ? 8 * i * p.b_row : 4 * i * p.b_column] : 0.0f;
    }
  };
  nef_let_next_begin();
  // Constants are there before the kernel in front of this one is done.
  if (!p.early) nef_wait();
  u32 most = 0, least = ~0u;
  i64 step = i64(blockIdx.y) * p.together;
  load(step);
  if (p.early) nef_wait();
  for (; step < end; ++step) {
    __syncthreads();
#pragma unroll
    for (i32 i = 0; i < 8; ++i) tile[row + (by_rows ? 8 * i : 0)][column + (by_rows ? 0 : 4 * i)] = next[i];
    __syncthreads();
    if (step + 1 < end) load(step + 1);
    V4 pieces[3];
#pragma unroll
    for (i32 j = 0; j < 4; ++j) {
      const i32 k = part / 2 * 16 + 4 * j + part % 2 * 2;
      f32 x = tile[k][c], y = tile[k + 1][c];
      const u32 u = bits_of(x) & 0x7fffffffu, v = bits_of(y) & 0x7fffffffu;
      most = u > most ? u : most;
      most = v > most ? v : most;
      least = u - 1 < least ? u - 1 : least;
      least = v - 1 < least ? v - 1 : least;
#pragma unroll
      for (i32 q = 0; q < 3; ++q) {
        pieces[q].e[j] = pair_of(x, y);
        take_off(x, y, pieces[q].e[j]);
      }
    }
    if (n0 + c >= p.n) continue;
    u16* out = p.pieces + ((n0 + c) * p.steps + step) * 192 + part * 8;
    for (i32 q = 0; q < 3; ++q) *(V4*)(out + q * 64) = pieces[q];
  }
  most = __reduce_max_sync(0xffffffffu, most);
  least = __reduce_min_sync(0xffffffffu, least);
  if (t % 32 == 0) {
    mosts[t / 32] = most;
    leasts[t / 32] = least;
  }
  __syncthreads();
  if (t != 0) return;
  for (i32 w = 1; w < 8; ++w) {
    most = mosts[w] > most ? mosts[w] : most;
    least = leasts[w] < least ? leasts[w] : least;
  }
  u32* extremes = p.extremes + 2 * (i64(blockIdx.y) * gridDim.x + blockIdx.x);
  extremes[0] = most;
  extremes[1] = least;
}
}  // namespace product_pieces
)device";

}  // namespace nef::gpu
