// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/amx_windows.h"

#include <hwy/detect_compiler_arch.h>

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <immintrin.h>

#include <algorithm>
#include <iterator>

namespace nef::cpu {
// GCC takes the undefined registers of its own intrinsics for a fault of ours.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
namespace {

#define NEF_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

constexpr int64_t kNarrowRows = 128;  // whose sums fit into 16 bits

template <bool kSigned>
NEF_AVX512 __m512i sum_narrow(const uint8_t* panel, int64_t rows) {
  __m512i sum = _mm512_setzero_si512();
  for (int64_t p = 0; p < rows; ++p, panel += kAmxPanel) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel));
    sum = _mm512_add_epi16(sum, kSigned ? _mm512_cvtepi8_epi16(x) : _mm512_cvtepu8_epi16(x));
  }
  return sum;
}

template <bool kSigned>
NEF_AVX512 void add_columns(const uint8_t* panel, int64_t k, int32_t* sums) {
  __m512i low = _mm512_setzero_si512(), high = low;
  for (int64_t p = 0; p < k; p += kNarrowRows, panel += kNarrowRows * kAmxPanel) {
    const __m512i sum = sum_narrow<kSigned>(panel, std::min(kNarrowRows, k - p));
    low = _mm512_add_epi32(low, _mm512_cvtepi16_epi32(_mm512_castsi512_si256(sum)));
    high = _mm512_add_epi32(high, _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(sum, 1)));
  }
  _mm512_storeu_si512(sums, low);
  _mm512_storeu_si512(sums + kAmxPanel / 2, high);
}

// A run's bytes are read at their columns, and no others.
template <int kRuns>
NEF_AVX512 void gather_rows(const uint8_t* x, int64_t x_row, int64_t rows, const ByteRuns& runs,
                            uint8_t pad, uint8_t* to, int64_t to_row) {
  const __m256i padding = _mm256_set1_epi8(static_cast<char>(pad));
  for (int64_t i = 0; i < rows; ++i, x += x_row, to += to_row) {
    __m256i row = padding;
    for (int r = 0; r < kRuns; ++r) {
      row = _mm256_mask_loadu_epi8(row, runs.columns[r], x + runs.shift[r]);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), row);
  }
}

}  // namespace

void gather_byte_rows(const uint8_t* x, int64_t x_row, int64_t rows, const ByteRuns& runs,
                      uint8_t pad, uint8_t* to, int64_t to_row) {
  constexpr decltype(&gather_rows<0>) kGather[] = {gather_rows<0>, gather_rows<1>, gather_rows<2>,
                                                   gather_rows<3>, gather_rows<4>};
  static_assert(std::size(kGather) == ByteRuns::kMost + 1);
  kGather[runs.count](x, x_row, rows, runs, pad, to, to_row);
}

void add_byte_columns(const uint8_t* panel, int64_t k, bool is_signed, int32_t* sums) {
  is_signed ? add_columns<true>(panel, k, sums) : add_columns<false>(panel, k, sums);
}

}  // namespace nef::cpu

#endif
