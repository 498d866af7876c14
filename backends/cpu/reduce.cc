// SPDX-License-Identifier: Apache-2.0
// The Reduce family.
#include <algorithm>

#include "backends/cpu/odometer.h"
#include "backends/cpu/order.h"
#include "backends/cpu/reduce_fold.h"
#include "backends/cpu/reduce_plan.h"

namespace nef::cpu {
namespace {

// A reduction to few outputs is cut into kParts parts, so that all threads have work; the parts
// depend on the shape alone, and with them the rounding.
constexpr int64_t kParts = 16;
constexpr int64_t kFewUnits = 16;
constexpr int64_t kWorthParts = 128 * 1024;  // elements per unit
constexpr int64_t kGrainElements = 32 * 1024;
constexpr int64_t kShortRow = 64;  // rows so short are folded a tile at a time

// An accumulator as an element; integer sums wrap.
template <class T, class Acc>
T element(Acc acc) {
  if constexpr (kFloats<T>) return narrow<T>(static_cast<Compute<T>>(acc));
  else return static_cast<T>(acc);
}

template <class T, class Folder, class Finish>
class Reducer {
 public:
  using Acc = typename Folder::Acc;

  Reducer(const Call& c, const ReducePlan& plan, Finish finish)
      : plan_(plan),
        finish_(finish),
        x_(reinterpret_cast<const T*>(c.in(0).data)),
        y_(reinterpret_cast<T*>(c.out().data)),
        partials_(c.scratch<Acc>()) {}

  void run() const {
    if (plan_.outputs() == 0) return;
    const int64_t width = plan_.inner_reduced ? 1 : std::min(plan_.inner, kColumnTile);
    const int64_t tiles = plan_.inner_reduced ? 1 : (plan_.inner + width - 1) / width;
    const int64_t units = plan_.kept_count * tiles;
    const int64_t unit_elements = std::max<int64_t>(plan_.per_output() * width, 1);
    if (units < kFewUnits && unit_elements >= kWorthParts) return run_parts(units, tiles, width);
    parallel_for(units, kGrainElements / unit_elements + 1, [&](int64_t begin, int64_t end) {
      if (plan_.inner_reduced) return run_rows(begin, end);
      Acc acc[kColumnTile];
      for (int64_t u = begin; u < end; ++u) {
        fold_unit(u, tiles, width, 0, 1, acc);
        store_unit(u, tiles, width, acc);
      }
    });
  }

 private:
  void run_rows(int64_t begin, int64_t end) const {
    const bool dense = plan_.reduced_count == 1 && plan_.inner > 1 && plan_.inner <= kShortRow;
    if constexpr (kHasShortRows) {
      if (dense) return run_short_rows(begin, end);
    }
    for (int64_t u = begin; u < end; ++u) {
      Acc acc;
      fold_unit(u, 1, 1, 0, 1, &acc);
      store_unit(u, 1, 1, &acc);
    }
  }

  static constexpr bool kHasShortRows = requires(const Folder& f, Acc* acc, const T* x) {
    f.short_rows(acc, x, 1, 1);
  };
  void run_short_rows(int64_t begin, int64_t end) const {
    const int64_t share = kColumnTile / plan_.inner;
    Acc acc[kColumnTile / 2];
    for (int64_t u = begin; u < end; u += share) {
      const int64_t rows = std::min(share, end - u);
      folder_.short_rows(acc, x_ + u * plan_.inner, rows, plan_.inner);
      store(acc, rows, y_ + u);
    }
  }

  void run_parts(int64_t units, int64_t tiles, int64_t width) const {
    parallel_for(units * kParts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        fold_unit(p / kParts, tiles, width, p % kParts, kParts, partials_ + p * width);
      }
    });
    for (int64_t u = 0; u < units; ++u) {
      Acc* total = partials_ + u * kParts * width;
      for (int64_t p = 1; p < kParts; ++p) {
        for (int64_t i = 0; i < width; ++i) {
          total[i] = Folder::merge(total[i], total[p * width + i]);
        }
      }
      store_unit(u, tiles, width, total);
    }
  }

  // Part `part` of `parts` of one unit: one output (rows) or a tile of columns.
  void fold_unit(int64_t u, int64_t tiles, int64_t width, int64_t part, int64_t parts,
                 Acc* acc) const {
    const T* base = x_ + Odometer(plan_.kept, plan_.kept.rank, u / tiles).offset();
    if (plan_.inner_reduced) {
      acc[0] = Folder::start();
      fold_rows(base, part, parts, acc[0]);
      return;
    }
    const int64_t first = u % tiles * width, n = std::min(width, plan_.inner - first);
    for (int64_t i = 0; i < width; ++i) acc[i] = Folder::start();
    fold_columns(base + first, n, part, parts, acc);
  }

  void fold_rows(const T* base, int64_t part, int64_t parts, Acc& acc) const {
    const bool cut_rows = plan_.reduced_count == 1;
    const int64_t n = cut_rows ? plan_.inner : plan_.reduced_count;
    const int64_t begin = n * part / parts, end = n * (part + 1) / parts;
    if (cut_rows) return folder_.row(acc, base + begin, end - begin);
    if (begin == end) return;
    Odometer at(plan_.reduced, plan_.reduced.rank, begin);
    for (int64_t r = begin; r < end; ++r, at.next()) {
      folder_.row(acc, base + at.offset(), plan_.inner);
    }
  }

  void fold_columns(const T* base, int64_t n, int64_t part, int64_t parts, Acc* acc) const {
    const int64_t count = plan_.reduced_count;
    const int64_t begin = count * part / parts, end = count * (part + 1) / parts;
    if (plan_.reduced.rank == 0) {
      if (begin < end) folder_.columns(acc, base, 0, 1, n);
      return;
    }
    const int64_t step = plan_.reduced.steps[plan_.reduced.rank - 1];
    for (int64_t r = begin; r < end;) {
      const Odometer at(plan_.reduced, plan_.reduced.rank, r);
      const int64_t rows = std::min(at.left_in_row(), end - r);
      folder_.columns(acc, base + at.offset(), step, rows, n);
      r += rows;
    }
  }

  void store_unit(int64_t u, int64_t tiles, int64_t width, const Acc* acc) const {
    if (plan_.inner_reduced) {
      y_[u] = element<T>(finish_(acc[0], plan_.per_output()));
      return;
    }
    const int64_t first = u % tiles * width;
    store(acc, std::min(width, plan_.inner - first), y_ + u / tiles * plan_.inner + first);
  }

  // n <= kColumnTile outputs.
  void store(const Acc* acc, int64_t n, T* out) const {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
      double wide[kColumnTile];
      for (int64_t i = 0; i < n; ++i) wide[i] = finish_(acc[i], plan_.per_output());
      narrow_({out, {wide, nullptr, nullptr}, static_cast<size_t>(n), 0, 0});
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = element<T>(finish_(acc[i], plan_.per_output()));
    }
  }

  const ReducePlan& plan_;
  Folder folder_;
  Finish finish_;
  const T* x_;
  T* y_;
  Acc* partials_;
  TileFn narrow_ =
      find_cast_fn(NEF_FLOAT64, std::is_same_v<T, Bfloat16> ? NEF_BFLOAT16 : NEF_FLOAT16);
};

// Parts are only used by reductions of many elements; the bound never shrinks with larger dims.
size_t reduce_scratch(const Call& c) {
  if (c.in(0).count < kWorthParts) return 0;
  return static_cast<size_t>(kFewUnits * kParts * kColumnTile) * 16;
}

template <class T, Fold kFold>
using FolderFor = std::conditional_t<
    kFold == Fold::kProduct, ScalarFolder<T, kFold>,
    std::conditional_t<std::is_same_v<T, float>, VectorFolder<kFold>, ScalarFolder<T, kFold>>>;
template <class T, Fold kFold>
struct PickFolder {
  using type = FolderFor<T, kFold>;
};
template <Fold kFold>
requires(kFold != Fold::kProduct) struct PickFolder<Float16, kFold> {
  using type = NarrowFolder<Float16, kFold>;
};
template <Fold kFold>
requires(kFold != Fold::kProduct) struct PickFolder<Bfloat16, kFold> {
  using type = NarrowFolder<Bfloat16, kFold>;
};

template <class T, class Folder, class Finish>
void reduce_with(const Call& c, Finish finish) {
  const ReducePlan plan = plan_reduction(c);
  Reducer<T, Folder, Finish>(c, plan, finish).run();
}

template <Fold kFold>
void run_fold(const Call& c) {
  if (c.in(0).dtype == NEF_BOOL) {
    return reduce_with<uint8_t, ScalarFolder<uint8_t, kFold>>(
        c, [](auto acc, int64_t) { return acc != 0; });
  }
  with_element_type(c.in(0).dtype, [&]<class T>(T) {
    reduce_with<T, typename PickFolder<T, kFold>::type>(c, [](auto acc, int64_t) { return acc; });
  });
}

// Integers truncate; over nothing they give 0, floats NaN.
void run_mean(const Call& c) {
  with_element_type(c.in(0).dtype, [&]<class T>(T) {
    reduce_with<T, typename PickFolder<T, Fold::kSum>::type>(c, [](auto acc, int64_t count) {
      if constexpr (kFloats<T>) {
        return acc / static_cast<double>(count);
      } else if constexpr (std::is_signed_v<T>) {
        return count == 0 ? T{0} : static_cast<T>(static_cast<int64_t>(acc) / count);
      } else {
        return count == 0 ? T{0} : static_cast<T>(acc / static_cast<uint64_t>(count));
      }
    });
  });
}

// The sum of squares of integers in double.
template <class T>
struct SquareFolder : ScalarFolder<T, Fold::kSquareSum> {
  using Base = ScalarFolder<double, Fold::kSquareSum>;
  using Acc = double;
  static Acc start() { return 0; }
  static Acc merge(Acc a, Acc b) { return a + b; }
  void row(Acc& acc, const T* x, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) acc += Base::map(static_cast<double>(x[i]));
  }
  void columns(Acc* acc, const T* x, int64_t step, int64_t rows, int64_t n) const {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < n; ++i) acc[i] += Base::map(static_cast<double>(x[r * step + i]));
    }
  }
};

void run_l2(const Call& c) {
  with_element_type(c.in(0).dtype, [&]<class T>(T) {
    if constexpr (kFloats<T>) {
      reduce_with<T, typename PickFolder<T, Fold::kSquareSum>::type>(
          c, [](double acc, int64_t) { return std::sqrt(acc); });
    } else {
      reduce_with<T, SquareFolder<T>>(
          c, [](double acc, int64_t) { return saturate<T>(std::sqrt(acc)); });
    }
  });
}

template <class F>
void with_float_element(nef_dtype dtype, F f) {
  if (dtype == NEF_FLOAT16) f(Float16{});
  else if (dtype == NEF_BFLOAT16) f(Bfloat16{});
  else if (dtype == NEF_FLOAT64) f(double{});
  else f(float{});
}

void run_log_sum(const Call& c) {
  with_float_element(c.in(0).dtype, [&]<class T>(T) {
    reduce_with<T, typename PickFolder<T, Fold::kSum>::type>(
        c, [](double acc, int64_t) { return std::log(acc); });
  });
}

void run_log_sum_exp(const Call& c) {
  with_float_element(c.in(0).dtype, [&]<class T>(T) {
    reduce_with<T, LogSumExpFolder<T>>(c, [](auto acc, int64_t) {
      return std::isfinite(acc.most) ? acc.most + std::log(acc.sum) : acc.most;
    });
  });
}

}  // namespace

void register_reductions() {
  const auto add = [](nef_op op, void (*run)(const Call&)) {
    register_call(op, {"reduce", run, reduce_scratch});
  };
  add(NEF_OP_REDUCE_SUM, run_fold<Fold::kSum>);
  add(NEF_OP_REDUCE_L1, run_fold<Fold::kAbsSum>);
  add(NEF_OP_REDUCE_SUM_SQUARE, run_fold<Fold::kSquareSum>);
  add(NEF_OP_REDUCE_PROD, run_fold<Fold::kProduct>);
  add(NEF_OP_REDUCE_MAX, run_fold<Fold::kMax>);
  add(NEF_OP_REDUCE_MIN, run_fold<Fold::kMin>);
  add(NEF_OP_REDUCE_MEAN, run_mean);
  add(NEF_OP_REDUCE_L2, run_l2);
  add(NEF_OP_REDUCE_LOG_SUM, run_log_sum);
  add(NEF_OP_REDUCE_LOG_SUM_EXP, run_log_sum_exp);
  register_order();
}

}  // namespace nef::cpu
