// SPDX-License-Identifier: Apache-2.0
// gpu_decode/*: one step of a Llama-like stack of blocks (d 4096, ff 14336, 32 heads, 8 of keys and
// values, 1024 tokens of context) as an ordinary graph, from host memory to host memory, steps
// queued by three threads. GB/s are the bytes of weights, keys and values over the time of a step,
// beside copies on the device in the same run. Without a GPU it prints why, and nothing else.
#include "bench/gpu_graph.h"
#include "bench/gpu_host.h"

namespace {

constexpr int64_t kD = 4096, kFf = 14336, kHeads = 32, kKv = 8, kSize = 128, kContext = 1024,
                  kHeadWords = 32768;

struct Options {
  int64_t layers = 16, batch = 1;
  bool whole = false;  // rotary embeddings, new keys and values, a head of 32K words
  int64_t bits = 16;   // of a weight
  bool float8 = false;
};

class Stack : public nef::bench::Graph {
 public:
  explicit Stack(const Options& options) : Graph(NEF_BFLOAT16), options_(options) {
    nef_tensor* h = input({options.batch, 1, kD}, NEF_BFLOAT16);
    for (int64_t i = 0; i < options.layers; ++i) h = layer(h);
    if (options.whole) h = product(norm(h), kD, kHeadWords);
    capture(h);
  }

 private:
  nef_tensor* norm(nef_tensor* x) { return op("rms_normalization", {x, constant({kD}, 1, 0.2f)}); }
  nef_tensor* product(nef_tensor* x, int64_t from, int64_t to) {
    return options_.float8 ? float8_product(x, from, to)
                           : Graph::product(x, from, to, options_.bits);
  }
  nef_tensor* slice(nef_tensor* x, int64_t begin, int64_t end) {
    return op("slice", {x, ints({begin}), ints({end}), ints({2})});
  }

  nef_tensor* attention(nef_tensor* qkv) {
    const int64_t b = options_.batch;
    const nef::bench::Shape all = {b, kKv, kContext, kSize};
    nef_tensor* q = op("reshape", {slice(qkv, 0, kD), ints({b, kHeads, 1, kSize})});
    nef_tensor* y = op("attention", {q, constant(all, 0, 1.7f), constant(all, 0, 1.7f)});
    return op("reshape", {y, ints({b, 1, kD})});
  }
  nef_tensor* whole_attention(nef_tensor* qkv) {
    const int64_t b = options_.batch, kv = kKv * kSize;
    nef_tensor* cosines = constant({b, 1, kSize / 2}, 0, 1);
    nef_tensor* sines = constant({b, 1, kSize / 2}, 0, 1);
    nef_tensor* q =
        op("rotary_embedding", {slice(qkv, 0, kD), cosines, sines}, {{"num_heads", kHeads}});
    nef_tensor* k =
        op("rotary_embedding", {slice(qkv, kD, kD + kv), cosines, sines}, {{"num_heads", kKv}});
    const nef::bench::Shape past = {b, kKv, kContext - 1, kSize};
    return op("attention",
              {q, k, slice(qkv, kD + kv, kD + 2 * kv), nullptr, constant(past, 0, 1.7f),
               constant(past, 0, 1.7f)},
              {{"q_num_heads", kHeads}, {"kv_num_heads", kKv}, {"is_causal", 1}});
  }
  nef_tensor* layer(nef_tensor* x) {
    nef_tensor* qkv = product(norm(x), kD, kD + 2 * kKv * kSize);
    nef_tensor* attended = options_.whole ? whole_attention(qkv) : attention(qkv);
    nef_tensor* h = op("add", {x, product(attended, kD, kD)});
    nef_tensor* normed = norm(h);
    nef_tensor* gate = op("silu", {product(normed, kD, kFf)});
    nef_tensor* wide = op("mul", {gate, product(normed, kD, kFf)});
    return op("add", {h, product(wide, kFf, kD)});
  }

  const Options options_;
};

class Suite {
 public:
  Suite(const nef::bench::Report& report, double copy) : report_(report), copy_(copy) {}
  void run() {
    error("gpu_decode/error/bf16/batch1", {1, 1, false});
    error("gpu_decode/error/whole/bf16/batch2", {1, 2, true});
    error("gpu_decode/error/int8/batch1", {1, 1, false, 8});
    error("gpu_decode/error/int4/batch2", {1, 2, false, 4});
    error("gpu_decode/error/float8/batch1", {1, 1, false, 8, true});
    error("gpu_decode/error/bf16/batch4", {1, 4, false});
    error("gpu_decode/error/bf16/batch16", {1, 16, false});
    error("gpu_decode/error/int4/batch16", {1, 16, false, 4});
    step("gpu_decode/bf16/batch1", {16, 1, false});
    step("gpu_decode/int8/batch1", {16, 1, false, 8});
    step("gpu_decode/int4/batch1", {16, 1, false, 4});
    step("gpu_decode/float8/batch1", {16, 1, false, 8, true});
    step("gpu_decode/whole/bf16/batch1", {16, 1, true});
    step("gpu_decode/bf16/batch4", {16, 4, false});
    step("gpu_decode/bf16/batch16", {16, 16, false});
    step("gpu_decode/int8/batch16", {16, 16, false, 8});
    step("gpu_decode/int4/batch16", {16, 16, false, 4});
    host("gpu_decode/host/bf16/batch1", {16, 1, false});
  }

 private:
  void error(const std::string& name, const Options& options) {
    if (!report_.wants(name)) return;
    report_.print({name, nef::bench::difference(Stack(options), "gpu", "cpu"), "", "", 0,
                   "relative to the cpu backend, one layer"});
  }
  void step(const std::string& name, const Options& options) {
    if (!report_.wants(name)) return;
    const Stack stack(options);
    nef::bench::Program program(stack, "gpu");
    const double alone = program.seconds(), seconds = program.queued_seconds();
    const double rate = stack.bytes() / seconds * 1e-9;
    char note[128];
    std::snprintf(note, sizeof note,
                  "%.0f GB/s, %.1f %% of a copy of %.0f GB/s; %.4g ms one by one", rate,
                  100 * rate / copy_, copy_, alone * 1e3);
    report_.print({name, seconds * 1e3, "ms", "", 0, note});
  }
  // What a step costs its caller's thread besides waiting.
  void host(const std::string& name, const Options& options) {
    if (!report_.wants(name)) return;
    const Stack stack(options);
    nef::bench::Program program(stack, "gpu");
    program.seconds(10);
    using Times = nef::bench::HostTimes;
    std::vector<double> host, launches, queued;
    Times::time_waits();
    for (int i = 0; i < 1000; ++i) {
      Times::reset();
      const double begin = nef::bench::now();
      program.step();
      host.push_back(nef::bench::now() - begin - Times::waited());
    }
    Times::time_launches();
    for (int i = 0; i < 1000; ++i) {
      Times::reset();
      program.step();
      launches.push_back(Times::launched());
      queued.push_back(Times::queued());
    }
    // A machine that others use as well has slow spells.
    const size_t tenth = host.size() / 10;
    std::nth_element(host.begin(), host.begin() + static_cast<std::ptrdiff_t>(tenth), host.end());
    char note[160];
    std::snprintf(note, sizeof note,
                  "a run but for its waits, a tenth of them %.3g us or less; %.3g us of it launch "
                  "the step, %.3g queue copies and events",
                  host[tenth] * 1e6, nef::bench::median(launches) * 1e6,
                  nef::bench::median(queued) * 1e6);
    report_.print({name, nef::bench::median(host) * 1e6, "us", "", 0, note});
  }

  const nef::bench::Report& report_;
  const double copy_;
};

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  nef::bench::Gpu* gpu = nef::bench::Gpu::get();
  if (gpu == nullptr) return 0;
  Suite(report, gpu->copy_rate()).run();
}
