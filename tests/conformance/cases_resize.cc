// SPDX-License-Identifier: Apache-2.0
// Cases of Resize and Einsum.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

// Coordinates that fall between two choices may go either way in float32, so nearest modes are
// tried on sizes whose coordinates are exact.
void add_modes(nef_dtype t, CaseList& out) {
  const nef_op op = NEF_OP_RESIZE;
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  const Tensor x = make(t, {1, 2, 4, 6}, Fill::Small, 1);
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    if (!is_float(t) && mode != std::string("nearest")) continue;
    const Tolerance tolerance =
        mode == std::string("nearest") ? Tolerance{} : Tolerance{narrow ? 1.0 : 32.0, 8};
    for (const char* where : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                              "align_corners", "asymmetric", "tf_half_pixel_for_nn"}) {
      auto b = attrs(op);
      b.set_string(NEF_RESIZE_MODE, mode)
          .set_string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE, where);
      const std::string name = std::string(mode) + "_" + where;
      for (const auto& [h, w] :
           {std::pair{0.5, 0.5}, {1.0, 2.0}, {2.5, 0.5}, {0.25, 1.5}, {2.0, 2.0}}) {
        out.push_back(single(name + "_scales_" + std::to_string(h) + "_" + std::to_string(w), op,
                             {x, {}, values(NEF_FLOAT32, {4}, {1, 1, h, w})}, b.build(),
                             tolerance));
      }
      for (const Dims& size : {Dims{1, 1}, Dims{2, 3}, Dims{8, 12}, Dims{7, 5}}) {
        if (mode == std::string("nearest") && size[0] == 7) continue;
        out.push_back(single(name + "_sizes_" + dims_name(size), op,
                             {x, {}, {}, ints({1, 2, size[0], size[1]})}, b.build(), tolerance));
      }
    }
  }
}

void add_variants(nef_dtype t, CaseList& out) {
  const nef_op op = NEF_OP_RESIZE;
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  const Tolerance tolerance{narrow ? 1.0 : 32.0, 8};
  const Tensor x = make(t, {1, 2, 8, 6}, Fill::Small, 1);
  for (const char* mode : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
    out.push_back(single(std::string("nearest_") + mode, op, {x, {}, {}, ints({1, 2, 4, 12})},
                         attrs(op).set_string(NEF_RESIZE_NEAREST_MODE, mode).build()));
  }
  if (!is_float(t)) return;
  for (const char* mode : {"linear", "cubic"}) {
    auto b = attrs(op);
    b.set_string(NEF_RESIZE_MODE, mode);
    out.push_back(single(std::string(mode) + "_antialias", op, {x, {}, {}, ints({1, 2, 3, 4})},
                         b.set_int(NEF_RESIZE_ANTIALIAS, 1).build(), tolerance));
    out.push_back(
        single(std::string(mode) + "_exclude_outside", op, {x, {}, {}, ints({1, 2, 5, 9})},
               b.set_int(NEF_RESIZE_ANTIALIAS, 0).set_int(NEF_RESIZE_EXCLUDE_OUTSIDE, 1).build(),
               tolerance));
  }
  const Dims axes = {3, 2};
  out.push_back(single(
      "axes", op, {x, {}, {}, ints({9, 5})},
      attrs(op).set_string(NEF_RESIZE_MODE, "linear").set_ints(NEF_RESIZE_AXES, axes).build(),
      tolerance));
  for (const char* policy : {"not_larger", "not_smaller"}) {
    out.push_back(single(policy, op, {x, {}, {}, ints({9, 13})},
                         attrs(op)
                             .set_string(NEF_RESIZE_MODE, "linear")
                             .set_ints(NEF_RESIZE_AXES, axes)
                             .set_string(NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY, policy)
                             .build(),
                         tolerance));
  }
  out.push_back(single(
      "crop", op,
      {x, values(NEF_FLOAT32, {8}, {0, 0, 0.25, -0.5, 1, 1, 0.75, 1.25}), {}, ints({1, 2, 5, 7})},
      attrs(op)
          .set_string(NEF_RESIZE_MODE, "linear")
          .set_string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE, "tf_crop_and_resize")
          .set_float(NEF_RESIZE_EXTRAPOLATION_VALUE, 10)
          .build(),
      tolerance));
}

// Lines of several pieces, windows that do and do not hold what is read, channels last, more axes
// and terms, infinities beside weights of 0.
void add_long_lines(nef_dtype t, CaseList& out) {
  const nef_op op = NEF_OP_RESIZE;
  const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
  const Tolerance tolerance{narrow ? 1.0 : 32.0, 8};
  struct Shape {
    Dims from, to;
  };
  const Shape shapes[] = {{{3, 300}, {5, 701}},
                          {{3, 700}, {5, 301}},
                          {{2, 3000}, {3, 37}},
                          {{5, 4, 3}, {9, 7, 3}},
                          {{4, 3, 70}, {3, 5, 70}},
                          {{2, 3, 2, 4}, {2, 5, 3, 7}},
                          {{1, 1, 600}, {1, 1, 600}},
                          {{7}, {1000}},
                          {{1000}, {7}},
                          {{5, 300}, {9, 300}},
                          {{4, 3, 130}, {4, 6, 130}},
                          {{4, 0, 3}, {7, 0, 5}}};
  for (const char* mode : {"linear", "cubic"}) {
    for (const Shape& s : shapes) {
      for (int64_t antialias : {0, 1}) {
        out.push_back(single(std::string(mode) + "_" + dims_name(s.from) + "_to_" +
                                 dims_name(s.to) + (antialias != 0 ? "_antialias" : ""),
                             op, {make(t, s.from, Fill::Small, 1), {}, {}, ints(s.to)},
                             attrs(op)
                                 .set_string(NEF_RESIZE_MODE, mode)
                                 .set_int(NEF_RESIZE_ANTIALIAS, antialias)
                                 .build(),
                             tolerance));
      }
    }
    Tensor x = make(t, {9, 40}, Fill::Small, 1);
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<uint8_t> special = values(t, {2}, {inf, std::nan("")}).bytes;
    const size_t size = special.size() / 2;
    std::copy_n(special.begin(), size, x.bytes.begin() + static_cast<ptrdiff_t>(17 * size));
    std::copy_n(special.begin() + static_cast<ptrdiff_t>(size), size,
                x.bytes.begin() + static_cast<ptrdiff_t>(275 * size));
    for (const char* where : {"align_corners", "asymmetric", "half_pixel"}) {
      out.push_back(single(std::string(mode) + "_special_" + where, op, {x, {}, {}, ints({17, 79})},
                           attrs(op)
                               .set_string(NEF_RESIZE_MODE, mode)
                               .set_string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE, where)
                               .build(),
                           tolerance));
    }
  }
  out.push_back(
      single("crop_long", op,
             {make(t, {5, 400}, Fill::Small, 1),
              values(NEF_FLOAT32, {4}, {-0.2, 0.25, 1.1, 1.25}),
              {},
              ints({7, 333})},
             attrs(op)
                 .set_string(NEF_RESIZE_MODE, "cubic")
                 .set_string(NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE, "tf_crop_and_resize")
                 .set_float(NEF_RESIZE_EXTRAPOLATION_VALUE, 10)
                 .build(),
             tolerance));
}

// Integers where weights are multiples of 2^-16: sums are exact, and some of them ties.
void add_doubled(nef_dtype t, CaseList& out) {
  for (const char* mode : {"linear", "cubic"}) {
    for (const Dims& from : {Dims{3, 300}, Dims{3, 5}, Dims{2, 3, 20}}) {
      Dims to = from;
      for (int64_t& d : to) d *= 2;
      out.push_back(single(std::string(mode) + "_doubled_" + dims_name(from), NEF_OP_RESIZE,
                           {make(t, from, Fill::Small, 1), {}, {}, ints(to)},
                           attrs(NEF_OP_RESIZE).set_string(NEF_RESIZE_MODE, mode).build()));
    }
  }
}

void add_einsum(CaseList& out) {
  struct Equation {
    const char* text;
    std::vector<Dims> inputs;
  };
  const Equation equations[] = {{"ij,jk->ik", {{3, 4}, {4, 5}}},
                                {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
                                {"ij->ji", {{3, 5}}},
                                {"ii->i", {{4, 4}}},
                                {"ij->", {{3, 4}}},
                                {"i,i->", {{7}, {7}}},
                                {"i,j->ij", {{3}, {5}}},
                                {"bhqd,bhkd->bhqk", {{2, 2, 3, 8}, {2, 2, 5, 8}}},
                                {"...ij,...jk->...ik", {{2, 3, 4}, {4, 5}}},
                                {"bij,bjk", {{2, 3, 4}, {2, 4, 5}}},
                                {"ba", {{3, 4}}},
                                {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}},
                                {"ij,jk->ik", {{3, 0}, {0, 5}}},
                                {"bqhd,bkhd->bhqk", {{1, 33, 2, 16}, {1, 17, 2, 16}}},
                                {" i j , j k -> i k ", {{2, 3}, {3, 2}}},
                                // Operands and results in place, transposed, and through copies.
                                {"bhst,bthd->bshd", {{2, 3, 9, 19}, {2, 19, 3, 16}}},
                                {"ij,jk->ki", {{3, 4}, {4, 5}}},
                                {"bij,bjk->bki", {{2, 9, 7}, {2, 7, 11}}},
                                {"abij,cdij->abcd", {{2, 3, 4, 5}, {3, 2, 4, 5}}},
                                {"aibj,jbk->kia", {{3, 4, 2, 5}, {5, 2, 6}}},
                                {"ij,kj->i", {{5, 6}, {7, 6}}},
                                {"iij,jk->ik", {{4, 4, 5}, {5, 3}}},
                                {"bij,j->bi", {{2, 9, 7}, {7}}},
                                {"bi,bi->b", {{5, 6}, {5, 6}}},
                                {"i,jki->kj", {{6}, {3, 4, 6}}},
                                {"...ij,...jk->...ik", {{2, 1, 7, 4}, {1, 3, 4, 5}}},
                                {"bhst,bthd->bshd", {{2, 3, 0, 4}, {2, 4, 3, 5}}},
                                {"aibj,jbk->kia", {{3, 4, 0, 5}, {5, 0, 6}}}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_EINSUM)) {
    for (const Equation& e : equations) {
      std::vector<Tensor> inputs;
      for (const Dims& d : e.inputs)
        inputs.push_back(make(t, d, is_float(t) ? Fill::Unit : Fill::Extreme, inputs.size() + 1));
      const bool narrow = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
      out.push_back(
          single(e.text, NEF_OP_EINSUM, std::move(inputs),
                 attrs(NEF_OP_EINSUM).set_string(NEF_EINSUM_EQUATION, e.text).build(),
                 is_float(t) ? Tolerance{narrow ? 1.5 : 4.0, narrow ? 1.0 : 4.0} : Tolerance{}));
    }
  }
}

}  // namespace

bool add_resize_cases(nef_op op, CaseList& out) {
  if (op == NEF_OP_EINSUM) {
    add_einsum(out);
    return true;
  }
  if (op != NEF_OP_RESIZE) return false;
  for (nef_dtype t : allowed_dtypes(op)) {
    add_modes(t, out);
    add_variants(t, out);
    if (is_float(t)) add_long_lines(t, out);
    else add_doubled(t, out);
  }
  return true;
}

}  // namespace nef::conformance
