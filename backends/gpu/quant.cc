// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include "backends/shared/quant.h"

#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

using backends::quant_layout;
using backends::QuantLayout;

constexpr const char* kScales = R"device(
struct P { Y* y; const X* x; const S* scale; const Z* zero; i64 n; i64 length; i64 inner; i64 block; i64 blocks; i64 per_axis; };
DEV i64 scale_of(const P& p, i64 i) {
  const i64 j = i % p.inner, at = i / p.inner % p.length, o = i / p.inner / p.length;
  if (p.block > 0) return (o * p.blocks + at / p.block) * p.inner + j;
  return p.per_axis ? at : 0;
}
)device";

std::string quantize_source(const Region& region, const Node& node) {
  const nef_dtype y = region.output(node, 0).dtype, scale = region.input(node, 1).dtype;
  const auto precision = static_cast<nef_dtype>(nef_attr_int(
      node.attrs(), NEF_QUANTIZE_LINEAR_PRECISION, is_float(scale) ? scale : NEF_FLOAT32));
  const char* rounded = precision == NEF_FLOAT16    ? "f64(Cast<f16>::of(v))"
                        : precision == NEF_BFLOAT16 ? "f64(Cast<bf16>::of(v))"
                        : precision == NEF_FLOAT64  ? "v"
                                                    : "f64(f32(v))";
  const std::string text =
      type_text("X", region.input(node, 0).dtype) + type_text("Y", y) + type_text("S", scale) +
      type_text("Z", node.has_input(2) ? region.input(node, 2).dtype : y) + kScales + R"device(
NEF_KERNEL(quantize, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 s = scale_of(p, i);
    const f64 v = f64(ld(p.x[i])) / f64(ld(p.scale[s])), q = $ROUNDED$, zero = p.zero ? f64(ld(p.zero[s])) : 0.0;
    $STORE$
  }
}
)device";
  const bool saturate = nef_attr_int(node.attrs(), NEF_QUANTIZE_LINEAR_SATURATE, 1) != 0;
  const char* store = !is_float8(y) ? "p.y[i] = saturated<Y>(q != q ? zero : rint(q) + zero);"
                      : saturate    ? "st(p.y[i], Cast<Y>::of(q + zero));"
                                    : "st(p.y[i], Cast<Y>::of(q + zero, false));";
  return fill(text.c_str(), {{"ROUNDED", rounded}, {"STORE", store}});
}

std::string dequantize_source(const Region& region, const Node& node) {
  const nef_dtype x = region.input(node, 0).dtype;
  return type_text("X", x) + type_text("Y", region.output(node, 0).dtype) +
         type_text("S", region.input(node, 1).dtype) + type_text("Z", x) + kScales + R"device(
NEF_KERNEL(dequantize, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 s = scale_of(p, i);
    st(p.y[i], (f64(ld(p.x[i])) - (p.zero ? f64(ld(p.zero[s])) : 0.0)) * f64(ld(p.scale[s])));
  }
}
)device";
}

void launch_linear(const Call& c, Module* module) {
  const Dims x = c.in();
  if (x.count() == 0) return;
  const bool quantize = c.op() == NEF_OP_QUANTIZE_LINEAR;
  const int64_t axis = quantize ? c.attr_int(NEF_QUANTIZE_LINEAR_AXIS, 1)
                                : c.attr_int(NEF_DEQUANTIZE_LINEAR_AXIS, 1);
  const int64_t block = quantize ? c.attr_int(NEF_QUANTIZE_LINEAR_BLOCK_SIZE)
                                 : c.attr_int(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE);
  const QuantLayout q = quant_layout(x.at, x.rank, c.in(1).count(), axis, block);
  Params p;
  p.add(c.to()).add(c.from()).add(c.from(1)).add(c.from(2)).add(x.count()).add(q.length);
  p.add(q.inner).add(q.block).add(q.blocks).add(int64_t{q.per_axis});
  c.launch(*module, quantize ? "quantize" : "dequantize", grid_for(x.count()), p);
}

// ---- DynamicQuantizeLinear: the range first, by blocks and then by one

constexpr int64_t kRangeBlocks = 256;

std::string dynamic_source(const Region&, const Node&) {
  return std::string(kKernelCommon) + R"device(
struct Span { f32 low, high; };
struct Join { __device__ Span operator()(Span a, Span b) const {
  return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high}; } };
struct P { u8* y; f32* scale_out; u8* zero_out; const f32* x; Span* parts; i64 n; i64 n_parts; };
NEF_KERNEL(range, P) {
  __shared__ Span shared[256];
  const Lane lane = lane_of(1, 256, true);
  Span s = {0.0f, 0.0f};
  for (i64 i = thread_id(); i < p.n; i += thread_count()) s = Join()(s, Span{p.x[i], p.x[i]});
  s = join_line(s, shared, lane, 1, 256, Join());
  if (threadIdx.x == 0) p.parts[blockIdx.x] = s;
}
// The scale, which stands behind the parts, and the zero point behind that.
NEF_KERNEL(scale, P) {
  if (thread_id() != 0) return;
  Span s = {0.0f, 0.0f};
  for (i64 i = 0; i < p.n_parts; ++i) s = Join()(s, p.parts[i]);
  Span out = {1.0f, 0.0f};
  const f32 range = s.high - s.low;
  if (range > 0 && range - range == 0) {
    const f32 scale = range / 255.0f;
    if (scale != 0) {
      const f32 zero = (0.0f - s.low) / scale;
      out = {scale, rintf(zero < 0 ? 0.0f : zero > 255 ? 255.0f : zero)};
    }
  }
  p.parts[p.n_parts] = out;
  if (p.scale_out) p.scale_out[0] = out.low;
  if (p.zero_out) p.zero_out[0] = u8(out.high);
}
NEF_KERNEL(apply, P) {
  const Span s = p.parts[p.n_parts];
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const f64 q = f64(f32(f64(p.x[i]) / f64(s.low))), zero = f64(s.high);
    p.y[i] = saturated<u8>(q != q ? zero : rint(q) + zero);
  }
}
)device";
}

size_t dynamic_scratch(const Call&) { return (kRangeBlocks + 1) * 8; }

void launch_dynamic(const Call& c, Module* module) {
  const int64_t n = c.in().count(), parts = std::min(kRangeBlocks, grid_for(n).x);
  Params p;
  p.add(c.to(0)).add(c.to(1)).add(c.to(2)).add(c.from()).add(c.scratch()).add(n).add(parts);
  c.launch(*module, "range", {parts, 1, 256}, p);
  c.launch(*module, "scale", {1, 1, 32}, p);
  if (n > 0 && c.wants(0)) c.launch(*module, "apply", grid_for(n), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_QUANTIZE_LINEAR, "quantize", quantize_source, launch_linear},
    {NEF_OP_DEQUANTIZE_LINEAR, "dequantize", dequantize_source, launch_linear},
    {NEF_OP_DYNAMIC_QUANTIZE_LINEAR, "quantize", dynamic_source, launch_dynamic, dynamic_scratch},
};

}  // namespace

std::span<const OpKernel> quant_kernels() { return kKernels; }

}  // namespace nef::gpu
