// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_epilogue_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/gemm_epilogue.h"
#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // units share the target's namespace

// A block of the result: rows `ld` apart.
template <typename T>
struct Block {
  T* c;
  int64_t rows, cols, ld;
};

template <class D, class F>
HWY_INLINE void map_row(D d, hn::TFromD<D>* HWY_RESTRICT c, int64_t n, const F& f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) hn::StoreU(f(hn::LoadU(d, c + j), j), d, c + j);
  if (j == n) return;
  const size_t rest = static_cast<size_t>(n - j);
  hn::StoreN(f(hn::LoadN(d, c + j, rest), j), d, c + j, rest);
}

// Unary steps. NaN passes through kRelu and kClip, as through the ops of that name.
template <class D, class T = hn::TFromD<D>>
void unary(D d, EpilogueOp op, T p0, T p1, const Block<T>& block) {
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, T(1));
  const auto a = hn::Set(d, p0), b = hn::Set(d, p1);
  const auto map = [&](const auto& f) {
    for (int64_t i = 0; i < block.rows; ++i) {
      map_row(d, block.c + i * block.ld, block.cols,
              [&](auto x, int64_t) HWY_ATTR { return f(x); });
    }
  };
  switch (op) {
    case EpilogueOp::kSquare: return map([&](auto x) HWY_ATTR { return hn::Mul(x, x); });
    case EpilogueOp::kScale: return map([&](auto x) HWY_ATTR { return hn::Mul(x, a); });
    case EpilogueOp::kRelu:
      return map([&](auto x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), zero, x); });
    case EpilogueOp::kLeakyRelu:
      return map([&](auto x)
                     HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(x, a), x); });
    case EpilogueOp::kClip:
      return map([&](auto x) HWY_ATTR {
        const auto y = hn::IfThenElse(hn::Lt(x, a), a, x);
        return hn::IfThenElse(hn::Gt(y, b), b, y);
      });
    case EpilogueOp::kNeg: return map([&](auto x) HWY_ATTR { return hn::Neg(x); });
    case EpilogueOp::kAbs: return map([&](auto x) HWY_ATTR { return hn::Abs(x); });
    case EpilogueOp::kSqrt: return map([&](auto x) HWY_ATTR { return hn::Sqrt(x); });
    case EpilogueOp::kReciprocal: return map([&](auto x) HWY_ATTR { return hn::Div(one, x); });
    case EpilogueOp::kHardSigmoid:
      return map([&](auto x) HWY_ATTR {
        const auto y = hn::MulAdd(x, a, b);
        const auto low = hn::IfThenElse(hn::Lt(y, zero), zero, y);
        return hn::IfThenElse(hn::Gt(low, one), one, low);
      });
    case EpilogueOp::kHardSwish:
      return map([&](auto x) HWY_ATTR {
        const auto y = hn::MulAdd(x, hn::Set(d, T(1) / T(6)), hn::Set(d, T(0.5)));
        const auto low = hn::IfThenElse(hn::Lt(y, zero), zero, y);
        return hn::Mul(x, hn::IfThenElse(hn::Gt(low, one), one, low));
      });
    default: break;
  }
  if constexpr (sizeof(T) == 4) {
    switch (op) {
      case EpilogueOp::kGelu: return map([&](auto x) HWY_ATTR { return gelu(d, x); });
      case EpilogueOp::kGeluTanh: return map([&](auto x) HWY_ATTR { return gelu_tanh(d, x); });
      case EpilogueOp::kSilu:
        return map([&](auto x) HWY_ATTR { return hn::Mul(x, sigmoid(d, hn::Mul(x, a))); });
      case EpilogueOp::kSigmoid: return map([&](auto x) HWY_ATTR { return sigmoid(d, x); });
      case EpilogueOp::kTanh: return map([&](auto x) HWY_ATTR { return tanh(d, x); });
      case EpilogueOp::kErf: return map([&](auto x) HWY_ATTR { return erf(d, x); });
      case EpilogueOp::kExp: return map([&](auto x) HWY_ATTR { return exp(d, x); });
      default: break;
    }
  }
}

template <class D, class T = hn::TFromD<D>, class F>
HWY_INLINE void with_operand(D d, const T* operand, int64_t col_stride, T* c, int64_t n,
                             const F& f) {
  if (col_stride == 0) {
    const auto y = hn::Set(d, operand[0]);
    map_row(d, c, n, [&](auto x, int64_t) HWY_ATTR { return f(x, y); });
    return;
  }
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  map_row(d, c, n, [&](auto x, int64_t j) HWY_ATTR {
    const bool full = j + lanes <= n;
    return f(x, full ? hn::LoadU(d, operand + j)
                     : hn::LoadN(d, operand + j, static_cast<size_t>(n - j)));
  });
}

template <typename T>
int64_t operand_row(const EpilogueOperand<T>& operand, int64_t row) {
  if (operand.row_stride != EpilogueOperand<T>::kGeneral) return row * operand.row_stride;
  int64_t offset = 0;
  for (int i = operand.rank - 1; i >= 0; --i) {
    offset += row % operand.dims[i] * operand.strides[i];
    row /= operand.dims[i];
  }
  return offset;
}

// NaN of either side wins in kMax and kMin.
template <class D, class T = hn::TFromD<D>>
void binary(D d, EpilogueOp op, T scale, const EpilogueOperand<T>& operand, int64_t row,
            int64_t col, const Block<T>& block) {
  const auto s = hn::Set(d, scale);
  const auto map = [&](const auto& f) {
    for (int64_t i = 0; i < block.rows; ++i) {
      const T* data = operand.data + operand_row(operand, row + i) + col * operand.col_stride;
      with_operand(d, data, operand.col_stride, block.c + i * block.ld, block.cols, f);
    }
  };
  switch (op) {
    case EpilogueOp::kAdd:
      if (scale == T(1)) return map([&](auto x, auto y) HWY_ATTR { return hn::Add(x, y); });
      return map([&](auto x, auto y) HWY_ATTR { return hn::MulAdd(y, s, x); });
    case EpilogueOp::kSub: return map([&](auto x, auto y) HWY_ATTR { return hn::Sub(x, y); });
    case EpilogueOp::kReverseSub:
      return map([&](auto x, auto y) HWY_ATTR { return hn::Sub(y, x); });
    case EpilogueOp::kMul: return map([&](auto x, auto y) HWY_ATTR { return hn::Mul(x, y); });
    case EpilogueOp::kDiv: return map([&](auto x, auto y) HWY_ATTR { return hn::Div(x, y); });
    case EpilogueOp::kReverseDiv:
      return map([&](auto x, auto y) HWY_ATTR { return hn::Div(y, x); });
    case EpilogueOp::kMax:
      return map([&](auto x, auto y)
                     HWY_ATTR { return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Gt(x, y)), x, y); });
    case EpilogueOp::kMin:
      return map([&](auto x, auto y)
                     HWY_ATTR { return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Lt(x, y)), x, y); });
    default: break;
  }
}

template <typename T>
void run(const EpilogueRun<T>& e, int64_t row, int64_t col, int64_t rows, int64_t cols, T* c,
         int64_t ldc) {
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  // Step by step over as many rows as stay in L1.
  constexpr int64_t kElements = 16 * 1024 / sizeof(T);
  const int64_t most = std::max<int64_t>(1, kElements / std::max<int64_t>(1, cols));
  for (int64_t i = 0; i < rows; i += most) {
    const Block<T> block = {c + i * ldc, std::min(most, rows - i), cols, ldc};
    for (int s = 0; s < e.count; ++s) {
      if (e.operands[s].data == nullptr) {
        unary(d, e.ops[s], e.p0[s], e.p1[s], block);
      } else {
        binary(d, e.ops[s], e.p0[s], e.operands[s], row + i, col, block);
      }
    }
  }
}
void run_float(const EpilogueRun<float>& e, int64_t row, int64_t col, int64_t rows, int64_t cols,
               float* c, int64_t ldc) {
  run(e, row, col, rows, cols, c, ldc);
}
void run_double(const EpilogueRun<double>& e, int64_t row, int64_t col, int64_t rows, int64_t cols,
                double* c, int64_t ldc) {
  run(e, row, col, rows, cols, c, ldc);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(run_float);
HWY_EXPORT(run_double);
template <>
void run_epilogue<float>(const void* context, int64_t row, int64_t col, int64_t rows, int64_t cols,
                         float* c, int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(run_float)
  (*static_cast<const EpilogueRun<float>*>(context), row, col, rows, cols, c, ldc);
}
template <>
void run_epilogue<double>(const void* context, int64_t row, int64_t col, int64_t rows, int64_t cols,
                          double* c, int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(run_double)
  (*static_cast<const EpilogueRun<double>*>(context), row, col, rows, cols, c, ldc);
}
}  // namespace nef::cpu
#endif
