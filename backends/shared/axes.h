// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/shared/region.h"

namespace nef::backends {

// Marks one of the axes of `op` that only the run knows; no axis may be given twice.
inline void mark_axis(const char* op, int64_t axis, bool* marked) {
  if (marked[axis]) {
    throw BackendError(NEF_INVALID_ARGUMENT,
                       std::string(op) + ": axis " + std::to_string(axis) + " is given twice");
  }
  marked[axis] = true;
}

}  // namespace nef::backends
