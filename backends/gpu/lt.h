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
  const char* name;  // for messages
  // dtypes
  int f32 = -1, f64 = -1, f16 = -1, bf16 = -1, f8e4m3 = -1, f8e5m2 = -1;
  // what sums are kept in
  int compute32 = -1, compute64 = -1;
  // transpositions
  int op_n = -1, op_t = -1;
  // attributes of a product
  int trans_a = -1, trans_b = -1, epilogue = -1, bias_pointer = -1, bias_type = -1, scale_a = -1;
  int epilogue_bias = -1;
  // attributes of a matrix
  int layout_batch = -1, layout_stride = -1;
  // of a search
  int pref_workspace = -1, pref_reduction = -1, reduction_in_compute = -1;
  int pref_align_a = -1, pref_align_b = -1, pref_align_c = -1, pref_align_d = -1;
  // a result
  int out_of_memory = -1;
};
// Of a heuristic's result, the larger of the vendors'; it begins with the algorithm.
constexpr size_t kLtResultBytes = 96;

// For one device, which is current in every call. Thread-safe. The algorithm of each kind of
// product is chosen once.
class BlasLt {
 public:
  static constexpr size_t kWorkspace = size_t{32} << 20;
  BlasLt(const LtApi& api, const LtNumbers& numbers);
  ~BlasLt();
  BlasLt(const BlasLt&) = delete;
  BlasLt& operator=(const BlasLt&) = delete;

  // Of sums and results; operands may be float8 where `has_float8`.
  bool has(nef_dtype dtype) const {
    return dtype >= NEF_FLOAT16 && dtype <= NEF_FLOAT64 && data_type(dtype) >= 0;
  }
  bool has_float8() const { return n_.f8e4m3 >= 0 && n_.scale_a >= 0; }
  // `workspace` is kWorkspace bytes that nothing else on the stream uses.
  void multiply(const Gemm& g, void* workspace, void* stream);

 private:
  struct Algo {
    uint64_t words[kLtResultBytes / sizeof(uint64_t)];
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
