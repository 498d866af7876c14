// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Products of small integers, for quantised ops: rows of int16, sums in int32 that wrap.
namespace nef::cpu {

// Rows are padded with zeros to a multiple of this.
constexpr int64_t kIntDotPad = 32;
inline int64_t int_dot_depth(int64_t k) { return (k + kIntDotPad - 1) / kIntDotPad * kIntDotPad; }

// c[i][j] = sum over p of a[i][p] * b[j][p], for i < m, j < n, p < depth, a multiple of
// kIntDotPad that is also the distance of rows of a and b.
using IntDotFn = void (*)(const int16_t* a, const int16_t* b, int64_t m, int64_t n, int64_t depth,
                          int32_t* c, int64_t ldc);
IntDotFn int_dot();

}  // namespace nef::cpu
