// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/gemm.h"

namespace nef::cuda {
namespace {

using backends::BackendError;

void must(cublasStatus status, const char* what) {
  if (status == 0) return;
  // 3: allocation failed; 13, 14: a kernel failed, an internal error.
  throw BackendError(status == 3 ? NEF_DEVICE_OUT_OF_MEMORY : NEF_INTERNAL,
                     std::string(what) + ": cuBLASLt status " + std::to_string(status));
}

int data_type(nef_dtype t) {
  switch (t) {
    case NEF_FLOAT16: return kR16F;
    case NEF_BFLOAT16: return kR16BF;
    case NEF_FLOAT64: return kR64F;
    case NEF_FLOAT8_E4M3FN: return kR8FE4M3;
    case NEF_FLOAT8_E5M2: return kR8FE5M2;
    default: return kR32F;
  }
}

uint32_t alignment_of(const void* p) {
  const auto bits = reinterpret_cast<uintptr_t>(p);
  uint32_t a = 256;
  while (a > 1 && bits % a != 0) a /= 2;
  return a;
}

}  // namespace

bool BlasLt::has(nef_dtype dtype) { return dtype >= NEF_FLOAT16 && dtype <= NEF_FLOAT64; }

BlasLt::BlasLt() : api_(blaslt()) { must(api_.create(&handle_), "cublasLtCreate"); }

BlasLt::~BlasLt() { forget(); }

void BlasLt::destroy(const Plan& p) const {
  if (p.desc != nullptr) api_.desc_destroy(p.desc);
  for (LtLayout l : {p.a, p.b, p.d}) {
    if (l != nullptr) api_.layout_destroy(l);
  }
}
void BlasLt::forget() {
  for (auto& [key, p] : plans_) destroy(p);
  plans_.clear();
}

// The library is column-major: the row-major d = a b is its d^T = b^T a^T.
BlasLt::Plan BlasLt::make_plan(const gpu::Gemm& g) {
  Plan p;
  try {
    describe(g, p);
    choose(g, p);
  } catch (...) {
    destroy(p);
    throw;
  }
  return p;
}

void BlasLt::describe(const gpu::Gemm& g, Plan& p) {
  const bool wide = g.dtype == NEF_FLOAT64;
  must(api_.desc_create(&p.desc, wide ? kCompute64F : kCompute32F, wide ? kR64F : kR32F),
       "cublasLtMatmulDescCreate");
  const int first = g.trans_b ? kOpT : kOpN, second = g.trans_a ? kOpT : kOpN;
  must(api_.desc_set(p.desc, kDescTransA, &first, sizeof first), "transposition");
  must(api_.desc_set(p.desc, kDescTransB, &second, sizeof second), "transposition");
  if (g.bias != nullptr) {
    must(api_.desc_set(p.desc, kDescEpilogue, &kEpilogueBias, sizeof kEpilogueBias), "epilogue");
    must(api_.desc_set(p.desc, kDescBiasPointer, &g.bias, sizeof g.bias), "bias");
  }
  if (g.scale != nullptr) {
    must(api_.desc_set(p.desc, kDescScaleA, &g.scale, sizeof g.scale), "scale");
  }
  const auto layout = [&](LtLayout* out, nef_dtype dtype, int64_t rows, int64_t columns, int64_t ld,
                          int64_t stride) {
    const int type = data_type(dtype == NEF_DTYPE_INVALID ? g.dtype : dtype);
    must(api_.layout_create(out, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                            ld),
         "cublasLtMatrixLayoutCreate");
    const auto batch = static_cast<int32_t>(g.batch);
    if (batch == 1) return;
    must(api_.layout_set(*out, kLayoutBatch, &batch, sizeof batch), "batch");
    must(api_.layout_set(*out, kLayoutStride, &stride, sizeof stride), "batch");
  };
  layout(&p.b, g.b_dtype, g.trans_b ? g.k : g.n, g.trans_b ? g.n : g.k, g.ldb, g.stride_b);
  layout(&p.a, g.a_dtype, g.trans_a ? g.m : g.k, g.trans_a ? g.k : g.m, g.lda, g.stride_a);
  layout(&p.d, g.dtype, g.n, g.m, g.ldd, g.stride_d);
}

void BlasLt::choose(const gpu::Gemm& g, Plan& p) {
  LtPreference preference = nullptr;
  must(api_.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
  const size_t workspace = kWorkspace;
  api_.preference_set(preference, kPrefWorkspace, &workspace, sizeof workspace);
  // Parts of a split sum are added up in the compute type, never in 16 bits.
  api_.preference_set(preference, kPrefReduction, &kReductionInComputeType, sizeof(uint32_t));
  const uint32_t align_b = alignment_of(g.b), align_a = alignment_of(g.a),
                 align_d = alignment_of(g.d), align_c = alignment_of(g.c == nullptr ? g.d : g.c);
  api_.preference_set(preference, kPrefAlignA, &align_b, sizeof align_b);
  api_.preference_set(preference, kPrefAlignB, &align_a, sizeof align_a);
  api_.preference_set(preference, kPrefAlignC, &align_c, sizeof align_c);
  api_.preference_set(preference, kPrefAlignD, &align_d, sizeof align_d);
  LtResult result{};
  int found = 0;
  const cublasStatus status =
      api_.heuristic(handle_, p.desc, p.b, p.a, p.d, p.d, preference, 1, &result, &found);
  api_.preference_destroy(preference);
  must(status, "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0) throw BackendError(NEF_INTERNAL, "cuBLASLt has no algorithm for a product");
  p.algo = result.algo;
}

const BlasLt::Plan& BlasLt::plan_for(const gpu::Gemm& g) {
  const std::vector<int64_t> key = {g.dtype,
                                    g.a_dtype,
                                    g.b_dtype,
                                    g.m,
                                    g.n,
                                    g.k,
                                    g.batch,
                                    g.trans_a,
                                    g.trans_b,
                                    g.lda,
                                    g.ldb,
                                    g.ldd,
                                    g.stride_a,
                                    g.stride_b,
                                    g.stride_d,
                                    g.beta != 0,
                                    g.bias != nullptr,
                                    g.c != nullptr,
                                    alignment_of(g.a),
                                    alignment_of(g.b),
                                    alignment_of(g.d),
                                    alignment_of(g.c == nullptr ? g.d : g.c)};
  const auto it = plans_.find(key);
  if (it != plans_.end()) return it->second;
  constexpr size_t kMost = 4096;
  if (plans_.size() >= kMost) forget();
  return plans_.emplace(key, make_plan(g)).first->second;
}

void BlasLt::multiply(const gpu::Gemm& g, void* workspace, CUstream stream) {
  // Bias and scale are properties of the shared description.
  std::lock_guard lock(mutex_);
  const Plan& p = plan_for(g);
  if (g.scale != nullptr)
    must(api_.desc_set(p.desc, kDescScaleA, &g.scale, sizeof g.scale), "scale");
  if (g.bias != nullptr)
    must(api_.desc_set(p.desc, kDescBiasPointer, &g.bias, sizeof g.bias), "bias");
  const auto alpha32 = static_cast<float>(g.alpha), beta32 = static_cast<float>(g.beta);
  const bool wide = g.dtype == NEF_FLOAT64;
  const void* alpha = wide ? static_cast<const void*>(&g.alpha) : &alpha32;
  const void* beta = wide ? static_cast<const void*>(&g.beta) : &beta32;
  const void* c = g.c == nullptr ? g.d : g.c;
  must(api_.matmul(handle_, p.desc, alpha, g.b, p.b, g.a, p.a, beta, c, p.d, g.d, p.d, &p.algo,
                   workspace, kWorkspace, stream),
       "cublasLtMatmul");
}

}  // namespace nef::cuda
