// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace nef::runtime {

// Where the batch is, and whether a run may be cut along it.
struct Batch {
  std::vector<int> input_axis, output_axis;  // -1 = has no batch dim
  int64_t least = 1;                         // the symbol's lower bound
  bool splittable = false;
};

// `symbol` names the batch dim. A graph is splittable when every output has that dim and no node
// lets one element of the batch see another (a mean over the batch does); in doubt it is not.
Batch find_batch(const ir::Graph& graph, std::string_view symbol);

}  // namespace nef::runtime
