// SPDX-License-Identifier: Apache-2.0
// Products of float8 tensors with one scale each, as tensor cores take them: two DequantizeLinear
// and the product of their results.
#include "backends/gpu/stage.h"

namespace nef::gpu {
namespace {

constexpr int64_t kUnit = 16;  // what sizes and addresses must be multiples of
constexpr size_t kScaleBytes = 256;

// A DequantizeLinear of a float8 tensor by one number.
bool is_scaled(const Region& region, const Node& node) {
  if (node.op != NEF_OP_DEQUANTIZE_LINEAR || node.has_input(2)) return false;
  const Value& scale = region.input(node, 1);
  const bool one = scale.rank() == 0 || (scale.rank() == 1 && scale.dims[0] == 1);
  return one && is_float8(region.input(node, 0).dtype) &&
         nef_attr_int(node.attrs(), NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE, 0) == 0;
}

struct Parts {
  const Node *a = nullptr, *b = nullptr, *product = nullptr;
  bool trans_b = false;
};

bool is_plain(const Node& product, bool* trans_b) {
  const int64_t* attrs = product.attrs();
  if (product.has_input(2)) return false;
  if (product.op == NEF_OP_MATMUL) return true;
  if (product.op == NEF_OP_GEMM) {
    *trans_b = nef_attr_int(attrs, NEF_GEMM_TRANS_B, 0) != 0;
    return nef_attr_int(attrs, NEF_GEMM_TRANS_A, 0) == 0 &&
           nef_attr_float(attrs, NEF_GEMM_ALPHA, 1) == 1;
  }
  *trans_b = nef_attr_int(attrs, NEF_FUSED_MATMUL_TRANS_B, 0) != 0;
  return nef_attr_int(attrs, NEF_FUSED_MATMUL_TRANS_A, 0) == 0 &&
         nef_attr_float(attrs, NEF_FUSED_MATMUL_ALPHA, 1) == 1;
}

bool matches(const Region& region, Parts& parts) {
  if (region.nodes.size() != 3) return false;
  const Node& product = region.nodes[2];
  if (!is_product(product.op) || !is_plain(product, &parts.trans_b)) return false;
  parts.product = &product;
  for (size_t i : {0, 1}) {
    const Node& node = region.nodes[i];
    if (!is_scaled(region, node)) return false;
    if (node.outputs[0] == product.inputs[0]) parts.a = &node;
    if (node.outputs[0] == product.inputs[1]) parts.b = &node;
  }
  if (parts.a == nullptr || parts.b == nullptr || parts.a == parts.b) return false;
  const Value &a = region.input(*parts.a, 0), &b = region.input(*parts.b, 0);
  const bool served = a.dtype == NEF_FLOAT8_E4M3FN || b.dtype == NEF_FLOAT8_E4M3FN;
  // What is added up in less than float32 is exact enough for results of 16 bits only.
  const nef_dtype y = region.output(product, 0).dtype;
  const bool rounds = is_narrow(y) || (y == NEF_FLOAT32 && region.precision == NEF_PRECISION_FAST);
  return served && rounds && a.rank() >= 2 && b.rank() == 2;
}

constexpr const char* kText = R"device(
struct ScaleP { f32* o; const $A$* a; const $B$* b; };
NEF_KERNEL(joined_scale, ScaleP) {
  if (thread_id() == 0) p.o[0] = f32(ld(p.a[0])) * f32(ld(p.b[0]));
}
)device";

class Float8Product : public Stage {
 public:
  Float8Product(const Region& region, const Parts& parts) : parts_(parts) {
    source_ = fill(kText, {{"A", memory_type(region.input(*parts.a, 1).dtype)},
                           {"B", memory_type(region.input(*parts.b, 1).dtype)}}) +
              strided_copy_source(1);
  }

  std::string source() const override { return source_; }
  const char* name() const override { return "float8 product"; }

  bool takes(const Values& values) const override {
    const Gemm g = sizes(values);
    return g.m > 0 && g.n > 0 && g.k > 0 && g.n % kUnit == 0 && g.k % kUnit == 0;
  }
  // The scale, and b by its columns.
  size_t scratch_bytes(const Values& values) const override {
    const Gemm g = sizes(values);
    return kScaleBytes + (parts_.trans_b ? 0 : static_cast<size_t>(g.n * g.k));
  }

  void launch(const Run& run, Module* module) const override {
    const Values& values = run.values;
    Gemm g = sizes(values);
    Params p;
    p.add(run.scratch).add(values.data(parts_.a->inputs[1])).add(values.data(parts_.b->inputs[1]));
    run.launch(*module, "joined_scale", {1, 1, 32}, p);
    g.scale = run.scratch;
    g.a = values.data(parts_.a->inputs[0]);
    g.b = values.data(parts_.b->inputs[0]);
    if (!parts_.trans_b) {
      Walk turn;
      turn.dims.rank = 2;
      turn.dims.at[0] = g.n;
      turn.dims.at[1] = g.k;
      Dims from = turn.dims;
      from.at[0] = 1;
      from.at[1] = g.n;
      turn.steps = {dense_steps(turn.dims), from};
      char* by_columns = run.scratch + kScaleBytes;
      launch_strided_copy(run, *module, turn, by_columns, values.data(parts_.b->inputs[0]), 1);
      g.b = by_columns;
    }
    g.d = values.data(parts_.product->outputs[0]);
    run.device.gemm(g, run.stream);
  }

 private:
  Gemm sizes(const Values& values) const {
    const Dims a = values.dims(parts_.a->inputs[0]), b = values.dims(parts_.b->inputs[0]);
    Gemm g;
    g.dtype = values.dtype(parts_.product->outputs[0]);
    g.a_dtype = values.dtype(parts_.a->inputs[0]);
    g.b_dtype = values.dtype(parts_.b->inputs[0]);
    g.k = g.lda = g.ldb = a.at[a.rank - 1];
    g.m = a.count(0, a.rank - 1);
    g.n = g.ldd = b.at[parts_.trans_b ? 0 : 1];
    g.trans_b = true;
    return g;
  }

  const Parts parts_;
  std::string source_;
};

}  // namespace

std::unique_ptr<Stage> float8_product_stage(const Region& region, const DeviceInfo& device) {
  Parts parts;
  if (!device.float8_products || !matches(region, parts)) return nullptr;
  return std::make_unique<Float8Product>(region, parts);
}

}  // namespace nef::gpu
