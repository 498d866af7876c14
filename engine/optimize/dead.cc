// SPDX-License-Identifier: Apache-2.0
// Nodes whose results nobody needs go.
#include "engine/optimize/passes.h"

namespace nef::optimize {

bool eliminate_dead(ir::Graph& graph, const Options&) { return graph.compact(); }

}  // namespace nef::optimize
