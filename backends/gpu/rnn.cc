// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU, RNN: the inputs of all steps are one product; then a block for each sequence and
// direction goes through the steps.
#include "backends/shared/rnn.h"

#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

using backends::RnnActivation;
using backends::RnnFunction;
using backends::RnnSpec;

enum Input : size_t { kX, kW, kR, kB, kLens, kInitialH, kInitialC, kPeepholes };

// `gates` rows of a direction; rows of x in its own order.
constexpr const char* kHead = R"device(
typedef $A$ A; typedef A E; typedef A C;
struct P { X* y; X* y_h; X* y_c; const X* x; const X* w; const X* r; const X* b; const i32* lengths; const X* h0; const X* c0;
  const X* peepholes; A* before; A* state; Fault* fault; i64 m; i64 n; i64 k; i64 steps; i64 batches; i64 hidden; i64 directions;
  i64 batch_first; i64 first_backwards; };
struct Column { i64 at; };
DEV Column column_of(const P& p, i64 column) { return {(i64(blockIdx.y) * p.n + column) * p.k}; }
DEV E load_a(const P& p, i64 row, i64 k) { return E(ld(p.x[row * p.k + k])); }
DEV E load_b(const P& p, i64 k, const Column& c) { return E(ld(p.w[c.at + k])); }
DEV void finish(const P& p, i64 row, i64 column, C sum) {
  if (p.b) sum += C(ld(p.b[i64(blockIdx.y) * 2 * p.n + column]));
  p.before[(i64(blockIdx.y) * p.m + row) * p.n + column] = sum;
}
DEV A act(i64 direction, i32 which, A x) {
$CLIP$  switch (direction * 3 + which) {
$ACTIVATIONS$    default: return x;
  }
}
)device";

constexpr const char* kSteps = R"device(
// One direction of one sequence: its state, and the sums of its gates in a step.
struct Sequence {
  const P& p;
  i64 d, b;
  A *h, *cell, *gated, *sums;
  __device__ A from_state(const A* v, i64 row) const {
    const X* r = p.r + (d * p.n + row) * p.hidden;
    A sum = p.b ? A(ld(p.b[(d * 2 + 1) * p.n + row])) : A(0);
    for (i64 k = 0; k < p.hidden; ++k) sum += v[k] * A(ld(r[k]));
    return sum;
  }
  __device__ A peephole(i64 which, i64 j) const { return p.peepholes ? A(ld(p.peepholes[(d * 3 + which) * p.hidden + j])) : A(0); }
};
NEF_KERNEL(steps, P) {
  const i64 d = blockIdx.x / p.batches, b = blockIdx.x % p.batches, t0 = threadIdx.x, H = p.hidden;
  A* own = p.state + i64(blockIdx.x) * (3 * H + p.n);
  const Sequence s = {p, d, b, own, own + H, own + 2 * H, own + 3 * H};
  const i64 state = (p.batch_first ? b * p.directions + d : d * p.batches + b) * H;
  const bool backwards = d == 1 || p.first_backwards;
  i64 length = p.lengths ? i64(p.lengths[b]) : p.steps;
  if (length < 0 || length > p.steps) { note_fault(p.fault, length, 0, p.steps + 1); length = 0; }
  for (i64 j = t0; j < H; j += blockDim.x) {
    s.h[j] = p.h0 ? A(ld(p.h0[state + j])) : A(0);
    s.cell[j] = p.c0 ? A(ld(p.c0[state + j])) : A(0);
  }
  __syncthreads();
  for (i64 i = 0; i < p.steps; ++i) {
    const i64 t = i >= length ? i : backwards ? length - 1 - i : i;
    const i64 place = (p.batch_first ? (b * p.steps + t) * p.directions + d : (t * p.directions + d) * p.batches + b) * H;
    if (i >= length) {
      for (i64 j = t0; p.y && j < H; j += blockDim.x) st(p.y[place + j], A(0));
      continue;
    }
    const A* x = p.before + (d * p.m + (p.batch_first ? b * p.steps + t : t * p.batches + b)) * p.n;
    for (i64 row = t0; row < $ROWS$; row += blockDim.x) s.sums[row] = s.from_state(s.h, row);
    __syncthreads();
$STEP$
    __syncthreads();
    for (i64 j = t0; p.y && j < H; j += blockDim.x) st(p.y[place + j], s.h[j]);
  }
  for (i64 j = t0; j < H; j += blockDim.x) {
    if (p.y_h) st(p.y_h[state + j], s.h[j]);
    if (p.y_c) st(p.y_c[state + j], s.cell[j]);
  }
}
)device";

constexpr const char* kLstm = R"device(
    for (i64 j = t0; j < H; j += blockDim.x) {
      const A in = act(d, 0, x[j] + s.sums[j] + s.peephole(0, j) * s.cell[j]);
      const A forget = $FORGET$;
      const A cell = forget * s.cell[j] + in * act(d, 1, x[3 * H + j] + s.sums[3 * H + j]);
      const A out = act(d, 0, x[H + j] + s.sums[H + j] + s.peephole(1, j) * cell);
      s.h[j] = out * act(d, 2, cell);
      s.cell[j] = cell;
    }
)device";
// The reset gate goes over the state, or over its product with r.
constexpr const char* kGru = R"device(
    for (i64 j = t0; j < H; j += blockDim.x) {
      const A reset = act(d, 0, x[H + j] + s.sums[H + j]);
      s.gated[j] = $BEHIND$ ? reset * s.sums[2 * H + j] : reset * s.h[j];
    }
    __syncthreads();
    if (!$BEHIND$) {
      for (i64 j = t0; j < H; j += blockDim.x) s.sums[2 * H + j] = s.from_state(s.gated, 2 * H + j);
      __syncthreads();
    }
    for (i64 j = t0; j < H; j += blockDim.x) {
      const A z = act(d, 0, x[j] + s.sums[j]), behind = $BEHIND$ ? s.gated[j] : s.sums[2 * H + j];
      s.h[j] = (A(1) - z) * act(d, 1, x[2 * H + j] + behind) + z * s.h[j];
    }
)device";
constexpr const char* kRnn = R"device(
    for (i64 j = t0; j < H; j += blockDim.x) s.h[j] = act(d, 0, x[j] + s.sums[j]);
)device";

std::string activation_text(const RnnActivation& f) {
  const std::string alpha = "A(" + number_text(f.alpha) + ")",
                    beta = "A(" + number_text(f.beta) + ")";
  switch (f.function) {
    case RnnFunction::kRelu: return "op_max(A(0), x)";
    case RnnFunction::kTanh: return "m_tanh(x)";
    case RnnFunction::kSigmoid: return "op_sigmoid(x)";
    case RnnFunction::kAffine: return alpha + " * x + " + beta;
    case RnnFunction::kLeakyRelu: return "x < A(0) ? " + alpha + " * x : x";
    case RnnFunction::kElu: return "x < A(0) ? " + alpha + " * m_expm1(x) : x";
    case RnnFunction::kSoftsign: return "x / (A(1) + m_abs(x))";
    case RnnFunction::kThresholdedRelu: return "x > " + alpha + " ? x : A(0)";
    case RnnFunction::kHardSigmoid: return "clamped(" + alpha + " * x + " + beta + ", A(0), A(1))";
    case RnnFunction::kSoftplus: return "op_softplus(x)";
    default: return alpha + " * m_tanh(" + beta + " * x)";
  }
}

// Narrow floats in float32, wider ones in double.
const char* accumulator_of(nef_dtype t) { return is_narrow(t) ? "f32" : "f64"; }
size_t accumulator_bytes(nef_dtype t) { return is_narrow(t) ? 4 : 8; }

std::string source(const Region& region, const Node& node) {
  const RnnSpec spec = backends::read_rnn(node);
  const nef_dtype t = region.input(node, kX).dtype;
  std::string activations, clip;
  for (int d = 0; d < spec.directions; ++d) {
    for (int i = 0; i < 3; ++i) {
      activations += "    case " + std::to_string(d * 3 + i) + ": return " +
                     activation_text(spec.activations[d][i]) + ";\n";
    }
  }
  if (spec.clip > 0) {
    const std::string limit = "A(" + number_text(spec.clip) + ")";
    clip = "  x = clamped(x, -" + limit + ", " + limit + ");\n";
  }
  const bool lstm = node.op == NEF_OP_LSTM, gru = node.op == NEF_OP_GRU;
  // `STEP` first: it has words of its own.
  return fill((type_text("X", t) + kKernelCommon + kHead + kTile + kSteps).c_str(),
              {{"STEP", lstm  ? kLstm
                        : gru ? kGru
                              : kRnn},
               {"A", accumulator_of(t)},
               {"CLIP", clip},
               {"ACTIVATIONS", activations},
               {"ROWS", gru && !spec.reset_behind ? "2 * H" : "p.n"},
               {"BEHIND", spec.reset_behind ? "true" : "false"},
               {"FORGET", spec.input_forget ? "A(1) - in"
                                            : "act(d, 0, x[2 * H + j] + s.sums[2 * H + j] + "
                                              "s.peephole(2, j) * s.cell[j])"}});
}

struct Shape {
  int64_t steps = 0, batches = 0, hidden = 0, rows = 0, directions = 1;
  int64_t before() const { return directions * steps * batches * rows; }
  int64_t state() const { return directions * batches * (3 * hidden + rows); }
};
Shape shape_of(const Call& c, const RnnSpec& spec) {
  const Dims x = c.in(kX), r = c.in(kR);
  Shape s;
  s.steps = x.at[spec.batch_first ? 1 : 0];
  s.batches = x.at[spec.batch_first ? 0 : 1];
  s.hidden = r.at[2];
  s.rows = spec.gates() * s.hidden;
  s.directions = spec.directions;
  return s;
}

size_t scratch(const Call& c) {
  const Shape s = shape_of(c, backends::read_rnn(c.node()));
  return static_cast<size_t>(s.before() + s.state()) * accumulator_bytes(c.type(kX));
}

void launch(const Call& c, Module* module) {
  const RnnSpec spec = backends::read_rnn(c.node());
  const Shape s = shape_of(c, spec);
  if (s.batches * s.hidden == 0) return;
  const int64_t m = s.steps * s.batches;
  Params p;
  for (size_t i = 0; i < 3; ++i) p.add(c.to(i));
  for (size_t i = kX; i <= kPeepholes; ++i) p.add(c.from(i));
  const auto bytes = static_cast<int64_t>(accumulator_bytes(c.type(kX)));
  p.add(c.scratch()).add(c.scratch() + s.before() * bytes).add(c.fault("a sequence length"));
  p.add(m).add(s.rows).add(c.in(kX).at[2]).add(s.steps).add(s.batches).add(s.hidden);
  p.add(s.directions).add(int64_t{spec.batch_first}).add(int64_t{spec.reverse});
  if (m > 0) c.launch(*module, "tile", tile_grid(m, s.rows, s.directions), p);
  c.launch(*module, "steps", {s.directions * s.batches, 1, 256}, p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_LSTM, "lstm", source, launch, scratch, 0, true},
    {NEF_OP_GRU, "gru", source, launch, scratch, 0, true},
    {NEF_OP_RNN, "rnn", source, launch, scratch, 0, true},
};

}  // namespace

std::span<const OpKernel> rnn_kernels() { return kKernels; }

}  // namespace nef::gpu
