// SPDX-License-Identifier: Apache-2.0
// The vector conversions of 16-bit floats and int32 against the scalar rules, on every
// instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/cpu/dtypes.h"
#include "backends/cpu/elementwise_tiles.h"
#include "backends/shared/float16.h"
#include "tests/unit/cpu/each_target.h"

namespace nef::cpu_test {
namespace {

template <typename From, typename To>
std::vector<To> cast(nef_dtype from, nef_dtype to, const std::vector<From>& x) {
  std::vector<To> y(x.size());
  const cpu::TileFn fn = cpu::find_cast_fn(from, to);
  EXPECT_NE(fn, nullptr);
  fn({y.data(), {x.data(), nullptr, nullptr}, x.size(), 0, 0});
  return y;
}

std::vector<uint16_t> all_16_bits() {
  std::vector<uint16_t> x(65536);
  std::iota(x.begin(), x.end(), uint16_t{0});
  return x;
}

// Every 16-bit float as float32, its neighbours, and the midpoints between it and the next.
std::vector<float> around(float (*widen)(uint16_t)) {
  std::vector<float> out;
  for (uint16_t bits : all_16_bits()) {
    const float x = widen(bits), next = widen(static_cast<uint16_t>(bits + 1));
    out.insert(out.end(), {x, std::nextafter(x, 1e30f), std::nextafter(x, -1e30f)});
    const float middle = x / 2 + next / 2;
    out.insert(out.end(), {middle, std::nextafter(middle, 1e30f), std::nextafter(middle, -1e30f)});
  }
  for (uint32_t special : {0x7f800001u, 0xffc00000u, 0x7f7fffffu, 0x3f808000u, 0x00000001u}) {
    out.push_back(std::bit_cast<float>(special));
  }
  return out;
}

bool same_16(uint16_t got, uint16_t want, float (*widen)(uint16_t)) {
  return got == want || (std::isnan(widen(got)) && std::isnan(widen(want)));
}

void check_narrowing(nef_dtype to, uint16_t (*narrow)(double), float (*widen)(uint16_t)) {
  const std::vector<float> x = around(widen);
  const auto y = cast<float, uint16_t>(NEF_FLOAT32, to, x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(same_16(y[i], narrow(x[i]), widen))
        << x[i] << " gave " << y[i] << ", want " << narrow(x[i]);
  }
}

void check_widening(nef_dtype from, float (*widen)(uint16_t)) {
  const std::vector<uint16_t> x = all_16_bits();
  const auto y = cast<uint16_t, float>(from, NEF_FLOAT32, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const float want = widen(x[i]);
    ASSERT_TRUE(y[i] == want || (std::isnan(y[i]) && std::isnan(want))) << x[i];
    ASSERT_EQ(std::signbit(y[i]), std::signbit(want)) << x[i];
  }
}

TEST(CpuCast, EveryFloat16) {
  for_each_target([] {
    check_widening(NEF_FLOAT16, backends::float_from_float16);
    check_narrowing(NEF_FLOAT16, backends::float16_from_double, backends::float_from_float16);
  });
}

TEST(CpuCast, EveryBfloat16) {
  for_each_target([] {
    check_widening(NEF_BFLOAT16, backends::float_from_bfloat16);
    check_narrowing(NEF_BFLOAT16, backends::bfloat16_from_double, backends::float_from_bfloat16);
  });
}

TEST(CpuCast, FloatToInt32SaturatesAndNanIsZero) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.9f,  -0.9f, -1.5f, 2147483520.0f, 2147483648.0f, -2147483648.0f,
                                -3e9f, inf,   -inf,  std::nanf(""), 300.0f};
  const std::vector<int32_t> want = {
      0, 0, -1, 2147483520, INT32_MAX, INT32_MIN, INT32_MIN, INT32_MAX, INT32_MIN, 0, 300};
  for_each_target([&] { EXPECT_EQ((cast<float, int32_t>(NEF_FLOAT32, NEF_INT32, x)), want); });
}

// Through float32 both would round twice.
TEST(CpuCast, WideTypesRoundOnceToSixteenBits) {
  const std::vector<double> x = {1.0 + 0x1p-11 + 0x1p-40, 1.0 + 0x1p-11};
  const auto y = cast<double, uint16_t>(NEF_FLOAT64, NEF_FLOAT16, x);
  EXPECT_EQ(y[0], 0x3c01);
  EXPECT_EQ(y[1], 0x3c00);
  const std::vector<int64_t> n = {(int64_t{1} << 62) + (int64_t{1} << 54) + 1};
  EXPECT_EQ((cast<int64_t, uint16_t>(NEF_INT64, NEF_BFLOAT16, n))[0], 0x5e81);
}

}  // namespace
}  // namespace nef::cpu_test
