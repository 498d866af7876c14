// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/ir/graph.h"

namespace nef::fuzz {

struct RunCounts {
  uint64_t compiled = 0, compile_refused = 0, run = 0, run_refused = 0, too_dear = 0, compared = 0;
};

// Compiles a graph for `reference` and for `cpu`, runs it on both where that is cheap, and holds
// the results against each other. `symbols` says how large named dims of inputs are.
void compile_and_run(const std::shared_ptr<const ir::Graph>& graph,
                     const std::map<std::string, int64_t>& symbols, RunCounts& counts);

}  // namespace nef::fuzz
