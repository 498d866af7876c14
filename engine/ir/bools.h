// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "engine/ir/buffer.h"
#include "engine/ir/dtype.h"

// A bool in memory is a byte 0 or 1. Bytes from outside pass here before they become one:
// docs/numerics.md says which door does what.
namespace nef::ir {

// Is each byte 0 or 1?
bool are_bools(const void* data, size_t bytes);
// Copies bytes; what is not 0 becomes 1.
void copy_bools(void* to, const void* from, size_t bytes);
// `data`, or for a bool tensor with other bytes a copy in which they are 1.
std::shared_ptr<Buffer> clean_bools(nef_dtype dtype, std::shared_ptr<Buffer> data);

}  // namespace nef::ir
