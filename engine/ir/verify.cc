// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/verify.h"

#include "engine/ir/blocks.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/ir/infer.h"

namespace nef::ir {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, const char* where) : g_(graph), where_(where), pool_(graph.pool()) {}

  void run() {
    check_values();
    for (NodeId n = 0; n < g_.node_count(); ++n) {
      check_links(n);
      check_attrs(n);
      check_types(n);
    }
    check_outside();
    check_uses();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    nef::fail(NEF_INTERNAL, "verify", cat(where_, ": ", what));
  }

  void check_values() {
    for (ValueId v = 0; v < g_.value_count(); ++v) {
      if (!dtype_valid(g_.dtype(v))) fail(cat("value ", v, " has no dtype"));
      if (g_.shape_id(v) >= g_.shapes().size()) fail(cat("value ", v, " has no shape"));
      const uint32_t i = g_.def_index(v);
      switch (g_.def(v)) {
        case ValueDef::Input:
          if (i >= g_.graph_inputs().size() || g_.graph_inputs()[i] != v) {
            fail(cat("value ", v, " claims to be graph input ", i));
          }
          break;
        case ValueDef::Constant: check_constant(v, i); break;
        case ValueDef::Node:
          if (i >= g_.node_count() || v - g_.first_output(i) >= g_.output_count(i)) {
            fail(cat("value ", v, " claims to be an output of node ", i));
          }
          break;
        default: fail(cat("value ", v, " has no definition"));
      }
    }
  }

  void check_constant(ValueId v, uint32_t i) {
    if (i >= g_.constant_count() || g_.constant_value(i) != v) {
      fail(cat("value ", v, " claims to be constant ", i));
    }
    if (!g_.is_static(v)) fail(cat("constant ", g_.value_label(v), " has a symbolic shape"));
    const std::shared_ptr<Buffer>& data = g_.constant_data(v);
    const size_t bytes = static_cast<size_t>(byte_count(g_.dtype(v), g_.dims(v)));
    if (data == nullptr || data->bytes() != bytes) {
      fail(cat("constant ", g_.value_label(v), " has ", data == nullptr ? 0 : data->bytes(),
               " bytes, its type ", g_.type_str(v), " needs ", bytes));
    }
  }

  void check_links(NodeId n) {
    if (!op_valid(g_.op(n))) fail(cat("node ", n, " has the unknown op ", g_.op(n)));
    const uint32_t count = g_.output_count(n);
    if (count == 0 || g_.first_output(n) > g_.value_count() ||
        count > g_.value_count() - g_.first_output(n)) {
      fail(cat("the outputs of ", g_.node_label(n), " are no values"));
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (g_.producer(g_.output(n, i)) == n) continue;
      fail(cat("output ", i, " of ", g_.node_label(n), " belongs to something else"));
    }
    for (ValueId v : g_.inputs(n)) {
      if (v == kNone) continue;
      if (v >= g_.value_count()) fail(cat(g_.node_label(n), " reads value ", v, ", which is none"));
      const NodeId producer = g_.producer(v);
      if (producer != kNone && producer >= n) {
        fail(cat(g_.node_label(n), " reads ", g_.value_label(v), " before it is made"));
      }
    }
  }

  void check_attrs(NodeId n) {
    const OpSpec& s = spec(g_.op(n));
    const std::span<const int64_t> words = g_.attrs(n).words();
    const bool sized = s.n_attrs == 0 ? words.empty() : words.size() >= 1u + s.n_attrs;
    if (!sized) fail(cat("the attribute block of ", g_.node_label(n), " has the wrong size"));
    if (words.empty()) return;
    if (s.n_attrs < 63 && static_cast<uint64_t>(words[0]) >> s.n_attrs != 0) {
      fail(cat(g_.node_label(n), " has attributes its op does not know"));
    }
    for (unsigned i = 0; i < s.n_attrs; ++i) check_attr(n, s.attrs[i], words, i);
  }

  void check_attr(NodeId n, const AttrSpec& attr, std::span<const int64_t> words, unsigned i) {
    const bool present = (static_cast<uint64_t>(words[0]) >> i & 1u) != 0;
    if (!present) {
      if (!attr.required && !attr.has_default) return;
      fail(cat("attribute ", attr.name, " of ", g_.node_label(n), " is absent"));
    }
    const bool list = attr.type == AttrType::Ints || attr.type == AttrType::Floats;
    if (!list && attr.type != AttrType::String) return;
    const uint64_t word = static_cast<uint64_t>(words[1 + i]);
    const uint64_t offset = word >> 32, count = word & 0xffffffffu;
    const uint64_t length = list ? count : (count + 7) / 8;
    if (offset > words.size() || length > words.size() - offset) {
      fail(cat("attribute ", attr.name, " of ", g_.node_label(n), " points outside its block"));
    }
  }

  // What build::operand would give, without changing the graph.
  Operand operand(ValueId v, std::vector<Dim>& storage) const {
    Operand o;
    if (v == kNone) return o;
    o.present = true;
    o.dtype = g_.dtype(v);
    o.dims = g_.dims(v);
    if (g_.is_constant(v) && o.dims.size() <= 1) {
      read_constant(v, o, storage);
    } else if (g_.has_content(v)) {
      o.has_content = true;
      o.content = g_.content(v);
    }
    return o;
  }

  void read_constant(ValueId v, Operand& o, std::vector<Dim>& storage) const {
    const size_t n = static_cast<size_t>(element_count(o.dims));
    if (n > kMaxContent) return;
    o.data = g_.constant_data(v)->data();
    read_content(o, n, &storage);
  }

  void check_types(NodeId n) {
    const std::span<const ValueId> inputs = g_.inputs(n);
    std::vector<Operand> operands(inputs.size());
    std::vector<std::vector<Dim>> storage(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) operands[i] = operand(inputs[i], storage[i]);
    std::vector<Inferred> results(g_.output_count(n));
    const ValueId first = g_.output(n);
    if (g_.op(n) == NEF_OP_SHAPE_EXPR && g_.has_content(first)) {
      results[0].has_content = true;
      results[0].content.assign(g_.content(first).begin(), g_.content(first).end());
    }
    try {
      if (has_blocks(g_.op(n))) {
        results = infer_blocks(g_.op(n), g_.attrs(n), operands, g_.blocks(n), pool_);
        if (results.size() != g_.output_count(n)) {
          fail(cat(g_.node_label(n), " has ", g_.output_count(n), " outputs, its blocks make ",
                   results.size()));
        }
      } else {
        infer(g_.op(n), g_.attrs(n), operands, pool_, results);
      }
    } catch (const Error& e) {
      if (refused_by_data(n, operands)) return;
      fail(cat(g_.node_label(n), " does not infer: ", e.message()));
    }
    for (uint32_t i = 0; i < results.size(); ++i) check_type(n, i, results[i]);
  }

  // Numbers that become known, as folding computes them, may be such that the node can only fail:
  // an index that is outside, a negative size. That is the graph's own fault, which its run reports
  // if it comes to that. With numbers left out the node infers, with the same dtypes and ranks.
  bool refused_by_data(NodeId n, std::span<const Operand> operands) {
    if (has_blocks(g_.op(n))) return false;
    std::vector<Operand> blind(operands.begin(), operands.end());
    bool any = false;
    for (Operand& o : blind) {
      any = any || o.has_content || o.data != nullptr;
      o.has_content = false;
      o.content = {};
      o.data = nullptr;
    }
    if (!any) return false;
    std::vector<Inferred> results(g_.output_count(n));
    try {
      infer(g_.op(n), g_.attrs(n), blind, pool_, results);
    } catch (const Error& e) {
      // Not even the rank follows without the numbers; what the node was made with is gone.
      return e.code() == NEF_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < results.size(); ++i) {
      const ValueId v = g_.output(n, i);
      if (g_.dtype(v) != results[i].dtype) return false;
      if (g_.dims(v).size() != static_cast<size_t>(results[i].shape.rank)) return false;
    }
    return true;
  }

  void check_type(NodeId n, uint32_t i, const Inferred& r) const {
    const ValueId v = g_.output(n, i);
    const std::span<const Dim> have = g_.dims(v);
    bool same = g_.dtype(v) == r.dtype && have.size() == static_cast<size_t>(r.shape.rank);
    for (size_t k = 0; same && k < have.size(); ++k) same = dims_agree(have[k], r.shape.dims[k]);
    if (same) return;
    fail(cat("output ", i, " of ", g_.node_label(n), " is ", g_.type_str(v), ", but infers as ",
             dtype_name(r.dtype), " ", shape_str(r.shape, pool_)));
  }

  // An unknown dim, and what is made of one, may be any dim: it is not always known again after
  // a pass.
  bool dims_agree(Dim a, Dim b) const { return a == b || is_unknown(a) || is_unknown(b); }

  // Recursion is bounded by the height of an expression.
  bool is_unknown(Dim d) const {
    if (!is_expr(d) || expr_id(d) >= pool_.size()) return false;
    const DimPool::Expr& e = pool_.expr(d);
    if (e.kind == DimPool::Kind::Symbol) return e.name.empty();
    for (const DimPool::Term& t : e.terms) {
      for (uint32_t atom : t.atoms) {
        if (is_unknown(DimPool::dim_of(atom))) return true;
      }
    }
    return is_unknown(e.a) || is_unknown(e.b);
  }

  void check_outside() {
    for (ValueId v : g_.graph_inputs()) {
      if (v >= g_.value_count() || g_.def(v) != ValueDef::Input) {
        fail(cat("graph input ", v, " is not one"));
      }
    }
    if (g_.graph_outputs().empty()) fail("the graph has no outputs");
    for (ValueId v : g_.graph_outputs()) {
      if (v >= g_.value_count()) fail(cat("graph output ", v, " is no value"));
    }
  }

  void check_uses() {
    std::vector<uint32_t> uses(g_.value_count(), 0);
    for (NodeId n = 0; n < g_.node_count(); ++n) {
      for (ValueId v : g_.inputs(n)) {
        if (v != kNone) ++uses[v];
      }
    }
    for (ValueId v : g_.graph_outputs()) ++uses[v];
    for (ValueId v = 0; v < uses.size(); ++v) {
      if (g_.uses(v) == uses[v]) continue;
      fail(cat(g_.value_label(v), " has ", uses[v], " uses, but counts ", g_.uses(v)));
    }
  }

  const Graph& g_;
  const char* where_;
  DimPool pool_;  // a scratch copy: inferring again adds to it
};

}  // namespace

void verify(const Graph& graph, const char* where) {
  std::vector<const Graph*> todo{&graph};
  while (!todo.empty()) {
    const Graph& g = *todo.back();
    todo.pop_back();
    Verifier(g, where).run();
    for (NodeId n = 0; g.has_blocks() && n < g.node_count(); ++n) {
      for (const Graph::Block& block : g.blocks(n)) todo.push_back(block.get());
    }
  }
}

}  // namespace nef::ir
