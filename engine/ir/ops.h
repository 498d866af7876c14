// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/op_ids.h>
#include <nef/types.h>

#include <cstdint>
#include <string_view>

#include "engine/ir/ops_gen.h"

namespace nef::ir {

enum class OpClass : uint8_t {
  Elementwise,
  Reduction,
  Contraction,
  Movement,
  Normalization,
  Attention,
  Effect,
  Collective,
  Control
};
enum class AttrType : uint8_t { Int, Float, Bool, String, Ints, Floats, DType };

struct AttrSpec {
  const char* name;
  AttrType type;
  bool required;
  bool has_default;
  int64_t default_int;
  double default_float;
  const char* default_string;
};
struct InputSpec {
  const char* name;
  uint32_t dtypes;   // bit (1u << nef_dtype)
  uint8_t type_var;  // inputs and outputs of one variable share a dtype; 255 = none
  bool optional, variadic, host;
};
struct OutputSpec {
  const char* name;
  uint32_t dtypes;
  uint8_t type_var;
  bool optional, variadic;
};
struct OpSpec {
  nef_op id;          // 0 = no op has this number
  const char* name;   // ONNX spelling
  const char* snake;  // .nef and C spelling
  OpClass cls;
  InferRule infer;
  Cost cost;
  bool commutative, internal;
  bool sized_by_data;  // only the backend can say how large its outputs are (output_dims)
  uint8_t n_blocks;    // nested blocks a node holds; such ops are run by the engine itself
  uint8_t n_inputs, n_outputs, n_attrs;
  const InputSpec* inputs;
  const OutputSpec* outputs;
  const AttrSpec* attrs;
};
struct OpAlias {
  const char* name;
  nef_op id;
};

// The table, generated from ops.toml and indexed by op id.
extern const OpSpec kOpTable[];
extern const unsigned kOpTableSize;
extern const OpAlias kOpAliases[];  // sorted by name
extern const unsigned kOpAliasCount;

inline const OpSpec& spec(nef_op op) { return kOpTable[op]; }
inline bool op_valid(int64_t op) {
  return op > 0 && op < static_cast<int64_t>(kOpTableSize) && kOpTable[op].id == op;
}
// Must input `i` of the op be in host memory?
inline bool is_host_input(nef_op op, size_t i) {
  const OpSpec& s = spec(op);
  return s.n_inputs != 0 && s.inputs[i < s.n_inputs ? i : s.n_inputs - 1u].host;
}
// Does that hold for any of them?
bool has_host_inputs(nef_op op);
// By ONNX name, snake-case name or alias; 0 when there is none.
nef_op find_op(std::string_view name);
// The names nearest to a misspelt one, for error messages; may be empty.
const char* nearest_op(std::string_view name);

}  // namespace nef::ir
