// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

// What every backend needs to deal with the C ABI of <nef/backend.h>.
namespace nef::backends {

// Thrown inside a backend; turned into a nef_code and message at the table's functions.
class BackendError : public std::exception {
 public:
  BackendError(nef_code code, std::string message) : code_(code), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  nef_code code() const noexcept { return code_; }

 private:
  nef_code code_;
  std::string message_;
};

// Writes a message into the caller's error buffer and returns `code`.
nef_code report(nef_backend_error* err, nef_code code, const char* message) noexcept;

// Runs `body`; exceptions become codes. For the entries of a backend table.
template <typename Body>
nef_code guarded(nef_backend_error* err, Body&& body) noexcept {
  try {
    body();
    return NEF_OK;
  } catch (const BackendError& e) {
    return report(err, e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return report(err, NEF_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& e) {
    return report(err, NEF_INTERNAL, e.what());
  } catch (...) {
    return report(err, NEF_INTERNAL, "unknown exception");
  }
}

// A deep copy of a region that outlives the compile call.
struct Value {
  nef_value_kind kind;
  nef_dtype dtype;
  std::vector<int64_t> dims;     // NEF_DIM_UNKNOWN where only launch knows
  std::vector<uint8_t> literal;  // bytes of a NEF_VALUE_LITERAL
  int rank() const { return static_cast<int>(dims.size()); }
};
struct Node {
  nef_op op;
  std::vector<int32_t> inputs;   // -1 = absent
  std::vector<int32_t> outputs;  // -1 = unwanted
  std::vector<int64_t> attr_words;
  const int64_t* attrs() const { return attr_words.empty() ? nullptr : attr_words.data(); }
  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] >= 0; }
  bool has_output(size_t i) const { return i < outputs.size() && outputs[i] >= 0; }
};
struct Region {
  nef_region_kind kind;
  nef_precision precision;
  std::vector<Value> values;
  std::vector<Node> nodes;

  static Region copy(const nef_backend_region& region);
  const Value& input(const Node& node, size_t i) const { return values[node.inputs[i]]; }
  const Value& output(const Node& node, size_t i) const { return values[node.outputs[i]]; }
};

size_t dtype_size(nef_dtype dtype);
const char* dtype_name(nef_dtype dtype);
// Of static dims. INT64_MAX where there are more, which no tensor in memory has; a 0 beside huge
// dims makes 0.
inline int64_t element_count(const int64_t* dims, int rank) {
  int64_t n = 1;
  bool over = false;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 0) return 0;
    over = over || __builtin_mul_overflow(n, dims[i], &n);
  }
  return over ? INT64_MAX : n;
}

}  // namespace nef::backends
