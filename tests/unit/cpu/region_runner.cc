// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cpu/region_runner.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "backends/cpu/cpu.h"

namespace nef::cpu_test {
namespace {

// Three threads, whatever the machine: splits are exercised on one core too.
constexpr int kThreads = 3;

void parallel_for(int64_t n, int64_t grain, nef_parallel_fn fn, void* arg) {
  const int64_t chunks = std::min<int64_t>(kThreads, n / std::max<int64_t>(1, grain));
  if (chunks <= 1) {
    if (n > 0) fn(arg, 0, n);
    return;
  }
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < chunks; ++i) {
    threads.emplace_back(fn, arg, n * i / chunks, n * (i + 1) / chunks);
  }
  for (auto& thread : threads) thread.join();
}
int32_t num_threads() { return kThreads; }

const nef_backend& table() {
  static const nef_backend_host host = {sizeof(nef_backend_host), parallel_for, num_threads};
  static const nef_backend* backend = [] {
    const nef_backend* t = nef_backend_cpu();
    char text[256] = "";
    nef_backend_error err{text, sizeof(text)};
    if (t->init(&host, &err) != NEF_OK) std::abort();
    return t;
  }();
  return *backend;
}

size_t size_of(nef_dtype dtype) {
  switch (dtype) {
    case NEF_BOOL:
    case NEF_INT8:
    case NEF_UINT8: return 1;
    case NEF_INT16:
    case NEF_UINT16:
    case NEF_FLOAT16:
    case NEF_BFLOAT16: return 2;
    case NEF_INT32:
    case NEF_UINT32:
    case NEF_FLOAT32: return 4;
    default: return 8;
  }
}

}  // namespace

void start_backend() { table(); }

int32_t RegionRunner::add(nef_value_kind kind, nef_dtype dtype, std::vector<int64_t> dims,
                          std::vector<uint8_t> bytes) {
  nef_backend_value value{};
  value.kind = kind;
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(dims.size());
  values_.push_back(value);
  dims_.push_back(std::move(dims));
  data_.push_back(std::move(bytes));
  return static_cast<int32_t>(values_.size()) - 1;
}

int32_t RegionRunner::output(nef_dtype dtype, std::vector<int64_t> dims) {
  const size_t bytes = static_cast<size_t>(product(dims)) * size_of(dtype);
  return add(NEF_VALUE_OUTPUT, dtype, std::move(dims), std::vector<uint8_t>(bytes, 0xff));
}

void RegionRunner::node(nef_op op, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                        std::vector<int64_t> attrs) {
  nodes_.push_back({op, std::move(inputs), std::move(outputs), std::move(attrs)});
}

Outcome RegionRunner::run(const std::vector<uint8_t>* blob, int times) {
  const nef_backend& t = table();
  Outcome outcome;
  char text[512] = "";
  nef_backend_error err{text, sizeof(text)};
  std::vector<nef_backend_node> nodes;
  std::vector<nef_backend_tensor> tensors, constants;
  for (size_t i = 0; i < values_.size(); ++i) {
    values_[i].dims = dims_[i].data();
    const bool internal = values_[i].kind == NEF_VALUE_INTERNAL;
    tensors.push_back({internal ? nullptr : data_[i].data(), dims_[i].data()});
    const bool constant = values_[i].kind == NEF_VALUE_CONSTANT;
    constants.push_back({constant ? data_[i].data() : nullptr, dims_[i].data()});
  }
  for (const Node& n : nodes_) {
    nodes.push_back({n.op, static_cast<int32_t>(n.inputs.size()),
                     static_cast<int32_t>(n.outputs.size()), static_cast<int32_t>(n.attrs.size()),
                     n.inputs.data(), n.outputs.data(),
                     n.attrs.empty() ? nullptr : n.attrs.data()});
  }
  nef_backend_region region{};
  region.struct_size = sizeof(region);
  region.kind = kind_;
  region.precision = precision_;
  region.n_values = static_cast<int32_t>(values_.size());
  region.n_nodes = static_cast<int32_t>(nodes.size());
  region.values = values_.data();
  region.nodes = nodes.data();

  nef_backend_kernel* kernel = nullptr;
  outcome.code = t.compile(0, &region, blob == nullptr ? nullptr : blob->data(),
                           blob == nullptr ? 0 : blob->size(), &kernel, &err);
  outcome.message = text;
  if (outcome.code != NEF_OK) return outcome;
  outcome.kernel = t.kernel_name(kernel);
  outcome.blob.resize(t.serialize(kernel, nullptr, 0));
  t.serialize(kernel, outcome.blob.data(), outcome.blob.size());
  nef_backend_prepared* prepared = nullptr;
  outcome.code = t.prepare(kernel, constants.data(), &prepared, &err);
  if (outcome.code == NEF_OK) {
    const size_t bytes = t.scratch_bytes(prepared, tensors.data());
    const size_t room = (bytes + 63) / 64 * 64;
    std::unique_ptr<void, void (*)(void*)> scratch(std::aligned_alloc(64, room + 64), std::free);
    std::memset(scratch.get(), 0xcd, room);
    for (int i = 0; i < times && outcome.code == NEF_OK; ++i) {
      outcome.code = t.launch(prepared, nullptr, tensors.data(), scratch.get(), &err);
    }
    t.prepared_free(prepared);
  }
  outcome.message = text;
  t.kernel_free(kernel);
  return outcome;
}

std::vector<float> random_floats(int64_t n, uint32_t seed) {
  std::vector<float> out(static_cast<size_t>(n));
  std::mt19937 engine(seed);
  for (float& x : out) x = static_cast<float>(static_cast<int32_t>(engine())) * 0x1p-31f;
  return out;
}

}  // namespace nef::cpu_test
