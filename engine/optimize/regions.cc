// SPDX-License-Identifier: Apache-2.0
#include "engine/optimize/regions.h"

#include <algorithm>
#include <numeric>

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::OpClass;
using ir::ValueId;

Regions single_node_regions(const Graph& graph) {
  Regions out;
  out.nodes.resize(graph.node_count());
  std::iota(out.nodes.begin(), out.nodes.end(), 0u);
  out.list.reserve(graph.node_count());
  for (uint32_t n = 0; n < graph.node_count(); ++n) out.list.push_back({NEF_REGION_SINGLE, n, 1});
  return out;
}

namespace {

// Nodes of one region at most: keeps kernels and their scratch small.
constexpr uint32_t kMaxRegionNodes = 32;
// How many elementwise nodes before a norm are searched for a contraction.
constexpr size_t kMaxLookBack = 8;

// Can the node be the head of an epilogue, its result flowing on in registers?
bool heads_epilogue(nef_op op) {
  switch (op) {
    case NEF_OP_MATMUL:
    case NEF_OP_FUSED_MATMUL:
    case NEF_OP_GEMM:
    case NEF_OP_CONV: return true;
    default: return false;
  }
}

// A reduction over rows that can take its input from elementwise producers.
bool takes_producers(nef_op op) {
  return op == NEF_OP_LAYER_NORMALIZATION || op == NEF_OP_RMS_NORMALIZATION;
}

// Grows trees of single-use values: a node joins the region of its only user. Such a region is
// convex, because nothing outside can depend on an interior value.
class Fusion {
 public:
  explicit Fusion(const Graph& graph)
      : graph_(graph),
        n_(static_cast<NodeId>(graph.node_count())),
        group_(n_),
        size_(n_, 1),
        head_(n_, kNone),
        user_(n_, kNone),
        reduction_(n_, 0) {
    std::iota(group_.begin(), group_.end(), 0u);
  }

  Regions run() {
    // Users come after producers, so walking backwards meets the user's region complete.
    for (NodeId n = n_; n-- > 0;) {
      const OpClass cls = ir::spec(graph_.op(n)).cls;
      if (cls == OpClass::Elementwise && graph_.output_count(n) == 1) {
        absorb(n);
      } else if (takes_producers(graph_.op(n))) {
        reduction_[n] = 1;
        absorb_first(n);
      }
    }
    split_off_path();
    return collect();
  }

 private:
  bool same_device(NodeId a, NodeId b) const {
    return graph_.node_devices().empty() ||
           graph_.node_devices().get(a) == graph_.node_devices().get(b);
  }

  // The node that makes v if it may join the region of `root`.
  NodeId candidate(ValueId v, NodeId root) const {
    if (v == kNone || graph_.uses(v) != 1) return kNone;
    const NodeId p = graph_.producer(v);
    if (p == kNone || graph_.output_count(p) != 1 || !same_device(p, root)) return kNone;
    if (size_[root] >= kMaxRegionNodes) return kNone;
    return p;
  }

  void join(NodeId p, NodeId user, NodeId root) {
    group_[p] = root;
    user_[p] = user;
    ++size_[root];
  }

  // Elementwise values in a fused region all have the region's shape: smaller ones would be
  // computed again for every element.
  bool same_shape(ValueId v, NodeId root) const {
    return graph_.shape_id(v) == graph_.shape_id(graph_.output(root));
  }

  // In a region with a contraction, only what depends on its result stays; the rest (a mask that
  // is added, say) is a region of its own.
  void split_off_path() {
    std::vector<uint8_t> on_path(n_, 0);
    for (NodeId n = 0; n < n_; ++n) {
      const NodeId head = head_[group_[n]];
      if (head == kNone) continue;
      on_path[n] = n == head;
      for (ValueId v : graph_.inputs(n)) {
        const NodeId p = v == kNone ? kNone : graph_.producer(v);
        if (p != kNone && group_[p] == group_[n] && on_path[p] != 0) on_path[n] = 1;
      }
    }
    for (NodeId n = n_; n-- > 0;) {
      const NodeId root = group_[n];
      if (head_[root] == kNone || on_path[n] != 0) continue;
      --size_[root];
      const NodeId user = user_[n];
      group_[n] = on_path[user] != 0 ? n : group_[user];
      size_[n] = group_[n] == n ? 1 : size_[n];
      if (group_[n] != n) ++size_[group_[n]];
    }
  }

  void absorb(NodeId n) {
    const NodeId root = group_[n];
    for (ValueId v : graph_.inputs(n)) {
      const NodeId p = candidate(v, root);
      if (p == kNone) continue;
      if (!same_shape(v, root)) continue;
      if (ir::spec(graph_.op(p)).cls == OpClass::Elementwise) {
        join(p, n, root);
        continue;
      }
      // One contraction a region.
      if (!heads_epilogue(graph_.op(p)) || head_[root] != kNone || reduction_[root] != 0) continue;
      join(p, n, root);
      head_[root] = p;
    }
  }

  // Only the data input of a norm takes producers, and only of the norm's own shape.
  void absorb_first(NodeId n) {
    const ValueId v = graph_.inputs(n)[0];
    const NodeId p = candidate(v, n);
    if (p == kNone || ir::spec(graph_.op(p)).cls != OpClass::Elementwise) return;
    if (!same_shape(v, n) || flows_from_contraction(p, n)) return;
    for (ValueId operand : graph_.inputs(p)) {
      if (operand != kNone && !broadcasts_for_certain(operand, n)) return;
    }
    join(p, n, n);
  }

  // To a backend one symbol looks like another, so it would take two dims that may turn out to be
  // 1 and 5 for equal ones.
  bool broadcasts_for_certain(ValueId v, NodeId root) const {
    const auto from = graph_.dims(v), to = graph_.dims(graph_.output(root));
    for (size_t i = 1; i <= from.size(); ++i) {
      const ir::Dim d = from[from.size() - i];
      if (d != 1 && (i > to.size() || d != to[to.size() - i])) return false;
    }
    return true;
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
        if (heads_epilogue(graph_.op(p))) return true;
        const bool more = ir::spec(graph_.op(p)).cls == OpClass::Elementwise;
        if (more && count < kMaxLookBack) at[count++] = p;
      }
    }
    return false;
  }

  nef_region_kind kind_of(NodeId root) const {
    if (size_[root] == 1) return NEF_REGION_SINGLE;
    if (head_[root] != kNone) return NEF_REGION_EPILOGUE;
    return reduction_[root] != 0 ? NEF_REGION_REDUCTION : NEF_REGION_ELEMENTWISE;
  }

  Regions collect() const {
    Regions out;
    out.nodes.resize(n_);
    // A region runs where its root stands; members keep their order.
    std::vector<uint32_t> slot(n_, 0);
    uint32_t at = 0;
    for (NodeId n = 0; n < n_; ++n) {
      if (group_[n] != n) continue;
      out.list.push_back({kind_of(n), at, size_[n]});
      slot[n] = at;
      at += size_[n];
    }
    for (NodeId n = 0; n < n_; ++n) out.nodes[slot[group_[n]]++] = n;
    return out;
  }

  const Graph& graph_;
  const NodeId n_;
  std::vector<NodeId> group_;   // root of each node's region
  std::vector<uint32_t> size_;  // per root
  std::vector<NodeId> head_;    // per root: its contraction
  std::vector<NodeId> user_;    // the one node that uses a joined node
  std::vector<uint8_t> reduction_;
};

}  // namespace

Regions fused_regions(const Graph& graph) { return Fusion(graph).run(); }

}  // namespace nef::optimize
