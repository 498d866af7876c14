// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nef::ir {

inline constexpr nef_dtype kLastDtype = NEF_FLOAT8_E5M2;

// Bytes of one element; 0 for NEF_DTYPE_INVALID and unknown numbers.
constexpr size_t dtype_size(nef_dtype t) {
  switch (t) {
    case NEF_BOOL:
    case NEF_INT8:
    case NEF_UINT8:
    case NEF_FLOAT8_E4M3FN:
    case NEF_FLOAT8_E5M2: return 1;
    case NEF_INT16:
    case NEF_UINT16:
    case NEF_FLOAT16:
    case NEF_BFLOAT16: return 2;
    case NEF_INT32:
    case NEF_UINT32:
    case NEF_FLOAT32: return 4;
    case NEF_INT64:
    case NEF_UINT64:
    case NEF_FLOAT64: return 8;
    default: return 0;
  }
}
constexpr bool dtype_valid(nef_dtype t) { return dtype_size(t) != 0; }
// Floats that ops compute with. The 8-bit ones are only stored, moved and converted.
constexpr bool dtype_is_float(nef_dtype t) { return t >= NEF_FLOAT16 && t <= NEF_FLOAT64; }
constexpr bool dtype_is_float8(nef_dtype t) {
  return t == NEF_FLOAT8_E4M3FN || t == NEF_FLOAT8_E5M2;
}
constexpr bool dtype_is_int(nef_dtype t) { return t >= NEF_INT8 && t <= NEF_UINT64; }

// "float32"; "invalid" for anything else.
const char* dtype_name(nef_dtype t);
// NEF_DTYPE_INVALID when the name is not one of ours.
nef_dtype dtype_from_name(std::string_view name);

}  // namespace nef::ir
