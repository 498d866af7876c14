// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/heads.h"
#include "backends/gpu/stage.h"

// Attention of many queries on Hopper's tensor cores.
namespace nef::gpu {

struct PrefillShape {
  Heads q, k, v, y;
  int64_t causal = 0;
  double scale = 1, softcap = 0;
  Dims mask_steps;  // of a mask, along batch, head, query and key
  int64_t mask_columns = 1;
};

// Numbers that the kernel for heads of this size takes a head to have, the rest being zero; 0 =
// there is no such kernel.
int64_t prefill_width(nef_dtype dtype, int64_t size, const DeviceInfo& device);
// `mask`: its dtype, 0 = there is none; `capped`: scores are; `keys`: how many, where that is
// known. It comes behind the text of the exact kernel.
std::string prefill_source(nef_dtype dtype, int64_t width, nef_dtype mask, bool capped,
                           int64_t keys);
// Queries of a part, and parts: those of each head of each batch follow each other.
constexpr int64_t kPrefillPart = 64;
int64_t prefill_parts(const PrefillShape& shape);
// Bytes of `odd` below: a 32-bit number for each part.
size_t prefill_bytes(const PrefillShape& shape);
// Does the kernel for this shape look after results that are not finite by itself?
bool prefill_checks(const PrefillShape& shape);
// Fills y. Where a part's results are not all finite, its number in `odd` is not zero, and a kernel
// that looks closer must do it again: values that are not finite but weigh nothing count here.
// `exact`: the parameters of that kernel.
void launch_prefill(const Run& run, Module& module, nef_dtype dtype, int64_t width,
                    const PrefillShape& shape, const void* q, const void* k, const void* v,
                    const void* mask, void* y, void* odd, const Params& exact);

}  // namespace nef::gpu
