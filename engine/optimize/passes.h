// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optimize/optimize.h"

// One function and one file per pass; optimize.cc lists them in order.
namespace nef::optimize {

bool canonicalise(ir::Graph& graph, const Options& options);
bool fold_constants(ir::Graph& graph, const Options& options);
bool simplify(ir::Graph& graph, const Options& options);
bool eliminate_common(ir::Graph& graph, const Options& options);
bool eliminate_dead(ir::Graph& graph, const Options& options);

}  // namespace nef::optimize
