// SPDX-License-Identifier: Apache-2.0
// Einsum: two float operands become a batched product over permuted copies, all else one loop.
#include <algorithm>
#include <array>
#include <map>
#include <type_traits>

#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/matmul.h"

namespace nef::cpu {
namespace {

constexpr int kMaxLabels = 64;
constexpr int64_t kLoopGrain = 4096;

// The equation with every axis named by a number; the axes of `...` are labels like any other.
struct Equation {
  std::vector<std::vector<int>> operands;
  std::vector<int> output;
  int labels = 0;
};

class EquationParser {
 public:
  EquationParser(std::string_view text, const std::vector<int>& ranks) : ranks_(ranks) {
    for (char c : text) {
      if (c != ' ') text_ += c;
    }
  }

  Equation parse() {
    const size_t arrow = text_.find("->");
    const std::vector<std::string> terms = split(text_.substr(0, arrow));
    for (size_t i = 0; i < terms.size() && i < ranks_.size(); ++i) {
      const int named = static_cast<int>(terms[i].size()) - (has_dots(terms[i]) ? 3 : 0);
      if (has_dots(terms[i])) dots_ = std::max(dots_, ranks_[i] - named);
    }
    out_.labels = dots_;  // labels 0 .. dots - 1 are the axes of `...`
    for (size_t i = 0; i < terms.size() && i < ranks_.size(); ++i) {
      const int named = static_cast<int>(terms[i].size()) - (has_dots(terms[i]) ? 3 : 0);
      out_.operands.push_back(axes(terms[i], ranks_[i] - named));
    }
    out_.output =
        arrow == std::string::npos ? implicit_output() : axes(text_.substr(arrow + 2), dots_);
    return out_;
  }

 private:
  static bool has_dots(const std::string& term) { return term.find("...") != std::string::npos; }
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> terms(1);
    for (char c : text) {
      if (c == ',') {
        terms.emplace_back();
      } else {
        terms.back() += c;
      }
    }
    return terms;
  }
  int label(char c) {
    const auto [it, added] = names_.emplace(c, out_.labels);
    if (added) ++out_.labels;
    return it->second;
  }
  std::vector<int> axes(const std::string& term, int dots) {
    std::vector<int> result;
    for (size_t i = 0; i < term.size(); ++i) {
      if (term[i] != '.') {
        result.push_back(label(term[i]));
        continue;
      }
      for (int d = 0; d < dots; ++d) result.push_back(dots_ - dots + d);
      i += 2;
    }
    return result;
  }
  // The axes of `...`, then the labels that occur once, by name.
  std::vector<int> implicit_output() const {
    std::vector<int> result;
    for (int d = 0; d < dots_; ++d) result.push_back(d);
    for (const auto& [name, id] : names_) {
      int64_t uses = 0;
      for (const auto& operand : out_.operands) {
        uses += std::count(operand.begin(), operand.end(), id);
      }
      if (uses == 1) result.push_back(id);
    }
    return result;
  }

  std::string text_;
  std::vector<int> ranks_;
  int dots_ = 0;
  std::map<char, int> names_;
  Equation out_;
};

struct Strides {
  std::array<int64_t, kMaxLabels> by_label;
};

// dst = src walked along the labels of `order`.
template <typename T>
void gather(const T* src, const std::vector<int>& order, const int64_t* sizes,
            const Strides& strides, T* dst) {
  int64_t count = 1;
  for (int label : order) count *= sizes[label];
  parallel_for(count, kLoopGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, offset = 0;
      for (size_t a = order.size(); a-- > 0;) {
        offset += rest % sizes[order[a]] * strides.by_label[order[a]];
        rest /= sizes[order[a]];
      }
      dst[i] = src[offset];
    }
  });
}

template <typename T>
class EinsumPrepared final : public Prepared {
 public:
  EinsumPrepared(const ValueTable& values, const Equation& equation, std::vector<int32_t> inputs,
                 int32_t out)
      : values_(values),
        equation_(equation),
        inputs_(std::move(inputs)),
        out_(out),
        slots_(task_slots()),
        gemm_(GemmBlocking{}, slots_),
        narrow_(values.dtype(out) == NEF_FLOAT16 || values.dtype(out) == NEF_BFLOAT16) {
    if (kProducts && inputs_.size() == 2) classify();
  }

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values, sizes(values));
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    ScratchLayout layout(scratch);
    const Sizes n = sizes(values);
    const Pieces p = carve(layout, values, n);
    const T* data[kMaxOperands];
    Strides strides[kMaxOperands];
    for (size_t i = 0; i < inputs_.size(); ++i) {
      data[i] = load(values, inputs_[i], p.converted[i]);
      strides[i] = strides_of(values, i);
    }
    T* c = narrow_ ? p.narrow_out : static_cast<T*>(values[out_].data);
    if (kProducts && inputs_.size() == 2) {
      multiply(n, data, strides, p, c);
    } else {
      loop(n, data, strides, c);
    }
    if constexpr (std::is_same_v<T, float>) {
      if (narrow_) {
        store_floats_parallel(values_.dtype(out_), c, values_.count(values, out_),
                              values[out_].data);
      }
    }
  }

  static constexpr size_t kMaxOperands = 16;

 private:
  static constexpr bool kProducts = std::is_floating_point_v<T>;
  using Gemm = BatchedGemm<std::conditional_t<kProducts, T, float>>;
  using Sizes = std::array<int64_t, kMaxLabels>;
  struct Pieces {
    T* converted[kMaxOperands] = {};
    T *narrow_out = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
    void* gemm = nullptr;
  };

  void classify() {
    const auto& a = equation_.operands[0];
    const auto& b = equation_.operands[1];
    const auto has = [](const std::vector<int>& list, int label) {
      return std::find(list.begin(), list.end(), label) != list.end();
    };
    std::vector<int> batch, rows, cols, depth;
    for (int label : equation_.output) {
      if (has(a, label) && has(b, label)) batch.push_back(label);
      if (has(a, label) && !has(b, label)) rows.push_back(label);
      if (!has(a, label)) cols.push_back(label);
    }
    for (int label = 0; label < equation_.labels; ++label) {
      if (!has(equation_.output, label)) depth.push_back(label);
    }
    counts_ = {batch.size(), rows.size(), cols.size(), depth.size()};
    const auto join = [](std::vector<int> x, const std::vector<int>& y, const std::vector<int>& z) {
      x.insert(x.end(), y.begin(), y.end());
      x.insert(x.end(), z.begin(), z.end());
      return x;
    };
    a_order_ = join(batch, rows, depth);
    b_order_ = join(batch, depth, cols);
    b_swapped_ = join(batch, cols, depth);
    c_order_ = join(batch, rows, cols);
  }

  Sizes sizes(const Tensor* values) const {
    Sizes n;
    n.fill(1);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto& labels = equation_.operands[i];
      for (size_t axis = 0; axis < labels.size(); ++axis) {
        const int64_t dim = values[inputs_[i]].dims[axis];
        if (dim != 1) n[labels[axis]] = dim;
      }
    }
    return n;
  }

  // A label that occurs twice in an operand walks its diagonal.
  Strides strides_of(const Tensor* values, size_t operand) const {
    Strides s;
    s.by_label.fill(0);
    const auto& labels = equation_.operands[operand];
    int64_t stride = 1;
    for (size_t axis = labels.size(); axis-- > 0;) {
      const int64_t dim = values[inputs_[operand]].dims[axis];
      if (dim != 1) s.by_label[labels[axis]] += stride;
      stride *= dim;
    }
    return s;
  }

  MatmulShape product_shape(const Sizes& n) const {
    const auto span = [&](size_t from, size_t count, const std::vector<int>& order) {
      int64_t total = 1;
      for (size_t i = from; i < from + count; ++i) total *= n[order[i]];
      return total;
    };
    MatmulShape s;
    s.batches = span(0, counts_[0], a_order_);
    s.m = span(counts_[0], counts_[1], a_order_);
    s.k = span(counts_[0] + counts_[1], counts_[3], a_order_);
    s.n = span(counts_[0] + counts_[3], counts_[2], b_order_);
    s.batch_rank = 1;
    s.batch_dims[0] = s.batches;
    s.a_stride[0] = s.b_stride[0] = 1;
    s.b_matrices = s.batches;
    return s;
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values, const Sizes& n) const {
    Pieces p;
    if (narrow_) {
      for (size_t i = 0; i < inputs_.size(); ++i) {
        p.converted[i] = layout.take<T>(values_.count(values, inputs_[i]));
      }
      p.narrow_out = layout.take<T>(values_.count(values, out_));
    }
    if (!kProducts || inputs_.size() != 2) return p;
    const MatmulShape s = product_shape(n);
    p.a = layout.take<T>(s.batches * s.m * s.k);
    p.b = layout.take<T>(s.batches * s.k * s.n);
    p.c = layout.take<T>(s.batches * s.m * s.n);
    p.gemm = layout.take<char>(static_cast<int64_t>(gemm_.scratch_bytes(s, false)));
    return p;
  }

  const T* load(const Tensor* values, int32_t id, T* piece) const {
    const void* data = values_.data(values, id);
    if constexpr (std::is_same_v<T, float>) {
      if (narrow_) {
        load_floats_parallel(values_.dtype(id), data, values_.count(values, id), piece);
        return piece;
      }
    }
    return static_cast<const T*>(data);
  }

  // Is the operand already stored densely in this order of labels?
  static bool dense(const std::vector<int>& order, const Sizes& n, const Strides& strides) {
    int64_t expected = 1;
    for (size_t i = order.size(); i-- > 0;) {
      if (n[order[i]] != 1 && strides.by_label[order[i]] != expected) return false;
      expected *= n[order[i]];
    }
    return true;
  }

  void multiply(const Sizes& n, const T* const* data, const Strides* strides, const Pieces& p,
                T* out) const {
    if constexpr (kProducts) {
      MatmulShape s = product_shape(n);
      const T* a = data[0];
      const T* b = data[1];
      if (!dense(a_order_, n, strides[0])) {
        gather(a, a_order_, n.data(), strides[0], p.a);
        a = p.a;
      }
      if (dense(b_swapped_, n, strides[1])) {
        s.trans_b = true;
      } else if (!dense(b_order_, n, strides[1])) {
        gather(b, b_order_, n.data(), strides[1], p.b);
        b = p.b;
      }
      Strides back;  // of the product's labels in p.c
      int64_t stride = 1;
      for (size_t i = c_order_.size(); i-- > 0;) {
        back.by_label[c_order_[i]] = stride;
        stride *= n[c_order_[i]];
      }
      const bool in_order = dense(equation_.output, n, back);
      gemm_.run(s, a, b, false, in_order ? out : p.c, nullptr, nullptr, p.gemm);
      if (!in_order) gather(p.c, equation_.output, n.data(), back, out);
    }
  }

  // Any number of operands: for each output element, the sum over all other labels.
  void loop(const Sizes& n, const T* const* data, const Strides* strides, T* out) const {
    int64_t terms = 1, count = 1;
    bool used[kMaxLabels] = {};
    for (int label : equation_.output) {
      used[label] = true;
      count *= n[label];
    }
    int summed_labels[kMaxLabels];
    int n_summed = 0;
    for (int label = 0; label < equation_.labels; ++label) {
      if (used[label]) continue;
      summed_labels[n_summed++] = label;
      terms *= n[label];
    }
    const int64_t grain = std::max<int64_t>(1, kLoopGrain / std::max<int64_t>(1, terms));
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = sum_terms(n, data, strides, i, summed_labels, n_summed, terms);
      }
    });
  }

  T sum_terms(const Sizes& n, const T* const* data, const Strides* strides, int64_t index,
              const int* summed, int n_summed, int64_t terms) const {
    using Wrap = std::conditional_t<kProducts, T, uint64_t>;
    const size_t operands = inputs_.size();
    int64_t base[kMaxOperands] = {};
    for (size_t a = equation_.output.size(); a-- > 0;) {
      const int label = equation_.output[a];
      for (size_t o = 0; o < operands; ++o) {
        base[o] += index % n[label] * strides[o].by_label[label];
      }
      index /= n[label];
    }
    Wrap total = 0;
    for (int64_t term = 0; term < terms; ++term) {
      Wrap value = 1;
      for (size_t o = 0; o < operands; ++o) {
        int64_t rest = term, offset = base[o];
        for (int a = n_summed; a-- > 0;) {
          offset += rest % n[summed[a]] * strides[o].by_label[summed[a]];
          rest /= n[summed[a]];
        }
        value = static_cast<Wrap>(value * static_cast<Wrap>(data[o][offset]));
      }
      total = static_cast<Wrap>(total + value);
    }
    return static_cast<T>(total);
  }

  ValueTable values_;
  Equation equation_;
  std::vector<int32_t> inputs_;
  int32_t out_;
  int64_t slots_;
  Gemm gemm_;
  bool narrow_;
  std::array<size_t, 4> counts_{};  // batch, row, column and depth labels
  std::vector<int> a_order_, b_order_, b_swapped_, c_order_;
};

class EinsumKernel final : public Kernel {
 public:
  EinsumKernel(const Region& region, Equation equation)
      : values_(region), equation_(std::move(equation)), node_(region.nodes[0]) {}
  const char* name() const override {
    return is_float(values_.dtype(node_.outputs[0])) && node_.inputs.size() == 2 ? "einsum gemm"
                                                                                 : "einsum loop";
  }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    switch (values_.dtype(node_.outputs[0])) {
      case NEF_FLOAT64: return make<double>();
      case NEF_INT8: return make<int8_t>();
      case NEF_UINT8: return make<uint8_t>();
      case NEF_INT16: return make<int16_t>();
      case NEF_UINT16: return make<uint16_t>();
      case NEF_INT32: return make<int32_t>();
      case NEF_UINT32: return make<uint32_t>();
      case NEF_INT64: return make<int64_t>();
      case NEF_UINT64: return make<uint64_t>();
      default: return make<float>();
    }
  }

 private:
  template <typename T>
  std::unique_ptr<Prepared> make() const {
    return std::make_unique<EinsumPrepared<T>>(values_, equation_, node_.inputs, node_.outputs[0]);
  }
  ValueTable values_;
  Equation equation_;
  Node node_;
};

}  // namespace

std::unique_ptr<Kernel> make_einsum(const Region& region, std::string* why) {
  const Node& node = region.nodes[0];
  std::vector<int> ranks;
  for (int32_t id : node.inputs) ranks.push_back(region.values[id].rank());
  Equation equation = EquationParser(attr_string(node.attrs(), NEF_EINSUM_EQUATION), ranks).parse();
  if (node.inputs.size() > EinsumPrepared<float>::kMaxOperands || equation.labels > kMaxLabels) {
    *why = "einsum: serves up to " + std::to_string(EinsumPrepared<float>::kMaxOperands) +
           " operands and " + std::to_string(kMaxLabels) + " labels";
    return nullptr;
  }
  return std::make_unique<EinsumKernel>(region, std::move(equation));
}

}  // namespace nef::cpu
