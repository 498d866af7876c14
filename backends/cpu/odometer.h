// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/copy.h"

namespace nef::cpu {

// Coordinates of the leading `rank` dims of a view, and the element offset they stand for.
class Odometer {
 public:
  Odometer(const StridedView& view, int rank, int64_t start) : view_(view), rank_(rank) {
    for (int d = rank - 1; d >= 0; --d) {
      at_[d] = start % view.dims[d];
      start /= view.dims[d];
      offset_ += at_[d] * view.steps[d];
    }
  }
  int64_t offset() const { return offset_; }
  // Steps left along the last dim before it wraps, the current one included.
  int64_t left_in_row() const { return rank_ == 0 ? 1 : view_.dims[rank_ - 1] - at_[rank_ - 1]; }
  void next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      offset_ += view_.steps[d];
      if (++at_[d] < view_.dims[d]) return;
      offset_ -= at_[d] * view_.steps[d];
      at_[d] = 0;
    }
  }

 private:
  const StridedView& view_;
  int rank_;
  int64_t at_[NEF_MAX_RANK] = {};
  int64_t offset_ = 0;
};

}  // namespace nef::cpu
