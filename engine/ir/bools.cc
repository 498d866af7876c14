// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/bools.h"

#include <algorithm>
#include <cstdint>

namespace nef::ir {

// A block at a time without a branch inside, so that the compiler makes vectors of it.
bool are_bools(const void* data, size_t bytes) {
  constexpr size_t kBlock = 4096;
  const auto* p = static_cast<const uint8_t*>(data);
  for (size_t begin = 0; begin < bytes; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, bytes);
    uint8_t seen = 0;
    for (size_t i = begin; i < end; ++i) seen = static_cast<uint8_t>(seen | p[i]);
    if (seen > 1) return false;
  }
  return true;
}

void copy_bools(void* to, const void* from, size_t bytes) {
  const auto* in = static_cast<const uint8_t*>(from);
  auto* out = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < bytes; ++i) out[i] = in[i] != 0;
}

std::shared_ptr<Buffer> clean_bools(nef_dtype dtype, std::shared_ptr<Buffer> data) {
  if (dtype != NEF_BOOL || are_bools(data->data(), data->bytes())) return data;
  auto out = Buffer::allocate(data->bytes());
  copy_bools(out->data(), data->data(), data->bytes());
  return out;
}

}  // namespace nef::ir
