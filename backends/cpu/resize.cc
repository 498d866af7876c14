// SPDX-License-Identifier: Apache-2.0
// Resize: each axis maps an output position to weighted input positions, worked out once per
// launch.
#include <algorithm>
#include <cstring>

#include "backends/cpu/movement.h"
#include "backends/cpu/resize_axis.h"
#include "backends/cpu/resize_weigh.h"

namespace nef::cpu {
namespace {

size_t resize_scratch(const Call& c) {
  const View x = c.in(0), y = c.out();
  int64_t taps = 0;
  for (int d = 0; d < x.rank; ++d) taps += resize_taps_bound(x.dims[d], y.dims[d]);
  return static_cast<size_t>(taps) * sizeof(ResizeTap);
}

constexpr int64_t kGrain = 64;  // pieces of lines

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
      drop_zero_taps(axes[d].out, taps_[d]);
      step *= x_.dims[d];
    }
  }

  void run() const {
    if (options_.method == ResizeMethod::kNearest) pick();
    else weigh();
  }

 private:
  int64_t elements_from(int axis) const {
    return backends::element_count(x_.dims + axis, x_.rank - axis);
  }

  // Axes that are only copied; those at the end are one with the run of elements that an output
  // along the axis before reads.
  bool is_copied(int axis) const {
    const ResizeTaps& taps = taps_[axis];
    if (taps.per_output != 1 || x_.dims[axis] != y_.dims[axis]) return false;
    const int64_t step = elements_from(axis + 1);
    for (int64_t o = 0; o < y_.dims[axis]; ++o) {
      if (taps.at(o)->offset != o * step || taps.at(o)->weight != 1) return false;
    }
    return true;
  }

  void weigh() const {
    int last = x_.rank - 1;
    while (last > 0 && is_copied(last)) --last;
    ResizeLines lines;
    lines.inner = elements_from(last + 1);
    lines.in_length = x_.dims[last] * lines.inner;
    lines.out_length = y_.dims[last] * lines.inner;
    lines.along = taps_[last];
    lines.outer = taps_;
    lines.n_outer = last;
    const int64_t rows = y_.count / lines.out_length;
    const int64_t pieces = (lines.out_length + kResizeColumns - 1) / kResizeColumns;
    parallel_for(pieces * rows, kGrain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t piece = begin / rows, first = begin % rows;
        const int64_t n = std::min(rows - first, end - begin);
        weigh_piece(lines, piece * kResizeColumns, first, n);
        begin += n;
      }
    });
  }
  // Columns from `column` on of n rows of the output.
  void weigh_piece(const ResizeLines& lines, int64_t column, int64_t first, int64_t n) const {
    const int64_t columns = std::min(kResizeColumns, lines.out_length - column);
    ResizePiece<T> piece(lines, x_.dtype, reinterpret_cast<const T*>(x_.data),
                         options_.extrapolation, column, columns);
    int64_t at[NEF_MAX_RANK];
    locate(first, lines.n_outer, at);
    for (int64_t row = first; row < first + n; ++row) {
      T* out = reinterpret_cast<T*>(y_.data) + row * lines.out_length + column;
      if (is_inside(lines.n_outer, at)) piece.resize(at, out);
      else std::fill(out, out + columns, resized_element<T>(options_.extrapolation));
      for (int d = lines.n_outer - 1; d >= 0 && ++at[d] == y_.dims[d]; --d) at[d] = 0;
    }
  }

  // The coordinates of a row along the first axes.
  void locate(int64_t row, int axes, int64_t* at) const {
    for (int d = axes - 1; d >= 0; --d) {
      at[d] = row % y_.dims[d];
      row /= y_.dims[d];
    }
  }
  bool is_inside(int axes, const int64_t* at) const {
    bool inside = true;
    for (int d = 0; d < axes; ++d) {
      inside = inside && taps_[d].at(at[d])->offset != kResizeOutside;
    }
    return inside;
  }

  void pick() const {
    const int64_t columns = y_.dims[y_.rank - 1];
    parallel_for(y_.count / columns, 4096 / columns + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t at[NEF_MAX_RANK];
        T* out = reinterpret_cast<T*>(y_.data) + row * columns;
        locate(row, x_.rank - 1, at);
        if (is_inside(x_.rank - 1, at)) pick_row(at, columns, out);
        else std::fill(out, out + columns, resized_element<T>(options_.extrapolation));
      }
    });
  }
  void pick_row(const int64_t* at, int64_t columns, T* out) const {
    const T* x = reinterpret_cast<const T*>(x_.data);
    const int last = x_.rank - 1;
    for (int d = 0; d < last; ++d) x += taps_[d].at(at[d])[0].offset;
    for (int64_t i = 0; i < columns; ++i) {
      const int64_t offset = taps_[last].at(i)[0].offset;
      out[i] = offset == kResizeOutside ? resized_element<T>(options_.extrapolation) : x[offset];
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
