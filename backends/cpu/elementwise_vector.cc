// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparison, selection and rounding on tiles of every dtype.
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise_vector.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "backends/cpu/elementwise_each-inl.h"
#include "backends/cpu/elementwise_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class Op>
void map1(const TileArgs& args) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const T*>(args.in[0]);
  auto* out = static_cast<T*>(args.out);
  const Op op(d, args);
  const size_t i = each_vector(args, lanes, sizeof(T), [&](size_t i) HWY_ATTR {
    hn::StoreU(op(d, hn::LoadU(d, a + i)), d, out + i);
  });
  if (i < args.n) hn::StoreN(op(d, hn::LoadN(d, a + i, args.n - i)), d, out + i, args.n - i);
}

template <class T, class Op>
void map2(const TileArgs& args) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const T*>(args.in[0]);
  const auto* b = static_cast<const T*>(args.in[1]);
  auto* out = static_cast<T*>(args.out);
  const size_t i = each_vector(args, lanes, sizeof(T), [&](size_t i) HWY_ATTR {
    hn::StoreU(Op::apply(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  });
  if (i == args.n) return;
  const size_t rest = args.n - i;
  hn::StoreN(Op::apply(d, hn::LoadN(d, a + i, rest), hn::LoadN(d, b + i, rest)), d, out + i, rest);
}

template <class T>
void mul_add(const TileArgs& args) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const T*>(args.in[0]);
  const auto* b = static_cast<const T*>(args.in[1]);
  const auto* c = static_cast<const T*>(args.in[2]);
  auto* out = static_cast<T*>(args.out);
  const size_t i = each_vector(args, lanes, sizeof(T), [&](size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i), z = hn::LoadU(d, c + i);
    hn::StoreU(hn::MulAdd(x, y, z), d, out + i);
  });
  if (i == args.n) return;
  const size_t rest = args.n - i;
  const auto x = hn::LoadN(d, a + i, rest), y = hn::LoadN(d, b + i, rest);
  hn::StoreN(hn::MulAdd(x, y, hn::LoadN(d, c + i, rest)), d, out + i, rest);
}

// A mask over lanes of T as bytes 0 or 1.
template <class D, class M>
HWY_INLINE hn::Vec<hn::Rebind<uint8_t, D>> mask_bytes(D d, M mask) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint8_t, D> d8;
  const auto ones = hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, 1));
  (void)d;
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    (void)d8;
    return ones;
  } else {
    return hn::TruncateTo(d8, ones);
  }
}

template <class T, class Op>
void compare(const TileArgs& args) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const T*>(args.in[0]);
  const auto* b = static_cast<const T*>(args.in[1]);
  auto* out = static_cast<uint8_t*>(args.out);
  const size_t i = each_vector(args, lanes, sizeof(T), [&](size_t i) HWY_ATTR {
    const auto mask = Op::apply(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(mask_bytes(d, mask), d8, out + i);
  });
  if (i == args.n) return;
  const size_t rest = args.n - i;
  const auto mask = Op::apply(d, hn::LoadN(d, a + i, rest), hn::LoadN(d, b + i, rest));
  hn::StoreN(mask_bytes(d, mask), d8, out + i, rest);
}

template <class T, class Op>
void classify(const TileArgs& args) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const T*>(args.in[0]);
  auto* out = static_cast<uint8_t*>(args.out);
  const Op op(d, args);
  size_t i = 0;
  for (; i + lanes <= args.n; i += lanes) {
    hn::StoreU(mask_bytes(d, op(d, hn::LoadU(d, a + i))), d8, out + i);
  }
  if (i == args.n) return;
  const size_t rest = args.n - i;
  hn::StoreN(mask_bytes(d, op(d, hn::LoadN(d, a + i, rest))), d8, out + i, rest);
}

// T is unsigned: selection only moves bits.
template <class T>
void select(const TileArgs& args) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto* c = static_cast<const uint8_t*>(args.in[0]);
  const auto* a = static_cast<const T*>(args.in[1]);
  const auto* b = static_cast<const T*>(args.in[2]);
  auto* out = static_cast<T*>(args.out);
  size_t i = each_vector(args, lanes, sizeof(T), [&](size_t i) HWY_ATTR {
    const auto bytes = hn::LoadU(d8, c + i);
    if constexpr (sizeof(T) == 1) {
      const auto mask = hn::Ne(bytes, hn::Zero(d));
      hn::StoreU(hn::IfThenElse(mask, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
    } else {
      const auto mask = hn::Ne(hn::PromoteTo(d, bytes), hn::Zero(d));
      hn::StoreU(hn::IfThenElse(mask, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
    }
  });
  for (; i < args.n; ++i) out[i] = c[i] != 0 ? a[i] : b[i];
}

template <class T>
inline constexpr bool kFloat = std::is_floating_point_v<T>;

#define NEF_BINARY(Name, expression)              \
  struct Name {                                   \
    template <class D, class V = hn::Vec<D>>      \
    static HWY_INLINE auto apply(D d, V a, V b) { \
      (void)d;                                    \
      return expression;                          \
    }                                             \
  };
NEF_BINARY(Add, hn::Add(a, b))
NEF_BINARY(Sub, hn::Sub(a, b))
NEF_BINARY(Mul, hn::Mul(a, b))
NEF_BINARY(Div, hn::Div(a, b))
NEF_BINARY(BitAnd, hn::And(a, b))
NEF_BINARY(BitOr, hn::Or(a, b))
NEF_BINARY(BitXor, hn::Xor(a, b))
NEF_BINARY(Equal, hn::Eq(a, b))
// Bools: any byte but 0 is true.
NEF_BINARY(BoolAnd, hn::Min(hn::Min(a, b), hn::Set(d, 1)))
NEF_BINARY(BoolOr, hn::Min(hn::Or(a, b), hn::Set(d, 1)))
NEF_BINARY(BoolXor, hn::Xor(hn::Min(a, hn::Set(d, 1)), hn::Min(b, hn::Set(d, 1))))
NEF_BINARY(BoolEqual, hn::Eq(hn::Min(a, hn::Set(d, 1)), hn::Min(b, hn::Set(d, 1))))
NEF_BINARY(Less, hn::Lt(a, b))
NEF_BINARY(LessEqual, hn::Le(a, b))
NEF_BINARY(PRelu, hn::IfThenElse(hn::Ge(a, hn::Zero(d)), a, hn::Mul(a, b)))
#undef NEF_BINARY

// NaN propagates, whichever side it is on.
struct Max {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D, V a, V b) {
    if constexpr (kFloat<hn::TFromD<D>>) {
      return hn::IfThenElse(hn::IsEitherNaN(a, b), hn::Add(a, b), hn::Max(a, b));
    } else {
      return hn::Max(a, b);
    }
  }
};
struct Min {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D, V a, V b) {
    if constexpr (kFloat<hn::TFromD<D>>) {
      return hn::IfThenElse(hn::IsEitherNaN(a, b), hn::Add(a, b), hn::Min(a, b));
    } else {
      return hn::Min(a, b);
    }
  }
};

// Unary ops may keep the attributes p, q as vectors of D.
#define NEF_UNARY(Name, expression)                                 \
  template <class D>                                                \
  struct Name {                                                     \
    using T = hn::TFromD<D>;                                        \
    using V = hn::Vec<D>;                                           \
    HWY_INLINE Name(D, const TileArgs& args)                        \
        : p(static_cast<T>(args.p0)), q(static_cast<T>(args.p1)) {} \
    HWY_INLINE auto operator()(D d, V x) const {                    \
      (void)d;                                                      \
      return expression;                                            \
    }                                                               \
    T p, q;                                                         \
  };
NEF_UNARY(Abs, hn::Abs(x))
NEF_UNARY(NegateFloat, hn::Neg(x))
NEF_UNARY(NegateInt, hn::Sub(hn::Zero(d), x))
NEF_UNARY(BitNot, hn::Not(x))
NEF_UNARY(LogicalNot, hn::IfThenElseZero(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1)))
NEF_UNARY(Scale, hn::Mul(x, hn::Set(d, p)))
// x where it is NaN or positive.
NEF_UNARY(ReluFloat, hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x))
NEF_UNARY(ReluInt, hn::Max(x, hn::Zero(d)))
NEF_UNARY(SignUnsigned, hn::Min(x, hn::Set(d, 1)))
NEF_UNARY(SignInt, hn::Max(hn::Min(x, hn::Set(d, 1)), hn::Set(d, static_cast<T>(-1))))
// 0 and NaN give themselves.
NEF_UNARY(SignFloat,
          hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)), hn::CopySign(hn::Set(d, T{1}), x), x))
NEF_UNARY(Ceil, hn::Ceil(x))
NEF_UNARY(Floor, hn::Floor(x))
NEF_UNARY(Round, hn::Round(x))
NEF_UNARY(Sqrt, hn::Sqrt(x))
NEF_UNARY(Reciprocal, hn::Div(hn::Set(d, T{1}), x))
NEF_UNARY(Softsign, hn::Div(x, hn::Add(hn::Abs(x), hn::Set(d, T{1}))))
NEF_UNARY(LeakyRelu, hn::IfThenElse(hn::Ge(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, p))))
NEF_UNARY(ThresholdedRelu, hn::IfThenElseZero(hn::Gt(x, hn::Set(d, p)), x))
NEF_UNARY(IsNan, hn::IsNaN(x))
#undef NEF_UNARY

// min(1, max(0, y)); NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V unit_clamp(D d, V y) {
  const V one = hn::Set(d, hn::TFromD<D>{1});
  y = hn::IfThenZeroElse(hn::Lt(y, hn::Zero(d)), y);
  return hn::IfThenElse(hn::Gt(y, one), one, y);
}
template <class D>
struct HardSigmoid {
  using T = hn::TFromD<D>;
  HWY_INLINE HardSigmoid(D, const TileArgs& args)
      : alpha(static_cast<T>(args.p0)), beta(static_cast<T>(args.p1)) {}
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return unit_clamp(d, hn::MulAdd(x, hn::Set(d, alpha), hn::Set(d, beta)));
  }
  T alpha, beta;
};
template <class D>
struct HardSwish {
  HWY_INLINE HardSwish(D, const TileArgs&) {}
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    using T = hn::TFromD<D>;
    return hn::Mul(x, unit_clamp(d, hn::MulAdd(x, hn::Set(d, T{1} / T{6}), hn::Set(d, T{0.5}))));
  }
};
template <class D>
struct Shrink {
  using T = hn::TFromD<D>;
  HWY_INLINE Shrink(D, const TileArgs& args)
      : lambd(static_cast<T>(args.p0)), bias(static_cast<T>(args.p1)) {}
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    const auto b = hn::Set(d, bias);
    const auto above = hn::IfThenElseZero(hn::Gt(x, hn::Set(d, lambd)), hn::Sub(x, b));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, -lambd)), hn::Add(x, b), above);
  }
  T lambd, bias;
};
// p0: -inf counts, p1: +inf counts.
template <class D>
struct IsInf {
  using T = hn::TFromD<D>;
  HWY_INLINE IsInf(D, const TileArgs& args)
      : low(args.p0 != 0 ? -kInf : T{0}), high(args.p1 != 0 ? kInf : T{0}) {}
  HWY_INLINE auto operator()(D d, hn::Vec<D> x) const {
    // A bound of 0 never matches: x is infinite where both tests hold.
    const auto hit = hn::Or(hn::Eq(x, hn::Set(d, low)), hn::Eq(x, hn::Set(d, high)));
    return hn::And(hit, hn::Eq(hn::Abs(x), hn::Set(d, kInf)));
  }
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  T low, high;
};

template <class T, template <class> class Op>
constexpr TileFn unary() {
  return map1<T, Op<hn::ScalableTag<T>>>;
}

template <class T>
TileFn for_float(TileOp op) {
  switch (op) {
    case TileOp::kDiv: return map2<T, Div>;
    case TileOp::kMulAdd: return mul_add<T>;
    case TileOp::kNeg: return unary<T, NegateFloat>();
    case TileOp::kSign: return unary<T, SignFloat>();
    case TileOp::kRelu: return unary<T, ReluFloat>();
    case TileOp::kShrink: return unary<T, Shrink>();
    case TileOp::kScale: return unary<T, Scale>();
    case TileOp::kIsNan: return classify<T, IsNan<hn::ScalableTag<T>>>;
    case TileOp::kIsInf: return classify<T, IsInf<hn::ScalableTag<T>>>;
    case TileOp::kCeil: return unary<T, Ceil>();
    case TileOp::kFloor: return unary<T, Floor>();
    case TileOp::kRound: return unary<T, Round>();
    case TileOp::kSqrt: return unary<T, Sqrt>();
    case TileOp::kReciprocal: return unary<T, Reciprocal>();
    case TileOp::kSoftsign: return unary<T, Softsign>();
    case TileOp::kLeakyRelu: return unary<T, LeakyRelu>();
    case TileOp::kThresholdedRelu: return unary<T, ThresholdedRelu>();
    case TileOp::kHardSigmoid: return unary<T, HardSigmoid>();
    case TileOp::kHardSwish: return unary<T, HardSwish>();
    default: return nullptr;
  }
}

template <class T>
TileFn for_int(TileOp op) {
  switch (op) {
    case TileOp::kBitAnd: return map2<T, BitAnd>;
    case TileOp::kBitOr: return map2<T, BitOr>;
    case TileOp::kBitXor: return map2<T, BitXor>;
    case TileOp::kBitNot: return unary<T, BitNot>();
    case TileOp::kNot: return unary<T, LogicalNot>();
    case TileOp::kNeg: return unary<T, NegateInt>();
    case TileOp::kRelu: return unary<T, ReluInt>();
    case TileOp::kSign:
      if constexpr (std::is_signed_v<T>) return unary<T, SignInt>();
      else return unary<T, SignUnsigned>();
    default: return nullptr;
  }
}

template <class T>
TileFn for_number(TileOp op) {
  switch (op) {
    case TileOp::kAdd: return map2<T, Add>;
    case TileOp::kSub: return map2<T, Sub>;
    case TileOp::kMul: return map2<T, Mul>;
    case TileOp::kMax: return map2<T, Max>;
    case TileOp::kMin: return map2<T, Min>;
    case TileOp::kPRelu: return map2<T, PRelu>;
    case TileOp::kEqual: return compare<T, Equal>;
    case TileOp::kLess: return compare<T, Less>;
    case TileOp::kLessEqual: return compare<T, LessEqual>;
    case TileOp::kSelect: return select<hwy::MakeUnsigned<T>>;
    case TileOp::kAbs:
      if constexpr (std::is_unsigned_v<T>) return nullptr;
      else return unary<T, Abs>();
    default: break;
  }
  if constexpr (kFloat<T>) return for_float<T>(op);
  else return for_int<T>(op);
}

TileFn for_bool(TileOp op) {
  switch (op) {
    case TileOp::kBitAnd: return map2<uint8_t, BoolAnd>;
    case TileOp::kBitOr: return map2<uint8_t, BoolOr>;
    case TileOp::kBitXor: return map2<uint8_t, BoolXor>;
    case TileOp::kEqual: return compare<uint8_t, BoolEqual>;
    default: return for_number<uint8_t>(op);
  }
}

}  // namespace

TileFn vector_fn(TileOp op, nef_dtype dtype) {
  switch (dtype) {
    case NEF_BOOL: return for_bool(op);
    case NEF_INT8: return for_number<int8_t>(op);
    case NEF_UINT8: return for_number<uint8_t>(op);
    case NEF_INT16: return for_number<int16_t>(op);
    case NEF_UINT16: return for_number<uint16_t>(op);
    case NEF_INT32: return for_number<int32_t>(op);
    case NEF_UINT32: return for_number<uint32_t>(op);
    case NEF_INT64: return for_number<int64_t>(op);
    case NEF_UINT64: return for_number<uint64_t>(op);
    case NEF_FLOAT32: return for_number<float>(op);
    case NEF_FLOAT64: return for_number<double>(op);
    default: return nullptr;
  }
}

void copy_past_caches(void* dst, const void* src, size_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const auto* from = static_cast<const uint8_t*>(src);
  auto* to = static_cast<uint8_t*>(dst);
  for (size_t i = 0; i < bytes; i += hn::Lanes(d)) hn::Stream(hn::Load(d, from + i), d, to + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(vector_fn);
HWY_EXPORT(copy_past_caches);

TileFn find_vector_fn(TileOp op, nef_dtype dtype) {
  return HWY_DYNAMIC_DISPATCH(vector_fn)(op, dtype);
}
void stream_copy(void* dst, const void* src, size_t bytes) {
  HWY_DYNAMIC_DISPATCH(copy_past_caches)(dst, src, bytes);
}
void stream_fence() { hwy::FlushStream(); }

}  // namespace nef::cpu
#endif
