// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which Highway targets the float kernels are compiled for. The ones left out add no instruction
// that these kernels use, so they would only cost build time; dispatch then takes the next lower.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_AVX10_2)
