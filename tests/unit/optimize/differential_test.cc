// SPDX-License-Identifier: Apache-2.0
// Every pass on and off, one by one, over a corpus of small graphs: the results stay within
// rounding of the unoptimised graph's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/ir/error.h"
#include "engine/optimize/optimize.h"
#include "tests/support/handles.h"

namespace nef::test {
namespace {

// What a graph is built from: named inputs with the data they are run with.
class Net {
 public:
  // `poisoned` inputs hold NaN, infinities and negative zeros among their numbers.
  explicit Net(int64_t batch, bool poisoned = false) : batch_(batch), poisoned_(poisoned) {}

  // A first dim of -1 is the batch.
  Tensor in(const std::vector<int64_t>& shape) {
    std::vector<nef_dim> dims;
    std::vector<int64_t> concrete;
    size_t n = 1;
    for (int64_t d : shape) {
      dims.push_back(d < 0 ? dim("batch", 1, 64) : dim(d));
      concrete.push_back(d < 0 ? batch_ : d);
      n *= static_cast<size_t>(concrete.back());
    }
    const std::string name = "x" + std::to_string(data_.size());
    std::vector<float> values = noise(n, static_cast<uint32_t>(17 + data_.size()));
    const float inf = std::numeric_limits<float>::infinity();
    const float poison[] = {std::nanf(""), inf, -inf, -0.f};
    for (size_t i = 0; poisoned_ && i < n; i += 11) values[i] = poison[i / 11 % 4];
    data_.push_back(tensor(values, concrete));
    return input(name.c_str(), dims);
  }
  Tensor weights(const std::vector<int64_t>& shape) {
    size_t n = 1;
    for (int64_t d : shape) n *= static_cast<size_t>(d);
    return tensor(noise(n, ++seed_), shape);
  }
  static Tensor number(float x) { return tensor({x}, {1}); }
  const std::vector<Tensor>& data() const { return data_; }

 private:
  int64_t batch_;
  bool poisoned_;
  uint32_t seed_ = 100;
  std::vector<Tensor> data_;
};

using Build = std::function<std::vector<Tensor>(Net&)>;

struct Sample {
  std::string name;
  Build build;
};

Tensor transpose(const Tensor& t, std::vector<int64_t> perm) {
  return op("transpose", {t}, {ints_attr("perm", perm)});
}
Tensor mean(const Tensor& t, int64_t axis) { return op("reduce_mean", {t, ints({axis})}); }

// `n` ops of all sorts; a reduction that is broadcast again stands in the middle, and every
// `live`-th value is an output too.
Build chain(int n, int live, bool reduce) {
  return [=](Net& net) {
    Tensor x = net.in({-1, 12});
    const Tensor start = x;
    std::vector<Tensor> outs;
    const char* unary[] = {"tanh", "neg", "sigmoid", "relu", "abs"};
    for (int i = 0; i < n; ++i) {
      if (reduce && i == n / 2) {
        x = op("sub", {x, mean(x, -1)});
      } else if (i % 3 == 0) {
        x = op("add", {x, i % 2 == 0 ? start : Net::number(0.25f)});
      } else {
        x = op(unary[i % 5], {x});
      }
      if (live > 0 && i % live == live - 1) outs.push_back(x);
    }
    outs.push_back(x);
    return outs;
  };
}

std::vector<Sample> corpus() {
  std::vector<Sample> out = {
      {"dense",
       [](Net& n) {
         return std::vector{op(
             "gelu",
             {op("add", {op("matmul", {n.in({-1, 24}), n.weights({24, 16})}), n.weights({16})})})};
       }},
      {"two layers and a residual",
       [](Net& n) {
         const Tensor x = n.in({-1, 16});
         const Tensor h =
             op("relu", {op("add", {op("matmul", {x, n.weights({16, 32})}), n.weights({32})})});
         return std::vector{op("add", {op("matmul", {h, n.weights({32, 16})}), x})};
       }},
      {"weights transposed",
       [](Net& n) {
         return std::vector{op("matmul", {n.in({-1, 8}), transpose(n.weights({5, 8}), {1, 0})})};
       }},
      {"transposes that meet",
       [](Net& n) {
         const Tensor x = n.in({-1, 3, 4});
         const Tensor t = transpose(transpose(x, {0, 2, 1}), {0, 2, 1});
         return std::vector{op("exp", {t}), transpose(transpose(x, {1, 2, 0}), {1, 0, 2})};
       }},
      {"reshapes that meet",
       [](Net& n) {
         const Tensor x = n.in({-1, 12});
         const Tensor r = op("reshape", {op("reshape", {x, ints({0, 3, 4})}), ints({0, 2, 6})});
         return std::vector{op("neg", {r}), op("reshape", {r, ints({-1})})};
       }},
      {"shape arithmetic",
       [](Net& n) {
         const Tensor x = n.in({-1, 6}), y = n.in({-1, 2, 3});
         const Tensor shape = op("shape", {y});
         return std::vector{op("add", {op("reshape", {x, shape}), y}),
                            op("expand", {mean(y, 1), shape})};
       }},
      {"the same thing twice",
       [](Net& n) {
         const Tensor x = n.in({-1, 7}), w = n.weights({7});
         const Tensor a = op("exp", {op("mul", {x, w})}), b = op("exp", {op("mul", {w, x})});
         return std::vector{op("div", {a, op("add", {b, Net::number(1)})}), a, b};
       }},
      {"identities",
       [](Net& n) {
         const Tensor x = n.in({-1, 7});
         Tensor y = op("identity", {op("add", {x, Net::number(0)})});
         y = op("div",
                {op("mul", {op("sub", {y, Net::number(0)}), Net::number(1)}), Net::number(1)});
         return std::vector{op("neg", {op("neg", {y})}), op("mul", {y, Net::number(0)})};
       }},
      {"constants fold",
       [](Net& n) {
         const Tensor c = op("exp", {op("matmul", {n.weights({3, 4}), n.weights({4, 5})})});
         return std::vector{op("matmul", {n.in({-1, 3}), c}), c};
       }},
      {"odd outputs",
       [](Net& n) {
         const Tensor x = n.in({-1, 4}), c = n.weights({4});
         const Tensor y = op("relu", {op("add", {x, c})});
         return std::vector{x, y, y, c, op("identity", {x}), op("add", {x, c})};
       }},
      {"unused parts",
       [](Net& n) {
         const Tensor x = n.in({-1, 8});
         op("exp", {x});
         nef_tensor* halves[2];
         const nef_tensor* raw[] = {x.get()};
         const nef_attr attrs[] = {int_attr("axis", 1), int_attr("num_outputs", 2)};
         ok(nef_op_call("split", raw, 1, attrs, 2, "", 2, halves));
         const Tensor first(halves[0]), second(halves[1]);
         return std::vector{op("neg", {second})};
       }},
      {"layer norm spelt out",
       [](Net& n) {
         const Tensor x = n.in({-1, 5, 16});
         const Tensor centred = op("sub", {x, mean(x, -1)});
         const Tensor variance = mean(op("mul", {centred, centred}), -1);
         const Tensor scaled =
             op("div", {centred, op("sqrt", {op("add", {variance, Net::number(1e-5f)})})});
         return std::vector{op("add", {op("mul", {scaled, n.weights({16})}), n.weights({16})})};
       }},
      {"gelu spelt out",
       [](Net& n) {
         const Tensor x = n.in({-1, 9});
         const Tensor e = op("erf", {op("div", {x, Net::number(1.41421356f)})});
         return std::vector{
             op("mul", {op("mul", {x, op("add", {e, Net::number(1)})}), Net::number(0.5f)})};
       }},
      {"attention spelt out",
       [](Net& n) {
         const Tensor q = n.in({-1, 2, 5, 8}), k = n.in({-1, 2, 5, 8}), v = n.in({-1, 2, 5, 8});
         const Tensor scores =
             op("mul", {op("matmul", {q, transpose(k, {0, 1, 3, 2})}), Net::number(0.35355339f)});
         return std::vector{op("matmul", {op("softmax", {scores}, {int_attr("axis", -1)}), v})};
       }},
      {"fusing past a broadcast",
       [](Net& n) {
         const Tensor small = op("tanh", {op("mul", {n.in({-1, 1}), Net::number(2)})});
         const Tensor large = n.in({-1, 9});
         const Tensor sum = op("add", {small, large});
         return std::vector{op("relu", {sum}), op("sigmoid", {small})};
       }},
      {"producers of a reduction",
       [](Net& n) {
         const Tensor x = op("exp", {op("neg", {n.in({-1, 6, 7})})});
         return std::vector{op("reduce_sum", {x, ints({1})}),
                            op("reduce_max", {op("abs", {x}), ints({2})}),
                            op("softmax", {op("mul", {x, x})}, {int_attr("axis", 1)})};
       }},
      {"epilogue with another user",
       [](Net& n) {
         const Tensor m = op("matmul", {n.in({-1, 8}), n.weights({8, 8})});
         const Tensor biased = op("add", {m, n.weights({8})});
         return std::vector{op("relu", {biased}), op("mul", {m, biased}), m};
       }},
      {"epilogue that broadcasts its contraction",
       [](Net& n) {
         const Tensor m = op("matmul", {n.in({-1, 8}), n.weights({8, 1})});
         return std::vector{op("add", {m, n.in({-1, 6})})};
       }},
  };
  for (int n : {1, 2, 3, 8, 33, 64, 99, 100, 101, 128, 300}) {
    out.push_back({"chain of " + std::to_string(n), chain(n, 0, false)});
    out.push_back({"chain with a reduction of " + std::to_string(n), chain(n, 0, true)});
    out.push_back({"chain with live values of " + std::to_string(n), chain(n, 7, true)});
  }
  return out;
}

std::vector<std::vector<float>> results(const Graph& g, const Net& net, size_t outputs,
                                        const char* device, const std::string& disabled) {
  nef_compile_options o = options(device);
  o.disabled_passes = disabled.c_str();
  const Program p = compile(g, o);
  std::vector<std::vector<float>> out;
  for (const Tensor& t : run(p, net.data(), outputs)) out.push_back(floats(t));
  return out;
}

// All passes but those, comma-separated.
std::string all_but(const std::vector<std::string>& kept) {
  std::string out;
  for (const optimize::Pass& p : optimize::passes()) {
    if (std::find(kept.begin(), kept.end(), p.name) != kept.end()) continue;
    out += (out.empty() ? "" : ",") + std::string(p.name);
  }
  return out;
}

// Infinite where one is finite and the other not, or one NaN and the other not.
double largest_error(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      most = std::max(most, std::fabs(double{a[i]} - b[i]));
    } else if (!(std::isnan(a[i]) && std::isnan(b[i])) && a[i] != b[i]) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return most;
}
double ulp(const std::vector<float>& v) {
  float most = 0;
  for (float f : v) {
    if (std::isfinite(f)) most = std::max(most, std::fabs(f));
  }
  return std::nextafter(most, 2 * most + 1) - double{most};
}

TEST(Differential, EveryPassOnAndOffGivesTheSame) {
  std::vector<std::pair<std::string, std::string>> variants = {{"all passes", ""}};
  for (const optimize::Pass& p : optimize::passes()) {
    variants.push_back({std::string("without ") + p.name, p.name});
    variants.push_back({std::string("only ") + p.name, all_but({p.name})});
  }
  int compared = 0;
  for (const Sample& s : corpus()) {
    for (const auto& [batch, poisoned] : {std::pair{1, false}, {3, false}, {3, true}}) {
      Net net(batch, poisoned);
      const std::vector<Tensor> outs = s.build(net);
      const Graph g = capture(outs);
      const auto exact = results(g, net, outs.size(), "reference", all_but({}));
      const auto plain = results(g, net, outs.size(), "cpu", all_but({}));
      for (const auto& [name, disabled] : variants) {
        const auto got = results(g, net, outs.size(), "cpu", disabled);
        for (size_t i = 0; i < outs.size(); ++i) {
          ASSERT_EQ(got[i].size(), exact[i].size()) << s.name << ", " << name;
          ASSERT_TRUE(std::isfinite(largest_error(plain[i], exact[i]))) << s.name;
          const double allowed = 2 * largest_error(plain[i], exact[i]) + 2 * ulp(exact[i]);
          EXPECT_LE(largest_error(got[i], exact[i]), allowed)
              << s.name << ", batch " << batch << (poisoned ? ", poisoned, " : ", ") << name
              << ", output " << i;
          ++compared;
        }
      }
    }
  }
  std::printf("%zu graphs, %zu settings of passes, %d outputs compared\n", corpus().size(),
              variants.size(), compared);
}

// Bit for bit: what runs twice, and whatever the threads do.
TEST(Differential, TheSameProgramGivesTheSameBits) {
  for (const Sample& s : corpus()) {
    Net net(3);
    const std::vector<Tensor> outs = s.build(net);
    const Graph g = capture(outs);
    const auto first = results(g, net, outs.size(), nullptr, "");
    EXPECT_EQ(results(g, net, outs.size(), nullptr, ""), first) << s.name;
  }
}

TEST(DisabledPasses, AreNamed) {
  uint32_t all = 0;
  for (size_t i = 0; i < optimize::passes().size(); ++i) {
    EXPECT_EQ(optimize::parse_disabled(optimize::passes()[i].name), 1u << i);
    all |= 1u << i;
  }
  EXPECT_EQ(optimize::parse_disabled(all_but({})), all);
  EXPECT_EQ(optimize::parse_disabled(""), 0u);
  EXPECT_EQ(optimize::parse_disabled(",cse,,"), optimize::parse_disabled("cse"));
  EXPECT_STREQ(optimize::passes().back().name, "fuse");
}

TEST(DisabledPasses, UnknownNamesAreRefusedWithTheList) {
  const Graph g = capture({op("neg", {input("x", {dim(1)})})});
  nef_compile_options o = options();
  nef_program* none = nullptr;
  for (const char* name : {"inline", "CSE", "cse,magic", " cse"}) {
    o.disabled_passes = name;
    const Failure f = take(nef_graph_compile(g.get(), &o, &none));
    EXPECT_EQ(f.code, NEF_INVALID_ARGUMENT) << name;
    EXPECT_NE(f.message.find("canonicalise"), std::string::npos) << f.message;
  }
}

}  // namespace
}  // namespace nef::test
