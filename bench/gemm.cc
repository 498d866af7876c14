// SPDX-License-Identifier: Apache-2.0
// gemm_f32/MxKxN: microseconds of a float32 product of the cpu backend on one core, weights packed
// beforehand; median over a fixed time.
#include <cstdio>
#include <vector>

#include "backends/cpu/cpu.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_values.h"
#include "bench/rows.h"

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

void serial_for(int64_t n, int64_t, nef_parallel_fn fn, void* arg) {
  if (n > 0) fn(arg, 0, n);
}
int32_t one_thread() { return 1; }

void fill(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
}

double median_seconds(const Shape& s) {
  const auto& ops = nef::cpu::gemm_ops<float>();
  AlignedBuffer<float> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n);
  AlignedBuffer<float> packed(nef::cpu::packed_b_size<float>(s.k, s.n));
  GemmBlock<float> g;
  AlignedBuffer<float> scratch(nef::cpu::gemm_a_buffer<float>(g.blocking, s.m, s.k));
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
  std::vector<double> samples;
  for (const double start = nef::bench::now(); nef::bench::now() - start < kSeconds;) {
    const double t = nef::bench::now();
    nef::cpu::gemm_parallel(g, 1, scratch.data());
    samples.push_back(nef::bench::now() - t);
  }
  return nef::bench::median(std::move(samples));
}

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  const nef_backend_host host = {sizeof(host), serial_for, one_thread};
  char why[256] = "";
  nef_backend_error err{why, sizeof(why)};
  if (nef_backend_cpu()->init(&host, &err) != NEF_OK) {
    std::fprintf(stderr, "cpu backend: %s\n", why);
    return 1;
  }
  const auto& ops = nef::cpu::gemm_ops<float>();
  for (const Shape& s : kShapes) {
    char name[64], note[128];
    std::snprintf(name, sizeof name, "gemm_f32/%ldx%ldx%ld", long(s.m), long(s.k), long(s.n));
    if (!report.wants(name)) continue;
    const double t = median_seconds(s);
    std::snprintf(note, sizeof note, "%s %ldx%ld: %.1f GF/s, %.1f GB/s of weights", ops.target,
                  long(ops.mr), long(ops.nr), 2e-9 * double(s.m) * double(s.n) * double(s.k) / t,
                  4e-9 * double(s.n) * double(s.k) / t);
    report.print({name, 1e6 * t, "us", "", 0, note});
  }
  return 0;
}
