// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/ir/dim.h"
#include "engine/ir/error.h"
#include "tests/unit/ir/infer_case.h"

namespace nef::ir {
namespace {

const std::vector<InferCase> kReshape = register_cases({
    {"Reshape", "", "f32[2 3], i64[2]={3 2}", "f32[3 2]"},
    {"Reshape", "", "f32[2 3], i64[1]={-1}", "f32[6]"},
    {"Reshape", "", "f32[0 3], i64[2]={0 7}", "f32[0 7]"},
    {"Reshape", "", "f32[2 3], i64[2]={0 7}", "!shape_mismatch elements"},
    {"Reshape", "", "f32[B S 384], i64[4]={0 0 12 32}", "f32[B S 12 32]"},
    {"Reshape", "", "f32[B S 12 32], i64[3]={B S -1}", "f32[B S 384]"},
    {"Reshape", "", "f32[B S 12 32], i64[2]={-1 384}", "f32[B*S 384]"},
    {"Reshape", "", "f32[B*S 384], i64[3]={B -1 384}", "f32[B S 384]"},
    {"Reshape", "", "f32[B S], i64[2]={4 -1}", "f32[4 (B*S)/4]"},
    {"Reshape", "", "f32[1], i64[0]={}", "f32[]"},
    {"Reshape", "", "f32[], i64[2]={1 1}", "f32[1 1]"},
    {"Reshape", "", "i64[1 2], i64[1]={-1}", "i64[2]"},
    {"Reshape", "", "i64[2]={B S}, i64[2]={1 2}", "i64[1 2]"},
    {"Reshape", "", "i64[]={B}, i64[1]={1}", "i64[1]={B}"},
    {"Reshape", "", "f32[2 3], i64[2]", "f32[? ?]"},
    {"Reshape", "", "f32[B 3], i64[1]", "f32[?]"},
    // Four elements, if the run finds that S is 4.
    {"Reshape", "", "i64[4]={1 2 3 4}, i64[1]={S}", "i64[S]"},
    {"Reshape", "", "i64[4]={1 2 3 4}, i64[1]={-1}", "i64[4]={1 2 3 4}"},
    {"Reshape", "", "f32[6], i64[1]={-9223372036854775000}", "!out_of_range too low for a size"},
    {"Reshape", "", "f32[2 3], i64[x]",
     "!unsupported the rank of the result depends on input shape"},
    {"Reshape", "", "f32[2 3], i64[2]={4 2}",
     "!shape_mismatch cannot reshape [2 3] to [4 2]: 6 elements are not 8"},
    {"Reshape", "", "f32[2 3], i64[2]={4 -1}", "!shape_mismatch not a multiple of 4"},
    {"Reshape", "", "f32[2 3], i64[2]={-1 -1}", "!invalid_argument -1 twice"},
    {"Reshape", "", "f32[2 3], i64[2]={-2 3}", "!invalid_argument negative"},
    {"Reshape", "", "f32[2 3], i64[3]={2 3 0}", "!shape_mismatch nothing to copy"},
    {"Reshape", "", "f32[2 3], i64[17]={1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 3}",
     "!limit_exceeded rank 17"},
    // 0 copies a dim, or with allowzero means 0.
    {"Reshape", "", "f32[0 8 2], i64[3]={0 4 4}", "f32[0 4 4]"},
    {"Reshape", "", "f32[0 8 2], i64[2]={0 -1}", "f32[0 16]"},
    {"Reshape", "", "f32[0 8 2], i64[2]={-1 16}", "f32[0 16]"},
    {"Reshape", "", "f32[0 8 2], i64[2]={8 -1}", "f32[8 0]"},
    {"Reshape", "allowzero=1", "f32[0 8 2], i64[3]={0 0 4}", "f32[0 0 4]"},
    {"Reshape", "allowzero=1", "f32[2 8], i64[2]={0 16}", "!shape_mismatch"},
    {"Reshape", "allowzero=1", "f32[0 8], i64[2]={0 -1}", "!invalid_argument allowzero"},
    {"Reshape", "", "f32[0 8 2], i64[3]={0 0 4}", "f32[0 8 4]"},
    {"Reshape", "", "f32[4611686018427387904 4 0], i64[2]={0 0}", "!shape_mismatch"},
    {"Reshape", "", "f32[4611686018427387904 4 0], i64[1]={-1}", "f32[0]"},
    {"Flatten", "", "f32[B 3 4 5]", "f32[B 60]"},
    {"Flatten", "axis=0", "f32[2 3]", "f32[1 6]"},
    {"Flatten", "axis=-1", "f32[2 3 4]", "f32[6 4]"},
    {"Flatten", "axis=2", "f32[2 3]", "f32[6 1]"},
    {"Flatten", "axis=0", "f32[]", "f32[1 1]"},
    {"Flatten", "axis=3", "f32[2 3]", "!invalid_argument"},
    {"Squeeze", "", "f32[1 3 1 H]", "f32[3 H]"},
    {"Squeeze", "", "f32[1 3 B]", "!unsupported depends on dim B"},
    {"Squeeze", "", "f32[1 3 1], i64[1]={-1}", "f32[1 3]"},
    {"Squeeze", "", "f32[1 3 B], i64[1]={2}", "f32[1 3]"},
    {"Squeeze", "", "i64[1]={B}, i64[1]={0}", "i64[]={B}"},
    {"Squeeze", "", "f32[1 3], i64[1]={1}", "!shape_mismatch a squeezed dim is not 1"},
    {"Squeeze", "", "f32[1 3], i64[2]={0 -2}", "!invalid_argument given twice"},
    {"Squeeze", "", "f32[1 3 1], i64[1]", "f32[? ?]"},
    {"Squeeze", "", "f32[1 1], i64[2]", "f32[]"},
    {"Squeeze", "", "f32[1 3], i64[2]", "!shape_mismatch a squeezed dim is not 1"},
    {"Unsqueeze", "", "f32[B S], i64[2]={0 -1}", "f32[1 B S 1]"},
    {"Unsqueeze", "", "i64[]={B}, i64[1]={0}", "i64[1]={B}"},
    {"Unsqueeze", "", "f32[3], i64[2]={0 -3}", "!invalid_argument given twice"},
    {"Unsqueeze", "", "f32[3], i64[1]={2}", "!invalid_argument axis 2"},
    {"Unsqueeze", "", "f32[3], i64[1]", "f32[? ?]"},
    {"Unsqueeze", "", "f32[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1], i64[1]={0}", "!limit_exceeded"},
    {"Expand", "", "f32[3 1], i64[3]={2 1 6}", "f32[2 3 6]"},
    {"Expand", "", "f32[1 384], i64[2]={B 1}", "f32[B 384]"},
    {"Expand", "", "f32[3], i64[1]={0}", "!shape_mismatch"},
    {"Expand", "", "f32[1], i64[1]={0}", "f32[0]"},
    {"Expand", "", "f32[1], i64[1]={-1}", "!invalid_argument negative"},
    {"Expand", "", "f32[3 1], i64[3]", "f32[? 3 ?]"},
    {"Expand", "", "f32[2 3 1], i64[1]", "f32[2 3 ?]"},
    {"Expand", "", "f32[2 3], i64[1]", "f32[2 ?]"},
});

const std::vector<InferCase> kMove = register_cases({
    {"Concat", "axis=0", "f32[2 3], f32[B 3], f32[1 3]", "f32[B+3 3]"},
    {"Concat", "axis=-1", "f32[2 3], f32[2 0]", "f32[2 3]"},
    {"Concat", "axis=0", "i64[1]={B}, i64[2]={-1 4}", "i64[3]={B -1 4}"},
    {"Concat", "axis=1", "f32[x 3], f32[5 3]", "f32[5 6]"},
    {"Concat", "axis=0", "f32[2 3], f32[2 4]",
     "!shape_mismatch dims differ: [2 3] x [2 4] (3 != 4)"},
    {"Concat", "axis=0", "f32[2 3], f32[3]", "!shape_mismatch inputs differ in rank"},
    {"Concat", "axis=2", "f32[2 3], f32[2 3]", "!invalid_argument axis 2"},
    {"Concat", "axis=0", "f32[], f32[]", "!shape_mismatch scalars"},
    {"Concat", "axis=0", "f32[9223372036854775807], f32[1]", "!limit_exceeded"},
    {"Split", "axis=1 num_outputs=3", "f32[B 6]", "f32[B 2], f32[B 2], f32[B 2]"},
    {"Split", "num_outputs=2", "f32[5]", "f32[3], f32[2]"},
    {"Split", "num_outputs=2", "f32[x]", "f32[(x+1)/2], f32[x-((x+1)/2)]"},
    {"Split", "num_outputs=2", "f32[2*x]", "f32[x], f32[x]"},
    {"Split", "axis=-1", "f32[2 7], i64[2]={3 4}", "f32[2 3], f32[2 4]"},
    {"Split", "", "i64[3]={B 2 3}, i64[2]={1 2}", "i64[1]={B}, i64[2]={2 3}"},
    {"Split", "", "f32[7], i64[2]", "f32[?], f32[?]"},
    {"Split", "", "f32[7], i64[2]={3 3}", "!shape_mismatch split sizes do not add up"},
    {"Split", "", "f32[7], i64[2]={-1 8}", "!shape_mismatch"},
    {"Split", "num_outputs=4", "f32[5]", "!shape_mismatch does not split into 4 pieces"},
    {"Split", "", "f32[5]", "!invalid_argument give split sizes or num_outputs"},
    {"Split", "num_outputs=2", "f32[5], i64[2]={2 3}", "!invalid_argument not both"},
    {"Transpose", "perm=[0 2 1]", "f32[B S 3]", "f32[B 3 S]"},
    {"Transpose", "", "f32[2 3 4]", "f32[4 3 2]"},
    {"Transpose", "", "f32[]", "f32[]"},
    {"Transpose", "perm=[0 0 1]", "f32[2 3 4]", "!invalid_argument perm names axis 0 twice"},
    {"Transpose", "perm=[0 1]", "f32[2 3 4]", "!invalid_argument perm has 2 entries"},
    {"Transpose", "perm=[0 1 3]", "f32[2 3 4]", "!invalid_argument axis 3"},
    {"Tile", "", "f32[B 2], i64[2]={3 S}", "f32[3*B 2*S]"},
    {"Tile", "", "f32[B 2], i64[2]={0 1}", "f32[0 2]"},
    {"Tile", "", "f32[B 2], i64[2]", "f32[? ?]"},
    {"Tile", "", "f32[B 2], i64[1]={2}", "!invalid_argument 1 repeats"},
    {"Tile", "", "f32[2], i64[1]={-1}", "!invalid_argument negative"},
    {"Tile", "", "f32[9223372036854775807], i64[1]={2}", "!limit_exceeded"},
    {"Pad", "", "f32[B 4], i64[4]={0 1 0 2}", "f32[B 7]"},
    {"Pad", "", "f32[B 4], i64[2]={1 -2}, -, i64[1]={-1}", "f32[B 3]"},
    {"Pad", "", "f32[B 4], i64[2], f32[], i64[1]={1}", "f32[B ?]"},
    {"Pad", "", "f32[B 4], i64[2]={1 1}, -, i64[1]", "f32[? ?]"},
    {"Pad", "mode=reflect", "f32[4], i64[2]={3 3}", "f32[10]"},
    {"Pad", "mode=reflect", "f32[4], i64[2]={4 0}",
     "!shape_mismatch mode reflect cannot pad an axis of 4 by 4"},
    {"Pad", "mode=edge", "f32[0], i64[2]={1 0}", "!shape_mismatch mode edge"},
    {"Pad", "", "f32[4], i64[2]={-3 -2}", "!shape_mismatch negative dim"},
    {"Pad", "", "f32[4], i64[3]={0 0 0}", "!invalid_argument pads has 3 entries"},
    {"DepthToSpace", "blocksize=2", "f32[B 8 x y]", "f32[B 2 2*x 2*y]"},
    {"DepthToSpace", "blocksize=2", "f32[1 6 2 2]", "!shape_mismatch"},
    {"DepthToSpace", "blocksize=0", "f32[1 6 2 2]", "!invalid_argument blocksize"},
    {"SpaceToDepth", "blocksize=2", "f32[B 3 4 6]", "f32[B 12 2 3]"},
    {"SpaceToDepth", "blocksize=2", "f32[B 3 4 x]", "f32[B 12 2 x/2]"},
    {"SpaceToDepth", "blocksize=4", "f32[B 3 4 6]", "!shape_mismatch width"},
    {"ReverseSequence", "", "f32[4 B 2], i64[B]", "f32[4 B 2]"},
    {"ReverseSequence", "batch_axis=0 time_axis=1", "f32[4 B], i64[4]", "f32[4 B]"},
    {"ReverseSequence", "", "f32[4 3], i64[4]", "!shape_mismatch one length per batch"},
    {"ReverseSequence", "batch_axis=1 time_axis=1", "f32[4 3], i64[3]", "!invalid_argument"},
    {"Trilu", "", "f32[B S S], i64[]", "f32[B S S]"},
    {"Trilu", "", "f32[3]", "!shape_mismatch at least 2"},
});

const std::vector<InferCase> kGather = register_cases({
    {"Gather", "", "f32[30522 384], i64[B S]", "f32[B S 384]"},
    {"Gather", "axis=1", "f32[B S 384], i64[]={0}", "f32[B 384]"},
    {"Gather", "", "i64[3]={B S 4}, i64[]={-2}", "i64[]={S}"},
    {"Gather", "", "i64[3]={B S 4}, i64[2]={2 0}", "i64[2]={4 B}"},
    {"Gather", "", "i64[3]={B S 4}, i64[]={3}",
     "!out_of_range index 3 is outside [-3, 3) of axis 0"},
    {"Gather", "", "f32[3], i64[]={-4}", "!out_of_range index -4"},
    {"Gather", "", "f32[3], i32[2]={2 -3}", "f32[2]"},
    {"Gather", "", "f32[], i64[]", "!invalid_argument axis 0"},
    {"GatherElements", "axis=1", "f32[3 4], i64[2 9]", "f32[2 9]"},
    {"GatherElements", "axis=1", "f32[3 4], i64[4 2]",
     "!shape_mismatch indices is larger than data on axis 0"},
    {"GatherElements", "", "f32[3 4], i64[2]", "!shape_mismatch rank"},
    {"GatherND", "", "f32[3 4 5], i64[7 2]", "f32[7 5]"},
    {"GatherND", "batch_dims=1", "f32[B 4 5], i64[B 1]", "f32[B 5]"},
    {"GatherND", "", "f32[3 4], i64[7 3]", "!shape_mismatch index tuples have 3 entries"},
    {"GatherND", "", "f32[3 4], i64[7 x]", "!unsupported last dim of indices"},
    {"GatherND", "batch_dims=2", "f32[3 4], i64[3 2]", "!invalid_argument batch_dims"},
    {"ScatterElements", "axis=0", "f32[3 4], i64[2 4], f32[2 4]", "f32[3 4]"},
    {"ScatterElements", "axis=0", "f32[3 4], i64[2 4], f32[2 3]", "!shape_mismatch updates"},
    {"ScatterElements", "axis=0", "f32[3], i64[1]={3}, f32[1]", "!out_of_range index 3"},
    {"ScatterElements", "reduction=avg", "f32[3], i64[1], f32[1]", "!invalid_argument reduction"},
    {"ScatterND", "", "f32[3 4 5], i64[7 2], f32[7 5]", "f32[3 4 5]"},
    {"ScatterND", "", "f32[3 4 5], i64[7 2], f32[7 4]", "!shape_mismatch updates"},
});

TEST(InferMovement, Reshape) { check_cases(kReshape); }
TEST(InferMovement, Move) { check_cases(kMove); }
TEST(InferMovement, Gather) { check_cases(kGather); }

const std::vector<InferCase> kSlice = register_cases({
    {"Slice", "", "f32[4 5], i64[1]={1}, i64[1]={3}", "f32[2 5]"},
    {"Slice", "", "f32[4 5], i64[1]={0}, i64[1]={-1}, i64[1]={1}", "f32[4 4]"},
    {"Slice", "", "f32[4 5], i64[2]={3 4}, i64[2]={-5 -6}, i64[2]={0 1}, i64[2]={-1 -2}",
     "f32[4 3]"},
    {"Slice", "", "i64[4]={B S 3 4}, i64[1]={1}, i64[1]={3}", "i64[2]={S 3}"},
    {"Slice", "", "i64[4]={B S 3 4}, i64[1]={-1}, i64[1]={-9}, i64[1]={0}, i64[1]={-1}",
     "i64[4]={4 3 S B}"},
    {"Slice", "", "f32[B S], i64[1]={0}, i64[1]={9223372036854775807}, i64[1]={1}", "f32[B S]"},
    {"Slice", "", "f32[B x], i64[1]={0}, i64[1]={2147483647}, i64[1]={1}", "f32[B x]"},
    {"Slice", "", "f32[B S], i64[1]={1}, i64[1]={9223372036854775807}, i64[1]={1}", "f32[B S-1]"},
    {"Slice", "", "f32[B x], i64[1]={1}, i64[1]={9223372036854775807}, i64[1]={1}",
     "f32[B max(x-1,0)]"},
    {"Slice", "", "f32[B S], i64[1]={0}, i64[1]={1}, i64[1]={1}", "f32[B 1]"},
    {"Slice", "", "f32[B S], i64[1]={-1}, i64[1]={9223372036854775807}, i64[1]={1}", "f32[B 1]"},
    {"Slice", "", "f32[B S], i64[1]={0}, i64[1]={-1}, i64[1]={1}", "f32[B S-1]"},
    {"Slice", "", "f32[1 512], i64[1]={0}, i64[1]={S}, i64[1]={1}", "f32[1 S]"},
    {"Slice", "", "f32[B S], i64[1]={0}, i64[1]={9223372036854775807}, i64[1]={1}, i64[1]={2}",
     "f32[B (S+1)/2]"},
    {"Slice", "", "f32[B S], i64[1]={-1}, i64[1]={-9223372036854775807}, i64[1]={1}, i64[1]={-1}",
     "f32[B S]"},
    {"Slice", "", "f32[B S], i64[1]={x-3}, i64[1]={5}, i64[1]={1}", "f32[B ?]"},
    {"Slice", "", "f32[4 5], i64[1], i64[1]={3}, i64[1]={1}", "f32[4 ?]"},
    {"Slice", "", "f32[4 5], i64[1]={1}, i64[1]={3}, i64[1]", "f32[? ?]"},
    {"Slice", "", "f32[4], i64[1]={0}, i64[1]={3}, i64[1]={0}, i64[1]={0}",
     "!invalid_argument the step of axis 0 is 0"},
    {"Slice", "", "f32[4], i64[1]={0}, i64[2]={3 3}", "!invalid_argument differ in length"},
    {"Slice", "", "f32[4 4], i64[2]={0 0}, i64[2]={3 3}, i64[2]={0 -2}",
     "!invalid_argument given twice"},
    {"Slice", "", "f32[4], i64[1]={0}, i64[1]={3}, i64[1]={1}", "!invalid_argument axis 1"},
    {"Slice", "", "f32[4], i64[2]={0 0}, i64[2]={3 3}", "!invalid_argument 2 slices"},
});

TEST(InferSlice, Cases) { check_cases(kSlice); }

// Python's rule by looking at every element: is it a whole number of steps from the start?
int64_t walked(int64_t size, int64_t start, int64_t end, int64_t step) {
  const int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? size : size - 1;
  const int64_t first = std::clamp(start < 0 ? start + size : start, lo, hi);
  const int64_t last = std::clamp(end < 0 ? end + size : end, lo, hi);
  int64_t count = 0;
  for (int64_t at = 0; at < size; ++at) {
    const bool inside = step > 0 ? at >= first && at < last : at <= first && at > last;
    if (inside && (at - first) % step == 0) ++count;
  }
  return count;
}

int64_t value_at(const std::string& dim, int64_t x) {
  DimPool pool;
  const Dim symbol = pool.symbol("x"), d = pool.parse(dim);
  std::vector<int64_t> values(pool.size());
  values[expr_id(symbol)] = x;
  pool.eval(values);
  return DimPool::value(d, values);
}

TEST(InferSlice, ExtremesOnNumbersAndSymbols) {
  const std::vector<int64_t> bounds = {INT64_MIN, -INT64_MAX, -2147483647, -7, -5, -1, 0, 1, 4, 5,
                                       7,         2147483647, INT64_MAX};
  for (int64_t start : bounds) {
    for (int64_t end : bounds) {
      for (int64_t step : bounds) {
        if (step == 0) continue;
        const std::string rest =
            cat("], i64[1]={", start, "}, i64[1]={", end, "}, i64[1]={0}, i64[1]={", step, "}");
        for (int64_t size : {0, 1, 5, 6}) {
          const std::string inputs = cat("f32[", size, rest),
                            want = cat("f32[", walked(size, start, end, step), "]");
          check_cases({{"Slice", "", inputs.c_str(), want.c_str()}});
        }
        const std::string symbolic = cat("f32[x", rest);
        const std::string got = run_case({"Slice", "", symbolic.c_str(), ""});
        ASSERT_EQ(got.substr(0, 4), "f32[") << symbolic << ": " << got;
        for (int64_t size : {0, 1, 5, 6}) {
          EXPECT_EQ(value_at(got.substr(4, got.size() - 5), size), walked(size, start, end, step))
              << symbolic << " = " << got << " at " << size;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nef::ir
