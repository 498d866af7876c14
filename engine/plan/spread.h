// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/ir/graph.h"
#include "engine/optimize/regions.h"
#include "engine/plan/device.h"
#include "engine/plan/placement.h"

namespace nef::plan {

// The devices of one backend that regions may be spread over, first choice first, and the bytes
// each has room for.
struct Peers {
  std::span<const size_t> devices;
  std::span<const uint64_t> room;
};

// Spreads the `movable` regions on the first device over its peers in the order in which they run:
// from the region on that one device has no room for, the next one takes over. A graph that fits
// stays as it is; what no device has room for stays on the last. `serves` says whether a device can
// run a region.
void spread(const ir::Graph& graph, const optimize::Regions& regions, const Peers& peers,
            const std::function<bool(size_t region)>& movable,
            const std::function<bool(size_t device, size_t region)>& serves, Placement& placement);

}  // namespace nef::plan
