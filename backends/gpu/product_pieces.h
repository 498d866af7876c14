// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/stage.h"

namespace nef::gpu {

// A product of many rows of float32 with elementwise nodes behind it as one kernel on Hopper's
// tensor cores, from pieces of bfloat16; null when the region is something else or the device has
// none.
std::unique_ptr<Stage> product_pieces_stage(const Region& region, const DeviceInfo& device);

extern const char* const kProductPiecesText;

}  // namespace nef::gpu
