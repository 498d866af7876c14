// SPDX-License-Identifier: Apache-2.0
#include <cjson/cJSON.h>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "engine/compile/region_desc.h"
#include "engine/ir/buffer.h"
#include "engine/ir/error.h"
#include "engine/runtime/program.h"

namespace nef::runtime {

namespace {

using Json = std::unique_ptr<cJSON, void (*)(cJSON*)>;

std::string print(const Json& json) {
  const std::unique_ptr<char, void (*)(void*)> text(cJSON_PrintUnformatted(json.get()), cJSON_free);
  if (text == nullptr) fail(NEF_OUT_OF_MEMORY, "report", "no memory for the report's text");
  return text.get();
}

void add(cJSON* object, const char* key, const std::string& value) {
  cJSON_AddStringToObject(object, key, value.c_str());
}

double region_bytes(const ir::Graph& graph, std::span<const ir::NodeId> nodes) {
  double bytes = plan::value_bytes(graph, graph.output(nodes.back()));
  for (ir::NodeId n : nodes) {
    for (ir::ValueId v : graph.inputs(n)) {
      const ir::NodeId producer = v == ir::kNone ? ir::kNone : graph.producer(v);
      const bool inside =
          producer != ir::kNone && std::find(nodes.begin(), nodes.end(), producer) != nodes.end();
      if (v != ir::kNone && !inside) bytes += plan::value_bytes(graph, v);
    }
  }
  return bytes;
}

cJSON* regions_json(const compile::Program& p);

cJSON* region_json(const compile::Program& p, uint32_t r) {
  const ir::Graph& graph = *p.graph;
  const auto nodes = p.regions.nodes_of(p.regions.list[r]);
  cJSON* out = cJSON_CreateObject();
  std::string ops;
  for (ir::NodeId n : nodes)
    ops += (ops.empty() ? "" : "+") + std::string(ir::spec(graph.op(n)).snake);
  add(out, "ops", ops);
  add(out, "node", graph.node_label(nodes.back()));
  add(out, "type", graph.type_str(graph.output(nodes.back())));
  const bool host = p.placement.reason[r] == plan::Reason::HostWork ||
                    p.placement.reason[r] == plan::Reason::View ||
                    p.placement.reason[r] == plan::Reason::Blocks;
  add(out, "device", host ? "host" : p.devices[p.placement.device[r]]->name);
  std::string why = plan::reason_text(p.placement.reason[r]);
  if (const auto it = p.placement.detail.find(r); it != p.placement.detail.end()) {
    why += ": " + it->second;
  }
  add(out, "why", why);
  cJSON_AddNumberToObject(out, "flops", plan::region_flops(graph, nodes));
  cJSON_AddNumberToObject(out, "bytes", region_bytes(graph, nodes));
  add(out, "kernel", p.prepared[r] == nullptr ? "" : p.prepared[r]->kernel().name());
  if (const auto it = p.blocks.find(r); it != p.blocks.end()) {
    cJSON* blocks = cJSON_AddArrayToObject(out, "blocks");
    for (const auto& block : it->second) cJSON_AddItemToArray(blocks, regions_json(*block));
  }
  return out;
}

// Recursion is bounded by how deep blocks are nested.
cJSON* regions_json(const compile::Program& p) {
  cJSON* regions = cJSON_CreateArray();
  for (uint32_t r = 0; r < p.regions.list.size(); ++r) {
    cJSON_AddItemToArray(regions, region_json(p, r));
  }
  return regions;
}

using Buffers = std::unordered_set<const ir::Buffer*>;

// Constants of a graph and of its blocks, which are nested only so deep.
void add_constants(const ir::Graph& graph, Buffers& out) {
  for (size_t i = 0; i < graph.constant_count(); ++i) {
    out.insert(graph.constant_data(graph.constant_value(i)).get());
  }
  for (ir::NodeId n = 0; graph.has_blocks() && n < graph.node_count(); ++n) {
    for (const ir::Graph::Block& block : graph.blocks(n)) add_constants(*block, out);
  }
}

// Of constants that the optimiser made: they take memory as long as the program does.
double computed_bytes(const compile::Program& p) {
  Buffers given, now;
  add_constants(*p.source, given);
  add_constants(*p.graph, now);
  double bytes = 0;
  for (const ir::Buffer* buffer : now) {
    if (!given.contains(buffer)) bytes += static_cast<double>(buffer->bytes());
  }
  for (const auto& [region, blocks] : p.blocks) {
    for (const auto& block : blocks) bytes += computed_bytes(*block);
  }
  return bytes;
}

}  // namespace

std::string plan_json(const compile::Program& p, const Binding* binding) {
  const Json root(cJSON_CreateObject(), cJSON_Delete);
  cJSON_AddItemToObject(root.get(), "regions", regions_json(p));
  cJSON_AddNumberToObject(root.get(), "nodes", static_cast<double>(p.graph->node_count()));
  cJSON_AddNumberToObject(root.get(), "source_nodes", static_cast<double>(p.source->node_count()));
  cJSON_AddNumberToObject(root.get(), "transfers", p.transfer_count);
  cJSON_AddNumberToObject(root.get(), "packed_bytes", static_cast<double>(p.packed_bytes));
  cJSON_AddNumberToObject(root.get(), "computed_bytes", computed_bytes(p));
  if (binding == nullptr) return print(root);
  double arena = 0, sum = 0;
  cJSON* arenas = cJSON_AddArrayToObject(root.get(), "arenas");
  for (const Binding::Space& s : binding->spaces) {
    cJSON* a = cJSON_CreateObject();
    add(a, "device", s.device->name);
    cJSON_AddNumberToObject(a, "bytes", static_cast<double>(s.arena_bytes));
    cJSON_AddNumberToObject(a, "sum_of_values", static_cast<double>(s.sum_bytes));
    cJSON_AddItemToArray(arenas, a);
    arena += static_cast<double>(s.arena_bytes);
    sum += static_cast<double>(s.sum_bytes);
  }
  cJSON_AddNumberToObject(root.get(), "arena_bytes", arena);
  cJSON_AddNumberToObject(root.get(), "sum_of_values", sum);
  return print(root);
}

std::string events_json(const std::vector<compile::Event>& events) {
  const Json root(cJSON_CreateArray(), cJSON_Delete);
  for (const compile::Event& e : events) {
    cJSON* item = cJSON_CreateObject();
    add(item, "what", e.what);
    add(item, "why", e.why);
    add(item, "from", e.from);
    add(item, "to", e.to);
    cJSON_AddItemToArray(root.get(), item);
  }
  return print(root);
}

}  // namespace nef::runtime
