// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/optimize/budget.h"

namespace nef::optimize {

// Computes a node whose inputs are all constants: fills one buffer per output (null for an
// optional one without uses). Returns false when it cannot (the node is then left alone). Passed in
// so that this room needs no backend.
using Evaluator = std::function<bool(const ir::Graph& graph, ir::NodeId node,
                                     std::vector<std::shared_ptr<ir::Buffer>>* outputs)>;

struct Options {
  uint32_t disabled = 0;  // bit i = pass i of passes() is left out
  Evaluator evaluate;     // empty = constants are not folded
  // What folding may take, and who may cancel; null = what one graph may take by itself.
  Budget* budget = nullptr;
  bool verify = false;  // run ir::verify after every pass
  // Some device runs an attention and the slices that it reads as one region.
  bool slices_in_place = false;
};

struct Pass {
  const char* name;                                       // "cse"
  const char* what;                                       // one line for --help and plans
  bool (*run)(ir::Graph& graph, const Options& options);  // true = changed something; null for
                                                          // "fuse", which forms regions
  bool (*applies)(const ir::Graph& graph);                // cheap; false = run would find nothing;
                                                          // null = always run
};

// All passes, in the order they run. The last is "fuse".
std::span<const Pass> passes();
// The bit mask for "cse,fold". Throws NEF_INVALID_ARGUMENT naming an unknown pass.
uint32_t parse_disabled(std::string_view comma_separated);

// Runs the enabled passes on the graph. Deterministic; the outputs stay equal within rounding.
void optimise(ir::Graph& graph, const Options& options);

}  // namespace nef::optimize
