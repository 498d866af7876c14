// SPDX-License-Identifier: Apache-2.0
// One node of a .nef file: op, operands, attributes.
#include <vector>

#include "engine/io/document.h"
#include "engine/io/limits.h"
#include "engine/io/text.h"
#include "engine/ir/attrs.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/ir/ops.h"

namespace nef::io {
namespace {

// Reads one attribute into the builder; nullptr when it fits, else what was expected.
const char* read_attr(const cJSON& value, const ir::AttrSpec& spec, unsigned slot,
                      ir::AttrBuilder& out) {
  int64_t i = 0;
  double f = 0;
  switch (spec.type) {
    case ir::AttrType::Int:
      if (!json_int(value, &i)) return "an integer";
      out.set_int(slot, i);
      return nullptr;
    case ir::AttrType::Bool:
      if (!cJSON_IsBool(&value)) return "true or false";
      out.set_int(slot, cJSON_IsTrue(&value) ? 1 : 0);
      return nullptr;
    case ir::AttrType::Float:
      if (!json_float(value, &f)) return "a number, 'NaN', 'Infinity' or '-Infinity'";
      out.set_float(slot, f);
      return nullptr;
    case ir::AttrType::String:
      if (!cJSON_IsString(&value)) return "a string";
      out.set_string(slot, value.valuestring);
      return nullptr;
    case ir::AttrType::DType: {
      const nef_dtype t =
          cJSON_IsString(&value) ? ir::dtype_from_name(value.valuestring) : NEF_DTYPE_INVALID;
      if (t == NEF_DTYPE_INVALID) return "the name of a dtype";
      out.set_int(slot, t);
      return nullptr;
    }
    case ir::AttrType::Ints: {
      if (!cJSON_IsArray(&value)) return "a list of integers";
      std::vector<int64_t> list;
      for (const cJSON& e : JsonChildren(value)) {
        if (!json_int(e, &i)) return "a list of integers";
        list.push_back(i);
      }
      out.set_ints(slot, list);
      return nullptr;
    }
    case ir::AttrType::Floats: {
      if (!cJSON_IsArray(&value)) return "a list of numbers";
      std::vector<double> list;
      for (const cJSON& e : JsonChildren(value)) {
        if (!json_float(e, &f)) return "a list of numbers";
        list.push_back(f);
      }
      out.set_floats(slot, list);
      return nullptr;
    }
  }
  return "nothing";
}

std::string attr_names(const ir::OpSpec& spec) {
  if (spec.n_attrs == 0) return "it has none";
  std::string out = "it has ";
  for (unsigned i = 0; i < spec.n_attrs; ++i) {
    if (i != 0) out += ", ";
    out += spec.attrs[i].name;
  }
  return out;
}

bool find_slot(const ir::OpSpec& spec, std::string_view name, unsigned* out) {
  for (unsigned i = 0; i < spec.n_attrs; ++i) {
    if (name != spec.attrs[i].name) continue;
    *out = i;
    return true;
  }
  return false;
}

}  // namespace

std::string NodeReader::where(const char* part) const {
  return cat("graph.nodes[", index_, "]", part);
}

// The place is only put into words when there is something to say: this runs for every name.
void NodeReader::need_name(const char* part, std::string_view name) const {
  if (name_fault(name) != nullptr) check_name(doc_, cat(where(" "), part), name);
}

void NodeReader::read(JsonSpan span, size_t index) {
  index_ = index;
  if (!span.is_object()) doc_.stop(NEF_PARSE, where(""), "expected an object");
  JsonSpan blocks;
  const JsonTree tree = parse_json_without(span, "blocks", &blocks);
  DocNode node;
  const cJSON *attrs = nullptr, *output = nullptr, *outputs = nullptr;
  std::vector<const cJSON*> unknown;
  for (const cJSON& field : JsonChildren(*tree)) {
    const std::string_view key = field.string;
    if (key == "attrs") attrs = &field;
    else if (key == "output") output = &field;
    else if (key == "outputs") outputs = &field;
    else if (key == "blocks") continue;
    else if (key == "id" || key == "op" || key == "inputs" || key == "preferred_device") {
      read_field(field, node);
    } else {
      unknown.push_back(&field);
    }
  }
  if (node.id.empty()) doc_.stop(NEF_PARSE, where(""), "has no id");
  if (node.op == 0) doc_.stop(NEF_PARSE, where(""), "has no op");
  if ((output == nullptr) == (outputs == nullptr)) {
    doc_.stop(NEF_PARSE, where(""), "needs either output or outputs");
  }
  if (output != nullptr) {
    if (!cJSON_IsString(output)) doc_.stop(NEF_PARSE, where(".output"), "expected a string");
    need_name(".output", output->valuestring);
    node.first_output = static_cast<uint32_t>(doc_.operands.size());
    node.n_outputs = 1;
    doc_.operands.push_back(doc_.tensor(output->valuestring));
  } else {
    read_operands(*outputs, ".outputs", &node.first_output, &node.n_outputs);
    if (node.n_outputs == 0) doc_.stop(NEF_PARSE, where(".outputs"), "is empty");
  }
  read_attrs(attrs, node);
  if (!blocks.text.empty()) read_blocks(blocks, node);
  for (const cJSON* field : unknown) {
    graph_.extras()[extras_path({"graph", "nodes", node.id, field->string})] = json_text(*field);
  }
  doc_.nodes.push_back(std::move(node));
}

void NodeReader::read_field(const cJSON& field, DocNode& node) {
  const std::string_view key = field.string;
  if (key == "inputs") return read_operands(field, ".inputs", &node.first_input, &node.n_inputs);
  if (!cJSON_IsString(&field)) {
    doc_.stop(NEF_PARSE, cat(where("."), field.string),
              cat("expected a string, got ", json_kind(field)));
  }
  const std::string_view value = field.valuestring;
  need_name(field.string, value);
  if (key == "id") {
    node.id = value;
  } else if (key == "preferred_device") {
    node.device = value;
  } else {
    node.op = ir::find_op(value);
    if (node.op != 0 && !ir::spec(node.op).internal) return;
    const std::string near = ir::nearest_op(value);
    doc_.stop(NEF_UNKNOWN_OP, where(".op"),
              cat("unknown op ", in_quotes(value),
                  near.empty() ? std::string() : cat("; did you mean '", near, "'?")));
  }
}

void NodeReader::read_operands(const cJSON& list, const char* what, uint32_t* first,
                               uint32_t* count) {
  if (!cJSON_IsArray(&list)) doc_.stop(NEF_PARSE, where(what), "expected a list of tensor names");
  *first = static_cast<uint32_t>(doc_.operands.size());
  for (const cJSON& item : JsonChildren(list)) {
    if (!cJSON_IsString(&item))
      doc_.stop(NEF_PARSE, where(what), "expected a list of tensor names");
    if (*count == doc_.limits->operands) {
      doc_.stop(NEF_LIMIT_EXCEEDED, where(what), cat("more than ", doc_.limits->operands));
    }
    ++*count;
    const std::string_view name = item.valuestring;
    if (name.empty()) {
      doc_.operands.push_back(ir::kNone);
      continue;
    }
    need_name(what, name);
    doc_.operands.push_back(doc_.tensor(name));
  }
}

void NodeReader::read_blocks(JsonSpan span, DocNode& node) {
  const ir::OpSpec& spec = ir::spec(node.op);
  if (spec.n_blocks == 0) {
    doc_.stop(NEF_INVALID_ARGUMENT, where(".blocks"), cat(spec.snake, " holds no blocks"));
  }
  if (!span.is_array()) doc_.stop(NEF_PARSE, where(".blocks"), "expected a list of blocks");
  // Reading a block calls this again for what is nested in it.
  if (doc_.depth == doc_.limits->block_depth) {
    doc_.stop(NEF_LIMIT_EXCEEDED, where(".blocks"),
              cat("blocks are nested more than ", doc_.limits->block_depth, " deep"));
  }
  JsonSpan element;
  for (JsonWalk walk(span); walk.next_element(&element);) {
    const std::string label = cat(doc_.label, ": ", where(".blocks["), node.blocks.size(), "]");
    if (node.blocks.size() == spec.n_blocks) {
      doc_.stop(NEF_INVALID_ARGUMENT, where(".blocks"),
                cat(spec.snake, " holds ", spec.n_blocks + 0, " blocks, there are more"));
    }
    auto block = std::make_shared<DocBlock>();
    block->doc = read_block(element, label, doc_, block->graph);
    node.blocks.push_back(std::move(block));
  }
}

void NodeReader::read_attrs(const cJSON* attrs, DocNode& node) {
  const ir::OpSpec& spec = ir::spec(node.op);
  if (attrs != nullptr && !cJSON_IsObject(attrs)) {
    doc_.stop(NEF_PARSE, where(".attrs"), "expected an object");
  }
  if (spec.n_attrs == 0 && (attrs == nullptr || attrs->child == nullptr)) return;
  try {
    ir::AttrBuilder builder(node.op);
    if (attrs != nullptr) {
      for (const cJSON& value : JsonChildren(*attrs)) {
        unsigned slot = 0;
        if (!find_slot(spec, value.string, &slot)) {
          doc_.stop(NEF_INVALID_ARGUMENT, where(".attrs"),
                    cat(spec.snake, " has no attribute ", in_quotes(value.string), "; ",
                        attr_names(spec)));
        }
        if (const char* wanted = read_attr(value, spec.attrs[slot], slot, builder)) {
          doc_.stop(NEF_PARSE, cat(where(".attrs."), value.string),
                    cat("expected ", wanted, ", got ", json_kind(value)));
        }
      }
    }
    node.attrs = builder.build();
  } catch (const Error& e) {
    if (e.op() == "load") throw;
    doc_.stop(e.code(), where(".attrs"), e.message());
  }
}

}  // namespace nef::io
