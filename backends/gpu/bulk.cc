// SPDX-License-Identifier: Apache-2.0
// Text for kernels of Hopper and later: the copy engine, barriers it completes, clusters.
#include "backends/gpu/decode.h"

namespace nef::gpu {

const char* const kBulkText = R"device(
DEV u32 shared_address(const void* p) { return u32(__cvta_generic_to_shared(p)); }
DEV void barrier_init(u32 bar, u32 count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory"); }
DEV void barrier_inits_seen() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
DEV void barrier_expect(u32 bar, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"); }
DEV void barrier_wait(u32 bar, u32 phase) {
  asm volatile("{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(bar), "r"(phase) : "memory");
}
// Is this the one lane of a whole warp that speaks for it? The compiler knows that it is one, and so
// asks for a copy once and not lane by lane.
DEV bool elected() {
  u32 one;
  asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\nselp.u32 %0, 1, 0, one;\n}" : "=r"(one));
  return one != 0;
}
DEV u64 read_once_policy() { u64 p; asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p)); return p; }
DEV void bulk_copy(u32 to, const void* from, u32 bytes, u32 bar, u64 policy) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
               ::"r"(to), "l"(from), "r"(bytes), "r"(bar), "l"(policy) : "memory");
}
// The same place in the shared memory of another block of the cluster.
DEV u32 there(u32 address, u32 rank) {
  u32 r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
  return r;
}
// For what other blocks of the cluster wrote.
DEV void wait_for_cluster(u32 bar, u32 phase) {
  asm volatile("{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
               "@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(bar), "r"(phase) : "memory");
}
// `v`, but not before `seen` has come: the copy engine does not wait for loads of what it overwrites.
DEV u32 behind(u32 v, u32 seen) { u32 r; asm volatile("{\n.reg .b32 t;\nor.b32 t, %1, %2;\nmin.u32 %0, t, %1;\n}" : "=r"(r) : "r"(v), "r"(seen)); return r; }
struct alignas(16) V4 { u32 e[4]; };
// What a kernel in front of this one wrote.
DEV V4 load_fresh(const void* p) {
  V4 r;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.e[0]), "=r"(r.e[1]), "=r"(r.e[2]), "=r"(r.e[3]) : "l"(p) : "memory");
  return r;
}
DEV V4 load_shared(u32 p) {
  V4 r;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.e[0]), "=r"(r.e[1]), "=r"(r.e[2]), "=r"(r.e[3]) : "r"(p) : "memory");
  return r;
}
// A number that all lanes have, as the compiler can tell.
DEV i32 first_lane(i32 v) { return __shfl_sync(0xffffffffu, v, 0); }
DEV f32 sum_of_warp(f32 v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += nef_xor(v, mask);
  return v;
}
DEV f32 largest_of_warp(f32 v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v = fmaxf(v, nef_xor(v, mask));
  return v;
}
)device";

const char* const kTurnText = R"device(
// Weights arrive by rows of the contraction; here each output has a row of its own.
struct TurnP { raw2* o; const raw2* x; i64 rows; i64 columns; };
NEF_KERNEL(turn_weights, TurnP) {
  __shared__ raw2 tile[32][33];
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
// Here as tiles of sixteen outputs by 64 numbers of the contraction, 2 KB each and one behind the
// other, those of the same outputs first. Eights of numbers lie where the lanes that read them, of
// eight outputs at once, meet no bank twice. `across` and `along`: steps of the source from one
// output to the next, and along the contraction.
struct TileP { raw2* o; const raw2* x; i64 outputs; i64 contracted; i64 across; i64 along; };
NEF_KERNEL(tile_weights, TileP) {
  __shared__ raw2 tile[1024];
  const i64 chunks = (p.contracted + 63) / 64, tiles = chunks * ((p.outputs + 15) / 16);
  for (i64 at = blockIdx.x; at < tiles; at += gridDim.x) {
    for (i32 i = i32(threadIdx.x); i < 1024; i += 256) {
      const i32 row = p.across == 1 ? i % 16 : i / 64, k = p.across == 1 ? i / 16 : i % 64;
      const i64 output = at / chunks * 16 + row, number = at % chunks * 64 + k;
      const bool there = output < p.outputs && number < p.contracted;
      tile[row * 64 + (k / 8 ^ row % 8) * 8 + k % 8] = there ? p.x[output * p.across + number * p.along] : raw2{0};
    }
    __syncthreads();
    for (i32 i = i32(threadIdx.x); i < 1024; i += 256) p.o[at * 1024 + i] = tile[i];
    __syncthreads();
  }
}
)device";

void turn_matrix(Device& device, Module& module, void* to, const void* from, int64_t rows,
                 int64_t columns) {
  Params p;
  p.add(to).add(from).add(rows).add(columns);
  const int64_t tiles = (rows + 31) / 32 * ((columns + 31) / 32);
  device.launch(module.function("turn_weights"), {std::min<int64_t>(tiles, 1 << 20), 1, 256},
                p.data(), p.bytes(), device.default_stream());
}

void tile_matrix(Device& device, Module& module, void* to, const void* from,
                 const TiledMatrix& matrix) {
  Params p;
  p.add(to).add(from).add(matrix.outputs).add(matrix.contracted);
  p.add(matrix.across).add(matrix.along);
  const int64_t tiles = static_cast<int64_t>(matrix.bytes() / 2048);
  device.launch(module.function("tile_weights"), {std::min<int64_t>(tiles, 1 << 20), 1, 256},
                p.data(), p.bytes(), device.default_stream());
}

}  // namespace nef::gpu
