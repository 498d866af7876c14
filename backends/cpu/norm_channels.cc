// SPDX-License-Identifier: Apache-2.0
// Norms per channel of [N, C, ...]: BatchNormalization, InstanceNormalization,
// GroupNormalization, LRN; and MeanVarianceNormalization over any axes.
#include <cmath>

#include "backends/cpu/norm.h"
#include "backends/cpu/norm_lines.h"

namespace nef::cpu {
namespace {

struct ChannelNorm {
  nef_op op = NEF_OP_INVALID;
  std::vector<int32_t> inputs;
  int32_t y = -1;
  double epsilon = 1e-5;
  int64_t groups = 0;  // GroupNormalization
  int64_t size = 1;    // LRN
  double alpha = 1e-4, beta = 0.75, bias = 1;
  std::vector<int64_t> axes;  // MeanVarianceNormalization
};

template <typename T>
class ChannelNormPrepared final : public Prepared {
 public:
  ChannelNormPrepared(const ValueTable& values, const ChannelNorm& norm)
      : values_(values), norm_(norm), slots_(task_slots()) {}

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values);
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values);
    if (values_.count(values, x()) == 0) return;
    for (int i = 0; i < 4; ++i) {
      if (p.params[i] == nullptr) continue;
      const int32_t id = norm_.inputs[i + 1];
      load_row(values_.dtype(id), values_.data(values, id), 0, values_.count(values, id),
               p.params[i]);
    }
    switch (norm_.op) {
      case NEF_OP_BATCH_NORMALIZATION: return batch_norm(values, p);
      case NEF_OP_LRN: return lrn(values);
      case NEF_OP_MEAN_VARIANCE_NORMALIZATION: return mean_variance(values, p);
      default: return group_norm(values, p);
    }
  }

 private:
  struct Pieces {
    T* params[4] = {};  // inputs 1 to 4, as T
    void* lines = nullptr;
  };
  struct Shape {
    int64_t batch = 1, channels = 1, inner = 1;
  };

  int32_t x() const { return norm_.inputs[0]; }
  Shape shape(const Tensor* values) const {
    const int rank = values_.rank(x());
    const int64_t* dims = values[x()].dims;
    Shape s;
    if (rank > 0) s.batch = dims[0];
    if (rank > 1) s.channels = dims[1];
    for (int i = 2; i < rank; ++i) s.inner *= dims[i];
    return s;
  }
  int64_t groups(const Shape& s) const {
    return norm_.op == NEF_OP_GROUP_NORMALIZATION ? norm_.groups : s.channels;
  }
  Lines lines(const Tensor* values) const {
    const Shape s = shape(values);
    if (norm_.op == NEF_OP_BATCH_NORMALIZATION) {
      return s.inner == 1 ? Lines{s.batch, s.channels, 1} : Lines{s.batch * s.channels, s.inner, 1};
    }
    const int64_t count = groups(s);
    if (count == 0) return {};
    return {s.batch * count, s.channels / count * s.inner, 1};
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values) const {
    Pieces p;
    for (size_t i = 1; i < norm_.inputs.size() && i <= 4; ++i) {
      p.params[i - 1] = layout.take<T>(values_.count(values, norm_.inputs[i]));
    }
    p.lines = layout.take<char>(static_cast<int64_t>(line_bytes(values)));
    return p;
  }

  size_t line_bytes(const Tensor* values) const {
    if (norm_.op == NEF_OP_MEAN_VARIANCE_NORMALIZATION) {
      return static_cast<size_t>(slots_ * reduced_count(values)) * sizeof(T);
    }
    if (norm_.op == NEF_OP_LRN || is_native<T>(values_.dtype(x()))) return 0;
    const Shape s = shape(values);
    const int64_t longest = norm_.op == NEF_OP_BATCH_NORMALIZATION ? std::max(s.channels, s.inner)
                                                                   : lines(values).length;
    return lines_scratch<T>(slots_, longest, true);
  }

  template <typename Body>
  void each_line(const Tensor* values, const Pieces& p, const Body& body) const {
    run_lines<T>(lines(values), values_.dtype(x()), values_.data(values, x()),
                 values_.dtype(norm_.y), values[norm_.y].data, slots_, p.lines, body);
  }

  void batch_norm(const Tensor* values, const Pieces& p) const {
    const Shape s = shape(values);
    const T *scale = p.params[0], *bias = p.params[1], *mean = p.params[2];
    T* factor = p.params[3];  // the variance becomes scale / sqrt(variance + epsilon)
    for (int64_t c = 0; c < s.channels; ++c) {
      factor[c] = scale[c] / std::sqrt(factor[c] + static_cast<T>(norm_.epsilon));
    }
    const auto& ops = row_ops<T>();
    if (s.inner == 1) {
      each_line(values, p, [&](const T* x, T* y, int64_t) {
        for (int64_t c = 0; c < s.channels; ++c) y[c] = (x[c] - mean[c]) * factor[c] + bias[c];
      });
      return;
    }
    each_line(values, p, [&](const T* x, T* y, int64_t line) {
      const int64_t c = line % s.channels;
      ops.affine(x, s.inner, mean[c], factor[c], bias[c], y);
    });
  }

  void group_norm(const Tensor* values, const Pieces& p) const {
    const Shape s = shape(values);
    const int64_t count = groups(s), width = s.channels / count;
    const int64_t n = width * s.inner;
    const auto& ops = row_ops<T>();
    each_line(values, p, [&](const T* x, T* y, int64_t line) {
      const T mean = ops.sum(x, n) / static_cast<T>(n);
      const T variance = ops.sum_squares(x, n, mean) / static_cast<T>(n);
      const T inverse = T(1) / std::sqrt(variance + static_cast<T>(norm_.epsilon));
      const int64_t first = line % count * width;
      for (int64_t c = 0; c < width; ++c) {
        ops.affine(x + c * s.inner, s.inner, mean, inverse * p.params[0][first + c],
                   p.params[1][first + c], y + c * s.inner);
      }
    });
  }

  // Runs of neighbouring positions, channel by channel; the window is summed anew for each, so
  // that no error builds up.
  void lrn(const Tensor* values) const {
    constexpr int64_t kRun = 64;
    const Shape s = shape(values);
    const nef_dtype dtype = values_.dtype(x());
    const void* src = values_.data(values, x());
    void* dst = values[norm_.y].data;
    const int64_t before = (norm_.size - 1) / 2, after = norm_.size - 1 - before;
    const int64_t runs = (s.inner + kRun - 1) / kRun;
    const T alpha = static_cast<T>(norm_.alpha / static_cast<double>(norm_.size));
    const T bias = static_cast<T>(norm_.bias), beta = static_cast<T>(norm_.beta);
    parallel_for(s.batch * s.channels * runs, 8, [&](int64_t begin, int64_t end) {
      T squares[kRun], row[kRun];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t start = i % runs * kRun, n = std::min(kRun, s.inner - start);
        const int64_t channel = i / runs % s.channels;
        const int64_t base = i / runs * s.inner + start;
        std::fill_n(squares, n, T(0));
        const int64_t last = std::min(after, s.channels - 1 - channel);
        for (int64_t c = -std::min(before, channel); c <= last; ++c) {
          load_row(dtype, src, base + c * s.inner, n, row);
          for (int64_t j = 0; j < n; ++j) squares[j] += row[j] * row[j];
        }
        load_row(dtype, src, base, n, row);
        for (int64_t j = 0; j < n; ++j) row[j] /= std::pow(bias + alpha * squares[j], beta);
        store_row(dtype, row, n, dst, base);
      }
    });
  }

  bool reduced(int axis) const {
    const int rank = values_.rank(x());
    for (int64_t a : norm_.axes) {
      if (static_cast<int>(a < 0 ? a + rank : a) == axis) return true;
    }
    return false;
  }
  int64_t reduced_count(const Tensor* values) const {
    int64_t n = 1;
    for (int i = 0; i < values_.rank(x()); ++i) n *= reduced(i) ? values[x()].dims[i] : 1;
    return n;
  }

  // Calls f(offset, run, position) for the contiguous runs of the reduced elements that start at
  // `base`; `position` counts them.
  template <typename F>
  void each_run(const Tensor* values, int64_t base, const F& f) const {
    const int rank = values_.rank(x());
    const int64_t* dims = values[x()].dims;
    int64_t run = 1;
    int axis = rank - 1;
    for (; axis >= 0 && reduced(axis); --axis) run *= dims[axis];
    const int64_t runs = reduced_count(values) / run;
    int64_t strides[NEF_MAX_RANK];
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= dims[i];
    }
    for (int64_t r = 0; r < runs; ++r) {
      int64_t rest = r, offset = base;
      for (int i = axis; i >= 0; --i) {
        if (!reduced(i)) continue;
        offset += rest % dims[i] * strides[i];
        rest /= dims[i];
      }
      f(offset, run, r * run);
    }
  }

  void mean_variance(const Tensor* values, const Pieces& p) const {
    const int rank = values_.rank(x());
    const int64_t* dims = values[x()].dims;
    const nef_dtype dtype = values_.dtype(x());
    const void* src = values_.data(values, x());
    void* dst = values[norm_.y].data;
    const int64_t n = reduced_count(values);
    const int64_t kept = values_.count(values, x()) / n;
    const auto& ops = row_ops<T>();
    run_tasks(slots_, kept, [&](int64_t slot, int64_t task) {
      T* line = static_cast<T*>(p.lines) + slot * n;
      int64_t rest = task, base = 0, stride = 1;
      for (int i = rank - 1; i >= 0; --i) {
        if (!reduced(i)) {
          base += rest % dims[i] * stride;
          rest /= dims[i];
        }
        stride *= dims[i];
      }
      each_run(values, base, [&](int64_t offset, int64_t run, int64_t at) {
        load_row(dtype, src, offset, run, line + at);
      });
      const T mean = ops.sum(line, n) / static_cast<T>(n);
      const T deviation = std::sqrt(ops.sum_squares(line, n, mean) / static_cast<T>(n));
      ops.affine(line, n, mean, T(1) / (deviation + T(1e-9)), 0, line);
      each_run(values, base, [&](int64_t offset, int64_t run, int64_t at) {
        store_row(dtype, line + at, run, dst, offset);
      });
    });
  }

  ValueTable values_;
  ChannelNorm norm_;
  int64_t slots_;
};

class ChannelNormKernel final : public Kernel {
 public:
  ChannelNormKernel(const Region& region, const ChannelNorm& norm) : values_(region), norm_(norm) {}
  const char* name() const override { return "channel norm"; }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    if (values_.dtype(norm_.inputs[0]) == NEF_FLOAT64) {
      return std::make_unique<ChannelNormPrepared<double>>(values_, norm_);
    }
    return std::make_unique<ChannelNormPrepared<float>>(values_, norm_);
  }
  bool in_place(int32_t input, int32_t output) const override {
    return input == norm_.inputs[0] && output == norm_.y && norm_.op != NEF_OP_LRN;
  }

 private:
  ValueTable values_;
  ChannelNorm norm_;
};

std::unique_ptr<Kernel> make_channel_norm(const Region& region, std::string*) {
  const Node& node = region.nodes[0];
  const int64_t* attrs = node.attrs();
  ChannelNorm norm;
  norm.op = node.op;
  norm.inputs = node.inputs;
  norm.y = node.outputs[0];
  switch (node.op) {
    case NEF_OP_BATCH_NORMALIZATION:
      norm.epsilon = nef_attr_float(attrs, NEF_BATCH_NORMALIZATION_EPSILON, 1e-5);
      break;
    case NEF_OP_GROUP_NORMALIZATION:
      norm.epsilon = nef_attr_float(attrs, NEF_GROUP_NORMALIZATION_EPSILON, 1e-5);
      norm.groups = nef_attr_int(attrs, NEF_GROUP_NORMALIZATION_NUM_GROUPS, 1);
      break;
    case NEF_OP_INSTANCE_NORMALIZATION:
      norm.epsilon = nef_attr_float(attrs, NEF_INSTANCE_NORMALIZATION_EPSILON, 1e-5);
      break;
    case NEF_OP_LRN:
      norm.size = nef_attr_int(attrs, NEF_LRN_SIZE, 1);
      norm.alpha = nef_attr_float(attrs, NEF_LRN_ALPHA, 1e-4);
      norm.beta = nef_attr_float(attrs, NEF_LRN_BETA, 0.75);
      norm.bias = nef_attr_float(attrs, NEF_LRN_BIAS, 1);
      break;
    default:
      norm.axes = attr_ints(attrs, NEF_MEAN_VARIANCE_NORMALIZATION_AXES);
      if (norm.axes.empty()) norm.axes = {0, 2, 3};
  }
  return std::make_unique<ChannelNormKernel>(region, norm);
}

}  // namespace

void register_channel_norms() {
  for (nef_op op :
       {NEF_OP_BATCH_NORMALIZATION, NEF_OP_GROUP_NORMALIZATION, NEF_OP_INSTANCE_NORMALIZATION,
        NEF_OP_LRN, NEF_OP_MEAN_VARIANCE_NORMALIZATION}) {
    register_op(op, make_channel_norm);
  }
}

}  // namespace nef::cpu
