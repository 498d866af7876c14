// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/registry.h"

#include <unordered_map>
#include <utility>

namespace nef::cpu {
namespace {

struct Registry {
  std::unordered_map<nef_op, Factory> ops;
  std::vector<std::pair<nef_region_kind, Factory>> regions;
  const nef_backend_host* host = nullptr;
};

// Filled by init before any other call, read-only after it.
Registry& registry() {
  static Registry instance;
  return instance;
}

std::unique_ptr<Kernel> make_single(const Region& region, std::string* why) {
  const auto it = registry().ops.find(region.nodes[0].op);
  if (it != registry().ops.end()) return it->second(region, why);
  *why = "the cpu backend has no kernel for op id " + std::to_string(region.nodes[0].op);
  return nullptr;
}

}  // namespace

const nef_backend_host& host() { return *registry().host; }
void set_host(const nef_backend_host* host) { registry().host = host; }

void register_op(nef_op op, Factory factory) { registry().ops[op] = factory; }

void register_region(nef_region_kind kind, Factory factory) {
  registry().regions.emplace_back(kind, factory);
}

void clear_registry() {
  registry().ops.clear();
  registry().regions.clear();
}

std::unique_ptr<Kernel> make_kernel(const Region& region, std::string* why) {
  if (region.nodes.empty()) {
    *why = "the region has no nodes";
    return nullptr;
  }
  if (region.kind == NEF_REGION_SINGLE) return make_single(region, why);
  *why = "the cpu backend does not fuse regions of kind " + std::to_string(region.kind);
  for (const auto& [kind, factory] : registry().regions) {
    if (kind != region.kind) continue;
    if (auto kernel = factory(region, why)) return kernel;
  }
  return nullptr;
}

}  // namespace nef::cpu
