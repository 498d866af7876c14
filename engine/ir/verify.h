// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ir/graph.h"

namespace nef::ir {

// Checks a graph against everything the IR promises: ids in range, topological order, output
// values consecutive and owned by their node, attribute blocks well formed, constants of the
// right size, types equal to re-inferred ones, outputs present. Throws NEF_INTERNAL naming the
// fault; `where` says who is to blame ("after pass cse").
void verify(const Graph& graph, const char* where);

}  // namespace nef::ir
