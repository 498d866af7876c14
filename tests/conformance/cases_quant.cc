// SPDX-License-Identifier: Apache-2.0
// Cases of quantised tensors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

// Scales and zero points of a shape; block 0: per tensor (empty dims) or per axis.
struct Scaled {
  const char* name;
  Dims x, scale;
  int64_t axis = 1, block = 0;
};
const std::vector<Scaled> kScaled = {
    {"tensor", {2, 3, 5}, {}},
    {"tensor_one", {700}, {1}},
    {"scalar", {}, {}},
    {"axis0", {3, 300}, {3}, 0},
    {"axis_middle", {2, 3, 5}, {3}, 1},
    {"axis_last", {4, 67}, {67}, -1},
    {"blocks_middle", {2, 5, 3}, {2, 3, 3}, 1, 2},
    {"blocks_last", {3, 70}, {3, 5}, -1, 16},
    {"blocks_first", {6, 9}, {2, 9}, 0, 4},
    {"block_of_all", {2, 6}, {2, 1}, 1, 6},
    {"empty", {0, 3}, {3}, 1},
    {"empty_blocks", {2, 0}, {2, 0}, 1, 4},
};

// Quotients next to where a rounding to 16 bits first, or its absence, changes the whole number:
// a half, half way from it to the next float of 16 bits, and the float32 around those times 3.
Tensor next_to_halves() {
  std::vector<double> numbers;
  for (double whole = 1; whole < 300; whole = 2 * whole + 1) {
    for (int digits : {8, 11}) {
      const double half = whole + 0.5, step = std::ldexp(1.0, std::ilogb(half) - digits + 1);
      for (double q : {half, half + step / 2, half - step / 2, half + step}) {
        const auto x = static_cast<float>(3 * q);
        for (float v : {x, std::nextafter(x, 1e9f), std::nextafter(x, 0.0f)}) {
          numbers.insert(numbers.end(), {v, -v});
        }
      }
    }
  }
  return values(NEF_FLOAT32, {static_cast<int64_t>(numbers.size())}, numbers);
}

void add_mixed_quantize(CaseList& out) {
  const nef_op op = NEF_OP_QUANTIZE_LINEAR;
  const Tensor halves = next_to_halves();
  for (nef_dtype st : {NEF_FLOAT16, NEF_BFLOAT16, NEF_FLOAT32}) {
    for (nef_dtype z : allowed_dtypes(op, 2)) {
      const std::string tail = "_" + std::to_string(st) + "_" + std::to_string(z);
      for (const Scaled& s : kScaled) {
        for (nef_dtype t : {NEF_FLOAT16, NEF_BFLOAT16, NEF_FLOAT32}) {
          if (t == st) continue;
          out.push_back(single(std::string("mixed_") + s.name + "_" + std::to_string(t) + tail, op,
                               {make(t, s.x, Fill::Extreme), make(st, s.scale, Fill::Positive, 2)},
                               attrs(op)
                                   .set_int(NEF_QUANTIZE_LINEAR_AXIS, s.axis)
                                   .set_int(NEF_QUANTIZE_LINEAR_BLOCK_SIZE, s.block)
                                   .set_int(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE, z)
                                   .build()));
        }
      }
      for (nef_dtype p : {NEF_FLOAT16, NEF_BFLOAT16, NEF_FLOAT32}) {
        const auto words = attrs(op)
                               .set_int(NEF_QUANTIZE_LINEAR_PRECISION, p)
                               .set_int(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE, z)
                               .build();
        out.push_back(
            single("halves_" + std::to_string(p) + tail, op, {halves, values(st, {}, {3})}, words));
        out.push_back(single(
            "halves_each_" + std::to_string(p) + tail, op,
            {halves,
             values(st, halves.dims, std::vector<double>(static_cast<size_t>(halves.count()), 3))},
            attrs(op)
                .set_int(NEF_QUANTIZE_LINEAR_AXIS, 0)
                .set_int(NEF_QUANTIZE_LINEAR_PRECISION, p)
                .set_int(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE, z)
                .build()));
      }
    }
  }
}

void add_quantize(CaseList& out) {
  const nef_op op = NEF_OP_QUANTIZE_LINEAR;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (nef_dtype z : allowed_dtypes(op, 2)) {
      for (const Scaled& s : kScaled) {
        const auto words = attrs(op)
                               .set_int(NEF_QUANTIZE_LINEAR_AXIS, s.axis)
                               .set_int(NEF_QUANTIZE_LINEAR_BLOCK_SIZE, s.block)
                               .build();
        for (Fill fill : {Fill::Small, Fill::Extreme}) {
          const std::string name = s.name + std::string("_") + std::to_string(z) +
                                   (fill == Fill::Extreme ? "_extreme" : "");
          const nef_dtype st = t == NEF_INT32 ? NEF_FLOAT32 : t;
          out.push_back(single(name, op,
                               {make(t, s.x, fill), make(st, s.scale, Fill::Positive, 2),
                                make(z, s.scale, Fill::Small, 3)},
                               words));
        }
      }
    }
    // No zero point: uint8, or as asked.
    const Tensor x = make(t, {3, 70}, Fill::Small), scale = values(NEF_FLOAT32, {}, {0.03125});
    out.push_back(single("default", op, {x, scale}, attrs(op).build()));
    for (nef_dtype z : allowed_dtypes(op, 2)) {
      out.push_back(single("asked_" + std::to_string(z), op, {x, scale},
                           attrs(op).set_int(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE, z).build()));
      // Too large for float8; integers saturate in any case.
      out.push_back(single("over_" + std::to_string(z), op,
                           {make(t, {211}, Fill::Extreme), values(NEF_FLOAT32, {}, {1e-5})},
                           attrs(op)
                               .set_int(NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE, z)
                               .set_int(NEF_QUANTIZE_LINEAR_SATURATE, 0)
                               .build()));
    }
    for (nef_dtype p : {NEF_FLOAT16, NEF_BFLOAT16, NEF_FLOAT32, NEF_FLOAT64}) {
      for (nef_dtype st : allowed_dtypes(op, 1)) {
        out.push_back(single("precision_" + std::to_string(p) + "_" + std::to_string(st), op,
                             {x, values(st, {}, {3}), values(NEF_INT8, {}, {-5})},
                             attrs(op).set_int(NEF_QUANTIZE_LINEAR_PRECISION, p).build()));
      }
    }
  }
}

void add_dequantize(CaseList& out) {
  const nef_op op = NEF_OP_DEQUANTIZE_LINEAR;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (nef_dtype st : allowed_dtypes(op, 1)) {
      for (const Scaled& s : kScaled) {
        const auto words = attrs(op)
                               .set_int(NEF_DEQUANTIZE_LINEAR_AXIS, s.axis)
                               .set_int(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE, s.block)
                               .build();
        const Tensor x = make(t, s.x, Fill::Extreme), scale = make(st, s.scale, Fill::Positive, 2);
        const Tolerance tolerance{st == NEF_FLOAT16 || st == NEF_BFLOAT16 ? 1.0 : 0.0, 0};
        const std::string name = s.name + std::string("_") + std::to_string(st);
        out.push_back(
            single(name, op, {x, scale, make(t, s.scale, Fill::Small, 3)}, words, tolerance));
        out.push_back(single(name + "_no_zero", op, {x, scale}, words, tolerance));
      }
      for (nef_dtype to : allowed_dtypes(op, 1)) {
        out.push_back(single("to_" + std::to_string(to) + "_from_" + std::to_string(st), op,
                             {make(t, {5, 67}, Fill::Extreme), make(st, {}, Fill::Positive, 2)},
                             attrs(op).set_int(NEF_DEQUANTIZE_LINEAR_OUTPUT_DTYPE, to).build(),
                             {1, 0}));
      }
    }
  }
}

void add_dynamic(CaseList& out) {
  const nef_op op = NEF_OP_DYNAMIC_QUANTIZE_LINEAR;
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{67}, Dims{3, 300}, Dims{0, 4}, Dims{5, 1000}}) {
    for (Fill fill : {Fill::Small, Fill::Positive, Fill::Unit, Fill::Special}) {
      out.push_back(single(dims_name(dims) + "_fill" + std::to_string(static_cast<int>(fill)), op,
                           {make(NEF_FLOAT32, dims, fill)}, {}, {}, 3));
    }
  }
  out.push_back(single("zeros", op, {values(NEF_FLOAT32, {3}, {0, 0, 0})}, {}, {}, 3));
  out.push_back(single("negative", op, {values(NEF_FLOAT32, {3}, {-1, -2.5, -0.5})}, {}, {}, 3));
}

struct ProductShape {
  Dims a, b;
};
const std::vector<ProductShape> kProducts = {
    {{2, 3}, {3, 4}},
    {{1, 1}, {1, 1}},
    {{37, 65}, {65, 33}},
    {{4}, {4}},
    {{4}, {4, 3}},
    {{3, 4}, {4}},
    {{2, 3, 4}, {4, 5}},
    {{2, 3, 4}, {2, 4, 5}},
    {{2, 1, 3, 4}, {3, 4, 5}},
    {{0, 3}, {3, 2}},
    {{2, 0}, {0, 3}},
    {{2, 3}, {3, 0}},
    {{70, 600}, {600, 9}},
};

// One value per row of a or column of b; a vector, and where there are batches a matrix of them.
Dims per_row(const Dims& a) { return {a[a.size() - 2]}; }
Dims per_column(const Dims& b) { return {b.back()}; }
Dims per_row_of_all(Dims a) {
  a.back() = 1;
  return a;
}
Dims per_column_of_all(Dims b) {
  b[b.size() - 2] = 1;
  return b;
}

void add_matmul_integer(CaseList& out) {
  const nef_op op = NEF_OP_MATMUL_INTEGER;
  for (nef_dtype ta : allowed_dtypes(op)) {
    for (nef_dtype tb : allowed_dtypes(op, 1)) {
      for (const ProductShape& s : kProducts) {
        const Tensor a = make(ta, s.a, Fill::Extreme, 1), b = make(tb, s.b, Fill::Extreme, 2);
        const std::string name = dims_name(s.a) + "_" + dims_name(s.b) + "_" + std::to_string(tb);
        out.push_back(single(name, op, {a, b}));
        out.push_back(
            single(name + "_zeros", op,
                   {a, b, make(ta, {}, Fill::Extreme, 3), make(tb, {1}, Fill::Extreme, 4)}));
        if (s.a.size() < 2 || s.b.size() < 2) continue;
        out.push_back(single(name + "_per_line", op,
                             {a, b, make(ta, per_row(s.a), Fill::Extreme, 3),
                              make(tb, per_column(s.b), Fill::Extreme, 4)}));
        out.push_back(single(name + "_per_line_of_all", op,
                             {a, b, make(ta, per_row_of_all(s.a), Fill::Extreme, 3),
                              make(tb, per_column_of_all(s.b), Fill::Extreme, 4)}));
      }
    }
  }
}

void add_qlinear_matmul(CaseList& out) {
  const nef_op op = NEF_OP_QLINEAR_MATMUL;
  for (nef_dtype ta : allowed_dtypes(op)) {
    for (nef_dtype tb : allowed_dtypes(op, 3)) {
      for (nef_dtype ty : allowed_dtypes(op, 7)) {
        for (const ProductShape& s : kProducts) {
          for (nef_dtype ts : {NEF_FLOAT32, NEF_FLOAT16}) {
            const bool lines = ts == NEF_FLOAT32 && s.a.size() > 1 && s.b.size() > 1;
            const Dims la = lines ? per_row(s.a) : Dims{}, lb = lines ? per_column(s.b) : Dims{};
            out.push_back(single(dims_name(s.a) + "_" + dims_name(s.b) + "_" + std::to_string(tb) +
                                     "_" + std::to_string(ty) + "_" + std::to_string(ts),
                                 op,
                                 {make(ta, s.a, Fill::Extreme, 1), make(ts, la, Fill::Positive, 2),
                                  make(ta, la, Fill::Small, 3), make(tb, s.b, Fill::Extreme, 4),
                                  make(ts, lb, Fill::Positive, 5), make(tb, lb, Fill::Small, 6),
                                  values(ts, {}, {600}), make(ty, {}, Fill::Small, 7)}));
          }
        }
      }
    }
  }
}

struct ConvShape {
  const char* name;
  Dims x, w, strides, pads, dilations;
  int64_t group = 1;
  const char* auto_pad = "NOTSET";
};
const std::vector<ConvShape> kConvs = {
    {"1d", {2, 3, 17}, {4, 3, 3}, {}, {}, {}},
    {"2d_pad", {1, 4, 9, 11}, {5, 4, 3, 3}, {}, {1, 0, 1, 2}, {}},
    {"stride_dilation", {1, 3, 14, 12}, {4, 3, 5, 2}, {1, 2}, {2, 0, 2, 1}, {2, 3}},
    {"grouped", {2, 6, 7, 7}, {4, 3, 3, 3}, {2, 1}, {1, 1, 1, 1}, {}, 2},
    {"depthwise", {1, 5, 9, 9}, {5, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, 5},
    {"same_lower", {1, 2, 7, 8}, {3, 2, 2, 3}, {2, 3}, {}, {}, 1, "SAME_LOWER"},
    {"3d", {1, 2, 5, 4, 6}, {3, 2, 2, 3, 2}, {}, {}, {}},
    {"empty", {0, 3, 4, 4}, {5, 3, 2, 2}, {}, {}, {}},
    {"no_channels", {1, 0, 2, 5}, {3, 0, 2, 2}, {}, {}, {}},
    {"wide", {1, 32, 12, 12}, {40, 32, 3, 3}, {}, {1, 1, 1, 1}, {}},
};
std::vector<int64_t> conv_attrs(nef_op op, const ConvShape& s) {
  auto b = attrs(op);
  b.set_string(NEF_CONV_INTEGER_AUTO_PAD, s.auto_pad).set_int(NEF_CONV_INTEGER_GROUP, s.group);
  if (!s.strides.empty()) b.set_ints(NEF_CONV_INTEGER_STRIDES, s.strides);
  if (!s.pads.empty()) b.set_ints(NEF_CONV_INTEGER_PADS, s.pads);
  if (!s.dilations.empty()) b.set_ints(NEF_CONV_INTEGER_DILATIONS, s.dilations);
  return b.build();
}

void add_conv_integer(CaseList& out) {
  const nef_op op = NEF_OP_CONV_INTEGER;
  for (nef_dtype tx : allowed_dtypes(op)) {
    for (nef_dtype tw : allowed_dtypes(op, 1)) {
      for (const ConvShape& s : kConvs) {
        const Tensor x = make(tx, s.x, Fill::Extreme, 1), w = make(tw, s.w, Fill::Extreme, 2);
        const std::string name = s.name + std::string("_") + std::to_string(tw);
        out.push_back(single(name, op, {x, w}, conv_attrs(op, s)));
        out.push_back(
            single(name + "_zeros", op,
                   {x, w, make(tx, {}, Fill::Extreme, 3), make(tw, {1}, Fill::Extreme, 4)},
                   conv_attrs(op, s)));
        out.push_back(
            single(name + "_per_filter", op,
                   {x, w, make(tx, {1}, Fill::Extreme, 3), make(tw, {s.w[0]}, Fill::Extreme, 4)},
                   conv_attrs(op, s)));
      }
    }
  }
}

void add_qlinear_conv(CaseList& out) {
  const nef_op op = NEF_OP_QLINEAR_CONV;
  const nef_dtype f = NEF_FLOAT32;
  for (nef_dtype tx : allowed_dtypes(op)) {
    for (nef_dtype tw : allowed_dtypes(op, 3)) {
      for (nef_dtype ty : allowed_dtypes(op, 7)) {
        for (const ConvShape& s : kConvs) {
          for (bool per_filter : {false, true}) {
            const Dims lw = per_filter ? Dims{s.w[0]} : Dims{};
            std::vector<Tensor> in = {make(tx, s.x, Fill::Extreme, 1),
                                      values(f, {}, {0.125}),
                                      make(tx, {}, Fill::Small, 3),
                                      make(tw, s.w, Fill::Extreme, 4),
                                      make(f, lw, Fill::Positive, 5),
                                      make(tw, lw, Fill::Small, 6),
                                      values(f, {}, {40}),
                                      make(ty, {}, Fill::Small, 7)};
            if (per_filter) in.push_back(make(NEF_INT32, {s.w[0]}, Fill::Small, 8));
            out.push_back(single(s.name + std::string("_") + std::to_string(tw) + "_" +
                                     std::to_string(ty) + (per_filter ? "_per_filter" : ""),
                                 op, std::move(in), conv_attrs(op, s)));
          }
        }
      }
    }
  }
}

void add_float8_weights(nef_dtype t, CaseList& out) {
  const nef_op op = NEF_OP_MATMUL_NBITS;
  struct Shape {
    Dims a;
    int64_t n, block;
  };
  const Shape shapes[] = {{{1, 32}, 5, 16},     {{32}, 3, 32},        {{3, 40}, 7, 16},
                          {{2, 5, 70}, 33, 32}, {{20, 128}, 65, 128}, {{0, 16}, 4, 16},
                          {{9, 1024}, 3, 256},  {{1, 8}, 1, 8},       {{4, 600}, 6, 512}};
  for (nef_dtype weights : {NEF_FLOAT8_E4M3FN, NEF_FLOAT8_E5M2}) {
    for (const Shape& s : shapes) {
      const int64_t k = s.a.back(), blocks = (k + s.block - 1) / s.block;
      const auto words = attrs(op)
                             .set_int(NEF_MATMUL_NBITS_K, k)
                             .set_int(NEF_MATMUL_NBITS_N, s.n)
                             .set_int(NEF_MATMUL_NBITS_BITS, 8)
                             .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, s.block)
                             .build();
      const Tensor a = make(t, s.a, Fill::Unit, 1), scales = make(t, {s.n, blocks}, Fill::Unit, 3);
      const Tensor b = make(weights, {s.n, blocks, s.block}, Fill::Small, 2);
      const bool half = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
      const Tolerance tolerance{
          half ? 2.0 : 4.0, half ? 4 * std::sqrt(static_cast<double>(k)) : static_cast<double>(k)};
      const std::string name =
          dims_name(s.a) + "_" + std::to_string(s.n) + "_float8_" + std::to_string(weights);
      out.push_back(single(name, op, {a, b, scales}, words, tolerance));
      out.push_back(single(name + "_bias", op, {a, b, scales, {}, make(t, {s.n}, Fill::Unit, 5)},
                           words, tolerance));
      // NaN and infinities reach their columns, and no other.
      Tensor special = b;
      if (special.bytes.empty()) continue;
      special.bytes[0] = 0x7f;
      special.bytes[static_cast<size_t>((s.n - 1) * blocks * s.block)] = 0xfc;
      out.push_back(single(name + "_special", op, {a, special, scales}, words,
                           {tolerance.ulps, std::max(tolerance.magnitude, 1000.0)}));
    }
  }
}

void add_matmul_nbits(CaseList& out) {
  const nef_op op = NEF_OP_MATMUL_NBITS;
  struct Shape {
    Dims a;
    int64_t n, block;
  };
  const Shape shapes[] = {{{1, 32}, 5, 16},     {{32}, 3, 32},        {{3, 40}, 7, 16},
                          {{2, 5, 70}, 33, 32}, {{20, 128}, 65, 128}, {{0, 16}, 4, 16},
                          {{9, 1024}, 3, 64},   {{1, 8}, 1, 8}};
  for (nef_dtype t : allowed_dtypes(op)) {
    add_float8_weights(t, out);
    for (int64_t bits : {2, 4, 8}) {
      for (const Shape& s : shapes) {
        const int64_t k = s.a.back(), blocks = (k + s.block - 1) / s.block;
        const auto words = attrs(op)
                               .set_int(NEF_MATMUL_NBITS_K, k)
                               .set_int(NEF_MATMUL_NBITS_N, s.n)
                               .set_int(NEF_MATMUL_NBITS_BITS, bits)
                               .set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, s.block)
                               .build();
        const Tensor a = make(t, s.a, Fill::Unit, 1),
                     scales = make(t, {s.n * blocks}, Fill::Unit, 3);
        const Tensor b = make(NEF_UINT8, {s.n, blocks, s.block * bits / 8}, Fill::Extreme, 2);
        const double top = static_cast<double>(int64_t{1} << bits);
        const bool half = t == NEF_FLOAT16 || t == NEF_BFLOAT16;
        const Tolerance tolerance{half ? 2.0 : 4.0,
                                  top * (half ? 1.0 : 1 + 0.25 * static_cast<double>(k))};
        const std::string name =
            dims_name(s.a) + "_" + std::to_string(s.n) + "_" + std::to_string(bits) + "bits";
        out.push_back(single(name, op, {a, b, scales}, words, tolerance));
        out.push_back(
            single(name + "_packed_zeros", op,
                   {a, b, scales, make(NEF_UINT8, {s.n, (blocks * bits + 7) / 8}, Fill::Extreme, 4),
                    make(t, {s.n}, Fill::Unit, 5)},
                   words, tolerance));
        out.push_back(single(name + "_float_zeros", op,
                             {a, b, make(t, {s.n, blocks}, Fill::Unit, 3),
                              make(t, {s.n, blocks}, Fill::Positive, 4)},
                             words, tolerance));
      }
    }
  }
}

}  // namespace

bool add_quant_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_QUANTIZE_LINEAR:
      add_quantize(out);
      add_mixed_quantize(out);
      return true;
    case NEF_OP_DEQUANTIZE_LINEAR: add_dequantize(out); return true;
    case NEF_OP_DYNAMIC_QUANTIZE_LINEAR: add_dynamic(out); return true;
    case NEF_OP_MATMUL_INTEGER: add_matmul_integer(out); return true;
    case NEF_OP_QLINEAR_MATMUL: add_qlinear_matmul(out); return true;
    case NEF_OP_CONV_INTEGER: add_conv_integer(out); return true;
    case NEF_OP_QLINEAR_CONV: add_qlinear_conv(out); return true;
    case NEF_OP_MATMUL_NBITS: add_matmul_nbits(out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
