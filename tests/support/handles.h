// SPDX-License-Identifier: Apache-2.0
// The C API with owners, for tests in C++: handles release themselves, a status that is not
// expected becomes an exception.
#pragma once

#include <cjson/cJSON.h>
#include <nef/nef.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nef::test {

struct Failure {
  nef_code code = NEF_OK;
  std::string op, message;
};

inline Failure take(nef_status* status) {
  Failure f{nef_status_code(status), nef_status_op(status), nef_status_message(status)};
  nef_status_release(status);
  return f;
}
inline void ok(nef_status* status) {
  if (status == nullptr) return;
  const Failure f = take(status);
  throw std::runtime_error(std::string(nef_code_name(f.code)) + ": " + f.message);
}

// Other tests of the program may have loaded it already.
inline void load_plugin(const char* path) {
  const Failure f = take(nef_backend_load(path));
  if (f.code != NEF_OK && f.code != NEF_DUPLICATE_NAME) throw std::runtime_error(f.message);
}

template <typename Handle, Handle* (*kRetain)(Handle*), void (*kRelease)(Handle*)>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle* handle) : handle_(handle) {}
  Owner(const Owner& other) : handle_(kRetain(other.handle_)) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner other) {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owner() { kRelease(handle_); }

  Handle* get() const { return handle_; }
  Handle** out() { return &handle_; }

 private:
  Handle* handle_ = nullptr;
};
inline nef_tensor* retain_tensor(nef_tensor* t) { return t == nullptr ? t : nef_tensor_retain(t); }
using Tensor = Owner<nef_tensor, retain_tensor, nef_tensor_release>;
using Graph = Owner<nef_graph, nef_graph_retain, nef_graph_release>;
using Program = Owner<nef_program, nef_program_retain, nef_program_release>;
using Run = Owner<nef_run, nef_run_retain, nef_run_release>;

inline nef_dim dim(int64_t n) { return {n, nullptr, 0, 0}; }
inline nef_dim dim(const char* symbol, int64_t min = 1, int64_t max = 0) {
  return {0, symbol, min, max};
}

inline Tensor input(const char* name, const std::vector<nef_dim>& dims,
                    nef_dtype dtype = NEF_FLOAT32) {
  Tensor t;
  ok(nef_tensor_input(name, dtype, dims.size(), dims.data(), t.out()));
  return t;
}
inline Tensor tensor(const std::vector<float>& data, const std::vector<int64_t>& shape) {
  Tensor t;
  ok(nef_tensor_create(NEF_FLOAT32, shape.size(), shape.data(), data.data(), t.out()));
  return t;
}
inline Tensor ints(const std::vector<int64_t>& data) {
  Tensor t;
  const int64_t n = static_cast<int64_t>(data.size());
  ok(nef_tensor_create(NEF_INT64, 1, &n, data.data(), t.out()));
  return t;
}

inline nef_attr int_attr(const char* name, int64_t value) {
  nef_attr a{};
  a.struct_size = sizeof a;
  a.name = name;
  a.type = NEF_ATTR_INT;
  a.i = value;
  return a;
}
inline nef_attr ints_attr(const char* name, const std::vector<int64_t>& values) {
  nef_attr a{};
  a.struct_size = sizeof a;
  a.name = name;
  a.type = NEF_ATTR_INTS;
  a.ints = values.data();
  a.count = values.size();
  return a;
}

// The first output of an op.
inline Tensor op(const char* name, const std::vector<Tensor>& inputs,
                 const std::vector<nef_attr>& attrs = {}, const char* device = "") {
  std::vector<const nef_tensor*> raw;
  for (const Tensor& t : inputs) raw.push_back(t.get());
  Tensor out;
  ok(nef_op_call(name, raw.data(), raw.size(), attrs.data(), attrs.size(), device, 1, out.out()));
  return out;
}

inline Graph capture(const std::vector<Tensor>& outputs) {
  std::vector<const nef_tensor*> raw;
  std::vector<std::string> names;
  std::vector<const char*> c_names;
  for (const Tensor& t : outputs) {
    names.push_back("out" + std::to_string(raw.size()));
    raw.push_back(t.get());
  }
  for (const std::string& n : names) c_names.push_back(n.c_str());
  Graph g;
  ok(nef_graph_capture(raw.data(), c_names.data(), raw.size(), g.out()));
  return g;
}

inline nef_compile_options options(const char* device = nullptr) {
  nef_compile_options o;
  nef_compile_options_init(&o, sizeof o);
  o.device = device;
  return o;
}
inline Program compile(const Graph& graph, const nef_compile_options& o = options()) {
  Program p;
  ok(nef_graph_compile(graph.get(), &o, p.out()));
  return p;
}

inline std::vector<int64_t> shape_of(const Tensor& t) {
  std::vector<int64_t> shape(nef_tensor_rank(t.get()));
  nef_tensor_shape(t.get(), shape.data(), shape.size());
  return shape;
}
inline std::vector<float> floats(const Tensor& t) {
  size_t n = 1;
  for (int64_t d : shape_of(t)) n *= static_cast<size_t>(d);
  std::vector<float> out(n);
  ok(nef_tensor_read(t.get(), out.data(), n * sizeof(float)));
  return out;
}

// Runs with `count` outputs; `status` as the program gave it.
inline nef_status* try_run(const Program& p, const std::vector<Tensor>& inputs,
                           std::vector<Tensor>* outs, size_t count = 1) {
  std::vector<nef_tensor*> in, out(count, nullptr);
  for (const Tensor& t : inputs) in.push_back(t.get());
  nef_status* status = nef_program_run(p.get(), in.data(), in.size(), out.data(), count);
  outs->clear();
  if (status == nullptr) {
    for (nef_tensor* t : out) outs->emplace_back(t);
  }
  return status;
}
inline std::vector<Tensor> run(const Program& p, const std::vector<Tensor>& inputs,
                               size_t count = 1) {
  std::vector<Tensor> outs;
  ok(try_run(p, inputs, &outs, count));
  return outs;
}

struct FreeJson {
  void operator()(cJSON* json) const { cJSON_Delete(json); }
};
using Json = std::unique_ptr<cJSON, FreeJson>;
// Takes the text of a nef_..._json out-parameter.
inline Json take_json(char* text) {
  // cJSON notes where it failed in one global, so parsing is serial.
  static std::mutex mutex;
  Json json;
  {
    const std::lock_guard lock(mutex);
    json.reset(cJSON_Parse(text));
  }
  nef_string_free(text);
  if (json == nullptr) throw std::runtime_error("not JSON");
  return json;
}
inline std::string json_text(const cJSON* object, const char* key) {
  const cJSON* item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsString(item) ? item->valuestring : "(no " + std::string(key) + ")";
}

struct Event {
  std::string what, why, from, to;
};
inline std::vector<Event> take_events(char* text) {
  const Json list = take_json(text);
  std::vector<Event> out;
  const cJSON* item;
  cJSON_ArrayForEach(item, list.get()) {
    out.push_back({json_text(item, "what"), json_text(item, "why"), json_text(item, "from"),
                   json_text(item, "to")});
  }
  return out;
}
inline std::vector<Event> events(const Program& p) {
  char* text = nullptr;
  ok(nef_program_events(p.get(), &text));
  return take_events(text);
}
inline std::vector<Event> lazy_events() {
  char* text = nullptr;
  ok(nef_lazy_events(&text));
  return take_events(text);
}
inline Json plan(const Program& p) {
  char* text = nullptr;
  ok(nef_program_plan(p.get(), &text));
  return take_json(text);
}
// "matmul:fault:0 relu:cpu:0"
inline std::string placement(const Program& p) {
  const Json json = plan(p);
  std::string out;
  const cJSON* region;
  cJSON_ArrayForEach(region, cJSON_GetObjectItemCaseSensitive(json.get(), "regions")) {
    out += (out.empty() ? "" : " ") + json_text(region, "ops") + "@" + json_text(region, "device");
  }
  return out;
}

// Numbers that look random and are the same everywhere.
inline std::vector<float> noise(size_t n, uint32_t seed = 1) {
  std::vector<float> out(n);
  uint32_t x = seed * 2654435761u + 1;
  for (float& f : out) {
    x = x * 1664525u + 1013904223u;
    f = static_cast<float>(static_cast<int32_t>(x >> 8) - (1 << 23)) / static_cast<float>(1 << 23);
  }
  return out;
}

}  // namespace nef::test
