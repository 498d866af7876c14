// SPDX-License-Identifier: Apache-2.0
// Einsum: two float operands become a batched product, read and written where they lie as long as
// rows, columns and the sum have a stride each, else through permuted copies; all else is one loop.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
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
  int64_t lines = 1;
  const int64_t length = order.empty() ? 1 : sizes[order.back()];
  const int64_t step = order.empty() ? 1 : strides.by_label[order.back()];
  for (size_t a = 0; a + 1 < order.size(); ++a) lines *= sizes[order[a]];
  const int64_t grain = std::max<int64_t>(1, kLoopGrain / std::max<int64_t>(1, length));
  parallel_for(lines, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, offset = 0;
      for (size_t a = order.size(); a-- > 1;) {
        offset += rest % sizes[order[a - 1]] * strides.by_label[order[a - 1]];
        rest /= sizes[order[a - 1]];
      }
      T* line = dst + i * length;
      for (int64_t j = 0; j < length; ++j) line[j] = src[offset + j * step];
    }
  });
}

// The labels of one side of a product, or of its sum, walked as one axis: its stride, or nothing
// where it takes several.
std::optional<int64_t> one_stride(std::span<const int> labels, const int64_t* sizes,
                                  const Strides& strides) {
  std::optional<int64_t> stride;
  int64_t next = 0;  // what a step of the label in front has to be
  for (size_t i = labels.size(); i-- > 0;) {
    const int64_t size = sizes[labels[i]], step = strides.by_label[labels[i]];
    if (size == 1) continue;
    if (stride && step != next) return std::nullopt;
    if (!stride) stride = step;
    next = step * size;
  }
  return stride.value_or(1);
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
    const auto join = [](std::vector<int> x, const std::vector<int>& y, const std::vector<int>& z) {
      x.insert(x.end(), y.begin(), y.end());
      x.insert(x.end(), z.begin(), z.end());
      return x;
    };
    a_order_ = join(batch, rows, depth);
    b_order_ = join(batch, depth, cols);
    c_order_ = join(batch, rows, cols);
    batch_ = std::move(batch);
    rows_ = std::move(rows);
    cols_ = std::move(cols);
    depth_ = std::move(depth);
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

  static int64_t span_of(const std::vector<int>& labels, const Sizes& n) {
    int64_t total = 1;
    for (int label : labels) total *= n[label];
    return total;
  }
  MatmulShape product_shape(const Sizes& n) const {
    MatmulShape s;
    s.batches = span_of(batch_, n);
    s.m = span_of(rows_, n);
    s.k = span_of(depth_, n);
    s.n = span_of(cols_, n);
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
    MatmulShape swapped = s;
    std::swap(swapped.m, swapped.n);
    p.gemm = layout.take<char>(static_cast<int64_t>(
        std::max(gemm_.scratch_bytes(s, false), gemm_.scratch_bytes(swapped, false))));
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

  // Strides of labels that are stored densely in this order.
  static Strides dense(const std::vector<int>& order, const Sizes& n) {
    Strides s;
    s.by_label.fill(0);
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      s.by_label[order[i]] = stride;
      stride *= n[order[i]];
    }
    return s;
  }

  // One matrix of a product in place, its rows and columns by one stride each.
  struct Place {
    int64_t row, col;
  };
  static std::optional<Place> in_place(const std::vector<int>& rows, const std::vector<int>& cols,
                                       const Sizes& n, const Strides& strides) {
    const auto row = one_stride(rows, n.data(), strides), col = one_stride(cols, n.data(), strides);
    if (!row || !col) return std::nullopt;
    return Place{*row, *col};
  }
  // As above, by a copy if need be.
  Place placed(const std::vector<int>& rows, const std::vector<int>& cols,
               const std::vector<int>& order, const Sizes& n, const T** data, Strides* strides,
               T* copy) const {
    if (const auto place = in_place(rows, cols, n, *strides)) return *place;
    gather(*data, order, n.data(), *strides, copy);
    *data = copy;
    *strides = dense(order, n);
    return *in_place(rows, cols, n, *strides);
  }

  void multiply(const Sizes& n, const T* const* data, const Strides* given, const Pieces& p,
                T* out) const {
    if constexpr (kProducts) {
      const T *a = data[0], *b = data[1];
      Strides sa = given[0], sb = given[1], sc = dense(equation_.output, n);
      const Place pa = placed(rows_, depth_, a_order_, n, &a, &sa, p.a);
      const Place pb = placed(depth_, cols_, b_order_, n, &b, &sb, p.b);
      std::optional<Place> pc = in_place(rows_, cols_, n, sc);
      const bool copied = !pc || (pc->row != 1 && pc->col != 1);
      T* c = copied ? p.c : out;
      if (copied) {
        sc = dense(c_order_, n);
        pc = in_place(rows_, cols_, n, sc);
      }
      const MatmulShape s = product_shape(n);
      MatmulLayout l;
      l.m = s.m;
      l.n = s.n;
      l.k = s.k;
      l.batches = s.batches;
      l.a_row = pa.row;
      l.a_k = pa.col;
      l.b_row = pb.row;
      l.b_col = pb.col;
      l.c_row = pc->row;
      l.batch_rank = static_cast<int>(batch_.size());
      for (size_t i = 0; i < batch_.size(); ++i) {
        l.batch_dims[i] = n[batch_[i]];
        l.a_step[i] = sa.by_label[batch_[i]];
        l.b_step[i] = sb.by_label[batch_[i]];
        l.c_step[i] = sc.by_label[batch_[i]];
      }
      if (pc->col == 1) {
        gemm_.run(l, a, b, c, p.gemm);
      } else {
        l.c_row = pc->col;
        gemm_.run(swapped(l), b, a, c, p.gemm);
      }
      if (copied) gather(c, equation_.output, n.data(), sc, out);
    }
  }
  // c' = b' a'.
  static MatmulLayout swapped(MatmulLayout l) {
    std::swap(l.m, l.n);
    std::swap(l.a_row, l.b_col);
    std::swap(l.a_k, l.b_row);
    std::swap(l.a_step, l.b_step);
    return l;
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
  std::vector<int> batch_, rows_, cols_, depth_;  // labels of a product of two
  std::vector<int> a_order_, b_order_, c_order_;
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
