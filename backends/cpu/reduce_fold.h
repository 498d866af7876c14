// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>

#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/reduce_rows.h"
#include "backends/cpu/scalar_ops.h"

// Folders: how rows and columns of one dtype are reduced. Each has
//   Acc                      what is carried: double for float sums, uint64_t for integer ones
//   start()                  the identity
//   merge(a, b)              two partial results
//   row(acc, x, n)           n contiguous elements into one
//   columns(acc, x, step, rows, n)   rows into n <= kColumnTile columns
namespace nef::cpu {

constexpr int64_t kColumnTile = 2048;

template <class T>
inline constexpr bool kFloats = std::is_floating_point_v<Compute<T>>;

// Elementwise folding for any dtype.
template <class T, Fold kFold>
struct ScalarFolder {
  static constexpr bool kExtreme = kFold == Fold::kMax || kFold == Fold::kMin;
  using C = Compute<T>;
  using Acc = std::conditional_t<kExtreme, C, std::conditional_t<kFloats<T>, double, uint64_t>>;

  static Acc start() {
    using Limits = std::numeric_limits<C>;
    if constexpr (kFold == Fold::kProduct) return 1;
    if constexpr (!kExtreme) return 0;
    if constexpr (kFloats<T>) {
      return kFold == Fold::kMax ? -Limits::infinity() : Limits::infinity();
    }
    return kFold == Fold::kMax ? Limits::lowest() : Limits::max();
  }

  static Acc map(T element) {
    const C x = widen(element);
    if constexpr (kFold == Fold::kAbsSum) {
      if constexpr (kFloats<T>) return std::fabs(static_cast<Acc>(x));
      else return x < 0 ? 0 - static_cast<Acc>(x) : static_cast<Acc>(x);
    } else if constexpr (kFold == Fold::kSquareSum) {
      return static_cast<Acc>(x) * static_cast<Acc>(x);
    } else {
      return static_cast<Acc>(x);
    }
  }

  static Acc merge(Acc a, Acc b) {
    if constexpr (kFold == Fold::kProduct) return a * b;
    else if constexpr (kFold == Fold::kMax) return larger(a, b);
    else if constexpr (kFold == Fold::kMin) return smaller(a, b);
    else return a + b;
  }

  void row(Acc& acc, const T* x, int64_t n) const {
    Acc even = acc, odd = start();
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
      even = merge(even, map(x[i]));
      odd = merge(odd, map(x[i + 1]));
    }
    if (i < n) even = merge(even, map(x[i]));
    acc = merge(even, odd);
  }

  void columns(Acc* acc, const T* x, int64_t step, int64_t rows, int64_t n) const {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < n; ++i) acc[i] = merge(acc[i], map(x[r * step + i]));
    }
  }
};

// Float32 on vectors.
template <Fold kFold>
struct VectorFolder : ScalarFolder<float, kFold> {
  using Base = ScalarFolder<float, kFold>;
  using Acc = typename Base::Acc;

  void row(Acc& acc, const float* x, int64_t n) const {
    if (n > 0) acc = Base::merge(acc, static_cast<Acc>(fold_row(x, static_cast<size_t>(n))));
  }
  void columns(Acc* acc, const float* x, int64_t step, int64_t rows, int64_t n) const {
    fold_columns(acc, x, static_cast<size_t>(step), static_cast<size_t>(rows),
                 static_cast<size_t>(n));
  }

  RowFold fold_row = find_row_fold(kFold);
  std::conditional_t<Base::kExtreme, ColumnExtreme, ColumnSum> fold_columns = columns_fn();

 private:
  static auto columns_fn() {
    if constexpr (Base::kExtreme) return find_column_extreme(kFold);
    else return find_column_sum(kFold);
  }
};

// 16-bit floats, widened a tile at a time.
template <class T, Fold kFold>
struct NarrowFolder : VectorFolder<kFold> {
  using Base = VectorFolder<kFold>;
  using Acc = typename Base::Acc;

  void row(Acc& acc, const T* x, int64_t n) const {
    float wide[kColumnTile];
    for (int64_t i = 0; i < n; i += kColumnTile) {
      const int64_t m = std::min(kColumnTile, n - i);
      widen_tile(wide, x + i, m);
      Base::row(acc, wide, m);
    }
  }
  void columns(Acc* acc, const T* x, int64_t step, int64_t rows, int64_t n) const {
    float wide[kColumnTile];
    for (int64_t r = 0; r < rows; ++r) {
      widen_tile(wide, x + r * step, n);
      Base::columns(acc, wide, n, 1, n);
    }
  }

 private:
  void widen_tile(float* wide, const T* x, int64_t n) const {
    cast({wide, {x, nullptr, nullptr}, static_cast<size_t>(n), 0, 0});
  }
  TileFn cast = find_cast_fn(std::is_same_v<T, Float16> ? NEF_FLOAT16 : NEF_BFLOAT16, NEF_FLOAT32);
};

// log(sum(e^x)) as the largest element and the sum of e^(x - largest).
template <class T>
struct LogSumExpFolder {
  struct Acc {
    double most = -std::numeric_limits<double>::infinity();
    double sum = 0;
  };
  static Acc start() { return {}; }
  static Acc merge(Acc a, Acc b) {
    const double most = larger(a.most, b.most);
    if (!std::isfinite(most)) return {most, 0};
    return {most, a.sum * std::exp(a.most - most) + b.sum * std::exp(b.most - most)};
  }

  void row(Acc& acc, const T* x, int64_t n) const {
    for (int64_t i = 0; i < n; i += kColumnTile) {
      acc = merge(acc, tile(x + i, std::min(kColumnTile, n - i)));
    }
  }
  void columns(Acc* acc, const T* x, int64_t step, int64_t rows, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      Acc column;
      for (int64_t r = 0; r < rows; ++r) {
        column.most = larger(column.most, static_cast<double>(widen(x[r * step + i])));
      }
      for (int64_t r = 0; std::isfinite(column.most) && r < rows; ++r) {
        column.sum += std::exp(static_cast<double>(widen(x[r * step + i])) - column.most);
      }
      acc[i] = merge(acc[i], column);
    }
  }

 private:
  Acc tile(const T* x, int64_t n) const {
    Acc acc;
    if constexpr (std::is_same_v<T, float>) {
      acc.most = fold_max(x, static_cast<size_t>(n));
      if (std::isfinite(acc.most)) {
        acc.sum = exp_sum(x, static_cast<size_t>(n), static_cast<float>(acc.most));
      }
    } else {
      for (int64_t i = 0; i < n; ++i) acc.most = larger(acc.most, static_cast<double>(widen(x[i])));
      for (int64_t i = 0; std::isfinite(acc.most) && i < n; ++i) {
        acc.sum += std::exp(static_cast<double>(widen(x[i])) - acc.most);
      }
    }
    return acc;
  }
  RowFold fold_max = find_row_fold(Fold::kMax);
  ExpSum exp_sum = find_exp_sum();
};

}  // namespace nef::cpu
