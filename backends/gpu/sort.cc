// SPDX-License-Identifier: Apache-2.0
// TopK: lines are sorted by keys whose order as unsigned numbers is that of the op, ties by their
// place. Blocks sort pieces in their own memory; larger steps of the network go through the
// device's.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

constexpr int64_t kPiece = 2048;

constexpr const char* kSort = R"device(
constexpr i32 kPiece = $PIECE$;
struct Entry { u64 key; i64 at; };
struct P { X* y; i64* places; const X* x; Entry* entries; i64 lines; i64 n; i64 padded; i64 inner; i64 k; i64 smallest;
  i64 size; i64 stride; };
// Larger numbers have larger keys; all NaNs have one, above every number.
DEV u64 key_of(f64 v) {
  if (v != v) return ~u64(0);
  union { f64 f; u64 u; } b; b.f = v + 0.0;
  if (b.u << 1 == 0) b.u = 0;
  return b.u >> 63 ? ~b.u : b.u | u64(1) << 63;
}
DEV u64 key_of(i64 v) { return u64(v) ^ u64(1) << 63; }
DEV u64 key_of(u64 v) { return v; }
// What fills up to a power of two has a place past the end and stands behind all else.
DEV bool before(const Entry& a, const Entry& b) {
  return a.at < 0 || b.at < 0 ? b.at < 0 && a.at >= 0 : a.key != b.key ? a.key > b.key : a.at < b.at;
}
DEV void order(Entry& a, Entry& b, bool up) {
  if (before(b, a) == up) { const Entry e = a; a = b; b = e; }
}
NEF_KERNEL(keys, P) {
  for (i64 i = thread_id(); i < p.lines * p.padded; i += thread_count()) {
    const i64 line = i / p.padded, k = i % p.padded;
    Entry e = {0, -1};
    if (k < p.n) {
      const u64 key = key_of(XD(ld(p.x[line / p.inner * p.n * p.inner + line % p.inner + k * p.inner])));
      e = {p.smallest ? ~key : key, k};
    }
    p.entries[i] = e;
  }
}
// All steps within pieces: of sizes up to the piece when `size` is 0, else the last ones of `size`.
NEF_KERNEL(pieces, P) {
  __shared__ Entry e[kPiece];
  const i32 piece = i32(p.padded < kPiece ? p.padded : kPiece), t = i32(threadIdx.x);
  Entry* own = p.entries + i64(blockIdx.x) * piece;
  const i64 first = i64(blockIdx.x) * piece % p.padded;
  for (i32 i = t; i < piece; i += 256) e[i] = own[i];
  __syncthreads();
  for (i64 size = p.size ? p.size : 2; size <= (p.size ? p.size : i64(piece)); size *= 2) {
    for (i32 stride = i32(size / 2 < piece ? size / 2 : piece / 2); stride > 0; stride /= 2) {
      for (i32 i = t; i < piece / 2; i += 256) {
        const i32 a = i / stride * 2 * stride + i % stride;
        order(e[a], e[a + stride], ((first + a) & size) == 0);
      }
      __syncthreads();
    }
  }
  for (i32 i = t; i < piece; i += 256) own[i] = e[i];
}
NEF_KERNEL(step, P) {
  for (i64 i = thread_id(); i < p.lines * p.padded / 2; i += thread_count()) {
    const i64 a = i / p.stride * 2 * p.stride + i % p.stride;
    order(p.entries[a], p.entries[a + p.stride], (a % p.padded & p.size) == 0);
  }
}
NEF_KERNEL(pick, P) {
  for (i64 i = thread_id(); i < p.lines * p.k; i += thread_count()) {
    const i64 line = i / p.inner / p.k * p.inner + i % p.inner, at = p.entries[line * p.padded + i / p.inner % p.k].at;
    if (p.y) p.y[i] = p.x[line / p.inner * p.n * p.inner + line % p.inner + at * p.inner];
    if (p.places) p.places[i] = at;
  }
}
)device";

std::string source(const Region& region, const Node& node) {
  const std::string text = type_text("X", region.input(node, 0).dtype) + kKernelCommon + kSort;
  return fill(text.c_str(), {{"PIECE", std::to_string(kPiece)}});
}

struct Shape {
  int64_t lines = 1, n = 1, inner = 1, padded = 1;
};
Shape shape_of(const Call& c) {
  const Dims x = c.in();
  const int axis = front_axis(c.attr_int(NEF_TOPK_AXIS, -1), x.rank);
  Shape s;
  s.n = x.at[axis];
  s.inner = x.count(axis + 1, x.rank);
  s.lines = x.count(0, axis) * s.inner;
  while (s.padded < s.n) s.padded *= 2;
  return s;
}

size_t scratch(const Call& c) {
  const Shape s = shape_of(c);
  return static_cast<size_t>(s.lines * s.padded) * 16;
}

void launch(const Call& c, Module* module) {
  const Shape s = shape_of(c);
  const Dims y = c.wants(0) ? c.out(0) : c.out(1);
  if (y.count() == 0) return;
  const int64_t k = y.at[front_axis(c.attr_int(NEF_TOPK_AXIS, -1), y.rank)];
  const auto params = [&](int64_t size, int64_t stride) {
    Params p;
    p.add(c.to(0)).add(c.to(1)).add(c.from()).add(c.scratch()).add(s.lines).add(s.n).add(s.padded);
    p.add(s.inner).add(k).add(int64_t{c.attr_int(NEF_TOPK_LARGEST, 1) == 0}).add(size).add(stride);
    return p;
  };
  const int64_t entries = s.lines * s.padded;
  c.launch(*module, "keys", grid_for(entries), params(0, 0));
  if (s.padded > 1) {
    const Grid blocks{entries / std::min(s.padded, kPiece), 1, 256};
    c.launch(*module, "pieces", blocks, params(0, 0));
    for (int64_t size = 2 * kPiece; size <= s.padded; size *= 2) {
      for (int64_t stride = size / 2; stride >= kPiece; stride /= 2) {
        c.launch(*module, "step", grid_for(entries / 2), params(size, stride));
      }
      c.launch(*module, "pieces", blocks, params(size, 0));
    }
  }
  c.launch(*module, "pick", grid_for(s.lines * k), params(0, 0));
}

constexpr OpKernel kKernels[] = {{NEF_OP_TOPK, "top k", source, launch, scratch, 1u << 1}};

}  // namespace

std::span<const OpKernel> sort_kernels() { return kKernels; }

}  // namespace nef::gpu
