// SPDX-License-Identifier: Apache-2.0
// Cases of Attention and RotaryEmbedding.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

Tolerance tolerance_for(nef_dtype t) {
  return t == NEF_FLOAT16 || t == NEF_BFLOAT16 ? Tolerance{1.5, 1} : Tolerance{16, 1};
}

struct Geometry {
  int64_t batch, q_heads, kv_heads, q_length, kv_length, head, v_head;
};
const Geometry kGeometries[] = {
    {1, 1, 1, 1, 1, 1, 1},        {2, 3, 3, 4, 6, 8, 8},       {1, 4, 2, 5, 5, 16, 16},
    {2, 6, 1, 1, 33, 8, 4},       {1, 2, 2, 67, 67, 32, 32},   {1, 2, 2, 17, 130, 20, 24},
    {0, 2, 2, 3, 3, 4, 4},        {1, 2, 2, 3, 0, 4, 4},       {1, 2, 1, 35, 140, 64, 64},
    {1, 1, 1, 130, 66, 128, 128}, {2, 8, 2, 1, 200, 128, 128}, {1, 2, 2, 1, 1100, 64, 64}};

struct Qkv {
  Tensor q, k, v;
};
Qkv make_qkv(nef_dtype t, const Geometry& g, bool packed) {
  const auto dims = [&](int64_t heads, int64_t length, int64_t size) {
    return packed ? Dims{g.batch, length, heads * size} : Dims{g.batch, heads, length, size};
  };
  return {make(t, dims(g.q_heads, g.q_length, g.head), Fill::Small, 1),
          make(t, dims(g.kv_heads, g.kv_length, g.head), Fill::Unit, 2),
          make(t, dims(g.kv_heads, g.kv_length, g.v_head), Fill::Unit, 3)};
}

ir::AttrBuilder attention(const Geometry& g, bool packed) {
  auto b = attrs(NEF_OP_ATTENTION);
  if (packed)
    b.set_int(NEF_ATTENTION_Q_NUM_HEADS, g.q_heads).set_int(NEF_ATTENTION_KV_NUM_HEADS, g.kv_heads);
  return b;
}

std::string name_of(const Geometry& g) {
  return dims_name({g.batch, g.q_heads, g.kv_heads, g.q_length, g.kv_length, g.head, g.v_head});
}

// A bool mask whose first query sees nothing.
Tensor hiding_mask(const Geometry& g) {
  std::vector<double> keep;
  for (int64_t i = 0; i < g.q_length * g.kv_length; ++i)
    keep.push_back(i >= g.kv_length && i % 3 != 0 ? 1 : 0);
  return values(NEF_BOOL, {g.q_length, g.kv_length}, keep);
}

// Tall and short additive masks, with -inf in places.
Tensor additive_mask(nef_dtype t, const Dims& dims) {
  Tensor m = make(t, dims, Fill::Unit, 7);
  std::vector<double> numbers;
  for (int64_t i = 0; i < m.count(); ++i) {
    numbers.push_back(i % 5 == 2 ? -std::numeric_limits<double>::infinity() : float_at(m, i));
  }
  return values(t, dims, numbers);
}

void add_plain(nef_dtype t, CaseList& out) {
  for (const Geometry& g : kGeometries) {
    // Large heads are there for kernels of 16-bit floats.
    if (g.head >= 64 && t != NEF_FLOAT16 && t != NEF_BFLOAT16) continue;
    for (bool packed : {false, true}) {
      const Qkv x = make_qkv(t, g, packed);
      const std::string name = name_of(g) + (packed ? "_packed" : "");
      const auto add = [&](const std::string& what, std::vector<Tensor> inputs, ir::AttrBuilder b) {
        out.push_back(
            single(name + what, NEF_OP_ATTENTION, std::move(inputs), b.build(), tolerance_for(t)));
      };
      add("", {x.q, x.k, x.v}, attention(g, packed));
      add("_causal", {x.q, x.k, x.v}, attention(g, packed).set_int(NEF_ATTENTION_IS_CAUSAL, 1));
      add("_scale_softcap", {x.q, x.k, x.v},
          attention(g, packed)
              .set_float(NEF_ATTENTION_SCALE, 0.3)
              .set_float(NEF_ATTENTION_SOFTCAP, 2));
      if (g.batch == 0 || g.kv_length == 0) continue;
      add("_hidden", {x.q, x.k, x.v, hiding_mask(g)}, attention(g, packed));
      add("_hidden_causal", {x.q, x.k, x.v, hiding_mask(g)},
          attention(g, packed).set_int(NEF_ATTENTION_IS_CAUSAL, 1));
      add("_mask4d",
          {x.q, x.k, x.v, additive_mask(t, {g.batch, g.q_heads, g.q_length, g.kv_length})},
          attention(g, packed));
      add("_mask_row", {x.q, x.k, x.v, additive_mask(t, {g.batch, 1, 1, g.kv_length})},
          attention(g, packed));
      add("_mask_column", {x.q, x.k, x.v, additive_mask(t, {g.batch, 1, g.q_length, 1})},
          attention(g, packed));
      if (g.kv_length == 1) continue;
      add("_mask_short", {x.q, x.k, x.v, additive_mask(t, {g.q_length, g.kv_length - 1})},
          attention(g, packed));
    }
  }
}

// More heads than a GPU has multiprocessors, twice over: its blocks take several in turn.
void add_many_heads(CaseList& out) {
  const Geometry g = {2, 140, 70, 16, 130, 8, 8};
  const Qkv x = make_qkv(NEF_BFLOAT16, g, true);
  out.push_back(single(name_of(g), NEF_OP_ATTENTION, {x.q, x.k, x.v}, attention(g, true).build(),
                       tolerance_for(NEF_BFLOAT16)));
}

// Queries as a step of a decoder has them, keys and values as they lie in a cache.
void add_mixed(nef_dtype t, CaseList& out) {
  for (int64_t queries : {1, 3, 20}) {
    const Geometry g = {2, 4, 2, queries, 37, 8, 8};
    const Tensor q = make_qkv(t, g, true).q;
    const Qkv x = make_qkv(t, g, false);
    const auto words = attention(g, true).set_int(NEF_ATTENTION_IS_CAUSAL, 1).build();
    const std::string name = "mixed" + std::to_string(queries);
    out.push_back(single(name, NEF_OP_ATTENTION, {q, x.k, x.v}, words, tolerance_for(t)));
    out.push_back(single(name + "_lengths", NEF_OP_ATTENTION,
                         {q, x.k, x.v, {}, {}, {}, ints({queries + 9, queries})}, words,
                         tolerance_for(t)));
  }
}

void add_past(nef_dtype t, CaseList& out) {
  const Geometry g = {2, 4, 2, 3, 3, 8, 6};
  for (int64_t past : {0, 1, 9}) {
    for (bool packed : {false, true}) {
      const Qkv x = make_qkv(t, g, packed);
      const Tensor past_k = make(t, {g.batch, g.kv_heads, past, g.head}, Fill::Unit, 4);
      const Tensor past_v = make(t, {g.batch, g.kv_heads, past, g.v_head}, Fill::Unit, 5);
      for (int64_t causal : {0, 1}) {
        const auto words = attention(g, packed).set_int(NEF_ATTENTION_IS_CAUSAL, causal).build();
        out.push_back(single(
            "past" + std::to_string(past) + (causal ? "_causal" : "") + (packed ? "_packed" : ""),
            NEF_OP_ATTENTION, {x.q, x.k, x.v, {}, past_k, past_v}, words, tolerance_for(t), 3));
      }
    }
  }
  const Qkv x = make_qkv(t, {2, 4, 2, 3, 7, 8, 6}, false);
  for (int64_t causal : {0, 1}) {
    const auto words = attrs(NEF_OP_ATTENTION).set_int(NEF_ATTENTION_IS_CAUSAL, causal).build();
    const std::string name = causal != 0 ? "lengths_causal" : "lengths";
    out.push_back(single(name, NEF_OP_ATTENTION, {x.q, x.k, x.v, {}, {}, {}, ints({5, 3})}, words,
                         tolerance_for(t)));
    // What lies behind the keys of a batch may be anything.
    const auto spoilt = [&](const Tensor& v) {
      std::vector<double> numbers;
      for (int64_t i = 0; i < v.count(); ++i) {
        numbers.push_back(i / v.dims[3] % 7 < 5 ? float_at(v, i) : std::nan(""));
      }
      return values(t, v.dims, numbers);
    };
    out.push_back(single(name + "_nan", NEF_OP_ATTENTION,
                         {x.q, spoilt(x.k), spoilt(x.v), {}, {}, {}, ints({5, 3})}, words,
                         tolerance_for(t)));
    out.push_back(single(name + "_beyond", NEF_OP_ATTENTION,
                         {x.q, x.k, x.v, {}, {}, {}, ints({9, -2})}, words, tolerance_for(t)));
  }
  add_mixed(t, out);
}

// The fourth output shows the scores at four stages; the caches in between are not asked for.
void add_scores(nef_dtype t, CaseList& out) {
  const Geometry g = {1, 2, 2, 4, 6, 8, 8};
  for (int64_t mode = 0; mode < 4; ++mode) {
    const Qkv x = make_qkv(t, g, false);
    CaseBuilder b("scores_mode" + std::to_string(mode));
    const std::vector<int32_t> in = {b.input(x.q), b.input(x.k), b.input(x.v),
                                     b.input(hiding_mask(g))};
    b.node(NEF_OP_ATTENTION, in,
           attrs(NEF_OP_ATTENTION)
               .set_int(NEF_ATTENTION_QK_MATMUL_OUTPUT_MODE, mode)
               .set_float(NEF_ATTENTION_SOFTCAP, 3)
               .build(),
           4, 0b0110);
    const Tolerance tolerance = tolerance_for(t);
    out.push_back(b.tolerance(tolerance.ulps, 4).build());
  }
}

void add_rotary(CaseList& out) {
  const nef_op op = NEF_OP_ROTARY_EMBEDDING;
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tolerance tolerance{t == NEF_FLOAT16 || t == NEF_BFLOAT16 ? 1.0 : 2.0, 4};
    for (int64_t interleaved : {0, 1}) {
      for (int64_t rotary : {0, 4}) {
        const int64_t half = rotary == 0 ? 4 : rotary / 2;
        auto b = attrs(op);
        b.set_int(NEF_ROTARY_EMBEDDING_INTERLEAVED, interleaved)
            .set_int(NEF_ROTARY_EMBEDDING_ROTARY_EMBEDDING_DIM, rotary);
        const std::string name =
            std::string(interleaved ? "interleaved" : "halves") + std::to_string(rotary);
        const Tensor x = make(t, {2, 3, 5, 8}, Fill::Small, 1),
                     packed = make(t, {2, 5, 24}, Fill::Small, 1);
        const Tensor co = make(t, {9, half}, Fill::Unit, 2), si = make(t, {9, half}, Fill::Unit, 3);
        Tensor positions = ints({0, 1, 2, 3, 4, 8, 7, 6, 5, 4});
        positions.dims = {2, 5};
        out.push_back(single(name, op, {x, co, si, positions}, b.build(), tolerance));
        out.push_back(
            single(name + "_no_ids", op,
                   {x, make(t, {2, 5, half}, Fill::Unit, 2), make(t, {2, 5, half}, Fill::Unit, 3)},
                   b.build(), tolerance));
        b.set_int(NEF_ROTARY_EMBEDDING_NUM_HEADS, 3);
        out.push_back(
            single(name + "_packed", op, {packed, co, si, positions}, b.build(), tolerance));
        Tensor outside = positions;
        outside.bytes[0] = 9;
        Case c = single(name + "_position_out_of_range", op, {packed, co, si, outside}, b.build());
        c.expect = NEF_OUT_OF_RANGE;
        out.push_back(std::move(c));
      }
    }
  }
}

}  // namespace

bool add_attention_cases(nef_op op, CaseList& out) {
  if (op == NEF_OP_ROTARY_EMBEDDING) {
    add_rotary(out);
    return true;
  }
  if (op != NEF_OP_ATTENTION) return false;
  for (nef_dtype t : allowed_dtypes(op)) {
    add_plain(t, out);
    add_past(t, out);
    add_scores(t, out);
  }
  add_many_heads(out);
  return true;
}

}  // namespace nef::conformance
