// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/ir/attrs.h"
#include "engine/ir/dim.h"
#include "engine/ir/shape.h"

namespace nef::ir {

// What inference knows of an input. `content`: the elements of a small integer tensor (rank 0 or
// 1) as dims, when known.
struct Operand {
  bool present = false;
  nef_dtype dtype = NEF_DTYPE_INVALID;
  std::span<const Dim> dims;
  bool has_content = false;
  std::span<const Dim> content;
  // The elements of a constant of at most kMaxContent elements, as stored, maybe unaligned; null
  // when it is none. For what content does not carry: floats, and numbers too low to be dims.
  const void* data = nullptr;
};

struct Inferred {
  nef_dtype dtype = NEF_DTYPE_INVALID;
  Shape shape;
  bool has_content = false;
  std::vector<Dim> content;
};

// Types of the `results.size()` outputs of one node. Checks everything that can be checked
// before running: input counts, dtypes (type variables), attribute ranges, ranks, shapes.
// Throws NEF_INVALID_ARGUMENT, NEF_SHAPE_MISMATCH, NEF_DTYPE_MISMATCH, NEF_OUT_OF_RANGE,
// NEF_LIMIT_EXCEEDED or NEF_UNSUPPORTED (a shape that depends on data not known before running)
// with a message that shows the operands' shapes.
//
// A host input whose elements are not known gives outputs with fresh DimPool::unknown() dims
// wherever the rank still follows; where it does not, NEF_UNSUPPORTED names the input. Dims that
// must agree but cannot be compared yet leave a check in the pool (DimPool::equal, broadcast).
// A ShapeExpr has no inputs to infer from: results[0] brings its content along.
void infer(nef_op op, const Attrs& attrs, std::span<const Operand> operands, DimPool& pool,
           std::span<Inferred> results);

// How many outputs a node of this op has when the caller does not say: all required ones (Split:
// from its attributes or split input).
size_t default_output_count(nef_op op, const Attrs& attrs, std::span<const Operand> operands);

// Elements that inference tracks at most per value.
constexpr size_t kMaxContent = 1024;
// Inputs, and outputs, of one node.
constexpr int64_t kMaxOperands = int64_t{1} << 16;
// Element `i` of int32 or int64 data, which may be unaligned.
int64_t stored_int(nef_dtype dtype, const void* data, size_t i);
// The elements of int32 or int64 data as content; `storage` holds them. Leaves none when one of
// them is too low to be a dim: not known.
void read_content(Operand& o, size_t count, std::vector<Dim>* storage);

}  // namespace nef::ir
