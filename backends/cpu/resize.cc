// SPDX-License-Identifier: Apache-2.0
// Resize: each axis maps an output position to weighted input positions, worked out once per
// launch; an output is the sum over all combinations.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/movement.h"
#include "backends/cpu/resize_axis.h"
#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {
namespace {

constexpr int64_t kColumns = 256;

size_t resize_scratch(const Call& c) {
  const View x = c.in(0), y = c.out();
  int64_t taps = 0;
  for (int d = 0; d < x.rank; ++d) taps += resize_taps_bound(x.dims[d], y.dims[d]);
  return static_cast<size_t>(taps) * sizeof(ResizeTap);
}

// Integers round to nearest even, then saturate.
template <class T>
T to_element(double value) {
  using C = Compute<T>;
  if constexpr (std::is_floating_point_v<C>) return narrow<T>(static_cast<C>(value));
  else return saturate<T>(std::nearbyint(value));
}

template <class T>
class Resizer {
 public:
  Resizer(const Call& c, const ResizeOptions& options)
      : x_(c.in(0)), y_(c.out()), options_(options) {
    ResizeAxis axes[NEF_MAX_RANK];
    read_resize_axes(c, axes);
    auto* next = c.scratch<ResizeTap>();
    const auto* end = next + resize_scratch(c) / sizeof(ResizeTap);
    int64_t step = 1;
    for (int d = x_.rank - 1; d >= 0; --d) {
      taps_[d] = {resize_taps_per_output(options, axes[d]), next};
      if (taps_[d].per_output > (end - next) / std::max<int64_t>(axes[d].out, 1)) {
        throw BackendError(NEF_INTERNAL, "Resize: more taps than its scratch memory holds");
      }
      fill_resize_taps(options, axes[d], step, taps_[d]);
      next += axes[d].out * taps_[d].per_output;
      step *= x_.dims[d];
    }
  }

  void run() const {
    const int64_t columns = y_.dims[y_.rank - 1];
    parallel_for(y_.count / columns, 4096 / columns + 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) resize_row(r, columns);
    });
  }

 private:
  void resize_row(int64_t row, int64_t columns) const {
    int64_t at[NEF_MAX_RANK] = {};
    bool outside = false;
    for (int d = x_.rank - 2; d >= 0; --d) {
      at[d] = row_coordinate(row, d);
      outside = outside || taps_[d].at(at[d])[0].offset == kResizeOutside;
    }
    T* out = reinterpret_cast<T*>(y_.data) + row * columns;
    if (outside) {
      std::fill(out, out + columns, to_element<T>(options_.extrapolation));
    } else if (options_.method == ResizeMethod::kNearest) {
      pick_row(at, columns, out);
    } else {
      for (int64_t i = 0; i < columns; i += kColumns) {
        weigh_row(at, i, std::min(kColumns, columns - i), out + i);
      }
    }
  }

  int64_t row_coordinate(int64_t row, int axis) const {
    for (int d = x_.rank - 2; d > axis; --d) row /= y_.dims[d];
    return row % y_.dims[axis];
  }

  void pick_row(const int64_t* at, int64_t columns, T* out) const {
    const T* x = reinterpret_cast<const T*>(x_.data);
    const int last = x_.rank - 1;
    for (int d = 0; d < last; ++d) x += taps_[d].at(at[d])[0].offset;
    for (int64_t i = 0; i < columns; ++i) {
      const int64_t offset = taps_[last].at(i)[0].offset;
      out[i] = offset == kResizeOutside ? to_element<T>(options_.extrapolation) : x[offset];
    }
  }

  // Sums over the combinations of taps of the outer axes, for columns [first, first + n).
  void weigh_row(const int64_t* at, int64_t first, int64_t n, T* out) const {
    double sum[kColumns] = {};
    const int last = x_.rank - 1;
    int64_t k[NEF_MAX_RANK] = {};
    bool more = true;
    while (more) {
      const T* x = reinterpret_cast<const T*>(x_.data);
      double weight = 1;
      for (int d = 0; d < last; ++d) {
        const ResizeTap& tap = taps_[d].at(at[d])[k[d]];
        x += tap.offset;
        weight *= tap.weight;
      }
      if (weight != 0) add_row(x, weight, first, n, sum);
      more = false;
      for (int d = last - 1; d >= 0 && !more; --d) {
        more = ++k[d] < taps_[d].per_output;
        if (!more) k[d] = 0;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      const bool outside = taps_[last].at(first + i)[0].offset == kResizeOutside;
      out[i] = to_element<T>(outside ? options_.extrapolation : sum[i]);
    }
  }

  // A weight of 0 does not read its element: it may be infinite.
  void add_row(const T* x, double weight, int64_t first, int64_t n, double* sum) const {
    const ResizeTaps& taps = taps_[x_.rank - 1];
    for (int64_t i = 0; i < n; ++i) {
      const ResizeTap* t = taps.at(first + i);
      if (t[0].offset == kResizeOutside) continue;
      for (int64_t k = 0; k < taps.per_output; ++k) {
        if (t[k].weight == 0) continue;
        sum[i] += weight * t[k].weight * static_cast<double>(widen(x[t[k].offset]));
      }
    }
  }

  View x_, y_;
  ResizeOptions options_;
  ResizeTaps taps_[NEF_MAX_RANK];
};

void run_resize(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  if (x.count == 0) {
    throw BackendError(NEF_SHAPE_MISMATCH, "Resize: an empty tensor cannot grow");
  }
  const ResizeOptions options = read_resize_options(c);
  with_element_type(x.dtype, [&]<class T>(T) {
    if (x.rank == 0) std::memcpy(y.data, x.data, sizeof(T));
    else Resizer<T>(c, options).run();
  });
}

// With a region of interest the number of antialiasing taps is not bounded by the shapes.
const char* refuse_resize(const Region& region) {
  const int64_t* attrs = region.nodes[0].attrs();
  const std::string_view mode(nef_attr_string(attrs, NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE),
                              nef_attr_count(attrs, NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE));
  const bool antialias = nef_attr_int(attrs, NEF_RESIZE_ANTIALIAS, 0) != 0;
  if (!antialias || mode != "tf_crop_and_resize") return nullptr;
  return "the cpu backend does not serve Resize with antialias and tf_crop_and_resize together";
}

}  // namespace

void register_resize() {
  register_call(NEF_OP_RESIZE, {"resize", run_resize, resize_scratch, false, refuse_resize});
}

}  // namespace nef::cpu
