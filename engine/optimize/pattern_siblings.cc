// SPDX-License-Identifier: Apache-2.0
// Products of one value by constant matrices, for one attention, become one product of it by the
// matrices side by side; the attention reads slices of what that makes:
//   x wq + bq, x wk + bk, x wv + bv  ->  parts of x [wq wk wv] + [bq bk bv]
#include <algorithm>

#include "engine/ir/dtype.h"
#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

// Of joined matrices: they take memory of their own for as long as the program, and large ones
// gain nothing, being wide by themselves.
constexpr int64_t kMostBytes = int64_t{16} << 20;

class Siblings {
 public:
  explicit Siblings(Graph& graph) : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) {
      if (graph_.op(n) == NEF_OP_ATTENTION) visit(n);
    }
    return rewriter_.finish();
  }

 private:
  // One of them: value = x weights + bias.
  struct Product {
    ValueId value, x, weights, bias;
    NodeId node;
    int64_t width;
  };

  void visit(NodeId attention) {
    std::vector<Product> all;
    for (size_t i : {0, 1, 2}) {
      const auto p = product(match_.input(attention, i));
      if (p) all.push_back(*p);
    }
    // Keys and values may have another source than the queries.
    while (all.size() > 1) {
      const Product one = all.back();
      const auto others = std::stable_partition(all.begin(), all.end(),
                                                [&](const Product& p) { return alike(p, one); });
      const std::vector<Product> group(all.begin(), others);
      all.erase(all.begin(), others);
      if (group.size() > 1) join(group);
    }
  }

  // Read by nothing but what asks for it.
  bool is_private(ValueId v) const { return v != kNone && graph_.uses(v) == 1; }

  std::optional<Product> product(ValueId v) const {
    if (!is_private(v) || graph_.rank(v) != 3) return std::nullopt;
    Product p{v, kNone, kNone, kNone, graph_.producer(v), 0};
    if (p.node != kNone && graph_.op(p.node) == NEF_OP_ADD) {
      const size_t bias = graph_.is_constant(match_.input(p.node, 1)) ? 1 : 0;
      p.bias = match_.input(p.node, bias);
      const ValueId sum = match_.input(p.node, 1 - bias);
      if (!graph_.is_constant(p.bias) || !is_private(sum)) return std::nullopt;
      p.node = graph_.producer(sum);
    }
    if (p.node == kNone || !is_product(p.node)) return std::nullopt;
    p.x = match_.input(p.node, 0);
    p.weights = match_.input(p.node, 1);
    if (!graph_.is_constant(p.weights) || graph_.rank(p.weights) != 2) return std::nullopt;
    p.width = graph_.dims(p.weights)[turned(p.node) ? 0 : 1].number();
    const bool fits =
        p.bias == kNone || (graph_.rank(p.bias) == 1 && graph_.dims(p.bias)[0] == p.width);
    return fits ? std::optional(p) : std::nullopt;
  }
  bool is_product(NodeId n) const {
    if (graph_.inputs(n).size() != 2) return false;
    if (graph_.op(n) == NEF_OP_MATMUL) return true;
    return graph_.op(n) == NEF_OP_FUSED_MATMUL && graph_.attrs(n).i(NEF_FUSED_MATMUL_TRANS_A) == 0;
  }
  bool turned(NodeId n) const {
    return graph_.op(n) == NEF_OP_FUSED_MATMUL && graph_.attrs(n).i(NEF_FUSED_MATMUL_TRANS_B) != 0;
  }

  bool alike(const Product& a, const Product& b) const {
    const auto wa = graph_.attrs(a.node).words(), wb = graph_.attrs(b.node).words();
    const auto& devices = graph_.node_devices();
    return a.x == b.x && graph_.op(a.node) == graph_.op(b.node) &&
           std::equal(wa.begin(), wa.end(), wb.begin(), wb.end()) &&
           graph_.dtype(a.weights) == graph_.dtype(b.weights) &&
           (a.bias == kNone) == (b.bias == kNone) &&
           (devices.empty() || devices.get(a.node) == devices.get(b.node));
  }

  void join(const std::vector<Product>& group) {
    int64_t width = 0;
    for (const Product& p : group) width += p.width;
    const Product& first = group[0];
    const bool by_rows = turned(first.node);
    const int64_t depth = graph_.dims(first.weights)[by_rows ? 1 : 0].number();
    const auto size = static_cast<int64_t>(ir::dtype_size(graph_.dtype(first.weights)));
    if (width * depth * size > kMostBytes) return;
    std::vector<ValueId> weights, biases;
    for (const Product& p : group) {
      weights.push_back(p.weights);
      biases.push_back(p.bias);
    }
    const ir::Shape dims =
        ir::shape_of(by_rows ? ir::Sizes{width, depth} : ir::Sizes{depth, width});
    const ValueId operands[2] = {first.x, side_by_side(weights, dims, by_rows ? 1 : depth)};
    const auto words = graph_.attrs(first.node).words();
    ValueId all = rewriter_.insert(graph_.op(first.node), operands,
                                   std::vector<int64_t>(words.begin(), words.end()));
    pin(all, first.node);
    if (first.bias != kNone) {
      const ValueId terms[2] = {all, side_by_side(biases, ir::shape_of({&width, 1}), 1)};
      all = rewriter_.insert(NEF_OP_ADD, terms);
      pin(all, first.node);
    }
    int64_t begin = 0;
    for (const Product& p : group) {
      const int64_t end = begin + p.width, axis = 2;
      build::Builder& b = rewriter_.builder();
      const ValueId in[4] = {all, b.ints({&begin, 1}), b.ints({&end, 1}), b.ints({&axis, 1})};
      const ValueId part = rewriter_.insert(NEF_OP_SLICE, in);
      pin(part, first.node);
      rewriter_.forward(p.value, part);
      begin = end;
    }
  }
  void pin(ValueId made, NodeId like) {
    if (graph_.node_devices().empty()) return;
    graph_.node_devices().set(graph_.producer(made), graph_.node_devices().get(like));
  }

  // `rows` rows of each constant in turn.
  ValueId side_by_side(const std::vector<ValueId>& parts, std::span<const ir::Dim> dims,
                       int64_t rows) {
    size_t bytes = 0;
    for (ValueId v : parts) bytes += graph_.constant_data(v)->bytes();
    auto out = ir::Buffer::allocate(bytes);
    char* to = static_cast<char*>(out->data());
    const auto n = static_cast<size_t>(rows);
    for (size_t r = 0; r < n; ++r) {
      for (ValueId v : parts) {
        const ir::Buffer& data = *graph_.constant_data(v);
        const size_t row = data.bytes() / n;
        std::memcpy(to, static_cast<const char*>(data.data()) + r * row, row);
        to += row;
      }
    }
    return rewriter_.insert_constant(graph_.dtype(parts[0]), dims, std::move(out));
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool can_have_siblings(const Graph& graph) {
  return graph.may_have(NEF_OP_ATTENTION) &&
         (graph.may_have(NEF_OP_MATMUL) || graph.may_have(NEF_OP_FUSED_MATMUL));
}

bool match_siblings(Graph& graph, const Options& options) {
  return options.slices_in_place && Siblings(graph).run();
}

}  // namespace nef::optimize
