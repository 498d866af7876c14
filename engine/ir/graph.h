// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/array.h"
#include "engine/ir/attrs.h"
#include "engine/ir/buffer.h"
#include "engine/ir/dim.h"
#include "engine/ir/ops.h"
#include "engine/ir/shape.h"

namespace nef::ir {

using NodeId = uint32_t;
using ValueId = uint32_t;
constexpr uint32_t kNone = 0xffffffffu;

// Strings for a few of many ids, in one pool: no string object per node or value.
class NameTable {
 public:
  void set(uint32_t id, std::string_view name);
  std::string_view get(uint32_t id) const;  // "" when it has none
  bool empty() const { return pool_.empty(); }
  // Id `i` becomes to[i], which is not above i; kNone drops it.
  void renumber(std::span<const uint32_t> to);

 private:
  struct Entry {
    uint64_t begin = 0;
    uint32_t size = 0;
  };
  std::vector<Entry> entries_;
  std::string pool_;
};

// Blocks within blocks, at most.
constexpr uint32_t kMaxBlockDepth = 24;

enum class ValueDef : uint8_t { Input, Constant, Node };

// A dataflow graph as arrays of small records with 32-bit ids. Nodes are stored in topological
// order (an input of a node is a graph input, a constant, or an output of an earlier node); a pass
// may break the order while it works and restores it before it returns. The outputs of a node
// are consecutive values.
//
// Building: add_input / add_constant / add_node, then set_outputs. Types are given by the
// caller (build::Builder infers them). Once shared (shared_ptr<const Graph>) it is immutable
// and may be read from any thread.
class Graph {
 public:
  // ---- building
  ValueId add_input(std::string_view name, nef_dtype dtype, std::span<const Dim> dims);
  // `data` holds exactly the bytes of the static shape.
  ValueId add_constant(nef_dtype dtype, std::span<const Dim> dims, std::shared_ptr<Buffer> data);
  // Appends a node and its `types.size()` output values; returns the node.
  struct Type {
    nef_dtype dtype;
    ShapeId shape;
  };
  NodeId add_node(nef_op op, std::span<const ValueId> inputs, std::span<const int64_t> attr_words,
                  std::span<const Type> types);
  void add_output(std::string_view name, ValueId value);
  void clear_outputs();
  // Room for what is to come; a hint.
  struct Sizes {
    size_t nodes = 0, values = 0, node_inputs = 0, attr_words = 0, graph_inputs = 0;
  };
  void reserve(const Sizes& sizes);
  // Drops nodes that nothing needs, and constants that no node uses. Ids move down, the order
  // stays; graph inputs all stay. Returns whether there were any such nodes.
  bool compact();

  // ---- nodes
  size_t node_count() const { return op_.size(); }
  nef_op op(NodeId n) const { return op_[n]; }
  // May a node of that op be in the graph? Costs nothing; "yes" may be out of date.
  bool may_have(nef_op op) const {
    const auto bit = static_cast<uint32_t>(op) % (64 * kOpWords);
    return (ops_[bit / 64] >> (bit % 64) & 1u) != 0;
  }
  std::span<const ValueId> inputs(NodeId n) const {
    return {inputs_.data() + nodes_[n].in_begin, nodes_[n].in_count};
  }
  void set_input(NodeId n, size_t i, ValueId v);
  ValueId first_output(NodeId n) const { return nodes_[n].first_output; }
  uint32_t output_count(NodeId n) const { return nodes_[n].out_count; }
  ValueId output(NodeId n, uint32_t i = 0) const { return nodes_[n].first_output + i; }
  Attrs attrs(NodeId n) const {
    return Attrs({attr_words_.data() + nodes_[n].attr_begin, nodes_[n].attr_count});
  }
  // Replaces op, inputs and attributes of a node in place; its outputs keep their ids and types.
  void rewrite_node(NodeId n, nef_op op, std::span<const ValueId> inputs,
                    std::span<const int64_t> attr_words);

  // ---- values
  size_t value_count() const { return values_.size(); }
  nef_dtype dtype(ValueId v) const { return values_[v].dtype; }
  ShapeId shape_id(ValueId v) const { return values_[v].shape; }
  std::span<const Dim> dims(ValueId v) const { return shapes_.dims(values_[v].shape); }
  size_t rank(ValueId v) const { return shapes_.rank(values_[v].shape); }
  bool is_static(ValueId v) const { return shapes_.is_static(values_[v].shape); }
  ValueDef def(ValueId v) const { return static_cast<ValueDef>(values_[v].def >> 30); }
  bool is_constant(ValueId v) const { return def(v) == ValueDef::Constant; }
  // Node that makes it (ValueDef::Node), or index into graph inputs / constants.
  uint32_t def_index(ValueId v) const { return values_[v].def & 0x3fffffffu; }
  // How often nodes read it, plus how often it is a graph output.
  uint32_t uses(ValueId v) const { return values_[v].uses; }
  NodeId producer(ValueId v) const { return def(v) == ValueDef::Node ? def_index(v) : kNone; }
  void set_type(ValueId v, nef_dtype dtype, ShapeId shape);

  // Elements of a small integer value that are known symbolically (from Shape, arithmetic on
  // dims, or a constant); empty optional = unknown. Rank 0 or 1 only.
  bool has_content(ValueId v) const { return v < content_.size() && content_[v] != 0; }
  bool any_content() const { return !content_spans_.empty(); }
  std::span<const Dim> content(ValueId v) const;
  void set_content(ValueId v, std::span<const Dim> elements);

  // ---- blocks
  // What an If, Loop or Scan runs, as a range of the graph's blocks. A block is a graph of its own:
  // what it takes from outside are inputs of the node and of the block, so no pass can reach
  // across its border.
  using Block = std::shared_ptr<const Graph>;
  std::span<const Block> blocks(NodeId n) const;
  void set_blocks(NodeId n, std::span<const Block> blocks);
  bool has_blocks() const { return !block_ranges_.empty(); }
  // How deep blocks are nested; 0 = there are none.
  uint32_t block_depth() const { return block_depth_; }

  // ---- the outside
  std::span<const ValueId> graph_inputs() const { return input_values_; }
  std::span<const ValueId> graph_outputs() const { return output_values_; }
  void set_graph_output(size_t i, ValueId v);
  std::string_view input_name(size_t i) const { return input_names_.get(static_cast<uint32_t>(i)); }
  std::string_view output_name(size_t i) const {
    return output_names_.get(static_cast<uint32_t>(i));
  }
  const std::shared_ptr<Buffer>& constant_data(ValueId v) const { return constants_[def_index(v)]; }
  void set_constant_data(ValueId v, std::shared_ptr<Buffer> data) {
    constants_[def_index(v)] = std::move(data);
  }
  size_t constant_count() const { return constants_.size(); }
  ValueId constant_value(size_t i) const { return constant_values_[i]; }

  // ---- side tables
  DimPool& pool() { return pool_; }
  const DimPool& pool() const { return pool_; }
  ShapeTable& shapes() { return shapes_; }
  const ShapeTable& shapes() const { return shapes_; }
  NameTable& value_names() { return value_names_; }
  const NameTable& value_names() const { return value_names_; }
  NameTable& node_names() { return node_names_; }
  const NameTable& node_names() const { return node_names_; }
  // Device asked for by the author ("gpu", "cuda:1", ...), "" = planner's choice.
  NameTable& node_devices() { return node_devices_; }
  const NameTable& node_devices() const { return node_devices_; }
  // What a .nef file held that this version does not know, kept for the round trip:
  // JSON-pointer-like path -> JSON text.
  std::map<std::string, std::string>& extras() { return extras_; }
  const std::map<std::string, std::string>& extras() const { return extras_; }

  // "gelu_3 (gelu)" or "node 3 (gelu)": for messages.
  std::string node_label(NodeId n) const;
  // Name of a value, else "output 0 of node 3 (gelu)".
  std::string value_label(ValueId v) const;
  std::string type_str(ValueId v) const;  // "float32 [batch 384]"

 private:
  struct Node {
    uint32_t in_begin, in_count, first_output, out_count, attr_begin, attr_count;
  };
  struct Value {
    uint32_t def;  // ValueDef in the two top bits, index below
    ShapeId shape;
    uint32_t uses;
    nef_dtype dtype;
  };
  void note_op(nef_op op) {
    const auto bit = static_cast<uint32_t>(op) % (64 * kOpWords);
    ops_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  ValueId add_value(uint32_t def, nef_dtype dtype, ShapeId shape);
  void add_use(ValueId v) {
    if (v < values_.size()) ++values_[v].uses;
  }
  void drop_use(ValueId v) {
    if (v < values_.size()) --values_[v].uses;
  }
  size_t drop_dead_uses(Array<uint32_t>* new_id);
  void move_values(std::span<const uint32_t> new_node, Array<uint32_t>* new_id);
  void move_blocks(std::span<const uint32_t> new_node);
  void move_nodes(std::span<const uint32_t> new_node, std::span<const uint32_t> new_value);

  static constexpr int kOpWords = 8;
  uint64_t ops_[kOpWords] = {};  // ops that were ever here, modulo 512
  Array<uint16_t> op_;
  Array<Node> nodes_;
  Array<ValueId> inputs_;
  Array<int64_t> attr_words_;
  Array<Value> values_;
  std::vector<uint32_t> content_;  // per value: index + 1 into content_spans_
  std::vector<std::pair<uint32_t, uint32_t>> content_spans_;
  std::vector<Dim> content_pool_;
  // outside
  Array<ValueId> input_values_, output_values_, constant_values_;
  NameTable input_names_, output_names_;
  std::vector<std::shared_ptr<Buffer>> constants_;
  struct BlockRange {
    NodeId node;
    uint32_t begin, count;
  };
  std::vector<BlockRange> block_ranges_;  // ascending nodes
  std::vector<Block> blocks_;
  uint32_t block_depth_ = 0;

  DimPool pool_;
  ShapeTable shapes_;
  NameTable value_names_, node_names_, node_devices_;
  std::map<std::string, std::string> extras_;
};

}  // namespace nef::ir
