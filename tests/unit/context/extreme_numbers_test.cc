// SPDX-License-Identifier: Apache-2.0
// Numbers at the ends of int64 as elements that inference follows: what it says of them is what
// the kernels compute, or nothing. No number is taken for the name of an expression.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

constexpr int64_t kNames = INT64_C(1) << 31;  // numbers below INT64_MIN + this are no dims
const std::vector<int64_t> kExtremes = {INT64_MIN,
                                        INT64_MIN + 1,
                                        INT64_MIN + 1000,
                                        INT64_MIN + kNames - 1,
                                        INT64_MIN + kNames,
                                        INT64_MIN + kNames + 1,
                                        INT32_MIN,
                                        -2,
                                        -1,
                                        0,
                                        1,
                                        2,
                                        3,
                                        INT32_MAX,
                                        INT64_MAX - kNames,
                                        INT64_MAX - kNames + 1,
                                        INT64_MAX - 1000,
                                        INT64_MAX};

using Inputs = std::vector<Tensor>;
struct Case {
  const char* name;
  std::function<Tensor(const Inputs&)> make;
  size_t inputs = 2;
  bool scalars = false;  // inputs are scalars, not vectors of one element
  bool sized = false;    // the size of the result depends on the numbers
  bool narrow = true;    // there is one for int32
};

Tensor to_int64(const Tensor& t) { return op("cast", {t}, {int_attr("to", NEF_INT64)}); }
Case plain(const char* name) {
  return {name, [name](const Inputs& in) { return op(name, in); }};
}
Case truth(const char* name) {
  return {name, [name](const Inputs& in) { return to_int64(op(name, in)); }};
}
Case of_one(const char* name) {
  return {name, [name](const Inputs& in) { return op(name, {in[0]}); }, 1};
}
// A reduction of both numbers.
Case reduction(const char* name) {
  return {name,
          [name](const Inputs& in) { return op(name, {op("concat", in, {int_attr("axis", 0)})}); }};
}

std::vector<Case> cases() {
  const auto both = [](const Inputs& in) { return op("concat", in, {int_attr("axis", 0)}); };
  std::vector<Case> out;
  for (const char* name : {"add", "sub", "mul", "div", "mod", "max", "min", "sum"}) {
    out.push_back(plain(name));
  }
  for (const char* name : {"equal", "less", "greater", "less_or_equal", "greater_or_equal"}) {
    out.push_back(truth(name));
  }
  for (const char* name : {"neg", "abs", "identity"}) out.push_back(of_one(name));
  for (const char* name : {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min"}) {
    out.push_back(reduction(name));
  }
  const auto add = [&out](Case c) { out.push_back(std::move(c)); };
  add({"fmod", [](const Inputs& in) { return op("mod", in, {int_attr("fmod", 1)}); }});
  add({"sum of three", [](const Inputs& in) { return op("sum", {in[0], in[1], in[0]}); }});
  add({"cast to int32",
       [](const Inputs& in) { return to_int64(op("cast", {in[0]}, {int_attr("to", NEF_INT32)})); },
       1});
  add({"cast to bool",
       [](const Inputs& in) { return to_int64(op("cast", {in[0]}, {int_attr("to", NEF_BOOL)})); },
       1});
  add({"not",
       [](const Inputs& in) {
         return to_int64(op("not", {op("cast", {in[0]}, {int_attr("to", NEF_BOOL)})}));
       },
       1});
  for (const char* name : {"and", "or", "xor"}) {
    add({name, [name](const Inputs& in) {
           const auto given = [](const Tensor& t) {
             return op("cast", {t}, {int_attr("to", NEF_BOOL)});
           };
           return to_int64(op(name, {given(in[0]), given(in[1])}));
         }});
  }
  add({"clip", [](const Inputs& in) { return op("clip", {in[0], in[1], in[1]}); }});
  add({"where", [](const Inputs& in) { return op("where", {op("less", in), in[0], in[1]}); }});
  add({"concat", both});
  add({"gather", [both](const Inputs& in) { return op("gather", {both(in), ints({1, -2})}); }});
  add({"slice back", [both](const Inputs& in) {
         return op("slice",
                   {both(in), ints({INT64_MAX}), ints({INT64_MIN}), ints({0}), ints({-1})});
       }});
  add({"split", [both](const Inputs& in) {
         std::vector<Tensor> parts(2);
         const nef_attr half = int_attr("num_outputs", 2);
         const Tensor whole = both(in);
         const nef_tensor* raw = whole.get();
         nef_tensor* outs[2] = {};
         ok(nef_op_call("split", &raw, 1, &half, 1, "", 2, outs));
         parts[0] = Tensor(outs[0]);
         parts[1] = Tensor(outs[1]);
         return op("sub", {parts[1], parts[0]});
       }});
  add({"reshape", [both](const Inputs& in) { return op("reshape", {both(in), ints({-1})}); }});
  add({"transpose", [both](const Inputs& in) { return op("transpose", {both(in)}); }});
  add({"squeeze and unsqueeze",
       [](const Inputs& in) {
         return op("unsqueeze", {op("squeeze", {in[0], ints({0})}), ints({0})});
       },
       1});
  // Sizes that the numbers decide.
  add({"range",
       [](const Inputs& in) {
         return op("range", {in[0], in[1], in[2]});
       },
       3, true, true});
  add({"slice of five",
       [](const Inputs& in) {
         return op("slice", {ints({1, 2, 3, 4, 5}), in[0], in[1], ints({0}), in[2]});
       },
       3, false, true, false});
  return out;
}

Tensor leaf(int64_t value, nef_dtype dtype, bool scalar) {
  const int64_t one = 1;
  const auto narrow = static_cast<int32_t>(value);
  const void* data = dtype == NEF_INT64 ? static_cast<const void*>(&value) : &narrow;
  Tensor t;
  ok(nef_tensor_create(dtype, scalar ? 0 : 1, &one, data, t.out()));
  return t;
}

std::vector<int64_t> read(const Tensor& t) {
  size_t n = 1;
  for (int64_t d : shape_of(t)) n *= static_cast<size_t>(d);
  std::vector<int64_t> wide(n);
  if (nef_tensor_dtype(t.get()) == NEF_INT64) {
    ok(nef_tensor_read(t.get(), wide.data(), n * sizeof(int64_t)));
    return wide;
  }
  std::vector<int32_t> narrow(n);
  ok(nef_tensor_read(t.get(), narrow.data(), n * sizeof(int32_t)));
  return {narrow.begin(), narrow.end()};
}

std::optional<std::vector<int64_t>> known(const Tensor& t) {
  const int64_t n = nef_tensor_known_ints(t.get(), nullptr, 0);
  if (n < 0) return std::nullopt;
  std::vector<int64_t> out(static_cast<size_t>(n));
  nef_tensor_known_ints(t.get(), out.data(), out.size());
  return out;
}

// Calls `each` with every choice of numbers that fit the dtype.
void for_numbers(size_t count, nef_dtype dtype,
                 const std::function<void(const std::vector<int64_t>&)>& each) {
  std::vector<int64_t> from;
  for (int64_t n : kExtremes) {
    if (dtype == NEF_INT64 || (n >= INT32_MIN && n <= INT32_MAX)) from.push_back(n);
  }
  std::vector<size_t> at(count, 0);
  for (;;) {
    std::vector<int64_t> numbers;
    for (size_t i : at) numbers.push_back(from[i]);
    each(numbers);
    size_t i = 0;
    while (i < count && ++at[i] == from.size()) at[i++] = 0;
    if (i == count) return;
  }
}

// The op over inputs that have no data when it is compiled.
Program program_of(const Case& c, nef_dtype dtype, const char* device) {
  Inputs in;
  const std::vector<nef_dim> dims(c.scalars ? 0 : 1, dim(1));
  for (size_t i = 0; i < c.inputs; ++i) in.push_back(input(std::to_string(i).c_str(), dims, dtype));
  return compile(capture({c.make(in)}), options(device));
}

// What inference says, if it accepts the numbers.
std::optional<std::vector<int64_t>> inferred(const Case& c, const Inputs& in) {
  try {
    return known(c.make(in));
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

TEST(ExtremeNumbers, WhatInferenceKnowsIsWhatKernelsCompute) {
  for (const Case& c : cases()) {
    size_t told = 0;
    for (nef_dtype dtype : {NEF_INT64, NEF_INT32}) {
      if (dtype == NEF_INT32 && !c.narrow) continue;
      const Program reference = program_of(c, dtype, "reference"),
                    cpu = program_of(c, dtype, "cpu");
      for_numbers(c.inputs, dtype, [&](const std::vector<int64_t>& numbers) {
        Inputs in;
        for (int64_t n : numbers) in.push_back(leaf(n, dtype, c.scalars));
        const auto says = inferred(c, in);
        if (c.sized && !says) return;  // it may be as large as the number
        std::string what = std::string(c.name) + (dtype == NEF_INT64 ? " int64" : " int32");
        for (int64_t n : numbers) what += ' ' + std::to_string(n);
        const auto computed = read(run(reference, in)[0]);
        EXPECT_EQ(read(run(cpu, in)[0]), computed) << what;
        if (!says) return;
        ++told;
        EXPECT_EQ(*says, computed) << what;
      });
    }
    EXPECT_GT(told, 0u) << c.name << ": inference says nothing, so nothing is tested";
  }
}

// Each number as what a shape, a bound or an index is made of, given and computed: an error or a
// tensor, but never the name of an expression.
TEST(ExtremeNumbers, AreSizesOrErrors) {
  const Tensor x = tensor(noise(6), {6}), scalar = tensor({1}, {});
  const Tensor symbolic = input("x", {dim("n"), dim("m")});
  using Use = std::function<Tensor(const Tensor&)>;
  const auto as_scalar = [](const Tensor& c) { return op("squeeze", {c, ints({0})}); };
  const std::vector<std::pair<const char*, Use>> uses = {
      {"constant_of_shape", [&](const Tensor& c) { return op("constant_of_shape", {c}); }},
      {"expand",
       [&](const Tensor& c) {
         return op("expand", {scalar, c});
       }},
      {"tile",
       [&](const Tensor& c) {
         return op("tile", {x, c});
       }},
      {"slice from",
       [&](const Tensor& c) {
         return op("slice", {x, c, ints({6})});
       }},
      {"slice to",
       [&](const Tensor& c) {
         return op("slice", {x, ints({0}), c});
       }},
      {"slice by",
       [&](const Tensor& c) {
         return op("slice", {x, ints({0}), ints({6}), ints({0}), c});
       }},
      {"slice axis",
       [&](const Tensor& c) {
         return op("slice", {x, ints({0}), ints({6}), c});
       }},
      {"slice of a symbol",
       [&](const Tensor& c) {
         return op("slice", {symbolic, c, c});
       }},
      {"gather",
       [&](const Tensor& c) {
         return op("gather", {x, c});
       }},
      {"gather of content",
       [&](const Tensor& c) {
         return op("gather", {ints({1, 2, 3}), c});
       }},
      {"gather_elements",
       [&](const Tensor& c) {
         return op("gather_elements", {x, c});
       }},
      {"reshape",
       [&](const Tensor& c) {
         return op("reshape", {x, c});
       }},
      {"reshape of symbols",
       [&](const Tensor& c) {
         return op("reshape", {symbolic, c});
       }},
      {"pad",
       [&](const Tensor& c) {
         return op("pad", {x, op("concat", {c, c}, {int_attr("axis", 0)})});
       }},
      {"topk",
       [&](const Tensor& c) {
         return op("topk", {x, c});
       }},
      {"one_hot",
       [&](const Tensor& c) {
         return op("one_hot", {ints({1}), c, tensor({0, 1}, {2})});
       }},
      {"split",
       [&](const Tensor& c) {
         const nef_tensor* in[2] = {x.get(), c.get()};
         Tensor part;
         ok(nef_op_call("split", in, 2, nullptr, 0, "", 1, part.out()));
         return part;
       }},
      {"squeeze",
       [&](const Tensor& c) {
         return op("squeeze", {x, c});
       }},
      {"unsqueeze",
       [&](const Tensor& c) {
         return op("unsqueeze", {x, c});
       }},
      {"cumsum",
       [&](const Tensor& c) {
         return op("cumsum", {x, as_scalar(c)});
       }},
      {"reduce_sum",
       [&](const Tensor& c) {
         return op("reduce_sum", {x, c});
       }},
      {"range",
       [&](const Tensor& c) {
         return op("range", {as_scalar(ints({0})), as_scalar(c), as_scalar(ints({1}))});
       }},
      {"range by",
       [&](const Tensor& c) {
         return op("range", {as_scalar(c), as_scalar(ints({3})), as_scalar(c)});
       }},
      {"hann_window", [&](const Tensor& c) { return op("hann_window", {as_scalar(c)}); }},
      {"resize",
       [&](const Tensor& c) {
         return op("resize", {x, Tensor(), Tensor(), c});
       }},
      {"center_crop_pad",
       [&](const Tensor& c) {
         return op("center_crop_pad", {x, c});
       }},
      {"dft",
       [&](const Tensor& c) {
         return op("dft", {tensor(noise(6), {1, 6, 1}), as_scalar(c)});
       }},
      {"trilu",
       [&](const Tensor& c) {
         return op("trilu", {tensor(noise(4), {2, 2}), as_scalar(c)});
       }},
  };
  const std::vector<std::pair<const char*, std::function<Tensor(int64_t)>>> sources = {
      {"given", [](int64_t n) { return ints({n}); }},
      {"divided",
       [](int64_t n) {
         return op("div", {ints({n}), ints({-1})});
       }},
      {"negated", [](int64_t n) { return op("neg", {ints({n})}); }},
      {"less",
       [](int64_t n) {
         return op("sub", {ints({n}), ints({1000})});
       }},
      {"remainder",
       [](int64_t n) {
         return op("mod", {ints({n}), ints({INT64_MIN})});
       }},
  };
  size_t made = 0;
  for (const auto& [source_name, source] : sources) {
    for (int64_t n : kExtremes) {
      const Tensor c = source(n);
      const auto value = known(c);
      if (value) {
        EXPECT_GE((*value)[0], INT64_MIN + kNames) << source_name << ' ' << n;
      }
      for (const auto& [name, use] : uses) {
        try {
          const Tensor y = use(c);
          for (int64_t d : shape_of(y))
            EXPECT_GE(d, -1) << name << " of " << source_name << ' ' << n;
          known(y);
          ++made;
        } catch (const std::runtime_error&) {
          // Refused: an error like any other.
        }
      }
    }
  }
  EXPECT_GT(made, 0u);
}

// As the issue was found: -INT64_MAX + 1000 as the quotient of two known tensors.
TEST(ExtremeNumbers, QuotientIsANumberAtRunTime) {
  const Tensor quotient = op("div", {ints({INT64_MAX - 1000}), ints({-1})});
  EXPECT_EQ(nef_tensor_known_ints(quotient.get(), nullptr, 0), -1);
  EXPECT_EQ(read(quotient), (std::vector<int64_t>{-INT64_MAX + 1000}));
  EXPECT_EQ(nef_tensor_known_ints(quotient.get(), nullptr, 0), -1);
}

}  // namespace
}  // namespace nef::test
