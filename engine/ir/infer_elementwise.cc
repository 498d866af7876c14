// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {

void infer_same(InferContext& c) {
  for (Inferred& r : c.out) r.shape.assign(c.dims(0));
  switch (c.spec.id) {
    case NEF_OP_LRN:
      require_rank_at_least(c, 0, 2);
      if (c.attrs.i(NEF_LRN_SIZE) < 1) c.fail(NEF_INVALID_ARGUMENT, "size must be at least 1");
      return;
    case NEF_OP_IDENTITY: return copy_content(c, 0, c.out[0]);
    case NEF_OP_ABS:
    case NEF_OP_NEG:
    case NEF_OP_NOT:
      if (c.in[0].has_content) infer_elementwise_content(c);
      return;
    default: return;
  }
}

void infer_broadcast(InferContext& c) {
  Shape& shape = c.out[0].shape;
  shape.assign(c.dims(0));
  bool known = c.in[0].has_content || c.spec.id == NEF_OP_WHERE;
  for (size_t i = 1; i < c.in.size(); ++i) {
    broadcast_into(c, shape, c.dims(i));
    known = known && (c.in[i].has_content || c.spec.id == NEF_OP_WHERE);
  }
  if (known && shape.rank <= 1) infer_elementwise_content(c);
}

void infer_cast(InferContext& c) {
  c.out[0].shape.assign(c.dims(0));
  c.out[0].dtype = static_cast<nef_dtype>(c.attrs.i(NEF_CAST_TO));
  if (c.in[0].has_content) infer_elementwise_content(c);
}

void infer_cast_like(InferContext& c) {
  c.out[0].shape.assign(c.dims(0));
  if (c.in[0].has_content) infer_elementwise_content(c);
}

void infer_clip(InferContext& c) {
  c.out[0].shape.assign(c.dims(0));
  bool known = c.in[0].has_content;
  for (size_t i = 1; i < 3; ++i) {
    if (!c.has(i)) continue;
    require_one_element(c, i);
    known = known && c.in[i].has_content;
  }
  if (known) infer_elementwise_content(c);
}

void infer_prelu(InferContext& c) {
  require_broadcasts_to(c, c.dims(1), c.dims(0), "slope");
  c.out[0].shape.assign(c.dims(0));
}

}  // namespace nef::ir
