// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/resize_axis.h"
#include "backends/cpu/resize_lines.h"
#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {

// A tensor of T as Resize by weights sees it: lines that run along the last resized axis and those
// within it, and the axes before. A line of the input is resampled to the length of the output's,
// piece by piece, and stays for the next lines of the output; those are sums of such pieces.
struct ResizeLines {
  const ResizeTaps* outer = nullptr;  // of the axes before
  int n_outer = 0;
  ResizeTaps along;  // taps of whole runs of `inner` elements
  int64_t inner = 1;
  int64_t in_length = 1, out_length = 1;  // in elements
};

// Integers round to nearest even, then saturate.
template <class T>
T resized_element(double value) {
  using C = Compute<T>;
  if constexpr (std::is_floating_point_v<C>) return narrow<T>(static_cast<C>(value));
  else return saturate<T>(std::nearbyint(value));
}

// One piece of the lines, for a run of output lines one after the other. On the stack.
template <class T>
class ResizePiece {
 public:
  ResizePiece(const ResizeLines& lines, nef_dtype dtype, const T* x, double extrapolation,
              int64_t first, int64_t n)
      : lines_(lines), x_(x), extrapolation_(extrapolation), first_(first), n_(n) {
    to_float_ = find_cast_fn(dtype, NEF_FLOAT32);
    from_double_ = find_cast_fn(NEF_FLOAT64, dtype);
    for (int d = 0; d < lines.n_outer; ++d) terms_ *= lines.outer[d].per_output;
    slots_ = std::min(terms_, kSlots / 2) * 2;
    keys_.fill(-1);
    find_span();
    in_groups_ = kAsFloat && lines.along.per_output <= kResizeTaps && high_ - low_ <= kSpan;
    if (in_groups_) fill_groups();
  }

  // `at` are the coordinates along the outer axes.
  void resize(const int64_t* at, T* out) {
    const double* lines[kBatch];
    double weights[kBatch];
    int count = 0;
    bool add = false;
    for (int64_t term = 0; term < terms_; ++term) {
      const ResizeTap tap = outer_tap(at, term);
      if (tap.weight != 0) {
        weights[count] = tap.weight;
        lines[count++] = line(tap.offset);
      }
      if (count < kBatch && term + 1 < terms_) continue;
      ops_.blend(lines, weights, count, n_, add, sum_);
      add = true;
      count = 0;
    }
    store(out);
  }

 private:
  static constexpr int64_t kSlots = 32;
  static constexpr int kBatch = 16;       // lines that are added up at once, no more than slots
  static constexpr int64_t kSpan = 2048;  // elements that a piece reads of a line
  // float32 holds these exactly.
  static constexpr bool kAsFloat = sizeof(T) <= 2 || std::is_same_v<T, float>;

  const ResizeTap* taps(int64_t i) const { return lines_.along.at((first_ + i) / lines_.inner); }
  int64_t within(int64_t i) const { return (first_ + i) % lines_.inner; }
  bool outside(int64_t i) const { return taps(i)[0].offset == kResizeOutside; }

  // Where a term of an output line begins and what it weighs: one tap of each outer axis.
  ResizeTap outer_tap(const int64_t* at, int64_t term) const {
    ResizeTap all{0, 1};
    for (int d = lines_.n_outer - 1; d >= 0; --d) {
      const ResizeTap* taps = lines_.outer[d].at(at[d]);
      const int64_t per_output = lines_.outer[d].per_output;
      if (per_output > 1) {
        taps += term % per_output;
        term /= per_output;
      }
      all.offset += taps->offset;
      all.weight *= taps->weight;
    }
    return all;
  }

  void find_span() {
    low_ = lines_.in_length;
    for (int64_t i = 0; i < n_; ++i) {
      if (outside(i)) {
        some_outside_ = true;
        continue;
      }
      for (int64_t k = 0; k < lines_.along.per_output; ++k) {
        const int64_t offset = taps(i)[k].offset + within(i);
        low_ = std::min(low_, offset);
        high_ = std::max(high_, offset + 1);
      }
    }
    low_ = std::min(low_, high_);
  }

  void fill_groups() {
    const int64_t lanes = ops_.lanes;
    groups_.taps = static_cast<int>(lines_.along.per_output);
    groups_.count = (n_ + lanes - 1) / lanes;
    // Where windows lie: in the line itself, or in what a piece copies of it.
    in_place_ = std::is_same_v<T, float> && lines_.in_length >= 2 * lanes;
    const int64_t origin = in_place_ ? 0 : low_;
    const int64_t last = in_place_ ? lines_.in_length - 2 * lanes : high_ - low_;
    for (int k = 0; k < groups_.taps; ++k) {
      for (int64_t g = 0; g < groups_.count; ++g) fill_group(k, g, lanes, origin, last);
    }
  }
  void fill_group(int k, int64_t g, int64_t lanes, int64_t origin, int64_t last) {
    const int64_t begin = g * lanes, end = std::min(begin + lanes, n_);
    int64_t low = lines_.in_length, high = 0;
    for (int64_t i = begin; i < end; ++i) {
      if (outside(i)) continue;
      const int64_t offset = taps(i)[k].offset + within(i) - origin;
      low = std::min(low, offset);
      high = std::max(high, offset);
    }
    const int64_t start = std::min({low, high, last});
    groups_.start[k][g] = start;
    groups_.near[k][g] = high - start < 2 * lanes;
    for (int64_t i = begin; i < begin + lanes; ++i) {
      const bool reads = i < end && !outside(i);
      const int64_t offset = reads ? taps(i)[k].offset + within(i) - origin : start;
      groups_.index[k][i] = static_cast<int32_t>(offset - start);
      groups_.weight[k][i] = reads ? taps(i)[k].weight : 0;
    }
  }

  // The piece of the input's line at `offset`, resampled.
  const double* line(int64_t offset) {
    int64_t oldest = 0;
    ++tick_;
    for (int64_t s = 0; s < slots_; ++s) {
      if (keys_[static_cast<size_t>(s)] == offset) {
        used_[static_cast<size_t>(s)] = tick_;
        return pieces_[s];
      }
      if (used_[static_cast<size_t>(s)] < used_[static_cast<size_t>(oldest)]) oldest = s;
    }
    keys_[static_cast<size_t>(oldest)] = offset;
    used_[static_cast<size_t>(oldest)] = tick_;
    sample(x_ + offset, pieces_[oldest]);
    return pieces_[oldest];
  }

  void sample(const T* x, double* out) {
    if (!in_groups_) return sample_each(x, out);
    if constexpr (std::is_same_v<T, float>) {
      if (in_place_) return ops_.sample(groups_, x, out);
    }
    to_float_({floats_, {x + low_}, static_cast<size_t>(high_ - low_), 0, 0});
    ops_.sample(groups_, floats_, out);
  }
  void sample_each(const T* x, double* out) const {
    for (int64_t i = 0; i < n_; ++i) {
      const ResizeTap* t = taps(i);
      const T* from = x + within(i);
      double sum = 0;
      for (int64_t k = 0; k < lines_.along.per_output && t[0].offset != kResizeOutside; ++k) {
        // A weight of 0 does not read its element: it may be infinite.
        if (t[k].weight == 0) continue;
        sum += t[k].weight * static_cast<double>(widen(from[t[k].offset]));
      }
      out[i] = sum;
    }
    std::fill(out + n_, out + kResizeColumns, 0.0);
  }

  void store(T* out) {
    for (int64_t i = 0; some_outside_ && i < n_; ++i) {
      if (outside(i)) sum_[i] = extrapolation_;
    }
    if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; i < n_; ++i) out[i] = resized_element<T>(sum_[i]);
    } else {
      from_double_({out, {sum_}, static_cast<size_t>(n_), 0, 0});
    }
  }

  const ResizeLineOps& ops_ = resize_line_ops();
  const ResizeLines& lines_;
  const T* x_;
  double extrapolation_;
  int64_t first_, n_, low_ = 0, high_ = 0;
  int64_t terms_ = 1, slots_ = 1;
  bool some_outside_ = false, in_groups_ = false, in_place_ = false;
  TileFn to_float_ = nullptr, from_double_ = nullptr;
  std::array<int64_t, kSlots> keys_, used_ = {};
  int64_t tick_ = 0;
  ResizeGroups groups_;
  float floats_[kSpan + 2 * kResizeColumns];  // and what windows read beyond
  double sum_[kResizeColumns];
  double pieces_[kSlots][kResizeColumns];
};

}  // namespace nef::cpu
