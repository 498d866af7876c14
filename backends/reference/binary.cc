// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of two or more broadcast tensors.
#include <cmath>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// f(out_index, a_index, b_index) for every element of the output.
template <typename F>
void for_pairs(const View& y, const View& a, const View& b, F f) {
  if (y.count == 0) return;
  const Strides sa = broadcast_strides(a, y.rank), sb = broadcast_strides(b, y.rank);
  Coords at(y.dims, y.rank);
  for (int64_t i = 0; i < y.count; ++i, at.next()) f(i, sa.offset(at), sb.offset(at));
}

// y = f(a, b) in the domain of a's dtype; the result may be bool.
template <typename F>
void combine(const Call& c, F f) {
  const View a = c.in(0), b = c.in(1), y = c.out();
  with_domain(a.dtype, [&]<typename D>(D) {
    for_pairs(y, a, b, [&](int64_t i, int64_t ia, int64_t ib) {
      const auto r = f(load<D>(a, ia), load<D>(b, ib));
      if constexpr (std::is_same_v<decltype(r), const bool>) store_int(y, i, r);
      else store<D>(y, i, r);
    });
  });
}

template <typename D>
D divide(D a, D b) {
  if constexpr (std::is_same_v<D, double>) return a / b;
  if (b == 0) return 0;
  if constexpr (std::is_same_v<D, int64_t>) {
    if (b == -1) return subtract<D>(0, a);
  }
  return a / b;
}

// Remainder of truncated division, which has the sign of a.
template <typename D>
D truncated_mod(D a, D b) {
  if constexpr (std::is_same_v<D, double>) return std::fmod(a, b);
  else if constexpr (std::is_same_v<D, int64_t>) return b == 0 || b == -1 ? 0 : a % b;
  else return b == 0 ? 0 : a % b;
}
// Remainder of floored division, which has the sign of b.
template <typename D>
D floored_mod(D a, D b) {
  const D r = truncated_mod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

void run_mod(const Call& c) {
  if (c.attr_int(NEF_MOD_FMOD) != 0) combine(c, [](auto a, auto b) { return truncated_mod(a, b); });
  else combine(c, [](auto a, auto b) { return floored_mod(a, b); });
}

template <typename D>
D integer_power(D base, uint64_t exponent) {
  D result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

template <typename D>
D power_of_int(D base, const View& b, int64_t ib) {
  const int64_t exponent = load_int(b, ib);
  if (is_unsigned(b.dtype) || exponent >= 0) {
    return integer_power(base, static_cast<uint64_t>(exponent));
  }
  if (base == 1) return 1;
  if constexpr (std::is_same_v<D, int64_t>) {
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  }
  return 0;
}

void run_pow(const Call& c) {
  const View a = c.in(0), b = c.in(1), y = c.out();
  with_domain(a.dtype, [&]<typename D>(D) {
    for_pairs(y, a, b, [&](int64_t i, int64_t ia, int64_t ib) {
      if constexpr (std::is_same_v<D, double>) {
        store_float(y, i, std::pow(load_float(a, ia), load_float(b, ib)));
      } else if (is_float(b.dtype)) {
        store_int(y, i, saturate(std::pow(load_float(a, ia), load_float(b, ib)), y.dtype));
      } else {
        store<D>(y, i, power_of_int(load<D>(a, ia), b, ib));
      }
    });
  });
}

void run_bit_shift(const Call& c) {
  const bool left = c.attr_string(NEF_BIT_SHIFT_DIRECTION) == "LEFT";
  const uint64_t width = c.in(0).element_size() * 8;
  combine(c, [=](auto a, auto b) {
    using D = decltype(a);
    if constexpr (std::is_same_v<D, uint64_t>) {
      if (b >= width) return D{0};
      return left ? a << b : a >> b;
    } else if constexpr (std::is_same_v<D, int64_t>) {
      // Arithmetic to the right; a negative count is one beyond every width.
      const bool beyond = b < 0 || static_cast<uint64_t>(b) >= width;
      if (left) return beyond ? D{0} : static_cast<D>(static_cast<uint64_t>(a) << b);
      return beyond ? D{a < 0 ? -1 : 0} : a >> b;
    } else {
      return D{0};
    }
  });
}

template <typename F>
void combine_bits(const Call& c, F f) {
  const View a = c.in(0), b = c.in(1), y = c.out();
  for_pairs(y, a, b, [&](int64_t i, int64_t ia, int64_t ib) {
    store_int(y, i, f(load_int(a, ia), load_int(b, ib)));
  });
}

// Any number of inputs: folds f over them, then finishes with the count.
template <typename F, typename Finish>
void fold_inputs(const Call& c, F f, Finish finish) {
  const View y = c.out();
  if (y.count == 0) return;
  with_domain(y.dtype, [&]<typename D>(D) {
    Coords at(y.dims, y.rank);
    for (int64_t i = 0; i < y.count; ++i, at.next()) {
      D sum{};
      for (size_t k = 0; k < c.n_inputs(); ++k) {
        const View x = c.in(k);
        const D v = load<D>(x, broadcast_strides(x, y.rank).offset(at));
        sum = k == 0 ? v : f(sum, v);
      }
      store<D>(y, i, finish(sum));
    }
  });
}
constexpr auto kNoFinish = [](auto v) { return v; };

void run_max(const Call& c) {
  fold_inputs(
      c, [](auto a, auto b) { return larger(a, b); }, kNoFinish);
}
void run_min(const Call& c) {
  fold_inputs(
      c, [](auto a, auto b) { return smaller(a, b); }, kNoFinish);
}
void run_sum(const Call& c) {
  fold_inputs(
      c, [](auto a, auto b) { return add(a, b); }, kNoFinish);
}
void run_mean(const Call& c) {
  const auto n = static_cast<double>(c.n_inputs());
  fold_inputs(
      c, [](auto a, auto b) { return add(a, b); },
      [n](auto v) { return static_cast<decltype(v)>(static_cast<double>(v) / n); });
}

void run_add(const Call& c) {
  combine(c, [](auto a, auto b) { return add(a, b); });
}
void run_sub(const Call& c) {
  combine(c, [](auto a, auto b) { return subtract(a, b); });
}
void run_mul(const Call& c) {
  combine(c, [](auto a, auto b) { return multiply(a, b); });
}
void run_div(const Call& c) {
  combine(c, [](auto a, auto b) { return divide(a, b); });
}
void run_equal(const Call& c) {
  combine(c, [](auto a, auto b) { return a == b; });
}
void run_greater(const Call& c) {
  combine(c, [](auto a, auto b) { return a > b; });
}
void run_greater_equal(const Call& c) {
  combine(c, [](auto a, auto b) { return a >= b; });
}
void run_less(const Call& c) {
  combine(c, [](auto a, auto b) { return a < b; });
}
void run_less_equal(const Call& c) {
  combine(c, [](auto a, auto b) { return a <= b; });
}
void run_and(const Call& c) {
  combine_bits(c, [](int64_t a, int64_t b) { return a & b; });
}
void run_or(const Call& c) {
  combine_bits(c, [](int64_t a, int64_t b) { return a | b; });
}
void run_xor(const Call& c) {
  combine_bits(c, [](int64_t a, int64_t b) { return a ^ b; });
}
void run_prelu(const Call& c) {
  combine(c, [](auto x, auto slope) { return x >= 0 ? x : multiply(slope, x); });
}

constexpr Kernel kKernels[] = {
    {NEF_OP_ADD, run_add},
    {NEF_OP_SUB, run_sub},
    {NEF_OP_MUL, run_mul},
    {NEF_OP_DIV, run_div},
    {NEF_OP_MOD, run_mod},
    {NEF_OP_POW, run_pow},
    {NEF_OP_PRELU, run_prelu},
    {NEF_OP_EQUAL, run_equal},
    {NEF_OP_GREATER, run_greater},
    {NEF_OP_GREATER_OR_EQUAL, run_greater_equal},
    {NEF_OP_LESS, run_less},
    {NEF_OP_LESS_OR_EQUAL, run_less_equal},
    {NEF_OP_AND, run_and},
    {NEF_OP_OR, run_or},
    {NEF_OP_XOR, run_xor},
    {NEF_OP_BITWISE_AND, run_and},
    {NEF_OP_BITWISE_OR, run_or},
    {NEF_OP_BITWISE_XOR, run_xor},
    {NEF_OP_BIT_SHIFT, run_bit_shift},
    {NEF_OP_MAX, run_max},
    {NEF_OP_MIN, run_min},
    {NEF_OP_SUM, run_sum},
    {NEF_OP_MEAN, run_mean},
};

}  // namespace

std::span<const Kernel> binary_kernels() { return kKernels; }

}  // namespace nef::reference
