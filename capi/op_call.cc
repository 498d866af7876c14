// SPDX-License-Identifier: Apache-2.0
#include "capi/op_call.h"

#include <cstring>

#include "capi/handles.h"
#include "capi/status.h"

namespace nef::capi {

using build::LazyTensor;

namespace {

constexpr size_t kMaxHostInts = size_t{1} << 20;
constexpr size_t kMaxOutputs = size_t{1} << 16;

LazyTensor* int_tensor(const int64_t* p, size_t n, bool scalar) {
  auto buffer = ir::Buffer::allocate(n * sizeof(int64_t));
  if (n > 0) std::memcpy(buffer->data(), p, n * sizeof(int64_t));
  const auto length = static_cast<int64_t>(n);
  return build::make_leaf(NEF_INT64, {&length, scalar ? 0u : 1u}, std::move(buffer));
}

}  // namespace

OpCall::OpCall(nef_op op) noexcept : op_(op) {}

ir::AttrBuilder& OpCall::attrs() {
  if (!attrs_) attrs_.emplace(op_);
  return *attrs_;
}

OpCall::~OpCall() {
  for (LazyTensor* t : owned_) build::release(t);
  nef_status_release(failure_);
}

template <typename Body>
void OpCall::record(Body&& body) noexcept {
  if (failure_ != nullptr) return;
  failure_ = guard(ir::spec(op_).snake, std::forward<Body>(body));
}

void OpCall::input(const nef_tensor* tensor) noexcept {
  record([&] { inputs_.push_back(unwrap(tensor)); });
}

void OpCall::host_ints(const int64_t* p, size_t n, bool present) noexcept {
  if (!present) return input(nullptr);
  record([&] {
    if (n > kMaxHostInts) {
      fail(NEF_LIMIT_EXCEEDED, ir::spec(op_).snake, cat("a list of ", n, " integers is too long"));
    }
    if (p == nullptr && n > 0) null_argument(ir::spec(op_).snake, "a list of integers");
    owned_.reserve(owned_.size() + 1);
    owned_.push_back(int_tensor(p, n, false));
    inputs_.push_back(owned_.back());
  });
}

void OpCall::host_int(int64_t v) noexcept {
  record([&] {
    owned_.reserve(owned_.size() + 1);
    owned_.push_back(int_tensor(&v, 1, true));
    inputs_.push_back(owned_.back());
  });
}

void OpCall::attr_int(unsigned slot, int64_t v) noexcept {
  record([&] { attrs().set_int(slot, v); });
}
void OpCall::attr_float(unsigned slot, double v) noexcept {
  record([&] { attrs().set_float(slot, v); });
}
void OpCall::attr_string(unsigned slot, const char* s) noexcept {
  if (s == nullptr) return;
  record([&] { attrs().set_string(slot, s); });
}
void OpCall::attr_ints(unsigned slot, const int64_t* p, size_t n) noexcept {
  if (p == nullptr) return;
  record([&] { attrs().set_ints(slot, {p, n}); });
}
void OpCall::attr_floats(unsigned slot, const double* p, size_t n) noexcept {
  if (p == nullptr) return;
  record([&] { attrs().set_floats(slot, {p, n}); });
}
void OpCall::options(bool valid) noexcept {
  if (valid) return;
  record([&] {
    fail(NEF_INVALID_ARGUMENT, ir::spec(op_).snake,
         "the options struct was not set up with its _init function, or asks for fields that this "
         "version of the library does not know");
  });
}
void OpCall::device(const char* name) noexcept {
  if (name == nullptr) return;
  record([&] { device_ = name; });
}

std::vector<LazyTensor*> OpCall::make(size_t n_outputs) {
  const ir::OpSpec& s = ir::spec(op_);
  for (size_t i = 0; i < s.n_inputs; ++i) {
    const ir::InputSpec& in = s.inputs[i];
    const bool given = i < inputs_.size() && inputs_[i] != nullptr;
    if (given || in.optional) continue;
    fail(NEF_INVALID_ARGUMENT, s.snake, cat("input \"", in.name, "\" is missing (NULL)"));
  }
  // Optional inputs left out at the end are no inputs at all.
  while (!inputs_.empty() && inputs_.back() == nullptr) inputs_.pop_back();
  std::vector<LazyTensor*> outs;
  build::make_op(op_, inputs_, attrs().build(), n_outputs, device_, &outs);
  return outs;
}

nef_status* OpCall::call(nef_tensor** const* outs, size_t n_outs) noexcept {
  record([&] {
    const ir::OpSpec& s = ir::spec(op_);
    size_t wanted = 0;
    for (size_t i = 0; i < n_outs; ++i) {
      if (outs[i] != nullptr) {
        wanted = i + 1;
      } else if (!s.outputs[i].optional) {
        fail(NEF_INVALID_ARGUMENT, s.snake,
             cat("the pointer for output \"", s.outputs[i].name, "\" is NULL"));
      }
    }
    const std::vector<LazyTensor*> made = make(wanted);
    for (size_t i = 0; i < made.size(); ++i) {
      if (i < n_outs && outs[i] != nullptr) {
        *outs[i] = wrap(made[i]);
      } else {
        build::release(made[i]);
      }
    }
  });
  return std::exchange(failure_, nullptr);
}

nef_status* OpCall::call_variadic(nef_tensor** outs, size_t n_outs) noexcept {
  record([&] {
    const ir::OpSpec& s = ir::spec(op_);
    if (outs == nullptr || n_outs == 0) null_argument(s.snake, "the list of outputs");
    if (n_outs > kMaxOutputs) {
      fail(NEF_LIMIT_EXCEEDED, s.snake, cat("a node has at most ", kMaxOutputs, " outputs"));
    }
    const std::vector<LazyTensor*> made = make(n_outs);
    for (size_t i = 0; i < n_outs; ++i) outs[i] = wrap(made[i]);
  });
  return std::exchange(failure_, nullptr);
}

}  // namespace nef::capi

namespace {

unsigned find_slot(const nef::ir::OpSpec& s, const char* name) {
  for (unsigned i = 0; i < s.n_attrs; ++i) {
    if (std::strcmp(s.attrs[i].name, name) == 0) return i;
  }
  nef::fail(NEF_INVALID_ARGUMENT, s.snake, nef::cat("there is no attribute \"", name, "\""));
}

void set_attr(nef::capi::OpCall& call, const nef::ir::OpSpec& s, const nef_attr& a) {
  if (a.struct_size < sizeof(nef_attr) || a.name == nullptr) {
    nef::fail(NEF_INVALID_ARGUMENT, s.snake,
              "an attribute has no name, or its struct_size is not sizeof(nef_attr)");
  }
  const unsigned slot = find_slot(s, a.name);
  switch (a.type) {
    case NEF_ATTR_INT: return call.attr_int(slot, a.i);
    case NEF_ATTR_FLOAT: return call.attr_float(slot, a.f);
    case NEF_ATTR_STRING: return call.attr_string(slot, a.s == nullptr ? "" : a.s);
    case NEF_ATTR_INTS: return call.attr_ints(slot, a.ints, a.count);
    case NEF_ATTR_FLOATS: return call.attr_floats(slot, a.floats, a.count);
    default:
      nef::fail(NEF_INVALID_ARGUMENT, s.snake,
                nef::cat("attribute \"", a.name, "\" has unknown type ", a.type));
  }
}

}  // namespace

nef_status* nef_op_call(const char* op, const nef_tensor* const* inputs, size_t n_inputs,
                        const nef_attr* attrs, size_t n_attrs, const char* device, size_t n_outs,
                        nef_tensor** outs) {
  nef_status* status = nullptr;
  nef_status* failure = nef::capi::guard("op", [&] {
    nef::capi::need(op, "op", "the op's name");
    const nef_op id = nef::ir::find_op(op);
    if (id == 0 || nef::ir::spec(id).internal) {
      const char* nearest = nef::ir::nearest_op(op);
      nef::fail(NEF_UNKNOWN_OP, "op",
                nef::cat("there is no op \"", op, "\"",
                         nearest[0] == '\0' ? std::string()
                                            : nef::cat("; did you mean \"", nearest, "\"?")));
    }
    if (n_inputs > 0) nef::capi::need(inputs, op, "the list of inputs");
    if (n_attrs > 0) nef::capi::need(attrs, op, "the list of attributes");
    nef::capi::OpCall call(id);
    for (size_t i = 0; i < n_inputs; ++i) call.input(inputs[i]);
    for (size_t i = 0; i < n_attrs; ++i) set_attr(call, nef::ir::spec(id), attrs[i]);
    call.device(device);
    status = call.call_variadic(outs, n_outs);
  });
  return failure != nullptr ? failure : status;
}
