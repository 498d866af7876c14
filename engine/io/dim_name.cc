// SPDX-License-Identifier: Apache-2.0
#include "engine/io/dim_name.h"

#include <algorithm>
#include <vector>

namespace nef::io {
namespace {

using ir::Dim;
using ir::DimPool;
using Kind = DimPool::Kind;

// Recursion is bounded: the pool limits how high an expression may grow.
std::string atom(const DimPool& pool, Dim d);
std::string sum(const DimPool& pool, const DimPool::Expr& poly);

std::string any(const DimPool& pool, Dim d) {
  if (!ir::is_expr(d)) return std::to_string(d.number());
  const DimPool::Expr& e = pool.expr(d);
  return e.kind == Kind::Poly ? sum(pool, e) : atom(pool, d);
}

std::string operand(const DimPool& pool, Dim d) {
  const bool bare = pool.is_symbol(d) || (!ir::is_expr(d) && d.number() >= 0);
  return bare ? any(pool, d) : "(" + any(pool, d) + ")";
}

std::string atom(const DimPool& pool, Dim d) {
  const DimPool::Expr& e = pool.expr(d);
  if (e.kind == Kind::Symbol) return e.name.empty() ? "?" : pool.str(d);
  if (e.kind == Kind::FloorDiv) return operand(pool, e.a) + "/" + operand(pool, e.b);
  std::string a = any(pool, e.a), b = any(pool, e.b);
  if (b < a) std::swap(a, b);  // all of them are symmetric
  const char* name = e.kind == Kind::Max         ? "max("
                     : e.kind == Kind::Min       ? "min("
                     : e.kind == Kind::Broadcast ? "broadcast("
                                                 : "equal(";
  return name + a + "," + b + ")";
}

struct Term {
  size_t factors;
  std::string text;  // factors joined by '*'
  int64_t coefficient;
};

Term term(const DimPool& pool, const DimPool::Term& t) {
  std::vector<std::string> factors;
  for (const uint32_t id : t.atoms) {
    const Dim d = DimPool::dim_of(id);
    std::string text = atom(pool, d);
    // a*(b/2) is not a*b/2
    if (pool.expr(d).kind == Kind::FloorDiv) text = "(" + text + ")";
    factors.push_back(std::move(text));
  }
  std::sort(factors.begin(), factors.end());
  Term out{factors.size(), {}, t.coefficient};
  for (const std::string& f : factors) {
    if (!out.text.empty()) out.text += '*';
    out.text += f;
  }
  return out;
}

std::string sum(const DimPool& pool, const DimPool::Expr& poly) {
  std::vector<Term> terms;
  for (const DimPool::Term& t : poly.terms) terms.push_back(term(pool, t));
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return a.factors != b.factors ? a.factors > b.factors : a.text < b.text;
  });
  std::string out;
  for (const Term& t : terms) {
    if (t.coefficient >= 0 && !out.empty()) out += '+';
    if (t.factors == 0) {
      out += std::to_string(t.coefficient);
    } else if (t.coefficient == 1 || t.coefficient == -1) {
      out += (t.coefficient < 0 ? "-" : "") + t.text;
    } else {
      out += std::to_string(t.coefficient) + "*" + t.text;
    }
  }
  return out;
}

}  // namespace

std::string dim_name(const DimPool& pool, Dim dim) { return any(pool, dim); }

bool has_unknown(const ir::DimPool& pool, ir::Dim dim) {
  if (!ir::is_expr(dim)) return false;
  const DimPool::Expr& e = pool.expr(dim);
  if (e.kind == Kind::Symbol) return e.name.empty();
  if (e.kind != Kind::Poly) return has_unknown(pool, e.a) || has_unknown(pool, e.b);
  return std::any_of(e.terms.begin(), e.terms.end(), [&](const DimPool::Term& t) {
    return std::any_of(t.atoms.begin(), t.atoms.end(),
                       [&](uint32_t id) { return has_unknown(pool, DimPool::dim_of(id)); });
  });
}

}  // namespace nef::io
