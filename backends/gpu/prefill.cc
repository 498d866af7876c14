// SPDX-License-Identifier: Apache-2.0
// A unit is 128 queries of one head: one warpgroup of a block copies tiles of keys and values into
// shared memory, two others take 64 queries each through them. Scores of the next tile are on the
// tensor cores while the softmax of the last one is computed. Each multiprocessor has one block,
// which takes unit after unit, so that one's last results go out while the next one's keys come in.
// Few keys have a kernel of smaller blocks.
#include "backends/gpu/prefill.h"

#include "backends/gpu/decode.h"
#include "backends/gpu/warpgroup.h"

namespace nef::gpu {
namespace {

constexpr int64_t kRows = 128, kKeys = 128;  // of a tile
constexpr int64_t kStages = 2;

constexpr const char* kCode = R"device(
namespace prefill {
typedef $T$ T;
constexpr i32 kSize = $SIZE$, kPanels = kSize / 64, kPanel = 128 * 128, kTile = kPanels * kPanel, kStages = 2;
struct alignas(64) PrefillP { TileMap q; TileMap k; TileMap v; T* y; const $M$* mask; i32* odd; i64 heads; i64 group; i64 queries; i64 keys;
  i64 causal; i64 tiles; i64 units; i64 columns; f64 scale; f64 softcap; i64 size; i64 by_batch; i64 by_head; i64 by_row; i64 mask_steps[4];
  AttentionP exact; };
$WGMMA$
DEV f32 exp2_of(f32 v) { f32 r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }
DEV u32 pair_of(f32 a, f32 b) { u32 r; asm("cvt.rn.$PAIR$.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }

// What a block takes in its turn; no blocks of keys where nothing is left.
struct Unit { i64 row0; i64 tile; i32 head; i32 batch; i32 blocks; };
template <bool kShort> DEV Unit unit_at(const PrefillP& p, i32 turn) {
  // The last of a turn are the shortest, and the next turn begins with those who had them.
  const i64 place = turn % 2 ? i64(gridDim.x) - 1 - blockIdx.x : blockIdx.x;
  const i64 unit = kShort ? place / 2 : i64(turn) * gridDim.x + place;
  if (unit >= p.units) return {0, 0, 0, 0, 0};
  // Long rows of blocks first.
  const i64 tile = p.tiles - 1 - unit / p.heads % p.tiles, row0 = tile * 128;
  i64 end = p.keys;
  if (p.causal && row0 + 128 < end) end = row0 + 128;
  return {row0, tile, i32(unit % p.heads), i32(unit / p.heads / p.tiles), kShort ? 1 : i32((end + 127) / 128)};
}

// kShort: all keys are one tile, and a block is one warpgroup that takes 64 queries; several of them
// on a multiprocessor hide each other's waiting.
template <bool kShort> DEV void attend(const PrefillP& p) {
  extern __shared__ __align__(1024) u8 memory[];
  constexpr i32 kRings = kShort ? 1 : kStages, kOwn = kShort ? kTile / 2 : kTile, kTurns = kShort ? 1 : 2;
  constexpr u32 kQueries = kShort ? 8192 : kPanel;  // bytes from panel to panel
  const u32 base = (shared_address(memory) + 1023) / 1024 * 1024;
  const u32 ks = base, vs = ks + kRings * kTile, qs = vs + kRings * kTile, bars = qs + kTurns * kOwn;
  const u32 q_full = bars, q_empty = q_full + 8 * kTurns, k_full = q_empty + 8 * kTurns, v_full = k_full + 8 * kRings;
  const u32 k_empty = v_full + 8 * kRings, v_empty = k_empty + 8 * kRings;
  const i32 t = i32(threadIdx.x), lane = t % 32, worker = kShort ? i32(blockIdx.x) % 2 : t / 128 - 1;
  if (t == 0) {
    for (i32 i = 0; i < kTurns; ++i) {
      barrier_init(q_full + 8 * i, 1);
      barrier_init(q_empty + 8 * i, 8);
    }
    for (i32 i = 0; i < kRings; ++i) {
      barrier_init(k_full + 8 * i, 1);
      barrier_init(v_full + 8 * i, 1);
      barrier_init(k_empty + 8 * i, 8);
      barrier_init(v_empty + 8 * i, 8);
    }
    barrier_inits_seen();
  }
  __syncthreads();
  nef_let_next_begin();
  nef_wait();
  // Few blocks read keys that are one tile, and all at one time.
  const auto copy = [&](u32 to, const TileMap* map, i32 column, i64 row, i32 head, const Unit& u, u32 bar) {
    if constexpr (kShort) copy_tile(to, map, column, i32(row), head, u.batch, bar, read_once_policy());
    else copy_tile(to, map, column, i32(row), head, u.batch, bar);
  };
  const auto bring_queries = [&](const Unit& u, i32 turn) {
    barrier_expect(q_full + 8 * turn, kOwn);
    for (i32 c = 0; c < kPanels; ++c) copy(qs + turn * kOwn + c * kQueries, &p.q, c * 64, u.row0 + (kShort ? worker * 64 : 0), u.head, u, q_full + 8 * turn);
  };
  const auto bring = [&](const TileMap* map, const Unit& u, u32 to, i32 j, u32 bar) {
    barrier_expect(bar, kTile);
    for (i32 c = 0; c < kPanels; ++c) copy(to + c * kPanel, map, c * 64, j, u.head / i32(p.group), u, bar);
  };
  if constexpr (kShort) {
    if (t == 0) {
      asm volatile("fence.proxy.async.global;" ::: "memory");
      const Unit u = unit_at<true>(p, 0);
      bring_queries(u, 0);
      bring(&p.k, u, ks, 0, k_full);
      bring(&p.v, u, vs, 0, v_full);
    }
  } else {
    if (worker < 0) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (t != 0) return;
      asm volatile("fence.proxy.async.global;" ::: "memory");
      for (i32 turn = 0, n = 0;; ++turn) {
        const Unit u = unit_at<false>(p, turn);
        if (u.blocks == 0) return;
        barrier_wait(q_empty + 8 * (turn % 2), u32(turn / 2 + 1) & 1u);
        bring_queries(u, turn % 2);
        for (i32 left = u.blocks; left > 0; --left, ++n) {
          const i32 stage = n % kStages, j = (left - 1) * 128;
          const u32 free = u32(n / kStages + 1) & 1u;
          barrier_wait(k_empty + 8 * stage, free);
          bring(&p.k, u, ks + stage * kTile, j, k_full + 8 * stage);
          barrier_wait(v_empty + 8 * stage, free);
          bring(&p.v, u, vs + stage * kTile, j, v_full + 8 * stage);
        }
      }
    }
    // What the first warpgroup gives, of the 168 registers a thread that the block begins with.
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  }
  const i32 in_group = t % 128, warp = in_group / 32;
  const i32 own_row = warp * 16 + lane / 4;  // and the one 8 below it
  const f32 unit_scale = $MASKED$ ? 1.44269504089f : f32(p.scale) * 1.44269504089f;
  f32 out[kSize / 2], scores[64];
  u32 weights[32];
  // The warpgroups take turns at the tensor cores: one's softmax is computed beside the other's products.
  const auto take_cores = [&]() { if (!kShort) asm volatile("bar.sync %0, 256;" ::"r"(3 + worker) : "memory"); };
  const auto pass_cores = [&]() { if (!kShort) asm volatile("bar.arrive %0, 256;" ::"r"(4 - worker) : "memory"); };
  if (worker == 1) pass_cores();
  for (i32 turn = 0, done = 0;; ++turn) {
    const Unit u = unit_at<kShort>(p, turn);
    if (u.blocks == 0) return;
    const i64 row0 = u.row0, head = u.head, batch = u.batch;
    const u32 own_queries = qs + turn % 2 * kOwn + (kShort ? 0 : worker * 8192);
    const i64 row_a = row0 + worker * 64 + own_row, row_b = row_a + 8;
    f32 top_a = least<f32>(), top_b = least<f32>(), sum_a = 0.0f, sum_b = 0.0f, shrink_a = 1.0f, shrink_b = 1.0f;
#pragma unroll
    for (i32 i = 0; i < kSize / 2; ++i) out[i] = 0.0f;

    const auto score = [&](i32 stage) {
      group_begin();
#pragma unroll
      for (i32 k = 0; k < kSize / 16; ++k) {
        const u64 a = matrix(own_queries + (k / 4) * kQueries + (k % 4) * 32, 16);
        const u64 b = matrix(ks + stage * kTile + (k / 4) * kPanel + (k % 4) * 32, 16);
        multiply_scores(scores, a, b, k > 0);
      }
      group_end();
    };
    const auto add_values = [&](i32 stage) {
#pragma unroll
      for (i32 k = 0; k < 8; ++k) multiply_values(out, weights + 4 * k, matrix(vs + stage * kTile + k * 2048, kPanel));
      group_end();
    };
    const auto weigh = [&](i32 block) {
      const i64 j0 = i64(block) * 128 + lane % 4 * 2;
#if $MASKED$
#pragma unroll
      for (i32 i = 0; i < 16; ++i) {
#pragma unroll
        for (i32 e = 0; e < 4; ++e) {
          const i64 j = j0 + 8 * i + e % 2, row = e < 2 ? row_a : row_b;
          f32 s = scores[4 * i + e] * f32(p.scale);
          if (p.softcap > 0) s = f32(p.softcap) * tanhf(s / f32(p.softcap));
          if (p.mask && row < p.queries && j < p.keys) {
            if (p.columns != 1 && j >= p.columns) s += least<f32>();
            else {
              const i64 at = batch * p.mask_steps[0] + head * p.mask_steps[1] + row * p.mask_steps[2] + j * p.mask_steps[3];
              s += $MASK$;
            }
          }
          scores[4 * i + e] = s;
        }
      }
#endif
      const bool edge = (block + 1) * i64(128) > p.keys || (p.causal && (block + 1) * i64(128) > row0 + worker * 64);
      if (edge) {
        const i64 seen_a = p.causal && row_a + 1 < p.keys ? row_a + 1 : p.keys, seen_b = p.causal && row_b + 1 < p.keys ? row_b + 1 : p.keys;
        const i32 left_a = i32(seen_a - j0), left_b = i32(seen_b - j0);
#pragma unroll
        for (i32 i = 0; i < 16; ++i) {
#pragma unroll
          for (i32 e = 0; e < 2; ++e) {
            if (8 * i + e >= left_a) scores[4 * i + e] = least<f32>();
            if (8 * i + e >= left_b) scores[4 * i + 2 + e] = least<f32>();
          }
        }
      }
      f32 best_a = top_a, best_b = top_b;
#pragma unroll
      for (i32 i = 0; i < 16; ++i) {
        best_a = fmaxf(best_a, fmaxf(scores[4 * i], scores[4 * i + 1]));
        best_b = fmaxf(best_b, fmaxf(scores[4 * i + 2], scores[4 * i + 3]));
      }
      best_a = fmaxf(best_a, nef_xor(best_a, 1));
      best_b = fmaxf(best_b, nef_xor(best_b, 1));
      best_a = fmaxf(best_a, nef_xor(best_a, 2));
      best_b = fmaxf(best_b, nef_xor(best_b, 2));
      const f32 at_a = best_a == least<f32>() ? 0.0f : best_a * unit_scale, at_b = best_b == least<f32>() ? 0.0f : best_b * unit_scale;
      shrink_a = exp2_of(top_a * unit_scale - at_a);
      shrink_b = exp2_of(top_b * unit_scale - at_b);
      top_a = best_a;
      top_b = best_b;
      f32 more_a = 0.0f, more_b = 0.0f;
#pragma unroll
      for (i32 i = 0; i < 16; ++i) {
#pragma unroll
        for (i32 e = 0; e < 2; ++e) {
          scores[4 * i + e] = exp2_of(fmaf(scores[4 * i + e], unit_scale, -at_a));
          scores[4 * i + 2 + e] = exp2_of(fmaf(scores[4 * i + 2 + e], unit_scale, -at_b));
          more_a += scores[4 * i + e];
          more_b += scores[4 * i + 2 + e];
        }
      }
      sum_a = sum_a * shrink_a + more_a;
      sum_b = sum_b * shrink_b + more_b;
    };
    const auto pack = [&]() {
#pragma unroll
      for (i32 k = 0; k < 8; ++k) {
        weights[4 * k] = pair_of(scores[8 * k], scores[8 * k + 1]);
        weights[4 * k + 1] = pair_of(scores[8 * k + 2], scores[8 * k + 3]);
        weights[4 * k + 2] = pair_of(scores[8 * k + 4], scores[8 * k + 5]);
        weights[4 * k + 3] = pair_of(scores[8 * k + 6], scores[8 * k + 7]);
      }
    };

    barrier_wait(q_full + 8 * (turn % 2), u32(turn / 2) & 1u);
    barrier_wait(k_full + 8 * (done % kRings), u32(done / kRings) & 1u);
    keep(scores);
    take_cores();
    score(done % kRings);
    pass_cores();
    group_wait<0>();
    keep(scores);
    if (!kShort && lane == 0) barrier_arrive(k_empty + 8 * (done % kRings));
    weigh(u.blocks - 1);
    pack();
    for (i32 left = kShort ? 0 : u.blocks - 1; left > 0; --left) {
      const i32 before = done % kStages, before_phase = done / kStages;
      ++done;
      const i32 stage = done % kStages;
      barrier_wait(k_full + 8 * stage, u32(done / kStages) & 1u);
      keep(scores);
      take_cores();
      score(stage);
      barrier_wait(v_full + 8 * before, u32(before_phase) & 1u);
      keep(out);
      add_values(before);
      pass_cores();
      group_wait<1>();
      keep(scores);
      if (lane == 0) barrier_arrive(k_empty + 8 * stage);
      weigh(left - 1);
      group_wait<0>();
      keep(out);
      if (lane == 0) barrier_arrive(v_empty + 8 * before);
#pragma unroll
      for (i32 i = 0; i < kSize / 8; ++i) {
        out[4 * i] *= shrink_a;
        out[4 * i + 1] *= shrink_a;
        out[4 * i + 2] *= shrink_b;
        out[4 * i + 3] *= shrink_b;
      }
      pack();
    }
    {
      const i32 last = done % kRings;
      barrier_wait(v_full + 8 * last, u32(done / kRings) & 1u);
      keep(out);
      group_begin();
      add_values(last);
      group_wait<0>();
      keep(out);
      if (!kShort && lane == 0) barrier_arrive(v_empty + 8 * last);
      ++done;
    }
    sum_a += nef_xor(sum_a, 1);
    sum_b += nef_xor(sum_b, 1);
    sum_a += nef_xor(sum_a, 2);
    sum_b += nef_xor(sum_b, 2);
    const f32 part_a = top_a == least<f32>() ? 0.0f : 1.0f / sum_a, part_b = top_b == least<f32>() ? 0.0f : 1.0f / sum_b;
    // Through the memory of the warpgroup's own queries, so that what goes out is in whole lines.
    asm volatile("bar.sync %0, 128;" ::"r"(worker + 1) : "memory");
    bool odd = false;
#pragma unroll
    for (i32 i = 0; i < kSize / 8; ++i) {
      const f32 v[4] = {out[4 * i] * part_a, out[4 * i + 1] * part_a, out[4 * i + 2] * part_b, out[4 * i + 3] * part_b};
      odd = odd || (row_a < p.queries && ((v[0] - v[0]) + (v[1] - v[1]) != 0.0f)) || (row_b < p.queries && ((v[2] - v[2]) + (v[3] - v[3]) != 0.0f));
      const u32 panel = own_queries + i / 8 * kQueries + u32(own_row) * 128 + lane % 4 * 4;
      const u32 a = panel + ((i % 8) ^ (own_row & 7)) * 16;
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(a), "r"(pair_of(v[0], v[1])) : "memory");
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(a + 1024), "r"(pair_of(v[2], v[3])) : "memory");
    }
    i32 any = 0;
    asm volatile("{\n.reg .pred p, q;\nsetp.ne.b32 p, %1, 0;\nbar.red.or.pred q, %2, 128, p;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(any) : "r"(i32(odd)), "r"(worker + 1) : "memory");
    if (!kShort && in_group == 0) p.odd[((batch * p.heads + head) * p.tiles + u.tile) * 2 + worker] = any;
    T* y = p.y + batch * p.by_batch + head * p.by_head + (row0 + worker * 64) * p.by_row;
#pragma unroll 4
    for (i32 i = in_group; i < 64 * kSize / 8; i += 128) {
      const i32 row = i / (kSize / 8), chunk = i % (kSize / 8);
      if (row0 + worker * 64 + row >= p.queries || chunk * 8 >= p.size) continue;
      const V4 v = load_shared(own_queries + chunk / 8 * kQueries + u32(row) * 128 + ((chunk % 8) ^ (row & 7)) * 16);
      *(V4*)(y + row * p.by_row + chunk * 8) = v;
    }
    if constexpr (kShort) {
      // A block that is one warpgroup does it again by itself, where keys were.
      if (!any) return;
      __syncthreads();
      A* const scores = (A*)(memory + (base - shared_address(memory)));
      const i64 first = row0 + worker * 64, end = first + 64 < p.queries ? first + 64 : p.queries, whole = (batch * p.heads + head) * p.queries;
      for (i64 row = first; row < end; ++row) attend_row<128>(p.exact, whole + row, scores, scores + 128);
      return;
    } else {
      // What was read and written here, the copy engine comes behind.
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      if (lane == 0) barrier_arrive(q_empty + 8 * (turn % 2));
    }
  }
}
#if $LONG$
extern "C" __global__ void __launch_bounds__(384, 1) prefill(const __grid_constant__ PrefillP p) { attend<false>(p); }
#endif
#if $SHORT$
extern "C" __global__ void __launch_bounds__(128, kSize <= 64 ? 3 : 2) prefill_short(const __grid_constant__ PrefillP p) { attend<true>(p); }
#endif
}  // namespace prefill
)device";

int64_t row_tiles(const PrefillShape& s) { return (s.q.length + kRows - 1) / kRows; }

TileMap map_of(Device& device, nef_dtype dtype, const Heads& h, const void* data, int64_t rows) {
  Tiles t;
  t.dtype = dtype;
  t.data = data;
  const int64_t dims[4] = {h.size, h.length, h.heads, h.batch};
  const int64_t steps[4] = {1, h.by_row, h.by_head, h.by_batch};
  std::copy(dims, dims + 4, t.dims);
  std::copy(steps, steps + 4, t.steps);
  t.rows = static_cast<uint32_t>(rows);
  return device.tile_map(t);
}

}  // namespace

int64_t prefill_width(nef_dtype dtype, int64_t size, const DeviceInfo& device) {
  if (!device.warpgroups || !is_narrow(dtype) || size < 8 || size > 128 || size % 8 != 0) return 0;
  return size <= 64 ? 64 : 128;
}

std::string prefill_source(nef_dtype dtype, int64_t width, nef_dtype mask, bool capped,
                           int64_t keys) {
  const bool bf16 = dtype == NEF_BFLOAT16;
  const nef_dtype kept = mask == 0 ? dtype : mask;
  const char* type = bf16 ? "bf16" : "f16";
  return std::string(kBulkText) + kWarpgroupText +
         fill(kCode,
              {{"T", memory_type(dtype)},
               {"SIZE", std::to_string(width)},
               {"M", memory_type(kept)},
               {"MASK", kept == NEF_BOOL ? "(ld(p.mask[at]) ? 0.0f : least<f32>())"
                                         : "f32(ld(p.mask[at]))"},
               {"MASKED", mask == 0 && !capped ? "0" : "1"},
               {"SHORT", keys == NEF_DIM_UNKNOWN || keys <= kKeys ? "1" : "0"},
               {"LONG", keys == NEF_DIM_UNKNOWN || keys > kKeys ? "1" : "0"},
               {"PAIR", bf16 ? "bf16x2" : "f16x2"},
               {"WGMMA", warpgroup_product("multiply_scores", type, kKeys) +
                             warpgroup_product_of_registers("multiply_values", type, width)}});
}

bool prefill_checks(const PrefillShape& s) { return s.k.length <= kKeys; }
int64_t prefill_parts(const PrefillShape& s) {
  return s.q.batch * s.q.heads * row_tiles(s) * kRows / kPrefillPart;
}
size_t prefill_bytes(const PrefillShape& s) { return static_cast<size_t>(prefill_parts(s)) * 4; }

void launch_prefill(const Run& run, Module& module, nef_dtype dtype, int64_t width,
                    const PrefillShape& s, const void* q, const void* k, const void* v,
                    const void* mask, void* y, void* odd, const Params& exact) {
  const bool few = prefill_checks(s);
  const int64_t rows = few ? kPrefillPart : kRows;
  const int64_t units = s.q.batch * s.q.heads * row_tiles(s);
  Params p;
  for (const TileMap& map :
       {map_of(run.device, dtype, s.q, q, rows), map_of(run.device, dtype, s.k, k, kKeys),
        map_of(run.device, dtype, s.v, v, kKeys)}) {
    for (uint64_t word : map.words) p.add(static_cast<int64_t>(word));
  }
  p.add(y).add(mask).add(odd).add(s.q.heads).add(s.q.heads / s.k.heads);
  p.add(s.q.length).add(s.k.length).add(s.causal).add(row_tiles(s)).add(units).add(s.mask_columns);
  p.add(s.scale).add(s.softcap).add(s.q.size);
  s.y.add_to(p);
  p.add(s.mask_steps.at, 4, 4, 0).add(exact);
  while (p.bytes() % 64 != 0) p.add(int64_t{0});
  const int64_t rings = few ? 1 : kStages, turns = few ? 1 : 2;
  const int64_t blocks = few ? units * 2 : std::min<int64_t>(units, run.device.info().processors);
  Grid grid{blocks, 1, few ? 128u : 384u};
  grid.shared = static_cast<uint32_t>(1024 + width * 2 * (turns * rows + 2 * rings * kKeys) +
                                      8 * (2 * turns + 4 * rings));
  run.launch(module, few ? "prefill_short" : "prefill", grid, p);
}

}  // namespace nef::gpu
