// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backends/reference/view.h"

namespace nef::reference {

// One node about to run: its tensors, attributes and scratch memory.
class Call {
 public:
  // `data` and `tensors` have one entry per value of the region.
  Call(const backends::Region& region, const backends::Node& node, char* const* data,
       const nef_backend_tensor* tensors, void* scratch)
      : region_(region), node_(node), data_(data), tensors_(tensors), scratch_(scratch) {}

  nef_op op() const { return node_.op; }
  const backends::Node& node() const { return node_; }
  size_t n_inputs() const { return node_.inputs.size(); }
  size_t n_outputs() const { return node_.outputs.size(); }
  bool has(size_t i) const { return node_.has_input(i); }
  bool wants(size_t i) const { return node_.has_output(i); }
  View in(size_t i) const { return view(node_.inputs[i]); }
  View out(size_t i = 0) const { return view(node_.outputs[i]); }

  int64_t attr_int(unsigned slot, int64_t fallback = 0) const {
    return nef_attr_int(node_.attrs(), slot, fallback);
  }
  double attr_float(unsigned slot, double fallback = 0) const {
    return nef_attr_float(node_.attrs(), slot, fallback);
  }
  bool has_attr(unsigned slot) const { return nef_attr_has(node_.attrs(), slot) != 0; }
  std::span<const int64_t> attr_ints(unsigned slot) const {
    return {nef_attr_ints(node_.attrs(), slot), nef_attr_count(node_.attrs(), slot)};
  }
  std::string_view attr_string(unsigned slot) const {
    const char* p = nef_attr_string(node_.attrs(), slot);
    return p == nullptr ? std::string_view()
                        : std::string_view(p, nef_attr_count(node_.attrs(), slot));
  }
  // An axis attribute or number, counted from the front.
  static int axis(int64_t axis, int rank) {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  template <typename T>
  T* scratch() const {
    return static_cast<T*>(scratch_);
  }

 private:
  View view(int32_t value) const {
    const backends::Value& v = region_.values[static_cast<size_t>(value)];
    const int64_t* dims = tensors_[value].dims;
    return {v.dtype, v.rank(), dims, data_[value], backends::element_count(dims, v.rank())};
  }

  const backends::Region& region_;
  const backends::Node& node_;
  char* const* data_;
  const nef_backend_tensor* tensors_;
  void* scratch_;
};

// One op: how it runs and the scratch bytes it needs (null = none; looks at shapes only).
struct Kernel {
  nef_op op = NEF_OP_INVALID;
  void (*run)(const Call&) = nullptr;
  size_t (*scratch)(const Call&) = nullptr;
  // Of ops whose output sizes depend on data: the dims of each output, from the inputs.
  void (*sizes)(const Call&, int64_t* const* dims) = nullptr;
};

// One list per family, in files of the same name.
std::span<const Kernel> unary_kernels();
std::span<const Kernel> binary_kernels();
std::span<const Kernel> select_kernels();
std::span<const Kernel> reduce_kernels();
std::span<const Kernel> order_kernels();
std::span<const Kernel> contraction_kernels();
std::span<const Kernel> einsum_kernels();
std::span<const Kernel> conv_kernels();
std::span<const Kernel> pool_kernels();
std::span<const Kernel> movement_kernels();
std::span<const Kernel> generate_kernels();
std::span<const Kernel> index_kernels();
std::span<const Kernel> norm_kernels();
std::span<const Kernel> softmax_kernels();
std::span<const Kernel> attention_kernels();
std::span<const Kernel> resize_kernels();
std::span<const Kernel> rnn_kernels();
std::span<const Kernel> quant_kernels();
std::span<const Kernel> shared_kernels();

// The kernel of an op, null when there is none.
const Kernel* find_kernel(nef_op op);

// An index of an axis of `size` elements, wrapped when negative. NEF_OUT_OF_RANGE otherwise.
int64_t checked_index(const char* op, int64_t index, int axis, int64_t size);

}  // namespace nef::reference
