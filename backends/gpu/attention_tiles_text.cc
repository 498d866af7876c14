// SPDX-License-Identifier: Apache-2.0
// Many queries at once, for heads of up to $D$ numbers: a block of 128 threads has 32 queries and
// goes through the keys in tiles of 64; sixteen threads share four queries. The softmax is kept up
// to date with the largest score so far. Values that are not finite are only looked at where their
// weight is not 0.
#include "backends/gpu/heads.h"

namespace nef::gpu {

const char* const kAttentionTilesText = R"device(
namespace attention_tiles {
constexpr i32 kD = $D$, kRows = 32, kKeys = 64, kThreads = 128, kEach = kD / 16;
constexpr i32 kPitch = kD + 4, kScores = kKeys + 4;  // neighbouring rows lie in other banks
template <class S> struct alignas(4 * sizeof(S)) RowPack { S e[4]; };
struct alignas(4 * kEach) Values { f32 e[kEach]; };
struct alignas(16) Four { f32 e[4]; };
DEV Four four_at(const f32* p) { return *(const Four*)p; }
// `count` rows into shared memory. Is one of their numbers not finite?
template <class S> DEV bool bring_rows(f32* to, const S* from, i64 step, i32 count, i64 size, f32 scale) {
  bool odd = false;
  if (size == kD && step % 4 == 0 && u64(from) % sizeof(RowPack<S>) == 0) {
    for (i32 i = i32(threadIdx.x); i < count * (kD / 4); i += kThreads) {
      const i32 r = i / (kD / 4), c = i % (kD / 4) * 4;
      const RowPack<S> pack = *(const RowPack<S>*)(from + r * step + c);
      Four v;
      for (i32 e = 0; e < 4; ++e) {
        v.e[e] = f32(ld(pack.e[e])) * scale;
        odd = odd || v.e[e] - v.e[e] != 0.0f;
      }
      *(Four*)(to + r * kPitch + c) = v;
    }
    return odd;
  }
  for (i32 i = i32(threadIdx.x); i < count * kD; i += kThreads) {
    const i32 r = i / kD, c = i % kD;
    const f32 v = c < size ? f32(ld(from[r * step + c])) * scale : 0.0f;
    odd = odd || v - v != 0.0f;
    to[r * kPitch + c] = v;
  }
  return odd;
}
DEV void clear_rows(f32* to, i32 first, i32 end) {
  for (i32 i = first * kPitch + i32(threadIdx.x); i < end * kPitch; i += kThreads) to[i] = 0.0f;
}
// Keys or values j0 .. j0 + kKeys - 1 of a head: of the past, then new ones, then zeros.
template <class S> DEV bool bring_tile(f32* to, const S* old, i64 old_step, const S* fresh, i64 step, i64 past, i64 keys, i64 j0, i64 size) {
  const i64 left = keys - j0, olds = past - j0;
  const i32 n = left < kKeys ? i32(left) : kKeys, first = olds <= 0 ? 0 : olds < n ? i32(olds) : n;
  bool odd = first > 0 && bring_rows(to, old + j0 * old_step, old_step, first, size, 1.0f);
  if (first < n && bring_rows(to + first * kPitch, fresh + (j0 + first - past) * step, step, n - first, size, 1.0f)) odd = true;
  clear_rows(to, n, kKeys);
  return odd;
}
template <class Join> DEV f32 join_sixteen(f32 v, const Join& join) {
#pragma unroll
  for (i32 mask = 8; mask > 0; mask >>= 1) v = join(v, nef_xor(v, mask));
  return v;
}
template <bool kCareful> DEV void add_values(f32 (&out)[4][kEach], const f32* shares, const f32* values) {
#pragma unroll 2
  for (i32 k = 0; k < kKeys; k += 4) {
    Four e[4];
    for (i32 r = 0; r < 4; ++r) e[r] = four_at(shares + r * kScores + k);
#pragma unroll
    for (i32 i = 0; i < 4; ++i) {
      const Values v = *(const Values*)(values + (k + i) * kPitch);
      for (i32 r = 0; r < 4; ++r) for (i32 c = 0; c < kEach; ++c) {
        if (!kCareful || e[r].e[i] != 0.0f) out[r][c] += e[r].e[i] * v.e[c];
      }
    }
  }
}
struct TileMax { __device__ f32 operator()(f32 a, f32 b) const { return op_max(a, b); } };
struct TileAdd { __device__ f32 operator()(f32 a, f32 b) const { return a + b; } };
NEF_KERNEL(attention_tiled, AttentionP) {
  __shared__ Four queries[kRows * kPitch / 4], others[kKeys * kPitch / 4], shares[kRows * kScores / 4];
  __shared__ i32 odd;
  f32 *qs = (f32*)queries, *os = (f32*)others, *ps = (f32*)shares;
  const i32 t = i32(threadIdx.x), tc = t % 16, r0 = t / 16 * 4;
  const i64 tiles = (p.queries + kRows - 1) / kRows, work = p.batch * p.heads * tiles;
  for (i64 w = blockIdx.x; w < work; w += gridDim.x) {
    const i64 s0 = w % tiles * kRows, h = w / tiles % p.heads, b = w / tiles / p.heads;
    const i64 kv = h / p.group, length = p.lengths ? p.lengths[b] : p.keys;
    const i64 offset = p.has_past || !p.lengths ? p.past : length - p.queries;
    const i32 rows = p.queries - s0 < kRows ? i32(p.queries - s0) : kRows;
    __syncthreads();
    bring_rows(qs, p.q + at_row(p.qs, b, h, s0), p.qs.row, rows, p.size, f32(p.scale));
    clear_rows(qs, rows, kRows);
    f32 top[4], sum[4], out[4][kEach];
    for (i32 r = 0; r < 4; ++r) {
      top[r] = least<f32>();
      sum[r] = 0.0f;
      for (i32 c = 0; c < kEach; ++c) out[r][c] = 0.0f;
    }
    // Keys beyond the last query's are masked for all.
    i64 end = length < p.keys ? length : p.keys;
    if (p.causal && s0 + kRows + offset < end) end = s0 + kRows + offset;
    for (i64 j0 = 0; j0 < end; j0 += kKeys) {
      __syncthreads();
      if (t == 0) odd = 0;
      bring_tile(os, p.past_k + at_row(p.past_ks, b, kv, 0), p.past_ks.row, p.k + at_row(p.ks, b, kv, 0), p.ks.row, p.past, p.keys, j0, p.size);
      __syncthreads();
      f32 score[4][4];
      for (i32 r = 0; r < 4; ++r) for (i32 j = 0; j < 4; ++j) score[r][j] = 0.0f;
#pragma unroll 2
      for (i32 c = 0; c < kD; c += 4) {
        Four q[4], k[4];
        for (i32 r = 0; r < 4; ++r) q[r] = four_at(qs + (r0 + r) * kPitch + c);
        for (i32 j = 0; j < 4; ++j) k[j] = four_at(os + (tc + 16 * j) * kPitch + c);
#pragma unroll
        for (i32 e = 0; e < 4; ++e) for (i32 r = 0; r < 4; ++r) for (i32 j = 0; j < 4; ++j) score[r][j] += q[r].e[e] * k[j].e[e];
      }
#pragma unroll
      for (i32 r = 0; r < 4; ++r) {
        const i64 s = s0 + r0 + r;
        f32 best = top[r];
#pragma unroll
        for (i32 i = 0; i < 4; ++i) {
          const i64 j = j0 + tc + 16 * i;
          f32 v = score[r][i];
          if (p.softcap > 0) v = f32(p.softcap) * tanhf(v / f32(p.softcap));
          if (j >= length || j >= p.keys || (p.causal && j > s + offset)) v = least<f32>();
          else if (p.mask && s < p.queries) {
            if (p.columns != 1 && j >= p.columns) v += least<f32>();
            else {
              const i64 at = b * p.mask_steps[0] + h * p.mask_steps[1] + s * p.mask_steps[2] + j * p.mask_steps[3];
              v += $MASK32$;
            }
          }
          score[r][i] = v;
          best = op_max(best, v);
        }
        best = join_sixteen(best, TileMax());
        const bool nothing = best == least<f32>();
        const f32 old = nothing ? 1.0f : expf(top[r] - best);
        top[r] = best;
        sum[r] *= old;
        for (i32 c = 0; c < kEach; ++c) out[r][c] *= old;
#pragma unroll
        for (i32 i = 0; i < 4; ++i) {
          const f32 e = nothing ? 0.0f : expf(score[r][i] - best);
          sum[r] += e;
          ps[(r0 + r) * kScores + tc + 16 * i] = e;
        }
      }
      __syncthreads();
      if (bring_tile(os, p.past_v + at_row(p.past_vs, b, kv, 0), p.past_vs.row, p.v + at_row(p.vs, b, kv, 0), p.vs.row, p.past, p.keys, j0, p.v_size)) odd = 1;
      __syncthreads();
      if (odd) add_values<true>(out, ps + r0 * kScores, os + tc * kEach);
      else add_values<false>(out, ps + r0 * kScores, os + tc * kEach);
    }
#pragma unroll
    for (i32 r = 0; r < 4; ++r) {
      const i64 s = s0 + r0 + r;
      const f32 all = join_sixteen(sum[r], TileAdd());
      if (s >= p.queries) continue;
      const bool nothing = top[r] == least<f32>();
      for (i32 c = 0; c < kEach; ++c) {
        const i32 i = tc * kEach + c;
        if (i < p.v_size) st(p.y[at_row(p.ys, b, h, s) + i], $R$(nothing ? 0.0f : out[r][c] / all));
      }
    }
  }
}
}  // namespace attention_tiles
)device";

}  // namespace nef::gpu
