// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/support.h"

namespace nef::compile {

using ir::NodeId;
using ir::ValueId;

namespace {

constexpr size_t kMaxEntries = 1u << 16;

struct Hash {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  void add(uint64_t v) {
    h = (h ^ v) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
};

}  // namespace

SupportCache& SupportCache::local() {
  thread_local SupportCache cache;
  return cache;
}

const std::string& SupportCache::unserved(const plan::Device& device, const ir::Graph& graph,
                                          const optimize::Regions& regions,
                                          const optimize::Region& region, nef_precision precision) {
  Hash hash;
  hash.add(reinterpret_cast<uintptr_t>(&device));
  hash.add(static_cast<uint64_t>(region.kind) << 8 | static_cast<uint64_t>(precision));
  seen_.clear();
  const auto add_value = [&](ValueId v) {
    if (v == ir::kNone) return hash.add(1);
    // Which value of the region it is: f(a, a) is not f(a, b).
    const int32_t known = seen_.find(v);
    hash.add(static_cast<uint64_t>(known < 0 ? 0 : known + 1) << 1 | 1);
    if (known >= 0) return;
    seen_.add(v);
    hash.add(static_cast<uint64_t>(graph.dtype(v)) << 40 | graph.dims(v).size() << 8 |
             static_cast<uint64_t>(graph.is_constant(v)));
    // A fused region depends on which shapes agree; a single op only on what it checks itself.
    if (region.kind == NEF_REGION_SINGLE) return;
    for (ir::Dim d : graph.dims(v)) {
      hash.add(static_cast<uint64_t>(ir::is_expr(d) ? NEF_DIM_UNKNOWN : d));
    }
  };
  for (NodeId n : regions.nodes_of(region)) {
    hash.add(static_cast<uint64_t>(graph.op(n)));
    for (ValueId v : graph.inputs(n)) add_value(v);
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      add_value(graph.output(n, i));
      hash.add(graph.uses(graph.output(n, i)) != 0);
    }
    for (int64_t w : graph.attrs(n).words()) hash.add(static_cast<uint64_t>(w));
  }
  if (const auto it = known_.find(hash.h); it != known_.end()) return it->second;

  if (known_.size() >= kMaxEntries) known_.clear();
  if (device.backend->output_dims == nullptr) {
    for (NodeId n : regions.nodes_of(region)) {
      if (!ir::spec(graph.op(n)).sized_by_data) continue;
      return known_.emplace(hash.h, "it cannot say how large results are that depend on data")
          .first->second;
    }
  }
  desc_.set(graph, regions, region, precision);
  char message[1024] = "";
  nef_backend_error err{message, sizeof message};
  const auto lock = device.lock();
  const bool served = device.backend->supports(device.index, &desc_.view(), &err) != 0;
  std::string why;
  if (!served) why = message[0] == '\0' ? "not served" : message;
  return known_.emplace(hash.h, std::move(why)).first->second;
}

}  // namespace nef::compile
