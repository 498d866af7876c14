// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <cstdint>

namespace nef::cpu {

// One element of any dtype as a double.
double load_number(nef_dtype dtype, const void* data, int64_t i);

}  // namespace nef::cpu
