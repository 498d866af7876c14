// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/checked.h"
#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// Bounds from here on mean "to the end" of a symbolic axis; exporters write INT32_MAX.
constexpr int64_t kFar = INT32_MAX;

// Python's slice of an axis of known size: first element and count.
struct Run {
  int64_t begin = 0, count = 0;
};
Run static_run(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    return {start, end > start ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<int64_t>(start, -1, size - 1);
  end = std::clamp<int64_t>(end, -1, size - 1);
  // start - end is at most size, so a step that cannot be negated counts one element.
  const int64_t stride = step == INT64_MIN ? INT64_MAX : -step;
  return {start, start > end ? (start - end - 1) / stride + 1 : 0};
}

// Far bounds read as the end; the check that the axis is not that long stays in the pool.
Dim axis_end(DimPool& pool, Dim bound, Dim size) {
  if (bound >= pool.upper(size)) return size;
  Dim same = 0;
  pool.equal(pool.min(bound, size), size, &same);
  return size;
}

class SymbolicAxis {
 public:
  SymbolicAxis(DimPool& pool, Dim size) : pool_(pool), size_(size) {}

  // Count of elements; false when a bound's sign is not known.
  bool count(Dim start, Dim end, int64_t step, Dim* out) const {
    return step > 0 ? forward(start, end, step, out) : backward(start, end, step, out);
  }

 private:
  bool negative(Dim v) const { return pool_.upper(v) < 0; }
  bool sign_known(Dim v) const { return pool_.lower(v) >= 0 || negative(v); }
  static bool far(Dim v) { return !is_expr(v) && v >= kFar; }
  static bool far_back(Dim v) { return !is_expr(v) && v <= -kFar; }

  bool forward(Dim start, Dim end, int64_t step, Dim* out) const {
    if (!sign_known(start) || !sign_known(end)) return false;
    const bool to_end = far(end) || end == size_;
    if (far(end)) axis_end(pool_, end, size_);
    Dim n = 0;
    if (far(start) || far_back(end)) {
      n = 0;
    } else if (to_end && negative(start)) {
      // The last elements: min(size, -start).
      n = far_back(start) ? size_ : pool_.min(size_, pool_.sub(0, start));
    } else {
      Dim from = start;
      if (far_back(start)) from = 0;
      else if (negative(start)) from = pool_.max(pool_.add(size_, start), 0);
      // A start past the end gives a negative count, which counts as none.
      Dim to = end;
      if (to_end) to = size_;
      else if (negative(end)) to = pool_.add(size_, end);
      else to = pool_.min(end, size_);
      n = pool_.max(pool_.sub(to, from), 0);
    }
    *out = pool_.ceildiv(n, step);
    return true;
  }

  bool backward(Dim start, Dim end, int64_t step, Dim* out) const {
    if (!sign_known(start) || !sign_known(end)) return false;
    const Dim last = pool_.sub(size_, 1);
    Dim from = 0;
    if (far(start)) {
      axis_end(pool_, start, size_);
      from = last;
    } else if (far_back(start)) {
      from = -1;
    } else if (negative(start)) {
      from = pool_.max(pool_.add(size_, start), -1);
    } else {
      from = pool_.min(start, last);
    }
    Dim to = end;
    if (far_back(end)) to = -1;
    else if (negative(end)) to = pool_.max(pool_.add(size_, end), -1);
    const Dim n = pool_.max(pool_.sub(from, to), 0);
    *out = pool_.ceildiv(n, step == INT64_MIN ? INT64_MAX : -step);
    return true;
  }

  DimPool& pool_;
  Dim size_;
};

void sliced_content(InferContext& c, Dim start, Dim end, int64_t step) {
  const Operand& data = c.in[0];
  if (!data.has_content || data.dims.size() != 1 || is_expr(start) || is_expr(end)) return;
  Inferred& out = c.out[0];
  const Run run = static_run(static_cast<int64_t>(data.content.size()), start, end, step);
  for (int64_t i = 0; i < run.count; ++i) {
    out.content.push_back(data.content[static_cast<size_t>(run.begin + i * step)]);
  }
  out.has_content = true;
}

// starts, ends, axes and steps, as far as they are known.
struct Bounds {
  HostInts starts, ends, axes, steps;
};

int64_t entry_count(const InferContext& c, const Bounds& b) {
  int64_t n = b.starts.count;
  for (const auto& [h, input] : {std::pair{&b.ends, 2}, {&b.axes, 3}, {&b.steps, 4}}) {
    if (!c.has(static_cast<size_t>(input)) || h->count < 0) continue;
    if (n >= 0 && h->count != n) {
      c.fail(NEF_INVALID_ARGUMENT,
             cat("starts, ends, axes and steps differ in length: ", n, " and ", h->count));
    }
    n = h->count;
  }
  return n;
}

void slice_axis(InferContext& c, const Bounds& b, size_t k, size_t axis) {
  Dim& dim = c.out[0].shape.dims[axis];
  const Dim step_dim = c.has(4) && b.steps.known ? b.steps.elements[k] : 1;
  if (step_dim == 0) c.fail(NEF_INVALID_ARGUMENT, cat("the step of axis ", axis, " is 0"));
  const bool known =
      b.starts.known && b.ends.known && (!c.has(4) || b.steps.known) && !is_expr(step_dim);
  if (!known) {
    dim = c.pool.unknown();
    return;
  }
  const Dim start = b.starts.elements[k], end = b.ends.elements[k];
  sliced_content(c, start, end, step_dim);
  if (!is_expr(dim) && !is_expr(start) && !is_expr(end)) {
    dim = static_run(dim, start, end, step_dim).count;
    return;
  }
  if (!SymbolicAxis(c.pool, dim).count(start, end, step_dim, &dim)) dim = c.pool.unknown();
}

}  // namespace

void infer_slice(InferContext& c) {
  Bounds b{host_ints(c, 1), host_ints(c, 2), {}, {}};
  if (c.has(3)) b.axes = host_ints(c, 3);
  if (c.has(4)) b.steps = host_ints(c, 4);
  const size_t rank = c.rank(0);
  const int64_t n = entry_count(c, b);
  Shape& out = c.out[0].shape;
  out.assign(c.dims(0));
  if (n > static_cast<int64_t>(rank)) {
    c.fail(NEF_INVALID_ARGUMENT, cat(n, " slices for a tensor of ", rank, " dims"));
  }
  // Without the axes, or how many there are, any dim may be cut.
  if ((c.has(3) && !b.axes.known) || n < 0) {
    for (size_t i = 0; i < rank; ++i) out.dims[i] = c.pool.unknown();
    return;
  }
  if (n == 0) return copy_content(c, 0, c.out[0]);
  if (c.has(3)) axis_mask(c, 3, b.axes.elements, rank);
  for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
    const size_t axis = c.has(3) ? normal_axis(c, b.axes.elements[k], rank) : k;
    slice_axis(c, b, k, axis);
  }
}

}  // namespace nef::ir
