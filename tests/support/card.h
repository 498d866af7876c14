// SPDX-License-Identifier: Apache-2.0
// The GPU that tests run on, where there is one.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/support/handles.h"

namespace nef::test {

// The backend that NEF_CONFORMANCE_BACKEND names, cuda without it.
inline std::string card_backend() {
  const char* backend = std::getenv("NEF_CONFORMANCE_BACKEND");
  return backend == nullptr ? "cuda" : backend;
}

// Its first GPU, "cuda:0"; "" where there is none.
inline std::string card() {
  const std::string name = card_backend() + ":0";
  for (size_t i = 0; i < nef_device_count(); ++i) {
    nef_device_info info{};
    info.struct_size = sizeof info;
    ok(nef_device(i, &info));
    if (info.name == name && info.available != 0) return name;
  }
  return "";
}

}  // namespace nef::test
