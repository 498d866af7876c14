// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/product_parts.h"

#include <algorithm>

namespace nef::gpu {
namespace {

bool plain(const Node& node, bool* trans_b) {
  const int64_t* attrs = node.attrs();
  if (!is_product(node.op) || node.has_input(2)) return false;
  if (node.op == NEF_OP_MATMUL) return true;
  if (node.op == NEF_OP_GEMM) {
    *trans_b = nef_attr_int(attrs, NEF_GEMM_TRANS_B, 0) != 0;
    return nef_attr_int(attrs, NEF_GEMM_TRANS_A, 0) == 0 &&
           nef_attr_float(attrs, NEF_GEMM_ALPHA, 1) == 1;
  }
  *trans_b = nef_attr_int(attrs, NEF_FUSED_MATMUL_TRANS_B, 0) != 0;
  return nef_attr_int(attrs, NEF_FUSED_MATMUL_TRANS_A, 0) == 0 &&
         nef_attr_float(attrs, NEF_FUSED_MATMUL_ALPHA, 1) == 1;
}

}  // namespace

bool ProductParts::match(const Region& region) {
  for (const Node& node : region.nodes) {
    if (is_product(node.op)) {
      if (product != nullptr) return false;
      product = &node;
    } else if (is_elementwise(node.op)) tail.push_back(&node);
    else return false;
    for (int32_t v : node.outputs) {
      if (v < 0 || region.values[static_cast<size_t>(v)].kind != NEF_VALUE_OUTPUT) continue;
      if (out >= 0) return false;
      out = v;
    }
  }
  bool trans_b = false;
  if (product == nullptr || out < 0 || !plain(*product, &trans_b)) return false;
  const Value &a = region.input(*product, 0), &b = region.input(*product, 1);
  dtype = a.dtype;
  if (b.dtype != dtype || region.values[static_cast<size_t>(out)].dtype != dtype) return false;
  if (a.kind == NEF_VALUE_INTERNAL || b.kind == NEF_VALUE_INTERNAL) return false;
  if (a.rank() < 2 || b.rank() != 2) return false;
  k = b.dims[trans_b ? 1 : 0];
  n = b.dims[trans_b ? 0 : 1];
  by_sum = !trans_b;
  return k != NEF_DIM_UNKNOWN && n != NEF_DIM_UNKNOWN && k > 0 && n > 0;
}

int64_t ProductParts::known_rows(const Region& region) const {
  const auto& dims = region.input(*product, 0).dims;
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < dims.size(); ++d) {
    if (dims[d] == NEF_DIM_UNKNOWN) return -1;
    rows *= dims[d];
  }
  return rows;
}

bool ProductParts::has_functions() const {
  return std::any_of(tail.begin(), tail.end(),
                     [](const Node* node) { return node->op != NEF_OP_ADD; });
}

int32_t ProductParts::same(const Region& region, const ElementwiseText& text) const {
  const Value& y = region.values[static_cast<size_t>(out)];
  for (int32_t v : text.inputs) {
    const Value& x = region.values[static_cast<size_t>(v)];
    if (v != made() && x.rank() == y.rank() && x.dims == y.dims) return v;
  }
  return -1;
}

bool ProductParts::fits(const Values& values, const ElementwiseText& text, int32_t same) const {
  const Dims a = values.dims(product->inputs[0]), y = values.dims(out);
  const int64_t rows = a.count(0, a.rank - 1);
  if (y.count() != rows * n || y.at[y.rank - 1] != n) return false;
  return std::all_of(text.inputs.begin(), text.inputs.end(), [&](int32_t v) {
    if (v == made()) return true;
    const Dims d = values.dims(v);
    if (v == same) return d.rank == y.rank && std::equal(d.at, d.at + d.rank, y.at);
    const int64_t count = d.count();
    return count == 1 || (count == n && d.at[d.rank - 1] == n);
  });
}

void add_matrix(const Run& run, Params& p, nef_dtype dtype, const void* data, int64_t rows,
                int64_t columns, int64_t box_rows, int64_t box_columns) {
  Tiles t;
  t.dtype = dtype;
  t.data = data;
  t.columns = static_cast<uint32_t>(box_columns);
  t.rows = static_cast<uint32_t>(box_rows);
  const int64_t dims[4] = {columns, rows, 1, 1};
  const int64_t steps[4] = {1, columns, columns * rows, columns * rows};
  std::copy(dims, dims + 4, t.dims);
  std::copy(steps, steps + 4, t.steps);
  for (uint64_t word : run.device.tile_map(t).words) p.add(static_cast<int64_t>(word));
}

}  // namespace nef::gpu
