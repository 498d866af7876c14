// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/call.h"
#include "backends/cpu/copy.h"

namespace nef::cpu {

// A reduction over any axes of a dense tensor, with axes of the same kind merged. The innermost
// run is either reduced (rows) or kept (columns); the runs outside it are walked.
struct ReducePlan {
  bool inner_reduced = true;
  int64_t inner = 1;          // length of the innermost run
  StridedView kept, reduced;  // the runs outside it; steps in elements
  int64_t kept_count = 1, reduced_count = 1;

  int64_t outputs() const { return inner_reduced ? kept_count : kept_count * inner; }
  int64_t per_output() const { return inner_reduced ? reduced_count * inner : reduced_count; }
};

// Plans from input 0 and the axes (input 1) of a Reduce* node.
ReducePlan plan_reduction(const Call& c);

}  // namespace nef::cpu
