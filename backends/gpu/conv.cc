// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of filters and patches that are read in place: Conv, ConvTranspose,
// ConvInteger, QLinearConv, DeformConv. A vendor's library takes the plain ones where it is there.
#include "backends/gpu/window.h"

namespace nef::gpu {
namespace {

// m filters of a group, n places of the whole batch, k = channels of a group x kernel positions.
constexpr const char* kHead = R"device(
constexpr i32 R = $R$;
typedef $E$ E; typedef $C$ C;
struct P { Y* y; const X* x; const W* w; const B* bias; i64 m; i64 n; i64 k; i64 channels; i64 filters; i64 depth;
  i64 positions; i64 area; i64 taps; const X* x_zero; const W* w_zero; i64 w_zero_step; const f32* x_scale;
  const f32* w_scale; i64 w_scale_step; const f32* y_scale; const Y* y_zero; const X* offset; const X* mask;
  i64 offset_groups; $WINDOW$ };
struct Column { i64 image; i64 at[R]; i64 place; i64 batch; };
DEV Column column_of(const P& p, i64 column) {
  Column c;
  c.batch = column / p.positions;
  c.place = column % p.positions;
  c.image = (c.batch * p.channels + i64(blockIdx.y) * p.depth) * p.area;
  split<R>(u64(c.place), p.out, c.at);
  for (i32 d = 0; d < R; ++d) c.at[d] = $START$;
  return c;
}
)device";

constexpr const char* kForward = R"device(
DEV E load_a(const P& p, i64 row, i64 k) {
  const i64 filter = i64(blockIdx.y) * p.m + row;
  return $WEIGHT$(p.w[filter * p.k + k], filter, p);
}
DEV E load_b(const P& p, i64 k, const Column& c) {
  const u32 channel = u32(k) / u32(p.taps);
  i64 tap[R], at = 0;
  split<R>(u64(u32(k) - channel * u32(p.taps)), p.kernel, tap);
  for (i32 d = 0; d < R; ++d) {
    const i64 i = c.at[d] + tap[d] * p.dilation[d];
    if (i < 0 || i >= p.in[d]) return E(0);
    at = at * p.in[d] + i;
  }
  return $VALUE$(p.x[c.image + channel * p.area + at], p);
}
)device";

constexpr const char* kBackward = R"device(
DEV E load_a(const P& p, i64 row, i64 k) {
  const i64 channel = i64(blockIdx.y) * p.depth + k / p.taps;
  return E(ld(p.w[(channel * p.m + row) * p.taps + k % p.taps]));
}
DEV E load_b(const P& p, i64 k, const Column& c) {
  const u32 channel = u32(k) / u32(p.taps);
  i64 tap[R], at = 0;
  split<R>(u64(u32(k) - channel * u32(p.taps)), p.kernel, tap);
  for (i32 d = 0; d < R; ++d) {
    const i64 i = c.at[d] - tap[d] * p.dilation[d];
    if (i < 0) return E(0);
    const i64 from = i / p.stride[d];
    if (from * p.stride[d] != i || from >= p.in[d]) return E(0);
    at = at * p.in[d] + from;
  }
  return E(ld(p.x[c.image + channel * p.area + at]));
}
)device";

// Patches are sampled linearly at shifted places.
constexpr const char* kDeformed = R"device(
DEV E load_a(const P& p, i64 row, i64 k) { return E(ld(p.w[(i64(blockIdx.y) * p.m + row) * p.k + k])); }
DEV E load_b(const P& p, i64 k, const Column& c) {
  const i64 channel = k / p.taps, q = k % p.taps;
  const i64 whole = i64(blockIdx.y) * p.depth + channel, group = whole / (p.channels / p.offset_groups);
  i64 tap[R], base[R];
  E part[R];
  split<R>(u64(q), p.kernel, tap);
  const i64 entry = (c.batch * p.offset_groups + group) * p.taps + q;
  for (i32 d = 0; d < R; ++d) {
    f64 at = f64(c.at[d] + tap[d] * p.dilation[d]) + f64(ld(p.offset[(entry * R + d) * p.positions + c.place]));
    at = at == at ? clamped(at, -1e9, 1e9) : -1e9;
    base[d] = i64(floor(at));
    part[d] = E(at - f64(base[d]));
  }
  E sum = E(0);
  for (i32 corner = 0; corner < (1 << R); ++corner) {
    E weight = E(1);
    i64 at = 0;
    bool inside = true;
    for (i32 d = 0; d < R; ++d) {
      const i32 up = corner >> d & 1;
      const i64 i = base[d] + up;
      weight *= up ? part[d] : E(1) - part[d];
      inside = inside && i >= 0 && i < p.in[d];
      at = at * p.in[d] + i;
    }
    if (inside && weight != E(0)) sum += weight * E(ld(p.x[c.image + channel * p.area + at]));
  }
  if (p.mask) sum *= E(ld(p.mask[entry * p.positions + c.place]));
  return sum;
}
)device";

constexpr const char* kPlain = R"device(
DEV E plain_weight(W w, i64, const P&) { return E(ld(w)); }
DEV E plain_value(X x, const P&) { return E(ld(x)); }
)device";
constexpr const char* kZeroed = R"device(
DEV E zeroed_weight(W w, i64 filter, const P& p) { return E(w) - (p.w_zero ? E(p.w_zero[filter * p.w_zero_step]) : E(0)); }
DEV E zeroed_value(X x, const P& p) { return E(x) - (p.x_zero ? E(p.x_zero[0]) : E(0)); }
)device";

constexpr const char* kFinish = R"device(
DEV void finish(const P& p, i64 row, i64 at, C sum) {
  const i64 filter = i64(blockIdx.y) * p.m + row;
  Y& y = p.y[(at / p.positions * p.filters + filter) * p.positions + at % p.positions];
  $FINISH$
}
struct SpreadP { Y* y; const B* bias; i64 n; i64 channels; i64 inner; };
NEF_KERNEL(spread, SpreadP) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) st(p.y[i], Reg<Y>::T(ld(p.bias[i / p.inner % p.channels])));
}
// A thread for each result: groups of few filters would leave most of a tile idle.
NEF_KERNEL(direct, P) {
  for (i64 i = thread_id(); i < p.m * p.n; i += thread_count()) {
    const i64 row = i / p.n, at = i % p.n;
    const Column c = column_of(p, at);
    C sum = C(0);
    for (i64 k = 0; k < p.k; ++k) sum += C(load_a(p, row, k)) * C(load_b(p, k, c));
    finish(p, row, at, sum);
  }
}
)device";

struct Operands {
  size_t x = 0, w = 1, bias = 2;
};
Operands operands_of(nef_op op) {
  switch (op) {
    case NEF_OP_QLINEAR_CONV: return {0, 3, 8};
    case NEF_OP_DEFORM_CONV: return {0, 1, 3};
    default: return {};
  }
}
bool whole_numbers(nef_op op) { return op == NEF_OP_QLINEAR_CONV || op == NEF_OP_CONV_INTEGER; }

std::string source(const Region& region, const Node& node) {
  const Operands at = operands_of(node.op);
  const nef_dtype x = region.input(node, at.x).dtype, y = region.output(node, 0).dtype;
  const bool whole = whole_numbers(node.op);
  const int rank = region.input(node, at.x).rank() - 2;
  if (rank < 1) throw Refusal{"a convolution without spatial axes"};
  if (node.op == NEF_OP_DEFORM_CONV && rank > 4) throw Refusal{"more than four spatial axes"};
  const std::string types = type_text("X", x) + type_text("W", region.input(node, at.w).dtype) +
                            type_text("Y", y) + type_text("B", whole ? NEF_INT32 : x);
  const char* patches = node.op == NEF_OP_CONV_TRANSPOSE ? kBackward
                        : node.op == NEF_OP_DEFORM_CONV  ? kDeformed
                                                         : kForward;
  const char* finish = "st(y, sum + (p.bias ? C(ld(p.bias[filter])) : C(0)));";
  if (node.op == NEF_OP_CONV_INTEGER) finish = "y = i32(sum);";
  if (node.op == NEF_OP_QLINEAR_CONV) {
    finish =
        "if (p.bias) sum += p.bias[filter]; const f64 factor = f64(p.x_scale[0]) * "
        "f64(p.w_scale[filter * p.w_scale_step]) / f64(p.y_scale[0]); const f64 v = f64(sum) * "
        "factor; y = v != v ? p.y_zero[0] : saturated<Y>(rint(v) + f64(p.y_zero[0]));";
  }
  const std::string text =
      types + kKernelCommon + kHead + (whole ? kZeroed : kPlain) + patches + kFinish + kTile;
  return fill(text.c_str(),
              {{"R", std::to_string(rank)},
               {"E", whole              ? "i32"
                     : x == NEF_FLOAT64 ? "f64"
                                        : "f32"},
               {"C", whole              ? "i64"
                     : x == NEF_FLOAT64 ? "f64"
                                        : "f32"},
               {"WINDOW", kWindow},
               {"START", node.op == NEF_OP_CONV_TRANSPOSE ? "c.at[d] + p.begin[d]"
                                                          : "c.at[d] * p.stride[d] - p.begin[d]"},
               {"WEIGHT", whole ? "zeroed_weight" : "plain_weight"},
               {"VALUE", whole ? "zeroed_value" : "plain_value"},
               {"FINISH", finish}});
}

// Geometry of ConvTranspose: `begin` is what is cut off in front of the full result. SAME modes
// and output_shape set it; then an odd total is cut more in front, but for SAME_UPPER.
Window transpose_window(const Call& c, const Dims& x, const Dims& w, const Dims& y) {
  Window win = make_window(c,
                           {NEF_CONV_TRANSPOSE_AUTO_PAD, NEF_CONV_TRANSPOSE_PADS,
                            NEF_CONV_TRANSPOSE_STRIDES, NEF_CONV_TRANSPOSE_DILATIONS},
                           w.at + 2, x, y);
  const std::string_view mode = c.string(NEF_CONV_TRANSPOSE_AUTO_PAD);
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && !c.has_attr(NEF_CONV_TRANSPOSE_OUTPUT_SHAPE)) return win;
  const auto extra = c.ints(NEF_CONV_TRANSPOSE_OUTPUT_PADDING);
  for (int d = 0; d < win.rank; ++d) {
    const int64_t full = (win.in[d] - 1) * win.stride[d] + (win.kernel[d] - 1) * win.dilation[d] +
                         1 + Call::entry(extra, d, 0);
    const int64_t total = std::max<int64_t>(full - win.out[d], 0);
    win.begin[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return win;
}

int64_t groups_of(const Call& c) {
  switch (c.op()) {
    case NEF_OP_CONV_TRANSPOSE: return c.attr_int(NEF_CONV_TRANSPOSE_GROUP, 1);
    case NEF_OP_DEFORM_CONV: return c.attr_int(NEF_DEFORM_CONV_GROUP, 1);
    default: return c.attr_int(NEF_CONV_GROUP, 1);
  }
}

Window window_of(const Call& c, const Dims& x, const Dims& w, const Dims& y) {
  if (c.op() == NEF_OP_CONV_TRANSPOSE) return transpose_window(c, x, w, y);
  if (c.op() != NEF_OP_DEFORM_CONV) {
    // ConvInteger and QLinearConv have their attributes in the slots of Conv.
    return make_window(c, {NEF_CONV_AUTO_PAD, NEF_CONV_PADS, NEF_CONV_STRIDES, NEF_CONV_DILATIONS},
                       w.at + 2, x, y);
  }
  Window win;
  win.rank = x.rank - 2;
  for (int d = 0; d < win.rank; ++d) {
    win.in[d] = x.at[d + 2];
    win.out[d] = y.at[d + 2];
    win.kernel[d] = w.at[d + 2];
    win.stride[d] = Call::entry(c.ints(NEF_DEFORM_CONV_STRIDES), d, 1);
    win.dilation[d] = Call::entry(c.ints(NEF_DEFORM_CONV_DILATIONS), d, 1);
    win.begin[d] = Call::entry(c.ints(NEF_DEFORM_CONV_PADS), d, 0);
    win.end[d] = 0;
  }
  return win;
}

int64_t step_of(const Call& c, size_t input) {
  return c.has(input) && c.in(input).count() != 1 ? 1 : 0;
}

bool by_library(const Call& c, Module& module, const Window& win, int64_t groups) {
  if (c.op() != NEF_OP_CONV || win.rank > Conv::kMostAxes || !c.run().device.has_conv())
    return false;
  Conv conv;
  conv.dtype = c.type(0);
  conv.rank = win.rank;
  conv.groups = groups;
  conv.batch = c.in(0).at[0];
  conv.channels = c.in(0).at[1];
  conv.filters = c.in(1).at[0];
  for (int d = 0; d < win.rank; ++d) {
    // Libraries pad alike on both sides.
    const int64_t reach = (win.out[d] - 1) * win.stride[d] + (win.kernel[d] - 1) * win.dilation[d];
    if (reach + 1 > win.in[d] + 2 * win.begin[d] ||
        reach + win.stride[d] < win.in[d] + 2 * win.begin[d])
      return false;
    conv.in[d] = win.in[d];
    conv.out[d] = win.out[d];
    conv.kernel[d] = win.kernel[d];
    conv.stride[d] = win.stride[d];
    conv.dilation[d] = win.dilation[d];
    conv.pad[d] = win.begin[d];
  }
  conv.x = c.from(0);
  conv.w = c.from(1);
  conv.y = c.to();
  if (!c.has(2)) return c.run().device.conv(conv, c.run().stream);
  // The bias is spread over the result, which the convolution is then added to.
  const Dims y = c.out();
  Params p;
  p.add(c.to()).add(c.from(2)).add(y.count()).add(y.at[1]).add(y.count(2, y.rank));
  c.launch(module, "spread", grid_for(y.count()), p);
  conv.beta = 1;
  return c.run().device.conv(conv, c.run().stream);
}

void launch(const Call& c, Module* module) {
  const Operands at = operands_of(c.op());
  const Dims x = c.in(at.x), w = c.in(at.w), y = c.out();
  if (y.count() == 0) return;
  const Window win = window_of(c, x, w, y);
  const int64_t groups = groups_of(c), filters = y.at[1];
  if (by_library(c, *module, win, groups)) return;
  const int64_t m = filters / groups, n = y.at[0] * win.out_count();
  const int64_t depth = x.at[1] / groups, k = depth * win.kernel_count();
  if (k > (int64_t{1} << 31) - 1) {
    throw BackendError(NEF_LIMIT_EXCEEDED, "a convolution over more than 2^31 - 1 values");
  }
  const bool quantised = c.op() == NEF_OP_QLINEAR_CONV;
  const bool integer = c.op() == NEF_OP_CONV_INTEGER, deform = c.op() == NEF_OP_DEFORM_CONV;
  const auto only = [&](bool has, size_t input) { return has ? c.from(input) : nullptr; };
  Params p;
  p.add(c.to()).add(c.from(at.x)).add(c.from(at.w)).add(only(!integer, at.bias));
  p.add(m).add(n).add(k).add(x.at[1]).add(filters).add(depth);
  p.add(win.out_count()).add(win.in_count()).add(win.kernel_count());
  const size_t w_zero = quantised ? 5 : 3;
  p.add(only(quantised || integer, 2)).add(only(quantised || integer, w_zero));
  p.add(quantised || integer ? step_of(c, w_zero) : 0).add(only(quantised, 1));
  p.add(only(quantised, 4)).add(quantised ? step_of(c, 4) : 0);
  p.add(only(quantised, 6)).add(only(quantised, 7)).add(only(deform, 2)).add(only(deform, 4));
  p.add(deform ? c.attr_int(NEF_DEFORM_CONV_OFFSET_GROUP, 1) : 1);
  win.add_to(p);
  Grid grid = tile_grid(m, n, groups);
  constexpr int64_t kFewFilters = 8;
  if (m < kFewFilters) {
    grid.x = grid_for(m * n).x;
    return c.launch(*module, "direct", grid, p);
  }
  c.launch(*module, "tile", grid, p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_CONV, "convolution", source, launch},
    {NEF_OP_CONV_TRANSPOSE, "transposed convolution", source, launch},
    {NEF_OP_CONV_INTEGER, "integer convolution", source, launch},
    {NEF_OP_QLINEAR_CONV, "quantised convolution", source, launch},
    {NEF_OP_DEFORM_CONV, "deformable convolution", source, launch},
};

}  // namespace

std::span<const OpKernel> conv_kernels() { return kKernels; }

}  // namespace nef::gpu
