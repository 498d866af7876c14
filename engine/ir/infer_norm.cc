// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

constexpr const char* kPerChannel = "one element per channel is needed";

// x [N, C, ...] with vectors [C] in the inputs from 1 on.
void per_channel(InferContext& c, size_t min_rank) {
  require_rank_at_least(c, 0, min_rank);
  for (size_t i = 1; i < c.in.size(); ++i) require_vector(c, i, c.dims(0)[1], kPerChannel);
  c.out[0].shape.assign(c.dims(0));
}

}  // namespace

void infer_same_axis(InferContext& c) {
  // The axis is slot 0 of every op with this rule.
  normal_axis(c, c.attrs.i(0), c.rank(0));
  c.out[0].shape.assign(c.dims(0));
  if (c.spec.id != NEF_OP_LP_NORMALIZATION) return;
  const int64_t p = c.attrs.i(NEF_LP_NORMALIZATION_P);
  if (p != 1 && p != 2) c.fail(NEF_INVALID_ARGUMENT, cat("p must be 1 or 2, got ", p));
}

void infer_same_axes(InferContext& c) {
  static constexpr int64_t kDefault[] = {0, 2, 3};
  const std::span<const int64_t> given = c.attrs.ints(NEF_MEAN_VARIANCE_NORMALIZATION_AXES);
  axis_mask(c, given.empty() ? std::span<const int64_t>(kDefault) : given, c.rank(0));
  c.out[0].shape.assign(c.dims(0));
}

void infer_batch_norm(InferContext& c) { per_channel(c, 2); }

void infer_instance_norm(InferContext& c) { per_channel(c, 3); }

void infer_group_norm(InferContext& c) {
  per_channel(c, 2);
  const int64_t groups = c.attrs.i(NEF_GROUP_NORMALIZATION_NUM_GROUPS);
  if (groups < 1) c.fail(NEF_INVALID_ARGUMENT, cat("num_groups must be positive, got ", groups));
  divided(c, c.dims(0)[1], Dim::of(groups), "channels do not split into num_groups");
}

void infer_layer_norm(InferContext& c) {
  const std::span<const Dim> x = c.dims(0);
  const size_t axis = normal_axis(c, c.attrs.i(NEF_LAYER_NORMALIZATION_AXIS), x.size());
  require_broadcasts_to(c, c.dims(1), x.subspan(axis), "scale");
  if (c.has(2)) require_broadcasts_to(c, c.dims(2), x.subspan(axis), "bias");
  for (size_t i = 0; i < c.out.size(); ++i) {
    Shape& shape = c.out[i].shape;
    shape.assign(x);
    if (i > 0) std::fill(shape.dims + axis, shape.dims + x.size(), Dim(1));
  }
}

void infer_rms_norm(InferContext& c) {
  normal_axis(c, c.attrs.i(NEF_RMS_NORMALIZATION_AXIS), c.rank(0));
  require_broadcasts_to(c, c.dims(1), c.dims(0), "scale");
  c.out[0].shape.assign(c.dims(0));
}

}  // namespace nef::ir
