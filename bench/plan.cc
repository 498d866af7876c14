// SPDX-License-Identifier: Apache-2.0
// plan_1k, plan_10k, plan_100k: milliseconds to capture, optimise and plan a graph of that many
// nodes (transformer-like blocks of matmul, norms, softmax and elementwise ops). An attribute
// changes each time, so that no cache can answer.
#include <nef/nef.h>
#include <time.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "bench/rows.h"
#include "engine/build/lazy.h"
#include "engine/compile/program.h"
#include "engine/context/context.h"
#include "engine/ir/attrs.h"
#include "engine/runtime/binding.h"

using nef::build::LazyTensor;

namespace {

constexpr int64_t kTokens = 64, kWidth = 64;

class Blocks {
 public:
  explicit Blocks(double slope) : slope_(slope) {}
  ~Blocks() {
    for (LazyTensor* t : all_) nef::build::release(t);
  }

  // A chain of blocks with at least `nodes` nodes in all.
  LazyTensor* build(size_t nodes) {
    LazyTensor* x = leaf({kTokens, kWidth});
    while (count_ < nodes) x = block(x);
    return x;
  }
  size_t count() const { return count_; }

 private:
  LazyTensor* leaf(std::vector<int64_t> dims) {
    size_t bytes = 4;
    for (int64_t d : dims) bytes *= static_cast<size_t>(d);
    // Leaves of one size share memory, as weights of a mapped file do.
    auto& data = data_[bytes];
    if (data == nullptr) data = nef::ir::Buffer::allocate(bytes);
    LazyTensor* t = nef::build::make_leaf(NEF_FLOAT32, dims, data);
    all_.push_back(t);
    return t;
  }
  LazyTensor* op(nef_op id, std::vector<LazyTensor*> in, std::vector<int64_t> attrs = {}) {
    if (attrs.empty()) attrs = nef::ir::AttrBuilder(id).build();
    std::vector<LazyTensor*> outs;
    nef::build::make_op(id, in, std::move(attrs), 1, "", &outs);
    all_.push_back(outs[0]);
    ++count_;
    return outs[0];
  }
  LazyTensor* linear(LazyTensor* x) {
    return op(NEF_OP_ADD, {op(NEF_OP_MATMUL, {x, leaf({kWidth, kWidth})}), leaf({kWidth})});
  }
  LazyTensor* norm(LazyTensor* x) {
    return op(NEF_OP_LAYER_NORMALIZATION, {x, leaf({kWidth}), leaf({kWidth})});
  }
  LazyTensor* block(LazyTensor* x) {
    LazyTensor* q = linear(x);
    LazyTensor* k = op(NEF_OP_TRANSPOSE, {linear(x)});
    LazyTensor* v = linear(x);
    LazyTensor* scores = op(NEF_OP_MUL, {op(NEF_OP_MATMUL, {q, k}), leaf({})});
    LazyTensor* mixed = op(NEF_OP_MATMUL, {op(NEF_OP_SOFTMAX, {scores}), v});
    LazyTensor* h = norm(op(NEF_OP_ADD, {linear(mixed), x}));
    LazyTensor* f = linear(op(NEF_OP_GELU, {linear(h)}));
    nef::ir::AttrBuilder slope(NEF_OP_LEAKY_RELU);
    slope.set_float(NEF_LEAKY_RELU_ALPHA, slope_);
    return op(NEF_OP_LEAKY_RELU, {norm(op(NEF_OP_ADD, {f, h}))}, slope.build());
  }

  const double slope_;
  std::map<size_t, std::shared_ptr<nef::ir::Buffer>> data_;
  std::vector<LazyTensor*> all_;
  size_t count_ = 0;
};

// Planning is one thread's work: its CPU time is what an idle machine would show as wall time.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Times {
  double build, capture, optimise, lower, memory;
  double planning() const { return capture + optimise + lower + memory; }
};

Times measure(size_t nodes, double slope) {
  Times t{};
  double at = now();
  const auto lap = [&at] {
    const double before = at;
    at = now();
    return at - before;
  };
  Blocks blocks(slope);
  LazyTensor* root = blocks.build(nodes);
  t.build = lap();
  nef::build::Captured captured = nef::build::capture({&root, 1}, {}, nef::build::LeafMode::Inputs);
  t.capture = lap();
  const auto env = nef::context::Context::get().environment();
  nef::compile::Program p;
  p.devices = env.devices;
  auto planned = nef::compile::optimise_and_place(std::move(captured.graph), {}, env);
  p.graph = std::make_shared<const nef::ir::Graph>(std::move(planned.graph));
  p.regions = std::move(planned.regions);
  p.placement = std::move(planned.placement);
  t.optimise = lap();
  nef::compile::lower(p);
  nef::compile::form_waves(p);
  t.lower = lap();
  const nef::runtime::Layout layout(p);
  const auto binding = layout.bind({});
  t.memory = lap();
  if (binding->spaces.empty()) std::abort();
  return t;
}

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  const struct {
    const char* name;
    size_t nodes;
    int rounds;
  } cases[] = {{"plan_1k", 1000, 200}, {"plan_10k", 10000, 60}, {"plan_100k", 100000, 8}};
  double slope = 0.01;
  for (const auto& c : cases) {
    if (!report.wants(c.name)) continue;
    std::vector<double> total, build, capture, optimise, lower, memory;
    for (int i = 0; i < c.rounds + 2; ++i) {
      const Times t = measure(c.nodes, slope += 1e-6);
      if (i < 2) continue;  // warm-up: support answers, heap
      total.push_back(t.planning());
      build.push_back(t.build);
      capture.push_back(t.capture);
      optimise.push_back(t.optimise);
      lower.push_back(t.lower);
      memory.push_back(t.memory);
    }
    using nef::bench::median;
    char note[200];
    std::snprintf(note, sizeof note,
                  "capture %.3f, optimise and place %.3f, lower %.3f, memory %.3f; building the "
                  "lazy nodes, not counted, %.3f; thread CPU time",
                  1e3 * median(capture), 1e3 * median(optimise), 1e3 * median(lower),
                  1e3 * median(memory), 1e3 * median(build));
    report.print({c.name, 1e3 * median(total), "ms", "", 0, note});
  }
  return 0;
}
