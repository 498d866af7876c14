// SPDX-License-Identifier: Apache-2.0
// Cases of MatMul, FusedMatMul, Gemm.
#include <cmath>

#include <algorithm>
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

// Sums of k products of Unit numbers. Wide floats may add in any order; 16-bit floats are added
// in float32 and rounded once.
Tolerance sum_tolerance(nef_dtype t, int64_t k) {
  if (!is_float(t)) return {};
  if (t == NEF_FLOAT16 || t == NEF_BFLOAT16) return {1, 1};
  return {3, std::max(1.0, 0.25 * static_cast<double>(k))};
}
Fill fill_for(nef_dtype t) { return is_float(t) ? Fill::Unit : Fill::Extreme; }

struct Shapes {
  Dims a, b;
};
const std::vector<Shapes> kMatMuls = {
    {{3}, {3}},
    {{0}, {0}},
    {{2, 3}, {3}},
    {{3}, {3, 2}},
    {{2, 3}, {3, 4}},
    {{1, 1}, {1, 1}},
    {{17, 31}, {31, 13}},
    {{64, 64}, {64, 64}},
    {{67, 65}, {65, 66}},
    {{1, 128}, {128, 33}},
    {{33, 128}, {128, 1}},
    {{5, 0}, {0, 4}},
    {{0, 5}, {5, 4}},
    {{5, 4}, {4, 0}},
    {{2, 3, 4}, {4, 5}},
    {{2, 1, 3, 4}, {1, 5, 4, 6}},
    {{7, 3, 4}, {7, 4, 2}},
    {{0, 3, 4}, {1, 4, 2}},
    {{3, 4}, {6, 4, 2}},
    {{4}, {2, 4, 3}},
    {{2, 5, 4}, {4}},
    {{1, 700}, {700, 9}},
    {{2, 700}, {700, 16}},
    {{40, 300}, {300, 70}},
    {{1, 33, 16}, {16, 128}},
    {{13, 1}, {1, 29}},
    {{3, 2, 70}, {3, 70, 5}},
    {{150, 1600}, {1600, 40}},
    {{2, 1, 147, 6}, {3, 6, 35}},
    {{3, 300, 0}, {3, 0, 35}},
};

void add_matmul(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_MATMUL)) {
    for (const Shapes& s : kMatMuls) {
      out.push_back(single(dims_name(s.a) + "_by_" + dims_name(s.b), NEF_OP_MATMUL,
                           {make(t, s.a, fill_for(t), 1), make(t, s.b, fill_for(t), 2)}, {},
                           sum_tolerance(t, s.a.back())));
    }
    if (!is_float(t)) continue;
    // One NaN and one infinity reach exactly their rows.
    Tensor a = make(t, {9, 20}, Fill::Unit, 1);
    std::vector<double> numbers;
    for (int64_t i = 0; i < a.count(); ++i) numbers.push_back(float_at(a, i));
    numbers[25] = std::numeric_limits<double>::quiet_NaN();
    numbers[110] = std::numeric_limits<double>::infinity();
    out.push_back(single("special", NEF_OP_MATMUL,
                         {values(t, {9, 20}, numbers), make(t, {20, 11}, Fill::Positive, 2)}, {},
                         {4, 20}));
  }
}

void add_fused(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_FUSED_MATMUL)) {
    for (int trans = 0; trans < 4; ++trans) {
      for (double alpha : {1.0, 0.125}) {
        const auto words = attrs(NEF_OP_FUSED_MATMUL)
                               .set_int(NEF_FUSED_MATMUL_TRANS_A, trans & 1)
                               .set_int(NEF_FUSED_MATMUL_TRANS_B, trans >> 1)
                               .set_float(NEF_FUSED_MATMUL_ALPHA, alpha)
                               .build();
        const Dims a = trans & 1 ? Dims{2, 40, 19} : Dims{2, 19, 40};
        const Dims b = trans & 2 ? Dims{33, 40} : Dims{40, 33};
        const std::string name = "trans" + std::to_string(trans) + "_alpha" + std::to_string(alpha);
        const Tensor ta = make(t, a, Fill::Unit, 1), tb = make(t, b, Fill::Unit, 2);
        out.push_back(single(name, NEF_OP_FUSED_MATMUL, {ta, tb}, words, sum_tolerance(t, 40)));
        for (const Dims& bias : {Dims{33}, Dims{1}, Dims{19, 1}}) {
          out.push_back(single(name + "_bias_" + dims_name(bias), NEF_OP_FUSED_MATMUL,
                               {ta, tb, make(t, bias, Fill::Unit, 3)}, words,
                               sum_tolerance(t, 40)));
        }
      }
    }
  }
}

void add_gemm(CaseList& out) {
  const Dims biases[] = {{}, {21}, {1, 21}, {18, 1}, {18, 21}, {1}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_GEMM)) {
    for (int trans = 0; trans < 4; ++trans) {
      for (double alpha : {1.0, 2.0}) {
        const auto words = attrs(NEF_OP_GEMM)
                               .set_int(NEF_GEMM_TRANS_A, trans & 1)
                               .set_int(NEF_GEMM_TRANS_B, trans >> 1)
                               .set_float(NEF_GEMM_ALPHA, alpha)
                               .set_float(NEF_GEMM_BETA, alpha == 1 ? 1 : 3)
                               .build();
        const Dims a = trans & 1 ? Dims{35, 18} : Dims{18, 35};
        const Dims b = trans & 2 ? Dims{21, 35} : Dims{35, 21};
        const std::string name = "trans" + std::to_string(trans) + "_alpha" + std::to_string(alpha);
        const Tensor ta = make(t, a, fill_for(t), 1), tb = make(t, b, fill_for(t), 2);
        const Tolerance tolerance = sum_tolerance(t, 70);
        out.push_back(single(name, NEF_OP_GEMM, {ta, tb}, words, tolerance));
        for (const Dims& c : biases) {
          out.push_back(single(name + "_c_" + dims_name(c), NEF_OP_GEMM,
                               {ta, tb, make(t, c, fill_for(t), 3)}, words, tolerance));
        }
      }
    }
    // Factors that no integer is, or none that fits.
    for (double factor : {0.375, -3e9, 1e30, -3.5e38, std::nan("")}) {
      if (is_float(t)) continue;
      const auto words = attrs(NEF_OP_GEMM)
                             .set_float(NEF_GEMM_ALPHA, factor)
                             .set_float(NEF_GEMM_BETA, -factor)
                             .build();
      out.push_back(single("factor_" + std::to_string(factor), NEF_OP_GEMM,
                           {make(t, {3, 5}, Fill::Extreme, 1), make(t, {5, 4}, Fill::Extreme, 2),
                            make(t, {4}, Fill::Extreme, 3)},
                           words));
    }
    for (const Shapes& s :
         {Shapes{{0, 3}, {3, 4}}, Shapes{{3, 0}, {0, 4}}, Shapes{{1, 300}, {300, 50}}}) {
      out.push_back(single(dims_name(s.a) + "_by_" + dims_name(s.b), NEF_OP_GEMM,
                           {make(t, s.a, fill_for(t), 1), make(t, s.b, fill_for(t), 2),
                            make(t, {s.b[1]}, fill_for(t), 3)},
                           attrs(NEF_OP_GEMM).build(), sum_tolerance(t, s.a[1])));
    }
  }
}

}  // namespace

bool add_contraction_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_MATMUL: add_matmul(out); return true;
    case NEF_OP_FUSED_MATMUL: add_fused(out); return true;
    case NEF_OP_GEMM: add_gemm(out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
