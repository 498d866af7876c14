// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <vector>

#include "engine/optimize/rewriter.h"

namespace nef::optimize {

// Reads a graph the way a pattern is written down: who makes a value, which number is a
// constant, what are the factors of a product.
class Matcher {
 public:
  Matcher(const ir::Graph& graph, const Rewriter& rewriter) : graph_(graph), rewriter_(rewriter) {}

  // The node of that op that makes v, else kNone.
  ir::NodeId made_by(ir::ValueId v, nef_op op) const {
    const ir::NodeId n = v == ir::kNone ? ir::kNone : graph_.producer(v);
    return n != ir::kNone && graph_.op(n) == op ? n : ir::kNone;
  }
  ir::ValueId input(ir::NodeId n, size_t i) const { return rewriter_.input(n, i); }

  // The number of a one-element float constant.
  std::optional<double> number(ir::ValueId v) const {
    if (v == ir::kNone || !graph_.is_constant(v)) return std::nullopt;
    const ir::Buffer& data = *graph_.constant_data(v);
    if (graph_.dtype(v) == NEF_FLOAT32 && data.bytes() == sizeof(float)) {
      float x;
      std::memcpy(&x, data.data(), sizeof x);
      return x;
    }
    if (graph_.dtype(v) == NEF_FLOAT64 && data.bytes() == sizeof(double)) {
      double x;
      std::memcpy(&x, data.data(), sizeof x);
      return x;
    }
    return std::nullopt;
  }
  // Constants written in float32 or rounded to a few digits in a source are still meant.
  static bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }

  // The other operand when one operand of a two-operand node is the number.
  ir::ValueId beside_number(ir::NodeId n, double wanted) const {
    for (size_t i : {0, 1}) {
      const auto x = number(input(n, i));
      if (x && near(*x, wanted)) return input(n, 1 - i);
    }
    return ir::kNone;
  }

  // A product as its coefficient and its other factors, through nested Mul and Div by numbers.
  struct Product {
    double coefficient = 1;
    std::vector<ir::ValueId> factors;
  };
  Product product(ir::ValueId v) const {
    Product out;
    std::vector<ir::ValueId> open{v};
    for (int budget = 16; !open.empty(); --budget) {
      const ir::ValueId x = open.back();
      open.pop_back();
      const ir::NodeId mul = made_by(x, NEF_OP_MUL), div = made_by(x, NEF_OP_DIV);
      if (const auto c = number(x)) {
        out.coefficient *= *c;
      } else if (mul != ir::kNone && budget > 0) {
        open.push_back(input(mul, 0));
        open.push_back(input(mul, 1));
      } else if (div != ir::kNone && budget > 0 && number(input(div, 1))) {
        out.coefficient /= *number(input(div, 1));
        open.push_back(input(div, 0));
      } else {
        out.factors.push_back(x);
      }
    }
    return out;
  }

  // The size of the last axis if it is a number.
  std::optional<int64_t> last_dim(ir::ValueId v) const {
    const auto dims = graph_.dims(v);
    if (dims.empty() || ir::is_expr(dims.back())) return std::nullopt;
    return dims.back().number();
  }
  bool same_type(ir::ValueId a, ir::ValueId b) const {
    return graph_.dtype(a) == graph_.dtype(b) && graph_.shape_id(a) == graph_.shape_id(b);
  }

 private:
  const ir::Graph& graph_;
  const Rewriter& rewriter_;
};

}  // namespace nef::optimize
