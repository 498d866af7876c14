// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ir/attrs.h"
#include "tests/unit/cpu/each_target.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

struct Sizes {
  int64_t batch = 1, q_heads = 2, kv_heads = 2, queries = 20, keys = 20, size = 16, v_size = 16;
  bool causal = false, packed = false;
  double softcap = 0;
};

struct Data {
  std::vector<float> q, k, v;
  std::vector<float> bias;    // [queries][keys] or [1][keys], empty: none
  std::vector<uint8_t> keep;  // [batch][1][1][keys], empty: none
};

Data make_data(const Sizes& s) {
  return {random_floats(s.batch * s.q_heads * s.queries * s.size, 1),
          random_floats(s.batch * s.kv_heads * s.keys * s.size, 2),
          random_floats(s.batch * s.kv_heads * s.keys * s.v_size, 3),
          {},
          {}};
}

// Element index in [batch, heads, length, size], or [batch, length, heads, size] when packed.
int64_t at(const Sizes& s, int64_t heads, int64_t length, int64_t size, int64_t b, int64_t h,
           int64_t row, int64_t i) {
  return s.packed ? ((b * length + row) * heads + h) * size + i
                  : ((b * heads + h) * length + row) * size + i;
}

std::vector<float> expected(const Sizes& s, const Data& d) {
  std::vector<float> y(static_cast<size_t>(s.batch * s.q_heads * s.queries * s.v_size));
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.q_heads; ++h) {
      const int64_t kv = h / (s.q_heads / s.kv_heads);
      for (int64_t row = 0; row < s.queries; ++row) {
        std::vector<double> p(static_cast<size_t>(s.keys));
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < s.keys; ++j) {
          double dot = 0;
          for (int64_t i = 0; i < s.size; ++i) {
            dot += double{d.q[at(s, s.q_heads, s.queries, s.size, b, h, row, i)]} *
                   d.k[at(s, s.kv_heads, s.keys, s.size, b, kv, j, i)];
          }
          dot /= std::sqrt(double(s.size));
          if (s.softcap > 0) dot = s.softcap * std::tanh(dot / s.softcap);
          if (!d.bias.empty())
            dot += d.bias[(row * s.keys + j) % static_cast<int64_t>(d.bias.size())];
          if (!d.keep.empty() && d.keep[b * s.keys + j] == 0) dot = -INFINITY;
          if (s.causal && j > row) dot = -INFINITY;
          p[j] = dot;
          most = std::max(most, dot);
        }
        for (double& x : p) sum += x = most == -INFINITY ? 0 : std::exp(x - most);
        for (int64_t i = 0; i < s.v_size; ++i) {
          double out = 0;
          for (int64_t j = 0; j < s.keys; ++j) {
            if (p[j] == 0) continue;
            out += p[j] / sum * d.v[at(s, s.kv_heads, s.keys, s.v_size, b, kv, j, i)];
          }
          y[at(s, s.q_heads, s.queries, s.v_size, b, h, row, i)] = static_cast<float>(out);
        }
      }
    }
  }
  return y;
}

void check(const Sizes& s, const Data& d, nef_precision precision, double tolerance) {
  SCOPED_TRACE(testing::Message() << "queries " << s.queries << " keys " << s.keys << " heads "
                                  << s.q_heads << "/" << s.kv_heads << " size " << s.size << "/"
                                  << s.v_size << (s.causal ? " causal" : "") << " precision "
                                  << precision);
  const auto dims = [&](int64_t heads, int64_t length, int64_t size) {
    return s.packed ? std::vector<int64_t>{s.batch, length, heads * size}
                    : std::vector<int64_t>{s.batch, heads, length, size};
  };
  RegionRunner r(NEF_REGION_SINGLE, precision);
  const int32_t q = r.floats(dims(s.q_heads, s.queries, s.size), d.q);
  const int32_t k = r.floats(dims(s.kv_heads, s.keys, s.size), d.k);
  const int32_t v = r.floats(dims(s.kv_heads, s.keys, s.v_size), d.v);
  int32_t mask = -1;
  const auto bias = static_cast<int64_t>(d.bias.size());
  if (bias > 0) mask = r.floats({bias / s.keys, s.keys}, d.bias);
  if (!d.keep.empty()) mask = r.input(NEF_BOOL, {s.batch, 1, 1, s.keys}, d.keep);
  const int32_t y = r.output(NEF_FLOAT32, dims(s.q_heads, s.queries, s.v_size));
  ir::AttrBuilder attrs(NEF_OP_ATTENTION);
  attrs.set_int(NEF_ATTENTION_IS_CAUSAL, s.causal).set_float(NEF_ATTENTION_SOFTCAP, s.softcap);
  if (s.packed) {
    attrs.set_int(NEF_ATTENTION_Q_NUM_HEADS, s.q_heads);
    attrs.set_int(NEF_ATTENTION_KV_NUM_HEADS, s.kv_heads);
  }
  r.node(NEF_OP_ATTENTION, {q, k, v, mask}, {y}, attrs.build());
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(y), want = expected(s, d);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance) << "element " << i;
}

// Exact, and with products of bfloat16 where the CPU has them: scores of up to 6 are then off by up
// to 2^-7 of what they add.
void check(const Sizes& s, const Data& d) {
  check(s, d, NEF_PRECISION_EXACT, 3e-6);
  check(s, d, NEF_PRECISION_FAST, 2e-2);
}

TEST(Attention, EveryLengthAroundTheTiles) {
  for (int64_t queries : {1, 2, 7, 8, 9, 47, 48, 49, 57, 100}) {
    for (int64_t keys : {1, 5, 127, 128, 129, 260}) {
      Sizes s;
      s.queries = queries;
      s.keys = keys;
      check(s, make_data(s));
    }
  }
}

TEST(Attention, CausalGroupedAndPacked) {
  for (bool packed : {false, true}) {
    for (int64_t length : {3, 17, 150}) {
      Sizes s;
      s.batch = 2;
      s.q_heads = 6;
      s.kv_heads = 2;
      s.queries = s.keys = length;
      s.size = 20;
      s.v_size = 33;
      s.causal = true;
      s.packed = packed;
      s.softcap = length == 17 ? 5 : 0;
      check(s, make_data(s));
    }
  }
}

TEST(Attention, MasksBroadcast) {
  Sizes s;
  s.batch = 2;
  s.queries = 30;
  s.keys = 140;
  Data d = make_data(s);
  d.bias = random_floats(s.queries * s.keys, 9);
  for (size_t i = 0; i < d.bias.size(); i += 3) d.bias[i] = -INFINITY;
  check(s, d);
  d.bias.clear();
  d.keep.assign(static_cast<size_t>(s.batch * s.keys), 1);
  for (size_t i = 0; i < d.keep.size(); i += 2) d.keep[i] = 0;
  check(s, d);
}

TEST(Attention, OneMaskForAllQueries) {
  for_each_target([] {
    Sizes s;
    s.queries = 70;
    s.keys = 140;
    s.packed = true;
    Data d = make_data(s);
    d.bias = random_floats(s.keys, 9);
    for (size_t i = 0; i < d.bias.size(); i += 3) d.bias[i] = -INFINITY;
    check(s, d);
    s.causal = true;
    check(s, d);
  });
}

// The lowest number added to all scores leaves them alike, to some it hides those.
TEST(Attention, MasksOfTheLowestNumber) {
  for_each_target([] {
    Sizes s;
    s.queries = 20;
    s.keys = 150;
    s.size = 64;
    Data d = make_data(s);
    d.bias.assign(static_cast<size_t>(s.keys), std::numeric_limits<float>::lowest());
    check(s, d);
    std::fill(d.bias.begin() + 40, d.bias.begin() + 60, 0.0f);
    check(s, d);
  });
}

// Rows of keys a page apart are copied before they are multiplied.
TEST(Attention, RowsAPageApart) {
  Sizes s;
  s.q_heads = s.kv_heads = 16;
  s.size = s.v_size = 64;
  s.queries = 70;
  s.keys = 150;
  s.packed = true;
  check(s, make_data(s));
}

TEST(Attention, EveryTarget) {
  for_each_target([] {
    for (int64_t size : {1, 20, 64}) {
      Sizes s;
      s.queries = s.keys = 150;
      s.size = size;
      s.v_size = 33;
      s.causal = size == 20;
      check(s, make_data(s));
    }
  });
}

TEST(Attention, RowsWithNothingToSeeAreZero) {
  for (int64_t queries : {4, 64}) {
    Sizes s;
    s.batch = 2;
    s.queries = queries;
    s.keys = 300;
    Data d = make_data(s);
    d.keep.assign(static_cast<size_t>(s.batch * s.keys), 1);
    std::fill_n(d.keep.begin(), s.keys, uint8_t{0});        // batch 0 sees nothing
    std::fill_n(d.keep.begin() + s.keys, 200, uint8_t{0});  // batch 1 not the first blocks
    check(s, d);
  }
}

TEST(Attention, MaskedValuesMayBeInfinite) {
  for (int64_t queries : {4, 64}) {
    Sizes s;
    s.queries = queries;
    s.keys = 40;
    Data d = make_data(s);
    d.keep.assign(static_cast<size_t>(s.keys), 1);
    d.keep[7] = 0;
    d.v[at(s, s.kv_heads, s.keys, s.v_size, 0, 0, 7, 3)] = std::numeric_limits<float>::quiet_NaN();
    d.v[at(s, s.kv_heads, s.keys, s.v_size, 0, 1, 7, 3)] = INFINITY;
    check(s, d);
  }
}

}  // namespace
}  // namespace nef::cpu_test
