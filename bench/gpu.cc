// SPDX-License-Identifier: Apache-2.0
// gpu/*: kernels of the cuda backend on device memory, queued back to back. Those that memory
// bounds are GB/s (bytes read and written once) beside a copy on the device in the same run;
// products are TFLOP/s. Without a GPU it prints why, and nothing else.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/shared/region.h"
#include "bench/gpu_copy.h"
#include "engine/ir/attrs.h"

namespace {

using nef::bench::median;
using nef::bench::now;

nef::bench::Gpu& gpu() { return *nef::bench::Gpu::get(); }
void must(nef_code code, const char* what) { gpu().must(code, what); }

struct Memory {
  explicit Memory(size_t n) : data(gpu().alloc(n)), bytes(n) {}
  ~Memory() { gpu().table.free(0, data, bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data;
  size_t bytes;
};

// Numbers in (-1, 1) of any float dtype: small exponents, mixed mantissas.
void fill(Memory& m, nef_dtype t) {
  std::vector<uint8_t> host(m.bytes);
  uint64_t state = 1;
  const size_t size = nef::backends::dtype_size(t);
  for (size_t i = 0; i + size <= host.size(); i += size) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float v = static_cast<float>(state >> 40) * 0x1p-23f - 1.0f;
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    if (size == 2) bits >>= 16;  // bfloat16
    std::memcpy(host.data() + i, &bits, size);
  }
  must(gpu().table.copy(0, m.data, host.data(), host.size(), NEF_COPY_HOST_TO_DEVICE, gpu().err()),
       "copy");
}

using Shape = std::vector<int64_t>;

// A region under construction, then with its memory and kernel.
class Case {
 public:
  int32_t input(nef_dtype t, Shape dims) { return value(NEF_VALUE_INPUT, t, std::move(dims)); }
  int32_t node(nef_op op, std::vector<int32_t> inputs, nef_dtype t, Shape dims, bool last = false,
               std::vector<int64_t> attrs = {}) {
    const int32_t v = value(last ? NEF_VALUE_OUTPUT : NEF_VALUE_INTERNAL, t, std::move(dims));
    nodes_.push_back({op, std::move(inputs), {v}, std::move(attrs)});
    return v;
  }
  // Seconds of one launch.
  double seconds(nef_region_kind kind) {
    compile(kind);
    std::vector<double> samples;
    for (int round = 0; round < 7; ++round) {
      const int repeats = round == 0 ? 2 : 20;
      gpu().wait(memory_.back()->data);
      const double begin = now();
      for (int i = 0; i < repeats; ++i) {
        must(gpu().table.launch(prepared_, nullptr, tensors_.data(), scratch_->data, gpu().err()),
             "launch");
      }
      gpu().wait(memory_.back()->data);
      if (round > 0) samples.push_back((now() - begin) / repeats);
    }
    gpu().table.prepared_free(prepared_);
    gpu().table.kernel_free(kernel_);
    return median(samples);
  }
  // Of what is given and what is written.
  double bytes() const {
    double n = 0;
    for (const auto& m : memory_) n += static_cast<double>(m->bytes);
    return n;
  }

 private:
  struct Value {
    nef_value_kind kind;
    nef_dtype dtype;
    Shape dims;
  };
  int32_t value(nef_value_kind kind, nef_dtype t, Shape dims) {
    values_.push_back({kind, t, std::move(dims)});
    return static_cast<int32_t>(values_.size()) - 1;
  }
  void compile(nef_region_kind kind) {
    std::vector<nef_backend_value> values;
    std::vector<nef_backend_node> nodes;
    for (const Value& v : values_) {
      const auto rank = static_cast<int32_t>(v.dims.size());
      values.push_back({v.kind, v.dtype, rank, 0, v.dims.data(), nullptr});
      tensors_.push_back({nullptr, v.dims.data()});
      if (v.kind == NEF_VALUE_INTERNAL) continue;
      const auto n = static_cast<size_t>(nef::backends::element_count(v.dims.data(), rank));
      memory_.push_back(std::make_unique<Memory>(n * nef::backends::dtype_size(v.dtype)));
      if (v.kind == NEF_VALUE_INPUT) fill(*memory_.back(), v.dtype);
      tensors_.back().data = memory_.back()->data;
    }
    for (const auto& n : nodes_) {
      nodes.push_back({n.op, static_cast<int32_t>(n.inputs.size()), 1,
                       static_cast<int32_t>(n.attr_words.size()), n.inputs.data(), n.outputs.data(),
                       n.attrs()});
    }
    const nef_backend_region region{sizeof region,
                                    kind,
                                    NEF_PRECISION_EXACT,
                                    static_cast<int32_t>(values.size()),
                                    static_cast<int32_t>(nodes.size()),
                                    values.data(),
                                    nodes.data()};
    must(gpu().table.compile(0, &region, nullptr, 0, &kernel_, gpu().err()), "compile");
    must(gpu().table.prepare(kernel_, tensors_.data(), &prepared_, gpu().err()), "prepare");
    scratch_ = std::make_unique<Memory>(gpu().table.scratch_bytes(prepared_, tensors_.data()));
  }

  std::vector<Value> values_;
  std::vector<nef::backends::Node> nodes_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<nef_backend_tensor> tensors_;
  std::unique_ptr<Memory> scratch_;
  nef_backend_kernel* kernel_ = nullptr;
  nef_backend_prepared* prepared_ = nullptr;
};

const char* short_name(nef_dtype t) { return t == NEF_BFLOAT16 ? "bf16" : "f32"; }

class Suite {
 public:
  explicit Suite(const nef::bench::Report& report) : report_(report) {}

  void run() {
    copy_ = gpu().copy_rate();
    report_.print({"gpu/copy", copy_, "GB/s", "", 0, "1 GiB on the device, read and written"});
    chain();
    for (nef_dtype t : {NEF_FLOAT32, NEF_BFLOAT16}) {
      bias(t);
      rows("softmax", NEF_OP_SOFTMAX, t);
      rows("layer_norm", NEF_OP_LAYER_NORMALIZATION, t);
    }
    transpose();
    reduce();
    for (int64_t n : {1024, 4096, 8192}) {
      for (Behind b : {Behind::Nothing, Behind::Bias, Behind::BiasGelu})
        product(NEF_BFLOAT16, n, b);
    }
    product(NEF_FLOAT32, 4096, Behind::Nothing);
    for (int64_t n : {4096, 8192}) float8_product(n);
    for (int64_t length : {1024, 4096}) attention(length);
  }

 private:
  void memory_row(const std::string& name, Case& c, nef_region_kind kind = NEF_REGION_SINGLE) {
    if (!report_.wants(name)) return;
    const double seconds = c.seconds(kind), rate = c.bytes() / seconds * 1e-9;
    char note[64];
    std::snprintf(note, sizeof note, "%.1f us, %.0f %% of copy", seconds * 1e6, 100 * rate / copy_);
    report_.print({name, rate, "GB/s", "", 0, note});
  }

  void chain() {
    const Shape n = {int64_t{1} << 26};
    const nef_dtype t = NEF_FLOAT32;
    Case c;
    const int32_t a = c.input(t, n), b = c.input(t, n), d = c.input(t, n), e = c.input(t, n),
                  f = c.input(t, n);
    const int32_t sum = c.node(NEF_OP_ADD, {c.node(NEF_OP_MUL, {a, b}, t, n), d}, t, n);
    const int32_t scaled = c.node(NEF_OP_MUL, {c.node(NEF_OP_GELU, {sum}, t, n), e}, t, n);
    c.node(NEF_OP_ADD, {scaled, f}, t, n, true);
    memory_row("gpu/gelu(a*b+c)*d+e/2^26", c, NEF_REGION_ELEMENTWISE);
  }
  void bias(nef_dtype t) {
    const Shape x = {65536, 1024};
    Case c;
    const int32_t a = c.input(t, x), b = c.input(t, {1024});
    c.node(NEF_OP_ADD, {a, b}, t, x, true);
    memory_row(std::string("gpu/add_bias/65536x1024/") + short_name(t), c);
  }
  void rows(const char* name, nef_op op, nef_dtype t) {
    const Shape x = {65536, 1024};
    Case c;
    std::vector<int32_t> inputs = {c.input(t, x)};
    if (op == NEF_OP_LAYER_NORMALIZATION) {
      inputs.push_back(c.input(t, {1024}));
      inputs.push_back(c.input(t, {1024}));
    }
    c.node(op, inputs, t, x, true);
    memory_row(std::string("gpu/") + name + "/65536x1024/" + short_name(t), c);
  }
  void transpose() {
    Case c;
    c.node(NEF_OP_TRANSPOSE, {c.input(NEF_FLOAT32, {8192, 8192})}, NEF_FLOAT32, {8192, 8192}, true);
    memory_row("gpu/transpose/8192x8192/f32", c);
  }
  void reduce() {
    Case c;
    const int32_t x = c.input(NEF_FLOAT32, {int64_t{1} << 28});
    c.node(NEF_OP_REDUCE_SUM, {x}, NEF_FLOAT32, {1}, true);
    memory_row("gpu/reduce_sum/2^28/f32", c);
  }
  enum class Behind { Nothing, Bias, BiasGelu };
  void product(nef_dtype t, int64_t n, Behind behind) {
    const char* const kNames[] = {"gpu/matmul/", "gpu/matmul_bias/", "gpu/matmul_bias_gelu/"};
    const std::string name =
        kNames[static_cast<int>(behind)] + std::to_string(n) + "/" + short_name(t);
    if (!report_.wants(name)) return;
    const bool alone = behind == Behind::Nothing;
    const Shape x = {n, n};
    Case c;
    const int32_t a = c.input(t, x), b = c.input(t, x);
    const int32_t bias = alone ? -1 : c.input(t, {n});
    int32_t y = c.node(NEF_OP_MATMUL, {a, b}, t, x, alone);
    if (!alone) y = c.node(NEF_OP_ADD, {y, bias}, t, x, behind == Behind::Bias);
    if (behind == Behind::BiasGelu) {
      int64_t tanh = 0;
      std::memcpy(&tanh, "tanh", 4);
      c.node(NEF_OP_GELU, {y}, t, x, true, {1, int64_t{2} << 32 | 4, tanh});
    }
    const double seconds = c.seconds(alone ? NEF_REGION_SINGLE : NEF_REGION_EPILOGUE);
    const auto size = static_cast<double>(n);
    rate_row(name, 2 * size * size * size, seconds);
  }
  // float8_e4m3fn by float8_e4m3fn that lies by columns, with a scale each, to bfloat16.
  void float8_product(int64_t n) {
    const std::string name = "gpu/matmul/" + std::to_string(n) + "/float8";
    if (!report_.wants(name)) return;
    const Shape x = {n, n};
    const nef_dtype t = NEF_BFLOAT16;
    Case c;
    const auto scaled = [&] {
      const int32_t codes = c.input(NEF_FLOAT8_E4M3FN, x);
      return c.node(NEF_OP_DEQUANTIZE_LINEAR, {codes, c.input(t, {})}, t, x, false,
                    nef::ir::AttrBuilder(NEF_OP_DEQUANTIZE_LINEAR).build());
    };
    const int32_t a = scaled(), b = scaled();
    c.node(NEF_OP_FUSED_MATMUL, {a, b}, t, x, true,
           nef::ir::AttrBuilder(NEF_OP_FUSED_MATMUL).set_int(NEF_FUSED_MATMUL_TRANS_B, 1).build());
    const auto size = static_cast<double>(n);
    rate_row(name, 2 * size * size * size, c.seconds(NEF_REGION_CHAIN));
  }
  // Queries see the keys before them: half of the work of a full square counts.
  void attention(int64_t length) {
    const std::string name = "gpu/attention/causal/32x" + std::to_string(length) + "x128/bf16";
    if (!report_.wants(name)) return;
    const Shape x = {1, 32, length, 128};
    const nef_dtype t = NEF_BFLOAT16;
    Case c;
    const int32_t q = c.input(t, x), k = c.input(t, x), v = c.input(t, x);
    c.node(NEF_OP_ATTENTION, {q, k, v}, t, x, true, {1, 1, 0, 0, 0, 0, 0, 0});
    const auto size = static_cast<double>(length);
    rate_row(name, 2 * 32 * size * size * 128, c.seconds(NEF_REGION_SINGLE));
  }
  void rate_row(const std::string& name, double operations, double seconds) {
    char note[64];
    std::snprintf(note, sizeof note, "%.1f us", seconds * 1e6);
    report_.print({name, operations / seconds * 1e-12, "TFLOP/s", "", 0, note});
  }

  const nef::bench::Report& report_;
  double copy_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  if (nef::bench::Gpu::get() != nullptr) Suite(report).run();
}
