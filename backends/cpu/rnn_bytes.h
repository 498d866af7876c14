// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/gemm_values.h"

// The weights that multiply a state, where each is a whole number from -128 to 127 times a scale of
// its row, as those of models quantised to 8 bits are: kept as bytes, of which a cache holds four
// times as many as of floats, and turned into floats on the way into a product.
namespace nef::cpu {

class ByteMatrix {
 public:
  // Of w[rows][depth]. False, and nothing packed, where some row is not of that kind.
  bool pack(const float* w, int64_t rows, int64_t depth);
  uint64_t bytes() const { return panels_.bytes() + scales_.bytes(); }

  // A state times this: largest sums stay as large as those of the weights themselves.
  float state_scale() const { return state_scale_; }
  // c[m][rows] = a w', with rows of a multiplied by state_scale() beforehand.
  void multiply(const float* a, int64_t a_row, int64_t m, float* c, int64_t ldc) const;

 private:
  int64_t rows_ = 0, depth_ = 0;
  float state_scale_ = 1;
  AlignedBuffer<int8_t> panels_;  // [rows / 32][depth][32]
  AlignedBuffer<float> scales_;   // of each row, less state_scale_
};

}  // namespace nef::cpu
