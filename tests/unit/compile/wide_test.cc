// SPDX-License-Identifier: Apache-2.0
// A node may join very many values; compiling it stays linear in them.
#include <gtest/gtest.h>

#include <set>

#include "engine/build/builder.h"
#include "engine/optimize/regions.h"
#include "tests/support/handles.h"

namespace nef::test {
namespace {

TEST(WideTest, ValuesAreListedOnce) {
  ir::Graph g;
  build::Builder b(g);
  const ir::Dim dims[1] = {2};
  std::vector<ir::ValueId> in;
  for (uint32_t i = 0; i < 1000; ++i) {
    in.push_back(i % 3 == 2 ? in[i / 2] : g.add_input("", NEF_FLOAT32, dims));
  }
  ir::AttrBuilder axis(NEF_OP_CONCAT);
  axis.set_int(NEF_CONCAT_AXIS, 0);
  g.add_output("y", b.value(NEF_OP_CONCAT, in, axis.build()));
  const optimize::Regions regions = optimize::single_node_regions(g);
  const auto values = regions.values_of(regions.list[0]);
  ASSERT_EQ(values.size(), g.value_count());
  std::set<ir::ValueId> seen;
  for (const optimize::RegionValue& v : values) EXPECT_TRUE(seen.insert(v.value).second);
  const int32_t* link = regions.links_of(regions.list[0]);
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(values[static_cast<size_t>(link[i])].value, in[i]) << i;
  }
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
