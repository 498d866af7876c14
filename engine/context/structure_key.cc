// SPDX-License-Identifier: Apache-2.0
#include "engine/context/context.h"

namespace nef::context {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

template <typename T>
void append(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

void append_text(std::string& out, std::string_view text) {
  append(out, static_cast<uint32_t>(text.size()));
  out += text;
}

}  // namespace

std::string structure_key(const Graph& graph, bool with_data) {
  std::string key;
  key.reserve(64 * graph.node_count() + 64);
  append(key, static_cast<uint32_t>(graph.node_count()));
  append(key, static_cast<uint32_t>(graph.graph_inputs().size()));
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    append(key, static_cast<uint8_t>(graph.def(v)));
    append(key, static_cast<uint8_t>(graph.dtype(v)));
    append(key, static_cast<uint8_t>(graph.dims(v).size()));
    for (ir::Dim d : graph.dims(v)) append(key, d);
    if (!with_data || !graph.is_constant(v)) continue;
    const ir::Buffer& data = *graph.constant_data(v);
    append_text(key, {static_cast<const char*>(data.data()), data.bytes()});
  }
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    append(key, graph.op(n));
    append(key, static_cast<uint32_t>(graph.inputs(n).size()));
    for (ValueId v : graph.inputs(n)) append(key, v);
    append(key, graph.first_output(n));
    append(key, graph.output_count(n));
    const auto words = graph.attrs(n).words();
    append(key, static_cast<uint32_t>(words.size()));
    for (int64_t w : words) append(key, w);
    for (const Graph::Block& block : graph.blocks(n)) append_text(key, structure_key(*block));
    if (!graph.node_devices().empty()) append_text(key, graph.node_devices().get(n));
  }
  for (ValueId v : graph.graph_outputs()) append(key, v);
  return key;
}

}  // namespace nef::context
