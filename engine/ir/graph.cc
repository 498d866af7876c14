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

void NameTable::renumber(std::span<const uint32_t> to) {
  if (entries_.empty()) return;
  const size_t had = std::min(entries_.size(), to.size());
  size_t left = 0;
  for (size_t id = 0; id < had; ++id) {
    if (to[id] == kNone) continue;
    entries_[to[id]] = entries_[id];
    left = to[id] + size_t{1};
  }
  entries_.resize(left);
}

void Graph::reserve(const Sizes& sizes) {
  op_.reserve(sizes.nodes);
  nodes_.reserve(sizes.nodes);
  inputs_.reserve(sizes.node_inputs);
  attr_words_.reserve(sizes.attr_words);
  values_.reserve(sizes.values);
  input_values_.reserve(sizes.graph_inputs);
}

ValueId Graph::add_value(uint32_t def, nef_dtype dtype, ShapeId shape) {
  values_.push_back({def, shape, 0, dtype});
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_input(std::string_view name, nef_dtype dtype, std::span<const Dim> dims) {
  const uint32_t def = tag(ValueDef::Input, input_values_.size());
  const ValueId v = add_value(def, dtype, shapes_.intern(dims));
  if (!name.empty()) input_names_.set(static_cast<uint32_t>(input_values_.size()), name);
  input_values_.push_back(v);
  return v;
}

ValueId Graph::add_constant(nef_dtype dtype, std::span<const Dim> dims,
                            std::shared_ptr<Buffer> data) {
  const int64_t bytes = byte_count(dtype, dims);
  if (data == nullptr || data->bytes() != static_cast<size_t>(bytes)) {
    fail(NEF_SHAPE_MISMATCH, "constant",
         cat("a ", dtype_name(dtype), " constant of shape ", shape_str(dims, pool_), " needs ",
             bytes, " bytes, got ", data == nullptr ? 0 : data->bytes()));
  }
  const uint32_t def = tag(ValueDef::Constant, constants_.size());
  const ValueId v = add_value(def, dtype, shapes_.intern(dims));
  constants_.push_back(std::move(data));
  constant_values_.push_back(v);
  return v;
}

NodeId Graph::add_node(nef_op op, std::span<const ValueId> inputs,
                       std::span<const int64_t> attr_words, std::span<const Type> types) {
  const auto n = static_cast<NodeId>(op_.size());
  const uint32_t def = tag(ValueDef::Node, n);
  note_op(op);
  op_.push_back(static_cast<uint16_t>(op));
  nodes_.push_back({static_cast<uint32_t>(inputs_.size()), static_cast<uint32_t>(inputs.size()),
                    static_cast<uint32_t>(values_.size()), static_cast<uint32_t>(types.size()),
                    static_cast<uint32_t>(attr_words_.size()),
                    static_cast<uint32_t>(attr_words.size())});
  for (ValueId v : inputs) {
    inputs_.push_back(v);
    add_use(v);
  }
  attr_words_.append(attr_words);
  for (const Type& t : types) add_value(def, t.dtype, t.shape);
  return n;
}

void Graph::rewrite_node(NodeId n, nef_op op, std::span<const ValueId> inputs,
                         std::span<const int64_t> attr_words) {
  note_op(op);
  op_[n] = static_cast<uint16_t>(op);
  // The spans may point into our own pools, which the appends below can move.
  const std::vector<ValueId> in(inputs.begin(), inputs.end());
  const std::vector<int64_t> words(attr_words.begin(), attr_words.end());
  Node& node = nodes_[n];
  for (ValueId v : in) add_use(v);
  for (ValueId v : this->inputs(n)) drop_use(v);
  if (in.size() > node.in_count) {
    node.in_begin = static_cast<uint32_t>(inputs_.size());
    inputs_.append(in);
  } else {
    std::copy(in.begin(), in.end(), inputs_.begin() + node.in_begin);
  }
  node.in_count = static_cast<uint32_t>(in.size());
  if (words.size() > node.attr_count) {
    node.attr_begin = static_cast<uint32_t>(attr_words_.size());
    attr_words_.append(words);
  } else {
    std::copy(words.begin(), words.end(), attr_words_.begin() + node.attr_begin);
  }
  node.attr_count = static_cast<uint32_t>(words.size());
}

void Graph::set_input(NodeId n, size_t i, ValueId v) {
  ValueId& at = inputs_[nodes_[n].in_begin + i];
  drop_use(at);
  add_use(v);
  at = v;
}

void Graph::add_output(std::string_view name, ValueId value) {
  if (!name.empty()) output_names_.set(static_cast<uint32_t>(output_values_.size()), name);
  output_values_.push_back(value);
  add_use(value);
}

void Graph::set_graph_output(size_t i, ValueId v) {
  drop_use(output_values_[i]);
  add_use(v);
  output_values_[i] = v;
}

void Graph::clear_outputs() {
  for (ValueId v : output_values_) drop_use(v);
  output_values_.clear();
  output_names_ = NameTable();
}

// ---- compaction ---------------------------------------------------------------------------

bool Graph::compact() {
  Array<uint32_t> new_node, new_value;
  const size_t left = drop_dead_uses(&new_node);
  if (left == node_count()) return false;
  move_values(new_node, &new_value);
  move_nodes(new_node, new_value);
  node_names_.renumber(new_node);
  node_devices_.renumber(new_node);
  value_names_.renumber(new_value);
  if (has_blocks()) move_blocks(new_node);
  return true;
}

void Graph::move_blocks(std::span<const uint32_t> new_node) {
  std::vector<BlockRange> ranges;
  std::vector<Block> blocks;
  for (const BlockRange& r : block_ranges_) {
    if (new_node[r.node] == kNone) continue;
    ranges.push_back({new_node[r.node], static_cast<uint32_t>(blocks.size()), r.count});
    blocks.insert(blocks.end(), blocks_.begin() + r.begin, blocks_.begin() + r.begin + r.count);
  }
  block_ranges_ = std::move(ranges);
  blocks_ = std::move(blocks);
}

// New ids of the nodes, kNone for those that nothing needs; returns how many stay. What only dead
// nodes used has no uses afterwards.
size_t Graph::drop_dead_uses(Array<uint32_t>* new_id) {
  new_id->resize_unset(node_count());
  size_t dead = 0;
  for (auto n = static_cast<NodeId>(node_count()); n-- > 0;) {
    const Node& node = nodes_[n];
    uint32_t used = 0;
    for (uint32_t i = 0; i < node.out_count; ++i) used |= values_[node.first_output + i].uses;
    (*new_id)[n] = used;
    if (used != 0) continue;
    ++dead;
    for (ValueId v : inputs(n)) drop_use(v);
  }
  if (dead == 0) return node_count();
  uint32_t next = 0;
  for (uint32_t& id : *new_id) id = id == 0 ? kNone : next++;
  return next;
}

void Graph::move_values(std::span<const uint32_t> new_node, Array<uint32_t>* new_id) {
  new_id->resize_unset(value_count());
  ValueId next = 0;
  uint32_t constants = 0;
  for (ValueId v = 0; v < value_count(); ++v) {
    const Value& value = values_[v];
    uint32_t def = value.def;
    if (this->def(v) == ValueDef::Node) {
      const uint32_t n = new_node[def_index(v)];
      if (n == kNone) {
        (*new_id)[v] = kNone;
        continue;
      }
      def = tag(ValueDef::Node, n);
    } else if (is_constant(v)) {
      if (value.uses == 0) {
        (*new_id)[v] = kNone;
        continue;
      }
      if (constants != def_index(v)) constants_[constants] = std::move(constants_[def_index(v)]);
      constant_values_[constants] = next;
      def = tag(ValueDef::Constant, constants++);
    }
    values_[next] = {def, value.shape, value.uses, value.dtype};
    (*new_id)[v] = next++;
  }
  constants_.resize(constants);
  constant_values_.resize_unset(constants);
  for (ValueId& v : input_values_) v = (*new_id)[v];
  for (ValueId& v : output_values_) v = (*new_id)[v];
  if (!content_.empty()) {
    size_t left = 0;
    for (ValueId v = 0; v < content_.size(); ++v) {
      const ValueId to = (*new_id)[v];
      if (to == kNone) continue;
      content_[to] = content_[v];
      left = to + size_t{1};
    }
    content_.resize(left);
  }
  values_.resize_unset(next);
}

// The pools of inputs and attributes keep their holes.
void Graph::move_nodes(std::span<const uint32_t> new_node, std::span<const uint32_t> new_value) {
  NodeId next = 0;
  for (NodeId n = 0; n < new_node.size(); ++n) {
    if (new_node[n] == kNone) continue;
    Node node = nodes_[n];
    node.first_output = new_value[node.first_output];
    for (uint32_t i = 0; i < node.in_count; ++i) {
      ValueId& v = inputs_[node.in_begin + i];
      if (v != kNone) v = new_value[v];
    }
    nodes_[next] = node;
    op_[next] = op_[n];
    ++next;
  }
  nodes_.resize_unset(next);
  op_.resize_unset(next);
}

// ---- blocks -------------------------------------------------------------------------------

std::span<const Graph::Block> Graph::blocks(NodeId n) const {
  const auto at = std::lower_bound(block_ranges_.begin(), block_ranges_.end(), n,
                                   [](const BlockRange& r, NodeId node) { return r.node < node; });
  if (at == block_ranges_.end() || at->node != n) return {};
  return {blocks_.data() + at->begin, at->count};
}

void Graph::set_blocks(NodeId n, std::span<const Block> blocks) {
  const std::vector<Block> copy(blocks.begin(), blocks.end());  // may be our own
  for (const Block& b : copy) {
    block_depth_ = std::max(block_depth_, b->block_depth() + 1);
    if (block_depth_ <= kMaxBlockDepth) continue;
    fail(NEF_LIMIT_EXCEEDED, "graph", cat("blocks are nested more than ", kMaxBlockDepth, " deep"));
  }
  const BlockRange range{n, static_cast<uint32_t>(blocks_.size()),
                         static_cast<uint32_t>(copy.size())};
  blocks_.insert(blocks_.end(), copy.begin(), copy.end());
  const auto at = std::lower_bound(block_ranges_.begin(), block_ranges_.end(), n,
                                   [](const BlockRange& r, NodeId node) { return r.node < node; });
  if (at != block_ranges_.end() && at->node == n) *at = range;
  else block_ranges_.insert(at, range);
}

void Graph::set_type(ValueId v, nef_dtype dtype, ShapeId shape) {
  values_[v].dtype = dtype;
  values_[v].shape = shape;
}

std::span<const Dim> Graph::content(ValueId v) const {
  if (!has_content(v)) return {};
  const auto [begin, count] = content_spans_[content_[v] - 1];
  return {content_pool_.data() + begin, count};
}

void Graph::set_content(ValueId v, std::span<const Dim> elements) {
  if (content_.size() <= v) content_.resize(value_count(), 0);
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
    case ValueDef::Input: return cat("input \"", std::string(input_name(def_index(v))), "\"");
    case ValueDef::Constant: return cat("constant ", def_index(v));
    case ValueDef::Node: break;
  }
  const NodeId n = def_index(v);
  return cat("output ", v - first_output(n), " of ", node_label(n));
}

std::string Graph::type_str(ValueId v) const {
  return cat(dtype_name(dtype(v)), " ", shape_str(dims(v), pool_));
}

}  // namespace nef::ir
