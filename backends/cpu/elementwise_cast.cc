// SPDX-License-Identifier: Apache-2.0
// Conversions between all dtypes.
#include <algorithm>
#include <cstring>

#include "backends/cpu/dtypes.h"
#include "backends/cpu/elementwise_tiles.h"

namespace nef::cpu {
namespace {

struct Bool {
  uint8_t value;
};

template <class From, class To>
To convert(From x) {
  if constexpr (std::is_same_v<From, Bool>) {
    return static_cast<To>(x.value != 0);
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<uint8_t>(x != 0)};
  } else if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>) {
    return saturate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void cast_tile(const TileArgs& args) {
  const auto* a = static_cast<const From*>(args.in[0]);
  auto* out = static_cast<To*>(args.out);
  for (size_t i = 0; i < args.n; ++i) out[i] = convert<From, To>(a[i]);
}

// By way of float32, which holds `From` exactly (or what it rounds is infinite in kTo).
template <class From, nef_dtype kFrom, nef_dtype kTo>
void narrow_by_float32(const TileArgs& args) {
  static const TileFn widen = find_cast_fn(kFrom, NEF_FLOAT32);
  static const TileFn narrow = find_cast_fn(NEF_FLOAT32, kTo);
  constexpr size_t kChunk = 256;
  float wide[kChunk];
  const size_t size = kTo == NEF_FLOAT16 || kTo == NEF_BFLOAT16 ? 2 : 1;
  for (size_t i = 0; i < args.n; i += kChunk) {
    const size_t n = std::min(kChunk, args.n - i);
    widen({wide, {static_cast<const From*>(args.in[0]) + i}, n, 0, 0});
    narrow({static_cast<uint8_t*>(args.out) + i * size, {wide}, n, args.p0, 0});
  }
}
template <class From, nef_dtype kFrom>
TileFn narrow_from(nef_dtype to) {
  switch (to) {
    case NEF_FLOAT16: return narrow_by_float32<From, kFrom, NEF_FLOAT16>;
    case NEF_BFLOAT16: return narrow_by_float32<From, kFrom, NEF_BFLOAT16>;
    case NEF_FLOAT8_E4M3FN: return narrow_by_float32<From, kFrom, NEF_FLOAT8_E4M3FN>;
    case NEF_FLOAT8_E5M2: return narrow_by_float32<From, kFrom, NEF_FLOAT8_E5M2>;
    default: return nullptr;
  }
}
TileFn find_narrow(nef_dtype from, nef_dtype to) {
  switch (from) {
    case NEF_BOOL: return narrow_from<uint8_t, NEF_BOOL>(to);
    case NEF_UINT8: return narrow_from<uint8_t, NEF_UINT8>(to);
    case NEF_INT8: return narrow_from<int8_t, NEF_INT8>(to);
    case NEF_UINT16: return narrow_from<uint16_t, NEF_UINT16>(to);
    case NEF_INT16: return narrow_from<int16_t, NEF_INT16>(to);
    case NEF_INT32: return to == NEF_FLOAT16 ? narrow_from<int32_t, NEF_INT32>(to) : nullptr;
    default: return nullptr;
  }
}

void move_tile_1(const TileArgs& args) { std::memcpy(args.out, args.in[0], args.n); }
void move_tile_2(const TileArgs& args) { std::memcpy(args.out, args.in[0], args.n * 2); }
void move_tile_4(const TileArgs& args) { std::memcpy(args.out, args.in[0], args.n * 4); }
void move_tile_8(const TileArgs& args) { std::memcpy(args.out, args.in[0], args.n * 8); }

TileFn move_fn(nef_dtype dtype) {
  switch (dtype) {
    case NEF_BOOL:
    case NEF_INT8:
    case NEF_UINT8:
    case NEF_FLOAT8_E4M3FN:
    case NEF_FLOAT8_E5M2: return move_tile_1;
    case NEF_INT16:
    case NEF_UINT16:
    case NEF_FLOAT16:
    case NEF_BFLOAT16: return move_tile_2;
    case NEF_INT32:
    case NEF_UINT32:
    case NEF_FLOAT32: return move_tile_4;
    default: return move_tile_8;
  }
}

TileFn cast_from_bool(nef_dtype to) {
  TileFn fn = nullptr;
  with_number_type(to, [&]<class To>(To) { fn = cast_tile<Bool, To>; });
  return fn;
}

template <class From>
TileFn cast_from(nef_dtype to) {
  if (to == NEF_BOOL) return cast_tile<From, Bool>;
  TileFn fn = nullptr;
  with_number_type(to, [&]<class To>(To) { fn = cast_tile<From, To>; });
  return fn;
}

}  // namespace

TileFn find_cast_fn(nef_dtype from, nef_dtype to) {
  if (from == to) return move_fn(from);
  if (TileFn fn = find_vector_cast(from, to)) return fn;
  if (TileFn fn = find_narrow(from, to)) return fn;
  if (from == NEF_BOOL) return cast_from_bool(to);
  TileFn fn = nullptr;
  with_number_type(from, [&]<class From>(From) { fn = cast_from<From>(to); });
  return fn;
}

}  // namespace nef::cpu
