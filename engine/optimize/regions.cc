// SPDX-License-Identifier: Apache-2.0
#include "engine/optimize/regions.h"

#include <numeric>

namespace nef::optimize {

Regions single_node_regions(const ir::Graph& graph) {
  Regions out;
  out.nodes.resize(graph.node_count());
  std::iota(out.nodes.begin(), out.nodes.end(), 0u);
  out.list.reserve(graph.node_count());
  for (uint32_t n = 0; n < graph.node_count(); ++n) out.list.push_back({NEF_REGION_SINGLE, n, 1});
  return out;
}

Regions fused_regions(const ir::Graph& graph) { return single_node_regions(graph); }

}  // namespace nef::optimize
