// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/region_desc.h"

#include <algorithm>

#include "engine/ir/dtype.h"
#include "engine/ir/shape.h"

namespace nef::compile {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

template <typename T>
void append(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace

void RegionDesc::set(const Graph& graph, const optimize::Regions& regions,
                     const optimize::Region& region, nef_precision precision) {
  values_ = regions.values_of(region);
  abi_values_.clear();
  abi_nodes_.clear();
  dims_.clear();
  for (const optimize::RegionValue& value : values_) {
    const ValueId v = value.value;
    const auto kind = static_cast<nef_value_kind>(value.kind);
    for (ir::Dim d : graph.dims(v)) {
      dims_.push_back(ir::is_expr(d) ? NEF_DIM_UNKNOWN : d.number());
    }
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
  const int32_t* next = regions.links_of(region);
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

void RegionDesc::forget_first_dims(const std::vector<bool>& of) {
  size_t first = 0;
  for (size_t i = 0; i < abi_values_.size(); ++i) {
    if (of[i]) dims_[first] = NEF_DIM_UNKNOWN;
    first += static_cast<size_t>(abi_values_[i].rank);
  }
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
    for (int32_t i = 0; i < v.rank; ++i) append(out, v.dims[i]);
    if (v.kind != NEF_VALUE_LITERAL) continue;
    const int64_t bytes = ir::byte_count(v.dtype, {v.dims, static_cast<size_t>(v.rank)});
    out.append(static_cast<const char*>(v.literal), static_cast<size_t>(bytes));
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
