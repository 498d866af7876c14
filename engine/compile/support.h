// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "engine/compile/region_desc.h"
#include "engine/plan/device.h"

namespace nef::compile {

// Remembers which devices serve which regions, by op, dtypes, ranks and attributes: asking the
// backend costs a region description. Per thread: no lock, a bounded table.
class SupportCache {
 public:
  static SupportCache& local();
  // "" when the device serves the region, else why not. The text lives until the next call.
  const std::string& unserved(const plan::Device& device, const ir::Graph& graph,
                              const optimize::Regions& regions, const optimize::Region& region,
                              nef_precision precision);

 private:
  std::unordered_map<uint64_t, std::string> known_;
  RegionDesc desc_;
  ValueList seen_;  // values of the region at hand
};

}  // namespace nef::compile
