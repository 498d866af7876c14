// SPDX-License-Identifier: Apache-2.0
// Along one axis: ArgMax, ArgMin, Hardmax, CumSum, CumProd.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

// A tensor as lines along an axis: element k of line l is at l / inner * n * inner + l % inner +
// k * inner.
struct Lines {
  int64_t lines = 1, n = 1, inner = 1;
  Lines(const Dims& x, int axis) : n(x.at[axis]), inner(x.count(axis + 1, x.rank)) {
    lines = x.count(0, axis) * inner;
  }
};

// ---- ArgMax, ArgMin, Hardmax

constexpr const char* kArg = R"device(
typedef Reg<X>::T V;
struct Best { V v; i64 at; };
DEV bool beats(V a, V b) { return $BEATS$; }
struct Join {
  i64 last;
  __device__ Best operator()(Best a, Best b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    if (is_nan(a.v) || is_nan(b.v)) {
      if (is_nan(a.v) != is_nan(b.v)) return is_nan(a.v) ? a : b;
      return a.at < b.at ? a : b;
    }
    if (beats(a.v, b.v)) return a;
    if (beats(b.v, a.v)) return b;
    return (a.at > b.at) == (last != 0) ? a : b;
  }
};
struct P { i64* y; const X* x; Best* partial; i64 lines; i64 n; i64 inner; i64 last; i64 slices; i64 tx; i64 ty; i64 dense; };
NEF_KERNEL(arg, P) {
  __shared__ Best shared[256];
  const i32 tx = i32(p.tx), ty = i32(p.ty);
  const Lane lane = lane_of(tx, ty, p.dense != 0);
  const Join join = {p.last};
  const i64 chunk = (p.n + p.slices - 1) / p.slices, begin = chunk * blockIdx.y;
  const i64 end = begin + chunk < p.n ? begin + chunk : p.n;
  for (i64 base = i64(blockIdx.x) * tx; base < p.lines; base += i64(gridDim.x) * tx) {
    const i64 line = base + lane.line;
    Best best = {V(0), -1};
    if (line < p.lines) {
      const X* x = p.x + line / p.inner * p.n * p.inner + line % p.inner;
      for (i64 k = begin + lane.place; k < end; k += ty) best = join(best, Best{ld(x[k * p.inner]), k});
    }
    best = join_line(best, shared, lane, tx, ty, join);
    if (line < p.lines && lane.place == 0) {
      if (p.slices > 1) p.partial[i64(blockIdx.y) * p.lines + line] = best;
      else p.y[line] = best.at;
    }
  }
}
NEF_LATE_KERNEL(combine, P) {
  const Join join = {p.last};
  for (i64 line = thread_id(); line < p.lines; line += thread_count()) {
    Best best = p.partial[line];
    for (i64 s = 1; s < p.slices; ++s) best = join(best, p.partial[s * p.lines + line]);
    p.y[line] = best.at;
  }
}
struct OneP { X* y; const i64* best; i64 count; i64 n; i64 inner; };
NEF_KERNEL(one, OneP) {
  for (i64 i = thread_id(); i < p.count; i += thread_count()) {
    const i64 line = i / (p.n * p.inner) * p.inner + i % p.inner;
    st(p.y[i], V(p.best[line] == i / p.inner % p.n ? 1 : 0));
  }
}
)device";

std::string arg_source(const Region& region, const Node& node) {
  const std::string text = type_text("X", region.input(node, 0).dtype) + kKernelCommon + kArg;
  return fill(text.c_str(), {{"BEATS", node.op == NEF_OP_ARGMIN ? "a < b" : "a > b"}});
}

struct ArgShape {
  Lines lines;
  int64_t tx = 1, ty = 256, slices = 1;
};
ArgShape arg_shape(const Call& c) {
  const Dims x = c.in();
  const int64_t axis = c.op() == NEF_OP_ARGMAX   ? c.attr_int(NEF_ARGMAX_AXIS)
                       : c.op() == NEF_OP_ARGMIN ? c.attr_int(NEF_ARGMIN_AXIS)
                                                 : c.attr_int(NEF_HARDMAX_AXIS, -1);
  ArgShape s{Lines(x, front_axis(axis, x.rank))};
  if (s.lines.inner == 1) {
    s.ty = 1;
    while (s.ty < 256 && 4 * s.ty < s.lines.n) s.ty *= 2;
  } else {
    s.ty = s.lines.n >= 64 && s.lines.lines < 16384 ? 8 : 1;
  }
  s.tx = 256 / s.ty;
  // Few long lines do not fill a device: they are cut, and joined by a second kernel.
  constexpr int64_t kBlocks = 1024, kLeast = 4096;
  const int64_t blocks = (s.lines.lines + s.tx - 1) / s.tx;
  if (blocks > 0 && blocks < kBlocks / 4 && s.lines.n >= 2 * kLeast) {
    s.slices = std::clamp<int64_t>(std::min(kBlocks / blocks, s.lines.n / kLeast), 1, 512);
  }
  return s;
}

// Partial results, and the places of Hardmax before them.
size_t arg_scratch(const Call& c) {
  const ArgShape s = arg_shape(c);
  const auto lines = static_cast<size_t>(s.lines.lines);
  return lines * 8 + (s.slices > 1 ? lines * static_cast<size_t>(s.slices) * 16 : 0) + 16;
}

void launch_arg(const Call& c, Module* module) {
  const bool hardmax = c.op() == NEF_OP_HARDMAX;
  const ArgShape s = arg_shape(c);
  if (c.out().count() == 0) return;
  if (s.lines.n == 0) {
    throw BackendError(NEF_OUT_OF_RANGE,
                       "ArgMax/ArgMin: the axis has size 0, so there is no element to pick");
  }
  char* best = hardmax ? c.scratch() : c.to();
  char* partial = c.scratch() + (s.lines.lines * 8 + 15) / 16 * 16;
  int64_t last = 0;
  if (c.op() == NEF_OP_ARGMAX) last = c.attr_int(NEF_ARGMAX_SELECT_LAST_INDEX);
  if (c.op() == NEF_OP_ARGMIN) last = c.attr_int(NEF_ARGMIN_SELECT_LAST_INDEX);
  Params p;
  p.add(best).add(c.from()).add(partial).add(s.lines.lines).add(s.lines.n).add(s.lines.inner);
  p.add(last).add(s.slices).add(s.tx).add(s.ty).add(int64_t{s.lines.inner == 1});
  const int64_t blocks = std::clamp<int64_t>((s.lines.lines + s.tx - 1) / s.tx, 1, 1 << 20);
  c.launch(*module, "arg", {blocks, s.slices, 256}, p);
  if (s.slices > 1) c.launch(*module, "combine", grid_for(s.lines.lines), p);
  if (!hardmax) return;
  Params q;
  const int64_t count = c.out().count();
  q.add(c.to()).add(best).add(count).add(s.lines.n).add(s.lines.inner);
  c.launch(*module, "one", grid_for(count), q);
}

// ---- CumSum, CumProd

// A line by one thread, or by a block whose threads take neighbouring pieces of it.
constexpr const char* kScan = R"device(
struct P { X* y; const X* x; i64 lines; i64 n; i64 inner; i64 exclusive; i64 reverse; };
DEV XD join(XD a, XD b) { return $JOIN$; }
DEV i64 place(const P& p, i64 line, i64 k) {
  return line / p.inner * p.n * p.inner + line % p.inner + (p.reverse ? p.n - 1 - k : k) * p.inner;
}
DEV void piece(const P& p, i64 line, i64 begin, i64 end, XD sum) {
  for (i64 k = begin; k < end; ++k) {
    const i64 i = place(p, line, k);
    const XD next = join(sum, XD(ld(p.x[i])));
    put(p.y[i], p.exclusive ? sum : next);
    sum = next;
  }
}
NEF_KERNEL(lines, P) {
  for (i64 line = thread_id(); line < p.lines; line += thread_count()) piece(p, line, 0, p.n, XD($START$));
}
NEF_KERNEL(long_lines, P) {
  __shared__ XD sums[256];
  const i64 t = threadIdx.x, chunk = (p.n + 255) / 256;
  const i64 begin = t * chunk < p.n ? t * chunk : p.n, end = begin + chunk < p.n ? begin + chunk : p.n;
  for (i64 line = blockIdx.x; line < p.lines; line += gridDim.x) {
    XD sum = XD($START$);
    for (i64 k = begin; k < end; ++k) sum = join(sum, XD(ld(p.x[place(p, line, k)])));
    sums[t] = sum;
    __syncthreads();
    if (t == 0) {
      XD before = XD($START$);
      for (i32 i = 0; i < 256; ++i) { const XD own = sums[i]; sums[i] = before; before = join(before, own); }
    }
    __syncthreads();
    piece(p, line, begin, end, sums[t]);
    __syncthreads();
  }
}
)device";

std::string scan_source(const Region& region, const Node& node) {
  const std::string text = type_text("X", region.input(node, 0).dtype) + kKernelCommon + kScan;
  const bool sum = node.op == NEF_OP_CUMSUM;
  return fill(text.c_str(),
              {{"JOIN", sum ? "op_add(a, b)" : "op_mul(a, b)"}, {"START", sum ? "0" : "1"}});
}

void launch_scan(const Call& c, Module* module) {
  const Dims x = c.in();
  const int64_t axis = c.host_int(1), rank = x.rank;
  if (axis < -rank || axis >= rank) {
    throw BackendError(NEF_OUT_OF_RANGE, "a running sum: axis: index " + std::to_string(axis) +
                                             " is outside axis 0 of size " + std::to_string(rank));
  }
  if (x.count() == 0) return;
  const Lines l(x, front_axis(axis, x.rank));
  const bool sum = c.op() == NEF_OP_CUMSUM;
  Params p;
  p.add(c.to()).add(c.from()).add(l.lines).add(l.n).add(l.inner);
  p.add(c.attr_int(sum ? unsigned{NEF_CUMSUM_EXCLUSIVE} : unsigned{NEF_CUMPROD_EXCLUSIVE}));
  p.add(c.attr_int(sum ? unsigned{NEF_CUMSUM_REVERSE} : unsigned{NEF_CUMPROD_REVERSE}));
  // Floats of 64 bits keep the order of the axis: nothing wider hides another one.
  const bool few = l.lines < 4096 && l.n >= 512 && c.type() != NEF_FLOAT64;
  if (few) return c.launch(*module, "long_lines", {l.lines, 1, 256}, p);
  c.launch(*module, "lines", grid_for(l.lines), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_ARGMAX, "argmax", arg_source, launch_arg, arg_scratch},
    {NEF_OP_ARGMIN, "argmin", arg_source, launch_arg, arg_scratch},
    {NEF_OP_HARDMAX, "hardmax", arg_source, launch_arg, arg_scratch},
    {NEF_OP_CUMSUM, "running sum", scan_source, launch_scan, nullptr, 1u << 1},
    {NEF_OP_CUMPROD, "running product", scan_source, launch_scan, nullptr, 1u << 1},
};

}  // namespace

std::span<const OpKernel> order_kernels() { return kKernels; }

}  // namespace nef::gpu
