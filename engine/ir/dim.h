// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace nef::ir {

// A dim is a number, or an expression of a DimPool. The same type also carries the elements of
// small integer tensors that shapes are computed from, so a number may be negative. Both are one
// word: words near INT64_MIN name expressions, so numbers that low are no dims. This class is all
// that knows it. Dims have no order: numbers do.
class Dim {
 public:
  static constexpr int64_t kLowest = std::numeric_limits<int64_t>::min() + (int64_t{1} << 31);

  Dim() = default;  // not set
  // A number that stands in the source: Shape{2, 3}.
  consteval Dim(int64_t n) : word_(n) {  // NOLINT: such numbers are dims
    if (n < kLowest) throw "too low to be a dim";
  }
  // The door for all other numbers. Nothing where a number is too low to be a dim: not known.
  static constexpr std::optional<Dim> known(int64_t n) {
    if (n < kLowest) return {};
    return Dim(Word{n});
  }
  // The same for sizes; throws NEF_LIMIT_EXCEEDED.
  static Dim of(int64_t n) {
    if (n < kLowest) fail_too_low(n);
    return Dim(Word{n});
  }

  constexpr bool is_number() const { return word_ >= kLowest; }
  // The way out; NEF_INTERNAL for an expression.
  constexpr int64_t number() const {
    if (!is_number()) fail_no_number();
    return word_;
  }
  // Tells it from all other dims of its pool: for hashes and keys.
  constexpr uint64_t key() const { return static_cast<uint64_t>(word_); }

  friend constexpr bool operator==(Dim, Dim) = default;
  friend constexpr bool operator==(Dim d, int64_t n) { return d.word_ == n && n >= kLowest; }

 private:
  friend class DimPool;
  struct Word {
    int64_t word;
  };
  constexpr explicit Dim(Word w) : word_(w.word) {}
  [[noreturn]] static void fail_too_low(int64_t n);
  [[noreturn]] static void fail_no_number();

  int64_t word_;
};
static_assert(sizeof(Dim) == sizeof(int64_t) && std::is_trivially_copyable_v<Dim>);

constexpr bool is_expr(Dim d) { return !d.is_number(); }
// The low bits of the word of an expression are its id.
constexpr uint32_t expr_id(Dim d) { return static_cast<uint32_t>(d.key()); }

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

// Expressions over named symbols: integer polynomials whose atoms are symbols, floor divisions,
// min, max, "broadcast" (equal, or one of them 1) and "equal" (equal, or an error). Interned:
// equal expressions have equal Dims. An expression only refers to earlier ones, so one forward
// sweep evaluates them all. broadcast and equal also leave an expression behind when they return
// one of their operands but cannot prove that both fit: eval then checks it.
// Not thread-safe; a graph owns one and is immutable once built.
class DimPool {
 public:
  enum class Kind : uint8_t { Symbol, Poly, FloorDiv, Max, Min, Broadcast, Equal };
  struct Term {
    int64_t coefficient;
    std::vector<uint32_t> atoms;  // sorted expression ids, none of kind Poly; empty = constant
    bool operator==(const Term&) const = default;
  };
  struct Expr {
    Kind kind;
    std::string name;                 // Symbol; empty for an unknown dim, which is equal to nothing
    int64_t lo = 0, hi = kUnbounded;  // bounds of the value (inclusive)
    Dim a = 0, b = 0;                 // FloorDiv, Max, Min, Broadcast, Equal
    std::vector<Term> terms;          // Poly, canonical order
    // Size and height when written out as a tree; bounded, so that text and recursion are too.
    uint32_t weight = 1, depth = 1;
  };

  // The symbol of that name. Asking again intersects the bounds; an empty result, a name that
  // is empty or longer than 256 bytes, or bounds below 0 are errors.
  Dim symbol(std::string_view name, int64_t lo = 0, int64_t hi = kUnbounded);
  // A fresh dim that nothing but bounds is known of; equal only to itself. Its number becomes known
  // while the graph runs.
  Dim unknown(int64_t lo = 0, int64_t hi = kUnbounded);

  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b);
  Dim mul(Dim a, Dim b);
  Dim floordiv(Dim a, Dim b);  // rounds towards minus infinity; b must be > 0
  Dim ceildiv(Dim a, Dim b);
  Dim max(Dim a, Dim b);
  Dim min(Dim a, Dim b);
  // NumPy broadcasting of two dims. Returns false when they can never fit.
  bool broadcast(Dim a, Dim b, Dim* out);
  // Two dims that have to be the same. Returns false when they can never be; *out is the
  // better known of the two.
  bool equal(Dim a, Dim b, Dim* out);
  // a / b when b provably divides a (as polynomials); false otherwise.
  bool exact_div(Dim a, Dim b, Dim* out);

  int64_t lower(Dim d) const { return is_expr(d) ? expr(d).lo : d.number(); }
  int64_t upper(Dim d) const { return is_expr(d) ? expr(d).hi : d.number(); }

  const Expr& expr(Dim d) const { return exprs_[expr_id(d)]; }
  size_t size() const { return exprs_.size(); }
  static Dim dim_of(uint32_t id) {
    return Dim(Dim::Word{std::numeric_limits<int64_t>::min() + int64_t{id}});
  }
  bool is_symbol(Dim d) const { return is_expr(d) && expr(d).kind == Kind::Symbol; }

  // "batch", "2*batch*seq+1", "(seq+1)/2" (floor), "max(a,b)", "broadcast(a,b)", "?3" (unknown).
  std::string str(Dim d) const;
  // Reads what str writes (except unknowns: "?" makes a fresh one). Throws NEF_PARSE.
  Dim parse(std::string_view text);

  // Evaluates every expression in order. values[id] must hold the value of each symbol on
  // entry; the rest is filled. Throws NEF_SHAPE_MISMATCH when a broadcast does not fit and
  // NEF_LIMIT_EXCEEDED on overflow or division by a number below 1. A symbol that is not known
  // yet (the size of a data-dependent output) holds kUnset, and so does what is made from it.
  static constexpr int64_t kUnset = std::numeric_limits<int64_t>::min();
  void eval(std::span<int64_t> values) const;
  // The same for some expressions, in order of their ids; what they are made of has values.
  void eval(std::span<const uint32_t> ids, std::span<int64_t> values) const;
  static int64_t value(Dim d, std::span<const int64_t> values) {
    return is_expr(d) ? values[expr_id(d)] : d.number();
  }

  // Forgets the expressions that none of `roots` needs; the others keep their ids, and forgotten
  // ids are given out again. An expression may refer to a later one from then on, so a pool that
  // was swept is not for eval.
  void keep_only(std::span<const Dim> roots);
  // Expressions in use, without forgotten ids.
  size_t used() const { return exprs_.size() - free_.size(); }

  // The Dim of this pool that means what `d` means in `other`; `memo` has other.size() entries,
  // 0 = not translated yet.
  Dim import(const DimPool& other, Dim d, std::vector<Dim>& memo);

 private:
  using Terms = std::vector<Term>;
  friend class DimParser;

  Dim intern(Expr e);
  uint32_t place(Expr e);
  Dim intern_pair(Kind kind, Dim a, Dim b, int64_t lo, int64_t hi);
  Dim from_terms(Terms terms);
  Terms terms_of(Dim d) const;
  void bounds_of(const Terms& terms, int64_t* lo, int64_t* hi) const;
  Dim floordiv_const(Dim a, int64_t k);
  Dim floordiv_symbolic(Dim a, Dim b);
  bool simplify_nested(const Terms& rest, int64_t k, Dim* out);
  // -1, 0, 1 when a <= b, a == b, a >= b for certain; 2 when unknown.
  int compare(Dim a, Dim b) const;
  bool never_equal(Dim a, Dim b) const;
  int64_t eval_one(const Expr& e, std::span<const int64_t> values) const;
  Dim import_expr(const DimPool& other, const Expr& e, std::vector<Dim>& memo);
  void write(std::string& out, Dim d) const;
  void write_terms(std::string& out, const Terms& terms) const;
  void write_atom(std::string& out, uint32_t id, bool alone) const;

  std::deque<Expr> exprs_;
  std::vector<uint32_t> free_;  // forgotten ids
  std::unordered_multimap<uint64_t, uint32_t> index_;
  std::unordered_map<std::string, uint32_t> symbols_;
};

}  // namespace nef::ir
