// SPDX-License-Identifier: Apache-2.0
// Random graphs that the CPU and the GPU kernels on the host share.
#include "tests/support/random_graph.h"

namespace nef::test {
namespace {

// Every kernel is compiled for the host on the way; `gpu-test` has more of them.
TEST(RandomGraphOnGpu, ComputesWhatWasWritten) {
  load_plugin(NEF_TEST_PLUGIN_DIR "/gpu_on_host.so");
  int checked = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    checked += expect_devices_agree(seed, "gpuhost", "reference",
                                    {{3, 3}, {3, 3}, {3, 3}, {3, 3}, {16, 1}, {3, 3}, {1, 5}});
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 130);
}

}  // namespace
}  // namespace nef::test
