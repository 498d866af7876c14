// SPDX-License-Identifier: Apache-2.0
// Placing and lowering for devices that only have to answer questions.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "engine/build/builder.h"
#include "tests/support/lowered.h"

namespace nef::compile {
namespace {

using ir::Dim;
using ir::ValueId;

// The accelerator refuses regions of several nodes with one of these.
std::set<nef_op> g_refused_when_fused;

int32_t supports(int32_t device, const nef_backend_region* region, nef_backend_error*) {
  if (device != 1) return 1;
  for (int32_t i = 0; i < region->n_nodes && region->n_nodes > 1; ++i) {
    if (g_refused_when_fused.count(region->nodes[i].op) != 0) return 0;
  }
  return 1;
}

class Lower : public ::testing::Test {
 protected:
  Lower() {
    backend.name = "fake";
    backend.supports = supports;
    for (int32_t i = 0; i < 2; ++i) {
      plan::Device& d = devices[i];
      d.backend = &backend;
      d.index = i;
      d.name = i == 0 ? "host:0" : "fast:0";
      d.info.kind = i == 0 ? NEF_DEVICE_CPU : NEF_DEVICE_GPU;
      d.info.flags = i == 0 ? NEF_DEVICE_HOST_MEMORY : 0;
      d.info.flops_per_second = i == 0 ? 1e9 : 1e14;
      d.info.bytes_per_second = i == 0 ? 1e9 : 1e12;
      d.info.link_bytes_per_second = 1e9;
      d.info.launch_seconds = 1e-6;
      env.devices.push_back(&d);
    }
    env.kernels = nullptr;
    g_refused_when_fused.clear();
  }
  ValueId op(nef_op id, std::vector<ValueId> in) {
    const bool plain = ir::spec(id).n_attrs == 0;
    return build::Builder(graph).value(
        id, in, plain ? std::vector<int64_t>{} : ir::AttrBuilder(id).build());
  }
  Program lowered(std::string device) {
    Options options;
    options.device = std::move(device);
    return test::lowered(graph, options, env);
  }

  nef_backend backend{};
  plan::Device devices[2];
  Environment env;
  ir::Graph graph;
};

// tile(r, r): the device reads r as data, the host as repeats.
TEST_F(Lower, DataAndHostInputOfOneValueHaveASlotEach) {
  const Dim dims[1] = {1};
  const ValueId r = graph.add_input("r", NEF_INT64, dims);
  graph.add_output("y", op(NEF_OP_TILE, {r, r}));
  const Program p = lowered("gpu");
  const Step* launch = nullptr;
  for (const Step& s : p.steps) launch = s.kind == Step::Kind::Launch ? &s : launch;
  ASSERT_NE(launch, nullptr);
  std::multiset<uint16_t> spaces;  // of the slots that hold r
  for (uint32_t i = 0; i < launch->value_count; ++i) {
    const StepValue& v = p.step_values[launch->first_value + i];
    if (v.value == p.graph->graph_inputs()[0]) spaces.insert(p.slots[v.slot].space);
  }
  EXPECT_EQ(spaces, (std::multiset<uint16_t>{0, 2}));
}

// A region that its device refuses falls apart, and so does what follows its neighbours to a device
// that refuses it.
TEST_F(Lower, NothingFusedIsWhereItIsRefused) {
  const Dim square[2] = {1024, 1024};
  const auto weights = [&] {
    return graph.add_constant(NEF_FLOAT32, square, ir::Buffer::allocate(size_t{4} << 20));
  };
  const ValueId x = graph.add_input("x", NEF_FLOAT32, square);
  // Large contractions go to the accelerator; the chains between them follow.
  ValueId v = op(NEF_OP_GELU, {op(NEF_OP_MATMUL, {x, weights()})});
  const ValueId soft = op(NEF_OP_SOFTMAX, {v});
  v = op(NEF_OP_TANH, {op(NEF_OP_RELU, {soft})});
  v = op(NEF_OP_MATMUL, {op(NEF_OP_SOFTMAX, {v}), weights()});
  graph.add_output("y", v);
  g_refused_when_fused = {NEF_OP_GELU, NEF_OP_TANH};
  const Program p = lowered("");
  for (size_t i = 0; i < p.regions.list.size(); ++i) {
    const optimize::Region& region = p.regions.list[i];
    if (p.placement.device[i] != 1 || region.node_count == 1) continue;
    for (ir::NodeId n : p.regions.nodes_of(region)) {
      EXPECT_EQ(g_refused_when_fused.count(p.graph->op(n)), 0u) << p.graph->node_label(n);
    }
  }
}

// A CPU is asked to read an operand where it lies; a program that may run elsewhere, or a device
// that refuses, has the transpose as a step.
TEST_F(Lower, ACpuIsAskedToReadTransposedHeadsInPlace) {
  const Dim heads[4] = {2, 16, 4, 8}, other[4] = {2, 4, 8, 16};
  const ValueId x = graph.add_input("x", NEF_FLOAT32, heads),
                w = graph.add_input("w", NEF_FLOAT32, other);
  const int64_t perm[4] = {0, 2, 1, 3};
  const auto attrs = ir::AttrBuilder(NEF_OP_TRANSPOSE).set_ints(NEF_TRANSPOSE_PERM, perm).build();
  const ValueId turned = build::Builder(graph).value(NEF_OP_TRANSPOSE, {{x}}, attrs);
  graph.add_output("y", op(NEF_OP_RELU, {op(NEF_OP_MATMUL, {turned, w})}));
  EXPECT_EQ(lowered("cpu").regions.list.size(), 1u);
  const Program fast = lowered("gpu");
  ASSERT_EQ(fast.regions.list.size(), 2u);
  EXPECT_EQ(fast.regions.list[1].node_count, 2u);
}

// The products before an attention become one, whose parts only kernels in chains read in place:
// not where the program is asked onto a device that takes no chains.
TEST_F(Lower, ProductsAreJoinedOnlyForDevicesThatMayServeThem) {
  devices[1].info.flags |= NEF_DEVICE_CHAINS;
  const Dim dims[3] = {1, 16, 32}, square[2] = {32, 32};
  const ValueId x = graph.add_input("x", NEF_FLOAT32, dims);
  std::vector<ValueId> in;
  for (int i = 0; i < 3; ++i) {
    const auto weights = ir::Buffer::allocate(32 * 32 * 4);
    std::memset(weights->data(), 0, weights->bytes());
    in.push_back(op(NEF_OP_MATMUL, {x, graph.add_constant(NEF_FLOAT32, square, weights)}));
  }
  const auto attrs = ir::AttrBuilder(NEF_OP_ATTENTION)
                         .set_int(NEF_ATTENTION_Q_NUM_HEADS, 2)
                         .set_int(NEF_ATTENTION_KV_NUM_HEADS, 2)
                         .build();
  graph.add_output("y", build::Builder(graph).value(NEF_OP_ATTENTION, in, attrs));
  const auto slices = [&](const char* device) {
    const Program p = lowered(device);
    int count = 0;
    for (ir::NodeId n = 0; n < p.graph->node_count(); ++n) {
      count += p.graph->op(n) == NEF_OP_SLICE;
    }
    return count;
  };
  EXPECT_EQ(slices(""), 3);
  EXPECT_EQ(slices("gpu"), 3);
  EXPECT_EQ(slices("fast:0"), 3);
  EXPECT_EQ(slices("cpu"), 0);
  EXPECT_EQ(slices("host:0"), 0);
}

}  // namespace
}  // namespace nef::compile
