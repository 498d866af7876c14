// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// An index known now is checked now; others are checked when the run reaches them.
void check_known_indices(const InferContext& c, const Operand& indices, Dim size, size_t axis) {
  if (!indices.has_content || is_expr(size)) return;
  const int64_t n = size.number();
  for (Dim i : indices.content) {
    if (is_expr(i) || (i.number() >= -n && i.number() < n)) continue;
    c.fail(NEF_OUT_OF_RANGE, cat("index ", i.number(), " is outside [", -n, ", ", n, ") of axis ",
                                 axis, ": ", c.shape(0)));
  }
}

void gathered_content(InferContext& c) {
  const Operand &data = c.in[0], &indices = c.in[1];
  if (!data.has_content || !indices.has_content || data.dims.size() != 1) return;
  if (indices.dims.size() > 1) return;
  Inferred& out = c.out[0];
  const int64_t n = static_cast<int64_t>(data.content.size());
  for (Dim i : indices.content) {
    if (is_expr(i)) return out.content.clear();
    const int64_t at = i.number() < 0 ? i.number() + n : i.number();
    out.content.push_back(data.content[static_cast<size_t>(at)]);
  }
  out.has_content = true;
}

// Every dim of `inner` but `axis` is at most the one of `outer`.
void require_not_larger(const InferContext& c, std::span<const Dim> inner,
                        std::span<const Dim> outer, size_t axis, const char* what) {
  if (inner.size() != outer.size()) {
    c.fail(NEF_SHAPE_MISMATCH, cat(what, " must have the rank of data: ", c.shapes()));
  }
  for (size_t i = 0; i < inner.size(); ++i) {
    if (i == axis || c.pool.lower(inner[i]) <= c.pool.upper(outer[i])) continue;
    c.fail(NEF_SHAPE_MISMATCH, cat(what, " is larger than data on axis ", i, ": ", c.shapes()));
  }
}

// Length of the index tuples in the last axis of `indices`.
size_t tuple_length(const InferContext& c, size_t most) {
  require_rank_at_least(c, 1, 1);
  const Dim k = c.dims(1).back();
  if (is_expr(k)) {
    c.fail(NEF_UNSUPPORTED, cat("the rank of the result depends on the last dim of indices, ",
                                c.pool.str(k), ", which is not known before running"));
  }
  const int64_t n = k.number();
  if (n >= 1 && n <= static_cast<int64_t>(most)) return static_cast<size_t>(n);
  c.fail(NEF_SHAPE_MISMATCH,
         cat("index tuples have ", n, " entries, but must have 1 to ", most, ": ", c.shapes()));
}

}  // namespace

void infer_gather(InferContext& c) {
  const std::span<const Dim> data = c.dims(0), indices = c.dims(1);
  const size_t axis = normal_axis(c, c.attrs.i(NEF_GATHER_AXIS), data.size());
  Shape& out = c.out[0].shape;
  out.assign(data.first(axis));
  for (Dim d : indices) out.push(d);
  for (Dim d : data.subspan(axis + 1)) out.push(d);
  check_known_indices(c, c.in[1], data[axis], axis);
  gathered_content(c);
}

void infer_gather_elements(InferContext& c) {
  const size_t axis = normal_axis(c, c.attrs.i(NEF_GATHER_ELEMENTS_AXIS), c.rank(0));
  require_not_larger(c, c.dims(1), c.dims(0), axis, "indices");
  check_known_indices(c, c.in[1], c.dims(0)[axis], axis);
  c.out[0].shape.assign(c.dims(1));
}

void infer_gather_nd(InferContext& c) {
  const std::span<const Dim> data = c.dims(0), indices = c.dims(1);
  const int64_t batch = c.attrs.i(NEF_GATHER_ND_BATCH_DIMS);
  const size_t least = std::min(data.size(), indices.size());
  if (batch < 0 || batch >= static_cast<int64_t>(least)) {
    c.fail(NEF_INVALID_ARGUMENT, cat("batch_dims ", batch,
                                     " must be at least 0 and below both "
                                     "ranks: ",
                                     c.shapes()));
  }
  const size_t b = static_cast<size_t>(batch);
  const size_t k = tuple_length(c, data.size() - b);
  Shape& out = c.out[0].shape;
  for (size_t i = 0; i + 1 < indices.size(); ++i) {
    out.push(i < b ? same_dim(c, data[i], indices[i], "batch dims differ") : indices[i]);
  }
  for (Dim d : data.subspan(b + k)) out.push(d);
}

void infer_scatter_elements(InferContext& c) {
  const size_t axis = normal_axis(c, c.attrs.i(NEF_SCATTER_ELEMENTS_AXIS), c.rank(0));
  require_not_larger(c, c.dims(1), c.dims(0), axis, "indices");
  if (c.rank(2) != c.rank(1)) {
    c.fail(NEF_SHAPE_MISMATCH, cat("updates must have the shape of indices: ", c.shapes()));
  }
  for (size_t i = 0; i < c.rank(1); ++i) {
    same_dim(c, c.dims(1)[i], c.dims(2)[i], "updates must have the shape of indices");
  }
  check_known_indices(c, c.in[1], c.dims(0)[axis], axis);
  c.out[0].shape.assign(c.dims(0));
}

void infer_scatter_nd(InferContext& c) {
  const std::span<const Dim> data = c.dims(0), indices = c.dims(1), updates = c.dims(2);
  const size_t k = tuple_length(c, data.size());
  Shape expected(indices.first(indices.size() - 1));
  for (Dim d : data.subspan(k)) expected.push(d);
  if (static_cast<size_t>(expected.rank) != updates.size()) {
    c.fail(NEF_SHAPE_MISMATCH,
           cat("updates must be ", shape_str(expected, c.pool), ": ", c.shapes()));
  }
  for (size_t i = 0; i < updates.size(); ++i) {
    same_dim(c, expected.dims[i], updates[i], "updates do not fit indices and data");
  }
  c.out[0].shape.assign(data);
}

}  // namespace nef::ir
