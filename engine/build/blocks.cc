// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan of lazy tensors: what their bodies are made of becomes graphs.
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "engine/build/builder.h"
#include "engine/build/lazy_internal.h"
#include "engine/ir/blocks.h"
#include "engine/ir/error.h"

namespace nef::build {

using ir::Dim;
using ir::DimPool;
using ir::ValueId;

namespace {

// Dims of lazy tensors as dims of a block. What is a dim of an input there is a symbol of the
// block; an expression of such symbols stays one; all else is a symbol of its own.
class BlockDims {
 public:
  BlockDims(const DimPool& outer, DimPool& inner) : outer_(outer), inner_(inner) {
    memo_.assign(outer.size(), 0);
  }

  // All inputs first, so that it is known which symbols the block's inputs tell.
  void note(std::span<const Dim> dims) {
    for (Dim d : dims) {
      if (outer_.is_symbol(d)) symbol(d);
    }
  }

  Dim dim(Dim d) {
    if (!ir::is_expr(d)) return d;
    Dim& known = memo_[ir::expr_id(d)];
    if (known != 0) return known;
    if (!told(d)) return known = fresh(outer_.lower(d), outer_.upper(d));
    return inner_.import(outer_, d, memo_);
  }

  Dim fresh(int64_t lo = 0, int64_t hi = ir::kUnbounded) {
    return inner_.symbol(cat("_", next_++), std::max<int64_t>(0, lo), std::max<int64_t>(0, hi));
  }

 private:
  void symbol(Dim d) {
    Dim& known = memo_[ir::expr_id(d)];
    if (known != 0) return;
    const DimPool::Expr& e = outer_.expr(d);
    known =
        e.name.empty() || e.name[0] == '_' ? fresh(e.lo, e.hi) : inner_.symbol(e.name, e.lo, e.hi);
  }

  // Recursion is bounded by the height of an expression.
  bool told(Dim d) const {
    if (!ir::is_expr(d)) return true;
    const DimPool::Expr& e = outer_.expr(d);
    if (e.kind == DimPool::Kind::Symbol) return memo_[ir::expr_id(d)] != 0;
    for (const DimPool::Term& t : e.terms) {
      for (uint32_t atom : t.atoms) {
        if (!told(DimPool::dim_of(atom))) return false;
      }
    }
    return told(e.a) && told(e.b);
  }

  const DimPool& outer_;
  DimPool& inner_;
  std::vector<Dim> memo_;
  uint32_t next_ = 0;
};

}  // namespace

// Copies the body of a block into a graph, under lazy_mutex().
class BlockCapture {
 public:
  using Captures = std::vector<LazyTensor*>;

  explicit BlockCapture(const BlockBody& body) : body_(body) {
    for (LazyTensor* p : body.parameters) parameters_.insert(p->node);
  }

  // Puts the inner nodes in order and adds what they take from outside to `captures`.
  void walk(Captures* captures, std::unordered_set<const LazyTensor*>* known) {
    const uint64_t epoch = next_epoch();
    struct Frame {
      LazyNode* node;
      uint32_t next;
    };
    std::vector<Frame> stack;
    const auto enter = [&](LazyTensor* t, bool host) {
      if (t == nullptr) return;
      LazyNode* node = t->node;
      if (parameters_.contains(node) || is_constant(*t, host)) return;
      if (is_outside(*t)) {
        if (known->insert(t).second) captures->push_back(t);
        return;
      }
      if (node->mark_ == epoch) return;
      node->mark_ = epoch;
      stack.push_back({node, 0});
    };
    for (LazyTensor* root : body_.results) {
      enter(root, false);
      while (!stack.empty()) {
        Frame& top = stack.back();
        if (top.next < top.node->n_inputs_) {
          const uint32_t i = top.next++;
          enter(top.node->input_array()[i], ir::is_host_input(top.node->op_, i));
          continue;
        }
        order_.push_back(top.node);
        stack.pop_back();
      }
    }
  }

  // The block's graph. `widened`: dims of parameters that are not what the parameter says.
  ir::Graph copy(const Captures& captures, const std::vector<std::vector<bool>>& widened) {
    ir::Graph graph;
    values_.clear();
    BlockDims dims(lazy_pool(), graph.pool());
    const auto wide = [&](size_t p, size_t k) { return k < widened[p].size() && widened[p][k]; };
    for (size_t p = 0; p < body_.parameters.size(); ++p) {
      const auto d = body_.parameters[p]->dims();
      for (size_t k = 0; k < d.size(); ++k) {
        if (!wide(p, k)) dims.note(d.subspan(k, 1));
      }
    }
    for (const LazyTensor* t : captures) dims.note(t->dims());
    for (size_t p = 0; p < body_.parameters.size(); ++p) {
      const LazyTensor& t = *body_.parameters[p];
      ir::Shape shape;
      for (size_t k = 0; k < t.dims().size(); ++k) {
        shape.push(wide(p, k) ? dims.fresh() : dims.dim(t.dims()[k]));
      }
      values_[&t] = graph.add_input(cat("in", p), t.dtype, shape);
    }
    for (size_t i = 0; i < captures.size(); ++i) {
      const LazyTensor& t = *captures[i];
      ir::Shape shape;
      for (Dim d : t.dims()) shape.push(dims.dim(d));
      values_[&t] = graph.add_input(cat("in", body_.parameters.size() + i), t.dtype, shape);
    }
    for (LazyNode* node : order_) add(graph, *node);
    for (size_t i = 0; i < body_.results.size(); ++i) {
      graph.add_output(cat("out", i), value(graph, *body_.results[i], false));
    }
    return graph;
  }

 private:
  // Data made in the body, and host inputs with data.
  bool is_constant(const LazyTensor& t, bool host) const {
    return t.data != nullptr && (host || t.node->scope_ >= body_.begin);
  }

  bool is_outside(const LazyTensor& t) const {
    return t.data != nullptr || t.node->kind_ != LazyNode::Kind::Op || t.node->scope_ < body_.begin;
  }

  ValueId value(ir::Graph& graph, const LazyTensor& t, bool host) {
    if (const auto it = values_.find(&t); it != values_.end()) return it->second;
    if (!is_constant(t, host)) {
      fail(NEF_INTERNAL, "blocks", "a value of a body was not found in it");
    }
    const ValueId v = graph.add_constant(t.dtype, t.dims(), t.data);
    return values_[&t] = v;
  }

  void add(ir::Graph& graph, LazyNode& node) {
    std::vector<ValueId> inputs;
    for (uint32_t i = 0; i < node.n_inputs_; ++i) {
      const LazyTensor* in = node.input_array()[i];
      inputs.push_back(in == nullptr ? ir::kNone
                                     : value(graph, *in, ir::is_host_input(node.op_, i)));
    }
    Builder builder(graph);
    const bool blocks = node.extra_ != nullptr && !node.extra_->blocks.empty();
    const ir::NodeId n =
        blocks ? builder.add_blocks(node.op_, inputs, node.attr_words(), node.extra_->blocks)
               : builder.add(node.op_, inputs, node.attr_words(), node.n_outputs_);
    if (node.extra_ != nullptr) graph.node_devices().set(n, node.extra_->device);
    for (const LazyTensor& t : node.outputs()) values_[&t] = graph.output(n, t.index);
  }

  const BlockBody& body_;
  std::unordered_set<const LazyNode*> parameters_;
  std::vector<LazyNode*> order_;
  std::unordered_map<const LazyTensor*, ValueId> values_;
};

namespace {

// The body of a Loop or Scan; where its carried results differ in size from what it takes, the
// size is unknown in it.
ir::Graph widened_copy(BlockCapture& capture, const BlockBody& body,
                       const BlockCapture::Captures& captures, size_t first, size_t first_out,
                       size_t carried) {
  std::vector<std::vector<bool>> widened(body.parameters.size());
  for (size_t p = first; p < first + carried; ++p) widened[p].resize(body.parameters[p]->rank);
  for (;;) {
    ir::Graph graph = capture.copy(captures, widened);
    bool changed = false;
    for (size_t i = 0; i < carried && first_out + i < graph.graph_outputs().size(); ++i) {
      const auto in = graph.dims(graph.graph_inputs()[first + i]);
      const auto out = graph.dims(graph.graph_outputs()[first_out + i]);
      for (size_t k = 0; in.size() == out.size() && k < in.size(); ++k) {
        if (in[k] == out[k] || widened[first + i][k]) continue;
        widened[first + i][k] = changed = true;
      }
    }
    if (!changed) return graph;
  }
}

// References held for the length of a call.
class Kept {
 public:
  Kept() = default;
  ~Kept() {
    for (LazyTensor* t : kept_) release(t);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  void keep(LazyTensor* t) {
    kept_.push_back(t);
    retain(t);
  }

 private:
  std::vector<LazyTensor*> kept_;
};

// The condition of an If as far as it is known now: 0, 1, or -1.
int known_condition(const LazyTensor* t) {
  std::vector<Dim> storage;
  const ir::Operand o = lazy_operand(t, false, &storage);
  if (o.has_content && o.content.size() == 1 && !ir::is_expr(o.content[0])) {
    return o.content[0] != 0 ? 1 : 0;
  }
  const auto data = data_of(t);
  if (data == nullptr || data->bytes() != 1) return -1;
  return *static_cast<const uint8_t*>(data->data()) != 0 ? 1 : 0;
}

}  // namespace

void make_blocks(nef_op op, std::span<LazyTensor* const> inputs, std::vector<int64_t> attr_words,
                 std::span<const BlockBody> bodies, std::vector<LazyTensor*>* outs) {
  if (op == NEF_OP_IF && inputs[0] != nullptr && inputs[0]->dtype == NEF_BOOL) {
    const int known = known_condition(inputs[0]);
    if (known >= 0) {
      for (LazyTensor* t : bodies[known == 1 ? 0 : 1].results) {
        retain(t);
        outs->push_back(t);
      }
      return;
    }
  }
  const ir::Attrs attrs(attr_words);
  std::vector<LazyTensor*> all(inputs.begin(), inputs.end());
  Kept kept;
  std::vector<ir::Graph::Block> blocks;
  std::vector<ir::Operand> operands;
  {
    std::unique_lock lock(lazy_mutex());
    BlockCapture::Captures captures;
    std::unordered_set<const LazyTensor*> known;
    std::vector<BlockCapture> copies;
    for (const BlockBody& body : bodies) {
      copies.emplace_back(body).walk(&captures, &known);
    }
    const size_t first = op == NEF_OP_LOOP ? 2 : 0, first_out = op == NEF_OP_LOOP ? 1 : 0;
    const auto carried = op == NEF_OP_IF
                             ? size_t{0}
                             : static_cast<size_t>(std::max<int64_t>(0, attrs.i(NEF_LOOP_CARRIED)));
    for (size_t b = 0; b < bodies.size(); ++b) {
      const size_t n = first < bodies[b].parameters.size()
                           ? std::min(carried, bodies[b].parameters.size() - first)
                           : 0;
      blocks.push_back(std::make_shared<const ir::Graph>(
          widened_copy(copies[b], bodies[b], captures, first, first_out, n)));
    }
    all.insert(all.end(), captures.begin(), captures.end());
    // Another thread may compute an inner value and let its inputs go.
    for (LazyTensor* t : captures) kept.keep(t);
  }
  std::vector<std::vector<Dim>> storage(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    operands.push_back(lazy_operand(all[i], false, &storage[i]));
  }
  // Held until the node keeps the expressions of its types.
  std::lock_guard lock(lazy_mutex());
  make_room_for_expressions();
  const std::vector<ir::Inferred> results =
      ir::infer_blocks(op, attrs, operands, blocks, lazy_pool());
  if (results.empty()) fail(NEF_INVALID_ARGUMENT, ir::spec(op).snake, "gives no values");
  LazyNode* node = make_block_node(op, all, attr_words, std::move(blocks), results);
  for (LazyTensor& t : node->outputs()) outs->push_back(&t);
}

}  // namespace nef::build
