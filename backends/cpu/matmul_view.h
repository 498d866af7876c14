// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/gemm_values.h"

namespace nef::cpu {

// An operand of a product as transposes and slices of a value of the region: steps, not a copy.
struct OperandView {
  struct Cut {
    int64_t axis, start, step;
  };
  struct Step {
    int32_t from, to;
    std::vector<int64_t> perm;  // of a transpose, else empty
    std::vector<Cut> cuts;      // of a slice
  };
  int32_t source = -1;  // -1: the operand is a value as it lies
  std::vector<Step> steps;

  bool viewed() const { return source >= 0; }
};

// How far apart the elements of a value lie, along each axis, and where the first one does.
struct Strides {
  int64_t first = 0;
  int64_t by[NEF_MAX_RANK];
};

// Walks up from `operand` through the nodes in front of `head`. False, with `why`, when the matrix
// has no axis along which its elements are neighbours: a copy serves such a product better.
bool parse_view(const Region& region, size_t head, int32_t operand, OperandView* out,
                std::string* why);
Strides view_strides(const ValueTable& table, const Tensor* values, int32_t operand,
                     const OperandView& view);

}  // namespace nef::cpu
