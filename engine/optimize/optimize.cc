// SPDX-License-Identifier: Apache-2.0
#include "engine/optimize/optimize.h"

#include "engine/ir/error.h"
#include "engine/ir/verify.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

namespace {

// Products take transposed weights, and weights of float8, as they are, so these meet them before
// constants fold: a copy would take memory for as long as the program. Constants fold before
// anything looks for patterns in them; cse comes after the patterns, which do not mind sharing, and
// leaves dead nodes to "dead".
const Pass kPasses[] = {
    {"canonicalise", "drops nodes that change nothing, orders commutative operands", canonicalise,
     nullptr},
    {"simplify", "merges transposes and reshapes, folds transposes into matmul", simplify,
     can_simplify},
    {"weights", "multiplies by weights of float8 as they are stored", match_weights,
     can_have_weights},
    {"fold", "computes constants and shape arithmetic ahead of time", fold_constants, can_fold},
    {"blocks", "moves constants into blocks, replaces an if whose condition is known",
     simplify_blocks, holds_blocks},
    {"conv", "makes constants that scale and shift channels part of a convolution", match_conv,
     can_have_conv},
    {"steps", "makes products of each step of a sequence by the same weights one product",
     match_steps, can_have_steps},
    {"gelu", "recognises gelu, silu and hard swish written out", match_gelu, can_have_gelu},
    {"norm", "recognises layer and rms normalisation written out", match_norm, can_have_norm},
    {"attention", "recognises attention written out, where masks are finite", match_attention,
     can_have_attention},
    {"rotary", "recognises rotary position embeddings written out", match_rotary, can_have_rotary},
    {"siblings", "makes products of one value by constants, for an attention, one product",
     match_siblings, can_have_siblings},
    {"cse", "merges nodes that compute the same thing", eliminate_common, nullptr},
    {"dead", "removes nodes that nothing needs", eliminate_dead, nullptr},
    {"fuse", "groups elementwise chains and epilogues into regions", nullptr, nullptr},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

uint32_t parse_disabled(std::string_view text) {
  uint32_t mask = 0;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (name.empty()) continue;
    bool found = false;
    std::string known;
    for (size_t i = 0; i < passes().size(); ++i) {
      known += cat(i == 0 ? "" : ", ", passes()[i].name);
      if (name != passes()[i].name) continue;
      mask |= 1u << i;
      found = true;
    }
    if (!found) {
      fail(NEF_INVALID_ARGUMENT, "compile",
           cat("there is no optimiser pass \"", std::string(name), "\"; there are: ", known));
    }
  }
  return mask;
}

void optimise(ir::Graph& graph, const Options& options) {
  if (options.budget == nullptr) {
    Budget own(graph, 0, nullptr);
    Options with_own = options;
    with_own.budget = &own;
    return optimise(graph, with_own);
  }
  for (size_t i = 0; i < passes().size(); ++i) {
    const Pass& pass = passes()[i];
    if (pass.run == nullptr || (options.disabled >> i & 1u) != 0) continue;
    if (pass.applies != nullptr && !pass.applies(graph)) continue;
    options.budget->check_cancelled();
    pass.run(graph, options);
    if (options.verify) ir::verify(graph, pass.name);
  }
}

}  // namespace nef::optimize
