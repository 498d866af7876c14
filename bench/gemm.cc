// SPDX-License-Identifier: Apache-2.0
// kernel_f32/MxKxN and kernel_fast/MxKxN: microseconds of a float32 product of the cpu backend on
// one core, weights packed beforehand; median over a fixed time. kernel_fast computes in bfloat16
// on AMX or AVX-512, interleaved with kernel_f32, which is its peer.
#include <cstdio>
#include <functional>
#include <vector>

#include "backends/cpu/amx.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_values.h"
#include "bench/rows.h"

namespace {

using nef::cpu::AlignedBuffer;
using nef::cpu::AmxBlock;
using nef::cpu::GemmBlock;

struct Shape {
  int64_t m, n, k;
};
constexpr Shape kShapes[] = {
    {64, 64, 64},       {128, 128, 128}, {256, 256, 256},  {512, 512, 512},  {1024, 1024, 1024},
    {2048, 2048, 2048}, {1, 4096, 4096}, {1, 14336, 4096}, {1, 1536, 576},   {4, 1024, 1024},
    {8, 4096, 4096},    {128, 384, 384}, {128, 1536, 384}, {128, 384, 1536}, {512, 3072, 768}};
constexpr double kSeconds = 0.3;    // per shape
constexpr int64_t kFastRows = 256;  // rows of A packed at a time, as in matmul_amx.cc

void serial_for(int64_t n, int64_t, nef_parallel_fn fn, void* arg) {
  if (n > 0) fn(arg, 0, n);
}
int32_t one_thread() { return 1; }

void fill(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
}

struct Problem {
  Problem(const Shape& shape, const nef::cpu::AmxOps* ops)
      : s(shape),
        amx(ops),
        a(s.m * s.k),
        b(s.k * s.n),
        c(s.m * s.n),
        packed(nef::cpu::packed_b_size<float>(s.k, s.n)),
        a_buffer(nef::cpu::gemm_a_buffer<float>(nef::cpu::GemmBlocking(), s.m, s.k)),
        fast_b(nef::cpu::amx_b_size(s.k, s.n)),
        fast_a(nef::cpu::amx_a_size(std::min(s.m, kFastRows), s.k)) {
    fill(a.data(), s.m * s.k);
    fill(b.data(), s.k * s.n);
    nef::cpu::gemm_ops<float>().pack_b(b.data(), s.n, 1, s.k, s.n, packed.data());
    if (amx == nullptr) return;
    amx->pack_b(NEF_FLOAT32, b.data(), s.n, 1, s.k, s.n, fast_b.data());
  }
  void exact() const {
    GemmBlock<float> g;
    g.m = s.m;
    g.n = s.n;
    g.k = s.k;
    g.a = a.data();
    g.a_row = s.k;
    g.b = packed.data();
    g.c = c.data();
    g.ldc = s.n;
    nef::cpu::gemm_parallel(g, 1, a_buffer.data());
  }
  void fast() const {
    for (int64_t i = 0; i < s.m; i += kFastRows) {
      AmxBlock g;
      g.m = std::min(kFastRows, s.m - i);
      g.n = s.n;
      g.k = s.k;
      amx->pack_a(NEF_FLOAT32, a.data() + i * s.k, s.k, 1, g.m, s.k, fast_a.data());
      g.a = fast_a.data();
      g.b = fast_b.data();
      g.c = c.data() + i * s.n;
      g.ldc = s.n;
      amx->block(g);
    }
  }

  Shape s;
  const nef::cpu::AmxOps* amx;
  AlignedBuffer<float> a, b, c, packed, a_buffer;
  AlignedBuffer<uint16_t> fast_b, fast_a;
};

// GF/s and the rate at which weights of `bytes` each are read.
std::string note(const char* kernel, const Shape& s, int bytes, double seconds) {
  char text[128];
  const double weights = double(s.n) * double(s.k);
  std::snprintf(text, sizeof text, "%s: %.1f GF/s, %.1f GB/s of weights", kernel,
                2e-9 * double(s.m) * weights / seconds, 1e-9 * bytes * weights / seconds);
  return text;
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
  const nef::cpu::AmxOps* const amx = nef::cpu::amx_ops();
  for (const Shape& s : kShapes) {
    char shape[64];
    std::snprintf(shape, sizeof shape, "%ldx%ldx%ld", long(s.m), long(s.k), long(s.n));
    const std::string exact_name = std::string("kernel_f32/") + shape;
    const std::string fast_name = std::string("kernel_fast/") + shape;
    const bool fast = amx != nullptr && report.wants(fast_name);
    if (!fast && !report.wants(exact_name)) continue;
    const Problem problem(s, amx);
    std::vector<std::function<void()>> runs = {[&] { problem.exact(); }};
    if (fast) runs.emplace_back([&] { problem.fast(); });
    const std::vector<double> t = nef::bench::interleaved(runs, kSeconds);
    if (report.wants(exact_name)) {
      report.print({exact_name, 1e6 * t[0], "us", "", 0,
                    note(nef::cpu::gemm_ops<float>().target, s, 4, t[0])});
    }
    if (fast) {
      report.print(
          {fast_name, 1e6 * t[1], "us", "kernel_f32", 1e6 * t[0], note(amx->name, s, 2, t[1])});
    }
  }
  return 0;
}
