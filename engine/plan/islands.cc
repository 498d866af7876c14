// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/islands.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace nef::plan {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;
using optimize::Regions;

namespace {

constexpr uint32_t kHostEnd = ir::kNone;  // the caller's end of an input or output of the graph
constexpr size_t kNowhere = static_cast<size_t>(-1);

// A value that goes from one region to another, seen from one of them.
struct Edge {
  uint32_t other;  // region, or kHostEnd
  ValueId value;
  double bytes;
};

class Merger {
 public:
  Merger(const Graph& graph, const Regions& regions, const Devices& devices,
         const PlacementOptions& options, Placement& placement)
      : graph_(graph),
        regions_(regions),
        devices_(devices),
        options_(options),
        placement_(placement),
        costs_(devices.list.size()),
        counted_(graph.value_count() * devices.list.size()) {
    connect();
  }

  // There and back: a chain joins the device at either of its ends in one sweep.
  void run() {
    constexpr int kSweeps = 4;
    const size_t n = regions_.list.size();
    // The last region that a device was tried for: a value may have very many users.
    std::vector<size_t> tried(devices_.list.size());
    bool moved = true;
    for (int sweep = 0; sweep < kSweeps && moved; ++sweep) {
      moved = false;
      std::fill(tried.begin(), tried.end(), kNowhere);
      for (size_t i = 0; i < n; ++i) {
        const size_t r = sweep % 2 == 0 ? i : n - 1 - i;
        if (movable(r)) moved = move(r, tried) || moved;
      }
    }
  }

 private:
  void connect() {
    const size_t n = regions_.list.size();
    std::vector<uint32_t> region_of(graph_.node_count(), kHostEnd);
    for (size_t r = 0; r < n; ++r) {
      for (NodeId node : regions_.nodes_of(regions_.list[r])) {
        region_of[node] = static_cast<uint32_t>(r);
      }
    }
    edges_.resize(n);
    for (size_t r = 0; r < n; ++r) {
      if (placement_.reason[r] == Reason::View) continue;
      for (NodeId node : regions_.nodes_of(regions_.list[r])) {
        const auto inputs = graph_.inputs(node);
        for (ValueId v : inputs) {
          if (v != ir::kNone) connect(static_cast<uint32_t>(r), v, region_of);
        }
      }
    }
    for (ValueId v : graph_.graph_outputs()) {
      v = shown_by(v, region_of);
      const NodeId from = graph_.producer(v);
      if (from == ir::kNone) continue;
      edges_[region_of[from]].push_back({kHostEnd, v, value_bytes(graph_, v)});
    }
  }
  // The value whose bytes v shows: views are nowhere.
  ValueId shown_by(ValueId v, const std::vector<uint32_t>& region_of) const {
    for (NodeId n = graph_.producer(v); n != ir::kNone; n = graph_.producer(v)) {
      if (placement_.reason[region_of[n]] != Reason::View) break;
      v = graph_.inputs(n)[0];
    }
    return v;
  }
  void connect(uint32_t r, ValueId v, const std::vector<uint32_t>& region_of) {
    v = shown_by(v, region_of);
    if (graph_.def(v) == ir::ValueDef::Input) {
      edges_[r].push_back({kHostEnd, v, value_bytes(graph_, v)});
      return;
    }
    const NodeId producer = graph_.producer(v);
    if (producer == ir::kNone || region_of[producer] == r) return;
    const double bytes = value_bytes(graph_, v);
    edges_[r].push_back({region_of[producer], v, bytes});
    edges_[region_of[producer]].push_back({r, v, bytes});
  }

  bool move(size_t r, std::vector<size_t>& tried) {
    const size_t here = placement_.device[r];
    size_t best = here;
    double best_cost = cost(r, here) + transfers(r, here);
    for (const Edge& e : edges_[r]) {
      if (e.other == kHostEnd) continue;
      const size_t there = placement_.device[e.other];
      if (there == here || there == devices_.reference || tried[there] == r) continue;
      tried[there] = r;
      const double c = cost(r, there) + transfers(r, there);
      if (c >= best_cost) continue;
      if (options_.ask && options_.ask(there, r).why_not != nullptr) continue;
      best = there;
      best_cost = c;
    }
    if (best == here) return false;
    placement_.device[r] = static_cast<uint16_t>(best);
    placement_.reason[r] = Reason::MergedIsland;
    return true;
  }

  bool movable(size_t r) const {
    switch (placement_.reason[r]) {
      case Reason::LargeContraction:
      case Reason::AttentionOp:
      case Reason::SmallElementwise:
      case Reason::Default:
      case Reason::MergedIsland: return true;
      default: return false;
    }
  }

  // Asked when a region is first considered for the device: it may have to be measured.
  const Costs& costs(size_t d) {
    if (!costs_[d]) {
      costs_[d] = options_.costs ? options_.costs(d) : stated_costs(*devices_.list[d]);
    }
    return *costs_[d];
  }

  double cost(size_t r, size_t d) {
    const nef_backend_device& info = devices_.list[d]->info;
    const auto nodes = regions_.nodes_of(regions_.list[r]);
    double bytes = value_bytes(graph_, graph_.output(nodes.back()));
    for (NodeId n : nodes) bytes += bytes_read(n);
    return costs(d).launch_seconds +
           region_flops(graph_, nodes) / std::max(1.0, info.flops_per_second) +
           bytes / std::max(1.0, info.bytes_per_second);
  }
  double bytes_read(NodeId n) const {
    double bytes = 0;
    for (ValueId v : graph_.inputs(n)) {
      if (v != ir::kNone) bytes += value_bytes(graph_, v);
    }
    if (!reads_a_part(graph_.op(n))) return bytes;
    const double data = value_bytes(graph_, graph_.inputs(n)[0]);
    return bytes - data + std::min(data, value_bytes(graph_, graph_.output(n)));
  }
  // No more of their data than they give.
  static bool reads_a_part(nef_op op) {
    return op == NEF_OP_GATHER || op == NEF_OP_GATHER_ELEMENTS || op == NEF_OP_GATHER_ND ||
           op == NEF_OP_SLICE;
  }

  // What region r on device d has to have copied. A value goes to a device once.
  double transfers(size_t r, size_t d) {
    double seconds = 0;
    ++question_;
    for (const Edge& e : edges_[r]) {
      const size_t other = e.other == kHostEnd ? devices_.host : placement_.device[e.other];
      const Device &a = *devices_.list[d], &b = *devices_.list[other];
      if (&a == &b || (a.host_memory() && b.host_memory())) continue;
      uint32_t& counted = counted_[e.value * devices_.list.size() + other];
      if (counted == question_) continue;
      counted = question_;
      const Costs& link = costs(a.host_memory() ? other : d);
      seconds += link.link_seconds + e.bytes / std::max(1.0, link.link_bytes_per_second);
    }
    return seconds;
  }

  const Graph& graph_;
  const Regions& regions_;
  const Devices& devices_;
  const PlacementOptions& options_;
  Placement& placement_;
  std::vector<std::optional<Costs>> costs_;  // per device
  std::vector<std::vector<Edge>> edges_;     // per region
  std::vector<uint32_t> counted_;            // per value and device: the last question
  uint32_t question_ = 0;
};

}  // namespace

void merge_islands(const Graph& graph, const Regions& regions, const Devices& devices,
                   const PlacementOptions& options, Placement& placement) {
  Merger(graph, regions, devices, options, placement).run();
}

}  // namespace nef::plan
