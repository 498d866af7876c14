// SPDX-License-Identifier: Apache-2.0
// The float32 functions against float64 libm, over all magnitudes, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/norm_rows.h"
#include "tests/unit/cpu/each_target.h"

namespace nef::cpu_test {
namespace {

using cpu::TileOp;

struct Function {
  const char* name;
  TileOp op;
  double (*exact)(double);
  double ulps;
  float lowest, highest;  // where the bound holds
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double gelu(double x) { return x * 0.5 * std::erfc(-x * M_SQRT1_2); }
double gelu_tanh(double x) {
  return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}
double silu(double x) { return x * sigmoid(x); }
double elu(double x) { return x >= 0 ? x : std::expm1(x); }
double mish(double x) { return x * std::tanh(softplus(x)); }

constexpr float kAll = std::numeric_limits<float>::infinity();
const Function kFunctions[] = {
    {"exp", TileOp::kExp, std::exp, 1.1, -kAll, kAll},
    {"log", TileOp::kLog, std::log, 1.1, -kAll, kAll},
    {"tanh", TileOp::kTanh, std::tanh, 1.5, -kAll, kAll},
    {"erf", TileOp::kErf, std::erf, 2.7, -kAll, kAll},
    {"sigmoid", TileOp::kSigmoid, sigmoid, 2.6, -87, kAll},
    {"silu", TileOp::kSilu, silu, 4, -87, 3e38f},
    {"softplus", TileOp::kSoftplus, softplus, 3, -87, kAll},
    {"elu", TileOp::kElu, elu, 3.6, -kAll, kAll},
    {"mish", TileOp::kMish, mish, 5, -60, 3e38f},
    {"gelu", TileOp::kGelu, gelu, 16, -4, 3e38f},
    {"gelu_tanh", TileOp::kGeluTanh, gelu_tanh, 24, -4, 3e38f},
    {"tan", TileOp::kTan, std::tan, 0.6, -kAll, kAll},
    {"sinh", TileOp::kSinh, std::sinh, 2.4, -kAll, kAll},
    {"cosh", TileOp::kCosh, std::cosh, 1.8, -kAll, kAll},
    {"asin", TileOp::kAsin, std::asin, 2.4, -kAll, kAll},
    {"acos", TileOp::kAcos, std::acos, 1.2, -kAll, kAll},
    {"atan", TileOp::kAtan, std::atan, 2.2, -kAll, kAll},
    {"asinh", TileOp::kAsinh, std::asinh, 2.7, -kAll, kAll},
    {"acosh", TileOp::kAcosh, std::acosh, 2.4, -kAll, kAll},
    {"atanh", TileOp::kAtanh, std::atanh, 2.7, -kAll, kAll},
};

// One float32 in 9973 of all, and both ends.
std::vector<float> samples(float lowest, float highest) {
  std::vector<float> out = {lowest, highest};
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 9973) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (x >= lowest && x <= highest) out.push_back(x);
  }
  return out;
}

double ulps_between(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : kAll;
  if (got == rounded) return 0;
  if (!std::isfinite(got)) return kAll;
  // One more than the greatest float stands for infinity, so that its neighbour is 1 ULP away.
  const double clamped = std::isinf(rounded) ? std::copysign(0x1p128, want) : want;
  const int exponent = std::max(std::ilogb(std::fmax(std::fabs(clamped), 0x1p-149)), -126);
  return std::fabs(got - clamped) / std::ldexp(1.0, exponent - 23);
}

void check(const Function& f) {
  const std::vector<float> x = samples(f.lowest, f.highest);
  std::vector<float> y(x.size());
  const cpu::TileFn fn = cpu::find_tile_fn(f.op, NEF_FLOAT32);
  ASSERT_NE(fn, nullptr);
  fn({y.data(), {x.data(), nullptr, nullptr}, x.size(), 1, 0});
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double ulps = ulps_between(y[i], f.exact(x[i]));
    if (ulps <= worst) continue;
    worst = ulps;
    at = i;
  }
  EXPECT_LE(worst, f.ulps) << f.name << "(" << x[at] << ") = " << y[at] << ", exactly "
                           << f.exact(x[at]);
}

TEST(CpuMath, ErrorsStayWithinTheStatedBounds) {
  for_each_target([] {
    for (const Function& f : kFunctions) check(f);
  });
}

// The float32 next to multiples of pi / 2, and the one of all that lies closest to one.
TEST(CpuMath, TangentNextToItsZerosAndPoles) {
  std::vector<float> x = {-0.0f, 0.0f, 0x1.f37dcap+95f, 16367173 * 0x1p72f, 1e6f, 1.0000001e6f};
  for (int k = 1; k < 1000000; k += k < 10000 ? 1 : 7) {
    const auto near = static_cast<float>(k * M_PI_2);
    x.insert(x.end(), {near, -near, std::nextafter(near, kAll)});
  }
  for_each_target([&] {
    std::vector<float> y(x.size());
    cpu::find_tile_fn(TileOp::kTan, NEF_FLOAT32)({y.data(), {x.data()}, x.size(), 0, 0});
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, ulps_between(y[i], std::tan(double{x[i]})));
    }
    EXPECT_LE(worst, 0.6);
    EXPECT_TRUE(std::signbit(y[0]) && !std::signbit(y[1]));
  });
}

constexpr double kPowerUlps = 1;

// Bases of all magnitudes, each with exponents of all magnitudes, with ones whose power stays
// within float32 and next to its ends, and with whole ones.
TEST(CpuMath, PowersOverTheirWholeRange) {
  std::vector<float> x, y;
  uint32_t bits = 12345;
  const auto add = [&](float base, double exponent) {
    x.push_back(base);
    y.push_back(static_cast<float>(exponent));
  };
  for (const float base : samples(-kAll, kAll)) {
    bits = bits * 1664525 + 1013904223;
    const double unit = bits * 0x1p-31 - 1, digits = std::log2(std::fabs(double{base}));
    add(base, std::bit_cast<float>(bits));
    if (std::isfinite(digits) && digits != 0) {
      add(std::fabs(base), 150 * unit / digits);
      add(std::fabs(base), (unit < 0 ? 127.99 : -148.9) / digits);
    }
    add(base, std::nearbyint(unit * 5));
  }
  for (int i = -300; i < 300; ++i) {  // next to 1, with large exponents
    const float base = 1 + static_cast<float>(i) * 0x1p-23f;
    for (double exponent : {1e6, -3e6, 2e5, 12345.678}) add(base, exponent);
  }
  for_each_target([&] {
    std::vector<float> z(x.size());
    cpu::find_power_fn(NEF_FLOAT32, NEF_FLOAT32)({z.data(), {x.data(), y.data()}, x.size(), 0, 0});
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double ulps = ulps_between(z[i], std::pow(double{x[i]}, double{y[i]}));
      if (ulps <= worst) continue;
      worst = ulps;
      at = i;
    }
    EXPECT_LE(worst, kPowerUlps) << x[at] << "^" << y[at] << " = " << z[at];
  });
}

TEST(CpuMath, PowersOfSpecialNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float numbers[] = {0.0f,    -0.0f, 1.0f,   -1.0f, 2.0f,       -2.0f, 0.5f,
                           -0.5f,   3.0f,  -3.0f,  kAll,  -kAll,      nan,   1e-45f,
                           -1e-45f, 3e38f, -3e38f, 7.5f,  16777217.0f};
  std::vector<float> x, y;
  for (float base : numbers) {
    for (float exponent : numbers) {
      x.push_back(base);
      y.push_back(exponent);
    }
  }
  for_each_target([&] {
    std::vector<float> z(x.size());
    cpu::find_power_fn(NEF_FLOAT32, NEF_FLOAT32)({z.data(), {x.data(), y.data()}, x.size(), 0, 0});
    for (size_t i = 0; i < x.size(); ++i) {
      const float want = std::pow(x[i], y[i]);
      EXPECT_LE(ulps_between(z[i], want), 1) << x[i] << "^" << y[i] << " = " << z[i];
      if (std::isnan(want)) continue;
      EXPECT_EQ(std::signbit(z[i]), std::signbit(want)) << x[i] << "^" << y[i];
    }
  });
}

// docs/numerics.md states the very bounds that are held here.
TEST(CpuMath, DocsStateTheBounds) {
  std::ifstream file(NEF_SOURCE_DIR "/docs/numerics.md");
  const std::string docs{std::istreambuf_iterator<char>(file), {}};
  for (const Function& f : kFunctions) {
    std::ostringstream row;
    row << "| `" << f.name << "` | " << f.ulps << " | ";
    if (f.lowest == -kAll) row << "everywhere |";
    else row << "from " << f.lowest << " on |";
    EXPECT_NE(docs.find(row.str()), std::string::npos) << row.str();
  }
  std::ostringstream row;
  row << "| `pow` | " << kPowerUlps << " | everywhere |";
  EXPECT_NE(docs.find(row.str()), std::string::npos) << row.str();
}

TEST(CpuMath, NanStaysNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[3] = {1, nan, -1};
  for_each_target([&] {
    for (const Function& f : kFunctions) {
      float y[3];
      cpu::find_tile_fn(f.op, NEF_FLOAT32)({y, {x, nullptr, nullptr}, 3, 1, 0});
      EXPECT_FALSE(std::isnan(y[0])) << f.name;
      EXPECT_TRUE(std::isnan(y[1])) << f.name;
    }
  });
}

// e^x of softmax and attention: shorter than `exp`, which takes over below -87. docs/numerics.md
// states these bounds.
TEST(CpuMath, WeightsOfSoftmax) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for_each_target([&] {
    const auto worst = [](float lowest, float highest) {
      const std::vector<float> x = samples(lowest, highest);
      std::vector<float> y(x.size());
      cpu::row_ops<float>().exp_shifted(x.data(), static_cast<int64_t>(x.size()), 0, y.data());
      double most = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        most = std::max(most, ulps_between(y[i], std::exp(double{x[i]})));
      }
      return most;
    };
    EXPECT_LE(worst(-20, 0), 1.6);
    EXPECT_LE(worst(-87, 0), 4.5);
    EXPECT_LE(worst(-kAll, -87.4f), 1.1);
    float y[3];
    const float x[3] = {nan, -kAll, 0};
    EXPECT_TRUE(std::isnan(cpu::row_ops<float>().exp_shifted(x, 3, 0, y)));
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 1);
  });
}

// Sine and cosine are held to the size of 1: their reduction loses digits next to zeros.
TEST(CpuMath, SineAndCosineOverTheirWholeRange) {
  const std::vector<float> x = samples(-3e38f, 3e38f);
  std::vector<float> y(x.size());
  for_each_target([&] {
    for (const TileOp op : {TileOp::kSin, TileOp::kCos}) {
      cpu::find_tile_fn(op, NEF_FLOAT32)({y.data(), {x.data(), nullptr, nullptr}, x.size(), 0, 0});
      double worst = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = op == TileOp::kSin ? std::sin(double{x[i]}) : std::cos(double{x[i]});
        worst = std::max(worst, std::fabs(y[i] - want));
      }
      EXPECT_LT(worst, 1.5e-7);
    }
  });
}

}  // namespace
}  // namespace nef::cpu_test
