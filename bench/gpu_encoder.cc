// SPDX-License-Identifier: Apache-2.0
// gpu_encoder/*: stacks of encoder layers as BERT has them on 32 texts of 128 tokens: words in host
// memory to one mean vector a text in host memory. Without a GPU it prints why, and nothing else.
#include "bench/gpu_encoder.h"

namespace {

void stack(const nef::bench::Report& report, nef_dtype dtype, int64_t layers, int64_t d) {
  const std::string name = "gpu_encoder/" + std::to_string(layers) + "x" + std::to_string(d) +
                           "/32x128/" + (dtype == NEF_FLOAT32 ? "f32" : "bf16");
  if (!report.wants(name)) return;
  const nef::bench::Encoder graph(dtype, layers, d, 12);
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
