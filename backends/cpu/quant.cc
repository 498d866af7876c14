// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/quant.h"

#include "backends/cpu/quant_round.h"

namespace nef::cpu {
namespace {

template <typename T>
void widen(const T* x, int64_t step, int64_t n, int64_t zero, int16_t* out) {
  const auto z = static_cast<int16_t>(zero);
  // Apart, so that compilers make vectors of neighbours.
  if (step == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(x[i] - z);
    return;
  }
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(x[i * step] - z);
}

}  // namespace

void store_quantized(nef_dtype dtype, const int32_t* sums, int64_t n, double factor, int64_t zero,
                     void* dst, int64_t offset) {
  Requantization r;
  r.b = &factor;
  r.zero = static_cast<double>(zero);
  quant_round_ops().requantize(dtype, sums, n, r, static_cast<uint8_t*>(dst) + offset);
}

void widen_to_int16(nef_dtype dtype, const void* src, int64_t offset, int64_t step, int64_t n,
                    int64_t zero, int16_t* out) {
  if (dtype == NEF_INT8) widen(static_cast<const int8_t*>(src) + offset, step, n, zero, out);
  else widen(static_cast<const uint8_t*>(src) + offset, step, n, zero, out);
}

void register_quant() {
  register_quant_convert();
  register_quant_products();
  register_quant_conv();
  register_matmul_nbits();
}

}  // namespace nef::cpu
