// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/stage.h"

namespace nef::gpu {

// A few rows times constant matrices: an optional norm, products of its result with such matrices,
// and elementwise nodes on the results.
struct GemvParts {
  static constexpr int64_t kLeastBlock = 32;  // packed weights of one scale
  const Node* norm = nullptr;
  std::vector<const Node*> products;
  std::vector<const Node*> tail;
  int32_t x = -1, out = -1;
  int64_t k = 0, n = 0, bits = 16, block = kLeastBlock;
  bool float8 = false;
};

// Does the product read its weights by columns?
bool is_turned(const Node& node);
// Is the region that? Then what of it is which.
bool match_gemv(const Region& region, GemvParts& parts);

}  // namespace nef::gpu
