// SPDX-License-Identifier: Apache-2.0
// Cases of ops that follow indices: in range, negative, and just outside.
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Tensor indices(Dims dims, const std::vector<int64_t>& numbers, nef_dtype t = NEF_INT64) {
  Tensor out = ints(numbers, t);
  out.dims = std::move(dims);
  return out;
}
// Indices that walk through [-size, size).
Tensor walk(const Dims& dims, int64_t size, nef_dtype t = NEF_INT64) {
  std::vector<int64_t> numbers;
  const int64_t count = Tensor{t, dims, {}}.count();
  for (int64_t i = 0; i < count; ++i) numbers.push_back((i * 7 + 3) % (2 * size) - size);
  return indices(dims, numbers, t);
}

// The same case with bad indices must fail, and name the op.
void add_out_of_range(const char* name, nef_op op, const std::vector<Tensor>& inputs,
                      const std::vector<int64_t>& words, int64_t size, CaseList& out) {
  for (int64_t bad : {size, -size - 1, kMin, std::numeric_limits<int64_t>::max()}) {
    std::vector<Tensor> copy = inputs;
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < copy[1].count(); ++i) numbers.push_back(int_at(copy[1], i));
    numbers.back() = bad;
    copy[1] = indices(copy[1].dims, numbers);
    Case c = single(std::string(name) + "_out_of_range_" + std::to_string(bad), op, std::move(copy),
                    words);
    c.expect = NEF_OUT_OF_RANGE;
    out.push_back(std::move(c));
  }
}

void add_gather(CaseList& out) {
  struct Shape {
    Dims data, indices;
    int64_t axis;
  };
  const Shape shapes[] = {{{5}, {3}, 0},       {{5}, {}, 0},         {{5, 4}, {2, 3}, 0},
                          {{5, 4}, {2, 3}, 1}, {{2, 5, 3}, {4}, -2}, {{3, 4}, {0}, 0},
                          {{0, 4}, {2}, 1},    {{30, 67}, {9}, 0},   {{7, 33}, {5}, -1}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_GATHER)) {
    for (const Shape& s : shapes) {
      const int64_t size = s.data[static_cast<size_t>(
          s.axis < 0 ? s.axis + static_cast<int64_t>(s.data.size()) : s.axis)];
      const auto words = attrs(NEF_OP_GATHER).set_int(NEF_GATHER_AXIS, s.axis).build();
      for (nef_dtype it : {NEF_INT64, NEF_INT32}) {
        out.push_back(single(dims_name(s.data) + "_at_" + dims_name(s.indices) + "_axis" +
                                 std::to_string(s.axis) + (it == NEF_INT32 ? "_i32" : ""),
                             NEF_OP_GATHER,
                             {make(t, s.data, Fill::Extreme), walk(s.indices, size, it)}, words));
      }
    }
  }
  for (int64_t axis : {0, 1}) {
    add_out_of_range(axis ? "axis1" : "axis0", NEF_OP_GATHER,
                     {make(NEF_FLOAT32, {3, 4}, Fill::Small), walk({5}, axis ? 4 : 3)},
                     attrs(NEF_OP_GATHER).set_int(NEF_GATHER_AXIS, axis).build(), axis ? 4 : 3,
                     out);
  }
}

void add_elements(nef_op op, CaseList& out) {
  struct Shape {
    Dims data, indices;
    int64_t axis;
  };
  const Shape shapes[] = {{{5}, {3}, 0},         {{3, 4}, {2, 4}, 0},       {{3, 4}, {3, 2}, 1},
                          {{3, 4}, {3, 6}, -1},  {{2, 3, 4}, {2, 5, 4}, 1}, {{3, 4}, {0, 4}, 0},
                          {{20, 33}, {7, 33}, 0}};
  const bool scatter = op == NEF_OP_SCATTER_ELEMENTS;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const char* how : {"none", "add", "mul", "max", "min"}) {
      if (!scatter && how != std::string("none")) continue;
      auto b = attrs(op);
      if (scatter) b.set_string(NEF_SCATTER_ELEMENTS_REDUCTION, how);
      for (const Shape& s : shapes) {
        const auto words = b.set_int(NEF_GATHER_ELEMENTS_AXIS, s.axis).build();
        const int64_t size = s.data[static_cast<size_t>(
            s.axis < 0 ? s.axis + static_cast<int64_t>(s.data.size()) : s.axis)];
        std::vector<Tensor> inputs = {make(t, s.data, Fill::Small, 1), walk(s.indices, size)};
        if (scatter) inputs.push_back(make(t, s.indices, Fill::Small, 2));
        // Several updates of one element may round after each.
        const Tolerance tolerance = is_float(t) && (how[0] == 'a' || how == std::string("mul"))
                                        ? Tolerance{4, 16}
                                        : Tolerance{};
        out.push_back(single(std::string(how) + "_" + dims_name(s.data) + "_at_" +
                                 dims_name(s.indices) + "_axis" + std::to_string(s.axis),
                             op, std::move(inputs), words, tolerance));
      }
    }
  }
  std::vector<Tensor> inputs = {make(NEF_FLOAT32, {3, 4}, Fill::Small), walk({2, 4}, 3)};
  if (scatter) inputs.push_back(make(NEF_FLOAT32, {2, 4}, Fill::Small));
  add_out_of_range("axis0", op, inputs, attrs(op).build(), 3, out);
}

void add_gather_nd(CaseList& out) {
  const nef_op op = NEF_OP_GATHER_ND;
  struct Shape {
    Dims data, indices;
    int64_t batch, size;
  };
  // All addressed axes have the same size, so one walk fits them all.
  const Shape shapes[] = {{{4, 4}, {3, 2}, 0, 4},       {{4, 5}, {3, 1}, 0, 4},
                          {{4, 4, 3}, {2, 2, 2}, 0, 4}, {{2, 4, 4}, {2, 3, 1}, 1, 4},
                          {{2, 4, 4}, {2, 2}, 1, 4},    {{4}, {1}, 0, 4},
                          {{4, 4}, {0, 2}, 0, 4},       {{2, 3, 4, 4}, {2, 3, 2}, 2, 4}};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const Shape& s : shapes) {
      out.push_back(single(
          dims_name(s.data) + "_at_" + dims_name(s.indices) + "_batch" + std::to_string(s.batch),
          op, {make(t, s.data, Fill::Extreme), walk(s.indices, s.size)},
          attrs(op).set_int(NEF_GATHER_ND_BATCH_DIMS, s.batch).build()));
    }
  }
  add_out_of_range("pairs", op, {make(NEF_FLOAT32, {4, 4}, Fill::Small), walk({3, 2}, 4)},
                   attrs(op).build(), 4, out);
}

void add_scatter_nd(CaseList& out) {
  const nef_op op = NEF_OP_SCATTER_ND;
  struct Shape {
    Dims data, indices, updates;
  };
  const Shape shapes[] = {{{8}, {4, 1}, {4}},       {{4, 4}, {3, 2}, {3}},
                          {{4, 5}, {3, 1}, {3, 5}}, {{4, 4, 3}, {2, 2, 2}, {2, 2, 3}},
                          {{4, 4}, {0, 2}, {0}},    {{4, 33}, {9, 1}, {9, 33}}};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const char* how : {"none", "add", "mul", "max", "min"}) {
      const auto words = attrs(op).set_string(NEF_SCATTER_ND_REDUCTION, how).build();
      const bool rounds = how[0] == 'a' || how == std::string("mul");
      for (const Shape& s : shapes) {
        out.push_back(
            single(std::string(how) + "_" + dims_name(s.data) + "_at_" + dims_name(s.indices), op,
                   {make(t, s.data, Fill::Small, 1), walk(s.indices, s.data[0] == 8 ? 8 : 4),
                    make(t, s.updates, Fill::Small, 2)},
                   words, is_float(t) && rounds ? Tolerance{4, 64} : Tolerance{}));
      }
    }
  }
  add_out_of_range("pairs", op,
                   {make(NEF_FLOAT32, {4, 4}, Fill::Small), walk({3, 2}, 4),
                    make(NEF_FLOAT32, {3}, Fill::Small)},
                   attrs(op).build(), 4, out);
}

void add_one_hot(CaseList& out) {
  const nef_op op = NEF_OP_ONE_HOT;
  for (nef_dtype t : allowed_dtypes(op, 2)) {
    for (int64_t axis : {-1, 0, 1}) {
      const auto words = attrs(op).set_int(NEF_ONE_HOT_AXIS, axis).build();
      for (nef_dtype it : allowed_dtypes(op, 0)) {
        const bool keeps_sign =
            it != NEF_UINT8 && it != NEF_UINT16 && it != NEF_UINT32 && it != NEF_UINT64;
        const Tensor at = keeps_sign ? values(it, {2, 5}, {0, 1, 4, 3, 2, -1, -5, -6, 5, 9})
                                     : values(it, {2, 5}, {0, 1, 4, 3, 2, 5, 9, 100, 0, 1});
        Case c = single("axis" + std::to_string(axis) + "_indices" + std::to_string(it), op,
                        {at, scalar(NEF_INT64, 5), values(t, {2}, {0, 1})}, words);
        c.dtype = t;
        out.push_back(std::move(c));
      }
    }
  }
  out.push_back(single("empty", op,
                       {ints({}), scalar(NEF_INT64, 4), values(NEF_FLOAT32, {2}, {0, 1})},
                       attrs(op).build()));
}

void add_nonzero(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_NONZERO)) {
    for (const Dims& dims : {Dims{1}, Dims{67}, Dims{3, 5}, Dims{2, 3, 4}, Dims{0, 3}, Dims{}}) {
      Tensor x = make(t, dims, Fill::Small, 9);
      int64_t count = 0;
      for (int64_t i = 0; i < x.count(); ++i) count += float_at(x, i) != 0 ? 1 : 0;
      CaseBuilder b(dims_name(dims));
      const int32_t in = b.input(std::move(x));
      b.typed_node(NEF_OP_NONZERO, {in}, {},
                   {{NEF_INT64, {static_cast<int64_t>(dims.size()), count}, {}}});
      out.push_back(b.build());
    }
  }
}

}  // namespace

bool add_index_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_GATHER: add_gather(out); return true;
    case NEF_OP_GATHER_ELEMENTS:
    case NEF_OP_SCATTER_ELEMENTS: add_elements(op, out); return true;
    case NEF_OP_GATHER_ND: add_gather_nd(out); return true;
    case NEF_OP_SCATTER_ND: add_scatter_nd(out); return true;
    case NEF_OP_ONE_HOT: add_one_hot(out); return true;
    case NEF_OP_NONZERO: add_nonzero(out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
