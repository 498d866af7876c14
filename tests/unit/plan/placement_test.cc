// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/build/builder.h"
#include "engine/ir/error.h"

namespace nef::plan {
namespace {

using build::Builder;
using ir::Dim;
using ir::ValueId;

// A device that only has to be placed on.
struct FakeDevice {
  FakeDevice(const char* backend_name, nef_device_kind kind, double flops) {
    backend.name = backend_name;
    device.backend = &backend;
    device.name = std::string(backend_name) + ":0";
    device.info.kind = kind;
    if (kind == NEF_DEVICE_CPU) device.info.flags = NEF_DEVICE_HOST_MEMORY;
    device.info.flops_per_second = flops;
    device.info.bytes_per_second = flops / 10;
    device.info.link_bytes_per_second = 1e10;
    device.info.launch_seconds = kind == NEF_DEVICE_CPU ? 1e-7 : 5e-6;
  }
  nef_backend backend{};
  Device device;
};

class Placing : public ::testing::Test {
 protected:
  ValueId input(std::vector<Dim> dims) {
    return graph.add_input("x" + std::to_string(graph.graph_inputs().size()), NEF_FLOAT32, dims);
  }
  ValueId constant(std::vector<Dim> dims) {
    const auto bytes = static_cast<size_t>(ir::byte_count(NEF_FLOAT32, dims));
    return graph.add_constant(NEF_FLOAT32, dims, ir::Buffer::allocate(bytes));
  }
  ValueId op(nef_op id, std::vector<ValueId> inputs) {
    const ir::OpSpec& s = ir::spec(id);
    return Builder(graph).value(
        id, inputs, s.n_attrs == 0 ? std::vector<int64_t>{} : ir::AttrBuilder(id).build());
  }
  ValueId last_axis() {
    const int64_t axis[] = {-1};
    return Builder(graph).ints(axis);
  }
  // "matmul@gpu:0 (contraction with 1M parameters or more)", one a line.
  std::string place(PlacementOptions options = {}, std::set<std::string> refusing = {}) {
    if (!refusing.empty()) {
      options.ask = [this, refusing](size_t d, size_t r) -> PlacementOptions::Answer {
        static const std::string why = "not in the mood";
        const ir::NodeId root = regions.root(regions.list[r]);
        const std::string key = devices[d]->name + " " + ir::spec(graph.op(root)).snake;
        return {refusing.count(key) != 0 ? &why : nullptr, false};
      };
    }
    regions = optimize::single_node_regions(graph);
    const Placement p = plan::place(graph, regions, devices, options);
    std::string out;
    for (size_t r = 0; r < regions.list.size(); ++r) {
      out += std::string(out.empty() ? "" : "\n") +
             ir::spec(graph.op(regions.root(regions.list[r]))).snake + "@" +
             devices[p.device[r]]->name + " (" + reason_text(p.reason[r]);
      const auto it = p.detail.find(static_cast<uint32_t>(r));
      if (it != p.detail.end()) out += ": " + it->second;
      out += ")";
    }
    fallbacks = p.fallbacks;
    return out;
  }
  nef_code code_of(const PlacementOptions& options, std::set<std::string> refusing = {}) {
    try {
      place(options, std::move(refusing));
      return NEF_OK;
    } catch (const Error& e) {
      return e.code();
    }
  }
  static PlacementOptions on(const char* device, bool strict = false) {
    PlacementOptions o;
    o.device = device;
    o.strict = strict;
    return o;
  }

  FakeDevice cpu{"cpu", NEF_DEVICE_CPU, 1e11}, gpu{"gpu", NEF_DEVICE_GPU, 1e14},
      npu{"npu", NEF_DEVICE_NPU, 1e13}, reference{"reference", NEF_DEVICE_CPU, 1e9};
  std::vector<const Device*> devices{&cpu.device, &gpu.device, &reference.device};
  ir::Graph graph;
  optimize::Regions regions;
  std::vector<Fallback> fallbacks;
};

TEST_F(Placing, ByTheRuleTable) {
  const ValueId x = input({64, 1024});
  op(NEF_OP_MATMUL, {x, constant({1024, 1024})});
  op(NEF_OP_MATMUL, {x, constant({1024, 16})});
  op(NEF_OP_RELU, {input({4})});
  op(NEF_OP_SOFTMAX, {input({4, 4})});
  const ValueId q = input({1, 2, 8, 16});
  op(NEF_OP_ATTENTION, {q, q, q});
  EXPECT_EQ(place(),
            "matmul@gpu:0 (contraction with 1M parameters or more)\n"
            "matmul@cpu:0 (everything else runs on the cpu)\n"
            "relu@cpu:0 (small elementwise: a launch costs more)\n"
            "softmax@cpu:0 (everything else runs on the cpu)\n"
            "attention@gpu:0 (attention is bound by memory bandwidth)");
}

TEST_F(Placing, WithoutAGpuEverythingIsOnTheCpu) {
  devices = {&cpu.device, &reference.device};
  op(NEF_OP_MATMUL, {input({64, 1024}), constant({1024, 1024})});
  EXPECT_EQ(place(), "matmul@cpu:0 (no other device is present)");
}

TEST_F(Placing, AttentionIsForAnNpuToo) {
  devices = {&cpu.device, &npu.device, &reference.device};
  const ValueId q = input({1, 2, 8, 16});
  op(NEF_OP_ATTENTION, {q, q, q});
  EXPECT_EQ(place(), "attention@npu:0 (attention is bound by memory bandwidth)");
}

// Between two contractions on the GPU, going home and back costs more than a launch.
TEST_F(Placing, IslandsJoinTheirNeighbours) {
  const ValueId a = op(NEF_OP_MATMUL, {input({512, 1024}), constant({1024, 1024})});
  op(NEF_OP_MATMUL, {op(NEF_OP_RELU, {a}), constant({1024, 1024})});
  EXPECT_EQ(place(),
            "matmul@gpu:0 (contraction with 1M parameters or more)\n"
            "relu@gpu:0 (joins its neighbours: the transfer costs more)\n"
            "matmul@gpu:0 (contraction with 1M parameters or more)");
  EXPECT_EQ(place({}, {"gpu:0 relu"}),
            "matmul@gpu:0 (contraction with 1M parameters or more)\n"
            "relu@cpu:0 (small elementwise: a launch costs more)\n"
            "matmul@gpu:0 (contraction with 1M parameters or more)");
}

// The table of an embedding is not read as a whole, and joins from the end that is on the GPU.
TEST_F(Placing, ChainsJoinFromEitherEnd) {
  const Dim dims[] = {512};
  ValueId x = op(NEF_OP_GATHER, {constant({30000, 1024}), graph.add_input("ids", NEF_INT64, dims)});
  for (int i = 0; i < 3; ++i) x = op(NEF_OP_RELU, {x});
  op(NEF_OP_MATMUL, {x, constant({1024, 1024})});
  const std::string joined = "@gpu:0 (joins its neighbours: the transfer costs more)\n";
  EXPECT_EQ(place(), "gather" + joined + "relu" + joined + "relu" + joined + "relu" + joined +
                         "matmul@gpu:0 (contraction with 1M parameters or more)");
}

TEST_F(Placing, AViewBetweenTwoRegionsIsNoTransfer) {
  const ValueId a = op(NEF_OP_MATMUL, {input({512, 1024}), constant({1024, 1024})});
  const ValueId y = op(NEF_OP_RELU, {op(NEF_OP_FLATTEN, {a})});
  op(NEF_OP_MATMUL, {op(NEF_OP_FLATTEN, {y}), constant({1024, 1024})});
  EXPECT_NE(place().find("relu@gpu:0"), std::string::npos) << place();
}

// A large input is made small before it is sent away.
TEST_F(Placing, InputsOfTheGraphComeFromTheHost) {
  cpu.device.info.bytes_per_second = 10 * gpu.device.info.link_bytes_per_second;
  const ValueId sums = op(NEF_OP_REDUCE_SUM, {input({1024, 1024, 64}), last_axis()});
  op(NEF_OP_MATMUL, {op(NEF_OP_FLATTEN, {sums}), constant({1024, 1024})});
  EXPECT_NE(place().find("reduce_sum@cpu:0"), std::string::npos) << place();
}

// What the options say of costs counts, and only devices that a region is on are asked about.
TEST_F(Placing, CostsThatWereMeasuredReplaceStatedOnes) {
  std::set<size_t> asked;
  double launch = 0;
  PlacementOptions options;
  options.costs = [&](size_t d) {
    asked.insert(d);
    Costs c = stated_costs(*devices[d]);
    if (d == 1) c.launch_seconds = launch;
    return c;
  };
  op(NEF_OP_RELU, {input({64, 1024})});
  EXPECT_NE(place(options).find("relu@cpu:0"), std::string::npos) << place(options);
  EXPECT_EQ(asked.count(1), 0u);

  const ValueId a = op(NEF_OP_MATMUL, {input({512, 1024}), constant({1024, 1024})});
  op(NEF_OP_MATMUL, {op(NEF_OP_RELU, {a}), constant({1024, 1024})});
  EXPECT_NE(place(options).find("relu@gpu:0"), std::string::npos) << place(options);
  EXPECT_EQ(asked.count(1), 1u);
  launch = 1;
  EXPECT_EQ(place(options).find("relu@gpu:0"), std::string::npos) << place(options);
}

TEST_F(Placing, ByOptionAndByNode) {
  const ValueId x = input({4});
  const ValueId y = op(NEF_OP_RELU, {x});
  op(NEF_OP_NEG, {y});
  for (const char* name : {"gpu", "gpu:0"}) {
    EXPECT_EQ(place(on(name)),
              "relu@gpu:0 (asked for by the program option)\n"
              "neg@gpu:0 (asked for by the program option)");
  }
  EXPECT_EQ(place(on("reference")),
            "relu@reference:0 (asked for by the program option)\n"
            "neg@reference:0 (asked for by the program option)");
  graph.node_devices().set(0, "gpu");
  EXPECT_EQ(place(on("auto")),
            "relu@gpu:0 (asked for by the node)\n"
            "neg@gpu:0 (joins its neighbours: the transfer costs more)");
  graph.node_devices().set(1, "cpu");
  EXPECT_EQ(place(on("auto")),
            "relu@gpu:0 (asked for by the node)\n"
            "neg@cpu:0 (asked for by the node)");
  EXPECT_TRUE(fallbacks.empty());
}

TEST_F(Placing, WhatIsNotServedGoesOnAndIsAFallbackWhenAskedFor) {
  op(NEF_OP_RELU, {input({4})});
  const std::set<std::string> gpu_only = {"gpu:0 relu"}, both = {"gpu:0 relu", "cpu:0 relu"};
  EXPECT_EQ(place(on("gpu"), gpu_only),
            "relu@cpu:0 (the preferred device does not serve it: gpu:0: not in the mood)");
  ASSERT_EQ(fallbacks.size(), 1u);
  EXPECT_EQ(fallbacks[0].asked, "gpu:0");
  EXPECT_EQ(fallbacks[0].why, "not in the mood");
  EXPECT_EQ(place(on("gpu"), both),
            "relu@reference:0 (the preferred device does not serve it: gpu:0: not in the mood)");
  EXPECT_EQ(place(on("auto"), {"cpu:0 relu"}),
            "relu@reference:0 (the preferred device does not serve it: cpu:0: not in the mood)");
  EXPECT_TRUE(fallbacks.empty());  // nobody asked
  EXPECT_EQ(code_of(on("gpu", true), gpu_only), NEF_FALLBACK_FORBIDDEN);
  EXPECT_EQ(code_of(on("gpu"), {"gpu:0 relu", "cpu:0 relu", "reference:0 relu"}), NEF_UNSUPPORTED);
  graph.node_devices().set(0, "gpu");
  EXPECT_EQ(code_of(on("", true), gpu_only), NEF_FALLBACK_FORBIDDEN);
  EXPECT_EQ(code_of(on(""), gpu_only), NEF_OK);
}

TEST_F(Placing, DevicesThatAreNotThere) {
  op(NEF_OP_RELU, {input({4})});
  EXPECT_EQ(code_of(on("cuda")), NEF_BACKEND_UNAVAILABLE);
  EXPECT_EQ(code_of(on("gpu:1")), NEF_BACKEND_UNAVAILABLE);
  EXPECT_EQ(code_of(on("npu")), NEF_BACKEND_UNAVAILABLE);
  graph.node_devices().set(0, "cuda:1");
  EXPECT_EQ(
      place(),
      "relu@cpu:0 (everything else runs on the cpu: the node prefers \"cuda:1\", which is not "
      "present)");
  ASSERT_EQ(fallbacks.size(), 1u);
  EXPECT_EQ(code_of(on("", true)), NEF_FALLBACK_FORBIDDEN);
}

TEST_F(Placing, ViewsAndShapesAreNoWork) {
  op(NEF_OP_FLATTEN, {input({4, 2, 3})});
  EXPECT_EQ(place(), "flatten@cpu:0 (the same bytes under another shape)");
}

TEST_F(Placing, WithoutACpuThereIsNoPlan) {
  devices = {&gpu.device};
  op(NEF_OP_RELU, {input({4})});
  EXPECT_EQ(code_of({}), NEF_BACKEND_UNAVAILABLE);
}

TEST_F(Placing, CostsOfABoundedDimAreThoseOfItsBound) {
  const Dim seq = graph.pool().symbol("seq", 1, 128), any = graph.pool().symbol("any");
  EXPECT_EQ(value_bytes(graph, input({seq, 10})), 128 * 10 * 4);
  EXPECT_EQ(value_bytes(graph, input({any, 10})), 512 * 10 * 4);
  op(NEF_OP_MATMUL, {input({seq, 64}), constant({64, 32})});
  const ir::NodeId n[] = {0};
  EXPECT_EQ(region_flops(graph, n), 2.0 * 128 * 64 * 32);
}

}  // namespace
}  // namespace nef::plan
