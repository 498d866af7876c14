// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ir/blocks.h"
#include "engine/optimize/optimize.h"

// One function and one file per pass; optimize.cc lists them in order.
namespace nef::optimize {

// Depends on nothing but its inputs and attributes, and changes nothing else. Left out: ShapeExpr,
// whose result is stated by its output's content, and ops that hold blocks.
inline bool is_pure(nef_op op) {
  const ir::OpClass cls = ir::spec(op).cls;
  return cls != ir::OpClass::Effect && cls != ir::OpClass::Collective && op != NEF_OP_SHAPE_EXPR &&
         !ir::has_blocks(op);
}

// Gives the bytes of its first input another shape.
inline bool is_reshape(nef_op op) {
  return op == NEF_OP_RESHAPE || op == NEF_OP_FLATTEN || op == NEF_OP_SQUEEZE ||
         op == NEF_OP_UNSQUEEZE;
}

// Is there anything a pass could find? Decided by the ops that the graph has, without a walk.
bool can_fold(const ir::Graph& graph);
bool holds_blocks(const ir::Graph& graph);
bool can_simplify(const ir::Graph& graph);
bool can_have_steps(const ir::Graph& graph);
bool can_have_gelu(const ir::Graph& graph);
bool can_have_conv(const ir::Graph& graph);
bool can_have_weights(const ir::Graph& graph);
bool can_have_norm(const ir::Graph& graph);
bool can_have_attention(const ir::Graph& graph);
bool can_have_rotary(const ir::Graph& graph);
bool can_have_siblings(const ir::Graph& graph);

bool canonicalise(ir::Graph& graph, const Options& options);
bool fold_constants(ir::Graph& graph, const Options& options);
bool simplify_blocks(ir::Graph& graph, const Options& options);
bool simplify(ir::Graph& graph, const Options& options);
bool match_conv(ir::Graph& graph, const Options& options);
bool match_weights(ir::Graph& graph, const Options& options);
bool match_steps(ir::Graph& graph, const Options& options);
bool match_gelu(ir::Graph& graph, const Options& options);
bool match_norm(ir::Graph& graph, const Options& options);
bool match_attention(ir::Graph& graph, const Options& options);
bool match_rotary(ir::Graph& graph, const Options& options);
bool match_siblings(ir::Graph& graph, const Options& options);
bool eliminate_common(ir::Graph& graph, const Options& options);
bool eliminate_dead(ir::Graph& graph, const Options& options);

}  // namespace nef::optimize
