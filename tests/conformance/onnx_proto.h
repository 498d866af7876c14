// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/case.h"

// Just enough of ONNX's protobuf messages to read its published node tests.
namespace nef::conformance::onnx {

struct Attribute {
  std::string name;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::optional<Tensor> tensor;
  bool other = false;  // a graph, a type, strings, ...
};
struct Node {
  std::string op_type, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
};
struct ValueInfo {
  std::string name;
  nef_dtype dtype = NEF_DTYPE_INVALID;
};
struct Model {
  std::map<std::string, int64_t> opsets;  // by domain, "" is ONNX itself
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<std::string> initializers;
  bool tensors_only = true;  // every graph input and output is a tensor
};

// Throw std::runtime_error on malformed bytes. A tensor of a dtype that NEF does not have comes
// back as NEF_DTYPE_INVALID.
Model parse_model(std::string_view bytes);
Tensor parse_tensor(std::string_view bytes);
// NEF's dtype for a TensorProto.DataType number.
nef_dtype dtype_of(int64_t data_type);

}  // namespace nef::conformance::onnx
