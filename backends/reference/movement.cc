// SPDX-License-Identifier: Apache-2.0
// Ops that copy elements: most are a strided read in the order of the output.
#include <algorithm>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// y = x read from `base` with `steps` along axes of size `dims`, in row-major order of dims.
void copy_strided(const View& y, const View& x, const int64_t* dims, int rank, int64_t base,
                  const Strides& steps) {
  if (y.count == 0) return;
  Coords at(dims, rank);
  for (int64_t o = 0; o < y.count; ++o, at.next()) copy_element(y, o, x, base + steps.offset(at));
}

void run_copy(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count > 0) std::memcpy(y.data, x.data, static_cast<size_t>(y.count) * y.element_size());
}

void run_transpose(const Call& c) {
  const View x = c.in(0), y = c.out();
  const auto perm = c.attr_ints(NEF_TRANSPOSE_PERM);
  const Strides dense = dense_strides(x.dims, x.rank);
  Strides steps;
  for (int d = 0; d < x.rank; ++d) {
    const int from = perm.empty() ? x.rank - 1 - d : c.axis(perm[static_cast<size_t>(d)], x.rank);
    steps.by[d] = dense.by[from];
  }
  copy_strided(y, x, y.dims, y.rank, 0, steps);
}

void run_expand(const Call& c) {
  const View x = c.in(0), y = c.out();
  copy_strided(y, x, y.dims, y.rank, 0, broadcast_strides(x, y.rank));
}

void run_slice(const Call& c) {
  const View x = c.in(0), y = c.out(), starts = c.in(1);
  Strides steps = dense_strides(x.dims, x.rank);
  int64_t base = 0;
  for (int64_t i = 0; i < starts.count; ++i) {
    const int64_t axis =
        c.has(3) ? checked_index("Slice: axes", load_int(c.in(3), i), 0, x.rank) : i;
    const int64_t step = c.has(4) ? load_int(c.in(4), i) : 1;
    const int64_t n = x.dims[axis];
    int64_t start = load_int(starts, i);
    if (start < 0) start += n;
    start = std::clamp<int64_t>(start, 0, std::max<int64_t>(step > 0 ? n : n - 1, 0));
    base += start * steps.by[axis];
    // A step is only taken when there is a second element, and then it cannot overflow.
    steps.by[axis] = y.dims[axis] > 1 ? steps.by[axis] * step : 0;
  }
  copy_strided(y, x, y.dims, y.rank, base, steps);
}

// Copies between a whole and one of its parts along an axis; `first` is where the part begins.
void copy_part(const View& whole, const View& part, int axis, int64_t first, bool to_whole) {
  const auto inner =
      static_cast<size_t>(span_count(part, axis + 1, part.rank)) * part.element_size();
  const size_t block = inner * static_cast<size_t>(part.dims[axis]);
  const size_t stride = inner * static_cast<size_t>(whole.dims[axis]);
  const int64_t outer = span_count(part, 0, axis);
  if (block == 0) return;
  for (int64_t o = 0; o < outer; ++o) {
    char* w = whole.data + static_cast<size_t>(o) * stride + static_cast<size_t>(first) * inner;
    char* p = part.data + static_cast<size_t>(o) * block;
    if (to_whole) std::memcpy(w, p, block);
    else std::memcpy(p, w, block);
  }
}

void run_concat(const Call& c) {
  const View y = c.out();
  const int axis = c.axis(c.attr_int(NEF_CONCAT_AXIS), y.rank);
  int64_t first = 0;
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    const View x = c.in(i);
    copy_part(y, x, axis, first, true);
    first += x.dims[axis];
  }
}

// The size of piece i, also of one that nobody wants.
int64_t split_size(const Call& c, size_t i, int64_t n) {
  if (c.has(1)) return load_int(c.in(1), static_cast<int64_t>(i));
  const auto pieces = static_cast<int64_t>(c.n_outputs());
  const int64_t size = (n + pieces - 1) / pieces;
  return std::clamp<int64_t>(n - static_cast<int64_t>(i) * size, 0, size);
}

void run_split(const Call& c) {
  const View x = c.in(0);
  const int axis = c.axis(c.attr_int(NEF_SPLIT_AXIS), x.rank);
  int64_t first = 0;
  for (size_t i = 0; i < c.n_outputs(); ++i) {
    if (c.wants(i)) copy_part(x, c.out(i), axis, first, false);
    first += split_size(c, i, x.dims[axis]);
  }
}

void run_tile(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const Strides dense = dense_strides(x.dims, x.rank);
  Coords at(y.dims, y.rank);
  for (int64_t o = 0; o < y.count; ++o, at.next()) {
    int64_t i = 0;
    for (int d = 0; d < x.rank; ++d) i += at.at[d] % x.dims[d] * dense.by[d];
    copy_element(y, o, x, i);
  }
}

void run_depth_to_space(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t b = c.attr_int(NEF_DEPTH_TO_SPACE_BLOCKSIZE);
  const int64_t channels = y.dims[1], h = x.dims[2], w = x.dims[3], area = h * w;
  const int64_t dims[] = {y.dims[0], channels, h, b, w, b};
  const bool crd = c.attr_string(NEF_DEPTH_TO_SPACE_MODE) == "CRD";
  // Channel of x: (row block, column block, channel) in DCR, (channel, row, column) in CRD.
  const int64_t by_channel = crd ? b * b : 1;
  const int64_t by_column = crd ? 1 : channels;
  const Strides steps{
      {x.dims[1] * area, by_channel * area, w, by_column * b * area, 1, by_column * area}};
  copy_strided(y, x, dims, 6, 0, steps);
}

void run_space_to_depth(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t b = c.attr_int(NEF_SPACE_TO_DEPTH_BLOCKSIZE);
  const int64_t channels = x.dims[1], w = x.dims[3], area = x.dims[2] * w;
  if (c.attr_string(NEF_SPACE_TO_DEPTH_MODE) == "CRD") {
    const int64_t crd[] = {y.dims[0], channels, b, b, y.dims[2], y.dims[3]};
    return copy_strided(y, x, crd, 6, 0, Strides{{channels * area, area, w, 1, b * w, b}});
  }
  const int64_t dims[] = {y.dims[0], b, b, channels, y.dims[2], y.dims[3]};
  copy_strided(y, x, dims, 6, 0, Strides{{channels * area, w, 1, area, b * w, b}});
}

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

PadMode pad_mode(std::string_view name) {
  if (name == "reflect") return PadMode::kReflect;
  if (name == "edge") return PadMode::kEdge;
  return name == "wrap" ? PadMode::kWrap : PadMode::kConstant;
}

// Where position i outside [0, n) reads from; -1 = the constant.
int64_t pad_source(int64_t i, int64_t n, PadMode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case PadMode::kEdge: return i < 0 ? 0 : n - 1;
    case PadMode::kWrap: return (i % n + n) % n;
    case PadMode::kReflect: {
      if (n == 1) return 0;
      const int64_t period = 2 * (n - 1), r = (i % period + period) % period;
      return r < n ? r : period - r;
    }
    default: return -1;
  }
}

void run_pad(const Call& c) {
  const View x = c.in(0), y = c.out(), pads = c.in(1);
  if (y.count == 0) return;
  const PadMode mode = pad_mode(c.attr_string(NEF_PAD_MODE));
  if (x.count == 0 && mode != PadMode::kConstant) {
    throw BackendError(NEF_SHAPE_MISMATCH,
                       "Pad: an empty tensor has no elements to repeat; use mode constant");
  }
  int64_t begin[NEF_MAX_RANK] = {};
  for (int64_t i = 0; i < pads.count / 2; ++i) {
    const int64_t axis = c.has(3) ? checked_index("Pad: axes", load_int(c.in(3), i), 0, x.rank) : i;
    begin[axis] = load_int(pads, i);
  }
  const Strides dense = dense_strides(x.dims, x.rank);
  Coords at(y.dims, y.rank);
  for (int64_t o = 0; o < y.count; ++o, at.next()) {
    int64_t i = 0;
    for (int d = 0; d < x.rank && i >= 0; ++d) {
      const int64_t source = pad_source(at.at[d] - begin[d], x.dims[d], mode);
      i = source < 0 ? -1 : i + source * dense.by[d];
    }
    if (i >= 0) copy_element(y, o, x, i);
    else if (c.has(2)) copy_element(y, o, c.in(2), 0);
    else std::memset(y.data + static_cast<size_t>(o) * y.element_size(), 0, y.element_size());
  }
}

void run_trilu(const Call& c) {
  const View x = c.in(0), y = c.out();
  const bool upper = c.attr_int(NEF_TRILU_UPPER, 1) != 0;
  const int64_t k = c.has(1) ? load_int(c.in(1), 0) : 0;
  const int64_t rows = y.dims[y.rank - 2], columns = y.dims[y.rank - 1];
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t diagonal = i % columns - i / columns % rows;
    if (upper ? diagonal >= k : diagonal <= k) copy_element(y, i, x, i);
    else std::memset(y.data + static_cast<size_t>(i) * y.element_size(), 0, y.element_size());
  }
}

void run_reverse_sequence(const Call& c) {
  const View x = c.in(0), lengths = c.in(1), y = c.out();
  const int64_t batch_axis = c.attr_int(NEF_REVERSE_SEQUENCE_BATCH_AXIS, 1);
  const int64_t time_axis = c.attr_int(NEF_REVERSE_SEQUENCE_TIME_AXIS, 0);
  for (int64_t i = 0; i < lengths.count; ++i) {
    const int64_t n = load_int(lengths, i), limit = x.dims[time_axis];
    if (n >= 0 && n <= limit) continue;
    throw BackendError(NEF_OUT_OF_RANGE, "ReverseSequence: length " + std::to_string(n) +
                                             " is outside 0 to " + std::to_string(limit));
  }
  if (y.count == 0) return;
  const Strides dense = dense_strides(x.dims, x.rank);
  Coords at(y.dims, y.rank);
  for (int64_t o = 0; o < y.count; ++o, at.next()) {
    const int64_t time = at.at[time_axis], n = load_int(lengths, at.at[batch_axis]);
    const int64_t from = time < n ? n - 1 - time : time;
    copy_element(y, o, x, o + (from - time) * dense.by[time_axis]);
  }
}

constexpr Kernel kKernels[] = {
    {NEF_OP_IDENTITY, run_copy},
    {NEF_OP_RESHAPE, run_copy},
    {NEF_OP_FLATTEN, run_copy},
    {NEF_OP_SQUEEZE, run_copy},
    {NEF_OP_UNSQUEEZE, run_copy},
    {NEF_OP_TRANSPOSE, run_transpose},
    {NEF_OP_EXPAND, run_expand},
    {NEF_OP_SLICE, run_slice},
    {NEF_OP_CONCAT, run_concat},
    {NEF_OP_SPLIT, run_split},
    {NEF_OP_TILE, run_tile},
    {NEF_OP_DEPTH_TO_SPACE, run_depth_to_space},
    {NEF_OP_SPACE_TO_DEPTH, run_space_to_depth},
    {NEF_OP_PAD, run_pad},
    {NEF_OP_TRILU, run_trilu},
    {NEF_OP_REVERSE_SEQUENCE, run_reverse_sequence},
};

}  // namespace

std::span<const Kernel> movement_kernels() { return kKernels; }

}  // namespace nef::reference
