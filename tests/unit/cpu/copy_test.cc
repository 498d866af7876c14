// SPDX-License-Identifier: Apache-2.0
// Transposes of every element size, with whole blocks, tails and steps that are no dense matrix's;
// planes that become one line.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "backends/cpu/copy.h"
#include "backends/cpu/transpose_kernels.h"
#include "tests/unit/cpu/each_target.h"
#include "tests/unit/cpu/region_runner.h"

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

// Two to four elements that lie together, on either side, and sides that small squares fill.
template <class T>
void check_thin(int64_t rows, int64_t columns) {
  std::vector<T> src(static_cast<size_t>(rows * columns));
  std::iota(src.begin(), src.end(), T{1});
  std::vector<T> dst(src.size() + 1, T{0});
  find_transpose(sizeof(T))(src.data(), rows, dst.data(), columns, rows, columns, false);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      ASSERT_EQ(dst[static_cast<size_t>(r * columns + c)], src[static_cast<size_t>(c * rows + r)])
          << sizeof(T) << " bytes, " << rows << " x " << columns << ", " << r << ", " << c;
    }
  }
  EXPECT_EQ(dst.back(), T{0});
}

TEST(Copy, TransposesThinMatrices) {
  cpu_test::for_each_target([] {
    for (const int64_t thin : {2, 3, 4, 5, 8, 16}) {
      for (const int64_t length : {0, 1, 3, 64, 67, 259}) {
        check_thin<uint8_t>(thin, length), check_thin<uint8_t>(length, thin);
        check_thin<uint16_t>(thin, length), check_thin<uint16_t>(length, thin);
        check_thin<uint32_t>(thin, length), check_thin<uint32_t>(length, thin);
        check_thin<uint64_t>(thin, length), check_thin<uint64_t>(length, thin);
      }
    }
  });
}

// Images of pixels become images of planes, cut into pieces where they are long.
template <class T>
void check_pixels(int64_t images, int64_t planes, int64_t length) {
  const int64_t count = images * planes * length;
  std::vector<T> src(static_cast<size_t>(count + 1));
  std::iota(src.begin(), src.end(), T{1});
  StridedView view;
  view.data = reinterpret_cast<const char*>(src.data());
  view.push(images, planes * length);
  view.push(planes, 1);
  view.push(length, planes);
  std::vector<T> dst(static_cast<size_t>(count + 1), T{0});
  copy_view(reinterpret_cast<char*>(dst.data()), view, sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t image = i / length / planes, plane = i / length % planes, pixel = i % length;
    ASSERT_EQ(dst[static_cast<size_t>(i)],
              src[static_cast<size_t>((image * length + pixel) * planes + plane)])
        << sizeof(T) << " bytes, " << images << " x " << planes << " x " << length << ", at " << i;
  }
  EXPECT_EQ(dst.back(), T{0});
}

TEST(Copy, OneLineBecomesPlanes) {
  cpu_test::start_backend();
  for (const int64_t images : {0, 1, 3}) {
    for (const int64_t planes : {1, 2, 3, 4, 7}) {
      for (const int64_t length : {0, 1, 2, 31, 1024, 50000}) {
        check_pixels<uint8_t>(images, planes, length);
        check_pixels<uint16_t>(images, planes, length);
        check_pixels<uint32_t>(images, planes, length);
        check_pixels<uint64_t>(images, planes, length);
      }
    }
  }
}

// Images of planes, `gap` elements apart, become images of pixels.
template <class T>
void check_planes(int64_t images, int64_t planes, int64_t length, int64_t gap) {
  const int64_t step = length + gap;
  std::vector<T> src(static_cast<size_t>(images * planes * step + 1));
  std::iota(src.begin(), src.end(), T{1});
  StridedView view;
  view.data = reinterpret_cast<const char*>(src.data());
  view.push(images, planes * step);
  view.push(length, 1);
  view.push(planes, step);
  const int64_t count = images * length * planes;
  std::vector<T> dst(static_cast<size_t>(count + 1), T{0});
  copy_view(reinterpret_cast<char*>(dst.data()), view, sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t image = i / planes / length, pixel = i / planes % length, plane = i % planes;
    ASSERT_EQ(dst[i], src[(image * planes + plane) * step + pixel])
        << sizeof(T) << " bytes, " << images << " x " << planes << " x " << length << ", at " << i;
  }
  EXPECT_EQ(dst[count], T{0});
}

TEST(Copy, PlanesBecomeOneLine) {
  cpu_test::start_backend();
  for (const int64_t images : {0, 1, 3}) {
    for (const int64_t planes : {1, 2, 3, 4}) {
      for (const int64_t length : {0, 1, 2, 31, 1024, 2500}) {
        for (const int64_t gap : {0, 5}) {
          check_planes<uint8_t>(images, planes, length, gap);
          check_planes<uint16_t>(images, planes, length, gap);
          check_planes<uint32_t>(images, planes, length, gap);
          check_planes<uint64_t>(images, planes, length, gap);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nef::cpu
