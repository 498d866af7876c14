// SPDX-License-Identifier: Apache-2.0
// Resize: each axis maps an output position to a few weighted input positions ("taps"); an output
// is the sum over all combinations.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

enum Method { kNearest, kLinear, kCubic };

constexpr const char* kResize = R"device(
constexpr i32 R = $R$;
constexpr i32 kMethod = $METHOD$;  // 0 nearest, 1 linear, 2 cubic
struct P { X* y; const X* x; i64 n; i64 coordinates; i64 rounding; i64 antialias; i64 exclude; f64 cubic_a; f64 extrapolation;
  i64 in[R]; i64 out[R]; i64 steps[R]; i64 resized[R]; f64 scale[R]; f64 roi_start[R]; f64 roi_end[R]; };
// The input coordinate of output position o. Lengths are products of scale and size, unrounded.
DEV f64 coordinate(const P& p, i32 d, i64 o) {
  const f64 at = f64(o), last = f64(p.in[d] - 1), length = p.scale[d] * f64(p.in[d]);
  const f64 half_pixel = (at + 0.5) / p.scale[d] - 0.5;
  switch (p.coordinates) {
    case 1: return f64(p.in[d]) / 2 * (1 - f64(p.out[d]) / length) + half_pixel;
    case 2: return length == 1 ? 0.0 : half_pixel;
    case 3: return length == 1 ? 0.0 : at * last / (length - 1);
    case 4: return at / p.scale[d];
    case 5: {
      const f64 width = (p.roi_end[d] - p.roi_start[d]) * last;
      return p.roi_start[d] * last + (length == 1 ? width / 2 : at * width / (length - 1));
    }
    case 6: return half_pixel + 0.5;
    default: return half_pixel;
  }
}
struct Taps { i64 first, count; f64 offset, squeeze, norm; bool outside; };
DEV f64 weight(const P& p, i32 d, const Taps& t, i64 k) {
  if (kMethod == 0 || !p.resized[d]) return 1;
  const i64 at = t.first + k;
  if (p.exclude && (at < 0 || at >= p.in[d])) return 0;
  const f64 x = fabs((t.offset + f64(k)) * t.squeeze), a = p.cubic_a;
  if (kMethod == 1) return x < 1 ? 1 - x : 0.0;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0.0;
}
DEV Taps taps_of(const P& p, i32 d, i64 o) {
  Taps t = {o, 1, 0, 1, 1, false};
  if (!p.resized[d]) return t;
  const f64 x = coordinate(p, d, o);
  t.outside = p.coordinates == 5 && (x < 0 || x > f64(p.in[d] - 1));
  if (t.outside) return t;
  if (kMethod == 0) {
    t.first = i64(p.rounding == 1 ? floor(x + 0.5) : p.rounding == 2 ? floor(x) : p.rounding == 3 ? ceil(x) : ceil(x - 0.5));
    return t;
  }
  const f64 reach = kMethod == 2 ? 2 : 1;
  if (p.antialias && p.scale[d] < 1) t.squeeze = p.scale[d];
  const i64 before = i64(floor(-reach / t.squeeze)) + 1;
  // The coordinate lies in (base, base + 1]; taps are symmetric around that.
  t.first = i64(ceil(x)) - 1 + before;
  t.count = 2 - 2 * before;
  t.offset = f64(t.first) - x;
  if (p.antialias || p.exclude) {
    f64 sum = 0;
    for (i64 k = 0; k < t.count; ++k) sum += weight(p, d, t, k);
    t.norm = sum;
  }
  return t;
}
NEF_KERNEL(resize, P) {
  for (i64 o = thread_id(); o < p.n; o += thread_count()) {
    i64 at[R], k[R], nearest = 0;
    Taps taps[R];
    bool outside = false;
    split<R>(u64(o), p.out, at);
    for (i32 d = 0; d < R; ++d) {
      taps[d] = taps_of(p, d, at[d]);
      outside = outside || taps[d].outside;
      nearest += clamped<i64>(taps[d].first, 0, p.in[d] - 1) * p.steps[d];
      k[d] = 0;
    }
    if (outside) { put_number(p.y[o], p.extrapolation); continue; }
    if (kMethod == 0) { p.y[o] = p.x[nearest]; continue; }
    f64 sum = 0;
    for (bool more = true; more;) {
      f64 part = 1;
      i64 from = 0;
      for (i32 d = 0; d < R; ++d) {
        if (p.resized[d]) part *= weight(p, d, taps[d], k[d]) / taps[d].norm;
        from += clamped<i64>(taps[d].first + k[d], 0, p.in[d] - 1) * p.steps[d];
      }
      if (part != 0) sum += part * f64(ld(p.x[from]));
      more = false;
      for (i32 d = R - 1; d >= 0 && !more; --d) {
        more = ++k[d] < taps[d].count;
        if (!more) k[d] = 0;
      }
    }
    put_number(p.y[o], sum);
  }
}
)device";

Method method_of(const Node& node) {
  const std::string_view mode = attr_string(node, NEF_RESIZE_MODE);
  return mode == "cubic" ? kCubic : mode == "linear" ? kLinear : kNearest;
}

std::string source(const Region& region, const Node& node) {
  const Value& x = region.input(node, 0);
  if (x.rank() == 0) throw Refusal{"Resize of a scalar"};
  return fill((type_text("X", x.dtype) + kKernelCommon + kResize).c_str(),
              {{"R", std::to_string(x.rank())}, {"METHOD", std::to_string(method_of(node))}});
}

int64_t position(std::string_view name, std::initializer_list<std::string_view> names) {
  int64_t i = 0;
  for (std::string_view n : names) {
    if (n == name) return i;
    ++i;
  }
  return 0;
}

struct Axes {
  int64_t resized[NEF_MAX_RANK] = {};
  double scale[NEF_MAX_RANK], roi_start[NEF_MAX_RANK], roi_end[NEF_MAX_RANK];
};

// Scales may be the same for all axes (keep_aspect_ratio_policy).
Axes read_axes(const Call& c, const Dims& x, const Dims& y, int64_t coordinates) {
  Axes a;
  std::fill(std::begin(a.scale), std::end(a.scale), 1.0);
  std::fill(std::begin(a.roi_start), std::end(a.roi_start), 0.0);
  std::fill(std::begin(a.roi_end), std::end(a.roi_end), 1.0);
  const auto listed = c.ints(NEF_RESIZE_AXES);
  const int n = listed.empty() ? x.rank : static_cast<int>(listed.size());
  const bool by_scale = c.has(2) && c.host_count(2) > 0;
  const std::string_view policy = c.string(NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY);
  const bool keep = !by_scale && (policy == "not_larger" || policy == "not_smaller");
  double common = 0;
  for (int i = 0; i < n; ++i) {
    const int d = listed.empty() ? i : front_axis(listed[static_cast<size_t>(i)], x.rank);
    const double asked = by_scale
                             ? c.host_number(2, i)
                             : static_cast<double>(c.host_int(3, i)) / static_cast<double>(x.at[d]);
    a.resized[d] = 1;
    a.scale[d] = asked;
    common = i == 0                   ? asked
             : policy == "not_larger" ? std::min(common, asked)
                                      : std::max(common, asked);
    if (c.has(1) && c.host_count(1) >= 2 * n) {
      a.roi_start[d] = c.host_number(1, i);
      a.roi_end[d] = c.host_number(1, n + i);
    }
  }
  constexpr int64_t kCrop = 5;
  for (int d = 0; d < x.rank; ++d) {
    if (a.resized[d] != 0 && keep) a.scale[d] = common;
    // Every other way of counting maps such an axis to itself.
    if (a.scale[d] == 1 && x.at[d] == y.at[d] && coordinates < kCrop) a.resized[d] = 0;
  }
  return a;
}

void launch(const Call& c, Module* module) {
  const Dims x = c.in(), y = c.out();
  if (y.count() == 0) return;
  if (x.count() == 0) throw BackendError(NEF_SHAPE_MISMATCH, "Resize: an empty tensor cannot grow");
  const int64_t coordinates =
      position(c.string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE),
               {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  const int64_t rounding = position(c.string(NEF_RESIZE_NEAREST_MODE),
                                    {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  const Axes axes = read_axes(c, x, y, coordinates);
  Params p;
  p.add(c.to()).add(c.from()).add(y.count()).add(coordinates).add(rounding);
  p.add(c.attr_int(NEF_RESIZE_ANTIALIAS)).add(c.attr_int(NEF_RESIZE_EXCLUDE_OUTSIDE));
  p.add(c.attr_float(NEF_RESIZE_CUBIC_COEFF_A, -0.75));
  p.add(c.attr_float(NEF_RESIZE_EXTRAPOLATION_VALUE));
  p.add(x.at, x.rank, x.rank, 1).add(y.at, y.rank, y.rank, 1);
  p.add(dense_steps(x).at, x.rank, x.rank, 0).add(axes.resized, x.rank, x.rank, 0);
  for (const double* list : {axes.scale, axes.roi_start, axes.roi_end}) {
    for (int d = 0; d < x.rank; ++d) p.add(list[d]);
  }
  c.launch(*module, "resize", grid_for(y.count()), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_RESIZE, "resize", source, launch, nullptr, 1u << 1 | 1u << 2 | 1u << 3}};

}  // namespace

std::span<const OpKernel> resize_kernels() { return kKernels; }

}  // namespace nef::gpu
