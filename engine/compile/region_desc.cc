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

void ValueList::clear() {
  values_.clear();
  index_.clear();
}

void ValueList::add(ValueId v) {
  if (values_.size() >= kFew) index_.emplace(v, static_cast<int32_t>(values_.size()));
  values_.push_back(v);
}

int32_t ValueList::find(ValueId v) const {
  const auto end = values_.begin() + static_cast<std::ptrdiff_t>(std::min(values_.size(), kFew));
  if (const auto it = std::find(values_.begin(), end, v); it != end) {
    return static_cast<int32_t>(it - values_.begin());
  }
  const auto it = index_.find(v);
  return it == index_.end() ? -1 : it->second;
}

void RegionValues::add(ValueId v, nef_value_kind kind) {
  node_values_.push_back(static_cast<int32_t>(kinds_.size()));
  values_.add(v);
  kinds_.push_back(kind);
}

namespace {

nef_value_kind input_kind(const Graph& graph, NodeId n, size_t i) {
  const ValueId v = graph.inputs(n)[i];
  if (!graph.is_constant(v)) return NEF_VALUE_INPUT;
  const bool literal =
      is_host_input(graph.op(n), i) && graph.constant_data(v)->bytes() <= kMaxLiteralBytes;
  return literal ? NEF_VALUE_LITERAL : NEF_VALUE_CONSTANT;
}

}  // namespace

void RegionValues::set(const Graph& graph, const optimize::Regions& regions,
                       const optimize::Region& region) {
  values_.clear();
  kinds_.clear();
  node_values_.clear();
  const auto nodes = regions.nodes_of(region);
  for (NodeId n : nodes) {
    const auto inputs = graph.inputs(n);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int32_t known = inputs[i] == ir::kNone ? -1 : values_.find(inputs[i]);
      if (inputs[i] == ir::kNone || known >= 0) {
        node_values_.push_back(known);
      } else {
        add(inputs[i], input_kind(graph, n, i));
      }
    }
    const ir::OpSpec& s = ir::spec(graph.op(n));
    const nef_value_kind kind = n == nodes.back() ? NEF_VALUE_OUTPUT : NEF_VALUE_INTERNAL;
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      const ValueId v = graph.output(n, i);
      const bool optional = s.outputs[std::min<uint32_t>(i, s.n_outputs - 1u)].optional;
      if (graph.uses(v) == 0 && optional) {
        node_values_.push_back(-1);
      } else {
        add(v, kind);
      }
    }
  }
}

void RegionDesc::set(const Graph& graph, const optimize::Regions& regions,
                     const optimize::Region& region, nef_precision precision) {
  values_.set(graph, regions, region);
  abi_values_.clear();
  abi_nodes_.clear();
  dims_.clear();
  for (size_t i = 0; i < values_.values().size(); ++i) {
    const ValueId v = values_.values()[i];
    const nef_value_kind kind = values_.kind(i);
    for (ir::Dim d : graph.dims(v)) dims_.push_back(ir::is_expr(d) ? NEF_DIM_UNKNOWN : d);
    const void* literal = kind == NEF_VALUE_LITERAL ? graph.constant_data(v)->data() : nullptr;
    abi_values_.push_back(
        {kind, graph.dtype(v), static_cast<int32_t>(graph.dims(v).size()), 0, nullptr, literal});
  }
  // The dims have stopped moving: point into them.
  const int64_t* dims = dims_.data();
  for (nef_backend_value& v : abi_values_) {
    v.dims = dims;
    dims += v.rank;
  }
  const int32_t* next = values_.node_values().data();
  for (NodeId n : regions.nodes_of(region)) {
    const ir::Attrs attrs = graph.attrs(n);
    const auto n_inputs = static_cast<int32_t>(graph.inputs(n).size());
    const auto n_outputs = static_cast<int32_t>(graph.output_count(n));
    abi_nodes_.push_back({graph.op(n), n_inputs, n_outputs,
                          static_cast<int32_t>(attrs.words().size()), next, next + n_inputs,
                          attrs.data()});
    next += n_inputs + n_outputs;
  }
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
