// SPDX-License-Identifier: Apache-2.0
// Which regions are a few rows times constant matrices.
#include "backends/gpu/gemv.h"

namespace nef::gpu {
namespace {

constexpr int64_t kMostBlock = 256;  // packed weights of one scale

// A product of an activation with a constant matrix.
bool is_weight_product(const Region& region, const Node& node) {
  if (!is_product(node.op) || node.has_input(2)) return false;
  const Value& x = region.input(node, 0);
  const Value& w = region.input(node, 1);
  if (w.kind != NEF_VALUE_CONSTANT || w.rank() != 2 || x.rank() < 1) return false;
  if (x.dtype != NEF_BFLOAT16 && x.dtype != NEF_FLOAT16) return false;
  if (node.op == NEF_OP_GEMM) return nef_attr_int(node.attrs(), NEF_GEMM_TRANS_A, 0) == 0;
  if (node.op == NEF_OP_FUSED_MATMUL) {
    return nef_attr_int(node.attrs(), NEF_FUSED_MATMUL_TRANS_A, 0) == 0;
  }
  return true;
}

// The same with packed weights: 4 or 8 bits, the middle standing for zero, or float8_e4m3fn (whose
// sums stay within 16-bit floats), in blocks whose scales the copy engine takes (16 bytes).
bool is_packed_product(const Region& region, const Node& node) {
  if (node.op != NEF_OP_MATMUL_NBITS) return false;
  if (node.has_input(3) || node.has_input(4) || node.has_input(5)) return false;
  const Value& x = region.input(node, 0);
  const int64_t bits = nef_attr_int(node.attrs(), NEF_MATMUL_NBITS_BITS, 4);
  const int64_t block = nef_attr_int(node.attrs(), NEF_MATMUL_NBITS_BLOCK_SIZE, 0);
  const int64_t most = bits == 8 ? kMostBlock : GemvParts::kLeastBlock;
  return region.input(node, 1).dtype != NEF_FLOAT8_E5M2 && is_narrow(x.dtype) &&
         region.input(node, 2).dtype == x.dtype &&
         region.input(node, 1).kind == NEF_VALUE_CONSTANT &&
         region.input(node, 2).kind == NEF_VALUE_CONSTANT && (bits == 4 || bits == 8) &&
         block >= GemvParts::kLeastBlock && block <= most &&
         nef_attr_int(node.attrs(), NEF_MATMUL_NBITS_K, 0) % (8 * block) == 0;
}

// What a product with a constant sums over, how wide its result is, and how a weight is stored.
struct Extent {
  int64_t k, n, bits;
  int64_t block = GemvParts::kLeastBlock;
  bool float8 = false;
  bool operator==(const Extent&) const = default;
};

// Normalises the last axis with a constant scale.
bool is_row_norm(const Region& region, const Node& node) {
  if (node.op != NEF_OP_RMS_NORMALIZATION || region.input(node, 0).dtype != NEF_BFLOAT16) {
    return false;
  }
  const Value& x = region.input(node, 0);
  const Value& scale = region.input(node, 1);
  const int64_t axis = nef_attr_int(node.attrs(), NEF_RMS_NORMALIZATION_AXIS, -1);
  return front_axis(axis, x.rank()) == x.rank() - 1 && scale.kind == NEF_VALUE_CONSTANT &&
         scale.rank() == 1 && scale.dtype == x.dtype;
}

}  // namespace

bool is_turned(const Node& node) {
  if (node.op == NEF_OP_MATMUL) return true;
  const unsigned slot =
      node.op == NEF_OP_GEMM ? unsigned{NEF_GEMM_TRANS_B} : unsigned{NEF_FUSED_MATMUL_TRANS_B};
  return nef_attr_int(node.attrs(), slot, 0) == 0;
}

bool match_gemv(const Region& region, GemvParts& parts) {
  for (const Node& node : region.nodes) {
    if (is_weight_product(region, node) || is_packed_product(region, node)) {
      parts.products.push_back(&node);
    } else if (is_row_norm(region, node)) {
      if (parts.norm != nullptr) return false;
      parts.norm = &node;
    } else if (is_elementwise(node.op)) parts.tail.push_back(&node);
    else return false;
    for (int32_t v : node.outputs) {
      if (v >= 0 && region.values[static_cast<size_t>(v)].kind == NEF_VALUE_OUTPUT) parts.out = v;
    }
  }
  if (parts.products.empty() || parts.products.size() > 2 || parts.out < 0) return false;
  const Node& first = *parts.products[0];
  parts.x = first.inputs[0];
  const auto extent = [&](const Node& p) -> Extent {
    if (p.op == NEF_OP_MATMUL_NBITS) {
      return {nef_attr_int(p.attrs(), NEF_MATMUL_NBITS_K, 0),
              nef_attr_int(p.attrs(), NEF_MATMUL_NBITS_N, 0),
              nef_attr_int(p.attrs(), NEF_MATMUL_NBITS_BITS, 4),
              nef_attr_int(p.attrs(), NEF_MATMUL_NBITS_BLOCK_SIZE, 0),
              is_float8(region.input(p, 1).dtype)};
    }
    const Value& w = region.input(p, 1);
    return is_turned(p) ? Extent{w.dims[0], w.dims[1], 16} : Extent{w.dims[1], w.dims[0], 16};
  };
  const Extent all = extent(first);
  parts.k = all.k;
  parts.n = all.n;
  parts.bits = all.bits;
  parts.block = all.block;
  parts.float8 = all.float8;
  if (parts.k <= 0 || parts.n <= 0 || parts.k % 8 != 0) return false;
  for (const Node* p : parts.products) {
    if (p->inputs[0] != parts.x || !(extent(*p) == all)) return false;
  }
  const auto reads = [&](const Node& node, int32_t v) {
    return std::find(node.inputs.begin(), node.inputs.end(), v) != node.inputs.end();
  };
  if (parts.norm != nullptr) {
    if (parts.norm->outputs[0] != parts.x) return false;
    const int32_t normed = parts.x;
    parts.x = parts.norm->inputs[0];
    for (const Node* n : parts.tail) {
      if (reads(*n, normed)) return false;
    }
  }
  // Rows of x: its last axis is the sum's.
  const Value& x = region.values[static_cast<size_t>(parts.x)];
  if (x.kind == NEF_VALUE_INTERNAL || x.dims.back() != parts.k) return false;
  return true;
}

}  // namespace nef::gpu
