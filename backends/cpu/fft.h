// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>

// Fourier transforms of any length, in double.
namespace nef::cpu {

using Complex = std::complex<double>;

// A transform of length n: its tables lie in memory of the caller, so that a launch allocates
// nothing. Lengths with a large prime factor go through a convolution of a power of two.
class Fft {
 public:
  // Elements that the tables of a length take, and each transform's work memory.
  static int64_t table_size(int64_t n);
  static int64_t work_size(int64_t n);

  Fft(int64_t n, Complex* tables);
  // x becomes its transform, sum over k of x[k] exp(-2 pi i j k / n). Safe from many threads.
  void forward(Complex* x, Complex* work) const;
  // With exp(+...), divided by n.
  void inverse(Complex* x, Complex* work) const;

 private:
  void convolve(Complex* x, Complex* work) const;

  int64_t n_, padded_ = 0;  // padded_: length of the convolution, 0 = direct
  Complex *roots_, *padded_roots_ = nullptr, *chirp_ = nullptr, *filter_ = nullptr;
};

}  // namespace nef::cpu
