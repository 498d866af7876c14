// SPDX-License-Identifier: Apache-2.0
// Ops that give the same elements another shape.
#include <algorithm>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

[[noreturn]] void fail_reshape(const InferContext& c, std::span<const Dim> wanted,
                               const std::string& why) {
  c.fail(NEF_SHAPE_MISMATCH,
         cat("cannot reshape ", c.shape(0), " to ", shape_str(wanted, c.pool), ": ", why));
}

struct Wanted {
  int64_t unknown_at = -1;  // position of the -1
  uint32_t copied = 0;      // positions whose dim is copied from the input
};

Wanted read_wanted(const InferContext& c, std::span<const Dim> wanted, bool allow_zero) {
  Wanted w;
  bool zero = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Dim d = wanted[i];
    if (d == -1) {
      if (w.unknown_at >= 0) {
        c.fail(NEF_INVALID_ARGUMENT, cat("shape ", shape_str(wanted, c.pool), " has -1 twice"));
      }
      w.unknown_at = static_cast<int64_t>(i);
    } else if (c.pool.upper(d) < 0) {
      c.fail(NEF_INVALID_ARGUMENT,
             cat("shape ", shape_str(wanted, c.pool), " has a negative dim other than -1"));
    } else if (d == 0 && !allow_zero) {
      if (i >= c.rank(0))
        fail_reshape(c, wanted, cat("the 0 at place ", i, " has nothing to copy"));
      w.copied |= 1u << i;
    } else if (d == 0) {
      zero = true;
    }
  }
  if (zero && w.unknown_at >= 0) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("shape ", shape_str(wanted, c.pool), " has both 0 and -1, which allowzero forbids"));
  }
  return w;
}

// The dim that -1 stands for.
Dim worked_out(const InferContext& c, std::span<const Dim> wanted, Dim have, Dim need) {
  if (need == 0) fail_reshape(c, wanted, "-1 cannot be worked out beside a dim of size 0");
  Dim out = 0, check = 0;
  if (c.pool.exact_div(have, need, &out)) return out;
  if ((is_expr(have) || is_expr(need)) && c.pool.upper(need) >= 1) {
    // Not provable for these symbols: the check stays in the pool.
    out = c.pool.floordiv(have, need);
    if (c.pool.equal(c.pool.mul(out, need), have, &check)) return out;
  }
  fail_reshape(c, wanted,
               cat(c.pool.str(have), " elements are not a multiple of ", c.pool.str(need)));
}

// A dim that can only be `d` if the run does not fail: not known, so that the run looks whether the
// host input says so.
Dim told_by_run(const InferContext& c, Dim d) {
  return c.pool.unknown(std::max<int64_t>(0, c.pool.lower(d)), c.pool.upper(d));
}

void reshape_unknown(InferContext& c) {
  const int64_t n = host_ints_sized(c, 1).count;
  if (n > NEF_MAX_RANK) {
    c.fail(NEF_LIMIT_EXCEEDED, cat("the result would have ", n, " dims, over ", NEF_MAX_RANK));
  }
  if (n == 1) return c.out[0].shape.push(told_by_run(c, product(c.pool, c.dims(0))));
  for (int64_t i = 0; i < n; ++i) c.out[0].shape.push(c.pool.unknown());
}

}  // namespace

void infer_reshape(InferContext& c) {
  const HostInts host = host_ints(c, 1);
  if (!host.known) return reshape_unknown(c);
  const std::span<const Dim> in = c.dims(0), wanted = host.elements;
  Shape& out = c.out[0].shape;
  out.assign(wanted);
  const Wanted w = read_wanted(c, wanted, c.attrs.i(NEF_RESHAPE_ALLOWZERO) != 0);
  // Copied dims are on both sides, so they cancel; beside a 0 among them nothing else counts.
  Shape from, to;
  bool empty = false;
  for (size_t i = 0; i < in.size(); ++i) {
    if ((w.copied >> i & 1u) == 0) {
      from.push(in[i]);
      continue;
    }
    out.dims[i] = in[i];
    empty = empty || in[i] == 0;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if ((w.copied >> i & 1u) == 0 && static_cast<int64_t>(i) != w.unknown_at) to.push(wanted[i]);
  }
  const Dim have = product(c.pool, from), need = product(c.pool, to);
  if (w.unknown_at >= 0) {
    out.dims[w.unknown_at] = worked_out(c, wanted, have, need);
  } else if (!empty) {
    Dim check = 0;
    if (!c.pool.equal(have, need, &check)) {
      fail_reshape(c, wanted, cat(c.pool.str(have), " elements are not ", c.pool.str(need)));
    }
  }
  copy_content(c, 0, c.out[0]);
}

void infer_flatten(InferContext& c) {
  const std::span<const Dim> d = c.dims(0);
  const int64_t rank = static_cast<int64_t>(d.size());
  int64_t axis = c.attrs.i(NEF_FLATTEN_AXIS, 1);
  if (axis < -rank || axis > rank) {
    c.fail(NEF_INVALID_ARGUMENT, cat("axis ", axis, " is outside [", -rank, ", ", rank, "]"));
  }
  if (axis < 0) axis += rank;
  const size_t at = static_cast<size_t>(axis);
  c.out[0].shape = Shape{product(c.pool, d.first(at)), product(c.pool, d.subspan(at))};
}

namespace {

void squeeze_all(InferContext& c) {
  for (Dim d : c.dims(0)) {
    if (d == 1) continue;
    if (c.pool.lower(d) <= 1 && c.pool.upper(d) >= 1) {
      c.fail(NEF_UNSUPPORTED, cat("without axes the rank of the result depends on dim ",
                                  c.pool.str(d), " of ", c.shape(0), "; give axes"));
    }
    c.out[0].shape.push(d);
  }
}

}  // namespace

void infer_squeeze(InferContext& c) {
  const HostInts axes = c.has(1) ? host_ints(c, 1) : HostInts{};
  const std::span<const Dim> d = c.dims(0);
  Shape& out = c.out[0].shape;
  if (!c.has(1)) {
    squeeze_all(c);
  } else if (!axes.known) {
    const int64_t n = host_ints_sized(c, 1).count;
    if (n > static_cast<int64_t>(d.size())) {
      c.fail(NEF_INVALID_ARGUMENT, cat(n, " axes for a tensor of ", d.size(), " dims"));
    }
    for (size_t i = static_cast<size_t>(n); i < d.size(); ++i) out.push(c.pool.unknown());
    // All of them are squeezed, whatever the order.
    for (size_t i = 0; out.rank == 0 && i < d.size(); ++i) {
      same_dim(c, d[i], 1, "a squeezed dim is not 1");
    }
  } else {
    const uint32_t mask = axis_mask(c, 1, axes.elements, d.size());
    for (size_t i = 0; i < d.size(); ++i) {
      if ((mask >> i & 1u) == 0) out.push(d[i]);
      else same_dim(c, d[i], 1, "a squeezed dim is not 1");
    }
  }
  copy_content(c, 0, c.out[0]);
}

void infer_unsqueeze(InferContext& c) {
  const HostInts axes = host_ints_sized(c, 1);
  const std::span<const Dim> d = c.dims(0);
  Shape& out = c.out[0].shape;
  if (axes.count > NEF_MAX_RANK) {
    c.fail(NEF_LIMIT_EXCEEDED, cat(axes.count, " new axes; the rank is limited to ", NEF_MAX_RANK));
  }
  const size_t rank = d.size() + static_cast<size_t>(axes.count);
  if (!axes.known) {
    for (size_t i = 0; i < rank; ++i) out.push(c.pool.unknown());
    return;
  }
  const uint32_t mask = axis_mask(c, 1, axes.elements, rank);
  size_t from = 0;
  for (size_t i = 0; i < rank; ++i) out.push((mask >> i & 1u) != 0 ? 1 : d[from++]);
  copy_content(c, 0, c.out[0]);
}

void infer_expand(InferContext& c) {
  const HostInts host = host_ints(c, 1);
  const std::span<const Dim> in = c.dims(0);
  Shape& out = c.out[0].shape;
  if (host.known) {
    for (Dim d : host.elements) {
      if (c.pool.upper(d) < 0) {
        c.fail(NEF_INVALID_ARGUMENT,
               cat("shape ", shape_str(host.elements, c.pool), " has a negative dim"));
      }
    }
    out.assign(in);
    broadcast_into(c, out, host.elements);
    return;
  }
  const size_t n = static_cast<size_t>(host_ints_sized(c, 1).count);
  const size_t rank = std::max(n, in.size());
  bool told = n == 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool mine = i + in.size() >= rank;
    const Dim d = mine ? in[i + in.size() - rank] : 1;
    // Where shape does not reach, or the dim cannot be stretched, it stays.
    const bool fixed = i + n < rank || c.pool.lower(d) > 1;
    told = told || !fixed;
    out.push(fixed ? d : c.pool.unknown());
  }
  if (!told) out.dims[rank - n] = told_by_run(c, out.dims[rank - n]);
}

}  // namespace nef::ir
