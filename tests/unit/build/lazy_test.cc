// SPDX-License-Identifier: Apache-2.0
#include "engine/build/lazy.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstring>
#include <thread>

#include "engine/ir/error.h"
#include "engine/ir/verify.h"

namespace nef::build {
namespace {

// A handle with an owner.
class Lazy {
 public:
  explicit Lazy(LazyTensor* t) : t_(t) {}
  Lazy(const Lazy& other) : t_(other.t_) { retain(t_); }
  Lazy(Lazy&& other) noexcept : t_(std::exchange(other.t_, nullptr)) {}
  Lazy& operator=(Lazy other) {
    std::swap(t_, other.t_);
    return *this;
  }
  ~Lazy() { release(t_); }
  LazyTensor* get() const { return t_; }

 private:
  LazyTensor* t_;
};

std::shared_ptr<ir::Buffer> bytes(std::vector<float> values) {
  auto buffer = ir::Buffer::allocate(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(buffer->data(), values.data(), values.size() * sizeof(float));
  return buffer;
}
Lazy leaf(std::vector<float> values) {
  const int64_t n = static_cast<int64_t>(values.size());
  return Lazy(make_leaf(NEF_FLOAT32, {&n, 1}, bytes(std::move(values))));
}
Lazy placeholder(const char* name, std::vector<DimSpec> dims) {
  return Lazy(make_placeholder(name, NEF_FLOAT32, dims));
}
DimSpec symbol(const char* name, int64_t min = 1, int64_t max = ir::kUnbounded) {
  DimSpec d;
  d.symbol = name;
  d.min = min;
  d.max = max;
  return d;
}
DimSpec number(int64_t n) {
  DimSpec d;
  d.value = n;
  return d;
}
Lazy op(nef_op id, std::vector<Lazy> inputs) {
  std::vector<LazyTensor*> raw, outs;
  for (const Lazy& l : inputs) raw.push_back(l.get());
  const ir::OpSpec& s = ir::spec(id);
  make_op(id, raw, s.n_attrs == 0 ? std::vector<int64_t>{} : ir::AttrBuilder(id).build(), 1, "",
          &outs);
  return Lazy(outs.at(0));
}
Captured capture_one(const Lazy& t, LeafMode mode = LeafMode::Constants) {
  LazyTensor* raw[] = {t.get()};
  const std::string names[] = {"y"};
  return capture(raw, names, mode);
}
nef_code code_of(auto&& f) {
  try {
    f();
    return NEF_OK;
  } catch (const Error& e) {
    return e.code();
  }
}

class LazyTest : public ::testing::Test {
 protected:
  void SetUp() override { before_ = live_nodes(); }
  void TearDown() override { EXPECT_EQ(live_nodes(), before_) << "nodes leaked"; }
  uint64_t before_ = 0;
};

TEST_F(LazyTest, CaptureKeepsSharingAndOrder) {
  const Lazy x = placeholder("x", {number(2)});
  const Lazy shared = op(NEF_OP_EXP, {x});
  const Lazy y = op(NEF_OP_ADD, {op(NEF_OP_MUL, {shared, shared}), shared});
  const Captured c = capture_one(y);
  ir::verify(c.graph, "test");
  EXPECT_EQ(c.graph.node_count(), 3u);
  EXPECT_EQ(c.graph.graph_inputs().size(), 1u);
  EXPECT_EQ(c.graph.op(0), NEF_OP_EXP);
  EXPECT_EQ(c.graph.inputs(1)[0], c.graph.inputs(1)[1]);
}

TEST_F(LazyTest, LeavesAreConstantsOrInputsOnce) {
  const Lazy a = leaf({1, 2});
  const Lazy y = op(NEF_OP_ADD, {a, a});
  const Captured constants = capture_one(y);
  EXPECT_EQ(constants.graph.constant_count(), 1u);
  EXPECT_EQ(constants.graph.graph_inputs().size(), 0u);
  const Captured inputs = capture_one(y, LeafMode::Inputs);
  EXPECT_EQ(inputs.graph.graph_inputs().size(), 1u);
  ASSERT_EQ(inputs.input_data.size(), 1u);
  EXPECT_EQ(inputs.input_data[0], data_of(a.get()));
}

TEST_F(LazyTest, HostInputsShapeTheProgramOfTheLazyDoor) {
  const int64_t two = 2, elements[] = {3, 1};
  auto data = ir::Buffer::allocate(16);
  std::memcpy(data->data(), elements, 16);
  const Lazy shape(make_leaf(NEF_INT64, {&two, 1}, data));
  const Captured c = capture_one(op(NEF_OP_RESHAPE, {leaf({1, 2, 3}), shape}), LeafMode::Inputs);
  EXPECT_EQ(c.graph.graph_inputs().size(), 1u);
  EXPECT_EQ(c.graph.constant_count(), 1u);
}

TEST_F(LazyTest, MaterialisedValuesAreLeavesAndLetTheirInputsGo) {
  Lazy a = leaf({1, 2});
  const Lazy y = op(NEF_OP_EXP, {a});
  const Lazy z = op(NEF_OP_NEG, {y});
  const uint64_t live = live_nodes();
  a = Lazy(nullptr);
  EXPECT_EQ(live_nodes(), live);  // y still needs it
  materialise(y.get(), bytes({3, 4}));
  EXPECT_EQ(live_nodes(), live - 1);
  const Captured c = capture_one(z);
  EXPECT_EQ(c.graph.node_count(), 1u);
  EXPECT_EQ(c.graph.constant_count(), 1u);
}

TEST_F(LazyTest, TheFirstDataOfAValueStays) {
  const Lazy y = op(NEF_OP_EXP, {leaf({1, 2})});
  const auto first = bytes({3, 4});
  materialise(y.get(), first);
  materialise(y.get(), bytes({5, 6}));  // another thread computed it too
  EXPECT_EQ(data_of(y.get()), first);
}

TEST_F(LazyTest, ANodeLetsItsInputsGoWithItsLastOutput) {
  Lazy a = leaf({3, 1, 2});
  const int64_t one = 1, k = 2;
  auto data = ir::Buffer::allocate(8);
  std::memcpy(data->data(), &k, 8);
  const Lazy count(make_leaf(NEF_INT64, {&one, 1}, data));
  LazyTensor* inputs[] = {a.get(), count.get()};
  std::vector<LazyTensor*> outs;
  make_op(NEF_OP_TOPK, inputs, ir::AttrBuilder(NEF_OP_TOPK).build(), 2, "", &outs);
  const Lazy values(outs.at(0)), indices(outs.at(1));
  const uint64_t live = live_nodes();
  a = Lazy(nullptr);
  materialise(values.get(), bytes({3, 2}));
  EXPECT_EQ(live_nodes(), live);
  materialise(indices.get(), ir::Buffer::allocate(16));
  EXPECT_EQ(live_nodes(), live - 1);
}

TEST_F(LazyTest, OutputsKeepTheirNodeAlive) {
  Lazy y = op(NEF_OP_EXP, {leaf({1})});
  const Lazy again = y;
  y = Lazy(nullptr);
  EXPECT_EQ(capture_one(again).graph.node_count(), 1u);
}

TEST_F(LazyTest, OneNameMayHaveOtherBoundsInAnotherGraph) {
  const auto graph_with = [](int64_t most) {
    const Lazy x = placeholder("x", {symbol("batch", 1, most), number(3)});
    return capture_one(op(NEF_OP_RELU, {x})).graph;
  };
  const ir::Graph small = graph_with(8), large = graph_with(4096);
  EXPECT_EQ(small.pool().upper(small.dims(small.graph_outputs()[0])[0]), 8);
  EXPECT_EQ(large.pool().upper(large.dims(large.graph_outputs()[0])[0]), 4096);
}

TEST_F(LazyTest, OneSymbolInOneGraphHasTheTighterBounds) {
  const Lazy a = placeholder("a", {symbol("n", 2, 100)}),
             b = placeholder("b", {symbol("n", 1, 50)});
  const ir::Graph g = capture_one(op(NEF_OP_ADD, {a, b})).graph;
  const ir::Dim n = g.dims(g.graph_outputs()[0])[0];
  EXPECT_EQ(g.pool().lower(n), 2);
  EXPECT_EQ(g.pool().upper(n), 50);
}

TEST_F(LazyTest, NamesAreTakenOnce) {
  const Lazy a = placeholder("x", {number(1)}), b = placeholder("x", {number(1)});
  EXPECT_EQ(code_of([&] { capture_one(op(NEF_OP_ADD, {a, b})); }), NEF_DUPLICATE_NAME);
  LazyTensor* raw[] = {a.get(), a.get()};
  const std::string names[] = {"y", "y"};
  EXPECT_EQ(code_of([&] { capture(raw, names, LeafMode::Constants); }), NEF_DUPLICATE_NAME);
  EXPECT_EQ(code_of([&] { capture_one(a, LeafMode::Inputs); }), NEF_INVALID_ARGUMENT);
}

TEST_F(LazyTest, MistakesAreFoundAtTheCall) {
  const Lazy a = leaf({1, 2}), b = leaf({1, 2, 3});
  EXPECT_EQ(code_of([&] { op(NEF_OP_ADD, {a, b}); }), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(code_of([&] { op(NEF_OP_NOT, {a}); }), NEF_DTYPE_MISMATCH);
  const int64_t three = 3, negative = -1;
  EXPECT_EQ(code_of([&] { make_leaf(NEF_FLOAT32, {&three, 1}, bytes({1})); }), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(code_of([&] {
              make_leaf(NEF_FLOAT32, {&negative, 1}, bytes({}));
            }),
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { make_leaf(99, {&three, 1}, bytes({1, 2, 3})); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { placeholder("", {}); }), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { placeholder("x", {symbol("n", 5, 2)}); }), NEF_INVALID_ARGUMENT);
}

// Runs a function on a stack of 64 KiB.
void on_small_stack(void* (*f)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 64 * 1024), 0);
  ASSERT_EQ(pthread_create(&thread, &attributes, f, argument), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_F(LazyTest, ALongChainIsCapturedAndReleasedOnASmallStack) {
  size_t nodes = 0;
  on_small_stack(
      [](void* out) -> void* {
        Lazy x = leaf({1});
        for (int i = 0; i < 100000; ++i) x = op(NEF_OP_EXP, {x});
        *static_cast<size_t*>(out) = capture_one(x).graph.node_count();
        return nullptr;
      },
      &nodes);
  EXPECT_EQ(nodes, 100000u);
}

TEST_F(LazyTest, AWideFanIsReleasedToo) {
  const Lazy x = leaf({1});
  std::vector<Lazy> sums;
  for (int i = 0; i < 1000; ++i) sums.push_back(op(NEF_OP_EXP, {x}));
  while (sums.size() > 1) {
    std::vector<Lazy> next;
    for (size_t i = 0; i + 1 < sums.size(); i += 2)
      next.push_back(op(NEF_OP_ADD, {sums[i], sums[i + 1]}));
    if (sums.size() % 2 == 1) next.push_back(sums.back());
    sums = std::move(next);
  }
  EXPECT_EQ(capture_one(sums[0]).graph.node_count(), 1999u);
}

TEST_F(LazyTest, ThreadsBuildOnTheSameValues) {
  const Lazy x = placeholder("x", {symbol("n"), number(4)}), w = leaf({1, 2, 3, 4});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        Lazy y = op(NEF_OP_ADD, {x, w});
        for (int j = 0; j < i; ++j) y = op(NEF_OP_MUL, {y, x});
        const Captured c = capture_one(y);
        if (c.graph.node_count() != static_cast<size_t>(i + 1)) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Each NonZero has a size of its own.
TEST_F(LazyTest, ExpressionsThatNobodyNeedsAreForgotten) {
  const uint64_t before = live_expressions();
  const Lazy x = placeholder("kept_x", {symbol("kept_n"), number(4)});
  const Lazy kept = op(NEF_OP_NONZERO, {op(NEF_OP_ADD, {x, x})});
  const std::string shape = shape_str(kept.get()), input_shape = shape_str(x.get());
  for (int i = 0; i < 20000; ++i) {
    const Lazy sizes = op(NEF_OP_NONZERO, {x});
    const Lazy doubled = op(NEF_OP_ADD, {sizes, sizes});
    ASSERT_EQ(doubled.get()->dims().size(), 2u);
  }
  EXPECT_LT(live_expressions(), before + 4096);
  EXPECT_EQ(shape_str(kept.get()), shape);
  EXPECT_EQ(shape_str(x.get()), input_shape);
  const Lazy again = placeholder("again_x", {symbol("kept_n"), number(4)});
  EXPECT_EQ(again.get()->dims()[0], x.get()->dims()[0]);
}

}  // namespace
}  // namespace nef::build
