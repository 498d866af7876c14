// SPDX-License-Identifier: Apache-2.0
// Which steps go to streams of their own, what waits for what, and what shares memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/build/builder.h"
#include "engine/compile/program.h"
#include "engine/ir/error.h"
#include "engine/runtime/binding.h"
#include "tests/support/lowered.h"

namespace nef::compile {
namespace {

using ir::Dim;
using ir::ValueId;

int32_t supports(int32_t, const nef_backend_region*, nef_backend_error*) { return 1; }
nef_code stream_create(int32_t, nef_backend_stream**, nef_backend_error*) { return NEF_OK; }
void stream_destroy(nef_backend_stream*) {}
nef_code stream_synchronize(nef_backend_stream*, nef_backend_error*) { return NEF_OK; }
nef_code stream_wait(int32_t, nef_backend_stream*, nef_backend_stream*, nef_backend_error*) {
  return NEF_OK;
}

class Branch : public ::testing::Test {
 protected:
  Branch() {
    backend.name = "fake";
    backend.supports = supports;
    backend.stream_create = stream_create;
    backend.stream_destroy = stream_destroy;
    backend.stream_synchronize = stream_synchronize;
    backend.stream_wait = stream_wait;
    for (int32_t i = 0; i < 2; ++i) {
      plan::Device& d = devices[i];
      d.backend = &backend;
      d.index = i;
      d.name = i == 0 ? "host:0" : "fast:0";
      d.info.kind = i == 0 ? NEF_DEVICE_CPU : NEF_DEVICE_GPU;
      d.info.flags = i == 0 ? NEF_DEVICE_HOST_MEMORY : 0;
      d.info.flops_per_second = 1e13;
      d.info.bytes_per_second = 1e12;
      env.devices.push_back(&d);
    }
    env.kernels = nullptr;
  }
  void TearDown() override { ::unsetenv("NEF_GPU_STREAMS"); }

  ValueId input(int64_t n = 1000) {
    const Dim dims[1] = {Dim::of(n)};
    return graph.add_input("x" + std::to_string(graph.graph_inputs().size()), NEF_FLOAT32, dims);
  }
  // `n` steps one behind the other, like no other chain: an addition, then sums, as nothing fuses
  // with them.
  ValueId chain(ValueId v, int n) {
    const Dim one[1] = {1};
    const auto buffer = ir::Buffer::allocate(sizeof(float));
    const float number = static_cast<float>(++chains_);
    std::memcpy(buffer->data(), &number, sizeof number);
    v = sum(v, graph.add_constant(NEF_FLOAT32, one, buffer));
    for (int i = 1; i < n; ++i) {
      v = build::Builder(graph).value(NEF_OP_CUMSUM, std::vector{v, zero()},
                                      ir::AttrBuilder(NEF_OP_CUMSUM).build());
    }
    return v;
  }
  ValueId zero() {
    const int64_t axis[] = {0};
    return build::Builder(graph).ints(axis);
  }
  ValueId sum(ValueId a, ValueId b) {
    return build::Builder(graph).value(NEF_OP_ADD, std::vector{a, b});
  }
  void output(ValueId v) {
    graph.add_output("y" + std::to_string(graph.graph_outputs().size()), v);
  }
  Program lowered(int32_t parallel = 1) {
    Options options;
    options.device = "gpu";
    options.parallel_branches = parallel;
    options.verify = true;
    Program p = test::lowered(graph, options, env);
    form_branches(p);
    return p;
  }
  // Per step "0", "1", ... of launches, and "|" where a wave ends.
  static std::string streams(const Program& p) {
    std::string out;
    for (size_t s = 0; s < p.steps.size(); ++s) {
      if (p.steps[s].kind != Step::Kind::Launch) continue;
      out += std::to_string(p.steps[s].stream);
      if (s + 1 == p.steps.size() || p.wave[s + 1] != p.wave[s]) out += '|';
    }
    return out;
  }

  // Every value that a launch reads is made before it by what the waits and the order of each
  // stream say, and so is every use of memory that it gets, whatever else streams do.
  static void expect_sound(const Program& p) {
    const auto count = static_cast<uint32_t>(p.steps.size());
    // behind[s][t]: is t known to be done when s begins?
    std::vector<std::vector<bool>> behind(count, std::vector<bool>(count, false));
    std::vector<std::vector<bool>> held(8, std::vector<bool>(count, false));  // per stream
    const auto join = [&](uint32_t first, uint32_t n) {
      for (uint32_t i = first; i < first + n; ++i) {
        for (uint32_t t = 0; t < count; ++t) {
          if (held[p.waits[i].other][t]) held[p.waits[i].stream][t] = true;
        }
      }
    };
    for (uint32_t s = 0; s < count; ++s) {
      const Step& step = p.steps[s];
      join(step.first_wait, step.waits_before);
      behind[s] = held[step.stream];
      held[step.stream][s] = true;
      join(step.first_wait + step.waits_before, step.waits_after);
    }
    std::vector<uint32_t> made(p.slots.size(), ir::kNone);
    const auto binding = runtime::Layout(p).bind({});
    for (uint32_t s = 0; s < count; ++s) {
      const Step& step = p.steps[s];
      for (uint32_t i = 0; i < step.value_count; ++i) {
        const uint32_t slot = p.step_values[step.first_value + i].slot;
        if (slot == ir::kNone) continue;
        if (writes(p, step, i)) {
          made[slot] = s;
        } else if (made[slot] != ir::kNone) {
          EXPECT_TRUE(behind[s][made[slot]]) << made[slot] << ' ' << s;
        }
      }
    }
    // Two users of one place in device memory are in order.
    for (uint32_t s = 0; s < count; ++s) {
      for (uint32_t t = 0; t < s; ++t) {
        if (behind[s][t]) continue;
        for (uint32_t a : arena_slots(p, s)) {
          for (uint32_t b : arena_slots(p, t)) {
            EXPECT_FALSE(overlap(p, *binding, a, b)) << s << ' ' << t;
          }
        }
      }
    }
  }
  static std::vector<uint32_t> arena_slots(const Program& p, uint32_t s) {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < p.steps[s].value_count; ++i) {
      const uint32_t slot = p.step_values[p.steps[s].first_value + i].slot;
      if (slot != ir::kNone && p.slots[slot].kind == SlotKind::Arena && p.slots[slot].space != 0)
        out.push_back(slot);
    }
    return out;
  }
  static bool overlap(const Program& p, const runtime::Binding& b, uint32_t x, uint32_t y) {
    if (x == y) return false;  // in order by what is read
    const auto bytes = [&](uint32_t slot) {
      return static_cast<uint64_t>(plan::value_bytes(*p.graph, p.slots[slot].value));
    };
    return b.slot_offset[x] < b.slot_offset[y] + bytes(y) &&
           b.slot_offset[y] < b.slot_offset[x] + bytes(x);
  }

  nef_backend backend{};
  plan::Device devices[2];
  Environment env;
  ir::Graph graph;

 private:
  int chains_ = 0;
};

TEST_F(Branch, AChainIsOnOneStream) {
  output(chain(input(), 20));
  const Program p = lowered();
  EXPECT_TRUE(p.waits.empty());
  EXPECT_TRUE(p.streams.empty());
  EXPECT_EQ(streams(p).find_first_not_of("0|"), std::string::npos) << streams(p);
}

TEST_F(Branch, BranchesOfAForkAreOnStreamsOfTheirOwnAndMeetAgain) {
  const ValueId x = chain(input(), 1);
  output(chain(sum(sum(chain(x, 4), chain(x, 4)), chain(x, 4)), 1));
  const Program p = lowered();
  EXPECT_EQ(p.streams, (std::vector<uint16_t>{1, 3}));
  const std::string all = streams(p);
  for (const char stream : {'0', '1', '2'})
    EXPECT_GE(std::count(all.begin(), all.end(), stream), 4);
  EXPECT_EQ(all.back(), '|');
  EXPECT_EQ(all.substr(0, 2), "0|") << all;  // before the fork, and
  EXPECT_EQ(all.substr(all.size() - 2), "0|") << all;
  expect_sound(p);
}

TEST_F(Branch, NoMoreThanFourStreams) {
  const ValueId x = chain(input(), 1);
  ValueId y = chain(x, 4);
  for (int i = 0; i < 9; ++i) y = sum(y, chain(x, 4));
  output(y);
  const Program p = lowered();
  EXPECT_EQ(p.streams, (std::vector<uint16_t>{1, 4}));
  expect_sound(p);
}

TEST_F(Branch, ShortBranchesDoNotPay) {
  const ValueId x = chain(input(), 1);
  output(sum(chain(x, 1), chain(x, 1)));
  EXPECT_TRUE(lowered().waits.empty());
}

// Each of them fills the device.
TEST_F(Branch, LargeStepsDoNotGain) {
  const ValueId x = chain(input(100 << 20), 1);
  output(sum(chain(x, 6), chain(x, 6)));
  EXPECT_TRUE(lowered().waits.empty());
}

TEST_F(Branch, OneMayReadWhatAnotherMade) {
  const ValueId x = chain(input(), 1);
  const ValueId a = chain(x, 4), b = chain(x, 4), c = chain(x, 4);
  output(sum(chain(sum(a, b), 3), chain(sum(b, c), 3)));
  const Program p = lowered();
  EXPECT_FALSE(p.waits.empty());
  expect_sound(p);
}

// What the caller gets is read by nobody on the device, and keeps no section open.
TEST_F(Branch, ResultsThatOnlyLeaveTheDeviceDoNotHoldUpTheRest) {
  ValueId x = chain(input(), 1);
  for (int i = 0; i < 5; ++i) {
    output(chain(x, 1));
    x = sum(chain(x, 4), chain(x, 4));
  }
  output(x);
  const Program p = lowered();
  EXPECT_FALSE(p.waits.empty());
  uint32_t longest = 0;
  for (uint32_t s = 0; s < p.steps.size(); ++s) longest = std::max(longest, s - p.wave[s]);
  EXPECT_LT(longest, 20u) << streams(p);
  expect_sound(p);
}

// Steps that all hang together are cut.
TEST_F(Branch, SectionsAreBounded) {
  const ValueId x = chain(input(), 1);
  ValueId left = x, right = x;
  for (int i = 0; i < 100; ++i) {
    left = chain(left, 1);
    right = chain(right, 1);
  }
  output(sum(left, right));
  const Program p = lowered();
  EXPECT_FALSE(p.waits.empty());
  for (uint32_t s = 0; s < p.steps.size(); ++s) EXPECT_LT(s - p.wave[s], 64u);
  expect_sound(p);
}

TEST_F(Branch, StreamsAreAskedForByANumber) {
  const ValueId x = chain(input(), 10);
  output(chain(sum(chain(x, 4), chain(x, 4)), 10));
  for (const char* text : {"", "0", "5", "two", "2x", "-1"}) {
    ::setenv("NEF_GPU_STREAMS", text, 1);
    try {
      lowered();
      ADD_FAILURE() << '"' << text << "\" was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), NEF_INVALID_ARGUMENT);
    }
  }
}

// What branches need lives side by side; elsewhere memory is used again as before.
TEST_F(Branch, MemoryOfBranchesIsApartAndNoMore) {
  const ValueId x = chain(input(), 10);
  output(chain(sum(chain(x, 4), chain(x, 4)), 10));
  const Program p = lowered();
  const auto side_by_side = runtime::Layout(p).bind({});
  ::setenv("NEF_GPU_STREAMS", "1", 1);
  const Program q = lowered();
  EXPECT_TRUE(q.waits.empty());
  const auto one = runtime::Layout(q).bind({});
  const auto arena = [](const runtime::Binding& b) {
    uint64_t bytes = 0;
    for (const auto& s : b.spaces) bytes += s.space == 0 ? 0 : s.arena_bytes;
    return bytes;
  };
  EXPECT_GT(arena(*side_by_side), arena(*one));
  EXPECT_LE(arena(*side_by_side), 12 * 4096u);  // ten values of the section, and what it joins
  expect_sound(p);
  expect_sound(q);
}

TEST_F(Branch, ThreadsOfTheHostShareTheFirstStream) {
  const ValueId x = chain(input(), 1);
  output(sum(chain(x, 4), chain(x, 4)));
  EXPECT_TRUE(lowered(2).waits.empty());
}

TEST_F(Branch, ABackendThatCannotWaitHasOneStream) {
  backend.stream_wait = nullptr;
  const ValueId x = chain(input(), 1);
  output(sum(chain(x, 4), chain(x, 4)));
  EXPECT_TRUE(lowered().waits.empty());
}

}  // namespace
}  // namespace nef::compile
