// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/dim.h"

#include <algorithm>

#include "engine/ir/checked.h"
#include "engine/ir/dim_terms.h"
#include "engine/ir/error.h"

namespace nef::ir {
namespace {

using Terms = std::vector<DimPool::Term>;

constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxExprs = size_t{1} << 20;
constexpr uint32_t kMaxWeight = 4096;
constexpr uint32_t kMaxDepth = 48;

[[noreturn]] void fail_limit(const char* what) { fail(NEF_LIMIT_EXCEEDED, "dim", what); }

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

uint64_t hash_expr(const DimPool::Expr& e) {
  uint64_t h = mix(static_cast<uint64_t>(e.kind) + 1, e.a.key());
  h = mix(h, e.b.key());
  for (const DimPool::Term& t : e.terms) {
    h = mix(h, static_cast<uint64_t>(t.coefficient));
    h = mix(h, t.atoms.size());
    for (uint32_t atom : t.atoms) h = mix(h, atom);
  }
  return h;
}

// Interval arithmetic; +-kUnbounded stand for infinity.
bool infinite(int64_t v) { return v == kUnbounded || v == -kUnbounded; }
int64_t saturated(bool negative) { return negative ? -kUnbounded : kUnbounded; }
int64_t bound_mul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (!checked_mul(a, b, &out) || out < -kUnbounded) return saturated((a < 0) != (b < 0));
  return out;
}
int64_t bound_add(int64_t a, int64_t b) {
  if (infinite(a)) return a;
  if (infinite(b)) return b;
  int64_t out = 0;
  if (!checked_add(a, b, &out) || out < -kUnbounded) return saturated(a < 0);
  return out;
}
// floor(a / b) of bounds; b >= 1.
int64_t bound_div(int64_t a, int64_t b) {
  if (b == kUnbounded) return a < 0 ? -1 : 0;
  return infinite(a) ? a : floor_div(a, b);
}

void interval_mul(int64_t lo, int64_t hi, int64_t* out_lo, int64_t* out_hi) {
  const int64_t c[4] = {bound_mul(*out_lo, lo), bound_mul(*out_lo, hi), bound_mul(*out_hi, lo),
                        bound_mul(*out_hi, hi)};
  *out_lo = *std::min_element(c, c + 4);
  *out_hi = *std::max_element(c, c + 4);
}

}  // namespace

void Dim::fail_too_low(int64_t n) {
  fail(NEF_LIMIT_EXCEEDED, "dim", cat("the number ", n, " is below ", kLowest, ", the lowest dim"));
}
void Dim::fail_no_number() { fail(NEF_INTERNAL, "dim", "an expression was taken for a number"); }

// ---- symbols and interning ----------------------------------------------------------------

Dim DimPool::symbol(std::string_view name, int64_t lo, int64_t hi) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    fail(NEF_INVALID_ARGUMENT, "dim",
         cat("a symbol name has 1 to ", kMaxNameBytes, " bytes, got ", name.size()));
  }
  const std::string key(name);
  if (lo < 0 || hi < lo) {
    fail(NEF_INVALID_ARGUMENT, "dim",
         cat("bounds of symbol ", key, " must be 0 <= lo <= hi, got [", lo, ", ", hi, "]"));
  }
  const auto found = symbols_.find(key);
  if (found != symbols_.end()) {
    Expr& e = exprs_[found->second];
    if (std::max(lo, e.lo) > std::min(hi, e.hi)) {
      fail(NEF_INVALID_ARGUMENT, "dim",
           cat("symbol ", key, " has bounds [", e.lo, ", ", e.hi, "] and now [", lo, ", ", hi,
               "]: nothing is in both"));
    }
    e.lo = std::max(lo, e.lo);
    e.hi = std::min(hi, e.hi);
    return dim_of(found->second);
  }
  Expr e{};
  e.kind = Kind::Symbol;
  e.name = key;
  e.lo = lo;
  e.hi = hi;
  const uint32_t id = place(std::move(e));
  symbols_.emplace(key, id);
  return dim_of(id);
}

Dim DimPool::unknown(int64_t lo, int64_t hi) {
  Expr e{};
  e.kind = Kind::Symbol;
  e.lo = lo;
  e.hi = std::max(lo, hi);
  return dim_of(place(std::move(e)));
}

uint32_t DimPool::place(Expr e) {
  if (used() >= kMaxExprs) fail_limit("too many dim expressions in one graph");
  if (free_.empty()) {
    exprs_.push_back(std::move(e));
    return static_cast<uint32_t>(exprs_.size() - 1);
  }
  const uint32_t id = free_.back();
  free_.pop_back();
  exprs_[id] = std::move(e);
  return id;
}

void DimPool::keep_only(std::span<const Dim> roots) {
  std::vector<bool> live(exprs_.size(), false);
  std::vector<uint32_t> open;
  const auto reach = [&](uint32_t id) {
    if (live[id]) return;
    live[id] = true;
    open.push_back(id);
  };
  for (Dim d : roots) {
    if (is_expr(d)) reach(expr_id(d));
  }
  while (!open.empty()) {
    const Expr& e = exprs_[open.back()];
    open.pop_back();
    for (Dim d : {e.a, e.b}) {
      if (is_expr(d)) reach(expr_id(d));
    }
    for (const Term& t : e.terms) {
      for (uint32_t atom : t.atoms) reach(atom);
    }
  }
  std::erase_if(symbols_, [&](const auto& entry) { return !live[entry.second]; });
  std::erase_if(index_, [&](const auto& entry) { return !live[entry.second]; });
  free_.clear();
  for (uint32_t id = 0; id < exprs_.size(); ++id) {
    if (live[id]) continue;
    exprs_[id] = Expr{};
    free_.push_back(id);
  }
}

Dim DimPool::intern(Expr e) {
  const uint64_t h = hash_expr(e);
  const auto [first, last] = index_.equal_range(h);
  for (auto it = first; it != last; ++it) {
    const Expr& have = exprs_[it->second];
    if (have.kind == e.kind && have.a == e.a && have.b == e.b && have.terms == e.terms) {
      return dim_of(it->second);
    }
  }
  if (e.weight > kMaxWeight || e.depth > kMaxDepth) {
    fail_limit("a dim expression grew too large; give some of its dims as numbers");
  }
  const uint32_t id = place(std::move(e));
  index_.emplace(h, id);
  return dim_of(id);
}

Dim DimPool::intern_pair(Kind kind, Dim a, Dim b, int64_t lo, int64_t hi) {
  Expr e{};
  e.kind = kind;
  e.a = a;
  e.b = b;
  e.lo = lo;
  e.hi = hi;
  for (Dim d : {a, b}) {
    if (!is_expr(d)) continue;
    e.weight += expr(d).weight;
    e.depth = std::max(e.depth, expr(d).depth + 1);
  }
  return intern(std::move(e));
}

// ---- polynomials --------------------------------------------------------------------------

Terms DimPool::terms_of(Dim d) const {
  if (!is_expr(d)) return d == 0 ? Terms{} : Terms{{d.number(), {}}};
  const Expr& e = expr(d);
  return e.kind == Kind::Poly ? e.terms : Terms{{1, {expr_id(d)}}};
}

void DimPool::bounds_of(const Terms& terms, int64_t* lo, int64_t* hi) const {
  *lo = *hi = 0;
  for (const Term& t : terms) {
    int64_t term_lo = t.coefficient, term_hi = t.coefficient;
    for (uint32_t atom : t.atoms) {
      interval_mul(exprs_[atom].lo, exprs_[atom].hi, &term_lo, &term_hi);
    }
    *lo = bound_add(*lo, term_lo);
    *hi = bound_add(*hi, term_hi);
  }
}

// `terms` is canonical.
Dim DimPool::from_terms(Terms terms) {
  if (terms.empty()) return 0;
  if (terms.size() == 1) {
    const Term& t = terms[0];
    if (t.atoms.empty()) return Dim::of(t.coefficient);
    if (t.coefficient == 1 && t.atoms.size() == 1) return dim_of(t.atoms[0]);
  }
  Expr e{};
  e.kind = Kind::Poly;
  e.weight = 0;
  for (const Term& t : terms) {
    ++e.weight;
    for (uint32_t atom : t.atoms) {
      e.weight += exprs_[atom].weight;
      e.depth = std::max(e.depth, exprs_[atom].depth + 1);
    }
  }
  bounds_of(terms, &e.lo, &e.hi);
  e.terms = std::move(terms);
  return intern(std::move(e));
}

Dim DimPool::add(Dim a, Dim b) {
  if (!is_expr(a) && !is_expr(b)) {
    return terms::checked_constant(a.number(), b.number(), checked_add);
  }
  if (a == 0) return b;
  if (b == 0) return a;
  return from_terms(terms::sum(terms_of(a), terms_of(b), 1));
}

Dim DimPool::sub(Dim a, Dim b) {
  if (!is_expr(a) && !is_expr(b)) {
    return terms::checked_constant(a.number(), b.number(), checked_sub);
  }
  if (b == 0) return a;
  if (a == b) return 0;
  return from_terms(terms::sum(terms_of(a), terms_of(b), -1));
}

Dim DimPool::mul(Dim a, Dim b) {
  if (!is_expr(a) && !is_expr(b)) {
    return terms::checked_constant(a.number(), b.number(), checked_mul);
  }
  if (a == 0 || b == 0) return 0;
  if (a == 1) return b;
  if (b == 1) return a;
  return from_terms(terms::product(terms_of(a), terms_of(b)));
}

// ---- division -----------------------------------------------------------------------------

bool DimPool::exact_div(Dim a, Dim b, Dim* out) {
  if (!is_expr(a) && !is_expr(b)) {
    if (b == 0 || a.number() % b.number() != 0) return false;
    *out = Dim::of(a.number() / b.number());
    return true;
  }
  if (b == 0) return false;
  if (b == 1 || a == 0) {
    *out = a;
    return true;
  }
  if (a == b) {
    *out = 1;
    return true;
  }
  Terms quotient;
  if (!terms::divide(terms_of(a), terms_of(b), &quotient)) return false;
  *out = from_terms(std::move(quotient));
  return true;
}

Dim DimPool::floordiv(Dim a, Dim b) {
  if (upper(b) < 1) {
    fail(NEF_INVALID_ARGUMENT, "dim", cat("division by ", str(b), ", which is never positive"));
  }
  if (is_expr(b)) return floordiv_symbolic(a, b);
  if (is_expr(a)) return floordiv_const(a, b.number());
  return Dim::of(floor_div(a.number(), b.number()));
}

// floor((k * whole + rest) / k) = whole + floor(rest / k), and often rest / k is a known number.
Dim DimPool::floordiv_const(Dim a, int64_t k) {
  if (k == 1) return a;
  Terms whole, rest;
  for (const Term& t : terms_of(a)) {
    // Coefficients of atoms keep their sign, so that bounds stay tight.
    int64_t q = t.coefficient / k, r = t.coefficient % k;
    if (t.atoms.empty() && r < 0) {
      q -= 1;
      r += k;
    }
    if (q != 0) whole.push_back({q, t.atoms});
    if (r != 0) rest.push_back({r, t.atoms});
  }
  int64_t lo = 0, hi = 0;
  bounds_of(rest, &lo, &hi);
  const int64_t quotient = bound_div(lo, k);
  if (!infinite(lo) && !infinite(hi) && quotient == bound_div(hi, k)) {
    return add(from_terms(std::move(whole)), Dim::of(quotient));
  }
  Dim fraction = 0;
  if (!simplify_nested(rest, k, &fraction)) {
    const Dim numerator = from_terms(terms::reduce_by_gcd(std::move(rest), &k));
    fraction = k == 1 ? numerator
                      : intern_pair(Kind::FloorDiv, numerator, Dim::of(k),
                                    bound_div(lower(numerator), k), bound_div(upper(numerator), k));
  }
  return add(from_terms(std::move(whole)), fraction);
}

// floor((floor(x / m) + c) / k) = floor((x + c * m) / (m * k)).
bool DimPool::simplify_nested(const Terms& rest, int64_t k, Dim* out) {
  if (rest.empty() || rest.size() > 2) return false;
  if (rest[0].coefficient != 1 || rest[0].atoms.size() != 1) return false;
  if (rest.size() == 2 && !rest[1].atoms.empty()) return false;
  const Expr& inner = exprs_[rest[0].atoms[0]];
  if (inner.kind != Kind::FloorDiv || is_expr(inner.b)) return false;
  const int64_t c = rest.size() == 2 ? rest[1].coefficient : 0;
  const int64_t m = inner.b.number();
  int64_t divisor = 0, shift = 0;
  if (!checked_mul(m, k, &divisor) || !checked_mul(c, m, &shift)) return false;
  const std::optional<Dim> shift_dim = Dim::known(shift);
  if (!shift_dim) return false;
  *out = floordiv_const(add(inner.a, *shift_dim), divisor);
  return true;
}

Dim DimPool::floordiv_symbolic(Dim a, Dim b) {
  Dim exact = 0;
  if (exact_div(a, b, &exact)) return exact;
  const Terms divisor = terms_of(b);
  Terms whole, rest = terms_of(a);
  if (divisor.size() == 1) {
    Terms kept;
    for (Term& t : rest) {
      Term q;
      if (terms::divide_term(t, divisor[0], &q)) whole.push_back(std::move(q));
      else kept.push_back(std::move(t));
    }
    rest = std::move(kept);
  }
  int64_t lo = 0, hi = 0;
  bounds_of(rest, &lo, &hi);
  const Dim base = from_terms(terms::canonical(std::move(whole)));
  if (lo >= 0 && hi < lower(b)) return base;
  const int64_t b_lo = std::max<int64_t>(lower(b), 1), b_hi = upper(b);
  const Dim numerator = from_terms(std::move(rest));
  const Dim fraction =
      intern_pair(Kind::FloorDiv, numerator, b, bound_div(lo, lo >= 0 ? b_hi : b_lo),
                  bound_div(hi, hi >= 0 ? b_lo : b_hi));
  return add(base, fraction);
}

Dim DimPool::ceildiv(Dim a, Dim b) {
  if (!is_expr(a) && !is_expr(b) && b.number() >= 1) {
    return Dim::of(ceil_div(a.number(), b.number()));
  }
  return floordiv(add(a, sub(b, 1)), b);
}

// ---- comparisons --------------------------------------------------------------------------

int DimPool::compare(Dim a, Dim b) const {
  if (a == b) return 0;
  int64_t lo = 0, hi = 0;
  if (!is_expr(a) && !is_expr(b)) return a.number() < b.number() ? -1 : 1;
  bounds_of(terms::sum(terms_of(a), terms_of(b), -1), &lo, &hi);
  if (lo >= 0) return 1;
  return hi <= 0 ? -1 : 2;
}

Dim DimPool::max(Dim a, Dim b) {
  switch (compare(a, b)) {
    case -1: return b;
    case 0:
    case 1: return a;
    default: break;
  }
  if (b.word_ < a.word_) std::swap(a, b);
  return intern_pair(Kind::Max, a, b, std::max(lower(a), lower(b)), std::max(upper(a), upper(b)));
}

Dim DimPool::min(Dim a, Dim b) {
  switch (compare(a, b)) {
    case -1:
    case 0: return a;
    case 1: return b;
    default: break;
  }
  if (b.word_ < a.word_) std::swap(a, b);
  return intern_pair(Kind::Min, a, b, std::min(lower(a), lower(b)), std::min(upper(a), upper(b)));
}

bool DimPool::never_equal(Dim a, Dim b) const {
  if (a == b) return false;
  if (!is_expr(a) && !is_expr(b)) return true;
  int64_t lo = 0, hi = 0;
  bounds_of(terms::sum(terms_of(a), terms_of(b), -1), &lo, &hi);
  return lo > 0 || hi < 0 || lower(a) > upper(b) || lower(b) > upper(a);
}

bool DimPool::broadcast(Dim a, Dim b, Dim* out) {
  if (a == b || b == 1) {
    *out = a;
    return true;
  }
  if (a == 1) {
    *out = b;
    return true;
  }
  const bool a_one = lower(a) <= 1 && upper(a) >= 1, b_one = lower(b) <= 1 && upper(b) >= 1;
  if (!a_one && !b_one && never_equal(a, b)) return false;
  if (b.word_ < a.word_) std::swap(a, b);  // expressions first, older ones before newer ones
  for (const auto& [outer, inner] : {std::pair{a, b}, std::pair{b, a}}) {
    if (!is_expr(outer)) continue;
    const Expr& e = expr(outer);
    if (e.kind == Kind::Broadcast && (e.a == inner || e.b == inner)) {
      *out = outer;
      return true;
    }
  }
  const Dim both = intern_pair(Kind::Broadcast, a, b, std::min(lower(a), lower(b)),
                               std::max(upper(a), upper(b)));
  // A dim that is not 1 is the result, whatever the other one is; `both` stays as the check.
  if (!is_expr(b)) *out = b;
  else if (lower(a) > 1) *out = a;
  else if (lower(b) > 1) *out = b;
  else *out = both;
  return true;
}

bool DimPool::equal(Dim a, Dim b, Dim* out) {
  if (a == b) {
    *out = a;
    return true;
  }
  if (never_equal(a, b)) return false;
  if (b.word_ < a.word_) std::swap(a, b);
  // A number says most, then a symbol: which of two compound dims is the older one differs
  // between a graph and its file.
  const bool b_known = !is_expr(b) || (is_symbol(b) && !is_symbol(a));
  *out = b_known ? b : a;
  intern_pair(Kind::Equal, a, b, std::max(lower(a), lower(b)), std::min(upper(a), upper(b)));
  return true;
}

// ---- evaluation ---------------------------------------------------------------------------

int64_t DimPool::eval_one(const Expr& e, std::span<const int64_t> values) const {
  if (e.kind == Kind::Poly) {
    int64_t total = 0;
    for (const Term& t : e.terms) {
      int64_t product = t.coefficient;
      for (uint32_t atom : t.atoms) {
        if (values[atom] == kUnset) return kUnset;
        if (!checked_mul(product, values[atom], &product)) fail_limit("a dim overflows int64");
      }
      if (!checked_add(total, product, &total)) fail_limit("a dim overflows int64");
    }
    if (total == kUnset) fail_limit("a dim overflows int64");
    return total;
  }
  const int64_t a = value(e.a, values), b = value(e.b, values);
  if (a == kUnset || b == kUnset) return kUnset;
  switch (e.kind) {
    case Kind::FloorDiv:
      if (b < 1) fail_limit("a dim is divided by a number below 1");
      return floor_div(a, b);
    case Kind::Max: return std::max(a, b);
    case Kind::Min: return std::min(a, b);
    case Kind::Broadcast:
      if (a != b && a != 1 && b != 1) {
        fail(NEF_SHAPE_MISMATCH, "dim",
             cat("dims ", str(e.a), " = ", a, " and ", str(e.b), " = ", b, " do not broadcast"));
      }
      return a == 1 ? b : a;
    default:
      if (a != b) {
        fail(NEF_SHAPE_MISMATCH, "dim",
             cat("dims ", str(e.a), " = ", a, " and ", str(e.b), " = ", b, " must be equal"));
      }
      return a;
  }
}

void DimPool::eval(std::span<int64_t> values) const {
  if (values.size() < exprs_.size()) {
    fail(NEF_INTERNAL, "dim", cat(values.size(), " values for ", exprs_.size(), " expressions"));
  }
  for (size_t i = 0; i < exprs_.size(); ++i) {
    if (exprs_[i].kind != Kind::Symbol) values[i] = eval_one(exprs_[i], values);
  }
}

void DimPool::eval(std::span<const uint32_t> ids, std::span<int64_t> values) const {
  for (uint32_t id : ids) {
    if (exprs_[id].kind != Kind::Symbol) values[id] = eval_one(exprs_[id], values);
  }
}

// ---- import -------------------------------------------------------------------------------

// Recursion is bounded by kMaxDepth.
Dim DimPool::import(const DimPool& other, Dim d, std::vector<Dim>& memo) {
  if (!is_expr(d)) return d;
  const uint32_t id = expr_id(d);
  if (memo[id] != 0) return memo[id];
  const Dim mine = import_expr(other, other.exprs_[id], memo);
  memo[id] = mine;
  return mine;
}

Dim DimPool::import_expr(const DimPool& other, const Expr& e, std::vector<Dim>& memo) {
  if (e.kind == Kind::Symbol)
    return e.name.empty() ? unknown(e.lo, e.hi) : symbol(e.name, e.lo, e.hi);
  if (e.kind == Kind::Poly) {
    Terms total;
    for (const Term& t : e.terms) {
      Terms product{{t.coefficient, {}}};
      for (uint32_t atom : t.atoms) {
        product = terms::product(product, terms_of(import(other, dim_of(atom), memo)));
      }
      total = terms::sum(total, product, 1);
    }
    return from_terms(std::move(total));
  }
  const Dim a = import(other, e.a, memo), b = import(other, e.b, memo);
  switch (e.kind) {
    case Kind::FloorDiv: return floordiv(a, b);
    case Kind::Max: return max(a, b);
    case Kind::Min: return min(a, b);
    default: break;
  }
  Dim out = 0;
  const bool fits = e.kind == Kind::Broadcast ? broadcast(a, b, &out) : equal(a, b, &out);
  if (!fits) {
    fail(NEF_SHAPE_MISMATCH, "dim", cat("dims ", str(a), " and ", str(b), " never fit"));
  }
  return out;
}

}  // namespace nef::ir
