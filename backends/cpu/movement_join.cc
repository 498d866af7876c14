// SPDX-License-Identifier: Apache-2.0
// Concat, Split and Pad: parts of tensors side by side.
#include <algorithm>

#include "backends/cpu/call.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/movement.h"

namespace nef::cpu {
namespace {

// A part of a whole along an axis, as rows of bytes: one per index of the axes before it.
struct Part {
  size_t row_bytes, whole_pitch;
  int64_t rows;
  Part(const View& whole, const View& part, int axis) {
    const size_t inner = static_cast<size_t>(part.span(axis + 1, part.rank)) * part.element_size();
    row_bytes = inner * static_cast<size_t>(part.dims[axis]);
    whole_pitch = inner * static_cast<size_t>(whole.dims[axis]);
    rows = part.span(0, axis);
  }
};

void run_concat(const Call& c) {
  const View y = c.out();
  const int axis = normal_axis(c.attr_int(NEF_CONCAT_AXIS), y.rank);
  size_t offset = 0;
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    const View x = c.in(i);
    const Part part(y, x, axis);
    copy_rows(y.data + offset, part.whole_pitch, x.data, part.row_bytes, part.row_bytes, part.rows);
    offset += part.row_bytes;
  }
}

// The size of piece i, also of one that nobody wants.
int64_t split_size(const Call& c, size_t i, int64_t n) {
  if (c.has(1)) return int_at(c.in(1), static_cast<int64_t>(i));
  const auto pieces = static_cast<int64_t>(c.n_outputs());
  const int64_t size = (n + pieces - 1) / pieces;
  return std::clamp<int64_t>(n - static_cast<int64_t>(i) * size, 0, size);
}

void run_split(const Call& c) {
  const View x = c.in(0);
  const int axis = normal_axis(c.attr_int(NEF_SPLIT_AXIS), x.rank);
  const size_t inner = static_cast<size_t>(x.span(axis + 1, x.rank)) * x.element_size();
  size_t offset = 0;
  for (size_t i = 0; i < c.n_outputs(); ++i) {
    if (c.wants(i)) {
      const View y = c.out(i);
      const Part part(x, y, axis);
      copy_rows(y.data, part.row_bytes, x.data + offset, part.whole_pitch, part.row_bytes,
                part.rows);
    }
    offset += inner * static_cast<size_t>(split_size(c, i, x.dims[axis]));
  }
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

// Pads row by row: the row's source is found once, then its left edge, middle and right edge.
class Padder {
 public:
  explicit Padder(const Call& c)
      : x_(c.in(0)), y_(c.out()), mode_(pad_mode(c.attr_string(NEF_PAD_MODE))) {
    if (x_.count == 0 && mode_ != PadMode::kConstant) {
      throw BackendError(NEF_SHAPE_MISMATCH,
                         "Pad: an empty tensor has no elements to repeat; use mode constant");
    }
    const View pads = c.in(1);
    for (int64_t i = 0; i < pads.count / 2; ++i) {
      const int64_t axis =
          c.has(3) ? checked_index("Pad: axes", int_at(c.in(3), i), 0, x_.rank) : i;
      begin_[axis] = int_at(pads, i);
    }
    if (c.has(2)) std::copy_n(c.in(2).data, size_, constant_);
    columns_ = y_.dims[y_.rank - 1];
    inner_ = x_.dims[x_.rank - 1];
    const int64_t shift = begin_[x_.rank - 1];
    middle_begin_ = std::clamp<int64_t>(shift, 0, columns_);
    middle_end_ = std::clamp<int64_t>(shift + inner_, middle_begin_, columns_);
  }

  void run() const {
    const size_t row_bytes = static_cast<size_t>(columns_) * size_;
    parallel_for(y_.count / columns_, copy_grain(row_bytes), [this](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) pad_row(r);
    });
  }

 private:
  // Element offset of the row of x behind row r of y, -1 when the row is all constant.
  int64_t source_row(int64_t r) const {
    int64_t offset = 0, step = inner_;
    for (int d = x_.rank - 2; d >= 0; --d) {
      const int64_t i = pad_source(r % y_.dims[d] - begin_[d], x_.dims[d], mode_);
      if (i < 0) return -1;
      offset += i * step;
      step *= x_.dims[d];
      r /= y_.dims[d];
    }
    return offset;
  }

  void pad_row(int64_t r) const {
    char* out = y_.data + static_cast<size_t>(r * columns_) * size_;
    const int64_t source = source_row(r);
    if (source < 0) return put_constant(out, columns_);
    const char* row = x_.data + static_cast<size_t>(source) * size_;
    put_edge(out, row, 0, middle_begin_);
    const int64_t first = middle_begin_ - begin_[x_.rank - 1];
    std::copy_n(row + first * static_cast<int64_t>(size_),
                static_cast<size_t>(middle_end_ - middle_begin_) * size_,
                out + static_cast<size_t>(middle_begin_) * size_);
    put_edge(out, row, middle_end_, columns_);
  }

  void put_edge(char* out, const char* row, int64_t from, int64_t to) const {
    if (mode_ == PadMode::kConstant) {
      return put_constant(out + static_cast<size_t>(from) * size_, to - from);
    }
    for (int64_t i = from; i < to; ++i) {
      const int64_t s = pad_source(i - begin_[x_.rank - 1], inner_, mode_);
      std::copy_n(row + static_cast<size_t>(s) * size_, size_,
                  out + static_cast<size_t>(i) * size_);
    }
  }

  void put_constant(char* out, int64_t count) const { fill(out, constant_, size_, count); }

  View x_, y_;
  PadMode mode_;
  size_t size_ = x_.element_size();
  char constant_[8] = {};
  int64_t begin_[NEF_MAX_RANK] = {};
  int64_t columns_, inner_, middle_begin_, middle_end_;
};

void run_pad(const Call& c) {
  if (c.out().count == 0) return;
  if (c.in(0).rank == 0) return copy_bytes(c.out().data, c.in(0).data, c.out().bytes());
  Padder(c).run();
}

}  // namespace

void register_joins() {
  register_call(NEF_OP_CONCAT, {"concat", run_concat});
  register_call(NEF_OP_SPLIT, {"split", run_split});
  register_call(NEF_OP_PAD, {"pad", run_pad});
}

}  // namespace nef::cpu
