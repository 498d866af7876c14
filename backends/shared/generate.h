// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numbers>

#include "backends/shared/elements.h"

// Ops that make numbers: random ones, windows, filters; and small recurrences.
namespace nef::backends {

// ---- random numbers: a function of the seed and the place, so the same everywhere

inline uint64_t random_bits(uint64_t seed, uint64_t counter) {
  const auto mix = [](uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  return mix(mix(seed + 0x9e3779b97f4a7c15u) + (counter + 1) * 0x9e3779b97f4a7c15u);
}
// In [0, 1).
inline double random_unit(uint64_t seed, uint64_t counter) {
  return static_cast<double>(random_bits(seed, counter) >> 11) * 0x1p-53;
}
inline double random_normal(uint64_t seed, uint64_t counter) {
  const double u = 1 - random_unit(seed, 2 * counter), v = random_unit(seed, 2 * counter + 1);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

template <class Call, class Loop>
void random_tensor(const Call& c, const Loop& loop) {
  const auto y = c.out();
  const bool normal = c.op() == NEF_OP_RANDOM_NORMAL;
  const auto seed = static_cast<uint64_t>(
      c.attr_int(normal ? unsigned{NEF_RANDOM_NORMAL_SEED} : unsigned{NEF_RANDOM_UNIFORM_SEED}));
  const double low =
      normal ? c.attr_float(NEF_RANDOM_NORMAL_MEAN) : c.attr_float(NEF_RANDOM_UNIFORM_LOW);
  const double range = normal ? c.attr_float(NEF_RANDOM_NORMAL_SCALE, 1)
                              : c.attr_float(NEF_RANDOM_UNIFORM_HIGH, 1) - low;
  loop(y.count, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto counter = static_cast<uint64_t>(i);
      const double u = normal ? random_normal(seed, counter) : random_unit(seed, counter);
      put_number(y, i, low + range * u);
    }
  });
}

template <class Call, class Loop>
void bernoulli(const Call& c, const Loop& loop) {
  const auto x = c.in(0), y = c.out();
  const auto seed = static_cast<uint64_t>(c.attr_int(NEF_BERNOULLI_SEED));
  loop(y.count, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      put_number(y, i, random_unit(seed, static_cast<uint64_t>(i)) < number(x, i) ? 1 : 0);
    }
  });
}

template <class Call>
void multinomial(const Call& c) {
  const auto x = c.in(0), y = c.out();
  const auto seed = static_cast<uint64_t>(c.attr_int(NEF_MULTINOMIAL_SEED));
  const int64_t classes = x.dims[1], samples = y.dims[1];
  for (int64_t r = 0; r < x.dims[0]; ++r) {
    double top = -std::numeric_limits<double>::infinity(), total = 0;
    for (int64_t k = 0; k < classes; ++k) top = std::max(top, number(x, r * classes + k));
    for (int64_t k = 0; k < classes; ++k) total += std::exp(number(x, r * classes + k) - top);
    if (!(total > 0) || !std::isfinite(total)) {
      throw BackendError(NEF_OUT_OF_RANGE,
                         "Multinomial: row " + std::to_string(r) + " is no distribution");
    }
    for (int64_t s = 0; s < samples; ++s) {
      const auto counter = static_cast<uint64_t>(r * samples + s);
      double left = random_unit(seed, counter) * total;
      int64_t k = 0, last = 0;
      for (; k < classes; ++k) {
        const double weight = std::exp(number(x, r * classes + k) - top);
        if (weight > 0) last = k;
        if (left < weight) break;
        left -= weight;
      }
      put_integer(y, r * samples + s, std::min(k, classes - 1) == k ? k : last);
    }
  }
}

// ---- windows and filters

template <class Call>
void window_function(const Call& c) {
  const auto y = c.out();
  // The three windows have the same slots.
  const bool periodic = c.attr_int(NEF_HANN_WINDOW_PERIODIC, 1) != 0;
  const auto n = static_cast<double>(periodic ? y.count : y.count - 1);
  for (int64_t i = 0; i < y.count; ++i) {
    const double angle = n > 0 ? 2 * std::numbers::pi * static_cast<double>(i) / n : 0;
    double v = 0.5 - 0.5 * std::cos(angle);
    if (c.op() == NEF_OP_HAMMING_WINDOW) v = 25.0 / 46 - 21.0 / 46 * std::cos(angle);
    if (c.op() == NEF_OP_BLACKMAN_WINDOW) {
      v = 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
    }
    put_number(y, i, y.count == 1 ? 1 : v);
  }
}

template <class Call>
void mel_weight_matrix(const Call& c) {
  const auto y = c.out();
  const int64_t bands = y.dims[1], bins = y.dims[0];
  const auto length = static_cast<double>(integer(c.in(1), 0));
  const auto rate = static_cast<double>(integer(c.in(2), 0));
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  const double low = mel(number(c.in(3), 0)), high = mel(number(c.in(4), 0));
  const double step = (high - low) / static_cast<double>(bands + 2);
  const auto bin = [&](int64_t i) {
    const double f = 700 * (std::pow(10, (low + static_cast<double>(i) * step) / 2595) - 1);
    return std::floor((length + 1) * f / rate);
  };
  if (!(rate > 0) || !std::isfinite(bin(0)) || !std::isfinite(bin(bands + 1))) {
    throw BackendError(NEF_OUT_OF_RANGE,
                       "MelWeightMatrix: the edges and the sample rate give no finite bins");
  }
  for (int64_t i = 0; i < y.count; ++i) put_number(y, i, 0);
  for (int64_t b = 0; b < bands; ++b) {
    const double left = bin(b), center = bin(b + 1), right = bin(b + 2);
    for (int64_t j = 0; j < bins; ++j) {
      const auto x = static_cast<double>(j);
      double v = 0;
      if (x >= left && x <= center) v = center > left ? (x - left) / (center - left) : 1;
      if (x >= center && x < right) v = (right - x) / (right - center);
      if (v != 0) put_number(y, j * bands + b, v);
    }
  }
}

// ---- Det, CumProd, BitCast

template <class Call>
size_t det_scratch(const Call& c) {
  const auto n = static_cast<size_t>(c.in(0).dims[c.in(0).rank - 1]);
  return n * n * sizeof(double);
}

// Elimination with the largest pivot of each column.
template <class Call>
void det(const Call& c) {
  const auto x = c.in(0), y = c.out();
  const int64_t n = x.dims[x.rank - 1];
  auto* m = c.template scratch<double>();
  for (int64_t b = 0; b < y.count; ++b) {
    for (int64_t i = 0; i < n * n; ++i) m[i] = number(x, b * n * n + i);
    double result = 1;
    for (int64_t k = 0; k < n && result != 0; ++k) {
      int64_t pivot = k;
      for (int64_t i = k + 1; i < n; ++i) {
        if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
      }
      if (pivot != k) {
        std::swap_ranges(m + k * n, m + (k + 1) * n, m + pivot * n);
        result = -result;
      }
      result *= m[k * n + k];
      for (int64_t i = k + 1; i < n && result != 0; ++i) {
        const double factor = m[i * n + k] / m[k * n + k];
        for (int64_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
      }
    }
    put_number(y, b, result);
  }
}

template <class Call, class Loop>
void cum_prod(const Call& c, const Loop& loop) {
  const auto x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const int axis = axis_from_front(integer(c.in(1), 0), x.rank);
  if (axis < 0 || axis >= x.rank) {
    throw BackendError(NEF_OUT_OF_RANGE, "CumProd: the axis is outside the rank");
  }
  const int64_t length = x.dims[axis], inner = dims_product(x, axis + 1, x.rank);
  const bool exclusive = c.attr_int(NEF_CUMPROD_EXCLUSIVE) != 0;
  const bool reverse = c.attr_int(NEF_CUMPROD_REVERSE) != 0;
  const bool floats = element_is_float(x.dtype);
  loop(x.count / length, std::max<int64_t>(1, 1024 / length), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t base = line / inner * length * inner + line % inner;
      double product = 1;
      uint64_t whole = 1;
      for (int64_t k = 0; k < length; ++k) {
        const int64_t i = base + (reverse ? length - 1 - k : k) * inner;
        const double p = product;
        const uint64_t w = whole;
        if (floats) product *= number(x, i);
        else whole *= static_cast<uint64_t>(integer(x, i));
        if (floats) put_number(y, i, exclusive ? p : product);
        else put_integer(y, i, static_cast<int64_t>(exclusive ? w : whole));
      }
    }
  });
}

template <class Call>
void bit_cast(const Call& c) {
  const auto x = c.in(0), y = c.out();
  if (x.count > 0 && y.data != x.data) {
    std::memcpy(y.data, x.data, static_cast<size_t>(x.count) * dtype_size(x.dtype));
  }
}

template <class Call>
void require(const Call& c) {
  const auto x = c.in(0), condition = c.in(1), y = c.out();
  if (condition.count > 0 &&
      std::memchr(condition.data, 0, static_cast<size_t>(condition.count)) != nullptr) {
    throw BackendError(NEF_OUT_OF_RANGE, std::string(c.attr_string(NEF_REQUIRE_MESSAGE)));
  }
  if (x.count > 0 && y.data != x.data) {
    std::memcpy(y.data, x.data, static_cast<size_t>(x.count) * dtype_size(x.dtype));
  }
}

// ---- LinearAttention

// The state of every head, and its answer to one key.
template <class Call>
size_t linear_attention_scratch(const Call& c) {
  const auto state = c.out(1);
  return (static_cast<size_t>(state.count) +
          static_cast<size_t>(state.dims[0] * state.dims[1] * state.dims[3])) *
         sizeof(double);
}

template <class Call, class Loop>
void linear_attention(const Call& c, const Loop& loop) {
  const auto q = c.in(0), k = c.in(1), v = c.in(2), y = c.out(0), present = c.out(1);
  const int64_t steps = q.dims[1], heads = present.dims[1];
  const int64_t key = present.dims[2], value = present.dims[3];
  const int64_t q_heads = c.attr_int(NEF_LINEAR_ATTENTION_Q_NUM_HEADS), group = q_heads / heads;
  double scale = c.attr_float(NEF_LINEAR_ATTENTION_SCALE);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(key));
  auto* states = c.template scratch<double>();
  double* answers = states + present.count;
  const bool wide_decay = c.has(4) && c.in(4).dims[2] != heads;
  loop(present.dims[0] * heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t bh = begin; bh < end; ++bh) {
      const int64_t b = bh / heads, h = bh % heads;
      double *s = states + bh * key * value, *answer = answers + bh * value;
      for (int64_t i = 0; i < key * value; ++i) {
        s[i] = c.has(3) ? number(c.in(3), bh * key * value + i) : 0;
      }
      for (int64_t t = 0; t < steps; ++t) {
        const int64_t row = b * steps + t;
        for (int64_t d = 0; d < key && c.has(4); ++d) {
          const int64_t at = wide_decay ? (row * heads + h) * key + d : row * heads + h;
          const double decay = std::exp(number(c.in(4), at));
          for (int64_t m = 0; m < value; ++m) s[d * value + m] *= decay;
        }
        for (int64_t m = 0; m < value; ++m) answer[m] = number(v, (row * heads + h) * value + m);
        if (c.has(5)) {
          const auto beta = c.in(5);
          const double rate = number(beta, beta.dims[2] == 1 ? row : row * heads + h);
          for (int64_t d = 0; d < key; ++d) {
            const double kd = number(k, (row * heads + h) * key + d);
            for (int64_t m = 0; m < value; ++m) answer[m] -= s[d * value + m] * kd;
          }
          for (int64_t m = 0; m < value; ++m) answer[m] *= rate;
        }
        for (int64_t d = 0; d < key; ++d) {
          const double kd = number(k, (row * heads + h) * key + d);
          for (int64_t m = 0; m < value; ++m) s[d * value + m] += kd * answer[m];
        }
        for (int64_t g = 0; g < group; ++g) {
          const int64_t head = h * group + g;
          for (int64_t m = 0; m < value; ++m) answer[m] = 0;
          for (int64_t d = 0; d < key; ++d) {
            const double qd = number(q, (row * q_heads + head) * key + d);
            for (int64_t m = 0; m < value; ++m) answer[m] += qd * s[d * value + m];
          }
          for (int64_t m = 0; m < value; ++m) {
            put_number(y, (row * q_heads + head) * value + m, scale * answer[m]);
          }
        }
      }
      for (int64_t i = 0; i < key * value; ++i) put_number(present, bh * key * value + i, s[i]);
    }
  });
}

}  // namespace nef::backends
