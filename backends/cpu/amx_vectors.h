// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/amx.h"

// The products of amx.h by the dot products of AVX-512, from the same packed operands. Only for a
// CPU that has AVX512_BF16, or for bytes AVX512_VNNI.
namespace nef::cpu {

void multiply_by_vectors(const AmxBlock& g);
void multiply_bytes_by_vectors(const AmxByteBlock& g);

}  // namespace nef::cpu
