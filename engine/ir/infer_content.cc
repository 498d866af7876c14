// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic on the elements of small integer tensors, as dims.
#include <algorithm>
#include <optional>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

using Known = std::optional<Dim>;

Known truth(bool v) { return Dim::of(v ? 1 : 0); }

// Truncating division; x / 0 is 0.
Known divide(DimPool& pool, Dim a, Dim b) {
  if (!is_expr(a) && !is_expr(b)) return b == 0 ? Dim(0) : Dim::known(a.number() / b.number());
  if (pool.lower(a) >= 0 && pool.lower(b) >= 1) return pool.floordiv(a, b);
  return {};
}

Known modulo(DimPool& pool, Dim a, Dim b, bool fmod) {
  if (!is_expr(a) && !is_expr(b)) {
    if (b == 0) return Dim(0);
    const int64_t n = b.number(), r = a.number() % n;
    return Dim::known(!fmod && r != 0 && (r < 0) != (n < 0) ? r + n : r);
  }
  if (pool.lower(b) < 1 || (fmod && pool.lower(a) < 0)) return {};
  return pool.sub(a, pool.mul(pool.floordiv(a, b), b));
}

Known equal(const DimPool& pool, Dim a, Dim b) {
  if (a == b) return truth(true);
  if (pool.lower(a) > pool.upper(b) || pool.lower(b) > pool.upper(a)) return truth(false);
  return {};
}

Known less(const DimPool& pool, Dim a, Dim b) {
  if (a == b || pool.lower(a) >= pool.upper(b)) return truth(false);
  if (pool.upper(a) < pool.lower(b)) return truth(true);
  return {};
}

Known negated(Known v) { return v ? truth(*v == 0) : v; }

Known logical(nef_op op, Dim a, Dim b) {
  if (is_expr(a) || is_expr(b)) return {};
  if (op == NEF_OP_AND) return truth(a != 0 && b != 0);
  if (op == NEF_OP_OR) return truth(a != 0 || b != 0);
  return truth((a != 0) != (b != 0));
}

Known binary(const InferContext& c, Dim a, Dim b) {
  DimPool& pool = c.pool;
  switch (c.spec.id) {
    case NEF_OP_ADD:
    case NEF_OP_SUM: return pool.add(a, b);
    case NEF_OP_SUB: return pool.sub(a, b);
    case NEF_OP_MUL: return pool.mul(a, b);
    case NEF_OP_DIV: return divide(pool, a, b);
    case NEF_OP_MOD: return modulo(pool, a, b, c.attrs.i(NEF_MOD_FMOD) != 0);
    case NEF_OP_MAX: return pool.max(a, b);
    case NEF_OP_MIN: return pool.min(a, b);
    case NEF_OP_EQUAL: return equal(pool, a, b);
    case NEF_OP_LESS: return less(pool, a, b);
    case NEF_OP_GREATER: return less(pool, b, a);
    case NEF_OP_LESS_OR_EQUAL: return negated(less(pool, b, a));
    case NEF_OP_GREATER_OR_EQUAL: return negated(less(pool, a, b));
    case NEF_OP_AND:
    case NEF_OP_OR:
    case NEF_OP_XOR: return logical(c.spec.id, a, b);
    default: return {};
  }
}

Known cast(const InferContext& c, Dim a) {
  const nef_dtype to = c.out[0].dtype;
  if (to == NEF_BOOL) return negated(equal(c.pool, a, 0));
  if (to == NEF_INT64 || c.in[0].dtype == NEF_BOOL) return a;
  return fits_int32(a) ? Known(a) : Known();  // narrowing wraps
}

Known unary(const InferContext& c, Dim a) {
  switch (c.spec.id) {
    case NEF_OP_NEG: return c.pool.sub(0, a);
    case NEF_OP_NOT: return negated(truth(a != 0));
    case NEF_OP_ABS:
      if (c.pool.lower(a) >= 0) return a;
      if (c.pool.upper(a) <= 0) return c.pool.sub(0, a);
      return {};
    default: return cast(c, a);
  }
}

Known element(const InferContext& c, size_t input, size_t i) {
  const Operand& o = c.in[input];
  if (!o.has_content || o.content.empty()) return {};
  return o.content[o.content.size() == 1 ? 0 : i];
}

Known clipped(const InferContext& c, size_t i) {
  Dim v = *element(c, 0, i);
  if (c.has(1)) v = c.pool.max(v, *element(c, 1, 0));
  if (c.has(2)) v = c.pool.min(v, *element(c, 2, 0));
  return v;
}

Known selected(const InferContext& c, size_t i) {
  const Known condition = element(c, 0, i);
  if (!condition || is_expr(*condition)) return {};
  return element(c, *condition != 0 ? 1 : 2, i);
}

Known compute(const InferContext& c, size_t i) {
  if (c.spec.id == NEF_OP_CLIP) return clipped(c, i);
  if (c.spec.id == NEF_OP_WHERE) return selected(c, i);
  Known v = element(c, 0, i);
  if (c.spec.id == NEF_OP_CAST_LIKE || c.in.size() == 1) {
    const bool many = c.spec.infer == InferRule::kBroadcast;
    return many || !v ? v : unary(c, *v);
  }
  for (size_t k = 1; v && k < c.in.size(); ++k) {
    const Known other = element(c, k, i);
    v = other ? binary(c, *v, *other) : other;
  }
  return v;
}

}  // namespace

void infer_elementwise_content(const InferContext& c) {
  Inferred& out = c.out[0];
  if (!tracks_content(out.dtype) || out.shape.rank > 1) return;
  const Dim n = out.shape.rank == 0 ? 1 : out.shape.dims[0];
  if (!few_elements(n)) return;
  const auto count = static_cast<size_t>(n.number());
  out.content.reserve(count);
  try {
    for (size_t i = 0; i < count; ++i) {
      const Known v = compute(c, i);
      if (!v || (out.dtype == NEF_INT32 && !fits_int32(*v))) return out.content.clear();
      out.content.push_back(*v);
    }
  } catch (const Error&) {
    // Integers wrap at run time where dims overflow: not known here, and no error.
    return out.content.clear();
  }
  out.has_content = true;
}

}  // namespace nef::ir
