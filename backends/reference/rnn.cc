// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN, one sequence after the other.
#include "backends/shared/rnn.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

using backends::RnnActivation;
using backends::RnnFunction;
using backends::RnnSpec;

enum Input : size_t { kX, kW, kR, kB, kLens, kInitialH, kInitialC, kPeepholes };

double apply(const RnnActivation& f, double clip, double x) {
  if (clip > 0) x = std::clamp(x, -clip, clip);
  switch (f.function) {
    case RnnFunction::kRelu: return larger(0.0, x);
    case RnnFunction::kTanh: return std::tanh(x);
    case RnnFunction::kSigmoid: return 1 / (1 + std::exp(-x));
    case RnnFunction::kAffine: return f.alpha * x + f.beta;
    case RnnFunction::kLeakyRelu: return x < 0 ? f.alpha * x : x;
    case RnnFunction::kElu: return x < 0 ? f.alpha * std::expm1(x) : x;
    case RnnFunction::kSoftsign: return x / (1 + std::fabs(x));
    case RnnFunction::kThresholdedRelu: return x > f.alpha ? x : 0;
    case RnnFunction::kHardSigmoid: return std::clamp(f.alpha * x + f.beta, 0.0, 1.0);
    case RnnFunction::kSoftplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    default: return f.alpha * std::tanh(f.beta * x);
  }
}

// One direction of one sequence of the batch.
class Sequence {
 public:
  Sequence(const Call& c, const RnnSpec& spec, int direction, int64_t batch)
      : c_(c), spec_(spec), d_(direction), b_(batch) {
    const View x = c.in(kX);
    steps_ = x.dims[spec.batch_first ? 1 : 0];
    batches_ = x.dims[spec.batch_first ? 0 : 1];
    width_ = x.dims[2];
    hidden_ = c.in(kR).dims[2];
    rows_ = spec.gates() * hidden_;
    h_ = c.scratch<double>();
    cell_ = h_ + hidden_;
    next_ = cell_ + hidden_;
    reset_ = next_ + hidden_;
    length_ = steps_;
    if (c.has(kLens)) length_ = load_int(c.in(kLens), b_);
    if (length_ < 0 || length_ > steps_) {
      throw BackendError(NEF_OUT_OF_RANGE, "a sequence length is " + std::to_string(length_) +
                                               ", x has " + std::to_string(steps_) + " steps");
    }
  }

  void run() {
    for (int64_t j = 0; j < hidden_; ++j) {
      h_[j] = c_.has(kInitialH) ? load_float(c_.in(kInitialH), state_index(j)) : 0;
      cell_[j] = has_cell() && c_.has(kInitialC) ? load_float(c_.in(kInitialC), state_index(j)) : 0;
    }
    for (int64_t t = length_; t < steps_; ++t) write(t, nullptr);
    for (int64_t i = 0; i < length_; ++i) {
      const int64_t t = spec_.backwards(d_) ? length_ - 1 - i : i;
      step(t);
      write(t, h_);
    }
    for (int64_t j = 0; j < hidden_; ++j) {
      if (c_.wants(1)) store_float(c_.out(1), state_index(j), h_[j]);
      if (c_.wants(2)) store_float(c_.out(2), state_index(j), cell_[j]);
    }
  }

 private:
  bool has_cell() const { return spec_.op == NEF_OP_LSTM; }
  int64_t state_index(int64_t j) const {
    return (spec_.batch_first ? b_ * spec_.directions + d_ : d_ * batches_ + b_) * hidden_ + j;
  }
  double f(int i, double x) const { return apply(spec_.activations[d_][i], spec_.clip, x); }

  double from_x(int64_t gate, int64_t j, int64_t t) const {
    const int64_t row = d_ * rows_ + gate * hidden_ + j;
    const int64_t at = (spec_.batch_first ? b_ * steps_ + t : t * batches_ + b_) * width_;
    double sum = 0;
    for (int64_t k = 0; k < width_; ++k) {
      sum += load_float(c_.in(kX), at + k) * load_float(c_.in(kW), row * width_ + k);
    }
    return sum + bias(gate, j);
  }
  double from_state(const double* h, int64_t gate, int64_t j) const {
    const int64_t row = d_ * rows_ + gate * hidden_ + j;
    double sum = 0;
    for (int64_t k = 0; k < hidden_; ++k) {
      sum += h[k] * load_float(c_.in(kR), row * hidden_ + k);
    }
    return sum + state_bias(gate, j);
  }
  double bias(int64_t gate, int64_t j) const {
    return c_.has(kB) ? load_float(c_.in(kB), d_ * 2 * rows_ + gate * hidden_ + j) : 0;
  }
  double state_bias(int64_t gate, int64_t j) const {
    return c_.has(kB) ? load_float(c_.in(kB), (d_ * 2 + 1) * rows_ + gate * hidden_ + j) : 0;
  }
  double peephole(int64_t which, int64_t j) const {
    if (!c_.has(kPeepholes)) return 0;
    return load_float(c_.in(kPeepholes), (d_ * 3 + which) * hidden_ + j);
  }

  void step(int64_t t) {
    if (spec_.op == NEF_OP_LSTM) lstm_step(t);
    else if (spec_.op == NEF_OP_GRU) gru_step(t);
    else rnn_step(t);
    std::copy(next_, next_ + hidden_, h_);
  }

  void lstm_step(int64_t t) {
    enum { kI, kO, kF, kC };
    const auto gate = [&](int64_t g, int64_t j) { return from_x(g, j, t) + from_state(h_, g, j); };
    for (int64_t j = 0; j < hidden_; ++j) {
      const double i = f(0, gate(kI, j) + peephole(0, j) * cell_[j]);
      const double forget =
          spec_.input_forget ? 1 - i : f(0, gate(kF, j) + peephole(2, j) * cell_[j]);
      const double cell = forget * cell_[j] + i * f(1, gate(kC, j));
      const double o = f(0, gate(kO, j) + peephole(1, j) * cell);
      next_[j] = o * f(2, cell);
      cell_[j] = cell;
    }
  }

  void gru_step(int64_t t) {
    enum { kZ, kRr, kH };
    for (int64_t j = 0; j < hidden_; ++j) {
      reset_[j] = f(0, from_x(kRr, j, t) + from_state(h_, kRr, j));
    }
    // The reset gate goes over the state, or over its product with r.
    double* gated = reset_ + hidden_;
    for (int64_t j = 0; j < hidden_; ++j) gated[j] = reset_[j] * h_[j];
    for (int64_t j = 0; j < hidden_; ++j) {
      const double z = f(0, from_x(kZ, j, t) + from_state(h_, kZ, j));
      const double behind =
          spec_.reset_behind ? reset_[j] * from_state(h_, kH, j) : from_state(gated, kH, j);
      next_[j] = (1 - z) * f(1, from_x(kH, j, t) + behind) + z * h_[j];
    }
  }

  void rnn_step(int64_t t) {
    for (int64_t j = 0; j < hidden_; ++j) next_[j] = f(0, from_x(0, j, t) + from_state(h_, 0, j));
  }

  // null: zeros.
  void write(int64_t t, const double* h) const {
    if (!c_.wants(0)) return;
    const int64_t at = spec_.batch_first ? (b_ * steps_ + t) * spec_.directions + d_
                                         : (t * spec_.directions + d_) * batches_ + b_;
    for (int64_t j = 0; j < hidden_; ++j) {
      store_float(c_.out(), at * hidden_ + j, h == nullptr ? 0 : h[j]);
    }
  }

  const Call& c_;
  const RnnSpec& spec_;
  int d_;
  int64_t b_, steps_, batches_, width_, hidden_, rows_, length_;
  double *h_, *cell_, *next_, *reset_;
};

void run_rnn(const Call& c) {
  const RnnSpec spec = backends::read_rnn(c.node());
  const int64_t batches = c.in(kX).dims[spec.batch_first ? 0 : 1];
  for (int d = 0; d < spec.directions; ++d) {
    for (int64_t b = 0; b < batches; ++b) Sequence(c, spec, d, b).run();
  }
}

// State, cell, next state, reset gate and gated state.
size_t rnn_scratch(const Call& c) {
  return 5 * static_cast<size_t>(c.in(kR).dims[2]) * sizeof(double);
}

constexpr Kernel kKernels[] = {
    {NEF_OP_LSTM, run_rnn, rnn_scratch},
    {NEF_OP_GRU, run_rnn, rnn_scratch},
    {NEF_OP_RNN, run_rnn, rnn_scratch},
};

}  // namespace

std::span<const Kernel> rnn_kernels() { return kKernels; }

}  // namespace nef::reference
