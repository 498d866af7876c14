// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/cpu/gemm_values.h"

namespace nef::cpu {

// MatMulNBits: y = a b' + bias, with b[n][k] in blocks of `block` elements of `bits` bits.
struct NBitsSpec {
  int32_t a, b, scales, zeros, bias, y;
  int64_t k, n, bits, block;

  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t row_bytes() const { return blocks() * block * bits / 8; }
};

// Scale, and zero point, of block `at` of a column, as a float or double.
template <typename T>
T nbits_scale(const ValueTable& table, const NBitsSpec& spec, const Tensor* values, int64_t column,
              int64_t at);
template <typename T>
T nbits_zero(const ValueTable& table, const NBitsSpec& spec, const Tensor* values, int64_t column,
             int64_t at);

// Are the weights constant and of 4 bits, so that they are packed once and multiplied as they are?
bool packs_nbits(const ValueTable& table, const NBitsSpec& spec);
// With `bytes`, blocks of a are rounded to 8 bits.
std::unique_ptr<Prepared> make_packed_nbits(const ValueTable& table, const NBitsSpec& spec,
                                            bool bytes, const Tensor* constants);

}  // namespace nef::cpu
