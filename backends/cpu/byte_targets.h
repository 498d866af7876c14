// SPDX-License-Identifier: Apache-2.0
#pragma once

// Highway targets of dot products of bytes: one left out adds no instruction that they use.
#define HWY_DISABLED_TARGETS                                                                      \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_AVX10_2 | HWY_NEON | HWY_NEON_BF16 | \
   HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
