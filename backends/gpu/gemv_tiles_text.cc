// SPDX-License-Identifier: Apache-2.0
// Up to sixteen rows times constant matrices on tensor cores. A block takes some sixteens of the
// weights' rows at a time; each of its warps multiplies its own stretches of all of them, through a
// ring of tiles, by numbers of x that it reads as it goes, or keeps in registers or in shared
// memory. The warps' sums meet there, and where blocks share a sum, those of a cluster's blocks in
// the memory of the block that they are for. Weights of 8 and 4 bits become 16-bit floats in
// registers.
#include "backends/gpu/decode.h"

namespace nef::gpu {

const char* const kGemvTilesText = R"device(
namespace tiles {
// kTiles: eights of rows of x. kParts: blocks that share a sum. kGroups: sixteens of rows of the
// weights that are multiplied in one pass over x. Packed weights want to know all of x before the
// first product, so registers keep it; else there is no need to. kStages: then, chunks of x that a
// warp has under way through shared memory, or all of its share, which stays there. Behind the tiles
// that are on their way to a multiprocessor a chunk takes as long as they do, and a warp that waits
// for each cannot catch up with a ring that filled while the kernel in front ended.
// kOnce: there is one pass, and sums lie where its tiles were.
template <int kTiles, int kParts, int kGroups, int kStages, bool kOnce> DEV void run(const TilesP& p) {
  constexpr bool kKept = kBits < 16;
  constexpr i32 kTokens = 8 * kTiles, kOut = 16 * kTokens, kWarps = 8, kThreads = 32 * kWarps, kSets = kThreads / kOut;
  constexpr i32 kPer = (kChunks + kParts - 1) / kParts, kTurns = (kPer + kWarps - 1) / kWarps, kAll = kKept ? kTurns * kUnits : kUnits;
  constexpr bool kStays = kStages >= kTurns;
  constexpr i32 kItems = kGroups * $C$, kBuffers = $BUFFERS$, kInbox = $INBOX$;  // of passes
  // Results of a group that are a block's, and the threads that make them.
  constexpr i32 kOwn = kOut / kParts, kSpan = kOwn < 32 ? 32 : kOwn;
  extern __shared__ __align__(1024) u8 memory[];
  u8* base = memory + ((1024 - (shared_address(memory) & 1023)) & 1023);
  const i32 t = i32(threadIdx.x), warp = first_lane(t / 32), lane = t % 32, slots = i32(p.slots), rows = i32(p.rows);
  const i32 rank = i32(blockIdx.x) % kParts, own = lane / 4, piece = lane % 4;
  constexpr i32 kSums = kOnce ? kItems * kOut * 4 : 0;
  const i32 area = slots * i32(kSlotBytes) < kSums ? kSums : slots * i32(kSlotBytes);  // of a warp
  const u32 ring = shared_address(base) + u32(warp * area);
  constexpr i32 kStageBytes = kTokens * 128 + ($NORM$ ? 128 : 0);
  const u32 stages = shared_address(base) + u32(kWarps * area + warp * kStages * kStageBytes);
  const u32 scale_ring = shared_address(base) + u32(kWarps * slots) * kSlotBytes + u32(warp * slots) * kScaleBytes;
  // Of the warps, [kBuffers][kItems][kWarps][kOut] or [kWarps][kItems][kOut].
  f32* partial = (f32*)(base + (kOnce ? 0 : kWarps * (slots * i32(kSlotBytes + kScaleBytes) + kStages * kStageBytes)));
  f32* inbox = kOnce ? (f32*)(base + kWarps * (area + kStages * kStageBytes)) : partial + kBuffers * kItems * kWarps * kOut;  // [kInbox][kItems][kParts][kOwn]
  const auto partial_of = [&](i32 buffer, i32 item, i32 w) {
    return kOnce ? partial + w * (area / 4) + item * kOut : partial + ((buffer * kItems + item) * kWarps + w) * kOut;
  };
  f32* squares = inbox + (kParts > 1 ? kInbox * kItems * kOut : 0);  // [kTokens][kWarps]
  f32* totals = squares + kTokens * kWarps;                          // [kParts][kTokens] squares
  const u32 full = shared_address(totals + kParts * kTokens), empty = full + 8 * kBuffers, arrived = empty + 8 * kBuffers, taken = arrived + 8 * kInbox;
  const u32 squared = taken + 8 * kInbox, bars = squared + 8 + u32(warp * slots * 8);
  const i32 groups = i32((p.n + 15) / 16), first = i32(blockIdx.x) / kParts, step = i32(p.clusters);
  const i32 count = first < groups ? (groups - first + step - 1) / step : 0, passes = (count + kGroups - 1) / kGroups;
  const i32 begin = rank * kPer, held = kChunks - begin < kPer ? kChunks - begin : kPer;  // chunks
  const i32 turns = warp < held ? (held - warp + kWarps - 1) / kWarps : 0;                // of this warp, in a pass
  nef_let_next_begin();

  // Blocks begin with different chunks, so that they do not ask for the same numbers of x at once.
  const i32 offset = !kKept && turns > 0 ? first % turns : 0;
  const auto chunk_of = [&](i32 turn) {
    const i32 at = turn + offset;
    return begin + warp + kWarps * (!kKept && at >= turns ? at - turns : at);
  };

  const u64 policy = read_once_policy();
  i32 ahead = turns > 0 ? 0 : count;  // where the next copy comes from
  i32 ahead_turn = 0, ahead_group = 0, ahead_matrix = 0, fill = 0;
  // Into a slot of which `seen` was read: the copy engine would not wait for loads that other loads
  // are in front of.
  const auto issue = [&](u32 seen) {
    if (ahead >= count) return;
    if (lane == 0) {
      const bool second = $C$ > 1 && ahead_matrix == 1;
      const i32 chunk = chunk_of(ahead_turn), row = (first + (ahead + ahead_group) * step) * 16;
      const u32 bar = bars + fill * 8;
      barrier_expect(bar, behind(kSlotBytes + kScaleBytes, seen));
#if $TILED$
      bulk_copy(ring + fill * kSlotBytes, (second ? p.w[$C$ - 1] : p.w[0]) + (i64(row / 16) * kChunks + chunk) * kSlotBytes, kSlotBytes, bar, policy);
#else
#pragma unroll
      for (i32 b = 0; b < kBoxes; ++b) copy_box(ring + fill * kSlotBytes + b * 2048, second ? &p.w[$C$ - 1] : &p.w[0], (chunk * kBoxes + b) * 64, row, bar, policy);
#endif
#if $BITS$ < 16
      copy_box(scale_ring + fill * kScaleBytes, second ? &p.scales[$C$ - 1] : &p.scales[0], chunk * 8, row, bar, policy);
#endif
    }
    fill = fill + 1 == slots ? 0 : fill + 1;
    if (++ahead_matrix < $C$) return;
    ahead_matrix = 0;
    if (++ahead_group < kGroups && ahead + ahead_group < count) return;
    ahead_group = 0;
    if (++ahead_turn < turns) return;
    ahead_turn = 0;
    ahead += kGroups;
  };
  const auto groups_of = [&](i32 pass) { return count - pass * kGroups < kGroups ? count - pass * kGroups : kGroups; };
  const auto expect_sums = [&](i32 pass) { barrier_expect(arrived + pass % kInbox * 8, groups_of(pass) * $C$ * kOut * 4); };
  if (lane == 0) {
#pragma unroll 1
    for (i32 i = 0; i < slots; ++i) barrier_init(bars + i * 8, 1);
    if (warp == 0) {
      for (i32 i = 0; i < kBuffers; ++i) { barrier_init(full + i * 8, kWarps); barrier_init(empty + i * 8, kWarps); }
      if (kParts > 1) {
        for (i32 i = 0; i < kInbox; ++i) { barrier_init(arrived + i * 8, 1); barrier_init(taken + i * 8, kParts * kSets * (kSpan / 32)); }
        barrier_init(squared, 1);
      }
    }
    barrier_inits_seen();
    if (kParts > 1 && warp == 0) {
      for (i32 i = 0; i < kInbox && i < passes; ++i) expect_sums(i);
      barrier_expect(squared, kParts * kTokens * 4);
    }
  }
  __syncwarp();
#pragma unroll 1
  for (i32 i = 0; i < slots; ++i) issue(0);

  V4 x[kAll][kTiles], raw[kAll][kTiles], by[kAll];
  f32 square[kTiles];
#pragma unroll
  for (i32 m = 0; m < kTiles; ++m) square[m] = 0.0f;
  const auto column_of = [&](i32 f) { return chunk_of(f / kUnits) * kChunk + f % kUnits * 32 + piece * 8; };
  const auto is_there = [&](i32 f) { return f / kUnits < turns && column_of(f) < $K$; };
  // All that this warp needs of x, and of the scales, to be kept.
  const auto load_scales = [&]() {
#pragma unroll
    for (i32 f = 0; f < kAll; ++f) by[f] = $NORM$ && is_there(f) ? *(const V4*)(p.scale + column_of(f)) : V4{{0, 0, 0, 0}};
  };
  const auto load_x = [&]() {
#pragma unroll
    for (i32 f = 0; f < kAll; ++f) {
#pragma unroll
      for (i32 m = 0; m < kTiles; ++m) {
        const i32 token = m * 8 + own;
        raw[f][m] = is_there(f) && token < rows ? load_fresh(p.x + token * i64($K$) + column_of(f)) : V4{{0, 0, 0, 0}};
      }
    }
  };
  const auto keep_squares = [&]() {
#pragma unroll
    for (i32 m = 0; m < kTiles; ++m) {
      square[m] += nef_xor(square[m], 1);
      square[m] += nef_xor(square[m], 2);
      if ($NORM$ && piece == 0) squares[(m * 8 + own) * kWarps + warp] = square[m];
    }
  };
  // The next chunk of x on its way, and the scales of its norm.
  i32 staged = 0, to_stage = turns * passes;
  const auto stage_x = [&](i32 stage) {
    const u32 to = stages + u32(stage * kStageBytes);
    const i32 column = chunk_of(staged) * kChunk + lane % 8 * 8;
    const bool there = to_stage > 0 && column < $K$;
    staged = staged + 1 < turns ? staged + 1 : 0;
    --to_stage;
#pragma unroll
    for (i32 i = 0; i < kTokens / 4; ++i) {
      const i32 token = i * 4 + lane / 8;
      const bool reads = there && token < rows;
      copy_fresh(to + u32(token * 128 + (lane % 8 ^ token % 8) * 16), reads ? p.x + token * i64($K$) + column : p.x, reads);
    }
    if ($NORM$ && lane < 8) copy_fresh(to + u32(kTokens * 128 + lane * 16), there ? p.scale + column : p.scale, there);
    commit_copies();
  };
  const auto load_stage = [&](i32 stage) {
    wait_copies<kStages - 1>();
    __syncwarp();
    const u32 from = stages + u32(stage * kStageBytes);
#pragma unroll
    for (i32 f = 0; f < kAll; ++f) {
#pragma unroll
      for (i32 m = 0; m < kTiles; ++m) raw[f][m] = load_shared(from + u32((m * 8 + own) * 128 + ((f * 4 + piece) ^ own) * 16));
      if ($NORM$) by[f] = load_shared(from + u32(kTokens * 128 + (f * 4 + piece) * 16));
    }
  };
  if (kKept) load_scales();
  if (kParts > 1) asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  else __syncthreads();
  nef_wait();
  if (kKept) load_x();
#pragma unroll
  for (i32 i = 0; i < kStages; ++i) stage_x(i);
  i32 stage = 0;  // the next one to be read
#if $BITS$ < 16
  f32 factor[kTiles][2];  // what sums are multiplied by
#pragma unroll
  for (i32 m = 0; m < kTiles; ++m) {
    f32 most = 0.0f;
#pragma unroll
    for (i32 f = 0; f < kAll; ++f) measure(raw[f][m], by[f], square[m], most);
#pragma unroll
    for (int mask = 1; mask < 4; mask *= 2) most = fmaxf(most, nef_xor(most, mask));
    // Numbers too large for 16-bit floats, or too small, become those of at most 1.
    constexpr f32 kFirst = $NORM$ ? 0.0625f : 1.0f;
    const bool fits = suits(most * kFirst);
#pragma unroll
    for (i32 i = 0; i < 2; ++i) factor[m][i] = __shfl_sync(0xffffffffu, fits ? 1.0f / kFirst : most, (piece * 2 + i) * 4);
#pragma unroll
    for (i32 f = 0; f < kAll; ++f) x[f][m] = ready(raw[f][m], by[f], fits ? kFirst : 1.0f / most);
  }
  keep_squares();
#endif
  if (kParts > 1) asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

  // Result `at` of a group: its row of the weights, and its row of x.
  const auto row_of = [](i32 group, i32 at) { return group * 16 + at % 128 / 16 + at % 4 / 2 * 8; };
  const auto token_of = [](i32 at) { return at / 128 * 8 + at % 16 / 4 * 2 + at % 2; };
  const u32 row_at = u32(own) * 128, turned = u32(own & 7);
  const i32 set = t / kOut, at_set = t % kOut;
  // The result that this thread finishes, of passes whose turn it is.
  const i32 at_own = kParts == 1 ? at_set : rank * kOwn + at_set % kSpan % kOwn;
  const auto squares_of = [&](i32 token) {
    f32 sum = 0.0f;
    for (i32 w = 0; w < kWarps; ++w) sum += squares[token * kWarps + w];
    return sum;
  };
  f32 norm = 0.0f;
  const auto norm_of = [&]() {
    if (!$NORM$) return 1.0f;
    f32 sum = 0.0f;
    if (kParts == 1) sum = squares_of(token_of(at_own));
    else {
      wait_for_cluster(squared, 0);
      for (i32 other = 0; other < kParts; ++other) sum += totals[other * kTokens + token_of(at_own)];
    }
    return 1.0f / sqrtf(sum / f32($K$) + f32(p.epsilon));
  };

  i32 take = 0;
  u32 phase = 0;
  f32 sum[kItems][kTiles][4];
  // Units of x from `from` on times the tiles that they go with, of `now` groups.
  const auto multiply_chunk = [&](const V4 (*from)[kTiles], i32 now) {
#pragma unroll
    for (i32 item = 0; item < kItems; ++item) {
      if (item / $C$ >= now) break;
      barrier_wait(bars + take * 8, phase);
      const u32 slot = ring + take * kSlotBytes + row_at;
#if $BITS$ == 16
      V4 a[kUnits], b[kUnits];
      u32 seen = 0;
#pragma unroll
      for (i32 u = 0; u < kUnits; ++u) {
        const u32 at = slot + ((u32(u * 4 + piece) ^ turned) * 16);
        a[u] = load_shared(at);
        b[u] = load_shared(at + 1024);
        seen |= a[u].e[0] | b[u].e[0];
      }
      __syncwarp();
      issue(seen);
#pragma unroll
      for (i32 u = 0; u < kUnits; ++u) {
#pragma unroll
        for (i32 m = 0; m < kTiles; ++m) {
          const V4& now_x = from[u][m];
          multiply(sum[item][m], a[u].e[0], b[u].e[0], a[u].e[1], b[u].e[1], now_x.e[0], now_x.e[1]);
          multiply(sum[item][m], a[u].e[2], b[u].e[2], a[u].e[3], b[u].e[3], now_x.e[2], now_x.e[3]);
        }
      }
#else
      const V4 by_a = load_shared(scale_ring + take * kScaleBytes + own * 16), by_b = load_shared(scale_ring + take * kScaleBytes + 128 + own * 16);
      u32 seen = by_a.e[0] | by_b.e[0];
#pragma unroll
      for (i32 u = 0; u < kUnits; ++u) {
#if $BITS$ == 8
        const u32 at = slot + u / 4 * 2048 + ((u32(u % 4 * 2 + piece / 2) ^ turned) * 16) + piece % 2 * 8;
#else
        const u32 at = slot + ((u32(u) ^ turned) * 16) + piece * 4;
#endif
        u32 a[4], b[4];
        unpack(a, at);
        unpack(b, at + 1024);
        seen |= a[0] | b[0] | a[3] | b[3];
        const u32 pair_a = by_a.e[u / 2], pair_b = by_b.e[u / 2];
        const f32 scale_a = u % 2 == 0 ? low(pair_a) : high(pair_a), scale_b = u % 2 == 0 ? low(pair_b) : high(pair_b);
#pragma unroll
        for (i32 m = 0; m < kTiles; ++m) {
          const V4& now_x = from[u][m];
          f32 part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
          multiply(part, a[0], b[0], a[1], b[1], now_x.e[0], now_x.e[1]);
          multiply(part, a[2], b[2], a[3], b[3], now_x.e[2], now_x.e[3]);
          sum[item][m][0] = fmaf(part[0], scale_a, sum[item][m][0]);
          sum[item][m][1] = fmaf(part[1], scale_a, sum[item][m][1]);
          sum[item][m][2] = fmaf(part[2], scale_b, sum[item][m][2]);
          sum[item][m][3] = fmaf(part[3], scale_b, sum[item][m][3]);
        }
      }
      __syncwarp();
      issue(seen);
#endif
      if (++take == slots) { take = 0; phase ^= 1; }
    }
  };
  const auto store_sums = [&](i32 pass) {
    const i32 buffer = pass % kBuffers;
    if (pass >= kBuffers) barrier_wait(empty + buffer * 8, u32(pass / kBuffers - 1) & 1u);
#pragma unroll
    for (i32 item = 0; item < kItems; ++item) {
#pragma unroll
      for (i32 m = 0; m < kTiles; ++m) {
        f32 (&s)[4] = sum[item][m];
#if $BITS$ < 16
#pragma unroll
        for (i32 e = 0; e < 4; ++e) s[e] *= factor[m][e % 2];
#endif
        store_shared(shared_address(partial_of(buffer, item, warp) + m * 128 + lane * 4), {{bits_of(s[0]), bits_of(s[1]), bits_of(s[2]), bits_of(s[3])}});
      }
    }
    __syncwarp();
    if (lane == 0) barrier_arrive(full + buffer * 8);
  };
  const auto sum_of_warps = [&](i32 pass, i32 item) {
    f32 all = 0.0f;
#pragma unroll
    for (i32 w = 0; w < kWarps; ++w) all += partial_of(pass % kBuffers, item, w)[at_set];
    return all;
  };
  const auto wait_for_warps = [&](i32 pass) { barrier_wait(full + pass % kBuffers * 8, u32(pass / kBuffers) & 1u); };
  const auto free_sums = [&](i32 pass) {
    __syncwarp();
    if (lane == 0) barrier_arrive(empty + pass % kBuffers * 8);
  };
  const auto is_mine = [&](i32 pass, i32 g) { return g < groups_of(pass) && (pass * kGroups + g) % kSets == set; };
  // To the blocks that they are for.
  const auto send_sums = [&](i32 pass) {
    const i32 slot = pass % kInbox;
    if (pass >= kInbox) wait_for_cluster(taken + slot * 8, u32(pass / kInbox - 1) & 1u);
    wait_for_warps(pass);
#pragma unroll
    for (i32 item = 0; item < kItems; ++item) {
      if (!is_mine(pass, item / $C$)) continue;
      send(shared_address(inbox + ((slot * kItems + item) * kParts + rank) * kOwn + at_set % kOwn), arrived + slot * 8, u32(at_set / kOwn), sum_of_warps(pass, item));
    }
    if ($NORM$ && pass == 0 && t < kTokens) {
      const f32 all = squares_of(t);
      for (i32 other = 0; other < kParts; ++other) send(shared_address(totals + rank * kTokens + t), squared, u32(other), all);
    }
    free_sums(pass);
  };
  // Group g's results: what the tail of the region reads is asked for before sums are waited for.
  i32 ending = 0;  // the pass
  const auto load_end = [&](i32 g) {
    const i32 row = row_of(first + (ending * kGroups + g) * step, at_own);
    const bool stores = is_mine(ending, g) && row < i32(p.n) && token_of(at_own) < rows && at_set % kSpan < kOwn;
    const i64 r = stores ? row : 0, mine = stores ? token_of(at_own) : 0;
    $LOADS$
    $O$* const to = p.y + mine * p.n + r;
    return [=](const f32 (&my)[$C$]) { if (stores) st(*to, finish($CALL$)); };
  };
  using End = decltype(load_end(0));
  const auto end_group = [&](i32 g, const End& end) {
    if (!is_mine(ending, g)) return;
    if (norm == 0.0f) norm = norm_of();
    f32 my[$C$];
#pragma unroll
    for (i32 c = 0; c < $C$; ++c) {
      const i32 item = g * $C$ + c;
      f32 all = 0.0f;
      if (kParts == 1) all = sum_of_warps(ending, item);
      else {
#pragma unroll
        for (i32 other = 0; other < kParts; ++other) all += inbox[((ending % kInbox * kItems + item) * kParts + other) * kOwn + at_set % kSpan % kOwn];
      }
      my[c] = all * norm * f32(p.alpha[c]);
    }
    end(my);
  };
  const auto end_alone = [&](i32 pass) {
    ending = pass;
    load_then<0, kGroups>(load_end, [&]() { wait_for_warps(pass); }, end_group);
    free_sums(pass);
  };
  const auto end_together = [&](i32 pass) {
    if (at_set / kSpan != pass % (kOut / kSpan)) return;
    const i32 slot = pass % kInbox;
    ending = pass;
    load_then<0, kGroups>(load_end, [&]() { wait_for_cluster(arrived + slot * 8, u32(pass / kInbox) & 1u); }, end_group);
    __syncwarp();
    if (pass + kInbox >= passes) return;
    if (set == 0 && at_set % kSpan == 0) expect_sums(pass + kInbox);
    if (lane < kParts) arrive_there(taken + slot * 8, u32(lane));
  };
  // Sums of the pass before are added up while the first chunks of the next one are multiplied, and
  // in a cluster those of the pass before that, which have come.
  const auto add_before = [&](i32 pass) {
    if constexpr (kParts == 1) { if (pass > 0) end_alone(pass - 1); }
    else {
      if (pass > 0 && pass <= passes) send_sums(pass - 1);
      if (pass > 1) end_together(pass - 2);
    }
  };
  for (i32 pass = 0; pass < passes; ++pass) {
    const i32 now = groups_of(pass);
#pragma unroll
    for (i32 item = 0; item < kItems; ++item) {
#pragma unroll
      for (i32 m = 0; m < kTiles; ++m) sum[item][m][0] = sum[item][m][1] = sum[item][m][2] = sum[item][m][3] = 0.0f;
    }
    if constexpr (kKept) {
#pragma unroll
      for (i32 i = 0; i < kTurns; ++i) {
        if (i < turns) multiply_chunk(x + i * kUnits, now);
        if (i == 0) add_before(pass);
      }
    } else {
#pragma unroll 1
      for (i32 i = 0; i < turns; ++i) {
        load_stage(stage);
#pragma unroll
        for (i32 m = 0; m < kTiles; ++m) {
#pragma unroll
          for (i32 f = 0; f < kAll; ++f) {
            f32 most;
            if (pass == 0) measure(raw[f][m], by[f], square[m], most);
            x[f][m] = ready(raw[f][m], by[f], 1.0f);
          }
        }
        __syncwarp();
        if constexpr (kStays) commit_copies();
        else stage_x(stage);
        stage = stage + 1 < (kStays ? turns : kStages) ? stage + 1 : 0;
        multiply_chunk(x, now);
        if (i == 0) add_before(pass);
      }
      if (turns == 0) add_before(pass);
      if (pass == 0) keep_squares();
    }
    store_sums(pass);
  }
  add_before(passes);
  if (kParts > 1) add_before(passes + 1);
}
}  // namespace tiles
#if $EIGHT$
NEF_EARLY_KERNEL(gemv8, TilesP, 256, $BESIDE$) { tiles::run<1, $PARTS8$, $GROUPS8$, $STAGES8$, false>(p); }
#endif
#if $SIXTEEN$
NEF_EARLY_KERNEL(gemv16, TilesP, 256, $BESIDE$) { tiles::run<2, $PARTS16$, $GROUPS16$, $STAGES16$, $ONCE$>(p); }
#endif
)device";

}  // namespace nef::gpu
