// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement.h"

#include <algorithm>

#include "engine/ir/error.h"
#include "engine/plan/islands.h"
#include "engine/plan/spread.h"

namespace nef::plan {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;
using optimize::Region;
using optimize::Regions;

namespace {

constexpr double kLargeParameters = 1 << 20;  // rule table: "matmul with >= 1M parameters"
constexpr size_t kNowhere = static_cast<size_t>(-1);

// Ops whose output is their first input's bytes under another shape.
bool is_view(nef_op op) {
  switch (op) {
    case NEF_OP_IDENTITY:
    case NEF_OP_RESHAPE:
    case NEF_OP_FLATTEN:
    case NEF_OP_SQUEEZE:
    case NEF_OP_UNSQUEEZE: return true;
    default: return false;
  }
}

bool is_reference(const Device& d) { return std::string_view(d.backend->name) == "reference"; }

class Planner {
 public:
  Planner(const Graph& graph, const Regions& regions, std::span<const Device* const> devices,
          const PlacementOptions& options)
      : graph_(graph), regions_(regions), devices_(devices), options_(options) {
    for (size_t i = 0; i < devices.size(); ++i) {
      if (is_reference(*devices[i])) {
        reference_ = i;
        continue;
      }
      size_t& slot = devices[i]->info.kind == NEF_DEVICE_GPU   ? gpu_
                     : devices[i]->info.kind == NEF_DEVICE_NPU ? npu_
                                                               : cpu_;
      if (slot == kNowhere) slot = i;
      only_host_memory_ = only_host_memory_ && devices[i]->host_memory();
    }
    if (cpu_ == kNowhere) cpu_ = reference_;
    if (cpu_ == kNowhere) {
      fail(NEF_BACKEND_UNAVAILABLE, "plan", "no CPU device is left to plan for");
    }
  }

  Placement run() {
    const size_t n = regions_.list.size();
    placement_.device.resize(n);
    placement_.reason.resize(n);
    const size_t asked = asked_by_option();
    for (size_t r = 0; r < n; ++r) place_region(r, asked);
    // What falls apart is placed again, and only then has neighbours worth joining.
    if (only_host_memory_ || !placement_.refused.empty()) return std::move(placement_);
    if (asked == kNowhere) {
      merge_islands(graph_, regions_, {devices_, cpu_, reference_}, options_, placement_);
    }
    for (size_t d = 0; d < devices_.size(); ++d) spread_from(d);
    return std::move(placement_);
  }

 private:
  void set(size_t r, size_t device, Reason reason) {
    placement_.device[r] = static_cast<uint16_t>(device);
    placement_.reason[r] = reason;
  }

  // The device a name means, kNowhere when there is none.
  size_t find(std::string_view name) const {
    if (name == "cpu") return cpu_;
    if (name == "gpu") return gpu_;
    if (name == "npu") return npu_;
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i]->name == name || devices_[i]->backend->name == name) return i;
    }
    return kNowhere;
  }

  size_t asked_by_option() const {
    if (options_.device.empty() || options_.device == "auto") return kNowhere;
    const size_t d = find(options_.device);
    if (d == kNowhere) {
      fail(NEF_BACKEND_UNAVAILABLE, "plan",
           cat("no device answers to \"", options_.device,
               "\"; the list of devices says what is present and why others are not"));
    }
    return d;
  }

  void place_region(size_t r, size_t asked) {
    const Region& region = regions_.list[r];
    const NodeId root = regions_.root(region);
    if (graph_.op(root) == NEF_OP_SHAPE_EXPR) return set(r, cpu_, Reason::HostWork);
    if (ir::spec(graph_.op(root)).n_blocks != 0) return set(r, cpu_, Reason::Blocks);
    if (is_view(graph_.op(root))) return set(r, cpu_, Reason::View);
    if (asked != kNowhere) return settle(r, asked, Reason::AskedByOption);
    if (!graph_.node_devices().empty()) {
      const std::string_view name = graph_.node_devices().get(root);
      if (!name.empty() && name != "auto") return place_asked(r, name);
    }
    if (only_host_memory_ && gpu_ == kNowhere && npu_ == kNowhere) {
      return settle(r, cpu_, Reason::OnlyDevice);
    }
    by_rules(r, region);
  }

  void place_asked(size_t r, std::string_view name) {
    const size_t d = find(name);
    if (d != kNowhere) return settle(r, d, Reason::AskedByNode);
    const std::string what =
        cat("the node prefers \"", std::string(name), "\", which is not present");
    if (options_.strict) fail(NEF_FALLBACK_FORBIDDEN, "plan", what);
    settle(r, cpu_, Reason::Default);
    placement_.detail[static_cast<uint32_t>(r)] = what;
    placement_.fallbacks.push_back({static_cast<uint32_t>(r), std::string(name), what});
  }

  void by_rules(size_t r, const Region& region) {
    for (NodeId n : regions_.nodes_of(region)) {
      const ir::OpSpec& s = ir::spec(graph_.op(n));
      if (s.cls == ir::OpClass::Contraction && gpu_ != kNowhere &&
          parameters(n) >= kLargeParameters) {
        return settle(r, gpu_, Reason::LargeContraction);
      }
      if (s.cls == ir::OpClass::Attention && (gpu_ != kNowhere || npu_ != kNowhere)) {
        return settle(r, gpu_ != kNowhere ? gpu_ : npu_, Reason::AttentionOp);
      }
    }
    const bool small = region.kind == NEF_REGION_ELEMENTWISE ||
                       ir::spec(graph_.op(regions_.root(region))).cls == ir::OpClass::Elementwise;
    settle(r, cpu_, small ? Reason::SmallElementwise : Reason::Default);
  }

  // Elements of the larger operand of a contraction: its "parameters".
  double parameters(NodeId n) const {
    double most = 0;
    for (ValueId v : graph_.inputs(n)) {
      if (v == ir::kNone) continue;
      most = std::max(most, value_bytes(graph_, v) / std::max<size_t>(1, element_size(v)));
    }
    return most;
  }
  size_t element_size(ValueId v) const {
    switch (graph_.dtype(v)) {
      case NEF_FLOAT64:
      case NEF_INT64:
      case NEF_UINT64: return 8;
      case NEF_FLOAT32:
      case NEF_INT32:
      case NEF_UINT32: return 4;
      case NEF_FLOAT16:
      case NEF_BFLOAT16:
      case NEF_INT16:
      case NEF_UINT16: return 2;
      default: return 1;
    }
  }

  // Puts a region on a device, or on the next one that serves it.
  void settle(size_t r, size_t device, Reason reason) {
    if (!options_.ask) return set(r, device, reason);
    const PlacementOptions::Answer answer = options_.ask(device, r);
    if (answer.why_not == nullptr) return set(r, device, reason);
    if (regions_.list[r].kind != NEF_REGION_SINGLE && !answer.tried) {
      placement_.refused.push_back(static_cast<uint32_t>(r));
      return set(r, device, reason);
    }
    unserved(r, device, reason, *answer.why_not, answer.tried);
  }

  void unserved(size_t r, size_t device, Reason reason, std::string why, bool tried) {
    const bool asked = reason == Reason::AskedByOption || reason == Reason::AskedByNode;
    if (options_.strict && asked) {
      fail(NEF_FALLBACK_FORBIDDEN, "plan",
           cat(devices_[device]->name, " does not serve ",
               graph_.node_label(regions_.root(regions_.list[r])), ": ", why));
    }
    if (asked)
      placement_.fallbacks.push_back({static_cast<uint32_t>(r), devices_[device]->name, why});
    why = cat(devices_[device]->name, ": ", why);
    // What a device failed to do, one like it may do; what it does not know, they don't either.
    std::vector<size_t> others = tried ? alike(device) : std::vector<size_t>{};
    others.insert(others.end(), {cpu_, reference_});
    for (size_t next : others) {
      if (next == kNowhere || next == device) continue;
      const PlacementOptions::Answer answer = options_.ask(next, r);
      if (answer.why_not != nullptr) {
        // Its nodes may do better, one by one.
        if (regions_.list[r].kind == NEF_REGION_SINGLE || answer.tried) continue;
        placement_.refused.push_back(static_cast<uint32_t>(r));
      }
      set(r, next, Reason::Unserved);
      placement_.detail[static_cast<uint32_t>(r)] = why;
      return;
    }
    fail(NEF_UNSUPPORTED, "plan",
         cat("no device serves ", graph_.node_label(regions_.root(regions_.list[r])), " (", why,
             ")"));
  }

  // The devices of the same backend and kind, in order.
  std::vector<size_t> alike(size_t device) const {
    std::vector<size_t> out;
    for (size_t d = 0; d < devices_.size(); ++d) {
      if (devices_[d]->backend == devices_[device]->backend &&
          devices_[d]->info.kind == devices_[device]->info.kind) {
        out.push_back(d);
      }
    }
    return out;
  }

  // Regions of a graph that is too large for the first of several devices go to the others.
  void spread_from(size_t first) {
    if (!options_.room || devices_[first]->host_memory()) return;
    const std::vector<size_t> peers = alike(first);
    if (peers.size() < 2 || peers[0] != first) return;
    std::vector<uint64_t> room;
    for (size_t d : peers) room.push_back(options_.room(d));
    if (std::find(room.begin(), room.end(), 0) != room.end()) return;
    const auto movable = [&](size_t r) { return !pinned(r, devices_[first]->name); };
    const auto serves = [&](size_t d, size_t r) {
      return !options_.ask || options_.ask(d, r).why_not == nullptr;
    };
    spread(graph_, regions_, {peers, room}, movable, serves, placement_);
  }

  // Asked for by the device's full name: any other would be another one.
  bool pinned(size_t r, std::string_view name) const {
    if (placement_.reason[r] == Reason::AskedByOption) return options_.device == name;
    if (placement_.reason[r] != Reason::AskedByNode) return false;
    return graph_.node_devices().get(regions_.root(regions_.list[r])) == name;
  }

  const Graph& graph_;
  const Regions& regions_;
  std::span<const Device* const> devices_;
  const PlacementOptions& options_;
  Placement placement_;
  size_t cpu_ = kNowhere, gpu_ = kNowhere, npu_ = kNowhere, reference_ = kNowhere;
  bool only_host_memory_ = true;
};

}  // namespace

const char* reason_text(Reason reason) {
  switch (reason) {
    case Reason::OnlyDevice: return "no other device is present";
    case Reason::LargeContraction: return "contraction with 1M parameters or more";
    case Reason::AttentionOp: return "attention is bound by memory bandwidth";
    case Reason::SmallElementwise: return "small elementwise: a launch costs more";
    case Reason::Default: return "everything else runs on the cpu";
    case Reason::HostWork: return "shape arithmetic on the host";
    case Reason::Blocks: return "its blocks are placed by themselves";
    case Reason::View: return "the same bytes under another shape";
    case Reason::MergedIsland: return "joins its neighbours: the transfer costs more";
    case Reason::AskedByNode: return "asked for by the node";
    case Reason::AskedByOption: return "asked for by the program option";
    case Reason::NoRoom: return "the devices before it have no room";
    case Reason::Unserved: return "the preferred device does not serve it";
  }
  return "";
}

Placement place(const Graph& graph, const Regions& regions, std::span<const Device* const> devices,
                const PlacementOptions& options) {
  return Planner(graph, regions, devices, options).run();
}

}  // namespace nef::plan
