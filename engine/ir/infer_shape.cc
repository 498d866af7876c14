// SPDX-License-Identifier: Apache-2.0
// Ops whose results are shapes, or whose shapes are data.
#include <algorithm>
#include <cmath>

#include "engine/ir/infer_rules.h"

namespace nef::ir {

void infer_shape(InferContext& c) {
  const std::span<const Dim> d = c.dims(0);
  const int64_t rank = static_cast<int64_t>(d.size());
  const auto clamped = [rank](int64_t v) {
    return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const int64_t begin = clamped(c.attrs.i(NEF_SHAPE_START, 0));
  const int64_t end = std::max(begin, clamped(c.attrs.i(NEF_SHAPE_END, rank)));
  Inferred& out = c.out[0];
  out.shape.push(Dim::of(end - begin));
  out.content.assign(d.begin() + begin, d.begin() + end);
  out.has_content = true;
}

void infer_size(InferContext& c) {
  c.out[0].content.assign(1, product(c.pool, c.dims(0)));
  c.out[0].has_content = true;
}

void infer_shape_expr(InferContext& c) {
  Inferred& out = c.out[0];
  if (!out.has_content) c.fail(NEF_INTERNAL, "the dims of a shape expression are missing");
  out.shape.push(Dim::of(out.content.size()));
}

void infer_nonzero(InferContext& c) {
  c.out[0].shape =
      Shape{Dim::of(c.rank(0)), c.pool.unknown(0, c.pool.upper(product(c.pool, c.dims(0))))};
}

void infer_constant_of_shape(InferContext& c) {
  Inferred& out = c.out[0];
  if (c.has(1)) require_one_element(c, 1);
  else out.dtype = NEF_FLOAT32;
  const HostInts shape = host_ints(c, 0);
  if (!shape.known) {
    const int64_t n = host_ints_sized(c, 0).count;
    for (int64_t i = 0; i < n; ++i) out.shape.push(c.pool.unknown());
    return;
  }
  for (Dim d : shape.elements) {
    if (c.pool.upper(d) < 0) {
      c.fail(NEF_INVALID_ARGUMENT,
             cat("shape ", shape_str(shape.elements, c.pool), " has a negative dim"));
    }
    out.shape.push(d);
  }
  if (!c.has(1) || !c.in[1].has_content || out.shape.rank > 1) return;
  const Dim n = out.shape.rank == 0 ? 1 : out.shape.dims[0];
  if (!few_elements(n)) return;
  out.content.assign(static_cast<size_t>(n.number()), c.in[1].content[0]);
  out.has_content = true;
}

void infer_eye_like(InferContext& c) {
  require_rank(c, 0, 2);
  c.out[0].shape.assign(c.dims(0));
  c.out[0].dtype = dtype_attr(c, NEF_EYE_LIKE_DTYPE, c.in[0].dtype);
}

void infer_one_hot(InferContext& c) {
  const std::span<const Dim> indices = c.dims(0);
  require_one_element(c, 1);
  require_vector(c, 2, 2, "values is [off, on]");
  const size_t axis = normal_axis(c, c.attrs.i(NEF_ONE_HOT_AXIS, -1), indices.size() + 1);
  const Dim depth = c.in[1].has_content ? c.in[1].content[0] : c.pool.unknown();
  if (c.pool.upper(depth) < 0) {
    c.fail(NEF_INVALID_ARGUMENT, cat("depth must not be negative, got ", c.pool.str(depth)));
  }
  Shape& out = c.out[0].shape;
  out.assign(indices.first(axis));
  out.push(depth);
  for (Dim d : indices.subspan(axis)) out.push(d);
}

namespace {

// ceil((limit - start) / delta), not below 0, of floats.
Dim float_range_size(const InferContext& c, double start, double limit, double delta) {
  if (delta == 0) c.fail(NEF_INVALID_ARGUMENT, "delta must not be 0");
  const double n = std::ceil((limit - start) / delta);
  if (std::isnan(n) || n > 9e15) {
    c.fail(NEF_LIMIT_EXCEEDED,
           cat("a range from ", start, " to ", limit, " by ", delta, " has no sensible size"));
  }
  return n > 0 ? Dim::of(static_cast<int64_t>(n)) : 0;
}

// 0 when start, limit and delta are not known well enough; *known says so.
Dim int_range_size(const InferContext& c, bool* known) {
  DimPool& pool = c.pool;
  const Dim start = c.in[0].content[0], limit = c.in[1].content[0], delta = c.in[2].content[0];
  if (delta == 0) c.fail(NEF_INVALID_ARGUMENT, "delta must not be 0");
  *known = true;
  if (pool.lower(delta) >= 1) return pool.max(pool.ceildiv(pool.sub(limit, start), delta), 0);
  *known = pool.upper(delta) <= -1;
  if (!*known) return 0;
  return pool.max(pool.ceildiv(pool.sub(start, limit), pool.sub(0, delta)), 0);
}

void range_content(InferContext& c, Dim n) {
  Inferred& out = c.out[0];
  if (!few_elements(n) || !tracks_content(out.dtype)) return;
  Dim v = c.in[0].content[0];
  for (int64_t i = 0; i < n.number(); ++i) {
    if (i > 0) v = c.pool.add(v, c.in[2].content[0]);
    out.content.push_back(v);
  }
  out.has_content = true;
}

}  // namespace

void infer_range(InferContext& c) {
  bool floats = true, ints = true;
  double v[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    require_one_element(c, i);
    floats = host_floats(c, i, 1, v + i) && floats;
    ints = ints && c.in[i].has_content;
  }
  if (floats) return c.out[0].shape.push(float_range_size(c, v[0], v[1], v[2]));
  bool known = false;
  const Dim n = ints ? int_range_size(c, &known) : 0;
  c.out[0].shape.push(known ? n : c.pool.unknown());
  if (known) range_content(c, n);
}

}  // namespace nef::ir
