// SPDX-License-Identifier: Apache-2.0
#include "engine/io/document.h"

#include "engine/io/base64.h"
#include "engine/io/json_scan.h"
#include "engine/io/limits.h"
#include "engine/io/safe_path.h"
#include "engine/io/text.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

constexpr std::string_view kFormat = "graph-v1";

std::string indexed(const char* list, size_t i) { return cat(list, "[", i, "]"); }

class Reader {
 public:
  Reader(std::string_view text, Document& doc, ir::Graph& graph)
      : text_(text), doc_(doc), graph_(graph) {}

  // The parts may stand in any order in the file; they are read in the order they need each
  // other: bounds of symbols before dims, nodes before what refers to them.
  void run() {
    const bool block = doc_.depth > 0;
    if (!JsonSpan{text_}.is_object()) {
      doc_.stop(NEF_PARSE, block ? "the block" : "top level", "expected an object");
    }
    std::string key;
    JsonSpan value;
    for (JsonWalk walk({text_}); walk.next_member(&key, &value);) {
      if (block) block_member(key, value);
      else top_member(key, value);
    }
    if (!block) check_version();
    if (!graph_part_.is_object()) missing("graph", "an object");
    if (!tensors_.is_object()) missing("tensors", "an object");
    if (!symbols_.text.empty()) read_symbols();
    read_graph();
    read_tensors();
  }

 private:
  [[noreturn]] void missing(const char* key, const char* kind) const {
    doc_.stop(NEF_PARSE, key, cat("missing, or not ", kind));
  }

  void top_member(const std::string& key, JsonSpan value) {
    if (key == "version") version_ = string_of(key, value);
    else if (key == "nef_format") format_ = string_of(key, value);
    else if (key == "graph") graph_part_ = value;
    else if (key == "tensors") tensors_ = value;
    else if (key == "symbols") symbols_ = value;
    else if (key == "compiler_cache") read_cache_mode(key, value);
    else if (key == "target") string_of(key, value), keep({key}, value);
    else keep({key}, value);
  }

  void block_member(const std::string& key, JsonSpan value) {
    if (key == "graph") graph_part_ = value;
    else if (key == "tensors") tensors_ = value;
    else if (key == "symbols") symbols_ = value;
    else keep({key}, value);
  }

  std::string string_of(const std::string& where, JsonSpan value) const {
    if (!value.is_string()) doc_.stop(NEF_PARSE, where, "expected a string");
    return decode_json_string(value.text.substr(1, value.text.size() - 2));
  }

  std::string name_of(const std::string& where, JsonSpan value) const {
    std::string name = string_of(where, value);
    check_name(doc_, where, name);
    return name;
  }

  void keep(std::initializer_list<std::string_view> path, JsonSpan value) {
    graph_.extras()[extras_path(path)] = json_text(*parse_json(value));
  }

  void read_cache_mode(const std::string& key, JsonSpan value) {
    const std::string mode = string_of(key, value);
    if (mode != "embedded" && mode != "none") {
      doc_.stop(NEF_UNSUPPORTED, key, cat(in_quotes(mode), " is neither 'embedded' nor 'none'"));
    }
    keep({key}, value);
  }

  void check_version() const {
    if (version_.empty()) missing("version", "a version string");
    if (format_.empty()) missing("nef_format", "'graph-v1'");
    if (format_ != kFormat) {
      doc_.stop(NEF_UNSUPPORTED, "nef_format",
                cat(in_quotes(format_), "; this version of NEF reads 'graph-v1'"));
    }
    if (version_ != "1" && version_.compare(0, 2, "1.") != 0) {
      doc_.stop(NEF_UNSUPPORTED, "version",
                cat(in_quotes(version_), "; this version of NEF reads 1.x"));
    }
  }

  void read_symbols() {
    if (!symbols_.is_object()) missing("symbols", "an object");
    std::string name;
    JsonSpan value;
    size_t count = 0;
    for (JsonWalk walk(symbols_); walk.next_member(&name, &value);) {
      if (++count > doc_.limits->symbols) {
        doc_.stop(NEF_LIMIT_EXCEEDED, "symbols", cat("more than ", doc_.limits->symbols));
      }
      read_symbol(name, value);
    }
  }

  void read_symbol(const std::string& name, JsonSpan value) {
    const std::string where = cat("symbols ", in_quotes(name));
    check_name(doc_, where, name);
    int64_t lo = 0, hi = ir::kUnbounded;
    const JsonTree tree = parse_json(value);
    if (!cJSON_IsObject(tree.get())) doc_.stop(NEF_PARSE, where, "expected an object");
    for (const cJSON& field : JsonChildren(*tree)) {
      const std::string_view key = field.string;
      if (key == "min" || key == "max") {
        if (!json_int(field, key == "min" ? &lo : &hi)) {
          doc_.stop(NEF_PARSE, where, cat(field.string, " is not an integer"));
        }
      } else {
        graph_.extras()[extras_path({"symbols", name, key})] = json_text(field);
      }
    }
    try {
      graph_.pool().symbol(name, lo, hi);
    } catch (const Error& e) {
      doc_.stop(e.code(), where, e.message());
    }
  }

  void read_graph() {
    JsonSpan nodes, inputs, outputs, edges, value;
    std::string key;
    for (JsonWalk walk(graph_part_); walk.next_member(&key, &value);) {
      if (key == "nodes") nodes = value;
      else if (key == "inputs") inputs = value;
      else if (key == "outputs") outputs = value;
      else if (key == "edges") edges = value;
      else keep({"graph", key}, value);
    }
    if (!nodes.is_array()) missing("graph.nodes", "an array");
    NodeReader reader(doc_, graph_);
    for_each("graph.nodes", nodes, doc_.limits->nodes,
             [&](size_t i, JsonSpan node) { reader.read(node, i); });
    doc_.has_inputs = !inputs.text.empty();
    doc_.has_outputs = !outputs.text.empty();
    doc_.has_edges = !edges.text.empty();
    if (doc_.has_inputs) read_inputs(inputs);
    if (doc_.has_outputs) read_outputs(outputs);
    if (doc_.has_edges) read_edges(edges);
  }

  template <typename Each>
  void for_each(const char* list, JsonSpan span, size_t limit, Each each) const {
    if (!span.is_array()) missing(list, "an array");
    JsonSpan element;
    size_t i = 0;
    for (JsonWalk walk(span); walk.next_element(&element); ++i) {
      if (i == limit) doc_.stop(NEF_LIMIT_EXCEEDED, list, cat("more than ", limit, " entries"));
      each(i, element);
    }
  }

  void read_inputs(JsonSpan span) {
    for_each("graph.inputs", span, doc_.limits->tensors, [&](size_t i, JsonSpan element) {
      doc_.inputs.push_back(doc_.tensor(name_of(indexed("graph.inputs", i), element)));
    });
  }

  // A tensor name, or {"name": ..., "tensor": ...} when the output is called differently.
  void read_outputs(JsonSpan span) {
    for_each("graph.outputs", span, doc_.limits->tensors, [&](size_t i, JsonSpan element) {
      const std::string where = indexed("graph.outputs", i);
      if (!element.is_object()) {
        std::string name = name_of(where, element);
        const uint32_t tensor = doc_.tensor(name);
        doc_.outputs.push_back({std::move(name), tensor});
        return;
      }
      std::string name, tensor;
      fields(where, element, [&](const std::string& key, JsonSpan value) {
        if (key == "name") name = name_of(where + ".name", value);
        else if (key == "tensor") tensor = name_of(where + ".tensor", value);
        else doc_.stop(NEF_PARSE, where, cat("unknown key ", in_quotes(key)));
      });
      if (name.empty() || tensor.empty()) doc_.stop(NEF_PARSE, where, "needs name and tensor");
      const uint32_t id = doc_.tensor(tensor);
      doc_.outputs.push_back({std::move(name), id});
    });
  }

  void read_edges(JsonSpan span) {
    // Remembered, so that a file which lists its edges keeps doing so.
    graph_.extras()[extras_path({"graph", "edges"})] = "true";
    for_each("graph.edges", span, doc_.limits->tensors, [&](size_t i, JsonSpan element) {
      const std::string where = indexed("graph.edges", i);
      DocEdge edge;
      fields(where, element, [&](const std::string& key, JsonSpan value) {
        if (key == "from") edge.from = name_of(where + ".from", value);
        else if (key == "to") edge.to = name_of(where + ".to", value);
        else doc_.stop(NEF_PARSE, where, cat("unknown key ", in_quotes(key)));
      });
      if (edge.from.empty() || edge.to.empty()) doc_.stop(NEF_PARSE, where, "needs from and to");
      doc_.edges.push_back(std::move(edge));
    });
  }

  template <typename Each>
  void fields(const std::string& where, JsonSpan object, Each each) const {
    if (!object.is_object()) doc_.stop(NEF_PARSE, where, "expected an object");
    std::string key;
    JsonSpan value;
    for (JsonWalk walk(object); walk.next_member(&key, &value);) each(key, value);
  }

  void read_tensors() {
    std::string name;
    JsonSpan value;
    for (JsonWalk walk(tensors_); walk.next_member(&name, &value);) {
      const std::string where = cat("tensors ", in_quotes(name));
      if (doc_.declarations.size() == doc_.limits->tensors) {
        doc_.stop(NEF_LIMIT_EXCEEDED, "tensors", cat("more than ", doc_.limits->tensors));
      }
      check_name(doc_, where, name);
      DocDeclaration d;
      d.tensor = doc_.tensor(name);
      read_declaration(where, name, value, d);
      doc_.tensors[d.tensor].declaration = static_cast<uint32_t>(doc_.declarations.size());
      doc_.declarations.push_back(std::move(d));
    }
  }

  void read_declaration(const std::string& where, const std::string& name, JsonSpan value,
                        DocDeclaration& d) {
    JsonSpan data;
    fields(where, value, [&](const std::string& key, JsonSpan field) {
      if (key == "shape") {
        if (!field.is_array()) doc_.stop(NEF_PARSE, where, "shape is not an array");
        d.shape_span = field;
      } else if (key == "dtype") {
        const std::string text = string_of(where + ".dtype", field);
        d.dtype = ir::dtype_from_name(text);
        if (d.dtype == NEF_DTYPE_INVALID) {
          doc_.stop(NEF_UNSUPPORTED, where, cat("unknown dtype ", in_quotes(text)));
        }
      } else if (key == "data") {
        data = field;
      } else {
        keep({"tensors", name, key}, field);
      }
    });
    if (d.shape_span.text.empty()) doc_.stop(NEF_PARSE, where, "has no shape");
    if (d.dtype == NEF_DTYPE_INVALID) doc_.stop(NEF_PARSE, where, "has no dtype");
    if (!data.text.empty()) read_data(where + ".data", data, d);
  }

  void read_data(const std::string& where, JsonSpan span, DocDeclaration& d) {
    d.has_data = true;
    if (span.is_string()) return read_inline(where, span, d);
    fields(where, span, [&](const std::string& key, JsonSpan value) {
      if (key == "file") {
        d.file = string_of(where + ".file", value);
        if (const char* fault = path_fault(d.file)) {
          doc_.stop(NEF_UNSAFE_PATH, where, cat("data file ", in_quotes(d.file), " ", fault));
        }
      } else if (key == "name") {
        d.key = name_of(where + ".name", value);
      } else {
        doc_.stop(NEF_PARSE, where, cat("unknown key ", in_quotes(key)));
      }
    });
    if (d.key.empty()) doc_.stop(NEF_PARSE, where, "needs the name of a tensor in the data file");
  }

  void read_inline(const std::string& where, JsonSpan span, DocDeclaration& d) const {
    const std::string text = string_of(where, span);
    size_t bytes = 0;
    if (!base64_size(text, &bytes)) {
      doc_.stop(NEF_PARSE, where, "base64 text whose length is no multiple of 4");
    }
    if (bytes > doc_.limits->inline_bytes) {
      doc_.stop(NEF_LIMIT_EXCEEDED, where,
                cat(bytes, " bytes inline; at most ", doc_.limits->inline_bytes,
                    ", put them into a file"));
    }
    d.inline_data = ir::Buffer::allocate(bytes);
    const size_t bad = decode_base64(text, static_cast<std::byte*>(d.inline_data->data()));
    if (bad != std::string_view::npos) {
      doc_.stop(NEF_PARSE, where, cat("not base64 at character ", bad));
    }
  }

  std::string_view text_;
  Document& doc_;
  ir::Graph& graph_;
  std::string version_, format_;
  JsonSpan graph_part_, tensors_, symbols_;
};

}  // namespace

uint32_t Document::tensor(std::string_view name) {
  const auto [it, fresh] =
      tensor_ids.try_emplace(std::string(name), static_cast<uint32_t>(tensors.size()));
  if (fresh) {
    if (tensors.size() == limits->tensors) {
      stop(NEF_LIMIT_EXCEEDED, "graph", cat("more than ", limits->tensors, " tensors"));
    }
    tensors.emplace_back().name = name;
  }
  return it->second;
}

void Document::stop(nef_code code, const std::string& where, const std::string& what) const {
  fail(code, "load", cat(label, ": ", where, ": ", what));
}

void check_name(const Document& doc, const std::string& where, std::string_view name) {
  const char* fault = name_fault(name);
  if (fault == nullptr) return;
  const nef_code code = name.size() > kMaxNameBytes ? NEF_LIMIT_EXCEEDED : NEF_PARSE;
  doc.stop(code, where, cat("the name ", fault));
}

std::string extras_path(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) {
    out += '/';
    for (const char c : part) {
      if (c == '~') out += "~0";
      else if (c == '/') out += "~1";
      else out += c;
    }
  }
  return out;
}

Document read_block(JsonSpan span, const std::string& label, const Document& outer,
                    ir::Graph& graph) {
  Document doc;
  doc.label = label;
  doc.depth = outer.depth + 1;
  doc.limits = outer.limits;
  Reader(span.text, doc, graph).run();
  return doc;
}

Document read_document(std::string_view text, const std::string& label, const Limits& limits,
                       ir::Graph& graph) {
  const size_t begin = text.find_first_not_of(" \n\r\t");
  const size_t end = text.find_last_not_of(" \n\r\t");
  Document doc;
  doc.label = label;
  doc.limits = &limits;
  Reader(text.substr(begin, end - begin + 1), doc, graph).run();
  return doc;
}

}  // namespace nef::io
