// SPDX-License-Identifier: Apache-2.0
// How lines of known and of unknown sizes go into registers.
#include <gtest/gtest.h>

#include "backends/gpu/stage.h"
#include "engine/ir/attrs.h"

namespace nef::gpu {
namespace {

Region norm_of(std::vector<int64_t> dims, nef_dtype dtype, nef_value_kind weights) {
  Region region{NEF_REGION_SINGLE, NEF_PRECISION_EXACT, {}, {}};
  const std::vector<int64_t> row = {dims.back()};
  region.values.push_back({NEF_VALUE_INPUT, dtype, dims, {}});
  region.values.push_back({weights, dtype, row, {}});
  region.values.push_back({weights, dtype, row, {}});
  region.values.push_back({NEF_VALUE_OUTPUT, dtype, dims, {}});
  region.nodes.push_back({NEF_OP_LAYER_NORMALIZATION,
                          {0, 1, 2},
                          {3, -1, -1},
                          ir::AttrBuilder(NEF_OP_LAYER_NORMALIZATION).build()});
  return region;
}
std::string text_of(std::vector<int64_t> dims, nef_dtype dtype = NEF_BFLOAT16,
                    nef_value_kind weights = NEF_VALUE_CONSTANT, int processors = 132) {
  const Region region = norm_of(std::move(dims), dtype, weights);
  DeviceInfo device;
  device.processors = processors;
  return line_stage(region, region.nodes[0], device)->source();
}
bool has(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

TEST(Lines, FewKnownOnesHoldTheirWeights) {
  // Of encoders of d 384 and 768, and of 1024: blocks at once by the registers they take.
  for (const auto& [n, packs, bounds] : {std::tuple{384, "kPacks = 2", "LineP, 256, 4)"},
                                         {768, "kPacks = 3", "LineP, 256, 3)"},
                                         {1024, "kPacks = 4", "LineP, 256, 2)"}}) {
    const std::string text = text_of({32, 128, n});
    EXPECT_TRUE(has(text, "kAhead = false, kHeld = true, kConstants = true")) << n;
    EXPECT_TRUE(has(text, packs)) << n;
    EXPECT_TRUE(has(text, bounds)) << n;
  }
  EXPECT_TRUE(
      has(text_of({4096, 768}, NEF_FLOAT16, NEF_VALUE_INPUT), "kHeld = true, kConstants = false"));
}

TEST(Lines, OthersHaveTheNextOnTheirWay) {
  const char* ahead = "kAhead = true, kHeld = false";
  EXPECT_TRUE(has(text_of({65536, 768}), ahead));  // many
  EXPECT_TRUE(
      has(text_of({4096, 768}, NEF_BFLOAT16, NEF_VALUE_CONSTANT, 64), ahead));  // for this GPU
  EXPECT_TRUE(has(text_of({NEF_DIM_UNKNOWN, 768}), ahead));                     // who knows
  EXPECT_TRUE(has(text_of({4096, 767}), ahead));                                // no packs
  EXPECT_TRUE(has(text_of({4, 16384}), ahead));                                 // too long
  EXPECT_TRUE(has(text_of({4096, 768}, NEF_FLOAT32), ahead));                   // sums of doubles
  EXPECT_TRUE(has(text_of({0, 768}), ahead));                                   // nothing to do
}

}  // namespace
}  // namespace nef::gpu
