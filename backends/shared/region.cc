// SPDX-License-Identifier: Apache-2.0
#include "backends/shared/region.h"

#include <cstring>

namespace nef::backends {

nef_code report(nef_backend_error* err, nef_code code, const char* message) noexcept {
  if (err != nullptr && err->message != nullptr && err->capacity > 0) {
    std::snprintf(err->message, err->capacity, "%s", message);
  }
  return code;
}

size_t dtype_size(nef_dtype dtype) {
  switch (dtype) {
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

const char* dtype_name(nef_dtype dtype) {
  static const char* const kNames[] = {"invalid", "bool",    "int8",          "uint8",
                                       "int16",   "uint16",  "int32",         "uint32",
                                       "int64",   "uint64",  "float16",       "bfloat16",
                                       "float32", "float64", "float8_e4m3fn", "float8_e5m2"};
  return dtype_size(dtype) > 0 ? kNames[dtype] : kNames[0];
}

Region Region::copy(const nef_backend_region& region) {
  Region out;
  out.kind = region.kind;
  out.precision = region.precision;
  for (int32_t i = 0; i < region.n_values; ++i) {
    const nef_backend_value& v = region.values[i];
    Value value{v.kind, v.dtype, {v.dims, v.dims + v.rank}, {}};
    if (v.kind == NEF_VALUE_LITERAL) {
      const size_t bytes = dtype_size(v.dtype) * static_cast<size_t>(element_count(v.dims, v.rank));
      const auto* p = static_cast<const uint8_t*>(v.literal);
      value.literal.assign(p, p + bytes);
    }
    out.values.push_back(std::move(value));
  }
  for (int32_t i = 0; i < region.n_nodes; ++i) {
    const nef_backend_node& n = region.nodes[i];
    out.nodes.push_back({n.op,
                         {n.inputs, n.inputs + n.n_inputs},
                         {n.outputs, n.outputs + n.n_outputs},
                         {n.attrs, n.attrs + n.n_attr_words}});
  }
  return out;
}

}  // namespace nef::backends
