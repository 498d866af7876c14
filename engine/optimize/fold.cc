// SPDX-License-Identifier: Apache-2.0
// Computes what depends on constants only, and replaces shape arithmetic by its result: numbers
// become constants, expressions of symbols become ShapeExpr nodes that cost nothing to run.
#include <algorithm>
#include <map>

#include "engine/ir/buffer.h"
#include "engine/ir/dtype.h"
#include "engine/ir/work.h"
#include "engine/optimize/passes.h"
#include "engine/optimize/rewriter.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

// A folded constant larger than this must not be larger than what it was made from,
constexpr uint64_t kMaxGrowth = 1 << 20;
// except that weights of few bits may become floats: kernels pack constants once.
constexpr uint64_t kMaxWidened = 16 << 20, kWidening = 4;

bool all_constant(const Graph& graph, const Rewriter& rewriter, NodeId n) {
  for (size_t i = 0; i < graph.inputs(n).size(); ++i) {
    const ValueId v = rewriter.input(n, i);
    if (v != kNone && !graph.is_constant(v)) return false;
  }
  return true;
}

// Bytes that a node reads and makes.
struct Traffic {
  uint64_t in = 0, out = 0;
};

// False where a size is not known, or no memory could hold it.
bool measure(const Graph& graph, const Rewriter& rewriter, NodeId n, Traffic* t) {
  for (size_t i = 0; i < graph.inputs(n).size(); ++i) {
    const ValueId v = rewriter.input(n, i);
    if (v != kNone) t->in += graph.constant_data(v)->bytes();
  }
  for (uint32_t i = 0; i < graph.output_count(n); ++i) {
    const ValueId v = graph.output(n, i);
    if (!graph.is_static(v)) return false;
    const auto bytes = static_cast<uint64_t>(ir::byte_count(graph.dtype(v), graph.dims(v)));
    if (bytes > UINT64_MAX / 2 - t->out) return false;
    t->out += bytes;
  }
  return true;
}

bool small_enough(const Traffic& t) {
  return t.out <= kMaxGrowth || t.out <= t.in ||
         (t.out <= kMaxWidened && t.out / kWidening <= t.in);
}

// Symbols without a name that no input has get their numbers in a run, from the node that makes
// them: what is made of them must stay behind that node.
class LateSymbols {
 public:
  explicit LateSymbols(const Graph& graph) : graph_(graph) {}

  bool any_in(std::span<const ir::Dim> dims) {
    return std::any_of(dims.begin(), dims.end(), [this](ir::Dim d) { return is_late(d); });
  }

 private:
  // Recursion is bounded by the height of an expression.
  bool is_late(ir::Dim d) {
    if (!ir::is_expr(d)) return false;
    const ir::DimPool::Expr& e = graph_.pool().expr(d);
    if (e.kind == ir::DimPool::Kind::Symbol) return e.name.empty() && !is_bound(d);
    for (const ir::DimPool::Term& t : e.terms) {
      for (uint32_t atom : t.atoms) {
        if (is_late(ir::DimPool::dim_of(atom))) return true;
      }
    }
    return is_late(e.a) || is_late(e.b);
  }

  bool is_bound(ir::Dim d) {
    if (!read_) {
      read_ = true;
      for (ValueId v : graph_.graph_inputs()) {
        for (ir::Dim dim : graph_.dims(v)) {
          if (ir::is_expr(dim)) bound_.push_back(ir::expr_id(dim));
        }
      }
      std::sort(bound_.begin(), bound_.end());
    }
    return std::binary_search(bound_.begin(), bound_.end(), ir::expr_id(d));
  }

  const Graph& graph_;
  std::vector<uint32_t> bound_;
  bool read_ = false;
};

// Constants that were computed on the way to others: weights that are widened, shifted and scaled
// would be there once for each of these nodes. They go when the last node that reads them is
// folded.
class OnTheWay {
 public:
  OnTheWay(Graph& graph, Budget& budget) : graph_(graph), budget_(budget) {}

  void add(ValueId constant, ValueId stands_for) {
    if (graph_.constant_data(constant)->bytes() >= kLeast) stands_for_[constant] = stands_for;
  }
  // A node is left as it is.
  void keep_inputs(NodeId n) {
    for (ValueId v : graph_.inputs(n)) stands_for_.erase(v);
  }
  void folded(NodeId n) {
    for (ValueId v : graph_.inputs(n)) {
      const auto it = stands_for_.find(v);
      if (it == stands_for_.end() || graph_.uses(it->second) != 0) continue;
      let_go_ += graph_.constant_data(v)->bytes();
      budget_.give_back(graph_.constant_data(v)->bytes());
      graph_.set_constant_data(v, nullptr);
      stands_for_.erase(it);
      any_ = true;
    }
    if (let_go_ < kMostSpare) return;
    let_go_ = 0;
    ir::free_spare_buffers();
  }
  // Nodes that were folded must not meet anyone with inputs that are gone.
  void finish() {
    if (any_) graph_.compact();
  }

 private:
  static constexpr size_t kLeast = 64u << 10;
  static constexpr size_t kMostSpare = 16u << 20;  // as the next ones may be of the same size
  Graph& graph_;
  Budget& budget_;
  std::map<ValueId, ValueId> stands_for_;
  size_t let_go_ = 0;
  bool any_ = false;
};

// Replaces a value whose elements are known by those elements.
bool fold_content(Graph& graph, Rewriter& rewriter, LateSymbols& late, NodeId n) {
  if (graph.output_count(n) != 1) return false;
  const ValueId out = graph.output(n);
  if (graph.dtype(out) != NEF_INT64 || !graph.has_content(out)) return false;
  const auto known = graph.content(out);
  if (late.any_in(known)) return false;
  const std::vector<ir::Dim> elements(known.begin(), known.end());
  if (graph.dims(out).size() == 1) {
    rewriter.forward(out, rewriter.insert_dims(elements));
    return true;
  }
  if (ir::is_expr(elements[0])) return false;  // a scalar expression stays with its op
  rewriter.forward(out, rewriter.builder().int_scalar(elements[0].number()));
  return true;
}

}  // namespace

bool can_fold(const Graph& graph) { return graph.constant_count() > 0 || graph.any_content(); }

bool fold_constants(Graph& graph, const Options& options) {
  Rewriter rewriter(graph);
  LateSymbols late(graph);
  Budget& budget = *options.budget;
  OnTheWay on_the_way(graph, budget);
  std::vector<std::shared_ptr<ir::Buffer>> results;
  // Nodes added on the way (ShapeExpr) need no visit.
  const auto count = static_cast<NodeId>(graph.node_count());
  for (NodeId n = 0; n < count; ++n) {
    budget.check_cancelled();
    if (!is_pure(graph.op(n)) || rewriter.is_dead(n)) continue;
    if (fold_content(graph, rewriter, late, n)) continue;
    if (!options.evaluate || graph.inputs(n).empty()) continue;
    Traffic traffic;
    if (!all_constant(graph, rewriter, n) || !measure(graph, rewriter, n, &traffic)) continue;
    if (!small_enough(traffic)) continue;
    // The evaluator reads inputs from the graph, so forwarded ones are written back first.
    for (size_t i = 0; i < graph.inputs(n).size(); ++i) {
      graph.set_input(n, i, rewriter.input(n, i));
    }
    results.clear();
    if (is_reshape(graph.op(n))) {
      // The constant's memory serves, a mapped file's too.
      results.push_back(graph.constant_data(graph.inputs(n)[0]));
    } else if (!budget.take(ir::work(graph, n), traffic.in, traffic.out)) {
      on_the_way.keep_inputs(n);
      continue;
    } else if (!options.evaluate(graph, n, &results)) {
      budget.give_back(traffic.out);
      on_the_way.keep_inputs(n);
      continue;
    }
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      const ValueId out = graph.output(n, i);
      if (results[i] == nullptr) continue;  // optional, and nothing reads it
      const ir::Shape shape(graph.dims(out));
      const ValueId constant = rewriter.insert_constant(graph.dtype(out), shape, results[i]);
      rewriter.forward(out, constant);
      on_the_way.add(constant, out);
    }
    results.clear();
    on_the_way.folded(n);
  }
  const bool changed = rewriter.finish();
  on_the_way.finish();
  return changed;
}

}  // namespace nef::optimize
