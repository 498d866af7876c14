// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "engine/ir/graph.h"
#include "engine/optimize/regions.h"
#include "engine/plan/placement.h"

namespace nef::plan {

struct Devices {
  std::span<const Device* const> list;
  size_t host;       // where the inputs of a graph come from and its outputs go
  size_t reference;  // nothing joins it
};

// Moves regions that nobody pinned to a neighbour's device where that costs less than the transfers
// it saves: those over the edges between regions, and of the graph's own inputs and outputs.
void merge_islands(const ir::Graph& graph, const optimize::Regions& regions, const Devices& devices,
                   const PlacementOptions& options, Placement& placement);

}  // namespace nef::plan
