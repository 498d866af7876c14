// SPDX-License-Identifier: Apache-2.0
// A node may join very many values; compiling it stays linear in them.
#include <gtest/gtest.h>

#include "engine/compile/region_desc.h"
#include "tests/support/handles.h"

namespace nef::test {
namespace {

TEST(WideTest, ValuesAreFoundWhereTheyStand) {
  compile::ValueList list;
  for (ir::ValueId v = 0; v < 1000; ++v) {
    EXPECT_EQ(list.find(7 * v), -1);
    list.add(7 * v);
  }
  for (int32_t i = 0; i < 1000; ++i) EXPECT_EQ(list.find(static_cast<ir::ValueId>(7 * i)), i);
  list.clear();
  EXPECT_EQ(list.find(7 * 999), -1);
}

TEST(WideTest, ConcatOfManyWithRepeats) {
  constexpr int64_t kCount = 50000;
  std::vector<Tensor> in;
  for (int64_t i = 0; i < kCount; ++i) {
    in.push_back(i % 5 == 4 ? in[static_cast<size_t>(i / 2)] : ints({i}));
  }
  const Tensor y = op("concat", in, {int_attr("axis", 0)});
  std::vector<int64_t> out(kCount);
  ok(nef_tensor_read(y.get(), out.data(), out.size() * sizeof(int64_t)));
  for (int64_t i = 0; i < kCount; ++i) {
    const int64_t want = i % 5 == 4 ? out[static_cast<size_t>(i / 2)] : i;
    ASSERT_EQ(out[static_cast<size_t>(i)], want);
  }
}

}  // namespace
}  // namespace nef::test
