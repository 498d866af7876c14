// SPDX-License-Identifier: Apache-2.0
// Ops whose output is a strided reading of the input.
#include <algorithm>

#include "backends/cpu/call.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/movement.h"

namespace nef::cpu {
namespace {

struct Steps {
  int64_t by[NEF_MAX_RANK];
};
Steps dense_steps(const View& v) {
  Steps s;
  int64_t step = 1;
  for (int d = v.rank - 1; d >= 0; --d) {
    s.by[d] = step;
    step *= v.dims[d];
  }
  return s;
}

StridedView reading(const View& x, int64_t base = 0) {
  StridedView view;
  view.data = x.data + base * static_cast<int64_t>(x.element_size());
  return view;
}

void run_reshape(const Call& c) { copy_bytes(c.out().data, c.in(0).data, c.in(0).bytes()); }

void run_transpose(const Call& c) {
  const View x = c.in(0), y = c.out();
  const auto perm = c.attr_ints(NEF_TRANSPOSE_PERM);
  const Steps dense = dense_steps(x);
  StridedView view = reading(x);
  for (int d = 0; d < x.rank; ++d) {
    const int from =
        perm.empty() ? x.rank - 1 - d : normal_axis(perm[static_cast<size_t>(d)], x.rank);
    view.push(x.dims[from], dense.by[from]);
  }
  copy_view(y.data, view, y.element_size());
}

void run_expand(const Call& c) {
  const View x = c.in(0), y = c.out();
  const Steps dense = dense_steps(x);
  StridedView view = reading(x);
  for (int d = 0; d < y.rank; ++d) {
    const int from = d - (y.rank - x.rank);
    view.push(y.dims[d], from < 0 || x.dims[from] == 1 ? 0 : dense.by[from]);
  }
  copy_view(y.data, view, y.element_size());
}

// Where a slice along an axis of n elements begins.
int64_t slice_start(int64_t start, int64_t step, int64_t n) {
  if (start < 0) start += n;
  return std::clamp<int64_t>(start, 0, std::max<int64_t>(step > 0 ? n : n - 1, 0));
}

void run_slice(const Call& c) {
  const View x = c.in(0), y = c.out(), starts = c.in(1);
  if (y.count == 0) return;
  Steps steps = dense_steps(x);
  int64_t base = 0;
  for (int64_t i = 0; i < starts.count; ++i) {
    const int64_t axis = c.has(3) ? checked_index("Slice: axes", int_at(c.in(3), i), 0, x.rank) : i;
    const int64_t step = c.has(4) ? int_at(c.in(4), i) : 1;
    base += slice_start(int_at(starts, i), step, x.dims[axis]) * steps.by[axis];
    // A step is only taken when there is a second element, and then it cannot overflow.
    steps.by[axis] = y.dims[axis] > 1 ? steps.by[axis] * step : 0;
  }
  StridedView view = reading(x, base);
  for (int d = 0; d < y.rank; ++d) view.push(y.dims[d], steps.by[d]);
  copy_view(y.data, view, y.element_size());
}

void run_depth_to_space(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t b = c.attr_int(NEF_DEPTH_TO_SPACE_BLOCKSIZE);
  const int64_t channels = y.dims[1], h = x.dims[2], w = x.dims[3], area = h * w;
  const bool crd = c.attr_string(NEF_DEPTH_TO_SPACE_MODE) == "CRD";
  // Channel of x: (block row, block column, channel) in DCR, (channel, row, column) in CRD.
  const int64_t by_channel = crd ? b * b : 1;
  const int64_t by_column = crd ? 1 : channels;
  StridedView view = reading(x);
  view.push(y.dims[0], x.dims[1] * area);
  view.push(channels, by_channel * area);
  view.push(h, w);
  view.push(b, by_column * b * area);
  view.push(w, 1);
  view.push(b, by_column * area);
  copy_view(y.data, view, y.element_size());
}

void run_space_to_depth(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t b = c.attr_int(NEF_SPACE_TO_DEPTH_BLOCKSIZE);
  const int64_t w = x.dims[3], area = x.dims[2] * w;
  StridedView view = reading(x);
  const bool crd = c.attr_string(NEF_SPACE_TO_DEPTH_MODE) == "CRD";
  view.push(y.dims[0], x.dims[1] * area);
  if (crd) view.push(x.dims[1], area);
  view.push(b, w);
  view.push(b, 1);
  if (!crd) view.push(x.dims[1], area);
  view.push(y.dims[2], b * w);
  view.push(y.dims[3], b);
  copy_view(y.data, view, y.element_size());
}

// Row by row: the row of x that an output row repeats.
void run_tile(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const Steps dense = dense_steps(x);
  if (x.rank == 0) return copy_bytes(y.data, x.data, y.bytes());
  const int64_t inner = x.dims[x.rank - 1];
  const size_t row = static_cast<size_t>(inner) * x.element_size();
  const int64_t repeats = y.dims[y.rank - 1] / inner;
  const int64_t rows = y.count / y.dims[y.rank - 1];
  const size_t row_bytes = row * static_cast<size_t>(repeats);
  parallel_for(rows, copy_grain(row_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t left = r, offset = 0;
      for (int d = x.rank - 2; d >= 0; --d) {
        offset += left % y.dims[d] % x.dims[d] * dense.by[d];
        left /= y.dims[d];
      }
      StridedView view = reading(x, offset);
      view.push(repeats, 0);
      view.push(inner, 1);
      copy_view(y.data + static_cast<size_t>(r) * row_bytes, view, y.element_size());
    }
  });
}

}  // namespace

void register_views() {
  for (nef_op op : {NEF_OP_RESHAPE, NEF_OP_FLATTEN, NEF_OP_SQUEEZE, NEF_OP_UNSQUEEZE}) {
    register_call(op, {"copy", run_reshape, nullptr, true});
  }
  register_call(NEF_OP_TRANSPOSE, {"transpose", run_transpose});
  register_call(NEF_OP_EXPAND, {"expand", run_expand});
  register_call(NEF_OP_SLICE, {"slice", run_slice});
  register_call(NEF_OP_DEPTH_TO_SPACE, {"depth to space", run_depth_to_space});
  register_call(NEF_OP_SPACE_TO_DEPTH, {"space to depth", run_space_to_depth});
  register_call(NEF_OP_TILE, {"tile", run_tile});
}

}  // namespace nef::cpu
