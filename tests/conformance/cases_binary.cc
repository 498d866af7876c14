// SPDX-License-Identifier: Apache-2.0
// Cases of elementwise ops with several broadcast tensors.
#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;
struct Pair {
  Dims a, b;
};
const std::vector<Pair> kPairs = {
    {{}, {}},
    {{3}, {3}},
    {{67}, {67}},
    {{2500}, {2500}},
    {{2, 3}, {3}},
    {{3}, {2, 3}},
    {{2, 1}, {1, 3}},
    {{}, {5}},
    {{5}, {}},
    {{0}, {1}},
    {{1}, {0}},
    {{0, 3}, {1, 3}},
    {{2, 0}, {2, 1}},
    {{4, 1, 6}, {5, 1}},
    {{3, 1, 1}, {3, 4, 5}},
    {{1, 17}, {13, 1}},
    {{2, 3, 4, 5}, {1, 3, 1, 1}},
    {{8, 300}, {300}},
    {{8, 300}, {8, 1}},
    {{1}, {1200}},
    {{2, 1, 3, 1, 2}, {1, 4, 1, 5, 1}},
};

std::string pair_name(const Pair& p) { return dims_name(p.a) + "_" + dims_name(p.b); }

// All shapes, then hard numbers. Both inputs have dtype t.
void add_pairs(nef_op op, nef_dtype t, const std::vector<int64_t>& words, const std::string& suffix,
               Tolerance tolerance, CaseList& out) {
  for (const Pair& p : kPairs) {
    out.push_back(single(pair_name(p) + suffix, op,
                         {make(t, p.a, Fill::Small, 1), make(t, p.b, Fill::Small, 2)}, words,
                         tolerance));
  }
  out.push_back(single("special" + suffix, op,
                       {make(t, {997}, Fill::Extreme, 3), make(t, {997}, Fill::Extreme, 4)}, words,
                       tolerance));
  out.push_back(single("special_broadcast" + suffix, op,
                       {make(t, {19, 1}, Fill::Extreme, 5), make(t, {1, 23}, Fill::Extreme, 6)},
                       words, tolerance));
  if (t == NEF_INT8 || t == NEF_UINT8) {
    out.push_back(single("all_pairs" + suffix, op,
                         {make(t, {256, 1}, Fill::Ramp), make(t, {1, 256}, Fill::Ramp)}, words,
                         tolerance));
  }
}

void add_all(nef_op op, double ulps, CaseList& out) {
  for (nef_dtype t : allowed_dtypes(op)) add_pairs(op, t, {}, "", {is_float(t) ? ulps : 0, 0}, out);
}

void add_mod(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_MOD)) {
    for (int64_t fmod : {0, 1}) {
      // With the sign of the divisor a sum rounds once more.
      const double ulps = fmod == 0 && is_float(t) ? 1 : 0;
      add_pairs(NEF_OP_MOD, t, attrs(NEF_OP_MOD).set_int(NEF_MOD_FMOD, fmod).build(),
                fmod ? "_fmod" : "", {ulps, 0}, out);
    }
  }
}

void add_bit_shift(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_BIT_SHIFT)) {
    for (const char* direction : {"LEFT", "RIGHT"}) {
      const auto words =
          attrs(NEF_OP_BIT_SHIFT).set_string(NEF_BIT_SHIFT_DIRECTION, direction).build();
      add_pairs(NEF_OP_BIT_SHIFT, t, words, std::string("_") + direction, {}, out);
      out.push_back(single(std::string("widths_") + direction, NEF_OP_BIT_SHIFT,
                           {make(t, {70}, Fill::Extreme), make(t, {70}, Fill::Ramp)}, words));
    }
  }
}

void add_pow(CaseList& out) {
  const std::pair<nef_dtype, nef_dtype> mixed[] = {
      {NEF_FLOAT32, NEF_INT32},  {NEF_INT32, NEF_FLOAT32}, {NEF_FLOAT16, NEF_FLOAT32},
      {NEF_INT64, NEF_INT8},     {NEF_FLOAT64, NEF_INT64}, {NEF_UINT8, NEF_INT16},
      {NEF_FLOAT32, NEF_FLOAT64}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_POW)) {
    const double ulps = !is_float(t) ? 0 : t <= NEF_BFLOAT16 ? 1 : 16;
    add_pairs(NEF_OP_POW, t, {}, "", {ulps, 0}, out);
    for (double e : {2.0, 3.0, 0.5, 1.0, 0.0}) {
      out.push_back(single("by_" + std::to_string(e), NEF_OP_POW,
                           {make(t, {67}, Fill::Positive), scalar(t, e)}, {}, {ulps, 0}));
    }
  }
  for (const auto& [base, exponent] : mixed) {
    const double ulps = !is_float(base) ? 0 : base <= NEF_BFLOAT16 ? 1 : 16;
    out.push_back(single("exponent_dtype_" + std::to_string(exponent), NEF_OP_POW,
                         {make(base, {67}, Fill::Small, 1), make(exponent, {67}, Fill::Small, 2)},
                         {}, {ulps, 0}));
  }
}

// Slope broadcasts to x only.
void add_prelu(CaseList& out) {
  const Pair pairs[] = {
      {{}, {}},         {{67}, {67}},  {{0}, {1}},  {{8, 300}, {300}}, {{2, 3, 4, 5}, {3, 1, 1}},
      {{5, 7}, {5, 1}}, {{2500}, {1}}, {{3, 4}, {}}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_PRELU)) {
    for (const Pair& p : pairs) {
      out.push_back(single(pair_name(p), NEF_OP_PRELU,
                           {make(t, p.a, Fill::Small, 1), make(t, p.b, Fill::Small, 2)}));
    }
    out.push_back(single("special", NEF_OP_PRELU,
                         {make(t, {211}, Fill::Extreme, 1), make(t, {211}, Fill::Extreme, 2)}));
  }
}

void add_variadic(nef_op op, CaseList& out) {
  const std::vector<std::vector<Dims>> shapes = {{{67}},
                                                 {{}},
                                                 {{3}, {3}, {3}},
                                                 {{2500}, {2500}, {2500}},
                                                 {{2, 3}, {3}, {}},
                                                 {{0, 3}, {1, 3}, {3}},
                                                 {{4, 1}, {1, 5}, {4, 5}, {5}, {1}},
                                                 {{3, 1, 1}, {2, 1}, {5}}};
  for (nef_dtype t : allowed_dtypes(op)) {
    // Sums of three and more may round after each step.
    const bool sums = op == NEF_OP_SUM || op == NEF_OP_MEAN;
    const Tolerance tolerance{is_float(t) && sums ? 2.0 : 0.0, sums ? 4.0 : 0.0};
    for (const auto& dims : shapes) {
      std::vector<Tensor> inputs;
      std::string name = std::to_string(dims.size()) + "_inputs";
      for (const Dims& d : dims) {
        inputs.push_back(make(t, d, Fill::Small, inputs.size() + 1));
        name += "_" + dims_name(d);
      }
      out.push_back(single(name, op, std::move(inputs), {}, tolerance));
    }
    if (!sums) add_pairs(op, t, {}, "", {}, out);
  }
}

void add_clip(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_CLIP)) {
    const Tensor low = scalar(t, 2), high = scalar(t, 5);
    for (const Dims& d : {Dims{}, Dims{0}, Dims{67}, Dims{2500}, Dims{3, 5}}) {
      const Tensor x = make(t, d, Fill::Extreme);
      out.push_back(single(dims_name(d) + "_both", NEF_OP_CLIP, {x, low, high}));
      out.push_back(single(dims_name(d) + "_min", NEF_OP_CLIP, {x, low}));
      out.push_back(single(dims_name(d) + "_max", NEF_OP_CLIP, {x, {}, high}));
      out.push_back(single(dims_name(d) + "_none", NEF_OP_CLIP, {x}));
      out.push_back(single(dims_name(d) + "_crossed", NEF_OP_CLIP, {x, high, low}));
    }
  }
}

void add_where(CaseList& out) {
  struct Three {
    Dims condition, x, y;
  };
  const Three shapes[] = {
      {{}, {}, {}},   {{67}, {67}, {67}}, {{2500}, {2500}, {}},      {{3, 1}, {1, 4}, {2, 1, 1}},
      {{0}, {1}, {}}, {{1}, {0}, {1}},    {{8, 300}, {300}, {8, 1}}, {{1}, {5}, {5}}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_WHERE, 1)) {
    for (const Three& s : shapes) {
      Case c =
          single(dims_name(s.condition) + "_" + dims_name(s.x) + "_" + dims_name(s.y), NEF_OP_WHERE,
                 {make(NEF_BOOL, s.condition, Fill::Small, 3), make(t, s.x, Fill::Extreme, 1),
                  make(t, s.y, Fill::Extreme, 2)});
      c.dtype = t;
      out.push_back(std::move(c));
    }
  }
}

}  // namespace

bool add_binary_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_ADD:
    case NEF_OP_SUB:
    case NEF_OP_MUL:
    case NEF_OP_DIV:
    case NEF_OP_EQUAL:
    case NEF_OP_GREATER:
    case NEF_OP_GREATER_OR_EQUAL:
    case NEF_OP_LESS:
    case NEF_OP_LESS_OR_EQUAL:
    case NEF_OP_AND:
    case NEF_OP_OR:
    case NEF_OP_XOR:
    case NEF_OP_BITWISE_AND:
    case NEF_OP_BITWISE_OR:
    case NEF_OP_BITWISE_XOR: add_all(op, 0, out); return true;
    case NEF_OP_MOD: add_mod(out); return true;
    case NEF_OP_POW: add_pow(out); return true;
    case NEF_OP_PRELU: add_prelu(out); return true;
    case NEF_OP_BIT_SHIFT: add_bit_shift(out); return true;
    case NEF_OP_MAX:
    case NEF_OP_MIN:
    case NEF_OP_SUM:
    case NEF_OP_MEAN: add_variadic(op, out); return true;
    case NEF_OP_CLIP: add_clip(out); return true;
    case NEF_OP_WHERE: add_where(out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
