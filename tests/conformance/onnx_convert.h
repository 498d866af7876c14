// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/conformance/onnx_proto.h"

namespace nef::conformance::onnx {

struct Converted {
  std::string skip;  // why it cannot be a case of ours; empty otherwise
  Case test;
};
// One node of a model as a case of the op table, old opset forms brought to ours. `inputs` are
// the tensors of the node's inputs (dtype NEF_DTYPE_INVALID = absent), `outputs` what is expected.
Converted convert(const Node& node, int64_t opset, std::vector<Tensor> inputs,
                  const std::vector<Tensor>& outputs);

}  // namespace nef::conformance::onnx
