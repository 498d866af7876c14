// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/stage.h"

// One kernel for a whole region in place of its stages, where shapes allow: what a step of decoding
// needs. Each is null when the region is something else or the device lacks what it takes.
namespace nef::gpu {

// A norm, products with constant matrices, elementwise nodes on their results; a few rows.
std::unique_ptr<Stage> gemv_stage(const Region& region, const DeviceInfo& device);
// Writes a matrix of 16-bit numbers by columns, with the code of such a stage.
void turn_matrix(Device& device, Module& module, void* to, const void* from, int64_t rows,
                 int64_t columns);
// The same as tiles, for kernels of a few rows.
void tile_matrix(Device& device, Module& module, void* to, const void* from,
                 const TiledMatrix& matrix);
// Attention of one query to many keys; a Slice may make the queries.
std::unique_ptr<Stage> decode_attention_stage(const Region& region, const DeviceInfo& device);

// Text for copies by the copy engine, of the kernels of these two, and of the products' kernels.
extern const char* const kBulkText;
extern const char* const kTurnText;
extern const char* const kGemvText;
extern const char* const kGemvPiecesText;
extern const char* const kGemvTilesText;

}  // namespace nef::gpu
