// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nef::cpu {

// Cache-line aligned memory for std::free. Many megabytes get huge pages where the system has them
// to give: packed weights are read from one end to the other. Throws std::bad_alloc.
void* allocate_aligned(size_t bytes);

}  // namespace nef::cpu
