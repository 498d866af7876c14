// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/ir/graph.h"

namespace nef::io {

// A graph as JSON for tools that show it: inputs, outputs, constants (types only) and nodes
// {op, name, inputs, outputs, attrs}, with values named %0, %1, ... where they have no name.
std::string describe(const ir::Graph& graph);

}  // namespace nef::io
