// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/dtype.h"

namespace nef::ir {
namespace {

// Indexed by nef_dtype.
constexpr const char* kNames[] = {"invalid", "bool",    "int8",          "uint8",
                                  "int16",   "uint16",  "int32",         "uint32",
                                  "int64",   "uint64",  "float16",       "bfloat16",
                                  "float32", "float64", "float8_e4m3fn", "float8_e5m2"};

}  // namespace

const char* dtype_name(nef_dtype t) { return dtype_valid(t) ? kNames[t] : kNames[0]; }

nef_dtype dtype_from_name(std::string_view name) {
  for (nef_dtype t = NEF_BOOL; t <= kLastDtype; ++t) {
    if (name == kNames[t]) return t;
  }
  return NEF_DTYPE_INVALID;
}

}  // namespace nef::ir
