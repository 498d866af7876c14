// SPDX-License-Identifier: Apache-2.0
// Cases of the Reduce family, ArgMax, ArgMin, TopK, CumSum.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

bool narrow(nef_dtype t) { return t == NEF_FLOAT16 || t == NEF_BFLOAT16; }

// Sums of n numbers of about one: wide floats may add in any order, 16-bit ones add in float32.
// The reference adds float64 in float64, so there both sides round.
Tolerance sum_of(nef_dtype t, int64_t n) {
  if (!is_float(t)) return {};
  if (narrow(t)) return {1, 1};
  return {t == NEF_FLOAT64 ? 16.0 : 2.0, std::max(1.0, static_cast<double>(n))};
}

struct ReduceShape {
  Dims dims;
  std::optional<Dims> axes;  // absent: all
};
const std::vector<ReduceShape> kShapes = {{{}, {}},
                                          {{1}, {}},
                                          {{67}, {}},
                                          {{2500}, {{0}}},
                                          {{3, 5}, {{1}}},
                                          {{3, 5}, {{0}}},
                                          {{3, 5}, {{-1}}},
                                          {{3, 5}, Dims{}},
                                          {{5, 3, 7}, {{0, 2}}},
                                          {{5, 3, 7}, {{1}}},
                                          {{5, 3, 7}, {{-3, 1}}},
                                          {{0}, {}},
                                          {{0, 3}, {{0}}},
                                          {{0, 3}, {{1}}},
                                          {{3, 0}, {{1}}},
                                          {{3, 0, 2}, {{1}}},
                                          {{3, 0, 2}, {{0}}},
                                          {{2, 3, 4, 5}, {{2, 3}}},
                                          {{2, 3, 4, 5}, {{1}}},
                                          {{4, 1030}, {{1}}},
                                          {{1030, 4}, {{0}}},
                                          {{1, 1, 1}, {{1}}},
                                          {{7, 33}, {{1}}},
                                          {{33, 7}, {{0}}},
                                          {{1100, 2}, {{1}}},
                                          {{100, 3}, {{1}}},
                                          {{100, 4}, {{1}}},
                                          {{2, 70, 5}, {{0, 2}}},
                                          {{15, 300}, {{0}}},
                                          {{2100, 3}, {{0}}}};

std::string axes_name(const std::optional<Dims>& axes) {
  return axes ? "_axes" + dims_name(*axes) : "_all";
}

bool is_sum(nef_op op) {
  return op == NEF_OP_REDUCE_SUM || op == NEF_OP_REDUCE_MEAN || op == NEF_OP_REDUCE_L1 ||
         op == NEF_OP_REDUCE_L2 || op == NEF_OP_REDUCE_SUM_SQUARE;
}

Tolerance reduce_tolerance(nef_op op, nef_dtype t, int64_t n) {
  if (!is_float(t) || op == NEF_OP_REDUCE_MAX || op == NEF_OP_REDUCE_MIN) return {};
  if (is_sum(op)) return sum_of(t, op == NEF_OP_REDUCE_MEAN ? 1 : n);
  // Every factor rounds, in whatever order.
  if (op == NEF_OP_REDUCE_PROD && t == NEF_FLOAT64) {
    return {std::max(8.0, std::sqrt(static_cast<double>(n))), 1};
  }
  return narrow(t) ? Tolerance{1, 1} : Tolerance{8, 1};
}

std::vector<int64_t> reduce_attrs(nef_op op, bool keepdims, bool noop) {
  return attrs(op)
      .set_int(NEF_REDUCE_SUM_KEEPDIMS, keepdims)
      .set_int(NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES, noop)
      .build();
}

// Products and logarithms need numbers that neither vanish nor go below zero.
Fill reduce_fill(nef_op op, nef_dtype t) {
  if (!is_float(t)) return op == NEF_OP_REDUCE_PROD ? Fill::Positive : Fill::Extreme;
  if (op == NEF_OP_REDUCE_LOG_SUM) return Fill::Positive;
  return op == NEF_OP_REDUCE_PROD ? Fill::Positive : Fill::Unit;
}

// The mean of integers divides what a 64-bit sum gives: keep that sum exact.
Tensor reduce_input(nef_op op, nef_dtype t, const Dims& dims) {
  Fill fill = reduce_fill(op, t);
  if (!is_float(t) && (op == NEF_OP_REDUCE_MEAN || op == NEF_OP_REDUCE_L2)) fill = Fill::Small;
  Tensor x = make(t, dims, fill, 3);
  if (op != NEF_OP_REDUCE_PROD || !is_float(t)) return x;
  std::vector<double> numbers;
  for (int64_t i = 0; i < x.count(); ++i) numbers.push_back(i % 2 == 0 ? 1.25 : 0.8125);
  return values(t, dims, numbers);
}

// NaN at every position of every length from 1 to 67: the result may not depend on the position.
void add_nan_positions(nef_op op, nef_dtype t, CaseList& out) {
  for (int64_t n = 1; n <= 67; n += n < 20 ? 1 : 9) {
    std::vector<double> numbers;
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t i = 0; i < n; ++i) {
        numbers.push_back(i == row ? std::numeric_limits<double>::quiet_NaN()
                                   : static_cast<double>((i * 7 + row) % 5 + 1));
      }
    }
    out.push_back(single("nan_positions_" + std::to_string(n), op,
                         {values(t, {n, n}, numbers), ints({1})}, reduce_attrs(op, false, false)));
  }
}

// Each special number in each of 21 rows, above and below others and alone in a column.
void add_special_columns(nef_op op, nef_dtype t, CaseList& out) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t kRows = 21;
  int made = 0;
  for (double special : {inf, -inf, nan, -1000.0, 1000.0}) {
    for (double other : {0.0, -inf, inf}) {
      std::vector<double> numbers;
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kRows; ++j) numbers.push_back(i == j ? special : other);
      }
      out.push_back(single("special_columns_" + std::to_string(made++), op,
                           {values(t, {kRows, kRows}, numbers), ints({0})},
                           reduce_attrs(op, true, false), reduce_tolerance(op, t, kRows)));
    }
  }
}

void add_specials(nef_op op, nef_dtype t, CaseList& out) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = values(t, {6, 3},
                          {inf, 1, 2, -inf, 1, 2, inf, -inf, 0, -inf, -inf, -inf,  //
                           inf, inf, 1, 0.0, -0.0, 0.0});
  out.push_back(single("infinities", op, {x, ints({1})}, reduce_attrs(op, true, false),
                       reduce_tolerance(op, t, 3)));
  if (op == NEF_OP_REDUCE_MAX || op == NEF_OP_REDUCE_MIN) add_nan_positions(op, t, out);
  if (op == NEF_OP_REDUCE_LOG_SUM_EXP) add_special_columns(op, t, out);
}

void add_reduce(nef_op op, CaseList& out) {
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const ReduceShape& s : kShapes) {
      const Tensor x = reduce_input(op, t, s.dims);
      for (bool keepdims : {true, false}) {
        std::vector<Tensor> inputs = {x};
        if (s.axes) inputs.push_back(ints(*s.axes));
        out.push_back(single(dims_name(s.dims) + axes_name(s.axes) + (keepdims ? "_keep" : ""), op,
                             std::move(inputs), reduce_attrs(op, keepdims, false),
                             reduce_tolerance(op, t, std::max<int64_t>(x.count(), 1))));
      }
    }
    const Tensor x = reduce_input(op, t, {4, 5});
    const Tolerance tolerance = reduce_tolerance(op, t, 4);
    out.push_back(single("noop_absent", op, {x}, reduce_attrs(op, true, true), tolerance));
    out.push_back(single("noop_empty", op, {x, ints({})}, reduce_attrs(op, true, true), tolerance));
    if (is_float(t)) add_specials(op, t, out);
  }
}

void add_arg(nef_op op, CaseList& out) {
  const std::pair<Dims, int64_t> shapes[] = {{{1}, 0},       {{67}, 0},      {{3, 67}, -1},
                                             {{67, 3}, 0},   {{2, 9, 5}, 1}, {{0, 3}, 1},
                                             {{3, 1030}, 1}, {{4, 1}, 1}};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const auto& [dims, axis] : shapes) {
      for (int flags = 0; flags < 4; ++flags) {
        const auto words = attrs(op)
                               .set_int(NEF_ARGMAX_AXIS, axis)
                               .set_int(NEF_ARGMAX_KEEPDIMS, flags & 1)
                               .set_int(NEF_ARGMAX_SELECT_LAST_INDEX, flags >> 1)
                               .build();
        const std::string name =
            dims_name(dims) + "_axis" + std::to_string(axis) + "_" + std::to_string(flags);
        out.push_back(single(name, op, {make(t, dims, Fill::Small, 4)}, words));
        out.push_back(single(name + "_special", op, {make(t, dims, Fill::Extreme, 5)}, words));
      }
    }
    // Equal elements, over several tiles of a line and of columns.
    const std::pair<Dims, int64_t> long_shapes[] = {{{2, 5000}, 1}, {{700, 3}, 0}, {{20, 300}, 0}};
    for (const auto& [dims, axis] : long_shapes) {
      std::vector<double> numbers;
      for (int64_t i = 0; i < dims[0] * dims[1]; ++i) {
        numbers.push_back(static_cast<double>(i * i % 97 % 13));
      }
      for (int64_t last : {0, 1}) {
        out.push_back(single("equal_" + dims_name(dims) + (last != 0 ? "_last" : ""), op,
                             {values(t, dims, numbers)},
                             attrs(op)
                                 .set_int(NEF_ARGMAX_AXIS, axis)
                                 .set_int(NEF_ARGMAX_SELECT_LAST_INDEX, last)
                                 .build()));
      }
    }
    Case empty = single("empty_axis_is_an_error", op, {make(t, {3, 1}, Fill::Small)},
                        attrs(op).set_int(NEF_ARGMAX_AXIS, 1).build());
    empty.values[0].tensor = make(t, {3, 0}, Fill::Small);
    empty.expect = NEF_OUT_OF_RANGE;
    out.push_back(std::move(empty));
  }
}

void add_topk(CaseList& out) {
  struct Shape {
    Dims dims;
    int64_t axis, k;
  };
  const Shape shapes[] = {{{1}, 0, 1},       {{67}, 0, 5}, {{3, 67}, -1, 67}, {{67, 3}, 0, 2},
                          {{2, 9, 5}, 1, 4}, {{5}, 0, 0},  {{0, 4}, 1, 2},    {{3, 1030}, 1, 50}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_TOPK)) {
    for (const Shape& s : shapes) {
      for (int64_t largest : {0, 1}) {
        const auto words = attrs(NEF_OP_TOPK)
                               .set_int(NEF_TOPK_AXIS, s.axis)
                               .set_int(NEF_TOPK_LARGEST, largest)
                               .build();
        for (Fill fill : {Fill::Small, Fill::Extreme}) {
          out.push_back(single(dims_name(s.dims) + "_k" + std::to_string(s.k) +
                                   (largest ? "" : "_least") +
                                   (fill == Fill::Extreme ? "_special" : ""),
                               NEF_OP_TOPK, {make(t, s.dims, fill, 6), ints({s.k})}, words));
        }
      }
    }
  }
}

// An infinity, a NaN and the other infinity at several places: they are in all sums from there on,
// and in no other.
void add_special_sums(nef_dtype t, CaseList& out) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t kSize = 40;
  std::vector<double> numbers(kSize * kSize, 1);
  for (int64_t i = 0; i < kSize; ++i) {
    numbers[static_cast<size_t>(i * kSize + i)] = i % 3 == 0 ? inf : i % 3 == 1 ? -inf : nan;
    numbers[static_cast<size_t>(i * kSize + i * 7 % kSize)] = -inf;
  }
  for (int64_t axis : {0, 1}) {
    for (int flags = 0; flags < 4; ++flags) {
      out.push_back(
          single("special_axis" + std::to_string(axis) + "_" + std::to_string(flags), NEF_OP_CUMSUM,
                 {values(t, {kSize, kSize}, numbers), scalar(NEF_INT64, static_cast<double>(axis))},
                 attrs(NEF_OP_CUMSUM)
                     .set_int(NEF_CUMSUM_EXCLUSIVE, flags & 1)
                     .set_int(NEF_CUMSUM_REVERSE, flags >> 1)
                     .build()));
    }
  }
}

void add_cumsum(CaseList& out) {
  const std::pair<Dims, int64_t> shapes[] = {
      {{1}, 0},       {{67}, 0},     {{3, 67}, -1},  {{67, 3}, 0},   {{2, 9, 5}, 1},  {{3, 0}, 1},
      {{2, 1030}, 1}, {{300, 7}, 1}, {{2, 5000}, 1}, {{19, 300}, 0}, {{2, 700, 5}, 1}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_CUMSUM)) {
    for (const auto& [dims, axis] : shapes) {
      for (int flags = 0; flags < 4; ++flags) {
        const auto words = attrs(NEF_OP_CUMSUM)
                               .set_int(NEF_CUMSUM_EXCLUSIVE, flags & 1)
                               .set_int(NEF_CUMSUM_REVERSE, flags >> 1)
                               .build();
        out.push_back(
            single(dims_name(dims) + "_axis" + std::to_string(axis) + "_" + std::to_string(flags),
                   NEF_OP_CUMSUM,
                   {make(t, dims, is_float(t) ? Fill::Unit : Fill::Extreme, 7),
                    scalar(NEF_INT64, static_cast<double>(axis))},
                   words, sum_of(t, dims[static_cast<size_t>(axis < 0 ? axis + 2 : axis)] + 100)));
      }
    }
    if (is_float(t)) add_special_sums(t, out);
  }
}

}  // namespace

bool add_reduce_cases(nef_op op, CaseList& out) {
  if (op >= NEF_OP_REDUCE_L1 && op <= NEF_OP_REDUCE_SUM_SQUARE) add_reduce(op, out);
  else if (op == NEF_OP_ARGMAX || op == NEF_OP_ARGMIN) add_arg(op, out);
  else if (op == NEF_OP_TOPK) add_topk(out);
  else if (op == NEF_OP_CUMSUM) add_cumsum(out);
  else return false;
  return true;
}

}  // namespace nef::conformance
