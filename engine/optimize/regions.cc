// SPDX-License-Identifier: Apache-2.0
#include "engine/optimize/regions.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::OpClass;
using ir::ValueId;

namespace {

// Constants up to this size that shape an op are part of the structure.
constexpr size_t kMaxLiteralBytes = 64 * 1024;

// Where values are in the list of the region at hand. Regions are small, and a scan beats a map;
// but a node may join a million values.
class RegionIndex {
 public:
  void clear() {
    if (!index_.empty()) index_.clear();
  }
  // -1 = is not in the list.
  int32_t find(std::span<const RegionValue> list, ValueId v, bool host) const {
    const size_t few = std::min(list.size(), kFew);
    for (size_t i = 0; i < few; ++i) {
      if (list[i].value == v && (list[i].host != 0) == host) return static_cast<int32_t>(i);
    }
    if (list.size() <= kFew) return -1;
    const auto it = index_.find(key(v, host));
    return it == index_.end() ? -1 : it->second;
  }
  void added(size_t at, ValueId v, bool host) {
    if (at >= kFew) index_.emplace(key(v, host), static_cast<int32_t>(at));
  }

 private:
  static constexpr size_t kFew = 64;
  static uint64_t key(ValueId v, bool host) { return uint64_t{v} << 1 | (host ? 1 : 0); }
  std::unordered_map<uint64_t, int32_t> index_;  // of those behind the first few
};

nef_value_kind input_kind(const Graph& graph, ValueId v, bool host) {
  if (!graph.is_constant(v)) return NEF_VALUE_INPUT;
  const bool literal = host && graph.constant_data(v)->bytes() <= kMaxLiteralBytes;
  return literal ? NEF_VALUE_LITERAL : NEF_VALUE_CONSTANT;
}

// Fills values and links of all regions.
class Lister {
 public:
  Lister(const Graph& graph, Regions& regions) : graph_(graph), out_(regions) {}

  void run() {
    out_.values.clear();
    out_.links.clear();
    out_.values.reserve(graph_.value_count() + graph_.node_count());
    out_.links.reserve(4 * graph_.node_count());
    for (Region& r : out_.list) list(r);
  }

 private:
  void list(Region& r) {
    first_ = r.first_value = static_cast<uint32_t>(out_.values.size());
    r.first_link = static_cast<uint32_t>(out_.links.size());
    index_.clear();
    const std::span<const NodeId> nodes = out_.nodes_of(r);
    for (NodeId n : nodes) {
      inputs(n);
      outputs(n, n == nodes.back() ? NEF_VALUE_OUTPUT : NEF_VALUE_INTERNAL);
    }
    r.value_count = static_cast<uint32_t>(out_.values.size()) - first_;
  }

  void inputs(NodeId n) {
    const std::span<const ValueId> in = graph_.inputs(n);
    const bool any_host = ir::has_host_inputs(graph_.op(n));
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] == kNone) {
        out_.links.push_back(-1);
        continue;
      }
      const bool host = any_host && ir::is_host_input(graph_.op(n), i);
      const int32_t known = index_.find({out_.values.data() + first_, count()}, in[i], host);
      if (known >= 0) out_.links.push_back(known);
      else add(in[i], input_kind(graph_, in[i], host), host);
    }
  }

  void outputs(NodeId n, nef_value_kind kind) {
    const uint32_t n_outputs = graph_.output_count(n);
    for (uint32_t i = 0; i < n_outputs; ++i) {
      const ValueId v = graph_.output(n, i);
      if (graph_.uses(v) == 0 && optional(n, i)) out_.links.push_back(-1);
      else add(v, kind, false);
    }
  }

  bool optional(NodeId n, uint32_t i) const {
    const ir::OpSpec& s = ir::spec(graph_.op(n));
    return s.outputs[std::min<uint32_t>(i, s.n_outputs - 1u)].optional;
  }

  size_t count() const { return out_.values.size() - first_; }
  void add(ValueId v, nef_value_kind kind, bool host) {
    out_.links.push_back(static_cast<int32_t>(count()));
    index_.added(count(), v, host);
    out_.values.push_back({v, static_cast<uint8_t>(kind), static_cast<uint8_t>(host)});
  }

  const Graph& graph_;
  Regions& out_;
  RegionIndex index_;
  uint32_t first_ = 0;
};

}  // namespace

void Regions::list_values(const Graph& graph) { Lister(graph, *this).run(); }

Regions single_node_regions(const Graph& graph) {
  Regions out;
  const auto n = static_cast<uint32_t>(graph.node_count());
  out.nodes.resize_unset(n);
  std::iota(out.nodes.begin(), out.nodes.end(), 0u);
  out.list.reserve(n);
  for (uint32_t i = 0; i < n; ++i) out.list.push_back({NEF_REGION_SINGLE, i, 1, 0, 0, 0});
  out.list_values(graph);
  return out;
}

Regions region_of_node(const Graph& graph, NodeId node) {
  Regions out;
  out.nodes.push_back(node);
  out.list.push_back({NEF_REGION_SINGLE, 0, 1, 0, 0, 0});
  out.list_values(graph);
  return out;
}

void split_regions(const Graph& graph, std::span<const uint32_t> split, Regions& regions) {
  ir::Array<Region> list;
  list.reserve(regions.list.size() + split.size());
  size_t next = 0;
  for (uint32_t r = 0; r < regions.list.size(); ++r) {
    const Region& region = regions.list[r];
    if (next == split.size() || split[next] != r) {
      list.push_back(region);
      continue;
    }
    ++next;
    for (uint32_t i = 0; i < region.part_count; ++i) {
      list.push_back(regions.parts[region.first_part + i]);
    }
    for (uint32_t i = 0; i < region.node_count && region.part_count == 0; ++i) {
      list.push_back({NEF_REGION_SINGLE, region.first_node + i, 1, 0, 0, 0});
    }
  }
  regions.list = std::move(list);
  regions.list_values(graph);
}

namespace {

// Nodes of one region at most: keeps kernels and their scratch small.
constexpr uint32_t kMaxRegionNodes = 32;
// How many elementwise nodes before a norm are searched for a contraction.
constexpr size_t kMaxLookBack = 8;

// What an op is to fusion.
constexpr uint8_t kElementwise = 1;
constexpr uint8_t kHead = 2;  // of an epilogue: its result flows on in registers
constexpr uint8_t kNorm = 4;  // over rows, may take its input from an elementwise producer
using Roles = std::vector<uint8_t>;

const Roles& roles() {
  static const Roles table = [] {
    Roles r(ir::kOpTableSize, 0);
    for (size_t op = 0; op < r.size(); ++op) {
      const bool elementwise = ir::spec(static_cast<nef_op>(op)).cls == OpClass::Elementwise;
      if (elementwise && ir::op_valid(static_cast<int64_t>(op))) r[op] = kElementwise;
    }
    for (nef_op op : {NEF_OP_MATMUL, NEF_OP_FUSED_MATMUL, NEF_OP_GEMM, NEF_OP_CONV}) {
      r[static_cast<size_t>(op)] = kHead;
    }
    for (nef_op op : {NEF_OP_LAYER_NORMALIZATION, NEF_OP_RMS_NORMALIZATION}) {
      r[static_cast<size_t>(op)] = kNorm;
    }
    return r;
  }();
  return table;
}

// Grows trees of single-use values: a node joins the region of its only user. Such a region is
// convex, because nothing outside can depend on an interior value.
class Fusion {
 public:
  explicit Fusion(const Graph& graph)
      : graph_(graph), roles_(roles()), n_(static_cast<NodeId>(graph.node_count())), members_(n_) {
    for (NodeId n = 0; n < n_; ++n) members_[n] = {n, 1, kNone, kNone};
  }

  Regions run() {
    // Users come after producers, so walking backwards meets the user's region complete.
    for (NodeId n = n_; n-- > 0;) {
      const uint8_t role = role_of(n);
      if (role == kElementwise) {
        if (graph_.output_count(n) == 1) absorb(n);
      } else if (role == kNorm) {
        absorb_first(n);
      }
    }
    split_off_path();
    return collect();
  }

 private:
  struct Member {
    NodeId root;    // of its region
    uint32_t size;  // of a root: nodes of the region
    NodeId head;    // of a root: the region's contraction
    NodeId user;    // the one node that uses it, when it has joined that node's region
  };
  uint8_t role_of(NodeId n) const { return roles_[static_cast<size_t>(graph_.op(n))]; }

  bool same_device(NodeId a, NodeId b) const {
    return graph_.node_devices().empty() ||
           graph_.node_devices().get(a) == graph_.node_devices().get(b);
  }

  // The node that makes v if it may join the region of `root`.
  NodeId candidate(ValueId v, NodeId root) const {
    if (v == kNone || graph_.uses(v) != 1) return kNone;
    const NodeId p = graph_.producer(v);
    if (p == kNone || graph_.output_count(p) != 1 || !same_device(p, root)) return kNone;
    if (members_[root].size >= kMaxRegionNodes) return kNone;
    return p;
  }

  void join(NodeId p, NodeId user, NodeId root) {
    members_[p].root = root;
    members_[p].user = user;
    ++members_[root].size;
  }

  // Elementwise values in a fused region all have the region's shape: smaller ones would be
  // computed again for every element.
  bool same_shape(ValueId v, NodeId root) const {
    return graph_.shape_id(v) == graph_.shape_id(graph_.output(root));
  }

  // In a region with a contraction, only what depends on its result stays; the rest (a mask that
  // is added, say) is a region of its own.
  void split_off_path() {
    ir::Array<uint8_t> on_path;
    bool any_off = false;
    for (NodeId n = 0; n < n_; ++n) {
      const NodeId root = members_[n].root;
      const Member& r = members_[root];
      // A contraction and its one user leave nobody beside the path.
      if (r.head == kNone || r.size <= 2) continue;
      if (on_path.empty()) on_path.assign(n_, 0);
      on_path[n] = n == r.head;
      for (ValueId v : graph_.inputs(n)) {
        const NodeId p = v == kNone ? kNone : graph_.producer(v);
        if (p != kNone && members_[p].root == root && on_path[p] != 0) on_path[n] = 1;
      }
      any_off = any_off || on_path[n] == 0;
    }
    if (!any_off) return;
    for (NodeId n = n_; n-- > 0;) {
      Member& m = members_[n];
      Member& root = members_[m.root];
      if (root.head == kNone || on_path[n] != 0 || m.user == kNone || on_path[root_of(n)] == 0) {
        continue;
      }
      --root.size;
      m.root = on_path[m.user] != 0 ? n : members_[m.user].root;
      if (m.root == n) m.size = 1;
      else ++members_[m.root].size;
    }
  }
  NodeId root_of(NodeId n) const { return members_[n].root; }

  void absorb(NodeId n) {
    const NodeId root = members_[n].root;
    // The addition before a norm comes alone: what makes its operands is a region of its own.
    if (role_of(root) == kNorm) return;
    for (ValueId v : graph_.inputs(n)) {
      const NodeId p = candidate(v, root);
      if (p == kNone || !same_shape(v, root)) continue;
      const uint8_t role = role_of(p);
      if (role == kElementwise) {
        join(p, n, root);
        continue;
      }
      // One contraction a region.
      if (role != kHead || members_[root].head != kNone) continue;
      join(p, n, root);
      members_[root].head = p;
    }
  }

  // Only the data input of a norm takes a producer: an addition (of a residual) of the norm's own
  // shape, without broadcasting. That is what backends serve; a longer chain would only be refused
  // whole and fall apart.
  void absorb_first(NodeId n) {
    const ValueId v = graph_.inputs(n)[0];
    const NodeId p = candidate(v, n);
    if (p == kNone || graph_.op(p) != NEF_OP_ADD) return;
    if (!same_shape(v, n) || flows_from_contraction(p, n)) return;
    for (ValueId operand : graph_.inputs(p)) {
      if (!same_shape(operand, n)) return;
    }
    join(p, n, n);
  }

  // Would the node rather be part of an epilogue? There it costs no pass over memory at all.
  bool flows_from_contraction(NodeId n, NodeId root) const {
    NodeId at[kMaxLookBack];
    size_t count = 0;
    at[count++] = n;
    for (size_t i = 0; i < count; ++i) {
      for (ValueId v : graph_.inputs(at[i])) {
        const NodeId p = candidate(v, root);
        if (p == kNone || !same_shape(v, root)) continue;
        if (role_of(p) == kHead) return true;
        if (role_of(p) == kElementwise && count < kMaxLookBack) at[count++] = p;
      }
    }
    return false;
  }

  nef_region_kind kind_of(NodeId root) const {
    if (members_[root].size == 1) return NEF_REGION_SINGLE;
    if (members_[root].head != kNone) return NEF_REGION_EPILOGUE;
    return role_of(root) == kNorm ? NEF_REGION_REDUCTION : NEF_REGION_ELEMENTWISE;
  }

  Regions collect() {
    Regions out;
    out.nodes.resize_unset(n_);
    out.list.reserve(n_);
    // A region runs where its root stands; members keep their order.
    uint32_t at = 0;
    for (NodeId n = 0; n < n_; ++n) {
      Member& m = members_[n];
      if (m.root != n) continue;
      out.list.push_back({kind_of(n), at, m.size, 0, 0, 0});
      m.user = at;  // from here on: where the next member goes
      at += m.size;
    }
    for (NodeId n = 0; n < n_; ++n) out.nodes[members_[members_[n].root].user++] = n;
    out.list_values(graph_);
    return out;
  }

  const Graph& graph_;
  const Roles& roles_;
  const NodeId n_;
  ir::Array<Member> members_;
};

}  // namespace

Regions fused_regions(const Graph& graph) { return Fusion(graph).run(); }

}  // namespace nef::optimize
