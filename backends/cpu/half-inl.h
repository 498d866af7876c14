// SPDX-License-Identifier: Apache-2.0

// float16 and bfloat16 to float32 on Highway vectors. Included once per target, inside a
// foreach_target unit and after <hwy/highway.h>.

// Per-target include guard.
#if defined(NEF_BACKENDS_CPU_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEF_BACKENDS_CPU_HALF_INL_H_
#undef NEF_BACKENDS_CPU_HALF_INL_H_
#else
#define NEF_BACKENDS_CPU_HALF_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// float16 and bfloat16 are moved as uint16: their bits. Without conversion instructions the
// integer way is taken, since Highway's stand-in for them knows no infinity and no NaN.
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr bool kConvertsHalf = false;
#else
constexpr bool kConvertsHalf = true;
#endif

template <class D>
HWY_INLINE hn::Vec<D> half_to_float(D d, hn::Vec<hn::RebindToUnsigned<D>> bits) {
  const hn::RebindToUnsigned<D> du;
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffu)));
  // 2^112 makes up for the exponent bias and turns subnormals into normal numbers.
  const auto value =
      hn::BitCast(du, hn::Mul(hn::BitCast(d, magnitude), hn::BitCast(d, hn::Set(du, 0x77800000u))));
  const auto top = hn::Set(du, 0x0f800000u);  // the exponent of inf and NaN, shifted
  const auto special = hn::Eq(hn::And(magnitude, top), top);
  const auto number = hn::IfThenElse(special, hn::Or(magnitude, hn::Set(du, 0x7f800000u)), value);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  return hn::BitCast(d, hn::Or(number, sign));
}
template <bool kHalf, class D>
HWY_INLINE hn::Vec<D> widen([[maybe_unused]] D d, hn::Vec<hn::Rebind<uint16_t, D>> bits) {
  const hn::RebindToUnsigned<D> du;
  if constexpr (kHalf && kConvertsHalf) {
    const hn::Rebind<hwy::float16_t, D> dh;
    return hn::PromoteTo(d, hn::BitCast(dh, bits));
  } else if constexpr (kHalf) {
    return half_to_float(d, hn::PromoteTo(du, bits));
  } else {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  }
}
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
