// SPDX-License-Identifier: Apache-2.0
// gpu_transfer/*: an encoder on the GPU between words in host memory and a mean on the CPU: how
// much of a run is copies, by its trace. Without a GPU it prints why, and nothing else.
#include "bench/gpu_encoder.h"

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  if (nef::bench::Gpu::get() == nullptr) return 0;
  for (const auto& [dtype, text] : {std::pair{NEF_FLOAT32, "f32"}, {NEF_BFLOAT16, "bf16"}}) {
    const std::string name = std::string("gpu_transfer/6x384/32x128/") + text;
    if (!report.wants(name)) continue;
    nef::bench::Encoder graph(dtype, 6, 384, 12);
    graph.pin("reduce_mean", "cpu", "gpu");
    nef::bench::Program program(graph, "");
    const double all = program.seconds(), copies = program.copy_seconds();
    char note[96];
    std::snprintf(note, sizeof note, "copies %.4g of %.4g ms", copies * 1e3, all * 1e3);
    report.print({name, 100 * copies / all, "%", "", 0, note});
  }
}
