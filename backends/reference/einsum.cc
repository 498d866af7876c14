// SPDX-License-Identifier: Apache-2.0
// Einsum: every label becomes an axis of one big loop; an operand steps along the axes it names.
#include <algorithm>
#include <cctype>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// Axes 0..51 are the letters, then come the broadcast dims of "...", right-aligned.
constexpr int kLetters = 52;
constexpr int kAxes = kLetters + NEF_MAX_RANK;
constexpr size_t kMaxInputs = 32;

int letter_axis(char ch) { return ch >= 'a' ? ch - 'a' + 26 : ch - 'A'; }

struct Equation {
  std::string_view inputs, output;
  bool explicit_output;
};

Equation split_equation(std::string_view text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, arrow), text.substr(arrow + 2), true};
}

// f(axis of the loop, axis of the tensor) for each label of a term such as "b...i".
template <typename F>
void for_labels(std::string_view term, int rank, F f) {
  const auto letters = static_cast<int>(std::count_if(
      term.begin(), term.end(), [](unsigned char ch) { return std::isalpha(ch) != 0; }));
  int d = 0;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      const int hidden = rank - letters;
      for (int k = 0; k < hidden; ++k) f(kAxes - hidden + k, d++);
      i += 2;
    } else if (term[i] != ' ') {
      f(letter_axis(term[i]), d++);
    }
  }
}

struct Loop {
  int64_t size[kAxes];
  int uses[kAxes] = {};
  int64_t step[kMaxInputs][kAxes] = {};
  int64_t out_step[kAxes] = {};
  bool in_output[kAxes] = {};
};

void add_inputs(const Call& c, std::string_view terms, Loop& loop) {
  std::fill(std::begin(loop.size), std::end(loop.size), 1);
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    const size_t comma = std::min(terms.find(','), terms.size());
    const View x = c.in(i);
    const Strides dense = dense_strides(x.dims, x.rank);
    for_labels(terms.substr(0, comma), x.rank, [&](int axis, int d) {
      if (x.dims[d] != 1) loop.size[axis] = x.dims[d];
      loop.step[i][axis] += x.dims[d] == 1 ? 0 : dense.by[d];
      ++loop.uses[axis];
    });
    terms.remove_prefix(std::min(comma + 1, terms.size()));
  }
}

void add_output(const Equation& e, const View& y, Loop& loop) {
  const Strides dense = dense_strides(y.dims, y.rank);
  const auto mark = [&](int axis, int d) {
    loop.out_step[axis] = dense.by[d];
    loop.in_output[axis] = true;
  };
  if (e.explicit_output) return for_labels(e.output, y.rank, mark);
  // Broadcast dims first, then the labels that occur once, in order.
  int d = 0;
  for (int axis = kLetters; axis < kAxes; ++axis) {
    if (loop.uses[axis] > 0) mark(axis, d++);
  }
  for (int axis = 0; axis < kLetters; ++axis) {
    if (loop.uses[axis] == 1) mark(axis, d++);
  }
}

// The axes of one of the two nested walks.
struct Walk {
  int n = 0;
  int axis[kAxes];
  int64_t at[kAxes] = {};
  int64_t count = 1;
  void include(const Loop& loop, bool output) {
    for (int a = 0; a < kAxes; ++a) {
      if (loop.in_output[a] != output || loop.uses[a] == 0) continue;
      axis[n++] = a;
      count *= loop.size[a];
    }
  }
  void next(const Loop& loop) {
    for (int k = n - 1; k >= 0; --k) {
      if (++at[k] < loop.size[axis[k]]) return;
      at[k] = 0;
    }
  }
  int64_t offset(const int64_t* step) const {
    int64_t sum = 0;
    for (int k = 0; k < n; ++k) sum += at[k] * step[axis[k]];
    return sum;
  }
};

void run_einsum(const Call& c) {
  if (c.n_inputs() > kMaxInputs) {
    throw BackendError(NEF_LIMIT_EXCEEDED, "Einsum: more than 32 operands");
  }
  const Equation e = split_equation(c.attr_string(NEF_EINSUM_EQUATION));
  const View y = c.out();
  Loop loop;
  add_inputs(c, e.inputs, loop);
  add_output(e, y, loop);
  Walk outer;
  outer.include(loop, true);
  with_domain(y.dtype, [&]<typename D>(D) {
    for (int64_t o = 0; o < outer.count; ++o, outer.next(loop)) {
      Walk inner;
      inner.include(loop, false);
      D sum{0};
      for (int64_t s = 0; s < inner.count; ++s, inner.next(loop)) {
        D product{1};
        for (size_t i = 0; i < c.n_inputs(); ++i) {
          const int64_t at = outer.offset(loop.step[i]) + inner.offset(loop.step[i]);
          product = multiply(product, load<D>(c.in(i), at));
        }
        sum = add(sum, product);
      }
      store<D>(y, outer.offset(loop.out_step), sum);
    }
  });
}

constexpr Kernel kKernels[] = {{NEF_OP_EINSUM, run_einsum}};

}  // namespace

std::span<const Kernel> einsum_kernels() { return kKernels; }

}  // namespace nef::reference
