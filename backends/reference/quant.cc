// SPDX-License-Identifier: Apache-2.0
// Quantised tensors: conversion, products and convolutions.
#include "backends/shared/quant.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/window.h"

namespace nef::reference {
namespace {

using backends::quant_layout;
using backends::QuantLayout;

// round(value) + zero, saturated to an integer dtype; NaN gives the zero point.
int64_t quantized(double value, int64_t zero, nef_dtype t) {
  if (value != value) return zero;
  return saturate(std::nearbyint(value) + static_cast<double>(zero), t);
}

template <typename F>
void for_scales(const QuantLayout& q, F f) {
  int64_t x = 0;
  for (int64_t o = 0; o < q.outer; ++o) {
    for (int64_t i = 0; i < q.length; ++i) {
      for (int64_t j = 0; j < q.inner; ++j, ++x) f(x, q.scale_index(o, i, j));
    }
  }
}

void run_quantize(const Call& c) {
  const View x = c.in(0), scale = c.in(1), y = c.out();
  const QuantLayout q =
      quant_layout(x.dims, x.rank, scale.count, c.attr_int(NEF_QUANTIZE_LINEAR_AXIS, 1),
                   c.attr_int(NEF_QUANTIZE_LINEAR_BLOCK_SIZE));
  const auto fallback = is_float(scale.dtype) ? scale.dtype : NEF_FLOAT32;
  const auto precision =
      static_cast<nef_dtype>(c.attr_int(NEF_QUANTIZE_LINEAR_PRECISION, fallback));
  const bool saturates = c.attr_int(NEF_QUANTIZE_LINEAR_SATURATE, 1) != 0;
  for_scales(q, [&](int64_t i, int64_t s) {
    const double quotient =
        backends::rounded_to(precision, load_float(x, i) / load_float(scale, s));
    if (is_float8(y.dtype)) {
      const double sum = quotient + (c.has(2) ? load_float(c.in(2), s) : 0);
      return put(y.data, i, backends::float8_from_double(y.dtype, sum, saturates));
    }
    store_int(y, i, quantized(quotient, c.has(2) ? load_int(c.in(2), s) : 0, y.dtype));
  });
}

void run_dequantize(const Call& c) {
  const View x = c.in(0), scale = c.in(1), y = c.out();
  const QuantLayout q =
      quant_layout(x.dims, x.rank, scale.count, c.attr_int(NEF_DEQUANTIZE_LINEAR_AXIS, 1),
                   c.attr_int(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE));
  for_scales(q, [&](int64_t i, int64_t s) {
    const double zero = c.has(2) ? load_float(c.in(2), s) : 0;
    store_float(y, i, (load_float(x, i) - zero) * load_float(scale, s));
  });
}

void run_dynamic(const Call& c) {
  const View x = c.in(0), y = c.out();
  double low = 0, high = 0;
  for (int64_t i = 0; i < x.count; ++i) {
    low = std::min(low, load_float(x, i));
    high = std::max(high, load_float(x, i));
  }
  const auto s = backends::dynamic_scale(static_cast<float>(low), static_cast<float>(high));
  for (int64_t i = 0; i < x.count; ++i) {
    const double quotient = backends::rounded_to(NEF_FLOAT32, load_float(x, i) / double{s.scale});
    store_int(y, i, quantized(quotient, s.zero_point, NEF_UINT8));
  }
  if (c.wants(1)) store_float(c.out(1), 0, s.scale);
  if (c.wants(2)) store_int(c.out(2), 0, s.zero_point);
}

// Scale or zero point `v` at a row or column of a matrix: one for all, one per line, or one per
// line of every matrix of the batch.
struct PerLine {
  View v;
  bool present = false;
  int64_t lines = 1;

  int64_t index(int64_t matrix, int64_t line) const {
    if (v.count == 1) return 0;
    return v.rank == 1 ? line : matrix * lines + line;
  }
  int64_t integer(int64_t matrix, int64_t line) const {
    return present ? load_int(v, index(matrix, line)) : 0;
  }
  double number(int64_t matrix, int64_t line) const { return load_float(v, index(matrix, line)); }
};
PerLine per_line(const Call& c, size_t input, int64_t lines) {
  PerLine p;
  p.present = c.has(input);
  p.lines = lines;
  if (p.present) p.v = c.in(input);
  return p;
}

// a [..., M, K] b [..., K, N] as MatMul; f(output index, exact sum, row, column, matrix a, b).
template <typename F>
void multiply(const View& a, const View& b, const View& y, const PerLine& za, const PerLine& zb,
              F f) {
  const int64_t k = a.dims[a.rank - 1];
  const int64_t m = a.rank == 1 ? 1 : a.dims[a.rank - 2], n = b.rank == 1 ? 1 : b.dims[b.rank - 1];
  const int batch_rank = std::max(std::max(a.rank, b.rank) - 2, 0);
  // The batch dims of the result come first whatever the ranks of the operands.
  Coords at(y.dims, batch_rank);
  const int64_t batches = span_count(y, 0, batch_rank);
  const auto matrix_of = [&](const View& v) {
    int64_t index = 0;
    for (int d = 0; d < v.rank - 2; ++d) {
      index = index * v.dims[d] + (v.dims[d] == 1 ? 0 : at.at[batch_rank - (v.rank - 2) + d]);
    }
    return index;
  };
  int64_t o = 0;
  for (int64_t batch = 0; batch < batches; ++batch, at.next()) {
    const int64_t ma = matrix_of(a), mb = matrix_of(b);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j, ++o) {
        int64_t sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += (load_int(a, (ma * m + i) * k + p) - za.integer(ma, i)) *
                 (load_int(b, (mb * k + p) * n + j) - zb.integer(mb, j));
        }
        f(o, sum, i, j, ma, mb);
      }
    }
  }
}

int64_t row_count(const View& a) { return a.rank == 1 ? 1 : a.dims[a.rank - 2]; }
int64_t column_count(const View& b) { return b.rank == 1 ? 1 : b.dims[b.rank - 1]; }

void run_matmul_integer(const Call& c) {
  const View y = c.out();
  multiply(
      c.in(0), c.in(1), y, per_line(c, 2, row_count(c.in(0))),
      per_line(c, 3, column_count(c.in(1))),
      [&](int64_t o, int64_t sum, int64_t, int64_t, int64_t, int64_t) { store_int(y, o, sum); });
}

void run_qlinear_matmul(const Call& c) {
  const View y = c.out();
  const int64_t rows = row_count(c.in(0)), columns = column_count(c.in(3));
  const PerLine sa = per_line(c, 1, rows), sb = per_line(c, 4, columns);
  const double out_scale = load_float(c.in(6), 0);
  const int64_t zero = load_int(c.in(7), 0);
  multiply(c.in(0), c.in(3), y, per_line(c, 2, rows), per_line(c, 5, columns),
           [&](int64_t o, int64_t sum, int64_t i, int64_t j, int64_t ma, int64_t mb) {
             const double factor = sa.number(ma, i) * sb.number(mb, j) / out_scale;
             store_int(y, o, quantized(static_cast<double>(sum) * factor, zero, y.dtype));
           });
}

// The exact sums of an integer convolution; f(output index, sum, filter).
template <typename F>
void convolve(const Call& c, size_t w_input, size_t x_zero, size_t w_zero, F f) {
  const View x = c.in(0), weights = c.in(w_input), y = c.out();
  if (y.count == 0) return;
  const Window w =
      make_window(c, {NEF_CONV_AUTO_PAD, NEF_CONV_PADS, NEF_CONV_STRIDES, NEF_CONV_DILATIONS},
                  weights.dims + 2, x, y);
  const int64_t groups = c.attr_int(NEF_CONV_GROUP, 1);
  const int64_t filters = y.dims[1], depth = weights.dims[1];
  const int64_t area = span_count(x, 2, x.rank), kernel = span_count(weights, 2, weights.rank);
  const int64_t positions = span_count(y, 2, y.rank);
  const int64_t zx = c.has(x_zero) ? load_int(c.in(x_zero), 0) : 0;
  for (int64_t m = 0; m < y.dims[0] * filters; ++m) {
    const int64_t filter = m % filters, group = filter / (filters / groups);
    const int64_t first = (m / filters * x.dims[1] + group * depth) * area;
    const int64_t zw =
        c.has(w_zero) ? load_int(c.in(w_zero), c.in(w_zero).count == 1 ? 0 : filter) : 0;
    Coords at(y.dims + 2, w.rank);
    for (int64_t p = 0; p < positions; ++p, at.next()) {
      int64_t sum = 0;
      for_window(w, at, x, [&](int64_t offset, int64_t k) {
        for (int64_t ch = 0; ch < depth; ++ch) {
          sum += (load_int(x, first + ch * area + offset) - zx) *
                 (load_int(weights, (filter * depth + ch) * kernel + k) - zw);
        }
      });
      f(m * positions + p, sum, filter);
    }
  }
}

void run_conv_integer(const Call& c) {
  const View y = c.out();
  convolve(c, 1, 2, 3, [&](int64_t o, int64_t sum, int64_t) { store_int(y, o, sum); });
}

void run_qlinear_conv(const Call& c) {
  const View y = c.out(), scale = c.in(4);
  const double x_scale = load_float(c.in(1), 0), y_scale = load_float(c.in(6), 0);
  const int64_t zero = load_int(c.in(7), 0);
  convolve(c, 3, 2, 5, [&](int64_t o, int64_t sum, int64_t filter) {
    if (c.has(8)) sum += load_int(c.in(8), filter);
    const double factor = x_scale * load_float(scale, scale.count == 1 ? 0 : filter) / y_scale;
    store_int(y, o, quantized(static_cast<double>(sum) * factor, zero, y.dtype));
  });
}

// The packed integer i of row `row` of `row_bytes` bytes, lowest bits first.
int64_t unpacked(const View& v, int64_t row, int64_t row_bytes, int64_t i, int64_t bits) {
  const int64_t bit = i * bits;
  const int64_t byte = load_int(v, row * row_bytes + bit / 8);
  return byte >> bit % 8 & ((1 << bits) - 1);
}

void run_matmul_nbits(const Call& c) {
  const View a = c.in(0), b = c.in(1), scales = c.in(2), y = c.out();
  const int64_t k = c.attr_int(NEF_MATMUL_NBITS_K), n = c.attr_int(NEF_MATMUL_NBITS_N);
  const int64_t bits = c.attr_int(NEF_MATMUL_NBITS_BITS, 4);
  const int64_t block = c.attr_int(NEF_MATMUL_NBITS_BLOCK_SIZE);
  const int64_t blocks = (k + block - 1) / block;
  const auto zero = [&](int64_t j, int64_t at) -> double {
    if (!c.has(3)) return static_cast<double>(int64_t{1} << (bits - 1));
    if (is_float(c.in(3).dtype)) return load_float(c.in(3), j * blocks + at);
    return static_cast<double>(unpacked(c.in(3), j, (blocks * bits + 7) / 8, at, bits));
  };
  for (int64_t o = 0; o < y.count; ++o) {
    const int64_t row = o / n, j = o % n;
    double sum = c.has(4) ? load_float(c.in(4), j) : 0;
    for (int64_t p = 0; p < k; ++p) {
      const int64_t at = p / block;
      const double weight =
          is_float8(b.dtype)
              ? load_float(b, j * blocks * block + p)
              : static_cast<double>(unpacked(b, j, blocks * block * bits / 8, p, bits)) -
                    zero(j, at);
      sum += load_float(a, row * k + p) * weight * load_float(scales, j * blocks + at);
    }
    store_float(y, o, sum);
  }
}

constexpr Kernel kKernels[] = {
    {NEF_OP_QUANTIZE_LINEAR, run_quantize},        {NEF_OP_DEQUANTIZE_LINEAR, run_dequantize},
    {NEF_OP_DYNAMIC_QUANTIZE_LINEAR, run_dynamic}, {NEF_OP_MATMUL_INTEGER, run_matmul_integer},
    {NEF_OP_QLINEAR_MATMUL, run_qlinear_matmul},   {NEF_OP_CONV_INTEGER, run_conv_integer},
    {NEF_OP_QLINEAR_CONV, run_qlinear_conv},       {NEF_OP_MATMUL_NBITS, run_matmul_nbits},
};

}  // namespace

std::span<const Kernel> quant_kernels() { return kKernels; }

}  // namespace nef::reference
