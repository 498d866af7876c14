// SPDX-License-Identifier: Apache-2.0
// Fused elementwise regions: many nodes, mixed dtypes, every way an input can broadcast.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/attrs.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

using Dims = std::vector<int64_t>;

// x + 1 + 1 + ... in a chain of n nodes.
void check_chain(int n, int64_t elements) {
  RegionRunner r(NEF_REGION_ELEMENTWISE);
  const std::vector<float> x = random_floats(elements, 3);
  int32_t value = r.floats({elements}, x);
  const int32_t one = r.floats({}, {1});
  std::vector<int32_t> results;
  for (int i = 0; i < n; ++i) {
    results.push_back(i + 1 == n ? r.output(NEF_FLOAT32, {elements})
                                 : r.internal(NEF_FLOAT32, {elements}));
    r.node(NEF_OP_ADD, {value, one}, {results.back()});
    value = results.back();
  }
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto y = r.result<float>(value);
  for (int64_t i = 0; i < elements; ++i) {
    float want = x[i];
    for (int k = 0; k < n; ++k) want += 1;
    ASSERT_EQ(y[i], want) << "element " << i;
  }
}

TEST(CpuElementwise, ChainsOfOneToManyNodes) {
  for (int n : {1, 2, 3, 7, 64, 300}) {
    for (int64_t elements : {int64_t{1}, int64_t{511}, int64_t{513}, int64_t{5000}}) {
      check_chain(n, elements);
    }
  }
}

// Element of a tensor of dims `from` that the linear index `i` of `to` broadcasts from.
int64_t broadcast_index(int64_t i, const Dims& to, const Dims& from) {
  int64_t index = 0, step = 1;
  for (size_t d = to.size(), f = from.size(); d-- > 0;) {
    const int64_t at = i % to[d];
    i /= to[d];
    if (f == 0) continue;
    --f;
    index += from[f] == 1 ? 0 : at * step;
    step *= from[f];
  }
  return index;
}

// a * b + c with three shapes at once.
void check_broadcast(const Dims& out, const Dims& da, const Dims& db, const Dims& dc) {
  SCOPED_TRACE(testing::Message() << testing::PrintToString(out) << testing::PrintToString(db));
  RegionRunner r(NEF_REGION_ELEMENTWISE);
  const auto a = random_floats(product(da), 1), b = random_floats(product(db), 2),
             c = random_floats(product(dc), 3);
  const int32_t ia = r.floats(da, a), ib = r.floats(db, b), ic = r.floats(dc, c);
  const int32_t product_value = r.internal(NEF_FLOAT32, out);
  const int32_t y = r.output(NEF_FLOAT32, out);
  r.node(NEF_OP_MUL, {ia, ib}, {product_value});
  r.node(NEF_OP_ADD, {product_value, ic}, {y});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(y);
  for (int64_t i = 0; i < product(out); ++i) {
    const float x = a[broadcast_index(i, out, da)], y = b[broadcast_index(i, out, db)];
    const float z = c[broadcast_index(i, out, dc)];
    // Rounded on its own: compilers for arm64 would make one operation of both.
    const volatile float product = x * y;
    ASSERT_TRUE(got[i] == product + z || got[i] == std::fma(x, y, z)) << "element " << i;
  }
}

TEST(CpuElementwise, BroadcastsOfEveryKind) {
  // Rows shorter and longer than a tile, patterns, columns, scalars, inner and outer axes.
  check_broadcast({7, 33}, {7, 33}, {33}, {7, 1});
  check_broadcast({7, 1500}, {7, 1500}, {1500}, {7, 1});
  check_broadcast({3, 300}, {3, 300}, {1, 300}, {3, 1});
  check_broadcast({5, 3, 1030}, {5, 1, 1030}, {3, 1}, {});
  check_broadcast({4, 5, 6, 7}, {4, 1, 6, 1}, {5, 1, 7}, {4, 5, 6, 7});
  check_broadcast({2, 2000, 3}, {2, 2000, 3}, {2000, 1}, {3});
  check_broadcast({600, 600}, {600, 1}, {600}, {600, 600});
}

TEST(CpuElementwise, MixedDtypesInOneRegion) {
  // Where(x > 0, float16(x) as float32, float32(i)).
  const int64_t n = 700;
  std::vector<float> x = random_floats(n, 9);
  std::vector<int32_t> ints(n);
  for (int64_t i = 0; i < n; ++i) ints[i] = static_cast<int32_t>(i * 3 - 5);
  RegionRunner r(NEF_REGION_ELEMENTWISE);
  const int32_t ix = r.floats({n}, x), ii = r.input(NEF_INT32, {n}, ints);
  const int32_t zero = r.floats({}, {0});
  const int32_t positive = r.internal(NEF_BOOL, {n}), half = r.internal(NEF_FLOAT16, {n});
  const int32_t back = r.internal(NEF_FLOAT32, {n}), from_int = r.internal(NEF_FLOAT32, {n});
  const int32_t y = r.output(NEF_FLOAT32, {n});
  const auto to = [](nef_dtype dtype) {
    return ir::AttrBuilder(NEF_OP_CAST).set_int(NEF_CAST_TO, dtype).build();
  };
  r.node(NEF_OP_GREATER, {ix, zero}, {positive});
  r.node(NEF_OP_CAST, {ix}, {half}, to(NEF_FLOAT16));
  r.node(NEF_OP_CAST, {half}, {back}, to(NEF_FLOAT32));
  r.node(NEF_OP_CAST, {ii}, {from_int}, to(NEF_FLOAT32));
  r.node(NEF_OP_WHERE, {positive, back, from_int}, {y});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(y);
  for (int64_t i = 0; i < n; ++i) {
    const float scale = std::ldexp(1.0f, 10 - std::ilogb(x[i]));
    const float rounded = std::nearbyint(x[i] * scale) / scale;  // 11 bits
    ASSERT_EQ(got[i], x[i] > 0 ? rounded : static_cast<float>(ints[i])) << "element " << i;
  }
}

// Outputs of many megabytes are written past the caches, from several chunks.
TEST(CpuElementwise, LargeOutputs) {
  const int64_t n = (9 << 20) / 4 + 77;
  const auto x = random_floats(n, 4);
  RegionRunner r;
  const int32_t ix = r.floats({n}, x), y = r.output(NEF_FLOAT32, {n});
  r.node(NEF_OP_NEG, {ix}, {y});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(y);
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(got[i], -x[i]) << "element " << i;
}

// More inputs than its steps fetch ahead; the first is read twice.
TEST(CpuElementwise, LargeInputs) {
  const int64_t n = (8 << 20) / 4 + 209;
  RegionRunner r(NEF_REGION_ELEMENTWISE);
  std::vector<std::vector<float>> data;
  std::vector<int32_t> ids;
  for (unsigned seed = 0; seed < 6; ++seed) {
    data.push_back(random_floats(n, seed));
    ids.push_back(r.floats({n}, data.back()));
  }
  const int32_t ab = r.internal(NEF_FLOAT32, {n}), abc = r.internal(NEF_FLOAT32, {n});
  const int32_t sum = r.internal(NEF_FLOAT32, {n}), y = r.output(NEF_FLOAT32, {n});
  r.node(NEF_OP_MUL, {ids[0], ids[1]}, {ab});
  r.node(NEF_OP_ADD, {ids[2], ab}, {abc});
  r.node(NEF_OP_MAX, {abc, ids[3], ids[4], ids[5]}, {sum});
  r.node(NEF_OP_ADD, {sum, ids[0]}, {y});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(y);
  for (int64_t i = 0; i < n; ++i) {
    const float most = std::max({data[3][i], data[4][i], data[5][i]});
    const volatile float product = data[0][i] * data[1][i];
    const float apart = std::max(product + data[2][i], most) + data[0][i];
    const float joined = std::max(std::fma(data[0][i], data[1][i], data[2][i]), most) + data[0][i];
    ASSERT_TRUE(got[i] == apart || got[i] == joined) << "element " << i;
  }
}

// A product that is read twice, as an operand of its own sum and of another, is not joined to it.
TEST(CpuElementwise, SumsOfProducts) {
  const std::vector<float> a = random_floats(1000, 1), b = random_floats(1000, 2);
  RegionRunner r(NEF_REGION_ELEMENTWISE);
  const int32_t ia = r.floats({1000}, a), ib = r.floats({1000}, b);
  const int32_t product = r.internal(NEF_FLOAT32, {1000}), twice = r.internal(NEF_FLOAT32, {1000});
  const int32_t y = r.output(NEF_FLOAT32, {1000});
  r.node(NEF_OP_MUL, {ia, ib}, {product});
  r.node(NEF_OP_ADD, {product, product}, {twice});
  r.node(NEF_OP_SUB, {twice, product}, {y});
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(y);
  for (size_t i = 0; i < a.size(); ++i) {
    const volatile float rounded = a[i] * b[i];
    ASSERT_EQ(got[i], rounded) << "element " << i;
  }
}

TEST(CpuElementwise, RefusesWhatIsNotElementwise) {
  RegionRunner r(NEF_REGION_ELEMENTWISE);
  const int32_t x = r.floats({4}, {1, 2, 3, 4}), y = r.output(NEF_FLOAT32, {4});
  r.node(NEF_OP_CUMSUM, {x, x}, {y});
  const Outcome outcome = r.run();
  EXPECT_EQ(outcome.code, NEF_UNSUPPORTED);
  EXPECT_NE(outcome.message.find("not elementwise"), std::string::npos) << outcome.message;
}

}  // namespace
}  // namespace nef::cpu_test
