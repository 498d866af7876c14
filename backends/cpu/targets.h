// SPDX-License-Identifier: Apache-2.0
#pragma once

// Include first in every file that includes Highway. Compiled are AVX3_SPR, AVX3_DL, AVX3, AVX2,
// SSE4, SSE2 (baseline); SVE2, SVE, NEON (baseline). More would cost build time for little speed.
#define HWY_DISABLED_TARGETS \
  (HWY_AVX10_2 | HWY_AVX3_ZEN4 | HWY_SSSE3 | HWY_NEON | HWY_NEON_BF16 | HWY_SVE_256 | HWY_SVE2_128)
