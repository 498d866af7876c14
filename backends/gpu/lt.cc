// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/lt.h"

namespace nef::gpu {
namespace {

uint32_t alignment_of(const void* p) {
  const auto bits = reinterpret_cast<uintptr_t>(p);
  uint32_t a = 256;
  while (a > 1 && bits % a != 0) a /= 2;
  return a;
}

// What is added to the product when beta is not 0.
const void* addend(const Gemm& g) { return g.c == nullptr ? g.d : g.c; }

}  // namespace

int BlasLt::data_type(nef_dtype t) const {
  switch (t) {
    case NEF_FLOAT16: return n_.f16;
    case NEF_BFLOAT16: return n_.bf16;
    case NEF_FLOAT32: return n_.f32;
    case NEF_FLOAT64: return n_.f64;
    case NEF_FLOAT8_E4M3FN: return n_.f8e4m3;
    case NEF_FLOAT8_E5M2: return n_.f8e5m2;
    default: return -1;
  }
}
void BlasLt::must(int status, const char* what) const {
  if (status == 0) return;
  throw BackendError(status == n_.out_of_memory ? NEF_DEVICE_OUT_OF_MEMORY : NEF_INTERNAL,
                     std::string(what) + ": " + n_.name + " status " + std::to_string(status));
}

BlasLt::BlasLt(const LtApi& api, const LtNumbers& numbers) : api_(api), n_(numbers) {
  must(api_.create(&handle_), "a handle");
}

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
BlasLt::Plan BlasLt::make_plan(const Gemm& g) {
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

void BlasLt::describe(const Gemm& g, Plan& p) {
  const bool wide = g.dtype == NEF_FLOAT64;
  const int type = data_type(g.dtype);
  must(api_.desc_create(&p.desc, wide ? n_.compute64 : n_.compute32, wide ? n_.f64 : n_.f32),
       "a product");
  const int first = g.trans_b ? n_.op_t : n_.op_n, second = g.trans_a ? n_.op_t : n_.op_n;
  must(api_.desc_set(p.desc, n_.trans_a, &first, sizeof first), "transposition");
  must(api_.desc_set(p.desc, n_.trans_b, &second, sizeof second), "transposition");
  if (g.bias != nullptr) {
    must(api_.desc_set(p.desc, n_.epilogue, &n_.epilogue_bias, sizeof(int)), "epilogue");
    if (n_.bias_type >= 0) must(api_.desc_set(p.desc, n_.bias_type, &type, sizeof type), "bias");
    must(api_.desc_set(p.desc, n_.bias_pointer, &g.bias, sizeof g.bias), "bias");
  }
  if (g.scale != nullptr)
    must(api_.desc_set(p.desc, n_.scale_a, &g.scale, sizeof g.scale), "scale");
  const auto layout = [&](LtLayout* out, nef_dtype dtype, int64_t rows, int64_t columns, int64_t ld,
                          int64_t stride) {
    const int kind = dtype == NEF_DTYPE_INVALID ? type : data_type(dtype);
    must(api_.layout_create(out, kind, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                            ld),
         "a matrix");
    const auto batch = static_cast<int32_t>(g.batch);
    if (batch == 1) return;
    must(api_.layout_set(*out, n_.layout_batch, &batch, sizeof batch), "batch");
    must(api_.layout_set(*out, n_.layout_stride, &stride, sizeof stride), "batch");
  };
  layout(&p.b, g.b_dtype, g.trans_b ? g.k : g.n, g.trans_b ? g.n : g.k, g.ldb, g.stride_b);
  layout(&p.a, g.a_dtype, g.trans_a ? g.m : g.k, g.trans_a ? g.k : g.m, g.lda, g.stride_a);
  layout(&p.d, g.dtype, g.n, g.m, g.ldd, g.stride_d);
}

void BlasLt::choose(const Gemm& g, Plan& p) {
  LtPreference preference = nullptr;
  must(api_.preference_create(&preference), "a search");
  const auto ask = [&](int attribute, const auto& value) {
    if (attribute >= 0) api_.preference_set(preference, attribute, &value, sizeof value);
  };
  ask(n_.pref_workspace, uint64_t{kWorkspace});
  // Parts of a split sum are added up in the compute type, never in 16 bits.
  ask(n_.pref_reduction, static_cast<uint32_t>(n_.reduction_in_compute));
  ask(n_.pref_align_a, alignment_of(g.b));
  ask(n_.pref_align_b, alignment_of(g.a));
  ask(n_.pref_align_c, alignment_of(addend(g)));
  ask(n_.pref_align_d, alignment_of(g.d));
  int found = 0;
  const int status =
      api_.heuristic(handle_, p.desc, p.b, p.a, p.d, p.d, preference, 1, &p.algo, &found);
  api_.preference_destroy(preference);
  must(status, "a search");
  if (found == 0) {
    throw BackendError(NEF_INTERNAL, std::string(n_.name) + " has no algorithm for a product");
  }
}

const BlasLt::Plan& BlasLt::plan_for(const Gemm& g) {
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
                                    alignment_of(addend(g))};
  const auto it = plans_.find(key);
  if (it != plans_.end()) return it->second;
  constexpr size_t kMost = 4096;
  if (plans_.size() >= kMost) forget();
  return plans_.emplace(key, make_plan(g)).first->second;
}

void BlasLt::multiply(const Gemm& g, void* workspace, void* stream) {
  // Bias and scale are properties of the shared description.
  std::lock_guard lock(mutex_);
  const Plan& p = plan_for(g);
  if (g.scale != nullptr)
    must(api_.desc_set(p.desc, n_.scale_a, &g.scale, sizeof g.scale), "scale");
  if (g.bias != nullptr)
    must(api_.desc_set(p.desc, n_.bias_pointer, &g.bias, sizeof g.bias), "bias");
  const auto alpha32 = static_cast<float>(g.alpha), beta32 = static_cast<float>(g.beta);
  const bool wide = g.dtype == NEF_FLOAT64;
  const void* alpha = wide ? static_cast<const void*>(&g.alpha) : &alpha32;
  const void* beta = wide ? static_cast<const void*>(&g.beta) : &beta32;
  must(api_.matmul(handle_, p.desc, alpha, g.b, p.b, g.a, p.a, beta, addend(g), p.d, g.d, p.d,
                   &p.algo, workspace, kWorkspace, stream),
       "a product");
}

}  // namespace nef::gpu
