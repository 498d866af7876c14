// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose: which way a node is computed.
#include <algorithm>

#include "backends/cpu/conv.h"
#include "backends/cpu/conv_spec.h"

namespace nef::cpu {
namespace {

class ConvKernel final : public Kernel {
 public:
  ConvKernel(const Region& region, ConvSpec spec) : values_(region), spec_(std::move(spec)) {
    name_ = spec_.amx != nullptr ? std::string("conv ") + spec_.amx->name + " bf16"
            : spec_.few          ? "conv gemm rows"
            : spec_.winograd     ? "conv winograd"
            : spec_.apart        ? "conv transpose apart"
            : spec_.transposed   ? "conv transpose gemm"
                                 : "conv gemm";
    if (!spec_.epilogue.empty()) name_ += "+" + std::to_string(spec_.epilogue.size());
  }
  const char* name() const override { return name_.c_str(); }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return prepare_conv(values_, spec_, values);
  }

 private:
  ValueTable values_;
  ConvSpec spec_;
  std::string name_;
};

ConvSpec parse_node(const Node& node) {
  const int64_t* attrs = node.attrs();
  ConvSpec spec;
  spec.transposed = node.op == NEF_OP_CONV_TRANSPOSE;
  spec.x = node.inputs[0];
  spec.w = node.inputs[1];
  if (node.has_input(2)) spec.bias = node.inputs[2];
  spec.conv_out = spec.y = node.outputs[0];
  if (!spec.transposed) {
    spec.groups = nef_attr_int(attrs, NEF_CONV_GROUP, 1);
    spec.window = WindowAttrs::read(attrs, NEF_CONV_AUTO_PAD, NEF_CONV_PADS, NEF_CONV_STRIDES,
                                    NEF_CONV_DILATIONS);
    return spec;
  }
  spec.groups = nef_attr_int(attrs, NEF_CONV_TRANSPOSE_GROUP, 1);
  spec.window = WindowAttrs::read(attrs, NEF_CONV_TRANSPOSE_AUTO_PAD, NEF_CONV_TRANSPOSE_PADS,
                                  NEF_CONV_TRANSPOSE_STRIDES, NEF_CONV_TRANSPOSE_DILATIONS);
  spec.window.output_padding = attr_ints(attrs, NEF_CONV_TRANSPOSE_OUTPUT_PADDING);
  spec.window.output_shape = nef_attr_has(attrs, NEF_CONV_TRANSPOSE_OUTPUT_SHAPE) != 0;
  return spec;
}

// Constant weights of float32, precision `fast`; so few filters or so little depth as to leave most
// of a tile empty are not worth it. By vectors, only twice as fast as float32, packing windows pays
// where many filters share them, and not where Winograd saves as much.
const AmxOps* choose_amx(const Region& region, const ConvSpec& spec, bool winograd) {
  const Value& w = region.values[spec.w];
  if (region.precision != NEF_PRECISION_FAST || spec.transposed) return nullptr;
  if (w.kind != NEF_VALUE_CONSTANT || w.dtype != NEF_FLOAT32) return nullptr;
  int64_t depth = 1;
  for (size_t d = 1; d < w.dims.size(); ++d) depth *= w.dims[d];
  const int64_t filters = w.dims[0] / spec.groups;
  const AmxOps* ops = filters >= kAmxTile && depth >= kAmxTile ? amx_ops() : nullptr;
  if (ops == nullptr || ops->tiles) return ops;
  constexpr int64_t kManyFilters = 64;
  return filters >= kManyFilters && !winograd ? ops : nullptr;
}

// Output positions of a sample; -1 where only a launch knows.
int64_t positions_of(const Region& region, const ConvSpec& spec) {
  const std::vector<int64_t>& y = region.values[spec.conv_out].dims;
  int64_t positions = 1;
  for (size_t d = 2; d < y.size(); ++d) {
    if (y[d] < 0) return -1;
    positions *= y[d];
  }
  return positions;
}

// One sample, few output positions and constant weights.
bool choose_few(const Region& region, const ConvSpec& spec) {
  const Value& w = region.values[spec.w];
  const std::vector<int64_t>& y = region.values[spec.conv_out].dims;
  if (spec.transposed || w.kind != NEF_VALUE_CONSTANT || y[0] != 1) return false;
  const int64_t positions = positions_of(region, spec);
  return positions > 0 && positions <= kMostFew && w.dims[0] / spec.groups >= kFewFilters;
}

// ConvTranspose, up to two axes, where each output position takes from one input position only.
bool choose_apart(const Region& region, const ConvSpec& spec) {
  const std::vector<int64_t>& w = region.values[spec.w].dims;
  const WindowAttrs& a = spec.window;
  const auto none = [](const std::vector<int64_t>& v) {
    return std::all_of(v.begin(), v.end(), [](int64_t x) { return x == 0; });
  };
  if (!spec.transposed || w.size() > 4 || a.same_upper || a.same_lower || a.output_shape) {
    return false;
  }
  if (!none(a.pads) || !none(a.output_padding)) return false;
  for (size_t d = 2; d < w.size(); ++d) {
    const int64_t stride = a.strides.empty() ? 1 : a.strides[d - 2];
    if (w[d] != stride || stride < 2) return false;
    if (!a.dilations.empty() && a.dilations[d - 2] != 1) return false;
  }
  return true;
}

// Constant weights [M, C, 3, 3], stride 1, enough of both.
bool choose_winograd(const Region& region, const ConvSpec& spec) {
  const Value& w = region.values[spec.w];
  const auto ones = [](const std::vector<int64_t>& v) {
    return std::all_of(v.begin(), v.end(), [](int64_t x) { return x == 1; });
  };
  if (spec.transposed || w.kind != NEF_VALUE_CONSTANT || w.dtype == NEF_FLOAT64) return false;
  if (w.dims.size() != 4 || w.dims[2] != 3 || w.dims[3] != 3) return false;
  if (!ones(spec.window.strides) || !ones(spec.window.dilations)) return false;
  const int64_t filters = w.dims[0] / spec.groups;
  if (w.dims[1] < kWinogradLeast || filters < kWinogradLeast) return false;
  // The transformed weights are larger: where they do not stay in L2, many positions must share
  // them.
  const bool heavy = w.dims[1] * filters > kWinogradHeavy;
  return !heavy || positions_of(region, spec) >= kWinogradPositions;
}

std::unique_ptr<Kernel> make_conv_kernel(const Region& region, ConvSpec spec) {
  spec.few = choose_few(region, spec);
  spec.apart = choose_apart(region, spec);
  const bool winograd = !spec.few && choose_winograd(region, spec);
  if (!spec.few) spec.amx = choose_amx(region, spec, winograd);
  spec.winograd = winograd && spec.amx == nullptr;
  return std::make_unique<ConvKernel>(region, std::move(spec));
}

std::unique_ptr<Kernel> make_conv(const Region& region, std::string*) {
  return make_conv_kernel(region, parse_node(region.nodes[0]));
}

}  // namespace

std::unique_ptr<Kernel> make_conv_epilogue(const Region& region, std::string* why) {
  ConvSpec spec = parse_node(region.nodes[0]);
  if (!parse_epilogue(region, 0, kRowDims, &spec.epilogue, why)) return nullptr;
  spec.y = region.nodes.back().outputs[0];
  return make_conv_kernel(region, std::move(spec));
}

void register_convolutions() {
  register_op(NEF_OP_CONV, make_conv);
  register_op(NEF_OP_CONV_TRANSPOSE, make_conv);
  register_pools();
  register_norm_pool();
}

}  // namespace nef::cpu
