// SPDX-License-Identifier: Apache-2.0
// Every door of the C API that takes raw bytes, before every device: bools that are not 0 or 1,
// payloads of NaN, numbers of enumerations, indices. docs/numerics.md has the rules.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<uint8_t>;

std::string file_of(const Bytes& bytes, const std::string& before = "") {
  static int number = 0;
  const std::string path = fs::temp_directory_path() / ("nef_doors_" + std::to_string(::getpid()) +
                                                        "_" + std::to_string(number++));
  std::ofstream out(path, std::ios::binary);
  out << before;
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  return path;
}

Tensor created(nef_dtype dtype, const std::vector<int64_t>& shape, const Bytes& bytes) {
  Tensor t;
  ok(nef_tensor_create(dtype, shape.size(), shape.data(), bytes.data(), t.out()));
  return t;
}

Tensor wrapped(nef_dtype dtype, const std::vector<int64_t>& shape, const Bytes& bytes) {
  auto* memory = new uint64_t[bytes.size() / 8 + 1];
  std::memcpy(memory, bytes.data(), bytes.size());
  Tensor t;
  ok(nef_tensor_wrap(
      dtype, shape.size(), shape.data(), memory, bytes.size(),
      [](void* p, void*) { delete[] static_cast<uint64_t*>(p); }, nullptr, t.out()));
  return t;
}

Tensor mapped(nef_dtype dtype, const std::vector<int64_t>& shape, const Bytes& bytes) {
  const std::string path = file_of(bytes, "xxxxxxxx");
  const int fd = ::open(path.c_str(), O_RDONLY);
  Tensor t;
  ok(nef_tensor_map(dtype, shape.size(), shape.data(), fd, 8, "w", t.out()));
  ::close(fd);
  fs::remove(path);
  return t;
}

const char* stored_name(nef_dtype dtype) {
  switch (dtype) {
    case NEF_BOOL: return "BOOL";
    case NEF_FLOAT16: return "F16";
    case NEF_BFLOAT16: return "BF16";
    case NEF_FLOAT32: return "F32";
    default: return "F64";
  }
}

std::string container(nef_dtype dtype, const std::vector<int64_t>& shape, const Bytes& bytes) {
  std::string header = std::string("{\"w\":{\"dtype\":\"") + stored_name(dtype) + "\",\"shape\":[";
  for (size_t i = 0; i < shape.size(); ++i) {
    header += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  }
  header += "],\"data_offsets\":[0," + std::to_string(bytes.size()) + "]}}";
  while (header.size() % 8 != 0) header += ' ';
  const uint64_t n = header.size();
  return std::string(reinterpret_cast<const char*>(&n), sizeof n) + header;
}

Tensor from_safetensors(nef_dtype dtype, const std::vector<int64_t>& shape, const Bytes& bytes) {
  const std::string path = file_of(bytes, container(dtype, shape, bytes));
  nef_weights* weights = nullptr;
  ok(nef_weights_open(path.c_str(), &weights));
  Tensor t;
  nef_status* status = nef_weights_tensor(weights, "w", t.out());
  nef_weights_release(weights);
  fs::remove(path);
  ok(status);
  return t;
}

// What a program makes is a tensor too.
Tensor run_through(nef_dtype dtype, const std::vector<int64_t>& shape, const Bytes& bytes) {
  std::vector<nef_dim> dims;
  for (const int64_t n : shape) dims.push_back(dim(n));
  const Program p = compile(capture({op("identity", {input("x", dims, dtype)})}));
  return run(p, {wrapped(dtype, shape, bytes)})[0];
}

struct Door {
  const char* name;
  Tensor (*open)(nef_dtype, const std::vector<int64_t>&, const Bytes&);
};
constexpr Door kDoors[] = {{"create", created},
                           {"wrap", wrapped},
                           {"map", mapped},
                           {"safetensors", from_safetensors},
                           {"a run", run_through}};

std::vector<std::string> devices() {
  std::vector<std::string> out;
  for (size_t i = 0; i < nef_device_count(); ++i) {
    nef_device_info info{};
    info.struct_size = sizeof info;
    ok(nef_device(i, &info));
    // The plugins of other tests compute what they are told to.
    if (info.available != 0 && std::string(info.backend).rfind("fault", 0) != 0) {
      out.push_back(info.name);
    }
  }
  return out;
}

Bytes bytes_of(const Tensor& t) {
  const void* data = nullptr;
  size_t size = 0;
  ok(nef_tensor_data(t.get(), &data, &size));
  const auto* p = static_cast<const uint8_t*>(data);
  return {p, p + size};
}

template <typename T>
std::vector<double> numbers(const Tensor& t) {
  const Bytes b = bytes_of(t);
  std::vector<double> out;
  for (size_t i = 0; i + sizeof(T) <= b.size(); i += sizeof(T)) {
    T v;
    std::memcpy(&v, &b[i], sizeof v);
    out.push_back(static_cast<double>(v));
  }
  return out;
}

nef_attr dtype_attr(const char* name, nef_dtype t) { return int_attr(name, t); }

// Runs `make` of what came through each door, as input and as constant, on each device.
void everywhere(nef_dtype dtype, const std::vector<int64_t>& shape, const Bytes& bytes,
                const std::function<Tensor(const Tensor&)>& make,
                const std::function<void(const Tensor&)>& check) {
  for (const Door& door : kDoors) {
    for (const std::string& device : devices()) {
      SCOPED_TRACE(std::string(door.name) + " on " + device);
      const Tensor t = door.open(dtype, shape, bytes);
      std::vector<nef_dim> dims;
      for (const int64_t n : shape) dims.push_back(dim(n));
      auto o = options(device.c_str());
      check(run(compile(capture({make(input("x", dims, dtype))}), o), {t})[0]);
      check(run(compile(capture({make(t)}), o), {})[0]);
      o.disabled_passes = "fold,canonicalise,simplify";
      check(run(compile(capture({make(t)}), o), {})[0]);
    }
    check(make(door.open(dtype, shape, bytes)));  // lazily
  }
}

const Bytes kOdd = {0x00, 0x02, 0x01, 0xff, 0x80};
const Bytes kClean = {0, 1, 1, 1, 1};

TEST(Doors, BoolsAreZeroOrOne) {
  ASSERT_GE(devices().size(), 2u);
  for (const Door& door : kDoors) {
    EXPECT_EQ(bytes_of(door.open(NEF_BOOL, {5}, kOdd)), kClean) << door.name;
  }
  // Long ones, with one odd byte at the end.
  Bytes row(10000, 1);
  row.back() = 0x10;
  for (const Door& door : kDoors) {
    EXPECT_EQ(bytes_of(door.open(NEF_BOOL, {10000}, row)), Bytes(10000, 1)) << door.name;
  }
}

TEST(Doors, OpsOfBools) {
  const Tensor on = created(NEF_BOOL, {5}, {1, 1, 1, 1, 1});
  const struct {
    const char* what;
    std::function<Tensor(const Tensor&)> make;
    Bytes expected;
  } kOps[] = {
      {"and",
       [&](const Tensor& t) {
         return op("and", {t, on});
       },
       kClean},
      {"or",
       [&](const Tensor& t) {
         return op("or", {t, t});
       },
       kClean},
      {"xor",
       [&](const Tensor& t) {
         return op("xor", {t, on});
       },
       {1, 0, 0, 0, 0}},
      {"not", [&](const Tensor& t) { return op("not", {t}); }, {1, 0, 0, 0, 0}},
      {"equal",
       [&](const Tensor& t) {
         return op("equal", {t, on});
       },
       kClean},
      {"identity", [&](const Tensor& t) { return op("identity", {t}); }, kClean},
      {"where",
       [&](const Tensor& t) {
         return op("where", {on, t, on});
       },
       kClean},
      {"concat",
       [&](const Tensor& t) {
         return op("slice", {op("concat", {t, on}, {int_attr("axis", 0)}), ints({0}), ints({5})});
       },
       kClean},
      {"cast to bool",
       [&](const Tensor& t) { return op("cast", {t}, {dtype_attr("to", NEF_BOOL)}); }, kClean},
      {"cast to uint8",
       [&](const Tensor& t) { return op("cast", {t}, {dtype_attr("to", NEF_UINT8)}); }, kClean},
  };
  for (const auto& o : kOps) {
    SCOPED_TRACE(o.what);
    everywhere(NEF_BOOL, {5}, kOdd, o.make,
               [&](const Tensor& t) { EXPECT_EQ(bytes_of(t), o.expected); });
  }
  const std::vector<double> sum = {0, 1, 1, 1, 1};
  everywhere(
      NEF_BOOL, {5}, kOdd,
      [](const Tensor& t) { return op("cast", {t}, {dtype_attr("to", NEF_FLOAT32)}); },
      [&](const Tensor& t) { EXPECT_EQ(numbers<float>(t), sum); });
  everywhere(
      NEF_BOOL, {5}, kOdd,
      [](const Tensor& t) { return op("cast", {t}, {dtype_attr("to", NEF_INT64)}); },
      [&](const Tensor& t) { EXPECT_EQ(numbers<int64_t>(t), sum); });
}

struct Nan {
  nef_dtype dtype;
  Bytes bytes;  // quiet and signalling ones, of both signs
};
const Nan kNans[] = {
    {NEF_FLOAT16, {0x01, 0x7c, 0x34, 0xfe, 0xff, 0x7f, 0x00, 0xfd}},
    {NEF_BFLOAT16, {0x81, 0x7f, 0xc1, 0xff, 0xff, 0x7f, 0xa0, 0xff}},
    {NEF_FLOAT32,
     {1, 0, 0x80, 0x7f, 0x45, 0x23, 0xc1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0xa0, 0xff}},
    {NEF_FLOAT64, {1,    0,    0,    0,    0,    0,    0xf0, 0x7f, 1, 2, 3, 4, 5, 6, 0xf8, 0xff,
                   0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0xf4, 0xff}},
};

// Ops that only move elements keep every bit; others make some NaN of a NaN.
TEST(Doors, PayloadsOfNan) {
  for (const Nan& nan : kNans) {
    SCOPED_TRACE(nef_dtype_name(nan.dtype));
    const Tensor two = created(nan.dtype, {2, 2}, nan.bytes);
    const struct {
      const char* what;
      std::function<Tensor(const Tensor&)> make;
    } kMoves[] = {
        {"identity", [](const Tensor& t) { return op("identity", {t}); }},
        {"reshape",
         [](const Tensor& t) {
           return op("reshape", {t, ints({4})});
         }},
        {"transposed twice",
         [](const Tensor& t) {
           return op("transpose", {op("gather", {op("transpose", {t}), ints({0, 1})})});
         }},
        {"concat and slice",
         [](const Tensor& t) {
           return op("slice", {op("concat", {t, t}, {int_attr("axis", 0)}), ints({2}), ints({4})});
         }},
        {"gather",
         [](const Tensor& t) {
           return op("gather", {t, ints({0, 1})});
         }},
        {"where",
         [](const Tensor& t) {
           return op("where", {created(NEF_BOOL, {1}, {1}), t, op("identity", {t})});
         }},
    };
    for (const auto& move : kMoves) {
      SCOPED_TRACE(move.what);
      // Where chooses among numbers: those of 16 bits by way of float32.
      const bool narrow = nan.dtype == NEF_FLOAT16 || nan.dtype == NEF_BFLOAT16;
      if (narrow && std::string(move.what) == "where") continue;
      everywhere(nan.dtype, {2, 2}, nan.bytes, move.make,
                 [&](const Tensor& t) { EXPECT_EQ(bytes_of(t), nan.bytes); });
    }
    everywhere(
        nan.dtype, {2, 2}, nan.bytes,
        [&](const Tensor& t) {
          return op("cast", {op("add", {t, two})}, {dtype_attr("to", NEF_FLOAT64)});
        },
        [&](const Tensor& t) {
          for (const double x : numbers<double>(t)) EXPECT_TRUE(std::isnan(x));
        });
  }
}

nef_code code_of(nef_status* status) { return take(status).code; }

TEST(Doors, EnumerationsOutOfRange) {
  const std::vector<int64_t> shape = {1};
  uint64_t memory[2] = {};
  const std::string path = file_of(Bytes(16, 0));
  const int fd = ::open(path.c_str(), O_RDONLY);
  fs::remove(path);
  for (const nef_dtype bad : {-1, 0, 16, 99, 256 + NEF_FLOAT32, INT32_MAX, INT32_MIN}) {
    Tensor t;
    EXPECT_EQ(code_of(nef_tensor_create(bad, 1, shape.data(), memory, t.out())),
              NEF_INVALID_ARGUMENT);
    EXPECT_EQ(code_of(nef_tensor_wrap(bad, 1, shape.data(), memory, 8, nullptr, nullptr, t.out())),
              NEF_INVALID_ARGUMENT);
    EXPECT_EQ(code_of(nef_tensor_map(bad, 1, shape.data(), fd, 0, "", t.out())),
              NEF_INVALID_ARGUMENT);
    const nef_dim one = dim(1);
    EXPECT_EQ(code_of(nef_tensor_input("x", bad, 1, &one, t.out())), NEF_INVALID_ARGUMENT);
    EXPECT_EQ(nef_dtype_size(bad), 0u);
    const Tensor x = tensor({1}, {1});
    const nef_tensor* in = x.get();
    const nef_attr to = dtype_attr("to", bad);
    EXPECT_EQ(code_of(nef_op_call("cast", &in, 1, &to, 1, "", 1, t.out())), NEF_INVALID_ARGUMENT);
  }
  ::close(fd);

  const Tensor x = tensor({1}, {1});
  const nef_tensor* in = x.get();
  Tensor t;
  nef_attr attr = int_attr("approximate", 0);
  for (const int32_t type : {-1, 0, 99, INT32_MAX}) {
    attr.type = type;
    EXPECT_EQ(code_of(nef_op_call("gelu", &in, 1, &attr, 1, "", 1, t.out())), NEF_INVALID_ARGUMENT);
  }
  attr.type = NEF_ATTR_STRING;
  for (const char* choice : {"magic", "TANH", "", "tanh "}) {
    attr.s = choice;
    EXPECT_EQ(code_of(nef_op_call("gelu", &in, 1, &attr, 1, "", 1, t.out())), NEF_INVALID_ARGUMENT);
  }

  const Graph g = capture({op("identity", {x})});
  for (const int32_t precision : {-1, 2, 99, INT32_MAX}) {
    auto o = options();
    o.precision = precision;
    Program p;
    EXPECT_EQ(code_of(nef_graph_compile(g.get(), &o, p.out())), NEF_INVALID_ARGUMENT);
  }
  for (const char* device : {"tpu", "cpu:99", "cpu:-1", ":", "cpu:x"}) {
    const auto o = options(device);
    Program p;
    EXPECT_NE(code_of(nef_graph_compile(g.get(), &o, p.out())), NEF_OK) << device;
  }
}

// Attributes that are numbers of a list.
TEST(Doors, NumbersOfChoices) {
  const Tensor x = tensor(noise(16), {1, 4, 4}), boxes = tensor(noise(16), {1, 4, 4}),
               scores = tensor(noise(4), {1, 1, 4});
  const struct {
    const char* op;
    std::vector<Tensor> inputs;
    const char* attr;
  } kChoices[] = {
      {"non_max_suppression", {boxes, scores}, "center_point_box"},
  };
  for (const auto& c : kChoices) {
    for (const int64_t bad : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
      std::vector<const nef_tensor*> in;
      for (const Tensor& t : c.inputs) in.push_back(t.get());
      const nef_attr attr = int_attr(c.attr, bad);
      Tensor t;
      EXPECT_NE(code_of(nef_op_call(c.op, in.data(), in.size(), &attr, 1, "", 1, t.out())), NEF_OK)
          << c.op << " " << c.attr << " " << bad;
    }
  }
}

TEST(Doors, IndicesOutOfRange) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  for (const int64_t bad : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
    Bytes raw(sizeof bad);
    std::memcpy(raw.data(), &bad, sizeof bad);
    for (const Door& door : kDoors) {
      if (door.open == from_safetensors) continue;  // of floats and bools here
      for (const std::string& device : devices()) {
        SCOPED_TRACE(std::string(door.name) + " on " + device);
        const Tensor at = door.open(NEF_INT64, {1}, raw);
        const Tensor place = input("at", {dim(1)}, NEF_INT64);
        const auto o = options(device.c_str());
        std::vector<Tensor> outs;
        for (const Tensor& y :
             {op("gather", {x, place}), op("scatter_nd", {x, op("reshape", {place, ints({1, 1})}),
                                                          tensor({7, 7}, {1, 2})})}) {
          const Program p = compile(capture({y}), o);
          EXPECT_EQ(code_of(try_run(p, {at}, &outs)), NEF_OUT_OF_RANGE);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nef::test
