// SPDX-License-Identifier: Apache-2.0
// gpu_branches/*: four branches of small launches side by side, and one behind the other. Without a
// GPU it prints why, and nothing else.
#include "bench/gpu_graph.h"

namespace {

using nef::bench::Graph;

// Rows of `d` numbers through four branches of six softmaxes.
class Branches : public Graph {
 public:
  Branches(int64_t rows, int64_t d) : Graph(NEF_FLOAT32) {
    nef_tensor* x = op("softmax", {input({rows, d}, NEF_FLOAT32)});
    nef_tensor* sum = nullptr;
    for (int branch = 0; branch < 4; ++branch) {
      nef_tensor* y = x;
      for (int i = 0; i < 6; ++i) y = op("softmax", {op("mul", {y, constant({d}, 1, 0.3f)})});
      sum = branch == 0 ? y : op("add", {sum, y});
    }
    capture(op("softmax", {sum}));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  if (nef::bench::Gpu::get() == nullptr) return 0;
  for (const int64_t rows : {64, 1024}) {
    const std::string name = "gpu_branches/" + std::to_string(rows) + "x1024";
    if (!report.wants(name)) continue;
    const Branches graph(rows, 1024);
    nef::bench::Program many(graph, "cuda:0");
    ::setenv("NEF_GPU_STREAMS", "1", 1);
    nef::bench::Program one(graph, "cuda:0");
    ::unsetenv("NEF_GPU_STREAMS");
    const double side_by_side = many.seconds(), behind = one.seconds();
    char note[96];
    std::snprintf(note, sizeof note, "%.4g us on one stream", behind * 1e6);
    report.print({name, side_by_side * 1e6, "us", "", 0, note});
  }
}
