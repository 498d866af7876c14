// SPDX-License-Identifier: Apache-2.0
// A graph as the JSON text of a .nef file.
#include "engine/io/nef_text.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/io/base64.h"
#include "engine/io/dim_name.h"
#include "engine/io/document.h"
#include "engine/io/json.h"
#include "engine/io/limits.h"
#include "engine/io/text.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

// What is in the safetensors part so far: of a graph and all blocks in it.
struct Store {
  const Limits& limits;
  std::vector<StTensor>* tensors;
  std::unordered_multimap<const void*, size_t> by_data;
  std::unordered_set<std::string> names;
};

class Writer {
 public:
  // `prefix` sets the stored tensors of a block apart from those of other blocks.
  Writer(const ir::Graph& graph, const Placement& placement, bool edges, Store* store,
         std::string prefix = {})
      : graph_(graph),
        placement_(placement),
        store_(store),
        prefix_(std::move(prefix)),
        names_(file_names(graph)),
        all_edges_(edges) {
    edges_ = edges || graph.extras().contains(extras_path({"graph", "edges"}));
  }

  std::string run() {
    check();
    out_ = "{\n  \"version\": \"1.0\",\n  \"nef_format\": \"graph-v1\",\n  ";
    write_parts();
    write_known("target", "\"auto\"");
    write_known("compiler_cache", "\"none\"");
    write_extras("/", ",\n  ");
    out_ += "\n}\n";
    check_size();
    return std::move(out_);
  }

  // As part of a node.
  std::string run_block() {
    check();
    out_ = "{\n  ";
    write_parts();
    write_extras("/", ",\n  ");
    out_ += "\n}";
    return std::move(out_);
  }

 private:
  void check() const {
    if (graph_.graph_outputs().empty()) {
      fail(NEF_INVALID_ARGUMENT, "save", "the graph has no outputs");
    }
    most("nodes", graph_.node_count(), store_->limits.nodes);
    most("tensors", graph_.value_count(), store_->limits.tensors);
  }

  static void most(const char* what, size_t count, size_t limit) {
    if (count <= limit) return;
    fail(NEF_LIMIT_EXCEEDED, "save",
         cat("the graph has ", count, " ", what, "; a file holds at most ", limit));
  }

  // Before the text takes more memory than any file may.
  void check_size() const {
    if (out_.size() <= store_->limits.json_bytes) return;
    fail(NEF_LIMIT_EXCEEDED, "save",
         cat("the graph needs more than ", store_->limits.json_bytes,
             " bytes of text, which is the most that can be read back"));
  }

  void write_parts() {
    out_ += "\"graph\": {\n";
    write_interface();
    write_nodes();
    if (edges_) write_edges();
    write_extras("/graph/", ",\n    ");
    out_ += "\n  },\n  \"tensors\": {";
    write_tensors();
    out_ += "}";
    write_symbols();
  }

  void string(std::string_view s) { append_json_string(out_, s); }

  // Elements between brackets or braces, each on its own line.
  void item(bool* first, const char* indent) {
    check_size();
    out_ += *first ? "\n" : ",\n";
    out_ += indent;
    *first = false;
  }

  // Unknown keys directly below `prefix`, in the order of their names.
  void write_extras(const std::string& prefix, const char* separator) {
    const auto& extras = graph_.extras();
    for (auto it = extras.lower_bound(prefix); it != extras.end(); ++it) {
      if (it->first.compare(0, prefix.size(), prefix) != 0) return;
      const std::string_view rest = std::string_view(it->first).substr(prefix.size());
      if (rest.find('/') != std::string_view::npos || is_known(it->first)) continue;
      out_ += separator;
      string(unescape(rest));
      out_ += ": " + it->second;
    }
  }

  bool is_known(std::string_view path) const {
    if (path == "/graph/edges") return true;
    return prefix_.empty() && (path == "/target" || path == "/compiler_cache");
  }

  static std::string unescape(std::string_view part) {
    std::string out;
    for (size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '~') out += part[i];
      else out += part[++i] == '0' ? '~' : '/';
    }
    return out;
  }

  void write_known(const char* key, const char* fallback) {
    const auto it = graph_.extras().find(cat("/", key));
    out_ +=
        cat(",\n  \"", key, "\": ", it == graph_.extras().end() ? fallback : it->second.c_str());
  }

  void write_interface() {
    out_ += "    \"inputs\": [";
    for (size_t i = 0; i < graph_.graph_inputs().size(); ++i) {
      if (i != 0) out_ += ", ";
      string(graph_.input_name(i));
    }
    out_ += "],\n    \"outputs\": [";
    for (size_t i = 0; i < graph_.graph_outputs().size(); ++i) {
      if (i != 0) out_ += ", ";
      write_output(graph_.output_name(i), names_.values[graph_.graph_outputs()[i]]);
    }
    out_ += "],\n    \"nodes\": [";
  }

  void write_output(std::string_view name, const std::string& tensor) {
    if (name == tensor) return string(name);
    out_ += "{\"name\": ";
    string(name);
    out_ += ", \"tensor\": ";
    string(tensor);
    out_ += '}';
  }

  void write_nodes() {
    bool first = true;
    for (ir::NodeId n = 0; n < graph_.node_count(); ++n) {
      item(&first, "      ");
      write_node(n);
    }
    out_ += first ? "]" : "\n    ]";
  }

  void write_node(ir::NodeId n) {
    const ir::OpSpec& spec = ir::spec(graph_.op(n));
    if (spec.internal) {
      fail(NEF_UNSUPPORTED, "save",
           cat(graph_.node_label(n),
               " is an op of the optimiser that no "
               "file holds; save the graph before it is optimised"));
    }
    check_node(n);
    out_ += "{\"id\": ";
    string(names_.nodes[n]);
    out_ += ", \"op\": \"";
    out_ += spec.snake;
    out_ += "\", \"inputs\": [";
    bool first = true;
    for (const ir::ValueId v : graph_.inputs(n)) {
      if (!first) out_ += ", ";
      first = false;
      string(v == ir::kNone ? std::string_view() : std::string_view(names_.values[v]));
    }
    out_ += ']';
    write_node_outputs(n);
    write_attrs(spec, graph_.attrs(n));
    if (const auto blocks = graph_.blocks(n); !blocks.empty()) write_blocks(n, blocks);
    if (const auto device = graph_.node_devices().get(n); !device.empty()) {
      out_ += ", \"preferred_device\": ";
      string(device);
    }
    if (!graph_.extras().empty()) {
      write_extras(extras_path({"graph", "nodes", names_.nodes[n]}) + "/", ", ");
    }
    out_ += '}';
  }

  void check_node(ir::NodeId n) const {
    const size_t limit = store_->limits.operands;
    const size_t count = std::max<size_t>(graph_.inputs(n).size(), graph_.output_count(n));
    if (count > limit) {
      fail(NEF_LIMIT_EXCEEDED, "save",
           cat("node ", in_quotes(names_.nodes[n]), " has ", count,
               graph_.output_count(n) == count ? " outputs" : " inputs", "; a file holds at most ",
               limit, " of one node"));
    }
    const auto device = graph_.node_devices().get(n);
    const char* fault = device.empty() ? nullptr : name_fault(device);
    if (fault == nullptr) return;
    fail(
        NEF_INVALID_ARGUMENT, "save",
        cat("the device ", in_quotes(device), " of node ", in_quotes(names_.nodes[n]), " ", fault));
  }

  // Recursion is bounded by how deep blocks are nested. Names have no raw line breaks, so all that
  // there are can be indented.
  void write_blocks(ir::NodeId n, std::span<const ir::Graph::Block> blocks) {
    out_ += ", \"blocks\": [";
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (b != 0) out_ += ", ";
      const std::string prefix = cat(prefix_, names_.nodes[n], "/", b, "/");
      const std::string text =
          Writer(*blocks[b], placement_, all_edges_, store_, prefix).run_block();
      for (const char c : text) {
        out_ += c;
        if (c == '\n') out_ += "        ";
      }
    }
    out_ += ']';
  }

  void write_node_outputs(ir::NodeId n) {
    if (graph_.output_count(n) == 1) {
      out_ += ", \"output\": ";
      return string(names_.values[graph_.output(n)]);
    }
    out_ += ", \"outputs\": [";
    for (uint32_t i = 0; i < graph_.output_count(n); ++i) {
      if (i != 0) out_ += ", ";
      string(names_.values[graph_.output(n, i)]);
    }
    out_ += ']';
  }

  void write_attrs(const ir::OpSpec& spec, const ir::Attrs& attrs) {
    bool first = true;
    for (unsigned i = 0; i < spec.n_attrs; ++i) {
      if (!attrs.has(i) || is_default(spec.attrs[i], attrs, i)) continue;
      out_ += first ? ", \"attrs\": {" : ", ";
      first = false;
      string(spec.attrs[i].name);
      out_ += ": ";
      write_attr(spec.attrs[i].type, attrs, i);
    }
    if (!first) out_ += '}';
  }

  // Defaults are part of the format for good, so they need not be written.
  static bool is_default(const ir::AttrSpec& spec, const ir::Attrs& attrs, unsigned slot) {
    if (!spec.has_default) return false;
    switch (spec.type) {
      case ir::AttrType::Int:
      case ir::AttrType::Bool:
      case ir::AttrType::DType: return attrs.i(slot) == spec.default_int;
      case ir::AttrType::Float: return attrs.f(slot) == spec.default_float;
      case ir::AttrType::String:
        return attrs.s(slot) == (spec.default_string == nullptr ? "" : spec.default_string);
      case ir::AttrType::Ints: return attrs.ints(slot).empty();
      case ir::AttrType::Floats: return attrs.floats(slot).empty();
    }
    return false;
  }

  void write_attr(ir::AttrType type, const ir::Attrs& attrs, unsigned slot) {
    switch (type) {
      case ir::AttrType::Int: return append_json_int(out_, attrs.i(slot));
      case ir::AttrType::Bool: return void(out_ += attrs.i(slot) != 0 ? "true" : "false");
      case ir::AttrType::DType:
        return string(ir::dtype_name(static_cast<nef_dtype>(attrs.i(slot))));
      case ir::AttrType::Float: return append_json_float(out_, attrs.f(slot));
      case ir::AttrType::String: return write_text_attr(attrs.s(slot));
      case ir::AttrType::Ints:
        return write_list(attrs.ints(slot), [&](int64_t v) { append_json_int(out_, v); });
      case ir::AttrType::Floats:
        return write_list(attrs.floats(slot), [&](double v) { append_json_float(out_, v); });
    }
  }

  void write_text_attr(std::string_view s) {
    const char* fault = text_fault(s);
    if (fault != nullptr) {
      fail(NEF_INVALID_ARGUMENT, "save", cat("the string attribute ", in_quotes(s), " ", fault));
    }
    string(s);
  }

  template <typename T, typename Each>
  void write_list(std::span<const T> list, Each each) {
    out_ += '[';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out_ += ", ";
      each(list[i]);
    }
    out_ += ']';
  }

  void write_edges() {
    out_ += ",\n    \"edges\": [";
    bool first = true;
    size_t edges = 0;
    std::vector<ir::NodeId> makers;
    for (ir::NodeId n = 0; n < graph_.node_count(); ++n) {
      makers.clear();
      for (const ir::ValueId v : graph_.inputs(n)) {
        const ir::NodeId m = v == ir::kNone ? ir::kNone : graph_.producer(v);
        if (m != ir::kNone) makers.push_back(m);
      }
      std::sort(makers.begin(), makers.end());
      makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
      edges += makers.size();
      most("edges", edges, store_->limits.tensors);
      for (const ir::NodeId m : makers) {
        item(&first, "      ");
        out_ += "{\"from\": ";
        string(names_.nodes[m]);
        out_ += ", \"to\": ";
        string(names_.nodes[n]);
        out_ += '}';
      }
    }
    out_ += first ? "]" : "\n    ]";
  }

  // Inputs, constants and outputs; types of the values between follow from the nodes.
  void write_tensors() {
    bool first = true;
    std::vector<bool> written(graph_.value_count(), false);
    const auto write = [&](ir::ValueId v) {
      if (written[v]) return;
      written[v] = true;
      item(&first, "    ");
      write_tensor(v);
    };
    for (const ir::ValueId v : graph_.graph_inputs()) write(v);
    for (size_t i = 0; i < graph_.constant_count(); ++i) write(graph_.constant_value(i));
    for (const ir::ValueId v : graph_.graph_outputs()) write(v);
    if (!graph_.extras().empty()) {
      for (ir::ValueId v = 0; v < graph_.value_count(); ++v) {
        if (has_extras(tensor_prefix(v))) write(v);
      }
    }
    if (!first) out_ += "\n  ";
  }

  std::string tensor_prefix(ir::ValueId v) const {
    return extras_path({"tensors", names_.values[v]}) + "/";
  }

  bool has_extras(const std::string& prefix) const {
    const auto it = graph_.extras().lower_bound(prefix);
    return it != graph_.extras().end() && it->first.compare(0, prefix.size(), prefix) == 0;
  }

  void write_tensor(ir::ValueId v) {
    string(names_.values[v]);
    out_ += ": {\"shape\": [";
    bool first = true;
    for (const ir::Dim d : graph_.dims(v)) {
      if (!first) out_ += ", ";
      first = false;
      write_dim(v, d);
    }
    out_ += cat("], \"dtype\": \"", ir::dtype_name(graph_.dtype(v)), "\"");
    if (graph_.is_constant(v)) write_data(v);
    if (!graph_.extras().empty()) write_extras(tensor_prefix(v), ", ");
    out_ += '}';
  }

  void write_dim(ir::ValueId v, ir::Dim d) {
    if (!ir::is_expr(d)) return append_json_int(out_, d.number());
    const bool input = graph_.def(v) == ir::ValueDef::Input;
    // Where inference knows less than a name, the file does not pretend to know more.
    if (!input && has_unknown(graph_.pool(), d)) return string("?");
    std::string text = dim_name(graph_.pool(), d);
    if (text.size() > kMaxDimText) {
      if (input) {
        fail(NEF_LIMIT_EXCEEDED, "save",
             cat("a dim of input ", in_quotes(names_.values[v]), " needs more than ", kMaxDimText,
                 " bytes as text"));
      }
      text = "?";  // inference finds it again
    }
    if (!input && !reads_back(text)) text = "?";
    string(text);
  }

  // An expression that inference made may be more than the parser takes.
  static bool reads_back(const std::string& text) {
    try {
      ir::DimPool().parse(text);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void write_data(ir::ValueId v) {
    const ir::Buffer& buffer = *graph_.constant_data(v);
    if (const char* fault = data_fault(graph_.dtype(v), buffer)) {
      fail(NEF_INVALID_ARGUMENT, "save",
           cat("constant ", in_quotes(names_.values[v]), ": ", fault));
    }
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(buffer.data()),
                                           buffer.bytes());
    out_ += ", \"data\": ";
    if (bytes.size() <= kInlineBytes || !placement_.store_large) return write_inline(v, bytes);
    out_ += '{';
    if (!placement_.file.empty()) {
      out_ += "\"file\": ";
      string(placement_.file);
      out_ += ", ";
    }
    out_ += "\"name\": ";
    string(store(v, buffer, bytes));
    out_ += '}';
  }

  void write_inline(ir::ValueId v, std::span<const std::byte> bytes) {
    const size_t limit = store_->limits.inline_bytes;
    if (bytes.size() > limit) {
      fail(NEF_LIMIT_EXCEEDED, "save",
           cat("constant ", in_quotes(names_.values[v]), " has ", bytes.size(),
               " bytes; plain JSON holds at most ", limit, " of one, save a bundle"));
    }
    out_ += '"';
    append_base64(out_, bytes);
    out_ += '"';
  }

  // Name in the container; constants that share their bytes share it.
  std::string store(ir::ValueId v, const ir::Buffer& buffer, std::span<const std::byte> bytes) {
    StTensor t{prefix_ + names_.values[v], st_dtype_name(graph_.dtype(v)), {}, bytes, &buffer};
    for (const int64_t n : ir::numbers(graph_.dims(v))) t.shape.push_back(n);
    const auto [begin, end] = store_->by_data.equal_range(bytes.data());
    for (auto it = begin; it != end; ++it) {
      const StTensor& have = (*store_->tensors)[it->second];
      if (have.data.size() == bytes.size() && have.shape == t.shape &&
          have.dtype_name == t.dtype_name) {
        return have.name;
      }
    }
    // With what stands before it the name of a block's tensor may get too long.
    const bool reserved = st_name_fault(t.name) != nullptr || t.name.starts_with(kReservedPrefix);
    if (reserved || store_->names.contains(t.name)) {
      t.name = cat(kReservedStore, store_->tensors->size());
    }
    store_->names.insert(t.name);
    store_->by_data.emplace(bytes.data(), store_->tensors->size());
    store_->tensors->push_back(std::move(t));
    return store_->tensors->back().name;
  }

  // In the order the graph came to know them: where inference may choose between two dims that
  // must be equal, it takes the older one, and a loaded graph should choose alike.
  void write_symbols() {
    bool first = true;
    size_t count = 0;
    for (uint32_t id = 0; id < graph_.pool().size(); ++id) {
      const auto& e = graph_.pool().expr(ir::DimPool::dim_of(id));
      if (e.kind != ir::DimPool::Kind::Symbol || e.name.empty()) continue;
      most("symbols", ++count, store_->limits.symbols);
      if (first) out_ += ",\n  \"symbols\": {";
      item(&first, "    ");
      write_symbol(e);
    }
    if (!first) out_ += "\n  }";
  }

  void write_symbol(const ir::DimPool::Expr& e) {
    if (const char* fault = name_fault(e.name)) {
      fail(NEF_INVALID_ARGUMENT, "save", cat("the name of dim ", in_quotes(e.name), " ", fault));
    }
    string(e.name);
    out_ += ": {\"min\": ";
    append_json_int(out_, e.lo);
    if (e.hi != ir::kUnbounded) {
      out_ += ", \"max\": ";
      append_json_int(out_, e.hi);
    }
    write_extras(extras_path({"symbols", e.name}) + "/", ", ");
    out_ += '}';
  }

  static constexpr const char* kReservedStore = "nef.tensor.";

  const ir::Graph& graph_;
  const Placement& placement_;
  Store* store_;
  const std::string prefix_;  // "" = not a block
  const FileNames names_;
  const bool all_edges_;
  bool edges_ = false;
  std::string out_;
};

}  // namespace

std::string nef_text(const ir::Graph& graph, const Placement& placement, bool edges,
                     const Limits& limits, std::vector<StTensor>* stored) {
  Store store{limits, stored, {}, {}};
  return Writer(graph, placement, edges, &store).run();
}

}  // namespace nef::io
