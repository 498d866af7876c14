// SPDX-License-Identifier: Apache-2.0
#include "engine/io/graph_from_document.h"

#include <algorithm>
#include <unordered_set>

#include "engine/build/builder.h"
#include "engine/io/dim_name.h"
#include "engine/io/text.h"
#include "engine/io/topology.h"
#include "engine/ir/blocks.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

// Names without a referent are collected, so that one message shows several.
constexpr size_t kMaxFaults = 4;

class Assembler {
 public:
  Assembler(Document doc, DataSource& data, ir::Graph& graph)
      : doc_(std::move(doc)), data_(data), graph_(graph) {}

  void run() {
    index_nodes();
    find_makers();
    default_inputs();
    default_outputs();
    check_references();
    check_edges(doc_, node_ids_);
    const std::vector<uint32_t> order = topological_order(doc_);
    value_.assign(doc_.tensors.size(), ir::kNone);
    graph_.reserve({.nodes = doc_.nodes.size(), .values = doc_.tensors.size()});
    ShapeReader shapes(doc_, graph_);
    for (const DocDeclaration& d : doc_.declarations) {
      shapes.name_symbols(cat("tensors ", in_quotes(tensor_name(d.tensor))), d.shape_span);
    }
    read_shapes(shapes, false);
    add_inputs();
    add_constants();
    add_nodes(order);
    // Only now, so that what inference makes does not hang on what a file says of it.
    read_shapes(shapes, true);
    check_types();
    add_outputs();
  }

 private:
  const std::string& tensor_name(uint32_t t) const { return doc_.tensors[t].name; }

  void index_nodes() {
    node_ids_.reserve(doc_.nodes.size());
    for (uint32_t n = 0; n < doc_.nodes.size(); ++n) {
      const auto [it, fresh] = node_ids_.try_emplace(doc_.nodes[n].id, n);
      if (fresh) continue;
      doc_.stop(
          NEF_DUPLICATE_NAME, cat("graph.nodes[", n, "].id"),
          cat(in_quotes(doc_.nodes[n].id), " is the id of graph.nodes[", it->second, "] too"));
    }
  }

  void find_makers() {
    for (uint32_t n = 0; n < doc_.nodes.size(); ++n) {
      const DocNode& node = doc_.nodes[n];
      for (uint32_t i = 0; i < node.n_outputs; ++i) {
        const uint32_t t = doc_.operands[node.first_output + i];
        if (t == ir::kNone) continue;
        if (doc_.tensors[t].maker != ir::kNone) {
          doc_.stop(NEF_DUPLICATE_NAME, cat("graph.nodes[", n, "]"),
                    cat("tensor ", in_quotes(tensor_name(t)), " is made by ",
                        in_quotes(doc_.nodes[doc_.tensors[t].maker].id), " already"));
        }
        doc_.tensors[t].maker = n;
        doc_.tensors[t].maker_output = i;
      }
    }
    for (const DocDeclaration& d : doc_.declarations) {
      const uint32_t maker = doc_.tensors[d.tensor].maker;
      if (!d.has_data || maker == ir::kNone) continue;
      doc_.stop(NEF_DUPLICATE_NAME, cat("tensors ", in_quotes(tensor_name(d.tensor))),
                cat("has data and is made by ", in_quotes(doc_.nodes[maker].id), " too"));
    }
  }

  // A declared tensor that has no data and is made by no node.
  bool is_free(uint32_t t) const {
    const DocTensor& tensor = doc_.tensors[t];
    return tensor.maker == ir::kNone && tensor.declaration != ir::kNone &&
           !doc_.declarations[tensor.declaration].has_data;
  }

  void default_inputs() {
    if (doc_.has_inputs) return;
    for (const DocDeclaration& d : doc_.declarations) {
      if (is_free(d.tensor)) doc_.inputs.push_back(d.tensor);
    }
  }

  // Without graph.outputs: what nodes make and no node uses.
  void default_outputs() {
    if (doc_.has_outputs) return;
    std::vector<bool> used(doc_.tensors.size(), false);
    for (const DocNode& node : doc_.nodes) {
      for (uint32_t i = 0; i < node.n_inputs; ++i) {
        const uint32_t t = doc_.operands[node.first_input + i];
        if (t != ir::kNone) used[t] = true;
      }
    }
    for (const DocNode& node : doc_.nodes) {
      for (uint32_t i = 0; i < node.n_outputs; ++i) {
        const uint32_t t = doc_.operands[node.first_output + i];
        if (t != ir::kNone && !used[t]) doc_.outputs.push_back({tensor_name(t), t});
      }
    }
  }

  void fault(std::string what) {
    if (faults_.size() < kMaxFaults) faults_.push_back(std::move(what));
  }

  void check_references() {
    for (size_t i = 0; i < doc_.edges.size(); ++i) {
      for (const auto& [key, id] :
           {std::pair(".from", &doc_.edges[i].from), std::pair(".to", &doc_.edges[i].to)}) {
        if (!node_ids_.contains(*id)) {
          fault(cat("graph.edges[", i, "]", key, ": no node has the id ", in_quotes(*id)));
        }
      }
    }
    check_inputs();
    for (uint32_t n = 0; n < doc_.nodes.size(); ++n) check_operands(n);
    check_outputs();
    if (faults_.empty()) return;
    std::string all = faults_[0];
    for (size_t i = 1; i < faults_.size(); ++i) all += "; " + faults_[i];
    fail(NEF_UNKNOWN_NAME, "load", cat(doc_.label, ": ", all));
  }

  void check_inputs() {
    is_input_.assign(doc_.tensors.size(), false);
    for (size_t i = 0; i < doc_.inputs.size(); ++i) {
      const uint32_t t = doc_.inputs[i];
      const std::string where = cat("graph.inputs[", i, "]");
      if (is_input_[t]) {
        doc_.stop(NEF_DUPLICATE_NAME, where, cat(in_quotes(tensor_name(t)), " is listed twice"));
      }
      is_input_[t] = true;
      if (is_free(t)) continue;
      if (doc_.tensors[t].declaration == ir::kNone && doc_.tensors[t].maker == ir::kNone) {
        fault(cat(where, ": tensor ", in_quotes(tensor_name(t)), " is not declared in tensors"));
        continue;
      }
      doc_.stop(NEF_INVALID_ARGUMENT, where,
                cat("tensor ", in_quotes(tensor_name(t)),
                    doc_.tensors[t].maker != ir::kNone ? " is made by a node" : " has data"));
    }
    for (const DocDeclaration& d : doc_.declarations) {
      if (!is_free(d.tensor) || is_input_[d.tensor]) continue;
      fault(cat("tensors ", in_quotes(tensor_name(d.tensor)),
                ": has no data, is made by no node and is not in graph.inputs"));
    }
  }

  bool exists(uint32_t t) const {
    return doc_.tensors[t].maker != ir::kNone || doc_.tensors[t].declaration != ir::kNone;
  }

  void check_operands(uint32_t n) {
    const DocNode& node = doc_.nodes[n];
    for (uint32_t i = 0; i < node.n_inputs; ++i) {
      const uint32_t t = doc_.operands[node.first_input + i];
      if (t == ir::kNone || exists(t)) continue;
      fault(cat("graph.nodes[", n, "].inputs[", i, "]: tensor ", in_quotes(tensor_name(t)),
                " is not declared in tensors and no node makes it"));
    }
  }

  void check_outputs() {
    if (doc_.outputs.empty()) {
      doc_.stop(NEF_INVALID_ARGUMENT, "graph.outputs", "the graph has no outputs");
    }
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < doc_.outputs.size(); ++i) {
      const DocOutput& out = doc_.outputs[i];
      const std::string where = cat("graph.outputs[", i, "]");
      if (!names.insert(out.name).second) {
        doc_.stop(NEF_DUPLICATE_NAME, where, cat(in_quotes(out.name), " is listed twice"));
      }
      if (!exists(out.tensor)) {
        fault(cat(where, ": there is no tensor ", in_quotes(tensor_name(out.tensor))));
      } else if (doc_.tensors[out.tensor].declaration == ir::kNone) {
        fault(cat("output tensor ", in_quotes(tensor_name(out.tensor)),
                  " is not declared in tensors"));
      }
    }
  }

  void read_shapes(ShapeReader& shapes, bool made_by_nodes) {
    for (DocDeclaration& d : doc_.declarations) {
      if ((doc_.tensors[d.tensor].maker != ir::kNone) != made_by_nodes) continue;
      d.shape = shapes.read(cat("tensors ", in_quotes(tensor_name(d.tensor))), d.shape_span);
    }
  }

  void add_inputs() {
    for (const uint32_t t : doc_.inputs) {
      const DocDeclaration& d = doc_.declarations[doc_.tensors[t].declaration];
      const auto dims = graph_.shapes().dims(d.shape);
      value_[t] =
          graph_.add_input(tensor_name(t), d.dtype, std::vector<ir::Dim>(dims.begin(), dims.end()));
    }
  }

  void add_constants() {
    for (DocDeclaration& d : doc_.declarations) {
      if (!d.has_data) continue;
      auto buffer = data_.load(doc_, d, graph_);
      d.inline_data.reset();
      const auto dims = graph_.shapes().dims(d.shape);
      const ir::ValueId v = graph_.add_constant(
          d.dtype, std::vector<ir::Dim>(dims.begin(), dims.end()), std::move(buffer));
      value_[d.tensor] = v;
      graph_.value_names().set(v, tensor_name(d.tensor));
    }
  }

  void add_nodes(const std::vector<uint32_t>& order) {
    build::Builder builder(graph_);
    uint32_t at = 0;
    try {
      for (const uint32_t n : order) {
        at = n;
        add_node(builder, doc_.nodes[n]);
      }
    } catch (const Error& e) {
      throw Error(e.code(), e.op(),
                  cat(doc_.label, ": graph.nodes[", at, "] ", in_quotes(doc_.nodes[at].id), ": ",
                      e.message()));
    }
  }

  void add_node(build::Builder& builder, const DocNode& node) {
    inputs_.clear();
    for (uint32_t i = 0; i < node.n_inputs; ++i) {
      const uint32_t t = doc_.operands[node.first_input + i];
      inputs_.push_back(t == ir::kNone ? ir::kNone : value_[t]);
    }
    const ir::NodeId id = ir::has_blocks(node.op)
                              ? add_blocks(builder, node)
                              : builder.add(node.op, inputs_, node.attrs, node.n_outputs);
    graph_.node_names().set(id, node.id);
    if (!node.device.empty()) graph_.node_devices().set(id, node.device);
    for (uint32_t i = 0; i < node.n_outputs; ++i) {
      const uint32_t t = doc_.operands[node.first_output + i];
      if (t == ir::kNone) continue;
      value_[t] = graph_.output(id, i);
      graph_.value_names().set(value_[t], tensor_name(t));
    }
  }

  // Recursion is bounded by how deep blocks are nested in a file.
  ir::NodeId add_blocks(build::Builder& builder, const DocNode& node) {
    std::vector<ir::Graph::Block> blocks;
    for (const std::shared_ptr<DocBlock>& block : node.blocks) {
      graph_from_document(std::move(block->doc), data_, block->graph);
      blocks.push_back(std::make_shared<const ir::Graph>(std::move(block->graph)));
    }
    const ir::NodeId id = builder.add_blocks(node.op, inputs_, node.attrs, blocks);
    if (graph_.output_count(id) == node.n_outputs) return id;
    fail(NEF_INVALID_ARGUMENT, ir::spec(node.op).snake,
         cat("its blocks make ", graph_.output_count(id), " outputs, the node has ",
             node.n_outputs));
  }

  // A declared dim agrees when it is the inferred one, or may be: the pool then keeps a check
  // that both are the same when the graph runs. "?" says nothing.
  bool dims_agree(ir::Dim declared, ir::Dim inferred) {
    ir::Dim both = 0;
    return declared == inferred || has_unknown(graph_.pool(), declared) ||
           has_unknown(graph_.pool(), inferred) || graph_.pool().equal(declared, inferred, &both);
  }

  void check_types() {
    for (const DocDeclaration& d : doc_.declarations) {
      if (doc_.tensors[d.tensor].maker == ir::kNone) continue;
      const ir::ValueId v = value_[d.tensor];
      const std::string& name = tensor_name(d.tensor);
      if (graph_.dtype(v) != d.dtype) {
        doc_.stop(NEF_DTYPE_MISMATCH, cat("tensors ", in_quotes(name)),
                  cat("declared as ", ir::dtype_name(d.dtype), ", but ", made_by(d), " makes ",
                      ir::dtype_name(graph_.dtype(v))));
      }
      const auto declared = graph_.shapes().dims(d.shape), inferred = graph_.dims(v);
      const bool same =
          std::equal(declared.begin(), declared.end(), inferred.begin(), inferred.end(),
                     [&](ir::Dim a, ir::Dim b) { return dims_agree(a, b); });
      if (same) continue;
      doc_.stop(NEF_SHAPE_MISMATCH, cat("tensors ", in_quotes(name)),
                cat("declared as ", ir::shape_str(declared, graph_.pool()), ", but ", made_by(d),
                    " makes ", ir::shape_str(inferred, graph_.pool())));
    }
  }

  std::string made_by(const DocDeclaration& d) const {
    return in_quotes(doc_.nodes[doc_.tensors[d.tensor].maker].id);
  }

  void add_outputs() {
    for (const DocOutput& out : doc_.outputs) graph_.add_output(out.name, value_[out.tensor]);
  }

  Document doc_;
  DataSource& data_;
  ir::Graph& graph_;
  std::unordered_map<std::string, uint32_t> node_ids_;
  std::vector<bool> is_input_;
  std::vector<ir::ValueId> value_;   // by tensor
  std::vector<ir::ValueId> inputs_;  // of the node at hand
  std::vector<std::string> faults_;
};

}  // namespace

void graph_from_document(Document doc, DataSource& data, ir::Graph& graph) {
  Assembler(std::move(doc), data, graph).run();
}

}  // namespace nef::io
