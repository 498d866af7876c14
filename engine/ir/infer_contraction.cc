// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// a [..., M, K] x b [..., K, N], each read transposed when asked; vectors as numpy.matmul.
void matmul_shape(const InferContext& c, bool trans_a, bool trans_b, Shape& out) {
  const std::span<const Dim> a = c.dims(0), b = c.dims(1);
  require_rank_at_least(c, 0, trans_a ? 2 : 1);
  require_rank_at_least(c, 1, trans_b ? 2 : 1);
  const size_t ra = a.size(), rb = b.size();
  const Dim ka = trans_a ? a[ra - 2] : a[ra - 1];
  const Dim kb = trans_b || rb == 1 ? b[rb - 1] : b[rb - 2];
  if (ka != kb) same_dim(c, ka, kb, "inner dimensions differ");
  const std::span<const Dim> batch_a = a.first(ra > 2 ? ra - 2 : 0);
  const std::span<const Dim> batch_b = b.first(rb > 2 ? rb - 2 : 0);
  out.assign(batch_a);
  if (!batch_b.empty()) broadcast_into(c, out, batch_b);
  if (ra > 1) out.push(trans_a ? a[ra - 1] : a[ra - 2]);
  if (rb > 1) out.push(trans_b ? b[rb - 2] : b[rb - 1]);
}

}  // namespace

void infer_matmul(InferContext& c) { matmul_shape(c, false, false, c.out[0].shape); }

void infer_fused_matmul(InferContext& c) {
  const bool trans_a = c.attrs.i(NEF_FUSED_MATMUL_TRANS_A) != 0;
  const bool trans_b = c.attrs.i(NEF_FUSED_MATMUL_TRANS_B) != 0;
  matmul_shape(c, trans_a, trans_b, c.out[0].shape);
  if (c.has(2)) require_broadcasts_to(c, c.dims(2), c.out[0].shape, "bias");
}

void infer_gemm(InferContext& c) {
  require_rank(c, 0, 2);
  require_rank(c, 1, 2);
  matmul_shape(c, c.attrs.i(NEF_GEMM_TRANS_A) != 0, c.attrs.i(NEF_GEMM_TRANS_B) != 0,
               c.out[0].shape);
  if (c.has(2)) require_broadcasts_to(c, c.dims(2), c.out[0].shape, "c");
}

}  // namespace nef::ir
