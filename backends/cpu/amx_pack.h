// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/amx.h"

// The packing of AmxOps, by AVX-512, which every CPU that has them has.
namespace nef::cpu {

// Of the two tiles of a panel: one after the other, as AMX loads them, or row by row in turn.
enum class TileOrder { kWhole, kRowsInTurn };

void pack_amx_a(nef_dtype dtype, const void* a, int64_t row, int64_t col, int64_t m, int64_t k,
                uint16_t* out);
template <TileOrder kOrder>
void pack_amx_b(nef_dtype dtype, const void* b, int64_t row, int64_t col, int64_t k, int64_t n,
                uint16_t* out);
void narrow_floats(const float* from, int64_t from_row, int64_t rows, int64_t cols, uint16_t* to,
                   int64_t to_row);
bool all_finite_bfloats(const uint16_t* x, int64_t n);
void pack_amx_a_bytes(const uint8_t* a, int64_t row, int64_t m, int64_t k, uint8_t* out);
template <TileOrder kOrder>
void pack_amx_b_bytes(const uint8_t* b, int64_t row, int64_t k, int64_t n, uint8_t* out);

}  // namespace nef::cpu
