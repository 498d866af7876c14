// SPDX-License-Identifier: Apache-2.0
// Cases of LSTM, GRU and RNN.
#include <cstring>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

struct RnnShape {
  const char* name;
  int64_t steps, batch, width, hidden;
};
constexpr RnnShape kShapes[] = {
    {"one_step", 1, 1, 3, 4}, {"short", 4, 1, 5, 7},          {"batch", 3, 3, 2, 5},
    {"wide", 2, 2, 33, 70},   {"many", 5, 9, 4, 16},          {"no_step", 0, 2, 3, 4},
    {"no_batch", 2, 0, 3, 4}, {"page_stride", 2, 7, 1024, 3}, {"no_input", 2, 2, 0, 3},
};

int64_t gates_of(nef_op op) { return op == NEF_OP_LSTM ? 4 : op == NEF_OP_GRU ? 3 : 1; }

// What a case gives beside x, w and r.
struct Extras {
  const char* direction = "forward";
  int64_t layout = 0;
  bool bias = false, lens = false, states = false, peepholes = false;
};

std::vector<Tensor> inputs_of(nef_op op, nef_dtype t, const RnnShape& s, const Extras& e) {
  const int64_t d = e.direction == std::string("bidirectional") ? 2 : 1;
  const int64_t rows = gates_of(op) * s.hidden;
  const bool first = e.layout == 1;
  const std::vector<int64_t> x_dims = first ? std::vector<int64_t>{s.batch, s.steps, s.width}
                                            : std::vector<int64_t>{s.steps, s.batch, s.width};
  const std::vector<int64_t> state = first ? std::vector<int64_t>{s.batch, d, s.hidden}
                                           : std::vector<int64_t>{d, s.batch, s.hidden};
  std::vector<Tensor> in = {make(t, x_dims, Fill::Unit, 1),
                            make(t, {d, rows, s.width}, Fill::Unit, 2),
                            make(t, {d, rows, s.hidden}, Fill::Unit, 3)};
  in.push_back(e.bias ? make(t, {d, 2 * rows}, Fill::Unit, 4) : Tensor{});
  std::vector<double> numbers;
  for (int64_t b = 0; b < s.batch; ++b)
    numbers.push_back(static_cast<double>((b * 2 + 1) % (s.steps + 1)));
  in.push_back(e.lens ? values(NEF_INT32, {s.batch}, numbers) : Tensor{});
  in.push_back(e.states ? make(t, state, Fill::Unit, 5) : Tensor{});
  if (op == NEF_OP_LSTM) {
    in.push_back(e.states ? make(t, state, Fill::Unit, 6) : Tensor{});
    in.push_back(e.peepholes ? make(t, {d, 3 * s.hidden}, Fill::Unit, 7) : Tensor{});
  }
  return in;
}

// `growth`: how large the numbers become that the steps add up.
Tolerance tolerance_of(nef_dtype t, const RnnShape& s, double growth = 1) {
  if (t == NEF_FLOAT16 || t == NEF_BFLOAT16) return {2, 1};
  return {32, growth * (1 + 0.25 * static_cast<double>(s.width + s.hidden))};
}

ir::AttrBuilder base(nef_op op, const Extras& e) {
  auto b = attrs(op);
  b.set_string(NEF_LSTM_DIRECTION, e.direction).set_int(NEF_LSTM_LAYOUT, e.layout);
  return b;
}

void add(nef_op op, nef_dtype t, const RnnShape& s, const Extras& e, const std::string& name,
         std::vector<int64_t> words, CaseList& out, double growth = 1) {
  out.push_back(single(std::string(s.name) + "_" + e.direction + name, op, inputs_of(op, t, s, e),
                       std::move(words), tolerance_of(t, s, growth), op == NEF_OP_LSTM ? 3 : 2));
}

void add_shapes(nef_op op, CaseList& out) {
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const RnnShape& s : kShapes) {
      for (const char* direction : {"forward", "reverse", "bidirectional"}) {
        for (int64_t layout : {0, 1}) {
          const bool all = layout == 1;
          Extras e{direction, layout, true, all, all, all};
          add(op, t, s, e, layout == 1 ? "_layout1_all" : "_bias", base(op, e).build(), out);
        }
      }
    }
    const Extras plain{"forward", 0, false, false, false, false};
    add(op, t, kShapes[1], plain, "_plain", base(op, plain).build(), out);
  }
}

// A long sequence, so that sums of x come in several pieces.
void add_long(nef_op op, CaseList& out) {
  const RnnShape s{"long", 700, 2, 2, 64};
  for (const char* direction : {"forward", "reverse"}) {
    const Extras e{direction, 0, true, true, false, false};
    auto in = inputs_of(op, NEF_FLOAT32, s, e);
    in[2] = make(NEF_FLOAT32, in[2].dims, Fill::Unit, 3);
    for (int64_t i = 0; i < in[2].count(); ++i) {
      float v;
      std::memcpy(&v, in[2].bytes.data() + i * 4, 4);
      v /= 16;
      std::memcpy(in[2].bytes.data() + i * 4, &v, 4);
    }
    out.push_back(single(std::string("long_") + direction, op, in, base(op, e).build(), {64, 16},
                         op == NEF_OP_LSTM ? 3 : 2));
  }
}

void add_options(nef_op op, CaseList& out) {
  const RnnShape s = kShapes[2];
  const Extras e{"bidirectional", 0, true, false, true, false};
  const size_t per = op == NEF_OP_LSTM ? 3 : op == NEF_OP_GRU ? 2 : 1;
  const char* names[] = {
      "Relu",        "Affine",   "LeakyRelu",  "Elu",  "Softsign", "ThresholdedRelu",
      "HardSigmoid", "Softplus", "ScaledTanh", "Tanh", "Sigmoid"};
  for (nef_dtype t : {NEF_FLOAT32, NEF_FLOAT64}) {
    for (const char* name : names) {
      std::string list;
      for (size_t i = 0; i < 2 * per; ++i) list += (list.empty() ? "" : ",") + std::string(name);
      const std::vector<double> alphas = {0.5, 0.25}, betas = {0.75};
      auto b = base(op, e);
      b.set_string(NEF_LSTM_ACTIVATIONS, list);
      add(op, t, s, e, std::string("_") + name, b.build(), out, 1000);
      b.set_floats(NEF_LSTM_ACTIVATION_ALPHA, std::span(alphas).first(per == 1 ? 1 : 2));
      b.set_floats(NEF_LSTM_ACTIVATION_BETA, betas);
      add(op, t, s, e, std::string("_") + name + "_alpha", b.build(), out, 1000);
    }
    add(op, t, s, e, "_clip", base(op, e).set_float(NEF_LSTM_CLIP, 0.3).build(), out);
    if (op == NEF_OP_GRU) {
      for (const RnnShape& shape : kShapes) {
        add(op, t, shape, e, "_reset_behind",
            base(op, e).set_int(NEF_GRU_LINEAR_BEFORE_RESET, 1).build(), out);
      }
    }
    if (op == NEF_OP_LSTM) {
      for (bool peepholes : {false, true}) {
        Extras with = e;
        with.peepholes = peepholes;
        add(op, t, s, with, peepholes ? "_input_forget_peepholes" : "_input_forget",
            base(op, with).set_int(NEF_LSTM_INPUT_FORGET, 1).build(), out);
      }
    }
  }
  for (double bad : {-1.0, 4.0}) {
    auto in = inputs_of(op, NEF_FLOAT32, s, {"forward", 0, false, true, false, false});
    in[4] = values(NEF_INT32, {s.batch}, {1, bad, 1});
    Case c = single("length_" + std::to_string(static_cast<int>(bad)), op, std::move(in),
                    attrs(op).build(), {}, op == NEF_OP_LSTM ? 3 : 2);
    c.expect = NEF_OUT_OF_RANGE;
    out.push_back(std::move(c));
  }
}

}  // namespace

bool add_rnn_cases(nef_op op, CaseList& out) {
  if (op != NEF_OP_LSTM && op != NEF_OP_GRU && op != NEF_OP_RNN) return false;
  add_shapes(op, out);
  add_long(op, out);
  add_options(op, out);
  return true;
}

}  // namespace nef::conformance
