// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/nef.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/build/lazy.h"
#include "engine/ir/attrs.h"

namespace nef::capi {

// One op call from C: the generated stubs record arguments, `call` checks them and makes the
// node. Setters keep the first failure for `call` to report, so stubs need no checks.
class OpCall {
 public:
  explicit OpCall(nef_op op) noexcept;
  ~OpCall();
  OpCall(const OpCall&) = delete;
  OpCall& operator=(const OpCall&) = delete;

  void input(const nef_tensor* tensor) noexcept;  // NULL = absent
  void host_ints(const int64_t* p, size_t n, bool present) noexcept;
  void host_int(int64_t v) noexcept;
  void attr_int(unsigned slot, int64_t v) noexcept;
  void attr_float(unsigned slot, double v) noexcept;
  void attr_string(unsigned slot, const char* s) noexcept;
  void attr_ints(unsigned slot, const int64_t* p, size_t n) noexcept;
  void attr_floats(unsigned slot, const double* p, size_t n) noexcept;
  // false: the options struct was not initialised, or is of another version.
  void options(bool valid) noexcept;
  void device(const char* name) noexcept;

  // Makes the node; each out pointer that is not NULL receives an output. A NULL required
  // output is an error.
  nef_status* call(nef_tensor** const* outs, size_t n_outs) noexcept;
  // Fills `outs` with the first n outputs.
  nef_status* call_variadic(nef_tensor** outs, size_t n_outs) noexcept;

 private:
  template <typename Body>
  void record(Body&& body) noexcept;
  ir::AttrBuilder& attrs();
  std::vector<build::LazyTensor*> make(size_t n_outputs);

  const nef_op op_;
  std::vector<build::LazyTensor*> inputs_;
  std::vector<build::LazyTensor*> owned_;  // host inputs made here
  std::optional<ir::AttrBuilder> attrs_;
  std::string device_;
  nef_status* failure_ = nullptr;
};

}  // namespace nef::capi
