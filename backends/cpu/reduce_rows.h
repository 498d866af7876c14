// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Float32 reductions of contiguous rows and of column tiles, on vectors. Sums are taken in
// double. A NaN anywhere gives NaN.
namespace nef::cpu {

enum class Fold : uint8_t { kSum, kAbsSum, kSquareSum, kProduct, kMax, kMin };

// Folds one row of n >= 1 elements; kProduct has no vector form.
using RowFold = double (*)(const float* x, size_t n);
// Folds `rows` rows, `step` elements apart, into n <= 512 columns: sums into double, extremes
// into float.
using ColumnSum = void (*)(double* acc, const float* x, size_t step, size_t rows, size_t n);
using ColumnExtreme = void (*)(float* acc, const float* x, size_t step, size_t rows, size_t n);

// Folds each of `rows` rows of n >= 1 elements that follow each other.
using ShortSum = void (*)(double* out, const float* x, size_t rows, size_t n);
using ShortExtreme = void (*)(float* out, const float* x, size_t rows, size_t n);

RowFold find_row_fold(Fold fold);
ColumnSum find_column_sum(Fold fold);
ColumnExtreme find_column_extreme(Fold fold);
ShortSum find_short_sum(Fold fold);
ShortExtreme find_short_extreme(Fold fold);
// The sum of e^(x - shift).
using ExpSum = double (*)(const float* x, size_t n, float shift);
ExpSum find_exp_sum();
// Rows into n columns: the largest element so far, and the sum of e^(x - largest). A column of
// nothing begins with -inf and 0; NaN stays, and where it or inf is the largest the sum means
// nothing.
using ExpColumns = void (*)(float* most, float* sum, const float* x, size_t step, size_t rows,
                            size_t n);
ExpColumns find_exp_columns();

}  // namespace nef::cpu
