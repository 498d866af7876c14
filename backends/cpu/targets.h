// SPDX-License-Identifier: Apache-2.0
#pragma once

// Include first in every file that includes Highway. Six instruction sets are compiled: AVX3_SPR,
// AVX3_DL, AVX3, AVX2, SSE4, and SSE2 as the baseline that x86-64 guarantees. The others would
// cost build time for little speed.
#define HWY_DISABLED_TARGETS (HWY_AVX10_2 | HWY_AVX3_ZEN4 | HWY_SSSE3)
