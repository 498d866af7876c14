// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/onnx_proto.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "engine/ir/dtype.h"

namespace nef::conformance::onnx {
namespace {

// One field of a message: its number and either a number or bytes.
struct Field {
  int number = 0;
  bool is_bytes = false;
  uint64_t value = 0;
  std::string_view bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }

  Field next() {
    Field f;
    const uint64_t key = varint();
    f.number = static_cast<int>(key >> 3);
    switch (key & 7) {
      case 0: f.value = varint(); break;
      case 1: f.value = fixed<uint64_t>(); break;
      case 2:
        f.is_bytes = true;
        f.bytes = take(varint());
        break;
      case 5: f.value = fixed<uint32_t>(); break;
      default: throw std::runtime_error("protobuf: unknown wire type");
    }
    return f;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw std::runtime_error("protobuf: varint too long");
  }
  template <typename T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::string_view take(uint64_t n) {
    if (n > rest_.size()) throw std::runtime_error("protobuf: message is cut off");
    const std::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }
  std::string_view rest_;
};

// Repeated numbers come packed or one by one.
void append_varints(const Field& f, std::vector<int64_t>& out) {
  if (!f.is_bytes) {
    out.push_back(static_cast<int64_t>(f.value));
    return;
  }
  for (Reader r(f.bytes); !r.done();) out.push_back(static_cast<int64_t>(r.varint()));
}
template <typename T>
void append_fixed(const Field& f, std::vector<T>& out) {
  if (!f.is_bytes) {
    if constexpr (sizeof(T) == 4) out.push_back(std::bit_cast<T>(static_cast<uint32_t>(f.value)));
    else out.push_back(std::bit_cast<T>(f.value));
    return;
  }
  for (Reader r(f.bytes); !r.done();) out.push_back(r.fixed<T>());
}

// Elements in one of the typed fields; int32_data also holds narrower types and 16-bit floats.
std::vector<uint8_t> narrowed(const std::vector<int64_t>& numbers, size_t size) {
  std::vector<uint8_t> out;
  for (int64_t v : numbers) {
    const auto* p = reinterpret_cast<const uint8_t*>(&v);
    out.insert(out.end(), p, p + size);
  }
  return out;
}
template <typename T>
std::vector<uint8_t> as_bytes(const std::vector<T>& numbers) {
  const auto* p = reinterpret_cast<const uint8_t*>(numbers.data());
  return {p, p + numbers.size() * sizeof(T)};
}

Attribute parse_attribute(std::string_view bytes) {
  Attribute a;
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    switch (f.number) {
      case 1: a.name = f.bytes; break;
      case 2: a.f = std::bit_cast<float>(static_cast<uint32_t>(f.value)); break;
      case 3: a.i = static_cast<int64_t>(f.value); break;
      case 4: a.s = f.bytes; break;
      case 5: a.tensor = parse_tensor(f.bytes); break;
      case 7: append_fixed(f, a.floats); break;
      case 8: append_varints(f, a.ints); break;
      case 9: a.strings.emplace_back(f.bytes); break;
      case 13:
      case 20:
      case 21: break;  // documentation, type, reference
      default: a.other = true;
    }
  }
  return a;
}

Node parse_node(std::string_view bytes) {
  Node n;
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    switch (f.number) {
      case 1: n.inputs.emplace_back(f.bytes); break;
      case 2: n.outputs.emplace_back(f.bytes); break;
      case 4: n.op_type = f.bytes; break;
      case 5: n.attributes.push_back(parse_attribute(f.bytes)); break;
      case 7: n.domain = f.bytes; break;
      default: break;
    }
  }
  return n;
}

// A graph input or output; `is_tensor` becomes false for other types.
ValueInfo parse_value_info(std::string_view bytes, bool& is_tensor) {
  ValueInfo info;
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    if (f.number == 1) info.name = f.bytes;
    if (f.number != 2) continue;
    for (Reader type(f.bytes); !type.done();) {
      const Field kind = type.next();
      if (kind.number == 4 || kind.number == 5 || kind.number == 8 || kind.number == 9)
        is_tensor = false;
      if (kind.number != 1) continue;
      for (Reader tensor(kind.bytes); !tensor.done();) {
        const Field element = tensor.next();
        if (element.number == 1) info.dtype = dtype_of(static_cast<int64_t>(element.value));
      }
    }
  }
  return info;
}

std::string tensor_name(std::string_view bytes) {
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    if (f.number == 8) return std::string(f.bytes);
  }
  return "";
}

void parse_graph(std::string_view bytes, Model& m) {
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    switch (f.number) {
      case 1: m.nodes.push_back(parse_node(f.bytes)); break;
      case 5: m.initializers.push_back(tensor_name(f.bytes)); break;
      case 11: m.inputs.push_back(parse_value_info(f.bytes, m.tensors_only)); break;
      case 12: m.outputs.push_back(parse_value_info(f.bytes, m.tensors_only)); break;
      default: break;
    }
  }
}

void parse_opset(std::string_view bytes, Model& m) {
  std::string domain;
  int64_t version = 0;
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    if (f.number == 1) domain = f.bytes;
    if (f.number == 2) version = static_cast<int64_t>(f.value);
  }
  m.opsets[domain] = version;
}

}  // namespace

nef_dtype dtype_of(int64_t data_type) {
  static constexpr nef_dtype kTable[] = {
      NEF_DTYPE_INVALID, NEF_FLOAT32,  NEF_UINT8,         NEF_INT8,          NEF_UINT16,
      NEF_INT16,         NEF_INT32,    NEF_INT64,         NEF_DTYPE_INVALID, NEF_BOOL,
      NEF_FLOAT16,       NEF_FLOAT64,  NEF_UINT32,        NEF_UINT64,        NEF_DTYPE_INVALID,
      NEF_DTYPE_INVALID, NEF_BFLOAT16, NEF_FLOAT8_E4M3FN, NEF_DTYPE_INVALID, NEF_FLOAT8_E5M2};
  return data_type >= 0 && data_type < static_cast<int64_t>(std::size(kTable)) ? kTable[data_type]
                                                                               : NEF_DTYPE_INVALID;
}

Tensor parse_tensor(std::string_view bytes) {
  Tensor t;
  std::vector<int64_t> numbers;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::optional<std::string_view> raw;
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    switch (f.number) {
      case 1: append_varints(f, t.dims); break;
      case 2: t.dtype = dtype_of(static_cast<int64_t>(f.value)); break;
      case 4: append_fixed(f, floats); break;
      case 5:
      case 7:
      case 11: append_varints(f, numbers); break;
      case 9: raw = f.bytes; break;
      case 10: append_fixed(f, doubles); break;
      default: break;
    }
  }
  if (t.dtype == NEF_DTYPE_INVALID) return t;
  if (raw) t.bytes.assign(raw->begin(), raw->end());
  else if (t.dtype == NEF_FLOAT32) t.bytes = as_bytes(floats);
  else if (t.dtype == NEF_FLOAT64) t.bytes = as_bytes(doubles);
  else t.bytes = narrowed(numbers, ir::dtype_size(t.dtype));
  if (t.bytes.size() != static_cast<size_t>(t.count()) * ir::dtype_size(t.dtype)) {
    throw std::runtime_error("TensorProto: the data does not fit the dims");
  }
  return t;
}

Model parse_model(std::string_view bytes) {
  Model m;
  for (Reader r(bytes); !r.done();) {
    const Field f = r.next();
    if (f.number == 7) parse_graph(f.bytes, m);
    if (f.number == 8) parse_opset(f.bytes, m);
  }
  return m;
}

}  // namespace nef::conformance::onnx
