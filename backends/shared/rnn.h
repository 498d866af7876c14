// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <span>
#include <string>
#include <string_view>

#include "backends/shared/region.h"

// The attributes of LSTM, GRU and RNN, which share the slots of what they share.
namespace nef::backends {

enum class RnnFunction : uint8_t {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kElu,
  kSoftsign,
  kThresholdedRelu,
  kHardSigmoid,
  kSoftplus,
  kScaledTanh
};

struct RnnActivation {
  RnnFunction function = RnnFunction::kTanh;
  double alpha = 0, beta = 0;
};

struct RnnSpec {
  nef_op op = NEF_OP_INVALID;
  int directions = 1;
  bool reverse = false;  // the first direction runs from the end
  bool batch_first = false;
  double clip = 0;            // 0 = none
  bool input_forget = false;  // LSTM
  bool reset_behind = false;  // GRU: linear_before_reset
  RnnActivation activations[2][3];

  int gates() const { return op == NEF_OP_LSTM ? 4 : op == NEF_OP_GRU ? 3 : 1; }
  bool backwards(int direction) const { return direction == 1 || reverse; }
};

namespace detail {

struct RnnName {
  std::string_view name;
  RnnFunction function;
  bool alpha, beta;  // reads an entry of activation_alpha, activation_beta
  double default_alpha, default_beta;
};
constexpr RnnName kRnnNames[] = {
    {"Relu", RnnFunction::kRelu, false, false, 0, 0},
    {"Tanh", RnnFunction::kTanh, false, false, 0, 0},
    {"Sigmoid", RnnFunction::kSigmoid, false, false, 0, 0},
    {"Affine", RnnFunction::kAffine, true, true, 1, 0},
    {"LeakyRelu", RnnFunction::kLeakyRelu, true, false, 0.01, 0},
    {"Elu", RnnFunction::kElu, true, false, 1, 0},
    {"Softsign", RnnFunction::kSoftsign, false, false, 0, 0},
    {"ThresholdedRelu", RnnFunction::kThresholdedRelu, true, false, 1, 0},
    {"HardSigmoid", RnnFunction::kHardSigmoid, true, true, 0.2, 0.5},
    {"Softplus", RnnFunction::kSoftplus, false, false, 0, 0},
    {"ScaledTanh", RnnFunction::kScaledTanh, true, true, 1, 1},
};

inline const RnnName& rnn_name(std::string_view name) {
  for (const RnnName& n : kRnnNames) {
    if (n.name == name) return n;
  }
  throw BackendError(NEF_INVALID_ARGUMENT, "no activation is called '" + std::string(name) + "'");
}

// Alphas and betas go to those functions that have them, in order.
inline void read_activations(const int64_t* attrs, RnnSpec& spec) {
  const int per_direction = spec.op == NEF_OP_LSTM ? 3 : spec.op == NEF_OP_GRU ? 2 : 1;
  const char* text = nef_attr_string(attrs, NEF_LSTM_ACTIVATIONS);
  std::string_view rest(text == nullptr ? "" : text, nef_attr_count(attrs, NEF_LSTM_ACTIVATIONS));
  const double* alphas = nef_attr_floats(attrs, NEF_LSTM_ACTIVATION_ALPHA);
  const double* betas = nef_attr_floats(attrs, NEF_LSTM_ACTIVATION_BETA);
  size_t next_alpha = 0, next_beta = 0;
  const size_t n_alphas = nef_attr_count(attrs, NEF_LSTM_ACTIVATION_ALPHA);
  const size_t n_betas = nef_attr_count(attrs, NEF_LSTM_ACTIVATION_BETA);
  for (int d = 0; d < spec.directions; ++d) {
    for (int i = 0; i < per_direction; ++i) {
      std::string_view name = i == 0 && spec.op != NEF_OP_RNN ? "Sigmoid" : "Tanh";
      if (!rest.empty()) {
        const size_t comma = rest.find(',');
        name = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
      }
      const RnnName& n = rnn_name(name);
      RnnActivation& a = spec.activations[d][i];
      a = {n.function, n.default_alpha, n.default_beta};
      if (n.alpha && next_alpha < n_alphas) a.alpha = alphas[next_alpha++];
      if (n.beta && next_beta < n_betas) a.beta = betas[next_beta++];
    }
  }
}

}  // namespace detail

inline RnnSpec read_rnn(const Node& node) {
  const int64_t* attrs = node.attrs();
  RnnSpec spec;
  spec.op = node.op;
  const char* text = nef_attr_string(attrs, NEF_LSTM_DIRECTION);
  const std::string_view direction(text == nullptr ? "" : text,
                                   nef_attr_count(attrs, NEF_LSTM_DIRECTION));
  spec.directions = direction == "bidirectional" ? 2 : 1;
  spec.reverse = direction == "reverse";
  spec.batch_first = nef_attr_int(attrs, NEF_LSTM_LAYOUT, 0) != 0;
  spec.clip = nef_attr_float(attrs, NEF_LSTM_CLIP, 0);
  if (node.op == NEF_OP_LSTM) {
    spec.input_forget = nef_attr_int(attrs, NEF_LSTM_INPUT_FORGET, 0) != 0;
  }
  if (node.op == NEF_OP_GRU) {
    spec.reset_behind = nef_attr_int(attrs, NEF_GRU_LINEAR_BEFORE_RESET, 0) != 0;
  }
  detail::read_activations(attrs, spec);
  return spec;
}

}  // namespace nef::backends
