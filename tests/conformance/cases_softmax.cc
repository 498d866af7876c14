// SPDX-License-Identifier: Apache-2.0
// Cases of Softmax, LogSoftmax, Hardmax.
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

struct Shape {
  Dims dims;
  int64_t axis;
};
const std::vector<Shape> kShapes = {
    {{1}, 0},        {{5}, -1},      {{0}, 0},           {{3, 0}, 1},    {{0, 3}, 1},
    {{4, 17}, -1},   {{4, 67}, 1},   {{67, 3}, 0},       {{2, 9, 5}, 1}, {{2, 3, 64}, -1},
    {{3, 1030}, -1}, {{1030, 2}, 0}, {{2, 2, 3, 33}, 3}, {{7, 1}, -1},   {{2, 5, 1, 4}, -3},
    {{9, 768}, -1},  {{2, 520}, -1}};

std::vector<int64_t> axis_attr(nef_op op, int64_t axis) {
  return attrs(op).set_int(NEF_SOFTMAX_AXIS, axis).build();
}

// Rows: all -inf, one +inf, one NaN, huge, equal, some -inf, NaN and -inf, far apart; each again
// and again up to `width`.
Tensor hard_rows(nef_dtype t, int64_t width) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double top = max_finite(t);
  const std::vector<std::vector<double>> rows = {
      {-inf, -inf, -inf, -inf, -inf}, {1, inf, 0, -1, 2},     {0, 1, nan, 2, 3},
      {top, top, -top, 0, 1},         {3, 3, 3, 3, 3},        {-inf, 0, -inf, 1, -inf},
      {-inf, -inf, -inf, nan, -inf},  {0, -20, -60, -80, -87}};
  std::vector<double> numbers;
  for (const auto& row : rows) {
    for (int64_t k = 0; k < width; ++k) numbers.push_back(row[static_cast<size_t>(k % 5)]);
  }
  return values(t, {std::ssize(rows), width}, numbers);
}

}  // namespace

bool add_softmax_cases(nef_op op, CaseList& out) {
  if (op != NEF_OP_SOFTMAX && op != NEF_OP_LOG_SOFTMAX && op != NEF_OP_HARDMAX) return false;
  for (nef_dtype t : allowed_dtypes(op)) {
    const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
    Tolerance tolerance{narrow ? 1.0 : 8.0, 0};
    if (op == NEF_OP_LOG_SOFTMAX) tolerance.magnitude = 2;
    if (op == NEF_OP_HARDMAX) tolerance = {};
    for (const Shape& s : kShapes) {
      out.push_back(single(dims_name(s.dims) + "_axis" + std::to_string(s.axis), op,
                           {make(t, s.dims, Fill::Small)}, axis_attr(op, s.axis), tolerance));
    }
    // Rows that kernels take in packs, too.
    for (int64_t width : {5, 48}) {
      const std::string of = "_of_" + std::to_string(width);
      out.push_back(
          single("hard_rows" + of, op, {hard_rows(t, width)}, axis_attr(op, -1), tolerance));
      if (op != NEF_OP_SOFTMAX) continue;
      out.push_back(single("zero_masked_rows" + of, op, {hard_rows(t, width)},
                           attrs(op).set_int(NEF_SOFTMAX_ZERO_MASKED_ROWS, 1).build(), tolerance));
    }
  }
  return true;
}

}  // namespace nef::conformance
