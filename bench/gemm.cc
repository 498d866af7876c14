// SPDX-License-Identifier: Apache-2.0
// Float32 products of the cpu backend on one core, weights packed beforehand: GF/s and GB/s of
// weights per shape, best of a fixed time. `--json` prints one object per line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "backends/cpu/cpu.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_values.h"

namespace {

using nef::cpu::AlignedBuffer;
using nef::cpu::GemmBlock;

struct Shape {
  int64_t m, n, k;
};
constexpr Shape kShapes[] = {{64, 64, 64},    {128, 128, 128},    {256, 256, 256},
                             {512, 512, 512}, {1024, 1024, 1024}, {1, 4096, 4096},
                             {1, 1536, 576},  {4, 1024, 1024},    {8, 4096, 4096},
                             {128, 384, 384}, {128, 1536, 384},   {128, 384, 1536}};
constexpr double kSeconds = 0.3;  // per shape

double now() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(t).count();
}

void serial_for(int64_t n, int64_t, nef_parallel_fn fn, void* arg) {
  if (n > 0) fn(arg, 0, n);
}
int32_t one_thread() { return 1; }

void fill(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
}

double best_seconds(const Shape& s) {
  const auto& ops = nef::cpu::gemm_ops<float>();
  AlignedBuffer<float> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n);
  AlignedBuffer<float> packed(nef::cpu::packed_b_size<float>(s.k, s.n));
  GemmBlock<float> g;
  AlignedBuffer<float> scratch(nef::cpu::gemm_a_buffer<float>(g.blocking));
  fill(a.data(), s.m * s.k);
  fill(b.data(), s.k * s.n);
  ops.pack_b(b.data(), s.n, 1, s.k, s.n, packed.data());
  g.m = s.m;
  g.n = s.n;
  g.k = s.k;
  g.a = a.data();
  g.a_row = s.k;
  g.b = packed.data();
  g.c = c.data();
  g.ldc = s.n;
  double best = 1e9;
  for (const double start = now(); now() - start < kSeconds;) {
    const double t = now();
    nef::cpu::gemm_parallel(g, 1, scratch.data());
    best = std::min(best, now() - t);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  const nef_backend_host host = {sizeof(host), serial_for, one_thread};
  char why[256] = "";
  nef_backend_error err{why, sizeof(why)};
  if (nef_backend_cpu()->init(&host, &err) != NEF_OK) {
    std::fprintf(stderr, "cpu backend: %s\n", why);
    return 1;
  }
  const auto& ops = nef::cpu::gemm_ops<float>();
  if (!json) std::printf("%s, micro-kernel %ldx%ld\n", ops.target, long(ops.mr), long(ops.nr));
  for (const Shape& s : kShapes) {
    const double t = best_seconds(s);
    const double gflops = 2e-9 * double(s.m) * double(s.n) * double(s.k) / t;
    const double gbytes = 4e-9 * double(s.n) * double(s.k) / t;
    std::printf(json ? "{\"bench\":\"gemm\",\"target\":\"%s\",\"m\":%ld,\"n\":%ld,\"k\":%ld,"
                       "\"gflops\":%.2f,\"weight_gbytes\":%.2f}\n"
                     : "%s %5ldx%ldx%ld  %8.1f GF/s  %6.1f GB/s\n",
                ops.target, long(s.m), long(s.n), long(s.k), gflops, gbytes);
  }
  return 0;
}
