// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/dim_terms.h"

#include <algorithm>
#include <numeric>

#include "engine/ir/checked.h"

namespace nef::ir::terms {
namespace {

using Term = DimPool::Term;

constexpr int kMaxDivisionSteps = 512;

// Negative, 0, positive: a comes before, is, comes after b in canonical order.
int order(const Term& a, const Term& b) {
  if (a.atoms.size() != b.atoms.size()) return a.atoms.size() > b.atoms.size() ? -1 : 1;
  for (size_t i = 0; i < a.atoms.size(); ++i) {
    if (a.atoms[i] != b.atoms[i]) return a.atoms[i] < b.atoms[i] ? -1 : 1;
  }
  return 0;
}

Terms capped(Terms terms) {
  if (terms.size() > kMaxTerms) {
    fail(NEF_LIMIT_EXCEEDED, "dim", cat("a dim has more than ", kMaxTerms, " terms"));
  }
  return terms;
}

Term multiply(const Term& a, const Term& b) {
  Term out;
  out.coefficient = checked_constant(a.coefficient, b.coefficient, checked_mul).number();
  out.atoms.resize(a.atoms.size() + b.atoms.size());
  if (out.atoms.size() > kMaxAtoms) {
    fail(NEF_LIMIT_EXCEEDED, "dim",
         cat("a dim has a product of more than ", kMaxAtoms, " factors"));
  }
  std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), out.atoms.begin());
  return out;
}

}  // namespace

Terms canonical(Terms terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return order(a, b) < 0; });
  Terms out;
  for (Term& t : terms) {
    if (!out.empty() && order(out.back(), t) == 0) {
      out.back().coefficient =
          checked_constant(out.back().coefficient, t.coefficient, checked_add).number();
    } else {
      if (!out.empty() && out.back().coefficient == 0) out.pop_back();
      out.push_back(std::move(t));
    }
  }
  if (!out.empty() && out.back().coefficient == 0) out.pop_back();
  return capped(std::move(out));
}

Terms sum(const Terms& a, const Terms& b, int64_t sign) {
  Terms out;
  out.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int c = i == a.size() ? 1 : j == b.size() ? -1 : order(a[i], b[j]);
    if (c < 0) {
      out.push_back(a[i++]);
      continue;
    }
    const Dim scaled = checked_constant(b[j].coefficient, sign, checked_mul);
    const int64_t coefficient =
        (c == 0 ? checked_constant(a[i].coefficient, scaled.number(), checked_add) : scaled)
            .number();
    if (coefficient != 0) out.push_back({coefficient, b[j].atoms});
    ++j;
    if (c == 0) ++i;
  }
  return capped(std::move(out));
}

Terms product(const Terms& a, const Terms& b) {
  Terms out;
  out.reserve(a.size() * b.size());
  for (const Term& x : a) {
    for (const Term& y : b) out.push_back(multiply(x, y));
  }
  return canonical(std::move(out));
}

bool divide_term(const Term& a, const Term& b, Term* out) {
  if (a.coefficient % b.coefficient != 0) return false;
  out->coefficient = a.coefficient / b.coefficient;
  out->atoms.clear();
  size_t j = 0;
  for (uint32_t atom : a.atoms) {
    if (j < b.atoms.size() && b.atoms[j] == atom) ++j;
    else out->atoms.push_back(atom);
  }
  return j == b.atoms.size();
}

bool divide(Terms a, const Terms& b, Terms* quotient) {
  Terms q;
  for (int step = 0; !a.empty(); ++step) {
    Term t;
    if (step == kMaxDivisionSteps || !divide_term(a[0], b[0], &t)) return false;
    a = sum(a, product({t}, b), -1);
    q.push_back(std::move(t));
  }
  *quotient = capped(std::move(q));
  return true;
}

Terms reduce_by_gcd(Terms terms, int64_t* k) {
  int64_t g = *k;
  for (const Term& t : terms) {
    if (!t.atoms.empty()) g = std::gcd(g, t.coefficient);
  }
  if (g == 1) return terms;
  *k /= g;
  for (Term& t : terms) t.coefficient = floor_div(t.coefficient, g);
  if (!terms.empty() && terms.back().coefficient == 0) terms.pop_back();
  return terms;
}

}  // namespace nef::ir::terms
