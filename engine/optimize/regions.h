// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <span>

#include "engine/ir/array.h"
#include "engine/ir/graph.h"

namespace nef::optimize {

// A group of nodes that runs as one kernel. Nodes are in topological order; the last one is the
// root, and only the root's outputs leave the region.
struct Region {
  nef_region_kind kind;
  uint32_t first_node, node_count;    // into Regions::nodes
  uint32_t first_value, value_count;  // into Regions::values
  uint32_t first_link;                // into Regions::links
  // Of a chain, and a product with views: what it falls apart into, in Regions::parts.
  uint32_t first_part = 0, part_count = 0;
};

// A value of a region, as a backend knows it.
struct RegionValue {
  ir::ValueId value;
  uint8_t kind;  // nef_value_kind
  // Read where the op table has a host input. A value that is read as data too is listed twice.
  uint8_t host;
};

// A partition of a graph's nodes into regions, in execution order.
struct Regions {
  ir::Array<Region> list;
  ir::Array<ir::NodeId> nodes;
  // Per region: its values, each once, in the order that backends and steps know them by.
  ir::Array<RegionValue> values;
  // Per region and node: where its inputs and then its outputs are among those (-1 = absent, or an
  // optional output that nothing reads).
  ir::Array<int32_t> links;
  ir::Array<Region> parts;  // with the same numbers of nodes

  std::span<const ir::NodeId> nodes_of(const Region& r) const {
    return {nodes.data() + r.first_node, r.node_count};
  }
  std::span<const RegionValue> values_of(const Region& r) const {
    return {values.data() + r.first_value, r.value_count};
  }
  const int32_t* links_of(const Region& r) const { return links.data() + r.first_link; }
  // Lists the values of all regions anew.
  void list_values(const ir::Graph& graph);
  ir::NodeId root(const Region& r) const { return nodes[r.first_node + r.node_count - 1]; }
};

// Every node alone. ShapeExpr nodes are in regions too; the runtime computes them itself.
Regions single_node_regions(const ir::Graph& graph);
// Groups nodes that run better together (design section 5): trees of elementwise nodes, and
// contractions or norms with the elementwise nodes that follow them. An interior value has one
// use, is no graph output, and its node asks for no device other than the root's.
Regions fused_regions(const ir::Graph& graph);
// Joins regions into chains (NEF_REGION_CHAIN) for devices that run them as one kernel.
Regions chained_regions(const ir::Graph& graph, const Regions& regions);
// Joins transposes and slices to the one product that reads them (NEF_REGION_EPILOGUE), for devices
// that read operands at strides.
Regions viewed_regions(const ir::Graph& graph, Regions regions);
// One node of a graph as the only region.
Regions region_of_node(const ir::Graph& graph, ir::NodeId node);
// Replaces regions (indices, ascending) by what they are made of: chains by their parts, others by
// their nodes, each alone.
void split_regions(const ir::Graph& graph, std::span<const uint32_t> split, Regions& regions);

}  // namespace nef::optimize
