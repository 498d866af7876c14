// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "backends/shared/elements.h"

// Sampling and pooling of images by coordinates that are data. `loop(n, grain, body)` runs
// body(begin, end) over [0, n), perhaps on several threads. All in double.
namespace nef::backends {

// ---- GridSample

enum class SampleMode : uint8_t { kLinear, kNearest, kCubic };
enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection };

namespace detail {

constexpr double kFar = 1e9;  // beyond every image; keeps conversions to integers defined

// Mirrored at both ends until it lies between them.
inline double reflected(double x, double low, double high) {
  const double span = high - low;
  if (!(span > 0) || x != x) return low;
  const double past = std::fmod(std::fabs(x - low), 2 * span);
  return low + (past > span ? 2 * span - past : past);
}

struct SampleAxis {
  int64_t size = 1;
  double low = 0, high = 0;  // where reflection turns
};

struct Taps {
  int count = 1;
  int64_t at[4];  // -1: outside, counts as 0
  double weight[4];
};

inline int64_t padded_index(double position, const SampleAxis& a, SamplePadding padding) {
  if (padding == SamplePadding::kBorder) {
    return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(a.size - 1)));
  }
  if (padding == SamplePadding::kReflection) {
    const double x = std::nearbyint(reflected(position, a.low, a.high));
    return static_cast<int64_t>(std::clamp(x, 0.0, static_cast<double>(a.size - 1)));
  }
  const bool inside = position >= 0 && position < static_cast<double>(a.size);
  return inside ? static_cast<int64_t>(position) : -1;
}

inline Taps sample_taps(double coordinate, const SampleAxis& a, bool align, SampleMode mode,
                        SamplePadding padding) {
  const auto size = static_cast<double>(a.size);
  double x = align ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  x = x == x ? std::clamp(x, -kFar, kFar) : -kFar;
  Taps t;
  if (mode == SampleMode::kNearest) {
    t.at[0] = padded_index(std::nearbyint(x), a, padding);
    if (padding == SamplePadding::kReflection) {
      t.at[0] =
          padded_index(std::nearbyint(reflected(x, a.low, a.high)), a, SamplePadding::kBorder);
    }
    t.weight[0] = 1;
    return t;
  }
  if (mode == SampleMode::kLinear) {
    if (padding == SamplePadding::kBorder) x = std::clamp(x, 0.0, size - 1);
    if (padding == SamplePadding::kReflection) {
      x = std::clamp(reflected(x, a.low, a.high), 0.0, size - 1);
    }
    const double base = std::floor(x);
    t.count = 2;
    t.weight[1] = x - base;
    t.weight[0] = 1 - t.weight[1];
    for (int k = 0; k < 2; ++k) t.at[k] = padded_index(base + k, a, SamplePadding::kZeros);
    return t;
  }
  const double base = std::floor(x), f = x - base;
  constexpr double kA = -0.75;
  const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  t.count = 4;
  t.weight[0] = far(f + 1);
  t.weight[1] = near(f);
  t.weight[2] = near(1 - f);
  t.weight[3] = far(2 - f);
  for (int k = 0; k < 4; ++k) t.at[k] = padded_index(base + k - 1, a, padding);
  return t;
}

// Sum over all combinations of taps in one plane.
template <class V>
double combined(const V& x, int64_t plane, const SampleAxis* axes, const Taps* taps, int rank) {
  int k[NEF_MAX_RANK] = {};
  double sum = 0;
  for (bool more = true; more;) {
    double weight = 1;
    int64_t at = 0;
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      weight *= taps[d].weight[k[d]];
      inside = inside && taps[d].at[k[d]] >= 0;
      at = at * axes[d].size + taps[d].at[k[d]];
    }
    if (inside && weight != 0) sum += weight * number(x, plane + at);
    more = false;
    for (int d = rank - 1; d >= 0 && !more; --d) {
      more = ++k[d] < taps[d].count;
      if (!more) k[d] = 0;
    }
  }
  return sum;
}

}  // namespace detail

template <class Call, class Loop>
void grid_sample(const Call& c, const Loop& loop) {
  const auto x = c.in(0), grid = c.in(1), y = c.out();
  const int rank = x.rank - 2;
  const bool align = c.attr_int(NEF_GRID_SAMPLE_ALIGN_CORNERS) != 0;
  const auto mode_name = c.attr_string(NEF_GRID_SAMPLE_MODE);
  const auto padding_name = c.attr_string(NEF_GRID_SAMPLE_PADDING_MODE);
  const SampleMode mode = mode_name == "cubic"     ? SampleMode::kCubic
                          : mode_name == "nearest" ? SampleMode::kNearest
                                                   : SampleMode::kLinear;
  const SamplePadding padding = padding_name == "border"       ? SamplePadding::kBorder
                                : padding_name == "reflection" ? SamplePadding::kReflection
                                                               : SamplePadding::kZeros;
  if (y.count == 0) return;
  const int64_t plane = dims_product(x, 2, x.rank), places = dims_product(y, 2, y.rank);
  if (plane == 0) throw BackendError(NEF_SHAPE_MISMATCH, "GridSample: there is nothing to sample");
  detail::SampleAxis axes[NEF_MAX_RANK];
  for (int d = 0; d < rank; ++d) {
    const auto size = static_cast<double>(x.dims[d + 2]);
    axes[d] = {x.dims[d + 2], align ? 0 : -0.5, align ? size - 1 : size - 0.5};
  }
  const int64_t channels = x.dims[1];
  loop(x.dims[0] * places, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      detail::Taps taps[NEF_MAX_RANK];
      for (int d = 0; d < rank; ++d) {
        // The grid names the last axis first.
        const double coordinate = number(grid, i * rank + rank - 1 - d);
        taps[d] = detail::sample_taps(coordinate, axes[d], align, mode, padding);
      }
      const int64_t n = i / places, p = i % places;
      for (int64_t ch = n * channels; ch < (n + 1) * channels; ++ch) {
        put_number(y, ch * places + p, detail::combined(x, ch * plane, axes, taps, rank));
      }
    }
  });
}

template <class Call, class Loop>
void affine_grid(const Call& c, const Loop& loop) {
  const auto theta = c.in(0), y = c.out();
  if (y.count == 0) return;
  const int rank = y.rank - 2;
  const bool align = c.attr_int(NEF_AFFINE_GRID_ALIGN_CORNERS) != 0;
  loop(y.count / rank, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at[NEF_MAX_RANK];
      coordinates(i, y.dims, rank + 1, at);
      double position[NEF_MAX_RANK];
      for (int d = 0; d < rank; ++d) {
        const auto size = static_cast<double>(y.dims[1 + d]);
        const auto p = static_cast<double>(at[1 + d]);
        position[rank - 1 - d] =
            align ? (size == 1 ? 0 : -1 + 2 * p / (size - 1)) : (2 * p + 1) / size - 1;
      }
      for (int row = 0; row < rank; ++row) {
        const int64_t first = (at[0] * rank + row) * (rank + 1);
        double sum = number(theta, first + rank);
        for (int d = 0; d < rank; ++d) sum += number(theta, first + d) * position[d];
        put_number(y, i * rank + row, sum);
      }
    }
  });
}

// ---- regions

namespace detail {

// Bilinear sample with weights as RoiAlign has them; false when outside, as all is of an image
// without pixels.
struct Corner {
  int64_t at[4];
  double weight[4];
};
inline bool roi_corner(double y, double x, int64_t height, int64_t width, Corner* out) {
  if (height == 0 || width == 0) return false;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
    return false;
  y = std::max(y, 0.0);
  x = std::max(x, 0.0);
  auto y0 = static_cast<int64_t>(y), x0 = static_cast<int64_t>(x);
  int64_t y1 = y0 + 1, x1 = x0 + 1;
  if (y0 >= height - 1) {
    y0 = y1 = height - 1;
    y = static_cast<double>(y0);
  }
  if (x0 >= width - 1) {
    x0 = x1 = width - 1;
    x = static_cast<double>(x0);
  }
  const double ly = y - static_cast<double>(y0), lx = x - static_cast<double>(x0);
  *out = {{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1},
          {(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx}};
  return true;
}

struct RoiBins {
  double y, x, bin_height, bin_width;
  int64_t rows, columns;  // samples of a bin
};

}  // namespace detail

template <class Call, class Loop>
void roi_align(const Call& c, const Loop& loop) {
  constexpr double kMostSamples = 4096;  // of a bin along an axis
  const auto x = c.in(0), rois = c.in(1), batches = c.in(2), y = c.out();
  if (y.count == 0) return;
  const int64_t channels = x.dims[1], height = x.dims[2], width = x.dims[3];
  const int64_t out_height = y.dims[2], out_width = y.dims[3];
  const double scale = c.attr_float(NEF_ROI_ALIGN_SPATIAL_SCALE, 1);
  const int64_t ratio = c.attr_int(NEF_ROI_ALIGN_SAMPLING_RATIO);
  const bool half = c.attr_string(NEF_ROI_ALIGN_COORDINATE_TRANSFORMATION_MODE) == "half_pixel";
  const bool max = c.attr_string(NEF_ROI_ALIGN_MODE) == "max";
  const auto bins_of = [&](int64_t r) {
    const double shift = half ? 0.5 : 0;
    double box[4];
    for (int k = 0; k < 4; ++k) box[k] = number(rois, r * 4 + k) * scale - shift;
    double w = box[2] - box[0], h = box[3] - box[1];
    if (!half) {
      w = std::max(w, 1.0);
      h = std::max(h, 1.0);
    }
    const double bh = h / static_cast<double>(out_height), bw = w / static_cast<double>(out_width);
    const double rows = ratio > 0 ? static_cast<double>(ratio) : std::ceil(bh);
    const double columns = ratio > 0 ? static_cast<double>(ratio) : std::ceil(bw);
    if (!(rows <= kMostSamples && columns <= kMostSamples)) {
      throw BackendError(NEF_OUT_OF_RANGE, "RoiAlign: region " + std::to_string(r) +
                                               " needs over 4096 samples a bin");
    }
    return detail::RoiBins{box[1],
                           box[0],
                           bh,
                           bw,
                           static_cast<int64_t>(std::max(rows, 0.0)),
                           static_cast<int64_t>(std::max(columns, 0.0))};
  };
  for (int64_t r = 0; r < rois.dims[0]; ++r) {
    index_in("RoiAlign", integer(batches, r), "the batch", x.dims[0]);
    bins_of(r);
  }
  loop(y.count, 64, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const int64_t pw = o % out_width, ph = o / out_width % out_height;
      const int64_t ch = o / (out_width * out_height) % channels;
      const int64_t r = o / (out_width * out_height * channels);
      const detail::RoiBins b = bins_of(r);
      const int64_t batch =
          integer(batches, r) < 0 ? integer(batches, r) + x.dims[0] : integer(batches, r);
      const int64_t plane = (batch * channels + ch) * height * width;
      double sum = 0, top = 0;
      bool first = true;
      for (int64_t iy = 0; iy < b.rows; ++iy) {
        const double py =
            b.y + static_cast<double>(ph) * b.bin_height +
            (static_cast<double>(iy) + 0.5) * b.bin_height / static_cast<double>(b.rows);
        for (int64_t ix = 0; ix < b.columns; ++ix) {
          const double px =
              b.x + static_cast<double>(pw) * b.bin_width +
              (static_cast<double>(ix) + 0.5) * b.bin_width / static_cast<double>(b.columns);
          detail::Corner corner;
          double value = 0, largest = 0;
          if (detail::roi_corner(py, px, height, width, &corner)) {
            for (int k = 0; k < 4; ++k) {
              const double part =
                  corner.weight[k] == 0 ? 0 : corner.weight[k] * number(x, plane + corner.at[k]);
              value += part;
              largest = k == 0 ? part : std::max(largest, part);
            }
          }
          sum += value;
          // ONNX compares the weighted corners, not the samples.
          top = first ? largest : std::max(top, largest);
          first = false;
        }
      }
      const auto count = static_cast<double>(std::max<int64_t>(b.rows * b.columns, 1));
      put_number(y, o, max ? top : sum / count);
    }
  });
}

template <class Call, class Loop>
void max_roi_pool(const Call& c, const Loop& loop) {
  const auto x = c.in(0), rois = c.in(1), y = c.out();
  if (y.count == 0) return;
  const int64_t channels = x.dims[1], height = x.dims[2], width = x.dims[3];
  const int64_t out_height = y.dims[2], out_width = y.dims[3];
  const double scale = c.attr_float(NEF_MAX_ROI_POOL_SPATIAL_SCALE, 1);
  const auto batch_of = [&](int64_t r) {
    const double b = number(rois, r * 5);
    return b >= 0 && b < static_cast<double>(x.dims[0]) ? static_cast<int64_t>(b) : int64_t{-1};
  };
  for (int64_t r = 0; r < rois.dims[0]; ++r) {
    if (batch_of(r) >= 0) continue;
    throw BackendError(NEF_OUT_OF_RANGE, "MaxRoiPool: region " + std::to_string(r) +
                                             " names a batch outside [0, " +
                                             std::to_string(x.dims[0]) + ")");
  }
  const auto corner = [&](int64_t r, int k) {
    const double v = std::round(number(rois, r * 5 + k) * scale);
    return v == v ? std::clamp(v, -detail::kFar, detail::kFar) : 0;
  };
  loop(y.count, 64, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const int64_t pw = o % out_width, ph = o / out_width % out_height;
      const int64_t ch = o / (out_width * out_height) % channels;
      const int64_t r = o / (out_width * out_height * channels);
      const double x1 = corner(r, 1), y1 = corner(r, 2);
      const double w = std::max(corner(r, 3) - x1 + 1, 1.0) / static_cast<double>(out_width);
      const double h = std::max(corner(r, 4) - y1 + 1, 1.0) / static_cast<double>(out_height);
      const auto edge = [](double start, double v, int64_t size) {
        return static_cast<int64_t>(std::clamp(start + v, 0.0, static_cast<double>(size)));
      };
      const int64_t top = edge(y1, std::floor(static_cast<double>(ph) * h), height);
      const int64_t bottom = edge(y1, std::ceil(static_cast<double>(ph + 1) * h), height);
      const int64_t left = edge(x1, std::floor(static_cast<double>(pw) * w), width);
      const int64_t right = edge(x1, std::ceil(static_cast<double>(pw + 1) * w), width);
      const int64_t plane = (batch_of(r) * channels + ch) * height * width;
      double best = 0;
      bool first = true;
      for (int64_t i = top; i < bottom; ++i) {
        for (int64_t j = left; j < right; ++j) {
          const double v = number(x, plane + i * width + j);
          if (first || v > best || v != v) best = best != best && !first ? best : v;
          first = false;
        }
      }
      put_number(y, o, best);
    }
  });
}

// ---- windows

namespace detail {

struct PoolAxis {
  int64_t kernel, stride, dilation, begin;
};

// Sizes of a pooling window; paddings of auto_pad follow from both shapes.
template <class Call, class V>
void pool_axes(const Call& c, const V& x, const V& y, PoolAxis* axes) {
  const auto kernel = c.attr_ints(NEF_LP_POOL_KERNEL_SHAPE), pads = c.attr_ints(NEF_LP_POOL_PADS);
  const auto strides = c.attr_ints(NEF_LP_POOL_STRIDES);
  const auto dilations = c.attr_ints(NEF_LP_POOL_DILATIONS);
  const auto mode = c.attr_string(NEF_LP_POOL_AUTO_PAD);
  for (int d = 0; d < x.rank - 2; ++d) {
    PoolAxis& a = axes[d];
    a = {kernel[static_cast<size_t>(d)], attr_entry(strides, d, 1), attr_entry(dilations, d, 1), 0};
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t extent = (a.kernel - 1) * a.dilation + 1;
      const int64_t total =
          std::max<int64_t>((y.dims[d + 2] - 1) * a.stride + extent - x.dims[d + 2], 0);
      a.begin = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else if (mode != "VALID") {
      a.begin = attr_entry(pads, d, 0);
    }
  }
}

// The input position of kernel position k of output position o; -1 outside.
template <class V>
int64_t pool_source(const V& x, const PoolAxis* axes, const int64_t* o, const int64_t* k) {
  int64_t offset = 0;
  for (int d = 0; d < x.rank - 2; ++d) {
    const int64_t i = o[d] * axes[d].stride - axes[d].begin + k[d] * axes[d].dilation;
    if (i < 0 || i >= x.dims[d + 2]) return -1;
    offset = offset * x.dims[d + 2] + i;
  }
  return offset;
}

}  // namespace detail

template <class Call, class Loop>
void lp_pool(const Call& c, const Loop& loop) {
  const auto x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const int rank = x.rank - 2;
  const auto p = static_cast<double>(c.attr_int(NEF_LP_POOL_P, 2));
  detail::PoolAxis axes[NEF_MAX_RANK];
  detail::pool_axes(c, x, y, axes);
  int64_t sizes[NEF_MAX_RANK], positions = 1;
  for (int d = 0; d < rank; ++d) positions *= sizes[d] = axes[d].kernel;
  const int64_t in_plane = dims_product(x, 2, x.rank), out_plane = dims_product(y, 2, y.rank);
  loop(y.count, 256, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      int64_t at[NEF_MAX_RANK], k[NEF_MAX_RANK];
      coordinates(o % out_plane, y.dims + 2, rank, at);
      double sum = 0;
      for (int64_t i = 0; i < positions; ++i) {
        coordinates(i, sizes, rank, k);
        const int64_t from = detail::pool_source(x, axes, at, k);
        if (from < 0) continue;
        const double v = std::fabs(number(x, o / out_plane * in_plane + from));
        sum += p == 1 ? v : p == 2 ? v * v : std::pow(v, p);
      }
      put_number(y, o, p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p));
    }
  });
}

template <class Call>
void max_unpool(const Call& c) {
  const auto x = c.in(0), at = c.in(1), y = c.out();
  if (y.count > 0) std::memset(y.data, 0, static_cast<size_t>(y.count) * dtype_size(y.dtype));
  const auto kernel = c.attr_ints(NEF_MAX_UNPOOL_KERNEL_SHAPE);
  const auto pads = c.attr_ints(NEF_MAX_UNPOOL_PADS), strides = c.attr_ints(NEF_MAX_UNPOOL_STRIDES);
  // The shape that the indices count in.
  int64_t dims[NEF_MAX_RANK], total = 1;
  for (int d = 0; d < x.rank; ++d) {
    dims[d] = x.dims[d];
    if (d >= 2) {
      const int i = d - 2, spatial = x.rank - 2;
      dims[d] = (x.dims[d] - 1) * attr_entry(strides, i, 1) + kernel[static_cast<size_t>(i)] -
                attr_entry(pads, i, 0) - attr_entry(pads, spatial + i, 0);
    }
    total *= std::max<int64_t>(dims[d], 0);
  }
  for (int64_t i = 0; i < x.count; ++i) {
    const int64_t index = index_in("MaxUnpool", integer(at, i), "the unpooled tensor", total);
    int64_t place[NEF_MAX_RANK], o = 0;
    coordinates(index, dims, x.rank, place);
    for (int d = 0; d < x.rank; ++d) {
      o = o * y.dims[d] + index_in("MaxUnpool", place[d], "output_shape", y.dims[d]);
    }
    put_number(y, o, number(x, i));
  }
}

template <class Call, class Loop>
void deform_conv(const Call& c, const Loop& loop) {
  const auto x = c.in(0), w = c.in(1), offset = c.in(2), y = c.out();
  if (y.count == 0) return;
  const int rank = x.rank - 2;
  const auto strides = c.attr_ints(NEF_DEFORM_CONV_STRIDES),
             pads = c.attr_ints(NEF_DEFORM_CONV_PADS);
  const auto dilations = c.attr_ints(NEF_DEFORM_CONV_DILATIONS);
  const int64_t groups = c.attr_int(NEF_DEFORM_CONV_GROUP, 1);
  const int64_t offset_groups = c.attr_int(NEF_DEFORM_CONV_OFFSET_GROUP, 1);
  const int64_t filters = w.dims[0], depth = w.dims[1], channels = x.dims[1];
  const int64_t kernel = dims_product(w, 2, w.rank), plane = dims_product(x, 2, x.rank);
  const int64_t places = dims_product(y, 2, y.rank);
  detail::SampleAxis axes[NEF_MAX_RANK];
  for (int d = 0; d < rank; ++d) axes[d].size = x.dims[d + 2];
  loop(y.dims[0] * places, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / places, p = i % places;
      int64_t at[NEF_MAX_RANK], k[NEF_MAX_RANK];
      coordinates(p, y.dims + 2, rank, at);
      for (int64_t f = 0; f < filters; ++f) {
        const int64_t group = f / (filters / groups);
        double sum = c.has(3) ? number(c.in(3), f) : 0;
        for (int64_t ch = 0; ch < depth; ++ch) {
          const int64_t channel = group * depth + ch;
          const int64_t og = channel / (channels / offset_groups);
          for (int64_t q = 0; q < kernel; ++q) {
            coordinates(q, w.dims + 2, rank, k);
            detail::Taps taps[NEF_MAX_RANK];
            for (int d = 0; d < rank; ++d) {
              const int64_t entry = ((n * offset_groups + og) * kernel + q) * rank + d;
              double pos =
                  static_cast<double>(at[d] * attr_entry(strides, d, 1) - attr_entry(pads, d, 0) +
                                      k[d] * attr_entry(dilations, d, 1)) +
                  number(offset, entry * places + p);
              pos = pos == pos ? std::clamp(pos, -detail::kFar, detail::kFar) : -detail::kFar;
              const double base = std::floor(pos);
              taps[d].count = 2;
              taps[d].weight[1] = pos - base;
              taps[d].weight[0] = 1 - taps[d].weight[1];
              for (int t = 0; t < 2; ++t) {
                taps[d].at[t] = detail::padded_index(base + t, axes[d], SamplePadding::kZeros);
              }
            }
            double value = detail::combined(x, (n * channels + channel) * plane, axes, taps, rank);
            if (c.has(4)) {
              value *= number(c.in(4), ((n * offset_groups + og) * kernel + q) * places + p);
            }
            sum += value * number(w, (f * depth + ch) * kernel + q);
          }
        }
        put_number(y, (n * filters + f) * places + p, sum);
      }
    }
  });
}

template <class Call, class Loop>
void col2im(const Call& c, const Loop& loop) {
  const auto x = c.in(0), block = c.in(2), y = c.out();
  if (y.count == 0) return;
  const int rank = y.rank - 2;
  const auto strides = c.attr_ints(NEF_COL2IM_STRIDES), pads = c.attr_ints(NEF_COL2IM_PADS);
  const auto dilations = c.attr_ints(NEF_COL2IM_DILATIONS);
  int64_t kernel[NEF_MAX_RANK], counts[NEF_MAX_RANK], positions = 1;
  for (int d = 0; d < rank; ++d) {
    positions *= kernel[d] = integer(block, d);
    const int64_t extent = (kernel[d] - 1) * attr_entry(dilations, d, 1) + 1;
    const int64_t padded = y.dims[d + 2] + attr_entry(pads, d, 0) + attr_entry(pads, rank + d, 0);
    counts[d] = padded < extent ? 0 : (padded - extent) / attr_entry(strides, d, 1) + 1;
  }
  int64_t blocks = 1;
  for (int d = 0; d < rank; ++d) blocks *= counts[d];
  if (blocks != x.dims[2] || positions < 1 || x.dims[1] != y.dims[1] * positions) {
    throw BackendError(NEF_SHAPE_MISMATCH, "Col2Im: the image has " + std::to_string(blocks) +
                                               " blocks, the input " + std::to_string(x.dims[2]));
  }
  const int64_t plane = dims_product(y, 2, y.rank);
  const bool floats = element_is_float(y.dtype);
  loop(y.count, 256, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      int64_t at[NEF_MAX_RANK], k[NEF_MAX_RANK];
      coordinates(o % plane, y.dims + 2, rank, at);
      double sum = 0;
      uint64_t whole = 0;
      for (int64_t q = 0; q < positions; ++q) {
        coordinates(q, kernel, rank, k);
        int64_t from = 0;
        bool inside = true;
        for (int d = 0; d < rank && inside; ++d) {
          const int64_t stride = attr_entry(strides, d, 1);
          const int64_t i = at[d] + attr_entry(pads, d, 0) - k[d] * attr_entry(dilations, d, 1);
          inside = i >= 0 && i % stride == 0 && i / stride < counts[d];
          from = from * counts[d] + i / stride;
        }
        if (!inside) continue;
        const int64_t source = (o / plane * positions + q) * blocks + from;
        if (floats) sum += number(x, source);
        else whole += static_cast<uint64_t>(integer(x, source));
      }
      if (floats) put_number(y, o, sum);
      else put_integer(y, o, static_cast<int64_t>(whole));
    }
  });
}

template <class Call, class Loop>
void center_crop_pad(const Call& c, const Loop& loop) {
  const auto x = c.in(0), y = c.out();
  if (y.count == 0) return;
  int64_t shift[NEF_MAX_RANK];  // added to an output position
  for (int d = 0; d < x.rank; ++d) {
    const int64_t more = x.dims[d] - y.dims[d];
    shift[d] = more >= 0 ? more / 2 : -(-more / 2);
  }
  const size_t size = dtype_size(x.dtype);
  loop(y.count, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      int64_t at[NEF_MAX_RANK], from = 0;
      coordinates(o, y.dims, y.rank, at);
      bool inside = true;
      for (int d = 0; d < x.rank && inside; ++d) {
        const int64_t i = at[d] + shift[d];
        inside = i >= 0 && i < x.dims[d];
        from = from * x.dims[d] + i;
      }
      char* to = y.data + static_cast<size_t>(o) * size;
      if (inside) std::memcpy(to, x.data + static_cast<size_t>(from) * size, size);
      else std::memset(to, 0, size);
    }
  });
}

}  // namespace nef::backends
