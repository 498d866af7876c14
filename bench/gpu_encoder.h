// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/gpu_graph.h"

namespace nef::bench {

// A stack of encoder layers as BERT has them on 32 texts of 128 tokens: words to one mean vector a
// text.
class Encoder : public Graph {
 public:
  static constexpr int64_t kBatch = 32, kTokens = 128;

  Encoder(nef_dtype dtype, int64_t layers, int64_t d, int64_t heads)
      : Graph(dtype), d_(d), heads_(heads) {
    nef_tensor* words = input({kBatch, kTokens}, NEF_INT64);
    nef_tensor* x = op("gather", {constant({kWords, d}, 0, 1.7f), words});
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

}  // namespace nef::bench
