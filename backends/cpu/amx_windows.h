// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/amx.h"

// Windows of an image of bytes as rows of a panel of B, by AVX-512, which every CPU with AmxOps for
// bytes has.
namespace nef::cpu {

void gather_byte_rows(const uint8_t* x, int64_t x_row, int64_t rows, const ByteRuns& runs,
                      uint8_t pad, uint8_t* to, int64_t to_row);
void add_byte_columns(const uint8_t* panel, int64_t k, bool is_signed, int32_t* sums);

}  // namespace nef::cpu
