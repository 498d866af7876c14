// SPDX-License-Identifier: Apache-2.0
// Transposes of every element size, with whole blocks, tails and steps that are no dense matrix's.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "backends/cpu/transpose_kernels.h"
#include "tests/unit/cpu/each_target.h"

namespace nef::cpu {
namespace {

template <class T>
void check(int64_t rows, int64_t columns, bool stream) {
  // Steps of 16 bytes more than needed; what lies between rows stays as it is.
  const int64_t pad = 16 / static_cast<int64_t>(sizeof(T));
  const int64_t src_step = rows + 3;
  const int64_t dst_step = (columns + pad - 1) / pad * pad + pad;
  std::vector<T> src(static_cast<size_t>(columns * src_step));
  std::iota(src.begin(), src.end(), T{1});
  std::vector<T> room(static_cast<size_t>((rows + 1) * dst_step + 64), T{0});
  const auto at = reinterpret_cast<uintptr_t>(room.data());
  T* dst = room.data() + (64 - at % 64) % 64 / sizeof(T);
  find_transpose(sizeof(T))(src.data(), src_step, dst, dst_step, rows, columns, stream);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < dst_step; ++c) {
      const T want = c < columns ? src[static_cast<size_t>(c * src_step + r)] : T{0};
      ASSERT_EQ(dst[r * dst_step + c], want) << sizeof(T) << " bytes, " << rows << " x " << columns
                                             << ", row " << r << " column " << c;
    }
  }
}

TEST(Copy, TransposesWholeBlocksAndTails) {
  cpu_test::for_each_target([] {
    for (const bool stream : {false, true}) {
      for (const int64_t rows : {0, 1, 7, 64, 65, 131}) {
        for (const int64_t columns : {0, 1, 5, 64, 67, 129}) {
          check<uint8_t>(rows, columns, stream);
          check<uint16_t>(rows, columns, stream);
          check<uint32_t>(rows, columns, stream);
          check<uint64_t>(rows, columns, stream);
        }
      }
    }
  });
}

}  // namespace
}  // namespace nef::cpu
