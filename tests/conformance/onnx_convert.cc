// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/onnx_convert.h"

#include <algorithm>
#include <stdexcept>

#include "engine/ir/ops.h"

namespace nef::conformance::onnx {
namespace {

bool starts_with(const std::string& s, const char* prefix) { return s.rfind(prefix, 0) == 0; }

// An ONNX node on its way to ours. Rules take away the attributes that they turn into inputs.
struct Work {
  nef_op op;
  const Node& node;
  int64_t opset;
  std::vector<Attribute> attributes;
  std::vector<Tensor> inputs;
  size_t n_outputs;
  std::string skip;

  const Attribute* find(const std::string& name) const {
    for (const Attribute& a : attributes) {
      if (a.name == name) return &a;
    }
    return nullptr;
  }
  void remove(const std::string& name) {
    std::erase_if(attributes, [&](const Attribute& a) { return a.name == name; });
  }
  void set_input(size_t i, Tensor t) {
    if (inputs.size() <= i) inputs.resize(i + 1);
    inputs[i] = std::move(t);
  }
  // An attribute of numbers that became input i.
  void ints_to_input(const std::string& name, size_t i) {
    if (const Attribute* a = find(name)) {
      set_input(i, ints(a->ints));
      remove(name);
    }
  }
  void float_to_input(const std::string& name, size_t i) {
    if (const Attribute* a = find(name)) {
      set_input(i, scalar(inputs[0].dtype, static_cast<double>(a->f)));
      remove(name);
    }
  }
};

void convert_slice(Work& w) {
  w.ints_to_input("starts", 1);
  w.ints_to_input("ends", 2);
  w.ints_to_input("axes", 3);
}

void convert_split(Work& w) {
  w.ints_to_input("split", 1);
  const bool sized = w.inputs.size() > 1 && w.inputs[1].dtype != NEF_DTYPE_INVALID;
  if (sized || w.find("num_outputs") != nullptr) return;
  Attribute count;
  count.name = "num_outputs";
  count.i = static_cast<int64_t>(w.n_outputs);
  w.attributes.push_back(count);
}

void convert_resize(Work& w) {
  // An empty tensor stood for an absent input before it could be left out.
  for (size_t i = 1; i < w.inputs.size(); ++i) {
    if (w.inputs[i].dtype != NEF_DTYPE_INVALID && w.inputs[i].count() == 0) w.inputs[i] = {};
  }
}

// Opset 16 named the modes of GridSample after two dimensions.
void rename_mode(Work& w) {
  for (Attribute& a : w.attributes) {
    if (a.name == "mode" && a.s == "bilinear") a.s = "linear";
    if (a.name == "mode" && a.s == "bicubic") a.s = "cubic";
  }
}

void convert_batch_norm(Work& w) {
  const Attribute* training = w.find("training_mode");
  if ((training != nullptr && training->i != 0) || w.n_outputs > 1) w.skip = "training mode";
  w.remove("training_mode");
  w.remove("momentum");
}

// Brings the forms of older opsets, and what ONNX keeps in attributes, to the op table's.
void apply_rules(Work& w) {
  const std::string& type = w.node.op_type;
  if (starts_with(type, "Reduce") || type == "Squeeze" || type == "Unsqueeze") {
    w.ints_to_input("axes", 1);
  }
  if (w.opset < 13 && (type == "Softmax" || type == "LogSoftmax" || type == "Hardmax")) {
    w.skip = "two-dimensional softmax of opset 12 and older";
  }
  if (type == "DFT" && w.opset < 20) {
    const Attribute* axis = w.find("axis");
    w.set_input(2, scalar(NEF_INT64, axis == nullptr ? 1.0 : static_cast<double>(axis->i)));
    w.remove("axis");
  }
  if (type == "GridSample") rename_mode(w);
  if (type == "LinearAttention") w.remove("chunk_size");  // a hint
  if (type == "Range") w.remove("stash_type");
  if (type == "Bernoulli") w.skip = "random numbers of another generator";
  if (type == "Reshape") w.ints_to_input("shape", 1);
  if (type == "Slice") convert_slice(w);
  if (type == "Split") convert_split(w);
  if (type == "Resize") convert_resize(w);
  if (type == "BatchNormalization") convert_batch_norm(w);
  if (type == "Clip") {
    w.float_to_input("min", 1);
    w.float_to_input("max", 2);
  }
  if (type == "Pad") {
    w.ints_to_input("pads", 1);
    w.float_to_input("value", 2);
  }
  if (type == "TopK" && w.find("k") != nullptr) {
    w.set_input(1, ints({w.find("k")->i}));
    w.remove("k");
  }
  if (type == "OneHot" && is_float(w.inputs[1].dtype)) {
    w.inputs[1] = ints({static_cast<int64_t>(float_at(w.inputs[1], 0))});
  }
  if (type == "ConstantOfShape" && w.find("value") != nullptr) {
    w.set_input(1, *w.find("value")->tensor);
    w.remove("value");
  }
  w.remove("saturate");  // for 8-bit floats, which NEF does not have yet
  w.remove("round_mode");
  for (const char* name : {"output_dtype", "precision"}) {
    const Attribute* a = w.find(name);
    if (a != nullptr && a->i == 0) w.remove(name);
  }
}

// Lists of names are one string in the op table.
std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

void set_attribute(ir::AttrBuilder& b, unsigned slot, ir::AttrType type, const Attribute& a) {
  switch (type) {
    case ir::AttrType::Float: b.set_float(slot, static_cast<double>(a.f)); break;
    case ir::AttrType::String:
      b.set_string(slot, a.strings.empty() ? a.s : joined(a.strings));
      break;
    case ir::AttrType::Ints: b.set_ints(slot, a.ints); break;
    case ir::AttrType::DType: b.set_int(slot, dtype_of(a.i)); break;
    case ir::AttrType::Floats: {
      const std::vector<double> numbers(a.floats.begin(), a.floats.end());
      b.set_floats(slot, numbers);
      break;
    }
    default: b.set_int(slot, a.i);
  }
}

std::vector<int64_t> convert_attributes(Work& w) {
  const ir::OpSpec& spec = ir::spec(w.op);
  ir::AttrBuilder builder(w.op);
  for (const Attribute& a : w.attributes) {
    unsigned slot = 0;
    while (slot < spec.n_attrs && a.name != spec.attrs[slot].name) ++slot;
    if (slot == spec.n_attrs || a.other) w.skip = "attribute " + a.name + " is not in the op table";
    else set_attribute(builder, slot, spec.attrs[slot].type, a);
  }
  return w.skip.empty() ? builder.build() : std::vector<int64_t>{};
}

bool shape_can_be_inferred(nef_op op) {
  return op != NEF_OP_NONZERO && op != NEF_OP_COMPRESS && op != NEF_OP_UNIQUE &&
         op != NEF_OP_NON_MAX_SUPPRESSION;
}

Case build_case(Work& w, std::vector<int64_t> words, const std::vector<Tensor>& outputs) {
  const ir::OpSpec& spec = ir::spec(w.op);
  CaseBuilder b(w.node.op_type);
  std::vector<int32_t> ids;
  while (!w.inputs.empty() && w.inputs.back().dtype == NEF_DTYPE_INVALID) w.inputs.pop_back();
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    const bool host = spec.inputs[std::min<size_t>(i, spec.n_inputs - 1u)].host;
    if (w.inputs[i].dtype == NEF_DTYPE_INVALID) ids.push_back(-1);
    else ids.push_back(host ? b.host(std::move(w.inputs[i])) : b.input(std::move(w.inputs[i])));
  }
  size_t required = 0;
  while (required < spec.n_outputs && !spec.outputs[required].optional) ++required;
  const size_t n_outputs = std::max(w.n_outputs, required);
  if (!shape_can_be_inferred(w.op)) {
    // What the published result looks like; an empty tensor for an output without a name.
    std::vector<Tensor> typed(n_outputs);
    size_t next = 0;
    for (size_t i = 0; i < w.node.outputs.size(); ++i) {
      if (w.node.outputs[i].empty()) continue;
      typed[i] = {outputs[next].dtype, outputs[next].dims, {}};
      ++next;
    }
    b.typed_node(w.op, std::move(ids), std::move(words), std::move(typed));
  } else {
    uint32_t unwanted = 0;
    for (size_t i = 0; i < n_outputs; ++i) {
      if (i >= w.n_outputs || w.node.outputs[i].empty()) unwanted |= 1u << i;
    }
    b.node(w.op, std::move(ids), std::move(words), n_outputs, unwanted);
  }
  return b.build();
}

}  // namespace

Converted convert(const Node& node, int64_t opset, std::vector<Tensor> inputs,
                  const std::vector<Tensor>& outputs) {
  const nef_op op = ir::find_op(node.op_type == "Scatter" ? "ScatterElements" : node.op_type);
  if (op == 0 || ir::spec(op).internal || ir::spec(op).n_blocks != 0)
    return {"op " + node.op_type + " is not in the op table", {}};
  Work w{op, node, opset, node.attributes, std::move(inputs), node.outputs.size(), {}};
  apply_rules(w);
  if (!w.skip.empty()) return {w.skip, {}};
  std::vector<int64_t> words = convert_attributes(w);
  if (!w.skip.empty()) return {w.skip, {}};
  return {"", build_case(w, std::move(words), outputs)};
}

}  // namespace nef::conformance::onnx
