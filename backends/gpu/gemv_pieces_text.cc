// SPDX-License-Identifier: Apache-2.0
// What gemv_tiles_text.cc is made of: products on tensor cores, copies, and numbers of x and of
// packed weights as they are multiplied.
#include "backends/gpu/decode.h"

namespace nef::gpu {

const char* const kGemvPiecesText = R"device(
#if $TILED$
typedef const u8* Tiles;  // one behind the other, as a slot has them
#else
struct alignas(64) TileMap { u64 words[16]; };
typedef TileMap Tiles;
#endif
struct TilesP { Tiles w[$C$];
#if $BITS$ < 16
  TileMap scales[$C$];
#endif
  $O$* y; const T* x; const T* scale; $EXTERNALS$ i64 rows; i64 n; i64 slots; i64 clusters; f64 epsilon; f64 alpha[$C$]; };
namespace tiles {
// Numbers of a slot: sixteen rows of 128 or (8 bits) twice 128 bytes. A lane holds 8 neighbours of
// each 32 numbers of a row.
constexpr i32 kBits = $BITS$, kChunk = kBits == 16 ? 64 : 256, kBoxes = kBits == 8 ? 2 : 1, kUnits = kChunk / 32;
constexpr i32 kChunks = ($K$ + kChunk - 1) / kChunk;
constexpr u32 kSlotBytes = kBoxes * 2048, kScaleBytes = kBits == 16 ? 0 : 256;
#if !$TILED$
DEV void copy_box(u32 to, const TileMap* map, i32 column, i32 row, u32 bar, u64 policy) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4, %4}], [%5], %6;"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(0), "r"(bar), "l"(policy) : "memory");
}
#endif
DEV void multiply(f32 (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.$MMA$.$MMA$.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
// A number for a block of the cluster, whose barrier counts its bytes.
DEV void send(u32 address, u32 bar, u32 rank, f32 v) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there(address, rank)), "r"(bits_of(v)), "r"(there(bar, rank)) : "memory");
}
DEV void arrive_there(u32 bar, u32 rank) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there(bar, rank)) : "memory"); }
DEV void store_shared(u32 p, const V4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(p), "r"(v.e[0]), "r"(v.e[1]), "r"(v.e[2]), "r"(v.e[3]) : "memory");
}
// Sixteen bytes that a kernel in front of this one wrote, or zeros.
DEV void copy_fresh(u32 to, const void* from, bool there) {
  const u32 bytes = there ? 16u : 0u;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
DEV void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// But for the last of them.
template <int kLast> DEV void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(kLast < 0 ? 0 : kLast) : "memory"); }
DEV void barrier_arrive(u32 bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
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
// All that is loaded for g to n, then what is waited for, then what is done with each.
template <i32 g, i32 n, class Load, class Wait, class Use> DEV void load_then(const Load& load, const Wait& wait, const Use& use) {
  const auto loaded = load(g);
  if constexpr (g + 1 < n) load_then<g + 1, n>(load, wait, use);
  else wait();
  use(g, loaded);
}
// Eight numbers of x, with a scale each.
DEV void widen(f32 (&x)[8], const V4& v, const V4& by) {
#pragma unroll
  for (i32 e = 0; e < 8; ++e) {
    x[e] = e % 2 == 0 ? low(v.e[e / 2]) : high(v.e[e / 2]);
#if $NORM$
    x[e] *= e % 2 == 0 ? low(by.e[e / 2]) : high(by.e[e / 2]);
#endif
  }
}
// Adds up their squares, and finds the largest.
DEV void measure(const V4& v, const V4& by, f32& square, f32& most) {
#if $NORM$
#pragma unroll
  for (i32 e = 0; e < 4; ++e) square += low(v.e[e]) * low(v.e[e]) + high(v.e[e]) * high(v.e[e]);
#endif
#if $BITS$ < 16
  f32 x[8];
  widen(x, v, by);
#pragma unroll
  for (i32 e = 0; e < 8; ++e) most = fmaxf(most, fabsf(x[e]));
#endif
}
// As they are multiplied by weights: by packed ones in the order that these are unpacked in.
DEV V4 ready(const V4& v, const V4& by, f32 power) {
#if $BITS$ == 16
  return $NORM$ ? V4{{product(v.e[0], by.e[0]), product(v.e[1], by.e[1]), product(v.e[2], by.e[2]), product(v.e[3], by.e[3])}} : v;
#else
  f32 x[8];
  widen(x, v, by);
#pragma unroll
  for (i32 e = 0; e < 8; ++e) x[e] *= power;
  return kBits == 8 ? V4{{half2_of(x[0], x[1]), half2_of(x[2], x[3]), half2_of(x[4], x[5]), half2_of(x[6], x[7])}}
                    : V4{{half2_of(x[0], x[4]), half2_of(x[1], x[5]), half2_of(x[2], x[6]), half2_of(x[3], x[7])}};
#endif
}
}  // namespace tiles
)device";

}  // namespace nef::gpu
