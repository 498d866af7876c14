// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/optimize/regions.h"
#include "engine/plan/device.h"

namespace nef::plan {

// Why a region is where it is. `detail` of Placement adds text to the last three.
enum class Reason : uint8_t {
  OnlyDevice,        // nothing else is present
  LargeContraction,  // >= 1M multiply-adds' worth of parameters
  AttentionOp,
  SmallElementwise,
  Default,       // "everything else" row of the table
  HostWork,      // shape arithmetic the runtime does itself
  Blocks,        // the runtime runs its blocks, which are placed by themselves
  View,          // same bytes under another shape: no work at all
  MergedIsland,  // moved to its neighbours' device: the transfer costs more than it gains
  AskedByNode,
  AskedByOption,
  NoRoom,    // the devices before it are full
  Unserved,  // the better device does not serve it
};
const char* reason_text(Reason reason);

// A region that is not where its author or the program's options asked for.
struct Fallback {
  uint32_t region;
  std::string asked, why;
};

struct Placement {
  std::vector<uint16_t> device;  // per region: index into the device list
  std::vector<Reason> reason;
  std::map<uint32_t, std::string> detail;  // region -> more words
  std::vector<Fallback> fallbacks;
  // Fused regions that their device refuses (ascending): they are to fall apart into their nodes,
  // and all be placed again.
  std::vector<uint32_t> refused;
};

struct PlacementOptions {
  std::string device;  // "" or "auto", "cpu", "gpu", "reference", "cuda:1"
  bool strict = false;
  // Does the device serve the region?
  struct Answer {
    const std::string* why_not = nullptr;  // null = yes; the text lives until the next question
    bool tried = false;  // it was said to, and then failed to: no part of the region goes there
  };
  std::function<Answer(size_t device, size_t region)> ask;  // empty = every device serves all
  // Bytes a device has room for, 0 = not known. Empty = more than any graph needs.
  std::function<uint64_t(size_t device)> room;
  // What is counted for a device. Empty = what it states.
  std::function<Costs(size_t device)> costs;
};

// Rule table first, then pinned and merged islands (design section 6), then graphs too large for
// one GPU are spread over those of its backend. `devices` is in order of preference per kind; the
// reference device is last and serves everything. Throws NEF_BACKEND_UNAVAILABLE when the device
// that the options ask for is absent, NEF_FALLBACK_FORBIDDEN when strict and there would be a
// Fallback.
Placement place(const ir::Graph& graph, const optimize::Regions& regions,
                std::span<const Device* const> devices, const PlacementOptions& options);

// Rough costs at the lower of bound and 512 for symbolic dims.
double region_flops(const ir::Graph& graph, std::span<const ir::NodeId> nodes);
double value_bytes(const ir::Graph& graph, ir::ValueId v);

}  // namespace nef::plan
