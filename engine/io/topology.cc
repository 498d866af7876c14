// SPDX-License-Identifier: Apache-2.0
#include "engine/io/topology.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <span>

#include "engine/io/text.h"
#include "engine/ir/error.h"
#include "engine/ir/ops.h"

namespace nef::io {
namespace {

// Nodes shown of a cycle before the rest is left out.
constexpr size_t kShownCycle = 16;

std::span<const uint32_t> inputs(const Document& doc, uint32_t n) {
  const DocNode& node = doc.nodes[n];
  return {doc.operands.data() + node.first_input, node.n_inputs};
}

// Node that makes input `tensor`, kNone when none does.
uint32_t maker(const Document& doc, uint32_t tensor) {
  return tensor == ir::kNone ? ir::kNone : doc.tensors[tensor].maker;
}

bool in_order(const Document& doc) {
  for (uint32_t n = 0; n < doc.nodes.size(); ++n) {
    for (const uint32_t t : inputs(doc, n)) {
      const uint32_t m = maker(doc, t);
      if (m != ir::kNone && m >= n) return false;
    }
  }
  return true;
}

std::string label(const Document& doc, uint32_t n) {
  return cat(doc.nodes[n].id, " (", ir::spec(doc.nodes[n].op).snake, ")");
}

// Which input of `to` is made by `from`.
uint32_t operand_from(const Document& doc, uint32_t from, uint32_t to) {
  const auto in = inputs(doc, to);
  for (uint32_t i = 0; i < in.size(); ++i) {
    if (maker(doc, in[i]) == from) return i;
  }
  return 0;
}

// `missing[n]` > 0 for the nodes that could not be ordered; each of them waits for another one
// of them, so walking back from any must come around.
[[noreturn]] void report_cycle(const Document& doc, const std::vector<uint32_t>& missing) {
  uint32_t at = 0;
  while (missing[at] == 0) ++at;
  std::vector<uint32_t> path, seen(doc.nodes.size(), ir::kNone);
  while (seen[at] == ir::kNone) {
    seen[at] = static_cast<uint32_t>(path.size());
    path.push_back(at);
    for (const uint32_t t : inputs(doc, at)) {
      const uint32_t m = maker(doc, t);
      if (m == ir::kNone || missing[m] == 0) continue;
      at = m;
      break;
    }
  }
  path.erase(path.begin(), path.begin() + seen[at]);
  std::reverse(path.begin(), path.end());  // now from maker to user
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());

  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (i == kShownCycle) {
      text += cat("... (", path.size() - i, " more) -> ");
      break;
    }
    text += label(doc, path[i]) + " -> ";
  }
  const DocNode& first = doc.nodes[path.front()];
  const DocNode& last = doc.nodes[path.back()];
  const uint32_t operand = operand_from(doc, path.back(), path.front());
  std::string closing = cat("input ", operand, " of ", first.id, ", tensor ",
                            in_quotes(doc.tensors[inputs(doc, path.front())[operand]].name));
  for (size_t i = 0; i < doc.edges.size(); ++i) {
    if (doc.edges[i].from == last.id && doc.edges[i].to == first.id) {
      closing += cat(" (graph.edges[", i, "])");
    }
  }
  fail(NEF_GRAPH_CYCLE, "load",
       cat(doc.label, ": graph cycle: ", text, first.id,
           "; a graph must be acyclic, the edge that closes it is ", closing));
}

}  // namespace

std::vector<uint32_t> topological_order(const Document& doc) {
  const auto n_nodes = static_cast<uint32_t>(doc.nodes.size());
  std::vector<uint32_t> order(n_nodes);
  std::iota(order.begin(), order.end(), 0u);
  if (in_order(doc)) return order;

  // Users of each node's outputs, one entry for each operand.
  std::vector<uint32_t> missing(n_nodes, 0), begin(n_nodes + 1, 0);
  for (uint32_t n = 0; n < n_nodes; ++n) {
    for (const uint32_t t : inputs(doc, n)) {
      const uint32_t m = maker(doc, t);
      if (m == ir::kNone) continue;
      ++missing[n];
      ++begin[m + 1];
    }
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> users(begin.back()), fill(begin.begin(), begin.end() - 1);
  for (uint32_t n = 0; n < n_nodes; ++n) {
    for (const uint32_t t : inputs(doc, n)) {
      const uint32_t m = maker(doc, t);
      if (m != ir::kNone) users[fill[m]++] = n;
    }
  }

  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t n = 0; n < n_nodes; ++n) {
    if (missing[n] == 0) ready.push(n);
  }
  order.clear();
  while (!ready.empty()) {
    const uint32_t n = ready.top();
    ready.pop();
    order.push_back(n);
    for (uint32_t i = begin[n]; i < begin[n + 1]; ++i) {
      if (--missing[users[i]] == 0) ready.push(users[i]);
    }
  }
  if (order.size() != n_nodes) report_cycle(doc, missing);
  return order;
}

void check_edges(const Document& doc, const std::unordered_map<std::string, uint32_t>& nodes) {
  if (!doc.has_edges) return;
  using Pair = std::pair<uint32_t, uint32_t>;  // to, from
  struct Listed {
    Pair pair;
    size_t index;
  };
  std::vector<Pair> wanted;
  for (uint32_t n = 0; n < doc.nodes.size(); ++n) {
    for (const uint32_t t : inputs(doc, n)) {
      const uint32_t m = maker(doc, t);
      if (m != ir::kNone) wanted.emplace_back(n, m);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());

  std::vector<Listed> listed;
  for (size_t i = 0; i < doc.edges.size(); ++i) {
    listed.push_back({{nodes.at(doc.edges[i].to), nodes.at(doc.edges[i].from)}, i});
  }
  std::sort(listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
    return a.pair != b.pair ? a.pair < b.pair : a.index < b.index;
  });
  for (size_t i = 0; i < listed.size(); ++i) {
    const std::string where = cat("graph.edges[", listed[i].index, "]");
    const auto [to, from] = listed[i].pair;
    if (i > 0 && listed[i - 1].pair == listed[i].pair) {
      doc.stop(NEF_DUPLICATE_NAME, where,
               cat("the edge from ", in_quotes(doc.nodes[from].id), " to ",
                   in_quotes(doc.nodes[to].id), " is listed twice"));
    }
    if (!std::binary_search(wanted.begin(), wanted.end(), listed[i].pair)) {
      doc.stop(NEF_INVALID_ARGUMENT, where,
               cat("no input of ", in_quotes(doc.nodes[to].id), " is an output of ",
                   in_quotes(doc.nodes[from].id)));
    }
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i < listed.size() && listed[i].pair == wanted[i]) continue;
    doc.stop(NEF_INVALID_ARGUMENT, "graph.edges",
             cat("an input of ", in_quotes(doc.nodes[wanted[i].first].id), " is an output of ",
                 in_quotes(doc.nodes[wanted[i].second].id),
                 ", but that edge is missing; list all "
                 "edges or none"));
  }
}

}  // namespace nef::io
