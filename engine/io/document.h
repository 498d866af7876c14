// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/io/json.h"
#include "engine/io/limits.h"
#include "engine/ir/graph.h"

namespace nef::io {

// A .nef text with names turned into numbers; what names refer to is settled by build_graph.
struct DocTensor {
  std::string name;
  uint32_t declaration = ir::kNone;  // into Document::declarations
  uint32_t maker = ir::kNone;        // node that makes it
  uint32_t maker_output = 0;
};

struct DocDeclaration {
  uint32_t tensor = 0;
  nef_dtype dtype = NEF_DTYPE_INVALID;
  JsonSpan shape_span;    // as written
  ir::ShapeId shape = 0;  // what ShapeReader made of it
  bool has_data = false;
  std::shared_ptr<ir::Buffer> inline_data;  // decoded, else the two below say where it is
  std::string file, key;                    // file "" = the bundle itself
};

struct DocBlock;

struct DocNode {
  std::string id;
  nef_op op = 0;
  uint32_t first_input = 0, n_inputs = 0;    // into Document::operands; kNone = absent
  uint32_t first_output = 0, n_outputs = 0;  // same; kNone = nobody wants it
  std::string device;
  std::vector<int64_t> attrs;
  std::vector<std::shared_ptr<DocBlock>> blocks;
};

struct DocOutput {
  std::string name;
  uint32_t tensor = 0;
};

struct DocEdge {
  std::string from, to;
};

struct Document {
  std::string label;   // of the file, for messages; of a block with where it is
  uint32_t depth = 0;  // blocks around this one
  const Limits* limits = &kLimits;
  std::vector<DocTensor> tensors;
  std::vector<DocDeclaration> declarations;
  std::vector<DocNode> nodes;
  std::vector<uint32_t> operands;
  bool has_inputs = false, has_outputs = false, has_edges = false;
  std::vector<uint32_t> inputs;
  std::vector<DocOutput> outputs;
  std::vector<DocEdge> edges;

  std::unordered_map<std::string, uint32_t> tensor_ids;
  uint32_t tensor(std::string_view name);

  [[noreturn]] void stop(nef_code code, const std::string& where, const std::string& what) const;
};

// A nested block: a document of its own, whose names are its own too.
struct DocBlock {
  Document doc;
  ir::Graph graph;
};

// Reads a scanned text, which has to outlive the document. Symbols and unknown keys go straight
// into `graph`, which is empty.
Document read_document(std::string_view text, const std::string& label, const Limits& limits,
                       ir::Graph& graph);

// The same for a block of `outer`: an object with graph, tensors and symbols.
Document read_block(JsonSpan span, const std::string& label, const Document& outer,
                    ir::Graph& graph);

// Key of Graph::extras: "/graph/nodes/<id>/<key>", parts escaped as in a JSON pointer.
std::string extras_path(std::initializer_list<std::string_view> parts);

// ---- parts of the reader

// Reads the elements of graph.nodes.
class NodeReader {
 public:
  NodeReader(Document& doc, ir::Graph& graph) : doc_(doc), graph_(graph) {}
  void read(JsonSpan span, size_t index);

 private:
  void read_field(const cJSON& field, DocNode& node);
  void read_operands(const cJSON& list, const char* what, uint32_t* first, uint32_t* count);
  void read_attrs(const cJSON* attrs, DocNode& node);
  void read_blocks(JsonSpan span, DocNode& node);
  void need_name(const char* part, std::string_view name) const;
  std::string where(const char* part) const;

  Document& doc_;
  ir::Graph& graph_;
  size_t index_ = 0;
};

// Reads shapes into the graph's pool of dims.
class ShapeReader {
 public:
  ShapeReader(const Document& doc, ir::Graph& graph) : doc_(doc), graph_(graph) {}
  // Names the symbols of a shape to the pool before any expression is made of them: which of two
  // equal dims is the older one then does not hang on where the file first mentions them.
  void name_symbols(const std::string& where, JsonSpan span);
  ir::ShapeId read(const std::string& where, JsonSpan span);

 private:
  ir::Dim read_dim(const std::string& where, JsonSpan span);
  ir::Dim parse_dim(const std::string& where, const std::string& text);

  const Document& doc_;
  ir::Graph& graph_;
  std::unordered_map<std::string, ir::Dim> dims_;
  std::unordered_set<std::string> named_;
};

// Name rules for strings of the file; `where` says which one.
void check_name(const Document& doc, const std::string& where, std::string_view name);

}  // namespace nef::io
