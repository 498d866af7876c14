// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/api.h"
#include "backends/gpu/device.h"

namespace nef::cuda {

// Products through cuBLASLt, for one device whose context is current in every call. Thread-safe.
// The algorithm of each kind of product is chosen once.
class BlasLt {
 public:
  static constexpr size_t kWorkspace = size_t{32} << 20;
  // Throws NEF_BACKEND_UNAVAILABLE when there is no cuBLASLt.
  BlasLt();
  ~BlasLt();
  BlasLt(const BlasLt&) = delete;
  BlasLt& operator=(const BlasLt&) = delete;

  static bool has(nef_dtype dtype);
  // `workspace` is kWorkspace bytes that nothing else on the stream uses.
  void multiply(const gpu::Gemm& g, void* workspace, CUstream stream);

 private:
  struct Plan {
    LtDesc desc = nullptr;
    LtLayout a = nullptr, b = nullptr, d = nullptr;
    LtAlgo algo{};
  };
  const Plan& plan_for(const gpu::Gemm& g);
  Plan make_plan(const gpu::Gemm& g);
  void describe(const gpu::Gemm& g, Plan& p);
  void choose(const gpu::Gemm& g, Plan& p);
  void destroy(const Plan& p) const;
  void forget();

  const BlasLtApi& api_;
  LtHandle handle_ = nullptr;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, Plan> plans_;
};

}  // namespace nef::cuda
