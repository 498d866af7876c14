// SPDX-License-Identifier: Apache-2.0
// Cases of ops that sample, pool by regions, and put blocks together.
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

Tolerance half_or(nef_dtype t, double ulps) {
  return t == NEF_FLOAT16 || t == NEF_BFLOAT16 ? Tolerance{1, 0} : Tolerance{ulps, 4};
}

void add_grid_sample(CaseList& out) {
  const nef_op op = NEF_OP_GRID_SAMPLE;
  struct Shape {
    Dims x, grid;
  };
  const Shape shapes[] = {{{2, 3, 5, 7}, {2, 4, 6, 2}}, {{1, 2, 3, 4, 5}, {1, 2, 3, 2, 3}},
                          {{1, 2, 9}, {1, 13, 1}},      {{1, 1, 1, 1}, {1, 2, 2, 2}},
                          {{0, 2, 3, 3}, {0, 2, 2, 2}}, {{1, 2, 3, 3}, {1, 0, 2, 2}}};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (nef_dtype g : {NEF_FLOAT32, NEF_FLOAT16}) {
      for (const char* mode : {"linear", "nearest", "cubic"}) {
        for (const char* padding : {"zeros", "border", "reflection"}) {
          for (int64_t align : {0, 1}) {
            const auto words = attrs(op)
                                   .set_string(NEF_GRID_SAMPLE_MODE, mode)
                                   .set_string(NEF_GRID_SAMPLE_PADDING_MODE, padding)
                                   .set_int(NEF_GRID_SAMPLE_ALIGN_CORNERS, align)
                                   .build();
            for (const Shape& s : shapes) {
              Tensor grid = make(g, s.grid, Fill::Small, 2);
              out.push_back(single(std::string(mode) + "_" + padding + "_" + dims_name(s.x) +
                                       (align ? "_align" : "") + std::to_string(g),
                                   op, {make(t, s.x, Fill::Small), grid}, words, half_or(t, 4)));
            }
            // Coordinates that are no numbers, or far away.
            out.push_back(single(
                std::string("special_") + mode + "_" + padding + (align ? "_align" : "") +
                    std::to_string(g),
                op, {make(t, {1, 1, 4, 4}, Fill::Small), make(g, {1, 5, 5, 2}, Fill::Special, 3)},
                words, half_or(t, 4)));
          }
        }
      }
    }
  }
}

void add_affine_grid(CaseList& out) {
  const nef_op op = NEF_OP_AFFINE_GRID;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (int64_t align : {0, 1}) {
      const auto words = attrs(op).set_int(NEF_AFFINE_GRID_ALIGN_CORNERS, align).build();
      for (const Dims& size : {Dims{2, 3, 5, 6}, Dims{2, 1, 1, 1}, Dims{2, 1, 0, 4}}) {
        out.push_back(single(dims_name(size) + (align ? "_align" : ""), op,
                             {make(t, {2, 2, 3}, Fill::Unit), ints(size)}, words, half_or(t, 2)));
      }
      out.push_back(single(std::string("3d") + (align ? "_align" : ""), op,
                           {make(t, {1, 3, 4}, Fill::Unit), ints({1, 1, 2, 3, 4})}, words,
                           half_or(t, 2)));
    }
  }
}

void add_roi_align(CaseList& out) {
  const nef_op op = NEF_OP_ROI_ALIGN;
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor x = make(t, {2, 3, 9, 11}, Fill::Small);
    const Tensor rois =
        values(t, {4, 4}, {0, 0, 6, 5, 1.5, 2, 9, 8.25, -3, -2, 40, 30, 4, 4, 4, 4});
    for (const char* mode : {"avg", "max"}) {
      for (const char* coordinates : {"half_pixel", "output_half_pixel"}) {
        for (int64_t ratio : {0, 2}) {
          const auto words =
              attrs(op)
                  .set_string(NEF_ROI_ALIGN_MODE, mode)
                  .set_string(NEF_ROI_ALIGN_COORDINATE_TRANSFORMATION_MODE, coordinates)
                  .set_int(NEF_ROI_ALIGN_SAMPLING_RATIO, ratio)
                  .set_int(NEF_ROI_ALIGN_OUTPUT_HEIGHT, 3)
                  .set_int(NEF_ROI_ALIGN_OUTPUT_WIDTH, 2)
                  .set_float(NEF_ROI_ALIGN_SPATIAL_SCALE, 0.75)
                  .build();
          out.push_back(single(std::string(mode) + "_" + coordinates + std::to_string(ratio), op,
                               {x, rois, ints({0, 1, 1, 0})}, words, half_or(t, 4)));
        }
      }
    }
  }
  const auto words = attrs(op).build();
  const Tensor x = make(NEF_FLOAT32, {1, 1, 4, 4}, Fill::Small);
  out.push_back(single("none", op, {x, make(NEF_FLOAT32, {0, 4}, Fill::Small), ints({})}, words));
  for (const Dims& empty : {Dims{1, 1, 0, 4}, Dims{1, 1, 4, 0}}) {
    out.push_back(single("no_pixels", op,
                         {make(NEF_FLOAT32, empty, Fill::Small),
                          values(NEF_FLOAT32, {1, 4}, {0, 0, 2, 2}), ints({0})},
                         words));
  }
  for (double far : {1e30, std::numeric_limits<double>::quiet_NaN()}) {
    Case c = single("far_" + std::to_string(far), op,
                    {x, values(NEF_FLOAT32, {1, 4}, {0, 0, far, 2}), ints({0})}, words);
    c.expect = NEF_OUT_OF_RANGE;
    out.push_back(std::move(c));
  }
  Case c =
      single("batch_outside", op, {x, values(NEF_FLOAT32, {1, 4}, {0, 0, 2, 2}), ints({1})}, words);
  c.expect = NEF_OUT_OF_RANGE;
  out.push_back(std::move(c));
}

void add_max_roi_pool(CaseList& out) {
  const nef_op op = NEF_OP_MAX_ROI_POOL;
  const Dims pooled = {2, 3};
  const auto words = attrs(op)
                         .set_ints(NEF_MAX_ROI_POOL_POOLED_SHAPE, pooled)
                         .set_float(NEF_MAX_ROI_POOL_SPATIAL_SCALE, 0.5)
                         .build();
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor x = make(t, {2, 2, 6, 7}, Fill::Special);
    out.push_back(single("regions", op,
                         {x, values(t, {3, 5}, {0, 0, 0, 8, 6, 1, 3, 2, 12, 12, 1, -9, 40, 3, 50})},
                         words));
    Case c = single("batch_outside", op, {x, values(t, {1, 5}, {2, 0, 0, 3, 3})}, words);
    c.expect = NEF_OUT_OF_RANGE;
    out.push_back(std::move(c));
  }
}

void add_max_unpool(CaseList& out) {
  const nef_op op = NEF_OP_MAX_UNPOOL;
  const Dims kernel = {2, 2}, strides = {2, 2};
  const auto words = attrs(op)
                         .set_ints(NEF_MAX_UNPOOL_KERNEL_SHAPE, kernel)
                         .set_ints(NEF_MAX_UNPOOL_STRIDES, strides)
                         .build();
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor x = make(t, {1, 1, 2, 2}, Fill::Small);
    Tensor at = ints({5, 7, 13, 15});
    at.dims = {1, 1, 2, 2};
    out.push_back(single("inferred", op, {x, at}, words));
    out.push_back(single("larger", op, {x, at, ints({1, 1, 5, 6})}, words));
    for (int64_t bad : {int64_t{16}, std::numeric_limits<int64_t>::min()}) {
      Tensor wrong = ints({5, 7, 13, bad});
      wrong.dims = at.dims;
      Case c = single("outside_" + std::to_string(bad), op, {x, wrong}, words);
      c.expect = NEF_OUT_OF_RANGE;
      out.push_back(std::move(c));
    }
  }
}

void add_deform_conv(CaseList& out) {
  const nef_op op = NEF_OP_DEFORM_CONV;
  const Dims pads = {1, 1, 1, 1}, strides = {2, 1};
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor x = make(t, {2, 4, 5, 6}, Fill::Unit, 1), w = make(t, {6, 2, 2, 3}, Fill::Unit, 2);
    const auto words = attrs(op)
                           .set_ints(NEF_DEFORM_CONV_PADS, pads)
                           .set_ints(NEF_DEFORM_CONV_STRIDES, strides)
                           .set_int(NEF_DEFORM_CONV_GROUP, 2)
                           .set_int(NEF_DEFORM_CONV_OFFSET_GROUP, 2)
                           .build();
    const Tensor offset = make(t, {2, 24, 3, 6}, Fill::Small, 3);
    out.push_back(single("groups", op, {x, w, offset}, words, half_or(t, 8)));
    out.push_back(
        single("mask", op,
               {x, w, offset, make(t, {6}, Fill::Unit, 4), make(t, {2, 12, 3, 6}, Fill::Unit, 5)},
               words, half_or(t, 8)));
    out.push_back(single("special", op, {x, w, make(t, {2, 24, 3, 6}, Fill::Special, 3)}, words,
                         half_or(t, 8)));
    out.push_back(single("1d", op,
                         {make(t, {1, 2, 7}, Fill::Unit), make(t, {3, 2, 3}, Fill::Unit, 2),
                          make(t, {1, 3, 5}, Fill::Unit, 3)},
                         attrs(op).build(), half_or(t, 8)));
  }
}

// One axis and three, dilation and strides; numbers whose squares float32 cannot hold, and
// specials.
void add_norm_windows(nef_dtype t, int64_t p, CaseList& out) {
  const std::string name = "_p" + std::to_string(p);
  const auto add = [&](const char* what, Tensor x, Dims kernel, Dims strides, Dims dilations) {
    out.push_back(single(what + name, NEF_OP_LP_POOL, {std::move(x)},
                         attrs(NEF_OP_LP_POOL)
                             .set_ints(NEF_LP_POOL_KERNEL_SHAPE, kernel)
                             .set_ints(NEF_LP_POOL_STRIDES, strides)
                             .set_ints(NEF_LP_POOL_DILATIONS, dilations)
                             .set_int(NEF_LP_POOL_P, p)
                             .build(),
                         half_or(t, 4)));
  };
  add("1d", make(t, {2, 2, 83}, Fill::Small), {5}, {2}, {3});
  add("2d_strides", make(t, {1, 2, 11, 90}, Fill::Small), {3, 3}, {1, 2}, {2, 1});
  add("2d_stride_3", make(t, {1, 2, 10, 61}, Fill::Small), {2, 4}, {3, 3}, {1, 2});
  add("3d", make(t, {1, 2, 4, 5, 19}, Fill::Small), {2, 3, 3}, {1, 1, 2}, {1, 1, 1});
  add("special", make(t, {1, 2, 9, 40}, Fill::Special), {2, 2}, {1, 2}, {1, 1});
  if (t == NEF_FLOAT16) return;
  std::vector<double> extreme;
  for (int i = 0; i < 40; ++i) extreme.push_back(i % 2 == 0 ? 3e25 * (i + 1) : -2e-25 * (i + 1));
  for (int i = 0; i < 40; ++i) extreme.push_back(1e-30 * (i - 20));
  add("extreme", values(t, {1, 2, 1, 40}, extreme), {1, 3}, {1, 2}, {1, 1});
}

void add_lp_pool(CaseList& out) {
  const nef_op op = NEF_OP_LP_POOL;
  const Dims kernel = {3, 2}, pads = {1, 0, 1, 1}, strides = {2, 1};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (int64_t p : {1, 2, 3}) {
      for (const char* mode : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}) {
        auto b = attrs(op);
        b.set_ints(NEF_LP_POOL_KERNEL_SHAPE, kernel)
            .set_ints(NEF_LP_POOL_STRIDES, strides)
            .set_string(NEF_LP_POOL_AUTO_PAD, mode)
            .set_int(NEF_LP_POOL_P, p);
        if (mode == std::string("NOTSET")) b.set_ints(NEF_LP_POOL_PADS, pads);
        for (const Dims& dims : {Dims{2, 3, 7, 8}, Dims{0, 2, 4, 4}, Dims{1, 2, 9, 75}}) {
          out.push_back(single(std::string(mode) + "_p" + std::to_string(p) + "_" + dims_name(dims),
                               op, {make(t, dims, Fill::Small)}, b.build(), half_or(t, 4)));
        }
      }
      add_norm_windows(t, p, out);
    }
  }
}

void add_col2im(CaseList& out) {
  const nef_op op = NEF_OP_COL2IM;
  const Dims pads = {1, 0, 1, 2}, strides = {2, 1}, dilations = {1, 2};
  for (nef_dtype t : allowed_dtypes(op)) {
    out.push_back(single("blocks", op,
                         {make(t, {1, 5, 5}, Fill::Small), ints({5, 5}), ints({1, 5})},
                         attrs(op).build(), half_or(t, 4)));
    out.push_back(single("overlap", op,
                         {make(t, {2, 12, 8}, Fill::Small), ints({6, 4}), ints({2, 3})},
                         attrs(op)
                             .set_ints(NEF_COL2IM_PADS, pads)
                             .set_ints(NEF_COL2IM_STRIDES, strides)
                             .set_ints(NEF_COL2IM_DILATIONS, dilations)
                             .build(),
                         half_or(t, 4)));
    out.push_back(single("1d", op, {make(t, {2, 6, 4}, Fill::Extreme), ints({6}), ints({3})},
                         attrs(op).build(), half_or(t, 4)));
  }
}

void add_center_crop_pad(CaseList& out) {
  const nef_op op = NEF_OP_CENTER_CROP_PAD;
  const Dims axes = {-1, 0};
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor x = make(t, {4, 5, 7}, Fill::Extreme);
    out.push_back(single("crop", op, {x, ints({3, 2, 4})}, attrs(op).build()));
    out.push_back(single("pad", op, {x, ints({7, 8, 10})}, attrs(op).build()));
    out.push_back(single("both", op, {x, ints({9, 0, 2})}, attrs(op).build()));
    out.push_back(single("axes", op, {x, ints({4, 7})},
                         attrs(op).set_ints(NEF_CENTER_CROP_PAD_AXES, axes).build()));
  }
}

}  // namespace

bool add_sampling_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_GRID_SAMPLE: add_grid_sample(out); return true;
    case NEF_OP_AFFINE_GRID: add_affine_grid(out); return true;
    case NEF_OP_ROI_ALIGN: add_roi_align(out); return true;
    case NEF_OP_MAX_ROI_POOL: add_max_roi_pool(out); return true;
    case NEF_OP_MAX_UNPOOL: add_max_unpool(out); return true;
    case NEF_OP_DEFORM_CONV: add_deform_conv(out); return true;
    case NEF_OP_LP_POOL: add_lp_pool(out); return true;
    case NEF_OP_COL2IM: add_col2im(out); return true;
    case NEF_OP_CENTER_CROP_PAD: add_center_crop_pad(out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
