// SPDX-License-Identifier: Apache-2.0
// A product with weights of float8 that DequantizeLinear scales reads them as they are stored:
// MatMul, Gemm and FusedMatMul of such weights become MatMulNBits.
#include <algorithm>
#include <cstring>

#include "engine/ir/dtype.h"
#include "engine/optimize/match.h"
#include "engine/optimize/passes.h"

namespace nef::optimize {

using ir::Graph;
using ir::kNone;
using ir::NodeId;
using ir::ValueId;

namespace {

// Fewer weights are better off as floats, which fit a cache.
constexpr int64_t kLeastWeights = 256 << 10;
// Weights that share a scale: kernels read them in pieces of this size at most.
constexpr int64_t kMostBlock = 256, kLeastBlock = 8;

// A product a b (+ bias), b [k, n], or [n, k] where it is turned.
struct Product {
  ValueId a = kNone, bias = kNone;
  NodeId weights = kNone;  // the DequantizeLinear
  int64_t k = 0, n = 0;
  bool turned = false;
};

class StoredWeights {
 public:
  explicit StoredWeights(Graph& graph)
      : graph_(graph), rewriter_(graph), match_(graph, rewriter_) {}

  bool run() {
    const auto count = static_cast<NodeId>(graph_.node_count());
    for (NodeId n = 0; n < count; ++n) {
      if (const auto p = product(n)) rewrite(n, *p);
    }
    return rewriter_.finish();
  }

 private:
  std::optional<Product> product(NodeId node) const {
    const ir::Attrs attrs = graph_.attrs(node);
    Product p;
    switch (graph_.op(node)) {
      case NEF_OP_MATMUL: break;
      case NEF_OP_GEMM:
        if (attrs.i(NEF_GEMM_TRANS_A) != 0 || attrs.f(NEF_GEMM_ALPHA, 1) != 1) return std::nullopt;
        p.turned = attrs.i(NEF_GEMM_TRANS_B) != 0;
        p.bias = match_.input(node, 2);
        if (p.bias != kNone && attrs.f(NEF_GEMM_BETA, 1) != 1) return std::nullopt;
        break;
      case NEF_OP_FUSED_MATMUL:
        if (attrs.i(NEF_FUSED_MATMUL_TRANS_A) != 0 || attrs.f(NEF_FUSED_MATMUL_ALPHA, 1) != 1) {
          return std::nullopt;
        }
        p.turned = attrs.i(NEF_FUSED_MATMUL_TRANS_B) != 0;
        p.bias = match_.input(node, 2);
        break;
      default: return std::nullopt;
    }
    p.a = match_.input(node, 0);
    p.weights = match_.made_by(match_.input(node, 1), NEF_OP_DEQUANTIZE_LINEAR);
    if (p.weights == kNone || !is_stored(p.weights)) return std::nullopt;
    const auto dims = graph_.dims(match_.input(p.weights, 0));
    p.k = dims[p.turned ? 1 : 0].number();
    p.n = dims[p.turned ? 0 : 1].number();
    const nef_dtype y = graph_.dtype(graph_.output(node));
    if ((y == NEF_FLOAT16 || y == NEF_BFLOAT16) && is_float8_by_one(p.weights) &&
        is_float8_by_one(match_.made_by(p.a, NEF_OP_DEQUANTIZE_LINEAR))) {
      return std::nullopt;  // devices multiply float8 by float8
    }
    const bool vector =
        p.bias == kNone || (graph_.rank(p.bias) == 1 && graph_.dims(p.bias)[0] == p.n);
    return vector && p.k * p.n >= kLeastWeights && graph_.rank(p.a) > 0 ? std::optional(p)
                                                                        : std::nullopt;
  }

  // Float8 with one scale for all of it.
  bool is_float8_by_one(NodeId dequantize) const {
    return dequantize != kNone && ir::dtype_is_float8(graph_.dtype(match_.input(dequantize, 0))) &&
           graph_.attrs(dequantize).i(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE) == 0 &&
           (graph_.rank(match_.input(dequantize, 1)) == 0 ||
            ir::byte_count(NEF_BOOL, graph_.dims(match_.input(dequantize, 1))) == 1);
  }
  // A constant matrix of float8 and constant scales of the result's dtype, zero points of 0.
  bool is_stored(NodeId dequantize) const {
    const ValueId w = match_.input(dequantize, 0), scale = match_.input(dequantize, 1);
    const ValueId zero = match_.input(dequantize, 2);
    if (!graph_.is_constant(w) || !ir::dtype_is_float8(graph_.dtype(w)) || graph_.rank(w) != 2) {
      return false;
    }
    if (!graph_.is_constant(scale) ||
        graph_.dtype(scale) != graph_.dtype(graph_.output(dequantize))) {
      return false;
    }
    if (zero == kNone) return true;
    if (!graph_.is_constant(zero)) return false;
    const ir::Buffer& zeros = *graph_.constant_data(zero);
    const auto* codes = static_cast<const uint8_t*>(zeros.data());
    return std::all_of(codes, codes + zeros.bytes(), [](uint8_t c) { return (c & 0x7f) == 0; });
  }

  // Which scale a weight has: a step per column and per block of k.
  struct Scales {
    int64_t block = 0, column_step = 0, block_step = 0;
  };
  std::optional<Scales> scales(const Product& p) const {
    const ir::Attrs attrs = graph_.attrs(p.weights);
    const auto dims = graph_.dims(match_.input(p.weights, 1));
    const int64_t block = attrs.i(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE);
    const int64_t axis = attrs.i(NEF_DEQUANTIZE_LINEAR_AXIS, 1);
    const bool along_k = (axis < 0 ? axis + 2 : axis) == (p.turned ? 1 : 0);
    if (block > 0) {
      if (!along_k || p.k % block != 0) return std::nullopt;
      return Scales{block, p.turned ? p.k / block : 1, p.turned ? 1 : p.n};
    }
    const bool single = dims.empty() || (dims.size() == 1 && dims[0] == 1);
    if (!single && along_k) return std::nullopt;
    return Scales{p.k, single ? 0 : 1, 0};
  }

  void rewrite(NodeId node, const Product& p) {
    const auto given = scales(p);
    if (!given) return;
    // The largest power of two that the given blocks are made of.
    const int64_t block = std::min(given->block & -given->block, kMostBlock);
    if (block < kLeastBlock) return;
    const ValueId scale = match_.input(p.weights, 1);
    const nef_dtype dtype = graph_.dtype(scale);
    const size_t size = ir::dtype_size(dtype);
    const int64_t blocks = p.k / block;
    auto spread = ir::Buffer::allocate(static_cast<size_t>(p.n * blocks) * size);
    const auto* from = static_cast<const char*>(graph_.constant_data(scale)->data());
    auto* to = static_cast<char*>(spread->data());
    for (int64_t j = 0; j < p.n; ++j) {
      for (int64_t b = 0; b < blocks; ++b, to += size) {
        const int64_t at = j * given->column_step + b * block / given->block * given->block_step;
        std::memcpy(to, from + static_cast<size_t>(at) * size, size);
      }
    }
    const ir::Shape w_dims = ir::shape_of(ir::Sizes{p.n, blocks, block});
    const ir::Shape s_dims = ir::shape_of(ir::Sizes{p.n, blocks});
    const ValueId w = match_.input(p.weights, 0);
    std::vector<ValueId> in = {p.a,
                               rewriter_.insert_constant(graph_.dtype(w), w_dims, by_columns(p)),
                               rewriter_.insert_constant(dtype, s_dims, std::move(spread))};
    if (p.bias != kNone) in.insert(in.end(), {kNone, p.bias});
    rewriter_.rewrite(node, NEF_OP_MATMUL_NBITS, in,
                      ir::AttrBuilder(NEF_OP_MATMUL_NBITS)
                          .set_int(NEF_MATMUL_NBITS_K, p.k)
                          .set_int(NEF_MATMUL_NBITS_N, p.n)
                          .set_int(NEF_MATMUL_NBITS_BITS, 8)
                          .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, block)
                          .build());
  }

  // The weights as [n, k].
  std::shared_ptr<ir::Buffer> by_columns(const Product& p) const {
    const ir::Buffer& data = *graph_.constant_data(match_.input(p.weights, 0));
    auto out = ir::Buffer::allocate(data.bytes());
    const auto* from = static_cast<const uint8_t*>(data.data());
    auto* to = static_cast<uint8_t*>(out->data());
    if (p.turned) {
      std::copy_n(from, data.bytes(), to);
      return out;
    }
    constexpr int64_t kTile = 64;  // rows and columns that fit the cache together
    for (int64_t k0 = 0; k0 < p.k; k0 += kTile) {
      for (int64_t n0 = 0; n0 < p.n; n0 += kTile) {
        for (int64_t n = n0; n < std::min(n0 + kTile, p.n); ++n) {
          for (int64_t k = k0; k < std::min(k0 + kTile, p.k); ++k) {
            to[n * p.k + k] = from[k * p.n + n];
          }
        }
      }
    }
    return out;
  }

  Graph& graph_;
  Rewriter rewriter_;
  Matcher match_;
};

}  // namespace

bool can_have_weights(const Graph& graph) { return graph.may_have(NEF_OP_DEQUANTIZE_LINEAR); }

bool match_weights(Graph& graph, const Options&) { return StoredWeights(graph).run(); }

}  // namespace nef::optimize
