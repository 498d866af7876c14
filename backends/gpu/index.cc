// SPDX-License-Identifier: Apache-2.0
// Ops that read where their indices or positions say, and those that make a tensor of positions.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

std::string raw_text(size_t bytes) { return std::string("typedef ") + raw_type(bytes) + " T;\n"; }
size_t output_size(const Region& region, const Node& node) {
  return backends::dtype_size(region.output(node, 0).dtype);
}

// ---- GatherND

std::string gather_nd_source(const Region& region, const Node& node) {
  return raw_text(output_size(region, node)) + kKernelCommon + R"device(
struct P { T* y; const T* x; const i64* indices; Fault* fault; i64 n; i64 block; i64 length; i64 per_batch; i64 batch_size;
  i64 first; i64 dims[16]; i64 steps[16]; };
NEF_KERNEL(gather_nd, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 tuple = i / p.block;
    i64 from = tuple / p.per_batch * p.batch_size + i % p.block;
    bool inside = true;
    for (i64 d = 0; d < p.length; ++d) {
      const i64 at = index_of(p.indices[tuple * p.length + d], p.first + d, p.dims[d], p.fault);
      inside = inside && at >= 0;
      from += at * p.steps[d];
    }
    if (inside) p.y[i] = p.x[from];
  }
}
)device";
}

void launch_gather_nd(const Call& c, Module* module) {
  const Dims x = c.in(), indices = c.in(1), y = c.out(), dense = dense_steps(x);
  const int first = static_cast<int>(c.attr_int(NEF_GATHER_ND_BATCH_DIMS));
  const int length = static_cast<int>(indices.at[indices.rank - 1]);
  const int64_t tuples = indices.count(0, indices.rank - 1), batches = x.count(0, first);
  if (y.count() == 0) return;
  Params p;
  p.add(c.to()).add(c.from()).add(c.from(1)).add(c.fault("GatherND")).add(y.count());
  p.add(x.count(first + length, x.rank)).add(int64_t{length}).add(tuples / batches);
  p.add(x.count(first, x.rank)).add(int64_t{first});
  p.add(x.at + first, length, NEF_MAX_RANK, 1).add(dense.at + first, length, NEF_MAX_RANK, 0);
  c.launch(*module, "gather_nd", grid_for(y.count()), p);
}

// ---- OneHot: an index out of range selects nothing

std::string one_hot_source(const Region& region, const Node& node) {
  return raw_text(output_size(region, node)) + type_text("I", region.input(node, 0).dtype) +
         R"device(
struct P { T* y; const I* at; const T* values; i64 n; i64 depth; i64 inner; };
NEF_KERNEL(one_hot, P) {
  for (i64 o = thread_id(); o < p.n; o += thread_count()) {
    const i64 position = o / p.inner % p.depth;
    const ID raw = ID(ld(p.at[o / p.inner / p.depth * p.inner + o % p.inner]));
    i64 index;
    if constexpr (Type<ID>::flt) index = saturated<i64>(raw);
    else index = Type<ID>::sig || raw <= ID(most<i64>()) ? i64(raw) : p.depth;
    if (index < 0) index += p.depth;
    p.y[o] = p.values[index == position ? 1 : 0];
  }
}
)device";
}

void launch_one_hot(const Call& c, Module* module) {
  const Dims y = c.out();
  if (y.count() == 0) return;
  const int axis = front_axis(c.attr_int(NEF_ONE_HOT_AXIS, -1), y.rank);
  Params p;
  p.add(c.to()).add(c.from()).add(c.from(2)).add(y.count()).add(y.at[axis]);
  p.add(y.count(axis + 1, y.rank));
  c.launch(*module, "one_hot", grid_for(y.count()), p);
}

// ---- Range, EyeLike, Shape, Size

std::string range_source(const Region& region, const Node& node) {
  return type_text("X", region.output(node, 0).dtype) + kKernelCommon + R"device(
struct P { X* y; i64 n; XD start; XD delta; };
NEF_KERNEL(range, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) put(p.y[i], op_add(p.start, op_mul(XD(i), p.delta)));
}
)device";
}

void launch_range(const Call& c, Module* module) {
  const int64_t n = c.out().count();
  if (n == 0) return;
  Params p;
  p.add(c.to()).add(n);
  if (is_float(c.type())) p.add(c.host_number(0)).add(c.host_number(2));
  else p.add(c.host_int(0)).add(c.host_int(2));
  c.launch(*module, "range", grid_for(n), p);
}

std::string eye_source(const Region& region, const Node& node) {
  return type_text("X", region.output(node, 0).dtype) + kKernelCommon + R"device(
struct P { X* y; i64 n; i64 columns; i64 k; };
NEF_KERNEL(eye, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) put(p.y[i], XD(i % p.columns - p.k == i / p.columns ? 1 : 0));
}
)device";
}

void launch_eye(const Call& c, Module* module) {
  const Dims y = c.out();
  if (y.count() == 0) return;
  // Past every diagonal no further one is told apart.
  const int64_t k = std::clamp(c.attr_int(NEF_EYE_LIKE_K), -y.at[0], y.at[1]);
  Params p;
  p.add(c.to()).add(y.count()).add(y.at[1]).add(k);
  c.launch(*module, "eye", grid_for(y.count()), p);
}

std::string sizes_source(const Region&, const Node&) {
  return R"device(
struct P { i64* y; i64 n; i64 values[16]; };
NEF_KERNEL(sizes, P) { for (i64 i = thread_id(); i < p.n; i += thread_count()) p.y[i] = p.values[i]; }
)device";
}

void launch_sizes(const Call& c, Module* module) {
  const Dims x = c.in();
  const int64_t size = x.count(), n = c.out().count();
  if (n == 0) return;
  int64_t start = 0;
  if (c.op() == NEF_OP_SHAPE) {
    start = c.attr_int(NEF_SHAPE_START);
    start = std::clamp<int64_t>(start < 0 ? start + x.rank : start, 0, x.rank);
  }
  Params p;
  p.add(c.to()).add(n);
  p.add(c.op() == NEF_OP_SIZE ? &size : x.at + start, static_cast<int>(n), NEF_MAX_RANK, 0);
  c.launch(*module, "sizes", grid_for(n), p);
}

// ---- ReverseSequence, CenterCropPad, BitCast

std::string reverse_source(const Region& region, const Node& node) {
  return raw_text(output_size(region, node)) + kKernelCommon + R"device(
struct P { T* y; const T* x; const i64* lengths; Fault* fault; i64 n; i64 time; i64 time_step; i64 batch; i64 batch_step;
  i64 axis; };
NEF_KERNEL(reverse, P) {
  for (i64 o = thread_id(); o < p.n; o += thread_count()) {
    const i64 t = o / p.time_step % p.time, length = p.lengths[o / p.batch_step % p.batch];
    if (length < 0 || length > p.time) { note_fault(p.fault, length, p.axis, p.time + 1); continue; }
    p.y[o] = p.x[o + (t < length ? length - 1 - 2 * t : 0) * p.time_step];
  }
}
)device";
}

void launch_reverse(const Call& c, Module* module) {
  const Dims x = c.in(), dense = dense_steps(x);
  if (x.count() == 0) return;
  const int64_t batch = c.attr_int(NEF_REVERSE_SEQUENCE_BATCH_AXIS, 1);
  const int64_t time = c.attr_int(NEF_REVERSE_SEQUENCE_TIME_AXIS, 0);
  Params p;
  p.add(c.to()).add(c.from()).add(c.from(1)).add(c.fault("ReverseSequence")).add(x.count());
  p.add(x.at[time]).add(dense.at[time]).add(x.at[batch]).add(dense.at[batch]).add(time);
  c.launch(*module, "reverse", grid_for(x.count()), p);
}

std::string crop_source(const Region& region, const Node& node) {
  const std::string text = raw_text(output_size(region, node)) + kKernelCommon + R"device(
constexpr i32 R = $R$;
struct P { T* y; const T* x; i64 n; i64 dims[R]; i64 x_dims[R]; i64 shift[R]; };
NEF_KERNEL(crop, P) {
  for (i64 o = thread_id(); o < p.n; o += thread_count()) {
    i64 at[R], from = 0;
    split<R>(u64(o), p.dims, at);
    bool inside = true;
    for (i32 d = 0; d < R; ++d) {
      const i64 i = at[d] + p.shift[d];
      inside = inside && i >= 0 && i < p.x_dims[d];
      from = from * p.x_dims[d] + i;
    }
    p.y[o] = inside ? p.x[from] : T{0};
  }
}
)device";
  return fill(text.c_str(), {{"R", std::to_string(std::max(1, region.input(node, 0).rank()))}});
}

void launch_crop(const Call& c, Module* module) {
  Dims x = c.in(), y = c.out(), shift;
  if (y.count() == 0) return;
  if (x.rank == 0) x.rank = y.rank = 1, x.at[0] = y.at[0] = 1;
  for (int d = 0; d < x.rank; ++d) {
    const int64_t more = x.at[d] - y.at[d];
    shift.at[d] = more >= 0 ? more / 2 : -(-more / 2);
  }
  Params p;
  p.add(c.to()).add(c.from()).add(y.count()).add(y.at, y.rank, y.rank, 1);
  p.add(x.at, x.rank, x.rank, 1).add(shift.at, x.rank, x.rank, 0);
  c.launch(*module, "crop", grid_for(y.count()), p);
}

void launch_bits(const Call& c, Module*) {
  c.copy(c.to(), c.from(), static_cast<size_t>(c.in().count()) * c.element_size());
}

// ---- Require

std::string require_source(const Region&, const Node&) {
  return std::string(kKernelCommon) + R"device(
struct P { const u8* condition; Fault* fault; i64 n; i64 message; i64 axis; i64 length; };
NEF_KERNEL(require, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    if (p.condition[i] == 0) note_fault(p.fault, p.message, p.axis, p.length);
  }
}
)device";
}

void launch_require(const Call& c, Module* module) {
  launch_bits(c, module);
  const int64_t n = c.in(1).count();
  if (n == 0) return;
  // The text lies in the node, which the plan keeps.
  const std::string_view message = c.string(NEF_REQUIRE_MESSAGE);
  Params p;
  p.add(c.from(1)).add(c.fault("Require")).add(n);
  p.add(static_cast<int64_t>(reinterpret_cast<intptr_t>(message.data()))).add(kMessageAxis);
  p.add(static_cast<int64_t>(message.size()));
  c.launch(*module, "require", grid_for(n), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_GATHER_ND, "gather", gather_nd_source, launch_gather_nd, nullptr, 0, true},
    {NEF_OP_ONE_HOT, "one hot", one_hot_source, launch_one_hot, nullptr, 1u << 1},
    {NEF_OP_RANGE, "range", range_source, launch_range, nullptr, 7},
    {NEF_OP_EYE_LIKE, "eye", eye_source, launch_eye},
    {NEF_OP_SHAPE, "shape", sizes_source, launch_sizes},
    {NEF_OP_SIZE, "size", sizes_source, launch_sizes},
    {NEF_OP_REVERSE_SEQUENCE, "reverse", reverse_source, launch_reverse, nullptr, 0, true},
    {NEF_OP_CENTER_CROP_PAD, "crop", crop_source, launch_crop, nullptr, 1u << 1},
    {NEF_OP_BIT_CAST, "copy", nullptr, launch_bits},
    {NEF_OP_REQUIRE, "require", require_source, launch_require, nullptr, 0, true},
};

}  // namespace

std::span<const OpKernel> index_kernels() { return kKernels; }

}  // namespace nef::gpu
