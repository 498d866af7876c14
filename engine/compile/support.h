// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/compile/region_desc.h"
#include "engine/plan/device.h"

namespace nef::compile {

// Remembers which devices serve which regions: asking the backend costs a region description.
// One node is known by what its answer may depend on (backend.h): op, dtypes, ranks, attributes,
// and which inputs are constant or the same value; a fused region by its dims too. Per thread: no
// lock, a bounded table.
class SupportCache {
 public:
  static SupportCache& local();
  // Null when the device serves the region, else why not; the text lives until the next call.
  const std::string* unserved(const plan::Device& device, const ir::Graph& graph,
                              const optimize::Regions& regions, const optimize::Region& region,
                              nef_precision precision);

 private:
  struct Entry {
    uint64_t key = 0;
    uint32_t answer = 0;  // 0 = free, 1 = served, else refusals_[answer - 2]
  };
  Entry& find(uint64_t key);
  uint32_t ask(const plan::Device& device, const ir::Graph& graph, const optimize::Regions& regions,
               const optimize::Region& region, nef_precision precision);

  std::vector<Entry> table_;  // open addressing, at most half full
  size_t count_ = 0;
  std::vector<std::string> refusals_;
  RegionDesc desc_;
};

}  // namespace nef::compile
