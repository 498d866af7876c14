// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_epilogue.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace nef::cpu {
namespace {

struct BinaryRule {
  nef_op op;
  EpilogueOp left, right;  // chain value on the left, on the right
};
constexpr BinaryRule kBinary[] = {
    {NEF_OP_ADD, EpilogueOp::kAdd, EpilogueOp::kAdd},
    {NEF_OP_SUB, EpilogueOp::kSub, EpilogueOp::kReverseSub},
    {NEF_OP_MUL, EpilogueOp::kMul, EpilogueOp::kMul},
    {NEF_OP_DIV, EpilogueOp::kDiv, EpilogueOp::kReverseDiv},
    {NEF_OP_MAX, EpilogueOp::kMax, EpilogueOp::kMax},
    {NEF_OP_MIN, EpilogueOp::kMin, EpilogueOp::kMin},
};

std::optional<EpilogueStep> unary_step(const Region& region, const Node& node) {
  const int64_t* attrs = node.attrs();
  switch (node.op) {
    case NEF_OP_RELU: return EpilogueStep{EpilogueOp::kRelu};
    case NEF_OP_SIGMOID: return EpilogueStep{EpilogueOp::kSigmoid};
    case NEF_OP_TANH: return EpilogueStep{EpilogueOp::kTanh};
    case NEF_OP_ERF: return EpilogueStep{EpilogueOp::kErf};
    case NEF_OP_EXP: return EpilogueStep{EpilogueOp::kExp};
    case NEF_OP_SQRT: return EpilogueStep{EpilogueOp::kSqrt};
    case NEF_OP_NEG: return EpilogueStep{EpilogueOp::kNeg};
    case NEF_OP_ABS: return EpilogueStep{EpilogueOp::kAbs};
    case NEF_OP_RECIPROCAL: return EpilogueStep{EpilogueOp::kReciprocal};
    case NEF_OP_HARD_SWISH: return EpilogueStep{EpilogueOp::kHardSwish};
    case NEF_OP_GELU: {
      const std::string_view kind(nef_attr_string(attrs, NEF_GELU_APPROXIMATE),
                                  nef_attr_count(attrs, NEF_GELU_APPROXIMATE));
      return EpilogueStep{kind == "tanh" ? EpilogueOp::kGeluTanh : EpilogueOp::kGelu};
    }
    case NEF_OP_SILU:
      return EpilogueStep{EpilogueOp::kSilu, -1, {}, nef_attr_float(attrs, NEF_SILU_ALPHA, 1)};
    case NEF_OP_LEAKY_RELU:
      return EpilogueStep{
          EpilogueOp::kLeakyRelu, -1, {}, nef_attr_float(attrs, NEF_LEAKY_RELU_ALPHA, 0.01)};
    case NEF_OP_HARD_SIGMOID:
      return EpilogueStep{EpilogueOp::kHardSigmoid,
                          -1,
                          {},
                          nef_attr_float(attrs, NEF_HARD_SIGMOID_ALPHA, 0.2),
                          nef_attr_float(attrs, NEF_HARD_SIGMOID_BETA, 0.5)};
    case NEF_OP_CLIP: {
      EpilogueStep step{EpilogueOp::kClip,
                        -1,
                        {},
                        -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::infinity()};
      for (size_t i = 1; i < 3; ++i) {
        if (!node.has_input(i)) continue;
        const Value& bound = region.input(node, i);
        if (bound.kind != NEF_VALUE_LITERAL || bound.literal.size() != sizeof(float)) return {};
        float value;
        std::memcpy(&value, bound.literal.data(), sizeof(value));
        if (std::isnan(value)) return {};
        (i == 1 ? step.p0 : step.p1) = value;
      }
      return step;
    }
    default: return {};
  }
}

// Does an operand of these dims read the result's rows as whole rows or as one element? Unknown
// dims of the result's rows are decided at launch.
bool fits_rows(const std::vector<int64_t>& dims, const std::vector<int64_t>& out, int row_dims) {
  if (dims.size() > out.size()) return false;
  const size_t skip = out.size() - dims.size();
  bool all_one = true, all_equal = true;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t dim = i < skip ? 1 : dims[i - skip];
    if (static_cast<int>(i) < row_dims) {
      if (dim != 1 && dim != out[i] && dim >= 0 && out[i] >= 0) return false;
      continue;
    }
    if (dim != 1) all_one = false;
    if (dim != out[i] || dim < 0) all_equal = false;
  }
  return all_one || all_equal;
}

std::string refusal(const Node& node, const char* reason) {
  return "epilogue: op id " + std::to_string(node.op) + " " + reason;
}

bool add_binary(const Region& region, const Node& node, const BinaryRule& rule, int32_t chain,
                const std::vector<int64_t>& out, int row_dims, Epilogue* steps, std::string* why) {
  if (node.inputs.size() != 2 || node.inputs[0] < 0 || node.inputs[1] < 0) {
    *why = refusal(node, "does not have two inputs");
    return false;
  }
  const bool left = node.inputs[0] == chain;
  const int32_t other = left ? node.inputs[1] : node.inputs[0];
  if (other == chain) {
    if (rule.op != NEF_OP_MUL) {
      *why = refusal(node, "uses the chain twice");
      return false;
    }
    steps->push_back({EpilogueOp::kSquare});
    return true;
  }
  const Value& operand = region.values[other];
  if (operand.kind == NEF_VALUE_INTERNAL) {
    *why = refusal(node, "joins two branches");
    return false;
  }
  if (!fits_rows(operand.dims, out, row_dims)) {
    *why = refusal(node, "has an operand that neither matches nor broadcasts over whole rows");
    return false;
  }
  EpilogueStep step{left ? rule.left : rule.right, other};
  step.p0 = 1;
  if (operand.kind == NEF_VALUE_LITERAL) {
    step.literal.resize(operand.literal.size() / sizeof(float));
    std::memcpy(step.literal.data(), operand.literal.data(), operand.literal.size());
  }
  steps->push_back(std::move(step));
  return true;
}

bool add_step(const Region& region, const Node& node, int32_t chain,
              const std::vector<int64_t>& out, int row_dims, Epilogue* steps, std::string* why) {
  for (const BinaryRule& rule : kBinary) {
    if (rule.op == node.op) {
      return add_binary(region, node, rule, chain, out, row_dims, steps, why);
    }
  }
  if (node.inputs.empty() || node.inputs[0] != chain) {
    *why = refusal(node, "does not continue the chain");
    return false;
  }
  auto step = unary_step(region, node);
  if (!step) {
    *why = refusal(node, "is not served after a contraction");
    return false;
  }
  steps->push_back(std::move(*step));
  return true;
}

}  // namespace

bool parse_epilogue(const Region& region, size_t head, int row_dims, Epilogue* out,
                    std::string* why) {
  out->clear();
  int32_t chain = region.nodes[head].outputs[0];
  const std::vector<int64_t>& dims = region.values[chain].dims;
  for (const Value& value : region.values) {
    // Where a slice in front begins is no value of the chain.
    if (head > 0 && value.kind == NEF_VALUE_LITERAL) continue;
    if (value.dtype != NEF_FLOAT32) {
      *why = std::string("epilogue: serves float32 only, not ") + backends::dtype_name(value.dtype);
      return false;
    }
  }
  for (size_t i = head + 1; i < region.nodes.size(); ++i) {
    const Node& node = region.nodes[i];
    if (region.values[chain].kind != NEF_VALUE_INTERNAL || node.outputs.size() != 1 ||
        region.values[node.outputs[0]].dims != dims) {
      *why = refusal(node, "changes the shape or keeps an inner result");
      return false;
    }
    if (!add_step(region, node, chain, dims, row_dims, out, why)) return false;
    chain = node.outputs[0];
  }
  if (static_cast<int>(out->size()) > kMaxEpilogue - 2) {
    *why = "epilogue: more than " + std::to_string(kMaxEpilogue - 2) + " steps";
    return false;
  }
  return true;
}

template <typename T>
void EpilogueRun<T>::add(EpilogueOp op, T first, T second) {
  ops[count] = op;
  p0[count] = first;
  p1[count] = second;
  operands[count].data = nullptr;
  ++count;
}

template <typename T>
void EpilogueRun<T>::add_operand(EpilogueOp op, const T* data, const int64_t* dims, int rank,
                                 const int64_t* out_dims, int out_rank, int row_dims, T scale) {
  EpilogueOperand<T>& operand = operands[count];
  operand.data = data;
  operand.rank = row_dims;
  const int skip = out_rank - rank;
  int64_t stride = 1;
  operand.col_stride = 0;
  for (int i = out_rank - 1; i >= row_dims; --i) {
    const int64_t dim = i < skip ? 1 : dims[i - skip];
    if (dim != 1) operand.col_stride = 1;
    stride *= dim;
  }
  bool dense = true, constant = true;
  for (int i = row_dims - 1; i >= 0; --i) {
    const int64_t dim = i < skip ? 1 : dims[i - skip];
    operand.dims[i] = out_dims[i];
    operand.strides[i] = dim == 1 ? 0 : stride;
    if (dim != out_dims[i]) dense = false;
    if (dim != 1) constant = false;
    stride *= dim;
  }
  int64_t row_length = 1;
  for (int i = row_dims; i < out_rank; ++i) row_length *= out_dims[i];
  operand.row_stride = constant ? 0
                       : dense  ? (operand.col_stride == 1 ? row_length : 1)
                                : EpilogueOperand<T>::kGeneral;
  ops[count] = op;
  p0[count] = scale;
  p1[count] = 0;
  ++count;
}

template struct EpilogueRun<float>;
template struct EpilogueRun<double>;

template <typename T>
void fetch_operands(const EpilogueRun<T>& run, int64_t row, int64_t col, int64_t rows,
                    int64_t cols) {
  for (int i = 0; i < run.count; ++i) {
    const EpilogueOperand<T>& o = run.operands[i];
    if (o.data == nullptr || o.col_stride == 0 || o.row_stride <= 0) continue;
    const T* x = o.data + row * o.row_stride + col;
    for (int64_t r = 0; r < rows; ++r, x += o.row_stride) {
      __builtin_prefetch(x);
      __builtin_prefetch(x + cols - 1);
    }
  }
}
template void fetch_operands<float>(const EpilogueRun<float>&, int64_t, int64_t, int64_t, int64_t);
template void fetch_operands<double>(const EpilogueRun<double>&, int64_t, int64_t, int64_t,
                                     int64_t);

void bind_epilogue(const Epilogue& epilogue, const Tensor* values, const std::vector<int>& ranks,
                   const int64_t* out_dims, int out_rank, int row_dims, EpilogueRun<float>* run) {
  for (const EpilogueStep& step : epilogue) {
    if (step.value < 0) {
      run->add(step.op, static_cast<float>(step.p0), static_cast<float>(step.p1));
      continue;
    }
    const Tensor& tensor = values[step.value];
    const float* data =
        step.literal.empty() ? static_cast<const float*>(tensor.data) : step.literal.data();
    run->add_operand(step.op, data, tensor.dims, ranks[step.value], out_dims, out_rank, row_dims,
                     static_cast<float>(step.p0));
  }
}

}  // namespace nef::cpu
