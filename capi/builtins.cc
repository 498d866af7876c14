// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"
#include "backends/reference/reference.h"
#include "backends/rocm/rocm.h"
#include "engine/context/registry.h"

namespace nef::context {

// The one place that names the backends of this library.
std::span<const BackendEntry> builtin_backends() {
  static constexpr BackendEntry kBackends[] = {nef_backend_cpu, nef_backend_cuda, nef_backend_rocm,
                                               nef_backend_reference};
  return kBackends;
}

}  // namespace nef::context
