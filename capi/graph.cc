// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "capi/handles.h"
#include "capi/options.h"
#include "capi/status.h"
#include "engine/io/describe.h"
#include "engine/io/nef.h"
#include "engine/ir/error.h"

using nef::capi::guard;
using nef::capi::InfoText;
using nef::capi::need;
using nef::capi::unwrap;
namespace build = nef::build;
namespace io = nef::io;
namespace ir = nef::ir;

namespace {

InfoText info_text(const ir::Graph& graph, ir::ValueId v, std::string_view name) {
  InfoText t;
  t.name = name;
  const ir::DimPool& pool = graph.pool();
  for (ir::Dim d : graph.dims(v)) {
    t.dims.push_back(ir::is_expr(d) ? -1 : d.number());
    t.lo.push_back(pool.lower(d));
    t.hi.push_back(pool.upper(d));
    t.dim_texts.push_back(pool.str(d));
  }
  for (const std::string& text : t.dim_texts) t.dim_names.push_back(text.c_str());
  return t;
}

nef_status* fill_info(const nef_graph* graph, const std::vector<InfoText> nef_graph::*list,
                      size_t index, std::span<const ir::ValueId> (ir::Graph::*values)() const,
                      const char* what, nef_tensor_info* out) {
  return guard("graph", [&] {
    need(graph, "graph", "the graph");
    need(out, "graph", "the out pointer");
    if (out->struct_size < sizeof(size_t) + sizeof(const char*)) {
      nef::fail(NEF_INVALID_ARGUMENT, "graph", "struct_size of the out struct is not set");
    }
    const auto& texts = graph->*list;
    if (index >= texts.size()) {
      nef::fail(NEF_OUT_OF_RANGE, "graph",
                nef::cat(what, " ", index, " of a graph with ", texts.size()));
    }
    const InfoText& t = texts[index];
    nef_tensor_info info{};
    info.struct_size = out->struct_size;
    info.name = t.name.c_str();
    info.dtype = graph->graph->dtype(((*graph->graph).*values)()[index]);
    info.rank = static_cast<uint32_t>(t.dims.size());
    info.dims = t.dims.data();
    info.dim_names = t.dim_names.data();
    info.dim_min = t.lo.data();
    info.dim_max = t.hi.data();
    std::memcpy(out, &info, std::min(out->struct_size, sizeof info));
  });
}

io::LoadOptions load_options(const nef_load_options* given) {
  nef_load_options o;
  nef_load_options_init(&o, sizeof o);
  nef::capi::read_options("load", given, &o);
  io::LoadOptions out;
  if (o.data_root != nullptr) out.data_root = o.data_root;
  return out;
}

}  // namespace

namespace nef::capi {

nef_graph* make_graph(std::shared_ptr<const ir::Graph> graph) {
  auto handle = std::make_unique<nef_graph>();
  for (size_t i = 0; i < graph->graph_inputs().size(); ++i) {
    handle->inputs.push_back(info_text(*graph, graph->graph_inputs()[i], graph->input_name(i)));
  }
  for (size_t i = 0; i < graph->graph_outputs().size(); ++i) {
    handle->outputs.push_back(info_text(*graph, graph->graph_outputs()[i], graph->output_name(i)));
  }
  handle->graph = std::move(graph);
  return handle.release();
}

}  // namespace nef::capi

void nef_load_options_init(nef_load_options* options, size_t struct_size) {
  nef::capi::init_options(options, struct_size, nef_load_options{});
}
void nef_save_options_init(nef_save_options* options, size_t struct_size) {
  nef::capi::init_options(options, struct_size, nef_save_options{});
}

namespace {

struct NamedOutputs {
  std::vector<build::LazyTensor*> tensors;
  std::vector<std::string> names;
};

NamedOutputs named_outputs(const nef_tensor* const* outputs, const char* const* names,
                           size_t count) {
  if (count == 0) nef::fail(NEF_INVALID_ARGUMENT, "graph", "a graph needs at least one output");
  need(outputs, "graph", "the list of outputs");
  need(names, "graph", "the list of output names");
  NamedOutputs out;
  for (size_t i = 0; i < count; ++i) {
    need(outputs[i], "graph", "an output");
    need(names[i], "graph", "an output's name");
    out.tensors.push_back(unwrap(outputs[i]));
    out.names.emplace_back(names[i]);
  }
  return out;
}

}  // namespace

nef_status* nef_graph_capture(const nef_tensor* const* outputs, const char* const* names,
                              size_t count, nef_graph** out) {
  return guard("graph", [&] {
    need(out, "graph", "the out pointer");
    const NamedOutputs o = named_outputs(outputs, names, count);
    build::Captured captured = build::capture(o.tensors, o.names, build::LeafMode::Constants);
    *out = nef::capi::make_graph(std::make_shared<const ir::Graph>(std::move(captured.graph)));
  });
}

nef_status* nef_graph_capture_inputs(const nef_tensor* const* inputs, size_t n_inputs,
                                     const nef_tensor* const* outputs, const char* const* names,
                                     size_t n_outputs, nef_graph** out) {
  return guard("graph", [&] {
    need(out, "graph", "the out pointer");
    const NamedOutputs o = named_outputs(outputs, names, n_outputs);
    if (n_inputs > 0) need(inputs, "graph", "the list of inputs");
    std::vector<build::LazyTensor*> ins;
    for (size_t i = 0; i < n_inputs; ++i) {
      need(inputs[i], "graph", "an input");
      ins.push_back(unwrap(inputs[i]));
    }
    build::Captured captured = build::capture(ins, o.tensors, o.names);
    *out = nef::capi::make_graph(std::make_shared<const ir::Graph>(std::move(captured.graph)));
  });
}

nef_status* nef_graph_load(const char* path, const nef_load_options* options, nef_graph** out) {
  return guard("load", [&] {
    need(path, "load", "the path");
    need(out, "load", "the out pointer");
    *out = nef::capi::make_graph(io::load_nef(path, load_options(options)));
  });
}

nef_status* nef_graph_load_bytes(const void* data, size_t size, const nef_load_options* options,
                                 nef_graph** out) {
  return guard("load", [&] {
    need(out, "load", "the out pointer");
    if (size > 0) need(data, "load", "the data");
    *out = nef::capi::make_graph(
        io::load_nef_bytes({static_cast<const std::byte*>(data), size}, load_options(options)));
  });
}

nef_status* nef_graph_save(const nef_graph* graph, const char* path,
                           const nef_save_options* options) {
  return guard("save", [&] {
    need(graph, "save", "the graph");
    need(path, "save", "the path");
    nef_save_options o;
    nef_save_options_init(&o, sizeof o);
    nef::capi::read_options("save", options, &o);
    io::SaveOptions save;
    save.bundle = o.bundle != 0;
    io::save_nef(*graph->graph, path, save);
  });
}

nef_graph* nef_graph_retain(nef_graph* graph) {
  if (graph != nullptr) graph->refs.fetch_add(1, std::memory_order_relaxed);
  return graph;
}
void nef_graph_release(nef_graph* graph) {
  if (graph != nullptr && graph->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete graph;
}

size_t nef_graph_input_count(const nef_graph* graph) {
  return graph == nullptr ? 0 : graph->inputs.size();
}
size_t nef_graph_output_count(const nef_graph* graph) {
  return graph == nullptr ? 0 : graph->outputs.size();
}
size_t nef_graph_node_count(const nef_graph* graph) {
  return graph == nullptr ? 0 : graph->graph->node_count();
}

nef_status* nef_graph_input(const nef_graph* graph, size_t index, nef_tensor_info* out) {
  return fill_info(graph, &nef_graph::inputs, index, &ir::Graph::graph_inputs, "input", out);
}
nef_status* nef_graph_output(const nef_graph* graph, size_t index, nef_tensor_info* out) {
  return fill_info(graph, &nef_graph::outputs, index, &ir::Graph::graph_outputs, "output", out);
}

nef_status* nef_graph_describe(const nef_graph* graph, char** out_json) {
  return guard("describe", [&] {
    need(graph, "describe", "the graph");
    need(out_json, "describe", "the out pointer");
    *out_json = nef::capi::copy_string(io::describe(*graph->graph));
  });
}
