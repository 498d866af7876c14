// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "engine/ir/error.h"

namespace nef::capi {

constexpr size_t kMaxOptionsSize = 4096;

// Fills an options struct of the caller's size; one of another version may be shorter or longer.
template <typename T>
void init_options(T* options, size_t struct_size, T defaults) {
  if (options == nullptr || struct_size < sizeof(size_t) || struct_size > kMaxOptionsSize) return;
  defaults.struct_size = struct_size;
  std::memset(static_cast<void*>(options), 0, struct_size);
  std::memcpy(static_cast<void*>(options), &defaults, std::min(struct_size, sizeof(T)));
}

// Copies the caller's fields over the defaults in *into. NULL keeps the defaults. Throws when the
// struct was not initialised or asks for something this version does not know.
template <typename T>
void read_options(const char* op, const T* options, T* into) {
  if (options == nullptr) return;
  const size_t size = options->struct_size;
  bool good = size >= sizeof(size_t) && size <= kMaxOptionsSize;
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  for (size_t i = sizeof(T); good && i < size; ++i) good = bytes[i] == 0;
  if (!good) {
    fail(NEF_INVALID_ARGUMENT, op,
         "the options struct was not set up with its _init function, or asks for fields that this "
         "version of the library does not know");
  }
  std::memcpy(static_cast<void*>(into), options, std::min(size, sizeof(T)));
}

}  // namespace nef::capi
