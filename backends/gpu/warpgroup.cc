// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/warpgroup.h"

namespace nef::gpu {
namespace {

std::string list(int64_t first, int64_t n) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) out += (i == 0 ? "%" : ", %") + std::to_string(first + i);
  return out;
}
std::string operands(int64_t n) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    out += (i == 0 ? "" : ", ") + ("\"+f\"(d[" + std::to_string(i) + "])");
  }
  return out;
}
std::string instruction(const char* type, int64_t columns) {
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k16.f32." + type + "." +
         type + " {" + list(0, columns / 2) + "}, ";
}
std::string head(const char* name, int64_t columns) {
  return std::string("DEV void ") + name + "(f32 (&d)[" + std::to_string(columns / 2) + "], ";
}

}  // namespace

const char* const kWarpgroupText = R"device(
struct alignas(64) TileMap { u64 words[16]; };
DEV void copy_tile(u32 to, const TileMap* map, i32 column, i32 row, i32 head, i32 batch, u32 bar) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(bar) : "memory");
}
// The same with a word about how long the L2 shall keep it.
DEV void copy_tile(u32 to, const TileMap* map, i32 column, i32 row, i32 head, i32 batch, u32 bar, u64 policy) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4, %5}], [%6], %7;"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(bar), "l"(policy) : "memory");
}
// A tile for all blocks of a cluster, and a block's word to one of them.
template <i32 kCluster> DEV void copy_shared_tile(u32 to, const TileMap* map, i32 column, i32 row, u32 bar) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3, %4, %4}], [%5], %6;"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(0), "r"(bar), "h"(u16((1 << kCluster) - 1)) : "memory");
}
template <i32 kCluster> DEV void copy_shared_tile(u32 to, const TileMap* map, i32 column, i32 row, u32 bar, u64 policy) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3, %4, %4}], [%5], %6, %7;"
               ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(0), "r"(bar), "h"(u16((1 << kCluster) - 1)), "l"(policy) : "memory");
}
DEV void arrive_at(u32 bar, u32 rank) {
  asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [there];\n}"
               ::"r"(bar), "r"(rank) : "memory");
}
DEV void meet_cluster() { asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory"); }
DEV void barrier_arrive(u32 bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
// What the tensor cores are told about 64 numbers a row, swizzled, eight rows 1024 bytes apart.
DEV u64 matrix(u32 at, u32 leading) {
  return u64((at & 0x3ffffu) >> 4) | u64(leading >> 4) << 16 | u64(1024 >> 4) << 32 | u64(1) << 62;
}
DEV void group_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void group_end() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n> DEV void group_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory"); }
// Sums stay where they are until here.
template <int n> DEV void keep(f32 (&r)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+f"(r[i])::"memory");
}
)device";

std::string warpgroup_product(const char* name, const char* type, int64_t columns) {
  const int64_t n = columns / 2;
  return head(name, columns) + "u64 a, u64 b, int more) {\n" +
         "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %" + std::to_string(n + 2) +
         ", 0;\\n" + instruction(type, columns) + list(n, 2) +
         ", p, 1, 1, 0, 0;\\n}\" : " + operands(n) + " : \"l\"(a), \"l\"(b), \"r\"(more));\n}\n";
}
std::string warpgroup_sum_of_registers(const char* name, const char* type, int64_t columns) {
  const int64_t n = columns / 2;
  return head(name, columns) + "const u32* a, u64 b, int more) {\n" +
         "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %" + std::to_string(n + 5) +
         ", 0;\\n" + instruction(type, columns) + "{" + list(n, 4) + "}, %" +
         std::to_string(n + 4) + ", p, 1, 1, 0;\\n}\" : " + operands(n) +
         " : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b), \"r\"(more));\n}\n";
}
std::string warpgroup_product_of_registers(const char* name, const char* type, int64_t columns) {
  const int64_t n = columns / 2;
  return head(name, columns) + "const u32* a, u64 b) {\n  asm volatile(\"" +
         instruction(type, columns) + "{" + list(n, 4) + "}, %" + std::to_string(n + 4) +
         ", 1, 1, 1, 1;\" : " + operands(n) +
         " : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b));\n}\n";
}

}  // namespace nef::gpu
