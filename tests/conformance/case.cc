// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "backends/shared/float16.h"
#include "backends/shared/float8.h"
#include "engine/ir/dtype.h"
#include "engine/ir/infer.h"

namespace nef::conformance {
namespace {

template <typename T>
void put(Tensor& t, int64_t i, T v) {
  std::memcpy(t.bytes.data() + static_cast<size_t>(i) * sizeof(T), &v, sizeof(T));
}
template <typename T>
T get(const Tensor& t, int64_t i) {
  T v;
  std::memcpy(&v, t.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return v;
}

void put_float(Tensor& t, int64_t i, double v) {
  switch (t.dtype) {
    case NEF_FLOAT16: return put(t, i, backends::float16_from_double(v));
    case NEF_BFLOAT16: return put(t, i, backends::bfloat16_from_double(v));
    case NEF_FLOAT32: return put(t, i, static_cast<float>(v));
    case NEF_FLOAT8_E4M3FN:
    case NEF_FLOAT8_E5M2: return put(t, i, backends::float8_from_double(t.dtype, v, false));
    default: return put(t, i, v);
  }
}
void put_int(Tensor& t, int64_t i, int64_t v) {
  switch (ir::dtype_size(t.dtype)) {
    case 1: return put(t, i, static_cast<uint8_t>(t.dtype == NEF_BOOL ? v & 1 : v));
    case 2: return put(t, i, static_cast<uint16_t>(v));
    case 4: return put(t, i, static_cast<uint32_t>(v));
    default: return put(t, i, v);
  }
}

bool is_signed_int(nef_dtype t) {
  return t == NEF_INT8 || t == NEF_INT16 || t == NEF_INT32 || t == NEF_INT64;
}

// A repeatable sequence of 64-bit numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  uint64_t state_;
};

double special_float(nef_dtype dtype, uint64_t which) {
  const double inf = std::numeric_limits<double>::infinity();
  const double numbers[] = {std::numeric_limits<double>::quiet_NaN(),
                            inf,
                            -inf,
                            0.0,
                            -0.0,
                            min_normal(dtype) / 4,
                            -min_normal(dtype) / 2,
                            max_finite(dtype),
                            -max_finite(dtype),
                            1.0,
                            -1.0,
                            0.5,
                            2.5};
  return numbers[which % std::size(numbers)];
}

double made_float(nef_dtype dtype, Fill fill, int64_t i, Random& random) {
  const double u = random.unit();
  switch (fill) {
    case Fill::Positive: return 0.1 + 3.9 * u;
    case Fill::Unit: return 2 * u - 1;
    case Fill::Ramp: return static_cast<double>(i % 1024);
    case Fill::Extreme:
    case Fill::Special:
      return random.bits() % 2 == 0 ? special_float(dtype, random.bits()) : 8 * u - 4;
    default: return 8 * u - 4;
  }
}

int64_t made_int(nef_dtype dtype, Fill fill, int64_t i, Random& random) {
  const auto r = static_cast<int64_t>(random.bits() >> 1);
  const int bits = static_cast<int>(ir::dtype_size(dtype)) * 8;
  switch (fill) {
    case Fill::Positive: return dtype == NEF_BOOL ? r % 2 : 1 + r % 9;
    case Fill::Ramp: return i;
    case Fill::Extreme: {
      const uint64_t top = uint64_t{1} << (bits - 1);  // least signed, or ~top the greatest
      const uint64_t picks[] = {top, top - 1, ~uint64_t{0}, 0, 1, random.bits(), random.bits()};
      return static_cast<int64_t>(picks[random.bits() % std::size(picks)]);
    }
    default: return is_signed_int(dtype) ? r % 19 - 9 : r % 10;
  }
}

Tensor blank(nef_dtype dtype, std::vector<int64_t> dims) {
  Tensor t{dtype, std::move(dims), {}};
  t.bytes.resize(static_cast<size_t>(t.count()) * ir::dtype_size(dtype));
  return t;
}

}  // namespace

bool is_float(nef_dtype dtype) { return ir::dtype_is_float(dtype) || ir::dtype_is_float8(dtype); }

double epsilon(nef_dtype dtype) {
  switch (dtype) {
    case NEF_FLOAT8_E4M3FN: return 0x1p-3;
    case NEF_FLOAT8_E5M2: return 0x1p-2;
    case NEF_FLOAT16: return 0x1p-10;
    case NEF_BFLOAT16: return 0x1p-7;
    case NEF_FLOAT32: return 0x1p-23;
    default: return 0x1p-52;
  }
}
double min_normal(nef_dtype dtype) {
  switch (dtype) {
    case NEF_FLOAT8_E4M3FN: return 0x1p-6;
    case NEF_FLOAT8_E5M2: return 0x1p-14;
    case NEF_FLOAT16: return 0x1p-14;
    case NEF_BFLOAT16:
    case NEF_FLOAT32: return 0x1p-126;
    default: return 0x1p-1022;
  }
}
double max_finite(nef_dtype dtype) {
  switch (dtype) {
    case NEF_FLOAT8_E4M3FN: return 448;
    case NEF_FLOAT8_E5M2: return 57344;
    case NEF_FLOAT16: return 65504;
    case NEF_BFLOAT16: return 0x1.fep127;
    case NEF_FLOAT32: return static_cast<double>(std::numeric_limits<float>::max());
    default: return std::numeric_limits<double>::max();
  }
}

int64_t Tensor::count() const {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

double float_at(const Tensor& t, int64_t i) {
  switch (t.dtype) {
    case NEF_FLOAT16: return backends::float_from_float16(get<uint16_t>(t, i));
    case NEF_BFLOAT16: return backends::float_from_bfloat16(get<uint16_t>(t, i));
    case NEF_FLOAT32: return get<float>(t, i);
    case NEF_FLOAT64: return get<double>(t, i);
    case NEF_UINT64: return static_cast<double>(get<uint64_t>(t, i));
    case NEF_FLOAT8_E4M3FN:
    case NEF_FLOAT8_E5M2: return backends::float_from_float8(t.dtype, get<uint8_t>(t, i));
    default: return static_cast<double>(int_at(t, i));
  }
}
int64_t int_at(const Tensor& t, int64_t i) {
  switch (t.dtype) {
    case NEF_INT8: return get<int8_t>(t, i);
    case NEF_BOOL:
    case NEF_UINT8: return get<uint8_t>(t, i);
    case NEF_INT16: return get<int16_t>(t, i);
    case NEF_UINT16: return get<uint16_t>(t, i);
    case NEF_INT32: return get<int32_t>(t, i);
    case NEF_UINT32: return get<uint32_t>(t, i);
    default: return get<int64_t>(t, i);
  }
}

Tensor make(nef_dtype dtype, std::vector<int64_t> dims, Fill fill, uint64_t seed) {
  Tensor t = blank(dtype, std::move(dims));
  Random random(seed);
  for (int64_t i = 0; i < t.count(); ++i) {
    if (is_float(dtype)) put_float(t, i, made_float(dtype, fill, i, random));
    else put_int(t, i, made_int(dtype, fill, i, random));
  }
  return t;
}

Tensor values(nef_dtype dtype, std::vector<int64_t> dims, const std::vector<double>& numbers) {
  Tensor t = blank(dtype, std::move(dims));
  if (t.count() != static_cast<int64_t>(numbers.size())) {
    throw std::logic_error("values(): the dims do not match the numbers");
  }
  for (int64_t i = 0; i < t.count(); ++i) {
    const double v = numbers[static_cast<size_t>(i)];
    if (is_float(dtype)) put_float(t, i, v);
    else
      put_int(
          t, i,
          v >= 0x1p63 ? static_cast<int64_t>(static_cast<uint64_t>(v)) : static_cast<int64_t>(v));
  }
  return t;
}
Tensor ints(const std::vector<int64_t>& numbers, nef_dtype dtype) {
  Tensor t = blank(dtype, {static_cast<int64_t>(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i) put_int(t, static_cast<int64_t>(i), numbers[i]);
  return t;
}
Tensor scalar(nef_dtype dtype, double number) { return values(dtype, {}, {number}); }

int32_t CaseBuilder::value(Role role, Tensor tensor) {
  case_.values.push_back({role, std::move(tensor)});
  return static_cast<int32_t>(case_.values.size()) - 1;
}

std::vector<int32_t> CaseBuilder::node(nef_op op, std::vector<int32_t> inputs,
                                       std::vector<int64_t> attrs, size_t n_outputs,
                                       uint32_t unwanted) {
  std::vector<ir::Operand> operands;
  std::vector<ir::Shape> shapes(inputs.size());
  std::vector<std::vector<ir::Dim>> contents(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    ir::Operand o;
    if (inputs[i] >= 0) {
      const CaseValue& v = case_.values[static_cast<size_t>(inputs[i])];
      o.present = true;
      o.dtype = v.tensor.dtype;
      o.dims = shapes[i] = ir::shape_of(v.tensor.dims);
      if (v.role == Role::HostInput) {
        o.data = v.tensor.bytes.data();
        ir::read_content(o, static_cast<size_t>(v.tensor.count()), &contents[i]);
      }
    }
    operands.push_back(o);
  }
  const ir::Attrs view{attrs};
  if (n_outputs == 0) n_outputs = ir::default_output_count(op, view, operands);
  std::vector<ir::Inferred> results(n_outputs);
  ir::DimPool pool;
  try {
    ir::infer(op, view, operands, pool, results);
  } catch (const std::exception& e) {
    throw std::logic_error(case_.name + ": " + e.what());
  }
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!ir::dims_static(results[i].shape))
      throw std::logic_error(case_.name + ": the output shape is not known");
    const auto dims = ir::numbers(results[i].shape);
    if (unwanted >> i & 1u) outputs.push_back({});
    else outputs.push_back({results[i].dtype, {dims.begin(), dims.end()}, {}});
  }
  return typed_node(op, std::move(inputs), std::move(attrs), std::move(outputs));
}

std::vector<int32_t> CaseBuilder::typed_node(nef_op op, std::vector<int32_t> inputs,
                                             std::vector<int64_t> attrs,
                                             std::vector<Tensor> outputs) {
  std::vector<int32_t> out;
  for (Tensor& t : outputs) {
    out.push_back(t.dtype == NEF_DTYPE_INVALID ? -1 : value(Role::Internal, std::move(t)));
  }
  case_.nodes.push_back({op, std::move(inputs), out, std::move(attrs)});
  return out;
}

CaseBuilder& CaseBuilder::tolerance(double ulps, double magnitude) {
  case_.tolerance = {ulps, magnitude};
  return *this;
}
CaseBuilder& CaseBuilder::kind(nef_region_kind kind) {
  case_.kind = kind;
  return *this;
}
CaseBuilder& CaseBuilder::expect(nef_code code) {
  case_.expect = code;
  return *this;
}
CaseBuilder& CaseBuilder::dtype(nef_dtype dtype) {
  case_.dtype = dtype;
  return *this;
}

Case CaseBuilder::build() {
  for (int32_t v : case_.nodes.back().outputs) {
    if (v >= 0) case_.values[static_cast<size_t>(v)].role = Role::Output;
  }
  if (case_.dtype == NEF_DTYPE_INVALID && !case_.values.empty()) {
    case_.dtype = case_.values.front().tensor.dtype;
  }
  return std::move(case_);
}

Case single(std::string name, nef_op op, std::vector<Tensor> inputs, std::vector<int64_t> attrs,
            Tolerance tolerance, size_t n_outputs) {
  const ir::OpSpec& spec = ir::spec(op);
  CaseBuilder b(std::move(name));
  std::vector<int32_t> ids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::InputSpec& in = spec.inputs[std::min<size_t>(i, spec.n_inputs - 1u)];
    if (inputs[i].dtype == NEF_DTYPE_INVALID) ids.push_back(-1);
    else ids.push_back(in.host ? b.host(std::move(inputs[i])) : b.input(std::move(inputs[i])));
  }
  b.node(op, std::move(ids), std::move(attrs), n_outputs);
  return b.tolerance(tolerance.ulps, tolerance.magnitude).build();
}

std::string dims_name(const std::vector<int64_t>& dims) {
  if (dims.empty()) return "scalar";
  std::string out;
  for (int64_t d : dims) out += (out.empty() ? "" : "x") + std::to_string(d);
  return out;
}

std::vector<nef_dtype> allowed_dtypes(nef_op op, size_t input) {
  std::vector<nef_dtype> out;
  const uint32_t mask = ir::spec(op).inputs[input].dtypes;
  for (nef_dtype t = NEF_BOOL; t <= ir::kLastDtype; ++t) {
    if (mask >> t & 1u) out.push_back(t);
  }
  return out;
}

}  // namespace nef::conformance
