// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "engine/ir/blocks.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::ir {

BlockLayout block_layout(nef_op op, const Attrs& attrs, size_t n_inputs,
                         std::span<const Graph::Block> blocks) {
  const char* name = spec(op).snake;
  if (blocks.size() != spec(op).n_blocks) {
    fail(NEF_INVALID_ARGUMENT, name,
         cat("holds ", spec(op).n_blocks + 0, " blocks, got ", blocks.size()));
  }
  const Graph& block = *blocks[0];
  const size_t block_outputs = block.graph_outputs().size();
  BlockLayout l;
  if (op == NEF_OP_IF) {
    l.node_first = 1;
  } else {
    const int64_t carried = attrs.i(NEF_LOOP_CARRIED);
    const int64_t scanned = op == NEF_OP_SCAN ? attrs.i(NEF_SCAN_NUM_SCAN_INPUTS) : 0;
    if (carried < 0 || scanned < 0 || (op == NEF_OP_SCAN && scanned == 0)) {
      fail(NEF_INVALID_ARGUMENT, name, "has a count of values below what is possible");
    }
    l.carried = static_cast<size_t>(carried);
    l.scanned = static_cast<size_t>(scanned);
    l.node_first = l.block_first = op == NEF_OP_LOOP ? 2 : 0;
    l.block_first_out = op == NEF_OP_LOOP ? 1 : 0;
  }
  // Carried counts past what a node can have would wrap sums below.
  const size_t own = l.node_first + l.carried + l.scanned;
  if (l.carried > n_inputs || l.scanned > n_inputs || own > n_inputs) {
    fail(NEF_INVALID_ARGUMENT, name,
         cat("needs ", own, " inputs before its captures, got ", n_inputs));
  }
  l.captures = n_inputs - own;
  const size_t wanted = l.block_first + l.carried + l.scanned + l.captures;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b]->graph_inputs().size() == wanted) continue;
    fail(NEF_INVALID_ARGUMENT, name,
         cat("block ", b, " has ", blocks[b]->graph_inputs().size(),
             " inputs; for what the node passes it must have ", wanted));
  }
  if (op == NEF_OP_IF) {
    if (blocks[1]->graph_outputs().size() != block_outputs) {
      fail(NEF_INVALID_ARGUMENT, name,
           cat("its blocks have ", block_outputs, " and ", blocks[1]->graph_outputs().size(),
               " outputs; they must have as many"));
    }
    return l;
  }
  const size_t least = l.block_first_out + l.carried;
  if (block_outputs < least) {
    fail(
        NEF_INVALID_ARGUMENT, name,
        cat("its block has ", block_outputs, " outputs, it needs ", least,
            op == NEF_OP_LOOP ? ": the condition and the carried values" : ": the carried values"));
  }
  l.stacked = block_outputs - least;
  return l;
}

size_t block_output_count(nef_op op, const BlockLayout& layout,
                          std::span<const Graph::Block> blocks) {
  return op == NEF_OP_IF ? blocks[0]->graph_outputs().size() : layout.carried + layout.stacked;
}

namespace {

// Can there be one element, whatever the rank?
bool may_be_one(std::span<const Dim> dims) {
  return std::all_of(dims.begin(), dims.end(), [](Dim d) { return is_expr(d) || d == 1; });
}

int64_t entry(const Attrs& attrs, unsigned slot, size_t i) {
  const auto list = attrs.ints(slot);
  return i < list.size() ? list[i] : 0;
}

}  // namespace

size_t scan_axis(nef_op op, const Attrs& attrs, unsigned slot, size_t i, size_t rank) {
  if (op != NEF_OP_SCAN) return 0;
  const int64_t axis = entry(attrs, slot, i), n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) {
    fail(NEF_INVALID_ARGUMENT, spec(op).snake,
         cat("axis ", axis, " of value ", i, " is outside [", -n, ", ", n, ")"));
  }
  return static_cast<size_t>(axis < 0 ? axis + n : axis);
}

bool scan_backwards(nef_op op, const Attrs& attrs, unsigned slot, size_t i) {
  return op == NEF_OP_SCAN && entry(attrs, slot, i) != 0;
}

namespace {

class BlockInference {
 public:
  BlockInference(nef_op op, const Attrs& attrs, std::span<const Operand> operands,
                 std::span<const Graph::Block> blocks, DimPool& pool)
      : op_(op),
        attrs_(attrs),
        in_(operands),
        blocks_(blocks),
        pool_(pool),
        l_(block_layout(op, attrs, operands.size(), blocks)) {}

  std::vector<Inferred> run() {
    if (op_ == NEF_OP_IF) return run_if();
    const Graph& block = *blocks_[0];
    if (op_ == NEF_OP_LOOP) check_loop(block);
    else check_scan();
    for (size_t i = 0; i < l_.carried; ++i) {
      check_input(0, l_.block_first + i, in_[l_.node_first + i]);
      check_carried(block, i);
    }
    const size_t first = l_.carried + l_.scanned;
    for (size_t i = 0; i < l_.captures; ++i) {
      check_input(0, l_.block_first + first + i, in_[l_.node_first + first + i]);
    }
    map_block(0);
    std::vector<Inferred> out(l_.carried + l_.stacked);
    for (size_t i = 0; i < l_.carried; ++i) out[i] = carried_type(block, i);
    const Dim length = op_ == NEF_OP_LOOP ? trip_dim(block) : scan_length();
    for (size_t i = 0; i < l_.stacked; ++i) out[l_.carried + i] = stacked_type(block, i, length);
    return out;
  }

 private:
  [[noreturn]] void fail(nef_code code, std::string what) const {
    nef::fail(code, spec(op_).snake, std::move(what));
  }

  std::string type_text(const Operand& o) const {
    return cat(dtype_name(o.dtype), " ", shape_str(o.dims, pool_));
  }

  // Does the value fit the block's input? Symbols are compared in the run.
  void check_input(size_t b, size_t i, const Operand& o) const {
    if (!o.present) fail(NEF_INVALID_ARGUMENT, cat("input for block input ", i, " is missing"));
    check_type(b, i, o.dtype, o.dims, type_text(o));
  }
  void check_type(size_t b, size_t i, nef_dtype dtype, std::span<const Dim> dims,
                  const std::string& text) const {
    const Graph& block = *blocks_[b];
    const ValueId v = block.graph_inputs()[i];
    if (block.dtype(v) != dtype) {
      fail(NEF_DTYPE_MISMATCH,
           cat("block ", b, " takes ", block.type_str(v), " as input ", i, ", got ", text));
    }
    const auto want = block.dims(v);
    bool fits = want.size() == dims.size();
    for (size_t k = 0; fits && k < want.size(); ++k) {
      fits = is_expr(want[k]) || is_expr(dims[k]) || want[k] == dims[k];
    }
    if (fits) return;
    fail(NEF_SHAPE_MISMATCH,
         cat("block ", b, " takes ", block.type_str(v), " as input ", i, ", got ", text));
  }

  void need_scalar(const Operand& o, nef_dtype dtype, const char* what) const {
    if (!o.present) return;
    if (o.dtype != dtype) {
      fail(NEF_DTYPE_MISMATCH,
           cat(what, " is ", dtype_name(o.dtype), ", must be ", dtype_name(dtype)));
    }
    if (!may_be_one(o.dims))
      fail(NEF_SHAPE_MISMATCH, cat(what, " must be one element, got ", type_text(o)));
  }
  void need_block_scalar(const Graph& block, ValueId v, nef_dtype dtype, const char* what) const {
    const auto dims = block.dims(v);
    if (block.dtype(v) != dtype) {
      fail(NEF_DTYPE_MISMATCH, cat(what, " of the block is ", dtype_name(block.dtype(v)),
                                   ", must be ", dtype_name(dtype)));
    }
    if (may_be_one(dims)) return;
    fail(NEF_SHAPE_MISMATCH,
         cat(what, " of the block must be one element, is ", block.type_str(v)));
  }

  void check_loop(const Graph& block) const {
    need_scalar(in_[0], NEF_INT64, "the trip count");
    need_scalar(in_[1], NEF_BOOL, "the condition");
    need_block_scalar(block, block.graph_inputs()[0], NEF_INT64, "the iteration number");
    need_block_scalar(block, block.graph_inputs()[1], NEF_BOOL, "the condition taken");
    need_block_scalar(block, block.graph_outputs()[0], NEF_BOOL, "the condition given");
  }

  void check_scan() {
    for (size_t i = 0; i < l_.scanned; ++i) {
      const Operand& o = in_[l_.carried + i];
      if (!o.present) fail(NEF_INVALID_ARGUMENT, cat("scan input ", i, " is missing"));
      if (o.dims.empty()) {
        fail(NEF_SHAPE_MISMATCH, cat("scan input ", i, " is a scalar: there is nothing to slice"));
      }
      const size_t axis = scan_axis(op_, attrs_, NEF_SCAN_SCAN_INPUT_AXES, i, o.dims.size());
      const Shape slice = without(o.dims, axis);
      check_type(0, l_.carried + i, o.dtype, slice,
                 cat("slices ", dtype_name(o.dtype), " ", shape_str(slice, pool_)));
    }
  }

  static Shape without(std::span<const Dim> dims, size_t axis) {
    Shape out;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i != axis) out.push(dims[i]);
    }
    return out;
  }

  // The next value must be of the type that the block takes; sizes may change where it says so.
  void check_carried(const Graph& block, size_t i) const {
    const ValueId in = block.graph_inputs()[l_.block_first + i];
    const ValueId out = block.graph_outputs()[l_.block_first_out + i];
    bool fits = block.dtype(in) == block.dtype(out) && block.rank(in) == block.rank(out);
    for (size_t k = 0; fits && k < block.rank(in); ++k) {
      const Dim a = block.dims(in)[k], b = block.dims(out)[k];
      fits = is_expr(a) || is_expr(b) || a == b;
    }
    if (fits) return;
    fail(block.dtype(in) != block.dtype(out) ? NEF_DTYPE_MISMATCH : NEF_SHAPE_MISMATCH,
         cat("the block takes ", block.type_str(in), " as carried value ", i, " but gives ",
             block.type_str(out)));
  }

  // ---- dims of a block as dims outside

  // What a symbol of block `b` stands for outside follows from the inputs; all others are unknown.
  void map_block(size_t b) {
    const Graph& block = *blocks_[b];
    memo_.assign(block.pool().size(), 0);
    const size_t first = l_.carried + l_.scanned;
    for (size_t i = 0; i < l_.captures; ++i) {
      map_dims(block, l_.block_first + first + i, in_[l_.node_first + first + i].dims);
    }
    for (size_t i = 0; i < l_.scanned; ++i) {
      const Operand& o = in_[l_.carried + i];
      const size_t axis = scan_axis(op_, attrs_, NEF_SCAN_SCAN_INPUT_AXES, i, o.dims.size());
      map_dims(block, l_.carried + i, without(o.dims, axis));
    }
    for (size_t i = 0; i < l_.carried; ++i) {
      if (!keeps_shape(block, i)) continue;
      map_dims(block, l_.block_first + i, in_[l_.node_first + i].dims);
    }
  }

  void map_dims(const Graph& block, size_t input, std::span<const Dim> outside) {
    const auto dims = block.dims(block.graph_inputs()[input]);
    for (size_t k = 0; k < dims.size(); ++k) {
      // 0 would read as "not mapped"; a dim of 0 is rare enough to stay unknown.
      if (block.pool().is_symbol(dims[k]) && memo_[expr_id(dims[k])] == 0) {
        memo_[expr_id(dims[k])] = outside[k];
      }
    }
  }

  static bool same_shape(const Graph& block, ValueId a, ValueId b) {
    return std::equal(block.dims(a).begin(), block.dims(a).end(), block.dims(b).begin(),
                      block.dims(b).end());
  }
  bool keeps_shape(const Graph& block, size_t i) const {
    return same_shape(block, block.graph_inputs()[l_.block_first + i],
                      block.graph_outputs()[l_.block_first_out + i]);
  }

  Dim outside(const Graph& block, Dim d) {
    if (!is_expr(d)) return d;
    // Made of a size that only the block knows: the run tells the whole, not its parts.
    if (!told(block.pool(), d)) {
      memo_[expr_id(d)] =
          pool_.unknown(std::max<int64_t>(0, block.pool().lower(d)), block.pool().upper(d));
    }
    try {
      return pool_.import(block.pool(), d, memo_);
    } catch (const Error&) {
      return pool_.unknown();  // a check that cannot hold: the run says so, if it comes to that
    }
  }

  // Do the inputs tell it? Recursion is bounded by the height of an expression.
  bool told(const DimPool& inner, Dim d) const {
    if (!is_expr(d) || memo_[expr_id(d)] != 0) return true;
    const DimPool::Expr& e = inner.expr(d);
    if (e.kind == DimPool::Kind::Symbol) return false;
    for (const DimPool::Term& t : e.terms) {
      for (uint32_t atom : t.atoms) {
        if (!told(inner, DimPool::dim_of(atom))) return false;
      }
    }
    return told(inner, e.a) && told(inner, e.b);
  }

  // ---- results

  Inferred typed(nef_dtype dtype) const {
    Inferred r;
    r.dtype = dtype;
    return r;
  }

  Inferred carried_type(const Graph& block, size_t i) {
    const ValueId out = block.graph_outputs()[l_.block_first_out + i];
    const ValueId in = block.graph_inputs()[l_.block_first + i];
    const Operand& first = in_[l_.node_first + i];
    Inferred r = typed(block.dtype(out));
    for (size_t k = 0; k < first.dims.size(); ++k) {
      // Without an iteration the first value is the last.
      const Dim a = block.dims(in)[k], b = block.dims(out)[k];
      r.shape.push(a == b || outside(block, b) == first.dims[k] ? first.dims[k] : pool_.unknown());
    }
    return r;
  }

  Inferred stacked_type(const Graph& block, size_t i, Dim length) {
    const ValueId v = block.graph_outputs()[l_.block_first_out + l_.carried + i];
    Inferred r = typed(block.dtype(v));
    const size_t axis =
        scan_axis(op_, attrs_, NEF_SCAN_SCAN_OUTPUT_AXES, i, block.dims(v).size() + 1);
    for (size_t k = 0; k <= block.dims(v).size(); ++k) {
      if (k == axis) r.shape.push(length);
      if (k < block.dims(v).size()) r.shape.push(outside(block, block.dims(v)[k]));
    }
    return r;
  }

  // The number of iterations when nothing can end them early.
  Dim trip_dim(const Graph& block) {
    const Operand& trip = in_[0];
    const bool endless = !in_[1].present && always_true(block);
    if (!trip.present || !trip.has_content) return pool_.unknown();
    const Dim most = pool_.max(trip.content[0], 0);
    // Exporters write the largest number for "until the condition ends it".
    return endless && most != kUnbounded ? most : pool_.unknown(0, pool_.upper(most));
  }

  // Does the block give a true condition whatever happens, or hand on the one it got (which is
  // true when it runs)?
  static bool always_true(const Graph& block) {
    const ValueId v = block.graph_outputs()[0];
    if (v == block.graph_inputs()[1]) return true;
    if (!block.is_constant(v) || block.constant_data(v)->bytes() != 1) return false;
    return *static_cast<const uint8_t*>(block.constant_data(v)->data()) != 0;
  }

  // The length that all scan inputs have.
  Dim scan_length() {
    Dim length = 0;
    for (size_t i = 0; i < l_.scanned; ++i) {
      const auto dims = in_[l_.carried + i].dims;
      const Dim d = dims[scan_axis(op_, attrs_, NEF_SCAN_SCAN_INPUT_AXES, i, dims.size())];
      if (i == 0) {
        length = d;
      } else if (!pool_.equal(length, d, &length)) {
        fail(NEF_SHAPE_MISMATCH,
             cat("scan inputs differ in length: ", pool_.str(length), " and ", pool_.str(d)));
      }
    }
    return length;
  }

  std::vector<Inferred> run_if() {
    if (!in_[0].present) fail(NEF_INVALID_ARGUMENT, "the condition is missing");
    need_scalar(in_[0], NEF_BOOL, "the condition");
    for (size_t b = 0; b < 2; ++b) {
      for (size_t i = 0; i < l_.captures; ++i) check_input(b, i, in_[1 + i]);
    }
    const size_t n = blocks_[0]->graph_outputs().size();
    std::vector<Inferred> out = branch(0), other = branch(1);
    for (size_t i = 0; i < n; ++i) {
      if (out[i].dtype != other[i].dtype) {
        fail(NEF_DTYPE_MISMATCH,
             cat("output ", i, " is ", dtype_name(out[i].dtype), " in one branch and ",
                 dtype_name(other[i].dtype), " in the other"));
      }
      if (out[i].shape.rank != other[i].shape.rank) {
        fail(NEF_SHAPE_MISMATCH,
             cat("output ", i, " is ", shape_str(out[i].shape, pool_), " in one branch and ",
                 shape_str(other[i].shape, pool_),
                 " in the other; sizes may differ, ranks may not, unless the condition is known "
                 "while the graph is built"));
      }
      for (int32_t k = 0; k < out[i].shape.rank; ++k) {
        Dim& a = out[i].shape.dims[k];
        const Dim b = other[i].shape.dims[k];
        if (a == b) continue;
        a = pool_.unknown(std::min(pool_.lower(a), pool_.lower(b)),
                          std::max(pool_.upper(a), pool_.upper(b)));
      }
    }
    return out;
  }

  std::vector<Inferred> branch(size_t b) {
    const Graph& block = *blocks_[b];
    map_block(b);
    std::vector<Inferred> out;
    for (ValueId v : block.graph_outputs()) {
      out.push_back(typed(block.dtype(v)));
      for (Dim d : block.dims(v)) out.back().shape.push(outside(block, d));
    }
    return out;
  }

  const nef_op op_;
  const Attrs& attrs_;
  std::span<const Operand> in_;
  std::span<const Graph::Block> blocks_;
  DimPool& pool_;
  const BlockLayout l_;
  std::vector<Dim> memo_;
};

}  // namespace

std::vector<Inferred> infer_blocks(nef_op op, const Attrs& attrs, std::span<const Operand> operands,
                                   std::span<const Graph::Block> blocks, DimPool& pool) {
  return BlockInference(op, attrs, operands, blocks, pool).run();
}

}  // namespace nef::ir
