// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/region_desc.h"

#include <algorithm>

#include "engine/ir/dtype.h"

namespace nef::compile {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

// Constants up to this size that shape an op are part of the structure.
constexpr size_t kMaxLiteralBytes = 64 * 1024;

template <typename T>
void append(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace

bool is_host_input(nef_op op, size_t i) {
  const ir::OpSpec& s = ir::spec(op);
  if (s.n_inputs == 0) return false;
  return s.inputs[std::min<size_t>(i, s.n_inputs - 1u)].host;
}

std::vector<uint32_t> use_counts(const Graph& graph) {
  std::vector<uint32_t> uses(graph.value_count(), 0);
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    for (ValueId v : graph.inputs(n)) {
      if (v != ir::kNone) ++uses[v];
    }
  }
  for (ValueId v : graph.graph_outputs()) ++uses[v];
  return uses;
}

int32_t RegionDesc::value_index(ValueId v) {
  // Regions are small; a scan beats a map.
  const auto it = std::find(values_.begin(), values_.end(), v);
  return it == values_.end() ? -1 : static_cast<int32_t>(it - values_.begin());
}

void RegionDesc::add_value(const Graph& graph, ValueId v, nef_value_kind kind) {
  const auto dims = graph.dims(v);
  if (dims_.size() <= values_.size()) dims_.resize(values_.size() + 1);
  auto& stored = dims_[values_.size()];
  stored.clear();
  for (ir::Dim d : dims) stored.push_back(ir::is_expr(d) ? NEF_DIM_UNKNOWN : d);
  const void* literal = kind == NEF_VALUE_LITERAL ? graph.constant_data(v)->data() : nullptr;
  values_.push_back(v);
  abi_values_.push_back(
      {kind, graph.dtype(v), static_cast<int32_t>(dims.size()), 0, nullptr, literal});
}

void RegionDesc::set(const Graph& graph, const optimize::Regions& regions,
                     const optimize::Region& region, std::span<const uint32_t> uses,
                     nef_precision precision) {
  values_.clear();
  abi_values_.clear();
  abi_nodes_.clear();
  index_pool_.clear();
  const auto nodes = regions.nodes_of(region);
  const NodeId root = nodes.back();
  for (NodeId n : nodes) {
    const ir::OpSpec& s = ir::spec(graph.op(n));
    const auto inputs = graph.inputs(n);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId v = inputs[i];
      if (v == ir::kNone) {
        index_pool_.push_back(-1);
        continue;
      }
      if (value_index(v) < 0) {
        nef_value_kind kind = NEF_VALUE_INPUT;
        if (graph.is_constant(v)) {
          const bool literal = is_host_input(graph.op(n), i) &&
                               graph.constant_data(v)->bytes() <= kMaxLiteralBytes;
          kind = literal ? NEF_VALUE_LITERAL : NEF_VALUE_CONSTANT;
        }
        add_value(graph, v, kind);
      }
      index_pool_.push_back(value_index(v));
    }
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      const ValueId v = graph.output(n, i);
      const bool optional = s.outputs[std::min<uint32_t>(i, s.n_outputs - 1u)].optional;
      if (uses[v] == 0 && optional) {
        index_pool_.push_back(-1);
        continue;
      }
      add_value(graph, v, n == root ? NEF_VALUE_OUTPUT : NEF_VALUE_INTERNAL);
      index_pool_.push_back(value_index(v));
    }
    const ir::Attrs attrs = graph.attrs(n);
    abi_nodes_.push_back({graph.op(n), static_cast<int32_t>(inputs.size()),
                          static_cast<int32_t>(graph.output_count(n)),
                          static_cast<int32_t>(attrs.words().size()), nullptr, nullptr,
                          attrs.data()});
  }
  // The pools have stopped moving: point into them.
  const int32_t* next = index_pool_.data();
  for (nef_backend_node& node : abi_nodes_) {
    node.inputs = next;
    next += node.n_inputs;
    node.outputs = next;
    next += node.n_outputs;
  }
  for (size_t i = 0; i < abi_values_.size(); ++i) abi_values_[i].dims = dims_[i].data();
  view_ = {sizeof(nef_backend_region),
           region.kind,
           precision,
           static_cast<int32_t>(abi_values_.size()),
           static_cast<int32_t>(abi_nodes_.size()),
           abi_values_.data(),
           abi_nodes_.data()};
}

std::string RegionDesc::key() const {
  std::string out;
  out.reserve(64 + 48 * abi_values_.size() + 48 * abi_nodes_.size());
  append(out, view_.kind);
  append(out, view_.precision);
  append(out, view_.n_values);
  append(out, view_.n_nodes);
  for (const nef_backend_value& v : abi_values_) {
    append(out, v.kind);
    append(out, v.dtype);
    append(out, v.rank);
    int64_t count = 1;
    for (int32_t i = 0; i < v.rank; ++i) {
      append(out, v.dims[i]);
      count *= v.dims[i];
    }
    if (v.kind != NEF_VALUE_LITERAL) continue;
    out.append(static_cast<const char*>(v.literal),
               static_cast<size_t>(count) * ir::dtype_size(v.dtype));
  }
  for (const nef_backend_node& n : abi_nodes_) {
    append(out, n.op);
    append(out, n.n_inputs);
    append(out, n.n_outputs);
    append(out, n.n_attr_words);
    for (int32_t i = 0; i < n.n_inputs; ++i) append(out, n.inputs[i]);
    for (int32_t i = 0; i < n.n_outputs; ++i) append(out, n.outputs[i]);
    if (n.n_attr_words == 0) continue;
    out.append(reinterpret_cast<const char*>(n.attrs), 8 * static_cast<size_t>(n.n_attr_words));
  }
  return out;
}

}  // namespace nef::compile
