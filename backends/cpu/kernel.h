// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/shared/region.h"

namespace nef::cpu {

using backends::BackendError;
using backends::Node;
using backends::Region;
using backends::Value;
using Tensor = nef_backend_tensor;

// The engine's services (thread pool), set by init before any kernel exists.
const nef_backend_host& host();

// Runs body(begin, end) over [0, n) on the shared pool, in chunks of at least `grain`, which is
// worth waking a thread for; less than that is shared with threads that are awake, in smaller ones.
template <typename Body>
void parallel_for(int64_t n, int64_t grain, const Body& body) {
  host().parallel_for(
      n, grain,
      [](void* arg, int64_t begin, int64_t end) { (*static_cast<const Body*>(arg))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// A kernel bound to one program's constants. `launch` may be called from several threads at
// once and must not allocate; `values` has one entry per region value.
// A kernel body that finds bad data (an index out of range) throws BackendError, but never from
// inside parallel_for: it notes the fault and throws after the loop.
class Prepared {
 public:
  virtual ~Prepared() = default;
  virtual size_t scratch_bytes(const Tensor* /*values*/) const { return 0; }
  virtual uint64_t packed_bytes() const { return 0; }
  virtual void launch(const Tensor* values, void* scratch) const = 0;
};

// A compiled region: structure only, shared by every program with such a region.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual const char* name() const = 0;
  // Constants (NEF_VALUE_CONSTANT) have data; it outlives the result.
  virtual std::unique_ptr<Prepared> prepare(const Tensor* values) const = 0;
  virtual bool in_place(int32_t /*input*/, int32_t /*output*/) const { return false; }
  virtual std::vector<uint8_t> serialize() const { return {}; }
  // Takes over what `serialize` gave earlier; bytes that do not fit are ignored.
  virtual void restore(const uint8_t* /*blob*/, size_t /*size*/) {}
};

// Makes a kernel for a region, or returns null and says in `why` what it does not serve (dtype,
// rank, attribute). The region is only valid during the call.
using Factory = std::unique_ptr<Kernel> (*)(const Region& region, std::string* why);

// Single-node regions, by op. Each kernel family has one `register_<family>` function, called
// once from backend.cc.
void register_op(nef_op op, Factory factory);
// Fused regions, by kind; tried in order of registration.
void register_region(nef_region_kind kind, Factory factory);

void register_elementwise();
void register_reductions();
void register_movement();
void register_contractions();
void register_convolutions();
void register_normalizations();
void register_attention();

}  // namespace nef::cpu
