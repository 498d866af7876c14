// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/attrs.h"

// Conformance cases: small regions with concrete inputs. They run on any backend table.
namespace nef::conformance {

struct Tensor {
  nef_dtype dtype = NEF_DTYPE_INVALID;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;

  int64_t count() const;
};

// What the numbers of a made-up tensor are like.
enum class Fill {
  Small,     // floats in [-4, 4), integers in [-9, 9] or [0, 9]
  Positive,  // floats in (0.1, 4), integers in [1, 9]
  Unit,      // floats in [-1, 1)
  Ramp,      // 0, 1, 2, ... (wrapping)
  Extreme,   // integers: any bits with the least and greatest ones; floats: as Special
  Special,   // floats: NaN, infinities, zeros, denormals, limits, mixed with Small
};
Tensor make(nef_dtype dtype, std::vector<int64_t> dims, Fill fill, uint64_t seed = 1);
// Values converted to the dtype (integers exactly).
Tensor values(nef_dtype dtype, std::vector<int64_t> dims, const std::vector<double>& numbers);
Tensor ints(const std::vector<int64_t>& numbers, nef_dtype dtype = NEF_INT64);  // a vector
Tensor scalar(nef_dtype dtype, double number);

// One element as a double (exact for floats) or as an integer's 64 bits.
double float_at(const Tensor& t, int64_t i);
int64_t int_at(const Tensor& t, int64_t i);
bool is_float(nef_dtype dtype);
// Distance from 1 to the next number of a float dtype, its least normal and its greatest number.
double epsilon(nef_dtype dtype);
double min_normal(nef_dtype dtype);
double max_finite(nef_dtype dtype);

// How far a result may be from the reference: `ulps` units in the last place of
// max(|expected|, magnitude). 0 = the same number (any NaN for a NaN, either zero for a zero).
struct Tolerance {
  double ulps = 0;
  double magnitude = 0;
};

enum class Role : uint8_t { Input, HostInput, Internal, Output };
struct CaseValue {
  Role role;
  Tensor tensor;  // bytes only for inputs
};
struct CaseNode {
  nef_op op;
  std::vector<int32_t> inputs, outputs;
  std::vector<int64_t> attrs;
};
struct Case {
  std::string name;  // unique within its op
  nef_region_kind kind = NEF_REGION_SINGLE;
  std::vector<CaseValue> values;
  std::vector<CaseNode> nodes;
  Tolerance tolerance;
  nef_code expect = NEF_OK;             // the code launch must return
  nef_dtype dtype = NEF_DTYPE_INVALID;  // for reports: the dtype under test
};
using CaseList = std::vector<Case>;

// Builds a case node by node. Output types come from the engine's inference.
class CaseBuilder {
 public:
  explicit CaseBuilder(std::string name) { case_.name = std::move(name); }

  int32_t input(Tensor tensor) { return value(Role::Input, std::move(tensor)); }
  int32_t host(Tensor tensor) { return value(Role::HostInput, std::move(tensor)); }
  // Adds a node; returns its output values. -1 is an absent input, `unwanted` has bit i set for an
  // output i that nobody wants.
  std::vector<int32_t> node(nef_op op, std::vector<int32_t> inputs, std::vector<int64_t> attrs = {},
                            size_t n_outputs = 0, uint32_t unwanted = 0);
  // The same for outputs whose types are given; an empty Tensor is an output that nobody wants.
  std::vector<int32_t> typed_node(nef_op op, std::vector<int32_t> inputs,
                                  std::vector<int64_t> attrs, std::vector<Tensor> outputs);
  CaseBuilder& tolerance(double ulps, double magnitude = 0);
  CaseBuilder& kind(nef_region_kind kind);
  CaseBuilder& expect(nef_code code);
  CaseBuilder& dtype(nef_dtype dtype);
  // The outputs of the last node become the region's outputs.
  Case build();

 private:
  int32_t value(Role role, Tensor tensor);
  Case case_;
};

// A case of one node. Inputs that the op table marks as host inputs are passed as such; an
// empty Tensor is an absent input.
Case single(std::string name, nef_op op, std::vector<Tensor> inputs,
            std::vector<int64_t> attrs = {}, Tolerance tolerance = {}, size_t n_outputs = 0);

// Attribute blocks: attrs(op).set_int(slot, v).build().
inline ir::AttrBuilder attrs(nef_op op) { return ir::AttrBuilder(op); }

// "2x3", "scalar", "0x4".
std::string dims_name(const std::vector<int64_t>& dims);
// Dtypes that the table allows for an input of an op.
std::vector<nef_dtype> allowed_dtypes(nef_op op, size_t input = 0);

}  // namespace nef::conformance
