// SPDX-License-Identifier: Apache-2.0
// gpu_fallback/*: one op from host memory to host memory on two threads of the CPU, and beside it
// on the GPU: what it costs when the GPU cannot have it. Without a GPU it prints why, and nothing
// else.
#include "bench/gpu_graph.h"

namespace {

using nef::bench::Shape;

class OneOp : public nef::bench::Graph {
 public:
  OneOp(const std::string& what, const Shape& shape) : Graph(NEF_FLOAT32) {
    nef_tensor* x = input(shape, NEF_FLOAT32);
    const int64_t n = shape.back();
    if (what == "gelu") capture(op("gelu", {x}));
    if (what == "softmax") capture(op("softmax", {x}));
    if (what == "layer_norm") {
      capture(op("layer_normalization", {x, constant({n}, 1, 0.2f), constant({n}, 0, 0.1f)}));
    }
    if (what == "reduce_sum") capture(op("reduce_sum", {x, ints({-1})}));
    if (what == "matmul") capture(op("matmul", {x, weight(n, n)}));
  }
};

void row(const nef::bench::Report& report, const std::string& what, const Shape& shape) {
  std::string name = "gpu_fallback/" + what;
  for (size_t i = 0; i < shape.size(); ++i) {
    name += (i == 0 ? "/" : "x") + std::to_string(shape[i]);
  }
  if (!report.wants(name)) return;
  const OneOp graph(what, shape);
  nef::bench::Program cpu(graph, "cpu", 2), gpu(graph, "gpu");
  const double on_cpu = cpu.seconds(30), on_gpu = gpu.seconds(30);
  char note[64];
  std::snprintf(note, sizeof note, "CPU %.0f us, GPU %.0f us", on_cpu * 1e6, on_gpu * 1e6);
  report.print({name, on_cpu / on_gpu, "x", "", 0, note});
}

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  if (nef::bench::Gpu::get() == nullptr) return 0;
  for (const char* what : {"gelu", "softmax", "layer_norm", "reduce_sum"}) {
    for (int64_t rows : {64, 256, 1024}) row(report, what, {rows, 1024});
  }
  for (int64_t n : {512, 1024}) row(report, "matmul", {n, n});
}
