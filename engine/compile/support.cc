// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/support.h"

namespace nef::compile {

using ir::NodeId;

namespace {

constexpr size_t kFirstEntries = 1u << 10, kMaxEntries = 1u << 16;

struct Hash {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  void add(uint64_t v) {
    h = (h ^ v) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
};

uint64_t region_hash(const plan::Device& device, const ir::Graph& graph,
                     const optimize::Regions& regions, const optimize::Region& region,
                     nef_precision precision) {
  Hash hash;
  hash.add(reinterpret_cast<uintptr_t>(&device));
  hash.add(static_cast<uint64_t>(region.kind) << 8 | static_cast<uint64_t>(precision));
  const bool fused = region.kind != NEF_REGION_SINGLE;
  for (const optimize::RegionValue& v : regions.values_of(region)) {
    const ir::ShapeId shape = graph.shape_id(v.value);
    const uint64_t type = static_cast<uint64_t>(graph.dtype(v.value)) << 16 |
                          static_cast<uint64_t>(v.kind) << 8 | graph.shapes().rank(shape);
    // A fused region depends on which shapes agree; a single op only on what it checks itself.
    hash.add(fused ? type ^ graph.shapes().hash(shape) : type);
  }
  const int32_t* link = regions.links_of(region);
  for (NodeId n : regions.nodes_of(region)) {
    const size_t n_inputs = graph.inputs(n).size(), n_links = n_inputs + graph.output_count(n);
    // Few links are packed into a word: small numbers, and -1 for none.
    uint64_t word = static_cast<uint64_t>(graph.op(n)) << 32 | n_inputs << 16 | n_links;
    hash.add(word);
    word = 0;
    for (size_t i = 0; i < n_links; ++i) {
      word = word << 16 ^ static_cast<uint64_t>(link[i] + 1);
      if (i % 4 != 3) continue;
      hash.add(word);
      word = 0;
    }
    if (n_links % 4 != 0) hash.add(word);
    link += n_links;
    for (int64_t w : graph.attrs(n).words()) hash.add(static_cast<uint64_t>(w));
  }
  return hash.h;
}

}  // namespace

SupportCache& SupportCache::local() {
  thread_local SupportCache cache;
  return cache;
}

const std::string* SupportCache::unserved(const plan::Device& device, const ir::Graph& graph,
                                          const optimize::Regions& regions,
                                          const optimize::Region& region, nef_precision precision) {
  const uint64_t key = region_hash(device, graph, regions, region, precision);
  if (count_ * 2 >= table_.size()) {
    // Full, or empty at first: what is asked again is soon known again.
    if (count_ >= kMaxEntries || table_.empty()) {
      table_.assign(kFirstEntries, {});
      refusals_.clear();
      count_ = 0;
    } else {
      std::vector<Entry> old(2 * table_.size());
      old.swap(table_);
      for (const Entry& e : old) {
        if (e.answer != 0) find(e.key) = e;
      }
    }
  }
  Entry& entry = find(key);
  if (entry.answer == 0) {
    entry = {key, ask(device, graph, regions, region, precision)};
    ++count_;
  }
  return entry.answer == 1 ? nullptr : &refusals_[entry.answer - 2];
}

SupportCache::Entry& SupportCache::find(uint64_t key) {
  const size_t mask = table_.size() - 1;
  size_t at = key & mask;
  while (table_[at].answer != 0 && table_[at].key != key) at = (at + 1) & mask;
  return table_[at];
}

uint32_t SupportCache::ask(const plan::Device& device, const ir::Graph& graph,
                           const optimize::Regions& regions, const optimize::Region& region,
                           nef_precision precision) {
  if (device.backend->output_dims == nullptr) {
    for (NodeId n : regions.nodes_of(region)) {
      if (!ir::spec(graph.op(n)).sized_by_data) continue;
      refusals_.push_back("it cannot say how large results are that depend on data");
      return static_cast<uint32_t>(refusals_.size() + 1);
    }
  }
  desc_.set(graph, regions, region, precision);
  char message[1024] = "";
  nef_backend_error err{message, sizeof message};
  const auto lock = device.lock();
  if (device.backend->supports(device.index, &desc_.view(), &err) != 0) return 1;
  refusals_.push_back(message[0] == '\0' ? "not served" : message);
  return static_cast<uint32_t>(refusals_.size() + 1);
}

}  // namespace nef::compile
