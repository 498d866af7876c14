// SPDX-License-Identifier: Apache-2.0
// Random graphs with symbols: optimised, in parallel, and cut to a small memory, they compute
// what the reference backend makes of the graph as written, or fail with the same code.
#include <gtest/gtest.h>

#include "tests/support/random_graph.h"

namespace nef::test {
namespace {

void check(const Graph& g, size_t outputs) {
  nef_compile_options plain = options("reference"), parallel = options(), small = options();
  plain.disabled_passes = "canonicalise,fold,simplify,gelu,norm,attention,cse,dead,fuse";
  parallel.parallel_branches = 4;
  small.memory_budget = 4096;
  const Program reference = compile(g, plain);
  const Program others[] = {compile(g, parallel), compile(g, small)};
  for (const auto& [batch, m] : {std::pair{3, 3}, {16, 1}, {1, 5}, {4, 4}}) {
    const std::vector<Tensor> in = random_inputs(g, batch, m);
    std::vector<Tensor> want, got;
    const nef_code code = take(try_run(reference, in, &want, outputs)).code;
    for (const Program& p : others) {
      const Failure f = take(try_run(p, in, &got, outputs));
      if (f.code == NEF_OUT_OF_MEMORY) continue;
      ASSERT_EQ(f.code, code) << f.message;
      for (size_t i = 0; i < got.size(); ++i) expect_equal(got[i], want[i]);
    }
  }
}

TEST(RandomGraphTest, ComputesWhatWasWritten) {
  int checked = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    const std::vector<Tensor> outputs = random.outputs();
    Graph g;
    try {
      g = capture(outputs);
    } catch (const std::runtime_error&) {
      continue;  // the bounds of the symbols rule it out
    }
    ASSERT_NO_FATAL_FAILURE(check(g, outputs.size()));
    ++checked;
  }
  EXPECT_GT(checked, 700);
}

}  // namespace
}  // namespace nef::test
