// SPDX-License-Identifier: Apache-2.0
// Integer products: exact, wrapping.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/matmul.h"

namespace nef::cpu {
namespace {

constexpr int64_t kRowWork = 32 * 1024;

// alpha and beta of integers: a whole number multiplies exactly, others go through double and
// saturate.
template <typename T>
T scaled(T value, double factor) {
  using U = std::make_unsigned_t<T>;
  if (factor == std::floor(factor) && std::abs(factor) < 0x1p62) {
    return static_cast<T>(static_cast<U>(value) * static_cast<U>(static_cast<int64_t>(factor)));
  }
  const double product = static_cast<double>(value) * factor;
  if (std::isnan(product)) return 0;
  if (product <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  if (product >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(product);
}

template <typename T>
class IntegerMatmul final : public Prepared {
 public:
  IntegerMatmul(const ValueTable& values, const MatmulSpec& spec) : values_(values), spec_(spec) {}

  void launch(const Tensor* values, void*) const override {
    const MatmulShape s =
        matmul_shape(values[spec_.a].dims, values_.rank(spec_.a), values[spec_.b].dims,
                     values_.rank(spec_.b), spec_.trans_a, spec_.trans_b);
    const auto* a = static_cast<const T*>(values_.data(values, spec_.a));
    const auto* b = static_cast<const T*>(values_.data(values, spec_.b));
    auto* c = static_cast<T*>(values[spec_.out].data);
    const int64_t grain = std::max<int64_t>(1, kRowWork / std::max<int64_t>(1, s.k * s.n));
    parallel_for(s.batches * s.m, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t batch = row / s.m, i = row % s.m;
        multiply_row(s, a + s.a_matrix(batch) * s.m * s.k + i * s.a_row(),
                     b + s.b_matrix(batch) * s.k * s.n, c + row * s.n);
      }
    });
    if (spec_.bias >= 0 || spec_.alpha != 1) finish(values, c);
  }

 private:
  using U = std::make_unsigned_t<T>;  // wraps without undefined behaviour

  static void multiply_row(const MatmulShape& s, const T* a, const T* b, T* c) {
    std::fill_n(c, s.n, T(0));
    for (int64_t p = 0; p < s.k; ++p) {
      const U x = static_cast<U>(a[p * s.a_k()]);
      const T* src = b + p * s.b_row();
      const int64_t step = s.b_col();
      for (int64_t j = 0; j < s.n; ++j) {
        c[j] = static_cast<T>(static_cast<U>(c[j]) + x * static_cast<U>(src[j * step]));
      }
    }
  }

  // alpha, and the bias of a two-dimensional result.
  void finish(const Tensor* values, T* c) const {
    const int64_t m = values[spec_.out].dims[0], n = values[spec_.out].dims[1];
    int64_t row_step = 0, col_step = 0;
    const T* bias = nullptr;
    if (spec_.bias >= 0) {
      bias = static_cast<const T*>(values_.data(values, spec_.bias));
      const int64_t* dims = values[spec_.bias].dims;
      const int rank = values_.rank(spec_.bias);
      if (rank >= 1 && dims[rank - 1] != 1) col_step = 1;
      if (rank >= 2 && dims[rank - 2] != 1) row_step = dims[rank - 1];
    }
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        U v = static_cast<U>(scaled(c[i * n + j], spec_.alpha));
        if (bias != nullptr) {
          v += static_cast<U>(scaled(bias[i * row_step + j * col_step], spec_.beta));
        }
        c[i * n + j] = static_cast<T>(v);
      }
    }
  }

  ValueTable values_;
  MatmulSpec spec_;
};

class IntegerMatmulKernel final : public Kernel {
 public:
  IntegerMatmulKernel(const Region& region, const MatmulSpec& spec)
      : values_(region), spec_(spec) {}
  const char* name() const override { return "integer matmul"; }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    switch (values_.dtype(spec_.a)) {
      case NEF_INT32: return std::make_unique<IntegerMatmul<int32_t>>(values_, spec_);
      case NEF_UINT32: return std::make_unique<IntegerMatmul<uint32_t>>(values_, spec_);
      case NEF_INT64: return std::make_unique<IntegerMatmul<int64_t>>(values_, spec_);
      default: return std::make_unique<IntegerMatmul<uint64_t>>(values_, spec_);
    }
  }

 private:
  ValueTable values_;
  MatmulSpec spec_;
};

}  // namespace

std::unique_ptr<Kernel> make_integer_matmul(const Region& region, const MatmulSpec& spec) {
  return std::make_unique<IntegerMatmulKernel>(region, spec);
}

}  // namespace nef::cpu
