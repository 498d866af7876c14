// SPDX-License-Identifier: Apache-2.0
// The conversions worth vectors: from and to float32, and what is wider to floats of 16 and 8 bits.
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

// One vector of the widest type at a time. Whole-vector loads of a narrow type stay within it.
template <class From, class To, class Op,
          class Wide = hwy::If<(sizeof(From) > sizeof(To)), From, To>>
void map_cast(const TileArgs& args) {
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
struct Demote {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::DemoteTo(d, v);
  }
};
struct FromInt32 {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::ConvertTo(d, v);
  }
};
// Floats to integers: each step saturates; NaN gives 0.
struct ToInteger {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    constexpr size_t kFrom = sizeof(hn::TFromV<V>), kTo = sizeof(hn::TFromD<D>);
    const V number = hn::IfThenElseZero(hn::Eq(v, v), v);
    if constexpr (kFrom == kTo) return hn::ConvertTo(d, number);
    else if constexpr (kFrom < kTo) return hn::PromoteTo(d, number);
    else if constexpr (kTo == 4) return hn::DemoteTo(d, number);
    else return hn::DemoteTo(d, apply(hn::Rebind<int32_t, D>(), v));
  }
};
// NaN is not 0.
struct ToBool {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    const hn::DFromV<V> df;
    const hn::RebindToUnsigned<decltype(df)> du;
    const auto zero = hn::RebindMask(du, hn::Eq(v, hn::Zero(df)));
    return hn::TruncateTo(d, hn::IfThenZeroElse(zero, hn::Set(du, 1)));
  }
};
// Integers of 8 and 16 bits go to float32 by way of int32.
struct FromShort {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), v));
  }
};
struct FromBool {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    const V one = hn::Set(hn::DFromV<V>(), 1);
    return FromShort::apply(d, hn::Min(v, one));
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

// Exactly but for a last bit that is sticky where float64 does not hold a 64-bit integer.
template <class D, class V>
HWY_INLINE hn::Vec<D> sticky_double(D d, V v) {
  using T = hn::TFromV<V>;
  if constexpr (hwy::IsFloat<T>()) return v;
  else if constexpr (sizeof(T) == 4) return hn::PromoteTo(d, v);
  else {
    const hn::DFromV<V> di;
    const V low = hn::Set(di, T{0xfff}), top = hn::ShiftRight<52>(v);
    const V sticky = hn::And(hn::Add(hn::And(v, low), low), hn::Set(di, T{0x1000}));
    const V kept = hn::Or(hn::AndNot(low, v), sticky);
    // From -2^52 to 2^52.
    const auto exact =
        hn::Or(hn::Eq(top, hn::Zero(di)), hn::Eq(top, hn::Set(di, static_cast<T>(-1))));
    return hn::ConvertTo(d, hn::IfThenElse(exact, v, kept));
  }
}

// To floats of 16 and 8 bits as if in one rounding. float64 is cut to 14 bits, the last one set
// where it was not exact: float32 holds that, its subnormal numbers too down to what bfloat16
// rounds to 0, and `Narrow` finds it on the same side of every midpoint.
template <class Narrow>
struct Once {
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> apply(D d, V v) {
    constexpr int kDrop = 52 - 13;
    const hn::Rebind<double, D> dd;
    const hn::RebindToUnsigned<decltype(dd)> du;
    const hn::Rebind<float, decltype(dd)> df;
    const auto bits = hn::BitCast(du, sticky_double(dd, v));
    const auto low = hn::Set(du, (uint64_t{1} << kDrop) - 1);
    const auto sticky =
        hn::And(hn::Add(hn::And(bits, low), low), hn::Set(du, uint64_t{1} << kDrop));
    const auto kept = hn::Or(hn::AndNot(low, bits), sticky);
    return Narrow::apply(d, hn::DemoteTo(df, hn::BitCast(dd, kept)));
  }
};
template <class From, class To, class Narrow>
void map_once(const TileArgs& args) {
  map_cast<From, To, Once<Narrow>, double>(args);
}
template <class From, class Format>
void once_to_float8(const TileArgs& args) {
  if (args.p0 != 0) return map_once<From, uint8_t, ToFloat8<Format, true>>(args);
  map_once<From, uint8_t, ToFloat8<Format, false>>(args);
}
template <class From>
TileFn narrow_once(nef_dtype to) {
  switch (to) {
    case NEF_FLOAT16: return map_once<From, Half, ToFloat16>;
    case NEF_BFLOAT16: return map_once<From, uint16_t, ToBfloat16>;
    case NEF_FLOAT8_E4M3FN: return once_to_float8<From, backends::E4M3>;
    case NEF_FLOAT8_E5M2: return once_to_float8<From, backends::E5M2>;
    default: return nullptr;
  }
}

template <class From>
TileFn to_integer(nef_dtype to) {
  switch (to) {
    case NEF_BOOL: return map_cast<From, uint8_t, ToBool>;
    case NEF_UINT8: return map_cast<From, uint8_t, ToInteger>;
    case NEF_INT8: return map_cast<From, int8_t, ToInteger>;
    case NEF_UINT16: return map_cast<From, uint16_t, ToInteger>;
    case NEF_INT16: return map_cast<From, int16_t, ToInteger>;
    case NEF_UINT32: return map_cast<From, uint32_t, ToInteger>;
    case NEF_INT32: return map_cast<From, int32_t, ToInteger>;
    case NEF_UINT64: return map_cast<From, uint64_t, ToInteger>;
    case NEF_INT64: return map_cast<From, int64_t, ToInteger>;
    default: return nullptr;
  }
}

}  // namespace

TileFn vector_cast(nef_dtype from, nef_dtype to) {
  if (to == NEF_FLOAT32) {
    switch (from) {
      case NEF_FLOAT16: return map_cast<Half, float, FromFloat16>;
      case NEF_BFLOAT16: return map_cast<uint16_t, float, FromBfloat16>;
      case NEF_FLOAT64: return map_cast<double, float, Demote>;
      case NEF_INT32: return map_cast<int32_t, float, FromInt32>;
      case NEF_UINT16: return map_cast<uint16_t, float, FromShort>;
      case NEF_INT16: return map_cast<int16_t, float, FromShort>;
      case NEF_BOOL: return map_cast<uint8_t, float, FromBool>;
      case NEF_UINT8: return map_cast<uint8_t, float, FromShort>;
      case NEF_INT8: return map_cast<int8_t, float, FromShort>;
      case NEF_FLOAT8_E4M3FN: return map_cast<uint8_t, float, FromFloat8<backends::E4M3>>;
      case NEF_FLOAT8_E5M2: return map_cast<uint8_t, float, FromFloat8<backends::E5M2>>;
      default: return nullptr;
    }
  }
  switch (from) {
    case NEF_FLOAT32: break;
    case NEF_FLOAT64:
      if (TileFn fn = to_integer<double>(to)) return fn;
      return narrow_once<double>(to);
    // Infinite in float16 is what float32 does not hold.
    case NEF_INT32: return to == NEF_FLOAT16 ? nullptr : narrow_once<int32_t>(to);
    case NEF_UINT32: return narrow_once<uint32_t>(to);
    case NEF_INT64: return narrow_once<int64_t>(to);
    case NEF_UINT64: return narrow_once<uint64_t>(to);
    default: return nullptr;
  }
  switch (to) {
    case NEF_FLOAT16: return map_cast<float, Half, ToFloat16>;
    case NEF_BFLOAT16: return map_cast<float, uint16_t, ToBfloat16>;
    case NEF_FLOAT64: return map_cast<float, double, Promote>;
    case NEF_FLOAT8_E4M3FN: return to_float8<backends::E4M3>;
    case NEF_FLOAT8_E5M2: return to_float8<backends::E5M2>;
    default: return to_integer<float>(to);
  }
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
