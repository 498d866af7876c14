// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/infer.h"

namespace nef::ir {

// Where the values of an If, Loop or Scan stand among its inputs and outputs, and among those of
// its block.
//
//   If    inputs  condition, captures            block  captures -> outputs
//   Loop  inputs  trip count, condition, carried, captures
//         block   iteration, condition, carried, captures -> condition, carried, stacked
//   Scan  inputs  carried, scanned, captures
//         block   carried, slices, captures -> carried, stacked
struct BlockLayout {
  size_t carried = 0;          // values handed from one iteration to the next
  size_t scanned = 0;          // Scan: inputs that are cut into slices
  size_t node_first = 0;       // input of the node that is the first carried value (If: capture)
  size_t block_first = 0;      // the same among the block's inputs
  size_t block_first_out = 0;  // output of the block that is the first carried value
  size_t captures = 0;
  size_t stacked = 0;  // outputs put together from one part per iteration
};
inline bool has_blocks(nef_op op) { return op_valid(op) && spec(op).n_blocks != 0; }

// Checks counts of inputs, outputs and blocks. Throws NEF_INVALID_ARGUMENT.
BlockLayout block_layout(nef_op op, const Attrs& attrs, size_t n_inputs,
                         std::span<const Graph::Block> blocks);
size_t block_output_count(nef_op op, const BlockLayout& layout,
                          std::span<const Graph::Block> blocks);

// Of scanned input or stacked output `i`, per the attributes of a Scan; a Loop stacks along axis 0.
// `rank` is that of the whole. Throws NEF_INVALID_ARGUMENT.
size_t scan_axis(nef_op op, const Attrs& attrs, unsigned slot, size_t i, size_t rank);
bool scan_backwards(nef_op op, const Attrs& attrs, unsigned slot, size_t i);

// Types of the outputs of a node with blocks; what `infer` is for all other ops. Checks that the
// inputs fit the blocks and that the blocks fit each other, as far as it can be told before
// running. Sizes that differ between branches or iterations become unknown dims. Throws
// NEF_INVALID_ARGUMENT, NEF_DTYPE_MISMATCH, NEF_SHAPE_MISMATCH.
std::vector<Inferred> infer_blocks(nef_op op, const Attrs& attrs, std::span<const Operand> operands,
                                   std::span<const Graph::Block> blocks, DimPool& pool);

}  // namespace nef::ir
