// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "engine/ir/attrs.h"
#include "tests/unit/cpu/each_target.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

struct Plan {
  int64_t batch = 1, channels = 3, height = 11, width = 13, filters = 5, groups = 1;
  int64_t kernel = 3, stride = 1, dilation = 1, pad = 1;
  int64_t out(int64_t in) const {
    return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  }
};

std::vector<float> convolve(const Plan& p, const std::vector<float>& x, const std::vector<float>& w,
                            const std::vector<float>& bias) {
  const int64_t oh = p.out(p.height), ow = p.out(p.width);
  const int64_t depth = p.channels / p.groups, width = p.filters / p.groups;
  std::vector<float> y;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t f = 0; f < p.filters; ++f) {
      for (int64_t o = 0; o < oh * ow; ++o) {
        double sum = bias[f];
        for (int64_t c = 0; c < depth; ++c) {
          for (int64_t k = 0; k < p.kernel * p.kernel; ++k) {
            const int64_t i = o / ow * p.stride - p.pad + k / p.kernel * p.dilation;
            const int64_t j = o % ow * p.stride - p.pad + k % p.kernel * p.dilation;
            if (i < 0 || i >= p.height || j < 0 || j >= p.width) continue;
            const int64_t channel = n * p.channels + f / width * depth + c;
            sum += double{x[(channel * p.height + i) * p.width + j]} *
                   w[(f * depth + c) * p.kernel * p.kernel + k];
          }
        }
        y.push_back(static_cast<float>(sum));
      }
    }
  }
  return y;
}

void check(const Plan& p, bool fused) {
  SCOPED_TRACE(testing::Message() << p.channels << "->" << p.filters << "/" << p.groups << " k"
                                  << p.kernel << " s" << p.stride << " d" << p.dilation << " "
                                  << p.height << "x" << p.width);
  const int64_t depth = p.channels / p.groups;
  const auto x = random_floats(p.batch * p.channels * p.height * p.width, 1);
  const auto w = random_floats(p.filters * depth * p.kernel * p.kernel, 2);
  const auto bias = random_floats(p.filters, 3);
  const std::vector<int64_t> out = {p.batch, p.filters, p.out(p.height), p.out(p.width)};
  const auto attrs = ir::AttrBuilder(NEF_OP_CONV)
                         .set_int(NEF_CONV_GROUP, p.groups)
                         .set_ints(NEF_CONV_PADS, std::vector<int64_t>(4, p.pad))
                         .set_ints(NEF_CONV_STRIDES, std::vector<int64_t>(2, p.stride))
                         .set_ints(NEF_CONV_DILATIONS, std::vector<int64_t>(2, p.dilation))
                         .build();
  auto want = convolve(p, x, w, bias);
  RegionRunner r(fused ? NEF_REGION_EPILOGUE : NEF_REGION_SINGLE);
  const int32_t ix = r.floats({p.batch, p.channels, p.height, p.width}, x);
  const int32_t iw = r.constant(NEF_FLOAT32, {p.filters, depth, p.kernel, p.kernel}, w);
  const int32_t ib = r.constant(NEF_FLOAT32, {p.filters}, bias);
  int32_t y;
  if (fused) {
    const auto scale = random_floats(p.filters, 4), residual = random_floats(product(out), 5);
    const int32_t is = r.constant(NEF_FLOAT32, {p.filters, 1, 1}, scale),
                  ir = r.floats(out, residual), t0 = r.internal(NEF_FLOAT32, out),
                  t1 = r.internal(NEF_FLOAT32, out), t2 = r.internal(NEF_FLOAT32, out);
    y = r.output(NEF_FLOAT32, out);
    r.node(NEF_OP_CONV, {ix, iw, ib}, {t0}, attrs);
    r.node(NEF_OP_MUL, {t0, is}, {t1});
    r.node(NEF_OP_ADD, {t1, ir}, {t2});
    r.node(NEF_OP_RELU, {t2}, {y});
    const int64_t area = out[2] * out[3];
    for (size_t i = 0; i < want.size(); ++i) {
      const size_t f = i / static_cast<size_t>(area) % static_cast<size_t>(p.filters);
      want[i] = std::max(0.0f, want[i] * scale[f] + residual[i]);
    }
  } else {
    y = r.output(NEF_FLOAT32, out);
    r.node(NEF_OP_CONV, {ix, iw, ib}, {y}, attrs);
  }
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<float>(y);
  ASSERT_EQ(got.size(), want.size());
  // A float sum of this depth may lose as much, relative to its largest terms.
  const double tolerance = 2e-7 * double(depth * p.kernel * p.kernel) + 2e-6;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance) << "element " << i;
  }
}

TEST(Conv, KernelsStridesAndDilations) {
  for (int64_t kernel : {1, 2, 3, 5}) {
    for (int64_t stride : {1, 2, 3}) {
      for (int64_t dilation : {1, 2}) {
        for (int64_t pad : {0, 2}) {
          Plan p;
          p.kernel = kernel;
          p.stride = stride;
          p.dilation = dilation;
          p.pad = pad;
          check(p, false);
        }
      }
    }
  }
}

TEST(Conv, GroupsAndDepthwise) {
  for (int64_t groups : {1, 2, 6, 12}) {
    for (int64_t stride : {1, 2}) {
      Plan p;
      p.batch = 2;
      p.channels = 12;
      p.filters = 24;
      p.groups = groups;
      p.stride = stride;
      check(p, false);
      check(p, true);
    }
  }
}

// Rows of a depthwise convolution that share what they read: tiles of four that overlap, strips of
// columns with a rest, kernels taller than a tile.
TEST(Conv, DepthwiseRowsShareTheirInput) {
  for_each_target([] {
    for (int64_t height : {4, 9, 24, 29}) {
      for (int64_t width : {17, 31, 33, 65, 100}) {
        for (int64_t kernel : {2, 3, 5, 7}) {
          if (kernel > height) continue;
          Plan p;
          p.batch = 2;
          p.channels = p.groups = 3;
          p.filters = 6;
          p.height = height;
          p.width = width;
          p.kernel = kernel;
          p.pad = kernel / 2;
          check(p, width == 33);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

Plan depthwise_blocks(int64_t channels, int64_t size, int64_t kernel, int64_t stride) {
  Plan p;
  p.batch = 2;
  p.channels = p.filters = p.groups = channels;
  p.height = size;
  p.width = size + 2;
  p.kernel = kernel;
  p.stride = stride;
  return p;
}

// Sixteen channels or more: whole blocks, and a last one that overlaps; planes smaller than a
// vector, windows that lie in the padding alone.
TEST(Conv, DepthwiseInBlocksOfChannels) {
  for_each_target([] {
    for (int64_t channels : {16, 17, 40}) {
      for (int64_t size : {1, 2, 7, 14, 33}) {
        for (int64_t kernel : {1, 2, 3, 5}) {
          for (int64_t stride : {1, 2, 3}) {
            Plan p = depthwise_blocks(channels, size, kernel, stride);
            for (int64_t pad : {int64_t{0}, kernel / 2, kernel + 1}) {
              p.pad = pad;
              p.dilation = pad == 0 ? 1 : 2;
              if (p.height + 2 * p.pad < (kernel - 1) * p.dilation + 1) continue;
              check(p, channels == 17);
              if (testing::Test::HasFatalFailure()) return;
            }
          }
        }
      }
    }
  });
}

// More rows than a band holds.
TEST(Conv, DepthwiseBlocksInBands) {
  for_each_target([] {
    for (int64_t stride : {1, 2}) {
      Plan p = depthwise_blocks(20, 90, 5, stride);
      p.width = stride == 1 ? 40 : 150;
      p.pad = 2;
      check(p, stride == 2);
    }
  });
}

TEST(Conv, DepthwiseBlocksOfOneAxisInFloat64) {
  constexpr int64_t kChannels = 19, kLength = 23;
  const std::vector<float> x = random_floats(kChannels * kLength, 1),
                           w = random_floats(kChannels * 3, 2);
  RegionRunner r;
  const int32_t ix =
      r.input(NEF_FLOAT64, {1, kChannels, kLength}, std::vector<double>(x.begin(), x.end()));
  const int32_t iw =
      r.constant(NEF_FLOAT64, {kChannels, 1, 3}, std::vector<double>(w.begin(), w.end()));
  const int32_t iy = r.output(NEF_FLOAT64, {1, kChannels, kLength});
  r.node(NEF_OP_CONV, {ix, iw}, {iy},
         ir::AttrBuilder(NEF_OP_CONV)
             .set_int(NEF_CONV_GROUP, kChannels)
             .set_ints(NEF_CONV_PADS, std::vector<int64_t>{1, 1})
             .build());
  const Outcome outcome = r.run();
  ASSERT_EQ(outcome.code, NEF_OK) << outcome.message;
  const auto got = r.result<double>(iy);
  for (int64_t i = 0; i < kChannels * kLength; ++i) {
    double want = 0;
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t at = i % kLength + k - 1;
      if (at < 0 || at >= kLength) continue;
      want += double{x[i / kLength * kLength + at]} * w[i / kLength * 3 + k];
    }
    ASSERT_NEAR(got[i], want, 1e-14) << i;
  }
}

TEST(Conv, FewOutputPositions) {
  for (int64_t size : {1, 2, 3}) {
    for (int64_t filters : {4, 35, 300}) {
      for (int64_t groups : {1, 5}) {
        if (filters % groups != 0) continue;
        Plan p;
        p.channels = 20;
        p.height = size;
        p.width = 2;
        p.filters = filters;
        p.groups = groups;
        check(p, false);
        check(p, true);
        p.kernel = 1;
        p.pad = 0;
        check(p, true);
      }
    }
  }
}

TEST(Conv, OneChannelWithManyFilters) {
  for (int64_t filters : {1, 3, 4, 40}) {
    for (int64_t stride : {1, 2, 7}) {
      Plan p;
      p.channels = 1;
      p.filters = filters;
      p.kernel = 9;
      p.height = 40;
      p.width = 50;
      p.stride = stride;
      check(p, true);
      p.pad = 0;
      check(p, false);
    }
  }
}

TEST(Conv, InputLargerThanACacheIsStagedInBands) {
  for (int64_t stride : {1, 2, 3}) {
    for (int64_t dilation : {1, 2}) {
      Plan p;
      p.channels = 40;
      p.filters = 6;
      p.height = 61;
      p.width = 67;
      p.kernel = 5;
      p.stride = stride;
      p.dilation = dilation;
      p.pad = 3;
      check(p, stride == 2);
      p.groups = p.channels = p.filters = 2;
      p.height = 301;
      p.width = 207;
      check(p, stride == 1);
    }
  }
}

TEST(Conv, OneLongRow) {
  for (int64_t dilation : {1, 5}) {
    for (int64_t filters : {3, 40}) {
      Plan p;
      p.batch = 2;
      p.channels = 9;
      p.filters = filters;
      p.height = 2 * dilation + 1;  // one row of output
      p.width = 700;
      p.dilation = dilation;
      p.pad = 0;
      check(p, filters == 3);
    }
  }
}

TEST(Conv, NarrowPlanes) {
  for (int64_t width : {1, 2, 3, 15, 16, 17}) {
    for (int64_t pad : {0, 1, 4}) {
      Plan p;
      p.batch = 2;
      p.channels = 7;
      p.filters = 30;
      p.height = 33;
      p.width = width;
      p.pad = pad;
      p.kernel = pad == 0 ? 1 : 3;
      check(p, pad == 1);
      p.dilation = pad == 4 ? 3 : 1;
      p.stride = 2;
      check(p, false);
    }
  }
}

TEST(Conv, ThreeByThreeOfManyChannelsByTransformedTiles) {
  for (int64_t height : {1, 2, 7, 40}) {
    for (int64_t width : {1, 5, 33, 64}) {
      for (int64_t pad : {0, 1, 2}) {
        if (std::min(height, width) + 2 * pad < 3) continue;
        Plan p;
        p.batch = 2;
        p.channels = 34;
        p.filters = 38;
        p.groups = 2;
        p.height = height;
        p.width = width;
        p.pad = pad;
        check(p, pad == 1);
      }
    }
  }
}

// What lies between rows of a staged plane is computed too, but nothing of it may be seen.
TEST(Conv, OneBadElementSpoilsItsWindowsOnly) {
  for (const auto& [channels, groups, filters] :
       {std::tuple{4, 4, 4}, std::tuple{4, 4, 64}, std::tuple{36, 2, 40}}) {
    Plan p;
    p.batch = 2;
    p.channels = channels;
    p.groups = groups;
    p.filters = filters;
    const int64_t depth = channels / groups;
    const auto w = random_floats(filters * depth * 9, 2), bias = random_floats(filters, 3);
    auto x = random_floats(p.batch * p.channels * p.height * p.width, 1);
    x[0] = std::nanf("");
    x[static_cast<size_t>(p.width * 4 - 1)] = INFINITY;
    const auto want = convolve(p, x, w, bias);
    const auto attrs = ir::AttrBuilder(NEF_OP_CONV)
                           .set_int(NEF_CONV_GROUP, p.groups)
                           .set_ints(NEF_CONV_PADS, std::vector<int64_t>(4, 1))
                           .build();
    RegionRunner r(NEF_REGION_SINGLE);
    const int32_t ix = r.floats({p.batch, p.channels, p.height, p.width}, x);
    const int32_t iw = r.constant(NEF_FLOAT32, {filters, depth, 3, 3}, w);
    const int32_t ib = r.constant(NEF_FLOAT32, {filters}, bias);
    const int32_t y = r.output(NEF_FLOAT32, {p.batch, filters, p.height, p.width});
    r.node(NEF_OP_CONV, {ix, iw, ib}, {y}, attrs);
    ASSERT_EQ(r.run().code, NEF_OK);
    const auto got = r.result<float>(y);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::isfinite(got[i]), std::isfinite(want[i])) << "element " << i;
      if (!std::isfinite(want[i])) continue;
      ASSERT_NEAR(got[i], want[i], 1e-5) << "element " << i;
    }
  }
}

TEST(Conv, DeepAndWideShapesAreTiled) {
  Plan p;
  p.channels = 130;
  p.filters = 70;
  p.height = 30;
  p.width = 31;
  check(p, true);
  p.channels = 700;  // one panel of packed input is larger than a tile
  p.filters = 17;
  p.height = p.width = 7;
  check(p, false);
  p.kernel = 1;
  p.pad = 0;
  check(p, true);
}

}  // namespace
}  // namespace nef::cpu_test
