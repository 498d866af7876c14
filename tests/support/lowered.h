// SPDX-License-Identifier: Apache-2.0
// A program up to its steps and waves, for tests of devices that only answer questions.
#pragma once

#include <memory>
#include <utility>

#include "engine/compile/program.h"

namespace nef::test {

inline compile::Program lowered(const ir::Graph& graph, const compile::Options& options,
                                compile::Environment& env) {
  compile::Planned planned = compile::optimise_and_place(graph, options, env);
  compile::Program p;
  p.options = options;
  p.devices = env.devices;
  p.graph = std::make_shared<const ir::Graph>(std::move(planned.graph));
  p.regions = std::move(planned.regions);
  p.placement = std::move(planned.placement);
  compile::lower(p);
  compile::form_waves(p);
  return p;
}

}  // namespace nef::test
