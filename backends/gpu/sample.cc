// SPDX-License-Identifier: Apache-2.0
// Images sampled at coordinates that are data: GridSample, RoiAlign, MaxRoiPool; and AffineGrid,
// which makes such coordinates. All in double.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

// ---- GridSample

constexpr const char* kGrid = R"device(
constexpr i32 R = $R$;
// mode: 0 linear, 1 nearest, 2 cubic; padding: 0 zeros, 1 border, 2 reflection
struct P { X* y; const X* x; const G* grid; i64 n; i64 channels; i64 places; i64 plane; i64 align; i64 mode; i64 padding; i64 size[R]; };
struct Taps { i32 count; i64 at[4]; f64 weight[4]; };
// Mirrored at both ends until it lies between them.
DEV f64 reflected(f64 x, f64 low, f64 high) {
  const f64 span = high - low;
  if (!(span > 0) || x != x) return low;
  const f64 past = fmod(fabs(x - low), 2 * span);
  return low + (past > span ? 2 * span - past : past);
}
// -1: outside, which counts as 0.
DEV i64 padded(f64 at, f64 size, f64 low, f64 high, i32 padding) {
  if (padding == 1) return i64(clamped(at, 0.0, size - 1));
  if (padding == 2) return i64(clamped(rint(reflected(at, low, high)), 0.0, size - 1));
  return at >= 0 && at < size ? i64(at) : -1;
}
DEV Taps taps_of(f64 coordinate, i64 whole_size, const P& p) {
  const bool align = p.align != 0;
  const i32 mode = i32(p.mode), padding = i32(p.padding);
  const f64 size = f64(whole_size), low = align ? 0.0 : -0.5, high = align ? size - 1 : size - 0.5;
  f64 x = align ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  x = x == x ? clamped(x, -1e9, 1e9) : -1e9;
  Taps t;
  if (mode == 1) {
    t.count = 1;
    t.weight[0] = 1;
    t.at[0] = padding == 2 ? padded(rint(reflected(x, low, high)), size, low, high, 1) : padded(rint(x), size, low, high, padding);
    return t;
  }
  if (mode == 0) {
    if (padding == 1) x = clamped(x, 0.0, size - 1);
    if (padding == 2) x = clamped(reflected(x, low, high), 0.0, size - 1);
    const f64 base = floor(x);
    t.count = 2;
    t.weight[1] = x - base;
    t.weight[0] = 1 - t.weight[1];
    for (i32 k = 0; k < 2; ++k) t.at[k] = padded(base + k, size, low, high, 0);
    return t;
  }
  const f64 base = floor(x), f = x - base, a = -0.75;
  const f64 d[4] = {f + 1, f, 1 - f, 2 - f};
  t.count = 4;
  for (i32 k = 0; k < 4; ++k) {
    const bool near = k == 1 || k == 2;
    t.weight[k] = near ? ((a + 2) * d[k] - (a + 3)) * d[k] * d[k] + 1 : ((a * d[k] - 5 * a) * d[k] + 8 * a) * d[k] - 4 * a;
    t.at[k] = padded(base + k - 1, size, low, high, padding);
  }
  return t;
}
// A thread for each place; channels are shared out along y.
NEF_KERNEL(grid_sample, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    Taps taps[R];
    for (i32 d = 0; d < R; ++d) taps[d] = taps_of(f64(ld(p.grid[i * R + R - 1 - d])), p.size[d], p);
    const i64 image = i / p.places, place = i % p.places;
    for (i64 ch = image * p.channels + blockIdx.y; ch < (image + 1) * p.channels; ch += gridDim.y) {
      i32 k[R];
      for (i32 d = 0; d < R; ++d) k[d] = 0;
      f64 sum = 0;
      for (bool more = true; more;) {
        f64 weight = 1;
        i64 at = 0;
        bool inside = true;
        for (i32 d = 0; d < R; ++d) {
          weight *= taps[d].weight[k[d]];
          inside = inside && taps[d].at[k[d]] >= 0;
          at = at * p.size[d] + taps[d].at[k[d]];
        }
        if (inside && weight != 0) sum += weight * f64(ld(p.x[ch * p.plane + at]));
        more = false;
        for (i32 d = R - 1; d >= 0 && !more; --d) {
          more = ++k[d] < taps[d].count;
          if (!more) k[d] = 0;
        }
      }
      put_number(p.y[ch * p.places + place], sum);
    }
  }
}
)device";

std::string grid_source(const Region& region, const Node& node) {
  const Value& x = region.input(node, 0);
  if (x.rank() < 3) throw Refusal{"GridSample without spatial axes"};
  return fill((type_text("X", x.dtype) + type_text("G", region.input(node, 1).dtype) +
               kKernelCommon + kGrid)
                  .c_str(),
              {{"R", std::to_string(x.rank() - 2)}});
}

void launch_grid(const Call& c, Module* module) {
  const Dims x = c.in(), y = c.out();
  if (y.count() == 0) return;
  const int64_t plane = x.count(2, x.rank), places = y.count(2, y.rank), n = x.at[0] * places;
  if (plane == 0) throw BackendError(NEF_SHAPE_MISMATCH, "GridSample: there is nothing to sample");
  Params p;
  p.add(c.to()).add(c.from()).add(c.from(1)).add(n).add(x.at[1]).add(places).add(plane);
  const std::string_view mode = c.string(NEF_GRID_SAMPLE_MODE);
  const std::string_view padding = c.string(NEF_GRID_SAMPLE_PADDING_MODE);
  p.add(c.attr_int(NEF_GRID_SAMPLE_ALIGN_CORNERS));
  p.add(int64_t{mode == "cubic" ? 2 : mode == "nearest" ? 1 : 0});
  p.add(int64_t{padding == "border" ? 1 : padding == "reflection" ? 2 : 0});
  p.add(x.at + 2, x.rank - 2, x.rank - 2, 1);
  Grid grid = grid_for(n);
  grid.y = std::clamp<int64_t>((int64_t{1} << 18) / n, 1, std::min<int64_t>(x.at[1], 65535));
  c.launch(*module, "grid_sample", grid, p);
}

// ---- AffineGrid

std::string affine_source(const Region& region, const Node& node) {
  const Value& y = region.output(node, 0);
  if (y.rank() < 3) throw Refusal{"AffineGrid without spatial axes"};
  return fill((type_text("X", y.dtype) + kKernelCommon + R"device(
constexpr i32 R = $R$;
struct P { X* y; const X* theta; i64 n; i64 align; i64 dims[R + 1]; };
NEF_KERNEL(affine, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    i64 at[R + 1];
    f64 position[R];
    split<R + 1>(u64(i), p.dims, at);
    for (i32 d = 0; d < R; ++d) {
      const f64 size = f64(p.dims[1 + d]), v = f64(at[1 + d]);
      position[R - 1 - d] = p.align ? (size == 1 ? 0.0 : -1 + 2 * v / (size - 1)) : (2 * v + 1) / size - 1;
    }
    for (i32 row = 0; row < R; ++row) {
      const i64 first = (at[0] * R + row) * (R + 1);
      f64 sum = f64(ld(p.theta[first + R]));
      for (i32 d = 0; d < R; ++d) sum += f64(ld(p.theta[first + d])) * position[d];
      put_number(p.y[i * R + row], sum);
    }
  }
}
)device")
                  .c_str(),
              {{"R", std::to_string(y.rank() - 2)}});
}

void launch_affine(const Call& c, Module* module) {
  const Dims y = c.out();
  const int rank = y.rank - 2;
  if (y.count() == 0) return;
  Params p;
  p.add(c.to()).add(c.from()).add(y.count() / rank).add(c.attr_int(NEF_AFFINE_GRID_ALIGN_CORNERS));
  p.add(y.at, rank + 1, rank + 1, 1);
  c.launch(*module, "affine", grid_for(y.count() / rank), p);
}

// ---- RoiAlign, MaxRoiPool

constexpr const char* kAlign = R"device(
struct P { X* y; const X* x; const X* rois; const i64* batches; Fault* fault; i64 n; i64 images; i64 channels; i64 height; i64 width;
  i64 out_height; i64 out_width; i64 ratio; i64 half; i64 max; f64 scale; };
NEF_KERNEL(roi, P) {
  const f64 most_samples = 4096;  // of a bin along an axis
  for (i64 o = thread_id(); o < p.n; o += thread_count()) {
    const i64 pw = o % p.out_width, ph = o / p.out_width % p.out_height, area = p.out_width * p.out_height;
    const i64 ch = o / area % p.channels, r = o / area / p.channels;
    f64 box[4];
    for (i32 k = 0; k < 4; ++k) box[k] = f64(ld(p.rois[r * 4 + k])) * p.scale - (p.half ? 0.5 : 0.0);
    f64 w = box[2] - box[0], h = box[3] - box[1];
    if (!p.half) { w = w < 1 ? 1.0 : w; h = h < 1 ? 1.0 : h; }
    const f64 bh = h / f64(p.out_height), bw = w / f64(p.out_width);
    const f64 real_rows = p.ratio > 0 ? f64(p.ratio) : ceil(bh), real_columns = p.ratio > 0 ? f64(p.ratio) : ceil(bw);
    if (!(real_rows <= most_samples && real_columns <= most_samples)) { note_fault(p.fault, r, 0, 0); continue; }
    const i64 rows = real_rows > 0 ? i64(real_rows) : 0, columns = real_columns > 0 ? i64(real_columns) : 0;
    const i64 batch = index_of(p.batches[r], 0, p.images, p.fault);
    if (batch < 0) continue;
    const X* plane = p.x + (batch * p.channels + ch) * p.height * p.width;
    f64 sum = 0, top = 0;
    bool first = true;
    for (i64 iy = 0; iy < rows; ++iy) {
      const f64 py = box[1] + f64(ph) * bh + (f64(iy) + 0.5) * bh / f64(rows);
      for (i64 ix = 0; ix < columns; ++ix) {
        const f64 px = box[0] + f64(pw) * bw + (f64(ix) + 0.5) * bw / f64(columns);
        f64 value = 0, largest = 0;
        const bool pixels = p.height > 0 && p.width > 0;
        if (pixels && py >= -1 && py <= f64(p.height) && px >= -1 && px <= f64(p.width)) {
          f64 y = py < 0 ? 0.0 : py, x = px < 0 ? 0.0 : px;
          i64 y0 = i64(y), x0 = i64(x), y1 = y0 + 1, x1 = x0 + 1;
          if (y0 >= p.height - 1) { y0 = y1 = p.height - 1; y = f64(y0); }
          if (x0 >= p.width - 1) { x0 = x1 = p.width - 1; x = f64(x0); }
          const f64 ly = y - f64(y0), lx = x - f64(x0);
          const i64 at[4] = {y0 * p.width + x0, y0 * p.width + x1, y1 * p.width + x0, y1 * p.width + x1};
          const f64 weight[4] = {(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx};
          for (i32 k = 0; k < 4; ++k) {
            const f64 part = weight[k] == 0 ? 0.0 : weight[k] * f64(ld(plane[at[k]]));
            value += part;
            largest = k == 0 || largest < part ? part : largest;
          }
        }
        sum += value;
        // ONNX compares the weighted corners, not the samples.
        top = first || top < largest ? largest : top;
        first = false;
      }
    }
    const i64 count = rows * columns;
    put_number(p.y[o], p.max ? top : sum / f64(count < 1 ? 1 : count));
  }
}
)device";

constexpr const char* kMaxRoi = R"device(
struct P { X* y; const X* x; const X* rois; Fault* fault; i64 n; i64 images; i64 channels; i64 height; i64 width; i64 out_height;
  i64 out_width; f64 scale; };
DEV f64 corner(const P& p, i64 r, i32 k) {
  const f64 v = f64(ld(p.rois[r * 5 + k])) * p.scale, size = fabs(v);
  if (v != v) return 0;
  const f64 whole = floor(size), away = size - whole >= 0.5 ? whole + 1 : whole;  // half away from 0
  return clamped(v < 0 ? -away : away, -1e9, 1e9);
}
DEV i64 edge(f64 v, i64 size) { return i64(clamped(v, 0.0, f64(size))); }
NEF_KERNEL(roi, P) {
  for (i64 o = thread_id(); o < p.n; o += thread_count()) {
    const i64 pw = o % p.out_width, ph = o / p.out_width % p.out_height, area = p.out_width * p.out_height;
    const i64 ch = o / area % p.channels, r = o / area / p.channels;
    const f64 image = f64(ld(p.rois[r * 5]));
    if (!(image >= 0 && image < f64(p.images))) { note_fault(p.fault, saturated<i64>(image), 0, p.images); continue; }
    const f64 x1 = corner(p, r, 1), y1 = corner(p, r, 2), x2 = corner(p, r, 3), y2 = corner(p, r, 4);
    const f64 w = (x2 - x1 + 1 < 1 ? 1.0 : x2 - x1 + 1) / f64(p.out_width), h = (y2 - y1 + 1 < 1 ? 1.0 : y2 - y1 + 1) / f64(p.out_height);
    const i64 top = edge(y1 + floor(f64(ph) * h), p.height), bottom = edge(y1 + ceil(f64(ph + 1) * h), p.height);
    const i64 left = edge(x1 + floor(f64(pw) * w), p.width), right = edge(x1 + ceil(f64(pw + 1) * w), p.width);
    const X* plane = p.x + (i64(image) * p.channels + ch) * p.height * p.width;
    f64 best = 0;
    bool first = true;
    for (i64 i = top; i < bottom; ++i) {
      for (i64 j = left; j < right; ++j) {
        const f64 v = f64(ld(plane[i * p.width + j]));
        if (first || v > best || v != v) best = best != best && !first ? best : v;
        first = false;
      }
    }
    put_number(p.y[o], best);
  }
}
)device";

std::string roi_source(const Region& region, const Node& node) {
  return type_text("X", region.input(node, 0).dtype) + kKernelCommon +
         (node.op == NEF_OP_ROI_ALIGN ? kAlign : kMaxRoi);
}

void launch_roi(const Call& c, Module* module) {
  const Dims x = c.in(), y = c.out();
  const bool align = c.op() == NEF_OP_ROI_ALIGN;
  if (y.count() == 0) return;
  Params p;
  p.add(c.to()).add(c.from()).add(c.from(1));
  if (align) p.add(c.from(2));
  p.add(c.fault(align ? "RoiAlign" : "MaxRoiPool")).add(y.count());
  p.add(x.at, 4, 4, 1).add(y.at + 2, 2, 2, 1);
  if (align) {
    p.add(c.attr_int(NEF_ROI_ALIGN_SAMPLING_RATIO));
    p.add(int64_t{c.string(NEF_ROI_ALIGN_COORDINATE_TRANSFORMATION_MODE) == "half_pixel"});
    p.add(int64_t{c.string(NEF_ROI_ALIGN_MODE) == "max"});
    p.add(c.attr_float(NEF_ROI_ALIGN_SPATIAL_SCALE, 1));
  } else {
    p.add(c.attr_float(NEF_MAX_ROI_POOL_SPATIAL_SCALE, 1));
  }
  c.launch(*module, "roi", grid_for(y.count()), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_GRID_SAMPLE, "grid sample", grid_source, launch_grid},
    {NEF_OP_AFFINE_GRID, "affine grid", affine_source, launch_affine, nullptr, 1u << 1},
    {NEF_OP_ROI_ALIGN, "roi align", roi_source, launch_roi, nullptr, 0, true},
    {NEF_OP_MAX_ROI_POOL, "max roi pool", roi_source, launch_roi, nullptr, 0, true},
};

}  // namespace

std::span<const OpKernel> sample_kernels() { return kKernels; }

}  // namespace nef::gpu
