// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/nef.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/gpu_copy.h"

// Graphs for GPU benchmarks, built and run through nef.h as a user does.
namespace nef::bench {

using Shape = std::vector<int64_t>;
constexpr int64_t kWords = 30000;  // that a text may have

inline void check(nef_status* st) {
  if (st == nullptr) return;
  std::printf("bench: %s\n", nef_status_message(st));
  std::exit(1);
}

// Numbers within `spread` of `mean`, as bfloat16 or float32; or any bytes, or floats of 8 bits.
inline void fill(void* out, nef_dtype dtype, size_t n, float mean, float spread, uint64_t seed) {
  const size_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t p = 0; p < parts; ++p) {
    threads.emplace_back([=] {
      uint64_t state = (seed * 1000003 + p) * 2862933555777941757u + 3037000493u;
      for (size_t i = n * p / parts; i < n * (p + 1) / parts; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const float v = mean + spread * (static_cast<float>(state >> 40) * 0x1p-23f - 1.0f);
        uint32_t bits;
        std::memcpy(&bits, &v, sizeof bits);
        if (dtype == NEF_FLOAT32) {
          static_cast<uint32_t*>(out)[i] = bits;
        } else if (dtype == NEF_UINT8) {
          static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(state >> 40);
        } else if (dtype == NEF_FLOAT8_E4M3FN) {  // an eighth to almost two, either sign
          static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(0x20 | (state >> 40 & 0x9f));
        } else {
          static_cast<uint16_t*>(out)[i] =
              static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
        }
      }
    });
  }
  for (auto& t : threads) t.join();
}

// A graph under construction, of one input "x" and one output "y". Owns its tensors and the memory
// of its constants, which it counts. Inputs of int64 are numbers of words.
class Graph {
 public:
  struct Attr {
    const char* name;
    int64_t value;
  };
  explicit Graph(nef_dtype dtype) : dtype_(dtype), input_dtype_(dtype) {}
  virtual ~Graph() {
    for (nef_tensor* t : tensors_) nef_tensor_release(t);
    nef_graph_release(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  nef_graph* get() const { return graph_; }
  nef_dtype dtype() const { return dtype_; }
  nef_dtype input_dtype() const { return input_dtype_; }
  const Shape& input_shape() const { return shape_; }
  double bytes() const { return static_cast<double>(bytes_); }

  // Pins nodes to devices, `on` for those of the op and `other` for the rest, in a .nef file.
  void pin(const std::string& op, const std::string& on, const std::string& other) {
    const std::string folder = "/tmp/nef_bench." + std::to_string(getpid());
    const std::string path = folder + "/graph.nef";
    std::filesystem::create_directory(folder);
    check(nef_graph_save(graph_, path.c_str(), nullptr));
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::string mark = "\"op\":";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      const size_t begin = text.find('"', at + mark.size()) + 1;
      const bool chosen = text.compare(begin, op.size() + 1, op + "\"") == 0;
      const std::string pinned = "\"preferred_device\": \"" + (chosen ? on : other) + "\", ";
      text.insert(at, pinned);
      at += pinned.size() + mark.size();
    }
    nef_graph_release(graph_);
    nef_load_options options;
    nef_load_options_init(&options, sizeof options);
    options.data_root = folder.c_str();
    check(nef_graph_load_bytes(text.data(), text.size(), &options, &graph_));
    std::filesystem::remove_all(folder);  // weights are mapped by now
  }

 protected:
  nef_tensor* input(const Shape& shape, nef_dtype dtype) {
    shape_ = shape;
    input_dtype_ = dtype;
    std::vector<nef_dim> dims;
    for (int64_t d : shape) dims.push_back({d, nullptr, 0, 0});
    nef_tensor* x = nullptr;
    check(nef_tensor_input("x", dtype, dims.size(), dims.data(), &x));
    return keep(x);
  }
  void capture(nef_tensor* y) {
    const nef_tensor* outputs[1] = {y};
    const char* names[1] = {"y"};
    check(nef_graph_capture(outputs, names, 1, &graph_));
  }
  nef_tensor* constant(const Shape& shape, float mean, float spread) {
    return wrap(shape, dtype_, mean, spread);
  }
  // Keeps the size of what it multiplies.
  nef_tensor* weight(int64_t inputs, int64_t outputs) {
    return constant({inputs, outputs}, 0, std::sqrt(3.0f / static_cast<float>(inputs)));
  }
  // x times such a matrix, kept in `bits` bits with a scale for each 32 weights.
  nef_tensor* product(nef_tensor* x, int64_t inputs, int64_t outputs, int64_t bits) {
    if (bits == 16) return op("matmul", {x, weight(inputs, outputs)});
    constexpr int64_t kBlock = 32;
    const int64_t blocks = inputs / kBlock;
    // Whole numbers of every size are as likely: the scale makes their deviation that of a weight.
    const float deviation = std::ldexp(0.2887f, static_cast<int>(bits));
    const float scale = 1.0f / (deviation * std::sqrt(static_cast<float>(inputs)));
    return op("MatMulNBits",
              {x, wrap({outputs, blocks, kBlock * bits / 8}, NEF_UINT8, 0, 0),
               constant({outputs, blocks}, scale, 0.3f * scale)},
              {{"k", inputs}, {"n", outputs}, {"bits", bits}, {"block_size", kBlock}});
  }
  // x times such a matrix of float8_e4m3fn with a scale for each column.
  nef_tensor* float8_product(nef_tensor* x, int64_t inputs, int64_t outputs) {
    constexpr float kDeviation = 0.845f;  // of what `fill` makes
    const float scale = 1.0f / (kDeviation * std::sqrt(static_cast<float>(inputs)));
    nef_tensor* w = wrap({inputs, outputs}, NEF_FLOAT8_E4M3FN, 0, 0);
    nef_tensor* wide = op("dequantize_linear", {w, constant({outputs}, scale, 0.3f * scale)});
    return op("matmul", {x, wide});
  }
  nef_tensor* ints(const Shape& values) {
    const auto n = static_cast<int64_t>(values.size());
    nef_tensor* out = nullptr;
    check(nef_tensor_create(NEF_INT64, 1, &n, values.data(), &out));
    return keep(out);
  }
  nef_tensor* op(const char* name, const std::vector<nef_tensor*>& inputs,
                 const std::vector<Attr>& attrs = {}) {
    std::vector<nef_attr> list;
    for (const Attr& a : attrs) {
      nef_attr attr{};
      attr.struct_size = sizeof attr;
      attr.name = a.name;
      attr.type = NEF_ATTR_INT;
      attr.i = a.value;
      list.push_back(attr);
    }
    nef_tensor* out = nullptr;
    check(nef_op_call(name, inputs.data(), inputs.size(), list.data(), list.size(), "", 1, &out));
    return keep(out);
  }

 private:
  nef_tensor* wrap(const Shape& shape, nef_dtype dtype, float mean, float spread) {
    size_t n = 1;
    for (int64_t d : shape) n *= static_cast<size_t>(d);
    const size_t bytes = n * nef_dtype_size(dtype);
    memory_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    fill(memory_.back().get(), dtype, n, mean, spread, memory_.size());
    bytes_ += bytes;
    nef_tensor* out = nullptr;
    check(nef_tensor_wrap(dtype, shape.size(), shape.data(), memory_.back().get(), bytes, nullptr,
                          nullptr, &out));
    return keep(out);
  }
  nef_tensor* keep(nef_tensor* t) {
    tensors_.push_back(t);
    return t;
  }
  const nef_dtype dtype_;
  nef_dtype input_dtype_;
  Shape shape_;
  std::vector<nef_tensor*> tensors_;
  std::vector<std::unique_ptr<char[]>> memory_;
  nef_graph* graph_ = nullptr;
  size_t bytes_ = 0;
};

// A program on a device and what it is run with.
class Program {
 public:
  Program(const Graph& graph, const char* device, int32_t threads = 0) : dtype_(graph.dtype()) {
    nef_compile_options options;
    nef_compile_options_init(&options, sizeof options);
    options.device = device;
    options.strict = 1;
    options.threads = threads;
    check(nef_graph_compile(graph.get(), &options, &program_));
    size_t n = 1;
    for (int64_t d : graph.input_shape()) n *= static_cast<size_t>(d);
    const nef_dtype given = graph.input_dtype();
    std::vector<char> data(n * nef_dtype_size(given));
    if (given == NEF_INT64) {
      for (size_t i = 0; i < n; ++i) reinterpret_cast<int64_t*>(data.data())[i] = 7919 * i % kWords;
    } else {
      fill(data.data(), given, n, 0, 1.7f, 77);
    }
    check(nef_tensor_create(given, graph.input_shape().size(), graph.input_shape().data(),
                            data.data(), &x_));
    if (std::getenv("NEF_BENCH_PLAN") == nullptr) return;
    char* json = nullptr;
    check(nef_program_plan(program_, &json));
    std::fprintf(stderr, "%s\n", json);
    nef_string_free(json);
  }
  ~Program() {
    nef_program_release(program_);
    nef_tensor_release(x_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::vector<float> run() {
    nef_tensor* y = nullptr;
    check(nef_program_run(program_, &x_, 1, &y, 1));
    const void* data = nullptr;
    size_t bytes = 0;
    check(nef_tensor_data(y, &data, &bytes));
    std::vector<float> out(bytes / nef_dtype_size(dtype_));
    for (size_t i = 0; i < out.size(); ++i) {
      const uint32_t bits = dtype_ == NEF_FLOAT32
                                ? static_cast<const uint32_t*>(data)[i]
                                : uint32_t{static_cast<const uint16_t*>(data)[i]} << 16;
      std::memcpy(&out[i], &bits, sizeof bits);
    }
    nef_tensor_release(y);
    return out;
  }
  // Seconds that copies between devices take while nothing else goes on, from the trace of a run.
  double copy_seconds(int runs = 20) {
    std::vector<double> samples;
    for (int i = 0; i < runs; ++i) {
      nef_run* run = nullptr;
      check(nef_run_create(program_, &run));
      nef_run_enable_trace(run);
      check(nef_run_set_input(run, 0, x_));
      check(nef_run_execute(run));
      char* json = nullptr;
      check(nef_run_trace(run, &json));
      samples.push_back(copies_in(json));
      nef_string_free(json);
      nef_run_release(run);
    }
    return median(samples);
  }
  // Median seconds of a run, from host memory to host memory, one after the other.
  double seconds(int runs = 100) {
    std::vector<double> samples;
    for (int i = 0; i < runs + 10; ++i) {
      const double begin = now();
      step();
      if (i >= 10) samples.push_back(now() - begin);
    }
    return median(samples);
  }
  // Seconds of a run while several threads keep the device's queue from running dry.
  double queued_seconds(int runs = 100) {
    constexpr int kThreads = 3;
    for (int i = 0; i < 3; ++i) together(kThreads, 3);
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i) {
      const double begin = now();
      together(kThreads, runs / kThreads);
      samples.push_back((now() - begin) / (runs / kThreads * kThreads));
    }
    return median(samples);
  }

  // One run.
  void step() {
    nef_tensor* y = nullptr;
    check(nef_program_run(program_, &x_, 1, &y, 1));
    nef_tensor_release(y);
  }

 private:
  // Seconds in which copies were going on and no kernel was.
  static double copies_in(const std::string& json) {
    struct Span {
      double begin, end;
      bool copy;
    };
    const auto number = [&](size_t before, const char* key) {
      return std::atof(json.c_str() + json.rfind(key, before) + std::strlen(key));
    };
    std::vector<Span> spans;
    const std::string category = "\"cat\":\"";
    for (size_t at = json.find(category); at != std::string::npos;
         at = json.find(category, at + 1)) {
      const double begin = number(at, "\"ts\":"), duration = number(at, "\"dur\":");
      spans.push_back(
          {begin, begin + duration, json.compare(at + category.size(), 4, "copy") == 0});
    }
    double seconds = 0;
    for (const Span& c : spans) {
      if (!c.copy) continue;
      double alone = c.end - c.begin;
      for (const Span& k : spans) {
        if (!k.copy) alone -= std::max(0.0, std::min(c.end, k.end) - std::max(c.begin, k.begin));
      }
      seconds += 1e-6 * alone;
    }
    return seconds;
  }
  void together(int threads, int runs) {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([this, runs] {
        for (int i = 0; i < runs; ++i) step();
      });
    }
    for (auto& t : all) t.join();
  }

  const nef_dtype dtype_;
  nef_program* program_ = nullptr;
  nef_tensor* x_ = nullptr;
};

// |got - want| / |want| of what two devices make of a graph.
inline double difference(const Graph& graph, const char* device, const char* other) {
  const std::vector<float> got = Program(graph, device).run(), want = Program(graph, other).run();
  double off = 0, size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    off += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(off / size);
}

}  // namespace nef::bench
