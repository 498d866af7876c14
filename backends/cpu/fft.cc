// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/shared/modulo.h"

namespace nef::cpu {
namespace {

constexpr int64_t kLargestRadix = 31;

int64_t smallest_factor(int64_t n) {
  if (n % 4 == 0) return 4;
  for (int64_t p = 2; p <= kLargestRadix; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}
bool direct(int64_t n) {
  while (n > 1) {
    const int64_t p = smallest_factor(n);
    if (p > kLargestRadix) return false;
    n /= p;
  }
  return true;
}
int64_t padded_length(int64_t n) {
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  return m;
}

void fill_roots(int64_t n, Complex* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] =
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  }
}

// One pass of radix r over a transform of length n whose elements are `stride` apart; the roots
// are those of n * stride.
void pass(int64_t r, int64_t n, int64_t stride, const Complex* roots, const Complex* x,
          Complex* y) {
  const int64_t m = n / r, all = n * stride;
  Complex turn[kLargestRadix];
  for (int64_t k = 0; k < r; ++k) turn[k] = roots[k * (all / r)];
  for (int64_t p = 0; p < m; ++p) {
    for (int64_t k = 0; k < r; ++k) {
      const Complex root = roots[p * k * stride % all];
      for (int64_t q = 0; q < stride; ++q) {
        double re = 0, im = 0;
        int64_t at = 0;
        for (int64_t j = 0; j < r; ++j) {
          const Complex v = x[q + stride * (p + m * j)], w = turn[at];
          re += v.real() * w.real() - v.imag() * w.imag();
          im += v.real() * w.imag() + v.imag() * w.real();
          at += k;
          if (at >= r) at -= r;
        }
        y[q + stride * (r * p + k)] = {re * root.real() - im * root.imag(),
                                       re * root.imag() + im * root.real()};
      }
    }
  }
}

// In place, through `work` of n elements.
void transform(int64_t n, const Complex* roots, Complex* x, Complex* work) {
  Complex *from = x, *to = work;
  int64_t stride = 1;
  for (int64_t rest = n; rest > 1;) {
    const int64_t r = smallest_factor(rest);
    pass(r, rest, stride, roots, from, to);
    std::swap(from, to);
    rest /= r;
    stride *= r;
  }
  if (from != x) std::copy(from, from + n, x);
}

Complex times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

int64_t Fft::table_size(int64_t n) {
  if (direct(n)) return n;
  // Chirp, roots, filter, and room to transform the filter.
  return n + 3 * padded_length(n);
}
int64_t Fft::work_size(int64_t n) { return direct(n) ? n : 2 * padded_length(n); }

Fft::Fft(int64_t n, Complex* tables) : n_(n), roots_(tables) {
  if (direct(n)) {
    fill_roots(n, roots_);
    return;
  }
  padded_ = padded_length(n);
  chirp_ = tables;
  padded_roots_ = chirp_ + n;
  filter_ = padded_roots_ + padded_;
  fill_roots(padded_, padded_roots_);
  // exp(-pi i k^2 / n); k^2 modulo 2 n keeps the angle exact.
  for (int64_t k = 0; k < n; ++k) {
    const auto square = static_cast<double>(backends::product_modulo(k, k, 2 * n));
    chirp_[k] = std::polar(1.0, -std::numbers::pi * square / static_cast<double>(n));
  }
  std::fill(filter_, filter_ + padded_, Complex{});
  for (int64_t k = 0; k < n; ++k) {
    filter_[k] = std::conj(chirp_[k]);
    if (k > 0) filter_[padded_ - k] = filter_[k];
  }
  transform(padded_, padded_roots_, filter_, filter_ + padded_);
}

void Fft::convolve(Complex* x, Complex* work) const {
  Complex* spectrum = work;
  for (int64_t k = 0; k < n_; ++k) spectrum[k] = times(x[k], chirp_[k]);
  std::fill(spectrum + n_, spectrum + padded_, Complex{});
  transform(padded_, padded_roots_, spectrum, work + padded_);
  // Conjugating before and after makes the forward transform an inverse one.
  for (int64_t k = 0; k < padded_; ++k) spectrum[k] = std::conj(times(spectrum[k], filter_[k]));
  transform(padded_, padded_roots_, spectrum, work + padded_);
  const double scale = 1.0 / static_cast<double>(padded_);
  for (int64_t k = 0; k < n_; ++k) x[k] = times(std::conj(spectrum[k]) * scale, chirp_[k]);
}

void Fft::forward(Complex* x, Complex* work) const {
  if (padded_ != 0) return convolve(x, work);
  transform(n_, roots_, x, work);
}

void Fft::inverse(Complex* x, Complex* work) const {
  for (int64_t k = 0; k < n_; ++k) x[k] = std::conj(x[k]);
  forward(x, work);
  const double scale = 1.0 / static_cast<double>(n_);
  for (int64_t k = 0; k < n_; ++k) x[k] = std::conj(x[k]) * scale;
}

}  // namespace nef::cpu
