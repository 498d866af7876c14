// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/index_fault.h"

namespace nef::cpu {

// Index tuples along the last axis of `indices`, for the axes of data from `first` on
// (GatherND, ScatterND).
class IndexTuples {
 public:
  IndexTuples(const View& data, const View& indices, int first)
      : data_(data), indices_(indices), first_(first), length_(indices.dims[indices.rank - 1]) {
    int64_t step = 1;
    for (int d = data.rank - 1; d >= 0; --d) {
      steps_[d] = step;
      step *= data.dims[d];
    }
  }
  int64_t count() const { return indices_.span(0, indices_.rank - 1); }
  // Elements that one tuple addresses.
  int64_t block() const { return data_.span(first_ + static_cast<int>(length_), data_.rank); }
  // Element offset of a tuple's block within its batch, -1 after noting a fault.
  int64_t offset(int64_t tuple, IndexFault& fault) const {
    int64_t sum = 0;
    for (int64_t k = 0; k < length_; ++k) {
      const int axis = first_ + static_cast<int>(k);
      const int64_t i = fault.check(int_at(indices_, tuple * length_ + k), axis, data_.dims[axis]);
      if (i < 0) return -1;
      sum += i * steps_[axis];
    }
    return sum;
  }

 private:
  View data_, indices_;
  int first_;
  int64_t length_;
  int64_t steps_[NEF_MAX_RANK];
};

// Indices of single elements along one axis, the other coordinates being the index's own
// (GatherElements, ScatterElements).
class ElementIndices {
 public:
  ElementIndices(const char* op, const View& data, const View& indices, int axis)
      : indices_(indices), axis_(axis) {
    int64_t step = 1;
    for (int d = data.rank - 1; d >= 0; --d) {
      steps_[d] = step;
      step *= data.dims[d];
      if (d == axis || indices.dims[d] <= data.dims[d]) continue;
      throw BackendError(NEF_SHAPE_MISMATCH, std::string(op) + ": indices have size " +
                                                 std::to_string(indices.dims[d]) + " on axis " +
                                                 std::to_string(d) + ", the data only " +
                                                 std::to_string(data.dims[d]));
    }
  }

  // f(k, element of data) for indices [begin, end) that are in range.
  template <class F>
  void visit(int64_t begin, int64_t end, IndexFault& fault, F f) const {
    int64_t at[NEF_MAX_RANK];
    int64_t left = begin, offset = 0;  // offset of the coordinates but the axis
    for (int d = indices_.rank - 1; d >= 0; --d) {
      at[d] = left % indices_.dims[d];
      left /= indices_.dims[d];
      if (d != axis_) offset += at[d] * steps_[d];
    }
    for (int64_t k = begin; k < end; ++k) {
      const int64_t i = fault.check(int_at(indices_, k));
      if (i >= 0) f(k, offset + i * steps_[axis_]);
      for (int d = indices_.rank - 1; d >= 0; --d) {
        const int64_t step = d == axis_ ? 0 : steps_[d];
        offset += step;
        if (++at[d] < indices_.dims[d]) break;
        offset -= at[d] * step;
        at[d] = 0;
      }
    }
  }

 private:
  View indices_;
  int axis_;
  int64_t steps_[NEF_MAX_RANK];
};

}  // namespace nef::cpu
