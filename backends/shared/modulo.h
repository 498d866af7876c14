// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nef::backends {

// a * b modulo n without overflow, for a and b >= 0: it keeps the angles of Fourier transforms
// exact.
inline int64_t product_modulo(int64_t a, int64_t b, int64_t n) {
  __extension__ using Wide = __int128;
  return static_cast<int64_t>(static_cast<Wide>(a) * b % n);
}

}  // namespace nef::backends
