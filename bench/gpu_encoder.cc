// SPDX-License-Identifier: Apache-2.0
// gpu_encoder/*: stacks of encoder layers as BERT has them on 32 texts of 128 tokens: words in host
// memory to one mean vector a text in host memory. Without a GPU it prints why, and nothing else.
#include "bench/gpu_graph.h"

namespace {

constexpr int64_t kBatch = 32, kTokens = 128;

class Encoder : public nef::bench::Graph {
 public:
  Encoder(nef_dtype dtype, int64_t layers, int64_t d, int64_t heads)
      : Graph(dtype), d_(d), heads_(heads) {
    nef_tensor* words = input({kBatch, kTokens}, NEF_INT64);
    nef_tensor* x = op("gather", {constant({nef::bench::kWords, d}, 0, 1.7f), words});
    for (int64_t i = 0; i < layers; ++i) x = layer(x);
    capture(op("reduce_mean", {x, ints({1})}, {{"keepdims", 0}}));
  }

 private:
  nef_tensor* linear(nef_tensor* x, int64_t from, int64_t to) {
    return op("add", {op("matmul", {x, weight(from, to)}), constant({to}, 0, 0.1f)});
  }
  nef_tensor* norm(nef_tensor* x) {
    return op("layer_normalization", {x, constant({d_}, 1, 0.2f), constant({d_}, 0, 0.1f)});
  }
  nef_tensor* layer(nef_tensor* x) {
    nef_tensor *q = linear(x, d_, d_), *k = linear(x, d_, d_), *v = linear(x, d_, d_);
    nef_tensor* a = op("attention", {q, k, v}, {{"q_num_heads", heads_}, {"kv_num_heads", heads_}});
    x = norm(op("add", {x, linear(a, d_, d_)}));
    nef_tensor* wide = op("gelu", {linear(x, d_, 4 * d_)});
    return norm(op("add", {x, linear(wide, 4 * d_, d_)}));
  }

  const int64_t d_, heads_;
};

void stack(const nef::bench::Report& report, nef_dtype dtype, int64_t layers, int64_t d) {
  const std::string name = "gpu_encoder/" + std::to_string(layers) + "x" + std::to_string(d) +
                           "/32x128/" + (dtype == NEF_FLOAT32 ? "f32" : "bf16");
  if (!report.wants(name)) return;
  const Encoder graph(dtype, layers, d, 12);
  nef::bench::Program program(graph, "gpu");
  const double alone = program.seconds(), seconds = program.queued_seconds();
  char note[64];
  std::snprintf(note, sizeof note, "%.4g ms one by one", alone * 1e3);
  report.print({name, seconds * 1e3, "ms", "", 0, note});
}

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  if (nef::bench::Gpu::get() == nullptr) return 0;
  for (nef_dtype dtype : {NEF_FLOAT32, NEF_BFLOAT16}) {
    stack(report, dtype, 6, 384);
    stack(report, dtype, 12, 768);
  }
}
