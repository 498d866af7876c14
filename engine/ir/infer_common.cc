// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/ir/infer_rules.h"

namespace nef::ir {

std::string InferContext::shapes() const {
  std::string text;
  for (const Operand& o : in) {
    if (!o.present) continue;
    if (!text.empty()) text += " x ";
    text += shape_str(o.dims, pool);
  }
  return text;
}

void require_rank(const InferContext& c, size_t input, size_t rank) {
  if (c.rank(input) == rank) return;
  c.fail(NEF_SHAPE_MISMATCH, cat("input ", c.spec.inputs[input].name, " must have ", rank,
                                 " dims, got ", c.shape(input)));
}

void require_rank_at_least(const InferContext& c, size_t input, size_t rank) {
  if (c.rank(input) >= rank) return;
  c.fail(NEF_SHAPE_MISMATCH, cat("input ", c.spec.inputs[input].name, " must have at least ", rank,
                                 " dims, got ", c.shape(input)));
}

size_t normal_axis(const InferContext& c, int64_t axis, size_t rank) {
  const int64_t r = static_cast<int64_t>(rank);
  if (axis >= -r && axis < r) return static_cast<size_t>(axis < 0 ? axis + r : axis);
  c.fail(NEF_INVALID_ARGUMENT, cat("axis ", axis, " is outside [", -r, ", ", r, ") of a tensor of ",
                                   rank, " dims: ", c.shapes()));
}

Dim same_dim(const InferContext& c, Dim a, Dim b, const char* what) {
  if (a == b) return a;
  Dim out = 0;
  if (c.pool.equal(a, b, &out)) return out;
  c.fail(NEF_SHAPE_MISMATCH,
         cat(what, ": ", c.shapes(), " (", c.pool.str(a), " != ", c.pool.str(b), ")"));
}

namespace {

Dim broadcast_dim(const InferContext& c, Dim a, Dim b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  Dim out = 0;
  if (c.pool.broadcast(a, b, &out)) return out;
  c.fail(NEF_SHAPE_MISMATCH, cat("shapes do not broadcast: ", c.shapes(), " (", c.pool.str(a),
                                 " against ", c.pool.str(b), ")"));
}

}  // namespace

void broadcast_into(const InferContext& c, Shape& acc, std::span<const Dim> dims) {
  const size_t have = static_cast<size_t>(acc.rank);
  if (have < dims.size()) {
    const Shape old = acc;
    acc.assign(dims);
    const size_t shift = dims.size() - have;
    for (size_t i = 0; i < have; ++i) {
      acc.dims[shift + i] = broadcast_dim(c, old.dims[i], dims[shift + i]);
    }
    return;
  }
  const size_t shift = have - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    acc.dims[shift + i] = broadcast_dim(c, acc.dims[shift + i], dims[i]);
  }
}

void require_broadcasts_to(const InferContext& c, std::span<const Dim> from,
                           std::span<const Dim> to, const char* what) {
  bool fits = from.size() <= to.size();
  const size_t shift = fits ? to.size() - from.size() : 0;
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const Dim a = from[i], b = to[shift + i];
    if (a == b || a == 1) continue;
    Dim both = 0, out = 0;
    fits = c.pool.broadcast(a, b, &both) && c.pool.equal(both, b, &out);
  }
  if (fits) return;
  c.fail(NEF_SHAPE_MISMATCH,
         cat(what, " ", shape_str(from, c.pool), " does not broadcast to ", shape_str(to, c.pool)));
}

Dim entries(const InferContext& c, size_t input) {
  return c.rank(input) == 1 ? c.dims(input)[0] : Dim{1};
}

void require_entries(const InferContext& c, size_t input, Dim count, const char* what) {
  same_dim(c, entries(c, input), count, what);
}

void require_vector(const InferContext& c, size_t input, Dim size, const char* what) {
  require_rank(c, input, 1);
  same_dim(c, c.dims(input)[0], size, what);
}

Dim divided(const InferContext& c, Dim a, Dim b, const char* what) {
  Dim out = 0;
  if (c.pool.exact_div(a, b, &out)) return out;
  // Not provable for symbols: take the floor and leave the check that nothing was lost.
  if ((is_expr(a) || is_expr(b)) && c.pool.upper(b) >= 1) {
    const Dim q = c.pool.floordiv(a, b);
    if (c.pool.equal(c.pool.mul(q, b), a, &out)) return q;
  }
  c.fail(NEF_SHAPE_MISMATCH, cat(what, ": ", c.shapes(), " (", c.pool.str(a),
                                 " is not a multiple of ", c.pool.str(b), ")"));
}

Dim product(DimPool& pool, std::span<const Dim> dims) {
  Dim out = 1;
  for (Dim d : dims) {
    if (d == 0) return 0;
  }
  for (Dim d : dims) out = pool.mul(out, d);
  return out;
}

HostInts any_host_ints(const InferContext& c, size_t input) {
  HostInts h;
  const Operand& o = c.in[input];
  if (o.dims.size() > 1) {
    c.fail(NEF_SHAPE_MISMATCH,
           cat("input ", c.spec.inputs[input].name, " must be a vector, got ", c.shape(input)));
  }
  if (o.has_content) {
    h.known = true;
    h.elements = o.content;
    h.count = static_cast<int64_t>(o.content.size());
    return h;
  }
  if (o.dims.empty()) h.count = 1;
  else if (!is_expr(o.dims[0])) h.count = o.dims[0].number();
  h.known = h.count == 0;
  return h;
}

HostInts host_ints(const InferContext& c, size_t input) {
  const HostInts h = any_host_ints(c, input);
  const Operand& o = c.in[input];
  if (h.known || o.data == nullptr || o.dtype != NEF_INT64) return h;
  for (int64_t i = 0; i < h.count; ++i) {
    const int64_t n = stored_int(o.dtype, o.data, static_cast<size_t>(i));
    if (Dim::known(n)) continue;
    c.fail(NEF_OUT_OF_RANGE, cat("input ", c.spec.inputs[input].name, " has the element ", n,
                                 ", which is too low for a size, a count or an axis"));
  }
  return h;
}

HostInts host_ints_sized(const InferContext& c, size_t input) {
  const HostInts h = host_ints(c, input);
  if (h.count >= 0) return h;
  c.fail(NEF_UNSUPPORTED,
         cat("the rank of the result depends on input ", c.spec.inputs[input].name,
             ", whose length is not known before running; give it a fixed length"));
}

namespace {

// float16: a sign, 5 bits of exponent, 10 of mantissa.
double float16_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double v = std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25);
  if (exponent == 31) {
    v = mantissa == 0 ? std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits >> 15) != 0 ? -v : v;
}

double stored_float(nef_dtype t, const char* data) {
  uint16_t half = 0;
  float single = 0;
  double wide = 0;
  switch (t) {
    case NEF_FLOAT64: std::memcpy(&wide, data, 8); return wide;
    case NEF_FLOAT32: std::memcpy(&single, data, 4); return single;
    case NEF_FLOAT16: std::memcpy(&half, data, 2); return float16_value(half);
    default: std::memcpy(&half, data, 2);
  }
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

}  // namespace

bool host_floats(const InferContext& c, size_t input, size_t count, double* out) {
  const Operand& o = c.in[input];
  const bool sized = count == 1 ? true : o.dims.size() == 1 && o.dims[0] == count;
  if (o.data == nullptr || !sized || !dtype_is_float(o.dtype)) return false;
  for (size_t i = 0; i < count; ++i) {
    out[i] = stored_float(o.dtype, static_cast<const char*>(o.data) + dtype_size(o.dtype) * i);
  }
  return true;
}

int64_t host_number(const InferContext& c, size_t input, Dim element) {
  if (!is_expr(element)) return element.number();
  c.fail(NEF_UNSUPPORTED,
         cat("input ", c.spec.inputs[input].name, " must be known before running; ",
             "one of its elements is ", c.pool.str(element)));
}

int64_t stored_int(nef_dtype dtype, const void* data, size_t i) {
  int64_t wide = 0;
  int32_t narrow = 0;
  if (dtype == NEF_INT64) {
    std::memcpy(&wide, static_cast<const char*>(data) + 8 * i, 8);
    return wide;
  }
  std::memcpy(&narrow, static_cast<const char*>(data) + 4 * i, 4);
  return narrow;
}

void read_content(Operand& o, size_t count, std::vector<Dim>* storage) {
  if (o.dtype != NEF_INT64 && o.dtype != NEF_INT32) return;
  storage->resize(count);
  for (size_t i = 0; i < count; ++i) {
    const std::optional<Dim> d = Dim::known(stored_int(o.dtype, o.data, i));
    if (!d) return;
    (*storage)[i] = *d;
  }
  o.has_content = true;
  o.content = *storage;
}

nef_dtype dtype_attr(const InferContext& c, unsigned slot, nef_dtype fallback) {
  const int64_t t = c.attrs.i(slot, fallback);
  if (t > 0 && t < 32 && (c.spec.outputs[0].dtypes >> t & 1u) != 0)
    return static_cast<nef_dtype>(t);
  c.fail(NEF_INVALID_ARGUMENT,
         cat(c.spec.attrs[slot].name, " may not be ", dtype_name(static_cast<nef_dtype>(t))));
}

void require_one_element(const InferContext& c, size_t input) {
  if (c.rank(input) == 0) return;
  if (c.rank(input) == 1 && c.dims(input)[0] == 1) return;
  c.fail(NEF_SHAPE_MISMATCH,
         cat("input ", c.spec.inputs[input].name, " must be a scalar, got ", c.shape(input)));
}

namespace {

void add_axis(const InferContext& c, int64_t axis, size_t rank, uint32_t* mask) {
  const uint32_t bit = 1u << normal_axis(c, axis, rank);
  if ((*mask & bit) != 0) c.fail(NEF_INVALID_ARGUMENT, cat("axis ", axis, " is given twice"));
  *mask |= bit;
}

}  // namespace

uint32_t axis_mask(const InferContext& c, std::span<const int64_t> axes, size_t rank) {
  uint32_t mask = 0;
  for (int64_t a : axes) add_axis(c, a, rank, &mask);
  return mask;
}

uint32_t axis_mask(const InferContext& c, size_t input, std::span<const Dim> axes, size_t rank) {
  uint32_t mask = 0;
  for (Dim a : axes) add_axis(c, host_number(c, input, a), rank, &mask);
  return mask;
}

void copy_content(const InferContext& c, size_t input, Inferred& out) {
  const Operand& o = c.in[input];
  if (!o.has_content || out.shape.rank > 1) return;
  out.has_content = true;
  out.content.assign(o.content.begin(), o.content.end());
}

}  // namespace nef::ir
