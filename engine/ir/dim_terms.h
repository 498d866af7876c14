// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engine/ir/dim.h"
#include "engine/ir/error.h"

// Arithmetic on canonical polynomials: terms in descending monomial order (degree first, then
// atoms), no zero coefficients. Coefficients are numbers that a dim can be, sizes are capped
// (NEF_LIMIT_EXCEEDED).
namespace nef::ir::terms {

using Terms = std::vector<DimPool::Term>;

constexpr size_t kMaxTerms = 128;
constexpr size_t kMaxAtoms = 16;

// a op b of two numbers, as a dim.
template <typename Op>
Dim checked_constant(int64_t a, int64_t b, Op op) {
  int64_t out = 0;
  const std::optional<Dim> d = op(a, b, &out) ? Dim::known(out) : std::nullopt;
  if (!d) fail(NEF_LIMIT_EXCEEDED, "dim", cat("a dim overflows int64, from ", a, " and ", b));
  return *d;
}

// Sorts, merges and drops.
Terms canonical(Terms terms);
// a + sign * b; both canonical.
Terms sum(const Terms& a, const Terms& b, int64_t sign);
Terms product(const Terms& a, const Terms& b);
// a / b of single terms; false when b does not divide a.
bool divide_term(const DimPool::Term& a, const DimPool::Term& b, DimPool::Term* out);
// Polynomial division; false when it leaves a remainder.
bool divide(Terms a, const Terms& b, Terms* quotient);
// Divides coefficients and *k by what is common to the coefficients of atoms and k; the constant
// is rounded down, which floor(terms / k) does not notice.
Terms reduce_by_gcd(Terms terms, int64_t* k);

}  // namespace nef::ir::terms
