// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ir/graph.h"

namespace nef::optimize {

// A group of nodes that runs as one kernel. Nodes are in topological order; the last one is the
// root, and only the root's outputs leave the region.
struct Region {
  nef_region_kind kind;
  uint32_t first_node;  // into Regions::nodes
  uint32_t node_count;
};

// A partition of a graph's nodes into regions, in execution order.
struct Regions {
  std::vector<Region> list;
  std::vector<ir::NodeId> nodes;
  std::span<const ir::NodeId> nodes_of(const Region& r) const {
    return {nodes.data() + r.first_node, r.node_count};
  }
  ir::NodeId root(const Region& r) const { return nodes[r.first_node + r.node_count - 1]; }
};

// Every node alone. ShapeExpr nodes are in regions too; the runtime computes them itself.
Regions single_node_regions(const ir::Graph& graph);
// Groups nodes that run better together (design section 5): trees of elementwise nodes, and
// contractions or norms with the elementwise nodes that follow them. An interior value has one
// use, is no graph output, and its node asks for no device other than the root's.
Regions fused_regions(const ir::Graph& graph);

}  // namespace nef::optimize
