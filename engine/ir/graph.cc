// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/graph.h"

#include <algorithm>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::ir {

namespace {

constexpr uint32_t kMaxIndex = 0x3fffffffu;

uint32_t tag(ValueDef def, size_t index) {
  if (index > kMaxIndex) {
    fail(NEF_LIMIT_EXCEEDED, "graph", cat("a graph holds at most ", kMaxIndex, " nodes"));
  }
  return (static_cast<uint32_t>(def) << 30) | static_cast<uint32_t>(index);
}

}  // namespace

void NameTable::set(uint32_t id, std::string_view name) {
  if (name.empty() && id >= entries_.size()) return;
  if (id >= entries_.size()) entries_.resize(id + 1);
  entries_[id] = {pool_.size(), static_cast<uint32_t>(name.size())};
  pool_ += name;
}

std::string_view NameTable::get(uint32_t id) const {
  if (id >= entries_.size()) return {};
  return std::string_view(pool_).substr(entries_[id].begin, entries_[id].size);
}

void Graph::reserve(size_t nodes, size_t values) {
  for (auto* v :
       {&in_begin_, &in_count_, &first_output_, &out_count_, &attr_begin_, &attr_count_}) {
    v->reserve(nodes);
  }
  op_.reserve(nodes);
  inputs_.reserve(2 * nodes);
  dtype_.reserve(values);
  shape_.reserve(values);
  def_.reserve(values);
}

ValueId Graph::add_input(std::string_view name, nef_dtype dtype, std::span<const Dim> dims) {
  const auto v = static_cast<ValueId>(dtype_.size());
  dtype_.push_back(dtype);
  shape_.push_back(shapes_.intern(dims));
  def_.push_back(tag(ValueDef::Input, input_values_.size()));
  input_values_.push_back(v);
  input_names_.emplace_back(name);
  return v;
}

ValueId Graph::add_constant(nef_dtype dtype, std::span<const Dim> dims,
                            std::shared_ptr<Buffer> data) {
  const auto v = static_cast<ValueId>(dtype_.size());
  const int64_t bytes = byte_count(dtype, dims);
  if (data == nullptr || data->bytes() != static_cast<size_t>(bytes)) {
    fail(NEF_SHAPE_MISMATCH, "constant",
         cat("a ", dtype_name(dtype), " constant of shape ", shape_str(dims, pool_), " needs ",
             bytes, " bytes, got ", data == nullptr ? 0 : data->bytes()));
  }
  dtype_.push_back(dtype);
  shape_.push_back(shapes_.intern(dims));
  def_.push_back(tag(ValueDef::Constant, constants_.size()));
  constants_.push_back(std::move(data));
  constant_values_.push_back(v);
  return v;
}

NodeId Graph::add_node(nef_op op, std::span<const ValueId> inputs,
                       std::span<const int64_t> attr_words, std::span<const Type> types) {
  const auto n = static_cast<NodeId>(op_.size());
  const uint32_t def = tag(ValueDef::Node, n);
  op_.push_back(op);
  in_begin_.push_back(static_cast<uint32_t>(inputs_.size()));
  in_count_.push_back(static_cast<uint32_t>(inputs.size()));
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
  attr_begin_.push_back(static_cast<uint32_t>(attr_words_.size()));
  attr_count_.push_back(static_cast<uint32_t>(attr_words.size()));
  attr_words_.insert(attr_words_.end(), attr_words.begin(), attr_words.end());
  first_output_.push_back(static_cast<uint32_t>(dtype_.size()));
  out_count_.push_back(static_cast<uint32_t>(types.size()));
  for (const Type& t : types) {
    dtype_.push_back(t.dtype);
    shape_.push_back(t.shape);
    def_.push_back(def);
  }
  return n;
}

void Graph::rewrite_node(NodeId n, nef_op op, std::span<const ValueId> inputs,
                         std::span<const int64_t> attr_words) {
  op_[n] = op;
  // The spans may point into our own pools, which the appends below can move.
  const std::vector<ValueId> in(inputs.begin(), inputs.end());
  const std::vector<int64_t> words(attr_words.begin(), attr_words.end());
  if (in.size() > in_count_[n]) {
    in_begin_[n] = static_cast<uint32_t>(inputs_.size());
    inputs_.resize(inputs_.size() + in.size());
  }
  in_count_[n] = static_cast<uint32_t>(in.size());
  std::copy(in.begin(), in.end(), inputs_.begin() + in_begin_[n]);
  if (words.size() > attr_count_[n]) {
    attr_begin_[n] = static_cast<uint32_t>(attr_words_.size());
    attr_words_.resize(attr_words_.size() + words.size());
  }
  attr_count_[n] = static_cast<uint32_t>(words.size());
  std::copy(words.begin(), words.end(), attr_words_.begin() + attr_begin_[n]);
}

void Graph::add_output(std::string_view name, ValueId value) {
  output_values_.push_back(value);
  output_names_.emplace_back(name);
}

void Graph::clear_outputs() {
  output_values_.clear();
  output_names_.clear();
}

void Graph::set_type(ValueId v, nef_dtype dtype, ShapeId shape) {
  dtype_[v] = dtype;
  shape_[v] = shape;
}

std::span<const Dim> Graph::content(ValueId v) const {
  if (!has_content(v)) return {};
  const auto [begin, count] = content_spans_[content_[v] - 1];
  return {content_pool_.data() + begin, count};
}

void Graph::set_content(ValueId v, std::span<const Dim> elements) {
  if (content_.size() <= v) content_.resize(dtype_.size(), 0);
  const auto begin = static_cast<uint32_t>(content_pool_.size());
  const std::vector<Dim> copy(elements.begin(), elements.end());
  content_pool_.insert(content_pool_.end(), copy.begin(), copy.end());
  content_spans_.emplace_back(begin, static_cast<uint32_t>(copy.size()));
  content_[v] = static_cast<uint32_t>(content_spans_.size());
}

std::string Graph::node_label(NodeId n) const {
  const std::string_view name = node_names_.get(n);
  const char* op_name = op_valid(op_[n]) ? spec(op_[n]).snake : "?";
  if (name.empty()) return cat("node ", n, " (", op_name, ")");
  return cat(std::string(name), " (", op_name, ")");
}

std::string Graph::value_label(ValueId v) const {
  const std::string_view name = value_names_.get(v);
  if (!name.empty()) return cat("\"", std::string(name), "\"");
  switch (def(v)) {
    case ValueDef::Input: return cat("input \"", input_names_[def_index(v)], "\"");
    case ValueDef::Constant: return cat("constant ", def_index(v));
    case ValueDef::Node: break;
  }
  const NodeId n = def_index(v);
  return cat("output ", v - first_output_[n], " of ", node_label(n));
}

std::string Graph::type_str(ValueId v) const {
  return cat(dtype_name(dtype_[v]), " ", shape_str(dims(v), pool_));
}

}  // namespace nef::ir
