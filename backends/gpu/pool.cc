// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, LpPool, MaxUnpool, Col2Im: a thread for each result.
#include "backends/gpu/window.h"

namespace nef::gpu {
namespace {

constexpr const char* kHead = R"device(
constexpr i32 R = $R$;
struct P { X* y; i64* indices; const X* x; i64 n; i64 area; i64 positions; i64 taps; i64 how; f64 power; $WINDOW$ };
// f(offset in the plane of the input) for each tap that falls on it; first[d] is where tap 0 lies.
template <class F> DEV void each_tap(const P& p, const i64* first, F f) {
  i64 tap[R];
  for (i32 d = 0; d < R; ++d) tap[d] = 0;
  for (i64 q = 0; q < p.taps; ++q) {
    i64 at = 0;
    bool inside = true;
    for (i32 d = 0; d < R; ++d) {
      const i64 i = first[d] + tap[d] * p.dilation[d];
      inside = inside && i >= 0 && i < p.in[d];
      at = at * p.in[d] + i;
    }
    if (inside) f(at);
    for (i32 d = R - 1; d >= 0; --d) { if (++tap[d] < p.kernel[d]) break; tap[d] = 0; }
  }
}
DEV i64 first_taps(const P& p, i64 i, i64* first) {
  split<R>(u64(i % p.positions), p.out, first);
  for (i32 d = 0; d < R; ++d) first[d] = first[d] * p.stride[d] - p.begin[d];
  return i / p.positions * p.area;
}
)device";

constexpr const char* kMax = R"device(
NEF_KERNEL(pool, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    i64 first[R], best = -1;
    const i64 plane = first_taps(p, i, first);
    Reg<X>::T most = least<Reg<X>::T>();
    each_tap(p, first, [&](i64 at) {
      const Reg<X>::T v = ld(p.x[plane + at]);
      if (is_nan(most) || !(best < 0 || v > most || is_nan(v))) return;
      most = v;
      best = at;
    });
    if (p.y) st(p.y[i], most);
    if (!p.indices) continue;
    // `how`: the last two axes are counted the other way round.
    if (best >= 0 && p.how && R > 1) {
      const i64 h = p.in[R - 2 < 0 ? 0 : R - 2], w = p.in[R - 1];
      best = best / (h * w) * h * w + best % w * h + best / w % h;
    }
    p.indices[i] = best < 0 ? -1 : plane + best;
  }
}
)device";

constexpr const char* kAverage = R"device(
NEF_KERNEL(pool, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    i64 first[R], count = 0;
    const i64 plane = first_taps(p, i, first);
    f64 sum = 0;
    each_tap(p, first, [&](i64 at) { sum += f64(ld(p.x[plane + at])); ++count; });
    if (p.how) {  // the padding counts, but not what ceil_mode adds beyond it
      count = 1;
      for (i32 d = 0; d < R; ++d) {
        i64 along = 0;
        for (i64 k = 0; k < p.kernel[d]; ++k) along += first[d] + k * p.dilation[d] < p.in[d] + p.end[d] ? 1 : 0;
        count *= along;
      }
    }
    st(p.y[i], sum / f64(count));
  }
}
)device";

constexpr const char* kLp = R"device(
NEF_KERNEL(pool, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    i64 first[R];
    const i64 plane = first_taps(p, i, first);
    f64 sum = 0;
    each_tap(p, first, [&](i64 at) {
      const f64 v = fabs(f64(ld(p.x[plane + at])));
      sum += p.power == 1 ? v : p.power == 2 ? v * v : pow(v, p.power);
    });
    st(p.y[i], p.power == 1 ? sum : p.power == 2 ? sqrt(sum) : pow(sum, 1 / p.power));
  }
}
)device";

std::string pool_source(const Region& region, const Node& node) {
  const Value& x = region.input(node, 0);
  if (x.rank() < 3) throw Refusal{"a pool without spatial axes"};
  const char* body = node.op == NEF_OP_MAX_POOL       ? kMax
                     : node.op == NEF_OP_AVERAGE_POOL ? kAverage
                                                      : kLp;
  const std::string text = type_text("X", x.dtype) + kKernelCommon + kHead + body;
  return fill(text.c_str(), {{"R", std::to_string(x.rank() - 2)}, {"WINDOW", kWindow}});
}

struct PoolSlots {
  WindowSlots window;
  unsigned kernel;
};
PoolSlots slots_of(nef_op op) {
  switch (op) {
    case NEF_OP_MAX_POOL:
      return {
          {NEF_MAX_POOL_AUTO_PAD, NEF_MAX_POOL_PADS, NEF_MAX_POOL_STRIDES, NEF_MAX_POOL_DILATIONS},
          NEF_MAX_POOL_KERNEL_SHAPE};
    case NEF_OP_AVERAGE_POOL:
      return {{NEF_AVERAGE_POOL_AUTO_PAD, NEF_AVERAGE_POOL_PADS, NEF_AVERAGE_POOL_STRIDES,
               NEF_AVERAGE_POOL_DILATIONS},
              NEF_AVERAGE_POOL_KERNEL_SHAPE};
    default:
      return {{NEF_LP_POOL_AUTO_PAD, NEF_LP_POOL_PADS, NEF_LP_POOL_STRIDES, NEF_LP_POOL_DILATIONS},
              NEF_LP_POOL_KERNEL_SHAPE};
  }
}

void launch_pool(const Call& c, Module* module) {
  const Dims x = c.in(), y = c.wants(0) ? c.out(0) : c.out(1);
  if (y.count() == 0) return;
  const PoolSlots slots = slots_of(c.op());
  const Window w = make_window(c, slots.window, c.ints(slots.kernel).data(), x, y);
  int64_t how = 0;
  if (c.op() == NEF_OP_MAX_POOL) how = c.attr_int(NEF_MAX_POOL_STORAGE_ORDER);
  if (c.op() == NEF_OP_AVERAGE_POOL) how = c.attr_int(NEF_AVERAGE_POOL_COUNT_INCLUDE_PAD);
  const int64_t power = c.op() == NEF_OP_LP_POOL ? c.attr_int(NEF_LP_POOL_P, 2) : 1;
  Params p;
  p.add(c.to(0)).add(c.op() == NEF_OP_MAX_POOL ? c.to(1) : nullptr).add(c.from()).add(y.count());
  p.add(w.in_count()).add(w.out_count()).add(w.kernel_count()).add(how);
  p.add(static_cast<double>(power));
  w.add_to(p);
  c.launch(*module, "pool", grid_for(y.count()), p);
}

// ---- MaxUnpool: where two maxima share a place the later one stays, whatever the order of threads

std::string unpool_source(const Region& region, const Node& node) {
  const std::string text = type_text("X", region.input(node, 0).dtype) + kKernelCommon + R"device(
constexpr i32 R = $R$;
struct P { X* y; const X* x; const i64* at; u64* owner; Fault* fault; i64 n; i64 total; i64 dims[R]; i64 y_dims[R]; };
DEV i64 place_of(const P& p, i64 i) {
  const i64 index = index_of(p.at[i], 0, p.total, p.fault);
  if (index < 0) return -1;
  i64 at[R], o = 0;
  split<R>(u64(index), p.dims, at);
  for (i32 d = 0; d < R; ++d) {
    if (index_of(at[d], d, p.y_dims[d], p.fault) < 0) return -1;
    o = o * p.y_dims[d] + at[d];
  }
  return o;
}
NEF_KERNEL(claim, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 o = place_of(p, i);
    if (o >= 0) atomicMax(&p.owner[o], u64(i) + 1);
  }
}
NEF_KERNEL(unpool, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 o = place_of(p, i);
    if (o >= 0 && p.owner[o] == u64(i) + 1) p.y[o] = p.x[i];
  }
}
struct ZeroP { u64* p; i64 n; X* y; i64 outputs; };
NEF_KERNEL(zero, ZeroP) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    p.p[i] = 0;
    st(p.y[i], Reg<X>::T(0));
  }
}
)device";
  return fill(text.c_str(), {{"R", std::to_string(region.input(node, 0).rank())}});
}

size_t unpool_scratch(const Call& c) { return static_cast<size_t>(c.out().count()) * 8; }

void launch_unpool(const Call& c, Module* module) {
  const Dims x = c.in(), y = c.out();
  if (y.count() == 0) return;
  const auto kernel = c.ints(NEF_MAX_UNPOOL_KERNEL_SHAPE), pads = c.ints(NEF_MAX_UNPOOL_PADS);
  const auto strides = c.ints(NEF_MAX_UNPOOL_STRIDES);
  // The shape that the indices count in.
  Dims dims = x;
  int64_t total = 1;
  for (int d = 0; d < x.rank; ++d) {
    if (d >= 2) {
      const int i = d - 2, spatial = x.rank - 2;
      dims.at[d] = (x.at[d] - 1) * Call::entry(strides, i, 1) + kernel[static_cast<size_t>(i)] -
                   Call::entry(pads, i, 0) - Call::entry(pads, spatial + i, 0);
    }
    total *= std::max<int64_t>(dims.at[d], 0);
  }
  Params zero;
  zero.add(c.scratch()).add(y.count()).add(c.to()).add(y.count());
  c.launch(*module, "zero", grid_for(y.count()), zero);
  if (x.count() == 0) return;
  Params p;
  p.add(c.to()).add(c.from()).add(c.from(1)).add(c.scratch()).add(c.fault("MaxUnpool"));
  p.add(x.count()).add(total).add(dims.at, x.rank, x.rank, 1).add(y.at, x.rank, x.rank, 1);
  c.launch(*module, "claim", grid_for(x.count()), p);
  c.launch(*module, "unpool", grid_for(x.count()), p);
}

// ---- Col2Im

std::string col2im_source(const Region& region, const Node& node) {
  const Value& y = region.output(node, 0);
  if (y.rank() < 3) throw Refusal{"an image without axes"};
  const std::string text = type_text("X", y.dtype) + kKernelCommon + R"device(
constexpr i32 R = $R$;
struct P { X* y; const X* x; i64 n; i64 plane; i64 taps; i64 blocks; i64 counts[R]; $WINDOW$ };
NEF_KERNEL(col2im, P) {
  for (i64 o = thread_id(); o < p.n; o += thread_count()) {
    i64 at[R], tap[R];
    split<R>(u64(o % p.plane), p.out, at);
    XD sum = 0;
    for (i64 q = 0; q < p.taps; ++q) {
      split<R>(u64(q), p.kernel, tap);
      i64 from = 0;
      bool inside = true;
      for (i32 d = 0; d < R; ++d) {
        const i64 i = at[d] + p.begin[d] - tap[d] * p.dilation[d], block = i / p.stride[d];
        inside = inside && i >= 0 && block * p.stride[d] == i && block < p.counts[d];
        from = from * p.counts[d] + block;
      }
      if (inside) sum = op_add(sum, XD(ld(p.x[(o / p.plane * p.taps + q) * p.blocks + from])));
    }
    put(p.y[o], sum);
  }
}
)device";
  return fill(text.c_str(), {{"R", std::to_string(y.rank() - 2)}, {"WINDOW", kWindow}});
}

void launch_col2im(const Call& c, Module* module) {
  const Dims x = c.in(), y = c.out();
  if (y.count() == 0) return;
  const auto strides = c.ints(NEF_COL2IM_STRIDES), pads = c.ints(NEF_COL2IM_PADS);
  const auto dilations = c.ints(NEF_COL2IM_DILATIONS);
  Window w;
  w.rank = y.rank - 2;
  int64_t counts[NEF_MAX_RANK], blocks = 1;
  for (int d = 0; d < w.rank; ++d) {
    w.in[d] = w.out[d] = y.at[d + 2];
    w.kernel[d] = c.host_int(2, d);
    w.stride[d] = Call::entry(strides, d, 1);
    w.dilation[d] = Call::entry(dilations, d, 1);
    w.begin[d] = Call::entry(pads, d, 0);
    w.end[d] = Call::entry(pads, w.rank + d, 0);
    const int64_t extent = (w.kernel[d] - 1) * w.dilation[d] + 1;
    const int64_t padded = w.in[d] + w.begin[d] + w.end[d];
    counts[d] = padded < extent ? 0 : (padded - extent) / w.stride[d] + 1;
    blocks *= counts[d];
  }
  const int64_t taps = w.kernel_count();
  if (blocks != x.at[2] || taps < 1 || x.at[1] != y.at[1] * taps) {
    throw BackendError(NEF_SHAPE_MISMATCH, "Col2Im: the image has " + std::to_string(blocks) +
                                               " blocks, the input " + std::to_string(x.at[2]));
  }
  Params p;
  p.add(c.to()).add(c.from()).add(y.count()).add(w.out_count()).add(taps).add(blocks);
  p.add(counts, w.rank, w.rank, 0);
  w.add_to(p);
  c.launch(*module, "col2im", grid_for(y.count()), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_MAX_POOL, "max pool", pool_source, launch_pool},
    {NEF_OP_AVERAGE_POOL, "average pool", pool_source, launch_pool},
    {NEF_OP_LP_POOL, "lp pool", pool_source, launch_pool},
    {NEF_OP_MAX_UNPOOL, "max unpool", unpool_source, launch_unpool, unpool_scratch, 1u << 2, true},
    {NEF_OP_COL2IM, "col2im", col2im_source, launch_col2im, nullptr, 1u << 1 | 1u << 2},
};

}  // namespace

std::span<const OpKernel> pool_kernels() { return kKernels; }

}  // namespace nef::gpu
