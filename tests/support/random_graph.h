// SPDX-License-Identifier: Apache-2.0
// Random graphs with symbols, for tests that hold one way to compute against another.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/handles.h"

namespace nef::test {

class RandomGraph {
 public:
  // Each node goes to one of `devices`, at random; "" = where the planner likes.
  explicit RandomGraph(unsigned seed, std::vector<const char*> devices = {""},
                       int64_t most_rows = 64)
      : random_(seed), devices_(std::move(devices)) {
    add_input({dim("batch", 1, most_rows), dim(4), dim(6)});
    add_input({dim("batch", 1, most_rows), dim(4), dim(6)});
    add_input({dim("m", 1, most_rows), dim(4), dim(6)});
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

  Tensor call(const char* name, const std::vector<Tensor>& inputs,
              const std::vector<nef_attr>& attrs = {}) {
    return op(name, inputs, attrs,
              devices_[static_cast<size_t>(below(static_cast<int>(devices_.size())))]);
  }

  Tensor node() {
    const Tensor a = recent(), b = any();
    switch (below(21)) {
      case 0: return call("add", {a, b});
      case 1: return call("mul", {a, b});
      case 2: return call("relu", {a});
      case 3: return call("tanh", {call("matmul", {a, b})});
      case 4: return call("transpose", {a}, {ints_attr("perm", swapped(shape_of(a).size()))});
      case 5: return call("reshape", {a, ints(target())});
      case 6: return call("softmax", {a}, {int_attr("axis", -1)});
      case 7: return call("concat", {a, b}, {int_attr("axis", below(2) - 1)});
      case 8: return call("reduce_mean", {a, ints({-1})}, {int_attr("keepdims", below(2))});
      case 9: return call("squeeze", {call("unsqueeze", {a, ints({0})}), ints({0})});
      case 10: return call("expand", {b, call("shape", {a})});
      case 11: return call("slice", {a, ints({below(2)}), ints({3}), ints({-1})});
      case 12: return call("gather", {a, ints({0, -1})}, {int_attr("axis", below(2) - 1)});
      case 13: return call("reduce_sum", {a, ints({0})}, {int_attr("keepdims", below(2))});
      case 14: return call("where", {call("greater", {a, b}), a, b});
      case 15: return call("gelu", {a});
      case 16: return call("layer_normalization", {a, tensor(noise(6), {6})});
      case 17: return call("cum_sum", {a, ints({-1})});
      case 18:
        return call("cast", {call("cast", {a}, {int_attr("to", NEF_FLOAT64)})},
                    {int_attr("to", NEF_FLOAT32)});
      case 19: return call("pad", {a, ints({1, 2}), tensor({0.5f}, {}), ints({-1})});
      default: return call("identity", {a});
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
  const std::vector<const char*> devices_;
  std::vector<Tensor> values_;
};

// Inputs of such a graph with these sizes.
inline std::vector<Tensor> random_inputs(const Graph& g, int64_t batch, int64_t m,
                                         unsigned seed = 9) {
  std::mt19937 random(seed);
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

// Float32 results of one graph from two backends.
inline void expect_equal(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(shape_of(got), shape_of(want));
  const auto x = floats(got), y = floats(want);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i])) ASSERT_TRUE(std::isnan(x[i]));
    else ASSERT_NEAR(x[i], y[i], 1e-3f * (1 + std::abs(y[i])));
  }
}

// Sizes of `batch` and `m` of one run.
struct RandomSizes {
  int64_t batch, m;
};

// The graph of `seed` with its nodes dealt to `device`, the CPU and the planner, against `oracle`,
// which has all of it as written: runs that are launched, noted and replayed, each with its own
// data, then from three threads at once. False: no graph, as the symbols' bounds rule it out.
inline bool expect_devices_agree(unsigned seed, const char* device, const char* oracle,
                                 const std::vector<RandomSizes>& runs, int64_t most_rows = 64) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  size_t count = 0;
  const auto graph = [&](const std::vector<const char*>& devices) {
    RandomGraph random(seed, devices, most_rows);
    const std::vector<Tensor> outputs = random.outputs();
    count = outputs.size();
    return capture(outputs);
  };
  Graph written;
  try {
    written = graph({""});
  } catch (const std::runtime_error&) {
    return false;
  }
  const Graph dealt = graph({device, device, device, "cpu", ""});
  nef_compile_options plain = options(oracle);
  plain.disabled_passes = "canonicalise,fold,simplify,gelu,norm,attention,cse,dead,fuse";
  const Program reference = compile(written, plain), mixed = compile(dealt);
  struct Case {
    std::vector<Tensor> in, want;
    nef_code code;
  };
  std::vector<Case> cases;
  for (const RandomSizes& n : runs) {
    const auto data = static_cast<unsigned>(cases.size());
    Case& c = cases.emplace_back(Case{random_inputs(written, n.batch, n.m, data), {}, NEF_OK});
    c.code = take(try_run(reference, c.in, &c.want, count)).code;
  }
  const auto compare = [&] {
    for (size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE("run " + std::to_string(i));
      std::vector<Tensor> got;
      const Failure f = take(try_run(mixed, cases[i].in, &got, count));
      ASSERT_EQ(f.code, cases[i].code) << f.message;
      for (size_t k = 0; k < got.size(); ++k) expect_equal(got[k], cases[i].want[k]);
    }
  };
  compare();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(compare);
  for (std::thread& t : threads) t.join();
  return true;
}

}  // namespace nef::test
