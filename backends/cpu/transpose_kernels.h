// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Transposes of matrices whose sides are each contiguous in one of the two memories.
namespace nef::cpu {

// dst[r * dst_step + c] = src[r + c * src_step] for r < rows, c < columns; steps in elements. With
// `stream` elements of 4 and 8 bytes go past the caches, which takes `dst` and its step to be
// multiples of 16 bytes.
using TransposeFn = void (*)(const void* src, int64_t src_step, void* dst, int64_t dst_step,
                             int64_t rows, int64_t columns, bool stream);

// For elements of 1, 2, 4 or 8 bytes.
TransposeFn find_transpose(size_t element_size);

}  // namespace nef::cpu
