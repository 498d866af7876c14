// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: x [sequence, batch, input], weights per direction.
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

enum Input : size_t { kX, kW, kR, kB, kLens, kInitialH, kInitialC, kPeepholes };

// The three ops keep the attributes they share in the same slots.
constexpr unsigned kAlpha = NEF_LSTM_ACTIVATION_ALPHA, kBeta = NEF_LSTM_ACTIVATION_BETA;
constexpr unsigned kActivations = NEF_LSTM_ACTIVATIONS, kClip = NEF_LSTM_CLIP;
constexpr unsigned kDirection = NEF_LSTM_DIRECTION, kHidden = NEF_LSTM_HIDDEN_SIZE;
constexpr unsigned kLayout = NEF_LSTM_LAYOUT;
static_assert(kLayout == unsigned{NEF_GRU_LAYOUT} && kLayout == unsigned{NEF_RNN_LAYOUT});

constexpr std::string_view kNames[] = {"Relu",        "Tanh",     "Sigmoid",   "Affine",
                                       "LeakyRelu",   "Elu",      "Softsign",  "ThresholdedRelu",
                                       "HardSigmoid", "Softplus", "ScaledTanh"};

struct Form {
  Dim gates;
  int64_t activations;
};
Form form_of(nef_op op) {
  if (op == NEF_OP_LSTM) return {4, 3};
  return op == NEF_OP_GRU ? Form{3, 2} : Form{1, 1};
}

void check_activations(const InferContext& c, int64_t wanted) {
  std::string_view rest = c.attrs.s(kActivations);
  const auto most = static_cast<size_t>(wanted);
  if (c.attrs.floats(kAlpha).size() > most || c.attrs.floats(kBeta).size() > most) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("activation_alpha and activation_beta have at most ", wanted, " entries"));
  }
  if (rest.empty()) return;
  int64_t count = 0;
  for (bool more = true; more; ++count) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
      c.fail(NEF_INVALID_ARGUMENT, cat("no activation is called '", std::string(name), "'"));
    }
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  if (count == wanted) return;
  c.fail(NEF_INVALID_ARGUMENT,
         cat("activations has ", count, " names; this direction needs ", wanted));
}

void require_shape(const InferContext& c, size_t input, const Shape& want, const char* what) {
  if (!c.has(input)) return;
  const auto rank = static_cast<size_t>(want.rank);
  require_rank(c, input, rank);
  for (size_t i = 0; i < rank; ++i) same_dim(c, c.dims(input)[i], want[i], what);
}

}  // namespace

void infer_rnn(InferContext& c) {
  require_rank(c, kX, 3);
  require_rank(c, kW, 3);
  require_rank(c, kR, 3);
  const Form form = form_of(c.spec.id);
  const int64_t direction_count = c.attrs.s(kDirection) == "bidirectional" ? 2 : 1;
  const Dim directions = Dim::of(direction_count);
  const int64_t layout = c.attrs.i(kLayout);
  if (layout != 0 && layout != 1) {
    c.fail(NEF_INVALID_ARGUMENT, cat("layout must be 0 or 1, got ", layout));
  }
  if (c.attrs.has(kClip) && !(c.attrs.f(kClip) > 0)) {
    c.fail(NEF_INVALID_ARGUMENT, cat("clip must be positive, got ", c.attrs.f(kClip)));
  }
  check_activations(c, form.activations * direction_count);

  const bool batch_first = layout == 1;
  const Dim steps = c.dims(kX)[batch_first ? 1 : 0], batch = c.dims(kX)[batch_first ? 0 : 1];
  Dim hidden = c.dims(kR)[2];
  if (c.attrs.has(kHidden)) {
    hidden = same_dim(c, hidden, Dim::of(c.attrs.i(kHidden)), "hidden_size is not that of r");
  }
  const Dim rows = c.pool.mul(hidden, form.gates);
  const Dim width = c.dims(kX)[2];
  require_shape(c, kW, Shape{directions, rows, width}, "w is [directions, gates * hidden, input]");
  require_shape(c, kR, Shape{directions, rows, hidden},
                "r is [directions, gates * hidden, hidden]");
  require_shape(c, kB, Shape{directions, c.pool.mul(rows, 2)},
                "b is [directions, 2 * gates * hidden]");
  if (c.has(kLens)) require_vector(c, kLens, batch, "one length per batch is needed");
  const Shape state =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  require_shape(c, kInitialH, state, "initial_h has the shape of a state");
  require_shape(c, kInitialC, state, "initial_c has the shape of a state");
  require_shape(c, kPeepholes, Shape{directions, c.pool.mul(hidden, 3)},
                "p is [directions, 3 * hidden]");

  c.out[0].shape = batch_first ? Shape{batch, steps, directions, hidden}
                               : Shape{steps, directions, batch, hidden};
  for (size_t i = 1; i < c.out.size(); ++i) c.out[i].shape = state;
}

}  // namespace nef::ir
