// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/optimize/regions.h"

namespace nef::compile {

// Values, each once, and where they stand.
class ValueList {
 public:
  void clear();
  void add(ir::ValueId v);            // is not in it yet
  int32_t find(ir::ValueId v) const;  // -1 = is not in it
  std::span<const ir::ValueId> values() const { return values_; }

 private:
  // Regions are small, and a scan beats a map; but a node may join a million values.
  static constexpr size_t kFew = 64;
  std::vector<ir::ValueId> values_;
  std::unordered_map<ir::ValueId, int32_t> index_;  // of those behind the first few
};

// The values of a region, each once, in the order that backends and steps know them by, and where
// each node's inputs and outputs are among them (-1 = absent or unwanted). Reusable.
class RegionValues {
 public:
  void set(const ir::Graph& graph, const optimize::Regions& regions,
           const optimize::Region& region);

  std::span<const ir::ValueId> values() const { return values_.values(); }
  nef_value_kind kind(size_t i) const { return kinds_[i]; }
  // Inputs, then outputs, of the first node; then of the second; ...
  std::span<const int32_t> node_values() const { return node_values_; }

 private:
  void add(ir::ValueId v, nef_value_kind kind);

  ValueList values_;
  std::vector<nef_value_kind> kinds_;
  std::vector<int32_t> node_values_;
};

// A region in the form of the backend ABI, and the key that names its structure. Reusable: `set`
// keeps the memory of earlier regions.
class RegionDesc {
 public:
  void set(const ir::Graph& graph, const optimize::Regions& regions, const optimize::Region& region,
           nef_precision precision);

  const nef_backend_region& view() const { return view_; }
  // Graph value behind each region value.
  std::span<const ir::ValueId> values() const { return values_.values(); }
  // Everything a kernel depends on: nodes, attributes, dtypes, dims, literals, precision. Two
  // regions of equal structure have equal keys, whatever graph they come from.
  std::string key() const;

 private:
  RegionValues values_;
  std::vector<nef_backend_value> abi_values_;
  std::vector<nef_backend_node> abi_nodes_;
  std::vector<int64_t> dims_;
  nef_backend_region view_{};
};

// Must input `i` of this op be in host memory?
bool is_host_input(nef_op op, size_t i);

}  // namespace nef::compile
