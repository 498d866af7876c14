// SPDX-License-Identifier: Apache-2.0
// Recurrent weights that are whole numbers times a scale, kept as bytes: the same numbers as
// floats.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/cpu/rnn_bytes.h"
#include "engine/ir/attrs.h"
#include "tests/unit/cpu/each_target.h"
#include "tests/unit/cpu/region_runner.h"

namespace nef::cpu_test {
namespace {

// Whole numbers of the whole range, times a scale of their row (or the same for all).
std::vector<float> quantised(int64_t rows, int64_t depth, bool by_row, uint32_t seed) {
  std::vector<float> w;
  const auto scales = random_floats(rows, seed + 1);
  for (float x : random_floats(rows * depth, seed)) {
    const auto row = static_cast<int64_t>(w.size()) / depth;
    const float scale = by_row ? 0.001f + 0.01f * std::abs(scales[row]) : 0.00440554f;
    w.push_back(std::nearbyint(x * 127.5f - 0.5f) * scale);
  }
  return w;
}

void check_product(int64_t rows, int64_t depth, int64_t m, bool by_row, float size) {
  SCOPED_TRACE(testing::Message() << rows << "x" << depth << " m " << m << " size " << size);
  auto w = quantised(rows, depth, by_row, 1);
  if (rows > 2) std::fill_n(w.begin() + depth, depth, 0.0f);
  cpu::ByteMatrix matrix;
  ASSERT_TRUE(matrix.pack(w.data(), rows, depth));
  auto a = random_floats(m * depth, 3);
  for (float& x : a) x *= size;
  auto scaled = a;
  for (float& x : scaled) x *= matrix.state_scale();
  std::vector<float> c(m * (rows + 3), -1);
  matrix.multiply(scaled.data(), depth, m, c.data(), rows + 3);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < rows; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += double{a[i * depth + k]} * w[j * depth + k];
        magnitude += std::abs(double{a[i * depth + k]} * w[j * depth + k]);
      }
      ASSERT_NEAR(c[i * (rows + 3) + j], sum, 1e-6 * magnitude) << i << " " << j;
    }
    for (int64_t j = rows; j < rows + 3; ++j) ASSERT_EQ(c[i * (rows + 3) + j], -1) << "beyond";
  }
}

TEST(RnnBytes, ProductsOnEveryTarget) {
  start_backend();
  for_each_target([] {
    for (bool by_row : {false, true}) {
      for (int64_t m : {1, 2, 3, 4, 5, 9}) {
        for (int64_t depth : {1, 3, 4, 7, 130}) {
          check_product(1, depth, m, by_row, 1);
          check_product(33, depth, m, by_row, 1);
          check_product(128, depth, m, by_row, 1);
        }
      }
      check_product(40, 64, 2, by_row, 2e35f);  // 127 times as large were infinite
    }
  });
}

TEST(RnnBytes, OthersAreNotPacked) {
  cpu::ByteMatrix matrix;
  EXPECT_FALSE(matrix.pack(random_floats(4 * 50, 1).data(), 4, 50));
  const auto with = [](float value) {
    auto w = quantised(4, 50, true, 1);
    w[3 * 50 + 7] = value;
    return w;
  };
  EXPECT_TRUE(matrix.pack(with(0).data(), 4, 50));
  for (float value : {NAN, INFINITY, 0.0123456f, 1000.0f}) {
    EXPECT_FALSE(matrix.pack(with(value).data(), 4, 50)) << value;
  }
  std::vector<float> tiny(50, 1e-40f);
  EXPECT_FALSE(matrix.pack(tiny.data(), 1, 50));
  std::vector<float> wide = {200, 1, 0, -3};  // 8 bits with a zero point at an end
  EXPECT_FALSE(matrix.pack(wide.data(), 1, 4));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Layer {
  int64_t gates, steps = 6, batch = 3, width = 5, hidden = 37;
  std::vector<float> x, w, r;

  explicit Layer(int64_t of) : gates(of) {
    x = random_floats(steps * batch * width, 5);
    w = random_floats(gates * hidden * width, 6);
    r = quantised(gates * hidden, hidden, true, 7);
  }
  // Row `i` of gate g: w x + r h.
  double sum(int64_t t, int64_t b, int64_t g, int64_t i, const std::vector<double>& h) const {
    return input(t, b, g, i) + behind(b, g, i, h);
  }
  double input(int64_t t, int64_t b, int64_t g, int64_t i) const {
    double out = 0;
    for (int64_t k = 0; k < width; ++k) {
      out += double{w[(g * hidden + i) * width + k]} * x[(t * batch + b) * width + k];
    }
    return out;
  }
  double behind(int64_t b, int64_t g, int64_t i, const std::vector<double>& h) const {
    double out = 0;
    for (int64_t k = 0; k < hidden; ++k) {
      out += double{r[(g * hidden + i) * hidden + k]} * h[b * hidden + k];
    }
    return out;
  }
  std::vector<float> run(nef_op op, const std::vector<int64_t>& attrs) const {
    RegionRunner region;
    const int32_t ix = region.floats({steps, batch, width}, x);
    const int32_t iw = region.constant(NEF_FLOAT32, {1, gates * hidden, width}, w);
    const int32_t ir = region.constant(NEF_FLOAT32, {1, gates * hidden, hidden}, r);
    const int32_t iy = region.output(NEF_FLOAT32, {steps, 1, batch, hidden});
    region.node(op, {ix, iw, ir}, {iy, -1, -1}, attrs);
    const Outcome outcome = region.run();
    EXPECT_EQ(outcome.code, NEF_OK) << outcome.message;
    return region.result<float>(iy);
  }
};

TEST(RnnBytes, Lstm) {
  const Layer l(4);
  const auto got = l.run(
      NEF_OP_LSTM, ir::AttrBuilder(NEF_OP_LSTM).set_int(NEF_LSTM_HIDDEN_SIZE, l.hidden).build());
  std::vector<double> h(l.batch * l.hidden), cell(h);
  for (int64_t t = 0; t < l.steps; ++t) {
    auto next = h;
    for (int64_t b = 0; b < l.batch; ++b) {
      for (int64_t i = 0; i < l.hidden; ++i) {
        double& c = cell[b * l.hidden + i];
        c = sigmoid(l.sum(t, b, 2, i, h)) * c +
            sigmoid(l.sum(t, b, 0, i, h)) * std::tanh(l.sum(t, b, 3, i, h));
        next[b * l.hidden + i] = sigmoid(l.sum(t, b, 1, i, h)) * std::tanh(c);
      }
    }
    h = next;
    for (int64_t i = 0; i < l.batch * l.hidden; ++i)
      ASSERT_NEAR(got[t * l.batch * l.hidden + i], h[i], 2e-6);
  }
}

TEST(RnnBytes, GruHasTwoParts) {
  for (int64_t behind : {0, 1}) {
    const Layer l(3);
    const auto got = l.run(NEF_OP_GRU, ir::AttrBuilder(NEF_OP_GRU)
                                           .set_int(NEF_GRU_HIDDEN_SIZE, l.hidden)
                                           .set_int(NEF_GRU_LINEAR_BEFORE_RESET, behind)
                                           .build());
    std::vector<double> h(l.batch * l.hidden);
    for (int64_t t = 0; t < l.steps; ++t) {
      auto next = h, passed = h;
      for (int64_t i = 0; i < l.batch * l.hidden; ++i) {
        passed[i] *= sigmoid(l.sum(t, i / l.hidden, 1, i % l.hidden, h));
      }
      for (int64_t at = 0; at < l.batch * l.hidden; ++at) {
        const int64_t b = at / l.hidden, i = at % l.hidden;
        const double z = sigmoid(l.sum(t, b, 0, i, h)), reset = sigmoid(l.sum(t, b, 1, i, h));
        const double part = behind != 0 ? reset * l.behind(b, 2, i, h) : l.behind(b, 2, i, passed);
        next[at] = (1 - z) * std::tanh(l.input(t, b, 2, i) + part) + z * h[at];
      }
      h = next;
      for (int64_t i = 0; i < l.batch * l.hidden; ++i)
        ASSERT_NEAR(got[t * l.batch * l.hidden + i], h[i], 2e-6);
    }
  }
}

}  // namespace
}  // namespace nef::cpu_test
