// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/stage.h"

namespace nef::gpu {

// A product of many rows of 16-bit floats with elementwise nodes behind it as one kernel; null when
// the region is something else or the device has not Hopper's tensor cores.
std::unique_ptr<Stage> product_tiles_stage(const Region& region, const DeviceInfo& device);

extern const char* const kProductTilesText;

}  // namespace nef::gpu
