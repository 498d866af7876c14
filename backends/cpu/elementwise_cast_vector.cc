// SPDX-License-Identifier: Apache-2.0
// The conversions worth vectors: floats of 16 and 8 bits, int32 and bytes from and to float32.
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise_cast_vector.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/elementwise_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// One vector of the wider type at a time. Whole-vector loads of the narrow type stay within it.
template <class From, class To, class Op>
void map_cast(const TileArgs& args) {
  using Wide = hwy::If<(sizeof(From) > sizeof(To)), From, To>;
  const hn::ScalableTag<Wide> dw;
  const hn::Rebind<From, decltype(dw)> df;
  const hn::Rebind<To, decltype(dw)> dt;
  const size_t lanes = hn::Lanes(dw);
  const auto* a = static_cast<const From*>(args.in[0]);
  auto* out = static_cast<To*>(args.out);
  size_t i = 0;
  for (; i + lanes <= args.n; i += lanes) {
    hn::StoreU(Op::apply(dt, hn::LoadU(df, a + i)), dt, out + i);
  }
  if (i == args.n) return;
  const size_t rest = args.n - i;
  hn::StoreN(Op::apply(dt, hn::LoadN(df, a + i, rest)), dt, out + i, rest);
}

struct Promote {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::PromoteTo(d, v);
  }
};
struct FromInt32 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::ConvertTo(d, v);
  }
};
// ConvertTo saturates; NaN gives 0.
struct ToInt32 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::ConvertTo(d, hn::IfThenElseZero(hn::Eq(v, v), v));
  }
};
// Bytes go to float32 by way of int32.
struct FromByte {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), v));
  }
};
// Saturates, and NaN gives 0, in either step.
struct ToByte {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    const hn::RebindToSigned<hn::DFromV<V>> di;
    return hn::DemoteTo(d, ToInt32::apply(di, v));
  }
};
struct FromBfloat16 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, v)));
  }
};
// Rounds to nearest even by carrying into the kept half; a NaN stays one. (The instruction for
// this flushes subnormals.)
struct ToBfloat16 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    const hn::DFromV<V> df;
    const hn::RebindToUnsigned<decltype(df)> du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));
    const auto kept = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
    return hn::TruncateTo(d, hn::ShiftRight<16>(kept));
  }
};

// 8-bit floats, see float8.h.
template <class Format>
struct FromFloat8 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    constexpr uint32_t kLeast = static_cast<uint32_t>(127 + Format::kMinExponent);
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto bits = hn::PromoteTo(du, v);
    const auto sign = hn::ShiftLeft<24>(hn::And(bits, hn::Set(du, 0x80)));
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7f));
    const auto shifted = hn::ShiftLeft<23 - Format::kMantissa>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(du, (kLeast - 1) << 23));
    const auto special = hn::Or(shifted, hn::Set(du, 0x7f800000));
    const auto unit = hn::BitCast(d, hn::Set(du, (kLeast - Format::kMantissa) << 23));
    const auto small = hn::BitCast(du, hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), unit));
    auto r = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 1u << Format::kMantissa)), small, normal);
    r = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, Format::kLargest)), special, r);
    return hn::BitCast(d, hn::Or(r, sign));
  }
};
template <class Format, bool kSaturate>
struct ToFloat8 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    constexpr uint32_t kLeast = static_cast<uint32_t>(127 + Format::kMinExponent);
    constexpr int kShift = 23 - Format::kMantissa;
    const hn::DFromV<V> df;
    const hn::RebindToUnsigned<decltype(df)> du;
    const auto bits = hn::BitCast(du, v);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffff));
    const auto odd = hn::And(hn::ShiftRight<kShift>(magnitude), hn::Set(du, 1));
    const auto rounded = hn::Add(magnitude, hn::Add(odd, hn::Set(du, (1u << (kShift - 1)) - 1)));
    const auto normal =
        hn::Sub(hn::ShiftRight<kShift>(rounded), hn::Set(du, (kLeast - 1) << Format::kMantissa));
    // Lines the mantissa up with the subnormals' unit, and rounds it.
    const auto align = hn::Set(du, (kLeast - Format::kMantissa + 23) << 23);
    const auto aligned = hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, align));
    const auto small = hn::Sub(hn::BitCast(du, aligned), align);
    auto r = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, kLeast << 23)), small, normal);
    const auto beyond = hn::Set(du, kSaturate ? Format::kLargest : Format::kBeyond);
    r = hn::IfThenElse(hn::Gt(r, hn::Set(du, Format::kLargest)), beyond, r);
    r = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7f800000)), hn::Set(du, 0x7f), r);
    const auto sign = hn::And(hn::ShiftRight<24>(bits), hn::Set(du, 0x80));
    return hn::TruncateTo(d, hn::Or(r, sign));
  }
};
template <class Format>
void to_float8(const TileArgs& args) {
  if (args.p0 != 0) return map_cast<float, uint8_t, ToFloat8<Format, true>>(args);
  map_cast<float, uint8_t, ToFloat8<Format, false>>(args);
}

// Before F16C the conversions are done on integers; Highway's emulation turns NaN to infinity.
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSE2
using Half = uint16_t;
struct FromFloat16 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto bits = hn::PromoteTo(du, v);
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000)));
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fff));
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(du, 112u << 23));
    const auto special = hn::Or(shifted, hn::Set(du, 0x7f800000));
    const auto whole = hn::ConvertTo(d, hn::BitCast(di, magnitude));
    const auto subnormal = hn::BitCast(du, hn::Mul(whole, hn::Set(d, 0x1p-24f)));
    auto r = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x400)), subnormal, normal);
    r = hn::IfThenElse(hn::Ge(magnitude, hn::Set(du, 0x7c00)), special, r);
    return hn::BitCast(d, hn::Or(r, sign));
  }
};
struct ToFloat16 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    const hn::DFromV<V> df;
    const hn::RebindToUnsigned<decltype(df)> du;
    const auto bits = hn::BitCast(du, v);
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000));
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffff));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
    const auto rounded = hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xfff)));
    const auto normal = hn::ShiftRight<13>(hn::Sub(rounded, hn::Set(du, 112u << 23)));
    // Adding 1/2 lines the mantissa up with the subnormals' unit, 2^-24, and rounds it.
    const auto aligned = hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f));
    const auto subnormal = hn::Sub(hn::BitCast(du, aligned), hn::Set(du, 0x3f000000));
    auto r = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x38800000)), subnormal, normal);
    r = hn::IfThenElse(hn::Ge(magnitude, hn::Set(du, 0x477ff000)), hn::Set(du, 0x7c00), r);
    r = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7f800000)), hn::Set(du, 0x7e00), r);
    return hn::TruncateTo(d, hn::Or(r, sign));
  }
};
#else
using Half = hwy::float16_t;
using FromFloat16 = Promote;
struct ToFloat16 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::DemoteTo(d, v);
  }
};
#endif

}  // namespace

TileFn vector_cast(nef_dtype from, nef_dtype to) {
  if (to == NEF_FLOAT32) {
    switch (from) {
      case NEF_FLOAT16: return map_cast<Half, float, FromFloat16>;
      case NEF_BFLOAT16: return map_cast<uint16_t, float, FromBfloat16>;
      case NEF_INT32: return map_cast<int32_t, float, FromInt32>;
      case NEF_BOOL:
      case NEF_UINT8: return map_cast<uint8_t, float, FromByte>;
      case NEF_INT8: return map_cast<int8_t, float, FromByte>;
      case NEF_FLOAT8_E4M3FN: return map_cast<uint8_t, float, FromFloat8<backends::E4M3>>;
      case NEF_FLOAT8_E5M2: return map_cast<uint8_t, float, FromFloat8<backends::E5M2>>;
      default: return nullptr;
    }
  }
  if (from == NEF_FLOAT32) {
    switch (to) {
      case NEF_FLOAT16: return map_cast<float, Half, ToFloat16>;
      case NEF_BFLOAT16: return map_cast<float, uint16_t, ToBfloat16>;
      case NEF_INT32: return map_cast<float, int32_t, ToInt32>;
      case NEF_UINT8: return map_cast<float, uint8_t, ToByte>;
      case NEF_INT8: return map_cast<float, int8_t, ToByte>;
      case NEF_FLOAT64: return map_cast<float, double, Promote>;
      case NEF_FLOAT8_E4M3FN: return to_float8<backends::E4M3>;
      case NEF_FLOAT8_E5M2: return to_float8<backends::E5M2>;
      default: return nullptr;
    }
  }
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(vector_cast);
TileFn find_vector_cast(nef_dtype from, nef_dtype to) {
  return HWY_DYNAMIC_DISPATCH(vector_cast)(from, to);
}
}  // namespace nef::cpu
#endif
