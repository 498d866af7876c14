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

// The same to float8.
struct ToFloat8 {
  bool saturate;
  template <typename From>
  void run(cpu::TileFn fn, const std::vector<From>& x, std::vector<uint8_t>& y) const {
    ASSERT_NE(fn, nullptr);
    fn({y.data(), {x.data(), nullptr, nullptr}, x.size(), saturate ? 1.0 : 0.0, 0});
  }
};

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

// The 8-bit floats by the definition of their formats, in float64: the number of a code, and the
// code nearest to a number by search, ties to the even one.
struct Format8 {
  nef_dtype dtype;
  int mantissa, bias;
  uint8_t largest, beyond;

  double number(uint8_t code) const {
    const int magnitude = code & 0x7f, exponent = magnitude >> mantissa;
    if (magnitude > largest) {
      return magnitude == beyond && beyond != 0x7f
                 ? std::copysign(std::numeric_limits<double>::infinity(),
                                 (code & 0x80) != 0 ? -1 : 1)
                 : std::numeric_limits<double>::quiet_NaN();
    }
    const double fraction = magnitude & ((1 << mantissa) - 1);
    const double value = exponent == 0
                             ? std::ldexp(fraction, 1 - bias - mantissa)
                             : std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
    return (code & 0x80) != 0 ? -value : value;
  }
  uint8_t code(double x, bool saturate) const {
    const uint8_t sign = std::signbit(x) ? 0x80 : 0;
    if (std::isnan(x)) return sign | 0x7f;
    const double a = std::fabs(x);
    // As if the numbers went on, rounding goes to the next even one.
    const double top = number(largest), step = top - number(largest - 1);
    const bool odd = (largest & 1) != 0;
    if (a > top + step / 2 || (odd && a == top + step / 2)) {
      return sign | (saturate ? largest : beyond);
    }
    int low = 0;
    while (low < largest && number(static_cast<uint8_t>(low + 1)) <= a) ++low;
    if (low == largest) return sign | largest;
    const double below = a - number(static_cast<uint8_t>(low));
    const double above = number(static_cast<uint8_t>(low + 1)) - a;
    const bool up = above < below || (above == below && (low & 1) != 0);
    return sign | static_cast<uint8_t>(low + (up ? 1 : 0));
  }
};
constexpr Format8 kFormats8[] = {{NEF_FLOAT8_E4M3FN, 3, 7, 0x7e, 0x7f},
                                 {NEF_FLOAT8_E5M2, 2, 15, 0x7b, 0x7c}};

bool same_8(const Format8& f, uint8_t got, uint8_t want) {
  return got == want || (std::isnan(f.number(got)) && std::isnan(f.number(want)));
}

TEST(CpuCast, EveryCodeOfFloat8) {
  std::vector<uint8_t> codes(256);
  std::iota(codes.begin(), codes.end(), uint8_t{0});
  for (const Format8& f : kFormats8) {
    const auto y = cast<uint8_t, float>(f.dtype, NEF_FLOAT32, codes);
    for (size_t i = 0; i < codes.size(); ++i) {
      const double want = f.number(codes[i]);
      ASSERT_TRUE(y[i] == want || (std::isnan(y[i]) && std::isnan(want))) << i;
      ASSERT_EQ(std::signbit(y[i]), (i & 0x80) != 0) << i;
    }
  }
}

// Every float16, what lies beside it and half way to the next, and each midpoint of the 8-bit ones.
TEST(CpuCast, FloatsToFloat8) {
  std::vector<float> x = around(backends::float_from_float16);
  for (const Format8& f : kFormats8) {
    for (int code = 0; code < f.largest; ++code) {
      const auto middle = static_cast<float>(
          (f.number(static_cast<uint8_t>(code)) + f.number(static_cast<uint8_t>(code + 1))) / 2);
      for (float v : {middle, std::nextafter(middle, 1e30f), std::nextafter(middle, -1e30f)}) {
        x.insert(x.end(), {v, -v});
      }
    }
  }
  const std::vector<double> wide(x.begin(), x.end());
  for (const Format8& f : kFormats8) {
    for (bool saturate : {false, true}) {
      std::vector<uint8_t> narrow(x.size()), once(x.size());
      const ToFloat8 args{saturate};
      args.run(cpu::find_cast_fn(NEF_FLOAT32, f.dtype), x, narrow);
      args.run(cpu::find_cast_fn(NEF_FLOAT64, f.dtype), wide, once);
      for (size_t i = 0; i < x.size(); ++i) {
        const uint8_t want = f.code(x[i], saturate);
        ASSERT_TRUE(same_8(f, narrow[i], want))
            << x[i] << " gave " << int{narrow[i]} << ", want " << int{want};
        ASSERT_TRUE(same_8(f, once[i], want))
            << x[i] << " gave " << int{once[i]} << ", want " << int{want};
      }
    }
  }
}

// Through float32 these would round twice.
TEST(CpuCast, WideTypesRoundOnceToFloat8) {
  const std::vector<double> x = {1.0 + 0x1p-4 + 0x1p-40, 1.0 + 0x1p-4, 464 + 1e-9};
  std::vector<uint8_t> y(x.size());
  ToFloat8{true}.run(cpu::find_cast_fn(NEF_FLOAT64, NEF_FLOAT8_E4M3FN), x, y);
  EXPECT_EQ(y, (std::vector<uint8_t>{0x39, 0x38, 0x7e}));
  const std::vector<int64_t> n = {17, 464, 465, INT64_MIN};
  y.resize(n.size());
  ToFloat8{false}.run(cpu::find_cast_fn(NEF_INT64, NEF_FLOAT8_E4M3FN), n, y);
  EXPECT_EQ(y, (std::vector<uint8_t>{0x58, 0x7e, 0x7f, 0xff}));
}

TEST(CpuCast, FloatToInt32SaturatesAndNanIsZero) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.9f,  -0.9f, -1.5f, 2147483520.0f, 2147483648.0f, -2147483648.0f,
                                -3e9f, inf,   -inf,  std::nanf(""), 300.0f};
  const std::vector<int32_t> want = {
      0, 0, -1, 2147483520, INT32_MAX, INT32_MIN, INT32_MIN, INT32_MAX, INT32_MIN, 0, 300};
  for_each_target([&] { EXPECT_EQ((cast<float, int32_t>(NEF_FLOAT32, NEF_INT32, x)), want); });
}

// Every 16-bit float as float64, the midpoint between it and the next, and what lies next to them
// in float64 and in float32; beyond both ends of float32 too.
std::vector<double> around_in_double(float (*widen)(uint16_t)) {
  std::vector<double> out;
  for (uint16_t bits : all_16_bits()) {
    const double x = widen(bits), next = widen(static_cast<uint16_t>(bits + 1));
    for (double v : {x, x / 2 + next / 2}) {
      out.insert(out.end(), {v, std::nextafter(v, 1e300), std::nextafter(v, -1e300),
                             v * (1 + 0x1p-24), v * (1 - 0x1p-24), v * (1 + 0x1p-14)});
    }
  }
  for (double v :
       {0x1.fffffep127, 0x1.ffffffp127, 0x1.ff8p127, 0x1.ff7fffffffp127, 1e300, 0x1p-149, 0x1p-150,
        0x1p-134, 0x1.0000000001p-134, 0x1.8p-133, 0x1.8000000001p-133, 1e-300, 0x1p-1074}) {
    out.insert(out.end(), {v, -v});
  }
  return out;
}

TEST(CpuCast, Float64RoundsOnceToSixteenBits) {
  for_each_target([] {
    const auto check = [](nef_dtype to, uint16_t (*narrow)(double), float (*widen)(uint16_t)) {
      const std::vector<double> x = around_in_double(widen);
      const auto y = cast<double, uint16_t>(NEF_FLOAT64, to, x);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(same_16(y[i], narrow(x[i]), widen))
            << x[i] << " gave " << y[i] << ", want " << narrow(x[i]);
      }
    };
    check(NEF_FLOAT16, backends::float16_from_double, backends::float_from_float16);
    check(NEF_BFLOAT16, backends::bfloat16_from_double, backends::float_from_bfloat16);
  });
}

TEST(CpuCast, Float64RoundsOnceToEightBits) {
  const std::vector<double> x = around_in_double(backends::float_from_float16);
  for_each_target([&] {
    for (const Format8& f : kFormats8) {
      for (bool saturate : {false, true}) {
        std::vector<uint8_t> y(x.size());
        ToFloat8{saturate}.run(cpu::find_cast_fn(NEF_FLOAT64, f.dtype), x, y);
        for (size_t i = 0; i < x.size(); ++i) {
          const uint8_t want = backends::float8_from_double(f.dtype, x[i], saturate);
          ASSERT_TRUE(same_8(f, y[i], want)) << x[i] << " gave " << int{y[i]};
        }
      }
    }
  });
}

// Integers around every power of two and around the midpoints of bfloat16 and float16 above it.
template <typename T>
std::vector<T> wide_integers() {
  std::vector<T> out = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  for (int bit = 0; bit < std::numeric_limits<T>::digits; ++bit) {
    const T power = static_cast<T>(T{1} << bit);
    for (int below : {0, 8, 9, 11, 12, 24, 53}) {
      const T x = static_cast<T>(power + (below == 0 || below > bit ? 0 : power >> below));
      for (int d : {-1, 0, 1}) {
        const T near = static_cast<T>(x + static_cast<T>(d));
        out.push_back(near);
        out.push_back(static_cast<T>(T{0} - near));
      }
    }
  }
  return out;
}
template <typename T>
void check_wide_integers(nef_dtype from) {
  const std::vector<T> x = wide_integers<T>();
  const auto half = cast<T, uint16_t>(from, NEF_FLOAT16, x);
  const auto brain = cast<T, uint16_t>(from, NEF_BFLOAT16, x);
  std::vector<uint8_t> eighth(x.size());
  ToFloat8{true}.run(cpu::find_cast_fn(from, NEF_FLOAT8_E5M2), x, eighth);
  for (size_t i = 0; i < x.size(); ++i) {
    // long double holds them all, and an odd last bit of float64 what it does not.
    const auto exact = static_cast<long double>(x[i]);
    auto want = static_cast<double>(exact);
    if (want != exact) {
      const auto other = std::nextafter(want, want < exact ? 1e30 : -1e30);
      want = (std::bit_cast<uint64_t>(want) & 1) != 0 ? want : other;
    }
    ASSERT_EQ(half[i], backends::float16_from_double(want)) << x[i];
    ASSERT_EQ(brain[i], backends::bfloat16_from_double(want)) << x[i];
    ASSERT_EQ(eighth[i], backends::float8_from_double(NEF_FLOAT8_E5M2, want, true)) << x[i];
  }
}
TEST(CpuCast, WideIntegersRoundOnce) {
  for_each_target([] {
    check_wide_integers<int32_t>(NEF_INT32);
    check_wide_integers<uint32_t>(NEF_UINT32);
    check_wide_integers<int64_t>(NEF_INT64);
    check_wide_integers<uint64_t>(NEF_UINT64);
  });
}

// Where a conversion to an integer saturates, and next to there.
template <typename From, typename To>
void check_to_integer(nef_dtype from, nef_dtype to) {
  const From inf = std::numeric_limits<From>::infinity();
  std::vector<From> x = {0, From(-0.0), From(0.9), From(-0.9), inf, -inf, From(std::nan(""))};
  for (int bit = 0; bit < 66; ++bit) {
    const From power = std::ldexp(From{1}, bit);
    for (From v : {power, std::nextafter(power, inf), std::nextafter(power, From{0}),
                   power - From(0.5), power - 1, power + From(0.5)}) {
      x.insert(x.end(), {v, -v});
    }
  }
  const auto y = cast<From, To>(from, to, x);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], cpu::saturate<To>(x[i])) << x[i] << to;
}
template <typename From>
void check_to_integers(nef_dtype from) {
  check_to_integer<From, int8_t>(from, NEF_INT8);
  check_to_integer<From, uint8_t>(from, NEF_UINT8);
  check_to_integer<From, int16_t>(from, NEF_INT16);
  check_to_integer<From, uint16_t>(from, NEF_UINT16);
  check_to_integer<From, int32_t>(from, NEF_INT32);
  check_to_integer<From, uint32_t>(from, NEF_UINT32);
  check_to_integer<From, int64_t>(from, NEF_INT64);
  check_to_integer<From, uint64_t>(from, NEF_UINT64);
  const std::vector<From> x = {0, From(-0.0), From(1e-30), -1, From(std::nan("")), 7};
  EXPECT_EQ((cast<From, uint8_t>(from, NEF_BOOL, x)), (std::vector<uint8_t>{0, 0, 1, 1, 1, 1}));
}
TEST(CpuCast, FloatsToEveryIntegerSaturate) {
  for_each_target([] {
    check_to_integers<float>(NEF_FLOAT32);
    check_to_integers<double>(NEF_FLOAT64);
  });
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
