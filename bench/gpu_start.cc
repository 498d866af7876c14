// SPDX-License-Identifier: Apache-2.0
// gpu_start/*: seconds from a graph in memory to its first result in a process that has done
// nothing yet, with an empty kernel cache on disk and with what that left there. gpu_run/*:
// microseconds of a run of a few launches, replayed. Without a GPU it prints why, and nothing else.
#include <unistd.h>

#include <filesystem>

#include "bench/gpu_graph.h"

namespace {

class Layers : public nef::bench::Graph {
 public:
  Layers(int64_t rows, int64_t d, int layers) : Graph(NEF_BFLOAT16) {
    nef_tensor* x = input({1, rows, d}, NEF_BFLOAT16);
    for (int i = 0; i < layers; ++i) {
      nef_tensor* a =
          op("attention", {x, x, x}, {{"q_num_heads", d / 64}, {"kv_num_heads", d / 64}});
      x = op("layer_normalization", {op("add", {x, a}), constant({d}, 1, 0.2f)});
      nef_tensor* wide = op("gelu", {op("matmul", {x, weight(d, 4 * d)})});
      x = op("add", {x, op("matmul", {wide, weight(4 * d, d)})});
    }
    capture(x);
  }
};

// What the child says: seconds, kernels found on disk, kernels looked for there.
void child() {
  const Layers graph(128, 512, 6);
  const double begin = nef::bench::now();
  nef::bench::Program(graph, "gpu").run();
  const double seconds = nef::bench::now() - begin;
  nef_counters counters{};
  counters.struct_size = sizeof counters;
  nef_counters_read(&counters);
  const auto hits = static_cast<double>(counters.disk_cache_hits);
  std::printf("%.4f %.0f %.0f\n", seconds, hits,
              hits + static_cast<double>(counters.disk_cache_misses));
}

void starts(const nef::bench::Report& report, const char* self) {
  if (!report.wants("gpu_start/cold") && !report.wants("gpu_start/warm")) return;
  const auto folder =
      std::filesystem::temp_directory_path() / ("nef-start-" + std::to_string(getpid()));
  for (const char* name : {"gpu_start/cold", "gpu_start/warm"}) {
    const std::string command = "NEF_BENCH_CHILD=1 NEF_CACHE_DIR='" + folder.string() + "' '" +
                                std::string(self) + "' 2>/dev/null";
    double seconds = 0, hits = 0, all = 0;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr || std::fscanf(pipe, "%lf %lf %lf", &seconds, &hits, &all) != 3) {
      std::printf("gpu_start: the child said nothing\n");
      std::exit(1);
    }
    pclose(pipe);
    char note[64];
    std::snprintf(note, sizeof note, "%.0f of %.0f kernels from disk", hits, all);
    report.print({name, seconds, "s", "", 0, note});
  }
  std::filesystem::remove_all(folder);
}

void runs(const nef::bench::Report& report) {
  const std::string name = "gpu_run/24_launches";
  if (!report.wants(name)) return;
  const Layers graph(16, 64, 6);
  nef::bench::Program program(graph, "gpu");
  report.print(
      {name, program.seconds(1000) * 1e6, "us", "", 0, "host memory to host memory, from C"});
}

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  if (std::getenv("NEF_BENCH_CHILD") != nullptr) return child(), 0;
  if (nef::bench::Gpu::get() == nullptr) return 0;
  starts(report, argv[0]);
  runs(report);
}
