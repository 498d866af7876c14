// SPDX-License-Identifier: Apache-2.0
// Ops that move elements along axes: concat, split, transpose, tile, pad, blocks.
#include <algorithm>

#include "engine/ir/checked.h"
#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

void concat_content(InferContext& c) {
  Inferred& out = c.out[0];
  if (!tracks_content(out.dtype)) return;
  size_t total = 0;
  for (const Operand& o : c.in) {
    if (!o.has_content) return;
    total += o.content.size();
  }
  if (total > kMaxContent) return;
  for (const Operand& o : c.in) {
    out.content.insert(out.content.end(), o.content.begin(), o.content.end());
  }
  out.has_content = true;
}

}  // namespace

void infer_concat(InferContext& c) {
  Shape& out = c.out[0].shape;
  const size_t rank = c.rank(0);
  if (rank == 0) c.fail(NEF_SHAPE_MISMATCH, "scalars cannot be concatenated; unsqueeze them first");
  const size_t axis = normal_axis(c, c.attrs.i(NEF_CONCAT_AXIS), rank);
  out.assign(c.dims(0));
  for (size_t k = 1; k < c.in.size(); ++k) {
    const std::span<const Dim> d = c.dims(k);
    if (d.size() != rank) {
      c.fail(NEF_SHAPE_MISMATCH, cat("inputs differ in rank: ", c.shapes()));
    }
    for (size_t i = 0; i < rank; ++i) {
      if (i == axis) out.dims[i] = c.pool.add(out.dims[i], d[i]);
      else if (out.dims[i] != d[i]) out.dims[i] = same_dim(c, out.dims[i], d[i], "dims differ");
    }
  }
  if (rank == 1) concat_content(c);
}

void infer_split(InferContext& c) {
  const size_t axis = normal_axis(c, c.attrs.i(NEF_SPLIT_AXIS), c.rank(0));
  const Dim size = c.dims(0)[axis];
  const size_t n = c.out.size();
  const int64_t asked = c.attrs.i(NEF_SPLIT_NUM_OUTPUTS, 0);
  const HostInts sizes = c.has(1) ? host_ints(c, 1) : HostInts{};
  if (c.has(1) && asked > 0) {
    c.fail(NEF_INVALID_ARGUMENT, "give split or num_outputs, not both");
  }
  const int64_t expected = c.has(1) ? sizes.count : asked > 0 ? asked : static_cast<int64_t>(n);
  if (n == 0 || (expected >= 0 && expected != static_cast<int64_t>(n))) {
    c.fail(NEF_INVALID_ARGUMENT, cat("splits into ", expected, " pieces, but has ", n, " outputs"));
  }
  const Dim each = c.has(1) ? 0 : c.pool.ceildiv(size, Dim::of(n));
  Dim total = 0;
  for (size_t i = 0; i < n; ++i) {
    Dim piece = each;
    if (c.has(1)) piece = sizes.known ? sizes.elements[i] : c.pool.unknown();
    else if (i + 1 == n) piece = c.pool.sub(size, c.pool.mul(each, Dim::of(n - 1)));
    if (c.pool.upper(piece) < 0) {
      c.fail(NEF_SHAPE_MISMATCH, cat("axis ", axis, " of ", c.shape(0), " does not split into ", n,
                                     " pieces: one would have ", c.pool.str(piece), " elements"));
    }
    c.out[i].shape.assign(c.dims(0));
    c.out[i].shape.dims[axis] = piece;
    if (sizes.known) total = c.pool.add(total, piece);
  }
  if (c.has(1) && sizes.known) same_dim(c, total, size, "split sizes do not add up to the axis");
  if (!c.in[0].has_content || c.rank(0) != 1) return;
  size_t at = 0;
  for (Inferred& r : c.out) {
    if (is_expr(r.shape.dims[0])) return;
    const std::span<const Dim> part =
        c.in[0].content.subspan(at, static_cast<size_t>(r.shape.dims[0].number()));
    r.content.assign(part.begin(), part.end());
    r.has_content = true;
    at += part.size();
  }
}

void infer_transpose(InferContext& c) {
  const std::span<const Dim> d = c.dims(0);
  const std::span<const int64_t> perm = c.attrs.ints(NEF_TRANSPOSE_PERM);
  Shape& out = c.out[0].shape;
  out.assign(d);
  copy_content(c, 0, c.out[0]);
  if (perm.empty()) {
    std::reverse(out.dims, out.dims + d.size());
    return;
  }
  if (perm.size() != d.size()) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("perm has ", perm.size(), " entries for a tensor of ", d.size(), " dims"));
  }
  uint32_t seen = 0;
  for (size_t i = 0; i < perm.size(); ++i) {
    const size_t from = normal_axis(c, perm[i], d.size());
    if ((seen >> from & 1u) != 0)
      c.fail(NEF_INVALID_ARGUMENT, cat("perm names axis ", from, " twice"));
    seen |= 1u << from;
    out.dims[i] = d[from];
  }
}

void infer_tile(InferContext& c) {
  const std::span<const Dim> d = c.dims(0);
  const HostInts repeats = host_ints(c, 1);
  if (repeats.count >= 0 && repeats.count != static_cast<int64_t>(d.size())) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat(repeats.count, " repeats for a tensor of ", d.size(), " dims"));
  }
  require_entries(c, 1, Dim::of(static_cast<int64_t>(d.size())), "one repeat per dim is needed");
  for (size_t i = 0; i < d.size(); ++i) {
    if (!repeats.known) {
      c.out[0].shape.push(c.pool.unknown());
      continue;
    }
    const Dim r = repeats.elements[i];
    if (c.pool.upper(r) < 0)
      c.fail(NEF_INVALID_ARGUMENT, cat("a repeat is negative: ", c.pool.str(r)));
    c.out[0].shape.push(c.pool.mul(d[i], r));
  }
}

namespace {

// A static axis must be long enough for what the mode reads.
void check_pad(const InferContext& c, Dim size, Dim before, Dim after) {
  const std::string_view mode = c.attrs.s(NEF_PAD_MODE);
  if (mode.empty() || mode == "constant" || is_expr(size) || is_expr(before) || is_expr(after)) {
    return;
  }
  const int64_t most = std::max(before.number(), after.number());
  const bool fits = most <= 0 || (mode == "reflect" ? most < size.number() : size.number() > 0);
  if (fits) return;
  c.fail(NEF_SHAPE_MISMATCH, cat("mode ", std::string(mode), " cannot pad an axis of ",
                                 size.number(), " by ", most, ": ", c.shape(0)));
}

}  // namespace

void infer_pad(InferContext& c) {
  const std::span<const Dim> d = c.dims(0);
  if (c.has(2)) require_one_element(c, 2);
  const HostInts pads = host_ints(c, 1);
  const HostInts axes = c.has(3) ? host_ints(c, 3) : HostInts{};
  Shape& out = c.out[0].shape;
  const bool axes_known = !c.has(3) || axes.known;
  const int64_t n = c.has(3) ? axes.count : static_cast<int64_t>(d.size());
  if (n >= 0 && pads.count >= 0 && pads.count != 2 * n) {
    c.fail(NEF_INVALID_ARGUMENT, cat("pads has ", pads.count, " entries for ", n, " axes"));
  }
  const Dim axes_count = c.has(3) ? entries(c, 3) : Dim::of(static_cast<int64_t>(d.size()));
  require_entries(c, 1, c.pool.mul(axes_count, 2), "pads must have two entries per axis");
  if (!axes_known) {
    for (size_t i = 0; i < d.size(); ++i) out.push(c.pool.unknown());
    return;
  }
  out.assign(d);
  if (c.has(3)) axis_mask(c, 3, axes.elements, d.size());
  for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
    const size_t i = c.has(3) ? normal_axis(c, axes.elements[k].number(), d.size()) : k;
    if (!pads.known) {
      out.dims[i] = c.pool.unknown();
      continue;
    }
    const Dim before = pads.elements[k], after = pads.elements[static_cast<size_t>(n) + k];
    check_pad(c, d[i], before, after);
    out.dims[i] = c.pool.add(c.pool.add(d[i], before), after);
  }
}

namespace {

// A blocksize and its square.
struct BlockSize {
  Dim side, area;
};
BlockSize block_size(const InferContext& c, unsigned slot) {
  require_rank(c, 0, 4);
  const int64_t b = c.attrs.i(slot);
  if (b >= 1 && b <= INT32_MAX) return {Dim::of(b), Dim::of(b * b)};
  c.fail(NEF_INVALID_ARGUMENT, cat("blocksize must be between 1 and ", INT32_MAX, ", got ", b));
}

}  // namespace

void infer_depth_to_space(InferContext& c) {
  const BlockSize b = block_size(c, NEF_DEPTH_TO_SPACE_BLOCKSIZE);
  const std::span<const Dim> d = c.dims(0);
  c.out[0].shape = Shape{d[0], divided(c, d[1], b.area, "channels do not split into blocks"),
                         c.pool.mul(d[2], b.side), c.pool.mul(d[3], b.side)};
}

void infer_space_to_depth(InferContext& c) {
  const BlockSize b = block_size(c, NEF_SPACE_TO_DEPTH_BLOCKSIZE);
  const std::span<const Dim> d = c.dims(0);
  c.out[0].shape = Shape{d[0], c.pool.mul(d[1], b.area),
                         divided(c, d[2], b.side, "height is not a multiple of blocksize"),
                         divided(c, d[3], b.side, "width is not a multiple of blocksize")};
}

void infer_reverse_sequence(InferContext& c) {
  require_rank_at_least(c, 0, 2);
  const int64_t batch = c.attrs.i(NEF_REVERSE_SEQUENCE_BATCH_AXIS, 1);
  const int64_t time = c.attrs.i(NEF_REVERSE_SEQUENCE_TIME_AXIS, 0);
  if (!((batch == 0 && time == 1) || (batch == 1 && time == 0))) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("batch_axis and time_axis must be 0 and 1 in either order, got ", batch, " and ",
               time));
  }
  require_vector(c, 1, c.dims(0)[static_cast<size_t>(batch)], "one length per batch is needed");
  c.out[0].shape.assign(c.dims(0));
}

void infer_trilu(InferContext& c) {
  require_rank_at_least(c, 0, 2);
  if (c.has(1)) require_one_element(c, 1);
  c.out[0].shape.assign(c.dims(0));
}

}  // namespace nef::ir
