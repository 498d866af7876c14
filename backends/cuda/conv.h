// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/api.h"
#include "backends/gpu/device.h"

namespace nef::cuda {

// Convolutions through cuDNN, for one device whose context is current in every call. Thread-safe.
// The algorithm of each kind of convolution is chosen once; FFT and Winograd, whose errors grow
// beyond those of a sum, are not taken.
class Dnn {
 public:
  // Throws NEF_BACKEND_UNAVAILABLE when there is no cuDNN.
  Dnn();
  ~Dnn();
  Dnn(const Dnn&) = delete;
  Dnn& operator=(const Dnn&) = delete;

  // False when cuDNN does not take it. `workspace` is `bytes` that nothing else on the stream uses.
  bool convolve(const gpu::Conv& c, void* workspace, size_t bytes, CUstream stream);

 private:
  struct Plan {
    DnnTensor x = nullptr, y = nullptr;
    DnnFilter w = nullptr;
    DnnConvolution conv = nullptr;
    int algo = -1;  // -1: none
  };
  const Plan& plan_for(const gpu::Conv& c, size_t bytes);
  Plan make_plan(const gpu::Conv& c, size_t bytes);
  bool describe(const gpu::Conv& c, Plan& p);
  int choose(const Plan& p, size_t bytes);
  void destroy(const Plan& p) const;

  const DnnApi& api_;
  DnnHandle handle_ = nullptr;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, Plan> plans_;
};

}  // namespace nef::cuda
