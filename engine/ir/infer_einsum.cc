// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

constexpr size_t kLabels = 52;

// 0 to 51; kLabels when it is no letter.
size_t label_index(char ch) {
  if (ch >= 'A' && ch <= 'Z') return static_cast<size_t>(ch - 'A');
  if (ch >= 'a' && ch <= 'z') return static_cast<size_t>(ch - 'a') + 26;
  return kLabels;
}

// One operand's or the output's labels: letters before and after "...".
struct Term {
  std::string before, after;
  bool ellipsis = false;
};

class Einsum {
 public:
  explicit Einsum(InferContext& c) : c_(c), equation_(c.attrs.s(NEF_EINSUM_EQUATION)) {
    dim_.fill(1);
    seen_.fill(0);
  }

  void run() {
    const size_t arrow = equation_.find("->");
    read_operands(equation_.substr(0, arrow));
    if (arrow == std::string_view::npos) return implicit_output();
    explicit_output(read_term(equation_.substr(arrow + 2)));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    c_.fail(NEF_INVALID_ARGUMENT,
            cat("equation \"", std::string(equation_.substr(0, 200)), "\": ", what));
  }

  Term read_term(std::string_view text) const {
    Term t;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      if (text.substr(i, 3) == "...") {
        if (t.ellipsis) fail("two ellipses in one term");
        t.ellipsis = true;
        i += 2;
      } else if (label_index(text[i]) == kLabels) {
        fail(cat("unexpected character '", text[i], "'"));
      } else {
        (t.ellipsis ? t.after : t.before) += text[i];
      }
    }
    return t;
  }

  void read_operands(std::string_view left) {
    size_t count = 0;
    for (;; ++count) {
      const size_t comma = left.find(',');
      if (count == c_.in.size()) fail(cat("more terms than the ", count, " inputs"));
      bind(count, read_term(left.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      left.remove_prefix(comma + 1);
    }
    if (count + 1 != c_.in.size()) {
      fail(cat(count + 1, " terms for ", c_.in.size(), " inputs"));
    }
  }

  void bind(size_t input, const Term& t) {
    const std::span<const Dim> dims = c_.dims(input);
    const size_t named = t.before.size() + t.after.size();
    if (t.ellipsis ? dims.size() < named : dims.size() != named) {
      fail(cat("term ", input, " names ", named, " dims, but the input is ", c_.shape(input)));
    }
    const size_t dots = dims.size() - named;
    for (size_t i = 0; i < t.before.size(); ++i) bind_label(t.before[i], dims[i]);
    for (size_t i = 0; i < t.after.size(); ++i) {
      bind_label(t.after[i], dims[t.before.size() + dots + i]);
    }
    if (t.ellipsis) {
      ellipsis_ = true;
      broadcast_into(c_, dots_, dims.subspan(t.before.size(), dots));
    }
  }

  void bind_label(char ch, Dim d) {
    const size_t i = label_index(ch);
    ++seen_[i];
    if (c_.pool.broadcast(dim_[i], d, &dim_[i])) return;
    c_.fail(NEF_SHAPE_MISMATCH, cat("label ", ch, " has two sizes: ", c_.shapes(), " (",
                                    c_.pool.str(dim_[i]), " != ", c_.pool.str(d), ")"));
  }

  void explicit_output(const Term& t) {
    Shape& out = c_.out[0].shape;
    std::array<bool, kLabels> used{};
    const auto push = [&](char ch) {
      const size_t i = label_index(ch);
      if (seen_[i] == 0) fail(cat("output label ", ch, " is in no input"));
      if (used[i]) fail(cat("output label ", ch, " is given twice"));
      used[i] = true;
      out.push(dim_[i]);
    };
    for (char ch : t.before) push(ch);
    if (t.ellipsis && !ellipsis_) fail("the output has an ellipsis, but no input has one");
    if (t.ellipsis) {
      for (Dim d : dots_.view()) out.push(d);
    }
    for (char ch : t.after) push(ch);
  }

  void implicit_output() {
    Shape& out = c_.out[0].shape;
    out.assign(dots_);
    for (size_t i = 0; i < kLabels; ++i) {
      if (seen_[i] == 1) out.push(dim_[i]);
    }
  }

  InferContext& c_;
  std::string_view equation_;
  std::array<Dim, kLabels> dim_;
  std::array<int, kLabels> seen_;
  Shape dots_;
  bool ellipsis_ = false;
};

}  // namespace

void infer_einsum(InferContext& c) { Einsum(c).run(); }

}  // namespace nef::ir
