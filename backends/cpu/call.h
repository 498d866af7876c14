// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "backends/cpu/operands.h"

// Kernels that are one function: everything is decided from the shapes at launch.
namespace nef::cpu {

struct View {
  nef_dtype dtype = NEF_DTYPE_INVALID;
  int rank = 0;
  const int64_t* dims = nullptr;
  char* data = nullptr;
  int64_t count = 0;

  size_t element_size() const { return backends::dtype_size(dtype); }
  size_t bytes() const { return static_cast<size_t>(count) * element_size(); }
  // Product of dims [begin, end).
  int64_t span(int begin, int end) const {
    int64_t n = 1;
    for (int d = begin; d < end; ++d) n *= dims[d];
    return n;
  }
};

// One node about to run.
class Call {
 public:
  Call(const Operands& operands, const Tensor* values, void* scratch)
      : operands_(operands), values_(values), scratch_(scratch) {}

  const Node& node() const { return operands_.region().nodes[0]; }
  nef_op op() const { return node().op; }
  size_t n_inputs() const { return node().inputs.size(); }
  size_t n_outputs() const { return node().outputs.size(); }
  bool has(size_t i) const { return node().has_input(i); }
  bool wants(size_t i) const { return node().has_output(i); }
  View in(size_t i) const { return view(node().inputs[i]); }
  View out(size_t i = 0) const { return view(node().outputs[i]); }

  int64_t attr_int(unsigned slot, int64_t fallback = 0) const {
    return nef_attr_int(node().attrs(), slot, fallback);
  }
  double attr_float(unsigned slot, double fallback = 0) const {
    return nef_attr_float(node().attrs(), slot, fallback);
  }
  std::span<const int64_t> attr_ints(unsigned slot) const {
    return {nef_attr_ints(node().attrs(), slot), nef_attr_count(node().attrs(), slot)};
  }
  std::string_view attr_string(unsigned slot) const {
    const char* p = nef_attr_string(node().attrs(), slot);
    return p == nullptr ? std::string_view()
                        : std::string_view(p, nef_attr_count(node().attrs(), slot));
  }
  template <class T>
  T* scratch() const {
    return static_cast<T*>(scratch_);
  }

 private:
  View view(int32_t value) const {
    const Value& v = operands_.region().values[static_cast<size_t>(value)];
    const int64_t* dims = values_[value].dims;
    auto* data = const_cast<char*>(static_cast<const char*>(operands_.data(value, values_)));
    return {v.dtype, v.rank(), dims, data, backends::element_count(dims, v.rank())};
  }

  const Operands& operands_;
  const Tensor* values_;
  void* scratch_;
};

struct CallOp {
  const char* name;
  void (*run)(const Call&);
  size_t (*scratch)(const Call&) = nullptr;        // looks at shapes only
  bool in_place = false;                           // output 0 may be input 0
  const char* (*refuse)(const Region&) = nullptr;  // why this region is not served, or null
  // Of ops whose output sizes depend on data: the dims of each output, from the inputs. What it
  // leaves in scratch is there for `run`.
  void (*sizes)(const Call&, int64_t* const* dims) = nullptr;
};

// A prepared kernel that is asked for the sizes of its outputs before it is launched.
class SizedPrepared : public Prepared {
 public:
  virtual void output_dims(const Tensor* values, void* scratch, int64_t* const* out_dims) const = 0;
};

// Registers a kernel that serves every dtype that the op table allows, unless it refuses.
void register_call(nef_op op, const CallOp& call);

// An axis counted from the front.
inline int normal_axis(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Element i of an integer tensor.
int64_t int_at(const View& v, int64_t i);

// `index` of an axis of `size`, wrapped when negative; -1 when it is out of range.
inline int64_t wrap_index(int64_t index, int64_t size) {
  const int64_t wrapped = index < 0 ? index + size : index;
  return wrapped >= 0 && wrapped < size ? wrapped : -1;
}
[[noreturn]] void throw_bad_index(const char* op, int64_t index, int axis, int64_t size);
// wrap_index, or NEF_OUT_OF_RANGE.
int64_t checked_index(const char* op, int64_t index, int axis, int64_t size);

}  // namespace nef::cpu
