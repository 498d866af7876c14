// SPDX-License-Identifier: Apache-2.0
// Nodes whose results nobody needs go.
#include "engine/optimize/passes.h"
#include "engine/optimize/rewriter.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;

bool eliminate_dead(Graph& graph, const Options&) {
  // Backwards: a node is live when an output of the graph or a live node needs it.
  std::vector<uint8_t> live(graph.node_count(), 0);
  for (ir::ValueId v : graph.graph_outputs()) {
    if (graph.producer(v) != kNone) live[graph.producer(v)] = 1;
  }
  bool any_dead = false;
  for (auto n = static_cast<NodeId>(graph.node_count()); n-- > 0;) {
    if (live[n] == 0) {
      any_dead = true;
      continue;
    }
    for (ir::ValueId v : graph.inputs(n)) {
      if (v != kNone && graph.producer(v) != kNone) live[graph.producer(v)] = 1;
    }
  }
  if (any_dead) rebuild(graph);
  return any_dead;
}

}  // namespace nef::optimize
