// SPDX-License-Identifier: Apache-2.0
// Products whose operands are transposes and slices of what is given, in regions with them.
#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

// [batch, rows, heads, size] by heads.
struct Viewed {
  int64_t batch, rows, heads, size, cols;

  std::string name() const { return dims_name({batch, rows, heads, size, cols}); }
};
const Viewed kViewed[] = {{2, 20, 3, 16, 24},   {2, 1, 3, 64, 33}, {1, 150, 2, 32, 40},
                          {3, 7, 1, 5, 1},      {2, 4, 2, 0, 9},   {0, 4, 2, 8, 9},
                          {1, 160, 2, 1600, 17}};
// First and last of the rows taken, and their step.
const Dims kRows[] = {{0, -1, 1}, {-1, 1000, 1}, {-1, -1000, -1}};

Case finish(CaseBuilder& b, Tolerance tolerance = {}) {
  return b.kind(NEF_REGION_EPILOGUE).tolerance(tolerance.ulps, tolerance.magnitude).build();
}
int32_t turn(CaseBuilder& b, int32_t x, const Dims& perm) {
  return b.node(NEF_OP_TRANSPOSE, {x},
                attrs(NEF_OP_TRANSPOSE).set_ints(NEF_TRANSPOSE_PERM, perm).build())[0];
}
int32_t cut(CaseBuilder& b, int32_t x, int64_t begin, int64_t end, int64_t axis, int64_t step) {
  const auto one = [&](int64_t v) {
    return b.host(values(NEF_INT64, {1}, {static_cast<double>(v)}));
  };
  return b.node(NEF_OP_SLICE, {x, one(begin), one(end), one(axis), one(step)})[0];
}

// QLinearMatMul with scales and zero points for each row and column.
int32_t requantised(CaseBuilder& b, nef_dtype ta, int32_t a, int64_t rows, nef_dtype tb, int32_t x,
                    int64_t cols) {
  return b.node(NEF_OP_QLINEAR_MATMUL,
                {a, b.input(make(NEF_FLOAT32, {rows}, Fill::Positive, 3)),
                 b.input(make(ta, {rows}, Fill::Small, 4)), x,
                 b.input(make(NEF_FLOAT32, {cols}, Fill::Positive, 5)),
                 b.input(make(tb, {cols}, Fill::Small, 6)), b.input(values(NEF_FLOAT32, {}, {600})),
                 b.input(make(ta, {}, Fill::Small, 7))})[0];
}

void add_integers(nef_dtype ta, nef_dtype tb, const Viewed& v, CaseList& out) {
  const std::string name = v.name() + "_" + std::to_string(tb);
  const Tensor x = make(ta, {v.batch, v.rows, v.heads, v.size}, Fill::Extreme, 1);
  // Rows and columns whose numbers are neighbours.
  CaseBuilder scores("view_int_scores_" + name);
  const int32_t queries = turn(scores, scores.input(x), {0, 2, 1, 3});
  const int32_t keys =
      turn(scores, scores.input(make(tb, {v.batch, v.cols, v.heads, v.size}, Fill::Extreme, 2)),
           {0, 2, 3, 1});
  requantised(scores, ta, queries, v.rows, tb, keys, v.cols);
  out.push_back(finish(scores));
  // Columns of A, by a matrix that may be constant.
  CaseBuilder columns("view_int_columns_" + name);
  columns.node(NEF_OP_MATMUL_INTEGER,
               {turn(columns, columns.input(make(ta, {v.batch, v.size, v.rows}, Fill::Extreme, 1)),
                     {0, 2, 1}),
                columns.input(make(tb, {v.size, v.cols}, Fill::Extreme, 2)),
                columns.input(make(ta, {v.rows}, Fill::Extreme, 3)),
                columns.input(make(tb, {v.cols}, Fill::Extreme, 4))});
  out.push_back(finish(columns));
  // A matrix cut out of a wider one.
  CaseBuilder wide("view_int_wide_" + name);
  wide.node(NEF_OP_MATMUL_INTEGER,
            {wide.input(make(ta, {v.batch, v.rows, v.size}, Fill::Extreme, 1)),
             cut(wide, wide.input(make(tb, {v.size, v.cols + 5}, Fill::Extreme, 2)), 3, v.cols + 3,
                 1, 1)});
  out.push_back(finish(wide));
  // Some rows of each batch, by one matrix that may be constant.
  for (const Dims& by : kRows) {
    CaseBuilder rows("view_int_rows_" + dims_name(by) + "_" + name);
    rows.node(NEF_OP_MATMUL_INTEGER,
              {cut(rows, rows.input(make(ta, {v.batch, v.rows, v.size}, Fill::Extreme, 1)), by[0],
                   by[1], 1, by[2]),
               rows.input(make(tb, {v.size, v.cols}, Fill::Extreme, 2)),
               rows.input(make(ta, {}, Fill::Extreme, 3)),
               rows.input(make(tb, {v.cols}, Fill::Extreme, 4))});
    out.push_back(finish(rows));
  }
}

}  // namespace

void add_viewed_products(nef_dtype t, CaseList& out) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  for (const Viewed& v : kViewed) {
    const Tolerance tolerance =
        narrow ? Tolerance{1.5, 1} : Tolerance{4, 1 + static_cast<double>(v.size) / 4};
    const std::string shape = v.name();
    const Tensor x = make(t, {v.batch, v.rows, v.heads, v.size}, Fill::Unit, 1);
    CaseBuilder scores("view_scores_" + shape);
    scores.node(
        NEF_OP_MATMUL,
        {turn(scores, scores.input(x), {0, 2, 1, 3}),
         turn(scores, scores.input(make(t, {v.batch, v.cols, v.heads, v.size}, Fill::Unit, 2)),
              {0, 2, 3, 1})});
    out.push_back(finish(scores, tolerance));
    CaseBuilder sums("view_sums_" + shape);
    sums.node(NEF_OP_MATMUL,
              {sums.input(make(t, {v.batch, v.heads, v.cols, v.rows}, Fill::Unit, 2)),
               turn(sums, sums.input(x), {0, 2, 1, 3})});
    out.push_back(
        finish(sums, narrow ? tolerance : Tolerance{4, 1 + static_cast<double>(v.rows) / 4}));
    // One matrix for all, rows with and without the others of their batch between them, backwards.
    for (const Dims& by : kRows) {
      CaseBuilder rows("view_rows_" + dims_name(by) + "_" + shape);
      const int32_t y = rows.node(
          NEF_OP_MATMUL, {cut(rows, rows.input(make(t, {v.batch, v.rows, v.size}, Fill::Unit, 1)),
                              by[0], by[1], 1, by[2]),
                          rows.input(make(t, {v.size, v.cols}, Fill::Unit, 2))})[0];
      if (!narrow) rows.node(NEF_OP_ADD, {y, rows.input(make(t, {v.cols}, Fill::Unit, 3))});
      out.push_back(finish(rows, tolerance));
    }
    CaseBuilder columns("view_columns_" + shape);
    columns.node(
        NEF_OP_FUSED_MATMUL,
        {columns.input(make(t, {v.batch, v.heads, v.rows, v.size}, Fill::Unit, 1)),
         cut(columns, columns.input(make(t, {v.batch, v.heads, v.cols + 5, v.size}, Fill::Unit, 2)),
             3, v.cols + 3, 2, 1)},
        attrs(NEF_OP_FUSED_MATMUL).set_int(NEF_FUSED_MATMUL_TRANS_B, 1).build());
    out.push_back(finish(columns, tolerance));
  }
}

void add_viewed_integers(CaseList& out) {
  for (nef_dtype ta : {NEF_UINT8, NEF_INT8}) {
    for (nef_dtype tb : {NEF_UINT8, NEF_INT8}) {
      for (const Viewed& v : kViewed) add_integers(ta, tb, v, out);
    }
  }
}

}  // namespace nef::conformance
