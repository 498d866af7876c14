// SPDX-License-Identifier: Apache-2.0
// Which ops and dtypes the cpu backend leaves to the reference backend.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "backends/shared/region.h"
#include "engine/ir/ops.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/runner.h"

namespace nef::conformance {
namespace {

TEST(Served, CpuServesFloat32AndInt64) {
  const nef_backend* cpu = nullptr;
  for (const nef_backend* b : backends()) {
    if (std::strcmp(b->name, "cpu") == 0) cpu = b;
  }
  ASSERT_NE(cpu, nullptr) << "the cpu backend is not there";
  std::map<std::pair<std::string, nef_dtype>, std::string> unserved;
  std::set<std::pair<nef_op, nef_dtype>> pairs;
  int ops = 0;
  for (nef_op op = 1; op < static_cast<nef_op>(ir::kOpTableSize); ++op) {
    // Ops with blocks are run by the engine.
    if (!ir::op_valid(op) || op == NEF_OP_SHAPE_EXPR || ir::spec(op).n_blocks != 0) continue;
    ++ops;
    for (const Case& c : cases_for(op)) {
      pairs.insert({op, c.dtype});
      const RunResult r = run_case(*cpu, c, kModes[0]);
      if (r.refused) unserved[{ir::spec(op).snake, c.dtype}] = r.message;
    }
  }
  for (const auto& [what, why] : unserved) {
    std::printf("%s %s: %s\n", what.first.c_str(), backends::dtype_name(what.second), why.c_str());
    EXPECT_NE(what.second, NEF_FLOAT32) << what.first;
    EXPECT_NE(what.second, NEF_INT64) << what.first;
  }
  std::printf("%d ops, %zu pairs of op and dtype, %zu left to the reference backend\n", ops,
              pairs.size(), unserved.size());
}

}  // namespace
}  // namespace nef::conformance
