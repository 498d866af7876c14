// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, Hardmax, LpNormalization: one line in, one line out.
#include <cmath>
#include <limits>

#include "backends/cpu/norm.h"
#include "backends/cpu/norm_lines.h"
#include "backends/cpu/softmax_kernels.h"

namespace nef::cpu {
namespace {

template <typename T>
void hardmax_line(const T* x, T* y, int64_t n) {
  const T most = row_ops<T>().max(x, n);
  int64_t hit = 0;
  while (hit < n - 1 && !(x[hit] == most || std::isnan(x[hit]))) ++hit;
  std::fill_n(y, n, T(0));
  y[hit] = 1;
}

template <typename T>
void log_softmax_line(const T* x, T* y, int64_t n) {
  const auto& ops = row_ops<T>();
  const T most = ops.max(x, n);
  const T log_sum = std::log(ops.exp_shifted(x, n, most, nullptr));
  ops.normalize(x, n, most, 1, nullptr, nullptr, y);
  ops.scale_shift(y, n, 1, -log_sum, y);
}

template <typename T>
void lp_line(const T* x, T* y, int64_t n, bool squares) {
  const auto& ops = row_ops<T>();
  const T norm = squares ? std::sqrt(ops.sum_squares(x, n, 0)) : ops.sum_abs(x, n);
  if (norm == 0) {
    std::fill_n(y, n, T(0));
    return;
  }
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / norm;
}

struct LineOp {
  nef_op op;
  int64_t axis = -1;
  bool flag = false;  // Softmax: masked rows give 0; LpNormalization: p is 2
};

template <typename T>
class LinePrepared final : public Prepared {
 public:
  LinePrepared(const ValueTable& values, const LineOp& op, int32_t in, int32_t out)
      : values_(values), op_(op), in_(in), out_(out), slots_(task_slots()) {}

  size_t scratch_bytes(const Tensor* values) const override {
    const bool contiguous = op_.axis == -1 || op_.axis == values_.rank(in_) - 1;
    return lines_scratch<T>(slots_, lines(values).length, contiguous);
  }
  void launch(const Tensor* values, void* scratch) const override {
    const Lines l = lines(values);
    const int64_t n = l.length;
    run_lines<T>(l, values_.dtype(in_), values_.data(values, in_), values_.dtype(out_),
                 values[out_].data, slots_, scratch, [&](const T* x, T* y, int64_t) {
                   switch (op_.op) {
                     case NEF_OP_SOFTMAX: return softmax_line(x, y, n, op_.flag);
                     case NEF_OP_LOG_SOFTMAX: return log_softmax_line(x, y, n);
                     case NEF_OP_HARDMAX: return hardmax_line(x, y, n);
                     default: return lp_line(x, y, n, op_.flag);
                   }
                 });
  }

 private:
  Lines lines(const Tensor* values) const {
    return lines_along(values[in_].dims, values_.rank(in_), op_.axis);
  }
  ValueTable values_;
  LineOp op_;
  int32_t in_, out_;
  int64_t slots_;
};

class LineKernel final : public Kernel {
 public:
  LineKernel(const Region& region, const LineOp& op)
      : values_(region),
        op_(op),
        in_(region.nodes[0].inputs[0]),
        out_(region.nodes[0].outputs[0]) {}
  const char* name() const override { return "lines"; }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    if (values_.dtype(in_) == NEF_FLOAT64) {
      return std::make_unique<LinePrepared<double>>(values_, op_, in_, out_);
    }
    return std::make_unique<LinePrepared<float>>(values_, op_, in_, out_);
  }
  // Each line is read to its end before it is written.
  bool in_place(int32_t input, int32_t output) const override {
    return input == in_ && output == out_ && op_.op != NEF_OP_HARDMAX;
  }

 private:
  ValueTable values_;
  LineOp op_;
  int32_t in_, out_;
};

std::unique_ptr<Kernel> make_lines(const Region& region, std::string* why) {
  const Node& node = region.nodes[0];
  const int64_t* attrs = node.attrs();
  LineOp op{node.op};
  switch (node.op) {
    case NEF_OP_SOFTMAX:
      op.axis = nef_attr_int(attrs, NEF_SOFTMAX_AXIS, -1);
      op.flag = nef_attr_int(attrs, NEF_SOFTMAX_ZERO_MASKED_ROWS, 0) != 0;
      break;
    case NEF_OP_LOG_SOFTMAX: op.axis = nef_attr_int(attrs, NEF_LOG_SOFTMAX_AXIS, -1); break;
    case NEF_OP_HARDMAX: op.axis = nef_attr_int(attrs, NEF_HARDMAX_AXIS, -1); break;
    default: {
      op.axis = nef_attr_int(attrs, NEF_LP_NORMALIZATION_AXIS, -1);
      const int64_t p = nef_attr_int(attrs, NEF_LP_NORMALIZATION_P, 2);
      if (p != 1 && p != 2) {
        *why = "LpNormalization: p is " + std::to_string(p) + ", expected 1 or 2";
        return nullptr;
      }
      op.flag = p == 2;
    }
  }
  return std::make_unique<LineKernel>(region, op);
}

}  // namespace

template <typename T>
void softmax_line(const T* x, T* y, int64_t n, bool zero_masked) {
  constexpr T kLow = -std::numeric_limits<T>::infinity();
  if (zero_masked && row_ops<T>().max(x, n) == kLow) {
    std::fill_n(y, n, T(0));
    return;
  }
  softmax_ops<T>().row(x, n, y);
}
template void softmax_line<float>(const float*, float*, int64_t, bool);
template void softmax_line<double>(const double*, double*, int64_t, bool);

void register_softmax() {
  for (nef_op op : {NEF_OP_SOFTMAX, NEF_OP_LOG_SOFTMAX, NEF_OP_HARDMAX, NEF_OP_LP_NORMALIZATION}) {
    register_op(op, make_lines);
  }
}

}  // namespace nef::cpu
