// SPDX-License-Identifier: Apache-2.0
// Copies of elements of one size, from one set of steps to another: element by element, in packs
// of 16 bytes where both sides run along densely, or through tiles where they run along different
// axes.
#include "backends/gpu/stage.h"

namespace nef::gpu {
namespace {

constexpr int64_t kPack = 16;                      // bytes
constexpr int64_t kTile = 64;                      // elements along both axes
constexpr int64_t kMost = (int64_t{1} << 31) - 1;  // positions are 32 bits in the kernels

constexpr const char* kCopy = R"device(
struct alignas(16) CopyPack { u32 v[4]; };
struct CopyP { void* o; const void* x; i64 n; i64 rank; i64 dims[16]; i64 so[16]; i64 sx[16]; };
template <class T> DEV void copied(const CopyP& p) {
  const i64 step = thread_count();
  for (i64 i = thread_id(); i < p.n; i += step) {
    u32 left = u32(i);
    i64 o = 0, x = 0;
    for (i64 d = p.rank - 1; d >= 0; --d) {
      u32 c = left;
      if (d > 0) { const u32 n = u32(p.dims[d]); left = c / n; c -= left * n; }
      o += i64(c) * p.so[d]; x += i64(c) * p.sx[d];
    }
    ((T*)p.o)[o] = ((const T*)p.x)[x];
  }
}
NEF_KERNEL(copy, CopyP) { copied<$T$>(p); }
NEF_KERNEL(copy_packs, CopyP) { copied<CopyPack>(p); }
// `from` elements lie densely in x, `to` in o; `rest` are the other axes.
struct TurnP { $T$* o; const $T$* x; i64 from; i64 to; i64 by_from; i64 by_to; i64 packs; i64 tiles; i64 rank; i64 dims[16]; i64 so[16]; i64 sx[16]; };
constexpr i32 kTurnTile = 64, kTurnLanes = 16 / sizeof($T$);
struct alignas(16) TurnPack { $T$ e[kTurnLanes]; };
NEF_KERNEL(turn, TurnP) {
  __shared__ $T$ tile[kTurnTile][kTurnTile + 1];
  const u32 across = u32((p.from + kTurnTile - 1) / kTurnTile), down = u32((p.to + kTurnTile - 1) / kTurnTile);
  for (u32 at = blockIdx.x; at < u32(p.tiles); at += gridDim.x) {
    const u32 rest = at / across;
    const i64 f0 = i64(at - rest * across) * kTurnTile, t0 = i64(rest % down) * kTurnTile;
    const $T$* x = p.x + offset_of(u64(rest / down), p.rank, p.dims, p.sx) + t0 * p.by_to + f0;
    $T$* o = p.o + offset_of(u64(rest / down), p.rank, p.dims, p.so) + f0 * p.by_from + t0;
    const i32 nf = p.from - f0 < kTurnTile ? i32(p.from - f0) : kTurnTile, nt = p.to - t0 < kTurnTile ? i32(p.to - t0) : kTurnTile;
    if (p.packs) {
#pragma unroll
      for (i32 i = i32(threadIdx.x); i < kTurnTile * kTurnTile / kTurnLanes; i += 256) {
        const i32 t = i / (kTurnTile / kTurnLanes), f = i % (kTurnTile / kTurnLanes) * kTurnLanes;
        if (t >= nt || f >= nf) continue;
        const TurnPack v = *(const TurnPack*)(x + t * p.by_to + f);
#pragma unroll
        for (i32 e = 0; e < kTurnLanes; ++e) tile[t][f + e] = v.e[e];
      }
    } else {
      for (i32 i = i32(threadIdx.x); i < kTurnTile * kTurnTile; i += 256) {
        const i32 t = i / kTurnTile, f = i % kTurnTile;
        if (t < nt && f < nf) tile[t][f] = x[t * p.by_to + f];
      }
    }
    __syncthreads();
    if (p.packs) {
#pragma unroll
      for (i32 i = i32(threadIdx.x); i < kTurnTile * kTurnTile / kTurnLanes; i += 256) {
        const i32 f = i / (kTurnTile / kTurnLanes), t = i % (kTurnTile / kTurnLanes) * kTurnLanes;
        if (t >= nt || f >= nf) continue;
        TurnPack v;
#pragma unroll
        for (i32 e = 0; e < kTurnLanes; ++e) v.e[e] = tile[t + e][f];
        *(TurnPack*)(o + f * p.by_from + t) = v;
      }
    } else {
      for (i32 i = i32(threadIdx.x); i < kTurnTile * kTurnTile; i += 256) {
        const i32 f = i / kTurnTile, t = i % kTurnTile;
        if (t < nt && f < nf) o[f * p.by_from + t] = tile[t][f];
      }
    }
    __syncthreads();
  }
}
)device";

void add_walk(Params& p, const Walk& walk) {
  const int rank = walk.dims.rank;
  p.add(int64_t{rank}).add(walk.dims.at, rank, NEF_MAX_RANK, 1);
  for (const Dims& s : walk.steps) p.add(s.at, rank, NEF_MAX_RANK, 0);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % kPack == 0; }

// Both sides in packs of 16 bytes, where they can be.
bool pack(Walk& walk, const char* dst, const char* src, int64_t size) {
  const int last = walk.dims.rank - 1;
  const int64_t lanes = kPack / size;
  if (lanes == 1 || !aligned(dst) || !aligned(src) || walk.dims.at[last] % lanes != 0) return false;
  for (const Dims& s : walk.steps) {
    if (s.at[last] != 1) return false;
    for (int d = 0; d < last; ++d) {
      if (s.at[d] % lanes != 0) return false;
    }
  }
  walk.dims.at[last] /= lanes;
  for (Dims& s : walk.steps) {
    for (int d = 0; d < last; ++d) s.at[d] /= lanes;
  }
  return true;
}

// The axis along which the source is dense, where the destination is along the last; -1 = none that
// is worth tiles.
int turned_axis(const Walk& walk) {
  const int last = walk.dims.rank - 1;
  if (walk.steps[0].at[last] != 1 || walk.steps[1].at[last] <= 1 || walk.dims.at[last] < 8) {
    return -1;
  }
  for (int d = 0; d < last; ++d) {
    if (walk.steps[1].at[d] == 1 && walk.dims.at[d] >= 8) return d;
  }
  return -1;
}

void launch_turn(const Run& run, Module& module, Walk walk, int axis, char* dst, const char* src,
                 int64_t size) {
  const int last = walk.dims.rank - 1;
  const int64_t from = walk.dims.at[axis], to = walk.dims.at[last];
  const int64_t by_from = walk.steps[0].at[axis], by_to = walk.steps[1].at[last];
  const auto drop = [&](int d) {
    for (Dims* v : {&walk.dims, &walk.steps[0], &walk.steps[1]}) {
      std::copy(v->at + d + 1, v->at + v->rank, v->at + d);
      --v->rank;
    }
  };
  drop(last);
  drop(axis);
  const int64_t lanes = kPack / size;
  bool packs = aligned(dst) && aligned(src);
  for (int64_t n : {from, to, by_from, by_to}) packs = packs && n % lanes == 0;
  for (const Dims& s : walk.steps) {
    for (int d = 0; d < s.rank; ++d) packs = packs && s.at[d] % lanes == 0;
  }
  const int64_t tiles = (from + kTile - 1) / kTile * ((to + kTile - 1) / kTile) * walk.dims.count();
  Params p;
  p.add(dst).add(src).add(from).add(to).add(by_from).add(by_to).add(int64_t{packs}).add(tiles);
  add_walk(p, walk);
  run.launch(module, "turn", {std::min<int64_t>(tiles, int64_t{1} << 22), 1, 256}, p);
}

// What is too large for the kernel's positions is cut along its first axis.
void launch_copy(const Run& run, Module& module, const Walk& walk, char* dst, const char* src,
                 const char* kernel, int64_t unit) {
  const int64_t n = walk.dims.count(), first = walk.dims.at[0];
  if (n > kMost) {
    Walk part = walk;
    part.dims.at[0] = first / 2;
    launch_copy(run, module, part, dst, src, kernel, unit);
    part.dims.at[0] = first - first / 2;
    return launch_copy(run, module, part, dst + walk.steps[0].at[0] * (first / 2) * unit,
                       src + walk.steps[1].at[0] * (first / 2) * unit, kernel, unit);
  }
  Params p;
  p.add(dst).add(src).add(n);
  add_walk(p, walk);
  run.launch(module, kernel, grid_for(n), p);
}

// Another launch may have read what lay there before, so it is read as it is now.
constexpr const char* kHostCopy = R"device(
struct P { u8* to; const u8* from; i64 bytes; };
NEF_KERNEL(host_copy, P) {
  const i64 words = ((u64(p.to) | u64(p.from)) & 7) == 0 ? p.bytes / 8 : 0;
  for (i64 i = thread_id(); i < words; i += thread_count()) ((u64*)p.to)[i] = ((const volatile u64*)p.from)[i];
  for (i64 i = 8 * words + thread_id(); i < p.bytes; i += thread_count()) p.to[i] = ((const volatile u8*)p.from)[i];
}
)device";

}  // namespace

std::string host_copy_source() { return kHostCopy; }

void launch_host_copy(Device& device, Module& module, void* dst, const void* src, size_t bytes) {
  half_taken = nullptr;
  const auto n = static_cast<int64_t>(bytes);
  Params p;
  p.add(dst).add(src).add(n);
  device.launch(host_copy_function(module), grid_for((n + 7) / 8), p.data(), p.bytes(),
                device.default_stream());
}
void* host_copy_function(Module& module) { return module.function("host_copy"); }

std::string strided_copy_source(size_t size) { return fill(kCopy, {{"T", raw_type(size)}}); }

void launch_strided_copy(const Run& run, Module& module, Walk walk, char* dst, const char* src,
                         size_t size) {
  const int64_t n = walk.dims.count();
  if (n == 0) return;
  walk.simplify();
  const auto bytes = static_cast<int64_t>(size);
  const int axis = turned_axis(walk);
  if (axis >= 0) return launch_turn(run, module, walk, axis, dst, src, bytes);
  const bool packs = pack(walk, dst, src, bytes);
  launch_copy(run, module, walk, dst, src, packs ? "copy_packs" : "copy", packs ? kPack : bytes);
}

}  // namespace nef::gpu
