// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "backends/shared/region.h"

// Libraries of a vendor, opened at run time.
namespace nef::gpu {

// Where they are sought: in the folders of `variable` (colon-separated), by the loader's own rules,
// in `folder` of the roots that environment variables name, and in `fallback`.
struct LibraryPlaces {
  const char* variable;
  std::initializer_list<const char*> roots;
  const char* folder;
  const char* fallback;
};

// Opens the first of `names` that loads. `companions`: a prefix of files beside it that it needs
// but does not find there by itself; may be null. Throws NEF_BACKEND_UNAVAILABLE with what was
// tried.
void* open_library(const LibraryPlaces& places, std::initializer_list<const char*> names,
                   const char* companions = nullptr);

template <typename F>
void find_symbol(void* library, const char* symbol, F& out) {
  void* p = ::dlsym(library, symbol);
  if (p == nullptr) {
    throw backends::BackendError(NEF_BACKEND_UNAVAILABLE,
                                 std::string("a library is too old: it has no ") + symbol);
  }
  std::memcpy(&out, &p, sizeof p);
}

}  // namespace nef::gpu
