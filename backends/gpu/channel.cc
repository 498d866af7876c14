// SPDX-License-Identifier: Apache-2.0
// Norms over channels or chosen axes: BatchNormalization, LRN, MeanVarianceNormalization.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

// What 16-bit floats are computed in; wider ones in double.
std::string wide_text(nef_dtype t) {
  return std::string("typedef ") + (is_narrow(t) ? "f32" : "f64") + " A;\n";
}

std::string batch_source(const Region& region, const Node& node) {
  const nef_dtype x = region.input(node, 0).dtype;
  return type_text("X", x) + type_text("U", region.input(node, 1).dtype) +
         type_text("V", region.input(node, 3).dtype) + wide_text(x) + R"device(
struct P { X* y; const X* x; const U* scale; const U* bias; const V* mean; const V* variance; i64 n; i64 channels; i64 inner;
  f64 epsilon; };
NEF_KERNEL(batch_norm, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 k = i / p.inner % p.channels;
    const A inverse = A(1) / m_sqrt(A(ld(p.variance[k])) + A(p.epsilon));
    st(p.y[i], (A(ld(p.x[i])) - A(ld(p.mean[k]))) * inverse * A(ld(p.scale[k])) + A(ld(p.bias[k])));
  }
}
)device";
}

void launch_batch(const Call& c, Module* module) {
  const Dims x = c.in();
  if (x.count() == 0) return;
  Params p;
  p.add(c.to());
  for (size_t i = 0; i < 5; ++i) p.add(c.from(i));
  // A vector is samples of one channel.
  p.add(x.count()).add(x.rank > 1 ? x.at[1] : 1).add(x.rank > 2 ? x.count(2, x.rank) : 1);
  p.add(c.attr_float(NEF_BATCH_NORMALIZATION_EPSILON, 1e-5));
  c.launch(*module, "batch_norm", grid_for(x.count()), p);
}

std::string lrn_source(const Region& region, const Node& node) {
  return type_text("X", region.input(node, 0).dtype) + R"device(
struct P { X* y; const X* x; i64 n; i64 channels; i64 inner; i64 before; i64 after; f64 alpha; f64 beta; f64 bias; };
NEF_KERNEL(lrn, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 k = i / p.inner % p.channels;
    const i64 first = k > p.before ? k - p.before : 0, last = k > p.channels - 1 - p.after ? p.channels - 1 : k + p.after;
    f64 squares = 0;
    for (i64 j = first; j <= last; ++j) { const f64 v = f64(ld(p.x[i + (j - k) * p.inner])); squares += v * v; }
    st(p.y[i], f64(ld(p.x[i])) / pow(p.bias + p.alpha * squares, p.beta));
  }
}
)device";
}

void launch_lrn(const Call& c, Module* module) {
  const Dims x = c.in();
  if (x.count() == 0) return;
  const int64_t size = c.attr_int(NEF_LRN_SIZE), before = (size - 1) / 2;
  Params p;
  p.add(c.to()).add(c.from()).add(x.count()).add(x.at[1]).add(x.count(2, x.rank));
  p.add(before).add(size - 1 - before);
  p.add(c.attr_float(NEF_LRN_ALPHA, 1e-4) / static_cast<double>(size));
  p.add(c.attr_float(NEF_LRN_BETA, 0.75)).add(c.attr_float(NEF_LRN_BIAS, 1));
  c.launch(*module, "lrn", grid_for(x.count()), p);
}

// A block for each place that is kept.
std::string moments_source(const Region& region, const Node& node) {
  return type_text("X", region.input(node, 0).dtype) + R"device(
struct P { X* y; const X* x; i64 outputs; i64 count; i64 kept_rank; i64 kept_dims[16]; i64 kept_steps[16];
  i64 rank; i64 dims[16]; i64 steps[16]; };
struct Add { __device__ f64 operator()(f64 a, f64 b) const { return a + b; } };
NEF_KERNEL(moments, P) {
  __shared__ f64 shared[256];
  const Lane lane = lane_of(1, 256, true);
  for (i64 o = blockIdx.x; o < p.outputs; o += gridDim.x) {
    const i64 base = offset_of(u64(o), p.kept_rank, p.kept_dims, p.kept_steps);
    f64 sum = 0, squares = 0;
    for (i64 k = lane.place; k < p.count; k += 256) sum += f64(ld(p.x[base + offset_of(u64(k), p.rank, p.dims, p.steps)]));
    const f64 mean = join_line(sum, shared, lane, 1, 256, Add()) / f64(p.count);
    for (i64 k = lane.place; k < p.count; k += 256) {
      const f64 v = f64(ld(p.x[base + offset_of(u64(k), p.rank, p.dims, p.steps)])) - mean;
      squares += v * v;
    }
    const f64 deviation = sqrt(join_line(squares, shared, lane, 1, 256, Add()) / f64(p.count)) + 1e-9;
    for (i64 k = lane.place; k < p.count; k += 256) {
      const i64 i = base + offset_of(u64(k), p.rank, p.dims, p.steps);
      st(p.y[i], (f64(ld(p.x[i])) - mean) / deviation);
    }
  }
}
)device";
}

void launch_moments(const Call& c, Module* module) {
  const Dims x = c.in(), dense = dense_steps(x);
  if (x.count() == 0) return;
  static constexpr int64_t kDefault[] = {0, 2, 3};
  const auto given = c.ints(NEF_MEAN_VARIANCE_NORMALIZATION_AXES);
  const auto axes = given.empty() ? std::span<const int64_t>(kDefault) : given;
  bool reduced[NEF_MAX_RANK] = {};
  for (int64_t axis : axes) reduced[front_axis(axis, x.rank)] = true;
  Walk walks[2];  // what is kept, what is not
  for (Walk& w : walks) w.steps.resize(1);
  for (int d = 0; d < x.rank; ++d) {
    Walk& w = walks[reduced[d] ? 1 : 0];
    w.dims.at[w.dims.rank++] = x.at[d];
    w.steps[0].at[w.steps[0].rank++] = dense.at[d];
  }
  const int64_t outputs = walks[0].dims.count(), count = walks[1].dims.count();
  Params p;
  p.add(c.to()).add(c.from()).add(outputs).add(count);
  for (Walk& w : walks) {
    w.simplify();
    p.add(int64_t{w.dims.rank}).add(w.dims.at, w.dims.rank, NEF_MAX_RANK, 1);
    p.add(w.steps[0].at, w.dims.rank, NEF_MAX_RANK, 0);
  }
  c.launch(*module, "moments", {std::min<int64_t>(outputs, 1 << 20), 1, 256}, p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_BATCH_NORMALIZATION, "batch norm", batch_source, launch_batch},
    {NEF_OP_LRN, "lrn", lrn_source, launch_lrn},
    {NEF_OP_MEAN_VARIANCE_NORMALIZATION, "mean variance norm", moments_source, launch_moments},
};

}  // namespace

std::span<const OpKernel> channel_kernels() { return kKernels; }

}  // namespace nef::gpu
