// SPDX-License-Identifier: Apache-2.0
// Every op of the table has a GPU kernel, or a reason of its own why it is left to the CPU.
#include <gtest/gtest.h>

#include <cstring>

#include "backends/gpu/kernel.h"
#include "engine/ir/ops.h"

namespace nef::gpu {
namespace {

// ShapeExpr is worked out by the engine, and blocks are run by it.
bool reaches_backends(nef_op op) {
  return ir::op_valid(op) && op != NEF_OP_SHAPE_EXPR && ir::spec(op).n_blocks == 0;
}

TEST(Coverage, EveryOpHasAKernelOrAReason) {
  int served = 0, left = 0;
  for (nef_op op = 1; op < NEF_OP_COUNT_; ++op) {
    if (!reaches_backends(op)) continue;
    const char* why = why_not(op);
    ++(why == nullptr ? served : left);
    if (why == nullptr) continue;
    EXPECT_STRNE(why, kNoReason) << ir::spec(op).name;
  }
  std::printf("%d ops served, %d left to the CPU\n", served, left);
}

// What the table marks as a host input must not be looked for in device memory.
TEST(Coverage, HostInputsAreThoseOfTheTable) {
  for (nef_op op = 1; op < NEF_OP_COUNT_; ++op) {
    const OpKernel* k = reaches_backends(op) ? find_kernel(op) : nullptr;
    if (k == nullptr) continue;
    for (size_t i = 0; i < ir::spec(op).n_inputs; ++i) {
      EXPECT_EQ((k->host_inputs >> i & 1) != 0, ir::is_host_input(op, i))
          << ir::spec(op).name << " input " << i;
    }
  }
}

}  // namespace
}  // namespace nef::gpu
