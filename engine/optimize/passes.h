// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optimize/optimize.h"

// One function and one file per pass; optimize.cc lists them in order.
namespace nef::optimize {

// Depends on nothing but its inputs and changes nothing else. ShapeExpr is left out because its
// result is stated by its output's content, not by inputs.
inline bool is_pure(nef_op op) {
  const ir::OpClass cls = ir::spec(op).cls;
  return cls != ir::OpClass::Effect && cls != ir::OpClass::Collective && op != NEF_OP_SHAPE_EXPR;
}

// Gives the bytes of its first input another shape.
inline bool is_reshape(nef_op op) {
  return op == NEF_OP_RESHAPE || op == NEF_OP_FLATTEN || op == NEF_OP_SQUEEZE ||
         op == NEF_OP_UNSQUEEZE;
}

bool canonicalise(ir::Graph& graph, const Options& options);
bool fold_constants(ir::Graph& graph, const Options& options);
bool simplify(ir::Graph& graph, const Options& options);
bool match_gelu(ir::Graph& graph, const Options& options);
bool match_norm(ir::Graph& graph, const Options& options);
bool match_attention(ir::Graph& graph, const Options& options);
bool match_rotary(ir::Graph& graph, const Options& options);
bool eliminate_common(ir::Graph& graph, const Options& options);
bool eliminate_dead(ir::Graph& graph, const Options& options);

}  // namespace nef::optimize
