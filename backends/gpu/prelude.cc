// SPDX-License-Identifier: Apache-2.0
// What every generated kernel begins with: the dtypes and the arithmetic of docs/numerics.md. The
// text is CUDA and HIP C++ without any header; NEF_HOST compiles it as plain C++ (tests run it that
// way).
#include "backends/gpu/source.h"

namespace nef::gpu {

const char* const kPrelude = R"device(
#ifdef __HIP__  // what CUDA has under another name, or alone
#define __grid_constant__
#define __shfl_xor_sync(all, value, mask) __shfl_xor(value, mask, 32)
#endif
#ifdef NEF_HOST
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __syncthreads nef_barrier
struct Idx { unsigned x, y, z; };
extern "C" { Idx nef_thread, nef_block, nef_threads, nef_blocks; void (*nef_barrier_fn)(); }
static inline void nef_barrier() { nef_barrier_fn(); }
// A value of another thread of the warp. All threads of the block must come.
template <class T> static inline T nef_xor(T v, int mask) {
  static T slots[256];
  slots[nef_thread.x] = v;
  nef_barrier();
  const T r = slots[nef_thread.x ^ unsigned(mask)];
  nef_barrier();
  return r;
}
static inline unsigned long long atomicMax(unsigned long long* p, unsigned long long v) {
  const unsigned long long old = *p;
  if (v > old) *p = v;
  return old;
}
#define threadIdx nef_thread
#define blockIdx nef_block
#define blockDim nef_threads
#define gridDim nef_blocks
#define NEF_KERNEL(name, P) static void name##_body(const P& p); \
  extern "C" void name(const void* p) { name##_body(*(const P*)p); } static void name##_body(const P& p)
#define NEF_LATE_KERNEL(name, P) NEF_KERNEL(name, P)
#define NEF_EARLY_KERNEL(name, P, ...) NEF_KERNEL(name, P)
static inline void nef_wait() {}
static inline void nef_let_next_begin() {}
#define expf __builtin_expf
#define exp __builtin_exp
#define expm1f __builtin_expm1f
#define expm1 __builtin_expm1
#define logf __builtin_logf
#define log __builtin_log
#define log1pf __builtin_log1pf
#define log1p __builtin_log1p
#define sinf __builtin_sinf
#define sin __builtin_sin
#define cosf __builtin_cosf
#define cos __builtin_cos
#define tan __builtin_tan
#define sinh __builtin_sinh
#define cosh __builtin_cosh
#define tanhf __builtin_tanhf
#define tanh __builtin_tanh
#define asinf __builtin_asinf
#define asin __builtin_asin
#define acosf __builtin_acosf
#define acos __builtin_acos
#define atanf __builtin_atanf
#define atan __builtin_atan
#define asinh __builtin_asinh
#define acosh __builtin_acosh
#define atanh __builtin_atanh
#define erff __builtin_erff
#define erf __builtin_erf
#define erfc __builtin_erfc
#define powf __builtin_powf
#define pow __builtin_pow
#define fmodf __builtin_fmodf
#define fmod __builtin_fmod
#define sqrtf __builtin_sqrtf
#define sqrt __builtin_sqrt
#define ceilf __builtin_ceilf
#define ceil __builtin_ceil
#define floorf __builtin_floorf
#define floor __builtin_floor
#define rintf __builtin_nearbyintf
#define rint __builtin_nearbyint
#define fabsf __builtin_fabsf
#define fabs __builtin_fabs
#define fma __builtin_fma
#else
// A launch may begin before the one in front of it is done, once all blocks of that have begun:
// kernels wait for its end first of all, but for those of NEF_EARLY_KERNEL, which do so themselves
// behind what they read of constants.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
static __device__ __forceinline__ void nef_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
static __device__ __forceinline__ void nef_let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
static __device__ __forceinline__ void nef_wait() {}
static __device__ __forceinline__ void nef_let_next_begin() {}
#endif
#define NEF_EARLY_KERNEL(name, P, ...) \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const __grid_constant__ P p)
#define NEF_KERNEL_AFTER(name, P, ...) static __device__ __forceinline__ void name##_body(const P& p); \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ P p) { __VA_ARGS__ name##_body(p); } \
  static __device__ __forceinline__ void name##_body(const P& p)
#define NEF_KERNEL(name, P) NEF_KERNEL_AFTER(name, P, nef_let_next_begin(); nef_wait();)
// A few blocks behind a launch that fills the device: what comes next would share multiprocessors
// unevenly beside that.
#define NEF_LATE_KERNEL(name, P) NEF_KERNEL_AFTER(name, P, nef_wait(); nef_let_next_begin();)
template <class T> static __device__ __forceinline__ T nef_xor(T v, int mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
#endif
#define DEV static __device__ __forceinline__

typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;
typedef float f32; typedef double f64;
struct b8 { u8 v; };    // bool in memory
struct f16 { u16 v; };  // 16-bit floats in memory; they are computed in f32
struct bf16 { u16 v; };
struct e4m3 { u8 v; };  // 8-bit floats, the same
struct e5m2 { u8 v; };
struct alignas(2) raw2 { u16 v; }; struct alignas(4) raw4 { u32 v; }; struct alignas(8) raw8 { u64 v; };
struct raw1 { u8 v; };

DEV u32 bits_of(f32 v) { union { f32 f; u32 u; } x; x.f = v; return x.u; }
DEV f32 f32_of(u32 v) { union { f32 f; u32 u; } x; x.u = v; return x.f; }
DEV f64 f64_of(u64 v) { union { f64 f; u64 u; } x; x.u = v; return x.f; }

template <class T> struct Type { static constexpr bool flt = false, sig = T(-1) < T(0); typedef u32 U; };
template <> struct Type<f32> { static constexpr bool flt = true, sig = true; typedef f32 U; };
template <> struct Type<f64> { static constexpr bool flt = true, sig = true; typedef f64 U; };
template <> struct Type<i64> { static constexpr bool flt = false, sig = true; typedef u64 U; };
template <> struct Type<u64> { static constexpr bool flt = false, sig = false; typedef u64 U; };
template <class T> DEV T least() {
  if constexpr (Type<T>::flt) return T(-f32_of(0x7f800000u));
  else if constexpr (Type<T>::sig) return T(u64(1) << (sizeof(T) * 8 - 1));
  else return T(0);
}
template <class T> DEV T most() {
  if constexpr (Type<T>::flt) return T(f32_of(0x7f800000u));
  else if constexpr (Type<T>::sig) return T((u64(1) << (sizeof(T) * 8 - 1)) - 1);
  else return T(~u64(0));
}

// ---- 16-bit floats

DEV f32 wide(bf16 x) { return f32_of(u32(x.v) << 16); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
DEV u16 bf16_bits(f32 v) { u16 r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(v)); return r; }
#else
DEV u16 bf16_bits(f32 v) {
  const u32 b = bits_of(v);
  if ((b & 0x7fffffffu) > 0x7f800000u) return u16((b >> 16) | 0x40u);
  return u16((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}
#endif
#if defined(NEF_HOST) || !defined(__CUDA_ARCH__)
DEV f32 wide(f16 x) {
  const u32 sign = u32(x.v & 0x8000u) << 16, e = (x.v >> 10) & 31u, m = x.v & 1023u;
  if (e == 0) { const f32 a = f32(m) * f32_of(0x33800000u); return sign ? -a : a; }
  return f32_of(sign | ((e == 31 ? 255u : e + 112u) << 23) | (m << 13));
}
DEV u16 f16_bits(f32 v) {
  const u32 b = bits_of(v), sign = (b >> 16) & 0x8000u, a = b & 0x7fffffffu;
  if (a > 0x7f800000u) return u16(sign | 0x7e00u);
  if (a >= 0x477ff000u) return u16(sign | 0x7c00u);
  if (a < 0x38800000u) {  // subnormal: a multiple of 2^-24
    const f32 scaled = f32_of(a) * f32_of(0x4b800000u);
    return u16(sign | u32(rintf(scaled)));
  }
  return u16(sign | ((a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13));
}
#else
DEV f32 wide(f16 x) { f32 r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.v)); return r; }
DEV u16 f16_bits(f32 v) { u16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v)); return r; }
#endif
// ---- 8-bit floats: M bits of mantissa, least exponent E, codes of the largest number and of what
// comes behind it

template <int M, int E> DEV f32 wide8(u8 code) {
  const u32 magnitude = code & 0x7fu, sign = u32(code & 0x80u) << 24, e = magnitude >> M;
  if (e == 0) return f32_of(sign | bits_of(f32(magnitude) * f32_of(u32(127 + E - M) << 23)));
  if (M == 3 ? magnitude == 0x7fu : e == 31) return f32_of(sign | (magnitude == 0x7cu ? 0x7f800000u : 0x7fc00000u));
  return f32_of(sign | (u32(126 + E) + e) << 23 | (magnitude & ((1u << M) - 1)) << (23 - M));
}
template <int M, int E> DEV u8 bits8(f32 v, u32 largest, u32 beyond) {
  const u32 b = bits_of(v), a = b & 0x7fffffffu, least = u32(127 + E);
  if (a > 0x7f800000u) return u8((b >> 24 & 0x80u) | 0x7fu);
  u32 code;
  if (a < least << 23) code = u32(rintf(f32_of(a) * f32_of(u32(127 + M - E) << 23)));
  else code = ((a + ((1u << (22 - M)) - 1) + (a >> (23 - M) & 1u)) >> (23 - M)) - ((least - 1) << M);
  return u8((b >> 24 & 0x80u) | (code > largest ? beyond : code));
}
DEV f32 wide(e4m3 x) { return wide8<3, -6>(x.v); }
DEV f32 wide(e5m2 x) { return wide8<2, -14>(x.v); }
DEV u8 e4m3_bits(f32 v, bool saturate) { return bits8<3, -6>(v, 0x7eu, saturate ? 0x7eu : 0x7fu); }
DEV u8 e5m2_bits(f32 v, bool saturate) { return bits8<2, -14>(v, 0x7bu, saturate ? 0x7bu : 0x7cu); }
// A float with a sticky last bit: rounding it again is as if the double had been rounded once.
DEV f32 sticky(f64 v) {
  const f32 f = f32(v);
  if (f64(f) == v || v != v) return f;
  u32 b = bits_of(f);
  if (fabs(f64(f)) > fabs(v)) --b;
  return f32_of(b | 1u);
}
// The same from 64-bit integers to a double.
DEV f64 sticky(u64 v) {
  int excess = 0;
  u64 kept = v;
  while (kept >> 53) { kept >>= 1; ++excess; }
  if ((kept << excess) != v) kept |= 1;
  return f64(kept) * f64_of(u64(1023 + excess) << 52);
}
DEV f64 sticky(i64 v) { return v < 0 ? -sticky(u64(0) - u64(v)) : sticky(u64(v)); }

// ---- memory <-> registers

template <class S> struct Reg { typedef S T; };
template <> struct Reg<b8> { typedef bool T; };
template <> struct Reg<f16> { typedef f32 T; };
template <> struct Reg<bf16> { typedef f32 T; };
template <> struct Reg<e4m3> { typedef f32 T; };
template <> struct Reg<e5m2> { typedef f32 T; };
template <class S> DEV S ld(S x) { return x; }
DEV bool ld(b8 x) { return x.v != 0; }
DEV f32 ld(f16 x) { return wide(x); }
DEV f32 ld(bf16 x) { return wide(x); }
DEV f32 ld(e4m3 x) { return wide(x); }
DEV f32 ld(e5m2 x) { return wide(x); }
template <class S> DEV void st(S& o, S v) { o = v; }
DEV void st(b8& o, bool v) { o.v = v ? 1 : 0; }
DEV void st(f16& o, f32 v) { o.v = f16_bits(v); }
DEV void st(bf16& o, f32 v) { o.v = bf16_bits(v); }
DEV void st(e4m3& o, f32 v) { o.v = e4m3_bits(v, false); }
DEV void st(e5m2& o, f32 v) { o.v = e5m2_bits(v, false); }
DEV void st(f16& o, f64 v) { o.v = f16_bits(sticky(v)); }
DEV void st(bf16& o, f64 v) { o.v = bf16_bits(sticky(v)); }
DEV void st(f32& o, f64 v) { o = f32(v); }

// ---- Cast: to the register type of S

template <class T> DEV T saturated(f64 v) {
  if (v != v) return T(0);
  const f64 limit = Type<T>::sig ? f64(u64(1) << (sizeof(T) * 8 - 1)) : 2.0 * f64(u64(1) << (sizeof(T) * 8 - 1));
  if (v >= limit) return most<T>();
  if (Type<T>::sig ? v <= -limit : v <= 0) return least<T>();
  return T(v);
}
template <class S> struct Cast {
  template <class F> DEV S of(F v) {
    if constexpr (Type<F>::flt) return saturated<S>(f64(v));
    else return S(v);
  }
  DEV S of(bool v) { return S(v); }
};
template <> struct Cast<b8> {
  template <class F> DEV bool of(F v) { return v != F(0); }
};
template <> struct Cast<f32> {
  template <class F> DEV f32 of(F v) { return f32(v); }
};
template <> struct Cast<f64> {
  template <class F> DEV f64 of(F v) { return f64(v); }
};
DEV f32 narrowable(f32 v) { return v; }
DEV f32 narrowable(f64 v) { return sticky(v); }
DEV f32 narrowable(i64 v) { return sticky(sticky(v)); }
DEV f32 narrowable(u64 v) { return sticky(sticky(v)); }
template <class T> DEV f32 narrowable(T v) { return sticky(f64(v)); }
template <> struct Cast<f16> {
  template <class F> DEV f32 of(F v) { const f16 r = {f16_bits(narrowable(v))}; return wide(r); }
};
template <> struct Cast<bf16> {
  template <class F> DEV f32 of(F v) { const bf16 r = {bf16_bits(narrowable(v))}; return wide(r); }
};

template <> struct Cast<e4m3> {
  template <class F> DEV f32 of(F v, bool saturate = true) { const e4m3 r = {e4m3_bits(narrowable(v), saturate)}; return wide(r); }
};
template <> struct Cast<e5m2> {
  template <class F> DEV f32 of(F v, bool saturate = true) { const e5m2 r = {e5m2_bits(narrowable(v), saturate)}; return wide(r); }
};

// ---- functions

// Within two units of the last place.
#if defined(__CUDA_ARCH__)
DEV f32 quick_exp2(f32 x) { f32 r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
DEV f32 quick_reciprocal(f32 x) { f32 r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
#else
DEV f32 quick_exp2(f32 x) { return expf(x * 0.69314718055994531f); }
DEV f32 quick_reciprocal(f32 x) { return 1.0f / x; }
#endif
#define NEF_BOTH(name, f, d) DEV f32 m_##name(f32 x) { return f; } DEV f64 m_##name(f64 x) { return d; }
NEF_BOTH(exp, expf(x), exp(x))
NEF_BOTH(expm1, expm1f(x), expm1(x))
NEF_BOTH(log, logf(x), log(x))
NEF_BOTH(log1p, log1pf(x), log1p(x))
NEF_BOTH(sin, sinf(x), sin(x))
NEF_BOTH(cos, cosf(x), cos(x))
NEF_BOTH(tan, f32(tan(f64(x))), tan(x))
NEF_BOTH(sinh, f32(sinh(f64(x))), sinh(x))
NEF_BOTH(cosh, f32(cosh(f64(x))), cosh(x))
NEF_BOTH(tanh, tanhf(x), tanh(x))
NEF_BOTH(asin, asinf(x), asin(x))
NEF_BOTH(acos, acosf(x), acos(x))
NEF_BOTH(atan, atanf(x), atan(x))
NEF_BOTH(asinh, f32(asinh(f64(x))), asinh(x))
NEF_BOTH(acosh, f32(acosh(f64(x))), acosh(x))
NEF_BOTH(atanh, f32(atanh(f64(x))), atanh(x))
NEF_BOTH(erf, erff(x), erf(x))
NEF_BOTH(sqrt, sqrtf(x), sqrt(x))
NEF_BOTH(ceil, ceilf(x), ceil(x))
NEF_BOTH(floor, floorf(x), floor(x))
NEF_BOTH(round, rintf(x), rint(x))
NEF_BOTH(abs, fabsf(x), fabs(x))
DEV f32 m_pow(f32 x, f32 y) { return powf(x, y); }
DEV f64 m_pow(f64 x, f64 y) { return pow(x, y); }
DEV f32 m_fmod(f32 x, f32 y) { return fmodf(x, y); }
DEV f64 m_fmod(f64 x, f64 y) { return fmod(x, y); }

// NaN propagates.
template <class T> DEV bool is_nan(T v) { return v != v; }
template <class T> DEV T op_max(T a, T b) { return is_nan(a) ? a : is_nan(b) || b > a ? b : a; }
template <class T> DEV T op_min(T a, T b) { return is_nan(a) ? a : is_nan(b) || b < a ? b : a; }
// Integers wrap.
template <class T> DEV T op_add(T a, T b) { typedef typename Type<T>::U U; return T(U(a) + U(b)); }
template <class T> DEV T op_sub(T a, T b) { typedef typename Type<T>::U U; return T(U(a) - U(b)); }
template <class T> DEV T op_mul(T a, T b) { typedef typename Type<T>::U U; return T(U(a) * U(b)); }
template <class T> DEV T op_neg(T a) {
  if constexpr (Type<T>::flt) return -a;
  else return op_sub(T(0), a);
}
template <class T> DEV T op_abs(T a) {
  if constexpr (Type<T>::flt) return m_abs(a);
  else return a < T(0) ? op_neg(a) : a;
}
template <class T> DEV T op_div(T a, T b) {
  if constexpr (Type<T>::flt) return a / b;
  else {
    if (b == T(0)) return T(0);
    if (Type<T>::sig && b == T(-1)) return op_neg(a);
    return T(a / b);
  }
}
template <class T> DEV T op_fmod(T a, T b) {
  if constexpr (Type<T>::flt) return m_fmod(a, b);
  else return b == T(0) || (Type<T>::sig && b == T(-1)) ? T(0) : T(a % b);
}
template <class T> DEV T op_mod(T a, T b) {
  const T r = op_fmod(a, b);
  return r != T(0) && (r < T(0)) != (b < T(0)) ? op_add(r, b) : r;
}
template <class T> DEV T op_shl(T a, T b) {
  typedef typename Type<T>::U U;
  return b < T(0) || u64(b) >= sizeof(T) * 8 ? T(0) : T(U(a) << U(b));
}
template <class T> DEV T op_shr(T a, T b) {
  if (b < T(0) || u64(b) >= sizeof(T) * 8) return a < T(0) ? T(-1) : T(0);
  return T(a >> b);
}
template <class T, class E> DEV T op_ipow(T base, E e) {
  if (e < E(0)) {
    if (base == T(1)) return T(1);
    if (Type<T>::sig && base == T(-1)) return e % E(2) == E(0) ? T(1) : T(-1);
    return T(0);
  }
  T r = T(1);
  for (u64 n = u64(e); n != 0; n >>= 1) {
    if (n & 1) r = op_mul(r, base);
    base = op_mul(base, base);
  }
  return r;
}
template <class T> DEV T op_sign(T x) {
  if (is_nan(x)) return x;
  return x > T(0) ? T(1) : x == T(0) ? T(0) : T(-1);
}
template <class T> DEV T op_relu(T x) { return is_nan(x) || x > T(0) ? x : T(0); }
template <class T> DEV T op_prelu(T x, T slope) { return x >= T(0) ? x : op_mul(slope, x); }
template <class T> DEV T op_sigmoid(T x) {
  const T e = m_exp(-m_abs(x)), r = T(1) / (T(1) + e);
  return x >= T(0) ? r : e * r;
}
template <class T> DEV T op_softplus(T x) { return (x > T(0) ? x : T(0)) + m_log1p(m_exp(-m_abs(x))); }
template <class T> DEV T op_mish(T x) { return x * m_tanh(op_softplus(x)); }
template <class T> DEV T op_unit(T x) { return op_min(T(1), op_max(T(0), x)); }
DEV f32 op_hard_swish(f32 x) { return f32(f64(x) * op_unit(f64(x) / 6 + 0.5)); }
DEV f64 op_hard_swish(f64 x) { return x * op_unit(x / 6 + 0.5); }
DEV f32 op_gelu(f32 x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
DEV f64 op_gelu(f64 x) { return x * 0.5 * erfc(x * -0.70710678118654752440); }
// For results of 16 bits: within 2^-13 of itself, and 2^-11 below -4.5. The exponent of erfc(|x| / sqrt 2) / 2 is
// a polynomial, here 16 more than it is, as what vanishes would else do so too early; beyond 14.25 nothing is left.
DEV f32 op_gelu16(f32 x) {
  const f32 half = 0.5f * x, a = fabsf(x), b = a < 14.25f ? a : 14.25f;
  f32 power = 3.15820073e-8f;
  power = power * b - 1.96534269e-6f;
  power = power * b + 5.25375991e-5f;
  power = power * b - 7.98090263e-4f;
  power = power * b + 7.74152802e-3f;
  power = power * b - 5.18226828e-2f;
  power = power * b - 0.461235798f;
  power = power * b - 1.14991019f;
  power = power * b + 14.999896f;
  return half + fabsf(half) - b * 1.52587890625e-5f * quick_exp2(power);
}
template <class T> DEV T op_gelu_tanh(T x) {
  const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  return x * T(0.5) * (T(1) + m_tanh(inner));
}
template <class T> DEV T op_celu(T x, T a) { return x >= T(0) ? x : op_min(T(0), a * m_expm1(x / a)); }
template <class T> DEV T op_elu(T x, T a) { return x >= T(0) ? x : a * m_expm1(x); }
template <class T> DEV T op_selu(T x, T a, T g) { return g * (x > T(0) ? x : a * m_expm1(x)); }
template <class T> DEV T op_silu(T x, T a) { return x * op_sigmoid(a * x); }
template <class T> DEV T op_leaky(T x, f64 a) { return x >= T(0) ? x : T(a * f64(x)); }
template <class T> DEV T op_thresholded(T x, f64 a) { return f64(x) > a ? x : T(0); }
template <class T> DEV T op_hard_sigmoid(T x, f64 a, f64 b) { return T(op_unit(a * f64(x) + b)); }
template <class T> DEV T op_shrink(T x, f64 l, f64 b) {
  const f64 v = f64(x), r = v < -l ? v + b : v > l ? v - b : 0.0;
  if constexpr (Type<T>::flt) return T(r);
  else return saturated<T>(r);
}
template <class T> DEV bool op_isinf(T x, bool negative, bool positive) {
  return x == most<T>() ? positive : x == least<T>() ? negative : false;
}

// ---- threads

DEV i64 thread_id() { return i64(blockIdx.x) * blockDim.x + threadIdx.x; }
DEV i64 thread_count() { return i64(gridDim.x) * blockDim.x; }

// A position in row-major order of dims as a sum of steps.
DEV i64 offset_of(u64 at, i64 rank, const i64* dims, const i64* steps) {
  i64 sum = 0;
  if ((at >> 32) == 0) {
    u32 left = u32(at);
    for (i64 d = rank - 1; d > 0; --d) {
      const u32 n = u32(dims[d]), q = left / n;
      sum += i64(left - q * n) * steps[d];
      left = q;
    }
    return rank > 0 ? sum + i64(left) * steps[0] : sum;
  }
  for (i64 d = rank - 1; d >= 0; --d) {
    const u64 n = u64(dims[d]), q = at / n;
    sum += i64(at - q * n) * steps[d];
    at = q;
  }
  return sum;
}

// Over the 32 threads of a warp.
template <class T, class F> DEV T join_warp(T v, F f) {
  for (int mask = 16; mask > 0; mask >>= 1) v = f(v, nef_xor(v, mask));
  return v;
}
// Joins the values of `ty` neighbouring threads, a power of two; every thread of the block must come.
template <class T, class F> DEV T join_row(T v, T* shared, i32 ty, F f) {
  for (i32 mask = (ty < 32 ? ty : 32) / 2; mask > 0; mask >>= 1) v = f(v, nef_xor(v, mask));
  if (ty <= 32) return v;
  const i32 warp = i32(threadIdx.x) / 32, first = i32(threadIdx.x) / ty * (ty / 32);
  if (threadIdx.x % 32 == 0) shared[warp] = v;
  __syncthreads();
  T r = shared[first];
  for (i32 w = 1; w < ty / 32; ++w) r = f(r, shared[first + w]);
  __syncthreads();
  return r;
}
// 256 threads as tx lines by ty places of a line; the place runs fastest where lines are dense.
struct Lane { i32 line, place; };
DEV Lane lane_of(i32 tx, i32 ty, bool dense) {
  const i32 t = i32(threadIdx.x);
  if (dense) return {t / ty, t % ty};
  return {t % tx, t / tx};
}
// Joins the values of one line; every thread of the block must come. ty is a power of two.
template <class T, class F> DEV T join_line(T v, T* shared, Lane at, i32 tx, i32 ty, F f) {
  shared[at.place * tx + at.line] = v;
  __syncthreads();
  for (i32 s = ty / 2; s > 0; s >>= 1) {
    if (at.place < s) shared[at.place * tx + at.line] = f(shared[at.place * tx + at.line], shared[(at.place + s) * tx + at.line]);
    __syncthreads();
  }
  const T r = shared[at.line];
  __syncthreads();
  return r;
}
)device";

}  // namespace nef::gpu
