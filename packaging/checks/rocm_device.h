// SPDX-License-Identifier: Apache-2.0
// What HIP's own headers say, as far as NEF's kernels use it: ./dev check rocm compiles them for
// AMD's GPUs with clang alone. Mathematical functions are those of AMD's device libraries (ocml).
#pragma once

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct nef_index {
  unsigned x, y, z;
};
static inline __device__ nef_index nef_thread_index() {
  return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), 0};
}
static inline __device__ nef_index nef_block_index() {
  return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), 0};
}
static inline __device__ nef_index nef_block_size() {
  return {__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), 1};
}
static inline __device__ nef_index nef_grid_size() {
  return {__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),
          __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(), 1};
}
#define threadIdx nef_thread_index()
#define blockIdx nef_block_index()
#define blockDim nef_block_size()
#define gridDim nef_grid_size()

static inline __device__ void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
}

// The value of another of the 32 threads that stand together, in waves of 32 or 64.
template <class T>
static inline __device__ T __shfl_xor(T value, int mask, int) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  int words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof value);
  const int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  for (int i = 0; i < kWords; ++i)
    words[i] = __builtin_amdgcn_ds_bpermute((lane ^ mask) * 4, words[i]);
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}

static inline __device__ unsigned long long atomicMax(unsigned long long* p, unsigned long long v) {
  return __hip_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
static inline __device__ double __dmul_rn(double a, double b) {
#pragma clang fp contract(off)
  return a * b;
}

#define NEF_MATH_1(name)                                                             \
  extern "C" __device__ float __ocml_##name##_f32(float);                            \
  extern "C" __device__ double __ocml_##name##_f64(double);                          \
  static inline __device__ float name##f(float x) { return __ocml_##name##_f32(x); } \
  static inline __device__ double name(double x) { return __ocml_##name##_f64(x); }
#define NEF_MATH_2(name)                                                                         \
  extern "C" __device__ float __ocml_##name##_f32(float, float);                                 \
  extern "C" __device__ double __ocml_##name##_f64(double, double);                              \
  static inline __device__ float name##f(float x, float y) { return __ocml_##name##_f32(x, y); } \
  static inline __device__ double name(double x, double y) { return __ocml_##name##_f64(x, y); }
NEF_MATH_1(exp)
NEF_MATH_1(expm1)
NEF_MATH_1(log)
NEF_MATH_1(log1p)
NEF_MATH_1(sin)
NEF_MATH_1(cos)
NEF_MATH_1(tan)
NEF_MATH_1(sinh)
NEF_MATH_1(cosh)
NEF_MATH_1(tanh)
NEF_MATH_1(asin)
NEF_MATH_1(acos)
NEF_MATH_1(atan)
NEF_MATH_1(asinh)
NEF_MATH_1(acosh)
NEF_MATH_1(atanh)
NEF_MATH_1(erf)
NEF_MATH_1(erfc)
NEF_MATH_1(sqrt)
NEF_MATH_1(ceil)
NEF_MATH_1(floor)
NEF_MATH_1(rint)
NEF_MATH_1(fabs)
NEF_MATH_2(pow)
NEF_MATH_2(fmod)
static inline __device__ double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
