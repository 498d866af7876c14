// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/reduce_rows.h"
#include "backends/cpu/scalar_ops.h"

// Folders: how rows and columns of one dtype are reduced. Each has
//   Acc                      what is carried: double for float sums, uint64_t for integer ones
//   start()                  the identity
//   merge(a, b)              two partial results
//   row(acc, x, n)           n contiguous elements into one
//   columns(acc, x, step, rows, n)   rows into n <= kColumnTile columns
//   short_rows(acc, x, rows, n)      rows that follow each other, at most kColumnTile elements; may
//                                    be left out
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

  void short_rows(Acc* acc, const float* x, int64_t rows, int64_t n) const {
    fold_short(acc, x, static_cast<size_t>(rows), static_cast<size_t>(n));
  }

  RowFold fold_row = find_row_fold(kFold);
  std::conditional_t<Base::kExtreme, ColumnExtreme, ColumnSum> fold_columns = columns_fn();
  std::conditional_t<Base::kExtreme, ShortExtreme, ShortSum> fold_short = short_fn();

 private:
  static auto short_fn() {
    if constexpr (Base::kExtreme) return find_short_extreme(kFold);
    else return find_short_sum(kFold);
  }
  static auto columns_fn() {
    if constexpr (Base::kExtreme) return find_column_extreme(kFold);
    else return find_column_sum(kFold);
  }
};

// Floats of 16 and 32 bits as float32, the narrow ones a tile at a time.
template <class T>
struct Widening {
  // n <= kColumnTile elements.
  const float* operator()(const T* x, int64_t n, float* wide) const {
    if constexpr (std::is_same_v<T, float>) return x;
    else return cast({wide, {x, nullptr, nullptr}, static_cast<size_t>(n), 0, 0}), wide;
  }
  TileFn cast = find_cast_fn(std::is_same_v<T, Float16> ? NEF_FLOAT16 : NEF_BFLOAT16, NEF_FLOAT32);
};

template <class T, Fold kFold>
struct NarrowFolder : VectorFolder<kFold> {
  using Base = VectorFolder<kFold>;
  using Acc = typename Base::Acc;

  void row(Acc& acc, const T* x, int64_t n) const {
    float wide[kColumnTile];
    for (int64_t i = 0; i < n; i += kColumnTile) {
      const int64_t m = std::min(kColumnTile, n - i);
      Base::row(acc, widen(x + i, m, wide), m);
    }
  }
  void columns(Acc* acc, const T* x, int64_t step, int64_t rows, int64_t n) const {
    float wide[kColumnTile];
    for (int64_t r = 0; r < rows; ++r) {
      Base::columns(acc, widen(x + r * step, n, wide), n, 1, n);
    }
  }
  void short_rows(Acc* acc, const T* x, int64_t rows, int64_t n) const {
    float wide[kColumnTile];
    Base::short_rows(acc, widen(x, rows * n, wide), rows, n);
  }

 private:
  Widening<T> widen;
};

// log(sum(e^x)) as the largest element and the sum of e^(x - largest).
struct LogSumExp {
  struct Acc {
    double most = -std::numeric_limits<double>::infinity();
    double sum = 0;
  };
  static Acc start() { return {}; }
  static Acc merge(Acc a, Acc b) {
    const double most = larger(a.most, b.most);
    if (!std::isfinite(most)) return {most, 0};
    return {most, relative(a, most) + relative(b, most)};
  }

 private:
  static double relative(Acc a, double most) {
    return a.sum == 0 || a.most == most ? a.sum : a.sum * std::exp(a.most - most);
  }
};

struct DoubleLogSumExpFolder : LogSumExp {
  void row(Acc& acc, const double* x, int64_t n) const { fold(acc, x, 1, n); }
  void columns(Acc* acc, const double* x, int64_t step, int64_t rows, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) fold(acc[i], x + i, step, rows);
  }

 private:
  static void fold(Acc& acc, const double* x, int64_t step, int64_t n) {
    Acc all;
    for (int64_t i = 0; i < n; ++i) all.most = larger(all.most, x[i * step]);
    for (int64_t i = 0; std::isfinite(all.most) && i < n; ++i) {
      all.sum += std::exp(x[i * step] - all.most);
    }
    acc = merge(acc, all);
  }
};

// On vectors, which sum up to kRowBlock rows in float32.
template <class T>
struct LogSumExpFolder : LogSumExp {
  void row(Acc& acc, const T* x, int64_t n) const {
    float wide[kColumnTile];
    for (int64_t i = 0; i < n; i += kColumnTile) {
      const int64_t m = std::min(kColumnTile, n - i);
      acc = merge(acc, tile(widen(x + i, m, wide), static_cast<size_t>(m)));
    }
  }
  void columns(Acc* acc, const T* x, int64_t step, int64_t rows, int64_t n) const {
    for (int64_t r = 0; r < rows; r += kRowBlock) {
      const int64_t height = std::min(kRowBlock, rows - r);
      for (int64_t i = 0; i < n; i += kWidth) {
        block(acc + i, x + r * step + i, step, height, std::min(kWidth, n - i));
      }
    }
  }

 private:
  static constexpr bool kNarrow = !std::is_same_v<T, float>;
  static constexpr int64_t kRowBlock = 1024;
  static constexpr int64_t kWidened = 8;  // rows of 16-bit floats at a time
  static constexpr int64_t kWidth = kNarrow ? kColumnTile / kWidened : kColumnTile;

  Acc tile(const float* x, size_t n) const {
    Acc acc;
    acc.most = fold_max(x, n);
    if (std::isfinite(acc.most)) acc.sum = exp_sum(x, n, static_cast<float>(acc.most));
    return acc;
  }
  void block(Acc* acc, const T* x, int64_t step, int64_t rows, int64_t n) const {
    float most[kWidth], sum[kWidth] = {};
    std::fill_n(most, n, -std::numeric_limits<float>::infinity());
    if constexpr (kNarrow) {
      float wide[kColumnTile];
      for (int64_t r = 0; r < rows; r += kWidened) {
        const int64_t height = std::min(kWidened, rows - r);
        for (int64_t k = 0; k < height; ++k) widen(x + (r + k) * step, n, wide + k * n);
        exp_columns(most, sum, wide, static_cast<size_t>(n), static_cast<size_t>(height),
                    static_cast<size_t>(n));
      }
    } else {
      exp_columns(most, sum, x, static_cast<size_t>(step), static_cast<size_t>(rows),
                  static_cast<size_t>(n));
    }
    for (int64_t i = 0; i < n; ++i) acc[i] = merge(acc[i], {most[i], sum[i]});
  }

  RowFold fold_max = find_row_fold(Fold::kMax);
  ExpSum exp_sum = find_exp_sum();
  ExpColumns exp_columns = find_exp_columns();
  Widening<T> widen;
};
template <>
struct LogSumExpFolder<double> : DoubleLogSumExpFolder {};

}  // namespace nef::cpu
