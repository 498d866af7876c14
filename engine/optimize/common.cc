// SPDX-License-Identifier: Apache-2.0
// Common subexpressions: nodes that compute the same thing from the same inputs become one.
#include <cstring>

#include "engine/optimize/passes.h"
#include "engine/optimize/rewriter.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

struct Hash {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  void add(uint64_t v) {
    h = (h ^ v) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
};

uint64_t hash_node(const Graph& graph, const Rewriter& rewriter, NodeId n) {
  Hash hash;
  hash.add(static_cast<uint64_t>(graph.op(n)) << 32 | graph.output_count(n));
  for (size_t i = 0; i < graph.inputs(n).size(); ++i) hash.add(rewriter.input(n, i));
  for (int64_t w : graph.attrs(n).words()) hash.add(static_cast<uint64_t>(w));
  return hash.h;
}

bool equal_nodes(const Graph& graph, const Rewriter& rewriter, NodeId a, NodeId b) {
  if (graph.op(a) != graph.op(b) || graph.output_count(a) != graph.output_count(b)) return false;
  if (graph.inputs(a).size() != graph.inputs(b).size()) return false;
  for (size_t i = 0; i < graph.inputs(a).size(); ++i) {
    if (rewriter.input(a, i) != rewriter.input(b, i)) return false;
  }
  const auto wa = graph.attrs(a).words(), wb = graph.attrs(b).words();
  if (wa.size() != wb.size()) return false;
  if (!wa.empty() && std::memcmp(wa.data(), wb.data(), wa.size_bytes()) != 0) return false;
  for (uint32_t i = 0; i < graph.output_count(a); ++i) {
    if (graph.dtype(graph.output(a, i)) != graph.dtype(graph.output(b, i))) return false;
    if (graph.shape_id(graph.output(a, i)) != graph.shape_id(graph.output(b, i))) return false;
  }
  // The author may want two equal nodes on two devices.
  return graph.node_devices().empty() || graph.node_devices().get(a) == graph.node_devices().get(b);
}

constexpr size_t kFirstTable = 256;

// Values that have become one: their uses count together.
class Merged {
 public:
  void add(const Graph& graph, ValueId v) {
    is_.resize(graph.value_count(), 0);
    is_[v] = 1;
  }
  bool has(ValueId v) const { return v < is_.size() && is_[v] != 0; }

 private:
  std::vector<uint8_t> is_;
};

// Can another node read the same inputs? Not when one of them has this one use only.
bool may_have_twin(const Graph& graph, const Merged& merged, NodeId n) {
  for (ValueId v : graph.inputs(n)) {
    if (v != kNone && graph.uses(v) < 2 && !merged.has(v)) return false;
  }
  return true;
}

}  // namespace

bool eliminate_common(Graph& graph, const Options&) {
  Rewriter rewriter(graph);
  Merged merged;
  // Open addressing, at most half full: node + 1, 0 = empty. Grows: few nodes come this far.
  std::vector<uint32_t> table(kFirstTable, 0);
  size_t count = 0;
  const auto slot = [&](NodeId n) {
    const size_t mask = table.size() - 1;
    size_t at = hash_node(graph, rewriter, n) & mask;
    while (table[at] != 0 && !equal_nodes(graph, rewriter, table[at] - 1, n)) at = (at + 1) & mask;
    return at;
  };
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    if (!may_have_twin(graph, merged, n) || !is_pure(graph.op(n))) continue;
    const size_t at = slot(n);
    if (table[at] == 0) {
      table[at] = n + 1;
      if (++count * 2 <= table.size()) continue;
      std::vector<uint32_t> old(2 * table.size(), 0);
      old.swap(table);
      for (uint32_t entry : old) {
        if (entry != 0) table[slot(entry - 1)] = entry;
      }
      continue;
    }
    const NodeId first = table[at] - 1;
    for (uint32_t i = 0; i < graph.output_count(n); ++i) {
      rewriter.forward(graph.output(n, i), graph.output(first, i));
      merged.add(graph, graph.output(n, i));
      merged.add(graph, graph.output(first, i));
    }
  }
  return rewriter.finish();
}

}  // namespace nef::optimize
