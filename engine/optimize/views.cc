// SPDX-License-Identifier: Apache-2.0
// Transposes and slices that one product reads, as one region with it: a backend that takes its
// operands at strides copies nothing for them.
#include <algorithm>
#include <vector>

#include "engine/ir/dtype.h"
#include "engine/optimize/regions.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

constexpr uint32_t kMostNodes = 32;

class Views {
 public:
  Views(const Graph& graph, const Regions& regions)
      : graph_(graph),
        in_(regions),
        region_of_(graph.node_count(), kNone),
        reader_(regions.list.size(), kNone) {
    for (uint32_t r = 0; r < in_.list.size(); ++r) {
      for (NodeId n : in_.nodes_of(in_.list[r])) region_of_[n] = r;
    }
  }

  Regions run() {
    for (uint32_t r = 0; r < in_.list.size(); ++r) {
      const NodeId head = product_of(r);
      if (head == kNone) continue;
      grow(r, graph_.inputs(head)[0]);
      grow(r, graph_.inputs(head)[graph_.op(head) == NEF_OP_QLINEAR_MATMUL ? 3 : 1]);
    }
    return collect();
  }

 private:
  // The product, of floats or quantised numbers, that a region begins with.
  NodeId product_of(uint32_t r) const {
    const Region& region = in_.list[r];
    if (region.kind != NEF_REGION_SINGLE && region.kind != NEF_REGION_EPILOGUE) return kNone;
    for (NodeId n : in_.nodes_of(region)) {
      const nef_op op = graph_.op(n);
      if (op == NEF_OP_MATMUL_INTEGER || op == NEF_OP_QLINEAR_MATMUL) return n;
      if (op != NEF_OP_MATMUL && op != NEF_OP_FUSED_MATMUL && op != NEF_OP_GEMM) continue;
      return ir::dtype_is_float(graph_.dtype(graph_.output(n))) ? n : kNone;
    }
    return kNone;
  }

  // Walks up from an operand as long as nothing else reads what it meets.
  void grow(uint32_t reader, ValueId v) {
    while (v != kNone && graph_.uses(v) == 1 && graph_.producer(v) != kNone) {
      const NodeId n = graph_.producer(v);
      const uint32_t r = region_of_[n];
      if (!is_view(n) || in_.list[r].node_count != 1 || !same_device(n, reader)) return;
      if (members(reader) >= kMostNodes) return;
      reader_[r] = reader;
      v = graph_.inputs(n)[0];
    }
  }
  bool is_view(NodeId n) const {
    const auto in = graph_.inputs(n);
    if (graph_.op(n) == NEF_OP_TRANSPOSE) return true;
    return graph_.op(n) == NEF_OP_SLICE && std::all_of(in.begin() + 1, in.end(), [&](ValueId v) {
             return v == kNone || graph_.is_constant(v);
           });
  }
  bool same_device(NodeId n, uint32_t reader) const {
    const auto& devices = graph_.node_devices();
    return devices.empty() || devices.get(n) == devices.get(in_.root(in_.list[reader]));
  }
  uint32_t members(uint32_t reader) const {
    return in_.list[reader].node_count +
           static_cast<uint32_t>(std::count(reader_.begin(), reader_.end(), reader));
  }

  Regions collect() const {
    std::vector<std::vector<uint32_t>> views(in_.list.size());
    for (uint32_t r = 0; r < in_.list.size(); ++r) {
      if (reader_[r] != kNone) views[reader_[r]].push_back(r);
    }
    Regions out;
    out.nodes.reserve(in_.nodes.size());
    for (uint32_t r = 0; r < in_.list.size(); ++r) {
      if (reader_[r] == kNone) add(out, r, views[r]);
    }
    out.list_values(graph_);
    return out;
  }
  void add(Regions& out, uint32_t r, const std::vector<uint32_t>& views) const {
    Region whole = in_.list[r];
    const auto first = static_cast<uint32_t>(out.nodes.size());
    const auto first_part = static_cast<uint32_t>(out.parts.size());
    const auto append = [&](const Region& from) {
      Region part = from;
      part.first_node = static_cast<uint32_t>(out.nodes.size());
      for (NodeId n : in_.nodes_of(from)) out.nodes.push_back(n);
      return part;
    };
    for (uint32_t v : views) out.parts.push_back(append(in_.list[v]));
    const Region moved = append(whole);
    if (!views.empty()) {
      out.parts.push_back(moved);
      whole.kind = NEF_REGION_EPILOGUE;
    }
    for (uint32_t i = 0; i < whole.part_count; ++i) {
      Region part = in_.parts[in_.list[r].first_part + i];
      part.first_node = part.first_node - in_.list[r].first_node + first;
      out.parts.push_back(part);
    }
    whole.first_node = first;
    whole.node_count = static_cast<uint32_t>(out.nodes.size()) - first;
    whole.first_part = first_part;
    whole.part_count = static_cast<uint32_t>(out.parts.size()) - first_part;
    out.list.push_back(whole);
  }

  const Graph& graph_;
  const Regions& in_;
  std::vector<uint32_t> region_of_;  // per node
  std::vector<uint32_t> reader_;     // per region: the product that takes it in, kNone = none
};

}  // namespace

Regions viewed_regions(const Graph& graph, Regions regions) {
  const nef_op all[] = {NEF_OP_MATMUL, NEF_OP_FUSED_MATMUL, NEF_OP_GEMM, NEF_OP_MATMUL_INTEGER,
                        NEF_OP_QLINEAR_MATMUL};
  const bool products = std::ranges::any_of(all, [&](nef_op op) { return graph.may_have(op); });
  const bool views = graph.may_have(NEF_OP_TRANSPOSE) || graph.may_have(NEF_OP_SLICE);
  return products && views ? Views(graph, regions).run() : regions;
}

}  // namespace nef::optimize
