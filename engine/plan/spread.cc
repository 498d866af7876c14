// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/spread.h"

#include <algorithm>
#include <vector>

namespace nef::plan {

using ir::Graph;
using ir::ValueId;
using optimize::Regions;
using optimize::RegionValue;

namespace {

constexpr size_t kNever = static_cast<size_t>(-1);

bool on_device(const RegionValue& v) { return v.host == 0 && v.kind != NEF_VALUE_INTERNAL; }
bool constant(const RegionValue& v) {
  return v.kind == NEF_VALUE_CONSTANT || v.kind == NEF_VALUE_LITERAL;
}

struct Demand {
  double constants = 0, values = 0;  // bytes
};

// What lies on one device while the regions pass by in execution order.
struct Load {
  explicit Load(size_t n_values) : resident(n_values) {}
  std::vector<bool> resident;
  double constants = 0, alive = 0, most_alive = 0;
};

class Spreader {
 public:
  Spreader(const Graph& graph, const Regions& regions, const Peers& peers, Placement& placement)
      : graph_(graph),
        regions_(regions),
        peers_(peers),
        placement_(placement),
        loads_(peers.devices.size(), Load(graph.value_count())) {
    find_lifetimes();
  }

  void run(const std::function<bool(size_t)>& movable,
           const std::function<bool(size_t, size_t)>& serves) {
    for (size_t r = 0; r < regions_.list.size(); ++r) {
      if (placement_.device[r] == peers_.devices[0] && movable(r)) move(r, serves);
      const auto at = std::find(peers_.devices.begin(), peers_.devices.end(), placement_.device[r]);
      if (at != peers_.devices.end()) load(static_cast<size_t>(at - peers_.devices.begin()), r);
      unload(r);
    }
  }

 private:
  // The value whose bytes `v` is a view of.
  ValueId storage(ValueId v) const { return storage_[v]; }

  void find_lifetimes() {
    storage_.resize(graph_.value_count());
    for (ValueId v = 0; v < storage_.size(); ++v) storage_[v] = v;
    last_use_.assign(graph_.value_count(), 0);
    for (size_t r = 0; r < regions_.list.size(); ++r) {
      const ir::NodeId root = regions_.root(regions_.list[r]);
      if (placement_.reason[r] == Reason::View) {
        storage_[graph_.output(root)] = storage_[graph_.inputs(root)[0]];
      }
      for (const RegionValue& v : regions_.values_of(regions_.list[r])) {
        last_use_[storage(v.value)] = r;
      }
    }
    for (ValueId v : graph_.graph_outputs()) last_use_[storage(v)] = kNever;
  }

  // What region r would add to a device.
  Demand added(const Load& load, size_t r) const {
    Demand d;
    for (const RegionValue& v : regions_.values_of(regions_.list[r])) {
      if (!on_device(v) || load.resident[storage(v.value)]) continue;
      (constant(v) ? d.constants : d.values) += value_bytes(graph_, v.value);
    }
    return d;
  }

  bool fits(size_t peer, size_t r) const {
    const Load& load = loads_[peer];
    const Demand more = added(load, r);
    const double bytes =
        load.constants + more.constants + std::max(load.most_alive, load.alive + more.values);
    // Kernels, workspaces and the gaps of an arena take some of it too.
    constexpr double kUsable = 15.0 / 16;
    return bytes <= kUsable * static_cast<double>(peers_.room[peer]);
  }

  void move(size_t r, const std::function<bool(size_t, size_t)>& serves) {
    size_t to = current_;
    while (to < loads_.size() && !(fits(to, r) && serves(peers_.devices[to], r))) ++to;
    if (to < loads_.size()) current_ = to;
    if (current_ == 0 || !serves(peers_.devices[current_], r)) return;
    placement_.device[r] = static_cast<uint16_t>(peers_.devices[current_]);
    placement_.reason[r] = Reason::NoRoom;
  }

  void load(size_t peer, size_t r) {
    Load& load = loads_[peer];
    const Demand more = added(load, r);
    load.constants += more.constants;
    load.alive += more.values;
    load.most_alive = std::max(load.most_alive, load.alive);
    for (const RegionValue& v : regions_.values_of(regions_.list[r])) {
      if (on_device(v)) load.resident[storage(v.value)] = true;
    }
  }

  // Values that nothing after region r reads; constants stay.
  void unload(size_t r) {
    for (const RegionValue& v : regions_.values_of(regions_.list[r])) {
      if (!on_device(v) || constant(v) || last_use_[storage(v.value)] != r) continue;
      for (Load& load : loads_) {
        if (!load.resident[storage(v.value)]) continue;
        load.resident[storage(v.value)] = false;
        load.alive -= value_bytes(graph_, v.value);
      }
    }
  }

  const Graph& graph_;
  const Regions& regions_;
  const Peers& peers_;
  Placement& placement_;
  std::vector<Load> loads_;
  std::vector<ValueId> storage_;
  std::vector<size_t> last_use_;  // region
  size_t current_ = 0;            // peer that movable regions go to
};

}  // namespace

void spread(const Graph& graph, const Regions& regions, const Peers& peers,
            const std::function<bool(size_t region)>& movable,
            const std::function<bool(size_t device, size_t region)>& serves, Placement& placement) {
  Spreader(graph, regions, peers, placement).run(movable, serves);
}

}  // namespace nef::plan
