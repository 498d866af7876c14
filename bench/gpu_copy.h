// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "backends/cuda/cuda.h"
#include "bench/rows.h"

// The device that GPU benchmarks run on, and the ceiling that their figures are held against.
namespace nef::bench {

class Gpu {
 public:
  // Null when there is none; then why is on stderr.
  static Gpu* get() {
    static Gpu gpu;
    return gpu.found_ ? &gpu : nullptr;
  }
  const nef_backend& table = *nef_backend_cuda();
  const char* description = "";

  void must(nef_code code, const char* what) {
    if (code == NEF_OK) return;
    std::printf("gpu: %s: %s\n", what, message_);
    std::exit(1);
  }
  nef_backend_error* err() { return &err_; }

  void* alloc(size_t bytes) {
    void* p = nullptr;
    must(table.alloc(0, bytes, &p, &err_), "alloc");
    return p;
  }
  // Until all work queued so far is done.
  void wait(const void* some_memory) {
    uint32_t word;
    must(table.copy(0, &word, some_memory, sizeof word, NEF_COPY_DEVICE_TO_HOST, &err_), "wait");
  }

  // GB/s of 1 GiB copies on the device queued back to back, read and written.
  double copy_rate() {
    constexpr size_t kBytes = size_t{1} << 30;
    void *from = alloc(kBytes), *to = alloc(kBytes);
    std::vector<double> samples;
    for (int round = 0; round < 7; ++round) {
      wait(to);
      const double begin = now();
      for (int i = 0; i < 20; ++i) {
        must(table.copy(0, to, from, kBytes, NEF_COPY_ON_DEVICE, &err_), "copy");
      }
      wait(to);
      if (round > 0) samples.push_back((now() - begin) / 20);
    }
    table.free(0, from, kBytes);
    table.free(0, to, kBytes);
    table.evict(0);
    return 2.0 * kBytes / median(samples) * 1e-9;
  }

 private:
  Gpu() {
    nef_backend_device device{};
    if (table.init(nullptr, &err_) != NEF_OK || table.device_info(0, &device, &err_) != NEF_OK) {
      std::fprintf(stderr, "gpu: %s\n", message_);
      return;
    }
    found_ = true;
    description = device.description;
    std::fprintf(stderr, "%s\n", description);
  }
  char message_[512] = "";
  nef_backend_error err_{message_, sizeof message_};
  bool found_ = false;
};

}  // namespace nef::bench
