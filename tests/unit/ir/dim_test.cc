// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/dim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <tuple>

#include "engine/ir/checked.h"
#include "engine/ir/error.h"

namespace nef::ir {
namespace {

nef_code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return NEF_OK;
}

TEST(Dim, NumbersStayNumbers) {
  DimPool pool;
  EXPECT_EQ(pool.add(2, 3), 5);
  EXPECT_EQ(pool.sub(2, 3), -1);
  EXPECT_EQ(pool.mul(-2, 3), -6);
  EXPECT_EQ(pool.floordiv(-7, 2), -4);
  EXPECT_EQ(pool.ceildiv(-7, 2), -3);
  EXPECT_EQ(pool.max(2, 3), 3);
  EXPECT_EQ(pool.min(2, 3), 2);
  EXPECT_EQ(pool.size(), 0u);
}

// ---- numbers so low that they would name expressions are no dims

__extension__ typedef __int128 Wide;
constexpr int64_t kExtremes[] = {Dim::kLowest,
                                 Dim::kLowest + 1,
                                 -(INT64_C(1) << 62) - 1,
                                 INT32_MIN,
                                 -2,
                                 -1,
                                 0,
                                 1,
                                 2,
                                 7,
                                 INT32_MAX,
                                 (INT64_C(1) << 62) + 1,
                                 INT64_MAX - INT32_MAX,
                                 INT64_MAX - INT32_MAX - 1,
                                 INT64_MAX - 1,
                                 INT64_MAX};
bool is_dim(Wide n) { return n >= Dim::kLowest && n <= INT64_MAX; }
Wide wide_floor(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

TEST(Dim, OneDoorForNumbers) {
  for (int64_t n : {INT64_MIN, INT64_MIN + 1, -INT64_MAX + 1000, Dim::kLowest - 1}) {
    EXPECT_FALSE(Dim::known(n)) << n;
    EXPECT_EQ(code_of([&] { Dim::of(n); }), NEF_LIMIT_EXCEEDED) << n;
  }
  for (int64_t n : kExtremes) {
    ASSERT_TRUE(Dim::known(n)) << n;
    EXPECT_TRUE(Dim::of(n).is_number()) << n;
    EXPECT_EQ(Dim::of(n).number(), n);
    EXPECT_EQ(Dim::of(n), n);
  }
  // An expression is equal to no number, whatever its word is.
  DimPool pool;
  EXPECT_FALSE(pool.symbol("a") == INT64_MIN);
  EXPECT_EQ(code_of([] { DimPool().parse("-9223372036854775807"); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([] { DimPool().parse("-9223372036854775807*n+n"); }), NEF_LIMIT_EXCEEDED);
}

TEST(Dim, ArithmeticGivesTheNumberOrAnError) {
  DimPool pool;
  using Op = std::function<Dim(Dim, Dim)>;
  using Exact = std::function<Wide(Wide, Wide)>;
  const auto exact_div = [&](Dim a, Dim b) {
    Dim out = 0;
    return pool.exact_div(a, b, &out) ? out : a;
  };
  const std::vector<std::tuple<const char*, Op, Exact>> ops = {
      {"add", [&](Dim a, Dim b) { return pool.add(a, b); }, [](Wide a, Wide b) { return a + b; }},
      {"sub", [&](Dim a, Dim b) { return pool.sub(a, b); }, [](Wide a, Wide b) { return a - b; }},
      {"mul", [&](Dim a, Dim b) { return pool.mul(a, b); }, [](Wide a, Wide b) { return a * b; }},
      {"max", [&](Dim a, Dim b) { return pool.max(a, b); },
       [](Wide a, Wide b) { return std::max(a, b); }},
      {"min", [&](Dim a, Dim b) { return pool.min(a, b); },
       [](Wide a, Wide b) { return std::min(a, b); }},
      {"exact_div", exact_div, [](Wide a, Wide b) { return b != 0 && a % b == 0 ? a / b : a; }},
      {"floordiv", [&](Dim a, Dim b) { return b.number() < 1 ? 0 : pool.floordiv(a, b); },
       [](Wide a, Wide b) { return b < 1 ? 0 : wide_floor(a, b); }},
      {"ceildiv", [&](Dim a, Dim b) { return b.number() < 1 ? 0 : pool.ceildiv(a, b); },
       [](Wide a, Wide b) { return b < 1 ? 0 : -wide_floor(-a, b); }}};
  for (const auto& [name, op, exact] : ops) {
    for (int64_t a : kExtremes) {
      for (int64_t b : kExtremes) {
        Dim got = 0;
        const nef_code code = code_of([&] { got = op(Dim::of(a), Dim::of(b)); });
        const Wide want = exact(a, b);
        EXPECT_EQ(code, is_dim(want) ? NEF_OK : NEF_LIMIT_EXCEEDED)
            << name << " of " << a << " and " << b;
        if (code == NEF_OK) {
          EXPECT_EQ(got, static_cast<int64_t>(want)) << name << ' ' << a << ' ' << b;
        }
      }
    }
  }
  EXPECT_EQ(pool.size(), 0u);
}

// The same where a symbol stands in between: floor((k * n + x) / y), nested once more.
TEST(Dim, ExtremeCoefficientsMeanWhatTheySay) {
  size_t checked = 0;
  for (int64_t k : kExtremes) {
    for (int64_t x : kExtremes) {
      for (int64_t y : kExtremes) {
        if (y < 1) continue;
        DimPool pool;
        const Dim n = pool.symbol("n");
        std::vector<int64_t> values;
        Dim once = 0, twice = 0;
        const nef_code code = code_of([&] {
          once = pool.floordiv(pool.add(pool.mul(n, Dim::of(k)), Dim::of(x)), Dim::of(y));
          twice = pool.floordiv(pool.add(once, Dim::of(x)), 3);
        });
        EXPECT_TRUE(code == NEF_OK || code == NEF_LIMIT_EXCEEDED);
        if (code != NEF_OK) continue;
        for (int64_t at : {0, 1, 5}) {
          values.assign(pool.size(), 0);
          values[expr_id(n)] = at;
          if (code_of([&] { pool.eval(values); }) != NEF_OK) continue;
          const Wide want = wide_floor(Wide{k} * at + x, y);
          EXPECT_EQ(Wide{DimPool::value(once, values)}, want) << k << ' ' << x << ' ' << y;
          EXPECT_EQ(Wide{DimPool::value(twice, values)}, wide_floor(want + x, 3))
              << k << ' ' << x << ' ' << y;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 1000u);
}

// A sum that comes out as the mark for "not known yet" is an overflow like any other.
TEST(Dim, NoResultReadsAsUnset) {
  DimPool pool;
  const Dim n = pool.symbol("n"), twice = pool.mul(n, -2);
  std::vector<int64_t> values(pool.size(), 0);
  values[expr_id(n)] = INT64_C(1) << 62;
  EXPECT_TRUE(is_expr(twice));
  EXPECT_EQ(code_of([&] { pool.eval(values); }), NEF_LIMIT_EXCEEDED);
}

TEST(Dim, EqualExpressionsAreEqualDims) {
  DimPool pool;
  const Dim a = pool.symbol("a"), b = pool.symbol("b");
  EXPECT_EQ(pool.symbol("a"), a);
  EXPECT_EQ(pool.add(a, b), pool.add(b, a));
  EXPECT_EQ(pool.mul(pool.add(a, 1), pool.sub(a, 1)), pool.sub(pool.mul(a, a), 1));
  EXPECT_EQ(pool.sub(pool.add(a, b), b), a);
  EXPECT_EQ(pool.mul(a, 0), 0);
  EXPECT_EQ(pool.sub(a, a), 0);
  EXPECT_NE(pool.unknown(), pool.unknown());
}

TEST(Dim, Text) {
  DimPool pool;
  const Dim batch = pool.symbol("batch"), seq = pool.symbol("seq");
  EXPECT_EQ(pool.str(pool.add(pool.mul(pool.mul(batch, seq), 2), 1)), "2*batch*seq+1");
  EXPECT_EQ(pool.str(pool.floordiv(pool.add(seq, 1), 2)), "(seq+1)/2");
  EXPECT_EQ(pool.str(pool.sub(0, batch)), "-batch");
  EXPECT_EQ(pool.str(pool.sub(batch, 3)), "batch-3");
  EXPECT_EQ(pool.str(pool.max(batch, seq)), "max(batch,seq)");
  Dim both = 0;
  ASSERT_TRUE(pool.broadcast(seq, batch, &both));
  EXPECT_EQ(pool.str(both), "broadcast(batch,seq)");
  EXPECT_EQ(pool.str(pool.unknown())[0], '?');
  EXPECT_EQ(pool.parse(" 2 * batch*seq + 1 "), pool.parse("1+seq*batch*2"));
  EXPECT_EQ(pool.parse("-(batch-3)*2"), pool.parse("6-2*batch"));
  EXPECT_EQ(pool.parse("past_sequence_length + 1"),
            pool.add(pool.symbol("past_sequence_length"), 1));
  EXPECT_EQ(pool.parse("8/3"), 2);
  EXPECT_EQ(pool.parse("-4611686018427387904+4611686018427387904"), 0);
}

TEST(Dim, NamesThatAreNoIdentifiers) {
  DimPool pool;
  for (const char* name :
       {"batch size", "a+b", "12", "max", "`", "a`b``", "\xc3\xa4", "?", "x y\n"}) {
    const Dim d = pool.symbol(name);
    EXPECT_EQ(pool.parse(pool.str(d)), d) << pool.str(d);
    const Dim e = pool.add(pool.mul(d, 3), 1);
    EXPECT_EQ(pool.parse(pool.str(e)), e) << pool.str(e);
  }
}

TEST(Dim, TextThatIsNoDim) {
  DimPool pool;
  for (const char* text :
       {"", "+", "1+", "a b", "(a", "a)", "max(a", "max(a)", "max(a,b", "2a", "a/0", "a/-2",
        "foo(a,b)", "99999999999999999999", "`a", "a//b", "\x01", "equal(1,2)"}) {
    EXPECT_EQ(code_of([&] { pool.parse(text); }), NEF_PARSE) << text;
  }
  EXPECT_EQ(code_of([&] { pool.parse(std::string(1000, '(') + "a"); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([&] { pool.parse(std::string(100000, '1')); }), NEF_LIMIT_EXCEEDED);
}

TEST(Dim, Symbols) {
  DimPool pool;
  const Dim a = pool.symbol("a", 2, 100);
  EXPECT_EQ(pool.symbol("a", 0, 50), a);
  EXPECT_EQ(pool.lower(a), 2);
  EXPECT_EQ(pool.upper(a), 50);
  EXPECT_EQ(code_of([&] { pool.symbol("a", 51); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { pool.symbol(""); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { pool.symbol(std::string(257, 'x')); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { pool.symbol("b", -1); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { pool.symbol("b", 3, 2); }), NEF_INVALID_ARGUMENT);
}

TEST(Dim, Bounds) {
  DimPool pool;
  const Dim a = pool.symbol("a", 2, 10), b = pool.symbol("b", 1);
  EXPECT_EQ(pool.lower(pool.sub(pool.mul(a, 3), 1)), 5);
  EXPECT_EQ(pool.upper(pool.sub(pool.mul(a, 3), 1)), 29);
  EXPECT_EQ(pool.lower(pool.mul(a, b)), 2);
  EXPECT_EQ(pool.upper(pool.mul(a, b)), kUnbounded);
  EXPECT_EQ(pool.upper(pool.sub(10, b)), 9);
  EXPECT_EQ(pool.lower(pool.sub(10, b)), -kUnbounded);
  EXPECT_EQ(pool.lower(pool.floordiv(a, 3)), 0);
  EXPECT_EQ(pool.upper(pool.floordiv(a, 3)), 3);
  EXPECT_EQ(pool.max(a, 1), a);
  EXPECT_EQ(pool.min(a, 10), a);
  EXPECT_EQ(pool.max(pool.add(b, 3), b), pool.add(b, 3));
}

TEST(Dim, Division) {
  DimPool pool;
  const Dim a = pool.symbol("a", 1), b = pool.symbol("b", 1), s = pool.symbol("s", 0, 7);
  Dim out = 0;
  EXPECT_TRUE(pool.exact_div(pool.mul(pool.mul(a, b), 6), pool.mul(a, 3), &out));
  EXPECT_EQ(out, pool.mul(b, 2));
  EXPECT_TRUE(pool.exact_div(pool.mul(pool.add(a, 1), pool.add(b, 2)), pool.add(b, 2), &out));
  EXPECT_EQ(out, pool.add(a, 1));
  EXPECT_FALSE(pool.exact_div(pool.add(a, 1), a, &out));
  EXPECT_FALSE(pool.exact_div(pool.mul(a, 3), 2, &out));
  EXPECT_FALSE(pool.exact_div(5, 0, &out));
  EXPECT_TRUE(pool.exact_div(0, a, &out));
  EXPECT_EQ(out, 0);
  // (4a + 3) / 4 = a, (8a + s) / 8 = a, nested divisions join.
  EXPECT_EQ(pool.floordiv(pool.add(pool.mul(a, 4), 3), 4), a);
  EXPECT_EQ(pool.floordiv(pool.add(pool.mul(a, 8), s), 8), a);
  EXPECT_EQ(pool.floordiv(pool.mul(a, b), b), a);
  EXPECT_EQ(pool.floordiv(pool.floordiv(a, 2), 3), pool.floordiv(a, 6));
  EXPECT_EQ(pool.floordiv(pool.add(pool.floordiv(a, 2), 1), 2), pool.floordiv(pool.add(a, 2), 4));
  EXPECT_EQ(pool.floordiv(pool.mul(a, 6), 4), pool.floordiv(pool.mul(a, 3), 2));
  EXPECT_EQ(code_of([&] { pool.floordiv(a, 0); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { pool.floordiv(a, -2); }), NEF_INVALID_ARGUMENT);
}

TEST(Dim, Broadcast) {
  DimPool pool;
  const Dim a = pool.symbol("a"), b = pool.symbol("b"), big = pool.symbol("big", 2, 64);
  Dim out = 0;
  for (Dim x : {Dim{0}, Dim{1}, Dim{3}}) {
    for (Dim y : {Dim{0}, Dim{1}, Dim{3}}) {
      EXPECT_EQ(pool.broadcast(x, y, &out), x == y || x == 1 || y == 1);
      if (x == 1) {
        EXPECT_EQ(out, y);
      }
    }
  }
  EXPECT_TRUE(pool.broadcast(a, 0, &out));
  EXPECT_EQ(out, 0);
  EXPECT_TRUE(pool.broadcast(a, 1, &out));
  EXPECT_EQ(out, a);
  EXPECT_TRUE(pool.broadcast(big, a, &out));
  EXPECT_EQ(out, big);
  EXPECT_FALSE(pool.broadcast(big, 65, &out));
  EXPECT_FALSE(pool.broadcast(big, 0, &out));
  EXPECT_FALSE(pool.broadcast(big, pool.add(big, 1), &out));
  Dim again = 0;
  EXPECT_TRUE(pool.broadcast(a, b, &out) && pool.broadcast(out, b, &again));
  EXPECT_EQ(out, again);
}

TEST(Dim, ChecksStayWhenNothingCanBeProved) {
  DimPool pool;
  const Dim a = pool.symbol("a"), b = pool.symbol("b");
  Dim out = 0;
  EXPECT_TRUE(pool.broadcast(a, 5, &out));
  EXPECT_EQ(out, 5);
  EXPECT_TRUE(pool.equal(b, a, &out));
  EXPECT_EQ(out, a);
  EXPECT_TRUE(pool.equal(7, b, &out));
  EXPECT_EQ(out, 7);
  EXPECT_FALSE(pool.equal(a, pool.add(a, 1), &out));
  EXPECT_FALSE(pool.equal(pool.sub(0, a), 3, &out));
  const auto eval = [&](int64_t x, int64_t y) {
    return code_of([&] {
      std::vector<int64_t> values(pool.size());
      values[expr_id(a)] = x;
      values[expr_id(b)] = y;
      pool.eval(values);
    });
  };
  pool = DimPool();
  ASSERT_EQ(pool.symbol("a"), a);
  ASSERT_EQ(pool.symbol("b"), b);
  ASSERT_TRUE(pool.broadcast(a, 5, &out) && pool.equal(b, 7, &out));
  EXPECT_EQ(eval(5, 7), NEF_OK);
  EXPECT_EQ(eval(1, 7), NEF_OK);
  EXPECT_EQ(eval(4, 7), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(eval(5, 6), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(eval(DimPool::kUnset, 7), NEF_OK);
}

TEST(Dim, Limits) {
  DimPool pool;
  const Dim a = pool.symbol("a");
  EXPECT_EQ(code_of([&] { pool.mul(int64_t{1} << 62, 2); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([&] { pool.add(kUnbounded, 1); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([&] { pool.sub(Dim::kLowest, 1); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([&] { pool.mul(pool.mul(a, int64_t{1} << 62), 2); }), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([&] {
              Dim d = a;
              for (int i = 0; i < 64; ++i) d = pool.mul(d, a);
            }),
            NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(code_of([&] {
              Dim d = 0;
              for (int i = 0; i < 1000; ++i) d = pool.add(d, pool.symbol(cat("s", i)));
            }),
            NEF_LIMIT_EXCEEDED);
  // Shared parts would make the text of this one grow without bound.
  EXPECT_EQ(code_of([&] {
              Dim d = a;
              for (int i = 0; i < 200; ++i) d = pool.max(pool.mul(d, 2), pool.symbol(cat("t", i)));
            }),
            NEF_LIMIT_EXCEEDED);
  const Dim square = pool.mul(a, a);
  std::vector<int64_t> values(pool.size(), 1);
  values[expr_id(a)] = int64_t{1} << 40;
  EXPECT_EQ(code_of([&] { pool.eval(values); }), NEF_LIMIT_EXCEEDED);
  EXPECT_TRUE(is_expr(square));
}

// ---- random expressions against direct evaluation --------------------------------------------

struct Sample {
  Dim dim;
  std::vector<int64_t> at;  // its value for each assignment
};

constexpr size_t kAssignments = 12;
constexpr int64_t kLargest = int64_t{1} << 40;

class RandomDims {
 public:
  explicit RandomDims(unsigned seed) : random_(seed) {
    for (const char* name : {"a", "b", "c"}) {
      const int64_t lo = pick(3), hi = lo + pick(20);
      Sample s{pool_.symbol(name, lo, hi), {}};
      for (size_t i = 0; i < kAssignments; ++i) s.at.push_back(lo + pick(hi - lo + 1));
      symbols_.push_back(s);
    }
    samples_ = symbols_;
  }

  void grow(int steps) {
    for (int i = 0; i < steps; ++i) step();
  }

  DimPool& pool() { return pool_; }
  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<Sample>& symbols() const { return symbols_; }

 private:
  int64_t pick(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  Sample operand() {
    if (pick(3) == 0) {
      const int64_t k = pick(13) - 4;
      return {Dim::of(k), std::vector<int64_t>(kAssignments, k)};
    }
    return samples_[static_cast<size_t>(pick(static_cast<int64_t>(samples_.size())))];
  }

  void step() {
    const Sample x = operand(), y = operand();
    Sample out;
    const int64_t op = pick(7);
    for (size_t i = 0; i < kAssignments; ++i) {
      const int64_t a = x.at[i], b = y.at[i];
      if (op >= 3 && op <= 4 && b < 1) return;
      const int64_t v[] = {a + b,
                           a - b,
                           a * b,
                           b < 1 ? 0 : floor_div(a, b),
                           b < 1 ? 0 : ceil_div(a, b),
                           std::max(a, b),
                           std::min(a, b)};
      out.at.push_back(v[op]);
      if (std::abs(v[op]) > kLargest) return;
    }
    try {
      switch (op) {
        case 0: out.dim = pool_.add(x.dim, y.dim); break;
        case 1: out.dim = pool_.sub(x.dim, y.dim); break;
        case 2: out.dim = pool_.mul(x.dim, y.dim); break;
        case 3: out.dim = pool_.floordiv(x.dim, y.dim); break;
        case 4: out.dim = pool_.ceildiv(x.dim, y.dim); break;
        case 5: out.dim = pool_.max(x.dim, y.dim); break;
        default: out.dim = pool_.min(x.dim, y.dim); break;
      }
    } catch (const Error& e) {
      // Growth past the caps is the one thing that may go wrong here.
      EXPECT_EQ(e.code(), NEF_LIMIT_EXCEEDED) << e.message();
      return;
    }
    samples_.push_back(out);
  }

  std::mt19937 random_;
  DimPool pool_;
  std::vector<Sample> symbols_, samples_;
};

TEST(DimProperty, ExpressionsMeanWhatTheirOperationsMean) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    RandomDims r(seed);
    r.grow(60);
    for (size_t i = 0; i < kAssignments; ++i) {
      std::vector<int64_t> values(r.pool().size(), 0);
      for (const Sample& s : r.symbols()) values[expr_id(s.dim)] = s.at[i];
      // A divisor that is positive here may not be so in every assignment: only used ones count.
      r.pool().eval(values);
      for (const Sample& s : r.samples()) {
        ASSERT_EQ(DimPool::value(s.dim, values), s.at[i])
            << "seed " << seed << ": " << r.pool().str(s.dim);
        ASSERT_LE(r.pool().lower(s.dim), s.at[i]) << r.pool().str(s.dim);
        ASSERT_GE(r.pool().upper(s.dim), s.at[i]) << r.pool().str(s.dim);
      }
    }
  }
}

TEST(DimProperty, TextIsReadBackAsTheSameDim) {
  for (unsigned seed = 1000; seed < 1150; ++seed) {
    RandomDims r(seed);
    r.grow(60);
    for (const Sample& s : r.samples()) {
      const std::string text = r.pool().str(s.dim);
      ASSERT_EQ(r.pool().parse(text), s.dim) << "seed " << seed << ": " << text;
    }
  }
}

TEST(DimProperty, ImportKeepsTheMeaning) {
  for (unsigned seed = 2000; seed < 2050; ++seed) {
    RandomDims r(seed);
    r.grow(60);
    DimPool other;
    other.symbol("elsewhere");
    std::vector<Dim> memo(r.pool().size(), 0);
    for (const Sample& s : r.samples()) {
      const Dim d = other.import(r.pool(), s.dim, memo);
      std::vector<int64_t> values(other.size(), 0);
      for (const Sample& symbol : r.symbols()) {
        const Dim mine = other.import(r.pool(), symbol.dim, memo);
        values.resize(other.size(), 0);
        values[expr_id(mine)] = symbol.at[0];
      }
      other.eval(values);
      ASSERT_EQ(DimPool::value(d, values), s.at[0]) << r.pool().str(s.dim);
    }
  }
}

TEST(Dim, ImportedUnknownsStayApart) {
  DimPool from, to;
  const Dim u = from.unknown(), v = from.unknown();
  std::vector<Dim> memo(from.size(), 0);
  EXPECT_NE(to.import(from, u, memo), to.import(from, v, memo));
  EXPECT_EQ(to.import(from, u, memo), to.import(from, u, memo));
}

TEST(Dim, ASweptPoolKeepsWhatIsNeededAndGivesIdsOutAgain) {
  DimPool pool;
  const Dim n = pool.symbol("n"), m = pool.symbol("m");
  const Dim kept = pool.floordiv(pool.add(n, 3), 2);
  const std::string text = pool.str(kept);
  const Dim lost = pool.mul(m, m);
  const size_t all = pool.used();
  const Dim roots[2] = {kept, 7};
  pool.keep_only(roots);
  EXPECT_LT(pool.used(), all);
  EXPECT_EQ(pool.str(kept), text);
  EXPECT_EQ(pool.symbol("n"), n);
  EXPECT_EQ(pool.floordiv(pool.add(n, 3), 2), kept);
  const size_t size = pool.size();
  EXPECT_TRUE(is_expr(lost));
  pool.unknown();
  pool.symbol("other");
  EXPECT_EQ(pool.size(), size);
}

}  // namespace
}  // namespace nef::ir
