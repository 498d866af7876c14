// SPDX-License-Identifier: Apache-2.0
// Random graphs with symbols: optimised, in parallel, and cut to a small memory, they compute
// what the reference backend makes of the graph as written, or fail with the same code.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    add_input({dim("batch", 1, 64), dim(4), dim(6)});
    add_input({dim("batch", 1, 64), dim(4), dim(6)});
    add_input({dim("m", 1, 64), dim(4), dim(6)});
    add_input({dim(4), dim(6)});
    add_input({dim(6), dim(4)});
    for (int k = 5 + below(25); k > 0; --k) {
      try {
        const Tensor t = node();
        if (nef_tensor_rank(t.get()) <= 6) values_.push_back(t);
      } catch (const std::runtime_error&) {
        // Shapes that do not fit: another op instead.
      }
    }
  }

  // One to four of the last values.
  std::vector<Tensor> outputs() {
    std::vector<Tensor> out;
    for (int i = 1 + below(4); i > 0; --i) {
      out.push_back(values_[values_.size() - 1 - static_cast<size_t>(below(6)) % values_.size()]);
    }
    return out;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  void add_input(const std::vector<nef_dim>& dims) {
    values_.push_back(input(("x" + std::to_string(values_.size())).c_str(), dims));
  }
  const Tensor& any() {
    return values_[static_cast<size_t>(below(static_cast<int>(values_.size())))];
  }
  const Tensor& recent() {
    return below(4) == 0 ? any() : values_[values_.size() - 1 - static_cast<size_t>(below(5))];
  }

  Tensor node() {
    const Tensor a = recent(), b = any();
    switch (below(14)) {
      case 0: return op("add", {a, b});
      case 1: return op("mul", {a, b});
      case 2: return op("relu", {a});
      case 3: return op("tanh", {op("matmul", {a, b})});
      case 4: return op("transpose", {a}, {ints_attr("perm", swapped(shape_of(a).size()))});
      case 5: return op("reshape", {a, ints(target())});
      case 6: return op("softmax", {a}, {int_attr("axis", -1)});
      case 7: return op("concat", {a, b}, {int_attr("axis", below(2) - 1)});
      case 8: return op("reduce_mean", {a, ints({-1})}, {int_attr("keepdims", below(2))});
      case 9: return op("squeeze", {op("unsqueeze", {a, ints({0})}), ints({0})});
      case 10: return op("expand", {b, op("shape", {a})});
      case 11: return op("slice", {a, ints({below(2)}), ints({3}), ints({-1})});
      case 12: return op("gather", {a, ints({0, -1})}, {int_attr("axis", below(2) - 1)});
      default: return op("identity", {a});
    }
  }
  std::vector<int64_t> swapped(size_t rank) {
    std::vector<int64_t> perm(rank);
    for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
    if (rank > 1)
      std::swap(perm[rank - 1], perm[rank - 2 - static_cast<size_t>(below(2)) % (rank - 1)]);
    return perm;
  }
  std::vector<int64_t> target() {
    static const std::vector<std::vector<int64_t>> kTargets{{-1, 24}, {-1, 4, 6}, {0, -1}, {-1, 6},
                                                            {-1},     {0, 2, -1}, {2, 12}};
    return kTargets[static_cast<size_t>(below(static_cast<int>(kTargets.size())))];
  }

  std::mt19937 random_;
  std::vector<Tensor> values_;
};

std::vector<Tensor> data_for(const Graph& g, int64_t batch, int64_t m) {
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  std::vector<Tensor> out;
  for (size_t i = 0; i < nef_graph_input_count(g.get()); ++i) {
    nef_tensor_info info{};
    info.struct_size = sizeof info;
    ok(nef_graph_input(g.get(), i, &info));
    std::vector<int64_t> shape(info.dims, info.dims + info.rank);
    size_t count = 1;
    for (uint32_t k = 0; k < info.rank; ++k) {
      if (shape[k] < 0) shape[k] = std::string(info.dim_names[k]) == "batch" ? batch : m;
      count *= static_cast<size_t>(shape[k]);
    }
    std::vector<float> data(count);
    for (float& x : data) x = normal(random);
    out.push_back(tensor(data, shape));
  }
  return out;
}

void expect_equal(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(shape_of(got), shape_of(want));
  const auto x = floats(got), y = floats(want);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i])) ASSERT_TRUE(std::isnan(x[i]));
    else ASSERT_NEAR(x[i], y[i], 1e-3f * (1 + std::abs(y[i])));
  }
}

void check(const Graph& g, size_t outputs) {
  nef_compile_options plain = options("reference"), parallel = options(), small = options();
  plain.disabled_passes = "canonicalise,fold,simplify,gelu,norm,attention,cse,dead,fuse";
  parallel.parallel_branches = 4;
  small.memory_budget = 4096;
  const Program reference = compile(g, plain);
  const Program others[] = {compile(g, parallel), compile(g, small)};
  for (const auto& [batch, m] : {std::pair{3, 3}, {16, 1}, {1, 5}, {4, 4}}) {
    const std::vector<Tensor> in = data_for(g, batch, m);
    std::vector<Tensor> want, got;
    const nef_code code = take(try_run(reference, in, &want, outputs)).code;
    for (const Program& p : others) {
      const Failure f = take(try_run(p, in, &got, outputs));
      if (f.code == NEF_OUT_OF_MEMORY) continue;
      ASSERT_EQ(f.code, code) << f.message;
      for (size_t i = 0; i < got.size(); ++i) expect_equal(got[i], want[i]);
    }
  }
}

TEST(RandomGraphTest, ComputesWhatWasWritten) {
  int checked = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    const std::vector<Tensor> outputs = random.outputs();
    Graph g;
    try {
      g = capture(outputs);
    } catch (const std::runtime_error&) {
      continue;  // the bounds of the symbols rule it out
    }
    ASSERT_NO_FATAL_FAILURE(check(g, outputs.size()));
    ++checked;
  }
  EXPECT_GT(checked, 700);
}

}  // namespace
}  // namespace nef::test
