// SPDX-License-Identifier: Apache-2.0
// Regions that read one another and nothing else reads, as one: a norm with the contractions that
// read it and what follows them; slices with the attention that reads them; DequantizeLinear of
// float8 with the product of two of them.
#include <algorithm>
#include <vector>

#include "engine/ir/dtype.h"
#include "engine/optimize/regions.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::OpClass;
using ir::ValueId;

namespace {

// Nodes of one chain at most, and contractions.
constexpr uint32_t kMostNodes = 32;
constexpr size_t kMostContractions = 2;

class Chains {
 public:
  Chains(const Graph& graph, const Regions& regions)
      : graph_(graph),
        in_(regions),
        region_of_(graph.node_count(), kNone),
        chain_(regions.list.size(), kNone) {
    for (uint32_t r = 0; r < in_.list.size(); ++r) {
      for (NodeId n : in_.nodes_of(in_.list[r])) region_of_[n] = r;
    }
  }

  Regions run() {
    // Users come after producers: backwards, a chain's end is met first.
    for (auto r = static_cast<uint32_t>(in_.list.size()); r-- > 0;) {
      if (chain_[r] != kNone) continue;
      if (scales_float8(r)) grow_float8(r);
      else if (head_of(r) != kNone || is_elementwise(r)) grow_contractions(r);
      else if (is_op(r, NEF_OP_ATTENTION)) grow_attention(r);
    }
    return collect();
  }

 private:
  const Region& region(uint32_t r) const { return in_.list[r]; }
  NodeId root(uint32_t r) const { return in_.root(in_.list[r]); }
  uint32_t producer(ValueId v) const {
    if (v == kNone || graph_.producer(v) == kNone) return kNone;
    return region_of_[graph_.producer(v)];
  }
  bool is_op(uint32_t r, nef_op op) const {
    return region(r).node_count == 1 && graph_.op(root(r)) == op;
  }
  bool is_elementwise(uint32_t r) const {
    const Region& x = region(r);
    return x.kind == NEF_REGION_ELEMENTWISE ||
           (x.kind == NEF_REGION_SINGLE && graph_.output_count(root(r)) == 1 &&
            ir::spec(graph_.op(root(r))).cls == OpClass::Elementwise);
  }
  // The contraction with a constant matrix that a region begins with.
  NodeId head_of(uint32_t r) const {
    const Region& x = region(r);
    if (x.kind != NEF_REGION_SINGLE && x.kind != NEF_REGION_EPILOGUE) return kNone;
    for (NodeId n : in_.nodes_of(x)) {
      const nef_op op = graph_.op(n);
      const bool product = op == NEF_OP_MATMUL || op == NEF_OP_FUSED_MATMUL || op == NEF_OP_GEMM ||
                           op == NEF_OP_MATMUL_NBITS;
      if (!product) continue;
      return graph_.is_constant(graph_.inputs(n)[1]) ? n : kNone;
    }
    return kNone;
  }
  bool same_device(uint32_t a, uint32_t b) const {
    return graph_.node_devices().empty() ||
           graph_.node_devices().get(root(a)) == graph_.node_devices().get(root(b));
  }
  bool same_shape(uint32_t a, uint32_t b) const {
    return graph_.shape_id(graph_.output(root(a))) == graph_.shape_id(graph_.output(root(b)));
  }

  // Reads of a value inside the chain being grown.
  uint32_t reads(ValueId v) const {
    uint32_t n = 0;
    for (uint32_t r : chain_now_) {
      for (NodeId node : in_.nodes_of(region(r))) {
        const auto in = graph_.inputs(node);
        n += static_cast<uint32_t>(std::count(in.begin(), in.end(), v));
      }
    }
    return n;
  }
  bool may_join(uint32_t r) const {
    if (r == kNone || chain_[r] != kNone || !same_device(r, chain_now_[0])) return false;
    if (std::find(chain_now_.begin(), chain_now_.end(), r) != chain_now_.end()) return false;
    if (nodes_now_ + region(r).node_count > kMostNodes) return false;
    return graph_.output_count(root(r)) == 1 &&
           reads(graph_.output(root(r))) == graph_.uses(graph_.output(root(r)));
  }
  void begin(uint32_t r) {
    chain_now_ = {r};
    nodes_now_ = region(r).node_count;
  }
  void join(uint32_t r) {
    chain_now_.push_back(r);
    nodes_now_ += region(r).node_count;
  }
  void leave(uint32_t r) {
    chain_now_.pop_back();
    nodes_now_ -= region(r).node_count;
  }
  void finish(uint32_t end) {
    if (chain_now_.size() < 2) return;
    for (uint32_t r : chain_now_) chain_[r] = end;
  }

  void grow_contractions(uint32_t end) {
    begin(end);
    std::vector<NodeId> heads;
    if (head_of(end) != kNone) heads.push_back(head_of(end));
    for (size_t i = 0; i < chain_now_.size(); ++i) {
      for (NodeId n : in_.nodes_of(region(chain_now_[i]))) {
        if (std::find(heads.begin(), heads.end(), n) != heads.end())
          continue;  // its operand: below
        for (ValueId v : graph_.inputs(n)) consider(producer(v), end, heads);
      }
    }
    if (heads.empty()) return;
    // The norm of what all of them read, where nothing else reads it.
    const uint32_t norm = producer(graph_.inputs(heads[0])[0]);
    if (norm != kNone && is_op(norm, NEF_OP_RMS_NORMALIZATION) && may_join(norm)) join(norm);
    finish(end);
  }

  // A producer that belongs to the chain: another contraction of the same operand, or elementwise
  // nodes behind one.
  void consider(uint32_t r, uint32_t end, std::vector<NodeId>& heads) {
    if (!may_join(r) || !same_shape(r, end)) return;
    const NodeId head = head_of(r);
    if (head != kNone) {
      if (heads.size() == kMostContractions) return;
      if (!heads.empty() && graph_.inputs(head)[0] != graph_.inputs(heads[0])[0]) return;
      heads.push_back(head);
      return join(r);
    }
    if (!is_elementwise(r) || !leads_to_contraction(r)) return;
    join(r);
  }
  bool leads_to_contraction(uint32_t r) const {
    for (NodeId n : in_.nodes_of(region(r))) {
      for (ValueId v : graph_.inputs(n)) {
        const uint32_t p = producer(v);
        if (p != kNone && p != r && head_of(p) != kNone) return true;
      }
    }
    return false;
  }

  // A product of two tensors of float8 that DequantizeLinear scales.
  bool is_dequantised(uint32_t r) const {
    return r != kNone && is_op(r, NEF_OP_DEQUANTIZE_LINEAR) &&
           ir::dtype_is_float8(graph_.dtype(graph_.inputs(root(r))[0]));
  }
  bool scales_float8(uint32_t r) const {
    if (!is_op(r, NEF_OP_MATMUL) && !is_op(r, NEF_OP_FUSED_MATMUL) && !is_op(r, NEF_OP_GEMM)) {
      return false;
    }
    const auto in = graph_.inputs(root(r));
    return in[0] != in[1] && is_dequantised(producer(in[0])) && is_dequantised(producer(in[1]));
  }
  void grow_float8(uint32_t end) {
    begin(end);
    for (size_t i : {0, 1}) {
      const uint32_t r = producer(graph_.inputs(root(end))[i]);
      if (!may_join(r)) return;
      join(r);
    }
    finish(end);
  }

  // One query for each head.
  bool is_single_query(uint32_t r) const {
    const auto q = graph_.dims(graph_.inputs(root(r))[0]);
    return q.size() >= 3 && q[q.size() == 3 ? 1 : 2] == 1;
  }
  bool may_join_slice(uint32_t r) const {
    return r != kNone && is_op(r, NEF_OP_SLICE) && may_join(r);
  }
  void grow_attention(uint32_t end) {
    begin(end);
    const auto in = graph_.inputs(root(end));
    for (size_t i = 0; i < std::min<size_t>(in.size(), 3); ++i) {
      const uint32_t r = producer(in[i]);
      if (may_join_slice(r) && graph_.rank(in[i]) == 3) join(r);
      else if (i == 0 && is_single_query(end)) grow_query(r);
    }
    finish(end);
  }
  // A query may be given another shape on its way: that of one row is the same bytes.
  void grow_query(uint32_t r) {
    if (may_join_slice(r)) return join(r);
    if (r == kNone || !is_op(r, NEF_OP_RESHAPE) || !may_join(r)) return;
    const uint32_t slice = producer(graph_.inputs(root(r))[0]);
    if (slice == kNone || !is_op(slice, NEF_OP_SLICE)) return;
    join(r);
    if (may_join(slice)) return join(slice);
    leave(r);
  }

  Regions collect() const {
    Regions out;
    out.nodes.reserve(in_.nodes.size());
    std::vector<std::vector<uint32_t>> members(in_.list.size());
    for (uint32_t r = 0; r < in_.list.size(); ++r) {
      members[chain_[r] == kNone ? r : chain_[r]].push_back(r);
    }
    for (const auto& regions : members) {
      if (regions.empty()) continue;
      Region whole = region(regions.back());
      whole.first_node = static_cast<uint32_t>(out.nodes.size());
      whole.node_count = 0;
      if (regions.size() > 1) {
        whole.kind = NEF_REGION_CHAIN;
        whole.first_part = static_cast<uint32_t>(out.parts.size());
        whole.part_count = static_cast<uint32_t>(regions.size());
      }
      for (uint32_t r : regions) {
        Region part = region(r);
        part.first_node = static_cast<uint32_t>(out.nodes.size());
        for (NodeId n : in_.nodes_of(region(r))) out.nodes.push_back(n);
        whole.node_count += part.node_count;
        if (regions.size() > 1) out.parts.push_back(part);
      }
      out.list.push_back(whole);
    }
    out.list_values(graph_);
    return out;
  }

  const Graph& graph_;
  const Regions& in_;
  std::vector<uint32_t> region_of_;  // per node
  std::vector<uint32_t> chain_;      // per region: the last one of its chain, kNone = in none
  std::vector<uint32_t> chain_now_;  // the chain being grown, its end first
  uint32_t nodes_now_ = 0;
};

}  // namespace

Regions chained_regions(const Graph& graph, const Regions& regions) {
  return Chains(graph, regions).run();
}

}  // namespace nef::optimize
