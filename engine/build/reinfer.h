// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engine/ir/graph.h"

namespace nef::build {

// The same graph with all types inferred anew: what has become known since (a constant where there
// was none) shows in sizes. Graph inputs with data in `input_data` (one entry each, null = stays;
// empty = all stay) become constants and are inputs no more. An If whose condition is a constant
// is replaced by what its branch does. Throws what inference throws.
ir::Graph reinfer(const ir::Graph& graph,
                  std::span<const std::shared_ptr<ir::Buffer>> input_data = {});

}  // namespace nef::build
