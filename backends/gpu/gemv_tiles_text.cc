// SPDX-License-Identifier: Apache-2.0
// Up to sixteen rows times constant matrices on tensor cores. A block takes sixteen rows of the
// weights at a time; each of its warps multiplies its own stretches of them, and the warps' sums
// meet in shared memory. Where that does not hold all of x, a cluster of blocks shares the sum.
// Weights of 8 and 4 bits become 16-bit floats in registers.
#include "backends/gpu/decode.h"

namespace nef::gpu {

const char* const kGemvTilesText = R"device(
struct alignas(64) TileMap { u64 words[16]; };
struct alignas(64) TilesP { TileMap w[$C$];
#if $BITS$ < 16
  TileMap scales[$C$];
#endif
  $O$* y; const T* x; const T* scale; $EXTERNALS$ i64 rows; i64 n; i64 slots; i64 parts; i64 clusters; f64 epsilon; f64 alpha[$C$]; };
namespace tiles {
// Numbers of a slot: sixteen rows of 128 or (8 bits) twice 128 bytes. A lane holds 8 neighbours of
// each 32 numbers of a row.
constexpr i32 kBits = $BITS$, kChunk = kBits == 16 ? 64 : 256, kBoxes = kBits == 8 ? 2 : 1, kUnits = kChunk / 32;
constexpr i32 kChunks = ($K$ + kChunk - 1) / kChunk;
constexpr u32 kSlotBytes = kBoxes * 2048, kScaleBytes = kBits == 16 ? 0 : 256;
DEV void copy_box(u32 to, const TileMap* map, i32 column, i32 row, u32 bar, u64 policy) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4, %4}], [%5], %6;"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(0), "r"(bar), "l"(policy) : "memory");
}
DEV void multiply(f32 (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.$MMA$.$MMA$.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
DEV f32 load_there(const void* p, u32 rank) {
  u32 there;
  f32 v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(p)), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
  return v;
}
DEV void store_shared(u32 p, const V4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(p), "r"(v.e[0]), "r"(v.e[1]), "r"(v.e[2]), "r"(v.e[3]) : "memory");
}
DEV void barrier_arrive(u32 bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
DEV void meet_cluster() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
#if $BITS$ < 16
// Eight weights of a row as pairs of whole numbers.
DEV void unpack(u32 (&w)[4], u32 at) {
#if $BITS$ == 8
  u32 a, b;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
  w[0] = less(bytes_of(a, 0x4140), 0x64806480u);
  w[1] = less(bytes_of(a, 0x4342), 0x64806480u);
  w[2] = less(bytes_of(b, 0x4140), 0x64806480u);
  w[3] = less(bytes_of(b, 0x4342), 0x64806480u);
#else
  u32 q;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(q) : "r"(at) : "memory");
  unpack_nibbles(w, q);
#endif
}
#endif

// kTiles: eights of rows of x.
template <int kTiles, int kWarps> DEV void run(const TilesP& p) {
  constexpr i32 kTokens = 8 * kTiles, kOut = 16 * kTokens, kThreads = 32 * kWarps, kSets = kThreads / kOut;
  extern __shared__ __align__(1024) u8 memory[];
  u8* base = memory + ((1024 - (shared_address(memory) & 1023)) & 1023);
  const i32 t = i32(threadIdx.x), warp = first_lane(t / 32), lane = t % 32, slots = i32(p.slots), rows = i32(p.rows), parts = i32(p.parts);
  const i32 rank = i32(blockIdx.x) % parts, own = lane / 4, piece = lane % 4, per = (kChunks + parts - 1) / parts;
  const u32 ring = shared_address(base) + u32(warp * slots) * kSlotBytes;
  const u32 scale_ring = shared_address(base) + u32(kWarps * slots) * kSlotBytes + u32(warp * slots) * kScaleBytes;
  u8* xs = base + kWarps * slots * (kSlotBytes + kScaleBytes);  // [units of this block][rows][4 pieces][16 bytes]
  f32* partial = (f32*)(xs + per * kChunk * rows * 2);          // [2][$C$][warps][kOut]
  f32* squares = partial + 2 * $C$ * kWarps * kOut;             // [kTokens][warps]
  f32* shrunk = partial + warp * kOut;                          // [kTokens] of this warp, until its first sums: by how much
  f32* total = squares + kTokens * kWarps;                      // [kTokens] squares
  const u32 full = shared_address(total + kTokens), empty = full + 16, bars = full + 32 + u32(warp * slots * 8);
  f32* sums = total + kTokens + 8 + 2 * kWarps * slots;         // [groups][$C$][kOut], of a cluster
  const i32 groups = i32((p.n + 15) / 16), first = i32(blockIdx.x) / parts, step = i32(p.clusters);
  const i32 count = first < groups ? (groups - first + step - 1) / step : 0;
  const i32 begin = rank * per, held = kChunks - begin < per ? kChunks - begin : per;  // chunks
  const i32 turns = warp < held ? (held - warp + kWarps - 1) / kWarps : 0;             // of this warp, in a group
  nef_let_next_begin();

  const u64 policy = read_once_policy();
  i32 ahead = turns > 0 ? first : groups;  // where the next copy comes from
  i32 ahead_matrix = 0, ahead_chunk = 0, fill = 0;
  const auto issue = [&]() {
    if (ahead >= groups) return;
    if (lane == 0) {
      const bool second = $C$ > 1 && ahead_matrix == 1;
      const i32 chunk = begin + warp + kWarps * ahead_chunk, row = ahead * 16;
      const u32 bar = bars + fill * 8;
      barrier_expect(bar, kSlotBytes + kScaleBytes);
#pragma unroll
      for (i32 b = 0; b < kBoxes; ++b) copy_box(ring + fill * kSlotBytes + b * 2048, second ? &p.w[$C$ - 1] : &p.w[0], (chunk * kBoxes + b) * 64, row, bar, policy);
#if $BITS$ < 16
      copy_box(scale_ring + fill * kScaleBytes, second ? &p.scales[$C$ - 1] : &p.scales[0], chunk * 8, row, bar, policy);
#endif
    }
    fill = fill + 1 == slots ? 0 : fill + 1;
    if (++ahead_chunk < turns) return;
    ahead_chunk = 0;
    if (++ahead_matrix < $C$) return;
    ahead_matrix = 0;
    ahead += step;
  };
  if (lane == 0) {
#pragma unroll 1
    for (i32 i = 0; i < slots; ++i) barrier_init(bars + i * 8, 1);
    if (warp == 0) {
      for (i32 i = 0; i < 2; ++i) { barrier_init(full + i * 8, kWarps); barrier_init(empty + i * 8, kOut / 32); }
    }
    barrier_inits_seen();
  }
  __syncthreads();
#pragma unroll 1
  for (i32 i = 0; i < slots; ++i) issue();
  nef_wait();

  // What this warp needs of x into shared memory, in the order that it is read in; packed weights
  // want 16-bit floats in the order that they are unpacked in.
  constexpr i32 kAcross = kUnits * 4, kAtOnce = 32 / kAcross, kBatch = 8;
  constexpr f32 kFirst = kBits < 16 && $NORM$ ? 0.0625f : 1.0f;
  i32 shift = 0;  // a power of two of passes over a chunk
  while (kAtOnce << shift < rows) ++shift;
  const i32 items = turns << shift;
  const u32 x_at = shared_address(xs);
  struct Spot { i32 row; i32 column; u32 at; bool there; };
  const auto spot = [&](i32 f) {
    const i32 chunk = warp + kWarps * (f >> shift), row = (f & ((1 << shift) - 1)) * kAtOnce + lane / kAcross, v = lane % kAcross;
    const i32 column = (begin + chunk) * kChunk + v * 8;
    return Spot{row, column, x_at + u32(((chunk * kUnits + v / 4) * rows + row) * 4 + v % 4) * 16, row < rows && column < $K$};
  };
  const auto keep = [&](const Spot& s, const V4& v, const V4& by, f32 scale, f32& square, f32& most) {
    square = most = 0.0f;
#if $NORM$
#pragma unroll
    for (i32 e = 0; e < 4; ++e) square += low(v.e[e]) * low(v.e[e]) + high(v.e[e]) * high(v.e[e]);
#endif
#if $BITS$ == 16
    if (s.row < rows) store_shared(s.at, $NORM$ ? V4{{product(v.e[0], by.e[0]), product(v.e[1], by.e[1]), product(v.e[2], by.e[2]), product(v.e[3], by.e[3])}} : v);
#else
    f32 x[8];
#pragma unroll
    for (i32 e = 0; e < 8; ++e) {
      x[e] = e % 2 == 0 ? low(v.e[e / 2]) : high(v.e[e / 2]);
#if $NORM$
      x[e] *= e % 2 == 0 ? low(by.e[e / 2]) : high(by.e[e / 2]);
#endif
      most = fmaxf(most, fabsf(x[e]));
      x[e] *= scale;
    }
    if (s.row >= rows) return;
    if (kBits == 8) store_shared(s.at, {{half2_of(x[0], x[1]), half2_of(x[2], x[3]), half2_of(x[4], x[5]), half2_of(x[6], x[7])}});
    else store_shared(s.at, {{half2_of(x[0], x[4]), half2_of(x[1], x[5]), half2_of(x[2], x[6]), half2_of(x[3], x[7])}});
#endif
  };
  const auto scale_at = [&](const Spot& s) { return $NORM$ && s.there ? *(const V4*)(p.scale + s.column) : V4{{0, 0, 0, 0}}; };
  if ($NORM$ || kBits < 16) {
    for (i32 i = lane; i < kTokens; i += 32) squares[i * kWarps + warp] = shrunk[i] = 0.0f;
    __syncwarp();
  }
  for (i32 f0 = 0; f0 < items; f0 += kBatch) {
    V4 x[kBatch], by[kBatch];
#pragma unroll
    for (i32 i = 0; i < kBatch; ++i) {
      x[i] = by[i] = {{0, 0, 0, 0}};
      if (f0 + i >= items) continue;
      const Spot s = spot(f0 + i);
      if (s.there) x[i] = load_fresh(p.x + s.row * i64($K$) + s.column);
      by[i] = scale_at(s);
    }
#pragma unroll
    for (i32 i = 0; i < kBatch; ++i) {
      if (f0 + i >= items) continue;
      const Spot s = spot(f0 + i);
      f32 square, most;
      keep(s, x[i], by[i], kFirst, square, most);
#if $NORM$ || $BITS$ < 16
#pragma unroll
      for (int mask = kAcross / 2; mask > 0; mask >>= 1) { square += nef_xor(square, mask); most = fmaxf(most, nef_xor(most, mask)); }
      if (lane % kAcross == 0 && s.row < rows) {
        squares[s.row * kWarps + warp] += square;
        shrunk[s.row] = fmaxf(shrunk[s.row], most);
      }
#endif
    }
  }
#if $BITS$ < 16
  __syncwarp();
  // Numbers too large for 16-bit floats, or too small, become those of at most 1.
  for (i32 f = 0; f < items; ++f) {
    const Spot s = spot(f);
    const f32 most = s.row < rows ? shrunk[s.row] : 0.0f;
    if (suits(most * kFirst) || !s.there) continue;
    f32 square, again;
    keep(s, load_fresh(p.x + s.row * i64($K$) + s.column), scale_at(s), 1.0f / most, square, again);
  }
  __syncwarp();
  f32 factor[kTiles][2];
#pragma unroll
  for (i32 i = 0; i < 2 * kTiles; ++i) {
    const f32 most = shrunk[i / 2 * 8 + piece * 2 + i % 2];
    factor[i / 2][i % 2] = suits(most * kFirst) ? 1.0f / kFirst : most;
  }
#endif
  __syncwarp();

  const auto norm_of = [&](f32 squared) { return $NORM$ ? 1.0f / sqrtf(squared / f32($K$) + f32(p.epsilon)) : 1.0f; };
  // Result `at` of a group: its row of the weights, and its row of x.
  const auto row_of = [](i32 group, i32 at) { return group * 16 + at % 128 / 16 + at % 4 / 2 * 8; };
  const auto token_of = [](i32 at) { return at / 128 * 8 + at % 16 / 4 * 2 + at % 2; };
  const u32 row_at = u32(own) * 128, turn = u32(own & 7), x_own = x_at + u32(own * 4 + piece) * 16, x_step = u32(rows) * 64;
  const i32 set = t / kOut, at_own = t % kOut;
  const auto squares_of = [&](i32 token) {
    f32 sum = 0.0f;
    for (i32 w = 0; w < kWarps; ++w) sum += squares[token * kWarps + w];
    return sum;
  };
  i32 take = 0;
  u32 phase = 0;
  f32 norm = 0.0f;  // of the row of x that this thread's results belong to
  // The sums of a group are added up while the next one is multiplied, by one set of warps after
  // the other.
  for (i32 j = 0; j <= count; ++j) {
    const bool adds = j > 0 && set == (j - 1) % kSets;
    const i32 row = row_of(first + (j - 1) * step, at_own);
    const bool stores = adds && parts == 1 && row < i32(p.n) && token_of(at_own) < rows;
    const i64 r = stores ? row : 0, mine = stores ? token_of(at_own) : 0;
    $LOADS$
    if (j < count) {
#pragma unroll
      for (i32 c = 0; c < $C$; ++c) {
        f32 sum[kTiles][4];
#pragma unroll
        for (i32 m = 0; m < kTiles; ++m) sum[m][0] = sum[m][1] = sum[m][2] = sum[m][3] = 0.0f;
#pragma unroll 1
        for (i32 i = 0; i < turns; ++i) {
          barrier_wait(bars + take * 8, phase);
          const u32 slot = ring + take * kSlotBytes + row_at;
          u32 x_now = x_own + u32((warp + kWarps * i) * kUnits) * x_step;
#if $BITS$ < 16
          const V4 by_a = load_shared(scale_ring + take * kScaleBytes + own * 16), by_b = load_shared(scale_ring + take * kScaleBytes + 128 + own * 16);
#endif
#pragma unroll
          for (i32 u = 0; u < kUnits; ++u, x_now += x_step) {
            V4 x[kTiles];
#pragma unroll
            for (i32 m = 0; m < kTiles; ++m) {
              x[m] = {{0, 0, 0, 0}};
              if (m * 8 + own < rows) x[m] = load_shared(x_now + m * 512);
            }
#if $BITS$ == 16
            const u32 at = slot + ((u32(u * 4 + piece) ^ turn) * 16);
            const V4 a = load_shared(at), b = load_shared(at + 1024);
#pragma unroll
            for (i32 m = 0; m < kTiles; ++m) {
              multiply(sum[m], a.e[0], b.e[0], a.e[1], b.e[1], x[m].e[0], x[m].e[1]);
              multiply(sum[m], a.e[2], b.e[2], a.e[3], b.e[3], x[m].e[2], x[m].e[3]);
            }
#else
#if $BITS$ == 8
            const u32 at = slot + u / 4 * 2048 + ((u32(u % 4 * 2 + piece / 2) ^ turn) * 16) + piece % 2 * 8;
#else
            const u32 at = slot + ((u32(u) ^ turn) * 16) + piece * 4;
#endif
            u32 a[4], b[4];
            unpack(a, at);
            unpack(b, at + 1024);
            const u32 pair_a = by_a.e[u / 2], pair_b = by_b.e[u / 2];
            const f32 scale_a = u % 2 == 0 ? low(pair_a) : high(pair_a), scale_b = u % 2 == 0 ? low(pair_b) : high(pair_b);
#pragma unroll
            for (i32 m = 0; m < kTiles; ++m) {
              f32 part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
              multiply(part, a[0], b[0], a[1], b[1], x[m].e[0], x[m].e[1]);
              multiply(part, a[2], b[2], a[3], b[3], x[m].e[2], x[m].e[3]);
              sum[m][0] = fmaf(part[0], scale_a, sum[m][0]);
              sum[m][1] = fmaf(part[1], scale_a, sum[m][1]);
              sum[m][2] = fmaf(part[2], scale_b, sum[m][2]);
              sum[m][3] = fmaf(part[3], scale_b, sum[m][3]);
            }
#endif
          }
          __syncwarp();
          issue();
          if (++take == slots) { take = 0; phase ^= 1; }
        }
        if (c == 0 && j > 1) barrier_wait(empty + j % 2 * 8, u32(j / 2 - 1) & 1u);
#pragma unroll
        for (i32 m = 0; m < kTiles; ++m) {
#if $BITS$ < 16
#pragma unroll
          for (i32 e = 0; e < 4; ++e) sum[m][e] *= factor[m][e % 2];
#endif
          const u32 to = shared_address(partial + ((j % 2 * $C$ + c) * kWarps + warp) * kOut + m * 128 + lane * 4);
          store_shared(to, {{bits_of(sum[m][0]), bits_of(sum[m][1]), bits_of(sum[m][2]), bits_of(sum[m][3])}});
        }
      }
      __syncwarp();
      if (lane == 0) barrier_arrive(full + j % 2 * 8);
    }
    if (!adds) continue;
    barrier_wait(full + (j - 1) % 2 * 8, u32((j - 1) / 2) & 1u);
    if (norm == 0.0f) norm = norm_of($NORM$ ? squares_of(token_of(at_own)) : 0.0f);
    f32 my[$C$];
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) {
      f32 all = 0.0f;
#pragma unroll
      for (i32 w = 0; w < kWarps; ++w) all += partial[(((j - 1) % 2 * $C$ + c) * kWarps + w) * kOut + at_own];
      if (parts > 1) sums[((j - 1) * $C$ + c) * kOut + at_own] = all;
      my[c] = all;
    }
    __syncwarp();
    if (lane == 0) barrier_arrive(empty + (j - 1) % 2 * 8);
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) my[c] *= norm * f32(p.alpha[c]);
    if (stores) st(p.y[mine * p.n + r], finish($CALL$));
  }
  if (parts == 1) return;
  __syncthreads();
  if ($NORM$ && t < rows) total[t] = squares_of(t);
  __syncthreads();
  meet_cluster();
  for (i32 i = rank * kThreads + t; i < count * kOut; i += parts * kThreads) {
    const i32 at = i % kOut;
    const i64 r = row_of(first + i / kOut * step, at), mine = token_of(at);
    if (r >= p.n || mine >= rows) continue;
    f32 squared = 0.0f, my[$C$];
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) my[c] = 0.0f;
    for (i32 other = 0; other < parts; ++other) {
      if ($NORM$) squared += load_there(total + mine, u32(other));
#pragma unroll
      for (i32 c = 0; c < $C$; ++c) my[c] += load_there(sums + (i / kOut * $C$ + c) * kOut + at, u32(other));
    }
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) my[c] *= norm_of(squared) * f32(p.alpha[c]);
    $LOADS$
    st(p.y[mine * p.n + r], finish($CALL$));
  }
  meet_cluster();  // what others read here stays until they have
}
}  // namespace tiles
#if $EIGHT$
NEF_EARLY_KERNEL(gemv8, TilesP, 256, 2) { tiles::run<1, 8>(p); }
#endif
#if $SIXTEEN$
NEF_EARLY_KERNEL(gemv16, TilesP, 512, 1) { tiles::run<2, 16>(p); }
#endif
)device";

}  // namespace nef::gpu
