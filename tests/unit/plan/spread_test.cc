// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/spread.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/build/builder.h"

namespace nef::plan {
namespace {

using ir::Dim;
using ir::ValueId;

// A chain of products with weights of 4 KiB on devices 1 and 2, values of 1 KiB between them.
class Spreading : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 8, kWidth = 32;
  static constexpr uint64_t kWeights = kWidth * kWidth * 4, kValue = kRows * kWidth * 4;

  ValueId weights() {
    const Dim dims[] = {kWidth, kWidth};
    return graph.add_constant(NEF_FLOAT32, dims, ir::Buffer::allocate(kWeights));
  }
  ValueId start() {
    const Dim dims[] = {kRows, kWidth};
    return graph.add_input("x", NEF_FLOAT32, dims);
  }
  ValueId op(nef_op id, std::vector<ValueId> inputs) {
    const ir::OpSpec& s = ir::spec(id);
    return build::Builder(graph).value(
        id, inputs, s.n_attrs == 0 ? std::vector<int64_t>{} : ir::AttrBuilder(id).build());
  }
  ValueId product(ValueId x, ValueId w) { return op(NEF_OP_MATMUL, {x, w}); }
  ValueId chain(int length) {
    ValueId x = start();
    for (int i = 0; i < length; ++i) x = product(x, weights());
    return x;
  }
  // "1122": the device of each region.
  std::string spread_over(std::vector<uint64_t> room) {
    regions = optimize::single_node_regions(graph);
    Placement p;
    p.device.assign(regions.list.size(), 1);
    p.reason.assign(regions.list.size(), Reason::LargeContraction);
    for (size_t r = 0; r < p.reason.size(); ++r) {
      if (graph.op(regions.root(regions.list[r])) != NEF_OP_FLATTEN) continue;
      p.reason[r] = Reason::View;
      p.device[r] = 0;
    }
    std::vector<size_t> devices;
    for (size_t i = 0; i < room.size(); ++i) devices.push_back(i + 1);
    spread(
        graph, regions, {devices, room}, [this](size_t r) { return pinned.count(r) == 0; },
        [this](size_t d, size_t r) {
          return refused.count({d, r}) == 0;
        },
        p);
    std::string out;
    for (uint16_t d : p.device) out += std::to_string(d);
    return out;
  }
  // Room for so many weights and values; a product has two at its ends.
  static uint64_t for_weights(uint64_t weights, uint64_t values = 2) {
    return (weights * kWeights + values * kValue) * 16 / 15 + 64;
  }

  ir::Graph graph;
  optimize::Regions regions;
  std::set<size_t> pinned;
  std::set<std::pair<size_t, size_t>> refused;
};

TEST_F(Spreading, WhatFitsStays) {
  chain(4);
  EXPECT_EQ(spread_over({for_weights(4), for_weights(4)}), "1111");
}

TEST_F(Spreading, TheNextDeviceTakesOver) {
  chain(4);
  EXPECT_EQ(spread_over({for_weights(3), for_weights(4)}), "1112");
  EXPECT_EQ(spread_over({for_weights(1), for_weights(1), for_weights(2)}), "1233");
}

TEST_F(Spreading, ADeviceWithoutRoomIsPassedOver) {
  chain(3);
  EXPECT_EQ(spread_over({for_weights(1), 10, for_weights(2)}), "133");
}

TEST_F(Spreading, WhatFitsNowhereStaysWithTheLast) {
  chain(4);
  EXPECT_EQ(spread_over({for_weights(1), for_weights(1)}), "1222");
  EXPECT_EQ(spread_over({10, 10}), "1111");
}

TEST_F(Spreading, WeightsOfSeveralRegionsCountOnce) {
  const ValueId w = weights();
  ValueId x = start();
  for (int i = 0; i < 4; ++i) x = product(x, w);
  EXPECT_EQ(spread_over({for_weights(1), for_weights(4)}), "1111");
}

// Values that nothing reads any more make room; those that are read at the end do not.
TEST_F(Spreading, ValuesCountWhileTheyAreAlive) {
  const ValueId w = weights();
  const ValueId x = start();
  std::vector<ValueId> made;
  for (int i = 0; i < 6; ++i) made.push_back(product(x, w));
  for (ValueId v : made) graph.add_output("y" + std::to_string(v), v);
  EXPECT_EQ(spread_over({for_weights(1, 4), for_weights(4)}), "111222");
}

TEST_F(Spreading, AViewKeepsWhatItShows) {
  const ValueId w = weights();
  const ValueId x = start();
  const ValueId first = product(x, w);
  const ValueId view = op(NEF_OP_FLATTEN, {first});
  ValueId y = product(x, w);
  for (int i = 0; i < 2; ++i) y = product(y, w);
  op(NEF_OP_ADD, {view, y});
  EXPECT_EQ(spread_over({for_weights(1, 10), 10}).substr(0, 3), "101");
  EXPECT_EQ(spread_over({for_weights(1), for_weights(1, 10)}), "102222");
}

TEST_F(Spreading, PinnedAndRefusedRegionsStay) {
  chain(4);
  pinned = {2};
  EXPECT_EQ(spread_over({for_weights(1), for_weights(4)}), "1212");
  pinned.clear();
  refused = {{2, 1}};
  EXPECT_EQ(spread_over({for_weights(1), for_weights(4)}), "1122");
}

}  // namespace
}  // namespace nef::plan
