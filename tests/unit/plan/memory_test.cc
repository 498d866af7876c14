// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/ir/error.h"

namespace nef::plan {
namespace {

using Requests = std::vector<MemoryRequest>;

uint64_t aligned(uint64_t bytes) {
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

// No plan takes less than what is alive at the busiest step.
uint64_t lower_bound(const Requests& requests) {
  uint32_t steps = 0;
  for (const MemoryRequest& r : requests) steps = std::max(steps, r.last + 1);
  std::vector<int64_t> change(steps + 1, 0);
  for (const MemoryRequest& r : requests) {
    change[r.first] += static_cast<int64_t>(aligned(r.bytes));
    change[r.last + 1] -= static_cast<int64_t>(aligned(r.bytes));
  }
  int64_t alive = 0, most = 0;
  for (int64_t c : change) most = std::max(most, alive += c);
  return static_cast<uint64_t>(most);
}

// Values of a random DAG in execution order: each lives until its last reader.
Requests random_dag(std::mt19937& random, size_t count, uint64_t most_bytes, uint32_t reach) {
  Requests out(count);
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = {random() % 8 == 0 ? 0 : random() % most_bytes + 1, i, i};
    for (int k = 0; k < 2 && i > 0; ++k) out[i - 1 - random() % std::min(i, reach)].last = i;
  }
  return out;
}

void expect_sound(const Requests& requests, const MemoryPlan& plan) {
  ASSERT_EQ(check_memory(requests, plan), "");
  EXPECT_GE(plan.arena_bytes, lower_bound(requests));
  EXPECT_LE(plan.arena_bytes, plan.sum_bytes);
  for (uint64_t o : plan.offset) EXPECT_EQ(o % kMemoryAlignment, 0u);
}

TEST(Memory, PlansOfRandomDagsAreSound) {
  std::mt19937 random(1);
  double fast = 0, tight = 0;
  int plans = 0;
  for (size_t count : {1, 2, 3, 7, 20, 50, 100, 300, 1000, 5000}) {
    for (uint32_t reach : {1u, 4u, 60u}) {
      for (uint64_t most : {uint64_t{100}, uint64_t{1} << 22}) {
        const Requests requests = random_dag(random, count, most, reach);
        const MemoryPlan quick = plan_memory(requests), small = plan_memory_tight(requests);
        expect_sound(requests, quick);
        expect_sound(requests, small);
        const double bound = static_cast<double>(std::max<uint64_t>(1, lower_bound(requests)));
        fast += static_cast<double>(quick.arena_bytes) / bound;
        tight += static_cast<double>(small.arena_bytes) / bound;
        ++plans;
      }
    }
  }
  RecordProperty("peak_over_lower_bound", std::to_string(fast / plans));
  RecordProperty("peak_over_lower_bound_tight", std::to_string(tight / plans));
  std::printf("%d plans, peak over lower bound: %.3f in execution order, %.3f by size\n", plans,
              fast / plans, tight / plans);
  EXPECT_LT(fast / plans, 1.35);
  EXPECT_LT(tight / plans, 1.15);
}

TEST(Memory, AChainTakesTwoValues) {
  Requests chain;
  for (uint32_t i = 0; i < 1000; ++i) chain.push_back({4096, i, i + 1});
  EXPECT_EQ(plan_memory(chain).arena_bytes, 2u * 4096);
  EXPECT_EQ(plan_memory_tight(chain).arena_bytes, 2u * 4096);
}

TEST(Memory, NothingAndNoBytesTakeNothing) {
  for (auto* planner : {plan_memory, plan_memory_tight}) {
    EXPECT_EQ(planner({}).arena_bytes, 0u);
    const Requests empty = {{0, 0, 5}, {0, 1, 2}};
    EXPECT_EQ(planner(empty).arena_bytes, 0u);
    const Requests mixed = {{0, 0, 5}, {64, 1, 2}, {0, 2, 2}, {1, 2, 3}};
    const MemoryPlan plan = planner(mixed);
    EXPECT_EQ(check_memory(mixed, plan), "");
    EXPECT_EQ(plan.arena_bytes, 128u);
  }
}

TEST(Memory, SizesThatOverflowAreRefused) {
  const uint64_t huge = UINT64_MAX - 10, half = uint64_t{1} << 61;
  for (auto* planner : {plan_memory, plan_memory_tight}) {
    for (const Requests& requests :
         {Requests{{huge, 0, 0}}, Requests{{half, 0, 9}, {half, 1, 9}, {half, 2, 9}},
          Requests(9, MemoryRequest{half, 0, 9})}) {
      try {
        planner(requests);
        ADD_FAILURE() << "planned " << requests.size() << " of " << requests[0].bytes;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), NEF_LIMIT_EXCEEDED) << e.message();
      }
    }
    // One after the other they fit.
    const Requests apart = {{half, 0, 0}, {half, 1, 1}, {half, 2, 2}};
    EXPECT_EQ(planner(apart).arena_bytes, half);
  }
}

// The checker has to see what the tests above rely on it to see.
TEST(Memory, TheCheckerFindsEveryFault) {
  const Requests two = {{100, 0, 4}, {100, 2, 6}};
  MemoryPlan plan = plan_memory(two);
  ASSERT_EQ(check_memory(two, plan), "");
  MemoryPlan same = plan;
  same.offset = {0, 0};
  EXPECT_NE(check_memory(two, same).find("overlap"), std::string::npos);
  MemoryPlan partly = plan;
  partly.offset = {0, 64};
  EXPECT_NE(check_memory(two, partly).find("overlap"), std::string::npos);
  MemoryPlan beyond = plan;
  beyond.arena_bytes = 160;
  EXPECT_NE(check_memory(two, beyond).find("leaves the arena"), std::string::npos);
  MemoryPlan crooked = plan;
  crooked.offset[1] += 8;
  EXPECT_NE(check_memory(two, crooked).find("aligned"), std::string::npos);
  MemoryPlan short_of_one = plan;
  short_of_one.offset.pop_back();
  EXPECT_NE(check_memory(two, short_of_one), "");
  const Requests apart = {{100, 0, 1}, {100, 2, 6}};
  EXPECT_EQ(check_memory(apart, same), "");
}

}  // namespace
}  // namespace nef::plan
