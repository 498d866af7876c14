// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::ir {

// Checked int64 arithmetic: false on overflow, *out untouched or unspecified then.
inline bool checked_add(int64_t a, int64_t b, int64_t* out) {
  return !__builtin_add_overflow(a, b, out);
}
inline bool checked_sub(int64_t a, int64_t b, int64_t* out) {
  return !__builtin_sub_overflow(a, b, out);
}
inline bool checked_mul(int64_t a, int64_t b, int64_t* out) {
  return !__builtin_mul_overflow(a, b, out);
}

// Division that rounds towards minus infinity; b > 0.
constexpr int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
constexpr int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

}  // namespace nef::ir
