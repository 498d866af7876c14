// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

// Builds a region, runs it on the cpu backend's table, keeps the outputs.
namespace nef::cpu_test {

// Gives the backend its threads, as a runner does before anything else.
void start_backend();

struct Outcome {
  nef_code code = NEF_OK;
  std::string message, kernel;
  std::vector<uint8_t> blob;
};

class RegionRunner {
 public:
  explicit RegionRunner(nef_region_kind kind = NEF_REGION_SINGLE,
                        nef_precision precision = NEF_PRECISION_EXACT)
      : kind_(kind), precision_(precision) {}

  template <typename T>
  int32_t input(nef_dtype dtype, std::vector<int64_t> dims, const std::vector<T>& data) {
    return add(NEF_VALUE_INPUT, dtype, std::move(dims), bytes_of(data));
  }
  template <typename T>
  int32_t constant(nef_dtype dtype, std::vector<int64_t> dims, const std::vector<T>& data) {
    return add(NEF_VALUE_CONSTANT, dtype, std::move(dims), bytes_of(data));
  }
  int32_t floats(std::vector<int64_t> dims, const std::vector<float>& data) {
    return input(NEF_FLOAT32, std::move(dims), data);
  }
  int32_t internal(nef_dtype dtype, std::vector<int64_t> dims) {
    return add(NEF_VALUE_INTERNAL, dtype, std::move(dims), {});
  }
  int32_t output(nef_dtype dtype, std::vector<int64_t> dims);
  void node(nef_op op, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
            std::vector<int64_t> attrs = {});

  // Compiles (with a blob when given), prepares and launches `times` times.
  Outcome run(const std::vector<uint8_t>* blob = nullptr, int times = 1);

  template <typename T>
  std::vector<T> result(int32_t value) const {
    std::vector<T> out(data_[value].size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), data_[value].data(), data_[value].size());
    return out;
  }

 private:
  struct Node {
    nef_op op;
    std::vector<int32_t> inputs, outputs;
    std::vector<int64_t> attrs;
  };
  template <typename T>
  static std::vector<uint8_t> bytes_of(const std::vector<T>& data) {
    std::vector<uint8_t> bytes(data.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), data.data(), bytes.size());
    return bytes;
  }
  int32_t add(nef_value_kind kind, nef_dtype dtype, std::vector<int64_t> dims,
              std::vector<uint8_t> bytes);

  nef_region_kind kind_;
  nef_precision precision_;
  std::vector<nef_backend_value> values_;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<std::vector<uint8_t>> data_;
  std::vector<Node> nodes_;
};

// Deterministic floats in [-1, 1).
std::vector<float> random_floats(int64_t n, uint32_t seed);
inline int64_t product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

}  // namespace nef::cpu_test
