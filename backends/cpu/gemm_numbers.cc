// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_numbers.h"

#include "backends/cpu/norm_rows.h"

namespace nef::cpu {

double load_number(nef_dtype dtype, const void* data, int64_t i) {
  switch (dtype) {
    case NEF_BOOL:
    case NEF_UINT8: return static_cast<const uint8_t*>(data)[i];
    case NEF_INT8: return static_cast<const int8_t*>(data)[i];
    case NEF_INT16: return static_cast<const int16_t*>(data)[i];
    case NEF_UINT16: return static_cast<const uint16_t*>(data)[i];
    case NEF_INT32: return static_cast<const int32_t*>(data)[i];
    case NEF_UINT32: return static_cast<const uint32_t*>(data)[i];
    case NEF_INT64: return static_cast<double>(static_cast<const int64_t*>(data)[i]);
    case NEF_UINT64: return static_cast<double>(static_cast<const uint64_t*>(data)[i]);
    default: {
      double value;
      load_row(dtype, data, i, 1, &value);
      return value;
    }
  }
}

}  // namespace nef::cpu
