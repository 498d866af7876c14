// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/io/document.h"

namespace nef::io {

// An order of the nodes in which each stands after those it depends on: the order of the file
// where that is one, else the one nearest to it. Throws NEF_GRAPH_CYCLE with the cycle's path.
std::vector<uint32_t> topological_order(const Document& doc);

// Checks graph.edges, where the file has it: the edges are exactly the pairs of nodes of which
// one uses an output of the other. Throws NEF_INVALID_ARGUMENT or NEF_DUPLICATE_NAME; names that
// are not there were found before.
void check_edges(const Document& doc, const std::unordered_map<std::string, uint32_t>& nodes);

}  // namespace nef::io
