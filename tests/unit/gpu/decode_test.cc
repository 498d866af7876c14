// SPDX-License-Identifier: Apache-2.0
// The kernels of a decoding step take the products of the models that they were made for, with what
// a multiprocessor of an H100 or H200 has.
#include <gtest/gtest.h>

#include "backends/gpu/decode.h"
#include "engine/ir/attrs.h"

namespace nef::gpu {
namespace {

struct Shape {
  int64_t k, n;
  bool gated;  // two products of the same rows, multiplied with each other
};
// QKV, attention's output, gate and up, down: of models with 8 and 1 billion weights; the first and
// third of one with 70 billion.
constexpr Shape kShapes[] = {{4096, 6144, false},  {4096, 4096, false},  {4096, 14336, true},
                             {14336, 4096, false}, {2048, 3072, false},  {2048, 8192, true},
                             {8192, 2048, false},  {8192, 10240, false}, {8192, 28672, true}};

DeviceInfo hopper() {
  DeviceInfo info;
  info.processors = 132;
  info.bulk_copies = true;
  info.shared_bytes = 227 << 10;
  return info;
}

int32_t add_value(Region& region, nef_value_kind kind, nef_dtype dtype, std::vector<int64_t> dims) {
  region.values.push_back({kind, dtype, std::move(dims), {}});
  return static_cast<int32_t>(region.values.size() - 1);
}

// x times constant weights of `bits` bits.
int32_t add_product(Region& region, const Shape& s, int64_t rows, int64_t bits, int32_t x,
                    nef_value_kind kind) {
  const int32_t out = add_value(region, kind, NEF_BFLOAT16, {rows, s.n});
  if (bits == 16) {
    const int32_t w = add_value(region, NEF_VALUE_CONSTANT, NEF_BFLOAT16, {s.k, s.n});
    region.nodes.push_back({NEF_OP_MATMUL, {x, w}, {out}, {}});
    return out;
  }
  constexpr int64_t kBlock = 32;
  const int32_t w =
      add_value(region, NEF_VALUE_CONSTANT, NEF_UINT8, {s.n, s.k / kBlock, kBlock * bits / 8});
  const int32_t scales = add_value(region, NEF_VALUE_CONSTANT, NEF_BFLOAT16, {s.n, s.k / kBlock});
  ir::AttrBuilder attrs(NEF_OP_MATMUL_NBITS);
  attrs.set_int(NEF_MATMUL_NBITS_K, s.k).set_int(NEF_MATMUL_NBITS_N, s.n);
  attrs.set_int(NEF_MATMUL_NBITS_BITS, bits).set_int(NEF_MATMUL_NBITS_BLOCK_SIZE, kBlock);
  region.nodes.push_back({NEF_OP_MATMUL_NBITS, {x, w, scales}, {out}, attrs.build()});
  return out;
}

Region region_of(const Shape& s, int64_t rows, int64_t bits) {
  Region region{NEF_REGION_CHAIN, NEF_PRECISION_EXACT, {}, {}};
  const int32_t x = add_value(region, NEF_VALUE_INPUT, NEF_BFLOAT16, {rows, s.k});
  if (!s.gated) {
    add_product(region, s, rows, bits, x, NEF_VALUE_OUTPUT);
    return region;
  }
  const int32_t gate = add_product(region, s, rows, bits, x, NEF_VALUE_INTERNAL);
  const int32_t up = add_product(region, s, rows, bits, x, NEF_VALUE_INTERNAL);
  const int32_t out = add_value(region, NEF_VALUE_OUTPUT, NEF_BFLOAT16, {rows, s.n});
  region.nodes.push_back({NEF_OP_MUL, {gate, up}, {out}, {}});
  return region;
}

TEST(Decode, KernelsTakeOneToSixteenRows) {
  for (const Shape& s : kShapes) {
    for (int64_t bits : {16, 8, 4}) {
      for (int64_t rows = 1; rows <= 17; ++rows) {
        const Region region = region_of(s, rows, bits);
        const auto stage = gemv_stage(region, hopper());
        ASSERT_NE(stage, nullptr);
        std::vector<nef_backend_tensor> tensors;
        for (const Value& v : region.values) tensors.push_back({nullptr, v.dims.data()});
        EXPECT_EQ(stage->takes(Values(region, tensors.data(), nullptr)), rows <= 16)
            << rows << " rows, " << s.k << " x " << s.n << " of " << bits << " bits"
            << (s.gated ? ", gated" : "");
      }
    }
  }
}

// Of regions that only a kernel of several rows will ever serve.
TEST(Decode, WeightsOfSeveralRowsLieAsTiles) {
  const Shape shape{72, 40, true};
  for (int64_t bits : {16, 8}) {
    for (int64_t rows :
         {int64_t{NEF_DIM_UNKNOWN}, int64_t{1}, int64_t{2}, int64_t{16}, int64_t{17}}) {
      const Region region = region_of(bits == 16 ? shape : kShapes[0], rows, bits);
      const auto stage = gemv_stage(region, hopper());
      ASSERT_NE(stage, nullptr);
      EXPECT_FALSE(stage->tiled(region.nodes[0].inputs[0]));
      const auto tiles = stage->tiled(region.nodes[0].inputs[1]);
      ASSERT_EQ(tiles.has_value(), bits == 16 && rows >= 2 && rows <= 16) << rows << " " << bits;
      if (!tiles) continue;
      EXPECT_EQ(tiles->bytes(), 3u * 2 * 2048);
      EXPECT_EQ(tiles->across, 1);
      EXPECT_EQ(tiles->along, shape.n);
    }
  }
}

}  // namespace
}  // namespace nef::gpu
