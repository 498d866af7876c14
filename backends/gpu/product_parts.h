// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/stage.h"

namespace nef::gpu {

// A region of one product of a tensor and a matrix with elementwise nodes behind it, which make its
// one output. All but `out` are of `dtype`.
struct ProductParts {
  const Node* product = nullptr;
  std::vector<const Node*> tail;
  int32_t out = -1;
  nef_dtype dtype = NEF_BFLOAT16;
  int64_t k = 0, n = 0;
  bool by_sum = false;  // b comes by rows of the sum's axis

  // False when the region is something else, or these sizes are known in a run only.
  bool match(const Region& region);
  int32_t made() const { return product->outputs[0]; }
  // Rows of a where they are known before a run, else -1.
  int64_t known_rows(const Region& region) const;
  // Is there more behind the product than sums?
  bool has_functions() const;

  // Of what the tail reads beside the product: the one tensor of the result's shape, -1 for none.
  int32_t same(const Region& region, const ElementwiseText& text) const;
  // Do the shapes of a run let a kernel read all of it by rows and columns: that tensor, vectors
  // over the columns, single numbers?
  bool fits(const Values& values, const ElementwiseText& text, int32_t same) const;
};

// To the parameters, what the copy engine is told about a dense matrix and its tiles.
void add_matrix(const Run& run, Params& p, nef_dtype dtype, const void* data, int64_t rows,
                int64_t columns, int64_t box_rows, int64_t box_columns);

}  // namespace nef::gpu
