// SPDX-License-Identifier: Apache-2.0
#include "engine/io/describe.h"

#include <cjson/cJSON.h>

#include <memory>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::io {

using ir::AttrType;
using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

using Json = std::unique_ptr<cJSON, void (*)(cJSON*)>;

// Appends and checks (cJSON keeps the tail, so an append is O(1)).
class Array {
 public:
  explicit Array(cJSON* array) : array_(array) {}
  void push(cJSON* item) {
    if (item == nullptr) fail(NEF_OUT_OF_MEMORY, "describe", "no memory for the description");
    cJSON_AddItemToArray(array_, item);
  }
  void push(const std::string& text) { push(cJSON_CreateString(text.c_str())); }

 private:
  cJSON* array_;
};

std::string value_name(const Graph& graph, ValueId v) {
  if (v == ir::kNone) return "";
  const std::string_view name = graph.value_names().get(v);
  if (!name.empty()) return std::string(name);
  if (graph.def(v) == ir::ValueDef::Input) return std::string(graph.input_name(graph.def_index(v)));
  return cat("%", v);
}

cJSON* value_json(const Graph& graph, ValueId v, std::string_view name) {
  cJSON* out = cJSON_CreateObject();
  cJSON_AddStringToObject(out, "name", std::string(name).c_str());
  cJSON_AddStringToObject(out, "value", value_name(graph, v).c_str());
  cJSON_AddStringToObject(out, "dtype", ir::dtype_name(graph.dtype(v)));
  Array dims(cJSON_AddArrayToObject(out, "shape"));
  for (ir::Dim d : graph.dims(v)) dims.push(graph.pool().str(d));
  if (graph.is_constant(v)) {
    cJSON_AddNumberToObject(out, "bytes", static_cast<double>(graph.constant_data(v)->bytes()));
  }
  return out;
}

cJSON* attr_json(const ir::Attrs& attrs, unsigned slot, AttrType type) {
  switch (type) {
    case AttrType::Int: return cJSON_CreateNumber(static_cast<double>(attrs.i(slot)));
    case AttrType::Float: return cJSON_CreateNumber(attrs.f(slot));
    case AttrType::Bool: return cJSON_CreateBool(attrs.i(slot) != 0);
    case AttrType::String: return cJSON_CreateString(std::string(attrs.s(slot)).c_str());
    case AttrType::DType:
      return cJSON_CreateString(ir::dtype_name(static_cast<nef_dtype>(attrs.i(slot))));
    case AttrType::Ints: {
      cJSON* out = cJSON_CreateArray();
      for (int64_t v : attrs.ints(slot)) {
        cJSON_AddItemToArray(out, cJSON_CreateNumber(static_cast<double>(v)));
      }
      return out;
    }
    case AttrType::Floats: {
      cJSON* out = cJSON_CreateArray();
      for (double v : attrs.floats(slot)) cJSON_AddItemToArray(out, cJSON_CreateNumber(v));
      return out;
    }
  }
  return cJSON_CreateNull();
}

cJSON* graph_json(const Graph& graph);

cJSON* node_json(const Graph& graph, NodeId n) {
  const ir::OpSpec& s = ir::spec(graph.op(n));
  cJSON* out = cJSON_CreateObject();
  cJSON_AddStringToObject(out, "op", s.snake);
  cJSON_AddStringToObject(out, "name", std::string(graph.node_names().get(n)).c_str());
  Array inputs(cJSON_AddArrayToObject(out, "inputs"));
  for (ValueId v : graph.inputs(n)) inputs.push(value_name(graph, v));
  Array outputs(cJSON_AddArrayToObject(out, "outputs"));
  for (uint32_t i = 0; i < graph.output_count(n); ++i) {
    outputs.push(value_json(graph, graph.output(n, i), ""));
  }
  cJSON* attrs = cJSON_AddObjectToObject(out, "attrs");
  for (unsigned slot = 0; slot < s.n_attrs; ++slot) {
    if (!graph.attrs(n).has(slot)) continue;
    cJSON_AddItemToObject(attrs, s.attrs[slot].name,
                          attr_json(graph.attrs(n), slot, s.attrs[slot].type));
  }
  const std::string_view device = graph.node_devices().get(n);
  if (!device.empty())
    cJSON_AddStringToObject(out, "preferred_device", std::string(device).c_str());
  if (const auto held = graph.blocks(n); !held.empty()) {
    Array blocks(cJSON_AddArrayToObject(out, "blocks"));
    for (const Graph::Block& block : held) blocks.push(graph_json(*block));
  }
  return out;
}

// Recursion is bounded by how deep blocks are nested.
cJSON* graph_json(const Graph& graph) {
  Json root(cJSON_CreateObject(), cJSON_Delete);
  Array inputs(cJSON_AddArrayToObject(root.get(), "inputs"));
  for (size_t i = 0; i < graph.graph_inputs().size(); ++i) {
    inputs.push(value_json(graph, graph.graph_inputs()[i], graph.input_name(i)));
  }
  Array outputs(cJSON_AddArrayToObject(root.get(), "outputs"));
  for (size_t i = 0; i < graph.graph_outputs().size(); ++i) {
    outputs.push(value_json(graph, graph.graph_outputs()[i], graph.output_name(i)));
  }
  Array constants(cJSON_AddArrayToObject(root.get(), "constants"));
  for (size_t i = 0; i < graph.constant_count(); ++i) {
    const ValueId v = graph.constant_value(i);
    constants.push(value_json(graph, v, value_name(graph, v)));
  }
  Array nodes(cJSON_AddArrayToObject(root.get(), "nodes"));
  for (NodeId n = 0; n < graph.node_count(); ++n) nodes.push(node_json(graph, n));
  return root.release();
}

}  // namespace

std::string describe(const Graph& graph) {
  const Json root(graph_json(graph), cJSON_Delete);
  const std::unique_ptr<char, void (*)(void*)> text(cJSON_PrintUnformatted(root.get()), cJSON_free);
  if (text == nullptr) fail(NEF_OUT_OF_MEMORY, "describe", "no memory for the description");
  return text.get();
}

}  // namespace nef::io
