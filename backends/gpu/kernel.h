// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/stage.h"

// Ops that are one node each, as rows of tables: the text of their kernels and how it is launched.
namespace nef::gpu {

// One node with its tensors. While only scratch is asked for there is no run, and no data.
class Call {
 public:
  Call(const Node& node, const Values& values, const Run* run)
      : node_(node), values_(values), run_(run) {}

  const Node& node() const { return node_; }
  nef_op op() const { return node_.op; }
  const Run& run() const { return *run_; }
  size_t inputs() const { return node_.inputs.size(); }
  bool has(size_t i) const { return node_.has_input(i); }
  bool wants(size_t i) const { return node_.has_output(i); }
  Dims in(size_t i = 0) const { return values_.dims(node_.inputs[i]); }
  Dims out(size_t i = 0) const { return values_.dims(node_.outputs[i]); }
  // Null when absent.
  char* from(size_t i = 0) const { return has(i) ? values_.data(node_.inputs[i]) : nullptr; }
  char* to(size_t i = 0) const { return wants(i) ? values_.data(node_.outputs[i]) : nullptr; }
  size_t element_size(size_t input = 0) const { return values_.element_size(node_.inputs[input]); }
  nef_dtype type(size_t input = 0) const { return values_.dtype(node_.inputs[input]); }
  char* scratch() const { return run_->scratch; }

  // Of host inputs.
  int64_t host_int(size_t input, int64_t i = 0) const {
    return values_.host_int(node_.inputs[input], i);
  }
  double host_number(size_t input, int64_t i = 0) const {
    return values_.host_number(node_.inputs[input], i);
  }
  int64_t host_count(size_t input) const { return values_.count(node_.inputs[input]); }

  int64_t attr_int(unsigned slot, int64_t fallback = 0) const {
    return nef_attr_int(node_.attrs(), slot, fallback);
  }
  double attr_float(unsigned slot, double fallback = 0) const {
    return nef_attr_float(node_.attrs(), slot, fallback);
  }
  bool has_attr(unsigned slot) const { return nef_attr_has(node_.attrs(), slot) != 0; }
  std::span<const int64_t> ints(unsigned slot) const { return attr_ints(node_, slot); }
  std::string_view string(unsigned slot) const { return attr_string(node_, slot); }
  // Entry d of a list, or what stands for an absent one.
  static int64_t entry(std::span<const int64_t> list, int d, int64_t fallback) {
    return list.empty() ? fallback : list[static_cast<size_t>(d)];
  }

  void launch(Module& module, const char* name, const Grid& grid, const Params& p) const {
    run_->launch(module, name, grid, p);
  }
  void copy(char* dst, const char* src, size_t bytes) const {
    if (bytes > 0) run_->device.copy_on_device(dst, src, bytes, run_->stream);
  }
  // Says that a kernel of this launch may have noted a fault.
  void* fault(const char* op_name) const {
    *run_->faulting = op_name;
    return run_->stream.fault_on_device();
  }

 private:
  const Node& node_;
  const Values& values_;
  const Run* run_;
};

struct OpKernel {
  nef_op op = NEF_OP_INVALID;
  const char* name = "";  // for plans
  // The text of its kernels; throws Refusal for what it does not serve. Null without any.
  std::string (*source)(const Region&, const Node&) = nullptr;
  void (*launch)(const Call&, Module*) = nullptr;
  size_t (*scratch)(const Call&) = nullptr;
  uint32_t host_inputs = 0;  // bit i: input i is small and stays on the host
  bool may_fault = false;
};

// One list per family, in files of the same name.
std::span<const OpKernel> conv_kernels();
std::span<const OpKernel> pool_kernels();
std::span<const OpKernel> order_kernels();
std::span<const OpKernel> sort_kernels();
std::span<const OpKernel> index_kernels();
std::span<const OpKernel> scatter_kernels();
std::span<const OpKernel> channel_kernels();
std::span<const OpKernel> quant_kernels();
std::span<const OpKernel> quant_product_kernels();
std::span<const OpKernel> resize_kernels();
std::span<const OpKernel> sample_kernels();
std::span<const OpKernel> einsum_kernels();
std::span<const OpKernel> rnn_kernels();
std::span<const OpKernel> generate_kernels();

// The row of an op, null when there is none.
const OpKernel* find_kernel(nef_op op);
std::unique_ptr<Stage> kernel_stage(const OpKernel& kernel, const Region& region, const Node& node);

// ---- text that many of them share

// typedef of memory type `name`, and of the type it is computed in, `name`D: f64, i64 or u64.
std::string type_text(const char* name, nef_dtype dtype);
// `put` from that type (whole numbers wrap) and `put_number` from a double (they round and
// saturate); Fault and `note_fault`; `index_of`.
extern const char* const kKernelCommon;
// A tiled product over hooks; see tile.cc.
extern const char* const kTile;
Grid tile_grid(int64_t rows, int64_t columns, int64_t batches);

}  // namespace nef::gpu
