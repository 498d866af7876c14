// SPDX-License-Identifier: Apache-2.0
// Cases of Conv, ConvTranspose and the pools.
#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

Tolerance sum_tolerance(nef_dtype t, int64_t terms) {
  if (!is_float(t)) return {};
  if (t == NEF_FLOAT16 || t == NEF_BFLOAT16) return {1, 1};
  return {4, 1 + 0.25 * static_cast<double>(terms)};
}

struct ConvShape {
  const char* name;
  Dims x, w;
  Dims strides, pads, dilations;
  int64_t group = 1;
  const char* auto_pad = "NOTSET";
};
const std::vector<ConvShape> kConvs = {
    {"1d", {2, 3, 17}, {4, 3, 3}, {}, {}, {}},
    {"1d_stride_pad", {1, 2, 20}, {3, 2, 5}, {3}, {2, 1}, {}},
    {"1x1", {2, 7, 5, 6}, {9, 7, 1, 1}, {}, {}, {}},
    {"3x3", {1, 4, 9, 11}, {5, 4, 3, 3}, {}, {1, 1, 1, 1}, {}},
    {"3x3_stride2", {2, 3, 10, 13}, {8, 3, 3, 3}, {2, 2}, {1, 0, 1, 2}, {}},
    {"5x2_dilated", {1, 3, 14, 12}, {4, 3, 5, 2}, {1, 2}, {2, 0, 2, 1}, {2, 3}},
    {"grouped", {2, 6, 7, 7}, {4, 3, 3, 3}, {}, {1, 1, 1, 1}, {}, 2},
    {"depthwise", {1, 8, 9, 9}, {8, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, 8},
    {"depthwise_stride2", {2, 5, 8, 9}, {10, 1, 3, 3}, {2, 2}, {0, 1, 1, 0}, {}, 5},
    {"same_upper", {1, 2, 7, 8}, {3, 2, 2, 3}, {2, 3}, {}, {}, 1, "SAME_UPPER"},
    {"same_lower", {1, 2, 7, 8}, {3, 2, 2, 3}, {2, 3}, {}, {}, 1, "SAME_LOWER"},
    {"valid", {1, 2, 7, 8}, {3, 2, 2, 3}, {2, 3}, {}, {}, 1, "VALID"},
    {"3d", {1, 2, 5, 4, 6}, {3, 2, 2, 3, 2}, {}, {}, {}},
    {"wide", {1, 32, 12, 12}, {40, 32, 3, 3}, {}, {1, 1, 1, 1}, {}},
    {"kernel_is_image", {2, 3, 4, 4}, {5, 3, 4, 4}, {}, {}, {}},
    {"empty_batch", {0, 3, 4, 4}, {5, 3, 2, 2}, {}, {}, {}},
    {"pad_over_kernel", {1, 1, 3, 3}, {1, 1, 2, 2}, {}, {3, 3, 3, 3}, {}},
};

template <typename Slots>
std::vector<int64_t> window_attrs(nef_op op, const ConvShape& s, const Slots& slots) {
  auto b = attrs(op);
  b.set_string(slots.auto_pad, s.auto_pad);
  if (!s.strides.empty()) b.set_ints(slots.strides, s.strides);
  if (!s.pads.empty()) b.set_ints(slots.pads, s.pads);
  if (!s.dilations.empty()) b.set_ints(slots.dilations, s.dilations);
  if (s.group != 1) b.set_int(slots.group, s.group);
  return b.build();
}
struct Slots {
  unsigned auto_pad, strides, pads, dilations, group;
};
constexpr Slots kConvSlots = {NEF_CONV_AUTO_PAD, NEF_CONV_STRIDES, NEF_CONV_PADS,
                              NEF_CONV_DILATIONS, NEF_CONV_GROUP};

int64_t terms_of(const Tensor& w) { return w.dims[0] == 0 ? 0 : w.count() / w.dims[0]; }

void add_conv(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_CONV)) {
    for (const ConvShape& s : kConvs) {
      const auto words = window_attrs(NEF_OP_CONV, s, kConvSlots);
      const Tensor x = make(t, s.x, Fill::Unit, 1), w = make(t, s.w, Fill::Unit, 2);
      const Tolerance tolerance = sum_tolerance(t, terms_of(w));
      out.push_back(single(s.name, NEF_OP_CONV, {x, w}, words, tolerance));
      out.push_back(single(std::string(s.name) + "_bias", NEF_OP_CONV,
                           {x, w, make(t, {s.w[0]}, Fill::Unit, 3)}, words, tolerance));
    }
  }
  // out = ceil(in / stride) for the SAME modes, whatever the kernel.
  for (int64_t in = 5; in <= 8; ++in) {
    for (int64_t k = 2; k <= 4; ++k) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
          const ConvShape s{"", {1, 1, in}, {1, 1, k}, {stride}, {}, {}, 1, mode};
          out.push_back(
              single(std::string(mode) + "_" + dims_name({in, k, stride}), NEF_OP_CONV,
                     {make(NEF_FLOAT32, s.x, Fill::Unit, 1), make(NEF_FLOAT32, s.w, Fill::Unit, 2)},
                     window_attrs(NEF_OP_CONV, s, kConvSlots), {4, 2}));
        }
      }
    }
  }
}

void add_conv_transpose(CaseList& out) {
  const nef_op op = NEF_OP_CONV_TRANSPOSE;
  const std::vector<ConvShape> shapes = {
      {"1d", {2, 3, 7}, {3, 4, 3}, {}, {}, {}},
      {"2d", {1, 3, 5, 4}, {3, 2, 3, 3}, {}, {}, {}},
      {"stride2_pad", {1, 4, 5, 6}, {4, 3, 3, 2}, {2, 3}, {1, 0, 0, 1}, {}},
      {"dilated", {1, 2, 4, 5}, {2, 3, 2, 3}, {1, 2}, {}, {2, 2}},
      {"apart", {2, 6, 5, 19}, {6, 2, 2, 2}, {2, 2}, {}, {}, 2},
      {"apart_uneven", {1, 3, 4, 9}, {3, 5, 3, 4}, {3, 4}, {}, {}},
      {"apart_1d", {2, 3, 40}, {3, 2, 2}, {2}, {}, {}},
      {"grouped", {2, 6, 4, 4}, {6, 2, 3, 3}, {2, 2}, {}, {}, 3},
      {"depthwise", {1, 5, 4, 4}, {5, 1, 2, 2}, {2, 2}, {}, {}, 5},
      {"same_upper", {1, 2, 4, 5}, {2, 3, 3, 3}, {2, 2}, {}, {}, 1, "SAME_UPPER"},
      {"same_lower", {1, 2, 4, 5}, {2, 3, 3, 3}, {2, 2}, {}, {}, 1, "SAME_LOWER"},
      {"3d", {1, 2, 3, 3, 2}, {2, 2, 2, 2, 2}, {2, 1, 2}, {}, {}},
  };
  constexpr Slots slots = {NEF_CONV_TRANSPOSE_AUTO_PAD, NEF_CONV_TRANSPOSE_STRIDES,
                           NEF_CONV_TRANSPOSE_PADS, NEF_CONV_TRANSPOSE_DILATIONS,
                           NEF_CONV_TRANSPOSE_GROUP};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const ConvShape& s : shapes) {
      const Tensor x = make(t, s.x, Fill::Unit, 1), w = make(t, s.w, Fill::Unit, 2);
      const Tolerance tolerance = sum_tolerance(t, w.count());
      out.push_back(single(s.name, op, {x, w}, window_attrs(op, s, slots), tolerance));
      out.push_back(single(std::string(s.name) + "_bias", op,
                           {x, w, make(t, {s.w[1] * s.group}, Fill::Unit, 3)},
                           window_attrs(op, s, slots), tolerance));
    }
    const Tensor x = make(t, {1, 2, 3, 3}, Fill::Unit, 1), w = make(t, {2, 2, 3, 3}, Fill::Unit, 2);
    const Dims strides = {3, 2}, padding = {1, 1}, shape = {10, 8};
    out.push_back(single("output_padding", op, {x, w},
                         attrs(op)
                             .set_ints(NEF_CONV_TRANSPOSE_STRIDES, strides)
                             .set_ints(NEF_CONV_TRANSPOSE_OUTPUT_PADDING, padding)
                             .build(),
                         sum_tolerance(t, 36)));
    out.push_back(single("output_shape", op, {x, w},
                         attrs(op)
                             .set_ints(NEF_CONV_TRANSPOSE_STRIDES, strides)
                             .set_ints(NEF_CONV_TRANSPOSE_OUTPUT_SHAPE, shape)
                             .build(),
                         sum_tolerance(t, 36)));
  }
}

struct PoolShape {
  const char* name;
  Dims x, kernel, strides, pads, dilations;
  bool ceil = false;
  const char* auto_pad = "NOTSET";
};
const std::vector<PoolShape> kPools = {
    {"1d", {2, 3, 17}, {3}, {}, {}, {}},
    {"2x2", {1, 3, 8, 9}, {2, 2}, {2, 2}, {}, {}},
    {"3x3_pad", {2, 2, 7, 6}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}},
    {"uneven_pad", {1, 2, 6, 7}, {3, 2}, {1, 2}, {1, 0, 2, 1}, {}},
    {"ceil", {1, 2, 6, 7}, {3, 3}, {2, 2}, {}, {}, true},
    {"ceil_pad", {1, 1, 5, 6}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, true},
    {"dilated", {1, 2, 9, 9}, {3, 2}, {1, 1}, {}, {2, 3}},
    {"same_upper", {1, 2, 7, 8}, {2, 3}, {2, 2}, {}, {}, false, "SAME_UPPER"},
    {"same_lower", {1, 2, 7, 8}, {2, 3}, {2, 2}, {}, {}, false, "SAME_LOWER"},
    {"3d", {1, 2, 4, 5, 6}, {2, 3, 2}, {2, 1, 2}, {}, {}},
    {"empty", {0, 2, 4, 4}, {2, 2}, {}, {}, {}},
    {"wide", {1, 20, 16, 33}, {3, 3}, {1, 1}, {1, 1, 1, 1}, {}},
    {"stretches", {1, 1, 3, 4300}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}},
    {"stretches_stride1", {1, 1, 2, 2070}, {2, 5}, {1, 1}, {0, 3, 0, 2}, {}},
    {"stride3", {1, 2, 9, 50}, {2, 4}, {3, 3}, {0, 1, 0, 1}, {}},
    {"dilated_stride2", {1, 2, 9, 45}, {3, 3}, {2, 2}, {2, 2, 2, 2}, {2, 3}},
    {"column", {1, 2, 70, 1}, {3, 1}, {2, 1}, {1, 0, 1, 0}, {}},
};
struct PoolSlots {
  unsigned auto_pad, ceil_mode, dilations, kernel_shape, pads, strides;
};

ir::AttrBuilder pool_attrs(nef_op op, const PoolShape& s, const PoolSlots& slots) {
  auto b = attrs(op);
  b.set_string(slots.auto_pad, s.auto_pad)
      .set_int(slots.ceil_mode, s.ceil)
      .set_ints(slots.kernel_shape, s.kernel);
  if (!s.strides.empty()) b.set_ints(slots.strides, s.strides);
  if (!s.pads.empty()) b.set_ints(slots.pads, s.pads);
  if (!s.dilations.empty()) b.set_ints(slots.dilations, s.dilations);
  return b;
}

void add_average_pool(CaseList& out) {
  const nef_op op = NEF_OP_AVERAGE_POOL;
  constexpr PoolSlots slots = {NEF_AVERAGE_POOL_AUTO_PAD,  NEF_AVERAGE_POOL_CEIL_MODE,
                               NEF_AVERAGE_POOL_DILATIONS, NEF_AVERAGE_POOL_KERNEL_SHAPE,
                               NEF_AVERAGE_POOL_PADS,      NEF_AVERAGE_POOL_STRIDES};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const PoolShape& s : kPools) {
      for (int64_t include : {0, 1}) {
        out.push_back(single(
            std::string(s.name) + (include ? "_include_pad" : ""), op, {make(t, s.x, Fill::Unit)},
            pool_attrs(op, s, slots).set_int(NEF_AVERAGE_POOL_COUNT_INCLUDE_PAD, include).build(),
            sum_tolerance(t, 1)));
      }
    }
  }
}

void add_max_pool(CaseList& out) {
  const nef_op op = NEF_OP_MAX_POOL;
  constexpr PoolSlots slots = {NEF_MAX_POOL_AUTO_PAD,  NEF_MAX_POOL_CEIL_MODE,
                               NEF_MAX_POOL_DILATIONS, NEF_MAX_POOL_KERNEL_SHAPE,
                               NEF_MAX_POOL_PADS,      NEF_MAX_POOL_STRIDES};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const PoolShape& s : kPools) {
      for (Fill fill : {Fill::Small, Fill::Extreme}) {
        const std::string suffix = fill == Fill::Extreme ? "_special" : "";
        out.push_back(
            single(s.name + suffix, op, {make(t, s.x, fill)}, pool_attrs(op, s, slots).build()));
        for (int64_t order : {0, 1}) {
          out.push_back(single(
              s.name + suffix + "_indices" + std::to_string(order), op, {make(t, s.x, fill)},
              pool_attrs(op, s, slots).set_int(NEF_MAX_POOL_STORAGE_ORDER, order).build(), {}, 2));
        }
      }
    }
  }
}

void add_global(nef_op op, CaseList& out) {
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const Dims& dims : {Dims{2, 3, 7}, Dims{1, 5, 6, 7}, Dims{2, 2, 3, 4, 5}, Dims{0, 3, 4},
                             Dims{1, 3, 1, 1}, Dims{2, 64, 33}}) {
      const bool mean = op == NEF_OP_GLOBAL_AVERAGE_POOL;
      out.push_back(single(dims_name(dims), op, {make(t, dims, Fill::Unit)}, {},
                           mean ? sum_tolerance(t, 1) : Tolerance{}));
      if (!mean)
        out.push_back(single(dims_name(dims) + "_special", op, {make(t, dims, Fill::Special)}));
    }
  }
}

}  // namespace

bool add_window_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_CONV: add_conv(out); return true;
    case NEF_OP_CONV_TRANSPOSE: add_conv_transpose(out); return true;
    case NEF_OP_AVERAGE_POOL: add_average_pool(out); return true;
    case NEF_OP_MAX_POOL: add_max_pool(out); return true;
    case NEF_OP_GLOBAL_AVERAGE_POOL:
    case NEF_OP_GLOBAL_MAX_POOL: add_global(op, out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
