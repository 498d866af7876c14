// SPDX-License-Identifier: Apache-2.0
// Fused regions of every kind. The reference runs them node by node.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;
constexpr nef_dtype kFloats[] = {NEF_FLOAT16, NEF_BFLOAT16, NEF_FLOAT32, NEF_FLOAT64};

// A fused chain may keep more precision than node by node: each rounding in between may differ.
Tolerance chain(nef_dtype t, double nodes) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  return narrow ? Tolerance{nodes, 4} : Tolerance{4 * nodes, 4};
}

std::vector<int64_t> gelu() { return attrs(NEF_OP_GELU).build(); }

Case finish(CaseBuilder& b, nef_region_kind kind, Tolerance tolerance) {
  return b.kind(kind).tolerance(tolerance.ulps, tolerance.magnitude).build();
}

// Unary chains of many lengths.
void add_chains(nef_dtype t, CaseList& out) {
  constexpr nef_op kOps[] = {NEF_OP_ABS, NEF_OP_SQRT,    NEF_OP_TANH,
                             NEF_OP_NEG, NEF_OP_SIGMOID, NEF_OP_RELU};
  for (int length : {2, 3, 6, 13, 40}) {
    for (const Dims& dims : {Dims{67}, Dims{3, 5}, Dims{2500}, Dims{0, 4}, Dims{}}) {
      CaseBuilder b("chain" + std::to_string(length) + "_" + dims_name(dims));
      int32_t v = b.input(make(t, dims, Fill::Small));
      for (int i = 0; i < length; ++i) v = b.node(kOps[i % 6], {v})[0];
      out.push_back(finish(b, NEF_REGION_ELEMENTWISE, chain(t, length < 4 ? 3 : 8)));
    }
  }
}

// (a * b + c) with every kind of broadcast, a shared subexpression and a select.
void add_trees(nef_dtype t, CaseList& out) {
  const std::vector<std::vector<Dims>> shapes = {{{67}, {67}, {67}},
                                                 {{8, 300}, {300}, {8, 1}},
                                                 {{4, 5, 6}, {5, 1}, {}},
                                                 {{1, 33}, {17, 1}, {33}},
                                                 {{0, 3}, {1, 3}, {3}}};
  for (const auto& dims : shapes) {
    CaseBuilder b("tree_" + dims_name(dims[0]) + "_" + dims_name(dims[1]) + "_" +
                  dims_name(dims[2]));
    const int32_t x = b.input(make(t, dims[0], Fill::Small, 1)),
                  y = b.input(make(t, dims[1], Fill::Small, 2));
    const int32_t z = b.input(make(t, dims[2], Fill::Small, 3));
    const int32_t product = b.node(NEF_OP_MUL, {x, y})[0],
                  sum = b.node(NEF_OP_ADD, {product, z})[0];
    // Compares inputs: on computed values a last bit could flip the choice.
    const int32_t greater = b.node(NEF_OP_GREATER, {x, y})[0];
    b.node(NEF_OP_WHERE, {greater, sum, product});
    out.push_back(finish(b, NEF_REGION_ELEMENTWISE, chain(t, 3)));
  }
}

// Dtypes change inside: widen, work, narrow; and compare integers to make a mask.
void add_casts(CaseList& out) {
  for (nef_dtype t : {NEF_INT8, NEF_UINT8, NEF_INT32, NEF_INT64, NEF_FLOAT16, NEF_BFLOAT16}) {
    CaseBuilder b("cast_scale_cast");
    const int32_t x = b.input(make(t, {5, 67}, Fill::Small));
    const int32_t wide =
        b.node(NEF_OP_CAST, {x}, attrs(NEF_OP_CAST).set_int(NEF_CAST_TO, NEF_FLOAT32).build())[0];
    const int32_t scaled = b.node(NEF_OP_MUL, {wide, b.input(scalar(NEF_FLOAT32, 0.5))})[0];
    b.node(NEF_OP_CAST, {scaled}, attrs(NEF_OP_CAST).set_int(NEF_CAST_TO, t).build());
    out.push_back(b.kind(NEF_REGION_ELEMENTWISE).tolerance(1).build());
  }
  for (nef_dtype t : {NEF_INT32, NEF_INT64, NEF_UINT8}) {
    CaseBuilder b("compare_and_not");
    const int32_t x = b.input(make(t, {3, 40}, Fill::Small, 1)),
                  y = b.input(make(t, {40}, Fill::Small, 2));
    const int32_t less = b.node(NEF_OP_LESS, {x, y})[0], equal = b.node(NEF_OP_EQUAL, {x, y})[0];
    b.node(NEF_OP_NOT, {b.node(NEF_OP_OR, {less, equal})[0]});
    out.push_back(b.kind(NEF_REGION_ELEMENTWISE).build());
  }
}

// A product, then bias, activation and residual.
void add_epilogues(nef_dtype t, CaseList& out) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  const std::pair<Dims, Dims> shapes[] = {{{19, 33}, {33, 21}},    {{1, 64}, {64, 128}},
                                          {{2, 7, 40}, {40, 24}},  {{67, 5}, {5, 66}},
                                          {{3, 1032}, {1032, 40}}, {{1, 1, 2048}, {2048, 24}}};
  for (const auto& [da, db] : shapes) {
    const auto k = static_cast<double>(da.back());
    const Tolerance tolerance = narrow ? Tolerance{3, 2} : Tolerance{4, 1 + k / 4};
    Dims result = da;
    result.back() = db.back();
    const std::string name = dims_name(da) + "_by_" + dims_name(db);
    for (int what = 0; what < 4; ++what) {
      CaseBuilder b("matmul_" + name +
                    (what == 0   ? "_bias"
                     : what == 1 ? "_bias_relu"
                     : what == 2 ? "_bias_gelu"
                                 : "_bias_residual"));
      const int32_t x = b.input(make(t, da, Fill::Unit, 1)),
                    w = b.input(make(t, db, Fill::Unit, 2));
      const int32_t bias = b.input(make(t, {db.back()}, Fill::Unit, 3));
      const int32_t sum = b.node(NEF_OP_ADD, {b.node(NEF_OP_MATMUL, {x, w})[0], bias})[0];
      if (what == 1) b.node(NEF_OP_RELU, {sum});
      if (what == 2) b.node(NEF_OP_GELU, {sum}, gelu());
      if (what == 3) b.node(NEF_OP_ADD, {b.input(make(t, result, Fill::Unit, 4)), sum});
      out.push_back(finish(b, NEF_REGION_EPILOGUE, tolerance));
    }
  }
  CaseBuilder conv("conv_relu");
  const int32_t x = conv.input(make(t, {1, 4, 9, 9}, Fill::Unit, 1)),
                w = conv.input(make(t, {6, 4, 3, 3}, Fill::Unit, 2));
  conv.node(NEF_OP_RELU, {conv.node(NEF_OP_CONV, {x, w, conv.input(make(t, {6}, Fill::Unit, 3))},
                                    attrs(NEF_OP_CONV).build())[0]});
  out.push_back(finish(conv, NEF_REGION_EPILOGUE, narrow ? Tolerance{3, 2} : Tolerance{4, 10}));
  CaseBuilder norm("layer_norm_scale");
  const int32_t row = norm.input(make(t, {5, 67}, Fill::Small, 1)),
                scale = norm.input(make(t, {67}, Fill::Unit, 2));
  const int32_t y = norm.node(NEF_OP_LAYER_NORMALIZATION, {row, scale},
                              attrs(NEF_OP_LAYER_NORMALIZATION).build())[0];
  norm.node(NEF_OP_MUL, {y, norm.input(make(t, {5, 1}, Fill::Unit, 3))});
  out.push_back(finish(norm, NEF_REGION_EPILOGUE, narrow ? Tolerance{3, 2} : Tolerance{16, 1}));
}

// Elementwise producers, then a reduction, a softmax or a norm.
void add_reductions(nef_dtype t, CaseList& out) {
  for (const Dims& dims : {Dims{4, 67}, Dims{3, 1030}, Dims{2, 5, 33}, Dims{6, 1}}) {
    const auto start = [&](CaseBuilder& b) {
      const int32_t x = b.input(make(t, dims, Fill::Unit, 1)),
                    y = b.input(make(t, {dims.back()}, Fill::Unit, 2));
      return b.node(NEF_OP_ADD, {b.node(NEF_OP_MUL, {x, x})[0], y})[0];
    };
    const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
    const auto n = static_cast<double>(dims.back());
    for (nef_op op : {NEF_OP_REDUCE_SUM, NEF_OP_REDUCE_MAX, NEF_OP_REDUCE_MEAN}) {
      CaseBuilder b(std::string(ir::spec(op).name) + "_of_" + dims_name(dims));
      const int32_t producer = start(b);
      b.node(op, {producer, b.host(ints({-1}))}, attrs(op).build());
      // Roundings of the producers add up in the sum.
      out.push_back(
          finish(b, NEF_REGION_REDUCTION,
                 narrow ? Tolerance{2, op == NEF_OP_REDUCE_SUM ? n : 2} : Tolerance{4, n}));
    }
    // A residual, then a norm.
    for (nef_op op : {NEF_OP_LAYER_NORMALIZATION, NEF_OP_RMS_NORMALIZATION}) {
      CaseBuilder b(std::string("residual_") + ir::spec(op).name + "_" + dims_name(dims));
      const int32_t x = b.input(make(t, dims, Fill::Small, 1)),
                    y = b.input(make(t, dims, Fill::Small, 2));
      const int32_t sum = b.node(NEF_OP_ADD, {x, y})[0];
      b.node(op, {sum, b.input(make(t, {dims.back()}, Fill::Unit, 3))}, attrs(op).build());
      out.push_back(finish(b, NEF_REGION_REDUCTION, narrow ? Tolerance{4, 2} : Tolerance{32, 1}));
    }
    CaseBuilder soft("Softmax_of_" + dims_name(dims));
    soft.node(NEF_OP_SOFTMAX, {start(soft)}, attrs(NEF_OP_SOFTMAX).build());
    out.push_back(finish(soft, NEF_REGION_REDUCTION, narrow ? Tolerance{2, 1} : Tolerance{16, 0}));
    CaseBuilder norm("LayerNormalization_of_" + dims_name(dims));
    const int32_t producer = start(norm);
    norm.node(NEF_OP_LAYER_NORMALIZATION,
              {producer, norm.input(make(t, {dims.back()}, Fill::Unit, 3)),
               norm.input(make(t, {dims.back()}, Fill::Unit, 4))},
              attrs(NEF_OP_LAYER_NORMALIZATION).build());
    out.push_back(finish(norm, NEF_REGION_REDUCTION, narrow ? Tolerance{4, 2} : Tolerance{32, 1}));
  }
}

// A norm, then one or two products with it, gated.
void add_gated_products(nef_dtype t, CaseList& out) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  struct Form {
    Dims dims;
    int64_t n = 72;
  };
  // Rows as kernels for few of them cut them.
  std::vector<Form> forms = {
      {{1, 1, 64}}, {{3, 1, 1096}}, {{2, 9, 40}}, {{8, 1, 136}}, {{17, 1, 72}}};
  // Long sums; and results that take more than one pass over the rows.
  if (t == NEF_BFLOAT16) {
    forms.insert(forms.end(), {{{16, 1, 4120}}, {{2, 1, 14344}}, {{9, 1, 14400}}});
    forms.insert(forms.end(), {{{9, 1, 136}, 8464},
                               {{3, 1, 40}, 16936},
                               {{5, 1, 2120}, 8464},
                               {{11, 1, 1608}},
                               {{10, 1, 776}, 2160}});
  }
  for (const auto& [dims, n] : forms) {
    for (bool gated : {false, true}) {
      const std::string by = n == Form{}.n ? "" : "_by_" + std::to_string(n);
      CaseBuilder b((gated ? "gated_" : "projected_") + dims_name(dims) + by);
      const int64_t k = dims.back();
      const int32_t x = b.input(make(t, dims, Fill::Unit, 1));
      const int32_t normed =
          b.node(NEF_OP_RMS_NORMALIZATION, {x, b.input(make(t, {k}, Fill::Unit, 2))},
                 attrs(NEF_OP_RMS_NORMALIZATION).build())[0];
      int32_t y = b.node(NEF_OP_MATMUL, {normed, b.input(make(t, {k, n}, Fill::Unit, 3))})[0];
      if (gated) {
        const int32_t up =
            b.node(NEF_OP_MATMUL, {normed, b.input(make(t, {k, n}, Fill::Unit, 4))})[0];
        y = b.node(NEF_OP_SILU, {y}, attrs(NEF_OP_SILU).build())[0];
        b.node(NEF_OP_MUL, {y, up});
      }
      // What is rounded between the nodes adds up in the sums, and they may cancel.
      const auto magnitude = static_cast<double>(k);
      out.push_back(
          finish(b, NEF_REGION_CHAIN,
                 narrow ? Tolerance{4, std::max(32.0, magnitude / 16)} : Tolerance{32, magnitude}));
    }
  }
}

// Weights that lie by outputs.
void add_turned_products(nef_dtype t, CaseList& out) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  constexpr int64_t kK = 200, kN = 40;
  for (int64_t rows : {1, 5, 12}) {
    CaseBuilder b("turned_weights_" + std::to_string(rows));
    const int32_t x = b.input(make(t, {rows, kK}, Fill::Unit, 1));
    const int32_t y =
        b.node(NEF_OP_FUSED_MATMUL, {x, b.input(make(t, {kN, kK}, Fill::Unit, 2))},
               attrs(NEF_OP_FUSED_MATMUL).set_int(NEF_FUSED_MATMUL_TRANS_B, 1).build())[0];
    b.node(NEF_OP_ADD, {y, b.input(make(t, {kN}, Fill::Unit, 3))});
    out.push_back(finish(b, NEF_REGION_CHAIN, narrow ? Tolerance{4, 32} : Tolerance{32, kK}));
  }
}

// What is not finite in one row stays there.
void add_odd_rows(nef_dtype t, CaseList& out) {
  constexpr int64_t kRows = 5, kK = 64, kN = 24;
  for (const double odd : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    std::vector<double> numbers(kRows * kK);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 7) - 3;
    numbers[kK + 3] = numbers[3 * kK + 60] = odd;
    CaseBuilder b(std::isnan(odd) ? "nan_rows" : "infinite_rows");
    const int32_t x = b.input(values(t, {kRows, kK}, numbers));
    const int32_t y = b.node(NEF_OP_MATMUL, {x, b.input(make(t, {kK, kN}, Fill::Positive, 2))})[0];
    b.node(NEF_OP_ADD, {y, b.input(make(t, {kN}, Fill::Unit, 3))});
    out.push_back(finish(b, NEF_REGION_CHAIN, {4, 32}));
  }
}

// Products of many rows, which have kernels of their own: sizes that tiles do not divide, every
// kind of addend, functions behind them, and sums longer than what is under way at once.
void add_many_rows(nef_dtype t, CaseList& out) {
  struct Form {
    const char* what;
    Dims a;
    int64_t n;
  };
  std::vector<Form> forms = {{"alone", {520, 8}, 1304},
                             {"bias", {257, 8}, 2120},
                             {"gelu", {1030, 24}, 776},
                             {"residual", {2, 130, 72}, 2120},
                             {"mixed", {257, 40}, 2120}};
  // A block has two or three tiles of the last forms.
  if (t == NEF_BFLOAT16) {
    forms.push_back({"residual", {257, 456}, 2120});
    forms.push_back({"gelu", {2060, 24}, 1544});
    forms.push_back({"residual", {1030, 24}, 5192});
  }
  if (t == NEF_FLOAT32) {
    forms = {{"alone", {520, 36}, 1302}, {"bias", {257, 100}, 2122},
             {"gelu", {1030, 68}, 776},  {"residual", {2, 130, 132}, 2122},
             {"mixed", {257, 40}, 2120}, {"residual", {257, 200}, 2120},
             {"gelu", {2060, 36}, 1542}};
  }
  for (const Form& f : forms) {
    const std::string kind = f.what;
    const int64_t k = f.a.back();
    Dims result = f.a;
    result.back() = f.n;
    CaseBuilder b("many_rows_" + dims_name(f.a) + "_" + kind);
    const int32_t x = b.input(make(t, f.a, Fill::Unit, 1));
    const bool mixed = kind == "mixed";
    const int32_t w = b.input(make(t, mixed ? Dims{f.n, k} : Dims{k, f.n}, Fill::Unit, 2));
    int32_t y =
        mixed ? b.node(NEF_OP_FUSED_MATMUL, {x, w},
                       attrs(NEF_OP_FUSED_MATMUL).set_int(NEF_FUSED_MATMUL_TRANS_B, 1).build())[0]
              : b.node(NEF_OP_MATMUL, {x, w})[0];
    const auto add = [&](int32_t other) { y = b.node(NEF_OP_ADD, {y, other})[0]; };
    if (kind != "alone") add(b.input(make(t, {f.n}, Fill::Unit, 3)));
    if (kind == "gelu") b.node(NEF_OP_GELU, {y}, gelu());
    if (kind == "residual" || mixed) add(b.input(make(t, result, Fill::Unit, 4)));
    if (mixed) {
      y = b.node(NEF_OP_MUL, {y, b.input(scalar(t, 0.75))})[0];
      b.node(NEF_OP_RELU, {y});
    }
    // Sums of float32 may be added up in any order.
    const double magnitude = t == NEF_FLOAT32 ? 0.25 * static_cast<double>(k) : 2;
    out.push_back(finish(b, NEF_REGION_EPILOGUE, {3, magnitude}));
  }
  // What is not finite reaches its row, or its column, and nothing else.
  constexpr int64_t kRows = 515, kN = 1304;
  const int64_t kK = t == NEF_FLOAT32 ? 40 : 24;
  std::vector<double> left(static_cast<size_t>(kRows * kK));
  std::vector<double> right(static_cast<size_t>(kK * kN));
  for (size_t i = 0; i < left.size(); ++i) left[i] = 0.25 * static_cast<double>(i % 7) - 0.5;
  for (size_t i = 0; i < right.size(); ++i) right[i] = 0.25 * static_cast<double>(i % 5) + 0.25;
  const auto place = [&](int64_t row, int64_t k) { return static_cast<size_t>(row * kK + k); };
  left[place(128, 3)] = left[place(514, 23)] = std::numeric_limits<double>::infinity();
  left[place(77, 20)] = left[place(300, 0)] = std::nan("");
  right[5 * kN + 200] = -std::numeric_limits<double>::infinity();
  right[23 * kN + 1303] = std::nan("");
  CaseBuilder b("many_odd_rows");
  const int32_t x = b.input(values(t, {kRows, kK}, left));
  const int32_t y = b.node(NEF_OP_MATMUL, {x, b.input(values(t, {kK, kN}, right))})[0];
  const int32_t sum = b.node(NEF_OP_ADD, {y, b.input(make(t, {kN}, Fill::Unit, 3))})[0];
  b.node(NEF_OP_GELU, {sum}, gelu());
  out.push_back(finish(b, NEF_REGION_EPILOGUE, {3, t == NEF_FLOAT32 ? 8.0 : 2.0}));
}

// Products of many rows of float32 whose numbers are next to the end of what it has, or take all of
// its bits. All are positive, so that no sum is smaller than what it adds.
void add_far_rows(CaseList& out) {
  constexpr int64_t kRows = 300, kK = 48, kN = 2200;
  constexpr double kFar[] = {1, 0x1p-60, 0x1p-126, 0x1p-145, 0x1p60, 0x1p-112, 0};
  std::vector<double> left(kRows * kK), right(kK * kN);
  for (size_t i = 0; i < left.size(); ++i) {
    const size_t row = i / kK;
    left[i] = kFar[row % 7] * (1 + static_cast<double>(i * 7919 % 8388608) * 0x1p-23);
    if (row % 11 == 5 && i % kK > 3) left[i] = i % 2 == 0 ? 0 : 3 * 0x1p-140;  // few that count
  }
  for (size_t i = 0; i < right.size(); ++i) {
    constexpr double kScales[] = {1, 0x1p-64, 0x1p60, 0x1p-130, 0x1p10, 0};
    right[i] = kScales[i % kN % 6] * (1 + static_cast<double>(i * 104729 % 8388608) * 0x1p-23);
  }
  left[299 * kK] = 3.4028234e38;  // rounds to an infinity of bfloat16
  CaseBuilder b("many_far_rows");
  const int32_t x = b.input(values(NEF_FLOAT32, {kRows, kK}, left));
  const int32_t y = b.node(NEF_OP_MATMUL, {x, b.input(values(NEF_FLOAT32, {kK, kN}, right))})[0];
  b.node(NEF_OP_ADD, {y, b.input(scalar(NEF_FLOAT32, 0))});
  out.push_back(finish(b, NEF_REGION_EPILOGUE, {12, 0}));
}

// A product with packed weights, and a residual.
struct PackedWeights {
  nef_dtype dtype;
  int64_t bits, block;
};
void add_packed_products(nef_dtype t, CaseList& out) {
  const auto add = [&](const PackedWeights& p, const Dims& dims, int64_t n) {
    const int64_t k = dims.back();
    CaseBuilder b("packed" + std::to_string(p.dtype) + "_" + std::to_string(p.bits) + "_" +
                  std::to_string(p.block) + "_" + dims_name(dims));
    const int32_t x = b.input(make(t, dims, Fill::Small, 1));
    const Fill fill = p.dtype == NEF_UINT8 ? Fill::Extreme : Fill::Small;
    const int32_t w = b.input(make(p.dtype, {n, k / p.block, p.block * p.bits / 8}, fill, 2));
    const int32_t scales = b.input(make(t, {n, k / p.block}, Fill::Unit, 3));
    const int32_t y = b.node(NEF_OP_MATMUL_NBITS, {x, w, scales},
                             attrs(NEF_OP_MATMUL_NBITS)
                                 .set_int(NEF_MATMUL_NBITS_K, k)
                                 .set_int(NEF_MATMUL_NBITS_N, n)
                                 .set_int(NEF_MATMUL_NBITS_BITS, p.bits)
                                 .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, p.block)
                                 .build())[0];
    Dims result = dims;
    result.back() = n;
    b.node(NEF_OP_ADD, {b.input(make(t, result, Fill::Unit, 4)), y});
    // The sums grow with the weights, and each of their parts is rounded.
    const bool bytes = p.dtype == NEF_UINT8 && p.bits == 8;
    const double longer = static_cast<double>(k) / 1024;
    out.push_back(finish(b, NEF_REGION_CHAIN, {6, longer * (bytes ? 1024 : 64)}));
  };
  for (const PackedWeights& p : {PackedWeights{NEF_UINT8, 4, 32},
                                 {NEF_UINT8, 8, 32},
                                 {NEF_UINT8, 8, 64},
                                 {NEF_FLOAT8_E4M3FN, 8, 32},
                                 {NEF_FLOAT8_E4M3FN, 8, 128},
                                 {NEF_FLOAT8_E5M2, 8, 32}}) {
    for (const Dims& dims : {Dims{1, 1, 1024}, Dims{3, 1024}, Dims{2, 9, 1024}, Dims{16, 1024},
                             Dims{1, 9216}, Dims{13, 5120}, Dims{1, 1280}, Dims{4, 5888}}) {
      add(p, dims, 40);
    }
  }
  // Blocks share sums of more results than are on their way at once.
  if (t == NEF_BFLOAT16) add({NEF_UINT8, 8, 32}, {9, 4352}, 2200);
}

// Numbers that are not finite meet every weight that 4 bits have, the one that stands for 0 too.
void add_odd_packed(nef_dtype t, CaseList& out) {
  constexpr int64_t kK = 512, kN = 24, kBlock = 32;
  const double inf = std::numeric_limits<double>::infinity();
  for (int64_t rows : {1, 3}) {
    for (const bool opposed : {false, true}) {
      std::vector<double> numbers(static_cast<size_t>(rows * kK));
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 7) - 3;
      numbers[numbers.size() - kK + 37] = inf;
      if (opposed) numbers[numbers.size() - 2] = -inf;
      if (opposed && rows > 1) numbers[3] = std::nan("");
      CaseBuilder b(std::string(opposed ? "opposed" : "infinite") + "_packed" +
                    std::to_string(rows));
      const int32_t x = b.input(values(t, {rows, kK}, numbers));
      const int32_t w = b.input(make(NEF_UINT8, {kN, kK / kBlock, kBlock / 2}, Fill::Extreme, 2));
      const int32_t scales = b.input(make(t, {kN, kK / kBlock}, Fill::Unit, 3));
      const int32_t y = b.node(NEF_OP_MATMUL_NBITS, {x, w, scales},
                               attrs(NEF_OP_MATMUL_NBITS)
                                   .set_int(NEF_MATMUL_NBITS_K, kK)
                                   .set_int(NEF_MATMUL_NBITS_N, kN)
                                   .set_int(NEF_MATMUL_NBITS_BITS, 4)
                                   .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, kBlock)
                                   .build())[0];
      b.node(NEF_OP_ADD, {y, b.input(make(t, {kN}, Fill::Unit, 4))});
      out.push_back(finish(b, NEF_REGION_CHAIN, {6, 64}));
    }
  }
}

// Products of float8 by float8, each with one scale; sizes that tensor cores take, and not.
void add_float8_products(nef_dtype t, CaseList& out) {
  struct Sizes {
    Dims a;
    int64_t n;
  };
  const std::pair<nef_dtype, nef_dtype> formats[] = {{NEF_FLOAT8_E4M3FN, NEF_FLOAT8_E4M3FN},
                                                     {NEF_FLOAT8_E5M2, NEF_FLOAT8_E4M3FN},
                                                     {NEF_FLOAT8_E4M3FN, NEF_FLOAT8_E5M2},
                                                     {NEF_FLOAT8_E5M2, NEF_FLOAT8_E5M2}};
  for (const auto& [fa, fb] : formats) {
    for (const Sizes& s : {Sizes{{37, 256}, 48}, {{2, 16, 64}, 32}, {{5, 40}, 24}, {{0, 32}, 16}}) {
      for (bool turned : {false, true}) {
        const int64_t k = s.a.back();
        CaseBuilder b("float8_" + std::to_string(fa) + "_" + std::to_string(fb) + "_" +
                      dims_name(s.a) + (turned ? "_turned" : ""));
        const auto scaled = [&](nef_dtype f, Dims dims, double scale, uint64_t seed) {
          const int32_t codes = b.input(make(f, std::move(dims), Fill::Small, seed));
          return b.node(NEF_OP_DEQUANTIZE_LINEAR, {codes, b.input(scalar(t, scale))},
                        attrs(NEF_OP_DEQUANTIZE_LINEAR).build())[0];
        };
        const int32_t x = scaled(fa, s.a, 0.25, 1);
        const int32_t w = scaled(fb, turned ? Dims{s.n, k} : Dims{k, s.n}, 0.5, 2);
        b.node(NEF_OP_FUSED_MATMUL, {x, w},
               attrs(NEF_OP_FUSED_MATMUL).set_int(NEF_FUSED_MATMUL_TRANS_B, turned).build());
        const bool half = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
        // Tensor cores add products of float8 up in less than float32.
        out.push_back(
            finish(b, NEF_REGION_CHAIN, {half ? 2.0 : 4.0, half ? 16 : static_cast<double>(k)}));
      }
    }
  }
}

// The query of an attention is a part of something wider.
void add_sliced_queries(nef_dtype t, CaseList& out) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  for (int64_t batch : {1, 2}) {
    CaseBuilder b("sliced_query" + std::to_string(batch));
    const int32_t wide = b.input(make(t, {batch, 1, 640}, Fill::Small, 1));
    const int32_t q = b.node(
        NEF_OP_SLICE, {wide, b.host(ints({-632})), b.host(ints({-120})), b.host(ints({2}))})[0];
    const int32_t heads = b.node(NEF_OP_RESHAPE, {q, b.host(ints({batch, 4, 1, 128}))},
                                 attrs(NEF_OP_RESHAPE).build())[0];
    const Dims all = {batch, 2, 90, 128};
    b.node(NEF_OP_ATTENTION,
           {heads, b.input(make(t, all, Fill::Unit, 2)), b.input(make(t, all, Fill::Unit, 3))},
           attrs(NEF_OP_ATTENTION).build());
    out.push_back(finish(b, NEF_REGION_CHAIN, narrow ? Tolerance{1.5, 1} : Tolerance{16, 1}));
  }
}

// Queries, keys and values are parts of one row; or keys and values are, of another.
void add_sliced_rows(nef_dtype t, CaseList& out) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  struct Form {
    int64_t queries, keys, heads, kv_heads, size, skip;
  };
  for (const Form& f : {Form{1, 1, 4, 2, 64, 8},
                        {1, 70, 4, 1, 128, 0},
                        {5, 5, 2, 2, 16, 3},
                        {40, 40, 2, 1, 64, 16},
                        {130, 130, 3, 3, 32, 0},
                        {33, 150, 4, 2, 128, 8}}) {
    const int64_t batch = 2, q_width = f.heads * f.size, kv_width = f.kv_heads * f.size;
    const bool own = f.queries == f.keys;  // queries come from the same rows
    CaseBuilder b("sliced_rows_" + dims_name({f.queries, f.keys, f.heads, f.kv_heads, f.size}));
    const int64_t first = f.skip + (own ? q_width : 0), width = first + 2 * kv_width + f.skip;
    const int32_t rows = b.input(make(t, {batch, f.keys, width}, Fill::Unit, 1));
    const auto slice = [&](int64_t begin, int64_t end) {
      return b.node(NEF_OP_SLICE,
                    {rows, b.host(ints({begin})), b.host(ints({end})), b.host(ints({2}))})[0];
    };
    const int32_t q =
        own ? slice(f.skip, first) : b.input(make(t, {batch, f.queries, q_width}, Fill::Unit, 2));
    const int32_t k = slice(first, first + kv_width);
    const int32_t v = slice(first + kv_width, first + 2 * kv_width);
    b.node(NEF_OP_ATTENTION, {q, k, v},
           attrs(NEF_OP_ATTENTION)
               .set_int(NEF_ATTENTION_Q_NUM_HEADS, f.heads)
               .set_int(NEF_ATTENTION_KV_NUM_HEADS, f.kv_heads)
               .build());
    out.push_back(finish(b, NEF_REGION_CHAIN, narrow ? Tolerance{1.5, 1} : Tolerance{16, 1}));
  }
}

}  // namespace

CaseList region_cases() {
  CaseList out;
  for (nef_dtype t : kFloats) {
    add_chains(t, out);
    add_trees(t, out);
    add_epilogues(t, out);
    add_reductions(t, out);
    add_gated_products(t, out);
    add_turned_products(t, out);
    add_odd_rows(t, out);
    if (t == NEF_FLOAT16 || t == NEF_BFLOAT16) {
      add_packed_products(t, out);
      add_odd_packed(t, out);
    }
    if (t != NEF_FLOAT64) add_many_rows(t, out);
    if (t == NEF_FLOAT32) add_far_rows(out);
    add_sliced_queries(t, out);
    if (t != NEF_FLOAT64) add_float8_products(t, out);
    add_sliced_rows(t, out);
    add_viewed_products(t, out);
  }
  add_viewed_integers(out);
  add_casts(out);
  return out;
}

}  // namespace nef::conformance
