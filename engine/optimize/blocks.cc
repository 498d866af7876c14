// SPDX-License-Identifier: Apache-2.0
// Constants that blocks take from outside move into them, where they can be folded and packed; an
// If whose condition is known is replaced by its branch.
#include "engine/build/reinfer.h"
#include "engine/ir/blocks.h"
#include "engine/optimize/passes.h"
#include "engine/optimize/rewriter.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

bool known_branch(const Graph& graph, NodeId n) {
  if (graph.op(n) != NEF_OP_IF) return false;
  const ValueId condition = graph.inputs(n)[0];
  return graph.is_constant(condition) && graph.constant_data(condition)->bytes() == 1;
}

// Only captures: a carried value is a constant in the first iteration at most.
bool take_constants(Graph& graph, NodeId n) {
  const auto in = graph.inputs(n);
  const std::vector<Graph::Block> blocks(graph.blocks(n).begin(), graph.blocks(n).end());
  const ir::BlockLayout l = ir::block_layout(graph.op(n), graph.attrs(n), in.size(), blocks);
  const size_t first = in.size() - l.captures;
  const size_t block_first = blocks[0]->graph_inputs().size() - l.captures;
  std::vector<ValueId> kept(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(first));
  std::vector<std::shared_ptr<ir::Buffer>> data(block_first + l.captures);
  for (size_t i = 0; i < l.captures; ++i) {
    const ValueId v = in[first + i];
    if (graph.is_constant(v)) data[block_first + i] = graph.constant_data(v);
    else kept.push_back(v);
  }
  if (kept.size() == in.size()) return false;
  std::vector<Graph::Block> now;
  for (const Graph::Block& block : blocks) {
    now.push_back(std::make_shared<const Graph>(build::reinfer(*block, data)));
  }
  const auto words = graph.attrs(n).words();
  graph.rewrite_node(n, graph.op(n), kept, std::vector<int64_t>(words.begin(), words.end()));
  graph.set_blocks(n, now);
  return true;
}

}  // namespace

bool simplify_blocks(Graph& graph, const Options& options) {
  bool changed = false, branches = false;
  // A branch that took the place of its If may hold others, whose conditions then fold.
  for (uint32_t depth = 0; depth <= ir::kMaxBlockDepth; ++depth) {
    branches = false;
    for (NodeId n = 0; n < graph.node_count(); ++n) {
      if (!ir::has_blocks(graph.op(n))) continue;
      branches = branches || known_branch(graph, n);
      changed = take_constants(graph, n) || changed;
    }
    if (!branches) break;
    changed = true;
    graph = build::reinfer(graph);
    simplify(graph, options);
    fold_constants(graph, options);
  }
  return changed;
}

bool holds_blocks(const Graph& graph) { return graph.has_blocks(); }

}  // namespace nef::optimize
