// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/call.h"

#include <unordered_map>

#include "backends/cpu/dtypes.h"

namespace nef::cpu {
namespace {

std::unordered_map<nef_op, CallOp>& calls() {
  static std::unordered_map<nef_op, CallOp> table;
  return table;
}

constexpr size_t kMaxSizedOutputs = 8;

class CallPrepared final : public SizedPrepared {
 public:
  CallPrepared(const CallOp& call, Operands operands)
      : call_(call), operands_(std::move(operands)) {}
  size_t scratch_bytes(const Tensor* values) const override {
    return call_.scratch == nullptr ? 0 : call_.scratch(Call(operands_, values, nullptr));
  }
  void launch(const Tensor* values, void* scratch) const override {
    call_.run(Call(operands_, values, scratch));
  }
  void output_dims(const Tensor* values, void* scratch, int64_t* const* out_dims) const override {
    if (call_.sizes == nullptr) {
      throw BackendError(NEF_UNSUPPORTED, "the sizes of its outputs follow from shapes");
    }
    const std::vector<int32_t>& outputs = operands_.region().nodes[0].outputs;
    int64_t* dims[kMaxSizedOutputs] = {};
    for (size_t i = 0; i < outputs.size() && i < kMaxSizedOutputs; ++i) {
      if (outputs[i] >= 0) dims[i] = out_dims[outputs[i]];
    }
    call_.sizes(Call(operands_, values, scratch), dims);
  }

 private:
  CallOp call_;
  Operands operands_;
};

class CallKernel final : public Kernel {
 public:
  CallKernel(const CallOp& call, const Region& region)
      : call_(call), region_(std::make_shared<Region>(region)) {}
  const char* name() const override { return call_.name; }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<CallPrepared>(call_, Operands(region_, values));
  }
  bool in_place(int32_t input, int32_t output) const override {
    const Node& node = region_->nodes[0];
    return call_.in_place && input == node.inputs[0] && output == node.outputs[0];
  }

 private:
  CallOp call_;
  std::shared_ptr<const Region> region_;
};

std::unique_ptr<Kernel> make_call(const Region& region, std::string* why) {
  const CallOp& call = calls().at(region.nodes[0].op);
  const char* reason = call.refuse == nullptr ? nullptr : call.refuse(region);
  if (reason == nullptr) return std::make_unique<CallKernel>(call, region);
  *why = reason;
  return nullptr;
}

}  // namespace

void register_call(nef_op op, const CallOp& call) {
  calls()[op] = call;
  register_op(op, make_call);
}

int64_t int_at(const View& v, int64_t i) {
  int64_t value = 0;
  with_int_type(v.dtype, [&]<class T>(T) {
    value = static_cast<int64_t>(reinterpret_cast<const T*>(v.data)[i]);
  });
  return value;
}

void throw_bad_index(const char* op, int64_t index, int axis, int64_t size) {
  throw BackendError(NEF_OUT_OF_RANGE, std::string(op) + ": index " + std::to_string(index) +
                                           " is outside axis " + std::to_string(axis) +
                                           " of size " + std::to_string(size));
}

int64_t checked_index(const char* op, int64_t index, int axis, int64_t size) {
  const int64_t wrapped = wrap_index(index, size);
  if (wrapped < 0) throw_bad_index(op, index, axis, size);
  return wrapped;
}

}  // namespace nef::cpu
