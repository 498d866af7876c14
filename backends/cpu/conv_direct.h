// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/conv_geometry.h"
#include "backends/cpu/gemm_epilogue.h"

// Convolutions that read their input in place, or from a staged copy (conv_stage.h).
namespace nef::cpu {

template <typename T>
struct DirectConv {
  int64_t batch = 1, groups = 1;
  int64_t filters = 1, channels = 1;  // of one group
  Window window;                      // one that can be staged
  const T* x = nullptr;
  const T* weights = nullptr;  // per group [filters][channels * kernel]; as packed rows of gemm.h
                               // unless depthwise
  const T* bias = nullptr;     // null: none
  T* y = nullptr;
  const EpilogueRun<T>* steps = nullptr;

  int64_t depth() const { return channels * window.kernel_count; }
};

// Elements of scratch; looks at shapes only.
template <typename T>
int64_t direct_scratch(const DirectConv<T>& conv, bool depthwise, int64_t slots);
// Depthwise: one channel a group, and its few filters one by one.
template <typename T>
void run_direct(const DirectConv<T>& conv, bool depthwise, int64_t slots, T* scratch);

}  // namespace nef::cpu
