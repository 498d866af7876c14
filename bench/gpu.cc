// SPDX-License-Identifier: Apache-2.0
// gpu/*: kernels of the cuda backend on device memory, queued back to back. Those that memory
// bounds are GB/s (bytes read and written once) beside a copy on the device in the same run;
// products are TFLOP/s. Without a GPU it prints why, and nothing else.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/cuda.h"
#include "backends/shared/region.h"
#include "bench/rows.h"

namespace {

using nef::bench::median;
using nef::bench::now;

const nef_backend& cuda = *nef_backend_cuda();
char message[512];
nef_backend_error err{message, sizeof message};

void must(nef_code code, const char* what) {
  if (code == NEF_OK) return;
  std::printf("gpu: %s: %s\n", what, message);
  std::exit(1);
}

struct Memory {
  explicit Memory(size_t n) : bytes(n) { must(cuda.alloc(0, n, &data, &err), "alloc"); }
  ~Memory() { cuda.free(0, data, bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data = nullptr;
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
  must(cuda.copy(0, m.data, host.data(), host.size(), NEF_COPY_HOST_TO_DEVICE, &err), "copy");
}

void wait_for_device(const Memory& m) {
  uint32_t word;
  must(cuda.copy(0, &word, m.data, sizeof word, NEF_COPY_DEVICE_TO_HOST, &err), "wait");
}

using Shape = std::vector<int64_t>;

// A region under construction, then with its memory and kernel.
class Case {
 public:
  int32_t input(nef_dtype t, Shape dims) { return value(NEF_VALUE_INPUT, t, std::move(dims)); }
  int32_t node(nef_op op, std::vector<int32_t> inputs, nef_dtype t, Shape dims, bool last = false) {
    const int32_t v = value(last ? NEF_VALUE_OUTPUT : NEF_VALUE_INTERNAL, t, std::move(dims));
    nodes_.push_back({op, std::move(inputs), {v}, {}});
    return v;
  }
  // Seconds of one launch.
  double seconds(nef_region_kind kind) {
    compile(kind);
    std::vector<double> samples;
    for (int round = 0; round < 7; ++round) {
      const int repeats = round == 0 ? 2 : 20;
      wait_for_device(*memory_.back());
      const double begin = now();
      for (int i = 0; i < repeats; ++i) {
        must(cuda.launch(prepared_, nullptr, tensors_.data(), scratch_->data, &err), "launch");
      }
      wait_for_device(*memory_.back());
      if (round > 0) samples.push_back((now() - begin) / repeats);
    }
    cuda.prepared_free(prepared_);
    cuda.kernel_free(kernel_);
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
      nodes.push_back({n.op, static_cast<int32_t>(n.inputs.size()), 1, 0, n.inputs.data(),
                       n.outputs.data(), nullptr});
    }
    const nef_backend_region region{sizeof region,
                                    kind,
                                    NEF_PRECISION_EXACT,
                                    static_cast<int32_t>(values.size()),
                                    static_cast<int32_t>(nodes.size()),
                                    values.data(),
                                    nodes.data()};
    must(cuda.compile(0, &region, nullptr, 0, &kernel_, &err), "compile");
    must(cuda.prepare(kernel_, tensors_.data(), &prepared_, &err), "prepare");
    scratch_ = std::make_unique<Memory>(cuda.scratch_bytes(prepared_, tensors_.data()));
  }

  std::vector<Value> values_;
  std::vector<nef::backends::Node> nodes_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<nef_backend_tensor> tensors_;
  std::unique_ptr<Memory> scratch_;
  nef_backend_kernel* kernel_ = nullptr;
  nef_backend_prepared* prepared_ = nullptr;
};

double copy_rate() {
  constexpr size_t kBytes = size_t{1} << 30;
  Memory from(kBytes), to(kBytes);
  std::vector<double> samples;
  for (int round = 0; round < 7; ++round) {
    wait_for_device(to);
    const double begin = now();
    for (int i = 0; i < 20; ++i) {
      must(cuda.copy(0, to.data, from.data, kBytes, NEF_COPY_ON_DEVICE, &err), "copy");
    }
    wait_for_device(to);
    if (round > 0) samples.push_back((now() - begin) / 20);
  }
  return 2.0 * kBytes / median(samples) * 1e-9;
}

const char* short_name(nef_dtype t) { return t == NEF_BFLOAT16 ? "bf16" : "f32"; }

class Suite {
 public:
  explicit Suite(const nef::bench::Report& report) : report_(report) {}

  void run() {
    copy_ = copy_rate();
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
      product(NEF_BFLOAT16, n, false);
      product(NEF_BFLOAT16, n, true);
    }
    product(NEF_FLOAT32, 4096, false);
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
  void product(nef_dtype t, int64_t n, bool with_bias) {
    const std::string name = std::string(with_bias ? "gpu/matmul_bias/" : "gpu/matmul/") +
                             std::to_string(n) + "/" + short_name(t);
    if (!report_.wants(name)) return;
    const Shape x = {n, n};
    Case c;
    const int32_t a = c.input(t, x), b = c.input(t, x);
    const int32_t bias = with_bias ? c.input(t, {n}) : -1;
    const int32_t y = c.node(NEF_OP_MATMUL, {a, b}, t, x, !with_bias);
    if (with_bias) c.node(NEF_OP_ADD, {y, bias}, t, x, true);
    const double seconds = c.seconds(with_bias ? NEF_REGION_EPILOGUE : NEF_REGION_SINGLE);
    const auto size = static_cast<double>(n);
    char note[64];
    std::snprintf(note, sizeof note, "%.1f us", seconds * 1e6);
    report_.print({name, 2 * size * size * size / seconds * 1e-12, "TFLOP/s", "", 0, note});
  }

  const nef::bench::Report& report_;
  double copy_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  const nef::bench::Report report(argc, argv);
  nef_backend_device device{};
  if (cuda.init(nullptr, &err) != NEF_OK) {
    std::fprintf(stderr, "gpu: %s\n", message);
    return 0;
  }
  must(cuda.device_info(0, &device, &err), "device");
  std::fprintf(stderr, "%s\n", device.description);
  Suite(report).run();
}
