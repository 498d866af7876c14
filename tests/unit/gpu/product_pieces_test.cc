// SPDX-License-Identifier: Apache-2.0
// Which products of float32 go to tensor cores in pieces.
#include "backends/gpu/product_pieces.h"

#include <gtest/gtest.h>

namespace nef::gpu {
namespace {

DeviceInfo hopper() {
  DeviceInfo info;
  info.processors = 132;
  info.warpgroups = true;
  info.shared_bytes = 227 << 10;
  return info;
}

struct Shape {
  int64_t rows, k, n;
};

// x times constant weights.
Region region_of(const Shape& s, nef_dtype dtype) {
  Region region{NEF_REGION_SINGLE, NEF_PRECISION_EXACT, {}, {}};
  region.values.push_back({NEF_VALUE_INPUT, dtype, {s.rows, s.k}, {}});
  region.values.push_back({NEF_VALUE_CONSTANT, dtype, {s.k, s.n}, {}});
  region.values.push_back({NEF_VALUE_OUTPUT, dtype, {s.rows, s.n}, {}});
  region.nodes.push_back({NEF_OP_MATMUL, {0, 1}, {2}, {}});
  return region;
}
bool serves(const Shape& s, nef_dtype dtype = NEF_FLOAT32) {
  const Region region = region_of(s, dtype);  // outlives the stage
  return product_pieces_stage(region, hopper()) != nullptr;
}

TEST(ProductPieces, ManyRowsOfFloat32) {
  // Products of encoders of d 384 and 768, and a square one.
  for (const Shape& s : {Shape{4096, 384, 1152},
                         {4096, 384, 384},
                         {4096, 1536, 384},
                         {4096, 768, 2304},
                         {4096, 768, 3072},
                         {4096, 3072, 768},
                         {8192, 8192, 8192}}) {
    const Region region = region_of(s, NEF_FLOAT32);
    const auto stage = product_pieces_stage(region, hopper());
    ASSERT_NE(stage, nullptr) << s.rows << " x " << s.k << " x " << s.n;
    std::vector<nef_backend_tensor> tensors;
    for (const Value& v : region.values) tensors.push_back({nullptr, v.dims.data()});
    const Values values(region, tensors.data(), nullptr);
    EXPECT_TRUE(stage->takes(values));
    // Three pieces of two bytes a weight, and little else.
    const auto pieces = static_cast<size_t>(s.k * s.n * 6);
    EXPECT_GE(stage->scratch_bytes(values), pieces);
    EXPECT_LE(stage->scratch_bytes(values), pieces + pieces / 64 + 4096);
  }
}

TEST(ProductPieces, NotWhatItDoesNotServe) {
  EXPECT_FALSE(serves({255, 768, 3072}));  // few rows
  EXPECT_FALSE(serves({256, 768, 768}));   // few tiles
  EXPECT_FALSE(serves({4096, 16, 768}));   // little to add up
  EXPECT_FALSE(serves({4096, 770, 768}));  // rows that the copy engine does not take
  EXPECT_FALSE(serves({4096, 768, 767}));
  EXPECT_FALSE(serves({4096, 768, 768}, NEF_FLOAT16));
  DeviceInfo without = hopper();
  without.warpgroups = false;
  const Region region = region_of({4096, 768, 768}, NEF_FLOAT32);
  EXPECT_EQ(product_pieces_stage(region, without), nullptr);
}

}  // namespace
}  // namespace nef::gpu
