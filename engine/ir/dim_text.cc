// SPDX-License-Identifier: Apache-2.0
// Dims as text: DimPool::str and DimPool::parse.
#include <charconv>

#include "engine/ir/checked.h"
#include "engine/ir/dim.h"
#include "engine/ir/dim_terms.h"
#include "engine/ir/error.h"

namespace nef::ir {
namespace {

using Terms = terms::Terms;

constexpr size_t kMaxText = size_t{1} << 16;
constexpr int kMaxNesting = 128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool in_name(char c) { return starts_name(c) || is_digit(c) || c == '.' || c == ':'; }

bool plain_name(std::string_view name) {
  if (!starts_name(name[0])) return false;
  for (char c : name) {
    if (!in_name(c)) return false;
  }
  return true;
}

void write_name(std::string& out, std::string_view name) {
  if (plain_name(name)) {
    out += name;
    return;
  }
  out += '`';
  for (char c : name) {
    if (c == '`') out += '`';
    out += c;
  }
  out += '`';
}

}  // namespace

// ---- writing ------------------------------------------------------------------------------

std::string DimPool::str(Dim d) const {
  std::string out;
  write(out, d);
  return out;
}

// Recursion is bounded: expressions are at most kMaxDepth (dim.cc) high.
void DimPool::write(std::string& out, Dim d) const {
  if (!is_expr(d)) out += std::to_string(d.number());
  else if (expr(d).kind == Kind::Poly) write_terms(out, expr(d).terms);
  else write_atom(out, expr_id(d), true);
}

void DimPool::write_terms(std::string& out, const Terms& terms) const {
  bool first = true;
  for (const Term& t : terms) {
    if (t.coefficient < 0) out += '-';
    else if (!first) out += '+';
    first = false;
    const int64_t c = t.coefficient < 0 ? -t.coefficient : t.coefficient;
    if (t.atoms.empty() || c != 1) out += std::to_string(c);
    bool star = c != 1;
    const bool alone = t.coefficient == 1 && t.atoms.size() == 1;
    for (uint32_t atom : t.atoms) {
      if (star) out += '*';
      star = true;
      write_atom(out, atom, alone);
    }
  }
}

void DimPool::write_atom(std::string& out, uint32_t id, bool alone) const {
  const Expr& e = exprs_[id];
  if (e.kind == Kind::Symbol) {
    if (e.name.empty()) out += '?' + std::to_string(id);
    else write_name(out, e.name);
    return;
  }
  if (e.kind == Kind::FloorDiv) {
    if (!alone) out += '(';
    const bool bare_a = is_symbol(e.a);
    if (!bare_a) out += '(';
    write(out, e.a);
    out += bare_a ? "/" : ")/";
    const bool bare_b = !is_expr(e.b) || is_symbol(e.b);
    if (!bare_b) out += '(';
    write(out, e.b);
    if (!bare_b) out += ')';
    if (!alone) out += ')';
    return;
  }
  out += e.kind == Kind::Max         ? "max("
         : e.kind == Kind::Min       ? "min("
         : e.kind == Kind::Broadcast ? "broadcast("
                                     : "equal(";
  write(out, e.a);
  out += ',';
  write(out, e.b);
  out += ')';
}

// ---- reading ------------------------------------------------------------------------------

// sum := product (('+'|'-') product)*     product := unary (('*'|'/') unary)*
// unary := '-' unary | number | name | name '(' sum ',' sum ')' | '(' sum ')' | '?' digit*
// Sums stay polynomials until an operation needs a dim, so no part of one is interned.
class DimParser {
 public:
  DimParser(DimPool& pool, std::string_view text) : pool_(pool), text_(text) {}

  Dim run() {
    const Dim d = pool_.from_terms(sum());
    skip_space();
    if (at_ != text_.size()) unexpected("an operator");
    return d;
  }

 private:
  [[noreturn]] void unexpected(const char* wanted) const {
    fail(NEF_PARSE, "dim",
         cat("\"", std::string(text_.substr(0, 80)), "\": expected ", wanted, " at byte ", at_));
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!take(c)) unexpected(what);
  }

  Terms sum() {
    if (++nesting_ > kMaxNesting) fail(NEF_LIMIT_EXCEEDED, "dim", "expression nested too deep");
    Terms total = product();
    for (;;) {
      if (take('+')) total = terms::sum(total, product(), 1);
      else if (take('-')) total = terms::sum(total, product(), -1);
      else break;
    }
    --nesting_;
    return total;
  }

  Terms product() {
    Terms left = unary();
    for (;;) {
      if (take('*')) left = terms::product(left, unary());
      else if (take('/')) left = quotient(std::move(left), unary());
      else return left;
    }
  }

  Terms quotient(Terms a, Terms b) {
    const Dim divisor = pool_.from_terms(std::move(b));
    if (pool_.upper(divisor) < 1) unexpected("a positive divisor");
    return pool_.terms_of(pool_.floordiv(pool_.from_terms(std::move(a)), divisor));
  }

  Terms unary() {
    bool negative = false;
    while (take('-')) negative = !negative;
    Terms out = primary();
    return negative ? terms::sum({}, out, -1) : out;
  }

  Terms primary() {
    const char c = peek();
    if (c == '(') {
      ++at_;
      Terms inner = sum();
      expect(')', "')'");
      return inner;
    }
    if (is_digit(c)) return number();
    if (c == '?') {
      ++at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      return pool_.terms_of(pool_.unknown());
    }
    if (c == '`') return pool_.terms_of(pool_.symbol(quoted_name()));
    if (c == '\0' || !starts_name(c)) unexpected("a number, a name or '('");
    const size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    return peek() == '(' ? call(name) : pool_.terms_of(pool_.symbol(name));
  }

  Terms number() {
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) unexpected("a number below 2^63");
    at_ += static_cast<size_t>(end - begin);
    return pool_.terms_of(Dim::of(value));
  }

  std::string quoted_name() {
    std::string name;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '`') {
        ++at_;
        if (at_ == text_.size() || text_[at_] != '`') return name;
      }
      name += text_[at_];
    }
    unexpected("a closing '`'");
  }

  Terms call(std::string_view name) {
    expect('(', "'('");
    const Dim a = pool_.from_terms(sum());
    expect(',', "','");
    const Dim b = pool_.from_terms(sum());
    expect(')', "')'");
    Dim out = 0;
    if (name == "max") out = pool_.max(a, b);
    else if (name == "min") out = pool_.min(a, b);
    else if (name == "broadcast" ? !pool_.broadcast(a, b, &out)
                                 : name != "equal" || !pool_.equal(a, b, &out)) {
      unexpected("max, min, broadcast or equal of dims that fit before");
    }
    return pool_.terms_of(out);
  }

  DimPool& pool_;
  std::string_view text_;
  size_t at_ = 0;
  int nesting_ = 0;
};

Dim DimPool::parse(std::string_view text) {
  if (text.size() > kMaxText) {
    fail(NEF_LIMIT_EXCEEDED, "dim",
         cat("a dim expression has ", text.size(), " bytes; at most ", kMaxText, " are read"));
  }
  return DimParser(*this, text).run();
}

}  // namespace nef::ir
