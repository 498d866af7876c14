// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization, alone or after a residual addition.
#include "backends/cpu/norm.h"

#include <cmath>
#include <limits>

#include "backends/cpu/norm_lines.h"

namespace nef::cpu {
namespace {

struct RowNorm {
  bool rms = false;
  int64_t axis = -1;
  double epsilon = 1e-5;
  int32_t x = -1, residual = -1;  // the line is x, or x + residual
  int32_t scale = -1, bias = -1;
  int32_t y = -1, mean = -1, inverse = -1;
};

template <typename T>
class RowNormPrepared final : public Prepared {
 public:
  RowNormPrepared(const ValueTable& values, const RowNorm& norm)
      : values_(values), norm_(norm), slots_(task_slots()) {}

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values);
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values);
    const Lines l = lines(values);
    const Weights scale = weights(values, norm_.scale, l, p.scale);
    const Weights bias = weights(values, norm_.bias, l, p.bias);
    if (l.length == 0) return fill_moments(values, l);
    const void* residual = norm_.residual < 0 ? nullptr : values_.data(values, norm_.residual);
    if (residual != nullptr) check_residual(values);
    const auto& ops = row_ops<T>();
    run_lines<T>(l, values_.dtype(norm_.x), values_.data(values, norm_.x), values_.dtype(norm_.y),
                 values[norm_.y].data, slots_, p.lines, [&](const T* x, T* y, int64_t line) {
                   if (residual != nullptr) {
                     const T* other = static_cast<const T*>(residual) + line * l.length;
                     ops.add(x, other, l.length, y);
                     x = y;
                   }
                   line_norm(values, x, y, l.length, line, scale.row(line), bias.row(line));
                 });
  }

 private:
  struct Pieces {
    T *scale, *bias;
    void* lines;
  };
  struct Weights {
    const T* data = nullptr;
    int64_t stride = 0;
    const T* row(int64_t line) const { return data == nullptr ? nullptr : data + line * stride; }
  };

  Lines lines(const Tensor* values) const {
    return lines_from(values[norm_.x].dims, values_.rank(norm_.x), norm_.axis);
  }
  int first_axis() const {
    const int rank = values_.rank(norm_.x);
    return static_cast<int>(norm_.axis < 0 ? norm_.axis + rank : norm_.axis);
  }
  // Weights of more axes than a line may differ from line to line.
  bool per_line(int32_t id) const {
    return values_.rank(id) > values_.rank(norm_.x) - first_axis();
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values) const {
    const Lines l = lines(values);
    const auto room = [&](int32_t id) {
      return id < 0 ? nullptr : layout.take<T>(l.length * (per_line(id) ? l.outer : 1));
    };
    Pieces p{};
    p.scale = room(norm_.scale);
    p.bias = room(norm_.bias);
    p.lines = layout.take<char>(static_cast<int64_t>(lines_scratch<T>(slots_, l.length, true)));
    return p;
  }

  // Weights as whole lines of T: in place when they already are, else broadcast into `room`.
  Weights weights(const Tensor* values, int32_t id, const Lines& l, T* room) const {
    if (id < 0) return {};
    const void* data = values_.data(values, id);
    const int rank = values_.rank(id), x_rank = values_.rank(norm_.x);
    const int64_t* dims = values[id].dims;
    const int64_t* x_dims = values[norm_.x].dims;
    if (is_native<T>(values_.dtype(id)) && values_.count(values, id) == l.length &&
        trailing_match(dims, rank, x_dims, x_rank)) {
      return {static_cast<const T*>(data), 0};
    }
    int64_t strides[NEF_MAX_RANK] = {};
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      if (dims[i] != 1) strides[i + x_rank - rank] = stride;
      stride *= dims[i];
    }
    const int64_t count = l.length * (per_line(id) ? l.outer : 1);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, offset = 0;
      for (int a = x_rank - 1; a >= 0 && rest > 0; --a) {
        offset += rest % x_dims[a] * strides[a];
        rest /= x_dims[a];
      }
      load_row(values_.dtype(id), data, offset, 1, room + i);
    }
    return {room, per_line(id) ? l.length : 0};
  }
  bool trailing_match(const int64_t* dims, int rank, const int64_t* x_dims, int x_rank) const {
    for (int a = first_axis(); a < x_rank; ++a) {
      const int i = a - (x_rank - rank);
      if (i < 0 ? x_dims[a] != 1 : dims[i] != x_dims[a]) return false;
    }
    return true;
  }

  void line_norm(const Tensor* values, const T* x, T* y, int64_t n, int64_t line, const T* scale,
                 const T* bias) const {
    const auto& ops = row_ops<T>();
    const T mean = norm_.rms ? T(0) : ops.sum(x, n) / static_cast<T>(n);
    const T variance = ops.sum_squares(x, n, mean) / static_cast<T>(n);
    const T inverse = T(1) / std::sqrt(variance + static_cast<T>(norm_.epsilon));
    ops.normalize(x, n, mean, inverse, scale, bias, y);
    store_moments(values, line, mean, inverse);
  }
  void store_moments(const Tensor* values, int64_t line, T mean, T inverse) const {
    if (norm_.mean >= 0) {
      static_cast<float*>(values[norm_.mean].data)[line] = static_cast<float>(mean);
    }
    if (norm_.inverse >= 0) {
      static_cast<float*>(values[norm_.inverse].data)[line] = static_cast<float>(inverse);
    }
  }
  void fill_moments(const Tensor* values, const Lines& l) const {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    for (int64_t line = 0; line < l.outer; ++line) store_moments(values, line, nan, nan);
  }
  void check_residual(const Tensor* values) const {
    const int rank = values_.rank(norm_.x);
    for (int i = 0; i < rank; ++i) {
      if (values[norm_.x].dims[i] == values[norm_.residual].dims[i]) continue;
      throw BackendError(NEF_SHAPE_MISMATCH, "norm: its fused addition must not broadcast");
    }
  }

  ValueTable values_;
  RowNorm norm_;
  int64_t slots_;
};

class RowNormKernel final : public Kernel {
 public:
  RowNormKernel(const Region& region, const RowNorm& norm) : values_(region), norm_(norm) {}
  const char* name() const override {
    if (norm_.residual >= 0) return norm_.rms ? "add + rms norm" : "add + layer norm";
    return norm_.rms ? "rms norm" : "layer norm";
  }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    if (values_.dtype(norm_.x) == NEF_FLOAT64 || values_.dtype(norm_.y) == NEF_FLOAT64) {
      return std::make_unique<RowNormPrepared<double>>(values_, norm_);
    }
    return std::make_unique<RowNormPrepared<float>>(values_, norm_);
  }
  bool in_place(int32_t input, int32_t output) const override {
    return output == norm_.y && values_.dtype(norm_.x) == values_.dtype(norm_.y) &&
           (input == norm_.x || input == norm_.residual);
  }

 private:
  ValueTable values_;
  RowNorm norm_;
};

RowNorm parse_node(const Node& node) {
  const int64_t* attrs = node.attrs();
  RowNorm norm;
  norm.rms = node.op == NEF_OP_RMS_NORMALIZATION;
  norm.x = node.inputs[0];
  norm.scale = node.inputs[1];
  norm.y = node.outputs[0];
  if (norm.rms) {
    norm.axis = nef_attr_int(attrs, NEF_RMS_NORMALIZATION_AXIS, -1);
    norm.epsilon = nef_attr_float(attrs, NEF_RMS_NORMALIZATION_EPSILON, 1e-5);
    return norm;
  }
  norm.axis = nef_attr_int(attrs, NEF_LAYER_NORMALIZATION_AXIS, -1);
  norm.epsilon = nef_attr_float(attrs, NEF_LAYER_NORMALIZATION_EPSILON, 1e-5);
  if (node.has_input(2)) norm.bias = node.inputs[2];
  if (node.has_output(1)) norm.mean = node.outputs[1];
  if (node.has_output(2)) norm.inverse = node.outputs[2];
  return norm;
}

std::unique_ptr<Kernel> make_row_norm(const Region& region, std::string*) {
  return std::make_unique<RowNormKernel>(region, parse_node(region.nodes[0]));
}

// An addition without broadcasting, then the norm of its result.
std::unique_ptr<Kernel> make_added_norm(const Region& region, std::string* why) {
  const Node& add = region.nodes[0];
  const Node& last = region.nodes.back();
  if (region.nodes.size() != 2 || add.op != NEF_OP_ADD ||
      (last.op != NEF_OP_LAYER_NORMALIZATION && last.op != NEF_OP_RMS_NORMALIZATION) ||
      last.inputs[0] != add.outputs[0]) {
    *why = "reduction region: only Add, then LayerNormalization or RMSNormalization is fused";
    return nullptr;
  }
  const Value& sum = region.output(add, 0);
  if (sum.kind != NEF_VALUE_INTERNAL || sum.dtype != NEF_FLOAT32 ||
      region.output(last, 0).dtype != NEF_FLOAT32 || region.input(add, 0).dims != sum.dims ||
      region.input(add, 1).dims != sum.dims) {
    *why = "reduction region: the addition must be float32, without broadcasting, and inner";
    return nullptr;
  }
  RowNorm norm = parse_node(last);
  norm.x = add.inputs[0];
  norm.residual = add.inputs[1];
  return std::make_unique<RowNormKernel>(region, norm);
}

}  // namespace

void register_layer_norms() {
  register_op(NEF_OP_LAYER_NORMALIZATION, make_row_norm);
  register_op(NEF_OP_RMS_NORMALIZATION, make_row_norm);
  register_region(NEF_REGION_REDUCTION, make_added_norm);
}

void register_normalizations() {
  register_softmax();
  register_layer_norms();
  register_channel_norms();
}

}  // namespace nef::cpu
