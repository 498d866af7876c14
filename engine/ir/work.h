// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "engine/ir/graph.h"

namespace nef::ir {

constexpr double kUnboundedWork = std::numeric_limits<double>::infinity();

// An upper bound of the elementary steps (loop iterations, weighted by what one costs) that a plain
// implementation of the node takes. kUnboundedWork where shapes and attributes alone do not bound
// it: dims that are not numbers, work that depends on data, nodes with blocks.
// Unlike the planner's FLOPs, which compare devices, this may guard against hostile graphs.
double work(const Graph& graph, NodeId node);

}  // namespace nef::ir
