// SPDX-License-Identifier: Apache-2.0
// ScatterElements, ScatterND, TensorScatter. Results do not depend on the order of threads: of
// plain writes to one place the last one in the op's order stays (each place learns its highest
// writer first), and reductions run in that order.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

constexpr const char* kClaims = R"device(
struct ZeroP { u64* p; i64 n; };
NEF_KERNEL(zero, ZeroP) { for (i64 i = thread_id(); i < p.n; i += thread_count()) p.p[i] = 0; }
)device";

std::string combine_text(std::string_view how) {
  const char* join = how == "add"   ? "op_add(a, b)"
                     : how == "mul" ? "op_mul(a, b)"
                     : how == "max" ? "op_max(a, b)"
                     : how == "min" ? "op_min(a, b)"
                                    : "b";
  return std::string("DEV XD join(XD a, XD b) { return ") + join +
         "; }\nDEV void combine(X& y, X u) { put(y, join(XD(ld(y)), XD(ld(u)))); }\n";
}

void zero(const Call& c, Module& module, int64_t n) {
  Params p;
  p.add(c.scratch()).add(n);
  c.launch(module, "zero", grid_for(n), p);
}

// ---- ScatterElements

std::string_view elements_reduction(const Node& node) {
  return attr_string(node, NEF_SCATTER_ELEMENTS_REDUCTION);
}
bool reduces(std::string_view how) { return !how.empty() && how != "none"; }

std::string elements_source(const Region& region, const Node& node) {
  return type_text("X", region.input(node, 0).dtype) + type_text("I", region.input(node, 1).dtype) +
         kKernelCommon + kClaims + combine_text(elements_reduction(node)) + R"device(
struct P { X* y; const I* indices; const X* updates; u64* owner; Fault* fault; i64 n; i64 axis; i64 size; i64 step; i64 length;
  i64 inner; i64 rank; i64 dims[16]; i64 steps[16]; };
// Where update k goes; -1 for an index out of range.
DEV i64 target(const P& p, i64 k) {
  const i64 at = index_of(i64(p.indices[k]), p.axis, p.size, p.fault);
  return at < 0 ? -1 : offset_of(u64(k), p.rank, p.dims, p.steps) + at * p.step;
}
NEF_KERNEL(claim, P) {
  for (i64 k = thread_id(); k < p.n; k += thread_count()) {
    const i64 o = target(p, k);
    if (o >= 0) atomicMax(&p.owner[o], u64(k) + 1);
  }
}
NEF_KERNEL(write, P) {
  for (i64 k = thread_id(); k < p.n; k += thread_count()) {
    const i64 o = target(p, k);
    if (o >= 0 && p.owner[o] == u64(k) + 1) p.y[o] = p.updates[k];
  }
}
// Lines of indices along the axis never meet, so each is one thread's.
NEF_KERNEL(reduce, P) {
  for (i64 line = thread_id(); line < p.n / p.length; line += thread_count()) {
    for (i64 j = 0; j < p.length; ++j) {
      const i64 k = line / p.inner * p.length * p.inner + line % p.inner + j * p.inner;
      const i64 o = target(p, k);
      if (o >= 0) combine(p.y[o], p.updates[k]);
    }
  }
}
)device";
}

size_t elements_scratch(const Call& c) {
  return reduces(elements_reduction(c.node())) ? 0 : static_cast<size_t>(c.out().count()) * 8;
}

void launch_elements(const Call& c, Module* module) {
  const Dims x = c.in(), indices = c.in(1);
  const int axis = front_axis(c.attr_int(NEF_SCATTER_ELEMENTS_AXIS), x.rank);
  const int64_t n = indices.count();
  for (int d = 0; d < x.rank && n > 0; ++d) {
    if (d == axis || indices.at[d] <= x.at[d]) continue;
    throw BackendError(NEF_SHAPE_MISMATCH, "ScatterElements: indices have size " +
                                               std::to_string(indices.at[d]) + " on axis " +
                                               std::to_string(d) + ", the data only " +
                                               std::to_string(x.at[d]));
  }
  c.copy(c.to(), c.from(), static_cast<size_t>(x.count()) * c.element_size());
  if (n == 0) return;
  Dims steps = dense_steps(x);
  const int64_t step = steps.at[axis];
  steps.at[axis] = 0;
  Params p;
  p.add(c.to()).add(c.from(1)).add(c.from(2)).add(c.scratch()).add(c.fault("ScatterElements"));
  p.add(n).add(int64_t{axis}).add(x.at[axis]).add(step).add(indices.at[axis]);
  p.add(indices.count(axis + 1, x.rank)).add(int64_t{x.rank});
  p.add(indices.at, x.rank, NEF_MAX_RANK, 1).add(steps.at, x.rank, NEF_MAX_RANK, 0);
  if (reduces(elements_reduction(c.node()))) {
    return c.launch(*module, "reduce", grid_for(n / indices.at[axis]), p);
  }
  if (x.count() > 0) zero(c, *module, x.count());
  c.launch(*module, "claim", grid_for(n), p);
  c.launch(*module, "write", grid_for(n), p);
}

// ---- ScatterND

std::string_view nd_reduction(const Node& node) {
  return attr_string(node, NEF_SCATTER_ND_REDUCTION);
}

std::string nd_source(const Region& region, const Node& node) {
  return type_text("X", region.input(node, 0).dtype) + kKernelCommon + kClaims +
         combine_text(nd_reduction(node)) + R"device(
struct P { X* y; const i64* indices; const X* updates; u64* owner; Fault* fault; i64 tuples; i64 block; i64 length;
  i64 dims[16]; i64 steps[16]; };
// The block that a tuple names, as its number; -1 when out of range.
DEV i64 target(const P& p, i64 tuple) {
  i64 to = 0;
  bool inside = true;
  for (i64 d = 0; d < p.length; ++d) {
    const i64 at = index_of(p.indices[tuple * p.length + d], d, p.dims[d], p.fault);
    inside = inside && at >= 0;
    to += at * p.steps[d];
  }
  return inside ? to : -1;
}
NEF_KERNEL(claim, P) {
  for (i64 t = thread_id(); t < p.tuples; t += thread_count()) {
    const i64 to = target(p, t);
    if (to >= 0) atomicMax(&p.owner[to], u64(t) + 1);
  }
}
NEF_KERNEL(write, P) {
  for (i64 i = thread_id(); i < p.tuples * p.block; i += thread_count()) {
    const i64 t = i / p.block, to = target(p, t);
    if (to >= 0 && p.owner[to] == u64(t) + 1) p.y[to * p.block + i % p.block] = p.updates[i];
  }
}
// A thread for each place of a block, over the tuples in order.
NEF_KERNEL(reduce, P) {
  for (i64 k = thread_id(); k < p.block; k += thread_count()) {
    for (i64 t = 0; t < p.tuples; ++t) {
      const i64 to = target(p, t);
      if (to >= 0) combine(p.y[to * p.block + k], p.updates[t * p.block + k]);
    }
  }
}
)device";
}

int64_t nd_blocks(const Call& c) {
  const Dims x = c.in(), indices = c.in(1);
  return x.count(0, static_cast<int>(indices.at[indices.rank - 1]));
}
size_t nd_scratch(const Call& c) {
  return reduces(nd_reduction(c.node())) ? 0 : static_cast<size_t>(nd_blocks(c)) * 8;
}

void launch_nd(const Call& c, Module* module) {
  const Dims x = c.in(), indices = c.in(1);
  const int length = static_cast<int>(indices.at[indices.rank - 1]);
  const int64_t tuples = indices.count(0, indices.rank - 1), block = x.count(length, x.rank);
  c.copy(c.to(), c.from(), static_cast<size_t>(x.count()) * c.element_size());
  if (tuples * block == 0) return;
  Dims named;
  named.rank = length;
  std::copy(x.at, x.at + length, named.at);
  const Dims steps = dense_steps(named);
  Params p;
  p.add(c.to()).add(c.from(1)).add(c.from(2)).add(c.scratch()).add(c.fault("ScatterND"));
  p.add(tuples).add(block).add(int64_t{length});
  p.add(named.at, length, NEF_MAX_RANK, 1).add(steps.at, length, NEF_MAX_RANK, 0);
  if (reduces(nd_reduction(c.node()))) return c.launch(*module, "reduce", grid_for(block), p);
  zero(c, *module, std::max<int64_t>(nd_blocks(c), 1));
  c.launch(*module, "claim", grid_for(tuples), p);
  c.launch(*module, "write", grid_for(tuples * block), p);
}

// ---- TensorScatter

std::string cache_source(const Region& region, const Node& node) {
  return std::string("typedef ") + raw_type(backends::dtype_size(region.input(node, 0).dtype)) +
         " T;\n" + kKernelCommon + R"device(
struct P { T* y; const T* update; const i64* at; Fault* fault; i64 n; i64 steps; i64 length; i64 inner; i64 per_batch; i64 circular;
  i64 axis; };
NEF_KERNEL(cache, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 outer = i / (p.steps * p.inner), t = i / p.inner % p.steps;
    const i64 start = p.at ? p.at[outer / p.per_batch] : 0;
    if (start < 0 || (!p.circular && start > p.length - p.steps)) { note_fault(p.fault, start, p.axis, p.length); continue; }
    const i64 row = p.circular ? (start % p.length + t) % p.length : start + t;
    p.y[(outer * p.length + row) * p.inner + i % p.inner] = p.update[i];
  }
}
)device";
}

void launch_cache(const Call& c, Module* module) {
  const Dims x = c.in(), update = c.in(1);
  const int axis = front_axis(c.attr_int(NEF_TENSOR_SCATTER_AXIS, -2), x.rank);
  c.copy(c.to(), c.from(), static_cast<size_t>(x.count()) * c.element_size());
  if (update.count() == 0) return;
  Params p;
  p.add(c.to()).add(c.from(1)).add(c.from(2)).add(c.fault("TensorScatter")).add(update.count());
  p.add(update.at[axis]).add(x.at[axis]).add(x.count(axis + 1, x.rank));
  p.add(std::max<int64_t>(x.count(1, axis), 1));
  p.add(int64_t{c.string(NEF_TENSOR_SCATTER_MODE) == "circular"}).add(int64_t{axis});
  c.launch(*module, "cache", grid_for(update.count()), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_SCATTER_ELEMENTS, "scatter", elements_source, launch_elements, elements_scratch, 0,
     true},
    {NEF_OP_SCATTER_ND, "scatter", nd_source, launch_nd, nd_scratch, 0, true},
    {NEF_OP_TENSOR_SCATTER, "cache update", cache_source, launch_cache, nullptr, 0, true},
};

}  // namespace

std::span<const OpKernel> scatter_kernels() { return kKernels; }

}  // namespace nef::gpu
