// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backends/gpu/device.h"

// Products through the library of a vendor: cuBLASLt and hipBLASLt have the same functions under
// other names and numbers.
namespace nef::gpu {

using LtHandle = void*;
using LtDesc = void*;
using LtLayout = void*;
using LtPreference = void*;

// Results are 0 when all is well. An algorithm is what a heuristic's result begins with.
struct LtApi {
  int (*create)(LtHandle*) = nullptr;
  int (*desc_create)(LtDesc*, int, int) = nullptr;
  int (*desc_destroy)(LtDesc) = nullptr;
  int (*desc_set)(LtDesc, int, const void*, size_t) = nullptr;
  int (*layout_create)(LtLayout*, int, uint64_t, uint64_t, int64_t) = nullptr;
  int (*layout_destroy)(LtLayout) = nullptr;
  int (*layout_set)(LtLayout, int, const void*, size_t) = nullptr;
  int (*preference_create)(LtPreference*) = nullptr;
  int (*preference_destroy)(LtPreference) = nullptr;
  int (*preference_set)(LtPreference, int, const void*, size_t) = nullptr;
  int (*heuristic)(LtHandle, LtDesc, LtLayout, LtLayout, LtLayout, LtLayout, LtPreference, int,
                   void*, int*) = nullptr;
  int (*matmul)(LtHandle, LtDesc, const void*, const void*, LtLayout, const void*, LtLayout,
                const void*, const void*, LtLayout, void*, LtLayout, const void*, void*, size_t,
                void*) = nullptr;
};

// What a vendor calls things; -1 for what it does not have.
struct LtNumbers {
  const char* name;                                            // for messages
  int f32, f64, f16, bf16;                                     // dtypes
  int compute32, compute64;                                    // what sums are kept in
  int op_n, op_t;                                              // transpositions
  int trans_a, trans_b, epilogue, bias_pointer, bias_type;     // attributes of a product
  int epilogue_bias;                                           //
  int layout_batch, layout_stride;                             // attributes of a matrix
  int pref_workspace, pref_reduction, reduction_in_compute;    // of a search
  int pref_align_a, pref_align_b, pref_align_c, pref_align_d;  //
  int out_of_memory;                                           // a result
};

// For one device, which is current in every call. Thread-safe. The algorithm of each kind of
// product is chosen once.
class BlasLt {
 public:
  static constexpr size_t kWorkspace = size_t{32} << 20;
  BlasLt(const LtApi& api, const LtNumbers& numbers);
  ~BlasLt();
  BlasLt(const BlasLt&) = delete;
  BlasLt& operator=(const BlasLt&) = delete;

  bool has(nef_dtype dtype) const { return data_type(dtype) >= 0; }
  // `workspace` is kWorkspace bytes that nothing else on the stream uses.
  void multiply(const Gemm& g, void* workspace, void* stream);

 private:
  struct Algo {
    uint64_t words[12];  // a heuristic's result, the larger of the vendors'
  };
  struct Plan {
    LtDesc desc = nullptr;
    LtLayout a = nullptr, b = nullptr, d = nullptr;
    Algo algo{};
  };
  int data_type(nef_dtype dtype) const;
  void must(int status, const char* what) const;
  const Plan& plan_for(const Gemm& g);
  Plan make_plan(const Gemm& g);
  void describe(const Gemm& g, Plan& p);
  void choose(const Gemm& g, Plan& p);
  void destroy(const Plan& p) const;
  void forget();

  const LtApi api_;
  const LtNumbers n_;
  LtHandle handle_ = nullptr;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, Plan> plans_;
};

}  // namespace nef::gpu
