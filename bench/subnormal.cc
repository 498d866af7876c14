// SPDX-License-Identifier: Apache-2.0
// subnormal/*: the same product with subnormal weights (1e-40) and with ordinary ones, which are
// the peer. Precision exact keeps subnormals, at whatever they cost the processor; fast does not.
#include <nef/nef.h>

#include <cstdlib>
#include <string>

#include "bench/rows.h"

namespace {

constexpr int kRounds = 21, kRuns = 20;

void check(nef_status* st) {
  if (st == nullptr) return;
  std::fprintf(stderr, "%s\n", nef_status_message(st));
  std::exit(1);
}

struct Case {
  const char* name;
  std::vector<int64_t> x, w;
  const char* op;
};

struct Product {
  nef_program* program = nullptr;
  nef_tensor* x = nullptr;

  Product(const Case& c, nef_precision precision, float weight) {
    std::vector<nef_dim> dims;
    size_t x_count = 1, w_count = 1;
    for (int64_t d : c.x) dims.push_back({d, nullptr, 0, 0}), x_count *= static_cast<size_t>(d);
    for (int64_t d : c.w) w_count *= static_cast<size_t>(d);
    const std::vector<float> x_data(x_count, 0.5f), w_data(w_count, weight);
    nef_tensor *in = nullptr, *w = nullptr, *y = nullptr;
    check(nef_tensor_input("x", NEF_FLOAT32, dims.size(), dims.data(), &in));
    check(nef_tensor_create(NEF_FLOAT32, c.w.size(), c.w.data(), w_data.data(), &w));
    check(nef_tensor_create(NEF_FLOAT32, c.x.size(), c.x.data(), x_data.data(), &x));
    const nef_tensor* inputs[] = {in, w};
    check(nef_op_call(c.op, inputs, 2, nullptr, 0, "", 1, &y));
    const nef_tensor* outputs[] = {y};
    nef_graph* graph = nullptr;
    const char* names[] = {"y"};
    check(nef_graph_capture(outputs, names, 1, &graph));
    nef_compile_options options;
    nef_compile_options_init(&options, sizeof options);
    options.precision = precision;
    check(nef_graph_compile(graph, &options, &program));
    nef_graph_release(graph);
    for (nef_tensor* t : {in, w, y}) nef_tensor_release(t);
  }
  ~Product() {
    nef_tensor_release(x);
    nef_program_release(program);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  double seconds() const {
    const double begin = nef::bench::now();
    for (int i = 0; i < kRuns; ++i) {
      nef_tensor* out = nullptr;
      check(nef_program_run(program, &x, 1, &out, 1));
      nef_tensor_release(out);
    }
    return (nef::bench::now() - begin) / kRuns;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  const Case cases[] = {{"matmul", {64, 256}, {256, 256}, "matmul"},
                        {"conv", {1, 16, 32, 32}, {32, 16, 3, 3}, "conv"}};
  for (const Case& c : cases) {
    for (const bool fast : {false, true}) {
      const std::string name = std::string("subnormal/") + c.name + (fast ? "/fast" : "/exact");
      if (!report.wants(name)) continue;
      const nef_precision precision = fast ? NEF_PRECISION_FAST : NEF_PRECISION_EXACT;
      const Product odd(c, precision, 1e-40f), plain(c, precision, 0.01f);
      std::vector<double> mine, peer;
      for (int r = 0; r < kRounds; ++r) {
        mine.push_back(odd.seconds());
        peer.push_back(plain.seconds());
      }
      report.print({name, 1e3 * nef::bench::median(mine), "ms", "ordinary weights",
                    1e3 * nef::bench::median(peer), ""});
    }
  }
}
