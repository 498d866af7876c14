// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "engine/ir/checked.h"
#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// A bound this far out is beyond either end of an axis of symbolic size: exporters write INT32_MAX
// for "to the end". That the axis is not longer is checked when its size is known.
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
  return {start, start > end ? (start - end - 1) / -step + 1 : 0};
}

// The same for an axis whose size is an expression. Each bound is first made a number or
// expression of known sign; a start or end that is too far counts as the end it lies beyond.
class SymbolicAxis {
 public:
  SymbolicAxis(DimPool& pool, Dim size) : pool_(pool), size_(size) {}

  // Count of elements; false when a bound's sign is not known.
  bool count(Dim start, Dim end, int64_t step, Dim* out) const {
    if (!sign_known(start) || !sign_known(end)) return false;
    const bool uses_far =
        far(start) || far(end) || far_back(start) || far_back(end) || step >= kFar || step <= -kFar;
    if (uses_far && !check_not_longer_than_far()) return false;
    const Dim stride = Dim::of(std::min(std::abs(step), kFar));
    *out = pool_.ceildiv(step > 0 ? forward(start, end) : backward(start, end), stride);
    return true;
  }

 private:
  bool negative(Dim v) const { return pool_.upper(v) < 0; }
  bool sign_known(Dim v) const { return pool_.lower(v) >= 0 || negative(v); }
  static bool far(Dim v) { return !is_expr(v) && v.number() >= kFar; }
  static bool far_back(Dim v) { return !is_expr(v) && v.number() <= -kFar; }

  // Leaves the check in the pool unless it is certain.
  bool check_not_longer_than_far() const {
    Dim same = 0;
    return pool_.upper(size_) <= kFar || pool_.equal(pool_.min(kFar, size_), size_, &same);
  }

  Dim forward(Dim start, Dim end) const {
    if (far(start) || far_back(end)) return 0;
    const bool to_end = far(end) || end == size_;
    // The last elements: min(size, -start), which says more than the difference below.
    if (to_end && negative(start)) {
      return far_back(start) ? size_ : pool_.min(size_, pool_.sub(0, start));
    }
    Dim from = start;
    if (far_back(start)) from = 0;
    else if (negative(start)) from = pool_.max(pool_.add(size_, start), 0);
    Dim to = pool_.add(size_, negative(end) ? end : 0);
    if (!to_end && !negative(end)) to = pool_.min(end, size_);
    // A start past the end gives a negative difference, which counts as none.
    return pool_.max(pool_.sub(to, from), 0);
  }

  Dim backward(Dim start, Dim end) const {
    if (far_back(start) || far(end)) return 0;
    const Dim last = pool_.sub(size_, 1);
    Dim from = last;
    if (negative(start)) from = pool_.max(pool_.add(size_, start), -1);
    else if (!far(start)) from = pool_.min(start, last);
    Dim to = end;
    if (far_back(end)) to = -1;
    else if (negative(end)) to = pool_.max(pool_.add(size_, end), -1);
    return pool_.max(pool_.sub(from, to), 0);
  }

  DimPool& pool_;
  Dim size_;
};

void sliced_content(InferContext& c, Dim start, Dim end, int64_t step) {
  const Operand& data = c.in[0];
  if (!data.has_content || data.dims.size() != 1 || is_expr(start) || is_expr(end)) return;
  Inferred& out = c.out[0];
  const Run run =
      static_run(static_cast<int64_t>(data.content.size()), start.number(), end.number(), step);
  for (int64_t i = 0; i < run.count; ++i) {
    out.content.push_back(data.content[static_cast<size_t>(run.begin + i * step)]);
  }
  out.has_content = true;
}

// starts, ends, axes and steps, as far as they are known.
struct Bounds {
  HostInts starts, ends, axes, steps;
  Dim memory[3][NEF_MAX_RANK];  // of elements that had to be adjusted
};

// Exporters write numbers near INT64_MIN, too low for a dim: for a bound or a step any number that
// low means the same.
HostInts bound_ints(const InferContext& c, size_t input, Dim* memory) {
  HostInts h = any_host_ints(c, input);
  const Operand& o = c.in[input];
  if (h.known || o.data == nullptr || o.dtype != NEF_INT64) return h;
  if (h.count < 0 || h.count > NEF_MAX_RANK) return h;
  const size_t n = static_cast<size_t>(h.count);
  for (size_t i = 0; i < n; ++i) {
    memory[i] = Dim::of(std::max(stored_int(o.dtype, o.data, i), Dim::kLowest));
  }
  h.known = true;
  h.elements = {memory, n};
  return h;
}

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
  for (size_t input = 2; input <= 4; ++input) {
    if (!c.has(input)) continue;
    require_entries(c, input, entries(c, 1), "starts, ends, axes and steps differ in length");
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
  const int64_t step = step_dim.number();
  sliced_content(c, start, end, step);
  if (!is_expr(dim) && !is_expr(start) && !is_expr(end)) {
    dim = Dim::of(static_run(dim.number(), start.number(), end.number(), step).count);
    return;
  }
  if (!SymbolicAxis(c.pool, dim).count(start, end, step, &dim)) dim = c.pool.unknown();
}

}  // namespace

void infer_slice(InferContext& c) {
  Bounds b;
  b.starts = bound_ints(c, 1, b.memory[0]);
  b.ends = bound_ints(c, 2, b.memory[1]);
  if (c.has(3)) b.axes = host_ints(c, 3);
  if (c.has(4)) b.steps = bound_ints(c, 4, b.memory[2]);
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
    const size_t axis = c.has(3) ? normal_axis(c, b.axes.elements[k].number(), rank) : k;
    slice_axis(c, b, k, axis);
  }
}

}  // namespace nef::ir
