// SPDX-License-Identifier: Apache-2.0
// Cases of ops that move or make elements.
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::string list_name(const Dims& v) {
  std::string out;
  for (int64_t d : v) {
    const std::string n = d == kMax ? "max" : d == kMin ? "min" : std::to_string(d);
    out += "_" + n;
  }
  return out;
}

// x of every dtype, then the other inputs, then one attribute block.
struct Shape {
  Dims x;
  std::vector<Tensor> host;
  std::vector<int64_t> words;
  std::string name;
};
void add_all(nef_op op, const std::vector<Shape>& shapes, CaseList& out, size_t n_outputs = 0) {
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const Shape& s : shapes) {
      std::vector<Tensor> inputs = {make(t, s.x, Fill::Extreme)};
      inputs.insert(inputs.end(), s.host.begin(), s.host.end());
      out.push_back(single(dims_name(s.x) + s.name, op, std::move(inputs), s.words, {}, n_outputs));
    }
  }
}

void add_transpose(CaseList& out) {
  const std::pair<Dims, Dims> shapes[] = {{{}, {}},
                                          {{5}, {}},
                                          {{3, 5}, {}},
                                          {{3, 5}, {0, 1}},
                                          {{33, 65}, {1, 0}},
                                          {{2, 3, 4}, {}},
                                          {{2, 3, 4}, {0, 2, 1}},
                                          {{2, 3, 4}, {1, 0, 2}},
                                          {{2, 3, 4}, {2, 0, 1}},
                                          {{0, 3}, {1, 0}},
                                          {{2, 3, 4, 5}, {0, 2, 1, 3}},
                                          {{2, 3, 4, 5}, {0, 3, 1, 2}},
                                          {{1, 7, 1, 9}, {3, 0, 1, 2}},
                                          {{2, 1, 3, 2, 2, 2}, {5, 3, 1, 0, 2, 4}},
                                          {{70, 3, 17}, {2, 1, 0}}};
  std::vector<Shape> list;
  for (const auto& [dims, perm] : shapes) {
    auto b = attrs(NEF_OP_TRANSPOSE);
    if (!perm.empty()) b.set_ints(NEF_TRANSPOSE_PERM, perm);
    list.push_back({dims, {}, b.build(), "_perm" + list_name(perm)});
  }
  add_all(NEF_OP_TRANSPOSE, list, out);
}

void add_reshapes(nef_op op, CaseList& out) {
  std::vector<Shape> list;
  if (op == NEF_OP_RESHAPE) {
    for (const auto& [dims, to] : {std::pair<Dims, Dims>{{2, 3, 4}, {6, 4}},
                                   {{2, 3, 4}, {-1}},
                                   {{2, 3, 4}, {0, -1}},
                                   {{6}, {1, 6, 1}},
                                   {{1}, {}},
                                   {{}, {1, 1}},
                                   {{0, 3}, {0, 3, 1}},
                                   {{0, 8, 2}, {0, 4, 4}}}) {
      list.push_back({dims, {ints(to)}, attrs(op).build(), "_to" + list_name(to)});
    }
    list.push_back({{0, 8, 2},
                    {ints({0, 0, 4})},
                    attrs(op).set_int(NEF_RESHAPE_ALLOWZERO, 1).build(),
                    "_allowzero"});
  } else if (op == NEF_OP_FLATTEN) {
    for (int64_t axis : {0, 1, 2, 3, -1}) {
      list.push_back({{2, 3, 4},
                      {},
                      attrs(op).set_int(NEF_FLATTEN_AXIS, axis).build(),
                      "_axis" + std::to_string(axis)});
    }
    list.push_back({{0, 3}, {}, attrs(op).build(), ""});
  } else if (op == NEF_OP_SQUEEZE) {
    list = {{{1, 3, 1}, {}, {}, "_all"},
            {{1, 3, 1}, {ints({0})}, {}, "_0"},
            {{1, 3, 1}, {ints({-1, 0})}, {}, "_both"},
            {{3}, {}, {}, "_none"}};
  } else {
    list = {{{3, 4}, {ints({0})}, {}, "_0"},
            {{3, 4}, {ints({-1, 1})}, {}, "_two"},
            {{}, {ints({0, 1})}, {}, "_scalar"},
            {{0}, {ints({1})}, {}, "_empty"}};
  }
  add_all(op, list, out);
}

void add_slice(CaseList& out) {
  std::vector<Shape> list = {
      {{10}, {ints({2}), ints({7})}, {}, "_plain"},
      {{5, 7, 3}, {ints({1, 2}), ints({4, 6})}, {}, "_leading"},
      {{5, 7, 3}, {ints({-2}), ints({kMax}), ints({-1})}, {}, "_last"},
      {{5, 7}, {ints({0, 6}), ints({5, 0}), ints({0, 1}), ints({2, -2})}, {}, "_steps"},
      {{0, 4}, {ints({0}), ints({3}), ints({1}), ints({2})}, {}, "_empty"},
      {{33, 65}, {ints({3, 1}), ints({31, 64}), ints({0, 1}), ints({1, 1})}, {}, "_inner"},
  };
  add_all(NEF_OP_SLICE, list, out);
  // Every start, end and step that is near an edge, on one small axis.
  for (int64_t start : {kMin, -6L, -1L, 0L, 1L, 4L, 5L, kMax}) {
    for (int64_t end : {kMin, -6L, -1L, 0L, 1L, 4L, 5L, kMax}) {
      for (int64_t step : {kMin, -2L, -1L, 1L, 2L, kMax}) {
        out.push_back(single("edges" + list_name({start, end, step}), NEF_OP_SLICE,
                             {make(NEF_FLOAT32, {2, 5}, Fill::Small), ints({start}), ints({end}),
                              ints({1}), ints({step})}));
      }
    }
  }
  out.push_back(single("int32_indices", NEF_OP_SLICE,
                       {make(NEF_FLOAT32, {5, 6}, Fill::Small), ints({1}, NEF_INT32),
                        ints({-1}, NEF_INT32), ints({1}, NEF_INT32), ints({2}, NEF_INT32)}));
}

void add_concat(CaseList& out) {
  const std::vector<std::pair<std::vector<Dims>, int64_t>> shapes = {
      {{{3}, {4}}, 0},
      {{{2, 3}, {2, 5}, {2, 1}}, 1},
      {{{2, 3}, {4, 3}}, -2},
      {{{2, 3, 4}}, 1},
      {{{0, 3}, {2, 3}}, 0},
      {{{2, 0}, {2, 0}}, 1},
      {{{5, 17, 3}, {5, 16, 3}}, 1},
      {{{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}}, 0}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_CONCAT)) {
    for (const auto& [dims, axis] : shapes) {
      std::vector<Tensor> inputs;
      for (const Dims& d : dims) inputs.push_back(make(t, d, Fill::Extreme, inputs.size() + 1));
      out.push_back(single(std::to_string(dims.size()) + "_of_" + dims_name(dims[0]) + "_axis" +
                               std::to_string(axis),
                           NEF_OP_CONCAT, std::move(inputs),
                           attrs(NEF_OP_CONCAT).set_int(NEF_CONCAT_AXIS, axis).build()));
    }
  }
}

void add_split(CaseList& out) {
  struct Part {
    Dims dims;
    int64_t axis;
    Dims sizes;
    int64_t pieces;
  };
  const Part parts[] = {
      {{6}, 0, {}, 3},          {{7}, 0, {}, 3},        {{2, 7, 3}, 1, {2, 4, 1}, 3},
      {{4, 6}, -1, {}, 2},      {{4, 6}, 1, {0, 6}, 2}, {{0, 4}, 1, {2, 2}, 2},
      {{5, 33}, 1, {1, 32}, 2}, {{3}, 0, {}, 1}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_SPLIT)) {
    for (const Part& p : parts) {
      auto b = attrs(NEF_OP_SPLIT);
      b.set_int(NEF_SPLIT_AXIS, p.axis);
      std::vector<Tensor> inputs = {make(t, p.dims, Fill::Extreme)};
      if (p.sizes.empty()) b.set_int(NEF_SPLIT_NUM_OUTPUTS, p.pieces);
      else inputs.push_back(ints(p.sizes));
      out.push_back(
          single(dims_name(p.dims) + "_axis" + std::to_string(p.axis) + list_name(p.sizes),
                 NEF_OP_SPLIT, std::move(inputs), b.build(), {}, static_cast<size_t>(p.pieces)));
    }
    CaseBuilder b("unwanted_pieces");
    const int32_t x = b.input(make(t, {2, 9}, Fill::Extreme)), sizes = b.host(ints({2, 3, 4}));
    b.node(NEF_OP_SPLIT, {x, sizes}, attrs(NEF_OP_SPLIT).set_int(NEF_SPLIT_AXIS, 1).build(), 3, 1u);
    out.push_back(b.build());
  }
}

void add_blocks(nef_op op, CaseList& out) {
  std::vector<Shape> list;
  if (op == NEF_OP_SPACE_TO_DEPTH) {
    for (int64_t b : {1, 2, 3})
      list.push_back({{2, 3, 6, 12},
                      {},
                      attrs(op).set_int(NEF_SPACE_TO_DEPTH_BLOCKSIZE, b).build(),
                      "_b" + std::to_string(b)});
    list.push_back(
        {{0, 3, 2, 2}, {}, attrs(op).set_int(NEF_SPACE_TO_DEPTH_BLOCKSIZE, 2).build(), ""});
    list.push_back({{2, 3, 6, 4},
                    {},
                    attrs(op)
                        .set_int(NEF_SPACE_TO_DEPTH_BLOCKSIZE, 2)
                        .set_string(NEF_SPACE_TO_DEPTH_MODE, "CRD")
                        .build(),
                    "_crd"});
  } else {
    for (const char* mode : {"DCR", "CRD"}) {
      for (int64_t b : {1, 2, 3}) {
        list.push_back({{2, 36, 3, 5},
                        {},
                        attrs(op)
                            .set_int(NEF_DEPTH_TO_SPACE_BLOCKSIZE, b)
                            .set_string(NEF_DEPTH_TO_SPACE_MODE, mode)
                            .build(),
                        std::string("_") + mode + std::to_string(b)});
      }
    }
  }
  add_all(op, list, out);
}

void add_pad(CaseList& out) {
  struct Pads {
    Dims dims, pads, axes;
  };
  const Pads shapes[] = {{{5}, {2, 3}, {}},
                         {{3, 4}, {1, 2, 0, 3}, {}},
                         {{3, 4}, {1, 2}, {-1}},
                         {{2, 5, 6}, {0, 1, 2, 0, 2, 1}, {}},
                         {{4, 5}, {-1, 1, -1, 0}, {}},
                         {{1, 3}, {0, 2, 0, 2}, {}},
                         {{4}, {0, 0}, {}},
                         {{3, 33}, {1, 0, 1, 0}, {}}};
  for (nef_dtype t : allowed_dtypes(NEF_OP_PAD)) {
    for (const Pads& p : shapes) {
      for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
        const auto words = attrs(NEF_OP_PAD).set_string(NEF_PAD_MODE, mode).build();
        const std::string name = std::string(mode) + "_" + dims_name(p.dims) + list_name(p.pads);
        std::vector<Tensor> inputs = {make(t, p.dims, Fill::Extreme), ints(p.pads)};
        if (!p.axes.empty()) inputs.insert(inputs.end(), {Tensor{}, ints(p.axes)});
        out.push_back(single(name, NEF_OP_PAD, inputs, words));
        if (mode != std::string("constant") || !p.axes.empty()) continue;
        inputs.push_back(scalar(t, 1));
        out.push_back(single(name + "_value", NEF_OP_PAD, inputs, words));
      }
    }
    out.push_back(single("constant_empty", NEF_OP_PAD,
                         {make(t, {0, 2}, Fill::Small), ints({1, 0, 2, 1})},
                         attrs(NEF_OP_PAD).build()));
  }
}

void add_expand(CaseList& out) {
  std::vector<Shape> list;
  for (const auto& [dims, to] : {std::pair<Dims, Dims>{{3, 1}, {3, 4}},
                                 {{3, 1}, {2, 1, 6}},
                                 {{}, {2, 3}},
                                 {{4}, {1}},
                                 {{1}, {0}},
                                 {{0, 1}, {1, 5}},
                                 {{1, 33}, {17, 33}},
                                 {{2, 1, 3}, {2, 5, 3}}}) {
    list.push_back({dims, {ints(to)}, {}, "_to" + list_name(to)});
  }
  add_all(NEF_OP_EXPAND, list, out);
}

void add_tile(CaseList& out) {
  std::vector<Shape> list;
  for (const auto& [dims, by] : {std::pair<Dims, Dims>{{3}, {4}},
                                 {{2, 3}, {2, 2}},
                                 {{2, 3}, {1, 1}},
                                 {{2, 3}, {0, 2}},
                                 {{0, 3}, {2, 2}},
                                 {{2, 1, 3}, {1, 5, 2}},
                                 {{}, {}},
                                 {{1, 67}, {3, 2}}}) {
    list.push_back({dims, {ints(by)}, {}, "_by" + list_name(by)});
  }
  add_all(NEF_OP_TILE, list, out);
}

void add_trilu(CaseList& out) {
  std::vector<Shape> list;
  for (int64_t upper : {0, 1}) {
    const auto words = attrs(NEF_OP_TRILU).set_int(NEF_TRILU_UPPER, upper).build();
    for (const Dims& dims : {Dims{4, 5}, Dims{5, 4}, Dims{2, 3, 3}, Dims{0, 3}, Dims{1, 67}}) {
      list.push_back({dims, {}, words, upper ? "_upper" : "_lower"});
      for (int64_t k : {-7L, -1L, 0L, 2L, 9L, kMin, kMax}) {
        Tensor position = ints({k});
        position.dims.clear();
        list.push_back({dims, {position}, words, (upper ? "_upper" : "_lower") + list_name({k})});
      }
    }
  }
  add_all(NEF_OP_TRILU, list, out);
}

void add_reverse_sequence(CaseList& out) {
  const nef_op op = NEF_OP_REVERSE_SEQUENCE;
  std::vector<Shape> list;
  const auto swapped = attrs(op)
                           .set_int(NEF_REVERSE_SEQUENCE_BATCH_AXIS, 0)
                           .set_int(NEF_REVERSE_SEQUENCE_TIME_AXIS, 1)
                           .build();
  list.push_back({{4, 3}, {ints({1, 4, 0})}, attrs(op).build(), ""});
  list.push_back({{4, 3, 2}, {ints({2, 3, 4})}, attrs(op).build(), ""});
  list.push_back({{3, 5, 2}, {ints({5, 1, 2})}, swapped, "_swapped"});
  add_all(op, list, out);
  Case c = single("length_out_of_range", op, {make(NEF_FLOAT32, {4, 2}, Fill::Small), ints({1, 5})},
                  attrs(op).build());
  c.expect = NEF_OUT_OF_RANGE;
  out.push_back(std::move(c));
}

void add_constant_of_shape(CaseList& out) {
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{67}, Dims{3, 5}, Dims{2, 0, 4}, Dims{1500}}) {
    out.push_back(single(dims_name(dims), NEF_OP_CONSTANT_OF_SHAPE, {ints(dims)}));
    for (nef_dtype t : allowed_dtypes(NEF_OP_CONSTANT_OF_SHAPE, 1)) {
      Case c = single(dims_name(dims) + "_value", NEF_OP_CONSTANT_OF_SHAPE,
                      {ints(dims), make(t, {1}, Fill::Positive)});
      c.dtype = t;
      out.push_back(std::move(c));
    }
  }
}

void add_eye_like(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_EYE_LIKE)) {
    for (const Dims& dims : {Dims{4, 4}, Dims{3, 5}, Dims{5, 3}, Dims{0, 3}}) {
      for (int64_t k : {0L, 1L, -2L, 9L, kMin, kMax}) {
        auto b = attrs(NEF_OP_EYE_LIKE);
        b.set_int(NEF_EYE_LIKE_K, k);
        out.push_back(single(dims_name(dims) + list_name({k}), NEF_OP_EYE_LIKE,
                             {make(t, dims, Fill::Small)}, b.build()));
      }
    }
    out.push_back(single("to_float32", NEF_OP_EYE_LIKE, {make(t, {3, 3}, Fill::Small)},
                         attrs(NEF_OP_EYE_LIKE).set_int(NEF_EYE_LIKE_DTYPE, NEF_FLOAT32).build()));
  }
}

// The sizes are given: inference reads only the dtypes that shapes are made of.
void add_range_case(nef_dtype t, const std::vector<double>& numbers, int64_t size, CaseList& out) {
  CaseBuilder b("range_of_" + std::to_string(size));
  std::vector<int32_t> inputs;
  for (double v : numbers) inputs.push_back(b.host(scalar(t, v)));
  b.typed_node(NEF_OP_RANGE, std::move(inputs), {}, {{t, {size}, {}}});
  out.push_back(b.build());
}

void add_range(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_RANGE)) {
    add_range_case(t, {0, 10, 1}, 10, out);
    add_range_case(t, {1, 10, 3}, 3, out);
    add_range_case(t, {1, 11, 3}, 4, out);
    add_range_case(t, {5, 5, 1}, 0, out);
    add_range_case(t, {0, 100, 1}, 100, out);
    if (is_float(t)) add_range_case(t, {0.5, -3, -0.25}, 14, out);
  }
}

void add_shape(nef_op op, CaseList& out) {
  std::vector<Shape> list;
  for (const Dims& dims : {Dims{}, Dims{3}, Dims{2, 0, 4}, Dims{2, 3, 4, 5}}) {
    if (op == NEF_OP_SIZE) {
      list.push_back({dims, {}, {}, ""});
      continue;
    }
    list.push_back({dims, {}, attrs(op).build(), ""});
    for (const auto& [start, end] :
         {std::pair<int64_t, int64_t>{1, 3}, {-2, kMax}, {0, -1}, {kMin, 1}, {3, 1}}) {
      list.push_back({dims,
                      {},
                      attrs(op).set_int(NEF_SHAPE_START, start).set_int(NEF_SHAPE_END, end).build(),
                      list_name({start, end})});
    }
  }
  add_all(op, list, out);
}

}  // namespace

bool add_movement_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_TRANSPOSE: add_transpose(out); return true;
    case NEF_OP_RESHAPE:
    case NEF_OP_FLATTEN:
    case NEF_OP_SQUEEZE:
    case NEF_OP_UNSQUEEZE: add_reshapes(op, out); return true;
    case NEF_OP_SLICE: add_slice(out); return true;
    case NEF_OP_CONCAT: add_concat(out); return true;
    case NEF_OP_SPLIT: add_split(out); return true;
    case NEF_OP_DEPTH_TO_SPACE:
    case NEF_OP_SPACE_TO_DEPTH: add_blocks(op, out); return true;
    case NEF_OP_PAD: add_pad(out); return true;
    case NEF_OP_EXPAND: add_expand(out); return true;
    case NEF_OP_TILE: add_tile(out); return true;
    case NEF_OP_TRILU: add_trilu(out); return true;
    case NEF_OP_REVERSE_SEQUENCE: add_reverse_sequence(out); return true;
    case NEF_OP_CONSTANT_OF_SHAPE: add_constant_of_shape(out); return true;
    case NEF_OP_EYE_LIKE: add_eye_like(out); return true;
    case NEF_OP_RANGE: add_range(out); return true;
    case NEF_OP_SHAPE:
    case NEF_OP_SIZE: add_shape(op, out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
