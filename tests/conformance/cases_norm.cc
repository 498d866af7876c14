// SPDX-License-Identifier: Apache-2.0
// Cases of the normalizations.
#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

Tolerance tolerance_for(nef_dtype t) {
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  return narrow ? Tolerance{1, 1} : Tolerance{16, 1};
}

Dims tail(const Dims& dims, int64_t axis) {
  const auto begin = dims.begin() + (axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  return {begin, dims.end()};
}

// Rows that break a variance taken as E[x^2] - E[x]^2, or sums of squares in 16 bits.
std::vector<Tensor> hard_rows(nef_dtype t) {
  std::vector<Tensor> out;
  const double top = t == NEF_FLOAT16 ? 30000 : 1e6;
  for (double constant : {1234.0, 1e-6, 0.0, top}) {
    out.push_back(values(t, {2, 256}, std::vector<double>(512, constant)));
  }
  std::vector<double> near;
  for (int i = 0; i < 512; ++i) near.push_back((t == NEF_FLOAT16 ? 2000 : 40000) + i % 4);
  if (t != NEF_BFLOAT16) out.push_back(values(t, {2, 256}, near));
  std::vector<double> large;
  for (int i = 0; i < 8192; ++i) large.push_back(i % 2 == 0 ? 8000 : -8000);
  out.push_back(values(t, {2, 4096}, large));
  return out;
}

struct RowShape {
  Dims dims;
  int64_t axis;
};
const std::vector<RowShape> kRows = {
    {{4, 17}, -1},  {{3, 64}, 1},      {{1, 1}, -1},   {{5, 67}, -1},   {{2, 3, 5, 7}, 2},
    {{2, 3, 5}, 0}, {{2, 3, 384}, -1}, {{0, 8}, -1},   {{3, 1030}, -1}, {{67}, 0},
    {{9, 768}, -1}, {{2, 520}, -1},    {{17, 1024}, 1}};

void add_layer_norm(CaseList& out) {
  const nef_op op = NEF_OP_LAYER_NORMALIZATION;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const RowShape& s : kRows) {
      const auto words = attrs(op).set_int(NEF_LAYER_NORMALIZATION_AXIS, s.axis).build();
      const Tensor x = make(t, s.dims, Fill::Small, 1),
                   scale = make(t, tail(s.dims, s.axis), Fill::Unit, 2);
      const Tensor bias = make(t, tail(s.dims, s.axis), Fill::Unit, 3);
      const std::string name = dims_name(s.dims) + "_axis" + std::to_string(s.axis);
      out.push_back(single(name, op, {x, scale, bias}, words, tolerance_for(t)));
      out.push_back(single(name + "_no_bias", op, {x, scale}, words, tolerance_for(t)));
      out.push_back(single(name + "_moments", op, {x, scale, bias}, words, tolerance_for(t), 3));
    }
    int i = 0;
    for (Tensor& x : hard_rows(t)) {
      const Dims row = {x.dims[1]};
      // Near-constant rows divide rounding errors by a tiny deviation: judged by magnitude.
      out.push_back(single("hard_" + std::to_string(i++), op,
                           {std::move(x), make(t, row, Fill::Unit, 2), make(t, row, Fill::Unit, 3)},
                           attrs(op).build(), {tolerance_for(t).ulps, 40}));
    }
    out.push_back(single(
        "epsilon_3x8", op, {make(t, {3, 8}, Fill::Small, 1), make(t, {8}, Fill::Unit, 2)},
        attrs(op).set_float(NEF_LAYER_NORMALIZATION_EPSILON, 0.25).build(), tolerance_for(t)));
  }
}

void add_rms_norm(CaseList& out) {
  const nef_op op = NEF_OP_RMS_NORMALIZATION;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const RowShape& s : kRows) {
      const auto words = attrs(op).set_int(NEF_RMS_NORMALIZATION_AXIS, s.axis).build();
      out.push_back(
          single(dims_name(s.dims) + "_axis" + std::to_string(s.axis), op,
                 {make(t, s.dims, Fill::Small, 1), make(t, tail(s.dims, s.axis), Fill::Unit, 2)},
                 words, tolerance_for(t)));
    }
    int i = 0;
    for (Tensor& x : hard_rows(t)) {
      const Dims row = {x.dims[1]};
      out.push_back(single("hard_" + std::to_string(i++), op,
                           {std::move(x), make(t, row, Fill::Unit, 2)}, attrs(op).build(),
                           tolerance_for(t)));
    }
  }
  // The result has the dtype of scale.
  for (const auto& [x, scale] :
       {std::pair{NEF_FLOAT16, NEF_FLOAT32}, {NEF_FLOAT32, NEF_BFLOAT16}}) {
    out.push_back(single("scale_dtype", op,
                         {make(x, {3, 40}, Fill::Small, 1), make(scale, {40}, Fill::Unit, 2)},
                         attrs(op).build(), tolerance_for(scale)));
  }
}

const std::vector<Dims> kImages = {{2, 6, 5, 7},    {1, 6, 1, 1}, {3, 6, 11},
                                   {2, 6, 3, 2, 4}, {0, 6, 3},    {1, 12, 17, 16}};

void add_channel_norm(nef_op op, CaseList& out) {
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const Dims& dims : kImages) {
      const Dims c = {dims[1]};
      const Tensor x = make(t, dims, Fill::Small, 1), scale = make(t, c, Fill::Unit, 2),
                   bias = make(t, c, Fill::Unit, 3);
      if (op == NEF_OP_BATCH_NORMALIZATION) {
        out.push_back(
            single(dims_name(dims), op,
                   {x, scale, bias, make(t, c, Fill::Unit, 4), make(t, c, Fill::Positive, 5)},
                   attrs(op).build(), {tolerance_for(t).ulps, 4}));
      } else if (op == NEF_OP_GROUP_NORMALIZATION) {
        for (int64_t groups : {1, 2, 6}) {
          out.push_back(
              single(dims_name(dims) + "_groups" + std::to_string(groups), op, {x, scale, bias},
                     attrs(op).set_int(NEF_GROUP_NORMALIZATION_NUM_GROUPS, groups).build(),
                     tolerance_for(t)));
        }
      } else {
        out.push_back(
            single(dims_name(dims), op, {x, scale, bias}, attrs(op).build(), tolerance_for(t)));
      }
    }
  }
}

void add_lrn(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_LRN)) {
    for (const Dims& dims : kImages) {
      for (int64_t size : {1, 2, 3, 5, 20}) {
        out.push_back(single(
            dims_name(dims) + "_size" + std::to_string(size), NEF_OP_LRN,
            {make(t, dims, Fill::Small)},
            attrs(NEF_OP_LRN).set_int(NEF_LRN_SIZE, size).set_float(NEF_LRN_ALPHA, 0.5).build(),
            tolerance_for(t)));
      }
    }
  }
}

void add_lp(CaseList& out) {
  const nef_op op = NEF_OP_LP_NORMALIZATION;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const RowShape& s : kRows) {
      for (int64_t p : {1, 2}) {
        const auto words = attrs(op)
                               .set_int(NEF_LP_NORMALIZATION_AXIS, s.axis)
                               .set_int(NEF_LP_NORMALIZATION_P, p)
                               .build();
        out.push_back(
            single(dims_name(s.dims) + "_axis" + std::to_string(s.axis) + "_p" + std::to_string(p),
                   op, {make(t, s.dims, Fill::Small)}, words, tolerance_for(t)));
      }
    }
    out.push_back(single("zeros", op, {values(t, {2, 3}, {0, 0, 0, 1, 2, 2})}, attrs(op).build(),
                         tolerance_for(t)));
  }
}

void add_mvn(CaseList& out) {
  const nef_op op = NEF_OP_MEAN_VARIANCE_NORMALIZATION;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const Dims& dims : {Dims{2, 3, 5, 7}, Dims{1, 3, 17, 4}}) {
      out.push_back(single(dims_name(dims), op, {make(t, dims, Fill::Small)}, attrs(op).build(),
                           tolerance_for(t)));
      for (const Dims& axes : {Dims{1}, Dims{-1}, Dims{0, 1, 2, 3}}) {
        out.push_back(single(dims_name(dims) + "_axes" + dims_name(axes), op,
                             {make(t, dims, Fill::Small)},
                             attrs(op).set_ints(NEF_MEAN_VARIANCE_NORMALIZATION_AXES, axes).build(),
                             tolerance_for(t)));
      }
    }
  }
}

}  // namespace

bool add_norm_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_LAYER_NORMALIZATION: add_layer_norm(out); return true;
    case NEF_OP_RMS_NORMALIZATION: add_rms_norm(out); return true;
    case NEF_OP_BATCH_NORMALIZATION:
    case NEF_OP_GROUP_NORMALIZATION:
    case NEF_OP_INSTANCE_NORMALIZATION: add_channel_norm(op, out); return true;
    case NEF_OP_LRN: add_lrn(out); return true;
    case NEF_OP_LP_NORMALIZATION: add_lp(out); return true;
    case NEF_OP_MEAN_VARIANCE_NORMALIZATION: add_mvn(out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
