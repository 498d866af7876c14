// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstddef>
#include <cstdint>

#include "backends/shared/float8.h"

// Functions over one tile: a few hundred elements, contiguous, in L1. An elementwise region is a
// list of calls to them.
namespace nef::cpu {

inline constexpr size_t kMaxFetches = 2;

struct TileArgs {
  void* out;
  const void* in[3];
  size_t n;
  double p0, p1;  // attributes
  // Addresses of memory that later tiles will read, as long as this one: fetched line by line
  // meanwhile. 0: none.
  uintptr_t ahead[kMaxFetches] = {};
};
using TileFn = void (*)(const TileArgs&);

enum class TileOp : uint8_t {
  // two inputs
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFMod,
  kPow,
  kMax,
  kMin,
  kPRelu,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kLess,
  kLessEqual,  // give bool
  // condition, x, y
  kSelect,
  // x y + z of floats, where the target has it in one rounding
  kMulAdd,
  // one input
  kAbs,
  kNeg,
  kSign,
  kRelu,
  kShrink,
  kNot,
  kBitNot,
  kScale,
  kIsNan,
  kIsInf,  // give bool
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kCeil,
  kCelu,
  kCos,
  kCosh,
  kElu,
  kErf,
  kExp,
  kFloor,
  kGelu,
  kGeluTanh,
  kHardSigmoid,
  kHardSwish,
  kLeakyRelu,
  kLog,
  kMish,
  kReciprocal,
  kRound,
  kSelu,
  kSigmoid,
  kSilu,
  kSin,
  kSinh,
  kSoftplus,
  kSoftsign,
  kSqrt,
  kTan,
  kTanh,
  kThresholdedRelu
};

// Tiles hold floats of 16 and 8 bits as float32; every other dtype as itself.
inline nef_dtype tile_dtype(nef_dtype t) {
  return t == NEF_FLOAT16 || t == NEF_BFLOAT16 || backends::is_float8(t) ? NEF_FLOAT32 : t;
}

// The function for an op on tiles of `dtype` (of the inputs but the condition of kSelect), null
// when there is none. kPow takes `exponent` tiles of int64, uint64 or of `dtype` itself.
TileFn find_tile_fn(TileOp op, nef_dtype dtype);
TileFn find_power_fn(nef_dtype base, nef_dtype exponent);

// Conversion under the rules of Cast. Floats of 16 and 8 bits appear as bit patterns here: they are
// only converted from and to float32, except as the target of wider types, which round once. To
// float8 it saturates where p0 is not 0.
TileFn find_cast_fn(nef_dtype from, nef_dtype to);

// Copies bytes past the caches; both pointers and `bytes` are multiples of 64.
void stream_copy(void* dst, const void* src, size_t bytes);
// Makes streamed bytes visible to other threads.
void stream_fence();

// The parts of find_tile_fn: vector code for all dtypes, vector float32 math, the same in float64,
// scalar code.
TileFn find_vector_fn(TileOp op, nef_dtype dtype);
TileFn find_math_fn(TileOp op);
TileFn find_wide_fn(TileOp op);
TileFn find_scalar_fn(TileOp op, nef_dtype dtype);
// Vector conversions, null where the scalar one serves.
TileFn find_vector_cast(nef_dtype from, nef_dtype to);

}  // namespace nef::cpu
