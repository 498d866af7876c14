// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/optimize/regions.h"

namespace nef::compile {

// A region in the form of the backend ABI, and the key that names its structure. Reusable: `set`
// keeps the memory of earlier regions. Points into the graph and the regions it was made from.
class RegionDesc {
 public:
  void set(const ir::Graph& graph, const optimize::Regions& regions, const optimize::Region& region,
           nef_precision precision);

  // Any number stands for the first dim of those values.
  void forget_first_dims(const std::vector<bool>& of);

  const nef_backend_region& view() const { return view_; }
  // Graph value behind each region value.
  std::span<const optimize::RegionValue> values() const { return values_; }
  // Everything a kernel depends on: nodes, attributes, dtypes, dims, literals, precision. Two
  // regions of equal structure have equal keys, whatever graph they come from.
  std::string key() const;

 private:
  std::span<const optimize::RegionValue> values_;
  std::vector<nef_backend_value> abi_values_;
  std::vector<nef_backend_node> abi_nodes_;
  std::vector<int64_t> dims_;
  nef_backend_region view_{};
};

}  // namespace nef::compile
